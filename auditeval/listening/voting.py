"""Listening tests held again on votes that people gave: how many a rule of selection needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from auditeval.listening.selection import Standing, order
from auditeval.seed import SEED
from auditeval.table import Cell, Column, Content, Table
from auditeval.types import AXES, EditPair, Scores, Undefined, UserError

ORDERS = {
    "random": ("random", "ranking"),
    "balanced": ("balanced", "ranking"),
    "uncertain, for ranking": ("uncertain", "ranking"),
    "uncertain, for training": ("uncertain", "training"),
}
"""{name: (rule, goal)} of `selection.order`."""
ENOUGH = 0.95
"""Of Kendall's tau and of LCC, on average over tests."""
_MIDDLE = 3.0


def votes_of(pair: EditPair) -> np.ndarray:
    """Votes :: (raters, 3) in AXES order, NaN where a rater did not judge.

    Lists of several axes are of the same raters in the same order; a shorter one ends early.
    """
    table: dict[str | int, list[float]] = {}
    for place, axis in enumerate(AXES):
        votes = pair.raters.get(axis, [])
        for rater, vote in enumerate(votes) if isinstance(votes, list) else votes.items():
            table.setdefault(rater, [np.nan] * len(AXES))[place] = vote
    return np.array(list(table.values())).reshape(-1, len(AXES))


def simulate(
    pairs: Sequence[EditPair],
    scores: Mapping[str, Scores] | None = None,
    *,
    tests: int = 200,
    at_once: int = 8,
    replace: bool = False,
    resamples: int = 1000,
    seed: int = SEED,
    name: str = "manifest",
    watch: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> Table:
    """How many votes each order of pairs needs until systems are ranked as by all votes.

    In each of `tests` tests the votes of a pair come in a random order, the same for each rule;
    `at_once` raters hear a pair before a rule is asked again. A test ends when all votes are given.
    With `replace` votes are drawn from those of the pair again and again, twice as many in all: as
    from more people than were asked. Without it, a rule that goes to close systems has soon heard
    *all* their votes and ranks them as the truth does, which flatters it.

    `scores` are an evaluator's, by id of the pair; their intervals are what "uncertain" believes
    before there are votes. An evaluator that was trained on these votes knows what it should not.

    Intervals are percentiles of a bootstrap over tests, which are paired between the rules. Raises
    UserError unless there are 2 systems whose pairs have votes of raters, by which they differ.
    """
    panel = [(p, votes) for p in pairs if p.system is not None and len(votes := votes_of(p))]
    systems = {pair.system for pair, _ in panel}
    if len(systems) < 2:
        raise UserError(
            f"{name}: {len(panel)} of {len(pairs)} pairs have a system and votes of raters, of "
            f"{len(systems)} systems; at least 2 systems are needed"
        )
    if not Measure([pair.system or "" for pair, _ in panel], [own for _, own in panel]).signs.any():
        raise UserError(
            f"{name}: by all votes its {len(systems)} systems are level, so that there is no order "
            "to find"
        )
    runs: dict[str, list[np.ndarray]] = {rule: [] for rule in ORDERS}
    for test in watch(range(tests)):
        for rule in ORDERS:
            rng = np.random.default_rng([seed, test])
            runs[rule].append(_hold(panel, scores or {}, ORDERS[rule], at_once, replace, rng))
    votes = runs["random"][0][:, 0]
    courses = {rule: np.array(held)[:, :, 1:] for rule, held in runs.items()}
    given = sum(len(votes) for _, votes in panel)
    drawn = "with replacement" if replace else "without replacement"
    return Table(
        title=f"Votes that a rule needs: {name}, drawn {drawn}",
        columns=COLUMNS,
        rows=_rows(votes, courses, given / 2, resamples, seed),
        notes=[
            f"{len(panel)} pairs of {len(systems)} systems, {given} votes by raters; {tests} tests "
            f"of up to {votes[-1]:.0f} votes, {at_once} raters at once."
            + (" Intervals of an evaluator as prior." if scores else " No evaluator as prior."),
            f"Ranked: from there on Kendall's tau of systems with their order by all votes is "
            f"{ENOUGH:g}, on average over tests. Rated: the same of LCC, of pairs' mean votes with "
            "those by all votes. Wrong: which pairs of systems are, at half of the raters' votes.",
            "Brackets: 95 % bootstrap over tests, paired between the rules.",
        ],
    )


COLUMNS = (
    Column("order", label=True),
    Column("ranked", "lower", form=".0f", bounds=".0f", over=("votes",)),
    Column("of random's", "lower", form=".2f", bounds=".2f", over=("votes",)),
    Column("wrong", "lower", unit="%"),
    Column("rated", "lower", form=".0f", bounds=".0f", over=("votes",)),
)


def _hold(
    panel: Sequence[tuple[EditPair, np.ndarray]],
    scores: Mapping[str, Scores],
    rule: tuple[str, str],
    at_once: int,
    replace: bool,
    rng: np.random.Generator,
) -> np.ndarray:
    """One test :: (moments, 3): votes so far, share of pairs of systems in the wrong order, LCC."""
    all_votes = [votes for _, votes in panel]
    total = sum(map(len, all_votes)) * (2 if replace else 1)
    if replace:
        pools = [votes[rng.integers(len(votes), size=total)] for votes in all_votes]
    else:
        pools = [rng.permutation(votes) for votes in all_votes]
    sizes = [len(pool) for pool in pools]
    measure = Measure([pair.system or "" for pair, _ in panel], all_votes)
    standings = [
        Standing(pair.system or "", pair.operation or "", votes[:0], *_ends(scores.get(pair.id)))
        for pair, votes in panel
    ]
    moments = []
    given = 0
    while given < total:
        wanted = order(*rule, standings, sizes, int(rng.integers(2**31)), ahead=at_once)
        for number in wanted[: min(at_once, total - given)]:
            heard = len(standings[number].votes) + 1
            standings[number] = standings[number]._replace(votes=pools[number][:heard])
            given += 1
            # After the same numbers of votes in each test: at the end fewer pairs than raters want.
            if given % at_once == 0 or given == total:
                moments.append((given, *measure([standing.votes for standing in standings])))
    return np.array(moments)


def _ends(scores: Scores | None) -> tuple[np.ndarray | None, np.ndarray | None]:
    """The intervals of an evaluator :: (3,), (3,), NaN where an axis has none."""
    if scores is None or not scores.intervals:
        return None, None
    low, high = np.array([scores.interval(axis) or (np.nan, np.nan) for axis in AXES]).T
    return low, high


class Measure:
    """(wrong, lcc) of votes so far against all votes, each a mean over the judged axes."""

    def __init__(self, systems: Sequence[str], votes: Sequence[np.ndarray]) -> None:
        self.system = np.unique(systems, return_inverse=True)[1]
        self.sizes = np.bincount(self.system)
        self.axes = np.flatnonzero(np.isfinite(np.concatenate(votes)).any(axis=0))
        self.means = self._means(votes)
        self.signs = self._signs(self.means)

    def __call__(self, votes: Sequence[np.ndarray]) -> tuple[float, float]:
        means = self._means(votes)
        known = self.signs != 0
        wrong = np.abs(self._signs(means) - self.signs)[known].mean() / 2
        lcc = [_lcc(one, own) for one, own in zip(means, self.means, strict=True)]
        return float(wrong), float(np.mean(lcc))

    def _means(self, votes: Sequence[np.ndarray]) -> np.ndarray:
        """Mean votes :: (axes, pairs); of a pair without votes its system's mean, or that of all,
        or the middle of the scale."""
        pair = np.repeat(np.arange(len(votes)), [len(own) for own in votes])
        together = np.concatenate(votes)[:, self.axes]
        made = []
        for column in together.T:
            given = np.isfinite(column)
            sums, counts = (
                np.bincount(pair[given], weights, len(votes)) for weights in (column[given], None)
            )
            heard = counts > 0
            mean = sums[heard] / counts[heard]
            overall = mean.mean() if heard.any() else _MIDDLE
            of_system = np.full(len(self.sizes), overall)
            times = np.bincount(self.system[heard], minlength=len(self.sizes))
            total = np.bincount(self.system[heard], mean, len(self.sizes))
            np.divide(total, times, where=times > 0, out=of_system)
            filled = of_system[self.system]
            filled[heard] = mean
            made.append(filled)
        return np.array(made)

    def _signs(self, means: np.ndarray) -> np.ndarray:
        """Which system of each two is the better :: (axes, pairs of systems), -1, 0 or 1."""
        levels = np.array([np.bincount(self.system, row) / self.sizes for row in means])
        first, second = np.triu_indices(len(self.sizes), 1)
        return np.sign(np.round(levels[:, first] - levels[:, second], 9))


def _lcc(one: np.ndarray, other: np.ndarray) -> float:
    """0 where all are equal: they tell nothing of each other."""
    if min(np.ptp(one), np.ptp(other)) == 0:
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])


