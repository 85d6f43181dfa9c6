"""Every decision of a pseudo-parallel set, before a sample is mixed [arXiv:2508.11966, Appendix B].

A tuple (A, B, C) takes event B and event C, of different prompts, into one interval of background
A. Both have one length, and stand in one place, so that a replacement replaces.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any, Literal, NamedTuple

import numpy as np

from auditeval.data import mixing
from auditeval.data.pseudo_parallel.clips import (
    BLOCK_SECONDS,
    LOUDNESS_SECONDS,
    Clip,
    Profile,
)
from auditeval.seed import SEED
from auditeval.types import UserError

LOUDEST = 0.999
"""Peak that no clip exceeds; a tuple that would is turned down as a whole, background included."""

MAX_RATE_HZ = 192_000
MAX_LEVEL_DB = 60.0
"""Beyond it the event or the background would be no more than the rounding of 16 bits."""

MAX_TUPLES = 10_000_000
"""All are drawn before the first is mixed: this many take 2 GB."""

_DRAW, _BALANCE, _ROW = 1, 2, 3  # streams of random numbers; numpy takes an end of zeros for none


@dataclass(frozen=True)
class Settings:
    """What a set is built by; the defaults are the paper's.

    `backgrounds_per_pair`: tuples of each pair of prompts. `background_seconds`: longer recordings
    are cut, those under nine tenths of it left out. `event_seconds`: shortest and longest event; of
    two recordings that are shorter the shorter one is used whole.
    `match`: what of B is made equal to A's, its peak, loudness (LUFS, ITU-R BS.1770) or mean power
    (snr), plus `level_db` (LU for LUFS), drawn evenly between two bounds. `drop`: balance the three
    positions. Raises UserError for values that fit no set.
    """

    backgrounds_per_pair: int = 20
    background_seconds: float = 10.0
    event_seconds: tuple[float, float] = (3.0, 6.0)
    rate_hz: int = 44100
    match: Literal["peak", "lufs", "snr"] = "peak"
    level_db: tuple[float, float] = (0.0, 0.0)
    drop: bool = True
    seed: int = SEED

    def __post_init__(self) -> None:
        shortest, longest = self.event_seconds
        if not BLOCK_SECONDS <= shortest <= longest <= self.background_seconds < math.inf:
            raise UserError(
                f"events of {shortest:g} to {longest:g} s do not fit into backgrounds of "
                f"{self.background_seconds:g} s, on a grid of {BLOCK_SECONDS} s"
            )
        if not 1000 <= self.rate_hz <= MAX_RATE_HZ or self.rate_hz % round(1 / BLOCK_SECONDS):
            raise UserError(
                f"{self.rate_hz} Hz: expected a multiple of 10 Hz from 1000 to {MAX_RATE_HZ} Hz"
            )
        if self.match == "lufs" and shortest < LOUDNESS_SECONDS:
            raise UserError(
                f"events of {shortest:g} s have no loudness in LUFS, which needs "
                f"{LOUDNESS_SECONDS} s"
            )
        low, high = self.level_db
        if not -MAX_LEVEL_DB <= low <= high <= MAX_LEVEL_DB:
            raise UserError(
                f"the level of events goes from {low:g} to {high:g} dB: expected up, within "
                f"{MAX_LEVEL_DB:g} dB of the background"
            )
        if self.backgrounds_per_pair < 1:
            raise UserError("each pair of prompts needs one background at least")
        if self.seed < 0:
            raise UserError(f"seed {self.seed}: expected 0 or more")


class Library(NamedTuple):
    """Clips with their profiles, in one order."""

    clips: Sequence[Clip]
    profiles: Sequence[Profile]

    def recording(self, index: int) -> tuple[str, str]:
        """Group and content hash of a clip: what two parts of a mix may not have in common."""
        return self.clips[index].group, self.profiles[index].sha256


class Draws(NamedTuple):
    """What each tuple is made of :: int (M,): rows of the libraries, and in blocks of 0.1 s the
    events' length and start. `moved` :: bool, whether the drop operation chose the start.
    """

    background: np.ndarray
    event_b: np.ndarray
    event_c: np.ndarray
    length: np.ndarray
    start: np.ndarray
    moved: np.ndarray


Loudness = Callable[[Clip, int, int], float]
"""Integrated loudness in LUFS of so many blocks of a clip from a first one on."""


def draw(backgrounds: Library, events: Library, settings: Settings) -> Draws:
    """Choose A, B, C, length and lowest-energy interval of every tuple, seeded by prompt pair.

    All pairs of prompts, each with `backgrounds_per_pair` backgrounds, drawn without replacement
    while they last. The three of a tuple have different prompts, groups and samples.
    """
    shortest, longest = (round(s / BLOCK_SECONDS) for s in settings.event_seconds)
    prompts = list(dict.fromkeys(clip.prompt for clip in events.clips))
    if len(prompts) < 2:
        raise UserError(f"events of two prompts are needed, all are {prompts[0]!r}")
    together, each = math.comb(len(prompts), 2), settings.backgrounds_per_pair
    if together * each > MAX_TUPLES:
        raise UserError(
            f"{together:,} pairs of prompts with {each:,} backgrounds each are {together * each:,} "
            f"tuples: expected at most {MAX_TUPLES:,}; build several sets, of other seeds"
        )
    by_prompt = {p: [i for i, c in enumerate(events.clips) if c.prompt == p] for p in prompts}
    own_prompts = np.array([clip.prompt for clip in backgrounds.clips])
    rows = []
    for number, pair in enumerate(combinations(prompts, 2)):
        rng = np.random.default_rng([settings.seed, _DRAW, number])
        order = rng.permutation(np.flatnonzero(~np.isin(own_prompts, pair)))
        choices = [by_prompt[prompt] for prompt in pair]
        meetings = _meetings(backgrounds, order.tolist(), events, choices, rng)
        for background, *chosen in islice(meetings, settings.backgrounds_per_pair):
            room = len(backgrounds.profiles[background].energy)
            most = min(longest, room, *(len(events.profiles[i].energy) for i in chosen))
            length = int(rng.integers(min(shortest, most), most + 1))
            energies = mixing.window_energies(backgrounds.profiles[background].energy, length)
            rows.append((background, *chosen, length, int(np.argmin(energies))))
    columns = np.array(rows, dtype=np.int64).T
    background, event_b, event_c, lengths, starts = columns
    draws = Draws(background, event_b, event_c, lengths, starts, np.zeros(len(rows), bool))
    return balanced(draws, backgrounds, settings.seed) if settings.drop else draws


def balanced(draws: Draws, backgrounds: Library, seed: int) -> Draws:
    """The drop operation: a third of the events each before, during and after the split points.

    What an outer part has beyond a third, drawn at random, goes to a random place in the middle, as
    in the paper. Where an outer part still has less than a third, the middle gives up what it has
    beyond, each to the lowest-energy interval that is centred there.
    """
    rng = np.random.default_rng([seed, _BALANCE])
    start = draws.start.copy()
    room = np.array([len(p.energy) for p in backgrounds.profiles])[draws.background]
    third = len(start) // 3

    def part() -> np.ndarray:
        return mixing.position(start + draws.length / 2, room)

    for outer in (mixing.BEFORE, mixing.AFTER):
        members = np.flatnonzero(part() == outer)
        excess = max(len(members) - third, 0)
        for row in rng.permutation(members)[:excess]:
            middle = _starts(draws, row, room, mixing.DURING)
            if len(middle):  # two blocks of background have none
                start[row] = rng.choice(middle)
    for outer in (mixing.BEFORE, mixing.AFTER):
        wanted = third - np.count_nonzero(part() == outer)
        for row in rng.permutation(np.flatnonzero(part() == mixing.DURING)):
            if wanted <= 0:
                break
            fit = _starts(draws, row, room, outer)
            if len(fit):
                energy = backgrounds.profiles[draws.background[row]].energy
                start[row] = fit[np.argmin(mixing.window_energies(energy, draws.length[row])[fit])]
                wanted -= 1
    return draws._replace(start=start, moved=start != draws.start)


def rows(
    draws: Draws, backgrounds: Library, events: Library, settings: Settings, loudness: Loudness
) -> Iterator[dict[str, Any]]:
    """The table of mixes, row by row: where each part comes from and goes to, gains and captions.

    Samples and gains are those that `audio.mixes.render` uses.
    """
    block = round(BLOCK_SECONDS * settings.rate_hz)
    for number, (a, b, c, length, start, moved) in enumerate(zip(*draws, strict=True)):
        rng = np.random.default_rng([settings.seed, _ROW, number])
        clip_a, profile_a = backgrounds.clips[a], backgrounds.profiles[a]
        room = len(profile_a.energy)
        centre, whole = (start + length / 2) * BLOCK_SECONDS, room * BLOCK_SECONDS
        row: dict[str, Any] = {
            "rate_hz": settings.rate_hz,
            "a_file": clip_a.path,
            "a_sha256": profile_a.sha256,
            "a_group": clip_a.group,
            "a_caption": mixing.sentence(clip_a.caption),
            "a_samples": room * block,
            "event_start": int(start) * block,
            "event_samples": int(length) * block,
            "position": mixing.POSITIONS[int(mixing.position(centre, whole))],
            "moved": bool(moved),
        }
        loudest = float(profile_a.peak.max())
        for letter, index in (("b", b), ("c", c)):
            clip, event = events.clips[index], events.profiles[index]
            # A recording is often mostly silence: its loudest part is where the event is.
            first = int(np.argmax(mixing.window_energies(event.energy, length)))
            part = slice(first, first + length)
            level_db = float(rng.uniform(*settings.level_db))
            if settings.match == "peak":
                ratio = profile_a.peak.max() / event.peak[part].max()
            elif settings.match == "snr":
                ratio = np.sqrt(profile_a.energy.mean() / event.energy[part].mean())
            else:
                difference = loudness(clip_a, 0, room) - loudness(clip, first, int(length))
                ratio = 10 ** (difference / 20)
            gain = float(ratio * 10 ** (level_db / 20))
            under = profile_a.peak[start : start + length]
            loudest = max(loudest, float((under + gain * event.peak[part]).max()))
            row |= {
                f"{letter}_file": clip.path,
                f"{letter}_sha256": event.sha256,
                f"{letter}_group": clip.group,
                f"{letter}_prompt": clip.prompt,
                f"{letter}_category": clip.category,
                f"{letter}_caption": clip.caption,
                f"{letter}_start": first * block,
                f"{letter}_level_db": level_db,
                f"{letter}_gain": gain,
                f"a{letter}_caption": mixing.mix_caption(
                    clip_a.caption, clip.caption, centre, whole, rng
                ),
            }
        turned_down = min(1.0, LOUDEST / loudest)
        yield row | {
            "a_gain": turned_down,
            "b_gain": row["b_gain"] * turned_down,
            "c_gain": row["c_gain"] * turned_down,
        }


def _meetings(
    backgrounds: Library,
    order: Sequence[int],
    events: Library,
    choices: Sequence[Sequence[int]],
    rng: np.random.Generator,
) -> Iterator[tuple[int, int, int]]:
    """A, B and C for one pair of prompts: backgrounds in their order, over and over.

    A background whose recording is all there is of a prompt is passed over. Raises UserError where
    none can be used.
    """

    def unlike(choice: Sequence[int], library: Library, index: int) -> list[int]:
        group, sha256 = library.recording(index)
        apart = map(events.recording, choice)
        return [i for i, (g, s) in zip(choice, apart, strict=True) if g != group and s != sha256]

    met = True
    while met:
        met = False
        for background in order:
            fit_b, fit_c = (unlike(choice, backgrounds, background) for choice in choices)
            for b in rng.permutation(fit_b).tolist():
                if fit := unlike(fit_c, events, b):
                    met = True
                    yield background, b, fit[rng.integers(len(fit))]
                    break
    names = " and ".join(repr(events.clips[choice[0]].prompt) for choice in choices)
    raise UserError(
        f"no background is left for the events {names}: it needs a prompt of its own, and the "
        "three of them recordings and groups of their own"
    )


def _starts(draws: Draws, row: int, room: np.ndarray, part: int) -> np.ndarray:
    """Blocks at which the event of a tuple may start so that its centre lies in this part."""
    starts = np.arange(room[row] - draws.length[row] + 1)
    return starts[mixing.position(starts + draws.length[row] / 2, room[row]) == part]
