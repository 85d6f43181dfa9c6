"""The page of scores tables, with the manifest that they were made from where that is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from auditeval import manifest, scores_table
from auditeval.digests import sha256
from auditeval.pages import tables
from auditeval.pages.choice import choose
from auditeval.pages.page import Page
from auditeval.pages.rows import Rows, of_scores
from auditeval.report import leaks
from auditeval.table import Table
from auditeval.text import counted, visible
from auditeval.types import EditPair, Scores, UserError

_MOST_GROUPS = 40


def of_tables(
    paths: Sequence[Path], against: Path | None, most: int, seed: int, split: str = ""
) -> Page:
    """Of the first table, the others beside it; with a `split`, of the manifest's pairs in it.

    Raises UserError where they have no pair in common with the manifest.
    """
    names = _names(paths)
    scores = {
        name: list(scores_table.of_frame(scores_table.read_table(path)))
        for name, path in names.items()
    }
    against = against or _beside(paths[0])
    pairs = manifest.read(against) if against else None
    if pairs is not None and split:
        pairs = [pair for pair in pairs if pair.split == split]
        known = {pair.id for pair in pairs}
        scores = {name: [row for row in table if row.id in known] for name, table in scores.items()}
    first = next(iter(scores.values()))
    if pairs is not None and not {pair.id for pair in pairs} & {row.id for row in first}:
        raise UserError(f"{paths[0]}: has a row for none of the pairs of {against}")
    rows = of_scores(scores, pairs)
    page = of_rows(", ".join(names), rows, most, seed)
    facts = {"scores": ", ".join(path.name for path in paths)}
    facts |= {"manifest": against.name} if against else {}
    facts |= {"split": split} if split else {}
    return Page(
        page.title,
        {**facts, **page.facts},
        page.sections,
        rows,
        page.choices,
        [*_left_out(scores), *_remarks(paths[0], first, pairs, against)],
        scored_in=paths[0],
    )


def of_rows(title: str, rows: Rows, most: int, seed: int) -> Page:
    """What every page says of rows with scores: means, the order of systems, calibration."""
    sections: dict[str, list[Table]] = {}
    if rows.scales and len(rows):
        means = [tables.means(rows)]
        means += [
            tables.means(rows, group)
            for group in ("system", "operation")
            if 1 < len(set(rows.words.get(group, ()))) <= _MOST_GROUPS
        ]
        sections["Scores"] = means
        if ranking := tables.ranking(rows):
            sections["Systems"] = [ranking]
        if calibration := tables.calibration(rows):
            sections["Intervals"] = [calibration]
    return Page(title, {"rows": f"{len(rows):,}"}, sections, rows, choose(rows, most, seed))


def _names(paths: Sequence[Path]) -> dict[str, Path]:
    counts = Counter(path.stem for path in paths)
    names = {visible(path.stem if counts[path.stem] == 1 else str(path)): path for path in paths}
    if len(names) < len(paths):
        raise UserError("a scores table is named twice")
    return names


def _beside(table: Path) -> Path | None:
    """The manifest that a table's sidecar names, where it lies beside it as it was."""
    record = leaks.made_from(table)
    path = table.parent / str(record.get("manifest"))
    digest = record.get("manifest_sha256")
    return path if path.is_file() and digest is not None and sha256(path) == digest else None


def _left_out(scores: Mapping[str, Sequence[Scores]]) -> list[str]:
    """Rows of the other tables that have no place beside those of the first."""
    (name, first), *others = scores.items()
    known = {row.id for row in first}
    return [
        f"{count:,} of {len(table):,} rows of {other} are of no row of {name}: left out."
        for other, table in others
        if (count := sum(row.id not in known for row in table))
    ]


def _remarks(
    table: Path, rows: Sequence[Scores], pairs: Sequence[EditPair] | None, against: Path | None
) -> list[str]:
    """Errors, rows of no pair, and a manifest that has changed since."""
    said = []
    if errors := sum(row.status == "error" for row in rows):
        said.append(
            f"{errors:,} of {len(rows):,} rows are errors: each says why, and has no score."
        )
    if pairs is None:
        said.append("No manifest is known: give --manifest for captions, systems and sound.")
        return said
    known = {pair.id for pair in pairs}
    if strange := sum(row.id not in known for row in rows):
        which = counted(strange, "row is", "rows are")
        said.append(f"{which} of no pair of {against and against.name}.")
    record = leaks.made_from(table)
    digest = record.get("manifest_sha256")
    if against is not None and digest not in (None, sha256(against)):
        said.append(
            f"{table.name} was made from another manifest ({record.get('manifest')}) than "
            f"{against.name} is now."
        )
    return said
