"""likeness: NSIM against its formula written out, and where and how a change shows in it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal

from auditeval.data.soundbank import synthesize
from auditeval.features.alignment import align
from auditeval.features.extractors.likeness import Likeness, nsim
from auditeval.features.extractors.spectrum import Spectrum

RATE_HZ = Spectrum.rate_hz


def compared(original: np.ndarray, edited: np.ndarray) -> dict[str, float]:
    clips = (original, edited)
    frames = [Spectrum().encode_clip(x.astype(np.float32)).frames for x in clips]
    likeness, alignment = Likeness(), align(*(made["mel"] for made in frames))
    row = likeness.compare(*frames, alignment)
    return dict(zip(likeness.alignment, row.tolist(), strict=True))


@pytest.fixture(scope="module")
def clips() -> dict[str, np.ndarray]:
    return {name: 0.2 * synthesize(name, 1, 2.0, RATE_HZ) for name in ("rain", "speech")}


def cell(x: np.ndarray, t: int, f: int) -> list[float]:
    """The 6 by 5 cells around one; beyond the edges the nearest stand again."""
    times, bands = len(x) - 1, x.shape[1] - 1
    return [
        float(x[min(max(t + i, 0), times), min(max(f + j, 0), bands)])
        for i in range(-3, 3)
        for j in range(-2, 3)
    ]


def test_nsim_is_its_formula() -> None:
    """(2 m m' + C1) / (m^2 + m'^2 + C1), (c + C3) / (s s' + C3) of means, deviations, covariance;
    C1 = 0.01 L, C3 = (0.03 L)^2 / 2 of a range L of 50."""
    rng = np.random.default_rng(0)
    x, y = rng.uniform(8, 50, (2, 11, 9))
    y[:, :4] = x[:, :4] + 1.5
    intensity, structure = nsim(x, y)
    c1, c3 = 0.01 * 50, (0.03 * 50) ** 2 / 2
    for t in range(len(x)):
        for f in range(x.shape[1]):
            a, b = cell(x, t, f), cell(y, t, f)
            n = len(a)
            m, k = sum(a) / n, sum(b) / n
            va = sum((p - m) ** 2 for p in a) / n
            vb = sum((q - k) ** 2 for q in b) / n
            c = sum((p - m) * (q - k) for p, q in zip(a, b, strict=True)) / n
            expected = (2 * m * k + c1) / (m**2 + k**2 + c1)
            assert intensity[t, f] == pytest.approx(expected, abs=1e-9)
            expected = (c + c3) / ((va * vb) ** 0.5 + c3)
            assert structure[t, f] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", ["rain", "speech"])
def test_equal_clips_differ_in_nothing(clips: dict[str, np.ndarray], name: str) -> None:
    assert max(compared(clips[name], clips[name]).values()) < 1e-12


def test_without_an_alignment_nothing_is_said(clips: dict[str, np.ndarray]) -> None:
    frames = [Spectrum().encode_clip(clips[name].astype(np.float32)).frames for name in clips]
    assert not Likeness().compare(*frames, None).any()


@pytest.mark.parametrize("name", ["rain", "speech"])
def test_a_softer_top_shows_there_and_nowhere_else(clips: dict[str, np.ndarray], name: str) -> None:
    top = signal.butter(4, 8200, "highpass", fs=RATE_HZ, output="sos")
    upper = signal.sosfiltfilt(top, clips[name])
    found = compared(clips[name], clips[name] - 0.8 * upper)  # 14 dB
    assert found["softer_top"] > 1.0
    assert not any(found[f"softer_{region}"] for region in ("low", "mid", "high"))
    assert not any(value for key, value in found.items() if key.startswith("louder"))
    assert found["intensity_top"] > 100 * max(found["intensity_low"], found["intensity_mid"])
    back = compared(clips[name] - 0.8 * upper, clips[name])
    assert back["louder_top"] > 1.0
    assert back["softer_top"] == 0


@pytest.mark.parametrize("name", ["rain", "speech"])
@pytest.mark.parametrize("gain_db", [-12.0, -6.0, 6.0, 12.0])
def test_it_is_free_of_gain(clips: dict[str, np.ndarray], name: str, gain_db: float) -> None:
    """Of clips with a silent top too: what lies at the floor of the frames is moved by no gain."""
    found = compared(clips[name], 10 ** (gain_db / 20) * clips[name])
    assert max(found.values()) < 0.15
    assert max(value for key, value in found.items() if not key.startswith("intensity")) < 0.01


def test_the_more_noise_the_less_alike(clips: dict[str, np.ndarray]) -> None:
    speech = clips["speech"]
    noise = np.random.default_rng(0).standard_normal(len(speech)) * speech.std()
    found = [compared(speech, speech + gain * noise) for gain in (0.001, 0.01, 0.1)]
    for key in ("structure_worst", "structure_top", "intensity_high", "louder_high"):
        values = [row[key] for row in found]
        assert values[0] < values[1] < values[2], key
