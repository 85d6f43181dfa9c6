"""Tables of listening tests: P.835 labels, MUSHRA ratings of codecs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from auditeval.data.importers import rows
from auditeval.reading import from_json
from auditeval.types import EditPair

_SPEECH_CAPTION = "A person speaking."


def import_p835(folder: Path) -> list[EditPair]:
    """A P.835 label table: labels.csv with set, edited, original, talker, condition, mos_*.

    The edited file is the degraded one, the original its clean reference, the system its
    condition. Quality <- overall (OVRL), faithfulness <- speech distortion (SIG); nothing was asked
    for, so relevance is unrated and both captions are the same.
    """
    return _table(folder / "labels.csv", "the audio of a P.835 test", _p835_row)


def _p835_row(folder: Path, cells: dict[str, str]) -> dict[str, Any]:
    return {
        **_speech(cells["edited"], folder / cells["original"], folder / cells["edited"]),
        "operation": "enhance",
        "system": cells["condition"],
        "source": f"{cells['set']}-{cells['talker']}",
        "talker": cells["talker"],
        "ratings": {"quality": float(cells["mos_ovrl"]), "faithfulness": float(cells["mos_sig"])},
    }


def import_mushra_codecs(folder: Path) -> list[EditPair]:
    """MUSHRA ratings of neural speech codecs [Stahl et al. 2024, 10.1109/ACCESS.2024.3482359].

    ratings_formated_filtered.csv with signal, condition, ratings and file, beside audio/. The
    edited file is what came out of a codec, the original its ref.wav, the system the codec. Basic
    audio quality counts any difference to the reference as damage [ITU-R BS.1534]: votes of 0 to
    100 become 1 to 5 of quality and of faithfulness alike; nothing was asked for. Left out are the
    hidden reference, which any comparison knows, and the anchor, which has no file.
    """
    path = folder / "ratings_formated_filtered.csv"
    return _table(path, "audio/ of the codecs' test", _mushra_row)


def _mushra_row(folder: Path, cells: dict[str, str]) -> dict[str, Any] | None:
    if cells["file"] == "" or cells["condition"] == "Reference":
        return None
    edited, votes = folder / "audio" / cells["file"], from_json(cells["ratings"])
    if not isinstance(votes, list) or not all(isinstance(vote, (int, float)) for vote in votes):
        raise ValueError(f"ratings: expected votes as in [40, 62.5], found {cells['ratings']}")
    votes = [1 + vote / 25 for vote in votes]
    return {
        **_speech(cells["file"], edited.with_name("ref.wav"), edited),
        "operation": "code",
        "system": cells["condition"],
        "source": cells["signal"],
        "raters": {"quality": votes, "faithfulness": votes},
    }


def _speech(name: str, original: Path, edited: Path) -> dict[str, Any]:
    return {
        "id": Path(name).with_suffix("").as_posix().replace("/", "_"),
        "original": original,
        "edited": edited,
        "original_caption": _SPEECH_CAPTION,
        "target_caption": _SPEECH_CAPTION,
    }


def _table(
    path: Path, beside: str, to_row: Callable[[Path, dict[str, str]], dict[str, Any] | None]
) -> list[EditPair]:
    """Pairs of the lines of a CSV file that `to_row` makes something of."""
    made = rows.of_csv(path, beside, partial(to_row, path.parent))
    return [rows.pair(where, row) for where, row in made]
