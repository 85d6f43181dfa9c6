"""How a test stands: the same numbers as independent packages and `describe` say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from listening_tests import RaterClient, pairs, session
from test_screening import panel

from auditeval import manifest
from auditeval.listening import design, export, overview
from auditeval.listening.results import Results
from auditeval.listening.votes_database import Vote
from auditeval.metrics.raters import reliability
from auditeval.types import AXES, Undefined


def test_agreement_is_that_of_krippendorffs_package(tmp_path: Path) -> None:
    test, found = panel(tmp_path, careless=2)
    made = overview.of(test.database, test.settings)
    (table,) = [table for table in made.tables if table.title == "Agreement so far"]
    for axis, votes in found.panels().items():
        data = np.array([[votes[pair][f"r{n:02d}"] for pair in votes] for n in range(1, 7)])
        expected = krippendorff.alpha(data, level_of_measurement="interval")
        assert table.row("alpha interval")[axis].value == pytest.approx(expected)
        assert table.row("ICC(2,1)")[axis].value == pytest.approx(icc(data.T))


def icc(table: np.ndarray) -> float:
    """ICC(2,1) of Shrout and Fleiss by the sums of squares of a two-way analysis of variance."""
    n, k = table.shape
    total = np.square(table - table.mean()).sum()
    rows = k * np.square(table.mean(axis=1) - table.mean()).sum()
    columns = n * np.square(table.mean(axis=0) - table.mean()).sum()
    bms, jms = rows / (n - 1), columns / (k - 1)
    ems = (total - rows - columns) / ((n - 1) * (k - 1))
    return float((bms - ems) / (bms + (k - 1) * ems + k * (jms - ems) / n))


def test_progress_ranking_and_suspects(tmp_path: Path) -> None:
    test, found = panel(tmp_path, careless=2, attention_share=0.3, repeat_share=0.3)
    made = overview.of(test.database, test.settings)
    assert (made.done, made.wanted, made.settled, made.pairs) == (120, 120, 20, 20)
    assert set(made.suspicious) == {"r02"}
    assert set(made.ranking) == {"zebra-system-0", "zebra-system-1"}
    for system, ranks in made.ranking.items():
        for axis, rank in ranks.items():
            votes = [
                np.mean([*by.values()])
                for pair, by in found.panels()[axis].items()
                if found.pairs[pair].system == system
            ]
            assert rank.mean == pytest.approx(np.mean(votes))
            low, high = rank.interval  # type: ignore[misc]
            assert low < rank.mean < high


def test_the_ranking_is_the_same_in_whatever_order_pairs_and_votes_stand(tmp_path: Path) -> None:
    _, found = panel(tmp_path)
    last = len(found.pairs) - 1
    turned = Results(
        found.raters,
        {last - number: found.pairs[number] for number in reversed(found.pairs)},
        [trial._replace(pair=last - trial.pair) for trial in reversed(found.trials)],
        found.votes,
    )
    one, other = (overview.ranking(given, given.panels()) for given in (found, turned))
    assert [*one.items()] == [*other.items()]


def test_agreement_is_the_same_in_whatever_order_votes_came_in(tmp_path: Path) -> None:
    _, found = panel(tmp_path)
    turned = replace(found, trials=found.trials[::-1])
    one, other = (
        [(pair, [*votes.items()]) for by in given.panels().values() for pair, votes in by.items()]
        for given in (found, turned)
    )
    assert one == other


def test_a_system_of_few_pairs_has_no_interval(tmp_path: Path) -> None:
    """Over two pairs it would hold their system's mean in half of all cases."""
    test = session(tmp_path, pairs(tmp_path, 6), raters=1)
    (rater,) = test.database.raters()
    for trial in design.next_block(test.database, test.settings, rater):
        test.database.vote(Vote(trial.number, 3, 3, 3, None, "", at=1.0, seconds=9.0))
    for ranks in overview.of(test.database, test.settings).ranking.values():
        for rank in ranks.values():
            few = f"{rank.pairs} pairs; an interval over pairs needs 5"
            assert (rank.mean, rank.interval) == (3, Undefined(few))


def test_who_cannot_judge_gives_no_vote(tmp_path: Path) -> None:
    test = session(tmp_path, pairs(tmp_path, 2), raters=1)
    (rater,) = test.database.raters()
    one, other = design.next_block(test.database, test.settings, rater)
    test.database.vote(Vote(one.number, 3, 3, 3, None, "", at=1.0, seconds=9.0))
    test.database.vote(Vote(other.number, None, None, None, "unclear", "", at=1.0, seconds=9.0))
    made = overview.of(test.database, test.settings)
    (table,) = [table for table in made.tables if table.title == "Raters"]
    assert (made.done, table.row("r01")["votes"], table.row("r01")["cannot judge"]) == (1, 1, 1)


def test_the_admins_page_counts_who_has_finished_since_the_last_vote(tmp_path: Path) -> None:
    test, _ = panel(tmp_path)
    client = RaterClient(test)
    address = f"/admin/{test.database.fact('admin')}"
    assert "By the 0 raters who have finished" in client.http.get(address).text
    test.database.note_rater(client.rater, "finished", 1.0)
    assert "By the 1 rater who has finished" in client.http.get(address).text


def test_comments_are_on_what_was_heard_of_the_pair(tmp_path: Path) -> None:
    shares = {"attention_share": 0.5, "repeat_share": 0.5}
    test = session(tmp_path, pairs(tmp_path, 4), raters=1, training=True, **shares)
    (rater,) = test.database.raters()
    for _ in ("training", "a block"):
        for trial in design.next_block(test.database, test.settings, rater):
            vote = Vote(trial.number, 3, 3, 3, None, trial.kind, at=1.0, seconds=9.0)
            test.database.vote(vote)
    given = {trial.kind for trial in test.database.all_trials()}
    assert given == {"training", "attention", "rating", "repeat"}
    made = overview.of(test.database, test.settings)
    assert sorted(said for _, _, said in made.comments) == 4 * ["rating"] + 2 * ["repeat"]


def test_exported_votes_agree_as_the_overview_said(tmp_path: Path) -> None:
    """What `describe` will say of the file is what was seen while the votes came in."""
    test, found = panel(tmp_path)
    manifest.write(export.to_pairs(found, test.settings.title), tmp_path / "rated.jsonl")
    rated = manifest.read(tmp_path / "rated.jsonl")
    made = overview.of(test.database, test.settings)
    (table,) = [table for table in made.tables if table.title == "Agreement so far"]
    for axis in AXES:
        votes, systems = [p.raters[axis] for p in rated], [p.system for p in rated]
        for name, value in reliability(votes, systems, resamples=0).items():
            assert table.row(name)[axis].value == pytest.approx(value.value)
    assert all(pair.original.is_file() and pair.edited.is_file() for pair in rated)