def _rows(
    votes: np.ndarray,
    courses: dict[str, np.ndarray],
    half: float,
    resamples: int,
    seed: int,
) -> list[list[Content]]:
    """Of each rule, from its courses :: (tests, moments, 2), in the order of COLUMNS."""
    rng, tests = np.random.default_rng(seed), len(courses["random"])
    drawn = rng.multinomial(tests, np.full(tests, 1 / tests), resamples) / tests
    weights = np.concatenate([np.full((1, tests), 1 / tests), drawn])  # all tests, then the draws
    mean = {rule: np.tensordot(weights, course, 1) for rule, course in courses.items()}
    middle = np.searchsorted(votes, half)
    ranked = {rule: _reached(1 - 2 * of[:, :, 0], votes) for rule, of in mean.items()}
    share = {rule: _share(of, ranked["random"]) for rule, of in ranked.items()}
    return [
        [
            rule,
            _cell(ranked[rule], votes[-1]),
            None if rule == "random" else _cell(share[rule], votes[-1]),
            _cell(of[:, middle, 0], votes[-1]),
            _cell(_reached(of[:, :, 1], votes), votes[-1]),
        ]
        for rule, of in mean.items()
    ]


def _reached(values: np.ndarray, votes: np.ndarray) -> np.ndarray:
    """The votes from which on values :: (draws, moments) are ENOUGH, inf where they never are."""
    enough = np.flip(np.logical_and.accumulate(np.flip(values >= ENOUGH, 1), 1), 1)
    return np.where(enough[:, -1], votes[np.argmax(enough, axis=1)], np.inf)


def _share(votes: np.ndarray, of: np.ndarray) -> np.ndarray:
    """inf where either is: no share is known then."""
    known = np.isfinite(votes) & np.isfinite(of)
    return np.divide(votes, of, where=known, out=np.full(len(votes), np.inf))


def _cell(values: np.ndarray, votes: float) -> Cell | Undefined:
    """The first value with the percentiles of the others."""
    never = Undefined(f"not reached in {votes:.0f} votes")
    if not np.isfinite(values[0]):
        return never
    if len(values) < 3:
        return Cell(float(values[0]))
    low, high = np.percentile(values[1:], (2.5, 97.5), method="nearest")
    known = np.isfinite(low) and np.isfinite(high)
    return Cell(float(values[0]), (float(low), float(high)) if known else never)
