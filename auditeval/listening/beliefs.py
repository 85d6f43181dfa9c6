"""What votes, and an evaluator before them, let one believe of the ratings of pairs and systems."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_MIDDLE, _BETWEEN = 3.0, 4.0 / 3.0  # mean and variance of what is even between 1 and 5
_WITHIN = 0.25  # of the pairs of a system; a guess that counts as much as _PAIRS of them
_PAIRS = 5.0
_SPREAD, _VOTES = 0.2, 10.0  # of votes, by Hossfeld's formula below; the same
_LEAST = 0.5  # of (m - 1)(5 - m): nobody is sure that a system is perfect
_Z90 = 1.6449  # half the width of a 90 % interval, in standard deviations


class Beliefs(NamedTuple):
    """Of one axis, arrays :: (pairs,). A pair's rating is normal about `prior` + the offset of its
    system, with variance `within`; its `counts` votes are normal about the rating, with variance
    `noise`, and lie by `residual` above `prior` on average. The offset has variance `between`."""

    prior: np.ndarray
    between: np.ndarray
    within: np.ndarray
    noise: np.ndarray
    counts: np.ndarray
    residual: np.ndarray
    system: np.ndarray

    def systems(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean and variance of each system's mean over its pairs :: (systems,), (systems,), and the
        variance of the own system's mean after another vote for the pair :: (pairs,)."""
        size = np.bincount(self.system)
        offset, variance = self._offset()
        left = self._left(self.counts)
        mean = np.bincount(self.system, self._ratings(offset)) / size
        alone = np.bincount(self.system, left * self.within)
        together = np.bincount(self.system, left)
        now = (alone + together**2 * variance) / size**2
        more = self._left(self.counts + 1)
        precision = self._weight(self.counts + 1) - self._weight(self.counts)
        precision += 1 / variance[self.system]
        after = alone[self.system] + (more - left) * self.within
        after += (together[self.system] + more - left) ** 2 / precision
        return mean, now, after / size[self.system] ** 2

    def ratings(self) -> np.ndarray:
        """What is expected of each pair :: (pairs,)."""
        return self._ratings(self._offset()[0])

    def _ratings(self, offset: np.ndarray) -> np.ndarray:
        left = self._left(self.counts)
        return self.prior + (1 - left) * self.residual + left * offset[self.system]

    def reduction(self) -> np.ndarray:
        """By how much another vote lowers the variance of a pair's rating :: (pairs,)."""
        _, variance = self._offset()
        left = self._left(self.counts)
        rating = left * self.within + left**2 * variance[self.system]
        return rating**2 / (rating + self.noise)

    def heard(self, pair: int) -> Beliefs:
        """The same after a vote for a pair that is as expected: no mean moves."""
        counts, residual = self.counts.copy(), self.residual.copy()
        expected = self.ratings()[pair] - self.prior[pair]
        residual[pair] += (expected - residual[pair]) / (counts[pair] + 1)
        counts[pair] += 1
        return self._replace(counts=counts, residual=residual)

    def _left(self, counts: np.ndarray) -> np.ndarray:
        """The share of the variance within a system that votes leave."""
        return self.noise / (counts * self.within + self.noise)

    def _weight(self, counts: np.ndarray) -> np.ndarray:
        """Precision of a pair's votes as to its system's offset."""
        return counts / (counts * self.within + self.noise)

    def _offset(self) -> tuple[np.ndarray, np.ndarray]:
        weight = self._weight(self.counts)
        size = np.bincount(self.system)
        prior = size / np.bincount(self.system, self.between)
        variance = 1 / (prior + np.bincount(self.system, weight))
        return variance * np.bincount(self.system, weight * self.residual), variance


def beliefs(
    pair: np.ndarray, votes: np.ndarray, system: np.ndarray, low: np.ndarray, high: np.ndarray
) -> Beliefs:
    """Beliefs from votes :: (votes,) on pairs numbered by `pair`, NaN where no interval is.

    An interval of 90 % is taken for a normal law of the pair's rating, half of whose variance the
    system's pairs share, as an evaluator is mistaken of a system as a whole too (half is a choice).
    Without it a system's mean is even between 1 and 5. The variance of votes is that of the SOS
    hypothesis, a (m - 1)(5 - m) at the system's mean m [Hossfeld, Schatz and Egger 2011, SOS: The
    MOS is not enough], which knows that votes agree at the ends of the scale; a, and the variance
    of pairs within systems, are pooled over all votes by moments, beside guesses that count little.
    """
    known = np.isfinite(low) & np.isfinite(high)
    half = np.where(known, np.square((high - low) / (2 * _Z90)) / 2, 0.0)
    half = np.maximum(half, 1e-4)  # an interval of no width is believed, but not against all votes
    prior = np.where(known, (low + high) / 2, _MIDDLE)
    between, guess = np.where(known, half, _BETWEEN), np.where(known, half, _WITHIN)
    counts = np.bincount(pair, minlength=len(system)).astype(float)
    heard = counts > 0
    mean = np.divide(
        np.bincount(pair, votes, len(system)), counts, where=heard, out=np.zeros(len(system))
    )
    residual = np.where(heard, mean - prior, 0.0)

    level = _means(system, np.where(heard, mean, prior))
    room = np.maximum((level - 1) * (5 - level), _LEAST)[system]
    squares = np.square(votes - mean[pair]).sum() if len(votes) else 0.0
    expected = (np.maximum(counts - 1, 0) * room).sum()
    noise = room * (_SPREAD * _VOTES + squares) / (_VOTES + expected)

    # Of the means of pairs that were heard, less what the noise of their votes makes of it.
    several = heard & (np.bincount(system, heard)[system] > 1)
    scale = 1.0
    if several.any():
        number = np.unique(system[several], return_inverse=True)[1]
        apart = np.square(residual[several] - _means(number, residual[several])[number])
        share = 1 - 1 / np.bincount(number)[number]
        excess = (apart - share * (noise / np.maximum(counts, 1))[several]).sum()
        typical = (share * guess[several]).sum()
        weight = _PAIRS * guess[several].mean()
        scale = max((weight + excess) / (weight + typical), 0.1)
    return Beliefs(prior, between, guess * scale, noise, counts, residual, system)


def _means(group: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.bincount(group, values) / np.bincount(group)
