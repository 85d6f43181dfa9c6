"""A Qwen2.5-Omni folder: its configuration, tokenizer, audio tower and language model.

Each part is loaded alone. Talker, vision tower and vocabulary head (0.545B parameters at 7B) are
never read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import nn

from auditeval.pretrained.packages import first_line
from auditeval.pretrained.quiet import quiet_transformers
from auditeval.types import UserError

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
# Published folders hold `thinker.model.layers`; a saved Thinker, and transformers 5, other names.
_LANGUAGE_MODEL = r"^(thinker\.)?model\.(language_model\.)?(?=layers\.|embed_tokens\.|norm\.)"
_AUDIO_TOWER = r"^(thinker\.)?(model\.)?audio_tower\."
_FRONT_END = {"sampling_rate": 16000, "hop_length": 160, "n_fft": 400, "dither": 0.0}
_FILES = ("*.json", "*.txt", "*.safetensors")
_EXPECTED = "expected a folder of Qwen2.5-Omni or a hub id such as Qwen/Qwen2.5-Omni-7B"


@dataclass(frozen=True)
class Base:
    """An opened base.

    `name` is a hub id or a whole path, `revision` the commit of a hub id (None of a folder),
    `config` the Thinker's.
    """

    name: str
    revision: str | None
    folder: Path
    config: Any

    def tokenizer(self) -> Any:
        """Its tokenizer; raises UserError where there is none that fits the configuration."""
        from transformers import AutoTokenizer

        try:
            with quiet_transformers():
                tokenizer = AutoTokenizer.from_pretrained(self.folder, trust_remote_code=False)
            known = tokenizer.convert_tokens_to_ids(["<|AUDIO|>", "<|audio_bos|>", "<|audio_eos|>"])
        except Exception as error:  # whatever a malformed folder provokes in transformers
            raise UserError(
                f"{self.name}: its tokenizer cannot be read ({first_line(error)})"
            ) from None
        config = self.config
        named = [config.audio_token_index, config.audio_start_token_id, config.audio_end_token_id]
        if known != named:
            raise UserError(
                f"{self.name}: its tokenizer has <|AUDIO|>, <|audio_bos|>, <|audio_eos|> at "
                f"{known}, its configuration at {named}; they do not belong together"
            )
        return tokenizer

    def front_end(self) -> Any:
        """The feature extractor of its audio: 128 log-mel bands of 16 kHz, hop 10 ms."""
        from transformers import WhisperFeatureExtractor

        try:
            front_end = WhisperFeatureExtractor.from_pretrained(self.folder)
        except Exception as error:  # as above
            raise UserError(
                f"{self.name}: its preprocessor_config.json cannot be read ({first_line(error)})"
            ) from None
        expected = {**_FRONT_END, "feature_size": self.config.audio_config.num_mel_bins}
        for key, value in expected.items():
            if getattr(front_end, key) != value:
                raise UserError(
                    f"{self.name}: its preprocessor_config.json has {key} "
                    f"{getattr(front_end, key)!r}; expected {value}"
                )
        return front_end

    def audio_tower(self, dtype: torch.dtype) -> nn.Module:
        """The audio tower alone, in evaluation mode."""
        from transformers.models.qwen2_5_omni import modeling_qwen2_5_omni as omni

        kind = omni.Qwen2_5OmniAudioEncoder
        return self._load(kind, self.config.audio_config, _AUDIO_TOWER, dtype=dtype)

    def language_model(self, dtype: torch.dtype, **options: Any) -> nn.Module:
        """The language model alone, without vocabulary head; `options` go to `from_pretrained`."""
        from transformers.models.qwen2_5_omni import modeling_qwen2_5_omni as omni

        kind = omni.Qwen2_5OmniThinkerTextModel
        return self._load(kind, self.config.text_config, _LANGUAGE_MODEL, dtype=dtype, **options)

    def fingerprint(self) -> str:
        """SHA-256 of the language model, see `fingerprint`; another dtype is another one."""
        return fingerprint(self.name, self.folder, _LANGUAGE_MODEL)

    def _load(self, kind: Any, config: Any, names: str, **options: Any) -> nn.Module:
        try:
            with quiet_transformers():
                model, found = kind.from_pretrained(
                    self.folder,
                    config=config,
                    key_mapping={names: ""},
                    output_loading_info=True,
                    ignore_mismatched_sizes=True,  # we name them ourselves, below
                    use_safetensors=True,
                    attn_implementation="sdpa",
                    **options,
                )
        except ImportError as error:
            raise UserError(f"{self.name}: {first_line(error)}") from None
        except Exception as error:  # whatever a malformed folder provokes in transformers
            raise UserError(f"{self.name}: cannot be loaded ({first_line(error)})") from None
        for what in ("missing_keys", "mismatched_keys"):
            if keys := sorted(map(str, found[what])):
                raise UserError(
                    f"{self.name}: {what.replace('_', ' ')}, {keys[0]} among them; {_EXPECTED}"
                )
        return model.eval().requires_grad_(False)


def open_base(name: str, revision: str | None = None) -> Base:
    """A base from a folder, or from the model hub at a revision (branch, tag or commit).

    Raises UserError for what is neither.
    """
    from transformers import PretrainedConfig, Qwen2_5OmniThinkerConfig

    folder, commit = find(name, revision)
    try:
        # Not AutoConfig, which would offer to run code that lies beside an unknown model.
        whole = PretrainedConfig.get_config_dict(folder)[0]
        thinker = whole.get("thinker_config", whole)
        kind = thinker.get("model_type", whole.get("model_type"))
        config = Qwen2_5OmniThinkerConfig(**thinker) if kind == "qwen2_5_omni_thinker" else None
    except Exception as error:  # whatever a malformed configuration provokes in transformers
        raise UserError(f"{name}: its config.json cannot be read ({first_line(error)})") from None
    if config is None:
        raise UserError(f"{name}: is a model of type {kind}; {_EXPECTED}")
    return Base(name if commit else str(folder), commit, folder, config)


def find(name: str, revision: str | None) -> tuple[Path, str | None]:
    """The folder of a base, and its commit if it comes from the model hub; see `open_base`."""
    path = Path(name).expanduser()
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise UserError(f"{name}: holds no config.json; {_EXPECTED}")
        return path.resolve(), None
    if path.is_absolute() or len(path.parts) != 2 or name.startswith("."):
        raise UserError(f"{name}: no such folder; {_EXPECTED}")
    from huggingface_hub import snapshot_download

    try:
        folder = Path(snapshot_download(name, revision=revision, allow_patterns=list(_FILES)))
    except Exception as error:  # the hub's errors, and those of its HTTP library
        raise UserError(
            f"{name}: no such folder, and the model hub did not give it ({first_line(error)}); "
            f"{_EXPECTED}"
        ) from None
    return folder, folder.name  # the hub's cache calls it by its commit


def fingerprint(name: str, folder: Path, pattern: str = "") -> str:
    """SHA-256 over name, shape, first and last row of the tensors that match, in hex.

    What matched is no part of their names. Training changes those rows as well as others; reading
    all of a 7B base at every start would take longer than loading it.
    """
    digest = hashlib.sha256()
    found = {}
    files = sorted(folder.glob("model*.safetensors"))
    if not files:
        raise UserError(f"{name}: holds no model*.safetensors; {_EXPECTED}")
    for path in files:
        with open_weights(path) as file:
            for key in file.keys():  # noqa: SIM118 (it is no mapping)
                if re.match(pattern, key):
                    part = file.get_slice(key)
                    shape = part.get_shape()
                    ends = (part[:1], part[shape[0] - 1 :]) if shape else ()
                    found[re.sub(pattern, "", key)] = (shape, ends)
    for key, (shape, ends) in sorted(found.items()):
        digest.update(f"{key} {shape}\n".encode())
        for rows in ends:
            digest.update(rows.float().contiguous().numpy().data)
    return digest.hexdigest()[:16]


@contextmanager
def open_weights(path: Path) -> Iterator[Any]:
    """A safetensors file, opened; raises UserError for what is none."""
    try:
        with safe_open(path, "pt") as file:
            yield file
    except (SafetensorError, OSError) as error:
        raise UserError(f"{path}: cannot be read as weights ({first_line(error)})") from None
