"""An endpoint on this machine that says what it was told to, whether that is HTTP or not."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

GOOD = '{"score": 3.5}'


class Server:
    """Answers every connection by `speak`, a function of the socket; counts requests and bytes."""

    def __init__(self, speak: Callable[[Server, socket.socket], None]) -> None:
        self.speak, self.requests, self.sent = speak, 0, 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.origin = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.closed = threading.Event()

    def serve(self) -> None:
        while not self.closed.is_set():
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=[connection], daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            whole = b""
            while b"\r\n\r\n" not in whole:
                whole += connection.recv(1 << 16)
            head, _, body = whole.partition(b"\r\n\r\n")
            length = next(
                int(line.split(b":")[1])
                for line in head.split(b"\r\n")
                if line.lower().startswith(b"content-length")
            )
            while len(body) < length:
                body += connection.recv(1 << 16)
            self.requests += 1
            self.speak(self, connection)

    def send(self, connection: socket.socket, data: bytes) -> None:
        connection.sendall(data)
        self.sent += len(data)


@contextmanager
def serving(speak: Callable[[Server, socket.socket], None]) -> Iterator[Server]:
    server = Server(speak)
    threading.Thread(target=server.serve, daemon=True).start()
    try:
        yield server
    finally:
        server.closed.set()
        with suppress(OSError):
            server.socket.shutdown(socket.SHUT_RDWR)
        server.socket.close()


def response(body: bytes, status: str = "200 OK", headers: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n{headers}"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode("latin-1") + body


def completion(text: Any = GOOD, **more: Any) -> bytes:
    made = {"choices": [{"message": {"role": "assistant", "content": text}}], **more}
    return json.dumps(made).encode()


def saying(data: bytes) -> Callable[[Server, socket.socket], None]:
    return lambda server, connection: server.send(connection, data)


def dripping(data: bytes, start: bytes = b"") -> Callable[[Server, socket.socket], None]:
    def speak(server: Server, connection: socket.socket) -> None:
        server.send(connection, start)
        for byte in data:
            server.send(connection, bytes([byte]))
            if server.closed.wait(0.05):
                return

    return speak


def flooding(start: bytes, part: bytes) -> Callable[[Server, socket.socket], None]:
    def speak(server: Server, connection: socket.socket) -> None:
        server.send(connection, start)
        while not server.closed.is_set():
            server.send(connection, part)

    return speak
