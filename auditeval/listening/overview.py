"""How a test stands: progress, agreement as votes come in, raters, the ranking of systems."""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

import numpy as np

from auditeval.listening import design, headphones, results, screening
from auditeval.listening.confidence import settled
from auditeval.listening.results import Panels, Results
from auditeval.listening.settings import Settings
from auditeval.listening.votes_database import VotesDatabase
from auditeval.metrics.agreement import FEWEST_CLUSTERS, too_few_clusters
from auditeval.metrics.raters import rater_ceiling, reliability, screened
from auditeval.seed import SEED
from auditeval.table import Cell, Column, Content, Table, brackets
from auditeval.text import counted
from auditeval.types import AXES, Axis, Undefined

_DRAWS, _SPLITS = 200, 50


class Rank(NamedTuple):
    """The mean rating of a system on an axis, its 95 % interval (of 5 pairs or more), the pairs."""

    mean: float
    interval: tuple[float, float] | Undefined
    pairs: int


Ranking = dict[str, dict[Axis, Rank]]


class Overview(NamedTuple):
    """`done` of `wanted` votes are there, by `active` raters; `settled` pairs have all theirs."""

    done: int
    wanted: int
    settled: int
    pairs: int
    active: int
    ranking: Ranking
    suspicious: dict[str, list[str]]
    comments: list[tuple[str, str, str]]
    tables: list[Table]


def of(database: VotesDatabase, settings: Settings) -> Overview:
    """What is known now; numbers that votes cannot give yet are undefined, with the reason."""
    found = results.read(database)
    panels = found.panels()
    counts = {pair: len(votes) for pair, votes in panels[AXES[0]].items()}
    suspects = screening.suspicious(found)
    ranked = ranking(found, panels)
    return Overview(
        done=sum(min(count, settings.raters_per_pair) for count in counts.values()),
        wanted=settings.raters_per_pair * len(found.pairs),
        settled=sum(count >= settings.raters_per_pair for count in counts.values()),
        pairs=len(found.pairs),
        active=len({trial.rater for trial in found.trials}),
        ranking=ranked,
        suspicious=suspects,
        comments=[
            (found.name(t), found.pairs[t.pair].id, found.votes[t.number].comment)
            for t in found.trials
            # In practice and attention items something else than the pair was heard.
            if t.kind in ("rating", "repeat") and found.votes[t.number].comment
        ],
        tables=[
            _systems(ranked),
            _settled(database, found),
            _agreement(found, panels),
            _raters(found, panels, suspects),
        ],
    )


def ranking(found: Results, panels: Panels) -> Ranking:
    """By system, the best mean over axes first; intervals by a bootstrap over its pairs.

    In whatever order pairs and votes stand, it is the same.
    """
    means: dict[str, dict[Axis, list[float]]] = {}
    for axis, panel in panels.items():
        for pair, votes in panel.items():
            by_axis = means.setdefault(found.pairs[pair].system or "(no system)", {})
            by_axis.setdefault(axis, []).append(float(np.mean([*votes.values()])))
    made = {
        system: {axis: _rank(np.sort(values)) for axis, values in by_axis.items()}
        for system, by_axis in means.items()
    }
    level = {
        system: float(np.mean([r.mean for r in ranks.values()])) for system, ranks in made.items()
    }
    return {system: made[system] for system in sorted(made, key=lambda name: (-level[name], name))}


def _rank(values: np.ndarray) -> Rank:
    mean = float(values.mean())
    if len(values) < FEWEST_CLUSTERS:
        return Rank(mean, too_few_clusters(len(values), "pairs"), len(values))
    rng = np.random.default_rng(SEED)
    draws = values[rng.integers(len(values), size=(1000, len(values)))].mean(axis=1)
    low, high = np.percentile(draws, [2.5, 97.5])
    return Rank(mean, (float(low), float(high)), len(values))


def _systems(ranked: Ranking) -> Table:
    columns = [Column(axis, "higher", form=".2f", bounds=".2f") for axis in AXES]
    rows: list[list[Content]] = [
        [
            system,
            max(rank.pairs for rank in ranks.values()),
            *(Cell(ranks[axis].mean, ranks[axis].interval) for axis in AXES),
        ]
        for system, ranks in ranked.items()
    ]
    return Table(
        title="Systems so far",
        columns=[Column("system", label=True), Column("pairs"), *columns],
        rows=rows,
        notes=[
            "Means over pairs of the mean vote. Brackets: 95 % bootstrap over pairs, of systems "
            f"with {FEWEST_CLUSTERS} or more."
        ],
    )


