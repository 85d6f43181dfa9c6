"""Laws of splits: a partition of the rows in which no group stands on two sides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auditeval.audio import AudioError
from auditeval.data import splits
from auditeval.data.splits import Fold, SplitBy
from auditeval.types import EditPair, UserError


def pair(index: int, original: str, **fields: Any) -> EditPair:
    return EditPair(
        id=str(index),
        original=original,
        edited=f"e{index}.wav",
        original_caption="Rain.",
        target_caption="Rain, with a bell.",
        **fields,
    )


def many(rows: int = 300, seed: int = 0, originals: int = 200) -> list[EditPair]:
    """Rows of 200 originals, 12 talkers and 8 systems, crossed at random."""
    rng = np.random.default_rng(seed)
    return [
        pair(
            i,
            f"o{rng.integers(originals)}.wav",
            talker=f"t{rng.integers(12)}",
            system=f"s{rng.integers(8)}",
        )
        for i in range(rows)
    ]


def assert_honest(fold: Fold, pairs: list[EditPair], by: SplitBy) -> None:
    rows = [*fold.train, *fold.validation, *fold.test]
    assert len(set(rows)) == len(rows)
    for key in (
        lambda p: str(p.original),
        lambda p: str(p.original if by == "original" else getattr(p, by)),
    ):
        sides = [{key(pairs[row]) for row in part} for part in fold[1:]]
        assert not sides[0] & sides[1]
        assert not sides[0] & sides[2]
        assert not sides[1] & sides[2]
    held_out = {str(pairs[row].original) for row in [*fold.validation, *fold.test]}
    left_out = set(range(len(pairs))) - set(rows)
    assert all(str(pairs[row].original) in held_out for row in left_out)
    assert by != "original" or not left_out


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("by", ["original", "talker", "system"])
def test_holdout_parts_the_groups(by: SplitBy, seed: int) -> None:
    pairs = many(seed=seed)
    (fold,) = splits.holdout(pairs, by=by, seed=seed)
    assert_honest(fold, pairs, by)
    assert fold.train
    assert fold.validation
    assert fold.test


@pytest.mark.parametrize(("test_share", "validation_share"), [(0.1, 0.1), (0.25, 0.5), (0.01, 0.0)])
def test_holdout_takes_its_shares_of_the_groups(test_share: float, validation_share: float) -> None:
    pairs = many(2000, originals=40)
    (fold,) = splits.holdout(pairs, test_share=test_share, validation_share=validation_share)
    originals = [len({pairs[row].original for row in part}) for part in fold[1:]]
    assert originals[2] == max(1, 40 * test_share)
    assert originals[1] == 40 * validation_share


@pytest.mark.parametrize("seed", range(5))
def test_originals_that_nobody_rated_are_not_held_out(seed: int) -> None:
    rated: dict[str, Any] = {"ratings": {"quality": 3.0}}
    pairs = [pair(i, f"o{i}.wav", **(rated if i % 10 == 0 else {})) for i in range(100)]
    (fold,) = splits.holdout(pairs, test_share=0.3, validation_share=0.2, seed=seed)
    assert [len(part) for part in fold[1:]] == [95, 2, 3]
    assert all(row % 10 == 0 for row in fold.validation + fold.test)


def test_a_group_that_nobody_rated_is_not_left_out() -> None:
    rated: dict[str, Any] = {"ratings": {"quality": 3.0}}
    pairs = [pair(i, f"o{i % 4}.wav", **(rated if i % 4 else {})) for i in range(12)]
    folds = splits.leave_one_out(pairs, by="original")
    assert [fold.test for fold in folds] == [[1, 5, 9], [2, 6, 10], [3, 7, 11]]
    assert all({0, 4, 8} <= {*fold.train} for fold in folds)


def test_two_originals_are_enough_without_a_validation_part() -> None:
    (fold,) = splits.holdout([pair(i, f"o{i % 2}.wav") for i in range(8)], validation_share=0)
    assert [len(part) for part in fold[1:]] == [4, 0, 4]


def test_the_order_of_the_rows_changes_no_side() -> None:
    pairs = many()
    order = np.random.default_rng(1).permutation(len(pairs))
    (fold,) = splits.holdout(pairs)
    (turned,) = splits.holdout([pairs[i] for i in order])
    for part, again in zip(fold[1:], turned[1:], strict=True):
        assert {pairs[row].id for row in part} == {pairs[order[row]].id for row in again}


def test_another_seed_makes_another_split_and_the_same_seed_the_same() -> None:
    pairs = many()
    assert splits.holdout(pairs, seed=1) == splits.holdout(pairs, seed=1)
    assert len({tuple(splits.holdout(pairs, seed=seed)[0].test) for seed in range(6)}) > 3


@pytest.mark.parametrize("seed", range(10))
def test_pairs_of_one_source_stay_together_whatever_their_original(seed: int) -> None:
    pairs = [pair(i, f"o{i}.wav", source=f"scene{i // 4}") for i in range(40)]
    (fold,) = splits.holdout(pairs, seed=seed)
    for part in fold[1:]:
        assert len(part) % 4 == 0


@pytest.mark.parametrize("seed", range(10))
def test_one_file_under_two_spellings_or_with_half_its_sources_is_one_original(seed: int) -> None:
    names = ["d/o{}.wav", "d/x/../o{}.wav", "./d/o{}.wav"]
    pairs = [pair(i, names[i % 3].format(i // 3)) for i in range(30)]
    pairs[0] = pairs[0].model_copy(update={"source": "scene0"})
    (fold,) = splits.holdout(pairs, seed=seed)
    sides = {row: side for side, part in enumerate(fold[1:]) for row in part}
    assert all(len({sides[3 * k + j] for j in range(3)}) == 1 for k in range(10))


@pytest.mark.parametrize("seed", range(10))
def test_an_edit_its_way_back_and_its_second_turn_are_of_one_original(seed: int) -> None:
    """Both clips of a pair are heard in training: none of them may be half of a tested one."""
    turns = [("a{}.wav", "b{}.wav"), ("x/../b{}.wav", "a{}.wav"), ("b{}.wav", "c{}.wav")]
    pairs = [
        pair(3 * number + turn, original.format(number)).model_copy(
            update={"edited": Path(edited.format(number))}
        )
        for number in range(20)
        for turn, (original, edited) in enumerate(turns)
    ]
    (fold,) = splits.holdout(pairs, seed=seed)
    for part in fold[1:]:
        assert len(part) % 3 == 0
    torn = Fold("published", [0], [], [1, 2, 3])
    assert splits.leaking(torn, pairs, {}) == [1, 2]


def test_a_clip_that_many_edits_became_joins_no_originals() -> None:
    """A system that gives one file of silence for all it cannot do."""
    pairs = [pair(i, f"o{i}.wav").model_copy(update={"edited": Path("e.wav")}) for i in range(30)]
    assert len(set(splits.groups(pairs))) == 30


@pytest.mark.parametrize("validation_share", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("by", ["original", "talker", "system"])
def test_leave_one_out_tests_every_row_once(by: SplitBy, validation_share: float) -> None:
    pairs = many()
    folds = splits.leave_one_out(pairs, by=by, validation_share=validation_share)
    for fold in folds:
        assert_honest(fold, pairs, by)
        assert len({splits.groups(pairs, by=by)[row] for row in fold.test}) == 1
        assert bool(fold.validation) == (validation_share > 0)
    assert sorted(row for fold in folds for row in fold.test) == list(range(len(pairs)))
    assert len({fold.name for fold in folds}) == len(folds)


def published(sides: str) -> list[EditPair]:
    """A row per letter: t(rain), v(alidation), e (test), - (none); each has its own original."""
    names = {"t": "train", "v": "validation", "e": "test", "-": None}
    return [pair(i, f"o{i}.wav", split=names[side]) for i, side in enumerate(sides)]


def test_a_published_split_is_kept() -> None:
    (fold,) = splits.holdout(published("ttvetvet"))
    assert fold == Fold("published", [0, 1, 4, 7], [2, 5], [3, 6])


@pytest.mark.parametrize("seed", range(5))
def test_a_published_split_without_validation_draws_it_from_train(seed: int) -> None:
    (fold,) = splits.holdout(published("t" * 20 + "e" * 5), validation_share=0.2, seed=seed)
    assert fold.test == [20, 21, 22, 23, 24]
    assert len(fold.validation) == 4
    assert sorted([*fold.train, *fold.validation]) == list(range(20))


@pytest.mark.parametrize("share", [0.001, 0.0])
def test_no_validation_part_is_drawn_for_a_share_of_0(share: float) -> None:
    """A small share is one group at least."""
    for pairs in (published("t" * 20 + "e" * 5), many(originals=40)):
        (fold,) = splits.holdout(pairs, validation_share=share)
        held = {pairs[row].original for row in fold.validation}
        assert len(held) == (1 if share else 0)
        assert len(fold.train) + len(fold.validation) + len(fold.test) == len(pairs)
    (kept,) = splits.holdout(published("ttvet"), validation_share=0.0)
    assert kept.validation == [2]  # a published part is kept


REFUSED = {
    "two groups": (lambda: splits.holdout([pair(i, f"o{i % 2}.wav") for i in range(9)]), "need 3"),
    "one talker": (
        lambda: splits.leave_one_out([pair(i, "o.wav", talker="t") for i in range(9)]),
        "leaving one talker out needs more than 1",
    ),
    "no talker": (
        lambda: splits.leave_one_out([pair(0, "o.wav", talker="t"), pair(1, "p.wav")]),
        "pair '1' has no talker",
    ),
    "no system": (
        lambda: splits.holdout([pair(0, "o.wav")], by="system"),
        "pair '0' has no system",
    ),
    "half a split": (lambda: splits.holdout(published("te-t")), "pair '2' has no split"),
    "no test": (lambda: splits.holdout(published("ttv")), "none of its pairs is in `test`"),
    "no train": (lambda: splits.holdout(published("eev")), "none of its pairs is in `train`"),
    "all for testing": (
        lambda: splits.holdout([pair(i, f"o{i}.wav") for i in range(10)], test_share=0.95),
        "no pair is left to train on",
    ),
    "more than all": (
        lambda: splits.holdout(many(), test_share=2),
        "data.split.test_share 2: expected a number from 0 to below 1",
    ),
    "none": (
        lambda: splits.holdout(many(), test_share=0),
        "test_share 0: expected more",
    ),
    "less than none": (lambda: splits.holdout(many(), test_share=-1), "test_share -1: expected a"),
    "a letter": (lambda: splits.holdout(many(), test_share="a"), "test_share 'a': expected a num"),  # type: ignore[arg-type]
    "people never": (lambda: splits.beside_people(many(), times=0), "data.split.times 0: expected"),
    "rated never": (lambda: splits.adaptation(many(), times=-1), "data.split.times -1: expected"),
    "half a fold": (
        lambda: splits.adaptation([*published("ttt"), *many()], folds=2.5, by="original"),  # type: ignore[arg-type]
        "data.split.folds 2.5: expected a whole number above 1",
    ),
    "no folds": (
        lambda: splits.adaptation([*published("ttt"), *many()], folds=0, by="original"),
        "data.split.folds 0: expected a whole number above 1",
    ),
    "all to validate": (
        lambda: splits.leave_one_out(many(), validation_share=1),
        "data.split.validation_share 1: expected",
    ),
    "no number": (
        lambda: splits.adaptation(many(), validation_share=float("nan")),
        "data.split.validation_share nan: expected",
    ),
}


@pytest.mark.parametrize(("call", "said"), REFUSED.values(), ids=REFUSED)
def test_a_split_that_cannot_be_is_refused_with_its_reason(call: Any, said: str) -> None:
    with pytest.raises(UserError) as caught:
        call()
    assert said in str(caught.value)


def test_systems_that_edited_the_same_clips_only_cannot_be_told_apart_honestly() -> None:
    pairs = [pair(i, f"o{i % 3}.wav", system=f"s{i // 3}") for i in range(12)]
    with pytest.raises(UserError, match="every original stands"):
        splits.holdout(pairs, by="system")


def test_a_validation_part_drawn_of_a_published_split_shares_no_original(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Where systems are kept apart, who edited the same clips would stand on both sides."""
    pairs = [
        pair(10 * row + clip, f"{clip}.wav", system=system, split="train")
        for row, (system, clips) in enumerate({"a": 4, "b": 2, "c": 2}.items())
        for clip in range(clips)
    ]
    pairs += [pair(99, "t.wav", system="d", split="test")]
    (fold,) = splits.holdout(pairs, by="system", seed=3)
    originals = [{pairs[row].original for row in part} for part in fold[1:3]]
    assert originals[0]
    assert originals[1]
    assert originals[0].isdisjoint(originals[1])
    assert "share an original with a held-out part and are left out" in caplog.text
    alike = [one.model_copy(update={"original": Path("0.wav")}) for one in pairs[:-1]]
    with pytest.raises(UserError, match="no pair is left to train on"):
        splits.holdout([*alike, pairs[-1]], by="system")


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_a_torn_published_split_still_has_its_validation_part(share: float) -> None:
    pairs = [
        pair.model_copy(update={"split": "test" if row % 5 == 0 else "train"})
        for row, pair in enumerate(many(60, originals=12))
    ]
    (fold,) = splits.holdout(pairs, validation_share=share)
    assert fold.test == [row for row, pair in enumerate(pairs) if pair.split == "test"]
    assert sorted(fold.train + fold.validation) == sorted(set(range(60)) - set(fold.test))
    assert bool(fold.validation) == bool(share)
    trained = {pairs[row].original for row in (*fold.train, *fold.validation)}
    torn = [row for row in fold.test if pairs[row].original in trained]
    assert splits.leaking(fold, pairs, {}) == torn
    assert torn
    sides = [{pairs[row].original for row in part} for part in (fold.train, fold.validation)]
    assert not sides[0] & sides[1]


