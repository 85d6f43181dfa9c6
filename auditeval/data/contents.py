"""Which files hold the same sound: by their decoded samples, whatever their names and formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, TypeVar

from auditeval import audio
from auditeval.progress import track

Found = TypeVar("Found")


class Clip(NamedTuple):
    """What a file holds; `digest` is its `audio.content_hash`, `channels` are those of the file."""

    digest: str
    seconds: float
    rate_hz: int
    channels: int


def digests(paths: Iterable[Path], workers: int = 2) -> dict[Path, str | audio.AudioError]:
    """`audio.content_hash` of each clip, or why it cannot be decoded; each path is read once.

    Memory is that of `workers` clips at a time.
    """

    def digest(path: Path) -> str:
        return audio.content_hash(audio.decode(path))

    return _of_each(paths, digest, "reading originals", workers)


def clips(paths: Iterable[Path], workers: int = 2) -> dict[Path, Clip | audio.AudioError]:
    """What each file holds, or why it cannot be used; each path is decoded once, as `digests`."""

    def clip(path: Path) -> Clip:
        waveform = audio.decode(path)
        digest, channels = audio.content_hash(waveform), audio.channels(path)
        return Clip(digest, waveform.seconds, waveform.rate_hz, channels)

    return _of_each(paths, clip, "reading clips", workers)


def _of_each(
    paths: Iterable[Path], of: Callable[[Path], Found], what: str, workers: int
) -> dict[Path, Found | audio.AudioError]:
    once = list(dict.fromkeys(paths))

    def one(path: Path) -> Found | audio.AudioError:
        try:
            return of(path)
        except audio.AudioError as error:
            return error

    with ThreadPoolExecutor(workers) as pool:
        found = track(pool.map(one, once), what, len(once), transient=True)
        return dict(zip(once, found, strict=True))
