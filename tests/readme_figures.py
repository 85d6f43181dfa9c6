"""Figures in READMEs and docs/: each quoted from a file that a command wrote, renewed from there.

A whole file without its title stands between two comments, a single figure before one:

    <!-- all of p835 -->
    ...
    <!-- end of p835 -->

    an SRCC of .913<!-- p835: quality, auditeval-offline, utterance SRCC -->

`p835` is the file p835.md that the README links. Behind the colon stand cells that one row of its
tables alone has (none where there is one row), then the head of a column; the figure is what this
cell begins with, rounded as it was before, with or without the 0 before its point. What the paper
reports stands between "of the paper" and "end of the paper".

Run by hand once results are new: python tests/readme_figures.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
NUMBER = r"-?(?:(?:\d[\d,]*\d|\d)(?:\.\d+)?(?:e-?\d+)?|\.\d+)"
BLOCK = re.compile(r"(?s)<!-- all of ([\w-]+) -->\n(.*?)<!-- end of \1 -->")
QUOTED = re.compile(rf"({NUMBER}(?: \[{NUMBER} {NUMBER}\])?)<!-- ([\w-]+): ([^>]+?) -->")
PAPER = re.compile(r"(?s)<!-- of the paper -->\n(.*?)<!-- end of the paper -->")
LINK = re.compile(r"\]\(([^)\s]+/)?([\w-]+)\.md\)")
# What is no text: code, addresses and comments.
_APART = re.compile(r"(?s)```.*?```|`[^`\n]*`|\]\([^)]*\)|<https?:[^>]*>|<!--.*?-->")
# Not in a word or a version (P.835, Qwen2.5, 4.6.0), and more than one digit.
_FIGURE = re.compile(rf"(?<![\w.-])(?=-?[\d,]*[.\d]\d|\de-)({NUMBER})(?!\.\d)")


def readmes() -> list[Path]:
    """Those that people write; model cards are written by a command."""
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "recipes").glob("*/README.md")]
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(pages)]


_ARROW = r" ?[↑↓]"


def renewed(text: str, folder: Path) -> str:
    """A README's text with the figures of today's files; raises ValueError for one that is nowhere.

    `folder` is what its links are relative to.
    """
    linked = {m[2]: folder / (m[1] or "") / f"{m[2]}.md" for m in LINK.finditer(text)}

    def file(name: str) -> str:
        if name not in linked:
            raise ValueError(f"{name}.md: figures are quoted from it, but there is no link to it")
        return linked[name].read_text(encoding="utf-8")

    def block(found: re.Match[str]) -> str:
        return f"<!-- all of {found[1]} -->\n{untitled(file(found[1]))}\n<!-- end of {found[1]} -->"

    def figure(found: re.Match[str]) -> str:
        cell = look_up(file(found[2]), found[3])
        there = re.findall(NUMBER, cell)
        try:
            new = re.sub(NUMBER, lambda old: as_before(there.pop(0), old[0]), found[1])
        except IndexError:
            raise ValueError(f"{found[0]}: the cell says {cell!r}") from None
        return f"{new}<!-- {found[2]}: {found[3]} -->"

    return QUOTED.sub(figure, BLOCK.sub(block, text))


def untitled(text: str) -> str:
    """A results file without its heading."""
    return re.sub(r"\A#+ .*\n", "", text).strip()


@cache
def look_up(text: str, place: str) -> str:
    """The cell at "cell, cell, column"; raises ValueError unless one row alone has these.

    The head of a column may hold commas itself; arrows, which say what is better, do not count.
    """
    parts = re.sub(_ARROW, "", place).split(", ")
    found = [
        row[column]
        for row in rows(text)
        for cut in range(len(parts))
        if (column := ", ".join(parts[cut:])) in row and {*parts[:cut]} <= {*row.values()}
    ]
    if len(found) != 1:
        raise ValueError(f"{place}: {len(found)} rows have these cells and this column")
    return found[0]


def rows(text: str) -> Iterator[dict[str, str]]:
    """The rows of all tables in Markdown, each as {head of the column: cell}."""
    heads: list[str] | None = None
    for line in text.splitlines():
        cells = [cell.strip().strip("*") for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            heads = None
        elif heads is None:
            heads = [re.sub(_ARROW, "", cell) for cell in cells]
        elif not re.fullmatch(r"[|: -]+", line):
            yield dict(zip(heads, cells, strict=True))


def as_before(new: str, old: str) -> str:
    """The number `new` as `old` is written: to its decimals, with or without the 0 before them."""
    if "e" in new or "e" in old:
        return new
    decimals = len(old.partition(".")[2])
    if decimals > len(new.partition(".")[2]):
        return new  # its digits end there
    rounded = round(Decimal(new.replace(",", "")), decimals)
    text = f"{rounded:{',' if ',' in new else ''}.{decimals}f}"
    return re.sub(r"^(-?)0\.", r"\1.", text) if re.match(r"-?\.", old) else text


def unquoted(text: str, given: Sequence[str]) -> list[str]:
    """Numbers that are neither quoted nor the paper's, nor in a phrase of `given`.

    Each as "line: number"; a phrase that does not occur is told too. Numbers of one digit are free.
    """

    def blank(found: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", found[0])

    for part in (BLOCK, QUOTED, PAPER, _APART):
        text = part.sub(blank, text)
    wrong = []
    for phrase in given:
        # What stands before it is looked at afterwards: a pattern that begins with it is slow.
        pattern = r"\s+".join(map(re.escape, phrase.split())) + r"(?![\w]|\.\d)"
        there = re.finditer(pattern, text)
        places = [m for m in there if not re.match(r"[\w.]", text[m.start() - 1 : m.start()])]
        for found in places:
            text = text[: found.start()] + blank(found) + text[found.end() :]
        if not places:
            wrong.append(f"is nowhere: {phrase!r}")
    for number, line in enumerate(text.splitlines(), 1):
        wrong += [f"{number}: {found[1]}" for found in _FIGURE.finditer(line)]
    return wrong


if __name__ == "__main__":
    for path in readmes():
        before = path.read_text(encoding="utf-8")
        after = renewed(before, path.parent)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(f"renewed: {path.relative_to(ROOT)}")
