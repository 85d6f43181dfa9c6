"""`auditeval demo`: two files of a person and what was asked for, heard and scored on one page."""

# No `from __future__ import annotations`: FastAPI reads those of functions within functions.

import base64
import binascii
import json
import tempfile
import threading
from collections.abc import Collection
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from auditeval.explaining import explain
from auditeval.listening.protection import Protection, own_body
from auditeval.pages.page import TEMPLATES
from auditeval.pages.rows import differing
from auditeval.player import STATIC
from auditeval.scoring import Evaluator
from auditeval.text import visible
from auditeval.types import AXES, EditPair, UserError, sentence

MOST_BYTES = 64 << 20
_KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_SUFFIXES = (".wav", ".flac", ".mp3", ".ogg", ".opus", ".m4a", ".aiff")


class _Side(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    original: str
    edited: str


class _Caption(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    original: str = Field(max_length=2000)
    edited: str = Field(max_length=2000)


class _Edit(BaseModel):
    """What the page sends: names and bytes (base64) of both files, captions, an instruction."""

    model_config = ConfigDict(extra="forbid", strict=True)
    names: _Side
    clips: _Side
    captions: _Caption
    instruction: str = Field(default="", max_length=2000)


def application(evaluator: Evaluator, hosts: Collection[str], prefix: str = "") -> Protection:
    """The page and its one answer, for an ASGI server; one edit is scored at a time.

    `hosts` are the names that it may be asked for, `prefix` the sub-path of a reverse proxy.
    """
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    static = {
        path.name: (path.read_bytes(), _KINDS[path.suffix])
        for folder in (STATIC, Path(__file__).parent / "static")
        for path in sorted(folder.iterdir())
        if path.suffix in _KINDS
    }
    whole = TEMPLATES.get_template("demo.html").render(
        prefix=prefix, evaluator=evaluator.name, most_bytes=MOST_BYTES, visible=visible
    )
    one_at_a_time = threading.Lock()

    @app.get("/")
    def page() -> HTMLResponse:
        return HTMLResponse(whole)

    @app.get("/static/{name}")
    def file(name: str) -> Response:
        if name not in static:
            return Response(status_code=404)
        content, kind = static[name]
        return Response(content, media_type=kind)

    @app.post("/score")
    async def score(request: Request) -> JSONResponse:
        body = await own_body(request, "application/json", MOST_BYTES)

        def answer() -> dict[str, Any]:
            with one_at_a_time:
                return scored(evaluator, body)

        try:
            return JSONResponse(await run_in_threadpool(answer))
        except UserError as error:
            return JSONResponse({"refused": visible(str(error))}, 422)

    return Protection(app, hosts, prefix, MOST_BYTES)


def scored(evaluator: Evaluator, body: bytes) -> dict[str, Any]:
    """What the page shows of an edit; raises UserError for one that cannot be scored.

    An evaluator that hears a pair as a whole gives scores without curves.
    """
    try:
        edit = _Edit.model_validate(json.loads(body))
        clips = {side: base64.b64decode(x, validate=True) for side, x in edit.clips}
    except ValidationError as error:
        raise UserError(f"this is no edit: {sentence(error, _Edit)}") from None
    except (ValueError, RecursionError, binascii.Error):
        raise UserError("this is no edit: expected JSON with both clips as base64") from None
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for side, name in edit.names:
            suffix = Path(name).suffix.lower()
            paths[side] = Path(folder, f"{side}{suffix if suffix in _SUFFIXES else '.wav'}")
            paths[side].write_bytes(clips[side])
        pair = EditPair(
            id="edit",
            original=paths["original"],
            edited=paths["edited"],
            original_caption=edit.captions.original,
            target_caption=edit.captions.edited,
            instruction=edit.instruction,
        )
        (found,) = evaluator.score([pair])
        if found.status == "error":
            raise UserError(found.reason.replace(f"{folder}/", ""))
        curves, without = _curves(evaluator, pair)
        without = without.replace(f"{folder}/", "")
    marked = differing(edit.captions.original, edit.captions.edited)
    rows = []
    for axis in AXES:
        if (value := found.ratings.get(axis)) is not None:
            low, high = found.interval(axis) or (None, None)
            rows.append({"name": axis, "value": value, "low": low, "high": high})
    return {
        "scores": rows,
        "captions": dict(zip(("original", "edited"), marked, strict=True)),
        "curves": curves,
        "without_curves": without,
    }


def _curves(evaluator: Evaluator, pair: EditPair) -> tuple[dict[str, Any] | None, str]:
    from auditeval.pages.curves import plain

    try:
        return plain(explain(evaluator, pair)), ""
    except UserError as error:
        return None, f"No curves over time: {visible(str(error))}"
