"""The HTTP judge against a real server: what arrives there, and what becomes of its answers."""

from __future__ import annotations

import json
import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judges_endpoint import completion, serving
from pydantic import BaseModel, ConfigDict, Field

from auditeval import audio
from auditeval.audio import Waveform
from auditeval.judges.http import HTTPJudge
from auditeval.judges.judge import AnyObject, Question, Usage
from auditeval.types import UserError

pytest.importorskip("openai")


class Mark(BaseModel):
    model_config = ConfigDict(extra="forbid")
    score: float = Field(ge=1, le=5)


GOOD = '{"score": 3.5}'
CLIP = Waveform(np.sin(np.arange(4000) / 7).astype(np.float32) / 2, 16000)
LOUD = Waveform(2 * CLIP.samples, 8000)


def question(**changes: Any) -> Question[Mark]:
    fields: dict[str, Any] = {"prompt": "How good is the output?", "reply": Mark}
    return Question(**{**fields, "clips": (("output", CLIP), ("input1", LOUD)), **changes})


def judge(url: str, **options: Any) -> HTTPJudge:
    return HTTPJudge(url, "tiny", **{"retries": 2, "timeout_seconds": 20, **options})


def test_clips_prompt_and_schema_arrive(tmp_path: Path) -> None:
    with serving((200, GOOD)) as endpoint:
        asked = question(system_prompt="You listen.", temperature=0.25)
        answer = judge(endpoint.url, prompt_price=2.0, completion_price=100.0).ask(asked)
    assert answer.value == Mark(score=3.5)
    assert answer.usage == Usage(1, 1000, 10, pytest.approx(0.002 + 0.001))
    (sent,) = endpoint.requests
    assert sent["model"] == "tiny"
    assert sent["temperature"] == 0.25
    assert sent["messages"][0] == {"role": "system", "content": "You listen."}
    assert sent["response_format"]["json_schema"]["schema"] == Mark.model_json_schema()
    assert endpoint.texts(0).splitlines() == [
        "Audio output:",
        "Audio input1:",
        "How good is the output?",
    ]
    for number, (wav, clip) in enumerate(zip(endpoint.wavs(0), (CLIP, LOUD), strict=True)):
        (tmp_path / f"{number}.wav").write_bytes(wav)
        heard = audio.decode(tmp_path / f"{number}.wav")
        assert heard.rate_hz == clip.rate_hz
        assert np.abs(heard.samples - np.clip(clip.samples, -1, 1)).max() <= 2 / 32768


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_a_failing_endpoint_is_asked_again(status: int) -> None:
    broken = (status, {"error": {"message": "later"}})
    with serving(broken, broken, (200, GOOD)) as endpoint:
        answer = judge(endpoint.url).ask(question())
        assert answer.value == Mark(score=3.5)
        assert answer.usage.requests == len(endpoint.requests) == 3
    with serving(broken) as endpoint:
        answer = judge(endpoint.url).ask(question())
        assert answer.value is None
        assert str(status) in answer.reason
        assert "later" in answer.reason
        assert answer.usage.requests == len(endpoint.requests) == 3


@pytest.mark.parametrize("junk", ["", "very good", '{"score": 9}', GOOD[:-1]])
def test_an_answer_that_does_not_fit_is_asked_for_again(junk: str) -> None:
    with serving((200, junk), (200, f"```json\n{GOOD}\n```")) as endpoint:
        answer = judge(endpoint.url).ask(question())
        assert answer.value == Mark(score=3.5)
        assert answer.usage == Usage(2, 2000, 20, None)
    with serving((200, junk)) as endpoint:
        answer = judge(endpoint.url).ask(question())
        assert answer.value is None
        assert answer.reason.startswith("the judge")
        assert len(endpoint.requests) == 3


def test_a_question_has_one_budget_of_requests_whatever_fails() -> None:
    """Not the SDK's retries for each of ours."""
    busy = (500, {"error": {"message": "later"}})
    with serving(busy, (200, "junk"), busy) as endpoint:
        answer = judge(endpoint.url, retries=3).ask(question())
        assert answer.usage.requests == len(endpoint.requests) == 4
        assert answer.reason == "the judge refused: 500 later"
    with serving((200, "junk"), busy, (200, "junk"), (200, GOOD)) as endpoint:
        answer = judge(endpoint.url, retries=3).ask(question())
        assert answer.usage.requests == len(endpoint.requests) == 4
        assert answer.value == Mark(score=3.5)


