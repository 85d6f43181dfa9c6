"""SpeechEditBench: outputs to records (Appendices E and F), records to rates and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from auditeval import audio
from auditeval.audio import AudioError, Waveform
from auditeval.backends.load import Backends
from auditeval.benchmarks.benchmark import BenchmarkTable, Missing, Output, Record, Value
from auditeval.benchmarks.provenance import stand_ins
from auditeval.benchmarks.selection import WHOLE, Selection
from auditeval.benchmarks.speecheditbench import comparison, failures, rates, tables
from auditeval.benchmarks.speecheditbench.anchors import AcousticAnchor
from auditeval.benchmarks.speecheditbench.case import (
    Case,
    NoVerdict,
    Preservation,
    Rules,
    Target,
)
from auditeval.benchmarks.speecheditbench.official.judging import IN_OUR_WORDS
from auditeval.benchmarks.speecheditbench.official.rules import Official
from auditeval.benchmarks.speecheditbench.ours import Ours
from auditeval.benchmarks.speecheditbench.result_files import result_files
from auditeval.benchmarks.speecheditbench.results import Result
from auditeval.benchmarks.speecheditbench.samples import TASKS, Sample, Task, digest, read
from auditeval.metrics import signal
from auditeval.metrics.speakers import speaker_similarity
from auditeval.metrics.transcript import preserved
from auditeval.types import Undefined, UserError

PAPER = {
    "transcriber_en": "whisper-large-v3",
    "transcriber_zh": "paraformer-zh",
    "speaker": "wavlm-large-ecapa-tdnn",
    "pitch": "pyin",
    "speech_quality": "dnsmos-p835",
    "tagger": "panns-cnn14",
    "judge": "gemini-2.5-pro",
}
"""Whose word counts in the paper (Table 12), which of the judge names the family only; this one is
the released code's."""


_RULES: dict[str, Rules] = {"official": Official(), "ours": Ours()}


