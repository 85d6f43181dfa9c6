"""Where two clips differ: laws, and edits of known place found again."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from scipy import signal

from auditeval.audio import Waveform, resample
from auditeval.data.soundbank import synthesize
from auditeval.features.change import find_change, find_course
from auditeval.features.extractors.spectrum import Spectrum

RATE_HZ = 32000
LENGTH = 4 * RATE_HZ
BACKGROUNDS = ("rain", "engine_idling", "sea_waves", "speech")


class Edit(NamedTuple):
    original: np.ndarray
    edited: np.ndarray
    start: int  # of what was changed in the edited clip, samples
    stop: int


def frames(samples: np.ndarray) -> np.ndarray:
    return Spectrum().encode_clip(samples.astype(np.float32)).frames["mel"]


def change(original: np.ndarray, edited: np.ndarray) -> np.ndarray:
    clips = frames(original), frames(edited)
    return find_change(*clips, find_course(*clips))


def rms(x: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(x, dtype=float))))


def faded(length: int) -> np.ndarray:
    ramp = np.minimum(np.arange(length), np.arange(length)[::-1]) / 320
    return np.minimum(ramp, 1)


def event(seed: int, length: int, level: float) -> np.ndarray:
    name = ("dog_bark", "siren", "door_knock", "piano_notes", "bird_chirp")[seed % 5]
    sound = synthesize(name, seed, length / RATE_HZ)
    return sound * level / rms(sound) * faded(length)


def inserted(clip: np.ndarray, part: slice, level: float, seed: int) -> Edit:
    edited = clip.copy()
    edited[part] += event(seed, part.stop - part.start, 2 * level)
    return Edit(clip, edited, part.start, part.stop)


def deleted(clip: np.ndarray, part: slice, level: float, seed: int) -> Edit:
    made = inserted(clip, part, level, seed)
    return made._replace(original=made.edited, edited=made.original)


def replaced_event(clip: np.ndarray, part: slice, level: float, seed: int) -> Edit:
    first, second = (inserted(clip, part, level, s).edited for s in (seed, seed + 1))
    return Edit(first, second, part.start, part.stop)


def replaced_background(clip: np.ndarray, part: slice, level: float, seed: int) -> Edit:
    length, edited = part.stop - part.start, clip.copy()
    other = synthesize("wind", seed, length / RATE_HZ)
    weight = faded(length)
    edited[part] = (1 - weight) * edited[part] + weight * other * level / rms(other)
    return Edit(clip, edited, part.start, part.stop)


def noisy(clip: np.ndarray, part: slice, level: float, seed: int) -> Edit:
    edited, rng = clip.copy(), np.random.default_rng(seed)
    edited[part] += rng.standard_normal(part.stop - part.start) * 0.3 * level
    return Edit(clip, edited, part.start, part.stop)


def modulated(clip: np.ndarray, part: slice, level: float, seed: int) -> Edit:
    edited, rng = clip.copy(), np.random.default_rng(seed)
    edited[part] *= 1 + 0.5 * rng.standard_normal(part.stop - part.start)
    return Edit(clip, edited, part.start, part.stop)


def dropped(clip: np.ndarray, part: slice, level: float, seed: int) -> Edit:
    edited, quarter = clip.copy(), (part.stop - part.start) // 4
    for start in (part.start, part.start + 2 * quarter):
        edited[start : start + quarter] *= 0.003
    return Edit(clip, edited, part.start, part.stop)


def muffled(clip: np.ndarray, part: slice, level: float, seed: int) -> Edit:
    edited = clip.copy()
    low = signal.sosfiltfilt(signal.butter(8, 1000, fs=RATE_HZ, output="sos"), clip)
    edited[part] = low[part]
    return Edit(clip, edited, part.start, part.stop)


def spliced_in(clip: np.ndarray, part: slice, level: float, seed: int) -> Edit:
    sound = event(seed, part.stop - part.start, 2 * level)
    edited = np.concatenate([clip[: part.start], sound, clip[part.start :]])
    return Edit(clip, edited, part.start, part.stop)


def cut_out(clip: np.ndarray, part: slice, level: float, seed: int) -> Edit:
    edited = np.concatenate([clip[: part.start], clip[part.stop :]])
    return Edit(clip, edited, part.start - RATE_HZ // 4, part.start + RATE_HZ // 4)


KINDS: tuple[Callable[[np.ndarray, slice, float, int], Edit], ...] = (
    *(inserted, deleted, replaced_event, replaced_background, noisy),
    *(modulated, dropped, muffled, spliced_in, cut_out),
)


@pytest.fixture(scope="module")
def edits() -> list[Edit]:
    """Each kind in each background, somewhere, over an eighth to a third of 4 s."""
    made = []
    for place, name in enumerate(BACKGROUNDS):
        clip = synthesize(name, 40 + place, LENGTH / RATE_HZ).astype(np.float64)
        for number, kind in enumerate(KINDS):
            rng = np.random.default_rng([place, number])
            length = int(rng.uniform(0.12, 0.33) * LENGTH)
            start = int(rng.integers(RATE_HZ // 4, LENGTH - length))
            part = slice(start, start + length)
            level = max(rms(clip[part]), 0.3 * rms(clip))
            made.append(kind(clip, part, level, 10 * place + number))
    return made


def share_found(edits: list[Edit]) -> float:
    peaks = [320 * int(np.argmax(change(edit.original, edit.edited))) for edit in edits]
    return float(np.mean([e.start <= peak <= e.stop for e, peak in zip(edits, peaks, strict=True)]))


def test_the_peak_lies_where_something_was_done(edits: list[Edit]) -> None:
    assert share_found(edits) >= 0.95


@pytest.mark.parametrize("damage", ["noise", "low pass", "level"])
def test_a_fault_of_the_whole_clip_hides_no_local_edit(edits: list[Edit], damage: str) -> None:
    rng = np.random.default_rng(3)
    low = signal.butter(8, 5000, fs=RATE_HZ, output="sos")
    faults: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "noise": lambda x: x + rng.standard_normal(len(x)) * rms(x) * 10 ** (-20 / 20),
        "low pass": lambda x: signal.sosfiltfilt(low, x),
        "level": lambda x: 0.4 * x,
    }
    marked = [edit._replace(edited=faults[damage](edit.edited)) for edit in edits[:-11:2]]
    assert share_found(marked) >= 0.85


def test_what_was_not_touched_has_no_change(edits: list[Edit]) -> None:
    for edit in edits[:5]:
        assert change(edit.original, edit.original).max() == 0
        found = change(edit.original, edit.edited)
        margin = RATE_HZ // 4
        away = np.arange(len(found)) * 320
        away = (away < edit.start - margin) | (away > edit.stop + margin)
        assert found[away].max() < 0.1 < 0.2 < found.max()


@pytest.mark.parametrize("samples", [-960, 640, 3200])
def test_delay_level_and_rate_are_no_change(samples: int) -> None:
    clip = synthesize("speech", 4, 3.0)
    shifted = np.roll(np.pad(clip, 4000), samples)
    assert change(np.pad(clip, 4000), shifted).max() < 0.02
    assert change(clip, 0.5 * clip).max() < 0.02
    there = Waveform(resample(Waveform(clip, RATE_HZ), 44100), 44100)
    assert change(clip, resample(there, RATE_HZ)).max() < 0.05


def test_a_splice_has_two_delays_and_a_cut_marks_its_seam() -> None:
    clip = synthesize("speech", 9, 4.0).astype(np.float64)
    longer = np.insert(clip, 48000, event(1, 32000, 2 * rms(clip)))
    course = find_course(frames(clip), frames(longer))
    assert (course.before, course.after) == (0, 100)
    assert course.split == pytest.approx(150, abs=3)
    # What lies before, in and behind the splice belongs to these parts of the original.
    assert course.frames(0, 100, 400) == slice(0, 100)
    assert course.frames(300, 400, 400) == slice(200, 300)
    shorter = np.delete(clip, slice(48000, 80000))
    course = find_course(frames(clip), frames(shorter))
    assert (course.before, course.after) == (0, -100)
    assert 0.01 * np.argmax(change(clip, shorter)) == pytest.approx(1.5, abs=0.15)


@pytest.mark.parametrize("background", BACKGROUNDS)
def test_silence_is_a_change_where_it_interrupts_and_none_at_an_end(background: str) -> None:
    clip = synthesize(background, 3, 4.0).astype(np.float64)
    found = change(clip, np.insert(clip, 2 * RATE_HZ, np.zeros(2 * RATE_HZ)))
    assert found[225:375].min() > 0.5
    assert max(found[:185].max(), found[415:].max()) < 0.05
    for silence in ((0, 2 * RATE_HZ), (2 * RATE_HZ, 0)):
        assert change(clip, np.pad(clip, silence)).max() < 0.1


def test_any_two_lengths_are_compared() -> None:
    rng = np.random.default_rng(1)
    for first, second in ((1700, 1700), (1700, 64000), (64000, 1700), (320, 9000)):
        found = change(rng.standard_normal(first), rng.standard_normal(second))
        assert len(found) == -(-second // 320)
        assert ((found >= 0) & (found <= 1)).all()
