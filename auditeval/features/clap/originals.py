"""Original checkpoints of LAION and Microsoft, built as the modules of `models`.

Shapes are read off the tensors, every tensor must find its place and every place its tensor: a
file of another architecture is refused, never half loaded. No published file was at hand when this
was written; it was checked against the original packages with random weights (tests/
second_environment).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import transformers
from torch import Tensor, nn
from transformers import (
    BertConfig,
    ClapConfig,
    ClapFeatureExtractor,
    ClapModel,
    ClapTextConfig,
    GPT2Config,
)

from auditeval.features.clap import SUPPORTED
from auditeval.features.clap.htsat import htsat_config, htsat_state, is_htsat
from auditeval.features.clap.models import Clap, LaionClap, MicrosoftClap
from auditeval.pretrained.torch_files import read
from auditeval.pretrained.weights import Undrawn
from auditeval.types import UserError

_HEAD_SIZE = 64  # of attention, in RoBERTa, GPT-2 and BERT of every size
_VOCABULARY_PADDING = 128


def load_original(path: Path, tokenizer: str | None, upstream_compat: bool) -> Clap:
    """A CLAP from the file that its authors publish; raises UserError for any other file."""
    state = read(path, SUPPORTED)
    try:
        if any(key.startswith("audio_branch.") for key in state):
            return _laion(path, state, tokenizer)
        if any(key.startswith("caption_encoder.base.") for key in state):
            return _microsoft(path, state, tokenizer, upstream_compat)
    except UserError:
        raise
    except KeyError as error:  # looked up to read a shape off it
        raise UserError(f"{path}: lacks the tensor {error}; {SUPPORTED}") from None
    except Exception as error:  # what modules of impossible shapes raise
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"{path}: no CLAP has tensors so shaped ({reason}); {SUPPORTED}") from None
    keys = ", ".join(list(state)[:3])
    if any(key.startswith("clap.") for key in state):
        what = "a captioning model around Microsoft CLAP (clapcap), which has no text encoder"
    elif any(key.startswith("audio_model.audio_encoder.") for key in state):
        what = "the weights of a transformers CLAP; give the directory that it lies in"
    elif "model.0.weight" in state:
        what = "a head of AuditEval-ssl, not a CLAP (auditeval convert takes the three heads)"
    else:
        what = f"the weights of another model ({keys}, ...)"
    raise UserError(f"{path}: holds {what}; {SUPPORTED}")


def _laion(path: Path, state: dict[str, Tensor], tokenizer: str | None) -> LaionClap:
    audio, text = _under(state, "audio_branch."), _under(state, "text_branch.")
    if not is_htsat(audio):
        raise UserError(
            f"{path}: is a LAION CLAP whose audio tower is no HTSAT on 64 mel bands "
            f"({next(iter(audio))}, ...); {SUPPORTED}"
        )
    types = text.get("embeddings.token_type_embeddings.weight")
    if types is None or len(types) != 1 or "text_projection.2.weight" not in state:
        raise UserError(f"{path}: is a LAION CLAP whose text tower is no RoBERTa; {SUPPORTED}")
    dim = len(state["text_projection.2.weight"])
    audio_config = htsat_config(audio)
    audio_config.projection_dim = dim
    text_config = ClapTextConfig(
        layer_norm_eps=1e-5,  # the default of 1e-12 costs 8e-5 on an embedding
        type_vocab_size=1,
        projection_dim=dim,
        **_transformer_shape(text, "encoder.layer"),
    )
    config = ClapConfig(
        text_config=text_config.to_dict(), audio_config=audio_config.to_dict(), projection_dim=dim
    )
    with Undrawn():
        model = ClapModel(config)
    mapped = {
        **{f"audio_model.{key}": value for key, value in htsat_state(audio).items()},
        **{f"text_model.{key}": value for key, value in text.items() if "position_ids" not in key},
    }
    for key, value in state.items():
        if found := re.fullmatch(r"(text|audio)_projection\.([02])\.(weight|bias)", key):
            layer = "linear1" if found[2] == "0" else "linear2"
            mapped[f"{found[1]}_projection.{layer}.{found[3]}"] = value
        elif not re.match(r"(audio|text)_(branch|transform)\.", key):
            mapped[key] = value  # logit_scale_a, logit_scale_t; what else there is, `_fill` refuses
    _fill(path, model, mapped)
    front_end = ClapFeatureExtractor(
        frequency_min=50,
        frequency_max=14000,
        # This also chooses the mel bank: slaney for the unfused models, HTK for the fused.
        truncation="fusion" if audio_config.enable_fusion else "rand_trunc",
    )
    words = load_tokenizer(
        "RobertaTokenizerFast", tokenizer or "roberta-base", text_config.vocab_size
    )
    return LaionClap(model.eval(), front_end, words)


def _microsoft(
    path: Path, state: dict[str, Tensor], tokenizer: str | None, upstream_compat: bool
) -> MicrosoftClap:
    audio = _under(state, "audio_encoder.base.")
    text = _under(state, "caption_encoder.base.")
    htsat = _under(audio, "htsat.")
    bank = (htsat or audio).get("logmel_extractor.melW")
    if bank is None or bank.shape != (513, 64):
        raise UserError(f"{path}: is a Microsoft CLAP without its mel bank; {SUPPORTED}")
    text_config: GPT2Config | BertConfig
    if is_htsat(htsat) and "wte.weight" in text:
        vocabulary, hidden = text["wte.weight"].shape
        words = load_tokenizer("GPT2TokenizerFast", tokenizer or "gpt2", vocabulary)
        text_config = GPT2Config(
            vocab_size=vocabulary,
            n_embd=hidden,
            n_positions=len(text["wpe.weight"]),
            n_layer=_layers(text, "h"),
            n_head=hidden // _HEAD_SIZE,
            n_inner=text["h.0.mlp.c_fc.weight"].shape[1],
        )
        audio_config, seconds = htsat_config(htsat), 7
        mapped = {f"audio.{key}": value for key, value in htsat_state(htsat).items()}
    elif "conv_block6.conv1.weight" in audio and "embeddings.word_embeddings.weight" in text:
        text_config = BertConfig(**_transformer_shape(text, "encoder.layer"))
        words = load_tokenizer(
            "BertTokenizerFast", tokenizer or "bert-base-uncased", text_config.vocab_size
        )
        audio_config, seconds = None, 5
        dropped = ("spectrogram_extractor.", "logmel_extractor.", "fc_audioset.")
        mapped = {f"audio.{k}": value for k, value in audio.items() if not k.startswith(dropped)}
    else:
        raise UserError(
            f"{path}: is a Microsoft CLAP of neither 2022 (CNN14 and BERT) nor 2023 (HTSAT and "
            f"GPT-2); {SUPPORTED}"
        )
    unused = re.compile(r"\.attn\.(bias|masked_bias)$|position_ids$|^pooler\.")
    mapped.update({f"text.{key}": value for key, value in text.items() if not unused.search(key)})
    trunk = "audio_encoder.base.htsat." if htsat else "audio_encoder.base."
    for key, value in state.items():
        if found := re.fullmatch(r"(audio|caption)_encoder\.projection\.(.+)", key):
            side = "audio" if found[1] == "audio" else "text"
            mapped[f"{side}_projection.{found[2]}"] = value
        elif not key.startswith((trunk, "caption_encoder.base.")) and key != "logit_scale":
            mapped[key] = value  # nothing known: `_fill` refuses it
    dim = len(state["audio_encoder.projection.linear1.weight"])
    front_end = microsoft_front_end(seconds, bank.numpy())
    with Undrawn():
        model = MicrosoftClap(audio_config, text_config, dim, front_end, words, upstream_compat)
    _fill(path, model, mapped)
    return model.eval()


def microsoft_front_end(seconds: int, mel_bank: np.ndarray) -> ClapFeatureExtractor:
    """Windows of 44.1 kHz, short ones repeated and cut; `mel_bank` :: (513, 64).

    The bank comes with the weights: that of 2023 was made for 32 kHz and is applied at 44.1 kHz,
    whatever the package's settings say.
    """
    front_end = ClapFeatureExtractor(
        sampling_rate=44100,
        hop_length=320,
        max_length_s=seconds,
        frequency_min=50,
        frequency_max=14000,
        truncation="rand_trunc",
        padding="repeat",
    )
    front_end.mel_filters_slaney = mel_bank
    return front_end


def _transformer_shape(text: Mapping[str, Tensor], layers: str) -> dict[str, Any]:
    """Configuration values that BERT and RoBERTa tensors tell."""
    vocabulary, hidden = text["embeddings.word_embeddings.weight"].shape
    return {
        "vocab_size": vocabulary,
        "hidden_size": hidden,
        "num_hidden_layers": _layers(text, layers),
        "num_attention_heads": hidden // _HEAD_SIZE,
        "intermediate_size": len(text[f"{layers}.0.intermediate.dense.weight"]),
        "max_position_embeddings": len(text["embeddings.position_embeddings.weight"]),
    }


def _layers(state: Mapping[str, Tensor], under: str) -> int:
    found = (re.match(rf"{re.escape(under)}\.(\d+)\.", key) for key in state)
    return 1 + max((int(match[1]) for match in found if match), default=-1)


def _under(state: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): value for k, value in state.items() if k.startswith(prefix)}


def _fill(path: Path, model: nn.Module, state: dict[str, Tensor]) -> None:
    """Load all tensors into all places; what transformers computes itself may be absent."""
    try:
        found = model.load_state_dict(state, strict=False)
    except RuntimeError as error:
        reason = str(error).splitlines()[-1].strip()
        raise UserError(
            f"{path}: a tensor does not fit its place ({reason}); {SUPPORTED}"
        ) from None
    computed = re.compile(r"(token_type_ids|position_ids|relative_position_index)$")
    missing = [key for key in found.missing_keys if not computed.search(key)]
    for what, keys in (("lacks", missing), ("holds beyond a CLAP", found.unexpected_keys)):
        if keys:
            raise UserError(f"{path}: {what} {keys[0]} ({len(keys)} such tensors); {SUPPORTED}")


def load_tokenizer(kind: str, name: str, vocabulary: int) -> Any:
    """A tokenizer of a transformers class from a folder or hub id; raises UserError.

    It has to know as many tokens as the text tower has embeddings, which may be padded: from a
    folder without a vocabulary transformers makes a tokenizer that knows no word.
    """
    try:
        words = getattr(transformers, kind).from_pretrained(name, trust_remote_code=False)
    except Exception as error:  # whatever a malformed folder provokes in transformers
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(
            f"{name}: the tokenizer cannot be loaded ({reason}); where no "
            "model hub is reached, give a folder with its vocabulary as `tokenizer`"
        ) from None
    if not vocabulary - _VOCABULARY_PADDING < len(words) <= vocabulary:
        raise UserError(
            f"{name}: the tokenizer knows {len(words)} tokens and the model {vocabulary}; give the "
            "folder of the model's own vocabulary as `tokenizer`"
        )
    return words