@pytest.mark.parametrize("by", ["original", "talker", "system"])
def test_copies_of_an_original_are_one_original(by: SplitBy) -> None:
    """Systems whose folders each have a copy of every original, as exports of studies have them."""
    named = [(f"s{system}", f"o{number}.wav") for system in range(4) for number in range(30)]
    pairs = [
        pair(row, f"{system}/{name}", system=system, talker="t0" if row > 109 else f"t{row % 5}")
        for row, (system, name) in enumerate(named)
    ]
    contents = {made.original: name for made, (_, name) in zip(pairs, named, strict=True)}
    if by == "system":  # all systems edited the same clips: nothing would be left to train on
        with pytest.raises(UserError, match="every original stands"):
            splits.holdout(pairs, contents, by)
        return
    (drawn,) = splits.holdout(pairs, contents, by, test_share=0.3, validation_share=0.2)
    for fold in (drawn, *splits.leave_one_out(pairs, contents, by, validation_share=0.2)):
        sides = [{contents[pairs[row].original] for row in part} for part in fold[1:]]
        assert not sides[0] & sides[1]
        assert not sides[2] & (sides[0] | sides[1])
        assert splits.leaking(fold, pairs, contents) == []
    (blind,) = splits.holdout(pairs, by=by, test_share=0.3, validation_share=0.2)
    assert splits.leaking(blind, pairs, {}) == []
    assert splits.leaking(blind, pairs, contents)  # what the files' names alone do not tell


