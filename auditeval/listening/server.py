"""The pages of a listening test: raters by their links, clips by opaque names, votes once each."""

# No `from __future__ import annotations`: FastAPI reads those of functions within functions.

import json
import sys
import time
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException as StarletteHTTPException

from auditeval.audio import AudioError
from auditeval.listening import admin, design, headphones, session
from auditeval.listening.clips import KIND
from auditeval.listening.page import page
from auditeval.listening.protection import Protection, check_seal, form, seal
from auditeval.listening.session import Refused, Session, Step
from auditeval.listening.votes_database import Rater, Trial
from auditeval.player import STATIC, captions
from auditeval.text import say
from auditeval.types import AXES, UserError

_HERE = Path(__file__).parent
_STATIC = {
    path.name: (path.read_bytes(), kind)
    for suffix, kind in (
        (".js", "text/javascript"),
        (".css", "text/css"),
        (".svg", "image/svg+xml"),
    )
    for folder in (STATIC, _HERE / "static")
    for path in sorted(folder.glob(f"*{suffix}"))
}
Fields = Annotated[dict[str, str], Depends(form)]


def application(test: Session, hosts: Collection[str], prefix: str = "") -> Protection:
    """The application that serves a test to raters, for an ASGI server.

    `hosts` are the names that it may be asked for, `prefix` the sub-path of a reverse proxy.
    """
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    _add_raters_pages(app, test, prefix)
    admin.add_pages(app, test, prefix)

    @app.get("/static/{name}")
    def static(name: str) -> Response:
        if name not in _STATIC:
            raise HTTPException(404)
        data, kind = _STATIC[name]
        return Response(data, media_type=kind)

    @app.exception_handler(StarletteHTTPException)
    def refused(request: Request, error: StarletteHTTPException) -> Response:
        if error.status_code == 404 and request.method == "GET":
            return page(test, prefix, "message.html", 404, message=test.texts["missing"], action="")
        return JSONResponse({"refused": error.status_code}, error.status_code, error.headers)

    @app.exception_handler(Refused)
    def not_taken(request: Request, error: Refused) -> Response:
        return JSONResponse({"refused": str(error)}, error.status)

    @app.exception_handler(OSError)
    @app.exception_handler(UserError)
    def not_kept(request: Request, error: OSError | UserError) -> Response:
        """The disk is full, say: pages ask again, and who runs the test reads why."""
        said = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
        say(said, sys.stderr)
        return JSONResponse({"refused": 503}, 503)

    return Protection(app, hosts, prefix)


def _add_raters_pages(app: FastAPI, test: Session, prefix: str) -> None:
    def known(token: str) -> Rater:
        rater = test.database.rater(token)
        if rater is None:
            raise HTTPException(404)
        return rater

    Known = Annotated[Rater, Depends(known)]

    def sealed(rater: Known, fields: Fields) -> dict[str, str]:
        check_seal(fields, test.secret, rater.token, fields.get("trial", ""))
        return fields

    Sealed = Annotated[dict[str, str], Depends(sealed)]

    def back(rater: Rater) -> Response:
        return RedirectResponse(f"{prefix}/r/{rater.token}", 303)

    def owned(rater: Rater, token: str) -> Trial:
        trial = test.database.trial(rater, token)
        if trial is None:
            raise HTTPException(404)
        return trial

    @app.get("/r/{token}")
    def now(rater: Known) -> Response:
        return _page_of(test, prefix, rater, test.step(rater))

    @app.post("/r/{token}/consent")
    def consent(rater: Known, fields: Sealed) -> Response:
        if fields.get("agree") != "yes":
            raise Refused(422, "agree")
        if rater.consented is None:
            test.database.note_rater(rater, "consented", time.time())
        return back(rater)

    @app.post("/r/{token}/headphones")
    def answered(rater: Known, fields: Sealed) -> Response:
        session.check_headphones(test, rater, fields)
        return back(rater)

    @app.post("/r/{token}/seen")
    def seen(rater: Known, fields: Sealed) -> Response:
        trial = test.step(rater).trial
        if trial is not None and trial.token == fields.get("trial") and test.voted(trial):
            test.database.note_trial(trial, "seen", time.time())
        return back(rater)

    @app.post("/r/{token}/go")
    def go_on(rater: Known, fields: Sealed) -> Response:
        step = test.step(rater)
        if step.page == "pause" and step.trial is not None:
            test.database.note_trial(step.trial, "shown", time.time())
        return back(rater)

    @app.post("/r/{token}/heard")
    def heard(rater: Known, fields: Sealed) -> Response:
        trial = owned(rater, fields.get("trial", ""))
        test.heard(trial, fields.get("side", ""), time.time())
        return JSONResponse({"heard": True})

    @app.post("/r/{token}/vote")
    def vote(rater: Known, fields: Sealed) -> Response:
        trial = owned(rater, fields.get("trial", ""))
        test.vote(rater, trial, fields, time.time())
        return back(rater)

    @app.get("/r/{token}/clip/{name}")
    def clip(rater: Known, name: str, request: Request) -> Response:
        found = test.database.trial_of_clip(rater, name)
        if found is None or found[0].shown is None:
            raise HTTPException(404)
        trial, side = found
        return _served(test, trial, side, request)

    @app.get("/r/{token}/volume")
    def volume(rater: Known, request: Request) -> Response:
        data, _ = test.clips.clip(0, "pair", "original")
        return _part(data, KIND, request)

    @app.get("/r/{token}/tones/{name}")
    def tones(rater: Known, name: str, request: Request) -> Response:
        check = headphones.of_json(rater.headphones)
        if check is None or name not in check.clips:
            raise HTTPException(404)
        data = headphones.clip(check.orders[check.clips.index(name)])
        return _part(data, "audio/wav", request)


