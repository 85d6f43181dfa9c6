"""Checkpoints: a folder with model.safetensors and config.json. Loading one never runs its code.

The configuration names a model and an encoder out of two closed lists and gives them plain JSON
arguments; there is no import path in it, and no pickle beside it.
"""

from __future__ import annotations

import hashlib
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from auditeval import reading
from auditeval.atomic import new_folder, replacing
from auditeval.checkpoint_files import (
    CARD,
    CONFIG,
    TRAINED_ON,
    WEIGHTS,
    TrainedOn,
    read_trained_on,
)
from auditeval.features import ENCODERS, make_encoder
from auditeval.features.comparison import REVISION
from auditeval.features.encoder import Encoder
from auditeval.models import MODELS, Model
from auditeval.models.omni import swift
from auditeval.types import UserError

_FORMAT: Literal["auditeval-1"] = "auditeval-1"
_PICKLES = {".bin", ".ckpt", ".joblib", ".pickle", ".pkl", ".pt", ".pth"}


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    name: str
    arguments: dict[str, Any]


class _EncoderPart(_Part):
    revision: str


class CheckpointConfig(BaseModel):
    """What config.json holds; any other key is refused.

    `comparison` is the revision of `features.comparison`, "" for a model that does not look at it.
    """

    model_config = ConfigDict(extra="forbid", strict=True)
    format: Literal["auditeval-1"]
    model: _Part
    encoder: _EncoderPart
    comparison: str = ""
    training: dict[str, Any]
    software: dict[str, str]


class Checkpoint(NamedTuple):
    """A loaded evaluator; `digest` is the SHA-256 of its weights and configuration, in hex.

    `card` is the model card that lay beside them, "" for none; `trained_on` see `TrainedOn`.
    """

    model: Model
    encoder: Encoder
    config: CheckpointConfig
    digest: str
    card: str = ""
    trained_on: TrainedOn | None = None


def save(
    folder: str | os.PathLike[str],
    model: Model,
    encoder: Encoder,
    training: dict[str, Any],
    trained_on: TrainedOn | None = None,
) -> None:
    """Write a checkpoint whole or not at all; an existing one is replaced."""
    with new_folder(Path(folder)) as temporary:
        write(temporary, model, _describe(model, encoder, training), trained_on=trained_on)


def write(
    folder: Path,
    model: Model,
    config: CheckpointConfig,
    card: str = "",
    trained_on: TrainedOn | None = None,
) -> None:
    """The files of a checkpoint; of one that was loaded, those that it was loaded from."""
    from safetensors.torch import save as to_bytes

    weights = {key: value.contiguous().cpu() for key, value in model.state_dict().items()}
    files = {WEIGHTS: to_bytes(weights), CONFIG: f"{config.model_dump_json(indent=2)}\n".encode()}
    if card:
        files[CARD] = card.encode()
    if trained_on is not None:
        files[TRAINED_ON] = f"{trained_on.model_dump_json(indent=0)}\n".encode()
    for name, data in files.items():
        with replacing(folder / name) as temporary:
            temporary.write_bytes(data)


def _describe(model: Model, encoder: Encoder, training: dict[str, Any]) -> CheckpointConfig:
    packages = ["auditeval", "torch", "numpy"]
    packages += ["transformers", "peft"] if encoder.name == "qwen_omni" else []
    return CheckpointConfig(
        format=_FORMAT,
        model=_Part(
            name=next(name for name, kind in MODELS.items() if kind is type(model)),
            arguments=model.arguments,
        ),
        encoder=_EncoderPart(
            name=encoder.name, arguments=encoder.arguments, revision=encoder.revision
        ),
        comparison=_comparison(model),
        training=training,
        software={
            "python": platform.python_version(),
            **{package: version(package) for package in packages},
        },
    )


def _comparison(model: Model) -> str:
    return REVISION if model.arguments.get("alignment_dim") else ""


def is_checkpoint(folder: Path) -> bool:
    """Whether a folder holds a checkpoint of ours, readable or not."""
    try:
        return bool(reading.json_file(folder / CONFIG)["format"] == _FORMAT)
    except (ValueError, LookupError, TypeError):
        return False


