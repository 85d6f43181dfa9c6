"""Which files hold the same sound: by their decoded samples, whatever their names and formats."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.progress import track

from auditeval import audio


def digests(paths: Iterable[Path], workers: int = 2) -> dict[Path, str | audio.AudioError]:
    """`audio.content_hash` of each clip, or why it cannot be decoded; each path is read once.

    Memory is that of `workers` clips at a time.
    """
    once = list(dict.fromkeys(paths))

    def digest(path: Path) -> str | audio.AudioError:
        try:
            return audio.content_hash(audio.decode(path))
        except audio.AudioError as error:
            return error

    with ThreadPoolExecutor(workers) as pool:
        found = track(
            pool.map(digest, once),
            "reading originals",
            total=len(once),
            console=Console(stderr=True),
            transient=True,
        )
        return dict(zip(once, found, strict=True))
