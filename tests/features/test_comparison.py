"""Comparison features: nothing for equal clips, finite for any, growing with the fault."""

from __future__ import annotations

import numpy as np
import pytest

from auditeval.data.soundbank import synthesize
from auditeval.features.alignment import ALIGNMENT_NAMES, BANDS, RANGE_DB, Alignment, align
from auditeval.features.comparison import (
    CHANGED_DB,
    PATCH_NAMES,
    Frames,
    changed_words,
    compare_patches,
    match,
    smooth,
)
from auditeval.features.extractors.spectrum import Spectrum

RATE_HZ = Spectrum.rate_hz


def frames(samples: np.ndarray) -> np.ndarray:
    return Spectrum().encode_clip(samples.astype(np.float32)).frames["mel"]


def patches(count: int, seed: int = 0) -> Frames:
    rng = np.random.default_rng(seed)
    return {"patch": np.abs(rng.standard_normal((count, 16))).astype(np.float16)}


@pytest.fixture(scope="module")
def clip() -> np.ndarray:
    dog = synthesize("dog_bark", 2, 2.0, RATE_HZ).astype(np.float64)
    return dog + 0.02 * synthesize("rain", 2, 2.0, RATE_HZ)


def named(original: np.ndarray, edited: np.ndarray) -> dict[str, float]:
    row = align(frames(original), frames(edited)).values
    return dict(zip(ALIGNMENT_NAMES, row.tolist(), strict=True))


def test_names_and_numbers_go_together() -> None:
    for names in (ALIGNMENT_NAMES, PATCH_NAMES):
        assert len(set(names)) == len(names)
    x = frames(synthesize("rain", 0, 0.5, RATE_HZ))
    assert align(x, x).values.shape == (len(ALIGNMENT_NAMES),)
    x = patches(3)
    assert compare_patches("patch", x, x, None).shape == (len(PATCH_NAMES),)


@pytest.mark.parametrize("name", ["rain", "dog_bark", "speech", "piano_notes", "clock_ticking"])
def test_identity_is_zero(name: str) -> None:
    x = frames(synthesize(name, 5, 1.5, RATE_HZ))
    aligned = align(x, x)
    assert np.array_equal(aligned.values, np.zeros_like(aligned.values))
    same = patches(4)
    for alignment in (aligned, None):
        row = compare_patches("patch", same, same, alignment)
        assert np.abs(row).max() < 1e-6  # a cosine of 1 in float32


LENGTHS = [1, 2, 3, 5, 16, 17, 101, 400]


