"""The three-head regressors: independence of the axes, masking, what they see, what they save."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import nn

from auditeval.features.pair import Inputs, PairFeatures
from auditeval.models import MODELS
from auditeval.models.mlp import Linear
from auditeval.models.standardise import Standardise
from auditeval.models.three_head import (
    ConcatRegressor,
    PairwiseRegressor,
    Regressor,
)
from auditeval.training.module import masked_mse
from auditeval.types import AXES

NAN = float("nan")


INPUTS = Inputs(audio=7, text=5, joint=(3,), alignment=tuple("abcd"), evidence=tuple("xyz"))
WORDLESS = INPUTS.model_copy(update={"text": 0, "joint": ()})


def make(kind: str, **changes: Any) -> Regressor:
    torch.manual_seed(11)
    model = MODELS[kind](**{"inputs": INPUTS, "hidden": [24, 12], "dropout": 0.0, **changes})
    return model.eval()


def batch(size: int = 8, text_dim: int = 5, seed: int = 0) -> PairFeatures:
    rng = torch.Generator().manual_seed(seed)
    dims = (7, text_dim, 7, text_dim, text_dim, text_dim, 4, 3)
    return PairFeatures(*(torch.randn(size, dim, generator=rng) for dim in dims))


def masked(predicted: torch.Tensor, rated: torch.Tensor) -> dict[str, torch.Tensor]:
    """Loss of each axis that was rated."""
    losses = {axis: masked_mse(predicted[:, :, i], rated[:, i]) for i, axis in enumerate(AXES)}
    return {axis: loss for axis, loss in losses.items() if loss is not None}


def auxiliary(
    model: Regressor, pairs: PairFeatures, rated: torch.Tensor
) -> dict[str, torch.Tensor]:
    found = {axis: model.learn(model.inputs(pairs), axis, rated)[1] for axis in AXES}
    return {axis: loss for axis, loss in found.items() if loss is not None}


def swapped(pairs: PairFeatures) -> PairFeatures:
    return pairs._replace(original_audio=pairs.edited_audio, edited_audio=pairs.original_audio)


KINDS = pytest.mark.parametrize("kind", ["concat", "pairwise"])


@KINDS
@pytest.mark.parametrize("unrated", range(3))
def test_an_unrated_axis_gets_no_gradient_and_the_others_theirs(kind: str, unrated: int) -> None:
    model, pairs = make(kind), batch()
    rated = torch.rand(8, 3) * 4 + 1
    whole = masked(model.forward_members(pairs), rated)
    holes = rated.clone()
    holes[:, unrated] = NAN
    losses = masked(model.forward_members(pairs), holes)
    assert set(losses) == set(AXES) - {AXES[unrated]}
    torch.stack(list(losses.values())).sum().backward()
    for index, axis in enumerate(AXES):
        gradients = [p.grad for p in model.heads[axis].parameters() if p.grad is not None]
        if index == unrated:
            assert not any(g.any() for g in gradients)
        else:
            assert all(g.isfinite().all() for g in gradients)
            assert any(g.any() for g in gradients)
            assert torch.equal(losses[axis], whole[axis])


@KINDS
def test_an_unrated_pair_counts_for_nothing(kind: str) -> None:
    """Loss and gradient are those of the rated rows alone, whatever stands in the others."""
    model, pairs = make(kind), batch()
    rated = torch.rand(8, 3) * 4 + 1
    holes = rated.clone()
    holes[5:, 1] = NAN
    found = masked(model.forward_members(pairs), holes)["relevance"]
    found.backward()
    head = [p for p in model.heads["relevance"].parameters() if p.grad is not None]
    gradients = [p.grad.clone() for p in head]
    assert gradients
    model.zero_grad()
    kept = PairFeatures(*(part[:5] for part in pairs))
    expected = masked(model.forward_members(kept), rated[:5])["relevance"]
    expected.backward()
    assert torch.allclose(found, expected)
    for gradient, parameter in zip(gradients, head, strict=True):
        assert torch.allclose(gradient, parameter.grad, atol=1e-6)


def test_masked_mse_by_hand() -> None:
    predicted = torch.tensor([[[1.0, 2, 3], [4, 5, 9]], [[2.0, 2, 3], [4, 5, 9]]])  # two members
    rated = torch.tensor([[1.0, NAN, NAN], [2, 3, NAN]])
    losses = masked(predicted, rated)
    assert {axis: loss.item() for axis, loss in losses.items()} == {
        "quality": (0 + 4 + 1 + 4) / 4,
        "relevance": 4.0,
    }


@KINDS
@pytest.mark.parametrize("axis", AXES)
def test_training_one_head_leaves_the_others_bitwise(kind: str, axis: str) -> None:
    model, pairs = make(kind), batch()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    scores = model(pairs).detach()
    optimizer = torch.optim.Adam(model.heads[axis].parameters(), lr=0.1)
    masked(model.forward_members(pairs), torch.full((8, 3), 4.0))[axis].backward()
    optimizer.step()
    changed = {n for n, value in model.state_dict().items() if not torch.equal(value, before[n])}
    assert changed
    assert all(name.startswith(f"heads.{axis}.") for name in changed)
    columns = (model(pairs) != scores).any(dim=0).tolist()
    assert dict(zip(AXES, columns, strict=True)) == {other: other == axis for other in AXES}


@KINDS
def test_every_trained_weight_belongs_to_exactly_one_axis(kind: str) -> None:
    model = make(kind, members=2)
    owned = [{id(p) for p in model.heads[axis].parameters()} for axis in AXES]
    assert len(set.union(*owned)) == sum(map(len, owned))
    assert set.union(*owned) == {id(p) for p in model.parameters()}


@KINDS
def test_state_dict_and_arguments_rebuild_the_model(kind: str) -> None:
    model, pairs = make(kind, members=3), batch()
    model.fit_scales(batch(64, seed=5), torch.rand(64, 3) * 4 + 1)
    other = MODELS[kind](**model.arguments).eval()
    assert not torch.equal(other(pairs), model(pairs))
    other.load_state_dict(model.state_dict())
    assert torch.equal(other(pairs), model(pairs))
    assert other.arguments == model.arguments


@KINDS
def test_scores_are_of_the_row_alone(kind: str) -> None:
    model, pairs = make(kind), batch()
    alone = torch.cat([model(PairFeatures(*(part[[i]] for part in pairs))) for i in range(8)])
    assert torch.equal(model(pairs), alone)


@KINDS
def test_swapping_original_and_edited_changes_the_scores(kind: str) -> None:
    model, pairs = make(kind), batch()
    assert (model(pairs) - model(swapped(pairs))).abs().min() > 1e-6


def test_pairwise_sees_words_move_only_as_the_sound_does() -> None:
    """The cosine does not tell which clip came first; products, differences and frames do."""
    model = make("pairwise")
    assert isinstance(model, PairwiseRegressor)
    here, there = (model.similarities(pairs) for pairs in (batch(), swapped(batch())))
    assert torch.allclose(here[:, :2], there[:, :2])
    assert torch.allclose(here[:, 2], -there[:, 2])
    assert torch.allclose(here[:, 3:5], there[:, 5:7])


def test_pairwise_of_rank_zero_sees_only_alignment_and_similarities() -> None:
    model, pairs = make("pairwise", rank=0, inputs=INPUTS.model_copy(update={"joint": ()})), batch()
    louder = pairs._replace(
        original_audio=3 * pairs.original_audio, edited_audio=3 * pairs.edited_audio
    )
    assert torch.allclose(model(pairs), model(louder), atol=1e-6)
    moved = pairs._replace(alignment=pairs.alignment + 1)
    assert (model(pairs) - model(moved)).abs().min() > 1e-6


@KINDS
def test_members_start_apart_and_are_averaged(kind: str) -> None:
    model, pairs = make(kind, members=4), batch()
    members = model.forward_members(pairs)
    assert members.shape == (4, 8, 3)
    for i in range(4):
        for j in range(i):
            assert not torch.allclose(members[i], members[j])
    assert torch.allclose(model(pairs), sum(members) / 4)
    # A member is a model of its own: what is left when the others are taken away.
    for axis in AXES:
        model.heads[axis] = nn.ModuleList([model.heads[axis][2]])
    assert torch.allclose(model(pairs), members[2])


def test_concat_has_the_shapes_of_the_authors_predictor() -> None:
    with torch.device("meta"):
        model = ConcatRegressor(Inputs(audio=512, text=512, joint=(512,)))
    sizes = [2048, 4096, 2048, 512, 128, 32, 1]  # ScorePredictor of the authors' code
    expected = sorted(
        [(512,)] * 8  # LayerNorm weight and bias of four embeddings
        + [(out, into) for into, out in pairwise(sizes)]
        + [(out,) for out in sizes[1:]]
    )
    for axis in AXES:
        assert sorted(tuple(p.shape) for p in model.heads[axis].parameters()) == expected
        kinds = [type(m) for m in model.heads[axis].modules() if not list(m.children())]
        assert kinds == [nn.LayerNorm] * 4 + [
            *(Linear, nn.ReLU, nn.Dropout),
            *(Linear, nn.ReLU) * 4,
            Linear,
        ]


def test_concat_is_layer_norm_join_and_mlp() -> None:
    model, pairs = make("concat"), batch()
    state = model.state_dict()
    scaled = [part.clamp(-Standardise.LIMIT, Standardise.LIMIT) for part in pairs[:4]]
    mean = [part.mean(dim=1, keepdim=True) for part in scaled]
    spread = [part.var(dim=1, keepdim=True, unbiased=False) for part in scaled]
    joined = torch.cat(
        [(x - m) / (v + 1e-5).sqrt() for x, m, v in zip(scaled, mean, spread, strict=True)], dim=1
    )
    for index, axis in enumerate(AXES):
        x = joined
        for layer in (0, 3, 5):  # 1 is ReLU, 2 dropout, 4 ReLU
            name = f"heads.{axis}.0.mlp.{layer}"
            x = x @ state[f"{name}.weight"].T + state[f"{name}.bias"]
            x = x.relu() if layer < 5 else x
        assert torch.allclose(model(pairs)[:, index], x[:, 0] + 3.0, atol=1e-5)


@KINDS
def test_without_a_text_encoder(kind: str) -> None:
    rank = {"rank": 0} if kind == "pairwise" else {}
    model, pairs = make(kind, inputs=WORDLESS, **rank), batch(text_dim=0)
    model.fit_scales(pairs, torch.rand(8, 3) * 4 + 1)
    assert model(pairs).isfinite().all()
    assert auxiliary(model, pairs, torch.full((8, 3), 5.0)) == {}
    moved = pairs._replace(edited_audio=pairs.original_audio)
    assert (model(pairs) - model(moved)).abs().min() > 1e-6


def test_products_of_sound_and_words_need_words() -> None:
    with pytest.raises(ValueError, match="no words"):
        make("pairwise", inputs=WORDLESS)


def info_nce(sound: torch.Tensor, words: torch.Tensor, rows: list[int]) -> float:
    """Minus the log-probability of one's own, both ways, as in van den Oord et al. 2018."""
    total = 0.0
    for i in rows:
        by_words = [float(10 * sound[i] @ words[j]) for j in range(len(words))]
        by_sound = [float(10 * sound[j] @ words[i]) for j in range(len(words))]
        for row in (by_words, by_sound):
            total += math.log(sum(math.exp(x) for x in row)) - row[i]
    return total / (2 * len(rows))


