"""Endpoints that are hostile, slow or out of their mind, and records of judges that are forged."""

from __future__ import annotations

import gzip
import json
import os
import socket
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hostile_endpoint import Server, completion, dripping, flooding, response, saying, serving
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import WrongResult, same
from pydantic import BaseModel, ConfigDict, Field

from auditeval.audio import Waveform
from auditeval.judges.answers import AnswerLog
from auditeval.judges.cached import CachedJudge
from auditeval.judges.http import HTTPJudge
from auditeval.judges.judge import Question, Usage
from auditeval.judges.replay import ReplayJudge
from auditeval.types import UserError

pytest.importorskip("openai")

CLIP = Waveform(np.sin(np.arange(1600) / 7).astype(np.float32) / 2, 16000)
KEY = "sk-secret-0123456789"
PATIENCE = 0.5


class Mark(BaseModel):
    model_config = ConfigDict(extra="forbid")
    score: float = Field(ge=1, le=5)
    why: str = ""


QUESTION: Question[Mark] = Question("How good?", (("output", CLIP),), Mark)


def judge(server: Server, **options: Any) -> HTTPJudge:
    fields = {"retries": 0, "timeout_seconds": 20.0, **options}
    return HTTPJudge(f"{server.origin}/v1", "tiny", **fields)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 305, 307, 308, 399])
@pytest.mark.parametrize("where", ["another port", "the same", "another scheme", "none", "junk"])
def test_a_redirect_is_not_followed(status: int, where: str) -> None:
    with serving(saying(response(completion()))) as other:
        places = {
            "another port": f"location: {other.origin}/v1/chat/completions\r\n",
            "another scheme": "location: file:///etc/hostname\r\n",
            "none": "",
            "junk": "location: http://[::1\r\n",
        }

        def speak(server: Server, connection: socket.socket) -> None:
            place = places.get(where, f"location: {server.origin}/v1/chat/completions\r\n")
            server.send(connection, response(b"{}", f"{status} Elsewhere", place))

        said = r"/v1: sends requests on to \S+, which is not followed"
        if where == "junk":  # before Python 3.11.4 no URL is found in it
            said += r"|/v1: cannot be reached \(Invalid URL"
        with serving(speak) as server, pytest.raises(UserError, match=said):
            judge(server, retries=2).ask(QUESTION)
        here = server.requests if where == "junk" else 1  # asked again where nobody is found
        same((server.requests, other.requests), (here, 0), "requests here and elsewhere")


ENDLESS = {
    "a body without end": (b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65536),
    "a body of a petabyte": (
        b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000000000\r\n\r\n",
        b" " * 65536,
    ),
    "chunks without end": (
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
        b"10000\r\n" + b"[" * 65536 + b"\r\n",
    ),
    "an error without end": (b"HTTP/1.1 400 No\r\n\r\n", b"x" * 65536),
    "events without end": (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n",
        b"data: {}\n\n" * 6000,
    ),
}  # fmt: skip


@pytest.mark.parametrize("start", ENDLESS.values(), ids=ENDLESS)
def test_an_answer_without_end_is_read_to_its_bound(start: tuple[bytes, bytes]) -> None:
    with serving(flooding(*start)) as server:
        answer = judge(server).ask(QUESTION)
        same(answer.reason, "the judge's answer is longer than 4 MiB", "the reason")
        assert server.sent < 40 << 20  # what buffers hold beyond it


