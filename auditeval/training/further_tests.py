"""What the models of a run are tested on besides the held-out part of their own data.

A test is a manifest with baselines of its own; configs/tests names it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from auditeval import manifest as manifests
from auditeval.digests import sha256
from auditeval.report import agreement, agreement_files, contrasts, within
from auditeval.report.agreement import Predictions
from auditeval.report.agreement_table import to_table
from auditeval.table import Table
from auditeval.training.baselines import Baseline
from auditeval.types import Axis, EditPair, UserError

Baselines = Mapping[str, Baseline]


class FurtherTest(Protocol):
    """A manifest, and how what evaluators say of it is reported."""

    pairs: list[EditPair]
    baselines: Baselines

    def report(
        self, predictions: Sequence[Predictions], folder: Path, resamples: int, plotted: str
    ) -> Table:
        """Write the report into `folder`; the table that the command prints of it."""
        ...


class RatedTest:
    """Agreement with the ratings of a manifest; `ratings_from` says whose they are, `no_votes` why
    there are no votes behind them, where that is known."""

    def __init__(
        self,
        manifest: str | Path,
        ratings_from: str,
        baselines: Baselines | None = None,
        no_votes: str | None = None,
    ) -> None:
        self.pairs = _rated(manifest)
        self.baselines = baselines or {}
        self._ratings_from, self._no_votes = ratings_from, no_votes

    def report(
        self, predictions: Sequence[Predictions], folder: Path, resamples: int, plotted: str
    ) -> Table:
        made = agreement.make_report(
            self.pairs, predictions, self._ratings_from, resamples, plotted=plotted
        )
        if self._no_votes:
            made = made._replace(no_votes=self._no_votes)
        agreement_files.write(made, folder)
        return to_table(made)


class WithinTest:
    """Agreement with the ratings of a manifest within each source, as choices among versions of
    one thing need it; `unit` is what a source is."""

    def __init__(
        self,
        manifest: str | Path,
        ratings_from: str,
        unit: str = "source",
        baselines: Baselines | None = None,
    ) -> None:
        self.pairs = _rated(manifest)
        self.baselines = baselines or {}
        self._ratings_from, self._unit = ratings_from, unit
        try:
            within.check(self.pairs)  # what is amiss is said before training
        except UserError as error:
            raise UserError(f"{manifest}: {error}") from None

    def report(
        self, predictions: Sequence[Predictions], folder: Path, resamples: int, plotted: str
    ) -> Table:
        made = within.make_report(
            self.pairs, predictions, self._ratings_from, self._unit, resamples
        )
        within.write(made, folder)
        return within.to_table(made)


class ContrastTest:
    """How often an axis prefers the right edit of a trial to wrong ones.

    The manifest's rows have the trial as `source` and the variant as `system`; nobody rates them.
    """

    def __init__(
        self,
        manifest: str | Path,
        title: str,
        axis: Axis = "relevance",
        baselines: Baselines | None = None,
    ) -> None:
        self.pairs = manifests.read(manifest)
        self.baselines = baselines or {}
        self._title, self._axis = title, axis
        self._digest = sha256(Path(manifest))
        contrasts.make_report(self.pairs, [], title, axis)  # what is amiss is said before training

    def report(
        self, predictions: Sequence[Predictions], folder: Path, resamples: int, plotted: str
    ) -> Table:
        made = contrasts.make_report(self.pairs, predictions, self._title, self._axis)
        made = made._replace(set_sha256=self._digest)
        contrasts.write(made, folder)
        return contrasts.to_table(made)


def _rated(manifest: str | Path) -> list[EditPair]:
    pairs = [pair for pair in manifests.read(manifest) if pair.ratings]
    if not pairs:
        raise UserError(f"{manifest}: no pair has ratings to compare with")
    return pairs
