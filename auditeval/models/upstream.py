"""Heads that the authors of AuditEval publish, as one of our regressors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from auditeval.features.pair import Inputs
from auditeval.models.three_head import ConcatRegressor
from auditeval.types import AXES, Axis, UserError

_LINEARS = (0, 3, 5, 7, 9, 11)  # of their nn.Sequential; between them ReLU, and a dropout at 2


def is_score_predictor(state: Mapping[str, Tensor]) -> bool:
    """Whether these are the tensors of a `ScorePredictor`, one axis of AuditEval-ssl."""
    names = {f"model.{n}.{part}" for n in _LINEARS for part in ("weight", "bias")}
    return set(state) == names and all(state[f"model.{n}.weight"].dim() == 2 for n in _LINEARS)


def axis_of(path: Path) -> Axis:
    """The axis that a file is named after (quality_epoch_50.pt); raises UserError."""
    for axis in AXES:
        if re.match(axis, path.name, re.IGNORECASE):
            return axis
    raise UserError(
        f"{path}: the name of a head's file must begin with its axis ({', '.join(AXES)}), as in "
        "quality_epoch_50.pt"
    )


def from_score_predictors(states: Mapping[Axis, Mapping[str, Tensor]]) -> ConcatRegressor:
    """The three published heads, or some of them, as a regressor on a CLAP's embeddings.

    Their LayerNorms were trained but never saved, and theirs is the code that predicts with fresh
    ones: those of ours stay fresh as well. Raises UserError for heads of wrong shapes.
    """
    shapes = {
        axis: tuple(tuple(state[f"model.{n}.weight"].shape) for n in _LINEARS)
        for axis, state in states.items()
    }
    first = next(iter(shapes))
    for axis, shape in shapes.items():
        if shape != shapes[first]:
            raise UserError(
                f"the heads of {first} and {axis} differ in shape; they belong together"
            )
    inputs, hidden = shapes[first][0][1], [outputs for outputs, _ in shapes[first][:-1]]
    if inputs % 4:
        raise UserError(f"a head of {inputs} inputs does not take four embeddings of one size")
    dim = inputs // 4
    given = Inputs(audio=dim, text=dim, joint=(dim,))
    model = ConcatRegressor(given, hidden=hidden, standardise=False)
    model.target_mean.zero_()
    for index, axis in enumerate(AXES):
        model.trained[index] = axis in states
        if axis in states:
            tensors = {key.removeprefix("model."): x for key, x in states[axis].items()}
            try:
                model.heads[axis][0].mlp.load_state_dict(tensors)  # type: ignore[index]
            except RuntimeError as error:
                reason = str(error).splitlines()[-1].strip()
                raise UserError(f"the head of {axis} does not fit together ({reason})") from None
    return model.eval()
