"""What the authors' file names tell of a pair: system, operation, and the clip behind it."""

from __future__ import annotations

import re
from pathlib import PurePath

_OPERATIONS = {
    "add": ("add", "addition"),
    "delete": ("del", "delete", "deletion"),
    "replace": ("rep", "replace", "replacement"),
}
_BY_WORD = {word: name for name, words in _OPERATIONS.items() for word in words}

_OPERATION = r"(?P<operation>add|del|delete|rep|replace)"
# AuditScore: sys1_add_tar_ID.wav, what system 1 made of clip ID. Beside it lies a copy of the clip
# for each system, sys1_add_ori_ID.wav.
_OF_SYSTEM = re.compile(rf"(?P<system>sys\d+)_{_OPERATION}_")
_CLIP = re.compile(r"sys\d+_[a-z]+_ori_(?P<source>.+)\.\w+")
# Pseudo-parallel edits: 7_add_a_2_ab_tar.wav is clip A+B of tuple 7, added to ("2") its A.
_OF_TUPLE = re.compile(rf"(?P<source>\d+)_{_OPERATION}_a[bc]?_2_a[bc]?_(?:ori|tar)\.\w+")


def operation(word: str) -> str:
    """A word for one of the paper's three operations as manifests write it; another as it is."""
    return _BY_WORD.get(word.lower(), word)


def told(original: str, edited: str) -> dict[str, str]:
    """Those of `system`, `operation` and `source` that the names of a pair's two files tell.

    Of AuditScore's all three; the source is the clip's ID, under which each system has its copy.
    Names of the pseudo-parallel edits tell no system. Their source is the number of the tuple (A,
    B, C): 7_add_a_2_ab_ori and 7_add_a_2_ac_ori are one clip, and the other originals of tuple 7
    (A+B, A+C) hold that clip, so none of them may stand on another side of a split.
    """
    original, edited = (PurePath(name).name for name in (original, edited))
    if named := _OF_SYSTEM.match(edited) or _OF_TUPLE.fullmatch(edited):
        found = {key: value for key, value in named.groupdict().items() if key != "source"}
        found["operation"] = operation(found["operation"])
    else:
        found = {}
    if named := _CLIP.fullmatch(original) or _OF_TUPLE.fullmatch(original):
        found["source"] = named["source"]
    return found
