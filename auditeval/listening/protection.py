"""What stands between the network and the pages: hosts, sizes, origins, headers, forms."""

from __future__ import annotations

import hmac
from collections.abc import Collection
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BODY_BYTES = 32 << 10  # a comment in Chinese takes 9 bytes a character
_MOST_FIELDS = 20
_FORM = "application/x-www-form-urlencoded"

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; media-src 'self' blob:; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # the address is the secret, and no other site learns it
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
    "x-robots-tag": "noindex",
}


class Protection:
    """Around an application: known hosts only, bounded bodies, the same headers on every answer.

    `hosts` are the names (without port) under which it may be asked for. `prefix` is the sub-path
    of a reverse proxy, "" or as in "/listen", which may take it off or leave it on. A body has
    `most_bytes`.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Collection[str],
        prefix: str,
        most_bytes: int = MOST_BODY_BYTES,
    ) -> None:
        self.app, self.hosts, self.prefix = app, {host.lower() for host in hosts}, prefix
        self.most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    answer[name] = value
            await send(message)

        if _name(headers.get("host", "")) not in self.hosts:
            await PlainTextResponse("unknown host", 400)(scope, receive, sending)
            return
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self.most_bytes:
            await PlainTextResponse("too large", 413)(scope, receive, sending)
            return
        if self.prefix and scope["path"].startswith(f"{self.prefix}/"):
            scope = {**scope, "path": scope["path"][len(self.prefix) :], "raw_path": None}
        await self.app(scope, receive, sending)


def _name(host: str) -> str:
    """A Host header without its port, "" where it is none."""
    try:
        return (urlsplit(f"//{host}").hostname or "") if "@" not in host else ""
    except ValueError:
        return ""


async def form(request: Request) -> dict[str, str]:
    """The fields of a form that one of our own pages sent.

    Raises HTTPException for a body of another type or size, a field that stands twice, text that is
    not UTF-8, and for a request that a page of another origin made.
    """
    body = await own_body(request, _FORM, MOST_BODY_BYTES)
    try:
        fields = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(body),
            errors="strict",
            max_num_fields=_MOST_FIELDS,
        )
    except ValueError:
        raise HTTPException(400) from None
    found = dict(fields)
    if len(found) < len(fields):
        raise HTTPException(400)
    return found


async def own_body(request: Request, kind: str, most_bytes: int) -> bytes:
    """What one of our own pages sent; raises HTTPException for a body of another type or size, and
    for a request that a page of another origin made."""
    _check_origin(request)
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != kind:
        raise HTTPException(415)
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most_bytes:  # its header may have lied, or said nothing
            raise HTTPException(413)
    return bytes(body)


def _check_origin(request: Request) -> None:
    """Browsers say where a form was sent from; who says nothing is no browser."""
    origin, host = request.headers.get("origin"), request.headers.get("host", "")
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise HTTPException(403)
    if origin is not None and origin.partition("://")[2].lower() != host.lower():
        raise HTTPException(403)


def seal(secret: str, *parts: str) -> str:
    """What a form carries to show that it came from the page of just this rater and purpose."""
    return hmac.new(secret.encode(), "\n".join(parts).encode(), "sha256").hexdigest()[:32]


def check_seal(fields: dict[str, Any], secret: str, *parts: str) -> None:
    """Raises HTTPException where a form was not of our page."""
    given = str(fields.get("seal", "")).encode()
    if not hmac.compare_digest(given, seal(secret, *parts).encode()):
        raise HTTPException(403)