def load(
    folder: str | os.PathLike[str], base: str | None = None, dtype: str | None = None
) -> Checkpoint:
    """Rebuild an evaluator from a checkpoint folder, or from what ms-swift made of a Qwen2.5-Omni.

    `base` and `dtype` stand in for those that an evaluator on Qwen2.5-Omni was trained with.
    Raises UserError, having run nothing from the folder, for: a missing file, a pickle in the
    folder, a configuration that is not this format or names anything but a known model and
    encoder, weights that are not safetensors or do not fit, an encoder or a comparison of another
    revision, a base that is not the one trained on.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load as from_bytes

    folder = Path(folder)
    if swift.is_swift(folder):  # it may leave pickles in there, which are not opened
        return _load_swift(folder, base, dtype)
    for file in (WEIGHTS, CONFIG):
        if not (folder / file).is_file():
            raise UserError(f"{folder}: is no checkpoint, it has no {file}")
    if pickles := sorted(p.name for p in folder.rglob("*") if p.suffix.lower() in _PICKLES):
        raise UserError(
            f"{folder}: refused, it carries {pickles[0]}; files of this kind can run code when "
            f"loaded, and a checkpoint is {WEIGHTS} and {CONFIG} only"
        )
    data, text = (folder / WEIGHTS).read_bytes(), _content(folder / CONFIG)
    config = _parse(folder / CONFIG, text)
    _stand_in(folder, config, base, dtype)
    encoder = _build(folder, "encoder", config.encoder, make_encoder)
    if encoder.revision != config.encoder.revision:
        raise UserError(
            f"{folder}: was trained on encoder {encoder.name} revision {config.encoder.revision}, "
            f"installed is revision {encoder.revision}; its scores would mean something else"
        )
    model = _build(
        folder, "model", config.model, lambda name, **arguments: MODELS[name](**arguments)
    )
    if config.comparison != _comparison(model):
        raise UserError(
            f"{folder}: was trained on revision {config.comparison or 'unknown'} of the comparison "
            f"of frames, installed is {REVISION}; its scores would mean something else: train it "
            "again"
        )
    try:
        model.load_state_dict(from_bytes(data))
    except (SafetensorError, RuntimeError) as error:
        reason = str(error).splitlines()[-1].strip()
        raise UserError(f"{folder / WEIGHTS}: cannot be loaded as weights ({reason})") from None
    digest = hashlib.sha256(data + text).hexdigest()
    return Checkpoint(
        model.eval(), encoder, config, digest, _read_card(folder), read_trained_on(folder)
    )


def _content(path: Path) -> bytes:
    try:
        return reading.content(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None


def _read_card(folder: Path) -> str:
    try:
        return reading.text(folder / CARD)
    except (OSError, ValueError):
        return ""  # words about a checkpoint: it is the same without them


def _load_swift(folder: Path, base: str | None, dtype: str | None) -> Checkpoint:
    try:
        found = swift.read(folder, base)
        if dtype:
            found.arguments["dtype"] = dtype
        model = swift.build(folder, found)
        encoder = make_encoder(
            "qwen_omni",
            model=model.arguments["base"],
            model_revision=model.arguments["base_revision"],
            dtype=model.arguments["dtype"],
        )
    except (TypeError, ValueError, RuntimeError) as error:
        raise error if isinstance(error, UserError) else UserError(f"{folder}: {error}") from None
    config = _describe(model, encoder, found.training)
    # Of a merged checkpoint the fingerprint stands in, in the configuration.
    digest = hashlib.sha256(config.model_dump_json(exclude={"software"}).encode())
    for tensor in model.state_dict().values():
        digest.update(tensor.float().contiguous().numpy().data)
    return Checkpoint(model, encoder, config, digest.hexdigest())


def _stand_in(folder: Path, config: CheckpointConfig, base: str | None, dtype: str | None) -> None:
    if (base or dtype) and config.model.name != "qwen_omni":
        raise UserError(f"{folder}: is no evaluator on Qwen2.5-Omni, it takes no base and no dtype")
    if base:
        config.model.arguments |= {"base": base, "base_revision": None}
        config.encoder.arguments |= {"model": base, "model_revision": None}
    if dtype:
        config.model.arguments |= {"dtype": dtype, "load_in_4bit": False}


def _parse(path: Path, text: bytes) -> CheckpointConfig:
    if b'"_target_"' in text:
        raise UserError(
            f"{path}: refused, it names a Python object to call (_target_); a checkpoint names its "
            "model and encoder only"
        )
    try:
        config = CheckpointConfig.model_validate(reading.from_json(text))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UserError(f"{path}: {where}: {first['msg']}") from None
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None
    for kind, name, known in (
        ("model", config.model.name, MODELS),
        ("encoder", config.encoder.name, ENCODERS),
    ):
        if name not in known:
            raise UserError(
                f"{path}: refused, its {kind} is {name!r}; known are {', '.join(known)}"
            )
    return config


def _build(folder: Path, kind: str, part: _Part, make: Any) -> Any:
    try:
        return make(part.name, **part.arguments)
    except UserError as error:
        hint = "say where it lies with --base" if part.name == "qwen_omni" else "mend it there"
        raise UserError(
            f"{folder / CONFIG}: {kind} {part.name!r}: {error} (if it has moved, {hint})"
        ) from None
    except (TypeError, ValueError, KeyError, RuntimeError) as error:
        raise UserError(
            f"{folder / CONFIG}: {kind} {part.name!r} cannot be made with its arguments ({error})"
        ) from None
