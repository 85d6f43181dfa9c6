"""One CLAP from wherever it lies: a directory, an original file, a model hub. And conversion."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from auditeval import reading
from auditeval.atomic import new_folder
from auditeval.features.clap import SUPPORTED
from auditeval.features.clap.models import Clap, LaionClap, MicrosoftClap
from auditeval.features.clap.originals import load_original, load_tokenizer, microsoft_front_end
from auditeval.pretrained.quiet import quiet_transformers
from auditeval.types import UserError

_MICROSOFT = "microsoft-clap"
_FILES = {".pt", ".pth", ".ckpt", ".bin"}  # a hub id may hold a dot of its own
_CONFIG, _WEIGHTS = "config.json", "model.safetensors"


def load_clap(model: str, tokenizer: str | None = None, upstream_compat: bool = False) -> Clap:
    """A CLAP from a directory (of transformers or of `convert`), an original file or a hub id.

    `tokenizer` is a folder or hub id; by default a directory's own, and for an original file the
    one it was trained with (roberta-base, gpt2, bert-base-uncased). Raises UserError.
    """
    path = Path(model).expanduser()
    if path.is_file():
        return load_original(path, tokenizer, upstream_compat)
    is_path = path.is_absolute() or path.suffix in _FILES or len(path.parts) > 2
    if is_path and not path.is_dir():
        raise UserError(f"{model}: no such file or folder; {SUPPORTED}")
    if path.is_dir() and _read_config(path).get("model_type") == _MICROSOFT:
        return _load_microsoft(path, tokenizer, upstream_compat)
    return _load_transformers(str(path) if path.is_dir() else model, tokenizer)


def convert(original: Path, output: Path, tokenizer: str | None = None) -> Clap:
    """Write an original file as a directory of safetensors and JSON, whole or not at all.

    LAION's become directories that `transformers.ClapModel` and `ClapProcessor` load; transformers
    has no class for Microsoft's, theirs are read by `load_clap` alone.
    """
    clap = load_original(original, tokenizer, upstream_compat=False)
    with new_folder(output) as folder:
        clap.tokenizer.save_pretrained(folder)
        if isinstance(clap, LaionClap):
            clap.front_end.save_pretrained(folder)
            with quiet_transformers():
                clap.model.save_pretrained(folder)
        else:
            assert isinstance(clap, MicrosoftClap)
            _save_microsoft(clap, folder)
    return clap


def _load_transformers(name: str, tokenizer: str | None) -> LaionClap:
    from transformers import ClapFeatureExtractor, ClapModel, PretrainedConfig

    try:
        # Not AutoConfig, which would offer to run code that lies beside an unknown model.
        kind = PretrainedConfig.get_config_dict(name)[0].get("model_type")
        if kind == "clap":
            with quiet_transformers():
                loaded: Any = ClapModel.from_pretrained(
                    name, output_loading_info=True, dtype=torch.float32
                )
            model, found = loaded
            front_end = ClapFeatureExtractor.from_pretrained(name)
    except Exception as error:  # whatever a malformed folder provokes in transformers
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(
            f"{name}: is no CLAP directory or file here, and a model hub did not give one "
            f"({reason}); {SUPPORTED}"
        ) from None
    if kind != "clap":
        raise UserError(f"{name}: is a transformers model of type {kind}; {SUPPORTED}")
    for what in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        if keys := [key for key in found[what] if not str(key).endswith("position_ids")]:
            raise UserError(f"{name}: {what.replace('_', ' ')}, {sorted(keys)[0]} among them")
    audio_config = model.config.audio_config
    fused = front_end.truncation == "fusion"
    if front_end.feature_size != audio_config.num_mel_bins or fused != audio_config.enable_fusion:
        raise UserError(
            f"{name}: its feature extractor ({front_end.feature_size} mel bands, "
            f"{front_end.truncation}) is not that of its model ({audio_config.num_mel_bins}, "
            f"{'fusion' if audio_config.enable_fusion else 'rand_trunc'})"
        )
    words = load_tokenizer("AutoTokenizer", tokenizer or name, model.config.text_config.vocab_size)
    return LaionClap(model.eval(), front_end, words)


def _save_microsoft(clap: MicrosoftClap, folder: Path) -> None:
    text: Any = clap.text.config
    audio: Any = getattr(clap.audio, "config", None)
    config = {
        "model_type": _MICROSOFT,
        "dim": clap.dim,
        "window_seconds": clap.front_end.max_length_s,
        "audio_config": audio.to_diff_dict() if audio is not None else None,
        "text_config": text.to_diff_dict(),
    }
    weights = {key: value.contiguous() for key, value in clap.state_dict().items()}
    weights["mel_bank"] = torch.from_numpy(clap.mel_bank())
    save_file(weights, folder / _WEIGHTS, {"format": "pt"})
    (folder / _CONFIG).write_text(json.dumps(config, indent=2) + "\n")


def _load_microsoft(folder: Path, tokenizer: str | None, upstream_compat: bool) -> MicrosoftClap:
    from transformers import BertConfig, ClapAudioConfig, GPT2Config

    config = _read_config(folder)
    try:
        weights = load_file(folder / _WEIGHTS)
        texts = {"gpt2": GPT2Config, "bert": BertConfig}
        text = texts[config["text_config"]["model_type"]](**config["text_config"])
        audio = config["audio_config"] and ClapAudioConfig(**config["audio_config"])
        bank = weights.pop("mel_bank").numpy()
        front_end = microsoft_front_end(config["window_seconds"], bank)
        words = load_tokenizer("AutoTokenizer", tokenizer or str(folder), text.vocab_size)
        clap = MicrosoftClap(audio, text, config["dim"], front_end, words, upstream_compat)
        clap.load_state_dict(weights)
    except UserError:
        raise
    except Exception as error:  # whatever a malformed folder provokes in transformers
        reason = (str(error).splitlines() or [type(error).__name__])[-1].strip()
        raise UserError(f"{folder}: is no whole converted Microsoft CLAP ({reason})") from None
    return clap.eval()


def _read_config(folder: Path) -> dict[str, Any]:
    try:
        config = reading.json_file(folder / _CONFIG)
    except UserError:
        config = None
    if not isinstance(config, dict):
        raise UserError(f"{folder}: holds no readable {_CONFIG}; {SUPPORTED}")
    return config