class SpeechEditBench:
    """The samples of a folder laid out as the public repository's.

    `protocol` says whose rules make the verdicts: those of the released code ("official"), those of
    Table 12 as this package reads them ("ours"), or "both", which evaluates by each. A sample whose
    verdict needs a role that `backends` do not have is unscored. A task may be named as in the
    folder too ("style_editing"). Where all systems are result files (`results`), nothing is
    listened to: without `with_audio` samples.jsonl alone has to be there.
    """

    name = "speecheditbench"

    def __init__(
        self,
        root: Path,
        backends: Backends,
        selection: Selection = WHOLE,
        *,
        with_audio: bool = True,
        protocol: str = "official",
    ) -> None:
        tasks = tuple(task.removesuffix("_editing") for task in selection.tasks)
        self._selection = replace(selection, tasks=tasks)
        self._selection.check(TASKS)
        self.samples: list[Sample] = self._selection.of(
            read(root, [task for task in TASKS if not tasks or task in tasks], with_audio),
            TASKS,
            lambda sample: [sample.row.task],
            lambda sample: self._seconds(sample),
        )
        self._backends, self._with_audio, self._protocol = backends, with_audio, protocol
        self._rules = {name: rules for name, rules in _RULES.items() if protocol in (name, "both")}
        # One source serves several samples of the public set, and each of several systems.
        self._decoded = lru_cache(maxsize=64)(audio.decode)

    @cached_property
    def settings(self) -> dict[str, Any]:
        return {
            "protocol": self._protocol,
            "samples_sha256": digest(self.samples, self._with_audio),
            **self._selection.settings,
            "backends": self._backends.named(list(PAPER)) if self._with_audio else {},
            "diagnostics": [name for name in ("pesq", "pystoi") if find_spec(name)],
        }

    def source(self, sample: Sample) -> Waveform | Undefined:
        """The clip to edit. Raises UserError for a file that cannot be read."""
        return self._read(sample, sample.row.audio_path)

    def evaluate(self, sample: Sample, output: Output | Result) -> Record:
        """`edits` has what was asked for, each with its verdict; an atomic sample has one.

        `target_success`, `preservation_success` and `joint_success` are t, p and j of Appendix
        E.1, null where nobody could say. Content editing has no p, and j is t (E.1). By both
        protocols the verdicts are the released code's, and "ours" holds ours.
        """
        record: Record = {
            "status": "ok",
            "reason": "",
            "failure": None,
            "task": sample.row.task,
            "language": sample.row.language,
            "subset": sample.row.subset,
            "groups": sample.groups,
            "source_dataset": sample.row.source_dataset,
        }
        first = next(iter(self._rules))
        if isinstance(output, Missing):
            made = {name: _failed(sample, output, rules) for name, rules in self._rules.items()}
        elif isinstance(output, Result):
            return record | output.record(sample)
        else:
            read = partial(self._read, sample)
            case = Case(sample, read(sample.row.audio_path), output, self._backends, read)
            beside = {first: _diagnostics(case)}
            made = {
                name: _evaluated(case, rules, beside.get(name, {}))
                for name, rules in self._rules.items()
            }
        return {**record, "protocol": first, **made.pop(first), **made}

    def values(self, records: Sequence[Record]) -> dict[str, Value]:
        """See `rates.values`."""
        return rates.values(records, self._judged)

    def tables(self, systems: Mapping[str, Sequence[Record]]) -> list[BenchmarkTable]:
        """Tables 2 to 6 and Figure 3 of the paper, what each task is broken down by, coverage and
        failure types; of both protocols those by the official one, then how often ours differs."""
        first = next(iter(self._rules))
        heard = stand_ins(self._backends, self._paper) if self._with_audio else []
        sentences = [*self._selection.sentences, *heard]
        if first == "ours":
            sentences.insert(0, "rules: ours, where the released code's are others (--protocol)")
        elif self._with_audio and self._asks:
            sentences.append(IN_OUR_WORDS)
        made = tables.tables(systems, sentences, self._judged, first)
        return [*made, comparison.table(systems)] if len(self._rules) > 1 else made

    def result_files(self, system: str, records: Sequence[Record]) -> dict[str, Any]:
        """As the released code lays them out (docs/evaluation.md there), in eval_results/; none of
        verdicts that were read from such files, or that are not by its rules."""
        if "official" not in self._rules or any("verdicts_of" in record for record in records):
            return {}
        eval_set = "subset" if self._selection.settings else "full"
        run_id = self.settings["samples_sha256"][:12]
        files = result_files(system, self.samples, records, eval_set, run_id)
        return {f"eval_results/{path}": result for path, result in files.items()}

    @property
    def _judged(self) -> bool:
        return "judge" in self._backends

    @property
    def _asks(self) -> bool:
        """Whether an edit of these samples is for a judge to hear."""
        return any(edit.anchor.type in rates.JUDGED for s in self.samples for edit in s.edits)

    @property
    def _paper(self) -> dict[str, str]:
        """The roles that these samples call for."""
        languages = {sample.row.language for sample in self.samples}
        absent = {f"transcriber_{language}" for language in ("en", "zh")} - {
            f"transcriber_{language}" for language in languages
        }
        return {role: name for role, name in PAPER.items() if role not in absent}

    def _read(self, sample: Sample, path: str) -> Waveform:
        try:
            return self._decoded(sample.path(path))
        except AudioError as error:
            raise UserError(f"sample {sample.id}: {error}") from None

    def _seconds(self, sample: Sample) -> float:
        try:
            return audio.seconds(sample.files[0])
        except AudioError as error:
            raise UserError(f"sample {sample.id}: {error}") from None


def _failed(sample: Sample, output: Missing, rules: Rules) -> Record:
    """Of an output that is not there, or cannot be read."""
    t, p, j = rules.failed(sample, output)
    return {
        "status": "failed",
        "reason": output.reason,
        "failure": failures.UNREADABLE if output.unreadable else failures.MISSING,
        "target_success": t,
        "preservation_success": p,
        "joint_success": j,
        "edits": [
            {"type": edit.anchor.type, "edit": edit.anchor.edit, "success": t}
            for edit in sample.edits
        ],
    }


