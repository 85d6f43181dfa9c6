"""texture: by its formula, nothing where nobody hears a change, and what frames of 10 ms hide."""

from __future__ import annotations

import numpy as np
import pytest

from auditeval.data.soundbank import synthesize
from auditeval.features.alignment import align
from auditeval.features.extractors import texture
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.features.extractors.texture import Texture
from auditeval.features.mel import hann

RATE_HZ = Texture.rate_hz


@pytest.fixture(scope="module")
def clips() -> dict[str, np.ndarray]:
    return {name: 0.2 * synthesize(name, 1, 3.0, RATE_HZ) for name in ("rain", "speech")}


def compared(original: np.ndarray, edited: np.ndarray) -> dict[str, float]:
    frames = [
        {**Spectrum().encode_clip(x).frames, **Texture().encode_clip(x).frames}
        for x in (original.astype(np.float32), edited.astype(np.float32))
    ]
    row = Texture().compare(*frames, align(*(x["mel"] for x in frames)))
    return dict(zip(Texture.alignment, row.tolist(), strict=True))


def gapped(clip: np.ndarray, share: float) -> np.ndarray:
    """That share of frames of 20 ms dropped."""
    size = round(0.02 * RATE_HZ)
    lost = np.random.default_rng(0).random(len(clip) // size + 1) < share
    return clip * ~np.repeat(lost, size)[: len(clip)]


def scrambled(clip: np.ndarray) -> np.ndarray:
    """Magnitudes of 64 ms as they were, phases by chance."""
    from scipy import signal

    _, _, spectra = signal.stft(clip, RATE_HZ, nperseg=2048)
    turns = np.exp(2j * np.pi * np.random.default_rng(0).random(spectra.shape))
    return signal.istft(spectra * turns, RATE_HZ, nperseg=2048)[1][: len(clip)]


def test_frames_are_their_formula(clips: dict[str, np.ndarray]) -> None:
    """At 1 s: over 50 ms of powers of 5 ms each 2 ms, the log of the greatest and of the geometric
    mean over the mean, which is a level of 0 dB for a sine of 1."""
    clip, at, window = clips["speech"].astype(np.float32), RATE_HZ, hann(160)
    powers = []
    for step in range(-12, 13):
        start = at + 64 * step - 80
        bins = np.abs(np.fft.rfft(clip[start : start + 160] * window)) ** 2 / window.sum() ** 2
        powers.append([bins[low : 2 * low].sum() for low in (1, 2, 4, 8, 16, 32)])
    power = np.array(powers)
    mean = power.mean(axis=0)
    expected = [
        *np.log(power.max(axis=0) / mean),
        *np.log(mean / np.exp(np.log(power).mean(axis=0))),
        *10 * np.log10(mean),
    ]
    made = Texture().encode_clip(clip)
    assert made.frames["texture"].shape == (300, 18)
    assert made.frames["texture"][100] == pytest.approx(np.array(expected), rel=0.02, abs=0.02)


@pytest.mark.parametrize("name", ["rain", "speech"])
def test_what_nobody_hears_is_nothing(clips: dict[str, np.ndarray], name: str) -> None:
    clip = clips[name]
    for edited in (clip, 0.25 * clip, np.pad(clip, (3301, 0)), np.round(32768 * clip) / 32768):
        found = compared(clip, edited)
        assert found.pop("gaps_worst") < 0.3
        assert max(found.values()) < 0.05


@pytest.mark.parametrize("name", ["rain", "speech"])
def test_dropped_frames_leave_gaps(clips: dict[str, np.ndarray], name: str) -> None:
    few, many = (compared(clips[name], gapped(clips[name], share)) for share in (0.05, 0.3))
    for region in texture.REGIONS:
        assert 0.1 < few[f"gaps_{region}_up"] < many[f"gaps_{region}_up"]
    assert few["gaps_worst"] > 1
    again = compared(gapped(clips[name], 0.3), clips[name])
    assert again["gaps_mid_down"] == pytest.approx(many["gaps_mid_up"], rel=0.1)


def test_scrambled_phases_are_heard_in_a_voice_and_not_in_noise(
    clips: dict[str, np.ndarray],
) -> None:
    hiss = 0.1 * np.random.default_rng(1).standard_normal(3 * RATE_HZ)
    noise, voice = (compared(x, scrambled(x)) for x in (hiss, clips["speech"]))
    assert voice["gaps_high_down"] > 0.1
    assert max(noise["gaps_mid_down"], noise["gaps_high_down"]) < 0.02


@pytest.mark.parametrize("length", [1, 63, 320, 900, 5000])
def test_short_clips_and_silence_have_numbers(length: int) -> None:
    noise = np.random.default_rng(length).standard_normal(length)
    for before, after in ((noise, 0 * noise), (0 * noise, noise), (noise, -noise)):
        assert np.isfinite(list(compared(before, after).values())).all()


def test_a_long_clip_is_read_by_blocks_that_do_not_show(
    clips: dict[str, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    clip = clips["rain"].astype(np.float32)
    whole = Texture().encode_clip(clip).frames["texture"]
    monkeypatch.setattr(texture, "_BLOCK", 100)
    assert (Texture().encode_clip(clip).frames["texture"] == whole).all()


def test_without_an_alignment_nothing_is_said(clips: dict[str, np.ndarray]) -> None:
    frames = Texture().encode_clip(clips["rain"].astype(np.float32)).frames
    assert not Texture().compare(frames, frames, None).any()