def _served(test: Session, trial: Trial, side: str, request: Request) -> Response:
    try:
        data, _ = test.clips.clip(trial.pair, trial.form, side)
    except AudioError:
        raise HTTPException(503) from None  # checked at the start: the file has gone since
    answer = _part(data, KIND, request)
    if answer.headers.get("content-range", "").split("/")[0].endswith(f"-{len(data) - 1}") or (
        answer.status_code == 200
    ):
        test.database.note_trial(trial, f"{side}_served", time.time())
    return answer


def _part(data: bytes, kind: str, request: Request) -> Response:
    """All of a file, or the one range of bytes that was asked for."""
    asked = request.headers.get("range")
    if asked is None:
        return Response(data, media_type=kind, headers={"accept-ranges": "bytes"})
    first, last = _range(asked, len(data))
    headers = {"accept-ranges": "bytes", "content-range": f"bytes {first}-{last}/{len(data)}"}
    return Response(data[first : last + 1], 206, headers, kind)


def _range(asked: str, length: int) -> tuple[int, int]:
    """First and last byte of `bytes=0-99`, `bytes=100-` or `bytes=-50`; raises HTTPException."""
    unit, _, span = asked.partition("=")
    begin, _, end = span.strip().partition("-")
    numbers = [text == "" or (text.isascii() and text.isdecimal()) for text in (begin, end)]
    if unit.strip() != "bytes" or not all(numbers) or begin == end == "" or len(span) > 40:
        raise HTTPException(416, headers={"content-range": f"bytes */{length}"})
    if begin == "":
        first, last = max(0, length - int(end)), length - 1
    else:
        first, last = int(begin), min(int(end) if end else length - 1, length - 1)
    if first > last:
        raise HTTPException(416, headers={"content-range": f"bytes */{length}"})
    return first, last


def _page_of(test: Session, prefix: str, rater: Rater, step: Step) -> Response:
    trial = step.trial
    values: dict[str, Any] = {
        "rater": rater,
        "seal": seal(test.secret, rater.token, "" if trial is None else trial.token),
    }
    if step.page in ("pause", "thanks", "later"):
        values["seal"] = seal(test.secret, rater.token, "")
        values |= {"message": test.texts[step.page], "action": "go" if step.page == "pause" else ""}
        return page(test, prefix, "message.html", **values)
    if step.page == "headphones":
        values["check"] = session.headphone_check(test, rater)
    elif step.page == "explained" and trial is not None:
        grades = test.database.votes(rater)[trial.number].grades
        values |= {"trial": trial, "grades": grades, "expected": design.FORMS[trial.form]}
    elif step.page == "trial" and trial is not None:
        values |= _trial(test, prefix, rater, trial, step)
    return page(test, prefix, f"{step.page}.html", **values)


def _trial(test: Session, prefix: str, rater: Rater, trial: Trial, step: Step) -> dict[str, Any]:
    texts, pair = test.texts, test.database.pairs[trial.pair]
    words = test.database.pairs[trial.other if trial.other is not None else trial.pair]
    target = pair.original_caption if trial.form == "identity" else words.target_caption
    instruction = words.instruction or words.target_caption
    if trial.form == "identity":
        instruction = texts["trial"]["nothing_asked"]
    training = [one for one in step.trials if one.kind == "training"]
    place = 1 + trial.position - (0 if trial.kind == "training" else len(training))
    base = f"{prefix}/r/{rater.token}"
    steps = int(4 / test.settings.step)
    grades = [f"{5 - place * test.settings.step:g}" for place in range(steps + 1)]
    heard = {side: getattr(trial, f"{side}_heard") is not None for side in ("original", "edited")}
    about = {
        "base": base,
        "trial": trial.token,
        "seal": seal(test.secret, rater.token, trial.token),
        "clips": {side: f"{base}/clip/{getattr(trial, side)}" for side in heard},
        "heard": heard,
        "axes": AXES,
        "texts": {key: value for key, value in texts["trial"].items() if isinstance(value, str)},
    }
    in_training = trial.kind == "training"
    heading = texts["training" if in_training else "trial"]["heading"]
    return {
        "trial": trial,
        "training": in_training,
        "heading": heading.format(number=place, all=len(training)),
        "instruction": instruction,
        "captions": captions.marked(pair.original_caption, target),
        "about": json.dumps(about),
        "heard": heard,
        "grades": grades,
        "most_comment": session.MOST_COMMENT,
        "reasons": session.CANNOT,
        "progress": None
        if in_training
        else {"done": place - 1, "all": test.expected_trials(rater, step.trials)},
    }
