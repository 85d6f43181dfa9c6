"""A page as data, and as one file: everything that it needs is in it, and it may load nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from auditeval.atomic import new_folder, write_text
from auditeval.outputs import note_folder
from auditeval.pages.choice import Choice
from auditeval.pages.rows import Rows, packed, to_json
from auditeval.pages.sound import Mode, Sounds
from auditeval.player import STATIC
from auditeval.report.render import to_html
from auditeval.table import Table
from auditeval.text import visible
from auditeval.version import __version__

_HERE = Path(__file__).parent
TEMPLATES = Environment(
    loader=FileSystemLoader(_HERE / "html"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_STYLES = (STATIC / "player.css", _HERE / "static" / "report.css")
_PLAYER = ("player.js", "media_player.js", "picture.js")
_SCRIPTS = ("columns.js", "plots.js", "pair.js", "list.js", "report.js")


@dataclass(frozen=True)
class Page:
    """What stands on a page: facts in a line each, tables under headings, then pairs and all rows.

    `remarks` are sentences that a reader must not miss. `losses` are those of `losses.read`.
    `scored_in` is the table of the scores, where there is one.
    """

    title: str
    facts: Mapping[str, str]
    sections: Mapping[str, Sequence[Table]]
    rows: Rows
    choices: Sequence[Choice] = ()
    remarks: Sequence[str] = ()
    curves: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    losses: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    scored_in: Path | None = None


def render(page: Page, sounds: Sounds, mode: Mode) -> str:
    """The HTML: the same page, the same text."""
    about = {
        **to_json(page.rows),
        "choices": [
            {"name": visible(x.name), "why": visible(x.why), "rows": x.rows} for x in page.choices
        ],
        "clips": sounds.of_rows,
        "curves": page.curves,
        "losses": page.losses,
        "audio": mode if page.rows.clips else "none",
        "links": _links(sounds),
    }
    return document(
        "report.html",
        _SCRIPTS,
        media="data: blob:" if mode in ("embed", "none") else "'self' file: data: blob:",
        connect="'none'" if mode in ("embed", "none") else "'self'",
        page=page,
        tables={
            heading: [(table.title, Markup(to_html(table, 3))) for table in tables]
            for heading, tables in page.sections.items()
        },
        about=data(about),
        within={name: Markup(content) for name, content in sounds.within.items()},
        version=__version__,
        is_rated=any(scale.rated for scale in page.rows.scales),
        on_one_scale=any(scale.rated and scale.ends for scale in page.rows.scales),
        has_clips=mode != "none" and bool(page.rows.clips),
    )


def document(template: str, scripts: Sequence[str], media: str, connect: str, **values: Any) -> str:
    """A page of `html/` with its style and these scripts in it, under a policy that lets it load
    from nowhere else: `media` and `connect` are where clips may come from."""
    script = bundle(scripts)
    style = "\n".join(path.read_text(encoding="utf-8") for path in _STYLES)
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        f"img-src data: blob:; media-src {media}; connect-src {connect}; base-uri 'none'; "
        "form-action 'none'"
    )
    return TEMPLATES.get_template(template).render(
        script=Markup(script), style=Markup(style), policy=policy, visible=visible, **values
    )


def bundle(scripts: Sequence[str]) -> str:
    """The player's modules and these as one: a page from disk can import none."""
    paths = [*(STATIC / name for name in _PLAYER), *(_HERE / "static" / name for name in scripts)]
    whole = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    whole = re.sub(r"^import .*?;\n", "", whole, flags=re.MULTILINE)
    return "\n" + re.sub(r"^export ", "", whole, flags=re.MULTILINE)


def data(content: Any) -> Markup:
    """JSON for a script element that is no script: it cannot end there.

    Raises ValueError for what no browser reads: a number that is none.
    """
    plain = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return Markup(plain.replace("<", "\\u003c").replace(">", "\\u003e"))


def write(page: Page, sounds: Sounds, mode: Mode, output: Path, made_by: str) -> None:
    """The file, and beside it the folder of its clips where it has one, noted as `made_by`'s."""
    if sounds.beside:
        with new_folder(output.with_name(clips_folder(output))) as folder:
            for name, content in sounds.beside.items():
                (folder / name).write_bytes(content)
            note_folder(folder, made_by)
    write_text(output, render(page, sounds, mode))


def clips_folder(output: Path) -> str:
    """The name of the folder of a page's copies."""
    return f"{output.stem}_clips"


def _digest(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


def _links(sounds: Sounds) -> dict[str, str] | None:
    if not sounds.links:
        return None
    return {"data": packed(json.dumps(sounds.links, separators=(",", ":")).encode())}
