"""A described set in tables, for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from auditeval import text
from auditeval.data.inventory import Inventory
from auditeval.metrics.agreement import LEVELS, Agreement
from auditeval.metrics.raters import CORRELATIONS
from auditeval.report.agreement_table import cell
from auditeval.report.description import (
    FIELDS,
    SECONDS,
    Description,
    Group,
    Panel,
    shown,
)
from auditeval.report.grid import Grid
from auditeval.report.grid import to_markdown as grid_to_markdown
from auditeval.types import Axis, Undefined

_BARS = "▁▂▃▄▅▆▇█"
_NAMED = 5  # of a list; the whole of it is in description.json
_WORST_RATERS = 10


def to_markdown(made: Description) -> str:
    """All tables, and what is wrong with the set."""
    lines = [f"- {text.markdown(line)}" for line in findings(made)]
    title = f"# {text.markdown(made.manifest.name)}\n"
    return "\n".join([title, *map(grid_to_markdown, grids(made)), *lines]) + "\n"


def grids(made: Description) -> list[Grid]:
    """The tables that there is something for, in the order in which they are read."""
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
        found.append(_clips(made, made.inventory))
    return found


def findings(made: Description) -> list[str]:
    """A sentence on each thing that a user of the set should know; the first five are named."""
    found = list(_of_clips(made, made.inventory)) if made.inventory else []
    if nameless := [axis for axis, panel in made.panels.items() if not panel.raters]:
        axes = " and ".join(nameless)
        found.append(f"Raters of {axes} have no ids: none can be held against the others.")
    return [*found, _of_split(made)]


def _groups(made: Description) -> Grid:
    """The paper's Table 1, by split, operation and system."""
    splits = list(made.whole.splits)
    axes = list(made.whole.ratings)
    sections = [[["all", "", *_cells(made.whole, axes, splits)]]]
    for field in FIELDS:
        groups = made.by.get(field, {})
        if groups:
            rows = [[field, name, *_cells(group, axes, splits)] for name, group in groups.items()]
            sections.append([[row[0] if n == 0 else "", *row[1:]] for n, row in enumerate(rows)])
    header = ["", "", "pairs", *(splits if len(splits) > 1 else []), *axes]
    return Grid("Pairs and their ratings", header, sections, 2, _RATINGS if axes else "")


def _crossed(made: Description) -> Grid:
    """The paper's Appendix I."""
    splits: list[str] = []
    axes = list(made.whole.ratings)
    sections: dict[str, list[list[str]]] = {}
    for (system, operation), group in made.crossed.items():
        rows = sections.setdefault(system, [])
        rows.append(["" if rows else system, operation, *_cells(group, axes, splits)])
    header = ["system", "operation", "pairs", *axes]
    return Grid("By system and operation", header, list(sections.values()), 2, _RATINGS)


_RATINGS = "Mean ± standard deviation (n - 1); in brackets how many are rated, where not all are."


def _cells(group: Group, axes: Sequence[Axis], splits: Sequence[str]) -> Iterator[str]:
    yield f"{group.pairs:,}"
    if len(splits) > 1:
        yield from (f"{group.splits.get(name, 0):,}" for name in splits)
    for axis in axes:
        if axis not in group.ratings:
            yield "–"
            continue
        rated, mean, sd = group.ratings[axis]
        spread = "" if isinstance(sd, Undefined) else f" ± {sd:.3f}"
        yield f"{mean:.3f}{spread}" + (f" ({rated:,})" if rated < group.pairs else "")


