"""Junk in the place of every file that a command reads, and any bytes for the readers of both
formats: a sentence or a value, never a traceback.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from commands import Run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from outcomes import WrongResult, refused
from readers import READ, spoil

from auditeval import reading
from auditeval.types import UserError

SAME = {
    "a manifest in CSV",
    "a manifest in Parquet",
    "a manifest to measure",
    "a manifest to describe",
}
"""Read as others are that are here."""


DEEP = 100_000
JUNK: dict[str, bytes] = {
    "nothing": b"",
    "a mark alone": b"\xef\xbb\xbf",
    "NUL": bytes(100),
    "no UTF-8": b'{"id": "\xff\xfe"}\n',
    "UTF-16": '{"id": "1"}\n'.encode("utf-16"),
    "lists nested deep": b"[" * DEEP,
    "lists nested and closed": b"[" * 900 + b"]" * 900 + b"\n",
    "objects nested deep": b'{"a":' * DEEP,
    "objects nested and closed": b'{"id":' * 900 + b"1" + b"}" * 900 + b"\n",
    "flow mappings nested deep": b"{a: " * DEEP,
    "a key twice": b'{"id": "1", "id": "2"}\n',
    "a number of 5000 digits": b"9" * 5000,
    "such a number in an object": b'{"id": ' + b"9" * 5000 + b"}\n",
    "no number": b'{"id": NaN}\n',
    "half a surrogate pair": b'{"id": "\\ud800"}\n',
    "an object": b"{}\n",
    "a list": b"[]\n",
    "a list of lists": b"[[[]]]\n",
    "a null": b"null\n",
    "words": b"words\n",
    "a quote without end": b'a,b\n"' + b"x" * 200_000,
    "a cell of a megabyte": b"a,b\n" + b"x" * (1 << 20) + b",y\n",
    "carriage returns": b"a,b\rc,d\r",
    "a header alone": b"id,original,edited,original_caption,target_caption\n",
    "commas": b"," * 100_000,
    "a shell": b"#!/bin/sh\ntouch ran\n",
    "a pickle": b"\x80\x04\x95\x1d\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94\x8c\x06system\x94",
    "a tag of Python's": b"!!python/object/apply:os.system ['touch ran']\n",
    "aliases": b"a: &a [x, x]\nb: [*a, *a]\n",
}


@pytest.mark.parametrize("what", sorted({*READ} - SAME))
def test_junk_is_one_sentence(what: str, room: Path, cli: Run, attacks: Any) -> None:
    attacks(len(JUNK))
    name, command = READ[what]
    before = {*room.iterdir()}
    for kind, data in JUNK.items():
        spoil(room / name, lambda path, data=data: path.write_bytes(data))  # type: ignore[misc]
        ended = cli(*command)
        if ended.status == 2:
            refused(ended, "")
        elif "Traceback" in ended.err or ended.status not in (0, 1):
            raise WrongResult(f"{kind}: {ended}")
        assert not (room / "ran").exists()
        for made in {*room.iterdir()} - before - {room / name}:
            shutil.rmtree(made) if made.is_dir() else made.unlink()


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=30,
)
QUICK = settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@QUICK
@given(PLAIN)
def test_json_that_is_written_is_read(value: Any) -> None:
    assert reading.from_json(json.dumps(value)) == value
    assert reading.from_json(json.dumps(value, ensure_ascii=False).encode()) == value


@QUICK
@given(st.binary(max_size=200) | st.text('[]{}:,"\\ud80123 \n-e.nulltrueNaN', max_size=60))
def test_any_bytes_are_json_or_a_sentence(data: bytes | str) -> None:
    try:
        value = reading.from_json(data)
    except ValueError:
        return
    json.dumps(value, ensure_ascii=False).encode()


@QUICK
@given(data=st.binary(max_size=200) | st.text("[]{}&*!:,?|>-<=%@#'\"\\ \nab12", max_size=60))
def test_any_bytes_are_yaml_or_a_sentence(tmp_path: Path, data: bytes | str) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    try:
        value = reading.yaml_file(path)
    except UserError as error:
        if not re.fullmatch(rf"{path}[^\n]+", str(error)):
            raise WrongResult(str(error)) from None
        return
    assert {type(part) for part in parts(value)} <= PLAIN_TYPES


PLAIN_TYPES = {str, int, float, bool, type(None), list, dict}


def parts(value: Any) -> Iterator[Any]:
    yield value
    inner = [*value, *value.values()] if isinstance(value, dict) else value
    if isinstance(inner, list):
        for part in inner:
            yield from parts(part)


@QUICK
@given(PLAIN)
def test_yaml_that_is_written_is_read(tmp_path_factory: Any, value: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "written.yaml"
    path.write_text(yaml.safe_dump(value, default_style='"'))  # "0E0" is a number to some
    assert reading.yaml_file(path) == value
