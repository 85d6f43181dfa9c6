"""DNSMOS against speechmos itself, and what noise does to it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from auditeval.audio import AudioError, Waveform, decode, resample
from auditeval.backends.speech_quality import DNSMOS
from auditeval.benchmarks.speecheditbench.enhancement import enhancement_succeeds

RATE_HZ = 16000

pytest.importorskip("speechmos")


@pytest.fixture(scope="module")
def dnsmos() -> DNSMOS:
    return DNSMOS()


@pytest.fixture(scope="module")
def speech(shared_data: Path) -> np.ndarray:
    """Ten seconds, of which the model looks at one window."""
    paths = sorted((shared_data / "librispeech10").glob("*.flac"))[:3]
    return np.concatenate([resample(decode(path), RATE_HZ) for path in paths])[: 10 * RATE_HZ]


def noisy(speech: np.ndarray, snr_db: float) -> Waveform:
    noise = np.random.default_rng(0).standard_normal(len(speech)) * speech.std()
    return Waveform((speech + noise * 10 ** (-snr_db / 20)).astype(np.float32), RATE_HZ)


@pytest.mark.parametrize(
    ("personalised", "length"),
    [(False, 80000), (False, 163000), (True, 175999), (False, 35 * RATE_HZ)],
)
def test_equal_to_speechmos(personalised: bool, length: int) -> None:
    from speechmos import dnsmos as package

    samples = 0.1 * np.random.default_rng(0).standard_normal(length).astype(np.float32)
    kind = "dnsmos_personalized" if personalised else "dnsmos"
    theirs = package.run(samples, RATE_HZ, model_type=kind)
    ours = DNSMOS(personalised)(Waveform(samples, RATE_HZ)).values
    assert ours == pytest.approx(
        {name: float(theirs[f"{name.lower()}_mos"]) for name in ("SIG", "BAK", "OVRL")}, abs=1e-6
    )


def test_noise_spoils_the_background(dnsmos: DNSMOS, speech: np.ndarray) -> None:
    clean, faint, loud = (dnsmos(noisy(speech, snr)) for snr in (60, 20, 5))
    for name in ("BAK", "OVRL"):
        assert clean.values[name] > faint.values[name] > loud.values[name]
    assert clean.values["BAK"] - loud.values["BAK"] > 1
    assert enhancement_succeeds(loud, clean)
    assert not enhancement_succeeds(clean, loud)


def test_the_source_as_it_was_is_no_enhancement(dnsmos: DNSMOS, speech: np.ndarray) -> None:
    source = noisy(speech, 10)
    again = Waveform(source.samples.copy(), RATE_HZ)
    assert not enhancement_succeeds(dnsmos(source), dnsmos(again))


@pytest.mark.parametrize("level", [0.0, 1e-5, 5e-4])
def test_silence_is_not_rated(dnsmos: DNSMOS, level: float) -> None:
    noise = level * np.random.default_rng(0).standard_normal(RATE_HZ)
    with pytest.raises(AudioError, match="silence"):
        dnsmos(Waveform(noise.astype(np.float32), RATE_HZ))


def test_beyond_full_scale_is_full_scale(dnsmos: DNSMOS, speech: np.ndarray) -> None:
    full = (speech / np.abs(speech).max()).astype(np.float32)
    expected = dnsmos(Waveform(full, RATE_HZ)).values
    assert dnsmos(Waveform(8 * full, RATE_HZ)).values == pytest.approx(expected, abs=1e-4)


def test_ratings_are_a_function_of_the_clip(dnsmos: DNSMOS, speech: np.ndarray) -> None:
    clips = [noisy(speech, snr) for snr in (5, 30)]
    alone = [dnsmos(clip) for clip in clips]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(dnsmos, clips)) == alone


def test_the_name_says_which_model() -> None:
    assert DNSMOS(personalised=True).name != DNSMOS().name
