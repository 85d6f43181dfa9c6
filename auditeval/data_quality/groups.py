"""Ten random groups of pairs, for intervals and for more pairs than N; and ten splits of them.

Each group keeps statistics of its own. A value is that of all groups merged, its interval comes
from leaving out one group at a time, and subsets of about N/10, N/5, N/2 and N pairs are groups
merged. Groups share no clip. Splits do: they are equal parts of a shuffle of the pairs.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from auditeval.seed import SEED
from auditeval.types import EditPair, Undefined

GROUPS = 10
_KEYS = np.dtype([("id", np.uint64), ("name", np.uint64), ("original", np.uint64)])

Chosen = tuple[int, ...]
Value = float | Undefined


class Unit(NamedTuple):
    """A pair by its `id`, by the `name` of its source or, where none is stated, of itself, and by
    the file of its `original`.

    Pairs that share a name or an original share clips, and are not independent.
    """

    id: str
    name: str
    original: str


class Place(NamedTuple):
    """Where a pair belongs: the group of what shares clips with it, the split of itself."""

    group: int
    split: int


def unit(pair: EditPair) -> Unit:
    """What a pair is dealt by.

    >>> pair = EditPair(id="1", original="a", edited="b", original_caption="", target_caption="")
    >>> tuple(unit(pair)), unit(pair.model_copy(update={"source": "rain"})).name
    (('1', 'pair 1', 'a'), 'source rain')
    """
    name = f"source {pair.source}" if pair.source else f"pair {pair.id}"
    return Unit(pair.id, name, os.path.normpath(pair.original))


class Deal:
    """Which group and which split each pair of a set belongs to: seeded draws without replacement.

    What is drawn to a group is independent of the rest: units that share a name or an original, be
    it by way of others, go together. To a split, each pair is drawn by itself. Groups differ by one
    draw at most, splits by one pair, and neither their order nor where the files lie nor what else
    is computed beside them matters. `len` is the number of draws to groups. Takes 8 bytes a pair
    and 9 a name.
    """

    def __init__(self, units: Iterable[Unit], seed: int = SEED) -> None:
        self._seed = hashlib.sha256(str(seed).encode()).digest()
        rows = np.fromiter((tuple(map(self._key, unit)) for unit in units), _KEYS)
        self._ids = np.unique(rows["id"])  # hashes, so that their order is a random permutation
        self._names, names = np.unique(rows["name"], return_inverse=True)
        originals, at = np.unique(rows["original"], return_inverse=True)
        nodes = len(self._names) + len(originals)
        shared = csr_array((np.ones(len(rows)), (names, len(self._names) + at)), (nodes, nodes))
        together = connected_components(shared, directed=False)[1][: len(self._names)]
        # The rank of a hash among hashes is a random permutation; units together go by the lowest.
        lowest = np.unique(together, return_index=True)[1]
        self._groups = (lowest.argsort().argsort()[together] % GROUPS).astype(np.uint8)
        self._draws = len(lowest)

    def __len__(self) -> int:
        return self._draws

    def __call__(self, unit: Unit) -> Place:
        group = self._groups[np.searchsorted(self._names, self._key(unit.name))]
        return Place(int(group), int(np.searchsorted(self._ids, self._key(unit.id))) % GROUPS)

    def _key(self, name: str) -> np.uint64:
        digest = hashlib.blake2b(name.encode(), digest_size=8, key=self._seed).digest()
        return np.uint64(int.from_bytes(digest, "big"))


def jackknife(
    value: Callable[[Chosen], Value], groups: Chosen = tuple(range(GROUPS))
) -> tuple[float, float] | Undefined:
    """95 % interval of `value(groups)`, by Student's t of its values without one group each.

    Delete-a-group jackknife (Kott 2001): variance (K - 1) / K sum (v_k - mean v)^2, with K - 1
    degrees of freedom, around the value of all.

    >>> low, high = jackknife(lambda groups: float(np.mean(groups)))
    >>> round(low, 2), round(high, 2)
    (2.33, 6.67)
    """
    count = len(groups)
    found = _defined(
        [value(groups), *(value(tuple(g for g in groups if g != left)) for left in groups)]
    )
    if isinstance(found, Undefined):
        return found
    whole, without = found[0], found[1:]
    spread = np.square(without - without.mean()).sum() * (count - 1) / count
    reach = stats.t.ppf(0.975, count - 1) * np.sqrt(spread)
    return float(whole - reach), float(whole + reach)


def at_infinity(
    value: Callable[[Chosen], Value], pairs: Callable[[Chosen], int], groups: Chosen
) -> Value:
    """What `value` tends to for ever more pairs: its intercept over 1 / `pairs`.

    Least squares through disjoint subsets of 1, 2, half and all of the groups (of ten: about N/10,
    N/5, N/2, N pairs), each size with the same weight, after Chong and Forsyth 2020, but without
    replacement. Values whose bias is not yet in proportion to 1/N, of fewer rows than dimensions,
    are brought nearer only.

    >>> round(at_infinity(lambda groups: 3 + 1 / len(groups), len, tuple(range(GROUPS))), 6)
    3.0
    """
    count = len(groups)
    subsets, weights = [], []
    for size in sorted({1, 2, count // 2, count}):
        of_size = [groups[start : start + size] for start in range(0, count - size + 1, size)]
        subsets += of_size
        weights += [1 / len(of_size)] * len(of_size)
    distances = _defined([value(subset) for subset in subsets])
    if isinstance(distances, Undefined):
        return distances
    shares = [1 / pairs(subset) for subset in subsets]
    _, intercept = np.polyfit(shares, distances, 1, w=np.sqrt(weights))
    return float(intercept)


def _defined(values: Sequence[Value]) -> np.ndarray | Undefined:
    """All of the values, or the first that is undefined."""
    undefined = [value for value in values if isinstance(value, Undefined)]
    return undefined[0] if undefined else np.array(values, np.float64)
