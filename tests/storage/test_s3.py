"""Scoring through an S3 server: the bytes of a folder, also where the connection was cut."""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from tcp_proxy import Proxy

from auditeval import manifest, manifest_scoring
from auditeval.scoring import load
from auditeval.storage import copies, objects
from auditeval.types import EditPair, UserError

pytest.importorskip("obstore", reason="obstore is not installed (the extra [s3])")
moto_server = pytest.importorskip(
    "moto.server", reason="moto is not installed (tests/storage/requirements.txt)"
)

BUCKET = "s3://bucket"


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = moto_server.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    yield server.get_host_and_port()[1]
    server.stop()


@pytest.fixture
def proxy(port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """The way to an empty bucket."""
    urlopen(Request(f"http://127.0.0.1:{port}/moto-api/reset", method="POST"))
    urlopen(Request(f"http://127.0.0.1:{port}/bucket", method="PUT"))
    proxy = Proxy(port)
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
        monkeypatch.setenv(f"AWS_{name}", "any")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{proxy.port}")
    monkeypatch.setenv("AUDITEVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("AUDITEVAL_STORAGE_SECONDS", "2")
    objects._made.cache_clear()
    copies._seen.clear()
    yield proxy
    objects._made.cache_clear()


@pytest.fixture
def pairs(simulated: list[EditPair], tmp_path: Path) -> list[EditPair]:
    """20 pairs below `tmp_path`, with its manifest."""
    (tmp_path / "clips").mkdir()
    made = []
    for pair in simulated[:20]:
        sides = {}
        for side in ("original", "edited"):
            path = tmp_path / "clips" / f"{pair.id}-{side}.wav"
            sides[side] = Path(shutil.copy(getattr(pair, side), path))
        made.append(pair.model_copy(update=sides))
    manifest.write(made, tmp_path / "pairs.jsonl")
    return made


def uploaded(tmp_path: Path) -> None:
    for path in (tmp_path / "pairs.jsonl", *(tmp_path / "clips").iterdir()):
        objects.put(path, f"{BUCKET}/{path.relative_to(tmp_path).as_posix()}")


def test_the_command_scores_in_a_bucket_as_in_a_folder(
    proxy: Proxy, pairs: list[EditPair], spectrum_checkpoint: Path, tmp_path: Path, cli: Any
) -> None:
    uploaded(tmp_path)
    for path in spectrum_checkpoint.iterdir():
        objects.put(path, f"{BUCKET}/checkpoint/{path.name}")
    for base, checkpoint in ((tmp_path, spectrum_checkpoint), (BUCKET, f"{BUCKET}/checkpoint")):
        ended = cli(
            *("score", f"{base}/pairs.jsonl", "-o", f"{base}/scores.parquet"),
            *("--cache-dir", f"{base}/features", "--cache-size", "1GB", "-c", checkpoint),
        )
        assert ended.status == 0, ended.err
    assert objects.read(f"{BUCKET}/scores.parquet") == (tmp_path / "scores.parquet").read_bytes()
    assert objects.below(f"{BUCKET}/features")
    ended = cli("score", "s3://none/pairs.jsonl", "-o", tmp_path / "s.csv")
    assert ended.sentence == "s3://none/pairs.jsonl: no such bucket"


@pytest.mark.parametrize("seconds", [0.5, None])
def test_a_connection_that_is_cut_in_mid_run(
    seconds: float | None,
    proxy: Proxy,
    pairs: list[EditPair],
    spectrum_checkpoint: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Cut for a moment it costs that moment; for longer it is a sentence, and no row is lost."""
    uploaded(tmp_path)
    monkeypatch.setattr(manifest_scoring, "_BLOCK_ROWS", 4)
    evaluator = load(spectrum_checkpoint, "cpu", f"{BUCKET}/features")
    list(evaluator.score_manifest(tmp_path / "pairs.jsonl", tmp_path / "here.csv", 4))
    storage_table = f"{BUCKET}/scores.csv"
    steps = evaluator.score_manifest(f"{BUCKET}/pairs.jsonl", storage_table, 4)
    list(islice(steps, 2))
    proxy.cut()
    shutil.rmtree(tmp_path / "cache" / "fetched")
    if seconds is not None:
        threading.Timer(seconds, proxy.mend).start()
        begun = time.monotonic()
        *_, last = steps
        assert time.monotonic() - begun > seconds
    else:
        with pytest.raises(UserError, match=r"^s3://bucket/.*the request failed.*goes on from"):
            list(steps)
        proxy.mend()
        *_, last = evaluator.score_manifest(f"{BUCKET}/pairs.jsonl", storage_table, 4)
        assert last.kept >= 8
    assert last.errors == 0
    assert objects.read(storage_table) == (tmp_path / "here.csv").read_bytes()