def test_a_group_goes_by_the_name_it_had_without_contents() -> None:
    pairs = many(60)
    contents = {made.original: f"sound of {made.original}" for made in pairs}
    contents[pairs[0].original] = AudioError("cannot be decoded")
    assert splits.groups(pairs, contents) == splits.groups(pairs)


@pytest.mark.parametrize("name", ["/clips/o.wav", "../../o", "a/b", "..", ".", "a\nb", "é" * 101])
def test_a_fold_whose_group_is_no_name_of_a_folder_goes_by_its_number(name: str) -> None:
    """It is a folder of the run: a path would lead out of it, into the user's clips."""
    rows = [pair(i, f"o{i}.wav", talker="é" * 100 if i % 2 else name) for i in range(8)]
    folds = splits.leave_one_out(rows, by="talker")
    assert sorted(fold.name for fold in folds) == ["fold1", "fold2"]
    beside = [pair(8 + i, f"p{i}.wav", split="train") for i in range(4)]
    folds = splits.adaptation([*rows, *beside], by="talker")
    assert [fold.name for fold in folds] == ["fold1", "fold2"]
    named = [row.model_copy(update={"talker": f"t {i % 2}"}) for i, row in enumerate(rows)]
    assert [fold.name for fold in splits.leave_one_out(named, by="talker")] == ["t 0", "t 1"]


def test_splitting_by_something_else_is_refused() -> None:
    with pytest.raises(UserError, match="split by 'weather': expected one of original, talker"):
        splits.holdout(many(), by="weather")  # type: ignore[arg-type]


def test_people_whose_original_is_held_out_do_not_train(caplog: pytest.LogCaptureFixture) -> None:
    simulated = [pair(i, f"o{i}.wav") for i in range(40)]
    people = [pair(40 + i, f"o{i}.wav", listening_test="p835") for i in range(40)]
    (alone,) = splits.holdout(simulated, test_share=0.15, validation_share=0.15)
    (fold,) = splits.beside_people([*simulated, *people], times=2)
    assert (fold.test, fold.validation) == (alone.test, alone.validation)
    assert sorted(fold.train) == sorted([*alone.train, *2 * [40 + row for row in alone.train]])
    assert "holdout: 12 rows share an original with a held-out part" in caplog.text
