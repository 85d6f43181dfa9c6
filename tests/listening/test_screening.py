"""Rules of screening against what their sources say, and what a panel with bad raters keeps."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from itertools import combinations_with_replacement
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev

import numpy as np
import pytest
from listening_tests import pairs, session
from scipy import stats

from auditeval.listening import design, export, headphones, results, screening
from auditeval.listening.results import Results
from auditeval.listening.screening import bt500_rejected
from auditeval.listening.session import Session
from auditeval.listening.votes_database import Rater, Trial, Vote
from auditeval.types import AXES, UserError


def by_the_recommendation(table: list[list[float]]) -> list[int]:
    """BT.500, Annex 1: the formulas as they stand there, one number after the other."""
    observers, presentations = len(table), len(table[0])
    p, q = [0] * observers, [0] * observers
    for j in range(presentations):
        scores = [row[j] for row in table]
        mean, s = fmean(scores), stdev(scores)
        m2, m4 = (sum((u - mean) ** x for u in scores) / observers for x in (2, 4))
        if m2 == 0:
            continue
        times = 2 if 2 <= m4 / m2**2 <= 4 else sqrt(20)
        for i, u in enumerate(scores):
            p[i] += u >= mean + times * s
            q[i] += u <= mean - times * s
    return [
        i
        for i in range(observers)
        if (p[i] + q[i]) / presentations > 0.05 and abs((p[i] - q[i]) / (p[i] + q[i])) < 0.3
    ]


def test_bt500_is_the_recommendations() -> None:
    rng = np.random.default_rng(0)
    rejected = 0
    for _ in range(30):
        table = np.clip(rng.normal(3, 0.4, (20, 30)), 1, 5)
        wild = rng.integers(20)
        table[wild] = np.where(
            rng.random(30) < rng.uniform(0, 0.5), rng.choice([1, 5], 30), table[wild]
        )
        expected = by_the_recommendation(table.tolist())
        assert bt500_rejected(table) == expected
        rejected += len(expected)
    assert rejected > 5


def test_bt500_leaves_a_severe_observer_who_is_steady() -> None:
    rng = np.random.default_rng(1)
    table = np.clip(rng.normal(4, 0.3, (20, 30)), 1, 5)
    table[3] -= 2.5
    assert bt500_rejected(table) == []


def test_bt500_of_almost_nothing() -> None:
    assert bt500_rejected(np.full((3, 4), 2.0)) == []
    assert bt500_rejected(np.array([[1.0, np.nan], [np.nan, 2.0]])) == []
    assert bt500_rejected(np.empty((0, 3))) == []


@pytest.mark.parametrize("votes", [2, 3, 4, 5, 6, 7])
def test_bt500_finds_nobody_among_fewer_than_seven(votes: int) -> None:
    """Whatever the grades are, on two pairs that are each other's mirror."""
    given = [np.array(grades) for grades in combinations_with_replacement(range(1, 6), votes)]
    found = any(bt500_rejected(np.stack([grades, 6 - grades], axis=1)) for grades in given)
    assert found == (votes >= screening.BT500_VOTES)


def panel(folder: Path, careless: int | None = None, **settings: object) -> tuple[Session, Results]:
    """Six raters on 20 pairs whose true grades rise; one of them may give what comes to mind."""
    test = session(folder, pairs(folder, 20), raters=6, raters_per_pair=6, block=10, **settings)
    for rater in test.database.raters():
        rng = np.random.default_rng(rater.number)
        test.database.note_rater(rater, "consented", 1.0)
        while trials := design.next_block(test.database, test.settings, rater):
            for trial in trials:
                vote(test, rater, trial, rng, rater.number == careless)
    return test, results.read(test.database)


def vote(
    test: Session, rater: Rater, trial: Trial, rng: np.random.Generator, careless: bool
) -> None:
    known = design.FORMS[trial.form]
    true = 1.5 + 3 * trial.pair / 19
    grades = {
        a: known.get(a, float(np.clip(np.rint(true + rng.normal(0, 0.4)), 1, 5))) for a in AXES
    }
    if careless:
        grades = {axis: float(rng.integers(1, 6)) for axis in AXES}
    test.database.vote(
        Vote(trial.number, **grades, cannot=None, comment="", at=time.time(), seconds=20.0)
    )


