"""A server in a process of its own, which may be killed, and raters who vote over the network."""

from __future__ import annotations

import html
import http.client
import json
import re
import signal
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

sys.path.insert(0, str(Path(__file__).parents[1]))
from commands import start

from auditeval.types import AXES

_FORM = {"content-type": "application/x-www-form-urlencoded"}


class Server:
    """`auditeval listen` on a port that stays the same over its deaths."""

    def __init__(self, manifest: Path, votes: Path, settings: Path, raters: int, port: int) -> None:
        self.arguments = [
            *("listen", manifest, "--votes", votes, "--settings", settings),
            *("--raters", raters, "--port", port),
        ]
        self.links: list[str] = []
        self.admin = ""

    def start(self) -> Server:
        """Come up, and say the raters' links and the admin's."""
        self.process = start(*self.arguments)
        self.links = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            name, _, link = line.strip().partition("  ")
            if link and name == "you":
                self.admin = link
            elif link:
                self.links.append(link)
            if line.startswith("serving"):
                return self
        raise AssertionError(self.process.communicate()[1])

    def stop(self, how: int = signal.SIGKILL) -> None:
        self.process.send_signal(how)
        self.process.communicate()


@dataclass
class RemoteRater:
    """Votes until there is nothing left; asks again, as a page does, where the server is gone.

    `grade` is that of every vote. `acknowledged` are the trials whose vote the server said it has;
    the seconds are those of each vote, and until a clip's first byte.
    """

    link: str
    grade: str
    acknowledged: list[str] = field(default_factory=list)
    vote_seconds: list[float] = field(default_factory=list)
    clip_seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    again: float = 30.0

    def __post_init__(self) -> None:
        self.parts = urlsplit(self.link)
        self.connection: http.client.HTTPConnection | None = None

    def ask(
        self, method: str, path: str, fields: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        """Status and body, asked for again while there is no answer."""
        until = time.monotonic() + self.again
        while True:
            try:
                if self.connection is None:
                    assert self.parts.hostname is not None
                    self.connection = http.client.HTTPConnection(
                        self.parts.hostname, self.parts.port, timeout=20
                    )
                body = None if fields is None else urlencode(fields)
                self.connection.request(method, path, body, _FORM if body else {})
                answer = self.connection.getresponse()
                self.first_byte = time.perf_counter()
                return answer.status, answer.read()
            except (OSError, http.client.HTTPException) as error:
                self.connection = None
                if time.monotonic() > until:
                    self.errors.append(repr(error))
                    raise
                time.sleep(0.05)

    def post(self, step: str, fields: dict[str, str]) -> int:
        return self.ask("POST", f"{self.parts.path}/{step}", fields)[0]

    def run(self) -> None:
        """The whole way."""
        while True:
            status, body = self.ask("GET", self.parts.path)
            page = body.decode()
            if status != 200:
                self.errors.append(f"page {status}")
                return
            found = re.search(r'data-about="([^"]*)"', page)
            seal = re.search(r'name="seal" value="(\w+)"', page)
            if found:
                self.vote(json.loads(html.unescape(found[1])))
            elif seal:
                step = "go" if "/go" in page else "consent"
                self.post(step, {"seal": seal[1], "agree": "yes"})
            else:
                return

    def vote(self, about: dict[str, Any]) -> None:
        """Load both clips, hear them, vote."""
        form = {"seal": about["seal"], "trial": about["trial"]}
        for side, clip in about["clips"].items():
            begin = time.perf_counter()
            status, _ = self.ask("GET", clip)
            self.clip_seconds.append(self.first_byte - begin)
            if status != 200:
                self.errors.append(f"clip {status}")
            while (status := self.post("heard", {**form, "side": side})) == 409:
                time.sleep(0.02)  # so much time has not passed
        begin = time.perf_counter()
        status = self.post("vote", {**form, **dict.fromkeys(AXES, self.grade)})
        self.vote_seconds.append(time.perf_counter() - begin)
        if status == 303:
            self.acknowledged.append(about["trial"])
        else:
            self.errors.append(f"vote {status}")


def all_at_once(raters: list[RemoteRater]) -> list[threading.Thread]:
    """Every rater in a thread of their own, started."""
    threads = [threading.Thread(target=rater.run, daemon=True) for rater in raters]
    for thread in threads:
        thread.start()
    return threads
