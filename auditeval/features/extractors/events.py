"""`events`: what sounds there are, by YAMNet, and words as a distribution over its labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from auditeval import audio
from auditeval.features import label_bridge, label_norms
from auditeval.features.alignment import Alignment, of_neighbours
from auditeval.features.comparison import Frames
from auditeval.features.evidence import LABEL_NAMES, Alone, weigh_labels
from auditeval.features.extractor import AudioFeatures, PatchExtractor, Texts
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.features.extractors.yamnet import RATE_HZ, YamNet, band_magnitudes
from auditeval.features.minilm import shared
from auditeval.features.occasions import (
    Occasions,
    as_often,
    asked_occasions,
    in_order,
    in_place,
    in_time,
)
from auditeval.features.yamnet_network import CLASSES, EMBEDDING_DIM, PATCH_FRAMES

_CODE = "6"
"""Part of the revision: counts the changes here that change a number."""

_LEAST = 0.15  # of the evidence of a sound that comes when it should not
_ALONE, _WORTH = 3, 0.2  # patches in which a sound is heard alone, and what of the most each has
_FAINT = 0.1  # of the magnitude of a clip: less of it is hardly a sound
_OF_ADDED = [
    place
    for place, name in enumerate(LABEL_NAMES)
    if (name.startswith(("added_", "least_")) and not name.endswith(("rank", "stray")))
    or name in ("captions_along", "captions_share", "target_after")
]


class Events(PatchExtractor):
    """YAMNet's patches, and a space of sound and words, from weights inside registry packages.

    Audio :: YAMNet mean and maximum over patches (2 x 1024), and the label bridge (521). Text ::
    the label bridge (521). The *label bridge* is a joint space without CLAP weights: words become a
    distribution over the 521 AudioSet labels by similarity of their MiniLM embeddings, sound the
    log-probability of each label at its loudest moment. It is no CLAP, and tells a right event from
    a wrong one far less surely.

    Frames, one each 0.48 s :: `patch` float16 (P, 1024), `joint` float16 (P, 521), the bridge
    before its maximum over time, and `span` (P, 2). `yamnet` (an archive) and `minilm` (a folder)
    stand in for the packages' files.

    With `occasions`, what comes at another time, in another order or number than the words ask is
    but in part what they ask for, so its evidence is; `for_relevance`, for that axis alone.
    """

    name = "events"
    rate_hz = Spectrum.rate_hz
    dim = 2 * EMBEDDING_DIM + CLASSES
    text_dim = joint_dim = CLASSES
    evidence = LABEL_NAMES

    def __init__(
        self,
        yamnet: str | None = None,
        minilm: str | None = None,
        occasions: bool = False,
        for_relevance: bool = False,
    ) -> None:
        self.arguments = {"yamnet": yamnet, "minilm": minilm}
        # What is not so is not among them: no checkpoint of before has it.
        given = {"occasions": occasions, "for_relevance": for_relevance}
        self.arguments |= {name: True for name, is_so in given.items() if is_so}
        self._occasions, self.further = occasions, occasions and for_relevance
        self._yamnet = YamNet(Path(yamnet) if yamnet else None)
        self._minilm = shared(minilm)
        heard = f"{self._yamnet.revision}-{label_norms.revision()}"
        self.revision = f"{_CODE}-{heard}-{self._minilm.revision}"

    def to(self, device: str) -> None:
        """YAMNet runs on this torch device from now on; MiniLM, of a caption at a time, stays."""
        self.device = self._yamnet.to(device)

    def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
        """Mono float32 (N,) at 32 kHz; see the class for what comes out."""
        heard = audio.heard(audio.Waveform(samples, self.rate_hz))
        waveform = audio.Waveform(samples[heard], self.rate_hz)
        patches = self._yamnet(audio.resample(waveform, RATE_HZ))
        before = round(heard.start / self.rate_hz / Spectrum.HOP_SECONDS)
        bridge = label_bridge.of_sound(patches.logits)
        mean, peak = patches.weights @ patches.embeddings, patches.embeddings.max(axis=0)
        embedding = np.concatenate([mean, peak, bridge.max(axis=0)])
        frames = {
            "patch": patches.embeddings.astype(np.float16),
            "joint": bridge.astype(np.float16),
            "span": patches.spans + np.int32(before),
        }
        return AudioFeatures(embedding.astype(np.float32), frames)

    def encode_text(self, captions: Sequence[str]) -> np.ndarray:
        """Captions to distributions over labels :: float32 (N, 521)."""
        return np.concatenate(
            [label_bridge.of_words(self._minilm, caption) for caption in captions]
        )

    def alike(self, first: str, second: str) -> float:
        """By meaning, and by the labels that both are about; see `label_bridge.alike`."""
        return label_bridge.alike(self._minilm, first, second)

    def weigh(
        self, original: Frames, edited: Frames, alignment: Alignment | None, texts: Texts
    ) -> np.ndarray:
        """What the labels say; see `evidence.weigh_labels`."""
        found = weigh_labels(original, edited, alignment, texts, self.hear_alone)
        if self._occasions and not self.further:
            return self.weigh_further(original, edited, alignment, texts, found)
        return found

    def weigh_further(
        self,
        original: Frames,
        edited: Frames,
        alignment: Alignment | None,
        texts: Texts,
        weighed: np.ndarray,
    ) -> np.ndarray:
        """As far as sounds come on the occasions that words name."""
        found = weighed.copy()
        if alignment is not None and texts.added.any():
            timely = self._timely(edited, alignment, texts.words)
            found[_OF_ADDED] *= _LEAST + (1 - _LEAST) * timely
        return found

    def _timely(self, edited: Frames, alignment: Alignment, words: tuple[str, str, str]) -> float:
        """How well sounds come when and as often as words say, 0 to 1; see `occasions`."""
        asked = asked_occasions(*words)
        if asked == Occasions():
            return 1.0
        seconds = edited["span"].mean(axis=1) * Spectrum.HOP_SECONDS
        fit = 1.0
        if asked.first:
            first, second = (self._heard(edited, x) for x in (asked.first, asked.second))
            fit *= in_order(first, second, seconds)
        if asked.placed:
            fit *= in_place(self._heard(edited, asked.placed), seconds, asked.late)
        if asked.timed:
            fit *= in_time(self._heard(edited, asked.timed), seconds, asked.begin, asked.end)
        if asked.times:
            fit *= as_often(alignment.change, asked.times)
        return fit

    def _heard(self, clip: Frames, phrase: str) -> np.ndarray:
        """How much of it is in each patch, above what is there of it always :: (P,)."""
        (weights,) = label_bridge.of_words(self._minilm, phrase)
        track = clip["joint"].astype(np.float32) @ weights
        return np.maximum(track - np.median(track), 0)

    def hear_alone(self, clip: np.ndarray, other: np.ndarray, lag: int) -> Alone:
        """What is left when the other's bands are taken off; see `HearAlone`."""
        logits, loud = self.tag_alone(clip, other, lag)
        unusual = min(loud / _FAINT, 1.0) * label_norms.unusual(logits)
        return Alone(label_bridge.of_sound(logits), unusual, loud)

    def tag_alone(self, clip: np.ndarray, other: np.ndarray, lag: int) -> tuple[np.ndarray, float]:
        """YAMNet's logits of the patches in which most is left, by how much, and how loud that is.

        Of the other's frames the greatest of three is taken off: a delay by a part of one leaves
        nothing.
        """
        heard, taken = (band_magnitudes(mel) for mel in (clip, other))
        taken = of_neighbours(np.maximum, taken)
        left = heard.copy()
        first = max(0, -lag)
        stop = max(first, min(len(heard), len(taken) - lag))
        left[first:stop] -= taken[first + lag : stop + lag]
        np.maximum(left, 0, out=left)
        sums = np.append(0, np.cumsum(left.sum(axis=1), dtype=float))
        length = min(PATCH_FRAMES, len(left))
        parts = sums[length:] - sums[:-length]
        starts = _fullest(parts, length // 2)
        loudest = slice(starts[0], starts[0] + length)
        loud = float(left[loudest].sum() / heard[loudest].sum())
        logits = self._yamnet.hear([left[start : start + length] for start in starts])
        much = parts[starts] - _WORTH * parts[starts[0]] + 1e-9  # one at its limit counts nothing
        return (much / much.sum()) @ logits, loud


def _fullest(sums: np.ndarray, apart: int) -> list[int]:
    """Places of the greatest, `_ALONE` at most, so far apart, and no less than `_WORTH` of it."""
    places = [_middle_of_most(sums)]
    rest = sums.copy()
    while len(places) < _ALONE:
        rest[max(places[-1] - apart, 0) : places[-1] + apart] = -1.0
        place = _middle_of_most(rest)
        if rest[place] <= _WORTH * sums[places[0]]:
            break
        places.append(place)
    return places


def _middle_of_most(sums: np.ndarray) -> int:
    """The middle of the places around the greatest that have as much, but for .03 %.

    A short event between silences is whole in patches from many places on, and a tagger says other
    things of each: which of them is greatest must not be left to rounding.
    """
    greatest = int(np.argmax(sums))
    less = np.flatnonzero(sums < (1 - 3e-4) * sums[greatest])
    place = np.searchsorted(less, greatest)
    first = less[place - 1] + 1 if place else 0
    last = less[place] - 1 if place < len(less) else len(sums) - 1
    return int(first + last) // 2
