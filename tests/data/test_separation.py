"""Laws of taking a sound out of a mixture: parts that are known beforehand, and what masks do."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from auditeval.data.simulation.separation import HEARD, MASKS, parts, separate
from auditeval.data.simulation.signals import RATE_HZ, active_rms, decibels, times_conjugate
from auditeval.data.soundbank import synthesize

PAIRS = [("speech", "rain"), ("flute_melody", "rain"), ("drum_beat", "flute_melody")]


@cache
def sound(name: str) -> np.ndarray:
    """Of the sound bank, all at one level."""
    x = synthesize(name, 1, 2.0, RATE_HZ)
    return (0.1 * x / active_rms(x)).astype(np.float32)


def rms(x: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(x, dtype=np.float64))))


def db(x: np.ndarray, beside: np.ndarray) -> float:
    return 20 * float(np.log10(max(rms(x), 1e-12) / rms(beside)))


def generator() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.parametrize("method", MASKS)
def test_the_parts_sum_to_the_estimate(method: str) -> None:
    kept, other = sound("speech"), sound("rain")
    made = separate(kept, other, method, generator())
    estimate = np.sum([*made], axis=0)
    assert all(part.shape == kept.shape for part in made)
    again = parts(estimate, kept, other)
    np.testing.assert_allclose(np.sum([*again], axis=0), estimate, atol=1e-5)
    for one, other_time in zip(made, again, strict=True):
        np.testing.assert_allclose(one, other_time, atol=1e-4)


@pytest.mark.parametrize(("first", "second"), PAIRS)
@pytest.mark.parametrize("left_db", [-20.0, -6.0])
def test_what_is_left_of_the_other_sound_is_found_at_its_level(
    first: str, second: str, left_db: float
) -> None:
    kept, other = sound(first), sound(second)
    found = parts(kept + decibels(left_db) * other, kept, other)
    assert db(found.left, other) == pytest.approx(left_db, abs=1)
    assert db(found.kept - kept, kept) < -40
    assert db(found.artefacts, kept) < -40


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_what_is_neither_sound_is_artefact_and_a_softer_sound_is_none(
    first: str, second: str
) -> None:
    kept, other = sound(first), sound(second)
    noise = 0.01 * generator().standard_normal(len(kept)).astype(np.float32)
    found = parts(kept + noise, kept, other)
    # Some of any noise goes with two sounds in each band and each moment.
    assert db(found.artefacts, noise) == pytest.approx(0, abs=1)
    softer = parts(0.5 * kept, kept, other)
    assert db(softer.kept, kept) == pytest.approx(-6.02, abs=0.1)
    assert db(softer.artefacts, kept) < -40


@pytest.mark.parametrize(("first", "second"), PAIRS)
@pytest.mark.parametrize("method", MASKS)
def test_a_mask_lowers_the_other_sound_and_keeps_most_of_the_kept(
    first: str, second: str, method: str
) -> None:
    kept, other = sound(first), sound(second)
    made = separate(kept, other, method, generator())
    assert db(made.left, other) < -5
    assert db(made.kept, kept) > -5
    assert db(made.artefacts, kept) < -5


@pytest.mark.parametrize("method", HEARD)
def test_masks_of_simulated_edits_leave_artefacts_and_follow_from_the_generator(
    method: str,
) -> None:
    kept, other = sound("speech"), sound("rain")
    one, same = (separate(kept, other, method, generator()) for _ in range(2))
    another = separate(kept, other, method, np.random.default_rng(5))
    assert db(one.artefacts, kept) > -30
    np.testing.assert_array_equal(np.stack([*one]), np.stack([*same]))
    assert db(one.artefacts - another.artefacts, one.artefacts) > -30


def test_what_an_enhancer_makes_is_taken_apart_instead() -> None:
    kept, other = sound("speech"), sound("rain")
    given: list[np.ndarray] = []

    def enhance(mixture: np.ndarray) -> np.ndarray:
        given.append(mixture)
        return kept + 0.1 * other

    made = separate(kept, other, "gated", generator(), enhance)
    np.testing.assert_allclose(given[0], kept + other)
    assert db(made.left, other) == pytest.approx(-20, abs=1)


@pytest.mark.parametrize("shape", [(9, 24), (300, 257)])  # numpy reuses temporaries of 256 KiB
def test_a_product_of_spectra_has_its_factors_in_one_order(shape: tuple[int, int]) -> None:
    """Or its last bit is another one where Python, or the length of a clip, is another."""
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(2, *shape)) + 1j * rng.normal(size=(2, *shape))
    turned = np.conj(y)
    assert np.array_equal(times_conjugate(x, y), np.multiply(turned, x))
