"""The layouts of SwanBench-Speech's Tables 2 and 3, its scenarios and its radar chart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from auditeval.backends.load import Backends
from auditeval.benchmarks.benchmark import BenchmarkTable, Record, Value
from auditeval.benchmarks.protocols import PROTOCOLS
from auditeval.benchmarks.provenance import is_papers, model_name, title
from auditeval.benchmarks.swanbench.means import comparable, deviation, gaps, mean, share
from auditeval.benchmarks.swanbench.radar import HIGH, LOW, shifted_pesq, stretched
from auditeval.table import Column, Content, Direction
from auditeval.types import Undefined

Systems = Mapping[str, Sequence[Record]]
Timings = Mapping[str, Mapping[str, float]]


class _Metric(NamedTuple):
    """The paper's heading, the role behind it, and which direction is better."""

    heading: str
    role: str
    better: Direction


METRICS: Mapping[str, _Metric] = {
    "timbre": _Metric("Timbre", "speaker", "higher"),
    "reverb": _Metric("Reverb", "activity", "lower"),
    "fidelity": _Metric("Sound Fidelity", "fidelity", "higher"),
    "content": _Metric("Content", "", "lower"),
    "prosody": _Metric("Prosody", "prosody_judge", "higher"),
    "richness": _Metric("Richness", "expressiveness_judge", "higher"),
    "hierarchy": _Metric("Hierarchy", "expressiveness_judge", "higher"),
}
_CONTENT = {"zh": ("CER (zh)", "transcriber_zh"), "en": ("WER (en)", "transcriber_en")}
(PROTOCOL,) = PROTOCOLS["swanbench"]
_RATINGS = ("PESQ", "OVRL")
_ALIGNMENT = "who speaks when: the recogniser's words stand in for WhisperX (en), Paraformer (zh)"
_CLIPPED = "An output's content error counts up to 1, which is that of a missing output."
_TURNS = "Turns verified"
_VERIFIED = (
    f"{_TURNS}: of the outputs whose turns are found, those in which two voices are heard; timbre "
    "is over these alone."
)
_UNMARKED = (
    "Means without an arrow are over different samples from row to row: none of them is best."
)


def fidelity_rating(ratings: Mapping[str, float]) -> str:
    """Which of a fidelity backend's ratings is used: SQUIM's PESQ, else DNSMOS's overall."""
    return next((name for name in _RATINGS if name in ratings), next(iter(ratings)))


def column_names(backends: Backends, paper: Mapping[str, str]) -> dict[str, str]:
    """Headings by metric and language: the paper's, followed by the model that stands in."""
    names = {metric: (m.heading, m.role) for metric, m in METRICS.items() if m.role} | _CONTENT
    found = {}
    for key, (heading, role) in names.items():
        model = backends.model(role) if role in backends else None
        if model is None or role not in paper or is_papers(model, paper[role]):
            found[key] = heading
        else:  # what another model rates is not the paper's fidelity
            what = "Quality" if key == "fidelity" else heading
            found[key] = f"{what} by {model_name(model)}"
    return found


def values(records: Sequence[Record], timings: Timings) -> dict[str, Value]:
    """Of one system, flat; see `SwanBench.values`."""
    found: dict[str, Value] = {metric: mean(records, metric) for metric in METRICS}
    found |= {"cer_zh": mean(records, "zh"), "wer_en": mean(records, "en")}
    found["turns_verified"] = mean([r for r in records if r["speakers"] > 1], "turns")
    found |= {f"{metric}_coverage": share(records, metric) for metric in METRICS}
    count = len(records)
    outputs = sum(record["status"] != "failed" for record in records)
    answered = sum(record["status"] == "ok" for record in records)
    found["coverage"] = outputs / count if count else Undefined("no samples")
    found["answered"] = answered / count if count else Undefined("no samples")
    factors = real_time_factors(records, timings)
    found["real_time_factor"] = (
        factors if isinstance(factors, Undefined) else float(np.mean(factors))
    )
    return found


