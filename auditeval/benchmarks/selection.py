"""Which samples of a benchmark are evaluated: some tasks, the first of each, the short ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from auditeval.types import UserError

Sample = TypeVar("Sample")


@dataclass(frozen=True)
class Selection:
    """`tasks` by name (none named: all), the first `limit` samples of each in the order of the
    files, of those whose source lasts at most `max_seconds`.

    What is selected is no longer the published set: `sentences` says so to whoever titles a table.
    """

    tasks: tuple[str, ...] = ()
    limit: int | None = None
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise UserError(f"limit: expected 1 or more samples of each task, found {self.limit}")
        if self.max_seconds is not None and not self.max_seconds > 0:
            raise UserError(f"max_seconds: expected seconds above 0, found {self.max_seconds:g}")

    @property
    def settings(self) -> dict[str, Any]:
        """As JSON; nothing where all samples are selected."""
        return {"selection": vars(self)} if self != WHOLE else {}

    @property
    def sentences(self) -> list[str]:
        """One for a subset, none for all.

        >>> Selection(("style",), 10).sentences
        ['samples: a subset (style; the first 10 of each task)']
        """
        parts = [
            ", ".join(self.tasks),
            f"the first {self.limit} of each task" if self.limit is not None else "",
            f"sources of at most {self.max_seconds:g} s" if self.max_seconds is not None else "",
        ]
        return [f"samples: a subset ({'; '.join(filter(None, parts))})"] if any(parts) else []

    def of(
        self,
        samples: Iterable[Sample],
        known: Sequence[str],
        tasks: Callable[[Sample], Sequence[str]],
        seconds: Callable[[Sample], float],
    ) -> list[Sample]:
        """Those that are selected, in their order.

        `known` are the names of all tasks, `tasks` those of a sample. With several, as in MMAE, it
        counts for the ones that were asked for, else for its first. Raises UserError for a task
        that there is not, and where no sample is left.
        """
        self.check(known)
        kept: Counter[str] = Counter()
        selected = []
        for sample in samples:
            of_sample = tasks(sample)
            counted = [t for t in of_sample if t in self.tasks] if self.tasks else of_sample[:1]
            if self.limit is not None and all(kept[task] >= self.limit for task in counted):
                continue
            if not counted or (self.max_seconds or float("inf")) < self._lasts(sample, seconds):
                continue
            kept.update(counted)
            selected.append(sample)
        if not selected:
            raise UserError(f"no sample is left of {self.sentences[0].removeprefix('samples: ')}")
        return selected

    def check(self, known: Sequence[str]) -> None:
        """Raises UserError for a task that is none of these."""
        if unknown := [task for task in self.tasks if task not in known]:
            raise UserError(f"there is no task {unknown[0]!r} (known: {', '.join(known)})")

    def _lasts(self, sample: Sample, seconds: Callable[[Sample], float]) -> float:
        return 0.0 if self.max_seconds is None else seconds(sample)


WHOLE = Selection()
