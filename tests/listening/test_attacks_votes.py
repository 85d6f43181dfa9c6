"""Votes that a page would not send: twice, too large, of another type, of what was not heard."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from listening_tests import RaterClient, pairs, seal_of, session

from auditeval.listening.protection import MOST_BODY_BYTES, seal
from auditeval.listening.session import MOST_COMMENT, Session
from auditeval.types import AXES

# Replays


def test_a_request_sent_again_makes_no_second_vote(listening: Session, rater: RaterClient) -> None:
    about = rater.listen()
    assert rater.vote(about, "4").status_code == 303
    assert rater.vote(about, "1").status_code == 303  # shown the way on, as a second tab is
    (vote,) = rater.votes(listening)
    assert vote.grades == dict.fromkeys(AXES, 4.0)


def test_a_request_sent_twenty_times_at_once_makes_one_vote(
    listening: Session, rater: RaterClient
) -> None:
    about = rater.listen()
    statuses: list[int] = []

    def send(grade: int) -> None:
        client = RaterClient(listening)
        statuses.append(client.vote(about, str(grade)).status_code)

    threads = [threading.Thread(target=send, args=[1 + n % 5]) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [303] * 20
    assert len(rater.votes(listening)) == 1
    assert len(listening.database.votes()) == 1


def test_consent_and_blocks_are_given_once(listening: Session) -> None:
    client = RaterClient(listening)
    given = seal_of(client.page())
    client.consent()
    first = listening.database.raters()[0].consented
    assert client.post("consent", agree="yes", seal=given).status_code == 303
    assert listening.database.raters()[0].consented == first
    client.trial()
    before = listening.database.trials(client.rater)
    client.trial()
    assert listening.database.trials(client.rater) == before


# Sizes and types


def test_a_body_that_says_it_is_large_is_refused(rater: RaterClient) -> None:
    about = rater.listen()
    assert rater.vote(about, comment="x" * MOST_BODY_BYTES).status_code == 413


@pytest.mark.parametrize("letter", ["x", "é", "好", "🎧"])
def test_a_comment_may_be_as_long_as_its_page_allows(
    listening: Session, rater: RaterClient, letter: str
) -> None:
    """In a form a character takes up to 12 bytes; the page counts in UTF-16."""
    comment = letter * (MOST_COMMENT // (len(letter.encode("utf-16-le")) // 2))
    assert rater.vote(rater.listen(), comment=comment).status_code == 303
    assert [vote.comment for vote in rater.votes(listening)] == [comment]


@pytest.mark.parametrize("length", ["-1", "1e9", "99999999999", "x"])
def test_a_length_that_is_none(rater: RaterClient, length: str) -> None:
    answer = rater.http.post(f"{rater.base}/vote", headers={"content-length": length})
    assert answer.status_code == 413


def test_a_body_that_does_not_say_how_large_it_is_is_cut(rater: RaterClient) -> None:
    def parts() -> Any:
        for _ in range(40):
            yield b"x" * 1024

    kind = {"content-type": "application/x-www-form-urlencoded"}
    answer = rater.http.post(f"{rater.base}/vote", content=parts(), headers=kind)
    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("application/json", b'{"quality": 5}', 415),
        ("multipart/form-data; boundary=x", b"--x--", 415),
        ("text/plain", b"quality=5", 415),
        ("", b"quality=5", 415),
        ("application/x-www-form-urlencoded", b"quality=5&quality=4", 400),
        ("application/x-www-form-urlencoded", b"quality=%ff", 400),
        ("application/x-www-form-urlencoded", b"\xff\xfe=1", 400),
        ("application/x-www-form-urlencoded", b"no fields", 400),
        ("application/x-www-form-urlencoded", b"a=1&" * 30 + b"b=1", 400),
        ("application/x-www-form-urlencoded", b"&".join(b"a%d=1" % n for n in range(30)), 400),
        ("application/x-www-form-urlencoded", b"", 403),
    ],
)
def test_a_body_of_another_type(rater: RaterClient, kind: str, body: bytes, status: int) -> None:
    answer = rater.http.post(f"{rater.base}/vote", content=body, headers={"content-type": kind})
    assert answer.status_code == status


@pytest.mark.parametrize(
    "grade",
    [
        *("0", "6", "-1", "3.5", "5.0", "1e0", "nan", "inf", "", " 3", "3 ", "0x3", "３", "٣"),
        *("true", "null", "[3]", "3\0", "3;4", "5.000001", "4.99999"),
    ],
)
def test_a_grade_that_is_none(listening: Session, rater: RaterClient, grade: str) -> None:
    about = rater.listen()
    for axis in AXES:
        assert rater.vote(about, "3", **{axis: grade}).status_code == 422
    assert rater.votes(listening) == []


def test_half_points_where_they_are_given(tmp_path: Path) -> None:
    test = session(tmp_path, pairs(tmp_path), step=0.5)
    client = RaterClient(test).consent()
    about = client.listen()
    assert client.vote(about, "3.25").status_code == 422
    assert client.vote(about, "3.5").status_code == 303


@pytest.mark.parametrize(
    "fields",
    [
        {"cannot": "because"},
        {"cannot": "no_sound' --"},
        {"comment": "x" * (MOST_COMMENT + 1)},
        {"comment": "a\0b"},
    ],
)
def test_words_that_a_page_would_not_send(
    listening: Session, rater: RaterClient, fields: dict[str, str]
) -> None:
    assert rater.vote(rater.listen(), **fields).status_code == 422
    assert rater.votes(listening) == []


# Votes on what was not heard


def test_a_vote_before_both_were_heard_is_refused(listening: Session, rater: RaterClient) -> None:
    about = rater.trial()
    assert rater.vote(about).status_code == 409
    for clip in about["clips"].values():
        rater.http.get(clip)
    assert rater.vote(about).status_code == 409
    heard = {"seal": about["seal"], "trial": about["trial"]}
    assert rater.post("heard", side="original", **heard).status_code == 200
    assert rater.vote(about).status_code == 409
    assert rater.post("heard", side="edited", **heard).status_code == 200
    assert rater.vote(about).status_code == 303


def test_what_was_not_sent_or_not_long_ago_was_not_heard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = session(tmp_path, pairs(tmp_path, seconds=2.0))
    client = RaterClient(test).consent()
    about = client.trial()
    clock = [1000.0]
    monkeypatch.setattr("auditeval.listening.server.time.time", lambda: clock[0])

    def hear(side: str) -> int:
        fields = {"seal": about["seal"], "trial": about["trial"], "side": side}
        return int(client.post("heard", **fields).status_code)

    assert hear("original") == 409  # it was never sent
    for clip in about["clips"].values():
        client.http.get(clip, headers={"range": "bytes=0-99"})
    assert hear("original") == 409  # not to its end
    for clip in about["clips"].values():
        client.http.get(clip)
    assert hear("original") == 409
    clock[0] += 2.1
    assert hear("original") == 200
    assert hear("edited") == 409  # one plays at a time
    clock[0] += 2.1
    assert hear("edited") == 200
    assert hear("both") == 422


def test_a_full_disk_is_one_sentence_and_pages_ask_again(
    listening: Session, rater: RaterClient, capsys: pytest.CaptureFixture[str]
) -> None:
    database, admin = listening.database, listening.database.fact("admin")
    fields = {"count": "100", "seal": seal(listening.secret, admin)}
    ((pages,),) = database.rows("PRAGMA page_count")
    ((most,),) = database.rows("PRAGMA max_page_count")
    for full, status in ((True, 503), (False, 303)):
        database.rows(f"PRAGMA max_page_count = {pages if full else most}")
        answer = rater.http.post(f"/admin/{admin}/raters", data=fields)
        assert answer.status_code == status
        assert len(database.raters()) == (2 if full else 102)
        assert capsys.readouterr().err.endswith(
            "votes.db: database or disk is full\n" if full else ""
        )
    assert rater.vote(rater.listen()).status_code == 303


def test_a_clock_that_is_set_back_keeps_nobody_waiting(
    listening: Session, rater: RaterClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = rater.trial()
    for clip in about["clips"].values():
        rater.http.get(clip)
    monkeypatch.setattr("auditeval.listening.server.time.time", lambda: 1000.0)
    rater.listen()
    assert rater.vote(about).status_code == 303
    assert [vote.seconds for vote in rater.votes(listening)] == [0.0]


def test_a_vote_out_of_turn_or_for_another_is_refused(
    listening: Session, rater: RaterClient, other: RaterClient
) -> None:
    rater.listen()
    later = listening.database.trials(rater.rater)[2]
    sealed = seal(listening.secret, rater.rater.token, later.token)
    assert rater.vote({"trial": later.token, "seal": sealed}).status_code == 409
    others = other.listen()["trial"]
    sealed = seal(listening.secret, rater.rater.token, others)
    assert rater.vote({"trial": others, "seal": sealed}).status_code == 404
    assert listening.database.votes() == {}


def test_nothing_is_voted_on_without_consent(listening: Session) -> None:
    client = RaterClient(listening)
    assert "Before you start" in client.page()
    assert listening.database.trials(client.rater) == []
