"""A user's text on its way out: to a terminal, a plot, Markdown, HTML, a spreadsheet.

Names of files, runs, systems, operations and pairs are whatever a manifest or a shell can hold:
newlines, escape sequences, bytes that are not UTF-8, the markup of whoever shows them. Each
function here takes such a text to where it is shown as it is, and only as text. Files that are data
(manifests, scores tables, JSON) keep every text unchanged and need none of them.
"""

from __future__ import annotations

import html as hypertext
import json
import logging
import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Container

    from rich.text import Text

_MOST_IN_TABLE, _MOST_IN_PLOT = 100, 40  # letters of a name
_JOINERS = "\u200c\u200d"
_AS_EMOJI, _HAN = "\ufe0f", "\u2e80"
_LETTERS = ("Lo", "Lm", "Mn", "Mc")  # those of Latin, Greek, Cyrillic are of other categories
_MARKUP = re.compile(
    r"[`*<|~$]"  # wherever they stand; the others where they mean something:
    r"|\\(?=[!-/:-@\[-`{-~]|$)"
    r"|\](?=[(\[:])|^\[(?=.\])"
    r"|(?<![^\W_])_|_(?![^\W_])"
    r"|&(?=#?\w+;)"
    r"|^(?:#+|[-+=]+)(?=\s|$)|^>|#+$"
    r"|(?<=^\d)[.)](?=\s|$)|(?<=^\d\d)[.)](?=\s|$)"
)


def visible(text: str) -> str:
    """On one line, for a terminal: what cannot be seen, or would move the cursor or turn the order
    of letters round, as an escape.

    >>> visible("a\\n\\x1b[2Jb \\u202e c")
    'a\\\\n\\\\x1b[2Jb \\\\u202e c'

    Bytes of a name that are not UTF-8, which Python keeps as halves of surrogate pairs, come out as
    bytes: `\\\\xff`. Spaces of any width stay, and joiners where a script or an emoji needs them.
    """
    if text.isprintable():
        return text
    return "".join(
        letter
        if letter.isprintable() or _is_space(letter) or _joins(text, place)
        else _escape(letter)
        for place, letter in enumerate(text)
    )


def natural(name: str) -> list[Any]:
    """A key to sort names by: sys2 before sys10."""
    return [int(part) if n % 2 else part for n, part in enumerate(re.split(r"(\d+)", name))]


def _is_space(letter: str) -> bool:
    """Of any width, as French and Japanese have them; not the end of a line or paragraph."""
    return unicodedata.category(letter) == "Zs"


def _joins(text: str, place: int) -> bool:
    """Whether there is a joiner between two signs that such may join."""
    inside = text[place] in _JOINERS and 0 < place < len(text) - 1
    return inside and _joined(text[place - 1]) and _joined(text[place + 1])


def _joined(sign: str) -> bool:
    """Whether it is of an emoji, or a letter of the scripts that have joiners, Arabic to Khmer."""
    category = unicodedata.category(sign)
    return category in ("So", "Sk") or sign == _AS_EMOJI or (category in _LETTERS and sign < _HAN)


def _escape(letter: str) -> str:
    if "\udc80" <= letter <= "\udcff":
        return f"\\x{ord(letter) - 0xDC00:02x}"
    return letter.encode("unicode_escape").decode()


class OneLine(logging.Formatter):
    """Records as one `visible` line each."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def say(line: str, file: TextIO | None = None) -> None:
    """Print one line, `visible`, to stdout or a `file`."""
    print(visible(line), file=file)


def shortened(text: str, most: int = _MOST_IN_PLOT) -> str:
    """`visible`, without its middle where it is longer than `most` letters: names differ at their
    ends."""
    text = visible(text)
    if len(text) <= most:
        return text
    end = most // 2
    return f"{text[: most - end - 1]}…{text[-end:]}"


def counted(count: int, one: str, more: str) -> str:
    """A number and what it is of.

    >>> counted(1, "pair", "pairs"), counted(1200, "pair was", "pairs were")
    ('1 pair', '1,200 pairs were')
    """
    return f"{count:,} {one if count == 1 else more}"


def untaken(name: str, taken: Container[str | None]) -> str:
    """A name for what has none, in as many parentheses as it takes to be none of those `taken`.

    >>> untaken("none", ["a", "none"])
    '(none)'
    """
    while name in taken:
        name = f"({name})"
    return name


def cell(*lines: str, style: str = "") -> Text:
    """Lines for a cell, title or caption of a table of rich's, which takes nothing in them for
    markup or an emoji code."""
    from rich.text import Text

    return Text("\n".join(map(visible, lines)), style)


def label(*lines: str) -> Text:
    """The same of lines of a bounded length each, such as names."""
    return cell(*(shortened(line, _MOST_IN_TABLE) for line in lines))


def markdown(text: str) -> str:
    """For a table, a heading, a list or a paragraph of Markdown: text alone, on one line."""
    return _MARKUP.sub(lambda found: "".join(f"\\{c}" for c in found[0]), visible(text).strip())


def html(text: str) -> str:
    """For HTML, between tags or in an attribute: text alone.

    >>> html('<b>"a"</b>')
    '&lt;b&gt;&quot;a&quot;&lt;/b&gt;'
    """
    return hypertext.escape(visible(text))


def plot(text: str, most: int = _MOST_IN_PLOT) -> str:
    """For a title, label, legend or tick of matplotlib: no formula, `most` letters, none that its
    font lacks.

    A legend leaves out what begins with an underscore, hence the space before it.
    """
    known = _drawn()
    drawn = "".join(c if ord(c) in known else _escape(c) for c in shortened(text, most))
    drawn = drawn.replace("$", r"\$")
    return f" {drawn}" if drawn.startswith("_") else drawn


@lru_cache(maxsize=1)
def _drawn() -> frozenset[int]:
    """The code points of matplotlib's font."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return frozenset(get_font(findfont(FontProperties())).get_charmap())


def to_json(value: Any, indent: int | None = 2) -> str:
    """JSON with every letter as it is; halves of surrogate pairs, which UTF-8 lacks, as escapes."""
    found = json.dumps(value, indent=indent, ensure_ascii=False)
    return found.encode("utf-8", "backslashreplace").decode()


def spreadsheet(text: str) -> str:
    """For a cell of a CSV that people open: no formula, by the apostrophe that says so."""
    text = visible(text)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
