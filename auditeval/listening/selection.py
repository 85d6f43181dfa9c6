"""Which pair a listener should hear next: balanced, at random, or where a vote says most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from auditeval.listening.beliefs import Beliefs, beliefs
from auditeval.types import AXES

RULES = ("balanced", "random", "uncertain")
"""Fewest votes first with seeded ties (the default), any order, by expected gain."""
GOALS = ("ranking", "training")
"""What the gain of "uncertain" is for: the order of systems, or an evaluator's training."""
AHEAD = 32
"""Pairs of an order that are chosen one after the other; a rater's block is seldom longer."""
SHARE = 0.25
"""Of the votes of an average pair, what every pair gets first, whatever its gain; by choice."""


class Standing(NamedTuple):
    """What is known of one pair.

    `votes` :: (votes, 3) in AXES order, 1 to 5, NaN where not judged. `low` and `high` :: (3,) are
    the 90 % interval that an evaluator gives, or None. `raters` says whose votes these are, where
    that is known; `confidence.settled` asks for it, the order does not.
    """

    system: str
    operation: str
    votes: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    raters: Sequence[str] | None = None


class Known(NamedTuple):
    """What a gain asks: `beliefs` of each judged axis, each pair's votes and the numbers of its
    groups."""

    beliefs: list[Beliefs]
    counts: np.ndarray
    systems: np.ndarray
    operations: np.ndarray

    def heard(self, pair: int) -> Known:
        """The same with another vote for a pair, as it is expected."""
        counts = self.counts.copy()
        counts[pair] += 1
        return self._replace(beliefs=[own.heard(pair) for own in self.beliefs], counts=counts)


def order(
    rule: str,
    goal: str,
    standings: Sequence[Standing],
    raters_a_pair: int | Sequence[int],
    seed: int,
    ahead: int = AHEAD,
) -> list[int]:
    """Indices of the pairs that want another vote, most wanted first.

    Pairs that have `raters_a_pair` votes want none. That may be a number for each pair: 0 for those
    that are not to be heard, whose votes count all the same. Equal pairs are ordered by `seed`,
    which is best another at each call. "uncertain" ranks by `ranking_gain` or `training_gain`, but
    first, fewest votes first, come pairs that have fewer than SHARE of the votes of an average
    pair: of V votes over N pairs each has at least floor(SHARE V / N) - 1, if the first pair is
    heard each time and none is full. The first `ahead` are chosen one after the other, each as if
    those before it had been heard, so that they are a block for a rater; the rest by their gain
    after these. Raises ValueError for a rule or goal that there is not.
    """
    if rule not in RULES or goal not in GOALS:
        raise ValueError(f"expected one of {RULES} and one of {GOALS}, found {rule!r}, {goal!r}")
    counts = np.array([len(standing.votes) for standing in standings], int)
    wanting = np.random.default_rng(seed).permutation(len(standings))
    wanting = wanting[(counts < np.asarray(raters_a_pair))[wanting]]
    if rule == "random":
        return wanting.tolist()
    if rule == "balanced" or not len(wanting):
        return wanting[np.argsort(counts[wanting], kind="stable")].tolist()
    gain = ranking_gain if goal == "ranking" else training_gain
    now = known(standings)
    chosen: list[int] = []
    while len(wanting) and len(chosen) < ahead:
        place = _most_wanted(gain(now), now.counts, wanting)[0]
        chosen.append(int(wanting[place]))
        now, wanting = now.heard(chosen[-1]), np.delete(wanting, place)
    rest = wanting[_most_wanted(gain(now), now.counts, wanting)]
    return [*chosen, *rest.tolist()]


def _most_wanted(gain: np.ndarray, counts: np.ndarray, wanting: np.ndarray) -> np.ndarray:
    """Places in `wanting`, the starved first and then by gain."""
    starved = counts < np.floor(SHARE * counts.sum() / len(counts))
    return np.lexsort((-gain[wanting], np.where(starved, counts, 0)[wanting], ~starved[wanting]))


