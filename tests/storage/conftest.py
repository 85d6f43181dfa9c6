"""A bucket without a server."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from auditeval import storage
from auditeval.storage import objects


def _one_by_one(function: Callable[..., Any], alone: threading.Lock) -> Callable[..., Any]:
    def called(*args: Any, **options: Any) -> Any:
        with alone:
            return function(*args, **options)

    return called


@pytest.fixture
def bucket(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty bucket: as of S3 in the memory of obstore, or in that of fsspec."""
    monkeypatch.setenv("AUDITEVAL_CACHE", str(tmp_path / "cache"))
    if getattr(request, "param", "obstore") == "fsspec":
        return storage.path(f"memory://{tmp_path.name}")
    pytest.importorskip("obstore", reason="obstore is not installed (the extra [s3])")
    import obstore
    from obstore.store import MemoryStore

    from auditeval.storage.buckets import Buckets

    stores = Buckets("s3", 1.0)
    stores._store = cache(lambda bucket: MemoryStore())
    # In the memory of obstore 0.11, `list` has the interpreter while it waits for a writer, who
    # waits for the interpreter to let go of what is overwritten.
    alone = threading.Lock()
    for name in ("list", "put"):
        monkeypatch.setattr(obstore, name, _one_by_one(getattr(obstore, name), alone))
    monkeypatch.setattr(objects, "_made", lambda scheme, seconds: stores)
    return storage.path(f"s3://{tmp_path.name}")
