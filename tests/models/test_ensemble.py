"""Ensembles: unlike members averaged by kind, kept on the scale, with intervals that cover."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor
from sklearn.linear_model import Ridge

from auditeval import checkpoint
from auditeval.features.encoder import Encoder
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.features.pair import PairFeatures
from auditeval.models.ensemble import KINDS, EnsembleRegressor
from auditeval.training.ensemble import fit_members
from auditeval.types import AXES, UserError

ENCODER = Encoder([Spectrum()])
INPUTS = ENCODER.inputs.model_copy(update={"evidence": ("x", "y")})
ESTIMATORS = {
    "ridge": Ridge(alpha=1.0),
    "extra_trees": ExtraTreesRegressor(12, min_samples_leaf=3),
    "boosting": GradientBoostingRegressor(n_estimators=15, max_depth=2),
}


def draw(size: int, seed: int) -> tuple[PairFeatures, torch.Tensor]:
    """Features of pairs, and ratings that are surer for some of them than for others."""
    rng = torch.Generator().manual_seed(seed)
    dims = (INPUTS.audio, 0, INPUTS.audio, 0, 0, 0, len(INPUTS.alignment), len(INPUTS.evidence))
    batch = PairFeatures(*(torch.randn(size, dim, generator=rng) for dim in dims))
    x = batch.alignment
    noise = (0.1 + 0.4 * (x[:, 3:4] > 0)) * torch.randn(size, 3, generator=rng)
    clean = torch.stack([3 + x[:, 0], 3 - x[:, 1].abs(), 2 + x[:, 2] * x[:, 0]], dim=1)
    clean[:, 1] += batch.evidence[:, 0]
    return batch, (clean + noise).clamp(1, 5)


def make(**changes: Any) -> EnsembleRegressor:
    torch.manual_seed(11)
    small = {"inputs": INPUTS, "hidden": [8], "members": 3}
    return EnsembleRegressor(**{**small, **changes}).eval()


def fitted(**changes: Any) -> EnsembleRegressor:
    model = make(**changes)
    batch, ratings = draw(300, 1)
    model.fit_scales(batch, ratings)
    fit_members(model, batch, ratings, ESTIMATORS, seed=3)
    return model


@pytest.fixture(scope="module")
def calibrated() -> EnsembleRegressor:
    model = fitted()
    model.calibrate(draw(300, 1)[0], *draw(200, 2), torch.arange(200))
    return model


def test_every_member_is_what_scikit_learn_fitted(calibrated: EnsembleRegressor) -> None:
    train, ratings = draw(300, 1)
    batch, _ = draw(50, 4)
    inputs, seen = calibrated.inputs(batch), calibrated.inputs(train)
    members = calibrated.forward_members(batch)
    assert members.shape == (3 + 3, 50, 3)
    for place, kind in enumerate(KINDS[:3]):
        for index, axis in enumerate(AXES):
            estimator = ESTIMATORS[kind].set_params(random_state=3)
            estimator.fit(seen[axis].numpy(), ratings[:, index].numpy())
            wanted = estimator.predict(inputs[axis].numpy()).clip(1, 5)
            np.testing.assert_allclose(members[place, :, index].detach(), wanted, atol=2e-6)


def test_each_kind_counts_the_same(calibrated: EnsembleRegressor) -> None:
    batch, _ = draw(50, 4)
    ridge, forest, boosting, *mlps = calibrated.forward_members(batch)
    assert len(mlps) == 3
    wanted = (ridge + forest + boosting + sum(mlps) / 3) / 4
    assert torch.allclose(calibrated(batch), wanted, atol=1e-6)
    for kind, member in zip(KINDS, (ridge, forest, boosting), strict=False):
        assert torch.allclose(fitted(kinds=[kind])(batch), member)


def test_no_member_leaves_the_scale(calibrated: EnsembleRegressor) -> None:
    batch, _ = draw(50, 4)
    far = batch._replace(alignment=1e6 * batch.alignment)
    members = calibrated.forward_members(far)
    assert members.min() >= 1
    assert members.max() <= 5


def test_it_looks_at_what_frames_tell_alone(calibrated: EnsembleRegressor) -> None:
    batch, _ = draw(50, 4)
    nothing = torch.empty(50, 0)
    bare = PairFeatures(*(nothing,) * 6, batch.alignment, batch.evidence)
    scores = calibrated(batch)
    assert torch.equal(calibrated(bare), scores)
    moved = calibrated(batch._replace(alignment=batch.alignment.flip(0))) != scores
    assert moved.any(dim=0).all()
    moved = calibrated(batch._replace(evidence=batch.evidence.flip(0))) != scores
    assert moved.any(dim=0).tolist() == [False, True, False]  # relevance alone


def test_a_pair_is_rated_as_it_is_alone(calibrated: EnsembleRegressor) -> None:
    batch, _ = draw(64, 4)
    for size in (1, 7):
        parts = [PairFeatures(*part) for part in zip(*(x.split(size) for x in batch), strict=True)]
        for rate in (calibrated, calibrated.intervals):
            found = torch.cat([rate(part) for part in parts])
            assert torch.equal(found, rate(batch))


def test_a_checkpoint_gives_the_same_scores(calibrated: EnsembleRegressor, tmp_path: Path) -> None:
    checkpoint.save(tmp_path / "ensemble", calibrated, ENCODER, {})
    loaded = checkpoint.load(tmp_path / "ensemble").model
    batch, _ = draw(50, 4)
    assert isinstance(loaded, EnsembleRegressor)
    assert torch.equal(loaded(batch), calibrated(batch))
    assert torch.equal(loaded.intervals(batch), calibrated.intervals(batch))


@pytest.mark.parametrize(
    ("argument", "value", "said"),
    [
        ("trees", {}, r"cannot be loaded as weights \(.*size mismatch for fitted\.boosting"),
        ("trees", {"boosting": 3}, "cannot be made with its arguments"),
        ("kinds", ["ridge"], r"cannot be loaded as weights"),
        (
            "kinds",
            ["oracle"],
            "kinds .*expected some of ridge, extra_trees, boosting, mlp",
        ),
        ("kinds", ["ridge", "ridge"], "each once"),
        ("kinds", [], "expected some of"),
        ("members", 0, "expected at least one MLP"),
        ("inputs", {"audio": 640}, "the encoder keeps none"),
        ("level", 1.0, "expected a share between 0 and 1"),
    ],
)
def test_arguments_that_do_not_fit_are_a_sentence(
    calibrated: EnsembleRegressor, tmp_path: Path, argument: str, value: Any, said: str
) -> None:
    folder = tmp_path / "ensemble"
    checkpoint.save(folder, calibrated, ENCODER, {})
    config = json.loads((folder / checkpoint.CONFIG).read_text())
    config["model"]["arguments"][argument] = value
    (folder / checkpoint.CONFIG).write_text(json.dumps(config))
    with pytest.raises(UserError, match=said) as caught:
        checkpoint.load(folder)
    assert "\n" not in str(caught.value)


def test_intervals_cover_nine_of_ten_exchangeable_ratings() -> None:
    """Mean of 300 calibrations with 60 pairs: at least .9, and at most .9 + 1 / 61."""
    model = fitted(kinds=["ridge", "boosting"])
    train, pool = draw(300, 1)[0], draw(6000, 9)
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(300):
        rows = rng.permutation(6000)[:160]
        part, rest = rows[:60], rows[60:]
        some = PairFeatures(*(x[part] for x in pool[0]))
        model.calibrate(train, some, pool[1][part], torch.arange(60))
        found = model.intervals(PairFeatures(*(x[rest] for x in pool[0])))
        low, high = found.unbind(2)
        covered.append(((low <= pool[1][rest]) & (pool[1][rest] <= high)).float().mean(dim=0))
    share = torch.stack(covered).mean(dim=0)
    assert (share > 0.89).all(), share
    assert (share < 0.925).all(), share


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_of_the_calibration_pairs_the_level_lies_inside(level: float) -> None:
    """Exactly the ceil((n + 1) level) nearest of them, on each axis; 99 of them were rated."""
    model = fitted(kinds=["ridge", "boosting"], level=level)
    (train, _), (batch, ratings) = draw(300, 1), draw(100, 2)
    ratings[::100] = float("nan")
    model.calibrate(train, batch, ratings, torch.arange(100))
    low, high = model.intervals(batch).double().unbind(2)
    inside = (low - 1e-6 <= ratings) & (ratings <= high + 1e-6)
    assert inside.sum(dim=0).tolist() == [round(100 * level)] * 3


def test_intervals_lie_on_the_scale_around_the_score(calibrated: EnsembleRegressor) -> None:
    batch, _ = draw(300, 4)
    low, high = calibrated.intervals(batch).unbind(2)
    score = calibrated(batch)
    assert low.min() == 1  # some reach an end, or clipping would not be tried
    assert high.max() == 5
    assert (low <= score).all()
    assert (score <= high).all()
    assert (high - low).std(dim=0).min() > 0.01  # surer of some than of others


def test_too_few_pairs_to_calibrate_give_no_interval() -> None:
    model = fitted(kinds=["ridge"])
    (train, _), (batch, ratings) = draw(300, 1), draw(9, 2)
    assert model.intervals(batch) is None
    model.calibrate(train, PairFeatures(*(x[:8] for x in batch)), ratings[:8], torch.arange(8))
    assert model.intervals(batch) is None
    model.calibrate(train, batch, ratings, torch.arange(9).clamp(max=7))  # edits of eight clips
    assert model.intervals(batch) is None
    ratings[2, 1] = float("nan")  # eight votes on relevance, nine on the others
    model.calibrate(train, batch, ratings, torch.arange(9))
    found = model.intervals(batch)
    assert torch.equal(found[:, 1], torch.tensor([1.0, 5.0]).expand(9, 2))
    low, high = found[:, ::2].unbind(2)
    assert (low <= ratings[:, ::2]).all()  # of nine residuals the largest
    assert (ratings[:, ::2] <= high).all()
    assert (high - low < 4).any()


def test_numbers_of_removals_count_only_where_something_is_to_go() -> None:
    """A ridge fitted where they tell all must not see them where nothing was to go."""
    inputs = INPUTS.model_copy(update={"text": 1, "alignment": ("spectrum.x", "parts.y")})
    rng = torch.Generator().manual_seed(5)
    shape = {"original_audio": INPUTS.audio, "edited_audio": INPUTS.audio}
    features = {
        **{name: torch.zeros(200, size) for name, size in shape.items()},
        **{name: torch.zeros(200, 1) for name in ("original_text", "target_text", "added_text")},
        "removed_text": (torch.arange(200) % 2).float()[:, None],
        "alignment": torch.randn(200, 2, generator=rng),
        "evidence": torch.zeros(200, 2),
    }
    batch = PairFeatures(**features)
    ratings = (3 + 0.5 * batch.alignment[:, 1:]).clamp(1, 5).expand(-1, 3)
    told = {}
    for name, of_removals in (("all", ()), ("some", ("parts",))):
        model = make(inputs=inputs, kinds=["ridge"], by_removal=True, of_removals=of_removals)
        model.fit_scales(batch, ratings)
        fit_members(model, batch, ratings, ESTIMATORS, seed=3)
        told[name] = model.eval()(batch)[:, 0]
    moved = batch._replace(alignment=batch.alignment + torch.tensor([0.0, 3.0]))
    kept, gone = slice(0, None, 2), slice(1, None, 2)
    change = (model(moved)[:, 0] - told["some"]).abs()
    assert change[kept].max() < 1e-6 < 0.5 < change[gone].median()
    assert (told["all"] - ratings[:, 0]).abs().max() < 0.1


def test_what_an_axis_is_deaf_to_moves_the_others_alone() -> None:
    batch, _ = draw(50, 4)
    moved = batch._replace(alignment=batch.alignment + torch.eye(len(INPUTS.alignment))[0])
    name = INPUTS.alignment[0]
    for deaf, heard in (
        ({}, [True, True, True]),
        ({"quality": [name]}, [False, True, True]),
        ({"faithfulness": ["spectrum"]}, [True, True, False]),
    ):
        model = fitted(deaf=deaf)
        changed = (model(moved) - model(batch)).abs().amax(dim=0) > 0.01
        assert changed.tolist() == heard
    with pytest.raises(ValueError, match="deaf: the encoder has no nought"):
        make(deaf={"quality": [name, "nought"]})
    with pytest.raises(ValueError, match="deaf: expected quality or faithfulness, not relevance"):
        make(deaf={"relevance": [name]})


def test_evidence_that_an_axis_hears_moves_it_where_something_was_asked_for() -> None:
    inputs = INPUTS.model_copy(update={"text": 1})
    batch = PairFeatures.random(inputs, 60)
    batch.added_text[:], batch.removed_text[:] = 0, 0
    batch.removed_text[20:] = 1
    ratings = (3 + 0.5 * batch.alignment[:, [0]] + 0.5 * batch.evidence[:, [0]]).expand(-1, 3)
    moved = batch._replace(evidence=batch.evidence + torch.eye(2)[0])
    for hears, faithfulness in (({}, [False, False]), ({"faithfulness": ["x"]}, [False, True])):
        model = make(inputs=inputs, kinds=["ridge"], hears=hears)
        model.fit_scales(batch, ratings)
        fit_members(model, batch, ratings, ESTIMATORS, seed=3)
        changed = (model.fitted_mean(moved) - model.fitted_mean(batch)).abs() > 0.01
        assert not changed[:, 0].any()
        assert changed[:, 1].any()
        assert [changed[:20, 2].any().item(), changed[20:, 2].all().item()] == faithfulness
    with pytest.raises(ValueError, match="hears: the encoder has no nought"):
        make(hears={"quality": ["x", "nought"]})
    with pytest.raises(ValueError, match="hears: expected quality or faithfulness, not relevance"):
        make(hears={"relevance": ["x"]})


def test_framewise_numbers_count_for_quality_only_as_far_as_a_clip_is_the_original() -> None:
    numbers = ("spectrum.x", "regeneration.regenerated", "regeneration.z")
    inputs = INPUTS.model_copy(update={"alignment": numbers})
    batch = PairFeatures.random(inputs, 60)
    batch.alignment[:, 1] = torch.arange(60) % 3 / 2  # the original, half of it, anew
    ratings = (2 + batch.alignment[:, [0]] + batch.alignment[:, [2]]).expand(-1, 3)
    model = make(inputs=inputs, kinds=["ridge"], framewise=["spectrum"])
    model.fit_scales(batch, ratings)
    fit_members(model, batch, ratings, ESTIMATORS, seed=3)
    for place, quality in ((0, [1.0, 0.5, 0.0]), (2, [1.0, 1.0, 1.0])):
        moved = batch._replace(alignment=batch.alignment + 0.1 * torch.eye(3)[place])
        change = (model.fitted_mean(moved) - model.fitted_mean(batch))[:, [0, 2]]
        whole = change[0].abs()
        assert (whole > 0.01).all()
        for kind in range(3):
            found = change[kind::3].abs() / whole
            assert torch.allclose(found, torch.tensor([quality[kind], 1.0]), atol=0.02)
    with pytest.raises(ValueError, match="the encoder has no regeneration"):
        make(framewise=["spectrum"])


def test_where_a_change_is_asked_for_other_numbers_count_and_events_do_not() -> None:
    inputs = INPUTS.model_copy(update={"text": 1, "evidence": ("events.x", "changes.told")})
    batch = PairFeatures.random(inputs, 60)
    batch.added_text[:], batch.removed_text[:] = 1, 0
    model = make(inputs=inputs, by_change=True)
    model.fit_scales(batch, torch.full((60, 3), 3.0))
    seen = {}
    for told in (0.0, 1.0):
        evidence = torch.stack([batch.evidence[:, 0], torch.full((60,), told)], dim=1)
        seen[told] = model.inputs(batch._replace(evidence=evidence))
    size = len(inputs.alignment)
    for axis in AXES:
        plain, change = seen[0.0][axis], seen[1.0][axis]
        evidence = 2 if axis == "relevance" else 1  # all of it, or that of changes
        of_changes = slice(-size - evidence, -evidence)
        assert torch.equal(plain[:, :size], change[:, of_changes])
        assert not plain[:, of_changes].any()
        assert not change[:, : 2 * size].any()
    assert seen[0.0]["relevance"][:, -2].std() > 0.5
    assert not seen[1.0]["relevance"][:, -2].any()


def test_together_an_axis_sees_the_same_numbers_whatever_was_asked_for() -> None:
    inputs = INPUTS.model_copy(
        update={
            **{"text": 1, "evidence": ("events.x", "changes.told")},
            "alignment": ("spectrum.x", "spectrum.y", "parts.z"),
        }
    )
    batch = PairFeatures.random(inputs, 60)
    batch.added_text[:], batch.removed_text[:] = 0, 0
    batch.added_text[20:] = batch.removed_text[40:] = 1
    batch.evidence[:, 1] = torch.arange(60) % 2
    of_removals = {"by_removal": True, "by_change": True, "of_removals": ["parts"]}
    model = make(
        inputs=inputs, together=["quality"], deaf={"quality": ["spectrum.y"]}, **of_removals
    )
    model.fit_scales(batch, torch.full((60, 3), 3.0))
    found, scaled = model.inputs(batch), model.scale_alignment(batch.alignment)
    new, gone = batch.added_text, batch.removed_text
    told = model.scale_evidence(batch.evidence)[:, 1:]
    wanted = torch.cat([scaled[:, :1], scaled[:, 2:] * gone, new, gone, told], dim=1)
    torch.testing.assert_close(found["quality"], wanted)
    apart = make(inputs=inputs, **of_removals)
    apart.fit_scales(batch, torch.full((60, 3), 3.0))
    for axis in ("relevance", "faithfulness"):
        assert torch.equal(found[axis], apart.inputs(batch)[axis])
    with pytest.raises(ValueError, match=r"together: expected some of quality, .*, not loudness"):
        make(together=["quality", "loudness"])


def test_relevance_of_what_no_word_asks_for_is_the_same_for_all_sounds_and_unknown() -> None:
    """Of edits whose words ask for nothing, of a change that is understood, and of a new sound."""
    inputs = INPUTS.model_copy(update={"text": 1, "evidence": ("events.x", "changes.told")})
    kind = torch.arange(300) % 3
    nothing, change, new = (kind == number for number in range(3))
    batch = PairFeatures.random(inputs, 300)
    batch.added_text[:, 0], batch.removed_text[:] = new.float(), 0
    batch.evidence[:, 1] = change.float()
    ratings = (1 + 4 * batch.alignment[:, :1]).expand(-1, 3)
    model = make(inputs=inputs, by_change=True)
    model.fit_scales(batch, ratings)
    fit_members(model, batch, ratings, ESTIMATORS, seed=3)
    model.eval().calibrate(batch, batch, ratings, torch.arange(300))
    score, intervals = model.with_intervals(batch)
    relevance = AXES.index("relevance")
    assert score[nothing, relevance].std() < 1e-6
    assert torch.equal(
        intervals[nothing, relevance], torch.tensor([1.0, 5.0]).expand(int(nothing.sum()), 2)
    )
    for asked in (change, new):
        assert score[asked, relevance].std() > 0.2
        assert (intervals[asked, relevance].diff(dim=1) < 3).all()
    others = [place for place in range(len(AXES)) if place != relevance]
    assert (score[nothing][:, others].std(dim=0) > 0.2).all()


def test_intervals_reach_as_far_beyond_as_listening_tests_differ(
    calibrated: EnsembleRegressor,
) -> None:
    batch, _ = draw(50, 9)
    narrow = calibrated.intervals(batch)
    calibrated.arguments["test_bias"] = 0.4
    wide = calibrated.intervals(batch)
    calibrated.arguments["test_bias"] = 0.0
    assert narrow is not None
    assert wide is not None
    expected = torch.stack([narrow[..., 0] - 0.4, narrow[..., 1] + 0.4], dim=-1).clamp(1, 5)
    inside = (narrow > 1) & (narrow < 5)  # what was cut off at an end of the scale is not known
    torch.testing.assert_close(wide[inside], expected[inside])


@pytest.mark.parametrize("bias", [-0.1, 4.5])
def test_a_bias_beyond_the_scale_is_refused(bias: float) -> None:
    with pytest.raises(ValueError, match="expected points of the scale"):
        make(test_bias=bias)