SHARES = {"attention_share": 0.3, "repeat_share": 0.3}


def test_an_attentive_panel_loses_nobody(tmp_path: Path) -> None:
    _, found = panel(tmp_path, **SHARES)
    assert screening.suspicious(found) == {}
    assert set(map(len, screening.screen(found, screening.RULES).values())) == {0}


def test_who_gives_what_comes_to_mind_is_found(tmp_path: Path) -> None:
    _, found = panel(tmp_path, careless=4, **SHARES)
    said = screening.suspicious(found)
    assert set(said) == {"r04"}
    rules = {line.split(":")[0] for line in said["r04"]}
    assert {"p808-gold", "repeats"} <= rules


def test_screening_is_undone_by_another_export(tmp_path: Path) -> None:
    test, found = panel(tmp_path, careless=4, **SHARES)
    before = test.database.votes()
    left_out = screening.screen(found, ["p808"])["p808-gold"]
    kept = export.to_pairs(found, "A test", left_out)
    whole = export.to_pairs(found, "A test")
    assert test.database.votes() == before
    assert all(len(pair.raters["quality"]) == 6 for pair in whole)
    assert sum(len(p.raters["quality"]) for p in kept) == 120 - len(left_out) < 120
    assert {r for p in kept for r in p.raters["quality"]} >= {"r01", "r02", "r03", "r05", "r06"}
    assert {pair.listening_test for pair in whole} == {"A test"}
    for pair in whole:
        assert pair.ratings["relevance"] == pytest.approx(fmean(pair.raters["relevance"].values()))  # type: ignore[union-attr]


def test_a_rater_who_always_says_the_same(tmp_path: Path) -> None:
    test = session(tmp_path, pairs(tmp_path, 4), raters=2, raters_per_pair=2, block=4)
    for rater, grades in zip(test.database.raters(), ([3, 3, 3, 3], [1, 5, 2, 4]), strict=True):
        for trial, grade in zip(
            design.next_block(test.database, test.settings, rater), grades, strict=True
        ):
            same = dict.fromkeys(AXES, float(grade))
            test.database.vote(
                Vote(trial.number, **same, cannot=None, comment="", at=1.0, seconds=1.0)
            )
    found = results.read(test.database)
    left_out = screening.screen(found, ["p808-variance"])["p808-variance"]
    assert {found.name(t) for t in found.trials if t.number in left_out} == {"r01"}
    assert len(left_out) == 4


def test_who_gives_the_same_three_grades_agrees_with_nobody(tmp_path: Path) -> None:
    """A rater of 4, 2, 5 on every page: unequal grades, so that their variance says nothing."""
    test, _ = panel(tmp_path)
    with test.database.transaction() as write:
        own = "trial IN (SELECT number FROM trials WHERE rater = 1)"
        write.execute(f"UPDATE votes SET quality = 4, relevance = 2, faithfulness = 5 WHERE {own}")
    found = results.read(test.database)
    left_out = screening.screen(found, ["agreement", "p808-variance"])
    assert left_out["p808-variance"] == {}
    by = {found.name(t) for t in found.trials if t.number in left_out["agreement"]}
    assert by == {"r01"}
    assert set(left_out["agreement"].values()) == {
        "the same grades of all 20 pairs that others rated"
    }
    with test.database.transaction() as write:  # as of edits that nobody tells apart
        write.execute("UPDATE votes SET quality = 4, relevance = 2, faithfulness = 5")
    assert screening.screen(results.read(test.database), ["agreement"]) == {"agreement": {}}


