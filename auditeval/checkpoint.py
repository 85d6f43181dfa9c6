"""Checkpoints: a folder with model.safetensors and config.json. Loading one never runs its code.

The configuration names a model and extractors out of two closed lists and gives them plain JSON
arguments; there is no import path in it, and no pickle beside it.
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable, Iterable
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
    check_files,
    read_trained_on,
)
from auditeval.checkpoint_upgrade import OLD_FORMAT, upgraded, used
from auditeval.features import EXTRACTORS, make_encoder, make_extractor
from auditeval.features.comparison import REVISION
from auditeval.features.encoder import Encoder
from auditeval.features.extractor import Extractor
from auditeval.models import MODELS, Model
from auditeval.pretrained.threads import made_apart, one_thread
from auditeval.types import UserError

_FORMAT: Literal["auditeval-2"] = "auditeval-2"
_PICKLES = {".bin", ".ckpt", ".joblib", ".pickle", ".pkl", ".pt", ".pth"}


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    name: str
    arguments: dict[str, Any]


class _Extractor(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    arguments: dict[str, Any]
    revision: str


class CheckpointConfig(BaseModel):
    """What config.json holds; any other key is refused.

    `features` are the extractors by name, in their order. `comparison` is the revision of
    `features.comparison`, "" for a model that does not look at it.
    """

    model_config = ConfigDict(extra="forbid", strict=True)
    format: Literal["auditeval-2"]
    model: _Model
    features: dict[str, _Extractor]
    comparison: str = ""
    weights: str = ""  # SHA-256 of their file, in hex; "" of older checkpoints
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

    weights = to_bytes({key: value.contiguous().cpu() for key, value in model.state_dict().items()})
    config = config.model_copy(update={"weights": hashlib.sha256(weights).hexdigest()})
    files = {WEIGHTS: weights, CONFIG: f"{config.model_dump_json(indent=2)}\n".encode()}
    if card:
        files[CARD] = card.encode()
    if trained_on is not None:
        files[TRAINED_ON] = f"{trained_on.model_dump_json(indent=0)}\n".encode()
    for name, data in files.items():
        with replacing(folder / name) as temporary:
            temporary.write_bytes(data)


def _describe(model: Model, encoder: Encoder, training: dict[str, Any]) -> CheckpointConfig:
    return CheckpointConfig(
        format=_FORMAT,
        model=_Model(
            name=next(name for name, kind in MODELS.items() if kind is type(model)),
            arguments=model.arguments,
        ),
        features={
            name: _Extractor(arguments=extractor.arguments, revision=extractor.revision)
            for name, extractor in encoder.extractors.items()
        },
        comparison=_comparison(model),
        training=training,
        software={
            "python": platform.python_version(),
            **{package: version(package) for package in ("auditeval", "torch", "numpy")},
            **{package: version(package) for package in model.software},
        },
    )


def _comparison(model: Model) -> str:
    return REVISION if model.arguments.get("inputs", {}).get("alignment") else ""


def is_checkpoint(folder: Path) -> bool:
    """Whether a folder holds a checkpoint of ours, readable or not."""
    try:
        return bool(reading.json_file(folder / CONFIG)["format"] in (_FORMAT, OLD_FORMAT))
    except (ValueError, LookupError, TypeError):
        return False


@one_thread()
@made_apart()
def load(
    folder: str | os.PathLike[str], base: str | None = None, dtype: str | None = None
) -> Checkpoint:
    """Rebuild an evaluator from a checkpoint folder, or from what another program made of a model.

    `base` and `dtype` stand in for those that an evaluator on Qwen2.5-Omni was trained with.
    Raises UserError, having run nothing from the folder, for: a missing file, a pickle in the
    folder, a configuration that is not this format or names anything but a known model and
    extractors, weights that are not safetensors, not those that were written or do not fit, an
    extractor or a comparison of another revision, a base that is not the one trained on.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load as from_bytes

    folder = Path(folder)
    for kind in MODELS.values():  # who made it may leave pickles in there, which are not opened
        if foreign := _read_foreign(folder, kind, base, dtype):
            return foreign
    check_files(folder)
    if pickles := sorted(p.name for p in folder.rglob("*") if p.suffix.lower() in _PICKLES):
        raise UserError(
            f"{folder}: refused, it carries {pickles[0]}; files of this kind can run code when "
            f"loaded, and a checkpoint is {WEIGHTS} and {CONFIG} only"
        )
    data, text = (folder / WEIGHTS).read_bytes(), _content(folder / CONFIG)
    config = _parse(folder / CONFIG, text)
    if config.weights and hashlib.sha256(data).hexdigest() != config.weights:
        raise UserError(
            f"{folder / WEIGHTS}: is damaged or another's, its SHA-256 is not the one in {CONFIG}; "
            "copy the folder again"
        )
    if base or dtype:
        features = {name: part.arguments for name, part in config.features.items()}
        try:
            MODELS[config.model.name].stand_in(config.model.arguments, features, base, dtype)
        except UserError as error:
            raise UserError(f"{folder}: {error}") from None
    encoder = Encoder(_extractor(folder, *item) for item in config.features.items())
    make = MODELS[config.model.name]
    model = _build(folder, "model", config.model.name, lambda: make(**config.model.arguments))
    if config.comparison != _comparison(model):
        raise UserError(
            f"{folder}: was trained on revision {config.comparison or 'unknown'} of the comparison "
            f"of frames, installed is {REVISION}; its scores would mean something else: train it "
            "again"
        )
    try:
        model.load_state_dict(used(from_bytes(data), model.state_dict()))
    except (SafetensorError, RuntimeError) as error:
        reason = str(error).splitlines()[-1].strip()
        raise UserError(f"{folder / WEIGHTS}: cannot be loaded as weights ({reason})") from None
    digest = hashlib.sha256(data + text).hexdigest()
    return Checkpoint(
        model.eval(), encoder, config, digest, _read_card(folder), read_trained_on(folder)
    )