def test_matching_loss_is_that_of_the_well_matched_pairs() -> None:
    model, pairs = make("pairwise", members=2, matching=0.5), batch()
    assert isinstance(model, PairwiseRegressor)
    ratings = torch.full((8, 3), 2.0)
    ratings[[1, 6], 1] = torch.tensor([PairwiseRegressor.WELL_MATCHED, 5.0])
    ratings[4, 1] = NAN
    ratings[:, 0] = 5.0  # quality has no say
    found = auxiliary(model, pairs, ratings)
    assert set(found) == {"relevance"}
    limit = Standardise.LIMIT
    heard, read = (
        after.clamp(-limit, limit) - before.clamp(-limit, limit)
        for before, after in ((pairs.original_audio, pairs.edited_audio),
                              (pairs.removed_text, pairs.added_text))
    )  # fmt: skip
    expected = []
    state = model.state_dict()
    for member in range(2):
        sides = []
        for part, change in (("audio_change", heard), ("text_change", read)):
            name = f"heads.relevance.{member}.{part}"
            projected = change @ state[f"{name}.weight"].T + state[f"{name}.bias"]
            sides.append(projected / projected.norm(dim=1, keepdim=True))
        expected.append(info_nce(*sides, rows=[1, 6]))
    assert found["relevance"].item() == pytest.approx(0.5 * sum(expected) / 2, rel=1e-4)
    found["relevance"].backward()
    for axis in AXES:
        touched = any(p.grad is not None and p.grad.any() for p in model.heads[axis].parameters())
        assert touched == (axis == "relevance")


