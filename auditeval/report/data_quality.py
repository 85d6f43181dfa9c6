"""Tables of data-quality metrics, in the layout of the paper's Table 3: text, Markdown, JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from auditeval import text
from auditeval.atomic import replacing
from auditeval.data_quality.catalogue import DataMetric, Measured
from auditeval.data_quality.groups import GROUPS
from auditeval.data_quality.measure import Table
from auditeval.types import Undefined
from auditeval.version import __version__

if TYPE_CHECKING:
    from rich.table import Table as RichTable


def best(table: Table, metric: DataMetric) -> set[str]:
    """The name of the row that is best by this metric; none where rows are level.

    A distance below 0 is 0 and noise (`fad_inf_...` may end there).
    """
    values = {
        row.name: found
        for row in table.rows
        if not isinstance(found := row.values[metric.name].value, Undefined)
    }
    if len(values) < 2:
        return set()
    if not metric.higher_is_better:
        values = {name: max(value, 0.0) for name, value in values.items()}
    top = max(values.values()) if metric.higher_is_better else min(values.values())
    level = {name for name, value in values.items() if value == top}
    return level if len(level) == 1 else set()


def to_markdown(table: Table) -> str:
    """Values with N and the 95 % interval under them; the best of each column is bold."""
    headers = [_header(metric) for metric in table.metrics]
    lines = [
        "# Data quality, edited against original",
        "",
        f"| set | {' | '.join(headers)} |",
        f"|---|{'--:|' * len(headers)}",
    ]
    for row in table.rows:
        cells = []
        for metric in table.metrics:
            value, interval, pairs = _cell(row.values[metric.name])
            shown = f"**{value}**" if row.name in best(table, metric) else value
            cells.append("<br>".join(part for part in (shown, interval, pairs) if part))
        lines.append(f"| {text.markdown(row.name)} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", text.markdown(_caption(table)), ""])


def to_json(table: Table) -> dict[str, Any]:
    """The table as plain values; an undefined one is null beside its reason."""
    return {
        "auditeval": __version__,
        "seed": table.seed,
        "groups": GROUPS,
        "encoders": table.encoders,
        "families": dict(table.families),
        "metrics": {
            metric.name: {
                "encoder": metric.role,
                "higher_is_better": metric.higher_is_better,
                "range": [metric.low, metric.high],
            }
            for metric in table.metrics
        },
        "sets": [
            {
                "name": row.name,
                "pairs": row.pairs,
                "values": {name: _plain(value) for name, value in row.values.items()},
                "left_out": [{"id": id, "reason": why} for id, why in row.left_out.items()],
            }
            for row in table.rows
        ],
    }


FILES = ("data_quality.json", "data_quality.md")


def write(table: Table, folder: Path) -> None:
    """data_quality.json and data_quality.md in `folder`."""
    data = text.to_json(to_json(table)) + "\n"
    for name, content in (("data_quality.json", data), ("data_quality.md", to_markdown(table))):
        with replacing(folder / name) as temporary:
            temporary.write_text(content, encoding="utf-8")


def print_table(table: Table) -> None:
    """Print it; in a terminal too narrow for it lines run over, no digit is cut."""
    from rich.console import Console

    rendered = _render(table)
    width = Console(width=10_000).measure(rendered).maximum
    Console(width=max(Console().width, width)).print(rendered)


def _render(table: Table) -> RichTable:
    from rich.table import Table as RichTable

    rendered = RichTable(
        title="Data quality, edited against original",
        caption=text.cell(_caption(table), style="table.caption"),
        show_lines=True,
    )
    rendered.add_column("set", no_wrap=True)
    for metric in table.metrics:
        # A name is longer than its values: the encoder goes into a line of its own.
        header = _header(metric).replace(f"_{metric.role}_", f"\n{metric.role}_")
        rendered.add_column(header, justify="right", no_wrap=True)
    for row in table.rows:
        cells = []
        for metric in table.metrics:
            value, interval, pairs = _cell(row.values[metric.name])
            shown = text.cell(*filter(None, (value, interval, pairs)))
            if row.name in best(table, metric):
                shown.stylize("bold", 0, len(value))
            cells.append(shown)
        rendered.add_row(text.label(row.name), *cells)
    return rendered


def _header(metric: DataMetric) -> str:
    return f"{metric.name} {'↑' if metric.higher_is_better else '↓'}"


def _cell(measured: Measured) -> tuple[str, str, str]:
    """Value, interval and number of pairs, as they are printed."""
    if isinstance(measured.value, Undefined):
        return "–", "", f"N={measured.pairs}"
    interval = ""
    if not isinstance(measured.interval, Undefined):
        interval = f"[{' '.join(f'{bound:.4g}' for bound in measured.interval)}]"
    return f"{measured.value:.4g}", interval, f"N={measured.pairs}"


def _plain(measured: Measured) -> dict[str, Any]:
    value, interval = measured.value, measured.interval
    undefined = {
        key: found.reason
        for key, found in (("undefined", value), ("interval_undefined", interval))
        if isinstance(found, Undefined)
    }
    return {
        "value": None if isinstance(value, Undefined) else value,
        "interval": None if isinstance(interval, Undefined) else list(interval),
        "pairs": measured.pairs,
        **undefined,
    }


def _caption(table: Table) -> str:
    lines = [f"Brackets: 95 % jackknife over {GROUPS} groups of sources; N: pairs."]
    if len(table.rows) > 1:
        lines.append("Bold: best.")
    lines += [f"{role}: {family}." for role, family in table.families.items()]
    if left_out := [f"{row.name} {len(row.left_out)}" for row in table.rows if row.left_out]:
        lines.append(f"Pairs that cannot be used, left out of all metrics: {', '.join(left_out)}.")
    reasons: dict[str, dict[str, None]] = {}
    for row in table.rows:
        for name, measured in row.values.items():
            if isinstance(measured.value, Undefined):
                reasons.setdefault(measured.value.reason, {})[name] = None
    if reasons:
        listed = "; ".join(f"{reason} ({', '.join(names)})" for reason, names in reasons.items())
        lines.append(f"– undefined: {listed}.")
    return " ".join(lines)
