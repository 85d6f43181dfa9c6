"""Pages from their templates: every text that goes into one is escaped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from auditeval.listening.session import Session
from auditeval.types import AXES

_PAGES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "pages"),
    autoescape=True,
    undefined=StrictUndefined,
)


def page(test: Session, prefix: str, name: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page of `pages/`, its texts escaped."""
    about = {"texts": test.texts, "title": test.settings.title, "prefix": prefix, "axes": AXES}
    return HTMLResponse(_PAGES.get_template(name).render(**about, **values), status)