def _evaluated(case: Case, rules: Rules, beside: Mapping[str, Any]) -> Record:
    """What one protocol makes of an output, with values that are told beside."""
    sample = case.sample
    targets = [rules.target(case, edit) for edit in sample.edits]
    said = rules.preservation(case)
    t, p, j = rules.verdicts(sample, targets, said.success)
    return {
        "status": "ok",
        "reason": "",
        "failure": None,
        "target_success": t,
        "preservation_success": p,
        "joint_success": j,
        **_explained(sample.row.task, targets, said, p),
        "edits": [
            {"type": edit.anchor.type, "edit": edit.anchor.edit, **_plain_target(found)}
            for edit, found in zip(sample.edits, targets, strict=True)
        ],
        **_plain({**said.values, **beside}),
    }


def _explained(task: Task, targets: Sequence[Target], said: Preservation, p: bool | None) -> Record:
    """Status, and the first reason why the sample does not count or is to be looked at."""
    unscored = [found.reason for found in targets if found.failure == failures.UNSCORED]
    if said.reason and task != "content":
        unscored.append(said.reason)
    if unscored:
        return {"status": "unscored", "reason": unscored[0], "failure": failures.UNSCORED}
    missed = [found for found in targets if not found.success]
    if missed:
        failure = missed[0].failure
        if task == "compositional":
            partial = len(missed) < len(targets)
            failure = failures.PARTIAL_SUCCESS if partial else failures.TARGET_NOT_APPLIED
        return {"reason": "; ".join(found.reason for found in missed), "failure": failure}
    rate = said.values.get("error_rate")
    if isinstance(rate, float) and not preserved(rate):
        failure = failures.NOT_PRESERVED if p is False else failures.GLOBAL_DRIFT
        if task == "acoustic":
            failure = failures.ACOUSTIC_WITHOUT_PRESERVATION
        return {"reason": f"error rate {rate:.3f} against the expected words", "failure": failure}
    return {}


def _diagnostics(case: Case) -> dict[str, Any]:
    """What is told beside the verdicts and never part of them (Appendix E.5)."""

    def said(measure: Callable[[], Any]) -> Any:
        try:
            return measure()
        except (NoVerdict, AudioError) as error:
            return Undefined(str(error))

    def similarity() -> float:
        return speaker_similarity(*(case.hear("speaker", c) for c in (case.source, case.output)))

    return {"source_similarity": said(similarity), **_against_clean(case)}


def _against_clean(case: Case) -> dict[str, Any]:
    """PESQ and STOI of an enhanced clip, where its clean reference and the packages are there."""
    for edit in case.sample.edits:
        anchor = edit.anchor
        if not isinstance(anchor, AcousticAnchor) or anchor.subtask != "enhancement":
            continue
        written = anchor.target_reference_path
        if written and case.sample.path(written).is_file():
            measures = {"pesq": signal.pesq_wideband, "pystoi": signal.stoi}
            try:
                clean = audio.decode(case.sample.path(written))
            except AudioError as error:
                unread = Undefined(f"the clean reference: {error}")
                return {package.removeprefix("py"): unread for package in measures}
            return {
                package.removeprefix("py"): measure(clean, case.output)
                for package, measure in measures.items()
                if find_spec(package)
            }
    return {}


def _plain_target(found: Target) -> dict[str, Any]:
    told = {"success": found.success, "reason": found.reason, "failure": found.failure}
    return told | _plain(found.values)


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON: six decimals, null for what is undefined, its reason under `undefined`."""
    undefined: dict[str, str] = {}

    def plain(value: Any, name: str) -> Any:
        if isinstance(value, Undefined):
            undefined[name] = value.reason
            return None
        if isinstance(value, Mapping):
            return {key: plain(part, f"{name}.{key}") for key, part in value.items()}
        return round(value, 6) if isinstance(value, float) else value

    made = {name: plain(value, name) for name, value in values.items()}
    return {**made, "undefined": undefined}
