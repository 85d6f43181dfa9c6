"""`auditeval demo`: a page on this computer that scores the edit that is dropped on it."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from auditeval.cli.options import CacheDir, Checkpoint, Device, Host, Port, check_web
from auditeval.text import say


def demo(
    checkpoint: Checkpoint = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    url: Annotated[
        str | None, typer.Option(help="What people open, behind a proxy: https://lab.example/demo.")
    ] = None,
    device: Device = "auto",
    cache_dir: CacheDir = None,
) -> None:
    """Serve a page for one edit: drop two files, write what was asked for, hear, see the scores.

    With intervals and, where the evaluator can say, curves over time. Nothing that is sent is
    kept, but for the features of the clips in the cache. Needs
    `pip install -c constraints.txt '.[web]'`.

    Examples:

        auditeval demo

        auditeval demo -c runs/mine/mine/holdout/checkpoint --port 8010
    """
    check_web("auditeval demo")
    from auditeval.listening import serving
    from auditeval.pages.demo import application
    from auditeval.scoring import load

    evaluator = load(checkpoint, device, cache_dir)

    def ready(address: str) -> None:
        say(f"{address}/")
        say("serving; Ctrl-C stops")
        sys.stdout.flush()  # who reads it from a pipe waits for it

    serving.run(lambda hosts, prefix: application(evaluator, hosts, prefix), host, port, url, ready)
