"""What webMUSHRA kept: results/TEST/mushra.csv, beside configs/*.yaml that name the clips."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from auditeval.data.importers import rows
from auditeval.reading import yaml_file
from auditeval.types import EditPair, UserError

_CAPTION = "A recording."
_OWN = re.compile(r"reference|anchor\d*")  # the hidden reference and the anchors that it makes
_NUMBERS = ("trial_id", "rating_stimulus", "rating_score", "rating_time", "rating_comment")


def import_webmushra(folder: Path) -> list[EditPair]:
    """All MUSHRA tests of a webMUSHRA folder whose results are there.

    A stimulus is the edited clip, the trial's reference the original, its name the system, and
    votes of 0 to 100 become 1 to 5 of quality and of faithfulness alike, as for codecs
    (`import_mushra_codecs`); nothing was asked for. A rater is a session: `session_uuid`, or what
    an old version of webMUSHRA has instead, all that it asked the participant. The hidden reference
    and the anchors that webMUSHRA makes, which have no files, are left out.
    """
    configs: dict[str, list[tuple[Path, dict[str, Any]]]] = {}
    for path in sorted((folder / "configs").glob("*.yaml")):
        found = yaml_file(path)
        if isinstance(found, dict) and "testId" in found:
            configs.setdefault(_sanitized(str(found["testId"])), []).append((path, found))
    made: list[EditPair] = []
    for table in sorted((folder / "results").glob("*/mushra.csv")):
        if table.parent.name not in configs:
            raise UserError(
                f"{table}: no file of {folder / 'configs'} has the testId {table.parent.name}"
            )
        (path, config), *further = configs[table.parent.name]
        for other, found in further:
            if _trials(found) != _trials(config):
                raise UserError(
                    f"{table}: {path} and {other} have its testId and other trials; keep the one "
                    "that was rated"
                )
        made += _pairs(folder, table, path, config)
    if not made:
        raise UserError(f"{folder}: expected webMUSHRA's results/TEST/mushra.csv and configs/")
    return made


def _sanitized(name: str) -> str:
    """How its service/write.php names the folder of a test."""
    return re.sub("--+", "-", re.sub(r"[^\w-]+", "-", name)).lower()


def _pairs(folder: Path, table: Path, path: Path, config: dict[str, Any]) -> list[EditPair]:
    trials = _trials(config)
    for name, page in trials.items():
        _check_page(f"{path}: page {name}", page)
    votes: dict[tuple[str, str], dict[str, float]] = {}

    def row(cells: dict[str, str]) -> tuple[str, str, str, float] | None:
        trial, stimulus = cells["trial_id"], cells["rating_stimulus"]
        score = float(cells["rating_score"])
        if not 0 <= score <= 100:
            raise ValueError(f"rating_score is {score:g}, expected 0 to 100")
        if trial not in trials:
            raise ValueError(f"trial {trial!r} is no mushra page of {path}")
        if stimulus not in _stimuli(trials[trial]):
            if _OWN.fullmatch(stimulus):
                return None
            raise ValueError(f"{path} has no stimulus {stimulus!r} in trial {trial!r}")
        return trial, stimulus, _rater(cells), 1 + score / 25

    for where, (trial, stimulus, rater, vote) in rows.of_csv(table, "webMUSHRA's results", row):
        given = votes.setdefault((trial, stimulus), {})
        if rater in given:
            raise UserError(f"{where}: rater {rater!r} rated {stimulus!r} of {trial!r} before")
        given[rater] = vote
    return [
        rows.pair(
            str(table),
            {
                "id": f"{config['testId']}-{trial}-{stimulus}",
                "original": folder / str(trials[trial]["reference"]),
                "edited": folder / _stimuli(trials[trial])[stimulus],
                "original_caption": _CAPTION,
                "target_caption": _CAPTION,
                "system": stimulus,
                "source": f"{config['testId']}-{trial}",
                "listening_test": str(config["testId"]),
                "raters": {"quality": given, "faithfulness": given},
            },
        )
        for (trial, stimulus), given in votes.items()
    ]


def _trials(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The mushra pages by id."""
    return {str(page.get("id")): page for page in _pages(config.get("pages"))}


def _pages(found: Any) -> Iterator[dict[str, Any]]:
    """The mushra pages, in lists of random order too."""
    if isinstance(found, list):
        for item in found:
            yield from _pages(item)
    elif isinstance(found, dict) and found.get("type") == "mushra":
        yield found


def _check_page(where: str, page: dict[str, Any]) -> None:
    """Raises UserError where it does not say which clips it plays."""
    stimuli = page.get("stimuli") or {}
    if not isinstance(page.get("reference"), str):
        raise UserError(f"{where}: reference: expected the path of a clip")
    if not isinstance(stimuli, dict) or not all(isinstance(x, str) for x in stimuli.values()):
        raise UserError(f"{where}: stimuli: expected paths of clips by name, as in {{C1: c1.wav}}")


def _stimuli(page: dict[str, Any]) -> dict[str, str]:
    """Clips by name; YAML takes a name such as 1 for a number."""
    return {str(name): str(clip) for name, clip in (page.get("stimuli") or {}).items()}


def _rater(cells: dict[str, str]) -> str:
    name = cells.get("session_uuid") or "/".join(
        value for key, value in cells.items() if key not in (*_NUMBERS, "session_test_id")
    )
    if not name:
        raise ValueError("says neither session nor participant, so that raters cannot be told")
    return re.sub("[;=]", "_", name)
