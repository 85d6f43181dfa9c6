"""What a judge's endpoint can do, one row each: requests, end and coverage; killed in the middle, a
run goes on to the bytes of an unbroken one."""

from __future__ import annotations

import json
import multiprocessing
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from commands import Ended
from hostile_endpoint import Server, completion, response, saying, serving
from outcomes import same
from small_benchmarks import clip, entry, mmae

from auditeval import bench
from auditeval.judges.place import JudgeAt
from auditeval.types import UserError

pytest.importorskip("openai")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and signals")

QUESTIONS = 3
"""Of a sample: one rubric, three votes. There are two samples."""
PATIENCE, SHORT = 20.0, 0.5
"""Seconds that a request may take; where it takes all of them, few."""

VALUE = '{"reason": "it is quiet", "choice": "A"}'
OTHER = VALUE.replace("A", "B")
SOON = "retry-after-ms: 1\r\n"
STOPS = r"^tiny: no answer to 3 questions in a row \(--judge-failures 3; the last: "

Speak = Callable[[Server, socket.socket], None]


class Case(NamedTuple):
    """What it says, how often it is asked with one retry, and why a run stops, if it does."""

    speak: Speak
    requests: int
    stops: str | None
    retries: int = 1
    seconds: float = PATIENCE


def text(said: str) -> Speak:
    return saying(response(completion(said)))


def status(line: str, headers: str = SOON) -> Speak:
    return saying(response(b'{"error": {"message": "no"}}', line, headers))


EACH, TWICE = QUESTIONS, 2 * QUESTIONS
CASES: dict[str, Case] = {
    "valid": Case(text(VALUE), TWICE, None),
    "fenced": Case(text(f"```json\n{VALUE}\n```"), TWICE, None),
    "think": Case(text(f"<think>{OTHER}?</think>{VALUE}"), TWICE, None),
    "prose": Case(text(f"Sure! {VALUE} Anything else?"), TWICE, None),
    "truncated": Case(text(VALUE[:-3]), TWICE, rf"{STOPS}the judge's answer holds a JSON object"),
    "refusal": Case(text("I cannot help."), TWICE, rf"{STOPS}the judge's answer does not fit"),
    "401": Case(status("401 No"), 1, r"refuses the key of the environment variable \w+ \(401\)"),
    "402": Case(status("402 No"), 1, r"wants to be paid before it answers \(402 no\)"),
    # Of the clips of a sample, whose questions it would all refuse.
    "413": Case(status("413 No"), TWICE, None),
    "429": Case(status("429 No"), TWICE, rf"{STOPS}the judge refused: 429 no"),
    "500": Case(status("500 No"), TWICE, rf"{STOPS}the judge refused: 500 no"),
    "hang": Case(
        lambda server, connection: server.closed.wait(30),
        EACH,
        rf"{STOPS}no answer within",
        retries=0,
        seconds=SHORT,
    ),
    "closed": Case(saying(b""), 1, r"cannot be reached \(", 0),
    "huge": Case(saying(response(b"x" * (5 << 20))), EACH, rf"{STOPS}.* is longer than 4 MiB"),
    "redirect": Case(status("307 There", "location: http://127.0.0.1:1/\r\n"), 1, "sends requests"),
}


class Endpoint:
    """Answers well `well` times, then as it was told; `at` holds a request until it is let go."""

    def __init__(self, speak: Speak) -> None:
        self.speak, self.well = speak, 0
        self.at: int | None = None
        self.held, self.let_go = threading.Event(), threading.Event()
        self._good = text(VALUE)

    def __call__(self, server: Server, connection: socket.socket) -> None:
        if server.requests == self.at:
            self.held.set()
            self.let_go.wait(30)
            return
        (self._good if server.requests <= self.well else self.speak)(server, connection)


class Room(NamedTuple):
    """A small MMAE, and where a judge of it listens."""

    folder: Path
    meta: Path
    endpoint: Endpoint
    server: Server

    def begin(self, well: int, at: int | None = None) -> None:
        self.endpoint.well, self.endpoint.at, self.server.requests = well, at, 0

    def run(self, name: str, case: Case) -> str | None:
        """Why it stopped, None if it came to its end."""
        try:
            ask(self.meta, self.folder / name, self.judge(case))
        except UserError as error:
            return str(error)
        return None

    def judge(self, case: Case) -> JudgeAt:
        url = f"{self.server.origin}/v1"
        return JudgeAt(url, "tiny", case.seconds, case.retries, failures=3, check=False)

    def left(self, name: str) -> dict[str, bytes]:
        return {
            path.name: path.read_bytes()
            for path in sorted((self.folder / name / "report").rglob("*"))
            if path.is_file()
        }

    def spent(self, name: str) -> Any:
        report = json.loads(self.left(name)["mmae.json"])
        return report["tables"]["mmae_judge"]["rows"]["tiny"]


