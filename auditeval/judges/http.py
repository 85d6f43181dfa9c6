"""`HTTPJudge`: a judge behind an OpenAI-compatible endpoint, vLLM's among them."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from math import inf
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from auditeval.audio import Waveform, files
from auditeval.audio.waveform import quantised
from auditeval.judges.judge import Answer, AnyObject, Question, Reply, Usage
from auditeval.judges.patience import FAILURES, GOES_ON, checked_failures
from auditeval.judges.replies import heading, parsed, prompt_with_schema
from auditeval.pretrained.packages import imported
from auditeval.reading import from_json
from auditeval.types import UserError

_NO_KEY = "none"  # the SDK wants one where the endpoint wants none
_RETRIED = (408, 409, 429)  # by the SDK, as any status from 500
_REFUSING = (400, 422)  # of which a schema may be the cause
_SAID_UNDER = ("message", "error", "detail")  # OpenAI and vLLM, TGI, FastAPI
_MOST_TOKENS = 10**9
_MOST_RETRIES = 100
_KEY_VARIABLE = re.compile(r"[A-Za-z0-9_]+_API_KEY")


class HTTPJudge:
    """The model `model` of the chat completions at `base_url` ("http://localhost:8000/v1").

    Clips go as 16-bit WAV of their own rate (`input_audio`), the JSON schema of the answer as
    `response_format`; an endpoint that refuses that is asked for it in the prompt. Of a question
    there are `retries` requests more than one, whether connections break, 408, 409, 429 and 5xx
    come back (with the SDK's growing pauses) or an answer that does not fit. A request ends within
    `timeout_seconds`, and no redirect is followed. After `failures` questions in a row without an
    answer a run ends. The key is that of the environment variable `api_key_variable`, whose name
    ends in _API_KEY; it stands in no record, log or cache. Prices are in USD per million tokens;
    unless both are given the cost is unknown. What `model` answered is kept under that and `name`,
    wherever it ran: two models of one name need another `name` each. Raises UserError for arguments
    that are none.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key_variable: str = "OPENAI_API_KEY",
        name: str | None = None,
        retries: int = 3,
        timeout_seconds: float = 120.0,
        failures: int = FAILURES,
        prompt_price: float | None = None,
        completion_price: float | None = None,
    ) -> None:
        if not _is_endpoint(base_url):
            # What may be a password or a key is not shown again.
            shown = base_url.rpartition("@")[2].partition("?")[0]
            raise UserError(
                "base_url: expected http(s)://host/v1 without user, password or query, found "
                f"{shown!r}"
            )
        self.name, self.model = name or model, model
        kept = json.dumps([2, self.name, model])  # not the address: a server may have moved
        self.revision = hashlib.sha256(kept.encode()).hexdigest()[:16]
        if not _KEY_VARIABLE.fullmatch(api_key_variable):  # or a file could ask for any secret
            raise UserError(
                f"api_key_variable {api_key_variable!r}: expected a name that ends in _API_KEY"
            )
        # Over plain HTTP anybody on the way may answer.
        parts = urlsplit(base_url)
        self.host = parts.hostname if parts.scheme == "https" else None
        self._url, self._variable = base_url, api_key_variable
        # A line break behind it, as files of secrets have one, is no part of a key.
        self._key = os.environ.get(api_key_variable, "").strip() or _NO_KEY
        if not (self._key.isascii() and self._key.isprintable()):
            raise UserError(f"the environment variable {api_key_variable} holds no API key")
        self.failures = checked_failures(failures)
        if type(retries) is not int or not 0 <= retries <= _MOST_RETRIES:
            raise UserError(f"retries {retries!r}: expected a number from 0 to {_MOST_RETRIES}")
        if not _is_number(timeout_seconds) or not 0 < timeout_seconds < inf:
            raise UserError(f"timeout_seconds {timeout_seconds!r}: expected a number above 0")
        self._retries, self._timeout_seconds = retries, timeout_seconds
        self._prices = (prompt_price, completion_price)
        for price in self._prices:
            if price is not None and not (_is_number(price) and 0 <= price < inf):
                raise UserError(f"price {price!r}: expected USD per million tokens, from 0")
        self._takes_schema = True
        self._has_answered = False
        self._openai = imported("openai", "bench")

    def ask(self, question: Question[Reply]) -> Answer[Reply]:
        """See `Judge.ask`. A request that the endpoint refuses or fails at has no value; a
        connection that breaks has none either, once there was an answer."""
        from auditeval.judges.connection import UnreadableAnswer

        openai = self._openai
        usage = Usage(cost_usd=None if None in self._prices else 0.0)
        reason, left = "", 1 + self._retries
        while left > 0:
            try:
                text, used, fault = self._completed(question, left - 1)
            except openai.APITimeoutError:
                reason = f"no answer within {self._timeout_seconds:g} s"
                return Answer(None, reason, usage + Usage(requests=left))
            except UnreadableAnswer as error:
                return Answer(None, f"the judge's answer {error}", usage + Usage(requests=1))
            except openai.APIConnectionError as error:
                cause = error.__cause__ or error
                reason = f"cannot be reached ({self._without_key(str(cause))})"
                if self._has_answered:  # it may be this question that it does not survive
                    return Answer(None, f"the judge {reason}", usage + Usage(requests=left))
                raise UserError(f"{self._url}: {reason}") from None
            except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
                raise UserError(
                    f"{self._url}: refuses the key of the environment variable {self._variable} "
                    f"({error.status_code})"
                ) from None
            except openai.NotFoundError as error:
                raise UserError(
                    f"{self._url}: knows no model {self.model!r}, or is no such endpoint "
                    f"({self._said(error)})"
                ) from None
            except openai.APIStatusError as error:
                status = error.status_code
                if status == 402:
                    raise UserError(
                        f"{self._url}: wants to be paid before it answers (402 "
                        f"{self._said(error)}); {GOES_ON}"
                    ) from None
                if 300 <= status < 400:
                    place = self._without_key(_origin(error.response))
                    raise UserError(
                        f"{self._url}: sends requests on to {place}, which is not followed; name "
                        "that endpoint itself if it may have the clips"
                    ) from None
                made = left if status in _RETRIED or status >= 500 else 1
                made += status in _REFUSING and self._takes_schema
                reason = f"the judge refused: {status} {self._said(error)}"
                refused = status in (*_REFUSING, 413)
                return Answer(None, reason, usage + Usage(requests=made), refused)
            usage, left = usage + used, left - used.requests
            found = fault or parsed(text, question.reply)
            if isinstance(found, str):
                reason = self._without_key(found)
            elif self._without_key(said := str(found.model_dump())) != said:
                reason = "the judge's answer quotes the key"  # and would go into the records
            else:
                return Answer(found, "", usage)
        return Answer(None, reason, usage)

    def _completed(self, question: Question[Reply], retries: int) -> _Completed:
        if self._takes_schema:
            try:
                return self._request(question, retries, with_schema=True)
            except (self._openai.BadRequestError, self._openai.UnprocessableEntityError):
                made = self._request(question, retries, with_schema=False)
                self._takes_schema = False  # not before: it may have been the clip it refused
                return made._replace(usage=made.usage + Usage(requests=1))
        return self._request(question, retries, with_schema=False)

    def _request(self, question: Question[Reply], retries: int, with_schema: bool) -> _Completed:
        content: list[dict[str, Any]] = []
        for name, clip in question.clips:
            wav = {"data": _base64_wav(clip), "format": "wav"}
            if not question.prompt_first:
                content.append({"type": "text", "text": heading(name)})
            content.append({"type": "input_audio", "input_audio": wav})
        text = question.prompt if with_schema else prompt_with_schema(question)
        place = 0 if question.prompt_first else len(content)
        content.insert(place, {"type": "text", "text": text})
        messages: list[dict[str, Any]] = [{"role": "user", "content": content}]
        if question.system_prompt:
            messages.insert(0, {"role": "system", "content": question.system_prompt})
        options: dict[str, Any] = {}
        if with_schema and question.reply is AnyObject:
            options["response_format"] = {"type": "json_object"}
        elif with_schema:
            schema = {"name": "answer", "schema": question.schema, "strict": True}
            options["response_format"] = {"type": "json_schema", "json_schema": schema}
        raw = self._sent(retries, messages=messages, temperature=question.temperature, **options)
        requests = 1 + raw.retries_taken
        completion = None
        try:
            completion = from_json(raw.content)
            text, counted = completion["choices"][0]["message"]["content"], completion.get("usage")
        except (LookupError, TypeError, ValueError):  # 200, but no chat completion
            error = completion.get("error") if isinstance(completion, dict) else None
            words = f" but an error: {self._quoted(error)}" if error else ""
            fault = f"the endpoint's answer is no chat completion{words}"
            return _Completed(None, Usage(requests), fault)
        self._has_answered = True
        read, written = (_count(counted, name) for name in ("prompt_tokens", "completion_tokens"))
        price, more = self._prices
        cost = None if price is None or more is None else (read * price + written * more) / 1e6
        usage = Usage(requests, read, written, cost)
        if text is None or isinstance(text, str):
            return _Completed(text, usage)
        return _Completed(None, usage, "the judge's answer is no text")

    def _sent(self, retries: int, **options: Any) -> Any:
        """The endpoint's answer, waited for in an event loop: only there can all of it be timed."""
        from anyio.from_thread import start_blocking_portal

        from auditeval.judges.connection import BoundedClient

        async def send() -> Any:
            async with self._openai.AsyncOpenAI(
                base_url=self._url,
                api_key=self._key,
                max_retries=retries,
                http_client=BoundedClient(self._timeout_seconds),
            ) as client:
                return await client.chat.completions.with_raw_response.create(
                    model=self.model, **options
                )

        with start_blocking_portal() as portal:  # this thread may have a loop, as in a notebook
            return portal.call(send)

    def _said(self, error: Any) -> str:
        return self._quoted(error.body) or str(error.message)

    def _quoted(self, body: Any) -> str:
        """The endpoint's own words, on one line and without the key that it may quote."""
        return self._without_key(_words(body))[:300]

    def _without_key(self, words: str) -> str:
        return words if self._key == _NO_KEY else words.replace(self._key, "***")


