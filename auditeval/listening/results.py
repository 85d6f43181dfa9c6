"""The votes of a test as numbers: by axis, pair and rater, and what else was asked of raters."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from auditeval.listening import design
from auditeval.listening.votes_database import Rater, Trial, Vote, VotesDatabase
from auditeval.types import AXES, Axis, EditPair

Panels = dict[Axis, dict[int, dict[str, float]]]
"""{axis: {pair: {rater: grade}}}"""


@dataclass(frozen=True)
class Results:
    """All that raters gave, at one moment. `trials` are those with a vote, in the order given."""

    raters: Mapping[int, Rater]
    pairs: Mapping[int, EditPair]
    trials: list[Trial]
    votes: Mapping[int, Vote]

    def name(self, trial: Trial) -> str:
        """The id of the rater of a trial."""
        return self.raters[trial.rater].name

    def of(self, kind: str) -> list[tuple[Trial, Vote]]:
        """Trials of a kind with the votes on them, those left out that could not be judged."""
        found = [(t, self.votes[t.number]) for t in self.trials if t.kind == kind]
        return [(trial, vote) for trial, vote in found if vote.cannot is None]

    def panels(self, without: Collection[int] = ()) -> Panels:
        """The grades of rated pairs but for the trials `without`, in order of pair and rater."""
        made: Panels = {axis: {} for axis in AXES}
        rating = sorted(self.of("rating"), key=lambda one: (one[0].pair, self.name(one[0])))
        for trial, vote in rating:
            if trial.number not in without:
                for axis, panel in made.items():
                    panel.setdefault(trial.pair, {})[self.name(trial)] = vote.grades[axis]
        return made

    def missed(self) -> list[Trial]:
        """The attention items whose grades are more than 1 from the known ones."""
        return [trial for trial, vote in self.of("attention") if not _is_right(trial, vote)]

    def repeats(self) -> dict[str, list[float]]:
        """{rater: mean over axes of |second grade - first| of each pair heard twice}."""
        first = {(t.rater, t.pair): vote for t, vote in self.of("rating")}
        made: dict[str, list[float]] = {}
        for trial, again in self.of("repeat"):
            if before := first.get((trial.rater, trial.pair)):
                apart = [abs(again.grades[axis] - before.grades[axis]) for axis in AXES]
                made.setdefault(self.name(trial), []).append(sum(apart) / len(apart))
        return made


def read(database: VotesDatabase) -> Results:
    """What is in a database now."""
    votes = database.votes()
    trials = [trial for trial in database.all_trials() if trial.number in votes]
    raters = {rater.number: rater for rater in database.raters()}
    return Results(raters, database.pairs, trials, votes)


def _is_right(trial: Trial, vote: Vote) -> bool:
    known = design.FORMS[trial.form]
    return all(abs(vote.grades[axis] - grade) <= 1 for axis, grade in known.items())
