"""python phrasings.py [FOLDER]: what the weights that ship take phrasings.txt for.

Writes phrasings.md into FOLDER, by default results/ beside this file: by list the share of texts
whose change is the likeliest; and mistaken.md, those that are taken for another.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Annotated

import typer

from auditeval.atomic import write_text
from auditeval.data.change_words.vocabulary import CHANGES, OPPOSITES
from auditeval.features.changes.words import ChangeWords
from auditeval.text import say


def phrasings() -> dict[str, list[tuple[str, str]]]:
    """{list: [(change, text), ...]}."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    called = ""
    for line in Path(__file__).with_name("phrasings.txt").read_text().splitlines():
        if line.endswith(":"):
            called = line.removesuffix(":").removeprefix("list ")
        elif line and not line.startswith("#"):
            change, _, text = line.partition(" | ")
            found[called].append((change, text))
    return found


def main(folder: Annotated[Path, typer.Argument()] = Path(__file__).parent / "results") -> None:
    words = ChangeWords()
    taken = [
        (number, change, text, CHANGES[int(words.probabilities(text).argmax())])
        for number, texts in phrasings().items()
        for change, text in texts
    ]
    lines = [
        "# Instructions that were written down before any was tried",
        "",
        "| list | texts | right | taken for the opposite |",
        "|---|--:|--:|--:|",
    ]
    for number in (*phrasings(), "all"):
        mine = [one for one in taken if number in (one[0], "all")]
        right = sum(change == found for _, change, _, found in mine) / len(mine)
        opposite = sum(OPPOSITES.get(change) == found for _, change, _, found in mine) / len(mine)
        lines.append(f"| {number} | {len(mine)} | {right:.3f} | {opposite:.3f} |")
    write_text(folder / "phrasings.md", "\n".join(lines) + "\n")
    mistaken = ["# What they are taken for", "", "| list | text | asks for | taken for |"]
    mistaken += ["|---|---|---|---|"]
    mistaken += [
        f"| {' | '.join((n, text, of, found))} |" for n, of, text, found in taken if of != found
    ]
    write_text(folder / "mistaken.md", "\n".join(mistaken) + "\n")
    for line in lines:
        say(line)


if __name__ == "__main__":
    typer.run(main)
