"""The page of a listening test: how it stands, and each pair with what raters said of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from auditeval.listening import export, overview, results, serving, votes_database
from auditeval.pages.choice import choose, of_values
from auditeval.pages.page import Page
from auditeval.pages.rows import RATINGS, Rows, Scale, add_pairs, mean_of, to_column
from auditeval.types import AXES


def of_database(path: Path, most: int, seed: int) -> Page:
    """Of the votes of `auditeval listen`; pairs without a vote are rows without a value."""
    database = votes_database.opened(path, reading=True)
    try:
        settings = serving.settings_of(database)
        stand = overview.of(database, settings)
        found = results.read(database)
    finally:
        database.close()
    rated = {pair.id: pair for pair in export.to_pairs(found, settings.title)}
    pairs = [rated.get(pair.id, pair) for pair in found.pairs.values()]
    rows = Rows([pair.id for pair in pairs])
    add_pairs(rows, pairs)
    panels = found.panels()
    spreads = []
    for axis in AXES:
        if f"{axis} rated" not in rows.numbers:
            continue
        rows.numbers[axis] = rows.numbers.pop(f"{axis} rated")
        votes = [list(panels[axis].get(number, {}).values()) for number in found.pairs]
        spread = to_column([float(np.std(v, ddof=1)) if len(v) > 1 else None for v in votes])
        spreads.append(spread)
        rows.numbers[f"{axis} spread"] = spread
        rows.scales.append(Scale(axis, axis, ends=RATINGS))
        rows.listed.append(axis)
    comments: dict[str, list[str]] = {}
    for rater, pair, comment in stand.comments:
        comments.setdefault(pair, []).append(f"{rater}: {comment}")
    if comments:
        rows.words["comments"] = ["\n".join(comments.get(id, [])) for id in rows.ids]
    apart = of_values(
        "Raters disagree", "widest spread of votes first", list(-mean_of(spreads, len(rows))), most
    )
    choices = choose(rows, most, seed)
    return Page(
        settings.title,
        {
            "votes": f"{stand.done:,} of {stand.wanted:,}",
            "pairs with all votes": f"{stand.settled:,} of {stand.pairs:,}",
            "raters": str(stand.active),
        },
        {"How it stands": stand.tables},
        rows,
        [*choices[:-1], *([apart] if apart.rows else []), *choices[-1:]],
    )
