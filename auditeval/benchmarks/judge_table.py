"""What the judges of a report were asked, said and cost, however many runs it took."""

from __future__ import annotations

from collections.abc import Sequence

from auditeval.benchmarks.benchmark import BenchmarkTable
from auditeval.judges.cached import CachedJudge
from auditeval.judges.judge import UNKNOWN_PRICE
from auditeval.table import Column, Content
from auditeval.types import Undefined

_MOST_REASONS = 5

COLUMNS = (
    Column("questions"),
    Column("answered", unit="%"),
    Column("from the cache"),
    Column("requests"),
    Column("prompt tokens"),
    Column("completion tokens"),
    Column("USD", form=".4f"),
)


def judge_table(benchmark: str, judges: Sequence[CachedJudge]) -> BenchmarkTable:
    """A row a judge; the notes say how often it gave no answer, and why.

    A question counts once, its requests as often as there were: those of answers out of the cache
    were another report's, and one that a killed run waited for is not known.
    """
    rows: dict[str, dict[str, Content]] = {}
    notes = []
    for judge in judges:
        tally = judge.tally
        usage = tally.usage
        share = tally.answered / tally.questions if tally.questions else Undefined("no questions")
        cost = UNKNOWN_PRICE if usage.cost_usd is None else round(usage.cost_usd, 6)
        counts = (tally.from_cache, usage.requests, usage.prompt_tokens, usage.completion_tokens)
        cells = (tally.questions, share, *counts, cost)
        names = [column.name for column in COLUMNS]
        rows[judge.model] = dict(zip(names, cells, strict=True))
        # Sorted, and so the same whichever thread came first.
        reasons = sorted(tally.reasons.items(), key=lambda found: (-found[1], found[0]))
        if reasons:
            said = [f"{count} × {reason}" for reason, count in reasons[:_MOST_REASONS]]
            if more := sum(count for _, count in reasons[_MOST_REASONS:]):
                said.append(f"{more} for other reasons")
            notes.append(f"{judge.model}, without an answer: {'; '.join(said)}.")
    title = f"{benchmark}: what was asked of the judge"
    return BenchmarkTable.of(f"{benchmark}_judge", title, COLUMNS, rows, notes)
