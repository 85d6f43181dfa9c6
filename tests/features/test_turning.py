"""turning: by how much a clip became higher or faster, and what is left to compare then."""

from __future__ import annotations

from collections.abc import Callable

import librosa
import numpy as np
import pytest

from auditeval.data.soundbank import synthesize
from auditeval.features.alignment import ALIGNMENT_NAMES, Alignment
from auditeval.features.comparison import match
from auditeval.features.extractor import Texts
from auditeval.features.extractors.changes import Changes
from auditeval.features.extractors.parts import ChangeParts
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.features.extractors.texture import Texture
from auditeval.features.turning import NO_TURN, Turn, at_pace

RATE_HZ = Spectrum.rate_hz
NAMES = ("speech", "rain", "dog_bark")


@pytest.fixture(scope="module")
def clips() -> dict[str, np.ndarray]:
    return {name: 0.2 * synthesize(name, 1, 4.0, RATE_HZ).astype(np.float32) for name in NAMES}


def higher(clip: np.ndarray, semitones: float) -> np.ndarray:
    return librosa.effects.pitch_shift(clip, sr=RATE_HZ, n_steps=semitones)


def faster(clip: np.ndarray, octaves: float) -> np.ndarray:
    return librosa.effects.time_stretch(clip, rate=2**octaves)


def taped(clip: np.ndarray, octaves: float) -> np.ndarray:
    return librosa.resample(clip, orig_sr=RATE_HZ, target_sr=RATE_HZ / 2**octaves)


def noisy(clip: np.ndarray) -> np.ndarray:
    noise = np.random.default_rng(0).normal(size=len(clip))
    return clip + (0.3 * np.sqrt(np.mean(clip**2)) * noise).astype(np.float32)


def aligned(original: np.ndarray, edited: np.ndarray, way: Turn) -> Alignment:
    spectrum = Spectrum()
    return spectrum.align(*(spectrum.encode_clip(x).frames for x in (original, edited)), way)


def value(alignment: Alignment, name: str) -> float:
    return float(alignment.values[ALIGNMENT_NAMES.index(name)])


@pytest.mark.parametrize("damaged", [False, True])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("semitones", [4.0, -3.0])
def test_semitones_are_found(
    semitones: float, name: str, damaged: bool, clips: dict[str, np.ndarray]
) -> None:
    edited = higher(clips[name], semitones)
    found = aligned(clips[name], noisy(edited) if damaged else edited, Turn(np.sign(semitones)))
    assert found.turn.semitones == pytest.approx(semitones, abs=0.3)
    assert found.turn.octaves == 0


@pytest.mark.parametrize("make", [faster, taped])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("octaves", [0.3, -0.4])
def test_pace_is_found(
    octaves: float,
    name: str,
    make: Callable[[np.ndarray, float], np.ndarray],
    clips: dict[str, np.ndarray],
) -> None:
    way = Turn(np.sign(octaves) * (make is taped), np.sign(octaves))
    found = aligned(clips[name], noisy(make(clips[name], octaves)), way).turn
    assert found.octaves == pytest.approx(octaves, abs=0.02)
    assert found.semitones == (12 * found.octaves if make is taped else 0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("way", [Turn(1), Turn(-1), Turn(0, 1), Turn(0, -1), Turn(1, 1)])
def test_what_did_not_turn_is_compared_as_it_is(
    way: Turn, name: str, clips: dict[str, np.ndarray]
) -> None:
    clip = clips[name]
    anew = 0.2 * synthesize(name, 7, 4.0, RATE_HZ).astype(np.float32)
    wrong = higher(clip, -5 * way.semitones) if way.octaves == 0 else faster(clip, -way.octaves / 3)
    for edited in (clip, noisy(clip), wrong):
        made, plain = aligned(clip, edited, way), aligned(clip, edited, NO_TURN)
        assert made.turn == NO_TURN
        assert np.array_equal(made.values, plain.values)
    assert aligned(clip, anew, way).turn == NO_TURN or name != "rain"  # noise has no other take


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("make", "amount", "way"), [(higher, 4.0, Turn(1)), (faster, -0.4, Turn(0, -1))]
)
def test_the_change_that_was_asked_for_hides_no_damage(
    make: Callable[[np.ndarray, float], np.ndarray],
    amount: float,
    way: Turn,
    name: str,
    clips: dict[str, np.ndarray],
) -> None:
    edited = make(clips[name], amount)
    as_it_is, asked, damaged = (
        value(aligned(clips[name], x, how), "lsd")
        for x, how in ((edited, NO_TURN), (edited, way), (noisy(edited), way))
    )
    assert asked < 0.7 * as_it_is
    assert damaged > 1.3 * asked


def test_no_wave_form_is_asked_of_what_turned(clips: dict[str, np.ndarray]) -> None:
    clip, edited = clips["speech"], faster(clips["speech"], 0.3)
    found = aligned(clip, edited, Turn(0, 1))
    parts = ChangeParts()
    frames = [parts.encode_clip(x[::2]).frames for x in (clip, edited)]
    assert not parts.compare(*frames, found).any()
    assert parts.compare(*frames, found._replace(turn=NO_TURN)).any()


def test_fine_structure_is_compared_at_the_new_pace(clips: dict[str, np.ndarray]) -> None:
    """Dropped frames that come at another moment, since all does, are none that came."""
    rain = clips["rain"]
    dropped = np.repeat(np.random.default_rng(0).random(len(rain) // 640) < 0.3, 640)
    clip = np.concatenate([rain, rain * ~dropped])
    edited = taped(clip, 0.5)
    found = aligned(clip, edited, Turn(1, 1))
    frames = [Texture().encode_clip(x).frames for x in (clip, edited)]
    gaps = Texture.alignment.index("gaps_worst")
    turned, straight = (
        Texture().compare(*frames, x)[gaps] for x in (found, found._replace(turn=NO_TURN))
    )
    assert turned < 0.5 * straight


def test_patches_belong_together_at_the_new_pace(clips: dict[str, np.ndarray]) -> None:
    found = aligned(clips["speech"], faster(clips["speech"], 1.0), Turn(0, 1))
    starts = [50 * np.arange(count, dtype=np.int32) for count in (8, 4)]
    before, after = (
        {"patch": np.zeros((len(x), 1)), "span": np.stack([x, x + 50], axis=1)} for x in starts
    )
    assert match("patch", before, after, found).before.tolist() == [0, 2, 4, 6]


def test_rows_at_a_pace() -> None:
    rows = np.arange(8.0)[:, None]
    assert at_pace(rows, 1.0).ravel().tolist() == [0, 2, 4, 6]
    assert at_pace(rows[:2], -1.0).ravel().tolist() == [0, 0.5, 1, 1]
    assert at_pace(rows[:1], 2.0).ravel().tolist() == [0]


@pytest.mark.parametrize(
    ("instruction", "way"),
    [
        ("Raise the pitch by four semitones.", Turn(1, 0)),
        ("Make his voice deeper.", Turn(-1, 0)),
        ("Speed it up.", Turn(0, 1)),
        ("Play it at half the speed.", Turn(0, -1)),
        ("Make it louder.", NO_TURN),
        ("Add a dog barking.", NO_TURN),
    ],
)
def test_ways_are_of_the_words(instruction: str, way: Turn) -> None:
    changes = Changes()
    nothing, said = changes.encode_text(["", instruction])
    assert (
        changes.turn(Texts(nothing, nothing, nothing, nothing, said, ("", "", instruction))) == way
    )
