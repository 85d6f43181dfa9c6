"""Laws of a plan: who meets whom, where, how loud, and in which words [Appendix B, Table 4]."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auditeval.data import mixing
from auditeval.data.pseudo_parallel import plan
from auditeval.data.pseudo_parallel.clips import Clip, Profile
from auditeval.data.pseudo_parallel.plan import Library, Settings
from auditeval.types import UserError

RATE_HZ = 1000
BLOCK = 100


def clip(prompt: str, group: str, caption: str | None = None) -> Clip:
    return Clip(Path(f"/{group}.wav"), prompt, caption or prompt, None, group)


def profile(samples: np.ndarray) -> Profile:
    blocks = samples.reshape(-1, BLOCK)
    return Profile(
        hashlib.sha256(samples.tobytes()).hexdigest(),
        np.square(blocks).sum(axis=1),
        np.abs(blocks).max(axis=1),
    )


def library(
    prompts: int, takes: int, blocks: int, shape: str = "flat", seed: int = 0, word: str = "sound"
) -> Library:
    """Noise under an envelope: quiet at both ends, at the end only, or anywhere."""
    rng = np.random.default_rng(seed)
    envelopes = {
        "flat": np.ones(blocks),
        "quiet ends": 0.02 + np.sin(np.linspace(0, np.pi, blocks)),
        "quiet end": np.linspace(1, 0.02, blocks),
    }
    clips, profiles = [], []
    for prompt in range(prompts):
        for take in range(takes):
            clips.append(clip(f"{word} {prompt}", f"{word}{prompt}-{take}"))
            noise = rng.uniform(-0.9, 0.9, (blocks, BLOCK)) * rng.uniform(0.5, 1, (blocks, 1))
            profiles.append(profile((noise * envelopes[shape][:, None]).ravel()))
    return Library(clips, profiles)


def scenes(takes: int, shape: str = "flat") -> Library:
    """Backgrounds of 10 s that share no prompt with any event."""
    return library(1, takes, 100, shape, seed=1, word="scene")


def no_loudness(*_: object) -> float:
    raise AssertionError("only --match lufs measures loudness")


def planned(
    backgrounds: Library, events: Library, settings: Settings
) -> tuple[plan.Draws, list[dict[str, Any]]]:
    draws = plan.draw(backgrounds, events, settings)
    return draws, list(plan.rows(draws, backgrounds, events, settings, no_loudness))


def settings(**change: Any) -> Settings:
    return Settings(**{"rate_hz": RATE_HZ, **change})


def test_every_two_prompts_meet_over_backgrounds_of_neither() -> None:
    events = library(7, 3, 60)
    draws, rows = planned(events, events, settings(background_seconds=6.0, drop=False))
    assert len(rows) == 21 * 20
    met = Counter((row["b_prompt"], row["c_prompt"]) for row in rows)
    assert set(met.values()) == {20}
    assert len({frozenset(pair) for pair in met}) == 21
    for row, chosen in zip(rows, draws.background, strict=True):
        own = events.clips[chosen].prompt
        assert len({own, row["b_prompt"], row["c_prompt"]}) == 3
        assert len({row["a_group"], row["b_group"], row["c_group"]}) == 3


def test_backgrounds_repeat_only_when_there_are_too_few() -> None:
    events, backgrounds = library(3, 2, 40), scenes(30)
    draws = plan.draw(backgrounds, events, settings(backgrounds_per_pair=20))
    for number in range(3):
        assert len(set(draws.background[20 * number : 20 * number + 20])) == 20
    draws = plan.draw(backgrounds, events, settings(backgrounds_per_pair=75))
    for number in range(3):
        used = Counter(draws.background[75 * number : 75 * number + 75].tolist())
        assert len(used) == 30
        assert set(used.values()) == {2, 3}


def test_what_shares_a_group_or_its_samples_never_meets() -> None:
    b, c = library(2, 1, 50, word="event"), library(1, 1, 50, seed=9)
    events = Library(
        [clip("b", "one"), clip("b", "two"), clip("c", "one"), clip("c", "three")],
        [b.profiles[0], b.profiles[1], c.profiles[0], b.profiles[1]],
    )
    backgrounds = Library([clip("a", "two"), clip("a", "four")], scenes(2).profiles)
    wanted = settings(backgrounds_per_pair=50)
    met = {
        (row["a_group"], row["b_group"], row["c_group"])
        for row in planned(backgrounds, events, wanted)[1]
    }
    # B and C in group "one", or of the same samples ("two" and "three"), do not; nor A with B.
    assert met == {("two", "one", "three"), ("four", "one", "three"), ("four", "two", "one")}

    none = Library([clip("a", "one"), clip("a", "three")], scenes(2).profiles)
    only = Library([clip("b", "one"), clip("c", "three")], b.profiles)
    with pytest.raises(UserError, match="no background is left for the events 'b' and 'c'"):
        plan.draw(none, only, wanted)
    # A background that cannot be used is passed over where another can.
    both = Library([clip("a", "one"), clip("a", "five")], scenes(2).profiles)
    assert set(plan.draw(both, only, wanted).background) == {1}


def test_two_blocks_of_background_have_no_middle() -> None:
    short = library(1, 3, 2, word="scene", seed=1)
    tiny = settings(background_seconds=0.2, event_seconds=(0.1, 0.1))
    assert set(plan.draw(short, library(2, 2, 2), tiny).length) == {1}


def test_on_200_backgrounds_the_interval_is_that_of_a_search_by_brute_force() -> None:
    rng = np.random.default_rng(3)
    waves = []
    for _ in range(200):
        wave = rng.normal(size=100 * BLOCK) * np.repeat(rng.uniform(0, 1, 25), 4 * BLOCK)
        silent = rng.integers(0, 80 * BLOCK)
        wave[silent : silent + rng.integers(0, 20 * BLOCK)] = 0.0
        waves.append(wave)
    backgrounds = Library([clip("a", f"a{i}") for i in range(200)], [profile(w) for w in waves])
    events = library(2, 5, 60)
    found = settings(backgrounds_per_pair=200, drop=False)
    draws, rows = planned(backgrounds, events, found)
    assert sorted(draws.background) == list(range(200))
    for row, chosen in zip(rows, draws.background, strict=True):
        length = row["event_samples"]
        starts = range(0, 100 * BLOCK - length + 1, BLOCK)
        energies = [np.square(waves[chosen][s : s + length]).sum() for s in starts]
        assert row["event_start"] == starts[int(np.argmin(energies))]


def test_events_last_3_to_6_seconds_and_no_longer_than_either_recording() -> None:
    backgrounds, events = scenes(50), library(5, 4, 60)
    draws = plan.draw(backgrounds, events, settings(backgrounds_per_pair=300))
    assert set(draws.length) == set(range(30, 61))
    counts = np.bincount(draws.length)[30:]
    assert counts.min() > 0.6 * counts.mean()
    short = Library(events.clips, [Profile(p.sha256, p.energy[:20], p.peak[:20])
                                   for p in events.profiles])  # fmt: skip
    assert set(plan.draw(backgrounds, short, settings()).length) == {20}


@pytest.mark.parametrize("shape", ["quiet ends", "quiet end", "flat"])
def test_with_the_drop_operation_each_part_gets_a_third(shape: str) -> None:
    backgrounds, events = scenes(100, shape), library(5, 4, 60)
    wanted = settings(backgrounds_per_pair=1000)

    def shares(draws: plan.Draws) -> np.ndarray:
        parts = mixing.position(draws.start + draws.length / 2, 100.0)
        return np.bincount(parts, minlength=3) / len(parts)

    without = plan.draw(backgrounds, events, settings(backgrounds_per_pair=1000, drop=False))
    assert not without.moved.any()
    if shape != "flat":
        assert np.abs(shares(without) - 1 / 3).max() > 0.1
    balanced = plan.draw(backgrounds, events, wanted)
    assert len(balanced.start) == 10_000
    np.testing.assert_allclose(shares(balanced), 1 / 3, atol=0.02)
    kept = ~balanced.moved
    assert np.array_equal(balanced.start[kept], without.start[kept])
    # No more is moved than has to be.
    over = np.maximum(shares(without) - 1 / 3, 0).sum()
    assert balanced.moved.mean() <= 2 * over + 0.002


def test_what_is_moved_to_the_middle_is_spread_over_it() -> None:
    backgrounds, events = scenes(100, "quiet ends"), library(5, 4, 60)
    draws = plan.draw(backgrounds, events, settings(backgrounds_per_pair=1000))
    centres = (draws.start + draws.length / 2)[draws.moved]
    assert centres.min() >= 30
    assert centres.max() <= 70
    assert np.histogram(centres, 4, (30, 70))[0].min() > 0.2 * len(centres)


TABLE_4 = {  # arXiv:2508.11966, Table 4, in percent
    "before": {"B, A.": 30, "B, followed by A.": 20, "B, then A.": 20, "With B, A.": 10,
               "B, and A.": 10, "After B, A.": 5, "B before A.": 5},
    "after": {"A, B.": 30, "A, followed by B.": 20, "A, then B.": 20, "A, with B.": 10,
              "A, and B.": 10, "After A, B.": 5, "A before B.": 5},
    "during": {"A, with B.": 30, "A, while B.": 30, "A, B.": 20, "A, and B.": 20},
}  # fmt: skip


def test_over_10_000_mixes_captions_are_worded_as_table_4_says() -> None:
    backgrounds, events = scenes(50, "quiet ends"), library(5, 4, 60)
    rows = planned(backgrounds, events, settings(backgrounds_per_pair=1000))[1]
    found: dict[str, Counter[str]] = {position: Counter() for position in TABLE_4}
    for row in rows:
        for letter in "bc":
            words = re.sub(re.escape(row[f"{letter}_prompt"]), "B", row[f"a{letter}_caption"])
            words = re.sub(row[f"{letter}_prompt"].capitalize(), "B", words)
            found[row["position"]][re.sub(r"[Ss]cene 0", "A", words)] += 1
    for position, percents in TABLE_4.items():
        total = found[position].total()
        assert total > 6000
        assert set(found[position]) == set(percents)
        for words, percent in percents.items():
            assert found[position][words] / total == pytest.approx(percent / 100, abs=0.02)


def test_peaks_match_and_nothing_exceeds_full_scale() -> None:
    backgrounds, events = scenes(40), library(4, 4, 60, seed=5)
    draws, rows = planned(backgrounds, events, settings(backgrounds_per_pair=50))
    turned_down = 0
    for number, row in enumerate(rows):
        peak_a = row["a_gain"] * backgrounds.profiles[draws.background[number]].peak.max()
        assert peak_a <= plan.LOUDEST + 1e-12
        turned_down += row["a_gain"] < 1
        for letter, index in (("b", draws.event_b[number]), ("c", draws.event_c[number])):
            first, length = row[f"{letter}_start"] // BLOCK, row["event_samples"] // BLOCK
            peaks = row[f"{letter}_gain"] * events.profiles[index].peak[first : first + length]
            assert peaks.max() == pytest.approx(peak_a, abs=1e-4)
            start = row["event_start"] // BLOCK
            under = backgrounds.profiles[draws.background[number]].peak[start : start + length]
            assert (row["a_gain"] * under + peaks).max() <= plan.LOUDEST + 1e-12
    assert turned_down > 100


def test_power_can_be_matched_at_a_drawn_ratio() -> None:
    backgrounds, events = scenes(40), library(4, 4, 60, seed=5)
    draws, rows = planned(backgrounds, events, settings(match="snr", level_db=(-5.0, 10.0)))
    levels = [row[f"{letter}_level_db"] for row in rows for letter in "bc"]
    assert -5 <= min(levels) < -4
    assert 9 < max(levels) <= 10
    for number, row in enumerate(rows):
        background = backgrounds.profiles[draws.background[number]]
        event = events.profiles[draws.event_b[number]]
        first, length = row["b_start"] // BLOCK, row["event_samples"] // BLOCK
        power = row["b_gain"] ** 2 * event.energy[first : first + length].sum() / length
        ratio = power / (row["a_gain"] ** 2 * background.energy.mean())
        assert 10 * np.log10(ratio) == pytest.approx(row["b_level_db"], abs=1e-9)


def test_the_event_is_the_loudest_part_of_its_recording() -> None:
    wave = np.full(60 * BLOCK, 0.001)
    wave[37 * BLOCK : 47 * BLOCK] = 0.5
    events = Library([clip("b", "1"), clip("c", "2")], [profile(wave), profile(0.5 * wave)])
    one_second = settings(event_seconds=(1.0, 1.0))
    rows = planned(scenes(3), events, one_second)[1]
    assert {(row["b_start"], row["c_start"]) for row in rows} == {(37 * BLOCK, 37 * BLOCK)}


def test_a_seed_is_a_plan() -> None:
    events = library(4, 3, 100)
    first, again = (planned(events, events, settings(seed=7))[1] for _ in range(2))
    other = planned(events, events, settings(seed=8))[1]
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"event_seconds": (3.0, 11.0)}, r"events of 3 to 11 s do not fit into backgrounds of 10"),
        ({"event_seconds": (6.0, 3.0)}, r"events of 6 to 3 s do not fit"),
        ({"event_seconds": (0.0, 3.0)}, r"on a grid of 0\.1 s"),
        ({"event_seconds": (float("nan"), 3.0)}, r"events of nan to 3 s do not fit"),
        ({"background_seconds": float("inf")}, r"backgrounds of inf s"),
        ({"rate_hz": 44101}, r"44101 Hz: expected a multiple of 10 Hz"),
        ({"rate_hz": 0}, r"0 Hz: expected"),
        ({"rate_hz": 200_000}, r"200000 Hz: expected a multiple of 10 Hz from 1000 to 192000 Hz"),
        ({"level_db": (0.0, 61.0)}, r"within 60 dB of the background"),
        (
            {"match": "lufs", "event_seconds": (0.3, 1.0)},
            r"events of 0\.3 s have no loudness in LUFS, which needs 0\.4 s",
        ),
        ({"level_db": (3.0, -3.0)}, r"the level of events goes from 3 to -3 dB"),
        ({"level_db": (float("nan"), 1.0)}, r"the level of events goes from nan to 1 dB"),
        ({"backgrounds_per_pair": 0}, r"each pair of prompts needs one background at least"),
        ({"seed": -1}, r"seed -1: expected 0 or more"),
    ],
)
def test_settings_that_fit_no_set_are_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        Settings(**change)


def test_too_few_prompts_or_backgrounds() -> None:
    one, two = library(1, 5, 60), library(2, 5, 60)
    with pytest.raises(UserError, match="events of two prompts are needed, all are 'sound 0'"):
        plan.draw(one, one, settings())
    with pytest.raises(UserError, match="no background is left for the events 'sound 0' and 's"):
        plan.draw(two, two, settings())


def test_a_plan_that_would_fill_the_memory_is_refused() -> None:
    events = library(3, 2, 40)
    with pytest.raises(UserError, match=r"^3 pairs of prompts with 5,000,000 back.* 15,000,000"):
        plan.draw(scenes(4), events, settings(backgrounds_per_pair=5_000_000))
