"""Which trials raters get: balanced, none twice, as many as asked for, with what was planned."""

from __future__ import annotations

import json
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from listening_tests import RaterClient, pairs, session

from auditeval import scores_table, storage
from auditeval.listening import design, serving
from auditeval.listening.session import Session
from auditeval.listening.settings import Settings
from auditeval.listening.votes_database import Rater, Trial, Vote
from auditeval.storage import objects
from auditeval.types import AXES, EditPair, Scores, UserError


@pytest.mark.parametrize("items", range(2, 12))
def test_a_williams_square_balances_places_and_neighbours(items: int) -> None:
    rows = design.williams(items)
    assert len(rows) == items * (1 if items % 2 == 0 else 2)
    times = len(rows) // items
    for place in range(items):
        assert Counter(row[place] for row in rows) == dict.fromkeys(range(items), times)
    before = Counter(pair for row in rows for pair in pairwise(row))
    assert set(before.values()) == {times}
    assert len(before) == items * (items - 1)


def test_blocks_hold_all_pairs_and_spread_the_systems(tmp_path: Path) -> None:
    given = pairs(tmp_path, 21)
    found = design.blocks(given, 10, seed=3)
    assert sorted(Counter(found).values()) == [7, 7, 7]
    for block in range(3):
        systems = Counter(p.system for p, b in zip(given, found, strict=True) if b == block)
        assert max(systems.values()) - min(systems.values()) <= 1
    assert design.blocks(given, 10, seed=3) == found != design.blocks(given, 10, seed=4)


def vote_all(test: Session, rater: Rater, grade: float = 3.0) -> list[Trial]:
    """Everything that a rater is given, voted on; their trials."""
    test.database.note_rater(rater, "consented", 1.0)
    while True:
        known = next(r for r in test.database.raters() if r.number == rater.number)
        step = test.step(known)
        if step.page == "thanks":
            return test.database.trials(rater)
        assert step.trial is not None
        if step.page == "explained":
            test.database.note_trial(step.trial, "seen", 1.0)
            continue
        grades = dict.fromkeys(AXES, grade)
        at = time.time()
        test.database.vote(
            Vote(step.trial.number, **grades, cannot=None, comment="", at=at, seconds=60.0)
        )


@pytest.mark.parametrize("order", ["williams", "random"])
@pytest.mark.parametrize("select", ["balanced", "random", "uncertain"])
def test_every_pair_gets_its_votes_from_different_raters(
    tmp_path: Path, order: str, select: str
) -> None:
    if order == "williams" and select != "balanced":
        with pytest.raises(ValueError, match="fixed blocks"):
            Settings.model_validate({"order": order, "select": select})
        return
    settings: dict[str, Any] = {"raters_per_pair": 3, "block": 4, "order": order}
    test = session(tmp_path, pairs(tmp_path, 10), raters=4, select=select, **settings)
    given: Counter[int] = Counter()
    for rater in test.database.raters():
        trials = vote_all(test, rater)
        rated = [trial.pair for trial in trials if trial.kind == "rating"]
        assert len(set(rated)) == len(rated)
        given.update(rated)
    assert given == dict.fromkeys(range(10), 3)


def test_raters_of_a_block_get_the_rows_of_its_square(tmp_path: Path) -> None:
    test = session(tmp_path, pairs(tmp_path, 4), raters=4, raters_per_pair=4, block=4)
    orders = [[t.pair for t in vote_all(test, rater)] for rater in test.database.raters()]
    for place in range(4):
        assert sorted(order[place] for order in orders) == [0, 1, 2, 3]
    assert len({pair for order in orders for pair in pairwise(order)}) == 12


@pytest.mark.parametrize("raters", [2, 3, 5])
def test_no_system_has_the_early_places(tmp_path: Path, raters: int) -> None:
    """A manifest that goes system by system, and fewer raters than rows."""
    given = [
        pair.model_copy(update={"system": "AB"[number >= 30]})
        for number, pair in enumerate(pairs(tmp_path, 60))
    ]
    test = session(tmp_path, given, raters=raters, raters_per_pair=raters)
    places: dict[str | None, list[int]] = {}
    for rater in test.database.raters():
        for trial in vote_all(test, rater):
            places.setdefault(given[trial.pair].system, []).append(trial.position % 10)
    means = [sum(found) / len(found) for found in places.values()]
    assert abs(means[0] - means[1]) < 1


def test_who_comes_while_others_hold_all_places_may_come_again(tmp_path: Path) -> None:
    """Nobody is thanked for nothing, nor practises for it."""
    test = session(
        tmp_path, pairs(tmp_path, 4), raters=3, raters_per_pair=1, block=4, training=True
    )
    first, second, third = (RaterClient(test, number).consent() for number in range(3))
    assert "Practice" in first.page()
    for trial in design.next_block(test.database, test.settings, first.rater):
        test.database.note_trial(trial, "shown", 1.0)
    assert "open your link again" in second.page()
    assert test.database.trials(second.rater) == []
    with test.database.transaction() as write:
        write.execute("UPDATE trials SET given = given - 25 * 3600")
    assert "Practice" in second.page()
    vote_all(test, second.rater)
    assert "That was all" in second.page()
    # All pairs have their votes: there will be nothing for who has not begun.
    assert "That was all" in third.page()


