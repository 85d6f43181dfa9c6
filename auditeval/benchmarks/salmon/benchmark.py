"""SALMon [arXiv:2409.07437]: scores of pairs to records to the paper's Table II."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from auditeval import audio
from auditeval.audio import AudioError, Waveform
from auditeval.benchmarks.benchmark import BenchmarkTable, Missing, Record, Value
from auditeval.benchmarks.protocols import PROTOCOLS
from auditeval.benchmarks.provenance import title
from auditeval.benchmarks.salmon.samples import (
    ALIGNMENT,
    CONSISTENCY,
    MADE,
    PARTS,
    Pair,
    digest,
    read_pairs,
)
from auditeval.benchmarks.salmon.scorers import PairScores
from auditeval.benchmarks.selection import WHOLE, Selection
from auditeval.metrics.pairwise import PairwiseResult, of_outcomes, outcome
from auditeval.table import Column, Content
from auditeval.types import Undefined, UserError

COLUMNS = {
    **{part: f"Consistency: {name}" for part, name in CONSISTENCY.items()},
    **{part: f"Alignment: {name}" for part, name in ALIGNMENT.items()},
}

HUMAN = dict(zip(PARTS, (97.2, 91.5, 98.6, 83.1, 88.7, 94.4, 93.3, 95.8), strict=True))
"""The paper's Table II, in %: 20 samples of each part of its own set, three raters or more."""


(PROTOCOL,) = PROTOCOLS["salmon"]


class Salmon:
    """A folder in SALMon's layout. Outputs are scores of pairs (see `scorers`), not audio."""

    name = "salmon"

    def __init__(self, root: Path, selection: Selection = WHOLE) -> None:
        selection.check(PARTS)
        parts = [part for part in PARTS if not selection.tasks or part in selection.tasks]
        self._selection = selection
        self.samples: list[Pair] = selection.of(
            read_pairs(root, parts), PARTS, lambda pair: [pair.part], _seconds
        )
        made = ", ".join(part for part in parts if (root / part / MADE).exists())
        self._stand_ins = [
            *selection.sentences,
            *([f"samples: made here, not the published ones ({made})"] if made else []),
        ]

    @cached_property
    def settings(self) -> dict[str, Any]:
        return {
            "protocol": PROTOCOL,
            "samples_sha256": digest(self.samples),
            **self._selection.settings,
        }

    def source(self, pair: Pair) -> Waveform | Undefined:
        return Undefined("in SALMon nothing is edited")

    def evaluate(self, pair: Pair, output: PairScores | Undefined | Missing) -> Record:
        """`outcome` is that of `metrics.pairwise`: two likelihoods of 0 are a tie; `applies` is
        false for parts that the scorer does not hear by design: undefined rather than lost."""
        record: Record = {
            "status": "ok",
            "reason": "",
            "failure": None,
            "part": pair.part,
            "applies": not isinstance(output, Undefined),
            **dict.fromkeys(("positive_score", "negative_score", "outcome")),
            "undefined": {},
        }
        if isinstance(output, Missing):
            failure = {"status": "failed", "reason": output.reason, "failure": "missing_output"}
            return record | failure | {"undefined": {"outcome": output.reason}}
        if isinstance(output, Undefined):
            output = PairScores(output, output)
        names = tuple(f"{clip.name}: " for clip in pair[2:])
        lacking = []
        for name, (side, score) in zip(names, output._asdict().items(), strict=True):
            if score == -math.inf:
                record["undefined"][f"{side}_score"] = "minus infinity, which JSON cannot hold"
                continue
            if not isinstance(score, Undefined) and math.isfinite(score):
                record[f"{side}_score"] = round(score, 6)
                continue
            reason = score.reason if isinstance(score, Undefined) else f"its score is {score}"
            lacking.append(reason if reason.startswith(names) else name + reason)
            record["undefined"][f"{side}_score"] = lacking[-1]
        if lacking:
            record |= {"status": "unscored", "reason": lacking[0]}
            record["undefined"]["outcome"] = lacking[0]
        else:
            record["outcome"] = outcome(*(x for x in output if not isinstance(x, Undefined)))
        return record

    def values(self, records: Sequence[Record]) -> dict[str, Value]:
        """Of each part that is there: the rate with pairs without scores lost, that over scored
        pairs (`_scored_only`) and the share of pairs that are scored (`_coverage`); all three are
        undefined for a part that does not apply."""
        found: dict[str, Value] = {}
        for part, result in self._results(records).items():
            found[part] = result.with_losses
            found[f"{part}_scored_only"] = result.accuracy
            found[f"{part}_coverage"] = (
                result.scored / result.pairs if result.pairs else result.with_losses
            )
        return found

    def tables(self, systems: Mapping[str, Sequence[Record]]) -> list[BenchmarkTable]:
        results = {name: self._results(records) for name, records in systems.items()}
        rows: dict[str, dict[str, Content]] = {
            name: {
                COLUMNS[part]: found[part].with_losses if part in found else Undefined(_NOT_THERE)
                for part in PARTS
            }
            for name, found in results.items()
        }
        # As text: figures of another set must not be taken for the best of a column.
        rows["Human (published, their set)"] = {
            COLUMNS[part]: f"{value:.1f}" for part, value in HUMAN.items()
        }
        table = BenchmarkTable.of(
            "salmon",
            title("SALMon", "Table II", "pairs won (%)", self._stand_ins, PROTOCOL),
            tuple(Column(COLUMNS[part], "higher", "%") for part in PARTS),
            rows,
            (
                *self._stand_ins,
                "A pair without both scores counts as lost, a tie as half; see the next table.",
                *_unscored(results),
                "Human: the paper's figures on the published set, a reference and no result of "
                "this run. Its repository prints 91.2 for speaker and 95.7 for background.",
            ),
        )
        return [table, _counts(results)]

    def _results(self, records: Sequence[Record]) -> dict[str, PairwiseResult]:
        """By part, in the order of Table II; a part that does not apply has no pairs."""
        results = {}
        for part in PARTS:
            found = [record for record in records if record["part"] == part]
            if not found:
                continue
            result = of_outcomes(
                [
                    0.0 if record["status"] == "failed" else record["outcome"]
                    for record in found
                    if record["applies"]
                ]
            )
            if not any(record["applies"] for record in found):
                none = Undefined(found[0]["reason"])
                result = result._replace(accuracy=none, with_losses=none, interval=none)
            results[part] = result
        return results