def _read_foreign(
    folder: Path, kind: type[Model], base: str | None, dtype: str | None
) -> Checkpoint | None:
    try:
        found = kind.read(folder, base, dtype)
        if found is None:
            return None
        encoder = make_encoder(found.features)
    except (TypeError, ValueError, RuntimeError) as error:
        raise error if isinstance(error, UserError) else UserError(f"{folder}: {error}") from None
    config = _describe(found.model, encoder, found.training)
    # Of a merged checkpoint the fingerprint stands in, in the configuration.
    digest = hashlib.sha256(config.model_dump_json(exclude={"software"}).encode())
    for tensor in found.model.state_dict().values():
        digest.update(tensor.float().contiguous().numpy().data)
    return Checkpoint(found.model, encoder, config, digest.hexdigest())


def _extractor(folder: Path, name: str, part: _Extractor) -> Extractor:
    """As it was when the model was trained; raises UserError for another one."""
    made: Extractor = _build(
        folder, "extractor", name, lambda: make_extractor(name, **part.arguments)
    )
    if made.revision != part.revision:
        raise UserError(
            f"{folder}: was trained on extractor {name} revision {part.revision}, installed is "
            f"revision {made.revision}; its scores would mean something else: train it again"
        )
    return made


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


def _parse(path: Path, text: bytes) -> CheckpointConfig:
    if b'"_target_"' in text:
        raise UserError(
            f"{path}: refused, it names a Python object to call (_target_); a checkpoint names its "
            "model and extractors only"
        )
    try:
        config = CheckpointConfig.model_validate(upgraded(reading.from_json(text)))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UserError(f"{path}: {where}: {first['msg']}") from None
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None
    named: list[tuple[str, str, Iterable[str]]] = [("model", config.model.name, MODELS)]
    named += [("extractor", name, EXTRACTORS) for name in config.features]
    for kind, name, known in named:
        if name not in known:
            raise UserError(
                f"{path}: refused, its {kind} is {name!r}; known are {', '.join(known)}"
            )
    return config


def _build(folder: Path, kind: str, name: str, make: Callable[[], Any]) -> Any:
    try:
        return make()
    except UserError as error:
        hint = "say where it lies with --base" if name == "qwen_omni" else "mend it there"
        raise UserError(
            f"{folder / CONFIG}: {kind} {name!r}: {error} (if it has moved, {hint})"
        ) from None
    except (TypeError, ValueError, KeyError, RuntimeError) as error:
        raise UserError(
            f"{folder / CONFIG}: {kind} {name!r} cannot be made with its arguments ({error})"
        ) from None
