"""Work in blocks by a cluster that is left or lost in mid-run, as a fake of Ray tells it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from auditeval import ray_engine
from auditeval.blocks import Block, cut
from auditeval.suspects import Case
from auditeval.types import UserError


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


class FakeRay:
    """One worker, which does whatever it is asked for at once; `did` says what was asked of Ray."""

    def __init__(self) -> None:
        self.did: list[str] = []
        worker = SimpleNamespace()
        self._private = SimpleNamespace(worker=worker)
        lost = type("LocalRayletDiedError", (Exception,), {})
        self.exceptions = SimpleNamespace(
            LocalRayletDiedError=lost, RayTaskError=lost, RayError=lost
        )
        self._joined = False

    def init(self, *_: object, **__: object) -> None:
        self._joined = True

    def is_initialized(self) -> bool:
        return self._joined

    def shutdown(self) -> None:
        self.did.append("shutdown")
        self._joined = False

    def kill(self, _: object) -> None:
        self.did.append("kill")

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 1.0}

    def put(self, start: Callable[[], Any]) -> Callable[[], Any]:
        return start

    def remote(self, _: type) -> Any:
        ready = SimpleNamespace(remote=lambda *_: ("node", "host"))
        do = SimpleNamespace(options=lambda **_: SimpleNamespace(remote=self._do))
        handle = SimpleNamespace(open=ready, do=do)
        holder = SimpleNamespace(remote=lambda: handle)
        return SimpleNamespace(options=lambda **_: holder)

    def _do(self, block: Block, _: object) -> tuple[Any, Any]:
        return (), (block.number,)

    def wait(self, waited: list[Any], timeout: float) -> Any:
        return waited, []

    def get(self, made: Any) -> Any:
        return made


@pytest.fixture
def fake_ray(monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    fake = FakeRay()
    monkeypatch.setitem(sys.modules, "ray", fake)  # type: ignore[arg-type]
    return fake


def test_whoever_ends_in_mid_run_takes_the_workers_along(fake_ray: FakeRay) -> None:
    """As on a full disk: the run was ended later, when Ray starts a cluster for who asks for it."""
    with ray_engine.Ray() as engine:
        steps = engine.run(lambda: None, cut(9, 1))  # type: ignore[arg-type, return-value]
        assert next(steps)[1] == 0
    assert fake_ray.did == ["kill", "shutdown"]
    del steps
    assert fake_ray.did == ["kill", "shutdown"]


def test_a_client_that_loses_the_cluster_is_one_sentence(
    fake_ray: FakeRay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To Python it is an error of a file, and nobody is there to be told to end the workers."""

    def lost(*_: object, **__: object) -> None:
        fake_ray._joined = False
        raise ConnectionError("Client is shutting down.")

    monkeypatch.setattr(ray_engine.Ray, "_knock", lambda _: None)
    monkeypatch.setattr(fake_ray, "wait", lost)
    said = "^ray://head:10001: the connection to the Ray cluster is lost; give the command again"
    with ray_engine.Ray("ray://head:10001") as engine, pytest.raises(UserError, match=said):
        next(engine.run(lambda: None, cut(9, 1)))  # type: ignore[arg-type, return-value]
    assert fake_ray.did == ["shutdown"]


def test_why_a_cluster_took_no_client_is_said(
    fake_ray: FakeRay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ended at the colon before the stack of the other side, and said to start what is there."""

    def refused(*_: object, **__: object) -> None:
        stack = (
            "Traceback (most recent call last):\n  File ...\nRuntimeError: Starting it failed.\n"
        )
        raise ConnectionAbortedError(f"Initialization failure from server:\n{stack}")

    monkeypatch.setattr(ray_engine.Ray, "_knock", lambda _: None)
    monkeypatch.setattr(fake_ray, "init", refused)
    said = r"\(Initialization .* server: RuntimeError: Starting it failed.\); `ray\[client\]` is"
    with pytest.raises(UserError, match=said):
        assert ray_engine.Ray("ray://head:10001").device