@KINDS
@pytest.mark.parametrize("rating", [2.0, 5.0])
def test_what_is_learned_is_what_is_rated(kind: str, rating: float) -> None:
    model, pairs = make(kind), batch()
    inputs = model.inputs(pairs)
    for axis in AXES:
        learned, _ = model.learn(inputs, axis, torch.full((8, 3), rating))
        assert torch.equal(learned, model.forward_axis(inputs, axis))


def test_matching_is_learned_from_matched_pairs_only() -> None:
    model, pairs = make("pairwise"), batch()
    assert auxiliary(model, pairs, torch.full((8, 3), 3.9)) == {}
    assert auxiliary(model, pairs, torch.full((8, 3), NAN)) == {}
    assert auxiliary(make("pairwise", matching=0), pairs, torch.full((8, 3), 5.0)) == {}
    assert auxiliary(make("concat"), pairs, torch.full((8, 3), 5.0)) == {}


@KINDS
def test_scales_are_those_of_the_training_part(kind: str) -> None:
    model, pairs = make(kind), batch(200)
    constant = pairs.alignment.clone()
    constant[:, 1] = 2.5
    pairs = pairs._replace(alignment=constant)
    ratings = torch.rand(200, 3) * 4 + 1
    ratings[::2, 1] = NAN
    ratings[:, 2] = NAN
    model.fit_scales(pairs, ratings)
    scaled = [(scale, scale(features)) for scale, features in model.scaled(pairs)]
    for scale, standard in scaled:
        varied = scale.spread.isfinite()
        standard = standard[:, varied]
        assert torch.allclose(standard.mean(dim=0), torch.zeros(varied.sum()), atol=0.02)
        assert torch.allclose(
            standard.std(dim=0, correction=0), torch.ones(varied.sum()), atol=0.02
        )
    if kind == "pairwise":
        assert model.scale_alignment(pairs.alignment)[:, 1].eq(0).all()
    assert torch.allclose(model.target_mean[0], ratings[:, 0].mean())
    assert torch.allclose(model.target_mean[1], ratings[1::2, 1].mean())
    assert torch.allclose(model.target_spread[1], ratings[1::2, 1].std(correction=0))
    assert model.target_mean[2] == 3.0  # nobody rated it: as it was
    assert model.target_spread[2] == 1.0
    assert model.trained.tolist() == [True, True, False]
    kept = {name for name in model.state_dict() if name.startswith("scale_")}
    assert len(kept) == 2 * len(scaled)  # no scale that it never looks at


def test_standardise_bounds_what_training_never_saw() -> None:
    scale = Standardise(2)
    scale.fit(torch.tensor([[0.0, 7.0], [2.0, 7.0]]))
    found = scale(torch.tensor([[1e6, 1e6], [-1e6, 8.0], [1.5, 7.0]]))
    assert found.tolist() == [[Standardise.LIMIT, 0.0], [-Standardise.LIMIT, 0.0], [0.5, 0.0]]
