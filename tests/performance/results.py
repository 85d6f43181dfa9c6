"""Where the speed scripts leave what they measured, so that a README can quote it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from auditeval.report import machine

FOLDER = Path(__file__).with_name("results")


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Rows of the same keys as a table of Markdown."""
    lines = [f"| {' | '.join(rows[0])} |", f"|---|{'--:|' * (len(rows[0]) - 1)}"]
    lines += [f"| {' | '.join(map(str, row.values()))} |" for row in rows]
    return "\n".join(lines)


def keep(name: str, title: str, rows: Sequence[dict[str, Any]]) -> None:
    """Print rows of the same keys as a table, and write it with the machine's name to NAME.md."""
    print(table(rows))
    path = FOLDER / f"{name}.md"
    path.write_text(f"# {title}\n\n{table(rows)}\n\n{machine.describe()}\n", encoding="utf-8")
    print(f"written: {path}")
