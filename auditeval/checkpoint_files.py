"""Where a checkpoint lies, and what its files say without the model being built (or torch)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from auditeval import reading, storage
from auditeval.digests import sha256
from auditeval.types import UserError

WEIGHTS, CONFIG, CARD = "model.safetensors", "config.json", "README.md"
TRAINED_ON = "trained_on.json"
DEFAULT_CHECKPOINT = "auditeval-offline"
_WANTED = ["*.json", "*.safetensors", "*.txt", "README.md"]  # nothing that could be run
_BELOW = [f"{folders}checkpoint/{CONFIG}" for folders in ("", "*/", "*/*/")]  # a run: MODEL/FOLD/


class TrainedOn(BaseModel):
    """The originals that an evaluator learned from, and those that chose or calibrated it.

    Each by the first `LENGTH` digits of its `audio.content_hash`, so that a renamed or copied file
    is still known. Nothing is computed from it: it serves reports that must say what was seen.
    """

    model_config = ConfigDict(extra="forbid", strict=True)
    LENGTH: ClassVar[int] = 16
    train: list[str]
    validation: list[str]

    @classmethod
    def of(cls, train: Iterable[str], validation: Iterable[str]) -> TrainedOn:
        """From whole digests."""
        return cls(
            **{
                name: sorted({digest[: cls.LENGTH] for digest in digests})
                for name, digests in (("train", train), ("validation", validation))
            }
        )

    def part(self, digest: str) -> Literal["train", "validation"] | None:
        """Where an original with this digest stood, None for one that was not there."""
        short = digest[: self.LENGTH]
        if short in self._train:
            return "train"
        return "validation" if short in self._validation else None

    @cached_property
    def _train(self) -> frozenset[str]:
        return frozenset(self.train)

    @cached_property
    def _validation(self) -> frozenset[str]:
        return frozenset(self.validation)


def read_trained_on(folder: Path) -> TrainedOn | None:
    """What the evaluator in a folder was trained on; None where that was not kept.

    Raises UserError for a file that is no such list.
    """
    path = folder / TRAINED_ON
    try:
        return TrainedOn.model_validate_json(reading.content(path))
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise UserError(f"{path}: is no list of originals ({str(error).splitlines()[0]})") from None


def digest(folder: Path) -> str:
    """SHA-256 of weights and configuration, in hex: that of a loaded `Checkpoint`.

    Raises UserError for a folder without them.
    """
    check_files(folder)
    return sha256(folder / WEIGHTS, folder / CONFIG)


def check_files(folder: Path) -> None:
    """Raises UserError for a folder without weights or configuration; one of a run, which holds
    checkpoints below, is told from one that is not there."""
    for name in (WEIGHTS, CONFIG):
        if (folder / name).is_file():
            continue
        below = [str(found.parent) for up in _BELOW for found in sorted(folder.glob(up))]
        ships = sorted({found.parent.name for p in _places() for found in p.glob(f"*/{CONFIG}")})
        hint = f"; below it are {', '.join(below)}" if below else ""
        if not folder.exists():
            hint = f"; there is no such folder, and those that ship are {', '.join(ships)}"
        raise UserError(f"{folder}: is no checkpoint, it has no {name}{hint}")


def _places() -> list[Path]:
    """Where checkpoints ship: beside the package in a source tree, inside it in a wheel."""
    package = Path(__file__).parent
    return [package.parent / "checkpoints", package / "checkpoints"]


def find(checkpoint: str | os.PathLike[str] | None, **download: Any) -> Path:
    """The folder that is meant: a path, the name of one that ships (None: the default), a hub id.

    A hub id or URL is downloaded; `download` are options of `snapshot_download`. Raises UserError
    for one that is not given. Whether there is a checkpoint in the folder is not looked at.
    """
    path = storage.path(DEFAULT_CHECKPOINT if checkpoint is None else checkpoint)
    if isinstance(path, storage.UrlPath):
        return _downloaded(path)
    if checkpoint is None or not path.exists():
        places = _places()
        shipped = [place / path for place in places if (place / path / CONFIG).is_file()]
        if len(path.parts) == 1 and (shipped or checkpoint is None):
            return [*shipped, places[0] / path][0]
    if path.exists() or str(checkpoint).count("/") != 1 or str(checkpoint).startswith((".", "/")):
        return path
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        return Path(snapshot_download(str(checkpoint), allow_patterns=_WANTED, **download))
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        raise UserError(
            f"{checkpoint}: no such folder, and the model hub did not give it "
            f"({str(error).splitlines()[0]})"
        ) from None


def _downloaded(url: storage.UrlPath) -> Path:
    try:
        folder = storage.local_folder(url, _WANTED)
    except OSError as error:
        raise UserError(f"{error.filename or url}: cannot be read ({error.strerror})") from None
    if not (folder / CONFIG).is_file():
        raise UserError(f"{url}: is no checkpoint, it has no {CONFIG}")
    return folder