@pytest.mark.parametrize("first", LENGTHS)
@pytest.mark.parametrize("second", LENGTHS)
def test_any_lengths_give_finite_numbers(first: int, second: int) -> None:
    rng = np.random.default_rng(first * 1000 + second)
    mels = [rng.uniform(-100, 0, (n, BANDS)).astype(np.float16) for n in (first, second)]
    kept = [patches(-(-n // 48), seed) for seed, n in enumerate((first, second))]
    for order in (slice(None), slice(None, None, -1)):
        alignment = align(*mels[order])
        for row in (alignment.values, compare_patches("patch", *kept[order], alignment)):
            assert np.isfinite(row).all()
            assert (row >= 0).all()
            assert row.dtype == np.float32


def test_silence_on_either_side_is_finite() -> None:
    silent = np.full((150, BANDS), -100, np.float16), {"patch": np.zeros((3, 16))}
    x = frames(synthesize("siren", 1, 1.5, RATE_HZ)), patches(3)
    for original, edited in ((silent, x), (x, silent), (silent, silent)):
        alignment = align(original[0], edited[0])
        row = compare_patches("patch", original[1], edited[1], alignment)
        assert np.isfinite([*alignment.values, *row]).all()


@pytest.mark.parametrize("shape", [(0, BANDS), (5, BANDS - 1), (BANDS,)])
def test_other_shapes_raise(shape: tuple[int, ...]) -> None:
    good = np.zeros((5, BANDS))
    for pair in ((good, np.zeros(shape)), (np.zeros(shape), good)):
        with pytest.raises(ValueError, match=r"frames"):
            align(*pair)


@pytest.mark.parametrize("feature", ["lsd", "lsd_active", "floor_rise_top", "shape_median"])
def test_noise_is_seen_the_more_the_louder_it_is(clip: np.ndarray, feature: str) -> None:
    noise = np.random.default_rng(0).standard_normal(len(clip)) * np.sqrt(np.mean(clip**2))
    levels_db = (-50, -40, -30, -20, -10, 0)
    found = [named(clip, clip + noise * 10 ** (level / 20))[feature] for level in levels_db]
    assert found == sorted(found)
    assert found[-1] > found[0] + 0.3


@pytest.mark.parametrize("seconds", [0.1, 0.3, 0.5, 0.8, 1.1])
def test_a_shift_is_found_and_taken_out(clip: np.ndarray, seconds: float) -> None:
    shifted = np.concatenate([np.zeros(round(seconds * RATE_HZ)), clip])
    found = named(clip, shifted)
    # |lag| beyond 0.5 s over 100 ms: log1p twice, once in the unit and once as for all features.
    lag = np.expm1(np.expm1(found["lag"])) * 0.1 + 0.5
    assert lag == pytest.approx(max(seconds, 0.5), abs=0.011)
    assert found["length"] == found["outside"] == 0  # what was added is silence
    assert found["lsd"] < 0.2 * named(clip, np.roll(clip, len(clip) // 2) * 0 + clip[::-1])["lsd"]


def test_lag_and_gain_are_those_of_the_edit(clip: np.ndarray) -> None:
    later = np.concatenate([np.zeros(round(0.3 * RATE_HZ)), 0.5 * clip])
    for pair, sign in (((clip, later), 1), ((later, clip), -1), ((clip, clip), 0)):
        found = align(*map(frames, pair))
        assert found.lag == sign * 30
        assert found.gain == pytest.approx(-6 * sign, abs=0.3)


@pytest.mark.parametrize("share", [0.5, 0.75, 0.95])
def test_what_is_left_of_a_clip_stays_where_it_was(share: float) -> None:
    """Silence in the place of the rest costs the same at any lag, and draws none."""
    for name in ("rain", "sea_waves", "crowd_babble", "speech"):
        clip = synthesize(name, 3, 5.0, RATE_HZ).astype(np.float64)
        left = clip * (np.arange(len(clip)) < (1 - share) * len(clip))
        assert align(frames(clip), frames(left)).lag == 0, name


def test_most_of_a_clip_may_be_another_sound() -> None:
    """By chance a steady bed correlates more with itself at another lag than at its own."""
    count = round(2.4 * RATE_HZ)
    fade = np.minimum(np.minimum(np.arange(count), np.arange(count)[::-1]) / 320, 1)
    for seed in range(12):
        clip = synthesize("sea_waves", seed, 3.0, RATE_HZ).astype(np.float64)
        event = fade * synthesize("rooster_crow", seed, 3.0, RATE_HZ)[:count]
        edited = clip.copy()
        edited[-count:] += 3 * event * np.sqrt(np.mean(clip**2) / np.mean(event**2))
        assert align(frames(clip), frames(edited)).lag == 0, seed


@pytest.mark.parametrize(("before", "after"), [(0, 0), (0.3, 0), (0, 0.3)])
def test_a_change_is_known_by_its_time(clip: np.ndarray, before: float, after: float) -> None:
    """A burst of noise in an edit that is later or earlier by 0.3 s, and also a decibel louder."""
    burst = 0.1 * np.random.default_rng(3).standard_normal(round(0.2 * RATE_HZ))
    edited = clip.copy()
    edited[RATE_HZ : RATE_HZ + len(burst)] += burst
    cut, silence = (np.zeros(round(seconds * RATE_HZ)) for seconds in (after, before))
    found = align(frames(clip), frames(1.12 * np.concatenate([silence, edited])[len(cut) :]))
    first = 100 + found.lag
    assert found.lag == round(100 * (before - after))
    assert found.change.shape == (200 + found.lag,)
    assert found.change[first + 3 : first + 17].min() > 3
    assert found.change[: first - 4].max() < 0.1  # where it was cut off half a window is missing
    assert found.change[first + 24 :].max() == 0


def test_what_is_lost_is_a_change(clip: np.ndarray) -> None:
    edited = clip.copy()
    edited[RATE_HZ // 2 :][:6400] *= 0.01
    change = align(frames(clip), frames(edited)).change
    assert change[53:67].min() > 5
    assert change[:46].max() == change[74:].max() == 0


def test_what_goes_on_beyond_the_original_is_a_change_where_it_is_heard(clip: np.ndarray) -> None:
    longer = np.concatenate([clip, np.zeros(RATE_HZ // 2), clip[: RATE_HZ // 2]])
    change = align(frames(clip), frames(longer)).change
    assert change[:198].max() == change[205:245].max() == 0
    assert change[250:].max() == RANGE_DB


@pytest.mark.parametrize(("gain_db", "feature", "other"), [(12, "louder", "quieter"),
                                                           (-12, "quieter", "louder")])  # fmt: skip
def test_a_gain_is_told_from_a_change(
    clip: np.ndarray, gain_db: float, feature: str, other: str
) -> None:
    found = named(clip, clip * 10 ** (gain_db / 20))
    assert np.expm1(found[feature]) == pytest.approx(1, abs=0.1)  # 6 dB beyond the free 6
    assert found[other] == 0
    assert found["lsd"] < 0.3


def test_digital_silence_has_no_level(clip: np.ndarray) -> None:
    """Between events of a clip that is turned down it stays what it was."""
    for level in (0.02, 0.004):
        events = level * clip * (np.arange(len(clip)) % RATE_HZ < RATE_HZ // 2)
        alignment = align(frames(events), frames(0.5 * events))
        assert alignment.gain == pytest.approx(-6, abs=0.1)
        found = dict(zip(ALIGNMENT_NAMES, alignment.values.tolist(), strict=True))
        beds = [value for name, value in found.items() if name.startswith(("floor", "contrast"))]
        assert max(beds) < 0.02
        before, after = alignment.overlap()
        assert np.abs(after - before).max() < 0.5


def test_a_low_pass_loses_bands_at_the_top_alone(clip: np.ndarray) -> None:
    from scipy import signal

    loss = []
    for hz in (8000, 4000, 2000):
        sections = signal.butter(8, hz, fs=RATE_HZ, output="sos")
        found = named(clip, signal.sosfiltfilt(sections, clip))
        loss.append(found["band_loss"])
        assert found["down_active_top"] > found["down_active_low"] + 0.5
        assert found["up_active_top"] < 0.1
    assert loss == sorted(loss)
    assert loss[0] < loss[-1]


def test_added_and_removed_events_change_sides(clip: np.ndarray) -> None:
    bell = synthesize("bicycle_bell", 1, 2.0, RATE_HZ)
    added, removed = named(clip, clip + bell), named(clip + bell, clip)
    for region in ("high", "top"):
        assert added[f"up_active_{region}"] > added[f"down_active_{region}"]
        assert removed[f"down_active_{region}"] > removed[f"up_active_{region}"]


@pytest.mark.parametrize("seconds", [0.4, 0.8])
def test_the_longest_stretch_that_is_unlike_is_told_in_seconds(
    clip: np.ndarray, seconds: float
) -> None:
    start, stop = RATE_HZ, RATE_HZ + round(seconds * RATE_HZ)
    edited = clip.copy()
    edited[start:stop] = 0.3 * np.sin(2 * np.pi * 6000 * np.arange(stop - start) / RATE_HZ)
    found = 0.1 * np.expm1(np.expm1(named(clip, edited)["unlike_run"]))
    assert found == pytest.approx(seconds, abs=0.08)


def test_patches_match_by_their_times() -> None:
    """Patches of 4 frames, a new one each 2; the edit has 3 frames of the original cut off."""
    change = np.zeros(7, np.float32)
    change[4] = CHANGED_DB / 2
    a, b = np.eye(4, dtype=np.float16), 2 * np.eye(4, dtype=np.float16)[:3]
    original, edited = (
        {"patch": patches, "span": np.array([(t, t + 4) for t in range(0, 2 * len(patches), 2)])}
        for patches in (a, b)
    )
    edited["span"][-1, 1] = 7
    nothing = np.zeros(0, np.float32)
    alignment = Alignment(nothing, -3, 0.0, change, *[nothing] * 4)
    found = match("patch", original, edited, alignment)
    assert found.before.tolist() == [1, 2, 3]  # 3, 5 and 7 frames after the start of the original
    assert found.after.tolist() == [0, 0, 0, 1]
    assert found.changed.tolist() == [[0], [0.5], [0.5]]
    before, after = found.settled(a, b)
    assert np.array_equal(before, a)
    assert np.array_equal(after, [a[1], (a[2] + b[1]) / 2, (a[3] + b[2]) / 2])


def patch_row(original: np.ndarray, edited: np.ndarray) -> dict[str, float]:
    row = compare_patches("patch", {"patch": original}, {"patch": edited}, None)
    return dict(zip(PATCH_NAMES, row.tolist(), strict=True))


def cosine(x: np.ndarray, y: np.ndarray) -> float:
    return float(x @ y / np.sqrt(x @ x * (y @ y)))


def test_patches_by_hand() -> None:
    a, b, c = np.eye(3)
    found = patch_row(np.stack([a, b, b]), np.stack([a, c, a]))
    x = [(a + b) / 2, (a + 2 * b) / 3, b]  # each with its neighbours
    y = [(a + c) / 2, (2 * a + c) / 3, (a + c) / 2]
    unlike = [1 - cosine(before, after) for before, after in zip(x, y, strict=True)]
    new = [min(1 - cosine(before, after) for before in x) for after in y]
    lost = [min(1 - cosine(before, after) for after in y) for before in x]
    best, second, worst = sorted(unlike)
    assert found == pytest.approx(
        {
            "patch_unlike_mean": sum(unlike) / 3,
            "patch_unlike_worst": worst,
            "patch_unlike_best": best + 0.2 * (second - best),  # 10 % by linear interpolation
            "patch_new_mean": sum(new) / 3,
            "patch_new_worst": max(new),
            "patch_lost_mean": sum(lost) / 3,
            "patch_lost_worst": max(lost),
        },
        abs=1e-6,
    )


def test_patches_that_only_moved_are_neither_new_nor_lost() -> None:
    rng = np.random.default_rng(3)
    many = np.abs(rng.standard_normal((1300, 8)))  # more than one block of the search
    found = patch_row(many, many[::-1])  # neighbours stay neighbours
    assert found["patch_unlike_mean"] > 0.05
    for name in ("patch_new_mean", "patch_new_worst", "patch_lost_mean", "patch_lost_worst"):
        assert found[name] < 1e-5
    other = np.abs(rng.standard_normal((700, 8)))
    x, y = smooth(many), smooth(other)
    x, y = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (x, y))
    best = (y @ x.T).max(axis=1)
    assert patch_row(many, other)["patch_new_mean"] == pytest.approx(1 - best.mean(), abs=1e-5)


def test_neighbours_are_averaged_within_the_clip() -> None:
    rows = np.array([[0.0], [3.0], [9.0], [0.0]], np.float32)
    assert smooth(rows)[:, 0].tolist() == [1.5, 4.0, 4.0, 4.5]
    assert smooth(rows[:1]).tolist() == [[0.0]]
    assert smooth(rows).dtype == np.float32


@pytest.mark.parametrize(
    ("before", "after", "added", "removed"),
    [
        ("Rain falls.", "Rain falls, with a bell.", "with a bell", ""),
        ("A bell, then rain.", "Rain.", "", "a bell then"),
        ("Rain, with a bell.", "Rain, with a dog.", "dog", "bell"),
        ("Rain.", "rain", "", ""),
        ("", "A dog's bark", "a dog's bark", ""),
        ("A dog's bark.", "A dog\N{RIGHT SINGLE QUOTATION MARK}s 'bark'.", "", ""),
        ("A caf\N{LATIN SMALL LETTER E WITH ACUTE}.", "A cafe\N{COMBINING ACUTE ACCENT}.", "", ""),
        ("Rain falls and a dog barks.", "A dog barks as rain falls.", "", ""),
        ("Rain and a dog.", "A dog, rain and a bell.", "a bell", ""),
        ("A grey aeroplane.", "A gray airplane.", "", ""),
        ("Tyres squeal.", "Tires squeal, then a bell.", "then a bell", ""),
    ],
)
def test_changed_words_are_those_that_one_caption_has_and_the_other_not(
    before: str, after: str, added: str, removed: str
) -> None:
    assert changed_words(before, after) == (added, removed)
    assert changed_words(after, before) == (removed, added)