def _distributions(made: Description) -> Grid:
    rows = []
    for axis, found in made.distributions.items():
        top = max(found.counts)
        bars = "".join(_BARS[-(-8 * n // top) - 1] if n else "·" for n in found.counts)
        rated, mean, _ = made.whole.ratings[axis]
        numbers = (found.lowest, mean, found.median, found.highest)
        rows.append([axis, bars, f"{rated:,}", *(f"{number:.2f}" for number in numbers)])
    header = ["axis", "1 to 5", "rated", "lowest", "mean", "median", "highest"]
    return Grid("Distribution of ratings", header, [rows], 2)


def _panels(made: Description) -> Grid:
    panels = made.panels
    agreements: dict[str, dict[Axis, Agreement]] = {}
    for axis, panel in panels.items():
        for name, value in panel.reliability.items():
            agreements.setdefault(name.replace("alpha", "Krippendorff's alpha,"), {})[axis] = value
        for level in reversed(LEVELS):
            for name in CORRELATIONS:
                row = agreements.setdefault(f"rater ceiling, {level} {name}", {})
                row[axis] = panel.ceiling[level][name]
    first = [
        ["pairs with votes", *(f"{panel.pairs:,}" for panel in panels.values())],
        ["votes a pair", *map(_votes, panels.values())],
        ["raters with ids", *(f"{len(panel.raters):,}" for panel in panels.values())],
    ]
    rows = [[name, *map(_cell, found.values())] for name, found in agreements.items()]
    reasons = {
        value.value.reason: None
        for found in agreements.values()
        for value in found.values()
        if isinstance(value.value, Undefined)
    }
    note = (
        "Brackets: 95 % bootstrap over systems. Rater ceiling: the correlation with the mean of "
        "these votes that their noise leaves to an evaluator without error (root of the "
        "split-half reliability, stepped up to all votes)."
    )
    if reasons:
        note += f" – undefined: {'; '.join(reasons)}."
    return Grid("Raters", ["", *panels], [first, rows[:6], rows[6:]], 1, note)


def _votes(panel: Panel) -> str:
    fewest, mean, most = panel.votes
    return f"{fewest}" if fewest == most else f"{fewest} to {most}, mean {mean:.1f}"


def _cell(value: Agreement) -> str:
    return " ".join(filter(None, cell(value)))


def _raters(made: Description) -> Grid:
    sections = []
    for axis, panel in made.panels.items():
        rows: list[list[str]] = []
        for rater, votes, agreement, bias in panel.raters[:_WORST_RATERS]:
            numbers = [
                "–" if isinstance(found, Undefined) else f"{found:{sign}.3f}"
                for found, sign in ((agreement, ""), (bias, "+"))
            ]
            rows.append(["" if rows else axis, rater, f"{votes:,}", *numbers])
        if more := len(panel.raters) - len(rows):
            rows.append(["", f"and {more:,} more", "", "", ""])
        sections.append(rows)
    header = ["axis", "rater", "pairs", "LCC with the others", "bias"]
    note = (
        "Against the mean of the others' votes on the same pairs, the worst first; all are in "
        "description.json, and all of them count above. Bias in points."
    )
    return Grid("Each rater against the others", header, sections, 2, note)


def _clips(made: Description, stock: Inventory) -> Grid:
    rows = []
    for side, found in stock.clips.items():
        files = len(found.seconds)
        seconds = [f"{of(found.seconds):,.2f}" if files else "–" for of in SECONDS.values()]
        rates, channels = (
            ", ".join(f"{number}{unit} ({count:,})" for number, count in counts.items())
            for counts, unit in ((found.rates_hz, " Hz"), (found.channels, ""))
        )
        rows.append([side, f"{files:,}", f"{found.sounds:,}", *seconds, rates, channels])
    header = ["clips", "files", "sounds", *(f"{name} s" for name in SECONDS), "rate", "channels"]
    hours = f"{stock.pair_seconds / 3600:.2f} h"
    note = f"Pair by pair, originals and edited clips last {hours}; in brackets: files."
    return Grid("Clips", header, [rows], 1, note)


def _of_clips(made: Description, stock: Inventory) -> Iterator[str]:
    if stock.unusable:
        pairs = {name for clip in stock.unusable for name in clip.pairs}
        listed = [f"{shown(clip.path, made)} {clip.reason}" for clip in stock.unusable]
        count = f"{len(listed):,} clips of {len(pairs):,} pairs"
        yield f"Cannot be used: {count}: {_some(listed, '; ')}."
    for side, groups in stock.same.items():
        if groups:
            listed = [_some([shown(path, made) for path in same], " = ") for same in groups]
            files = f"{sum(map(len, groups)):,} files of {side} clips"
            yield f"The same sound: {files} hold {len(groups):,} sounds: {_some(listed, '; ')}."
    if stock.unchanged:
        count = f"{len(stock.unchanged):,} pairs"
        yield f"Not edited: {count} have one sound on both sides: {_some(stock.unchanged)}."


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
    return (
        f"LEAK: {len(listed):,} originals, by {by}, are on two sides of the stated split, with "
        f"{', '.join(shares)} pairs: {_some(listed, '; ')}."
    )


def _some(names: Sequence[str], joint: str = ", ") -> str:
    more = len(names) - _NAMED
    return joint.join(names[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
