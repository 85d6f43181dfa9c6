"""Instructions as people give them, written down before any was tried: phrasings.txt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from auditeval.features.asked import asked
from auditeval.features.named import stems


def phrasings() -> Iterator[tuple[str, str, str, str]]:
    """(Caption, instruction, words of what is to come, of what is to go)."""
    caption = ""
    for line in Path(__file__).with_name("phrasings.txt").read_text().splitlines():
        if line.endswith(":"):
            caption = line[:-1]
        elif line and not line.startswith("#"):
            instruction, new, gone = (part.strip() for part in line.split("|"))
            yield caption, instruction, new, gone


@pytest.mark.parametrize(("caption", "instruction", "new", "gone"), phrasings())
def test_what_is_asked_for_is_read(caption: str, instruction: str, new: str, gone: str) -> None:
    found = asked(caption, caption, instruction)
    for wanted, words in ((new, found.added), (gone, found.removed)):
        assert stems(wanted) <= stems(words), found
        assert bool(stems(words)) == bool(wanted), found