def test_repeats_that_are_a_point_apart_are_no_more(tmp_path: Path) -> None:
    test = session(tmp_path, pairs(tmp_path, 6), raters=1)
    (rater,) = test.database.raters()
    trials = design.next_block(test.database, test.settings, rater)
    once = {t.number: Vote(t.number, 1, 1, 1, None, "", 1.0, 9.0) for t in trials}
    again = [t._replace(number=t.number + 6, kind="repeat") for t in trials]
    sums = [1, 1, 1, 5, 5, 5]  # of the differences on three axes; as thirds their mean is above 1
    twice = {
        t.number: Vote(t.number, 1 + n // 2, 1 + n // 2, 1 + n % 2, None, "", 1.0, 9.0)
        for t, n in zip(again, sums, strict=True)
    }
    found = Results({1: rater}, test.database.pairs, trials + again, once | twice)
    assert found.repeats() == {"r01": pytest.approx([n / 3 for n in sums])}
    assert screening.screen(found, ["repeats"]) == {"repeats": {}}


def test_no_correlation_is_none_however_it_is_rounded(tmp_path: Path) -> None:
    """That of these grades is 0, and computed 1e-17."""
    test = session(tmp_path, pairs(tmp_path, 12), raters=2)
    raters = {rater.number: rater for rater in test.database.raters()}
    (trial, *_) = design.next_block(test.database, test.settings, raters[1])
    grades = [(a, b) for a in (1, 1.5, 2, 2.5) for b in (1, 1.5, 4)]
    trials, votes = [], {}
    for pair, of_pair in enumerate(grades):
        for number, grade in zip(raters, of_pair, strict=True):
            trials.append(trial._replace(number=len(trials), rater=number, pair=pair))
            votes[len(votes)] = Vote(len(votes), grade, grade, grade, None, "", 1.0, 9.0)
    found = Results(raters, test.database.pairs, trials, votes)
    assert len(screening.screen(found, ["agreement"])["agreement"]) == len(trials)


def test_one_vote_has_no_variance(tmp_path: Path) -> None:
    """Three equal grades of a pair say nothing of who gives each pair the same."""
    test = session(tmp_path, pairs(tmp_path, 2), raters=1)
    (rater,) = test.database.raters()
    trials = design.next_block(test.database, test.settings, rater)
    same = {t.number: Vote(t.number, 5, 5, 5, None, "", 1.0, 9.0) for t in trials}
    found = Results({1: rater}, test.database.pairs, trials, same)
    assert len(screening.screen(found, ["p808-variance"])["p808-variance"]) == 2
    left = replace(found, trials=trials[:1])
    assert screening.screen(left, ["p808-variance"]) == {"p808-variance": {}}


def test_outliers_are_those_of_scipys_z_scores(tmp_path: Path) -> None:
    test, _ = panel(tmp_path)
    with test.database.transaction() as write:
        write.execute("UPDATE votes SET quality = 4")
        write.execute("UPDATE votes SET quality = 1 WHERE trial IN (1, 2)")
    found = results.read(test.database)
    left_out = screening.screen(found, ["p808-outliers"])["p808-outliers"]
    expected = set()
    for system in ("zebra-system-0", "zebra-system-1"):
        trials = [t for t, _ in found.of("rating") if found.pairs[t.pair].system == system]
        for axis in AXES:
            z = np.abs(stats.zscore([found.votes[t.number].grades[axis] for t in trials]))
            expected |= {t.number for t, value in zip(trials, z, strict=True) if value >= 3.29}
    assert expected >= {1, 2}
    assert set(left_out) == expected


def test_failed_headphones_are_said(tmp_path: Path) -> None:
    test, _ = panel(tmp_path)
    rater = test.database.raters()[1]
    check = headphones.new([1, 2, 0])
    test.database.note_rater(rater, "headphones", json.dumps(check.model_dump()))
    left_out = screening.screen(results.read(test.database), ["headphones"])["headphones"]
    assert len(left_out) == 20
    assert set(left_out.values()) == {"headphone check: 2 of 6 at best"}


def test_a_rule_that_there_is_not() -> None:
    with pytest.raises(UserError, match="no such rule; there are p808, p808-gold"):
        screening.named(["p808", "feeling"])
    assert screening.named(["p808", "bt500", "p808-gold"]) == [
        *("p808-gold", "p808-variance", "p808-outliers", "bt500")
    ]
