"""The page of a benchmark run: its tables, why outputs fail, and each record with its clips."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from auditeval import jsonl, reading
from auditeval.benchmarking import make_backends
from auditeval.benchmarks.benchmark import Benchmark, Record
from auditeval.benchmarks.opening import Asked, Name, open_benchmark
from auditeval.benchmarks.run import RECORDS, SETTINGS
from auditeval.benchmarks.systems import BASELINES, OutputFolder
from auditeval.benchmarks.verdicts import Words, edit
from auditeval.outputs import inputs_of
from auditeval.pages.choice import Choice, choose
from auditeval.pages.page import Page
from auditeval.pages.rows import Rows, Scale, to_column
from auditeval.table import Cell, Column, Content, Table
from auditeval.text import counted
from auditeval.types import Undefined, UserError

NAMES: tuple[Name, ...] = ("speecheditbench", "swanbench", "salmon", "mmae")
_MOST_SCALES, _MOST_FAILURES = 6, 5
_COMPARED = ("transcript_expected", "transcript")
_NO_PAIRS: dict[Name, str] = {
    "salmon": "SALMon edits nothing",
    "swanbench": "what SwanBench-Speech rates has no original to be heard beside",
}


def of_run(folder: Path, name: Name, most: int, seed: int) -> Page:
    """Of the folder that `auditeval bench` wrote; clips are heard where samples and outputs lie
    where they did and are the same."""
    report = reading.json_file(folder / f"{name}.json")
    try:
        tables = [_table(found) for found in report["tables"].values()]
    except (LookupError, TypeError, AttributeError):
        raise UserError(f"{folder / name}.json: is no report of `auditeval bench`") from None
    paths = sorted(folder.glob(f"*/{RECORDS}"))
    records = [record for path in paths for _, record in jsonl.objects(path)]
    rows = of_records(records)
    clips, said = _clips(folder, name, records)
    if clips:
        rows.clips = [clip for clip, _ in clips]
        for place, name_of in enumerate(Words._fields):
            if any(words[place] for _, words in clips):
                rows.words[name_of.replace("_", " ")] = [words[place] for _, words in clips]
        if "original caption" in rows.words:
            rows.compared.append(("original caption", "target caption"))
    return Page(
        f"Benchmark {name}",
        {"systems": ", ".join(path.parent.name for path in paths), "records": f"{len(records):,}"},
        {"Results": tables, **({"Failures": failures} if (failures := _failures(records)) else {})},
        rows,
        _choices(rows, records, most, seed),
        [f"No clips: {said}."] if said else [],
    )


def of_records(records: Sequence[Record]) -> Rows:
    """A row a record: its plain values as columns, the others as lines under `details`."""
    rows = Rows([str(record["id"]) for record in records])
    plain = [_plain(record) for record in records]
    for name in dict.fromkeys(key for found in plain for key in found if key != "id"):
        values = [found.get(name) for found in plain]
        known = [value for value in values if value is not None]
        if all(isinstance(value, (int, float)) for value in known) and known:
            rows.numbers[name] = to_column(values)
        elif any(value != "" for value in known):
            rows.words[name] = ["" if value is None else str(value) for value in values]
    details = [
        "\n".join(_lines({name: x for name, x in record.items() if name not in found}))
        for record, found in zip(records, plain, strict=True)
    ]
    if any(details):
        rows.words["details"] = details
    numbers = sorted(rows.numbers, key=lambda name: -int(np.isfinite(rows.numbers[name]).sum()))
    rows.scales = [Scale(name, name) for name in rows.numbers if name in numbers[:_MOST_SCALES]]
    rows.listed = [
        name
        for name in (
            "system",
            "task",
            "status",
            "failure",
            "reason",
            *(s.name for s in rows.scales),
        )
        if name in rows.words or name in rows.numbers
    ]
    if rows.words.keys() >= set(_COMPARED):
        rows.compared.append(_COMPARED)
    return rows


def _plain(record: Record) -> dict[str, Any]:
    """What is no list and no object; truth is a word, and so are lists of words."""
    found: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, bool):
            found[name] = "yes" if value else "no"
        elif name == "undefined":
            found[name] = "\n".join(f"{of}: {why}" for of, why in value.items()) or None
        elif isinstance(value, list) and value and all(isinstance(one, str) for one in value):
            found[name] = ", ".join(value)
        elif not isinstance(value, (list, dict)):
            found[name] = value
    return found


def _lines(value: Any, depth: int = 0) -> list[str]:
    """Nested values as an outline, a line each."""
    space = "  " * depth
    if isinstance(value, Mapping):
        made = []
        for name, of in value.items():
            if isinstance(of, (Mapping, list)) and of:
                made += [f"{space}{name}:", *_lines(of, depth + 1)]
            elif of not in (None, "", [], {}):
                made.append(f"{space}{name}: {_word(of)}")
        return made
    if isinstance(value, list):
        made = []
        for place, of in enumerate(value, start=1):
            nested = isinstance(of, (Mapping, list))
            made += [f"{space}{place}.", *_lines(of, depth + 1)] if nested else [f"{space}{of}"]
        return made
    return [f"{space}{_word(value)}"]


def _word(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _failures(records: Sequence[Record]) -> list[Table]:
    """How often each system fails by each type, where some do."""
    systems = list(dict.fromkeys(str(record["system"]) for record in records))
    counts = Counter((str(record["system"]), kind) for record in records if (kind := _kind(record)))
    kinds = [kind for kind, _ in Counter(kind for _, kind in counts.elements()).most_common()]
    if not kinds:
        return []
    total = Counter(str(record["system"]) for record in records)
    rows: list[list[Content]] = [
        [system, *(counts[system, kind] for kind in kinds), total[system]] for system in systems
    ]
    columns = [Column("system", label=True), *map(Column, kinds), Column("records")]
    return [Table(title="Failures by type", columns=columns, rows=rows, marked=False)]


def _kind(record: Record) -> str:
    """What a record fails by; "" for one that does not."""
    if record["status"] != "ok":
        return str(record["failure"] or record["status"])
    missed = any(not one.get("right") for one in record.get("rubrics") or ())
    return str(record.get("failure") or ("rubric missed" if missed else ""))


def _choices(rows: Rows, records: Sequence[Record], most: int, seed: int) -> list[Choice]:
    """Some of each type of failure, by every system in turn, then some drawn ones."""
    of: dict[str, list[int]] = {}
    for row, record in enumerate(records):
        if kind := _kind(record):
            of.setdefault(kind, []).append(row)
    made = []
    for kind, found in sorted(of.items(), key=lambda item: -len(item[1]))[:_MOST_FAILURES]:
        turns = Counter[str]()
        order = []
        for row in found:
            system = str(records[row]["system"])
            silent = not rows.clips or None in rows.clips[row]  # of baselines there are no files
            order.append((silent, turns[system], row))
            turns[system] += not silent
        chosen = [row for _, _, row in sorted(order)[:most]]
        made.append(Choice(f"Failure: {kind}", counted(len(found), "record", "records"), chosen))
    drawn = [choice for choice in choose(rows, most, seed) if choice.name == "Random"]
    return [*made, *drawn]


Clip = tuple[Path | None, Path | None]


def _clips(
    folder: Path, name: Name, records: Sequence[Record]
) -> tuple[list[tuple[Clip, Words]], str]:
    """Both clips and the words of each record, or why there are none."""
    given = [path.resolve() for path in inputs_of(folder)]
    if name in _NO_PAIRS:
        return [], _NO_PAIRS[name]
    if not given:
        return [], "it is not known where samples and outputs lie"
    wanted = {path.parent.name: path for path in sorted(folder.glob(f"*/{SETTINGS}"))}
    ids: dict[str, set[str]] = {}
    for record in records:
        ids.setdefault(str(record["system"]), set()).add(str(record["id"]))
    outputs = given[-max(1, sum(system not in BASELINES for system in wanted)) :]
    samples_in = [path for path in given if path not in outputs]
    try:
        places = {str(place): path for place, path in enumerate(outputs)}
        asked = Asked.of(samples_in, make_backends("offline"), places)
        benchmark, contestants = open_benchmark(name, asked)
    except (UserError, OSError) as error:
        return [], str(error)
    samples = {sample.id: sample for sample in benchmark.samples}
    files = {
        system: found
        for system, path in wanted.items()
        if (found := _outputs(path, contestants, ids.get(system, set()))) is not None
    }
    return [_clip(benchmark, samples, files, record) for record in records], ""


def _clip(
    benchmark: Benchmark,
    samples: Mapping[str, Any],
    files: Mapping[str, Mapping[str, Path]],
    record: Record,
) -> tuple[Clip, Words]:
    sample, system = samples.get(record["id"]), str(record["system"])
    if sample is None:
        return (None, None), Words()
    original, words = edit(benchmark.name, sample)
    edited = original if system == "identity" else files.get(system, {}).get(record["id"])
    return (original, edited), words


def _outputs(
    settings: Path, contestants: Sequence[Any], ids: set[str]
) -> Mapping[str, Path] | None:
    """Of those, the outputs that a system's records were made of, by their digest."""
    written = reading.json_file(settings)
    for one in contestants:
        if isinstance(one, OutputFolder):
            files = {id: path for id, path in one.files.items() if id in ids}
            now = OutputFolder(one.name, files).settings
            if all(written.get(key) == value for key, value in now.items()):
                return files
    return None


def _table(plain: Mapping[str, Any]) -> Table:
    """As `report.render.to_json` wrote it."""

    def content(value: Any) -> Content:
        if not isinstance(value, Mapping):
            return value
        found = value["value"]
        number: float | Undefined = Undefined(value["undefined"]) if found is None else found
        return Cell(number, value["interval"]) if value.get("interval") else number

    columns = [Column(x["name"], x["better"], x["unit"]) for x in plain["columns"]]
    return Table(
        title=plain["title"],
        columns=[Column("", label=True), *columns],
        rows=[
            [label, *(content(values.get(column.name)) for column in columns)]
            for label, values in plain["rows"].items()
        ],
        notes=plain["notes"],
    )
