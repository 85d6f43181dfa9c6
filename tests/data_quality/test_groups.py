"""Groups of pairs: an even, seeded, orderless deal; intervals that cover; lines to infinity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
import pytest
from scipy import stats

from auditeval.data_quality.groups import (
    GROUPS,
    Chosen,
    Deal,
    Unit,
    at_infinity,
    jackknife,
    unit,
)
from auditeval.types import EditPair, Undefined

ALL = tuple(range(GROUPS))


def alone(names: Iterable[str]) -> list[Unit]:
    """Of these names, each with an original of its own."""
    return [Unit(name, name, f"{name}.wav") for name in names]


@pytest.mark.parametrize("count", [10, 11, 99, 1000])
def test_groups_are_even_seeded_and_know_no_order(count: int) -> None:
    ids = alone(f"pair {number}" for number in range(count))
    deal = Deal(ids)
    assert len(deal) == count
    for numbers in zip(*map(deal, ids), strict=True):
        sizes = Counter(numbers)
        assert len(sizes) == GROUPS
        assert max(sizes.values()) - min(sizes.values()) <= 1
    again = Deal(reversed(ids))
    assert [again(id) for id in ids] == [deal(id) for id in ids]
    assert [Deal(ids, seed=1)(id) for id in ids] != [deal(id) for id in ids]


def test_groups_are_random() -> None:
    """Ids in order, as those of a system are, fall into groups, and splits, independently of each
    other."""
    ids = edits(map(str, range(5000)), [None] * 5000)
    groups, splits = np.array([*map(Deal(ids), ids)]).T
    for dealt in (groups, splits):
        halves = np.stack([np.bincount(half, minlength=GROUPS) for half in np.split(dealt, 2)])
        assert stats.chi2_contingency(halves).pvalue > 1e-3
    for one, other in ((groups[:-1], groups[1:]), (splits[:-1], splits[1:]), (groups, splits)):
        both = np.zeros((GROUPS, GROUPS))
        np.add.at(both, (one, other), 1)
        assert stats.chi2_contingency(both).pvalue > 1e-3


def edits(originals: Iterable[str], sources: Iterable[str | None]) -> list[Unit]:
    """Of these originals, one pair each."""
    captions = {"original_caption": "", "target_caption": ""}
    return [
        unit(EditPair(id=f"{n}", original=path, edited="b.wav", source=source, **captions))  # type: ignore[arg-type]
        for n, (path, source) in enumerate(zip(originals, sources, strict=True))
    ]


def test_pairs_that_share_a_source_or_an_original_go_together() -> None:
    """However the file is written, and though others of them state a source."""
    paths = ["x/1.wav", "x/y/../1.wav", "2.wav", "2.wav", "3.wav", "4.wav", "5.wav", "6.wav"]
    sources = [None, None, "rain", None, "rain", "rain", "wind", None]
    units = edits(paths, sources)
    for seed in range(20):
        deal = Deal(units, seed)
        groups = [deal(one).group for one in units]
        assert len(deal) == 4  # 1.wav; rain, with 2.wav; wind; 6.wav
        assert groups[0] == groups[1]
        assert len(set(groups[2:6])) == 1
        assert len({groups[0], groups[2], groups[6], groups[7]}) == 4
    assert len(Deal([])) == 0


def test_where_the_files_lie_does_not_matter() -> None:
    here, there = (
        edits([f"{folder}/{n % 40}.wav" for n in range(120)], [None] * 120)
        for folder in ("/home/a", "/mnt/b")
    )
    assert [*map(Deal(here), here)] == [*map(Deal(there), there)]
    assert len(Deal(here)) == 40


def mean_over(values: np.ndarray):  # type: ignore[no-untyped-def]
    """Ten groups of equally many values."""
    groups = values.reshape(GROUPS, -1)
    return lambda chosen: float(groups[list(chosen)].mean())


def test_of_a_mean_it_is_students_interval_over_the_groups() -> None:
    values = np.random.default_rng(0).normal(3, 2, 200)
    means = values.reshape(GROUPS, -1).mean(axis=1)
    expected = stats.t.interval(0.95, GROUPS - 1, means.mean(), stats.sem(means))
    assert jackknife(mean_over(values)) == pytest.approx(expected, rel=1e-9)


def test_it_covers_the_truth_nineteen_times_of_twenty() -> None:
    """Of a value that is no mean: a standard deviation."""
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(400):
        groups = rng.normal(size=(GROUPS, 30))
        low, high = jackknife(lambda chosen, g=groups: float(g[list(chosen)].std()))  # type: ignore[misc]
        covered += low <= 1 <= high
    assert stats.binomtest(covered, 400, 0.95).pvalue > 1e-3


def test_a_value_that_is_undefined_without_a_group_has_no_interval() -> None:
    few = Undefined("too few")
    assert jackknife(lambda chosen: 1.0 if 3 in chosen else few) == few
    assert at_infinity(lambda chosen: 1.0 if chosen != (3,) else few, len, ALL) == few


@pytest.mark.parametrize("sizes", [[40] * GROUPS, [820, *range(18, 27)]])
@pytest.mark.parametrize("groups", [ALL, ALL[1:], (0, 2, 3)])
def test_a_bias_in_proportion_to_one_over_n_is_taken_away(groups: Chosen, sizes: list[int]) -> None:
    """Of pairs, of which a group may have most."""
    asked: list[Chosen] = []

    def pairs(chosen: Chosen) -> int:
        return sum(sizes[group] for group in chosen)

    def value(chosen: Chosen) -> float:
        asked.append(chosen)
        return 7.0 + 5.0 / pairs(chosen)

    assert at_infinity(value, pairs, groups) == pytest.approx(7.0)
    # Subsets of one size are disjoint: nothing is drawn twice.
    for size in {len(chosen) for chosen in asked}:
        drawn = [group for chosen in asked if len(chosen) == size for group in chosen]
        assert len(drawn) == len(set(drawn))
    assert {len(chosen) for chosen in asked} == {1, 2, len(groups) // 2, len(groups)}