def test_places_that_are_held_are_not_given_away_until_they_are_left(tmp_path: Path) -> None:
    test = session(tmp_path, pairs(tmp_path, 4), raters=3, raters_per_pair=1, block=4)
    first, second, third = test.database.raters()
    for rater in (first, second):
        test.database.note_rater(rater, "consented", 1.0)
    assert len(design.next_block(test.database, test.settings, first)) == 4
    assert design.next_block(test.database, test.settings, second) == []
    with test.database.transaction() as write:
        write.execute("UPDATE trials SET given = given - 25 * 3600")
    assert len(design.next_block(test.database, test.settings, third)) == 4


def test_raters_who_begin_together_share_the_pairs(tmp_path: Path) -> None:
    """Nobody has voted when the last of them is given a block."""
    test = session(tmp_path, pairs(tmp_path, 12), raters=6, block=4, order="random")
    given: Counter[int] = Counter()
    for rater in test.database.raters():
        given.update(t.pair for t in design.next_block(test.database, test.settings, rater))
    assert given == dict.fromkeys(range(12), 2)


def test_who_has_finished_holds_no_places(tmp_path: Path) -> None:
    """By time, in the middle of a block."""
    limits = {"block": 4, "raters_per_pair": 1, "most_minutes": 1.5}
    test = session(tmp_path, pairs(tmp_path, 4), raters=2, **limits)
    for rater in test.database.raters():
        vote_all(test, rater)
        assert len(test.database.votes(rater)) == 2


def test_who_cannot_judge_leaves_the_place_to_another(tmp_path: Path) -> None:
    test = session(tmp_path, pairs(tmp_path, 2), raters=2, raters_per_pair=1, block=2)
    first, second = test.database.raters()
    for trial in design.next_block(test.database, test.settings, first):
        none = dict.fromkeys(AXES)
        test.database.vote(
            Vote(trial.number, **none, cannot="unclear", comment="", at=1.0, seconds=1.0)
        )
    assert design.next_block(test.database, test.settings, first) == []
    assert len(design.next_block(test.database, test.settings, second)) == 2


def test_shares_of_repeats_and_attention_items(tmp_path: Path) -> None:
    shares = {"attention_share": 0.2, "repeat_share": 0.1}
    test = session(tmp_path, pairs(tmp_path, 40), raters=8, raters_per_pair=8, block=10, **shares)
    kinds: Counter[str] = Counter()
    for rater in test.database.raters():
        trials = vote_all(test, rater)
        kinds.update(trial.kind for trial in trials)
        rated = {trial.pair: trial.position for trial in trials if trial.kind == "rating"}
        repeats = [trial for trial in trials if trial.kind == "repeat"]
        assert all(rated[trial.pair] < trial.position for trial in repeats)
        assert len({trial.pair for trial in repeats}) == len(repeats)
    assert kinds == {"rating": 320, "attention": 64, "repeat": 32}


def wrong_ones(folder: Path, given: list[EditPair]) -> list[Trial]:
    """The trials of six raters whose instruction is another pair's: there are some."""
    test = session(folder, given, raters=6, attention_share=0.5, block=6, raters_per_pair=6)
    voted = [trial for rater in test.database.raters() for trial in vote_all(test, rater)]
    wrong = [trial for trial in voted if trial.form == "wrong"]
    assert wrong
    return wrong


def test_a_wrong_instruction_has_little_in_common_with_the_pair(tmp_path: Path) -> None:
    given = pairs(tmp_path, 6)
    words = ["Rain.", "A bell rings.", "Rain and wind.", "People talk.", "A car.", "Rain, a bell."]
    given = [
        p.model_copy(update={"original_caption": w, "target_caption": w})
        for p, w in zip(given, words, strict=True)
    ]
    for trial in wrong_ones(tmp_path, given):
        assert trial.other is not None
        asked, own = (set(design.words(words[n])) for n in (trial.other, trial.pair))
        assert 2 * len(asked & own) < len(asked)


def test_an_instruction_alone_is_what_a_wrong_one_is_compared_by(tmp_path: Path) -> None:
    """Who hears what was asked for and says so has not missed a known answer."""
    asked = ["Add a dog.", "Make it louder."]
    given = [
        p.model_copy(update={"target_caption": "", "instruction": asked[n % 2]})
        for n, p in enumerate(pairs(tmp_path, 6))
    ]
    for trial in wrong_ones(tmp_path, given):
        assert trial.other is not None
        assert asked[trial.other % 2] != asked[trial.pair % 2]


