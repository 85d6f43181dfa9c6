"""Three heads in one pass are three heads trained alone."""

from __future__ import annotations

from functools import partial

import pytest
import pytorch_lightning as lightning
import torch

from auditeval.features.pair import Inputs, PairFeatures
from auditeval.models import MODELS
from auditeval.models.three_head import Regressor
from auditeval.training.data import PairDataModule
from auditeval.training.fit import Examples
from auditeval.training.module import EvaluatorModule
from auditeval.types import AXES, EditPair


def fitted(kind: str, epochs: dict[str, int]) -> Regressor:
    rng = torch.Generator().manual_seed(5)
    features = PairFeatures(*(torch.randn(40, n, generator=rng) for n in (7, 5, 7, 5, 5, 5, 4, 0)))
    ratings = torch.rand(40, 3, generator=rng) * 4 + 1
    torch.manual_seed(11)
    inputs = Inputs(audio=7, text=5, joint=(3,), alignment=tuple("abcd"))
    model = MODELS[kind](inputs, hidden=[24, 12], dropout=0.5)
    model.fit_scales(features, ratings)
    module = EvaluatorModule(
        model,
        partial(torch.optim.Adam, lr=1e-2),
        partial(torch.optim.lr_scheduler.ReduceLROnPlateau, factor=0.5, patience=0),
        epochs,
        seed=3,
    )
    pair = EditPair(id="a", original="a", edited="a", original_caption="", target_caption="")
    examples = Examples([pair] * 40, features, ratings)
    data = PairDataModule(examples, examples.take([]), batch_size=16)
    trainer = lightning.Trainer(
        max_epochs=max(epochs.values()), accelerator="cpu", logger=False,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(module, data)
    return model


def test_a_schedule_lasts_as_long_as_its_axis() -> None:
    """Of the paper's 50, 30 and 35 epochs each has its own; an axis of none has none."""
    inputs = Inputs(audio=7, text=5, joint=(3,), alignment=tuple("abcd"))
    epochs = {"quality": 4, "relevance": 12, "faithfulness": 0}
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR
    for scheduler, lengths in (
        (partial(cosine, eta_min=0.0), [4, 12, 1]),
        (partial(cosine, T_max=7), [7, 7, 7]),
    ):
        optimizer = partial(torch.optim.Adam, lr=1.0)
        module = EvaluatorModule(
            MODELS["concat"](inputs, hidden=[4]), optimizer, scheduler, epochs, seed=3
        )
        _, made = module.configure_optimizers()
        assert [one.T_max for one in made] == lengths
        rates = []
        for _ in range(12):
            rates.append(made[1].optimizer.param_groups[0]["lr"])
            made[1].optimizer.step()
            made[1].step()
        assert (rates == sorted(rates, reverse=True)) == (lengths[1] == 12)


@pytest.mark.parametrize("kind", ["concat", "pairwise"])
def test_a_head_trains_beside_others_as_it_trains_alone(kind: str) -> None:
    """Dropout, schedule and number of epochs of one axis do not depend on another axis."""
    together = fitted(kind, {"quality": 4, "relevance": 2, "faithfulness": 3})
    for axis, epochs in zip(AXES, (4, 2, 3), strict=True):
        alone = fitted(kind, {**dict.fromkeys(AXES, 0), axis: epochs})
        for name, value in alone.heads[axis].state_dict().items():
            assert torch.equal(value, together.heads[axis].state_dict()[name]), (axis, name)
        for other in set(AXES) - {axis}:  # and what does not train stays as it was
            key = next(iter(alone.heads[other].state_dict()))
            assert not torch.equal(
                alone.heads[other].state_dict()[key], together.heads[other].state_dict()[key]
            )


@pytest.mark.parametrize(("leading", "steps"), [(40, 3), (17, 2), (8, 1), (7, 3), (0, 3)])
def test_an_epoch_has_every_pair_once_and_batches_of_those_rated_in_sound(
    leading: int, steps: int
) -> None:
    ratings = torch.full((40, 3), torch.nan)
    ratings[:, AXES.index("relevance")] = torch.arange(40.0)
    rated = torch.randperm(40, generator=torch.Generator().manual_seed(1))[:leading]
    ratings[rated, AXES.index("quality")] = 3.0
    features = PairFeatures(*(torch.zeros(40, 1) for _ in PairFeatures._fields))
    pair = EditPair(id="a", original="a", edited="a", original_caption="", target_caption="")
    examples = Examples([pair] * 40, features, ratings)
    loader = PairDataModule(examples, examples.take([]), batch_size=16).train_dataloader()
    batches = [batch for _, batch in loader]
    assert len(batches) == steps
    assert sorted(torch.cat(batches)[:, AXES.index("relevance")].tolist()) == list(range(40))
    for batch in batches if leading > 7 else ():
        sound = ~batch[:, AXES.index("quality")].isnan()
        assert sound[: int(sound.sum())].all()  # they come first, in the order of without the rest