@pytest.mark.parametrize(
    "bad",
    [
        *({"retries": value} for value in (-1, 2.5, True, "3", 1000)),
        *({"timeout_seconds": value} for value in (0, -1, float("nan"), float("inf"), "1")),
        *({"failures": value} for value in (0, 1.5, True)),
        *({"prompt_price": value} for value in (-1, "1", float("nan"))),
    ],
    ids=str,
)
def test_an_option_that_is_none_is_one_sentence(bad: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=next(iter(bad)).removeprefix("prompt_") + ".*: expected"):
        judge("http://localhost:1/v1", **bad)


def test_a_cost_is_unknown_without_both_prices() -> None:
    for prices, said in (
        ({}, "price unknown"),
        ({"prompt_price": 1.0}, "price unknown"),
        ({"prompt_price": 1.0, "completion_price": 0.0}, "0.0010 USD"),
    ):
        with serving((200, GOOD)) as endpoint:
            usage = judge(endpoint.url, **prices).ask(question()).usage
        assert str(usage + Usage()).endswith(f", {said}")
    with serving((500, {})) as endpoint:
        assert str(judge(endpoint.url, retries=0).ask(question()).usage).endswith("price unknown")


def test_an_endpoint_that_breaks_off_later_gives_no_answer() -> None:
    """It may be the question that it does not survive, and others may have answers."""
    with serving((200, GOOD)) as endpoint:
        asker = judge(endpoint.url, retries=0)
        assert asker.ask(question()).value == Mark(score=3.5)
    answer = asker.ask(question(run=1))
    assert answer.reason.startswith("the judge cannot be reached (")
    assert answer.usage.requests == 1


PARTS: Any = [{"type": "text", "text": GOOD}]
NO = "the endpoint's answer is no chat completion"
NO_COMPLETIONS = (
    *((body, NO) for body in ({}, [], {"choices": []}, {"choices": None}, b"<html>", b"")),
    # As routers of several endpoints have it, with status 200.
    ({"error": {"message": "overloaded", "code": 502}}, f"{NO} but an error: overloaded"),
    (completion(None), "the judge wrote nothing"),
    (completion(PARTS), "the judge's answer is no text"),
)


@pytest.mark.parametrize(("body", "reason"), NO_COMPLETIONS)
def test_what_is_no_chat_completion_is_no_answer(body: Any, reason: str) -> None:
    with serving((200, body)) as endpoint:
        answer = judge(endpoint.url, retries=0).ask(question())
    assert answer.value is None
    assert answer.reason == reason


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": "a clip is too long"}, "a clip is too long"),
        ({"detail": "a clip is too long"}, "a clip is too long"),
        ({"detail": [{"msg": "too long"}]}, '[{"msg": "too long"}]'),
        (b"413\nToo Large", "413 Too Large"),
        # Half of an emoji, where a server cuts its sentences: no record could hold it.
        (b'{"error": {"message": "of caf\\ud83d"}}', "of caf?"),
        (b"", "Error code: 413"),
    ],
    ids=str,
)
def test_an_endpoints_own_words_are_the_reason_in_whatever_form(body: Any, words: str) -> None:
    with serving((413, body)) as endpoint:
        answer = judge(endpoint.url, retries=0).ask(question())
    assert answer.reason == f"the judge refused: 413 {words}"


@pytest.mark.parametrize("usage", [{}, {"prompt_tokens": 5}, {"prompt_tokens": None}, "many"])
def test_tokens_that_are_not_counted_are_none(usage: Any) -> None:
    with serving((200, completion(GOOD) | {"usage": usage})) as endpoint:
        answer = judge(endpoint.url, completion_price=1.0).ask(question())
    assert answer.value == Mark(score=3.5)
    assert answer.usage.completion_tokens == 0


def test_an_endpoint_that_refuses_the_schema_gets_it_in_the_prompt() -> None:
    refusal = (400, {"error": {"message": "response_format is not supported"}})
    with serving(refusal, (200, GOOD)) as endpoint:
        asker = judge(endpoint.url)
        for run, requests in enumerate((2, 1)):
            answer = asker.ask(question(run=run))
            assert answer.value == Mark(score=3.5)
            assert answer.usage.requests == requests
        assert len(endpoint.requests) == 3  # it is not offered a schema a second time
        for number in (1, 2):
            assert "response_format" not in endpoint.requests[number]
            assert json.dumps(Mark.model_json_schema()) in endpoint.texts(number)


