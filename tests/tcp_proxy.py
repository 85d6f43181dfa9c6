"""A connection that can be cut: a port that passes bytes on to another, until it does not."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


class Proxy:
    """Listens on a port of its own, `port`, for the one given; starts whole."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._open: set[socket.socket] = set()
        self.passed = 0
        self._accept(self._listener)

    def cut(self) -> None:
        """End all connections and refuse others."""
        _shut(self._listener)
        for one in list(self._open):
            _shut(one)

    def mend(self) -> None:
        """Take connections again."""
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self._accept(self._listener)

    def _accept(self, listener: socket.socket) -> None:
        def loop() -> None:
            while True:
                try:
                    near, _ = listener.accept()
                except OSError:
                    return
                far = socket.create_connection(("127.0.0.1", self._target))
                self._open |= {near, far}
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=self._pass, args=ends, daemon=True).start()

        threading.Thread(target=loop, daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while some := source.recv(1 << 16):
                self.passed += len(some)
                target.sendall(some)
        _shut(source)
        _shut(target)
        self._open -= {source, target}


def _shut(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
