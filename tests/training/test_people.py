"""Ratings of people beside simulated ones: what is kept of them, what is the model's business."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from auditeval import manifest
from auditeval.data import splits
from auditeval.data.combining import with_people
from auditeval.training.people import on_one_scale
from auditeval.types import EditPair, UserError

NAN = float("nan")


def pair(id: str, test: str | None, source: str) -> EditPair:
    return EditPair(
        **{"id": id, "original": f"{source}.wav", "edited": f"{id}.wav", "source": source},
        original_caption="a", target_caption="a", listening_test=test,
    )  # fmt: skip


def of_quality(values: list[float]) -> torch.Tensor:
    return torch.tensor([[value, NAN, NAN] for value in values])


PAIRS = [
    *(pair(f"s{i}", None, f"scene{i}") for i in range(3)),
    *(pair(f"a{i}", "mushra", f"clip{i // 3}") for i in range(6)),
    *(pair(f"b{i}", "choices", "song") for i in range(3)),
]
SAID = of_quality([5.0, 3.0, 1.0, *(1.0, 2.0, 3.0), *(3.0, 4.0, 5.0), *(1.0, 1.0, 4.0)])
PREDICTED = of_quality([4.0, 4.0, 4.0, *(3.5, 4.0, 4.5), *(3.2, 3.7, 4.2), *(2.0, 2.1, 2.2)])


def test_of_a_clip_the_order_is_the_raters_and_the_mean_is_the_models() -> None:
    made = on_one_scale(PAIRS, SAID, PREDICTED)
    for clip in (slice(3, 6), slice(6, 9), slice(9, 12)):
        torch.testing.assert_close(made[clip, 0].mean(), PREDICTED[clip, 0].mean())
        assert ((made[clip, 0].diff() > 0) == (SAID[clip, 0].diff() > 0)).all()
    # Raters two clips apart on their scale are not so on the model's: how high a clip is, is its.
    torch.testing.assert_close(made[3:6, 0], torch.tensor([3.5, 4.0, 4.5]))
    torch.testing.assert_close(made[6:9, 0], torch.tensor([3.2, 3.7, 4.2]))
    # A test's spread is shrunk by half at the most: predictions that hardly differ flatten nothing.
    torch.testing.assert_close(made[9:12, 0].diff(), torch.tensor([0.0, 1.5]), atol=0.01, rtol=0)


def test_simulated_ratings_and_what_nobody_rated_stay_as_they_are() -> None:
    made = on_one_scale(PAIRS, SAID, PREDICTED)
    torch.testing.assert_close(made[:3, 0], SAID[:3, 0])
    assert made[:, 1:].isnan().all()


def test_of_two_scales_that_differ_in_offset_alone_the_same_is_learnt() -> None:
    lower = SAID.clone()
    lower[6:9] -= 0.7
    torch.testing.assert_close(
        on_one_scale(PAIRS, lower, PREDICTED), on_one_scale(PAIRS, SAID, PREDICTED), equal_nan=True
    )


def test_people_always_train_and_each_so_many_times() -> None:
    many = [pair(f"s{i}", None, f"scene{i}") for i in range(40)] + PAIRS[3:]
    (fold,) = splits.beside_people(many, test_share=0.2, validation_share=0.2, times=3)
    (alone,) = splits.holdout(many[:40], test_share=0.2, validation_share=0.2)
    assert (fold.test, fold.validation) == (alone.test, alone.validation)
    assert sorted(fold.train) == sorted([*alone.train, *3 * [*range(40, len(many))]])


def test_listening_tests_are_named_and_those_without_a_folder_left_out(
    tmp_path: Path, shared_data: Path
) -> None:
    manifest.write(PAIRS[:3], tmp_path / "simulated.jsonl")
    tests = {"p835": shared_data / "p835", "mushra-codecs": None}
    made = with_people(tmp_path / "simulated.jsonl", tests, tmp_path / "all.jsonl")
    pairs = manifest.read(made)
    assert [pair.id for pair in pairs[:3]] == ["s0", "s1", "s2"]
    assert {pair.listening_test for pair in pairs[:3]} == {None}
    assert {pair.listening_test for pair in pairs[3:]} == {"p835"}
    assert len(pairs) == 3 + 104
    assert all(pair.id.startswith("p835/") and pair.original.exists() for pair in pairs[3:])


def test_a_manifest_is_a_listening_test_too(tmp_path: Path) -> None:
    manifest.write(PAIRS[:3], tmp_path / "simulated.jsonl")
    rated = [x.model_copy(update={"ratings": {"quality": 3.0}}) for x in PAIRS[3:5]]
    named = rated[0].model_copy(update={"listening_test": "ours", "split": "test"})
    bare = rated[1].model_copy(update={"listening_test": None})
    manifest.write([named, bare], tmp_path / "own.jsonl")
    tests = {"manifest": tmp_path / "own.jsonl"}
    made = manifest.read(with_people(tmp_path / "simulated.jsonl", tests, tmp_path / "all.jsonl"))
    assert [pair.id for pair in made[3:]] == [f"manifest/{pair.id}" for pair in PAIRS[3:5]]
    assert [pair.listening_test for pair in made[3:]] == ["ours", "manifest"]
    assert {pair.split for pair in made[3:]} == {None}
    manifest.write([bare.model_copy(update={"ratings": {}})], tmp_path / "none.jsonl")
    tests = {"manifest": tmp_path / "none.jsonl"}
    with pytest.raises(UserError, match="no pair has ratings"):
        with_people(tmp_path / "simulated.jsonl", tests, tmp_path / "all.jsonl")


def test_an_unknown_layout_is_a_sentence(tmp_path: Path) -> None:
    manifest.write(PAIRS[:3], tmp_path / "simulated.jsonl")
    with pytest.raises(UserError, match=r"data\.people: 'mos' is none of auditscore, .*p835"):
        with_people(tmp_path / "simulated.jsonl", {"mos": tmp_path}, tmp_path / "all.jsonl")
