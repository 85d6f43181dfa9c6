"""The layouts of SwanBench-Speech's Tables 2 and 3, its scenarios and its radar chart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from auditeval.backends.load import Backends
from auditeval.benchmarks.benchmark import Column, Direction, Record, Table, Value
from auditeval.benchmarks.provenance import is_papers, model_name, title
from auditeval.benchmarks.swanbench.radar import HIGH, LOW, shifted_pesq, stretched
from auditeval.types import Undefined

Cell = float | str | Undefined
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
_RATINGS = ("PESQ", "OVRL")


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
    found: dict[str, Value] = {metric: _mean(records, metric) for metric in METRICS}
    for language, (_, role) in _CONTENT.items():
        name = "cer_zh" if role.endswith("zh") else "wer_en"
        found[name] = _mean(_of(records, language), "content")
    count = len(records)
    outputs = sum(record["status"] != "failed" for record in records)
    answered = sum(record["status"] == "ok" for record in records)
    found["coverage"] = outputs / count if count else Undefined("no samples")
    found["answered"] = answered / count if count else Undefined("no samples")
    found["real_time_factor"] = real_time_factor(records, timings)
    return found


def of(
    systems: Systems, columns: Mapping[str, str], sentences: Sequence[str], timings: Timings
) -> list[Table]:
    """Table 2 (one speaker), Table 3 (two), Table 13 (more), scenarios, and the radar chart."""
    kinds: dict[str, tuple[str, str, Callable[[int], bool]]] = {
        "swanbench": ("Table 2", "one speaker", lambda n: n == 1),
        "swanbench_dialogue": ("Table 3", "two speakers", lambda n: n == 2),
        "swanbench_multispeaker": ("Table 13", "three speakers or more", lambda n: n > 2),
    }
    made = []
    for name, (numbered, what, belongs) in kinds.items():
        kept = {s: [r for r in rs if belongs(r["speakers"])] for s, rs in systems.items()}
        if any(kept.values()):
            heading = title("SwanBench-Speech", numbered, what, sentences)
            made.append(_means(name, heading, kept, columns, sentences, timings))
    return [*made, _scenarios(systems, columns, sentences), _radar(systems, columns, sentences)]


def real_time_factor(records: Sequence[Record], timings: Timings) -> Value:
    """Seconds of inference over seconds of audio, both summed over the outputs; lower is better.

    Undefined without timings, or where an output has none.
    """
    made = [record for record in records if record["seconds"] is not None]
    if not made:
        return Undefined("no outputs")
    known = timings.get(str(made[0].get("system")), {})
    if missing := [record["id"] for record in made if record["id"] not in known]:
        return Undefined(f"no inference time of {len(missing)} of {len(made)} outputs")
    seconds = sum(record["seconds"] for record in made)
    return sum(known[record["id"]] for record in made) / seconds


def _means(
    name: str,
    heading: str,
    systems: Systems,
    columns: Mapping[str, str],
    sentences: Sequence[str],
    timings: Timings,
) -> Table:
    rows: dict[str, dict[str, Cell]] = {}
    for system, records in systems.items():
        row: dict[str, Cell] = {}
        for key, column in _keys(columns):
            kept, metric = (_of(records, key), "content") if key in _CONTENT else (records, key)
            row[column] = _mean(kept, metric)
            if metric != "content":
                row[f"± {column}"] = _deviation(kept, metric)
        row["RTF"] = real_time_factor(records, timings)
        row["Samples"] = len(records)
        row["Outputs"] = sum(record["status"] != "failed" for record in records)
        row["Unscored"] = sum(record["status"] == "unscored" for record in records)
        rows[system] = row
    headings = []
    for key, column in _keys(columns):
        headings.append(Column(column, "lower" if key in _CONTENT else METRICS[key].better))
        if key not in _CONTENT:
            headings.append(Column(f"± {column}"))
    counts = (Column("Samples"), Column("Outputs"), Column("Unscored"))
    notes = (
        "Means over samples, ± their standard deviation. A missing output has a content error of "
        "1 and no other value: means of systems with fewer outputs are not comparable.",
        *sentences,
    )
    return Table(name, heading, (*headings, Column("RTF", "lower"), *counts), rows, notes)


def _scenarios(systems: Systems, columns: Mapping[str, str], sentences: Sequence[str]) -> Table:
    cells = _by_scene(systems)
    names = _with_content(columns)
    return Table(
        "swanbench_scenarios",
        title("SwanBench-Speech", "Figure 11", "means by scenario", sentences),
        tuple(Column(names[metric], m.better) for metric, m in METRICS.items()),
        {
            f"{system}, {scene}": {names[metric]: found[metric] for metric in METRICS}
            for (system, scene), found in cells.items()
        },
        ("Content: CER of Chinese and WER of English samples.", *sentences),
    )


def _radar(systems: Systems, columns: Mapping[str, str], sentences: Sequence[str]) -> Table:
    """Least and greatest are those of all systems in all scenarios, as in G.2."""
    cells, names = _by_scene(systems), _with_content(columns)
    rated = {record["fidelity_rating"] for records in systems.values() for record in records}

    def scaled(metric: str, value: Value) -> Value:
        if metric == "fidelity":
            # A stand-in on the scale of opinions needs no shift.
            return shifted_pesq(value) if "PESQ" in rated else value
        if metric not in ("timbre", "reverb", "content"):
            return value
        everywhere = [found[metric] for found in cells.values()]
        return stretched(value, everywhere, METRICS[metric].better == "lower")

    def scaled_row(found: Mapping[str, Value]) -> dict[str, Cell]:
        return {names[metric]: scaled(metric, found[metric]) for metric in METRICS}

    overall = {s: {m: _mean(records, m) for m in METRICS} for s, records in systems.items()}
    by_scene: dict[str, dict[str, dict[str, Cell]]] = {}
    for (system, scene), found in cells.items():
        by_scene.setdefault(scene, {})[system] = scaled_row(found)
    return Table(
        "swanbench_radar",
        title("SwanBench-Speech", "Figure 1", "on the radar's scale, 1 to 5", sentences),
        tuple(Column(names[metric], "higher") for metric in METRICS),
        {system: scaled_row(found) for system, found in overall.items()},
        (
            "Timbre, reverb and content are stretched between the worst and the best scenario of "
            "all systems here, so they change with the systems beside them.",
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


def _by_scene(systems: Systems) -> dict[tuple[str, str], dict[str, Value]]:
    return {
        (system, scene): {
            metric: _mean([r for r in records if r["scene"] == scene], metric) for metric in METRICS
        }
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


def _of(records: Sequence[Record], language: str) -> list[Record]:
    return [record for record in records if record["language"] == language]


def _known(records: Sequence[Record], metric: str) -> list[float]:
    return [record[metric] for record in records if record[metric] is not None]


def _mean(records: Sequence[Record], metric: str) -> Value:
    known = _known(records, metric)
    return float(np.mean(known)) if known else _why(records, metric)


def _deviation(records: Sequence[Record], metric: str) -> Value:
    known = _known(records, metric)
    return float(np.std(known)) if known else _why(records, metric)


def _why(records: Sequence[Record], metric: str) -> Undefined:
    reasons = [r["undefined"][metric] for r in records if metric in r["undefined"]]
    return Undefined(reasons[0] if reasons else "no samples")
