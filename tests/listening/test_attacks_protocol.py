"""A hostile client under HTTP: methods, hosts, headers, raw bytes; and what is kept of anybody."""

from __future__ import annotations

import http.client
import re
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from listening_tests import HOST, RaterClient, pairs, seal_of, session
from starlette.testclient import TestClient

from auditeval.listening import serving
from auditeval.listening.session import Session

# The protocol


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "X"])
def test_other_methods(rater: RaterClient, method: str) -> None:
    about = rater.trial()
    for path in (rater.base, f"{rater.base}/vote", about["clips"]["original"], "/static/trial.js"):
        assert rater.http.request(method, path).status_code == 405
    assert rater.http.post(rater.base).status_code == 405
    assert rater.http.get(f"{rater.base}/vote").status_code in (404, 405)


@pytest.mark.parametrize(
    "host", ["evil.example", "", "evil@testserver", "testserver.evil.example", "[::", "a b"]
)
def test_a_host_that_is_not_ours(rater: RaterClient, host: str) -> None:
    answer = rater.http.get(rater.base, headers={"host": host})
    assert answer.status_code == 400
    assert answer.text == "unknown host"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_no_header_moves_a_link_to_another_place(rater: RaterClient) -> None:
    forged = {
        "x-forwarded-host": "evil.example",
        "x-forwarded-prefix": "//evil.example",
        "x-original-url": "/admin",
        "forwarded": "host=evil.example",
    }
    answer = rater.http.get(rater.base, headers=forged)
    assert "evil" not in answer.text
    given = seal_of(rater.page())
    moved = rater.http.post(
        f"{rater.base}/go", data={"seal": given, "trial": rater.trial()["trial"]}, headers=forged
    )
    assert moved.headers["location"] == rater.base
    for path in ("//evil.example", "//evil.example/..", "/r/" + rater.rater.token + "/"):
        assert rater.http.get(f"http://{HOST}{path}").status_code == 404


def test_every_answer_has_the_headers_that_protect(listening: Session, rater: RaterClient) -> None:
    about = rater.trial()
    paths = [
        *(rater.base, "/static/trial.js", "/static/listening.css", "/nothing", "/r/nobody"),
        *(about["clips"]["original"], f"/admin/{listening.database.fact('admin')}"),
    ]
    answers = [rater.http.get(path) for path in paths]
    answers += [rater.post("vote"), rater.http.put(rater.base)]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert not re.search(r"https?:|\*|data:", policy)
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store"
        assert "set-cookie" not in answer.headers
        assert "server" not in answer.headers
    kinds = [answer.headers["content-type"].split(";")[0] for answer in answers[:6]]
    assert kinds == [
        "text/html",
        "text/javascript",
        "text/css",
        "text/html",
        "text/html",
        "audio/flac",
    ]


def test_what_is_asked_for_is_not_said_back(rater: RaterClient) -> None:
    for path in ("/<script>x</script>", f"{rater.base}/clip/<b>", "/static/%3Cb%3E?q=<script>"):
        answer = rater.http.get(path)
        assert answer.status_code == 404
        assert "<b>" not in answer.text
        assert "x</script>" not in answer.text


# What is kept


def test_no_address_and_no_agent_is_kept(tmp_path: Path) -> None:
    test = session(tmp_path, pairs(tmp_path))
    client = RaterClient(
        test, client=("203.0.113.77", 4711), headers={"user-agent": "Spy/1.0 (a name)"}
    ).consent()
    assert client.vote(client.listen()).status_code == 303
    test.database.close()
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("votes.db*"))
    assert b"zebra-id-0" in kept
    for trace in (b"203.0.113", b"Spy/1.0", b"4711"):
        assert trace not in kept


def test_the_votes_are_for_their_owner_alone(tmp_path: Path) -> None:
    session(tmp_path, pairs(tmp_path))
    assert stat.S_IMODE((tmp_path / "votes.db").stat().st_mode) == 0o600


# A socket, and no client that tidies up


@pytest.fixture
def served(listening: Session) -> Any:
    import uvicorn

    from auditeval.listening.server import application

    config = uvicorn.Config(
        application(listening, {"127.0.0.1"}),
        log_level="critical",
        access_log=False,
        lifespan="off",
    )
    server = uvicorn.Server(config)
    listener = serving._listener("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join()
    listener.close()


RAW = {
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two hosts": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n",
    "old": b"GET / HTTP/1.0\r\n\r\n",
    "up": b"GET /static/../../votes.db HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
    "not a path": b"GET ../votes.db HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
    "two lengths": b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3\r\n"
    b"Content-Length: 30\r\nConnection: close\r\n\r\nabc",
    "length and chunks": b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3\r\n"
    b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n",
    "socket": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 64 + b"\r\n\r\n",
}


def test_raw_requests_end_in_an_error_and_the_server_goes_on(served: int) -> None:
    import socket

    for name, raw in RAW.items():
        with socket.create_connection(("127.0.0.1", served), timeout=5) as line:
            line.sendall(raw)
            answer = line.recv(65536)
        assert re.match(rb"HTTP/1.1 (4\d\d)", answer), (name, answer[:80])
        assert b"Traceback" not in answer
    connection = http.client.HTTPConnection("127.0.0.1", served, timeout=5)
    connection.request("GET", "/static/trial.js")
    assert connection.getresponse().status == 200


def test_a_prefix_is_no_way_around(listening: Session) -> None:
    client = RaterClient(listening, prefix="/listen")
    assert "Before you start" in client.page()  # a proxy that leaves it on
    assert client.http.get(f"/r/{client.rater.token}").status_code == 200  # and one that does not
    assert 'action="/listen/r/' in client.page()
    for path in ("/listen", "/listen/", "/listen/../admin", "/listen//admin", "/listen/listen/x"):
        assert client.http.get(path).status_code == 404
    assert isinstance(client.http, TestClient)