def _settled(database: VotesDatabase, found: Results) -> Table:
    done = [rater.name for rater in found.raters.values() if rater.finished is not None]
    rankings = settled(design.standing(database, list(found.pairs)), finished=done)
    rows: list[list[Content]] = []
    for made in rankings:
        pairs = len(made.systems) * (len(made.systems) - 1) // 2
        said = "all" if made.settled else f"{pairs - len(made.undecided)} of {pairs}"
        rows.append([made.axis, said, ", ".join(f"{a} / {b}" for a, b in made.undecided[:5])])
    return Table(
        title="Is the order of systems settled?",
        columns=[Column("axis", label=True), Column("pairs settled"), Column("open, among others")],
        rows=rows,
        notes=[
            f"By the {counted(len(done), 'rater who has', 'raters who have')} finished. Of what "
            "is settled, at most 5 % is ever wrong, however often one looks; when all is, the test "
            "can be stopped."
        ],
        marked=False,
    )


def _agreement(found: Results, panels: Panels) -> Table:
    rows: dict[str, dict[Axis, Content]] = {}
    for axis, panel in panels.items():
        votes = list(panel.values())
        systems = [found.pairs[pair].system for pair in panel]
        for name, value in reliability(votes, systems, _DRAWS).items():
            rows.setdefault(name, {})[axis] = Cell(value.value, value.interval)
        ceiling = rater_ceiling(votes, systems, _SPLITS)["utterance"]
        for name, value in ceiling.items():
            rows.setdefault(f"rater ceiling, {name}", {})[axis] = Cell(value.value, value.interval)
    return Table(
        title="Agreement so far",
        columns=[
            Column("", label=True),
            *(Column(axis, form=".3f", bounds=".2f") for axis in AXES),
        ],
        rows=[[name, *(cells.get(axis) for axis in AXES)] for name, cells in rows.items()],
        notes=[
            "Over pairs of 2 votes or more.",
            *brackets(cell for cells in rows.values() for cell in cells.values()),
        ],
    )


def _raters(found: Results, panels: Panels, suspects: dict[str, list[str]]) -> Table:
    against = {
        axis: {r.rater: r for r in screened([*panel.values()])} for axis, panel in panels.items()
    }
    missed = [found.name(trial) for trial in found.missed()]
    asked = [found.name(trial) for trial, _ in found.of("attention")]
    repeats = found.repeats()
    rows: list[list[Content]] = []
    for rater in found.raters.values():
        own = [t for t in found.trials if found.name(t) == rater.name and t.kind != "training"]
        votes = [found.votes[trial.number] for trial in own]
        seconds: Content = median(vote.seconds for vote in votes) if votes else None
        check = headphones.of_json(rater.headphones)
        apart = repeats.get(rater.name)
        rows.append(
            [
                rater.name,
                sum(found.name(trial) == rater.name for trial, _ in found.of("rating")),
                sum(vote.cannot is not None for vote in votes),
                seconds,
                *(getattr(against[axis].get(rater.name), "agreement", None) for axis in AXES),
                float(np.mean(apart)) if apart else None,
                f"{missed.count(rater.name)} of {asked.count(rater.name)}",
                "" if check is None else f"{max(check.scores, default=0)}/{headphones.QUESTIONS}",
                "; ".join(suspects.get(rater.name, [])),
            ]
        )
    return Table(
        title="Raters",
        columns=[
            Column("rater", label=True),
            Column("votes"),
            Column("cannot judge"),
            Column("s a trial", form=".0f"),
            *(Column(axis, over=("LCC with the others",), form=".2f") for axis in AXES),
            Column("repeats apart", form=".2f"),
            Column("known answers missed"),
            Column("headphones"),
            Column("suspicious"),
        ],
        rows=rows,
        notes=["Seconds: the median, with pauses. Repeats: mean difference in points."],
        marked=False,
    )
