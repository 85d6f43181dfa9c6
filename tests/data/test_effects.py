"""Laws of a producer's effects: the stronger the further from the dry clip, and what each does."""

from __future__ import annotations

from functools import cache
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy import signal

from auditeval.data.simulation import changes, effects
from auditeval.data.simulation.effects import EFFECTS, Vary, usual, varied
from auditeval.data.simulation.material import Material
from auditeval.data.simulation.scenes import make_scene
from auditeval.data.simulation.signals import RATE_HZ, active_rms, coloured
from auditeval.data.soundbank import synthesize
from auditeval.features.extractors.spectrum import Spectrum, log_mel

STRENGTHS = (0.5, 1.0, 2.0)
SOUNDS = ("speech", "piano_notes")


@cache
def sound(name: str) -> np.ndarray:
    return 0.2 * synthesize(name, 1, 2.0, RATE_HZ)


def distance(x: np.ndarray, y: np.ndarray) -> float:
    """Log-spectral, of mel bands each 10 ms within 60 dB of the loudest: rms in dB."""
    one, other = (log_mel(np.float32(z), *Spectrum.RESOLUTIONS[0]) for z in (x, y))
    floor = max(one.max(), other.max()) - 60
    return float(np.sqrt(np.mean((np.maximum(one, floor) - np.maximum(other, floor)) ** 2)))


@pytest.mark.parametrize("name", SOUNDS)
@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize("character", [None, *range(4)])
def test_the_stronger_an_effect_the_further_from_dry_at_one_level(
    effect: str, name: str, character: int | None
) -> None:
    """Whatever its character."""
    dry = sound(name)
    made = [
        effects.apply(effect, dry, strength, 0, usual if character is None else varied(character))
        for strength in STRENGTHS
    ]
    distances = [distance(x, dry) for x in made]
    assert all(a < b for a, b in pairwise([0, *distances]))
    assert distances[-1] > 1.0
    for x in made:
        assert x.shape == dry.shape
        assert active_rms(x) == pytest.approx(active_rms(dry), rel=1e-3)


@pytest.mark.parametrize("effect", [name for name in EFFECTS if name != "tremolo"])
def test_two_makes_are_more_alike_than_half_and_double_the_strength(effect: str) -> None:
    """Of speech; makes of a tremolo differ in its phase, which no distance of frames forgives."""
    dry = sound("speech")
    one = effects.apply(effect, dry, 1.0, 0)
    makes = max(distance(one, effects.apply(effect, dry, 1.0, seed)) for seed in (1, 2, 3))
    half, double = (effects.apply(effect, dry, strength, 0) for strength in (0.5, 2.0))
    assert 0 < makes < distance(half, double)


@pytest.mark.parametrize("effect", EFFECTS)
def test_a_character_is_the_same_at_every_make_and_others_are_others(effect: str) -> None:
    dry = sound("speech")

    def made(character: int, seed: int) -> np.ndarray:
        return effects.apply(effect, dry, 1.0, seed, varied(character))

    ones = [made(character, 1) for character in range(6)]
    np.testing.assert_array_equal(ones[0], made(0, 1))
    assert min(distance(one, other) for one, other in combinations(ones, 2)) > 0.02
    away = [effects.apply(effect, dry, 1.0, 1, varied(character, 0.5)) for character in range(6)]
    assert np.mean([distance(*both) for both in zip(ones, away, strict=True)]) > 0.2
    # What two makes differ in is less than what characters do; the phase of a tremolo aside.
    makes = [distance(one, made(character, 2)) for character, one in enumerate(ones)]
    others = [distance(one, other) for one, other in pairwise(ones)]
    assert np.mean(makes) < np.mean(others) or effect in ("tremolo", "hiss")


def test_the_same_seed_is_the_same_make() -> None:
    for effect in EFFECTS:
        one, same, other = (effects.apply(effect, sound("speech"), 1.0, s) for s in (1, 1, 2))
        np.testing.assert_array_equal(one, same)
        assert not np.array_equal(one, other)


def impulse_response(effect: str, strength: float, seed: int = 0) -> np.ndarray:
    click = np.zeros(4 * RATE_HZ)
    click[0] = 1.0
    return EFFECTS[effect](click, strength, np.random.default_rng(seed), usual)


def test_the_decay_of_a_reverb_doubles_with_its_strength() -> None:
    for strength in STRENGTHS:
        tail = impulse_response("reverb", strength)[1:]
        level = 10 * np.log10(np.cumsum(tail[::-1] ** 2)[::-1] / np.sum(tail**2) + 1e-12)
        start, stop = (int(np.argmax(level < db)) for db in (-5, -35))
        seconds = 2 * (stop - start) / RATE_HZ
        assert seconds == pytest.approx(0.7 * strength, rel=0.05)
        assert 10 * np.log10(np.sum(tail**2) / strength) == pytest.approx(-6, abs=0.1)


@pytest.mark.parametrize(("strength", "gain"), [(0.5, 0.194), (1.0, 0.35), (2.0, 0.5775)])
def test_an_echo_repeats_at_its_step_and_gain(strength: float, gain: float) -> None:
    made = impulse_response("echo", strength)
    places = np.flatnonzero(made)
    assert len(places) == 5
    assert np.diff(places) / RATE_HZ == pytest.approx([0.24] * 4, rel=0.031)
    np.testing.assert_allclose(made[places], gain ** np.arange(5), rtol=1e-2)


