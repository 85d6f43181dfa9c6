"""The HTTP of a judge's endpoint, which may be anybody's: one origin, one time, one size."""

from __future__ import annotations

import logging
import ssl
from functools import cache
from typing import Any

import anyio
import httpx2
import openai

# At INFO it prints status lines, in which an endpoint may quote the key.
logging.getLogger("httpx2").setLevel(logging.WARNING)

MOST_BYTES = 4 << 20
"""Of an answer; a judge's is a few hundred."""


class UnreadableAnswer(openai.OpenAIError):
    """Says what is wrong with an answer; the SDK does not ask again for such a one."""


class BoundedClient(openai.DefaultAsyncHttpxClient):
    """A client whose requests end within `seconds`, from the connection to the last byte.

    Redirects are not followed: clips and key go to the host that was named. Raises UnreadableAnswer
    for an answer of more than `MOST_BYTES` and for one that is compressed, which none is asked for:
    a kilobyte may be a gigabyte.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(timeout=seconds, follow_redirects=False, verify=_certificates())
        self._seconds = seconds

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """The whole answer to a request, whatever `options` say of streams and redirects."""
        request.headers["accept-encoding"] = "identity"
        try:
            with anyio.fail_after(self._seconds):
                response = await super().send(
                    request, **{**options, "stream": True, "follow_redirects": False}
                )
                try:
                    content = await _content(response)
                finally:
                    await response.aclose()
        except TimeoutError:
            raise httpx2.ReadTimeout("the whole took too long", request=request) from None
        return httpx2.Response(
            response.status_code, headers=response.headers, content=content, request=request
        )


@cache
def _certificates() -> ssl.SSLContext:
    """Read once: a client is made for every request, and this would be most of its time."""
    return httpx2.create_ssl_context()


async def _content(response: httpx2.Response) -> bytes:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise UnreadableAnswer("is compressed, which it was not asked to be")
    content = bytearray()
    async for part in response.aiter_raw():
        content += part
        if len(content) > MOST_BYTES:
            raise UnreadableAnswer(f"is longer than {MOST_BYTES >> 20} MiB")
    return bytes(content)
