"""A described set in tables, for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from auditeval.data.inventory import Inventory
from auditeval.metrics.agreement import LEVELS
from auditeval.metrics.raters import CORRELATIONS
from auditeval.report import render
from auditeval.report.agreement_table import cell
from auditeval.report.description import (
    SECONDS,
    Description,
    Group,
    Panel,
    shown,
)
from auditeval.table import Column, Content, Table, brackets
from auditeval.text import counted
from auditeval.types import Axis, Undefined

_BARS = "▁▂▃▄▅▆▇█"
_NAMED = 5  # of a list; the whole of it is in description.json
_WORST_RATERS = 10


def to_markdown(made: Description) -> str:
    """All tables, and what is wrong with the set."""
    parts = [render.to_markdown(table, 2) for table in tables(made)]
    return "\n".join([render.heading(made.manifest.name), *parts, render.bullets(findings(made))])


def tables(made: Description) -> list[Table]:
    """Those that there is something for, in the order in which they are read."""
    found = [_groups(made)]
    if made.crossed:
        found.append(_crossed(made))
    if made.distributions:
        found.append(_distributions(made))
    if made.panels:
        found.append(_panels(made))
    if any(panel.raters for panel in made.panels.values()):
        found.append(_raters(made))
    if made.inventory:
        found.append(_clips(made.inventory))
    return found


def findings(made: Description) -> list[str]:
    """A sentence on each thing that a user of the set should know; the first five are named."""
    found = list(_of_clips(made, made.inventory)) if made.inventory else []
    if nameless := [axis for axis, panel in made.panels.items() if not panel.raters]:
        axes = " and ".join(nameless)
        found.append(f"Raters of {axes} have no ids: none can be held against the others.")
    return [*found, _of_split(made)]


def _groups(made: Description) -> Table:
    """The paper's Table 1, by split, operation and system."""
    splits, axes = list(made.whole.splits), list(made.whole.ratings)
    splits = splits if len(splits) > 1 else []
    rows = [["all", "", *_contents(made.whole, axes, splits)]]
    for field, groups in made.by.items():
        rows += [[field, name, *_contents(group, axes, splits)] for name, group in groups.items()]
    return Table(
        title="Pairs and their ratings",
        columns=[*_labels("", ""), *map(Column, ("pairs", *splits, *axes))],
        rows=rows,
        notes=[_RATINGS] if axes else [],
    )


def _crossed(made: Description) -> Table:
    """The paper's Appendix I."""
    axes = list(made.whole.ratings)
    return Table(
        title="By system and operation",
        columns=[*_labels("system", "operation"), *map(Column, ("pairs", *axes))],
        rows=[[*names, *_contents(group, axes)] for names, group in made.crossed.items()],
        notes=[_RATINGS],
    )


_RATINGS = "Mean ± standard deviation (n - 1); in brackets how many are rated, where not all are."


def _labels(*names: str) -> list[Column]:
    return [Column(name, label=True) for name in names]


def _contents(group: Group, axes: Sequence[Axis], splits: Sequence[str] = ()) -> Iterator[Content]:
    yield group.pairs
    yield from (group.splits.get(name, 0) for name in splits)
    for axis in axes:
        if axis not in group.ratings:
            yield None
            continue
        rated, mean, sd = group.ratings[axis]
        spread = "" if isinstance(sd, Undefined) else f" ± {sd:.3f}"
        yield f"{mean:.3f}{spread}" + (f" ({rated:,})" if rated < group.pairs else "")


