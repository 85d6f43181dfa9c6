"""Each change that is made is measured as itself, and its opposite as the other way."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import pytest

from auditeval.audio import Waveform, resample
from auditeval.data.simulation.change_ways import WAYS
from auditeval.data.simulation.material import Material
from auditeval.data.simulation.scenes import Scene, make_scene
from auditeval.data.simulation.signals import RATE_HZ as SOURCE_HZ
from auditeval.features.alignment import align
from auditeval.features.changes.made import HEARD, made
from auditeval.features.changes.pace_and_pitch import RATE_HZ, tones, turned
from auditeval.features.extractors.spectrum import Spectrum

# Of eight scenes, in how many a change of the middle of its span is more than half a clear step.
# Reverberation, noise and distortion of what is noise already are hardly there.
LEAST = {
    **dict.fromkeys(("more_reverb", "less_reverb", "noisier", "cleaner", "narrow"), 0.5),
    **dict.fromkeys(("distorted", "compressed", "echo"), 0.25),
}


@pytest.fixture(scope="module")
def scenes() -> list[Scene]:
    material = Material({})
    return [make_scene(material, 0, (3.0, 3.0), np.random.default_rng([4, n])) for n in range(8)]


def steps(original: np.ndarray, edited: np.ndarray) -> dict[str, float]:
    clips = [np.asarray(x, np.float32) for x in (original, edited)]
    mel = [Spectrum().encode_clip(x).frames["mel"] for x in clips]
    frames = [tones(resample(Waveform(x, SOURCE_HZ), RATE_HZ)) for x in clips]
    return dict(zip(HEARD, made(turned(*frames), align(*mel)).tolist(), strict=True))


@pytest.mark.parametrize("name", HEARD)
def test_a_change_is_measured_as_itself(name: str, scenes: list[Scene]) -> None:
    way, found = WAYS[name], []
    for scene, rng in zip(scenes, cycle([np.random.default_rng(1)]), strict=False):
        dry = scene.background
        wet = way.make(dry, float(np.mean(way.span)), scene, rng)
        found.append(steps(wet, dry) if way.undoes else steps(dry, wet))
    there = np.array([row[name] for row in found])
    assert np.mean(there > 0.5) >= LEAST.get(name, 0.85), there
    if way.opposite:
        against = np.array([row[way.opposite] for row in found])
        assert np.mean(against < 0.5) >= 0.85, against


def test_equal_clips_have_no_change(scenes: list[Scene]) -> None:
    for scene in scenes:
        assert max(map(abs, steps(scene.background, scene.background).values())) < 1e-3
