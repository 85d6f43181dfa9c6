"""parts: artefacts, masks, holes and leakage of edits whose making is known."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from auditeval.audio import Waveform, resample
from auditeval.data.simulation.signals import resynthesized, spectrum
from auditeval.data.soundbank import synthesize
from auditeval.features.alignment import align
from auditeval.features.extractors.parts import HOP_SECONDS, RATE_HZ, ChangeParts, take_apart
from auditeval.features.extractors.spectrum import Spectrum

SECONDS = 2.0


@cache
def sound(name: str) -> np.ndarray:
    """Of the sound bank at 32 kHz, at the same level."""
    x = synthesize(name, 1, SECONDS, Spectrum.rate_hz)
    return (0.05 * x / x.std()).astype(np.float32)


def compared(original: np.ndarray, edited: np.ndarray) -> dict[str, float]:
    """Of clips at 32 kHz, aligned by their log-mel frames."""
    clips = [np.asarray(x, np.float32) for x in (original, edited)]
    alignment = align(*(Spectrum().encode_clip(x).frames["mel"] for x in clips))
    parts = ChangeParts()
    frames = [parts.encode_clip(resample(Waveform(x, 32000), RATE_HZ)).frames for x in clips]
    row = parts.compare(*frames, alignment)
    return dict(zip(parts.alignment, row.tolist(), strict=True))


def test_equal_clips_differ_in_next_to_nothing() -> None:
    for name in ("speech", "rain"):
        found = compared(sound(name), sound(name))
        assert found.pop("artefacts_worst") < 0.03  # a floor of power in frames that are soft
        assert max(found.values()) < 0.01


@pytest.mark.parametrize(
    "changed",
    [
        lambda x: -x,
        lambda x: 2 * x,
        lambda x: 0.25 * x,
        lambda x: np.concatenate([np.zeros(100), x]),
        lambda x: np.concatenate([np.zeros(20000), -0.5 * x]),
    ],
    ids=["polarity", "louder", "softer", "later by 100 samples", "later, softer, turned"],
)
def test_polarity_gain_and_delay_are_no_change(changed) -> None:
    """The delay is one that frames of 10 ms and a rate of half cannot name."""
    found = compared(sound("speech"), changed(sound("speech")))
    assert found.pop("artefacts_worst") < 0.05
    assert max(found.values()) < 0.02


def test_noise_is_artefact_the_more_there_is_of_it() -> None:
    speech = sound("speech")
    noise = np.random.default_rng(0).standard_normal(len(speech)) * speech.std()
    found = [compared(speech, speech + noise * 10 ** (-db / 20)) for db in (40, 30, 20, 10, 0)]
    for name in ("artefacts_low", "artefacts_mid", "artefacts_high"):
        values = [row[name] for row in found]
        assert values == sorted(values), name
        assert values[-1] > values[0] + 0.1
    assert found[1]["artefacts_high"] > 0.02 > found[0]["artefacts_high"]


@pytest.fixture(scope="module", params=[("speech", "rain"), ("flute_melody", "dog_bark")])
def separated(request: pytest.FixtureRequest) -> dict[str, dict[str, float]]:
    """The first of two sounds out of their mixture: itself, by a soft mask, by a hard one."""
    kept, other = (sound(name) for name in request.param)
    first, second = spectrum(kept), spectrum(other)
    mixture, soft = first + second, np.abs(first) / (np.abs(first) + np.abs(second) + 1e-9)
    made = {
        "true": kept,
        "soft": resynthesized(mixture * soft, len(kept)),
        "hard": resynthesized(mixture * (np.abs(first) > np.abs(second)), len(kept)),
    }
    return {name: compared(kept + other, estimate) for name, estimate in made.items()}


def test_a_soft_mask_leaves_what_goes_with_what_it_takes(
    separated: dict[str, dict[str, float]],
) -> None:
    mask = {name: row["mask"] for name, row in separated.items()}
    assert mask["soft"] > 0.12
    assert mask["true"] < 0.15 * mask["soft"]
    assert mask["hard"] < 0.4 * mask["soft"]


def test_a_hard_mask_is_more_ragged_and_sparser_than_a_soft_one(
    separated: dict[str, dict[str, float]],
) -> None:
    for name in ("ragged_time", "ragged_bins", "sparser"):
        assert separated["hard"][name] > 1.05 * separated["soft"][name], name


def test_beside_a_residue_only_a_mask_or_an_artefact_is_found() -> None:
    speech, rain = sound("speech"), 0.3 * sound("rain")
    first, second = spectrum(speech), spectrum(rain)
    soft = resynthesized(
        (first + second) * np.abs(first) / (np.abs(first) + np.abs(second) + 1e-9), len(speech)
    )
    noise = np.random.default_rng(0).standard_normal(len(speech)) * speech.std()
    made = {
        "true": speech,
        "residue 20": speech + 0.1 * rain,
        "residue 6": speech + 0.5 * rain,
        "mask": soft,
        "artefacts": speech + 0.1 * rain + 0.8 * noise,
    }
    found = {name: compared(speech + rain, x) for name, x in made.items()}
    for name in ("residue 20", "residue 6"):  # of the others the true voice has as much, by chance
        for part in ("mask_beside", "artefacts_beside"):
            assert found[name][part] == pytest.approx(found["true"][part], abs=0.3)
    assert found["mask"]["mask_beside"] > found["true"]["mask_beside"] + 0.5
    assert found["artefacts"]["artefacts_beside"] > found["true"]["artefacts_beside"] + 0.5


def test_the_more_is_left_the_less_was_taken_away() -> None:
    """Leakage in dB that is left, 0 where all is; of a bark that fills some of the time."""
    flute, bark = sound("flute_melody"), sound("dog_bark")
    found = [
        compared(flute + bark, flute + bark * g) for g in 10 ** (-np.array([40, 20, 10, 6, 0]) / 20)
    ]
    for name in ("leakage", "removed"):
        values = [row[name] for row in found]
        assert values[0] > 0.05
        assert values[-1] == pytest.approx(0, abs=1e-4)
    for name in ("leakage", "depth", "deepest"):
        values = [row[name] for row in found]
        assert values == sorted(values, reverse=True), name
    # Where only the bark was heard, as many dB are missing as were taken away, in tens of them.
    np.testing.assert_allclose([row["deepest"] for row in found[1:3]], [2.0, 1.0], atol=0.05)


@pytest.mark.parametrize("later", [0, 200])
def test_what_it_is_a_mean_of_lies_where_the_change_is(later: int) -> None:
    """In one second of noise a quarter is 20 dB softer, and an eighth another noise."""
    noise = 0.1 * np.random.default_rng(0).standard_normal(RATE_HZ).astype(np.float32)
    edited = noise.copy()
    edited[6000:10000] *= 0.1
    edited[12000:14000] = 0.1 * np.random.default_rng(1).standard_normal(2000)
    _, found = take_apart(noise, np.pad(edited, (later, 0)), None)
    assert found.start_seconds == later / RATE_HZ
    frames = len(found.leakage)
    times = np.arange(frames) * HOP_SECONDS - 0.016  # middles; before the first is silence
    for part in (found.artefacts, found.holes, found.leakage):
        assert part.shape == (frames, 24)
    gap = (times > 0.45) & (times < 0.55)
    anew = (times > 0.80) & (times < 0.83)
    alike = (times > 0.1) & (times < 0.25)
    assert found.leakage[gap].mean() == pytest.approx(20, abs=1)
    assert found.leakage[alike].max() == 0
    assert found.artefacts[anew].mean() > 0.7
    assert found.artefacts[alike].max() < 0.01
    assert found.artefacts[gap].max() < 0.01  # a gain explains it


@pytest.mark.parametrize("length", [1, 100, 511, 513])
def test_short_clips_and_silence_have_numbers(length: int) -> None:
    parts = ChangeParts()
    noise = np.random.default_rng(0).standard_normal(length).astype(np.float32)
    for original, edited in (
        (noise, noise[: length // 2 + 1]),
        (noise, 0 * noise),
        (0 * noise, noise),
    ):
        made = [parts.encode_clip(x) for x in (original, edited)]
        assert all(np.isfinite(x.embedding).all() for x in made)
        assert np.isfinite(parts.compare(*(x.frames for x in made), None)).all()


def test_what_dies_away_over_silence_has_numbers() -> None:
    time = np.arange(8000) / RATE_HZ
    tone = (np.sin(2 * np.pi * 440 * time) * np.exp(-30 * time)).astype(np.float32)
    values, _ = take_apart(0 * tone, tone, None)
    assert np.isfinite([*values.values()]).all()
