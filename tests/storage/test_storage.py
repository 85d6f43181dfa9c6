"""Objects are files by URL: found, fetched once, kept to a size; what fails is told."""

from __future__ import annotations

import errno
import os
import pickle
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditeval import manifest, storage
from auditeval.entries import Entries, bounded
from auditeval.features.store import FeatureStore
from auditeval.scoring import Evaluator
from auditeval.storage import StorageError, UrlPath, bytes_of, copies, joined, objects, relative
from auditeval.storage.bound import Bound, Kept
from auditeval.types import EditPair, UserError

BOTH = pytest.mark.parametrize("bucket", ["fsspec", "obstore"], indirect=True)


def test_a_url_is_a_path_whose_names_are_its_own() -> None:
    path = storage.path("s3://bucket/a/../b/c.tar.wav")
    assert str(path) == os.fspath(path) == f"{path}" == "s3://bucket/b/c.tar.wav"
    assert isinstance(path, UrlPath)
    assert [str(path.parent), path.name, path.suffix] == ["s3://bucket/b", "c.tar.wav", ".wav"]
    assert str(path.with_name("d.csv")) == "s3://bucket/b/d.csv"
    assert str(path.parent / "d" / "e") == "s3://bucket/b/d/e"
    assert pickle.loads(pickle.dumps(path)) == path
    assert EditPair(
        id="1", original=path, edited=path, original_caption="", target_caption=""
    ).model_dump(mode="json")["edited"] == str(path)
    assert storage.path("file:///data/a%20b.wav") == Path("/data/a b.wav")
    assert type(storage.path("s3:/bucket/a")) is type(Path())


@pytest.mark.parametrize("url", ["ftp://host/a", "s3://", "s3:///key", "s3://../a"])
def test_another_url_is_one_sentence(url: str) -> None:
    with pytest.raises(UserError, match=rf"^{url}: (no such storage|names no bucket)"):
        storage.path(url)


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/\0:"), min_size=1).filter(
    lambda name: name not in (".", "..")
)
KEYS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)


@settings(deadline=None, max_examples=50)
@given(KEYS, KEYS, st.booleans())
def test_a_relative_name_leads_back(folder: str, key: str, same: bool) -> None:
    home = storage.path(f"s3://one/{folder}")
    url = f"s3://{'one' if same else 'two'}/{key}"
    name = relative(url, home)
    assert name is not None
    assert ("://" in name) is not same
    assert str(joined(home, name)) == url
    assert str(joined(Path("/here"), url)) == url
    assert joined(home, "/data/x.wav") == Path("/data/x.wav")


@BOTH
def test_objects_are_found_by_what_they_are(bucket: Path, tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(bytes(range(256)) * 40_000)  # in two pieces
    objects.put(tmp_path / "large", str(bucket / "a" / "b" / "large"))
    objects.write(str(bucket / "a" / "one.txt"), b"1")
    objects.write(str(bucket / "ab"), b"not below a")
    assert (bucket / "a").is_dir()
    assert not (bucket / "a").is_file()
    assert (bucket / "a" / "one.txt").is_file()
    assert not (bucket / "a" / "one").exists()
    assert [path.name for path in (bucket / "a").iterdir()] == ["b", "one.txt"]
    assert [str(path) for path in (bucket / "a").rglob("*")] == [
        str(bucket / "a" / "b" / "large"),
        str(bucket / "a" / "one.txt"),
    ]
    assert (bucket / "a/b/large").read_bytes() == (tmp_path / "large").read_bytes()
    assert (bucket / "a/one.txt").stat().st_size == 1
    storage.remove(bucket / "a")
    assert [*bucket.iterdir()] == [bucket / "ab"]
    for missing in (objects.read, lambda url: storage.local(storage.path(url))):
        with pytest.raises(FileNotFoundError, match="no such object"):
            missing(str(bucket / "a" / "one.txt"))


@BOTH
def test_an_object_is_fetched_once_and_anew_when_it_changed(
    bucket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [bucket / f"{number}.bin" for number in range(12)]
    for path in paths:
        objects.write(str(path), path.name.encode() * 1000)
    fetched: list[str] = []
    get = objects.get
    monkeypatch.setattr(
        objects, "get", lambda url, *rest: (fetched.append(url), time.sleep(0.02), get(url, *rest))
    )
    storage.ahead(paths)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda path: path.read_bytes(), paths * 3))
    assert found == [path.name.encode() * 1000 for path in paths] * 3
    assert sorted(fetched) == sorted(map(str, paths))
    objects.write(str(paths[0]), b"another")
    copies.forget(str(paths[0]))
    assert paths[0].read_bytes() == b"another"


