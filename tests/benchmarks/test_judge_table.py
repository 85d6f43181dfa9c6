"""What was asked of a judge, as a table of the report."""

from __future__ import annotations

from pydantic import BaseModel

from auditeval.benchmarks.judge_table import judge_table
from auditeval.judges.answers import AnswerLog
from auditeval.judges.cached import CachedJudge
from auditeval.judges.judge import Answer, Question, Usage
from auditeval.report import render


class Mark(BaseModel):
    score: int


class Nobody:
    """Never asked; the log alone tells."""

    name, revision, model = "label", "1", "nobody"

    def ask(self, question: Question[Mark]) -> Answer[Mark]:
        raise AssertionError


ANSWERS = [
    *(Answer(Mark(score=n), "", Usage(2, 100, 10, 0.1 * n)) for n in range(3)),
    *(Answer(None, f"reason {n % 7}", Usage(4, 0, 0, 0.0)) for n in range(12)),
]


def told(order: list[int], cost: float | None = 0.5) -> CachedJudge:
    log = AnswerLog()
    for place in order:
        log.note("nobody", "1", f"key {place}", ANSWERS[place])
    log.note("nobody", "1", "kept", Answer(Mark(score=9)), asked=False)
    log.note("nobody", "1", "last", Answer(Mark(score=9), "", Usage(1, 1, 1, cost)))
    log.note("somebody", "1", "last", ANSWERS[0])
    return CachedJudge(Nobody(), None, log)  # type: ignore[arg-type]


def test_a_row_sums_what_a_judge_took_whoever_was_first() -> None:
    order = list(range(len(ANSWERS)))
    table, turned = (judge_table("mmae", [told(places)]) for places in (order, order[::-1]))
    assert table == turned
    assert table.name == "mmae_judge"
    assert render.to_json(table)["rows"] == {
        "nobody": {
            "questions": 17,
            "answered": 5 / 17,
            "from the cache": 1,
            "requests": 3 * 2 + 12 * 4 + 1,
            "prompt tokens": 301,
            "completion tokens": 31,
            "USD": 0.8,
        }
    }
    assert list(table.notes) == [
        "nobody, without an answer: 2 × reason 0; 2 × reason 1; 2 × reason 2; 2 × reason 3; "
        "2 × reason 4; 2 for other reasons."
    ]


def test_a_price_that_is_unknown_is_said() -> None:
    markdown = render.to_markdown(judge_table("mmae", [told([0], cost=None)]))
    assert "price unknown" in markdown
    assert "0.0000" not in markdown
