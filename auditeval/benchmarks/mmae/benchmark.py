"""MMAE [arXiv:2606.07229]: edits to votes on rubrics to tables laid out as the paper's Table 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from auditeval import audio
from auditeval.audio import AudioError, Waveform
from auditeval.backends.load import Backends
from auditeval.benchmarks.benchmark import BenchmarkTable, Missing, Output, Record, Value
from auditeval.benchmarks.mmae import tables
from auditeval.benchmarks.mmae.questions import STAND_IN, SYSTEM_PROMPT, options, question
from auditeval.benchmarks.mmae.rubric import Rubric, rubric_rates, verdict
from auditeval.benchmarks.mmae.samples import MMAESample, RubricRow, digest, read_samples
from auditeval.benchmarks.mmae.verdicts import GivenVerdicts
from auditeval.benchmarks.provenance import stand_ins
from auditeval.benchmarks.selection import WHOLE, Selection
from auditeval.judges.judge import Judge
from auditeval.seed import SEED
from auditeval.types import Undefined, UserError

QUERIES = 3

SHORT = Selection(max_seconds=10.0)
"""On which the paper evaluates three of its models (the rows with * in Table 2: 801 samples)."""

PAPER = {"judge": "qwen3-omni*"}

_CODE = 2
"""Counts the changes here that change a record."""


class MMAE:
    """`meta`, an MMAE-meta.json with its audio beside it. The role `judge` answers the rubrics.

    Every rubric is asked three times, its options in another order each time, and is right if two
    answers are. The tasks of a `selection` are groups of complexity and of modality.
    """

    name = "mmae"

    def __init__(
        self, meta: Path, backends: Backends, seed: int = SEED, selection: Selection = WHOLE
    ) -> None:
        self._meta, self._backends, self._seed = meta, backends, seed
        self._selection = selection
        samples = read_samples(meta)
        known = dict.fromkeys(group for sample in samples for group in _tasks(sample))
        self.samples: list[MMAESample] = selection.of(samples, sorted(known), _tasks, _seconds)

    @cached_property
    def settings(self) -> dict[str, Any]:
        return {
            "protocol": tables.PROTOCOL,
            "samples_sha256": digest(self._meta, self.samples),
            **self._selection.settings,
            "backends": self._backends.named(["judge"]),
            "seed": self._seed,
            "queries": QUERIES,
            "system_prompt": SYSTEM_PROMPT,
            "code": _CODE,
        }

    def source(self, sample: MMAESample) -> Waveform | Undefined:
        """The first input."""
        return _decoded(sample.inputs[0]) if sample.inputs else Undefined("it has no audio input")

    def evaluate(self, sample: MMAESample, output: Output | GivenVerdicts) -> Record:
        """`rubrics` hold each vote with the options as they were shown, the reply and its reason.
        In place of an output there may be verdicts that were found before (`read` says so).

        Without an output all of them are wrong. One about an input that cannot be heard is
        unscored. `past_end` says of a rubric which parts hold nothing, as of an output that was
        rightly cut: the judge is told so and has the whole clip instead. The paper does not say
        what its code does; not to ask would make "no sound there" wrong where it is right.
        """
        failure: str | None = None
        if isinstance(output, Missing):
            status, reason = "failed", output.reason
            failure = "unreadable_output" if output.unreadable else "missing_output"
            rubrics = [_marked(rubric, False, reason) for rubric in sample.rubrics]
        else:
            if isinstance(output, GivenVerdicts):
                rubrics = [given.model_dump() for given in output.rubrics]
            else:
                rubrics = self._answered(sample, output)
            status, reason = "ok", ""
            if count := sum(rubric["right"] is None for rubric in rubrics):
                status, failure = "unscored", "no_verdict"
                reason = f"{count} of {len(rubrics)} rubrics have no verdict"
        rates = rubric_rates([[Rubric(r["category"], r["right"]) for r in rubrics]])
        shares = {"ifr": rates.ifr, "cr": rates.cr, "exact": rates.emr}
        undefined = {k: v.reason for k, v in shares.items() if isinstance(v, Undefined)}
        return {
            "status": status,
            "reason": reason,
            "failure": failure,
            "read": isinstance(output, GivenVerdicts),
            **sample.groups,
            **{k: None if isinstance(v, Undefined) else round(v, 6) for k, v in shares.items()},
            "undefined": undefined,
            "rubrics": rubrics,
        }

    def values(self, records: Sequence[Record]) -> dict[str, Value]:
        """Rates as in `RubricRates`, unscored rubrics as wrong, then over the scored ones of the
        outputs that are there (`_scored_only`); the share of rubrics that these are, and that of
        samples with an output."""
        found: dict[str, Value] = dict(vars(rubric_rates(tables.marks(records))))
        scored = tables.marks(records, scored_only=True)
        rates = vars(rubric_rates(scored, scored_only=True))
        found |= {f"{name}_scored_only": value for name, value in rates.items()}
        outputs = sum(record["status"] != "failed" for record in records)
        found["rubrics_scored"] = tables.scored_share(scored)
        found["coverage"] = outputs / len(records) if records else Undefined("no samples")
        return found

    def tables(self, systems: Mapping[str, Sequence[Record]]) -> list[BenchmarkTable]:
        sentences = [STAND_IN, *stand_ins(self._backends, PAPER)]
        if self._selection == SHORT:
            return tables.of(systems, sentences, "Table 2 (subset of at most 10 s)")
        return tables.of(systems, [*self._selection.sentences, *sentences])

    def _answered(self, sample: MMAESample, output: Waveform) -> list[dict[str, Any]]:
        judge: Judge = self._backends.model("judge")
        # Decoded once: many rubrics speak of the same input.
        clips = [output, *(_decoded(path) for path in sample.inputs)]
        return [self._vote(judge, rubric, clips) for rubric in sample.rubrics]

    def _vote(
        self, judge: Judge, rubric: RubricRow, clips: Sequence[Waveform | Undefined]
    ) -> dict[str, Any]:
        heard: dict[str, Waveform] = {}
        past_end = []
        for reference in rubric.references:
            whole = clips[reference.input_number]
            if isinstance(whole, Undefined):
                return _marked(rubric, None, whole.reason)
            part = reference.of(whole)
            if isinstance(part, Undefined):
                past_end.append(part.reason)
                heard[reference.clip_name] = whole
            else:
                heard[reference.name] = part
        votes = []
        for query in range(QUERIES):
            shown = options(rubric, self._seed, query)
            answer = judge.ask(question(rubric, [*heard.items()], past_end, shown, query))
            vote: dict[str, Any] = {"options": shown, "choice": None, "right": None}
            if answer.value is None:
                vote["reason"] = answer.reason
            else:
                said = answer.value.model_dump()
                chosen = shown[ord(said["choice"]) - ord("A")]
                vote |= {"choice": said["choice"], "right": chosen == rubric.right_choice}
                vote["reason"] = said["reason"]
            votes.append(vote)
        right = verdict([vote["right"] for vote in votes])
        reason = "" if right is not None else "too few answers for a majority"
        return _marked(rubric, right, reason, votes, past_end)


def _tasks(sample: MMAESample) -> list[str]:
    return [*sample.groups["complexity"], *sample.groups["modality"]]


def _seconds(sample: MMAESample) -> float:
    """Of the longest input; 0 where there is none."""
    try:
        return max(map(audio.seconds, sample.inputs), default=0.0)
    except AudioError as error:
        raise UserError(f"sample {sample.id}: {error}") from None


def _marked(
    rubric: RubricRow,
    right: bool | None,
    reason: str,
    votes: Sequence[Mapping[str, Any]] = (),
    past_end: Sequence[str] = (),
) -> dict[str, Any]:
    return {
        "category": rubric.category,
        "question": rubric.question,
        "right_choice": rubric.right_choice,
        "right": right,
        "reason": reason,
        "past_end": list(past_end),
        "votes": list(votes),
    }


def _decoded(path: Path) -> Waveform | Undefined:
    try:
        return audio.decode(path)
    except AudioError as error:
        return Undefined(str(error).removeprefix(f"{path}: "))