def test_training_comes_first_and_is_explained(tmp_path: Path) -> None:
    test = session(tmp_path, pairs(tmp_path), training=True)
    trials = vote_all(test, test.database.raters()[0])
    assert [trial.form for trial in trials[:3]] == ["identity", "noise", "ignored"]
    assert all(trial.seen is not None for trial in trials[:3])
    assert {trial.kind for trial in trials[3:]} == {"rating"}


@pytest.mark.parametrize(("limit", "most"), [({"most_trials": 5}, 5), ({"most_minutes": 5.5}, 6)])
def test_a_rater_is_given_no_more_than_was_said(
    tmp_path: Path, limit: dict[str, Any], most: int
) -> None:
    test = session(tmp_path, pairs(tmp_path, 12), block=4, **limit)
    rater = test.database.raters()[0]
    vote_all(test, rater)
    assert len(test.database.votes(rater)) == most  # of a minute each


@pytest.mark.parametrize("most", [1, 4, 10])
def test_repeats_and_attention_items_are_of_the_most_trials(tmp_path: Path, most: int) -> None:
    shares = {"attention_share": 0.3, "repeat_share": 0.3, "raters_per_pair": 12}
    test = session(tmp_path, pairs(tmp_path, 12), raters=12, block=4, most_trials=most, **shares)
    counts = [len(vote_all(test, rater)) for rater in test.database.raters()]
    assert max(counts) == most
    assert min(counts) >= 1


@pytest.mark.parametrize("order", ["williams", "random"])
def test_the_same_seed_makes_the_same_design(tmp_path: Path, order: str) -> None:
    found = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        test = session(
            tmp_path / name, pairs(tmp_path, 12), block=4, attention_share=0.3, order=order
        )
        trials = [t for rater in test.database.raters() for t in vote_all(test, rater)]
        found.append(json.dumps([[t.rater, t.kind, t.form, t.pair, t.other] for t in trials]))
    assert found[0] == found[1]


def test_the_intervals_of_an_evaluator_reach_the_selection(tmp_path: Path) -> None:
    given = pairs(tmp_path, 3)
    ends = {"quality": (2.0, 4.0), "relevance": (1.0, 5.0), "faithfulness": (3.0, 3.5)}
    rows = [Scores(pair.id, 3.0, 3.0, 3.2, intervals=ends) for pair in given[:2]]
    scores_table.write(rows, tmp_path / "scores.csv")
    settings = Settings.model_validate({"select": "uncertain"})
    path = tmp_path / "votes.db"
    database = serving.made_or_opened(path, given, settings, tmp_path / "scores.csv")
    first, _, third = design.standing(database, [0, 1, 2])
    assert first.low is not None
    assert first.high is not None
    assert first.low.tolist() == [2.0, 1.0, 3.0]
    assert first.high.tolist() == [4.0, 5.0, 3.5]
    assert third.low is None
    scores_table.write([Scores("another", 3.0, 3.0, 3.2)], tmp_path / "others.csv")
    with pytest.raises(UserError, match=r"others\.csv: has no row with intervals of a pair"):
        serving.made_or_opened(tmp_path / "new.db", given, settings, tmp_path / "others.csv")

    # Taken up again, a test keeps its intervals: others would be heard by nobody.
    database.close()
    for scores in (None, tmp_path / "scores.csv"):
        serving.made_or_opened(path, given, settings, scores).close()
    scores_table.write(rows[1:], tmp_path / "fewer.csv")
    with pytest.raises(UserError, match=r"other intervals than .*fewer\.csv .*: zebra-id-0\)"):
        serving.made_or_opened(path, given, settings, tmp_path / "fewer.csv")
    with pytest.raises(UserError, match=r"scores\.csv: is weighed by --select uncertain alone"):
        serving.made_or_opened(path, given, Settings(), tmp_path / "scores.csv")


def test_a_ranking_of_systems_needs_systems(tmp_path: Path) -> None:
    given = [pair.model_copy(update={"system": None}) for pair in pairs(tmp_path)]
    settings = Settings.model_validate({"select": "uncertain"})
    with pytest.raises(UserError, match="names no system; --goal ranking is about systems"):
        serving.made_or_opened(tmp_path / "votes.db", given, settings, None)


def test_a_test_does_not_go_on_without_a_clip(tmp_path: Path) -> None:
    """Its rater would wait for ever."""
    given = pairs(tmp_path)
    session(tmp_path, given).database.close()
    given[2].edited.unlink()
    with pytest.raises(UserError, match=r"pair 'zebra-id-2': .*: no such file"):
        session(tmp_path, given)


def test_clips_may_be_named_by_url(tmp_path: Path) -> None:
    given = pairs(tmp_path, 2)
    urls = []
    for pair in given:
        clips = {
            side: storage.path(f"memory://{tmp_path.name}/{getattr(pair, side).name}")
            for side in ("original", "edited")
        }
        for side, url in clips.items():
            objects.write(str(url), getattr(pair, side).read_bytes())
        urls.append(pair.model_copy(update=clips))
    session(tmp_path, urls).database.close()
    client = RaterClient(session(tmp_path, urls)).consent()
    assert client.vote(client.listen()).status_code == 303
