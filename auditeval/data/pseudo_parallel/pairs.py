"""The six edits of a tuple (A, B, C, A+B, A+C), in captions and in words [Appendix B]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from auditeval.audio import mixes
from auditeval.data import mixing
from auditeval.types import EditPair

EDITS = (
    ("add", "a", "ab"),
    ("add", "a", "ac"),
    ("delete", "ab", "a"),
    ("delete", "ac", "a"),
    ("replace", "ab", "ac"),
    ("replace", "ac", "ab"),
)
"""Operation, original clip, edited clip."""

_INSTRUCTIONS = {
    "add": (
        "Add {new}.",
        "Add the sound of {new}.",
        "Insert {new} {where}.",
        "Mix in the sound of {new} {where}.",
    ),
    "delete": (
        "Remove {old}.",
        "Delete {old}.",
        "Take out the sound of {old}.",
        "Remove the sound of {old} {where}.",
    ),
    "replace": (
        "Replace {old} with {new}.",
        "Replace the sound of {old} with the sound of {new}.",
        "Change {old} into {new}.",
        "Swap {old} {where} for {new}.",
    ),
}
_WORDS = 4  # a stream of random numbers, beside those of `plan`
_WHERE = {"before": "at the beginning", "during": "in the middle", "after": "at the end"}


def pairs_of(
    row: Mapping[str, Any], number: int, seed: int, paths: Mapping[str, Path]
) -> Iterator[EditPair]:
    """The six pairs of a row of the table of mixes; `paths` are those of its clips.

    `source` is the background's group, so that no split has one background on both sides.
    """
    rng = np.random.default_rng([seed, _WORDS, number])
    captions = {letter: mixing.within(row[f"{letter}_caption"]) for letter in "bc"}
    where = _WHERE[row["position"]]
    for operation, original, edited in EDITS:
        old, new = (captions.get(clip[1:]) for clip in (original, edited))
        templates = _INSTRUCTIONS[operation]
        template = templates[rng.integers(len(templates))]
        names = [name for name in (original, edited) if operation == "replace" or name != "a"]
        yield EditPair(
            id="_".join([mixes.name(number, operation), *names]),
            original=paths[original],
            edited=paths[edited],
            original_caption=row[f"{original}_caption"],
            target_caption=row[f"{edited}_caption"],
            instruction=template.format(old=old, new=new, where=where),
            operation=operation,
            source=row["a_group"],
        )