_NOT_THERE = "the samples have no such part"


def _seconds(pair: Pair) -> float:
    """Of the longer clip: none is the source of the other."""
    try:
        return max(map(audio.seconds, (pair.positive, pair.negative)))
    except AudioError as error:
        raise UserError(f"{pair.part}: {error}") from None


def _unscored(results: Mapping[str, Mapping[str, PairwiseResult]]) -> list[str]:
    """A sentence for each scorer that left pairs without a score."""
    sentences = []
    for name, found in results.items():
        pairs = sum(result.pairs for result in found.values())
        unscored = pairs - sum(result.scored for result in found.values())
        if unscored:
            sentences.append(
                f"{name} left {unscored} of {pairs} pairs unscored: they count as lost."
            )
    return sentences


def _counts(results: Mapping[str, Mapping[str, PairwiseResult]]) -> BenchmarkTable:
    rows: dict[str, dict[str, Content]] = {}
    for name, found in results.items():
        for part, result in found.items():
            limits = result.interval
            low, high = (limits, limits) if isinstance(limits, Undefined) else limits
            rows[f"{name}, {part}"] = {
                "Pairs": result.pairs,
                "Scored": result.scored,
                "Won": result.with_losses,
                "Low": low,
                "High": high,
                "Won of scored": result.accuracy,
            }
    shares = ("Won", "Low", "High", "Won of scored")
    return BenchmarkTable.of(
        "salmon_counts",
        "SALMon, pairs and 95 % Wilson intervals (%)",
        (Column("Pairs"), Column("Scored"), *(Column(name, None, "%") for name in shares)),
        rows,
    )