def of(
    systems: Systems,
    columns: Mapping[str, str],
    sentences: Sequence[str],
    verifier: str,
    timings: Timings,
) -> list[BenchmarkTable]:
    """Table 2 (one speaker), Table 3 (two), Table 13 (more), scenarios, and the radar chart.

    `sentences` say what stands in for the paper's, `verifier` what does for that of the turns.
    """
    kinds: dict[str, tuple[str, str, Callable[[int], bool]]] = {
        "swanbench": ("Table 2", "one speaker", lambda n: n == 1),
        "swanbench_dialogue": ("Table 3", "two speakers", lambda n: n == 2),
        "swanbench_multispeaker": ("Table 13", "three speakers or more", lambda n: n > 2),
    }
    made = []
    for name, (numbered, what, belongs) in kinds.items():
        kept = {s: [r for r in rs if belongs(r["speakers"])] for s, rs in systems.items()}
        if any(kept.values()):
            said = _of_dialogue(kept, sentences, verifier)
            heading = title("SwanBench-Speech", numbered, what, said, PROTOCOL)
            made.append(_means(name, heading, kept, columns, said, timings))
    said = _of_dialogue(systems, sentences, verifier)
    return [*made, _scenarios(systems, columns, said), _radar(systems, columns, said)]


def real_time_factors(records: Sequence[Record], timings: Timings) -> list[float] | Undefined:
    """Seconds of inference over seconds of audio of each output; lower is better [F.1, equation 5].

    Undefined without outputs, without timings, or where an output has none.
    """
    made = [record for record in records if record["seconds"] is not None]
    if not made:
        return Undefined("no outputs")
    known = timings.get(str(made[0].get("system")), {})
    if missing := [record["id"] for record in made if record["id"] not in known]:
        return Undefined(f"no inference time of {len(missing)} of {len(made)} outputs")
    return [known[record["id"]] / record["seconds"] for record in made]


def _means(
    name: str,
    heading: str,
    systems: Systems,
    columns: Mapping[str, str],
    sentences: Sequence[str],
    timings: Timings,
) -> BenchmarkTable:
    dialogue = _several_speak(systems)
    rows: dict[str, dict[str, Content]] = {}
    for system, records in systems.items():
        row: dict[str, Content] = {}
        for key, column in _keys(columns):
            row[column] = mean(records, key)
            if key not in _CONTENT:
                row[f"± {column}"] = deviation(records, key)
        if dialogue:
            row[_TURNS] = mean(records, "turns")
        factors = real_time_factors(records, timings)
        for column, over in (("RTF", np.mean), ("± RTF", np.std)):
            row[column] = factors if isinstance(factors, Undefined) else float(over(factors))
        row["Samples"] = len(records)
        row["Outputs"] = sum(record["status"] != "failed" for record in records)
        row["Unscored"] = sum(record["status"] == "unscored" for record in records)
        rows[system] = row
    headings = []
    for key, column in _keys(columns):
        headings.append(_column(column, systems, key))
        if key not in _CONTENT:
            headings.append(Column(f"± {column}"))
    if dialogue:
        headings.append(Column(_TURNS, unit="%"))
    headings.append(Column("RTF", "lower" if comparable(systems, "seconds") else None))
    headings.append(Column("± RTF"))
    counts = (Column("Samples"), Column("Outputs"), Column("Unscored"))
    notes = (
        f"Means over the samples that have a value, ± their standard deviation. {_CLIPPED}",
        _UNMARKED,
        *([_VERIFIED] if dialogue else []),
        *gaps(systems, dict(_keys(columns)) | ({"turns": _TURNS} if dialogue else {})),
        *sentences,
    )
    return BenchmarkTable.of(name, heading, (*headings, *counts), rows, notes)