@BOTH
def test_what_was_fetched_is_kept_to_a_size(bucket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDITEVAL_FETCHED_SIZE", "10kB")
    monkeypatch.setattr(copies, "_GRACE_SECONDS", 0.0)
    for number in range(30):
        objects.write(str(bucket / f"{number}"), bytes(1000))
        (bucket / f"{number}").read_bytes()
    there = list((storage.cache_dir() / "fetched").glob("??/*"))
    assert 9 <= len(there) <= 11
    assert (bucket / "0").read_bytes() == bytes(1000)  # again


@BOTH
def test_a_cache_is_shared_by_content_and_kept_to_a_size(bucket: Path, tmp_path: Path) -> None:
    """Writers at once; in a folder those go that were not used, in a bucket the oldest."""
    for folder in (bucket / "cache", tmp_path / "entries"):
        bound = bounded(folder, 20_000)
        nodes = [Entries(folder / "x@1", "x@1", bound=bound) for _ in range(4)]
        names = [f"audio/00/{number:02d}" for number in range(15)]
        with ThreadPoolExecutor(4) as pool:
            writes = [(node, name) for name in names for node in nodes]
            list(pool.map(lambda one: one[0].write(one[1], one[1].encode() * 111), writes))
        found = dict(zip(names, nodes[0].read_all(names), strict=True))
        assert all(content == name.encode() * 111 for name, content in found.items())
        if not isinstance(folder, UrlPath):
            for age, name in enumerate(names):
                os.utime(folder / "x@1" / f"{name}.entry", (0, 1e9 - age))
            nodes[1].read(names[-1])  # the oldest, used now
        elif str(folder).startswith("s3:"):
            time.sleep(1.1)  # S3 knows the second of a write: of one second, any may go
        nodes[2].write_all((f"audio/01/{number:02d}", bytes(1000)) for number in range(8))
        kept = {name for name in names if nodes[3].read(name) is not None}
        assert len(kept) < 15
        assert all(nodes[3].read(f"audio/01/{number:02d}") for number in range(8))
        if not isinstance(folder, UrlPath):
            assert kept == {*names[: len(kept) - 1], names[-1]}
        assert sum(node.damaged for node in nodes) == 0


@BOTH
def test_a_bound_leaves_what_is_not_its_own(bucket: Path, tmp_path: Path) -> None:
    """Answers of judges, who were paid, lie beside the features."""
    for folder in (bucket / "cache", tmp_path / "entries"):
        answers = Entries(folder / "benchmarks" / "judges", "results", durable=True)
        answers.write_all((f"{number}", bytes(1000)) for number in range(9))
        bound = bounded(folder, 5_000, "*@*")
        features = Entries(folder / "x@1", "x@1", bound=bound)
        features.write_all((f"{number}", bytes(1000)) for number in range(20))
        assert all(answers.read(f"{number}") for number in range(9))
        assert sum(features.read(f"{number}") is not None for number in range(20)) < 10


def test_who_may_only_read_a_bounded_cache_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(errno.EPERM, "another user's")

    shared = Entries(tmp_path / "x@1", "x@1", bound=bounded(tmp_path, 10_000))
    shared.write("one", b"content")
    os.utime(tmp_path / "x@1" / "one.entry", (0, 1e9))
    monkeypatch.setattr(os, "utime", refused)
    assert shared.read("one") == b"content"


def test_features_are_the_same_when_their_cache_is_trimmed_all_the_time(
    simulated: list[EditPair], evaluator: Evaluator, tmp_path: Path
) -> None:
    small = FeatureStore(evaluator.store.encoder, tmp_path / "small", cache_size="20kB")
    whole = FeatureStore(evaluator.store.encoder, tmp_path / "whole")
    for _ in range(2):
        for made, expected in zip(
            small.pairs(simulated[:12]), whole.pairs(simulated[:12]), strict=True
        ):
            for name in made._fields:
                assert (getattr(made, name) == getattr(expected, name)).all()
    size = sum(path.stat().st_size for path in (tmp_path / "small").rglob("*.entry"))
    assert size <= 22_000 < sum(p.stat().st_size for p in (tmp_path / "whole").rglob("*.entry"))


def test_copies_need_a_folder_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDITEVAL_CACHE", "s3://bucket/cache")
    with pytest.raises(UserError, match=r"^AUDITEVAL_CACHE is s3://bucket/cache, expected"):
        storage.cache_dir()


def test_a_size_is_written_with_its_unit() -> None:
    sizes = [bytes_of(size) for size in ("500B", "1kB", "2 GiB", "3G")]
    assert sizes == [500, 1000, 2 << 30, 3 * 10**9]
    # Who writes 20 means no twenty bytes; of none, what keeps a folder to a size never ended.
    for wrong in ("20 gigs", "20", "0", "0.4B", "-1GB", "GB"):
        with pytest.raises(UserError, match="expected a number and kB"):
            bytes_of(wrong)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """A server that answers with these statuses in turn, the last one ever after."""
    pytest.importorskip("obstore", reason="obstore is not installed (the extra [s3])")
    statuses: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status = statuses.pop(0) if len(statuses) > 1 else statuses[0]
            self.send_response(status)
            self.send_header("Content-Length", "5")
            self.send_header("Last-Modified", "Wed, 25 Nov 2026 10:00:00 GMT")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(b"hello")

        do_HEAD = do_GET

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
        monkeypatch.setenv(f"AWS_{name}", "any")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("AUDITEVAL_STORAGE_SECONDS", "0.4")
    objects._made.cache_clear()
    yield statuses
    objects._made.cache_clear()
    server.shutdown()


def test_a_server_that_fails_for_a_moment_is_asked_again(answers: list[int]) -> None:
    answers[:] = [503, 500, 200]
    assert objects.read("s3://bucket/a") == b"hello"


@pytest.mark.parametrize(
    ("status", "said"), [(403, "access is refused"), (500, r"the request failed \(.*500")]
)
def test_what_stays_so_is_one_sentence(
    answers: list[int],
    status: int,
    said: str,
    tmp_path: Path,
    cli: Any,
    pairs_path: Path,
    spectrum_checkpoint: Path,
) -> None:
    answers[:] = [status]
    for ask in (objects.read, objects.info):
        with pytest.raises(StorageError, match=said) as caught:
            ask("s3://bucket/a")
        assert caught.value.filename == "s3://bucket/a"
    ended = cli("score", "s3://bucket/pairs.jsonl", "-o", tmp_path / "scores.csv")
    assert ended.status == 2
    assert ended.sentence.startswith("s3://bucket/pairs.jsonl: ")
    moved = tmp_path / "moved.jsonl"
    (pair, *_) = manifest.read(pairs_path)
    manifest.write([pair.model_copy(update={"edited": storage.path("s3://b/x.wav")})], moved)
    ended = cli("score", moved, "-o", tmp_path / "scores.csv", "-c", spectrum_checkpoint)
    assert ended.sentence.startswith("s3://b/x.wav: ")
    assert "rows scored so far are kept" in ended.sentence


def test_what_is_added_while_somebody_looks_is_looked_at_too() -> None:
    there = {"old": 1.0}

    def found() -> list[Kept]:
        listed = [Kept(used, 60, name) for name, used in there.items()]
        if "new" not in there:  # another thread's, behind the list
            there["new"] = 2.0
            bound.added(60)
        return listed

    bound = Bound(100, found, there.pop)
    bound.added(60)
    assert there == {"new": 2.0}
