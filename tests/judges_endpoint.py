"""A chat endpoint on this machine that answers as it was told and keeps what it was sent."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Endpoint:
    """`script` is one answer a request, the last one for all that follow: (status, body).

    A body that is a string is the judge's text in a chat completion; bytes are sent as they are;
    "hang" waits a second.
    """

    def __init__(self, script: list[tuple[int, Any]]) -> None:
        self.script, self.requests, self.keys = script, list[dict[str, Any]](), list[str]()
        self.url = ""

    def texts(self, request: int) -> str:
        parts = self.requests[request]["messages"][-1]["content"]
        return "\n".join(part["text"] for part in parts if part["type"] == "text")

    def wavs(self, request: int) -> list[bytes]:
        parts = self.requests[request]["messages"][-1]["content"]
        clips = [part["input_audio"] for part in parts if part["type"] == "input_audio"]
        assert all(clip["format"] == "wav" for clip in clips)
        return [base64.b64decode(clip["data"], validate=True) for clip in clips]


@contextmanager
def serving(*script: tuple[int, Any]) -> Iterator[Endpoint]:
    endpoint = Endpoint(list(script))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            place = min(len(endpoint.requests), len(endpoint.script) - 1)
            status, said = endpoint.script[place]
            endpoint.requests.append(body)
            endpoint.keys.append(self.headers["authorization"])
            if said == "hang":
                time.sleep(1)
            if status == 200 and isinstance(said, str):
                said = completion(said)
            sent = said if isinstance(said, bytes) else json.dumps(said).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("retry-after-ms", "1")
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            with suppress(BrokenPipeError):  # who asked had no patience
                self.wfile.write(sent)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def completion(text: str | None) -> dict[str, Any]:
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "tiny",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
            }
        ],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010},
    }
