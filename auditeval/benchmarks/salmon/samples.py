"""SALMon's layout: <root>/<part>/sample_<index>_<i>.wav, i = 0 positive, the others negative."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from auditeval.benchmarks.places import leads_out
from auditeval.digests import sha256
from auditeval.types import UserError

CONSISTENCY = {
    "sentiment_consistency": "Sentiment",
    "speaker_consistency": "Speaker",
    "gender_consistency": "Gender",
    "bg_domain_consistency": "Bg (domain)",
    "bg_all_consistency": "Bg (rand.)",
    "rir_consistency": "Room",
}
ALIGNMENT = {"sentiment_alignment": "Sentiment", "bg_alignment": "Background"}
PARTS = (*CONSISTENCY, *ALIGNMENT)
"""Folder names in the order of the paper's Table II."""

MADE = "make.json"
"""In the folder of a part that `make` made: such a part is not the published one."""

_NAME = re.compile(r"sample_(\d+)_(\d+)\.wav")


class Pair(NamedTuple):
    """Two clips of one sample, of which `positive` should be the more likely."""

    id: str
    part: str
    positive: Path
    negative: Path


def read_pairs(root: Path, parts: Sequence[str] = PARTS) -> list[Pair]:
    """The pairs of those parts that are there, by part, index and number of the negative.

    A positive with several negatives makes a pair with each. Files that are not .wav are left
    alone. Raises UserError naming the file that is out of place, or whose counterpart is missing.
    """
    if not root.is_dir():
        raise UserError(f"{root}: is no folder; expected one with {', '.join(PARTS)}")
    pairs = [pair for part in parts for pair in _pairs_of(root / part)]
    if not pairs:
        raise UserError(
            f"{root}: holds no sample_<index>_<i>.wav in any of {', '.join(parts)}; name the "
            "folder that holds these parts"
        )
    return pairs


def digest(pairs: Sequence[Pair]) -> str:
    """SHA-256 of the names and bytes of all clips, in hex."""
    found = hashlib.sha256()
    for path in sorted({path for pair in pairs for path in (pair.positive, pair.negative)}):
        content = sha256(path)
        found.update(f"{path.parent.name}/{path.name}\n{content}\n".encode())
    return found.hexdigest()


def _pairs_of(folder: Path) -> list[Pair]:
    samples: dict[int, dict[int, Path]] = {}
    for path in sorted(folder.glob("*.[wW][aA][vV]")):
        found = _NAME.fullmatch(path.name)
        if found is None:
            raise UserError(f"{path}: expected a name like sample_12_0.wav")
        if leads_out(folder, path):
            raise UserError(f"{path}: is a link that leads out of {folder}")
        clips = samples.setdefault(int(found[1]), {})
        if (number := int(found[2])) in clips:
            raise UserError(f"{path}: is the same clip as {clips[number].name}, by its numbers")
        clips[number] = path
    pairs = []
    for index, clips in sorted(samples.items()):
        if 0 not in clips:
            raise UserError(f"{clips[min(clips)]}: has no positive sample_{index}_0.wav beside it")
        if len(clips) == 1:
            raise UserError(f"{clips[0]}: has no negative sample_{index}_1.wav beside it")
        pairs += [
            Pair(f"{folder.name}/sample_{index}_{number}", folder.name, clips[0], clips[number])
            for number in sorted(clips)
            if number
        ]
    return pairs