@pytest.mark.parametrize("refused", [False, True])
def test_a_question_of_any_form_goes_as_it_is(refused: bool) -> None:
    """The prompt says the form itself: nothing is added to it, and it stands before the clip."""
    script: list[tuple[int, Any]] = [(200, '{"a": [1, null]}')]
    with serving(*([(400, {}), *script] if refused else script)) as endpoint:
        asked = Question("Say JSON.", (("output", CLIP),), AnyObject, prompt_first=True)
        answer = judge(endpoint.url).ask(asked)
    assert answer.value == AnyObject({"a": [1, None]})
    text, audio = endpoint.requests[-1]["messages"][-1]["content"]
    assert text == {"type": "text", "text": "Say JSON."}
    assert audio["type"] == "input_audio"
    form = endpoint.requests[-1].get("response_format")
    assert form == (None if refused else {"type": "json_object"})
    assert Question("Say JSON.", (("output", CLIP),), AnyObject).key != asked.key


def test_a_refused_clip_is_no_reason_to_give_up_the_schema() -> None:
    refusal = (400, {"error": {"message": "audio too long"}})
    with serving(refusal, refusal, (200, GOOD)) as endpoint:
        asker = judge(endpoint.url)
        refused = asker.ask(question())
        assert refused.value is None
        assert "audio too long" in refused.reason
        assert refused.usage.requests == 2
        assert asker.ask(question()).value == Mark(score=3.5)
        assert "response_format" in endpoint.requests[2]


@pytest.mark.parametrize(
    ("status", "says"),
    [(401, "MY_API_KEY"), (402, "to be paid"), (403, "MY_API_KEY"), (404, "'tiny'")],
)
def test_what_no_retry_mends_is_one_sentence_without_the_key(
    status: int, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-secret")
    with serving((status, {"error": {"message": "what is sk-secret?"}})) as endpoint:
        asker = judge(endpoint.url, api_key_variable="MY_API_KEY")
        with pytest.raises(UserError) as caught:
            asker.ask(question())
        assert endpoint.keys == ["Bearer sk-secret"]
    assert endpoint.url in str(caught.value)
    assert says in str(caught.value)
    assert "sk-secret" not in str(caught.value) + asker.name + asker.revision


def test_a_quoted_key_is_not_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with serving((429, {"error": {"message": "sk-secret is over\nits limit"}})) as endpoint:
        reason = judge(endpoint.url, retries=0).ask(question()).reason
    assert reason.endswith("429 *** is over its limit")


def test_a_key_is_taken_without_the_line_break_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret\r\n")
    with serving((200, GOOD)) as endpoint:
        assert judge(endpoint.url).ask(question()).value == Mark(score=3.5)
    assert endpoint.keys == ["Bearer sk-secret"]


@pytest.mark.parametrize("key", ["sk-\nsecret", "sk-s\u00e9cret"])
def test_what_can_be_no_key_is_not_printed(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(UserError, match="OPENAI_API_KEY holds no API key") as raised:
        judge("http://127.0.0.1:9/v1")
    assert "cret" not in str(raised.value)


def test_nobody_listening_is_one_sentence() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        with pytest.raises(UserError, match=f"{url}: cannot be reached"):
            judge(url, retries=0).ask(question())


def test_an_endpoint_that_hangs_gives_no_answer() -> None:
    with serving((200, "hang")) as endpoint:
        answer = judge(endpoint.url, retries=0, timeout_seconds=0.2).ask(question())
    assert answer.value is None
    assert answer.reason == "no answer within 0.2 s"


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000",
        "ftp://host/v1",
        "",
        "http://me:pw@host/v1",
        "http://localhost:abc/v1",
        "http://[::1/v1",
        "http://h/v1?key=pw",
    ],
)
def test_a_base_url_that_is_none(url: str) -> None:
    with pytest.raises(UserError, match="base_url") as caught:
        judge(url)
    assert "pw" not in str(caught.value)


def test_a_model_is_the_same_judge_wherever_it_runs_but_by_another_name() -> None:
    here, there = judge("http://localhost:1/v1"), judge("http://localhost:2/v1")
    assert (here.name, here.revision) == (there.name, there.revision)
    named = judge("http://localhost:2/v1", name="in 4 bits")
    assert named.model == here.model
    assert named.revision != here.revision


def test_without_the_sdk_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(UserError, match=r"pip install -c constraints\.txt '\.\[bench\]'"):
        judge("http://localhost/v1")


def test_threads_may_share_a_judge() -> None:
    with serving((200, GOOD)) as endpoint:
        asker, start = judge(endpoint.url), threading.Barrier(8)

        def ask(run: int) -> Any:
            start.wait()
            return asker.ask(question(run=run)).value

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(ask, range(8))) == [Mark(score=3.5)] * 8
        assert len(endpoint.requests) == 8
