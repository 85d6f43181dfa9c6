"""Records of a benchmark as verdicts on the axes of an evaluator of edits, with the edits.

Which value of a record is about which axis, and what words a sample gives, is decided here:

- SpeechEditBench: relevance is target success, faithfulness preservation success, quality the gain
  in DNSMOS OVRL of an enhancement, whose gate asks for more BAK too [arXiv:2606.01804, E.1, E.3].
  Captions say the words of the source, and those that are to be heard with the instruction.
- MMAE: relevance is a sample's instruction-following rate, faithfulness its consistency rate
  [arXiv:2606.07229]. Nothing describes the input: all that is said is the instruction.

SwanBench-Speech makes speech from text: there is no original that an evaluator could compare with.
SALMon edits nothing either, and is the metric SALMonAccuracy of auditeval.training.evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from auditeval import jsonl
from auditeval.benchmarks.benchmark import Benchmark, Record
from auditeval.benchmarks.run import RECORDS, SETTINGS
from auditeval.benchmarks.systems import OutputFolder, System
from auditeval.reading import json_file
from auditeval.types import Axis, EditPair, UserError


class Verdict(NamedTuple):
    """A grade, higher is better, and whether it is a success, where the benchmark has a gate."""

    grade: float
    success: bool | None = None


Verdicts = Mapping[Axis, Verdict]


class Words(NamedTuple):
    """What is said of a sample, "" for what is not: as the fields of an `EditPair`."""

    original_caption: str = ""
    target_caption: str = ""
    instruction: str = ""


class Judged(NamedTuple):
    """An edit, and what the benchmark found of it on the axes that it has a verdict on."""

    pair: EditPair
    verdicts: Verdicts


class _Reading(NamedTuple):
    """How samples and records of a benchmark are read; `axes` are those it can have verdicts on."""

    axes: tuple[Axis, ...]
    original: Callable[[Any], Path | None]
    words: Callable[[Any], Words]
    verdicts: Callable[[Record], dict[Axis, Verdict]]


def edit(benchmark: str, sample: Any) -> tuple[Path | None, Words]:
    """The original clip of a sample, None where it has none, and its words; of a benchmark without
    edits neither."""
    reading = _READINGS.get(benchmark)
    return (None, Words()) if reading is None else (reading.original(sample), reading.words(sample))


def axes(benchmark: str) -> tuple[Axis, ...]:
    """Those that a benchmark can have verdicts on; raises UserError for one without edits."""
    if benchmark not in _READINGS:
        raise UserError(
            f"{benchmark}: has no verdicts on edits to agree with; expected one of "
            f"{', '.join(_READINGS)}"
        )
    return _READINGS[benchmark].axes


def recorded(benchmark: Benchmark, systems: Sequence[System], run: Path) -> list[Judged]:
    """What `auditeval bench` wrote of these systems into the folder `run`, by system, in its order.

    Samples without an original, and outputs that are missing, have no edit. Raises UserError naming
    the file and line of what is no record of one of these samples, and for records that were made
    of other outputs than the systems have now.
    """
    reading = _READINGS[benchmark.name]
    samples = {sample.id: sample for sample in benchmark.samples}
    found = []
    for system in systems:
        if not isinstance(system, OutputFolder):
            raise UserError(f"{system.name}: expected its outputs, found verdicts without audio")
        path = run / system.name / RECORDS
        if not path.is_file():
            raise UserError(f"{path}: no such records; expected a finished run of that system")
        ids = []
        for where, record in jsonl.objects(path):
            id = record.get("id")
            if id not in samples:
                raise UserError(f"{where}: {id!r} is no sample of this {benchmark.name}")
            ids.append(id)
            try:
                # What a judge left open, or was not there, is no verdict on an edit.
                verdicts = reading.verdicts(record) if record["status"] == "ok" else {}
            except (LookupError, TypeError, ValueError, AttributeError):
                raise UserError(f"{where}: is no record of {benchmark.name}") from None
            original, output = reading.original(samples[id]), system.files.get(id)
            if original is not None and output is not None:
                pair = EditPair(
                    id=f"{system.name}: {id}",
                    original=original,
                    edited=output,
                    **reading.words(samples[id])._asdict(),
                    system=system.name,
                    source=id,
                )
                found.append(Judged(pair, verdicts))
        _check_outputs(run / system.name / SETTINGS, system, ids)
    return found


def _check_outputs(path: Path, system: OutputFolder, ids: Sequence[str]) -> None:
    there = {id: file for id, file in system.files.items() if id in ids}
    now = OutputFolder(system.name, there).settings
    written = json_file(path)
    if not isinstance(written, dict) or any(written.get(key) != now[key] for key in now):
        raise UserError(f"{path}: was made of other outputs than those of {system.name} are now")


def _of_speech_edit(record: Record) -> dict[Axis, Verdict]:
    names: dict[Axis, str] = {
        "relevance": "target_success",
        "faithfulness": "preservation_success",  # of a content edit there is none
    }
    found = {
        axis: Verdict(float(success), bool(success))
        for axis, name in names.items()
        if (success := record[name]) is not None
    }
    for edit in record["edits"]:
        if gains := edit.get("dnsmos_gain"):
            found["quality"] = Verdict(float(gains["OVRL"]), edit["success"])
    return found


def _of_rubrics(record: Record) -> dict[Axis, Verdict]:
    rates: dict[Axis, str] = {"relevance": "ifr", "faithfulness": "cr"}
    return {
        axis: Verdict(float(record[name]))
        for axis, name in rates.items()
        if record[name] is not None
    }


def _speech_words(sample: Any) -> Words:
    said = f'A person says: "{sample.row.transcript}"'
    target = f'A person says: "{sample.expected_transcript}" {sample.row.instruction}'
    return Words(said, target.strip())


_READINGS: Mapping[str, _Reading] = {
    "speecheditbench": _Reading(
        ("quality", "relevance", "faithfulness"),
        lambda sample: sample.files[0],
        _speech_words,
        _of_speech_edit,
    ),
    "mmae": _Reading(
        ("relevance", "faithfulness"),
        lambda sample: sample.inputs[0] if sample.inputs else None,
        lambda sample: Words(instruction=sample.instruction),
        _of_rubrics,
    ),
}
