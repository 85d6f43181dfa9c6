"""An output beside its source, and what either protocol says of one edit of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from auditeval.audio import AudioError, Waveform
from auditeval.backends.backend import Transcript
from auditeval.backends.load import Backends
from auditeval.benchmarks.benchmark import Missing
from auditeval.benchmarks.speecheditbench.samples import Edit, Sample
from auditeval.judges.judge import Question, Reply


class NoVerdict(Exception):
    """A backend or a judge that cannot say; the message is why."""


class Target(NamedTuple):
    """Whether one edit succeeded, None where nobody could say; with what it was judged by."""

    success: bool | None
    values: Mapping[str, Any]
    reason: str = ""
    failure: str | None = None


class Preservation(NamedTuple):
    """Whether the words are as expected, None where nobody could say or nobody asks, and why;
    `values` are transcripts and error rates."""

    success: bool | None
    values: Mapping[str, Any]
    reason: str = ""


class Verdicts(NamedTuple):
    """t, p and j of a sample (Appendix E.1), None where there is none."""

    target: bool | None
    preservation: bool | None
    joint: bool | None


def verdict(success: bool, values: Mapping[str, Any], reason: str, failure: str) -> Target:
    """Reason and failure are those of an edit that is not there."""
    return Target(True, values) if success else Target(False, values, reason, failure)


@dataclass(frozen=True)
class Case:
    """`read` gives the clip of a path in the sample."""

    sample: Sample
    source: Waveform
    output: Waveform
    backends: Backends
    read: Callable[[str], Waveform]

    def hear(self, role: str, clip: Waveform) -> Any:
        """What the backend of a role says. Raises NoVerdict where there is none, or where it can
        say nothing of the source; AudioError where it can say nothing of the output."""
        if role not in self.backends:
            raise NoVerdict(f"no backend for {role} is configured")
        try:
            return self.backends(role, clip)
        except AudioError as error:
            if clip is self.output:
                raise
            raise NoVerdict(f"of the source or the reference: {error}") from None

    def transcript_of(self, clip: Waveform) -> Transcript:
        transcript: Transcript = self.hear(f"transcriber_{self.sample.row.language}", clip)
        return transcript

    @cached_property
    def transcript(self) -> Transcript:
        """Of the output."""
        return self.transcript_of(self.output)

    def ask(self, question: Question[Reply]) -> Reply:
        """The judge's answer. Raises NoVerdict where no judge is configured, NoAnswer where it
        has none."""
        if "judge" not in self.backends:
            raise NoVerdict("no judge is configured")
        answer = self.backends.model("judge").ask(question)
        if answer.value is None:
            raise NoAnswer(f"the judge gave no verdict: {answer.reason}")
        value: Reply = answer.value
        return value


class NoAnswer(NoVerdict):
    """A judge that was asked, and gave no answer that can be read."""


class Rules(Protocol):
    """How what is heard of an output becomes verdicts: the released code's way, or ours."""

    def target(self, case: Case, edit: Edit) -> Target:
        """Whether the output shows this edit."""
        ...

    def preservation(self, case: Case) -> Preservation:
        """Whether the output says what it should."""
        ...

    def verdicts(
        self, sample: Sample, targets: Sequence[Target], preserved: bool | None
    ) -> Verdicts:
        """Of a sample, from those of its edits, in their order, and of its words."""
        ...

    def failed(self, sample: Sample, output: Missing) -> Verdicts:
        """Of an output that is missing or cannot be read; its edits have that of the target."""
        ...
