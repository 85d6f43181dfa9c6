"""The layout of MMAE's Table 2: rates of systems by complexity, modality and the other axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from auditeval.benchmarks.benchmark import BenchmarkTable, Record
from auditeval.benchmarks.mmae.rubric import Rubric, RubricRates, rubric_rates
from auditeval.benchmarks.mmae.samples import Axis
from auditeval.benchmarks.protocols import PROTOCOLS
from auditeval.benchmarks.provenance import title
from auditeval.table import Column, Content
from auditeval.types import Undefined

Systems = Mapping[str, Sequence[Record]]

# In the paper's order; what else the samples have follows.
_ORDER = {
    "complexity": (
        *("single", "multi-part", "multi-instruction", "multi-audio", "multi-round", "multi-hop"),
    ),
    "modality": (
        *("sound", "music", "speech", "sound-music", "sound-speech", "music-speech"),
        "sound-music-speech",
    ),
    "granularity": ("local", "global"),
    "operation": (),
}
_RATES = ("IFR", "CR", "EMR")

(PROTOCOL,) = PROTOCOLS["mmae"]


def marks(records: Sequence[Record], scored_only: bool = False) -> list[list[Rubric]]:
    """The rubrics of records with their verdicts, sample by sample.

    Those of an output that is not there are wrong, or, with `scored_only`, without verdict.
    """

    def right(record: Record, rubric: Mapping[str, Any]) -> bool | None:
        return None if scored_only and record["status"] == "failed" else rubric["right"]

    return [
        [Rubric(rubric["category"], right(record, rubric)) for rubric in record["rubrics"]]
        for record in records
    ]


def scored_share(scored: Sequence[Sequence[Rubric]]) -> float | Undefined:
    """Of rubrics that have a verdict."""
    verdicts = [rubric.right is not None for sample in scored for rubric in sample]
    return sum(verdicts) / len(verdicts) if verdicts else Undefined("no rubrics")


def of(
    systems: Systems, sentences: Sequence[str], numbered: str = "Table 2"
) -> list[BenchmarkTable]:
    """One table of all samples, ranked by EMR, then IFR, then CR, and one for each axis. Systems
    that are level share a rank.

    `sentences` say what stands in for the paper's, `numbered` is the table that they follow.
    """
    if read := [name for name, rs in systems.items() if any(record["read"] for record in rs)]:
        sentences = [
            *sentences,
            f"verdicts: read from a file, not asked for here ({', '.join(read)})",
        ]
    found = {name: rubric_rates(marks(records)) for name, records in systems.items()}
    ranked = sorted(found, key=lambda name: _standing(found[name]), reverse=True)
    axes: tuple[Axis, ...] = get_args(Axis)
    by_axis = [
        _by_group(axis, {n: systems[n] for n in ranked}, sentences, numbered) for axis in axes
    ]
    return [_overall(systems, found, ranked, sentences, numbered), *by_axis]


def _standing(rates: RubricRates) -> tuple[float, ...]:
    values = (rates.emr, rates.ifr, rates.cr)
    # The last places are of the order of a sum.
    return tuple(-1.0 if isinstance(value, Undefined) else round(value, 9) for value in values)


def _overall(
    systems: Systems,
    found: Mapping[str, RubricRates],
    ranked: Sequence[str],
    sentences: Sequence[str],
    numbered: str,
) -> BenchmarkTable:
    rows: dict[str, dict[str, Content]] = {}
    for name in ranked:
        better = sum(_standing(other) > _standing(found[name]) for other in found.values())
        rates, scored_marks = found[name], marks(systems[name], scored_only=True)
        scored = rubric_rates(scored_marks, scored_only=True)
        rubrics = [rubric for record in systems[name] for rubric in record["rubrics"]]
        categories = [{rubric.category for rubric in sample} for sample in scored_marks]
        rows[name] = {
            "Rank": better + 1,
            **dict(zip(_RATES, (rates.ifr, rates.cr, rates.emr), strict=True)),
            "Micro IFR": rates.micro_ifr,
            "Micro CR": rates.micro_cr,
            "IFR (scored)": scored.ifr,
            "CR (scored)": scored.cr,
            "EMR (scored)": scored.emr,
            "Scored": scored_share(scored_marks),
            "Samples": len(scored_marks),
            "Failed": sum(record["status"] == "failed" for record in systems[name]),
            "Without IF": sum("instruction_following" not in kinds for kinds in categories),
            "Without Con.": sum("consistency" not in kinds for kinds in categories),
            "Rubrics": len(rubrics),
            "Unscored": sum(rubric["right"] is None for rubric in rubrics),
            "Past the end": sum(bool(rubric["past_end"]) for rubric in rubrics),
        }
    shares = ("Micro IFR", "Micro CR", "IFR (scored)", "CR (scored)", "EMR (scored)")
    counts = (
        *("Samples", "Failed", "Without IF", "Without Con.", "Rubrics", "Unscored"),
        "Past the end",
    )
    return BenchmarkTable.of(
        "mmae",
        title("MMAE", numbered, "overall rates (%)", sentences, PROTOCOL),
        (
            Column("Rank"),
            *(Column(name, "higher", "%") for name in (*_RATES, *shares)),
            Column("Scored", unit="%"),
            *(Column(name) for name in counts),
        ),
        rows,
        (
            "Ranked by EMR, then IFR, then CR. IFR and CR are means over samples that have such "
            "rubrics; micro rates are over all rubrics at once.",
            "An unscored rubric counts as wrong, and so do all of a missing output; both are left "
            "out of the rates over what was scored, whose share of the rubrics stands beside.",
            "Past the end: rubrics on a part that the clip does not reach. The judge is told so "
            "and has the whole clip; the paper does not say what its code does.",
            *sentences,
        ),
    )


def _by_group(
    axis: Axis, systems: Systems, sentences: Sequence[str], numbered: str
) -> BenchmarkTable:
    there = {group for records in systems.values() for r in records for group in r[axis]}
    known = [group for group in _ORDER[axis] if group in there]
    chosen = {group: {group} for group in [*known, *sorted(there - {*known})]}
    if axis == "complexity":
        chosen["multiple"] = there - {"single"}
    if axis == "modality":
        chosen["mixed"] = {group for group in there if "-" in group}
    rows: dict[str, dict[str, Content]] = {system: {} for system in systems}
    for system, records in systems.items():
        for name, groups in chosen.items():
            rates = rubric_rates(marks(_within(records, axis, groups)))
            for rate, value in zip(_RATES, (rates.ifr, rates.cr, rates.emr), strict=True):
                rows[system][f"{name} {rate}"] = value
    first = next(iter(systems.values()), ())
    counts = ", ".join(f"{name} {len(_within(first, axis, g))}" for name, g in chosen.items())
    notes = [f"Samples: {counts}."]
    if axis in ("granularity", "operation"):
        notes.append("A sample stands in each group that it has.")
    return BenchmarkTable.of(
        f"mmae_{axis}",
        title("MMAE", numbered, f"rates by {axis} (%)", sentences, PROTOCOL),
        tuple(Column(f"{name} {rate}", "higher", "%") for name in chosen for rate in _RATES),
        rows,
        (*notes, *sentences),
    )


def _within(records: Sequence[Record], axis: Axis, groups: set[str]) -> list[Record]:
    return [record for record in records if groups & set(record[axis])]