def _scenarios(
    systems: Systems, columns: Mapping[str, str], sentences: Sequence[str]
) -> BenchmarkTable:
    names = _with_content(columns)
    rows = {f"{system}, {scene}": kept for (system, scene), kept in _by_scene(systems).items()}
    return BenchmarkTable.of(
        "swanbench_scenarios",
        title("SwanBench-Speech", "Figure 11", "means by scenario", sentences, PROTOCOL),
        tuple(_column(names[metric], rows, metric) for metric in METRICS),
        {
            row: {names[metric]: mean(records, metric) for metric in METRICS}
            for row, records in rows.items()
        },
        (
            f"Content: CER of Chinese and WER of English samples. {_CLIPPED}",
            "Lower is better for reverb and content, higher for all else.",
            *gaps(rows, names),
            *sentences,
        ),
    )


def _radar(
    systems: Systems, columns: Mapping[str, str], sentences: Sequence[str]
) -> BenchmarkTable:
    """Least and greatest are those of all systems in all scenarios, as in G.2."""
    names = _with_content(columns)
    cells = {
        place: {metric: mean(records, metric) for metric in METRICS}
        for place, records in _by_scene(systems).items()
    }
    rated = {record["fidelity_rating"] for records in systems.values() for record in records}

    def scaled(metric: str, value: Value) -> Value:
        if metric == "fidelity":
            # A stand-in on the scale of opinions needs no shift.
            return shifted_pesq(value) if "PESQ" in rated else value
        if metric not in ("timbre", "reverb", "content"):
            return value
        everywhere = [found[metric] for found in cells.values()]
        return stretched(value, everywhere, METRICS[metric].better == "lower")

    def scaled_row(found: Mapping[str, Value]) -> dict[str, Content]:
        return {names[metric]: scaled(metric, found[metric]) for metric in METRICS}

    overall = {s: {m: mean(records, m) for m in METRICS} for s, records in systems.items()}
    by_scene: dict[str, dict[str, dict[str, Content]]] = {}
    for (system, scene), found in cells.items():
        by_scene.setdefault(scene, {})[system] = scaled_row(found)
    return BenchmarkTable.of(
        "swanbench_radar",
        title("SwanBench-Speech", "Figure 1", "on the radar's scale, 1 to 5", sentences, PROTOCOL),
        tuple(
            Column(names[metric], "higher" if comparable(systems, metric) else None)
            for metric in METRICS
        ),
        {system: scaled_row(found) for system, found in overall.items()},
        (
            "Timbre, reverb and content are stretched between the worst and the best scenario of "
            f"all systems here, so they change with the systems beside them. {_CLIPPED}",
            _UNMARKED,
            *gaps(systems, names),
            *sentences,
        ),
        radar=tuple(names.values()),
        radar_range=(LOW, HIGH),
        data={
            "scenarios": {
                scene: {
                    system: {n: None if isinstance(c, Undefined) else c for n, c in row.items()}
                    for system, row in rows.items()
                }
                for scene, rows in by_scene.items()
            }
        },
    )


def _of_dialogue(systems: Systems, sentences: Sequence[str], verifier: str) -> list[str]:
    """Where several speak, other models than the paper's tell whose turn it is, and verify it."""
    return [*sentences, _ALIGNMENT, verifier] if _several_speak(systems) else list(sentences)


def _several_speak(systems: Systems) -> bool:
    return any(record["speakers"] > 1 for rs in systems.values() for record in rs)


def _column(name: str, rows: Systems, key: str) -> Column:
    """Without a best where the means are not over the same samples."""
    better: Direction = "lower" if key in _CONTENT else METRICS[key].better
    return Column(name, better if comparable(rows, key) else None)


def _by_scene(systems: Systems) -> dict[tuple[str, str], list[Record]]:
    return {
        (system, scene): [record for record in records if record["scene"] == scene]
        for system, records in systems.items()
        for scene in sorted({record["scene"] for record in records})
    }


def _keys(columns: Mapping[str, str]) -> list[tuple[str, str]]:
    """Keys and headings in the paper's order, content by language."""
    order = [k for metric in METRICS for k in (_CONTENT if metric == "content" else (metric,))]
    return [(key, columns[key]) for key in order]


def _with_content(columns: Mapping[str, str]) -> dict[str, str]:
    """Headings by metric, where both languages share one."""
    return {metric: columns.get(metric, METRICS[metric].heading) for metric in METRICS}
