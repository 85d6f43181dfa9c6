"""What the models in use say of sounds that the project makes itself, and what they said before.

`references/outputs.npz` holds what they said on one processor; performance/processors.py prints how
far those of this machine are from it, and writes it anew. Models whose weights are not at hand have
references of their own, with random weights (features/test_taggers.py, features/clap).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from auditeval.audio import Waveform, files
from auditeval.audio.waveform import quantised
from auditeval.data.soundbank import synthesize
from auditeval.types import AXES, EditPair

FILE = Path(__file__).parent / "references" / "outputs.npz"
RATE_HZ = 16000


class Difference(NamedTuple):
    """The largest between two arrays, and the largest value of the first."""

    largest: float
    of: float


def difference(name: str) -> Difference:
    """Of what a model of `OUTPUTS` says here from what it said before."""
    with np.load(FILE) as file:
        before = file[name]
    now = OUTPUTS[name]()
    assert now.shape == before.shape
    return Difference(float(np.abs(now - before).max()), float(np.abs(before).max()))


@cache
def _sound(name: str, rate_hz: int = RATE_HZ) -> np.ndarray:
    """Three seconds :: int16, which cuts off what two processors synthesise differently."""
    return quantised(synthesize(name, 0, 3.0, rate_hz))


def _samples(name: str, rate_hz: int = RATE_HZ) -> np.ndarray:
    return _sound(name, rate_hz).astype(np.float32) / 2**15


def yamnet() -> np.ndarray:
    from auditeval.features.extractors.yamnet import YamNet

    network = YamNet()
    return np.concatenate([network(_samples(name)).logits for name in ("rain", "siren")])


def minilm() -> np.ndarray:
    from auditeval.features.minilm import MiniLM

    return MiniLM()(["Rain.", "Rain, with a dog barking in the distance."])


def spectrum() -> np.ndarray:
    from auditeval.features.extractors.spectrum import Spectrum

    encoder = Spectrum()
    return encoder.encode_clip(_samples("rain", encoder.rate_hz)).embedding


def distillmos() -> np.ndarray:
    import torch

    from auditeval.features.distillmos_network import load
    from auditeval.pretrained.packages import package_file

    network, _ = load(package_file("distillmos", "weights/distill_mos_v7.pt"))
    with torch.inference_mode():
        return np.array([network(torch.from_numpy(_samples(name))) for name in ("speech", "rain")])


def dnsmos() -> np.ndarray:
    from auditeval.backends.speech_quality import DNSMOS

    clip = Waveform(_samples("speech"), RATE_HZ)
    return np.array([list(DNSMOS(own)(clip).values.values()) for own in (False, True)])


def silero_vad() -> np.ndarray:
    """Probability of speech in each frame of 32 ms."""
    import torch

    from auditeval.backends.activity import SileroVAD

    network = SileroVAD()._model
    frames = torch.from_numpy(_samples("speech")).split(512)[:-1]
    return np.array([float(network(frame, RATE_HZ)) for frame in frames])


def swift_f0() -> np.ndarray:
    """Confidence of each frame, and its pitch in octaves above 1 Hz where there is a voice."""
    from auditeval.backends.pitch import SwiftF0

    made = SwiftF0()._detector.detect(_samples("speech"), RATE_HZ, 50, 500)
    return np.stack([made.confidence, np.where(made.confidence >= 0.5, np.log2(made.pitch_hz), 0)])


def pyin() -> np.ndarray:
    from auditeval.backends.pitch import Pyin

    track = Pyin()(Waveform(_samples("speech"), RATE_HZ))
    return np.array([f0 or 0.0 for f0 in track.f0_hz])


def resemblyzer() -> np.ndarray:
    from auditeval.backends.speakers import Resemblyzer

    return np.array(Resemblyzer()(Waveform(_samples("speech"), RATE_HZ)).values)


def whisper() -> np.ndarray:
    """Every 150th of the 1500 states of its encoder."""
    from auditeval.backends.transcribers import FasterWhisper

    model = FasterWhisper().load()
    features = model.feature_extractor(np.pad(_samples("speech"), (0, 27 * RATE_HZ)))
    return np.array(model.encode(features[:, :3000]))[0, ::150]


def evaluator() -> np.ndarray:
    """Scores of the evaluator that ships, of an edit that was asked for and of none."""
    import auditeval

    with TemporaryDirectory() as folder:
        paths = {name: Path(folder) / f"{name}.wav" for name in ("rain", "siren")}
        for name, path in paths.items():
            files.write(path, _sound(name), RATE_HZ)
        pairs = [
            EditPair(
                id=name,
                original=paths["rain"],
                edited=path,
                original_caption="Rain.",
                target_caption="A siren.",
            )
            for name, path in paths.items()
        ]
        rows = auditeval.load(device="cpu").score(pairs)
    return np.array([[getattr(row, axis) for axis in AXES] for row in rows])


OUTPUTS: dict[str, Callable[[], np.ndarray]] = {
    output.__name__: output
    for output in (
        yamnet,
        minilm,
        spectrum,
        distillmos,
        dnsmos,
        silero_vad,
        swift_f0,
        pyin,
        resemblyzer,
        whisper,
        evaluator,
    )
}
"""What they return is far from 0 somewhere: differences are taken as a share of that."""