def ranking_gain(known: Known) -> np.ndarray:
    """By how many wrongly ordered pairs of systems another vote lowers what is expected :: (pairs,)

    A listening test estimates systems' means with standard errors; of two whose difference D is
    believed to be N(d, s^2), the estimate has the wrong sign with probability E Phi(-|D| / e),
    where e is the standard error of the difference. For small e this is sqrt(2/pi) e p(0), p being
    the density of D: only what may be a tie can be wrong. With e at s, a vote that lowers s to s'
    is worth sqrt(2/pi) phi(d / s) (1 - s' / s), summed over the other systems and the axes.
    Like the optimal allocation of ranking and selection [Chen et al. 2000, OCBA; Glynn and Juneja
    2004] it spends votes where d / s is small, on large variances, and goes on with ties; the value
    of one vote in that literature, the knowledge gradient, is about 0 wherever a single vote cannot
    turn an order round [Frazier and Powell 2010, Paradoxes in Learning]. ASAP [arXiv:2004.05691]
    maximises information on all scores; here it is the order that counts. Factors that all pairs
    share are left out.
    """
    gain = np.zeros(len(known.counts))
    for belief in known.beliefs:
        mean, variance, after = belief.systems()
        difference = mean[:, None] - mean[None, :]
        before = variance[:, None] + variance[None, :]
        tie = np.exp(-np.square(difference) / (2 * before))
        np.fill_diagonal(tie, 0.0)
        new = after[:, None] + variance[None, :]  # (pairs, systems)
        gain += (tie[known.systems] * (1 - np.sqrt(new / before[known.systems]))).sum(axis=1)
    return gain


def training_gain(known: Known) -> np.ndarray:
    """What another vote is worth to who trains an evaluator on the means of votes :: (pairs,)

    The variance of a pair's rating that a vote takes away, v^2 / (v + sigma^2), where v is what is
    left after the votes so far and sigma^2 that of one vote, so that a new pair goes before another
    vote for an old one as long as votes are no noisier than pairs differ [Sheng, Provost and
    Ipeirotis 2008, Get Another Label?; of listening tests arXiv:2003.11300], and a wide interval
    before a narrow one. It is multiplied by the mean of two needs, of its system and its operation:
    the votes of an average one by those of this one.
    """
    gain = np.sum([belief.reduction() for belief in known.beliefs], axis=0)
    need = _need(known.systems, known.counts) + _need(known.operations, known.counts)
    return gain * need / 2


def _need(groups: np.ndarray, counts: np.ndarray) -> np.ndarray:
    votes = np.bincount(groups, counts)
    return ((1 + votes.mean()) / (1 + votes))[groups]


def known(standings: Sequence[Standing]) -> Known:
    """Beliefs of each axis that anybody judged, or of all as long as there are no votes."""
    counts = np.array([len(standing.votes) for standing in standings])
    votes = np.concatenate([standing.votes.reshape(-1, len(AXES)) for standing in standings])
    pair = np.repeat(np.arange(len(standings)), counts)
    none = np.full(len(AXES), np.nan)
    low = np.array([none if s.low is None else s.low for s in standings])
    high = np.array([none if s.high is None else s.high for s in standings])
    systems = _numbered([standing.system for standing in standings])
    judged = np.isfinite(votes).any(axis=0) | (len(votes) == 0)
    made = []
    for axis in np.flatnonzero(judged):
        given = np.isfinite(votes[:, axis])
        made.append(beliefs(pair[given], votes[given, axis], systems, low[:, axis], high[:, axis]))
    return Known(made, counts, systems, _numbered([standing.operation for standing in standings]))


def _numbered(names: Sequence[str]) -> np.ndarray:
    return np.unique(np.array(names, dtype=str), return_inverse=True)[1]
