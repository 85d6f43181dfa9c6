"""A cache that is damaged, forged, full or out of reach: scores are those of an empty one."""

from __future__ import annotations

import errno
import logging
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from outcomes import WrongResult, kept, refused, same
from safetensors.numpy import load, save

from auditeval import entries
from auditeval.backends.cache import ResultCache
from auditeval.entries import Entries
from auditeval.features.encoder import Encoder
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.features.pair import PairFeatures
from auditeval.features.store import FeatureStore
from auditeval.types import EditPair

HEAD = 32  # bytes before the content


class WithWords(Spectrum):
    """The spectrum with a small text encoder, so that captions are cached too."""

    text_dim = 2

    def encode_text(self, captions: list[str]) -> np.ndarray:
        return np.array([[len(c), c.count("a")] for c in captions], np.float32)


def flip(at: int) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[at] ^= 1
        path.write_bytes(data)

    return damage


def rewrite(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(change(path.read_bytes())) and None


def tensors(change: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]) -> Any:
    """Whole safetensors under the head that was there."""
    return rewrite(lambda data: data[:HEAD] + save(change(load(data[HEAD:]))))


def instead(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.unlink()
        make(path)

    return damage


def sibling(path: Path) -> Path:
    """Another entry of the same kind, or of the other."""
    others = [p for p in sorted(path.parents[2].rglob("*.entry")) if p != path]
    alike = [p for p in others if p.parents[1] == path.parents[1]]
    return (alike or others)[0]


def stranger(path: Path) -> Path:
    """An entry of the other kind."""
    there = path.parents[2].rglob("*.entry")
    return max(p for p in there if p.parents[1] != path.parents[1])


def of_another_encoder(path: Path) -> None:
    name = path.relative_to(path.parents[2]).with_suffix("").as_posix()
    content = save({"embedding": np.ones(2, np.float32)})
    Entries(path.parents[2], "other@1").write(name, content)


def sparse(path: Path) -> None:
    """The head of the entry before a terabyte of nothing."""
    with path.open("r+b") as file:
        file.truncate(1 << 40)


def forged(length: int) -> Callable[[Path], None]:
    """So many bytes of nothing behind a head that says as many."""

    def damage(path: Path) -> None:
        with path.open("r+b") as file:
            file.seek(8)
            file.write(length.to_bytes(8, "little"))
            file.truncate(HEAD + length)

    return damage


def listening(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(path.parent)  # the name of a socket has at most 107 bytes
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


# Name -> (damage to the entry, whether it counts as damaged; else a warning or nothing is due)
DAMAGE: dict[str, tuple[Callable[[Path], None], bool]] = {
    "a flipped bit in the numbers": (flip(-3), True),
    "a flipped bit in the names of tensors": (flip(HEAD + 12), True),
    "a flipped bit in what it is": (flip(0), True),
    "a flipped bit in the length": (flip(9), True),
    "a flipped bit in the checksum": (flip(20), True),
    "zeros after a power loss": (rewrite(lambda data: bytes(len(data))), True),
    "zeros in the second half": (rewrite(lambda d: d[: len(d) // 2].ljust(len(d), b"\0")), True),
    "empty": (rewrite(lambda data: b""), True),
    "a byte less": (rewrite(lambda data: data[:-1]), True),
    "a byte more": (rewrite(lambda data: data + b"\0"), True),
    "nothing but the head": (rewrite(lambda data: data[:HEAD]), True),
    "half of the head": (rewrite(lambda data: data[:9]), True),
    "twice": (rewrite(lambda data: data + data), True),
    "junk": (rewrite(lambda data: b"\xff" * 99), True),
    "a text": (rewrite(lambda data: b"{}\n"), True),
    "an entry of a version without checksums": (rewrite(lambda data: data[HEAD:]), True),
    "an entry of another version": (rewrite(lambda data: b"aeentry9" + data[8:]), True),
    "another's entry": (lambda path: shutil.copy(sibling(path), path) and None, True),
    "an entry of another kind": (lambda path: shutil.copy(stranger(path), path) and None, True),
    "an entry of another encoder": (of_another_encoder, True),
    "without its tensor": (tensors(lambda t: {"other": t["embedding"]}), True),
    "without any tensor": (tensors(lambda t: {}), True),
    "of another dtype": (tensors(lambda t: {k: v.astype(np.float64) for k, v in t.items()}), True),
    "of another shape": (tensors(lambda t: {k: v[..., :1].copy() for k, v in t.items()}), True),
    "not a number": (tensors(lambda t: {k: np.full_like(v, np.nan) for k, v in t.items()}), True),
    "a terabyte": (sparse, True),
    "a forged head of a terabyte": (forged(1 << 40), True),
    "a forged head of 32 MB": (forged(1 << 25), True),
    "a FIFO": (instead(os.mkfifo), False),
    "a link to another entry": (lambda p: instead(lambda q: q.symlink_to(sibling(p)))(p), True),
    "a link to an endless device": (instead(lambda p: p.symlink_to("/dev/zero")), False),
    "a link to nothing": (instead(lambda p: p.symlink_to(p.parent / "nothing")), False),
    "a link to itself": (instead(lambda p: p.symlink_to(p.name)), False),
    "a socket": (instead(listening), False),
    "a folder": (instead(Path.mkdir), False),
    "a folder with something in it": (instead(lambda p: (p / "x").mkdir(parents=True)), False),
}


@pytest.fixture(scope="module")
def expected(good: list[EditPair], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A warm cache, and what a store says of two pairs."""
    cache = tmp_path_factory.mktemp("warm")
    return cache, features(FeatureStore(Encoder([WithWords()]), cache, workers=0), good)


def features(store: FeatureStore, pairs: list[EditPair]) -> list[list[tuple[str, bytes]]]:
    rows = store.pairs(pairs[:2])
    assert all(isinstance(row, PairFeatures) for row in rows)
    return [[(str(x.dtype), x.numpy().tobytes()) for x in row] for row in rows]  # type: ignore[union-attr]


def files(cache: Path) -> list[Path]:
    return sorted(cache.rglob("*.entry"))


@pytest.mark.parametrize(("damage", "counts"), DAMAGE.values(), ids=DAMAGE)
def test_every_damaged_entry_is_made_again(
    good: list[EditPair],
    expected: Any,
    tmp_path: Path,
    damage: Callable[[Path], None],
    counts: bool,
) -> None:
    warm, said = expected
    cache = tmp_path / "cache"
    shutil.copytree(warm, cache)
    before = {path: path.read_bytes() for path in files(cache)}
    chosen = files(cache)[0], next(p for p in files(cache) if "/text/" in str(p))
    for path in chosen:
        damage(path)
    store = FeatureStore(Encoder([WithWords()]), cache, workers=0)
    same(features(store, good), said, "features")
    same((store.damaged, store.misses), (2 if counts else 0, 2), "entries made again")
    for path in files(cache):
        if not path.is_dir():
            kept(path.is_symlink() or path.read_bytes(), before[path], "what is in the cache now")


def test_a_link_is_replaced_and_not_written_through(
    good: list[EditPair], expected: Any, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    shutil.copytree(expected[0], cache)
    precious = tmp_path / "precious"
    precious.write_bytes(b"mine")
    first = files(cache)[0]
    first.unlink()
    first.symlink_to(precious)
    same(
        features(FeatureStore(Encoder([WithWords()]), cache, workers=0), good),
        expected[1],
        "features",
    )
    kept(precious.read_bytes(), b"mine", "the file that a link in the cache led to")


def failing(number: int) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(number, os.strerror(number))

    return fail


@contextmanager
def half_written(number: int, path: Path) -> Iterator[Path]:
    """As `replacing`, on a disk that ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    yield path.with_name("torn")
    raise OSError(number, os.strerror(number))


OUT_OF_REACH = {
    f"{what} {errno.errorcode[number]}": (what, number)
    for what, numbers in {
        "written": (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EIO, errno.EFBIG),
        "read": (errno.EACCES, errno.EIO, errno.ESTALE, errno.EMFILE),
    }.items()
    for number in numbers
}


@pytest.mark.parametrize(("what", "number"), OUT_OF_REACH.values(), ids=OUT_OF_REACH)
def test_a_cache_out_of_reach_is_one_warning(
    good: list[EditPair],
    expected: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    what: str,
    number: int,
) -> None:
    if what == "written":
        monkeypatch.setattr(entries, "replacing", lambda path: half_written(number, path))
    else:
        monkeypatch.setattr(entries, "opened", failing(number))
    store = FeatureStore(Encoder([WithWords()]), tmp_path / "cache", workers=2)
    with caplog.at_level(logging.WARNING):
        same(features(store, good), expected[1], "features")
    (warning,) = caplog.messages
    assert f"the cache cannot be {what} ({os.strerror(number)})" in warning
    assert store.damaged == 0


def test_a_cache_that_cannot_be_made_is_a_warning(
    good: list[EditPair],
    expected: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(Path, "mkdir", failing(errno.EROFS))
    store = FeatureStore(Encoder([WithWords()]), tmp_path / "cache", workers=0)
    with caplog.at_level(logging.WARNING):
        same(features(store, good), expected[1], "features")
    assert "cannot be written (Read-only file system)" in caplog.text


def test_a_cache_that_is_deleted_meanwhile_is_made_again(
    good: list[EditPair], expected: Any, tmp_path: Path
) -> None:
    store = FeatureStore(Encoder([WithWords()]), tmp_path / "cache", workers=0)
    features(store, good)
    shutil.rmtree(tmp_path / "cache")
    same(features(store, good), expected[1], "features")
    made, before = (
        [path for path in files(folder) if "audio" in path.parts]  # its texts it remembers
        for folder in (tmp_path / "cache", expected[0])
    )
    same(len(made), len(before), "entries")


def test_the_command_counts_what_it_made_again(
    cli: Any, pairs_path: Path, spectrum_checkpoint: Path, tmp_path: Path
) -> None:
    cache, scores = tmp_path / "cache", tmp_path / "scores.csv"
    arguments = ("score", pairs_path, "-o", scores, "-c", spectrum_checkpoint, "--fresh")
    first = cli(*arguments, "--cache-dir", cache)
    assert "damaged" not in first.out
    before = scores.read_bytes()
    for path in files(cache)[:3]:
        flip(-1)(path)
    second = cli(*arguments, "--cache-dir", cache)
    same(scores.read_bytes(), before, "scores")
    assert "3 damaged entries of the feature cache were made again\n" in second.out
    assert "damaged" not in cli(*arguments, "--cache-dir", cache).out


def test_the_command_scores_without_a_cache(
    cli: Any,
    pairs_path: Path,
    spectrum_checkpoint: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    scores = [tmp_path / "with.csv", tmp_path / "without.csv"]
    arguments = ("score", pairs_path, "-c", spectrum_checkpoint, "-o")
    cli(*arguments, scores[0], "--cache-dir", tmp_path / "good")
    monkeypatch.setattr(entries, "replacing", lambda path: half_written(errno.ENOSPC, path))
    assert cli(*arguments, scores[1], "--cache-dir", tmp_path / "full").status == 0
    same(scores[1].read_bytes(), scores[0].read_bytes(), "scores")
    assert caplog.text.count("No space left on device") == 1


@pytest.mark.parametrize("inside", ["", "deep/down"])
def test_a_cache_in_a_file_is_the_users_mistake(
    cli: Any, pairs_path: Path, spectrum_checkpoint: Path, tmp_path: Path, inside: str
) -> None:
    (tmp_path / "file").write_text("in the way")
    scores = ("score", pairs_path, "-o", tmp_path / "scores.csv", "-c", spectrum_checkpoint)
    ended = cli(*scores, "--cache-dir", tmp_path / "file" / inside)
    refused(ended, "file.*: the feature cache cannot be made .*AUDITEVAL_CACHE")


RESULTS = {
    name: damage
    for name, (damage, counts) in DAMAGE.items()
    if "tensor" not in name and not name.startswith(("of ", "not a n", "an entry of", "another's"))
} | {
    "another result": rewrite(lambda data: data[:HEAD] + b'["forged"]'),
    "nested a hundred thousand deep": rewrite(lambda data: data[:HEAD] + b"[" * 100_000),
    "a number of 100,000 digits": rewrite(lambda data: data[:HEAD] + b"[" + b"9" * 100_000 + b"]"),
    "another answer's entry": lambda path: shutil.copy(sibling(path), path) and None,
}


@pytest.mark.parametrize("damage", RESULTS.values(), ids=RESULTS)
def test_every_damaged_result_is_made_again(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    cache = ResultCache(tmp_path / "deep" / "cache")
    for key in ("a", "b"):
        cache.get((key,), list[str], lambda key=key: [key])  # type: ignore[misc]
    for path in files(tmp_path)[:1]:
        damage(path)
    for key in ("a", "b"):
        found = cache.get((key,), list[str], lambda key=key: [key])  # type: ignore[misc]
        same(found, [key], "the result")


def test_keys_that_look_alike_are_told_apart(tmp_path: Path) -> None:
    cache = ResultCache(tmp_path)
    keys = [("a\nb", "c"), ("a", "b\nc"), ("a\nb\nc",), ("a", "b", "c"), ('a", "b', "c")]
    keys.append(("\udcff",))
    for number, key in enumerate(keys):
        if cache.get(key, int, lambda number=number: number) != number:  # type: ignore[misc]
            raise WrongResult(f"the result of another key for {key}")


def test_a_result_of_another_form_is_made_again(tmp_path: Path) -> None:
    cache = ResultCache(tmp_path)
    cache.get(("a",), str, lambda: "words")
    same(cache.get(("a",), int, lambda: 3), 3, "the result")
