"""Trees as tensors predict what scikit-learn's do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.ensemble import BaggingRegressor, ExtraTreesRegressor, GradientBoostingRegressor

from auditeval.models import trees

FEATURES = 6
GROWN = {
    "extra_trees": (
        ExtraTreesRegressor(20, min_samples_leaf=3, max_features=0.4, random_state=3),
        trees.of_forest,
    ),
    "boosting": (
        GradientBoostingRegressor(n_estimators=40, max_depth=3, subsample=0.5, random_state=3),
        trees.of_boosting,
    ),
    "boosting bagged": (
        BaggingRegressor(
            GradientBoostingRegressor(n_estimators=20, max_depth=3, subsample=0.5),
            n_estimators=3,
            bootstrap=False,
            random_state=3,
        ),
        trees.of_boosting,
    ),
}
KINDS = pytest.mark.parametrize("kind", GROWN)


def grown(kind: str) -> tuple[Any, trees.Trees, np.ndarray]:
    """A fitted estimator, its export, and what it learned from: some columns hold few values."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(300, FEATURES)).astype(np.float32)
    x[:, 0] = x[:, 0].round(1)
    x[:, 1] = rng.integers(0, 3, 300)
    y = 3 + np.sin(2 * x[:, 0]) + 0.5 * x[:, 1] * (x[:, 2] > 0) + 0.1 * rng.normal(size=300)
    estimator, export = GROWN[kind]
    estimator.fit(x, y)
    return estimator, export(estimator, FEATURES), x


@KINDS
def test_parity_with_scikit_learn(kind: str) -> None:
    """On what was learned, elsewhere, far out, and where a value is a threshold to the last bit."""
    estimator, exported, x = grown(kind)
    inner = exported.jump != 0
    met = x[:200].copy()
    for row, node in zip(met, torch.nonzero(inner).flatten().tolist(), strict=False):
        row[exported.feature[node]] = exported.number[node]
    above = np.nextafter(met, np.float32(np.inf))
    other = np.random.default_rng(6).normal(scale=3, size=(500, FEATURES)).astype(np.float32)
    for rows in (x, met, above, other, 1e6 * other):
        found = exported(torch.from_numpy(rows)).numpy()
        np.testing.assert_allclose(found, estimator.predict(rows), rtol=0, atol=1e-6)


@KINDS
def test_thresholds_are_rounded_down(kind: str) -> None:
    """A float32 is below a threshold of float64 just if it is below the exported one."""
    estimator, exported, _ = grown(kind)
    members = estimator.estimators_
    if kind == "boosting bagged":
        members = np.concatenate([boosted.estimators_ for boosted in members])
    members = np.ravel(members)
    wanted = np.concatenate([member.tree_.threshold for member in members])
    inner = (exported.jump != 0).numpy()
    found, wanted = exported.number.numpy()[inner], wanted[inner]
    assert (found <= wanted).all()
    assert (np.nextafter(found, np.float32(np.inf)) > wanted).all()


@KINDS
def test_a_row_is_rated_as_it_is_alone(kind: str) -> None:
    _, exported, x = grown(kind)
    rows = torch.from_numpy(x)
    whole = exported(rows)
    for size in (1, 7, 64):
        assert torch.equal(torch.cat([exported(part) for part in rows.split(size)]), whole)


@KINDS
def test_weights_travel(kind: str) -> None:
    _, exported, x = grown(kind)
    state = exported.state_dict()
    other = trees.Trees(FEATURES, len(exported.roots), len(exported.number))
    other.load_state_dict(state)
    assert torch.equal(other(torch.from_numpy(x)), exported(torch.from_numpy(x)))
    bytes_per_node = sum(part.nbytes for part in state.values()) / len(exported.number)
    assert bytes_per_node < 11


@pytest.mark.parametrize(
    ("buffer", "value"),
    [("feature", FEATURES), ("feature", -1), ("jump", 10_000), ("jump", -1), ("roots", 10_000)],
)
def test_weights_that_point_out_of_the_trees_are_refused(buffer: str, value: int) -> None:
    _, exported, _ = grown("boosting")
    state = {name: part.clone() for name, part in exported.state_dict().items()}
    state[buffer][0] = value
    other = trees.Trees(FEATURES, len(exported.roots), len(exported.number))
    with pytest.raises(RuntimeError, match="points out of"):
        other.load_state_dict(state)


def test_trees_grown_best_first_are_refused() -> None:
    _, _, x = grown("extra_trees")
    grown_best_first = ExtraTreesRegressor(3, max_leaf_nodes=20, random_state=0)
    grown_best_first.fit(x, x[:, 0] * x[:, 2])
    with pytest.raises(ValueError, match="without max_leaf_nodes"):
        trees.of_forest(grown_best_first, FEATURES)
