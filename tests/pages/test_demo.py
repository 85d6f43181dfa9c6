"""`auditeval demo`: an edit is scored as the command scores it, and nothing of it is kept."""

from __future__ import annotations

import base64
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from commands import noise, sound

pytest.importorskip("fastapi", reason="the extra [web] is not installed")
from starlette.testclient import TestClient

from auditeval.pages.demo import MOST_BYTES, application
from auditeval.scoring import Evaluator
from auditeval.types import EditPair

HOST = "testserver"


@pytest.fixture
def client(evaluator: Evaluator) -> TestClient:
    return TestClient(application(evaluator, {HOST}), f"http://{HOST}")


def edit(pair: EditPair, **change: Any) -> dict[str, Any]:
    """What the page sends of a pair."""
    sides = {"original": pair.original, "edited": pair.edited}
    return {
        "names": {side: path.name for side, path in sides.items()},
        "clips": {side: base64.b64encode(p.read_bytes()).decode() for side, p in sides.items()},
        "captions": {"original": pair.original_caption, "edited": pair.target_caption},
        **change,
    }


def test_an_edit_is_scored_as_the_command_does(
    client: TestClient,
    evaluator: Evaluator,
    good: list[EditPair],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    answer = client.post("/score", json=edit(good[0]))
    assert answer.status_code == 200
    found = answer.json()
    (scores,) = evaluator.score([good[0]])
    assert {row["name"]: row["value"] for row in found["scores"]} == scores.ratings
    assert set(found["curves"]["curves"]) == set(scores.ratings)
    assert len(found["curves"]["seconds"]) == len(found["curves"]["change"])
    assert not list(tmp_path.iterdir())


def test_an_instruction_stands_for_captions(
    client: TestClient, evaluator: Evaluator, good: list[EditPair]
) -> None:
    told = good[0].model_copy(
        update={"original_caption": "", "target_caption": "", "instruction": "Add a dog."}
    )
    answer = client.post("/score", json=edit(told, instruction="Add a dog."))
    (scores,) = evaluator.score([told])
    assert {row["name"]: row["value"] for row in answer.json()["scores"]} == scores.ratings
    assert "there is no instruction" in client.post("/score", json=edit(told)).json()["refused"]


def test_the_page_is_there_with_its_scripts(client: TestClient) -> None:
    page = client.get("/")
    assert "spectrum-random" in page.text
    assert "script-src 'self'" in page.headers["content-security-policy"]
    for name in ("demo.js", "pair.js", "player.js", "player.css", "icon.svg"):
        assert client.get(f"/static/{name}").status_code == 200
    assert client.get("/static/demo.py").status_code == 404
    assert client.get("/", headers={"host": "elsewhere"}).status_code == 400


def test_what_cannot_be_scored_is_one_sentence(
    client: TestClient, good: list[EditPair], tmp_path: Path
) -> None:
    silent = sound(tmp_path / "silent.wav", 0 * noise())
    whole = edit(good[0])
    broken = {**whole["clips"], "edited": base64.b64encode(b"no sound").decode()}
    quiet = {**whole["clips"], "edited": base64.b64encode(silent.read_bytes()).decode()}
    for change, says in (
        ({"clips": broken}, "edited.wav: "),
        ({"clips": quiet}, "edited.wav: "),
        ({"clips": {**broken, "edited": "%%%"}}, "this is no edit"),
        ({"clips": {}}, "this is no edit"),
        ({"captions": {"original": "a" * 3000, "edited": ""}}, "this is no edit"),
    ):
        names = {"original": "a.wav", "edited": "../../b.wav"}  # of which the suffix is taken
        answer = client.post("/score", json={**whole, "names": names, **change})
        assert answer.status_code == 422, change
        refused = answer.json()["refused"]
        assert refused.startswith(says)
        assert tempfile.gettempdir() not in refused
    body = json.dumps(whole).encode()
    for headers, status in (
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/json", "origin": "http://elsewhere"}, 403),
        ({"content-type": "application/json", "content-length": str(MOST_BYTES + 1)}, 413),
    ):
        assert client.post("/score", content=body, headers=headers).status_code == status
