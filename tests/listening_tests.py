"""What the tests of listening tests share: a small test, and a rater who has no browser."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from starlette.testclient import TestClient

from auditeval.listening import serving, votes_database
from auditeval.listening.server import application
from auditeval.listening.session import Session
from auditeval.listening.settings import Settings
from auditeval.types import AXES, EditPair

HOST = "testserver"
PLAIN = {"training": False, "headphone_check": False, "attention_share": 0, "repeat_share": 0}
"""Settings under which every trial is a rated pair."""


def pairs(folder: Path, count: int = 4, seconds: float = 0.1, **words: str) -> list[EditPair]:
    """Pairs of noise whose files, ids and systems have names that nobody is to see."""
    rng = np.random.default_rng(0)
    made = []
    for number in range(count):
        sides = {}
        for side in ("original", "edited"):
            path = folder / f"zebra-file-{side}-{number}.wav"
            soundfile.write(path, rng.uniform(-0.3, 0.3, int(seconds * 16000)), 16000)
            sides[side] = path
        row = {
            "id": f"zebra-id-{number}",
            "system": f"zebra-system-{number % 2}",
            "operation": "add",
            "original_caption": f"Rain number {number}.",
            "target_caption": f"Rain number {number}, with a dog barking.",
            **words,
        }
        made.append(EditPair.model_validate({**row, **sides}))
    return made


def session(folder: Path, given: list[EditPair], raters: int = 2, **settings: Any) -> Session:
    """A test of these pairs, its database in the folder."""
    design = Settings.model_validate({**PLAIN, **settings})
    database = serving.made_or_opened(folder / "votes.db", given, design, None)
    database.add_raters(raters - len(database.raters()))
    return serving.test_of(database, "en")


class RaterClient:
    """A rater without a browser: what a page would send, and whatever else is asked for."""

    def __init__(self, test: Session, rater: int = 0, prefix: str = "", **client: Any) -> None:
        self.rater = test.database.raters()[rater]
        self.http = TestClient(
            application(test, {HOST}, prefix), f"http://{HOST}", follow_redirects=False, **client
        )
        self.base = f"{prefix}/r/{self.rater.token}"

    def page(self) -> str:
        """The page that the rater sees now."""
        answer = self.http.get(self.base)
        assert answer.status_code == 200, answer.text
        return answer.text

    def consent(self) -> RaterClient:
        seal = seal_of(self.page())
        assert self.post("consent", agree="yes", seal=seal).status_code == 303
        return self

    def post(self, path: str, headers: dict[str, str] | None = None, **fields: str) -> Any:
        return self.http.post(f"{self.base}/{path}", data=fields, headers=headers or {})

    def trial(self) -> dict[str, Any]:
        """What the script of the trial's page is told."""
        found = re.search(r'data-about="([^"]*)"', self.page())
        assert found, "no trial"
        return json.loads(html.unescape(found[1]))

    def listen(self) -> dict[str, Any]:
        """Load both clips of the trial and say that they were heard."""
        about = self.trial()
        for side, clip in about["clips"].items():
            assert self.http.get(clip).status_code == 200
            answer = self.post("heard", seal=about["seal"], trial=about["trial"], side=side)
            assert answer.status_code == 200, answer.text
        return about

    def vote(self, about: dict[str, Any], grade: str = "3", **fields: str) -> Any:
        form = {"seal": about["seal"], "trial": about["trial"], **dict.fromkeys(AXES, grade)}
        return self.post("vote", **{**form, **fields})

    def votes(self, test: Session) -> list[votes_database.Vote]:
        return [*test.database.votes(self.rater).values()]


def seal_of(page: str) -> str:
    """The seal of the form of a page."""
    found = re.search(r'name="seal" value="(\w+)"', page)
    assert found, page
    return found[1]
