"""spectrum against its definition written out, and laws of level."""

from __future__ import annotations

import numpy as np
import pytest

from auditeval.features.extractors import spectrum
from auditeval.features.extractors.spectrum import Spectrum, log_mel

RATE_HZ = Spectrum.rate_hz
BANDS = Spectrum.BANDS


def mel(hz: np.ndarray | float) -> np.ndarray:
    return 2595 * np.log10(1 + np.asarray(hz) / 700)  # HTK


EDGES_HZ = 700 * (10 ** (np.linspace(mel(50), mel(14000), BANDS + 2) / 2595) - 1)


def filters(n_fft: int) -> np.ndarray:
    """Triangles of height 1 from edge to edge over the next but one :: (bins, BANDS)."""
    hz = np.fft.rfftfreq(n_fft, 1 / RATE_HZ)[:, None]
    low, centre, high = EDGES_HZ[:-2], EDGES_HZ[1:-1], EDGES_HZ[2:]
    return np.clip(np.minimum((hz - low) / (centre - low), (high - hz) / (high - centre)), 0, None)


def frame_db(samples: np.ndarray, at: int, n_fft: int) -> np.ndarray:
    """One frame centred on sample `at`, in double precision, zeros outside of the clip."""
    positions = np.arange(at - n_fft // 2, at + n_fft // 2)
    inside = (positions >= 0) & (positions < len(samples))
    frame = np.where(inside, samples[np.clip(positions, 0, len(samples) - 1)], 0.0)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n_fft) / n_fft)
    power = np.abs(np.fft.rfft(frame * window)) ** 2 / window.sum() ** 2
    return np.maximum(10 * np.log10(power @ filters(n_fft) + 1e-12), -100)


def noise(seconds: float, seed: int = 0) -> np.ndarray:
    samples = 0.1 * np.random.default_rng(seed).standard_normal(round(seconds * RATE_HZ))
    return samples.astype(np.float32)


@pytest.mark.parametrize(("n_fft", "hop"), Spectrum.RESOLUTIONS)
@pytest.mark.parametrize("band", [8, 25, 40, 62])
@pytest.mark.parametrize("amplitude", [0.5, 0.01])
def test_a_sine_lands_in_its_band_with_its_level(
    n_fft: int, hop: int, band: int, amplitude: float
) -> None:
    hz = EDGES_HZ[band + 1]
    t = np.arange(RATE_HZ) / RATE_HZ
    frames = log_mel((amplitude * np.sin(2 * np.pi * hz * t)).astype(np.float32), n_fft, hop)
    inner = frames[n_fft // hop : -n_fft // hop]  # frames that see no edge of the clip
    assert set(inner.argmax(axis=1)) == {band}
    # Parseval of a Hann window: the main lobe holds 1.5 times its peak of (A / 2)^2, and
    # neighbouring triangles share it out.
    expected = 10 * np.log10(1.5 * amplitude**2 / 4)
    level = 10 * np.log10((10 ** (inner.astype(float) / 10)).sum(axis=1))
    assert level == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize(("n_fft", "hop"), Spectrum.RESOLUTIONS)
@pytest.mark.parametrize("length", [1, 319, 320, 321, 5000, 32001])
def test_frames_match_the_definition_at_any_length(n_fft: int, hop: int, length: int) -> None:
    samples = noise(2)[:length]
    frames = log_mel(samples, n_fft, hop)
    assert len(frames) == -(-length // hop)
    expected = np.stack([frame_db(samples, t * hop, n_fft) for t in range(len(frames))])
    assert np.allclose(frames, expected, atol=2e-3)


def test_block_boundaries_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    block = spectrum._BLOCK_FRAMES
    n_fft, hop = Spectrum.RESOLUTIONS[0]
    samples = noise((2 * block + 100) * hop / RATE_HZ)  # over 80 s
    frames = log_mel(samples, n_fft, hop)
    assert len(frames) == 2 * block + 100
    for t in (0, 1, block - 1, block, block + 1, 2 * block - 1, 2 * block, len(frames) - 1):
        assert np.allclose(frames[t], frame_db(samples, t * hop, n_fft), atol=2e-3), t
    short = samples[: 50 * hop]
    whole = log_mel(short, n_fft, hop)
    monkeypatch.setattr(spectrum, "_BLOCK_FRAMES", 7)
    assert np.allclose(log_mel(short, n_fft, hop), whole, atol=1e-4)


def test_statistics_are_those_of_the_frames() -> None:
    samples = noise(1.5) * np.linspace(0.1, 1, 48000, dtype=np.float32)
    made = Spectrum().encode_clip(samples)
    assert made.embedding.shape == (Spectrum.dim,) == (640,)
    for index, (n_fft, hop) in enumerate(Spectrum.RESOLUTIONS):
        frames = log_mel(samples, n_fft, hop).astype(float)
        ordered = np.sort(frames, axis=0)
        found = made.embedding.reshape(2, 5, BANDS)[index]
        assert np.allclose(found[0], frames.sum(axis=0) / len(frames), atol=1e-3)
        centred = frames - frames.mean(axis=0)
        assert np.allclose(found[1], np.sqrt((centred**2).sum(axis=0) / len(frames)), atol=1e-3)
        for row, share in ((2, 0.1), (3, 0.9)):
            at = share * (len(frames) - 1)
            low, part = int(at), at - int(at)
            expected = (1 - part) * ordered[low] + part * ordered[low + 1]
            assert np.allclose(found[row], expected, atol=1e-3)
        flux = sum(abs(frames[t] - frames[t - 1]) for t in range(1, len(frames)))
        assert np.allclose(found[4], flux / (len(frames) - 1), atol=1e-3)


def test_six_decibels_raise_levels_by_six_and_nothing_else() -> None:
    samples = noise(1)
    quiet, loud = (
        Spectrum().encode_clip(x).embedding.reshape(2, 5, BANDS) for x in (samples, 2 * samples)
    )
    rise = 20 * np.log10(2)
    for row, expected in enumerate((rise, 0, rise, rise, 0)):  # mean, spread, 10 %, 90 %, flux
        assert np.allclose(loud[:, row] - quiet[:, row], expected, atol=5e-3), row


def test_kept_frames_are_the_fine_resolution_in_half_precision() -> None:
    samples = noise(0.7)
    frames = Spectrum().encode_clip(samples).frames["mel"]
    assert frames.dtype == np.float16
    assert np.array_equal(frames, log_mel(samples, *Spectrum.RESOLUTIONS[0]).astype(np.float16))


@pytest.mark.parametrize("length", [1, 2, 320, 1600])
def test_short_and_silent_clips_are_finite(length: int) -> None:
    for samples in (np.zeros(length, np.float32), noise(1)[:length]):
        made = Spectrum().encode_clip(samples)
        assert np.isfinite(made.embedding).all()
        assert made.frames["mel"].min() >= spectrum.SILENCE_DB
    silent = Spectrum().encode_clip(np.zeros(length, np.float32)).embedding.reshape(2, 5, BANDS)
    assert (silent[:, [0, 2, 3]] == spectrum.SILENCE_DB).all()
    assert (silent[:, [1, 4]] == 0).all()


def test_it_has_no_words() -> None:
    assert Spectrum().encode_text(["rain", ""]).shape == (2, 0)
