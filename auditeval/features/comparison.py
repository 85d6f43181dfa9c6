"""Original against edited, frame by frame and word by word: what a pairwise head is told."""

from __future__ import annotations

import difflib
import re
import unicodedata
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from auditeval.features.alignment import Alignment, percentiles
from auditeval.features.spelling import american

Frames = dict[str, np.ndarray]
"""What an extractor knows of a clip frame by frame, by name."""

REVISION = "21"
"""Of what extractors make of the frames and texts of a pair, here, in `asked`, `alignment`,
`evidence`, `reworded` and `turning`: changes whenever the same would make other numbers."""

PATCH_NAMES = (
    # Of patches averaged with their neighbours:
    "patch_unlike_mean",  # 1 - cosine at the same time: mean, worst, best tenth
    "patch_unlike_worst",
    "patch_unlike_best",
    "patch_new_mean",  # 1 - cosine of each edited patch with its likest original: mean, worst
    "patch_new_worst",
    "patch_lost_mean",  # the same from the original's side
    "patch_lost_worst",
)
CHANGED_DB = 2.0  # a patch changed as a whole if one of its frames did by this
_BLOCK = 512


class Match(NamedTuple):
    """Which patches of two clips are of one time, and how far the edit is changed in each of its.

    `before` :: (P2,), rows of the original for those of the edit, `after` :: (P1,), the other way;
    `changed` :: float32 (P2, 1), 0..1.
    """

    before: np.ndarray
    after: np.ndarray
    changed: np.ndarray

    def settled(self, original: np.ndarray, edited: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Patches :: (P1, F), (P2, F) as float32, the edit's with the original's where unchanged.

        What a network says of a patch depends on where it begins, and on differences that nobody
        hears. Where all bands are as they were, nothing happened.
        """
        x, y = original.astype(np.float32), edited.astype(np.float32)
        return x, self.changed * y + (1 - self.changed) * x[self.before]


def match(patches: str, original: Frames, edited: Frames, alignment: Alignment | None) -> Match:
    """By time and by what changed in the bands; by order where the extractor knows no times.

    Where nobody aligned the clips, they begin together and all may have changed.
    """
    changed = np.ones(len(edited[patches]), np.float32)
    if "span" in edited:
        spans = edited["span"]
        before, after = original["span"][:, 0], spans[:, 0]
        if alignment is not None:
            before, after = alignment.moved(before), after - alignment.lag
            most = [alignment.change[start:stop].max(initial=0) for start, stop in spans]
            changed = np.minimum(np.array(most, np.float32) / CHANGED_DB, 1)
    else:
        before, after = (np.arange(len(frames[patches])) for frames in (original, edited))
    return Match(_nearest(before, after), _nearest(after, before), changed[:, None])


def compare_patches(
    patches: str, original: Frames, edited: Frames, alignment: Alignment | None
) -> np.ndarray:
    """The frames of that name of two clips to the values of PATCH_NAMES."""
    matched = match(patches, original, edited, alignment)
    x, y = (_unit(smooth(x)) for x in matched.settled(original[patches], edited[patches]))
    unlike = 1 - np.einsum("td,td->t", x[matched.before], y)
    lost, new = (1 - likest for likest in _likest(x, y))
    values = [
        unlike.mean(),
        unlike.max(),
        *percentiles(unlike, 10),
        new.mean(),
        new.max(),
        lost.mean(),
        lost.max(),
    ]
    return np.maximum(np.array(values, np.float32), 0)


def changed_words(original_caption: str, target_caption: str) -> tuple[str, str]:
    """The words that the target caption adds and those that it removes, in their order.

    Encoded alone they name the event; inside two sentences they are a small difference.

    Words that only stand elsewhere are neither, and those that any sentence has alone are none.

    >>> changed_words("Rain, with a bell.", "Rain, with a dog barking.")
    ('dog barking', 'bell')
    >>> changed_words("Rain falls and a dog barks.", "A dog barks and rain falls.")
    ('', '')
    """
    before, after = (_words(caption) for caption in (original_caption, target_caption))
    if before == after:  # to find that takes the square of their number
        return "", ""
    added: list[str] = []
    removed: list[str] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for kind, start, stop, start_after, stop_after in matcher.get_opcodes():
        if kind != "equal":
            removed += before[start:stop]
            added += after[start_after:stop_after]
    moved = {*added} & {*removed} - _LINKS
    return _without(added, moved), _without(removed, moved)


def same_words(caption: str, other: str) -> bool:
    """Whether two captions differ in marks, capitals and British spelling alone."""
    return _words(caption) == _words(other)


def _without(words: list[str], moved: set[str]) -> str:
    left = [word for word in words if word not in moved]
    return " ".join(left) if {*left} - _LINKS else ""


_LINKS = frozenset(
    (
        *("a", "an", "the", "and", "with", "while", "as", "then", "is", "are", "was", "there"),
        *("in", "on", "at", "by", "of", "to", "from", "for", "over"),
    )
)


def _words(caption: str) -> list[str]:
    """In lower case and American spelling, however it is encoded; an apostrophe inside a word
    belongs to it."""
    plain = re.sub("[‘’ʼ]", "'", unicodedata.normalize("NFC", caption)).lower()
    return [american(word) for word in re.findall(r"\w+(?:'\w+)*", plain)]


def _nearest(times: np.ndarray, others: np.ndarray) -> np.ndarray:
    """For each of `others` the row of `times` next to it; both ascend."""
    return np.searchsorted((times[1:] + times[:-1]) / 2, others)


def smooth(patches: np.ndarray) -> np.ndarray:
    """Each patch as the mean of itself and its neighbours :: (P, F) -> (P, F), float32.

    What a network says of a patch jumps when the clip is shifted by a part of one.
    """
    sums = np.zeros((len(patches) + 1, patches.shape[1]))
    sums[1:] = patches
    for before, running in pairwise(sums[1:]):  # of long rows; np.cumsum takes thrice as long
        running += before
    times = np.arange(len(patches))
    first, stop = np.maximum(times - 1, 0), np.minimum(times + 2, len(patches))
    return ((sums[stop] - sums[first]) / (stop - first)[:, None]).astype(np.float32)


def _likest(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each row of x the largest cosine with any of y, and the other way round; by blocks."""
    blocks, of_y = [], np.full(len(y), -1.0, np.float32)
    for start in range(0, len(x), _BLOCK):
        cosines = x[start : start + _BLOCK] @ y.T
        blocks.append(cosines.max(axis=1))
        np.maximum(of_y, cosines.max(axis=0), out=of_y)
    return np.concatenate(blocks), of_y


def _unit(patches: np.ndarray) -> np.ndarray:
    return patches / np.maximum(np.linalg.norm(patches, axis=1, keepdims=True), 1e-9)