HEADERS = {
    "a header without end": flooding(b"HTTP/1.1 200 OK\r\nx: ", b"y" * 65536),
    "headers without end": flooding(b"HTTP/1.1 200 OK\r\n", b"x: y\r\n" * 10000),
    "a status line without end": flooding(b"HTTP/1.1 200 ", b"O" * 65536),
    "another protocol": saying(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "nothing": saying(b""),
    "half a status line": saying(b"HTTP/1.1 2"),
    "a body that is cut": saying(response(completion())[:-9]),
    "two lengths": saying(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx"),
    "a length below 0": saying(b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\nxx"),
    "chunks that are none": saying(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"),
    "an answer of HTTP 0.9": saying(completion()),
}


@pytest.mark.parametrize("speak", HEADERS.values(), ids=HEADERS)
def test_what_does_not_speak_http_is_one_sentence(speak: Any) -> None:
    with serving(speak) as server:
        with pytest.raises(UserError, match=r"/v1: cannot be reached \(") as caught:
            judge(server).ask(QUESTION)
        assert "\n" not in str(caught.value)


SLOW = {
    "a body by the byte": dripping(completion(), b"HTTP/1.1 200 OK\r\n\r\n"),
    "headers by the byte": dripping(response(completion())),
    "chunks by the byte": dripping(
        b"1\r\n \r\n" * 999, b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    ),
    "an error by the byte": dripping(completion(), b"HTTP/1.1 500 No\r\n\r\n"),
    "nothing for ever": lambda server, connection: server.closed.wait(60),
    "a promise for ever": lambda server, connection: [
        server.send(connection, b"HTTP/1.1 100 Continue\r\n\r\n")
        for _ in range(999)
        if not server.closed.wait(0.05)
    ],
    "headers, then nothing": lambda server, connection: [
        server.send(connection, b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n"),
        server.closed.wait(60),
    ],
}


@pytest.mark.parametrize("speak", SLOW.values(), ids=SLOW)
def test_a_request_ends_in_its_time(speak: Any) -> None:
    with serving(speak) as server:
        asker, start = judge(server, timeout_seconds=PATIENCE), time.monotonic()
        answer = asker.ask(QUESTION)
        same(answer.reason, f"no answer within {PATIENCE:g} s", "the reason")
        assert time.monotonic() - start < 6 * PATIENCE


def test_a_slow_answer_in_time_is_taken() -> None:
    whole = response(completion())
    with serving(dripping(whole[-5:], whole[:-5])) as server:
        assert judge(server, timeout_seconds=5).ask(QUESTION).value == Mark(score=3.5)


BOMB = gzip.compress(b"x" * (64 << 20))
CODED: dict[str, tuple[str, bytes]] = {
    "a gzip bomb": ("gzip", BOMB),
    "a bomb in a bomb": ("gzip, gzip", gzip.compress(BOMB)),
    "deflate": ("deflate", zlib.compress(b"x" * (64 << 20))),
    "a coding of its own": ("zstd", b"x"),
    "capitals": ("GZIP", BOMB),
    "an answer, compressed": ("gzip", gzip.compress(completion())),
}


@pytest.mark.parametrize(("coding", "body"), CODED.values(), ids=CODED)
def test_a_compressed_answer_is_not_unpacked(coding: str, body: bytes) -> None:
    with serving(saying(response(body, headers=f"content-encoding: {coding}\r\n"))) as server:
        answer = judge(server, retries=3).ask(QUESTION)
        same(server.requests, 1, "requests")
    assert answer.reason == "the judge's answer is compressed, which it was not asked to be"


NONSENSE: dict[str, bytes] = {
    "nothing": b"",
    "not JSON": b"<html>busy</html>",
    "a number": b"7",
    "null": b"null",
    "NaN": b"NaN",
    "a huge number": b"9" * 100_000,
    "not UTF-8": b'{"choices": [{"message": {"content": "\xff\xfe"}}]}',
    "another UTF": '{"choices": []}'.encode("utf-32"),
    "nested 100,000 deep": b"[" * 100_000,
    "an answer nested deep": b'{"choices": [{"message": {"content": ' + b'{"a":' * 50_000,
    "a million choices": b'{"choices": [' + b"{}," * 1_000_000 + b"{}]}",
    "choices by name": b'{"choices": {"0": {}}}',
    "choices that are words": b'{"choices": "abc"}',
    "a choice that is a number": b'{"choices": [7]}',
    "no message": b'{"choices": [{"message": null}]}',
    "a message that is a list": b'{"choices": [{"message": ["content"]}]}',
    "content that is a number": completion(3.5),
    "content that is an object": completion({"score": 3.5}),
    "half a surrogate pair": completion('{"score": 3, "why": "\ud800"}'),
    "choices twice": b'{"choices": [], ' + completion()[1:],
    "a body behind a body": completion() + completion(),
    "a NUL": completion() + b"\0",
}


@pytest.mark.parametrize("body", NONSENSE.values(), ids=NONSENSE)
def test_nonsense_is_no_answer(body: bytes) -> None:
    with serving(saying(response(body))) as server:
        start = time.monotonic()
        answer = judge(server).ask(QUESTION)
        assert time.monotonic() - start < 30
    no_text = ("the endpoint's answer is no chat completion", "the judge's answer is no text")
    if answer.value is not None or answer.reason not in no_text:
        raise WrongResult(f"the answer: {answer}")
    json.dumps(answer.reason).encode()


TEXTS = ("[" * 100_000, '{"score": ' + "9" * 5000 + "}", '{"score": 1e999}', '{"score": NaN}',
         '{"score": "3"}', '{"score": 3, "score": 4} x', '{"score": 3, "b": 1}',
         '{"score": 3, "why": "\\ud800"}', "\0", "```json\n{}\n```", '{"score": -0.0}')  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_that_does_not_fit_is_no_answer(text: str, tmp_path: Path) -> None:
    with serving(saying(response(completion(text)))) as server:
        asker = CachedJudge(judge(server), tmp_path, AnswerLog(tmp_path / "answers.jsonl"))
        answer = asker.ask(QUESTION)
    if answer.value is not None and not isinstance(answer.value.score, float):
        raise WrongResult(repr(answer))
    if "3" not in text:
        assert answer.reason.startswith("the judge")
    ReplayJudge(tmp_path / "answers.jsonl")


COUNTS = [10**400, -5, 1e308, "5", True, None, [1], {"a": 1}, 2**63, -(10**400), 1.5, 10**18]


@pytest.mark.parametrize("count", COUNTS, ids=lambda count: str(count)[:9])
def test_a_count_of_tokens_that_cannot_be_is_none(count: Any) -> None:
    usage = {"prompt_tokens": count, "completion_tokens": 10}
    with serving(saying(response(completion(usage=usage)))) as server:
        answer = judge(server, prompt_price=1.0, completion_price=1.0).ask(QUESTION)
    same(answer.usage, Usage(1, 0, 10, pytest.approx(10e-6)), "the usage")
    str(answer.usage)


@pytest.mark.parametrize("usage", [b"NaN", b"Infinity", b"[]", b'"x"', b"1e999", b"{}"])
def test_a_usage_that_is_none_counts_nothing(usage: bytes) -> None:
    body = completion()[:-1] + b', "usage": ' + usage + b"}"
    with serving(saying(response(body))) as server:
        answer = judge(server, prompt_price=1.0, completion_price=1.0).ask(QUESTION)
    assert answer.value == Mark(score=3.5)
    same(answer.usage, Usage(1), "the usage")


def _error(message: str, status: str) -> bytes:
    return response(json.dumps({"error": {"message": message}}).encode(), status)


ECHOES: dict[str, bytes] = {
    "in an error": _error(f"what is {KEY}?", "422 No"),
    "in a long error": _error("x" * 290 + KEY, "422 No"),
    "in a limit": _error(KEY, "429 Slow down"),
    "in a failure": _error(f"{KEY}\n{KEY}", "500 No"),
    "in a refusal": _error(KEY, "401 No"),
    "in a missing model": _error(KEY, "404 No"),
    "in a status": response(b"{}", f"418 {KEY}"),
    "in a redirect": response(b"{}", "307 There", f"location: http://{KEY}.example/{KEY}\r\n"),
    "in a header": response(b"{}", "400 No", f"x-request-id: {KEY}\r\n"),
    "in an answer": response(completion(f'{{"score": 3, "why": "{KEY}"}}')),
    "in an answer, spelled": response(
        completion('{"score": 3, "why": "' + "".join(f"\\u{ord(c):04x}" for c in KEY) + '"}')
    ),
    "in an answer that does not fit": response(completion(f'{{"score": "{KEY}"}}')),
    "as a key of the answer": response(completion(f'{{"score": 3, "{KEY}": 1}}')),
    "in no HTTP": f"{KEY} {KEY}\r\n\r\n".encode(),
    "in a length": f"HTTP/1.1 200 OK\r\ncontent-length: {KEY}\r\n\r\n".encode(),
}


@pytest.mark.parametrize("said", ECHOES.values(), ids=ECHOES)
def test_a_key_that_comes_back_is_kept_nowhere(
    said: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: Any
) -> None:
    caplog.set_level("INFO")
    found = ""
    with serving(saying(said)) as server:
        asker = CachedJudge(
            judge(server), tmp_path / "cache", AnswerLog(tmp_path / "answers.jsonl")
        )
        try:
            found = repr(asker.ask(QUESTION))
        except UserError as error:
            found = str(error)
    kept = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    for place in (found, caplog.text, *capfd.readouterr(), *kept, asker.revision, asker.name):
        for part in (KEY, KEY[:12]):
            if part in place:
                raise WrongResult(f"the key stands in {place[:300]!r}")


def test_a_wait_that_is_asked_for_is_bounded() -> None:
    with serving(saying(response(b"{}", "429 No", "retry-after: 100000000\r\n"))) as server:
        start = time.monotonic()
        answer = judge(server, retries=1).ask(QUESTION)
    assert time.monotonic() - start < 10
    assert answer.value is None


@settings(max_examples=40, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["choices", "message", "content", "usage", "prompt_tokens"]), inner
            )
        ),
    )
)
def test_any_json_is_an_answer_or_none(value: Any) -> None:
    with serving(saying(response(json.dumps(value).encode()))) as server:
        answer = judge(server).ask(QUESTION)
    assert (answer.value is None) == bool(answer.reason)
    assert answer.usage.prompt_tokens >= 0


RECORDS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "nested deep": (lambda p: p.write_text("[" * 10**5), r"answers\.jsonl:1: nests deeper"),
    "a list": (lambda p: p.write_text("[]"), r":1: expected an object, found list"),
    "a key twice": (lambda p: p.write_text('{"key": "a", "key": "b"}'), "key 'key' stands twice"),
    "a key that is a number": (
        lambda p: p.write_text('{"key": 1, "judge": "x", "value": null, "reason": ""}'),
        ":1: expected a recorded answer",
    ),
    "a reason that is an object": (
        lambda p: p.write_text('{"key": "", "judge": "x", "value": null, "reason": {}}'),
        ":1: expected a recorded answer",
    ),
    "a judge that is a list": (
        lambda p: p.write_text('{"key": "", "judge": [], "value": null, "reason": ""}'),
        ":1: expected a recorded answer",
    ),
    "not UTF-8": (lambda p: p.write_bytes(b'{"key": "\xff"}'), ":1: is not JSON"),
    "a pipe": (lambda p: os.mkfifo(p), r"cannot be read \(is no regular file\)"),
    "a folder": (lambda p: p.mkdir(), r"cannot be read \(Is a directory\)"),
}


@pytest.mark.parametrize(("write", "said"), RECORDS.values(), ids=RECORDS)
def test_a_record_that_is_none_is_one_sentence(
    write: Callable[[Path], Any], said: str, tmp_path: Path
) -> None:
    write(tmp_path / "answers.jsonl")
    with pytest.raises(UserError, match=said):
        ReplayJudge(tmp_path / "answers.jsonl")