@pytest.mark.parametrize(("strength", "depth"), [(0.5, 0.2254), (1.0, 0.4), (2.0, 0.64)])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_tremolo_swings_five_times_a_second_by_its_depth(
    strength: float, depth: float, seed: int
) -> None:
    """Whichever make: only the phase is another."""
    made = EFFECTS["tremolo"](np.ones(2 * RATE_HZ), strength, np.random.default_rng(seed), usual)
    assert (made.min(), made.max()) == pytest.approx((1 - depth, 1.0), abs=1e-3)
    assert np.argmax(np.abs(np.fft.rfft(made - made.mean()))) == 10  # of 0.5 Hz each


def response_db(effect: str, strength: float, *hz: float) -> np.ndarray:
    """Of the effect before its level is given back."""
    made = impulse_response(effect, strength)
    return 20 * np.log10(np.abs(signal.freqz(made, 1, np.array(hz), fs=RATE_HZ)[1]))


def test_filters_have_their_gains_and_corners() -> None:
    for strength in STRENGTHS:
        low, corner, high = response_db("brightness", strength, 100, 2000, 15000)
        assert low == pytest.approx(0, abs=0.2)
        assert high == pytest.approx(6 * strength, abs=0.2)
        half = 10 * np.log10((1 + 10 ** (0.6 * strength)) / 2)  # the powers of both ways, halved
        assert corner == pytest.approx(half, abs=0.8)
        corner_hz = 3000 / strength
        passed, corner, octave = response_db("darkness", strength, 200, corner_hz, 2 * corner_hz)
        assert passed == pytest.approx(0, abs=0.1)
        assert corner == pytest.approx(-3, abs=0.7)
        assert -25 < octave < -11


def test_compression_turns_down_by_its_ratio() -> None:
    """A tone that is 12 dB above the threshold for the mean, and one that is 12 dB less loud."""
    time = np.arange(RATE_HZ) / RATE_HZ
    tone = np.sin(2 * np.pi * 1000 * time)
    for strength, ratio in ((0.5, 2.5), (1.0, 4.0), (2.0, 7.0)):
        both = np.concatenate([tone, 10 ** (-12 / 20) * tone])
        made = EFFECTS["compression"](both, strength, np.random.default_rng(0), usual)
        levels = [
            active_rms(made[at : at + RATE_HZ // 4]) for at in (RATE_HZ // 2, 3 * RATE_HZ // 2)
        ]
        assert 20 * np.log10(levels[0] / levels[1]) == pytest.approx(12 / ratio, abs=0.4)


@pytest.mark.parametrize("strength", STRENGTHS)
def test_hiss_is_at_its_level_and_a_limit_makes_odd_harmonics(strength: float) -> None:
    dry = sound("speech")
    noise = EFFECTS["hiss"](dry, strength, np.random.default_rng(0), usual) - dry
    level = 20 * np.log10(noise.std() / active_rms(dry))
    assert level == pytest.approx(-26 + 20 * np.log10(strength), abs=0.1)

    tone = 0.1 * np.sin(2 * np.pi * 1000 * np.arange(RATE_HZ) / RATE_HZ)
    weaker, lines = (
        np.abs(np.fft.rfft(EFFECTS["distortion"](tone, s, np.random.default_rng(0), usual)))
        for s in (strength / 2, strength)
    )
    assert lines[3000] / lines[1000] > 1.5 * weaker[3000] / weaker[1000]
    assert lines[3000] > lines[2000]  # but for some lean it is odd
    assert lines[::1000].sum() > 0.99 * lines.sum()


def test_a_chorus_is_the_clip_and_itself_some_15_ms_later() -> None:
    x = coloured(0.0, 2 * RATE_HZ, np.random.default_rng(0), 3000.0)
    made = EFFECTS["chorus"](x, 1.0, np.random.default_rng(1), usual) - x
    for start in range(8000, 56000, 8000):
        part = made[start : start + 1600]
        late = [part @ x[start - lag : start - lag + 1600] for lag in range(800)]
        assert 0.0125 < int(np.argmax(late)) / RATE_HZ < 0.0175
    assert made.std() / x.std() == pytest.approx(0.7, rel=0.05)


def test_scenes_and_the_edits_of_changes_draw_a_character_each(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And ask for another at no other strength of the same scene."""
    drawn: list[int] = []

    def counted(character: int, away: float = 0.0) -> Vary:
        drawn.append(character)
        return varied(character, away)

    monkeypatch.setattr(effects, "varied", counted)
    scenes = [
        make_scene(Material({}), 0, (1.2, 1.2), np.random.default_rng([3, seed]))
        for seed in range(24)
    ]
    treated = [scene for scene in scenes if "effect" in scene.offers]
    assert len(treated) >= 3
    assert len({*drawn}) == len(drawn) == len(treated)
    for scene in treated:
        scene.treated(2.0, 1)
    assert drawn[len(treated) :] == drawn[: len(treated)]
    drawn.clear()
    changes.build(tmp_path, scenes=12, seconds=1.2, workers=1)
    assert len({*drawn}) > 3
