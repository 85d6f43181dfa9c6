"""What the P.808 toolkit made of its answers: *_votes_per_worker*.csv, one vote a line."""

from __future__ import annotations

import re
from pathlib import Path

from auditeval.data.importers import rows
from auditeval.types import AXES, Axis, EditPair, UserError

_CAPTION = "A person speaking."
_AXES: dict[str, Axis] = {
    "MOS": "quality",
    "DMOS": "quality",
    "MOS_OVRL": "quality",
    "MOS_SIG": "faithfulness",
}
_UNUSED = ("MOS_BAK",)


def import_p808(folder: Path) -> list[EditPair]:
    """The votes of an ACR, DCR or P.835 test of the P.808 toolkit [arXiv:2005.08138].

    The folder holds *_votes_per_worker*.csv, rating_clips.csv with the columns rating_clips and
    references (which tests with references are made from; for others, add it), and the clips by the
    last part of their addresses, in any folder below. MOS, DMOS and MOS_OVRL are quality, MOS_SIG
    faithfulness, MOS_BAK has no axis; nothing was asked for. The system is the clip's condition,
    where `condition_pattern` was set. A rater's first vote on a clip counts.
    """
    tables = sorted(folder.glob("*_votes_per_worker*.csv"))
    if not tables:
        raise UserError(f"{folder}: expected a file *_votes_per_worker*.csv of the P.808 toolkit")
    references = dict(
        pair
        for _, pair in rows.of_csv(
            folder / "rating_clips.csv",
            "the votes: the toolkit's list of clips and references",
            lambda cells: (_name(cells["rating_clips"]), _name(cells["references"])),
        )
    )
    files = {path.name: path for path in sorted(folder.rglob("*")) if path.is_file()}
    votes: dict[str, dict[Axis, dict[str, float]]] = {}
    systems: dict[str, str | None] = {}
    first: dict[str, str] = {}

    def row(cells: dict[str, str]) -> tuple[str, Axis, str, float, str | None] | None:
        kind, clip = cells["question_type"], _name(cells["file"])
        if kind in _UNUSED:
            return None
        if kind not in _AXES:
            known = ", ".join([*_AXES, *_UNUSED])
            raise ValueError(f"question_type is {kind}, of which no axis is made (known: {known})")
        if clip not in references:
            raise ValueError(f"{clip} has no reference in rating_clips.csv")
        for name in (clip, references[clip]):
            if name not in files:
                raise ValueError(f"{name} is nowhere in {folder}")
        rater = re.sub("[;=]", "_", cells["workerid"])
        return clip, _AXES[kind], rater, float(cells["vote"]), _condition(cells)

    for table in tables:
        for where, (clip, axis, rater, vote, system) in rows.of_csv(table, "the clips", row):
            first.setdefault(clip, where)
            systems[clip] = system
            votes.setdefault(clip, {}).setdefault(axis, {}).setdefault(rater, vote)
    return [
        rows.pair(
            first[clip],
            {
                "id": Path(clip).stem,
                "original": files[references[clip]],
                "edited": files[clip],
                "original_caption": _CAPTION,
                "target_caption": _CAPTION,
                "operation": "process",
                "system": systems[clip],
                "source": references[clip],
                "raters": {axis: given[axis] for axis in AXES if axis in given},
            },
        )
        for clip, given in votes.items()
    ]


def _name(address: str) -> str:
    return address.rsplit("/", 1)[-1]


_COLUMNS = {
    *("HITId", "workerid", "assignment_id", "creation_time", "assignmentstatus"),
    *("requesterannotation", "file", "short_file_name", "vote", "question_type", "Unknown"),
}


def _condition(cells: dict[str, str]) -> str | None:
    """The groups of `condition_pattern`, which are further columns."""
    found = [value for key, value in cells.items() if key not in _COLUMNS and value]
    return "-".join(found) or None
