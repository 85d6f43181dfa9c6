"""What the P.808 toolkit made of its answers: *_votes_per_worker*.csv, one vote a line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile
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
    references (which tests with references are made from; for others, add it), and the clips, in
    any folder below: of files of one name that whose path ends most like the address. MOS, DMOS and
    MOS_OVRL are quality, MOS_SIG faithfulness, MOS_BAK has no axis; nothing was asked for. The
    system is the clip's condition, where `condition_pattern` was set. A rater's first vote on a
    clip counts. Ids and sources are addresses, without the start that all share.
    """
    tables = sorted(folder.glob("*_votes_per_worker*.csv"))
    if not tables:
        raise UserError(f"{folder}: expected a file *_votes_per_worker*.csv of the P.808 toolkit")
    references = dict(
        pair
        for _, pair in rows.of_csv(
            folder / "rating_clips.csv",
            "the votes: the toolkit's list of clips and references",
            lambda cells: (cells["rating_clips"].strip(), cells["references"].strip()),
        )
    )
    named: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            named.setdefault(path.name, []).append(path)
    files: dict[str, Path] = {}
    addresses: dict[Path, str] = {}
    votes: dict[str, dict[Axis, dict[str, float]]] = {}
    systems: dict[str, str | None] = {}
    first: dict[str, str] = {}

    def row(cells: dict[str, str]) -> tuple[str, Axis, str, float, str | None] | None:
        kind, clip = cells["question_type"], cells["file"].strip()
        if kind in _UNUSED:
            return None
        if kind not in _AXES:
            known = ", ".join([*_AXES, *_UNUSED])
            raise ValueError(f"question_type is {kind}, of which no axis is made (known: {known})")
        if clip not in references:
            raise ValueError(f"{clip} has no reference in rating_clips.csv")
        for address in (clip, references[clip]):
            if address not in files:
                path = files[address] = _file(address, named, folder)
                if addresses.setdefault(path, address) != address:
                    raise ValueError(
                        f"{path} would be {addresses[path]} and {address}: keep their folders"
                    )
        rater, vote = re.sub("[;=]", "_", cells["workerid"]), float(cells["vote"])
        if not rater:
            raise ValueError("workerid is empty, so that raters cannot be told")
        if not 1 <= vote <= 5:
            raise ValueError(f"vote is {vote:g}, expected 1 to 5")
        return clip, _AXES[kind], rater, vote, _condition(cells)

    for table in tables:
        for where, (clip, axis, rater, vote, system) in rows.of_csv(table, "the clips", row):
            first.setdefault(clip, where)
            if systems.setdefault(clip, system) != system:
                raise UserError(
                    f"{where}: the condition of {clip} is {system}, not {systems[clip]}"
                )
            votes.setdefault(clip, {}).setdefault(axis, {}).setdefault(rater, vote)
    shared = _alike(address.split("/")[:-1] for address in files)
    return [
        rows.pair(
            first[clip],
            {
                "id": _end(clip, shared).rsplit(".", 1)[0],
                "original": files[references[clip]],
                "edited": files[clip],
                "original_caption": _CAPTION,
                "target_caption": _CAPTION,
                "operation": "process",
                "system": systems[clip],
                "source": _end(references[clip], shared),
                "raters": {axis: given[axis] for axis in AXES if axis in given},
            },
        )
        for clip, given in votes.items()
    ]


def _file(address: str, named: dict[str, list[Path]], folder: Path) -> Path:
    """The file that an address is of, as tests of several systems name clips alike."""
    ends = address.split("/")[::-1]
    found = named.get(ends[0], [])
    alike = [_alike([ends, path.parts[::-1]]) for path in found]
    best = [path for path, parts in zip(found, alike, strict=True) if parts == max(alike)]
    if not best:
        raise ValueError(f"{ends[0]} is nowhere in {folder}")
    if len(best) > 1:
        raise ValueError(f"{address} may be {best[0]} or {best[1]}: keep the folder of its address")
    return best[0]


def _alike(names: Iterable[Iterable[str]]) -> int:
    """How many parts at their start all have."""
    return len([*takewhile(lambda parts: len(set(parts)) == 1, zip(*names, strict=False))])


def _end(address: str, shared: int) -> str:
    return "/".join(address.split("/")[shared:])


_COLUMNS = {
    *("HITId", "workerid", "assignment_id", "creation_time", "assignmentstatus"),
    *("requesterannotation", "file", "short_file_name", "vote", "question_type", "Unknown"),
}


def _condition(cells: dict[str, str]) -> str | None:
    """The groups of `condition_pattern`, which are further columns."""
    found = [value for key, value in cells.items() if key not in _COLUMNS and value]
    return "-".join(found) or None
