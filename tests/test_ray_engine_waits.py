"""Work in blocks by a cluster that has nobody left for it, as a fake of Ray tells it."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from auditeval import ray_engine
from auditeval.suspects import Case


class Begun(Exception):
    """A worker was begun, and is waited for."""


def test_where_a_node_fails_and_the_others_are_gone_it_waits_for_another(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It asked for what nobody worked at, over and over, and said nothing."""
    monkeypatch.setattr(ray_engine, "_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(ray_engine, "_PATIENCE_SECONDS", 0.03)
    sizes = iter([1] * 9)

    def wait(waited: list[Any], timeout: float) -> Any:
        assert waited
        raise Begun

    opened = SimpleNamespace(remote=lambda *_: object())
    handle = SimpleNamespace(open=opened)
    holder = SimpleNamespace(remote=lambda: handle)
    remote = SimpleNamespace(options=lambda **_: holder)
    ray = SimpleNamespace(remote=lambda _: remote, put=lambda x: x, wait=wait)
    run = ray_engine._Run(ray, lambda: next(sizes, 2), False, lambda: None, iter(()), False)
    run._actors.append(ray_engine._Actor(handle, "node", "host", benched=True))
    block: Any = SimpleNamespace(number=0)
    run._open[0] = Case(block)
    with caplog.at_level(logging.WARNING), pytest.raises(Begun):
        next(run.done())
    assert "no worker is ready yet" in caplog.text
