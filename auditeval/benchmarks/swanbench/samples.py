"""SwanBench-Speech's JSONL: scripts of one speaker or several, by scene and language."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from auditeval import jsonl
from auditeval.metrics.transcript import Language
from auditeval.types import UserError, sentence

LANGUAGES: tuple[Language, ...] = ("en", "zh")
_LANGUAGES: dict[Any, Language] = {"english": "en", "en": "en", "chinese": "zh", "zh": "zh"}


def _language(name: Any) -> Language:
    found = _LANGUAGES.get(name.lower()) if isinstance(name, str) else None
    if found is None:
        raise ValueError(f"expected chinese or english, found {name!r}")
    return found


Text = Annotated[str, Field(min_length=1)]


class Turn(BaseModel):
    """What one speaker says before the next one does."""

    model_config = ConfigDict(frozen=True, strict=True)

    speaker: Text
    text: Text


class SwanSample(BaseModel):
    """A script: `scene` is its scenario; in a row without an `id` that is the line's number."""

    model_config = ConfigDict(frozen=True, strict=True)

    id: Text
    content: list[Turn] = Field(min_length=1)
    language: Annotated[Language, BeforeValidator(_language)]
    scene: Text
    theme: str = ""

    @property
    def speakers(self) -> list[str]:
        """In the order of their first turns."""
        return list(dict.fromkeys(turn.speaker for turn in self.content))

    @property
    def text(self) -> str:
        """What is said, without who says it."""
        return " ".join(turn.text for turn in self.content)

    @property
    def script(self) -> str:
        """What is said; where several speak, each turn on a line behind its speaker."""
        if len(self.speakers) == 1:
            return self.text
        return "\n".join(f"{turn.speaker}: {turn.text}" for turn in self.content)


def read_samples(scripts: Sequence[Path]) -> list[SwanSample]:
    """The samples of JSONL files in their order; raises UserError naming the line.

    Those of several files have ids like mono_speaker/17: the name of the file without its suffix,
    and the id in it. Raises UserError for two files of one such name.
    """
    samples: dict[str, SwanSample] = {}
    names: dict[str, Path] = {}
    for path in scripts:
        if path.stem in names:
            raise UserError(
                f"{path} and {names[path.stem]}: two scripts have one name, which tells apart the "
                "ids of their samples; rename one"
            )
        names[path.stem] = path
        count = len(samples)
        for where, row in jsonl.objects(path):
            number = where.rpartition(":")[2]
            try:
                sample = SwanSample.model_validate({"id": number, **row})
            except ValidationError as error:
                raise UserError(f"{where}: {sentence(error, SwanSample)}") from None
            id = sample.id if len(scripts) == 1 else f"{path.stem}/{sample.id}"
            if id in samples:
                raise UserError(f"{where}: id {sample.id!r} stands twice")
            samples[id] = sample.model_copy(update={"id": id})
        if len(samples) == count:
            raise UserError(f"{path}: holds no samples")
    return list(samples.values())


def read_timings(path: Path) -> dict[str, float]:
    """Seconds of inference by sample id, of a JSONL of {"id", "inference_seconds"}.

    Raises UserError naming the line.
    """
    seconds: dict[str, float] = {}
    for where, timing in jsonl.rows(path, _Timing):
        if timing.id in seconds:
            raise UserError(f"{where}: id {timing.id!r} stands twice")
        seconds[timing.id] = timing.inference_seconds
    return seconds


class _Timing(BaseModel):
    id: Text
    inference_seconds: float = Field(gt=0, allow_inf_nan=False)


def digest(samples: list[SwanSample]) -> str:
    """SHA-256 of what records depend on, in hex."""
    rows = [sample.model_dump() for sample in samples]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()