def _distributions(made: Description) -> Table:
    rows: list[list[Content]] = []
    for axis, found in made.distributions.items():
        top = max(found.counts)
        bars = "".join(_BARS[-(-8 * n // top) - 1] if n else "·" for n in found.counts)
        rated, mean, _ = made.whole.ratings[axis]
        rows.append([axis, bars, rated, found.lowest, mean, found.median, found.highest])
    numbers = ("rated", "lowest", "mean", "median", "highest")
    return Table(
        title="Distribution of ratings",
        columns=[*_labels("axis", "1 to 5"), *(Column(name, form=".2f") for name in numbers)],
        rows=rows,
    )


def _panels(made: Description) -> Table:
    panels = made.panels
    agreements: dict[str, dict[Axis, Content]] = {}
    for axis, panel in panels.items():
        for name, value in panel.reliability.items():
            name = name.replace("alpha", "Krippendorff's alpha,")
            agreements.setdefault(name, {})[axis] = cell(value)
        for level in reversed(LEVELS):
            for name in CORRELATIONS:
                row = agreements.setdefault(f"rater ceiling, {level} {name}", {})
                row[axis] = cell(panel.ceiling[level][name])
    return Table(
        title="Raters",
        columns=[*_labels(""), *(Column(axis, form=".3f", bounds=".2f") for axis in panels)],
        rows=[
            ["pairs with votes", *(panel.pairs for panel in panels.values())],
            ["votes a pair", *map(_votes, panels.values())],
            ["raters with ids", *(len(panel.raters) for panel in panels.values())],
            *([name, *map(found.get, panels)] for name, found in agreements.items()),
        ],
        notes=[
            *brackets(value for row in agreements.values() for value in row.values()),
            "Rater ceiling: the correlation with the mean of these votes that their noise leaves "
            "to an evaluator without error (root of the split-half reliability, stepped up to all "
            "votes).",
        ],
    )


def _votes(panel: Panel) -> str:
    fewest, mean, most = panel.votes
    return f"{fewest}" if fewest == most else f"{fewest} to {most}, mean {mean:.1f}"


def _raters(made: Description) -> Table:
    rows: list[list[Content]] = []
    for axis, panel in made.panels.items():
        rows += [[axis, *rater] for rater in panel.raters[:_WORST_RATERS]]
        if (more := len(panel.raters) - _WORST_RATERS) > 0:
            rows.append([axis, f"and {more:,} more", None, None, None])
    return Table(
        title="Each rater against the others",
        columns=[
            *_labels("axis", "rater"),
            Column("pairs"),
            Column("LCC with the others", form=".3f"),
            Column("bias", form="+.3f"),
        ],
        rows=rows,
        notes=[
            "Against the mean of the others' votes on the same pairs, the worst first; all are in "
            "description.json, and all of them count above. Bias in points."
        ],
    )


def _clips(stock: Inventory) -> Table:
    rows: list[list[Content]] = []
    for side, found in stock.clips.items():
        files = len(found.seconds)
        seconds = [of(found.seconds) if files else None for of in SECONDS.values()]
        rates, channels = (
            ", ".join(f"{number}{unit} ({count:,})" for number, count in counts.items())
            for counts, unit in ((found.rates_hz, " Hz"), (found.channels, ""))
        )
        rows.append([side, files, found.sounds, *seconds, rates, channels])
    names = ("files", "sounds", *(f"{name} s" for name in SECONDS), "rate", "channels")
    hours = f"{stock.pair_seconds / 3600:.2f} h"
    return Table(
        title="Clips",
        columns=[*_labels("clips"), *(Column(name, form=",.2f") for name in names)],
        rows=rows,
        notes=[f"Pair by pair, originals and edited clips last {hours}; in brackets: files."],
    )


def _of_clips(made: Description, stock: Inventory) -> Iterator[str]:
    if stock.unusable:
        pairs = {name for clip in stock.unusable for name in clip.pairs}
        listed = [f"{shown(clip.path, made)} {clip.reason}" for clip in stock.unusable]
        of = counted(len(pairs), "pair", "pairs")
        count = f"{counted(len(listed), 'clip', 'clips')} of {of}"
        yield f"Cannot be used: {count}: {_some(listed, '; ')}."
    for side, groups in stock.same.items():
        if groups:
            listed = [_some([shown(path, made) for path in same], " = ") for same in groups]
            files = f"{sum(map(len, groups)):,} files of {side} clips"
            sounds = counted(len(groups), "sound", "sounds")
            yield f"The same sound: {files} hold {sounds}: {_some(listed, '; ')}."
    if stock.unchanged:
        count = counted(len(stock.unchanged), "pair has", "pairs have")
        yield f"Not edited: {count} one sound on both sides: {_some(stock.unchanged)}."


def _of_split(made: Description) -> str:
    by = "samples, file or source" if made.inventory else "file or source (no audio was read)"
    if not made.whole.splits:
        return "Leaks: the manifest states no split."
    if not made.leaks:
        return f"Leaks: no original, by {by}, is on two sides of the stated split."
    counts = {
        split: sum(len(leak.pairs.get(split, [])) for leak in made.leaks)
        for split in made.whole.splits
    }
    shares = [f"{n:,} of {made.whole.splits[split]:,} {split}" for split, n in counts.items() if n]
    listed = [
        f"{shown(leak.original, made)} ("
        + "; ".join(f"{split} {_some(names)}" for split, names in leak.pairs.items())
        + ")"
        for leak in made.leaks
    ]
    are = "is" if len(listed) == 1 else "are"
    originals = counted(len(listed), "original", "originals")
    return (
        f"LEAK: {originals}, by {by}, {are} on two sides of the stated split, with "
        f"{', '.join(shares)} pairs: {_some(listed, '; ')}."
    )


def _some(names: Sequence[str], joint: str = ", ") -> str:
    more = len(names) - _NAMED
    return joint.join(names[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
