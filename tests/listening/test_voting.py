"""Listening tests held again: what is known by hand, and that the command says it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import row_of, write_rows
from scipy import stats

from auditeval import EditPair, Scores, manifest, scores_table
from auditeval.data.importers.listening_tests import import_mushra_codecs
from auditeval.listening.voting import ORDERS, Measure, simulate, votes_of
from auditeval.table import Cell, Table
from auditeval.types import Undefined, UserError


def pair(number: int, system: str | None, **raters: Any) -> EditPair:
    return EditPair(
        id=f"{number}",
        original=Path("a.wav"),
        edited=Path("b.wav"),
        original_caption="rain",
        target_caption="rain",
        operation="add",
        system=system,
        raters=raters,
    )


def panel(levels: dict[str, float], votes: int, spread: float, pairs: int = 4) -> list[EditPair]:
    """Pairs whose votes lie at their system's level, on average exactly, up to so far from it."""
    rng = np.random.default_rng(8)
    made = []
    for system, level in levels.items():
        for _ in range(pairs):
            apart = rng.uniform(0, spread, votes // 2)
            given = [*(level - apart), *(level + apart)]
            made.append(pair(len(made), system, quality=given))
    return made


def votes_until(table: Table, rule: str, column: str = "ranked") -> float:
    cell = table.row(rule)[column]
    assert isinstance(cell, Cell), cell
    assert isinstance(cell.value, float)
    return cell.value


def test_votes_of_a_rater_stand_in_one_row() -> None:
    one = pair(1, "a", quality={"x": 3, "y": 4}, faithfulness={"y": 5, "z": 1})
    nan = np.nan
    np.testing.assert_equal(votes_of(one), [[3, nan, nan], [4, nan, 5], [nan, nan, 1]])
    np.testing.assert_equal(
        votes_of(pair(2, "a", relevance=[1, 2], quality=[3])), [[3, 1, nan], [nan, 2, nan]]
    )
    assert votes_of(pair(3, "a")).shape == (0, 3)


def test_a_test_is_measured_by_kendalls_tau_and_lcc() -> None:
    rng = np.random.default_rng(1)
    systems = np.array([*"aaabbbcccddd"])
    rated = [rng.uniform(1, 5, (9, 3)) for _ in systems]
    for votes in rated:
        votes[:, 1] = np.nan  # nobody judged it
    some = [votes[:4] for votes in rated]
    wrong, lcc = Measure(systems.tolist(), rated)(some)
    taus, lccs = [], []
    for axis in (0, 2):
        full, now = (np.array([v[:, axis].mean() for v in of]) for of in (rated, some))
        means = [[of[systems == system].mean() for system in "abcd"] for of in (full, now)]
        taus.append(stats.kendalltau(*means).statistic)
        lccs.append(stats.pearsonr(full, now).statistic)
    assert 1 - 2 * wrong == pytest.approx(np.mean(taus))
    assert lcc == pytest.approx(np.mean(lccs))
    assert Measure(systems.tolist(), rated)(rated) == pytest.approx((0, 1))


def test_what_nobody_heard_is_as_its_system_or_as_all() -> None:
    rated = [np.array([[v, np.nan, np.nan]]) for v in (1.0, 2.0, 4.0, 5.0)]
    none = np.empty((0, 3))
    measure = Measure(["a", "a", "b", "b"], rated)
    assert measure([none] * 4) == (0.5, 0.0)  # a tie is half wrong
    assert measure([rated[0], none, none, rated[3]])[0] == 0
    lcc = np.corrcoef([1, 1, 5, 5], [1, 2, 4, 5])[0, 1]
    assert measure([rated[0], none, none, rated[3]])[1] == pytest.approx(lcc)
    assert measure([none, none, none, rated[3]])[0] == 0.5


def test_votes_without_noise_rank_systems_once_all_are_heard() -> None:
    pairs = panel({"a": 2.0, "b": 3.0, "c": 4.0}, votes=6, spread=0.0)
    table = simulate(pairs, tests=3, at_once=12, resamples=20)
    for rule in ORDERS:
        if rule != "random":  # which hears each pair once as well: none twice at a time
            assert votes_until(table, rule) == 12
            assert votes_until(table, rule, "rated") == 12
    assert table == simulate(pairs, tests=3, at_once=12, resamples=20)
    assert any("12 pairs of 3 systems, 72 votes" in note for note in table.notes)


def test_systems_that_are_close_are_told_apart_with_fewer_votes() -> None:
    """Two of four are close, and votes go to them; from a panel without end, so not by its end."""
    pairs = panel({"a": 2.1, "b": 3.0, "c": 3.15, "d": 3.9}, votes=8, spread=1.1, pairs=3)
    table = simulate(pairs, tests=30, at_once=6, replace=True, resamples=200)
    random, chosen = (votes_until(table, rule) for rule in ("random", "uncertain, for ranking"))
    assert chosen < 0.8 * random
    share = table.row("uncertain, for ranking")["of random's"]
    assert share.value == pytest.approx(chosen / random)


def test_what_is_not_reached_is_undefined() -> None:
    pairs = panel({"a": 3.0, "b": 3.01}, votes=4, spread=1.0)
    table = simulate(pairs, tests=4, at_once=6, replace=True, resamples=50)
    cell = table.row("random")["rated"]
    assert isinstance(cell, Undefined)
    assert "64 votes" in cell.reason


def test_intervals_of_an_evaluator_change_what_is_heard() -> None:
    pairs = panel({"a": 2.0, "b": 3.0, "c": 3.2}, votes=6, spread=0.8)
    known = {
        one.id: Scores(one.id, quality=3.0, intervals={"quality": (2.0 + 0.1 * n, 3.5)})
        for n, one in enumerate(pairs)
    }
    plain, told = (
        simulate(pairs, scores, tests=4, at_once=4, resamples=0) for scores in ({}, known)
    )
    assert plain.row("balanced") == told.row("balanced")
    assert plain.row("uncertain, for training") != told.row("uncertain, for training")


def test_votes_of_one_system_cannot_be_ranked() -> None:
    pairs = [*panel({"a": 2.0}, votes=4, spread=0.1), pair(9, None, quality=[1.0]), pair(10, "b")]
    with pytest.raises(UserError, match="4 of 6 pairs have a system and votes of raters, of 1"):
        simulate(pairs)


def test_the_command_on_real_votes(shared_data: Path, tmp_path: Path, cli: Any) -> None:
    pairs = import_mushra_codecs(shared_data / "neural_codecs")[::2]
    manifest.write(pairs, tmp_path / "codecs.jsonl")
    made = cli(
        *("listen", "simulate", tmp_path / "codecs.jsonl", "--tests", 2, "--at-once", 64),
        *("-o", tmp_path / "table.md"),
    )
    assert made.status == 0
    total = sum(len(votes_of(one)) for one in pairs)
    text = (tmp_path / "table.md").read_text()
    assert f"56 pairs of 7 systems, {total} votes by raters" in text
    assert all(rule in text and rule in made.out for rule in ORDERS)


def test_the_commands_mistakes_are_one_sentence(tmp_path: Path, cli: Any) -> None:
    rated = panel({"a": 2.0, "b": 3.0}, votes=4, spread=0.1)
    pairs = write_rows(tmp_path / "pairs.jsonl", [row_of(one) for one in rated])
    unrated = [row_of(one, raters={}, ratings={}) for one in rated]
    plain = write_rows(tmp_path / "unrated.jsonl", unrated)
    scores = tmp_path / "scores.csv"
    scores_table.write([Scores(one.id, quality=3.0) for one in rated], scores)
    for arguments, sentence in {
        (plain,): "0 of 8 pairs have a system and votes of raters",
        (pairs, "-o", tmp_path / "table.txt"): "expected a name that ends in .md",
        (pairs, "--scores", scores): "has no intervals for pairs of",
    }.items():
        made = cli("listen", "simulate", *arguments, "--tests", 2)
        assert made.status == 2
        assert sentence in made.sentence


def test_systems_that_are_level_have_no_order_to_find() -> None:
    """Of no two systems the share in the wrong order would be 0 of 0."""
    pairs = [pair(1, "a", quality=[1, 5]), pair(2, "b", quality=[3, 3])]
    with pytest.raises(UserError, match="by all votes its 2 systems are level"):
        simulate(pairs, tests=2)
