"""A bucket without a server."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from auditeval import storage
from auditeval.storage import objects


@pytest.fixture
def bucket(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty bucket: as of S3 in the memory of obstore, or in that of fsspec."""
    monkeypatch.setenv("AUDITEVAL_CACHE", str(tmp_path / "cache"))
    if getattr(request, "param", "obstore") == "fsspec":
        return storage.path(f"memory://{tmp_path.name}")
    pytest.importorskip("obstore", reason="obstore is not installed (the extra [s3])")
    from obstore.store import MemoryStore

    from auditeval.storage.buckets import Buckets

    stores = Buckets("s3", 1.0)
    stores._store = cache(lambda bucket: MemoryStore())
    monkeypatch.setattr(objects, "_made", lambda scheme, seconds: stores)
    return storage.path(f"s3://{tmp_path.name}")