def ask(meta: Path, folder: Path, judge: JudgeAt) -> None:
    """The run, which may be a process of its own."""
    options: dict[str, Any] = {"judge": judge, "workers": 0, "cache_dir": folder / "cache"}
    bench("mmae", meta, {"x": meta.parents[1] / "outputs"}, folder / "report", **options)


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


@contextmanager
def opened(folder: Path, speak: Speak) -> Iterator[Room]:
    meta = mmae(folder, entry())
    meta.write_text(json.dumps([entry(), entry(id="b")]))
    clip(folder / "outputs" / "b.wav", 2)
    endpoint = Endpoint(speak)
    with serving(endpoint) as server:
        yield Room(folder, meta, endpoint, server)


@pytest.fixture
def room(tmp_path: Path, case: Case) -> Iterator[Room]:
    with opened(tmp_path, case.speak) as made:
        yield made


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Of a run with which all is well from its beginning to its end."""
    with opened(tmp_path_factory.mktemp("whole"), CASES["valid"].speak) as made:
        assert made.run("run", CASES["valid"]) is None
        return made.left("run")["records.jsonl"]


def test_a_judge_is_asked_so_often_and_the_run_ends_so(room: Room, case: Case) -> None:
    said = room.run("run", case)
    same(room.server.requests, case.requests, "requests")
    if case.stops is not None:
        with pytest.raises(UserError, match=case.stops):
            raise UserError(said)
        assert "mmae.json" not in room.left("run")  # no rate of zero
        return
    same(said, None, "the end")
    spent = room.spent("run")
    coverage = 1.0 if case.speak is not CASES["413"].speak else 0.0
    same((spent["answered"], spent["requests"]), (coverage, case.requests), "the report")


@pytest.fixture(scope="module")
def processes() -> Any:
    """That start with everything imported, in a process that has no threads."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, "auditeval.benchmarking", "openai"])
    return context


def test_killed_in_the_middle_it_goes_on_to_the_same_bytes(
    room: Room, case: Case, processes: Any, records: bytes
) -> None:
    """All is well for a sample, then it happens; in the end all is well again."""
    room.begin(QUESTIONS)
    ended = room.run("unbroken", case)

    room.begin(QUESTIONS, at=QUESTIONS + 1)
    child = processes.Process(
        target=ask, args=(room.meta, room.folder / "killed", room.judge(case))
    )
    child.start()
    assert room.endpoint.held.wait(60)
    child.kill()
    child.join()
    room.endpoint.let_go.set()
    room.begin(0)
    again = room.run("killed", case)

    if ended != again:  # a process that it never answered asks no further
        assert all("cannot be reached" in str(said) for said in (ended, again))
    else:
        found, expected = room.left("killed"), room.left("unbroken")
        same([*found], [*expected], "files")
        for name, data in found.items():
            same(data.decode().splitlines(), expected[name].decode().splitlines(), name)

    room.begin(TWICE)
    same(room.run("killed", case), None, "the end")
    same(room.left("killed")["records.jsonl"], records, "the records")
    spent = room.spent("killed")
    same((spent["questions"], spent["answered"]), (TWICE, 1.0), "the report")


def test_a_judge_that_guesses_is_warned_of_and_paid_once(
    tmp_path: Path, cli: Callable[..., Ended], caplog: pytest.LogCaptureFixture
) -> None:
    with opened(tmp_path, CASES["valid"].speak) as room:

        def command(name: str, *options: object) -> tuple[Ended, Any]:
            judge = ("--judge", f"{room.server.origin}/v1", "--judge-model", "tiny")
            place = ("-s", f"x={tmp_path / 'outputs'}", "-o", room.folder / name / "report")
            common = ("--workers", 0, "--cache-dir", tmp_path / "cache")
            caplog.clear()
            ended = cli("bench", "mmae", room.meta, *place, *judge, *common, *options)
            return ended, room.spent(name)

        ended, spent = command("checked")
        same((ended.status, room.server.requests), (0, 8 + TWICE), "requests")
        assert "tiny is right in 4 of 8 questions whose answers are known" in caplog.text
        same((spent["questions"], spent["requests"]), (8 + TWICE, 8 + TWICE), "the report")
        same(spent["USD"], "price unknown", "the cost")
        assert "| price unknown |" in (room.folder / "checked/report/mmae.md").read_text()
        assert f"tiny, in this run: {8 + TWICE} requests, " in ended.out

        ended, spent = command("again")
        same((ended.status, room.server.requests), (0, 8 + TWICE), "requests")
        assert "tiny is right in 4 of 8" in caplog.text
        same((spent["from the cache"], spent["requests"]), (8 + TWICE, 0), "the report")

        ended, spent = command("unchecked", "--no-judge-check")
        assert not caplog.text
        same((spent["questions"], spent["from the cache"]), (TWICE, TWICE), "the report")
