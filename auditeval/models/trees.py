"""Sums of regression trees as plain tensors, made from fitted ones of scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn


class Trees(nn.Module):
    """A sum of regression trees :: (B, features) float32 -> (B,).

    All nodes stand in one row, each tree's in preorder: the left child of a node is the next one,
    its right child lies `jump` further on. `number` is the threshold of a node (x <= threshold goes
    left) or, at a leaf (whose jump is 0), the value. `roots` says where each tree begins.

    Leaves are summed in float64: a row's result does not depend on the rows beside it.
    """

    roots: Tensor
    feature: Tensor
    number: Tensor
    jump: Tensor

    def __init__(self, features: int, trees: int = 1, nodes: int = 1) -> None:
        super().__init__()
        self.features = features
        self.register_buffer("roots", torch.zeros(trees, dtype=torch.int32))
        self.register_buffer("feature", torch.zeros(nodes, dtype=torch.int16))
        self.register_buffer("number", torch.zeros(nodes))
        self.register_buffer("jump", torch.zeros(nodes, dtype=torch.int32))
        self.register_load_state_dict_post_hook(lambda trees, _: trees.check())

    def check(self) -> None:
        """Raise RuntimeError where a node points out of its trees, or back."""
        last = len(self.number) - 1
        places = torch.arange(len(self.number))
        inner = self.jump != 0
        ends = (self.jump + places)[inner]
        sound = (
            bool(((self.roots >= 0) & (self.roots <= last)).all())
            and bool(((self.feature >= 0) & (self.feature < self.features)).all())
            and bool((self.jump >= 0).all())
            and bool((ends <= last).all())
        )
        if not sound:
            raise RuntimeError("a node of its trees points out of them")

    def forward(self, x: Tensor) -> Tensor:
        # Numpy walks: of a step of some thousand nodes torch takes thrice the time to begin.
        parts = (x, self.roots, self.feature, self.number, self.jump)
        of_x, roots, feature, number, jump = (part.detach().cpu().numpy() for part in parts)
        first = np.repeat(np.arange(len(x)) * x.shape[1], len(roots))
        node = np.tile(roots.astype(np.intp), len(x))
        going = np.flatnonzero(jump.take(node))
        while len(going):
            at = node.take(going)
            right = of_x.take(first.take(going) + feature.take(at)) > number.take(at)
            node[going] = at = at + np.where(right, jump.take(at), 1)
            going = going[jump.take(at) != 0]
        leaves = torch.from_numpy(number.take(node).reshape(len(x), len(roots)))
        return leaves.to(x.device).double().sum(dim=1).float()


def of_forest(fitted: Any, features: int) -> Trees:
    """The mean over the trees of a fitted forest of scikit-learn, such as ExtraTreesRegressor."""
    grown = [tree.tree_ for tree in fitted.estimators_]
    return _of_grown(grown, features, 1 / len(grown), 0.0)


def of_boosting(fitted: Any, features: int) -> Trees:
    """What a fitted GradientBoostingRegressor of scikit-learn, with its default start, predicts, or
    a BaggingRegressor of such, each of which sees all features."""
    bagged = fitted.estimators_ if hasattr(fitted, "estimator_") else [fitted]
    grown = [tree.tree_ for boosted in bagged for (tree,) in boosted.estimators_]
    start = np.mean([boosted.init_.constant_.item() for boosted in bagged])
    rate = bagged[0].learning_rate / len(bagged)
    return _of_grown(grown, features, rate, float(start) / len(grown))


def _of_grown(grown: Sequence[Any], features: int, scale: float, offset: float) -> Trees:
    """Trees whose leaves are `scale` times those of `grown`, plus `offset`."""
    sizes = [tree.node_count for tree in grown]
    trees = Trees(features, len(grown), sum(sizes))
    trees.roots.copy_(torch.from_numpy(np.cumsum([0, *sizes[:-1]])))
    parts = [_preorder(tree, scale, offset) for tree in grown]
    for buffer, arrays in zip(
        (trees.feature, trees.number, trees.jump), zip(*parts, strict=True), strict=True
    ):
        buffer.copy_(torch.from_numpy(np.concatenate(arrays)))
    return trees


def _preorder(tree: Any, scale: float, offset: float) -> tuple[np.ndarray, ...]:
    """Feature, number and jump of each node of one of scikit-learn's trees."""
    places = np.arange(tree.node_count)
    leaf = tree.children_left == -1
    if not np.array_equal(tree.children_left[~leaf], places[~leaf] + 1):
        raise ValueError("trees must be grown depth first, without max_leaf_nodes")
    # Its thresholds are float64, what it compares with them is float32: x <= threshold just if
    # x <= the largest float32 that does not exceed the threshold.
    threshold = tree.threshold.astype(np.float32)
    below = np.nextafter(threshold, np.float32(-np.inf))
    threshold = np.where(threshold.astype(np.float64) > tree.threshold, below, threshold)
    return (
        np.where(leaf, 0, tree.feature),
        np.where(leaf, scale * tree.value[:, 0, 0] + offset, threshold).astype(np.float32),
        np.where(leaf, 0, tree.children_right - places),
    )