class _Completed(NamedTuple):
    """What a judge wrote, what it took, and why there is no text ("" where there is)."""

    text: str | None
    usage: Usage
    fault: str = ""


def _words(body: Any) -> str:
    """What an endpoint says of an error, on one line: the text, or what stands under one of the
    names that servers give it; "" for nothing. Half of a surrogate pair, as of an emoji that was
    cut, is no text and would make a record that cannot be read again."""
    if isinstance(body, dict):
        body = next((body[name] for name in _SAID_UNDER if body.get(name)), "")
    text = body if isinstance(body, str) else "" if body is None else json.dumps(body)
    return " ".join(text.encode(errors="replace").decode().split())


def _count(counted: Any, name: str) -> int:
    """Tokens as an endpoint says; 0 for what is no number that an answer of its size could have."""
    count = counted.get(name) if isinstance(counted, dict) else None
    if not isinstance(count, int) or isinstance(count, bool):
        return 0
    return count if 0 <= count <= _MOST_TOKENS else 0


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _origin(response: Any) -> str:
    """Where a redirect leads, without a path, which may hold anything."""
    try:
        place = response.url.join(response.headers["location"])
        return f"{place.scheme}://{place.netloc.decode()}"
    except Exception:  # of httpx2, for what is no URL
        return "nowhere"


def _is_endpoint(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    known = parts.scheme in ("http", "https") and bool(parts.hostname)
    return known and "@" not in parts.netloc and not parts.query


def _base64_wav(clip: Waveform) -> str:
    wav = files.encoded(quantised(clip.samples), clip.rate_hz, "WAV")
    return base64.b64encode(wav).decode()
