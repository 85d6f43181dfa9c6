"""The clips of a page: within it, copied beside it, or as links to where they are.

Copies are FLAC: Opus would be a quarter of the size, but who listens for artefacts must not hear a
codec's own, and libsndfile gives each Opus file another serial number, so that the same page would
have other bytes.
"""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

import numpy as np

from auditeval import audio
from auditeval.audio import AudioError, files, mixes
from auditeval.audio.waveform import Waveform, quantised
from auditeval.features.extractors.spectrum import Spectrum, log_mel
from auditeval.pages.rows import Rows
from auditeval.player.clips import played
from auditeval.progress import track
from auditeval.text import visible

Mode = Literal["embed", "copy", "link", "none"]
MODES: tuple[Mode, ...] = ("embed", "copy", "link", "none")
SIDES = ("original", "edited")
_SHOWN_DB, _COLUMNS = 70.0, 480
_NO_METADATA: dict[str, Any] = {"Software": None}  # its version would change the bytes


class Sounds(NamedTuple):
    """What a page knows of clips: `of_rows` for its script, {row: {side: ...}}; `within` the files
    in it, `beside` those of its folder, by name; `links` where all rows have theirs, two and two.
    """

    of_rows: dict[int, dict[str, Any]]
    within: dict[str, str]
    beside: dict[str, bytes]
    links: Sequence[tuple[str, str]] = ()

    @property
    def bytes(self) -> int:
        """Of the clips, within the page or beside it."""
        return sum(map(len, self.within.values())) + sum(map(len, self.beside.values()))


def gather(rows: Rows, chosen: Iterable[int], mode: Mode, page: Path, folder: str) -> Sounds:
    """The clips of the rows that were chosen; a link has every row.

    `page` is where the page will be, `folder` that of its copies, beside it. A clip that cannot be
    had is its reason, for the page to show.
    """
    if mode == "none" or not rows.clips:
        return Sounds({}, {}, {})
    made = Sounds({}, {}, {}, _links(rows, page) if mode == "link" else ())
    for row in track(sorted(set(chosen)), "clips", transient=True):
        paths = rows.clips[row]
        try:
            waveforms = _decoded(*paths)
        except AudioError as error:
            made.of_rows[row] = {"missing": visible(str(error))}
            continue
        of_row: dict[str, Any] = {}
        for side, waveform in zip(SIDES, waveforms, strict=True):
            name = f"{row}-{side}"
            data = files.encoded(quantised(waveform.samples), waveform.rate_hz, "FLAC")
            if mode == "embed":
                made.within[name] = base64.b64encode(data).decode()
                of_row[side] = {"within": name}
            elif mode == "copy":
                made.beside[f"{name}.flac"] = data
                of_row[side] = {"href": f"{quote(folder)}/{name}.flac"}
        if mode != "embed":  # a page from disk may play a file, but not read its samples
            of_row["pictures"] = pictures(*waveforms)
        made.of_rows[row] = of_row
    return made


def _decoded(original: Path | None, edited: Path | None) -> tuple[Waveform, Waveform]:
    if original is None or edited is None:
        raise AudioError("no clip is known of this row")
    return played(original, edited)


def _links(rows: Rows, page: Path) -> list[tuple[str, str]]:
    """By way of the page's folder, so that both can be moved together."""
    folder = page.resolve().parent

    def link(path: Path | None) -> str:
        if path is None or mixes.is_mix(path):
            return ""
        way = os.path.relpath(path.absolute(), folder)
        return quote(Path(way).as_posix().encode("utf-8", "surrogateescape"))

    return [(link(original), link(edited)) for original, edited in rows.clips]


def pictures(original: Waveform, edited: Waveform) -> list[str]:
    """Log-mel spectrograms of both clips, on one scale of time and levels, as PNG in URLs."""
    seconds = max(original.seconds, edited.seconds)
    bands = [
        log_mel(audio.resample(clip, Spectrum.rate_hz), *Spectrum.RESOLUTIONS[0])
        for clip in (original, edited)
    ]
    loudest = max(float(found.max()) for found in bands)
    return [_png(found, seconds, loudest) for found in bands]


def _png(bands: np.ndarray, seconds: float, loudest: float) -> str:
    from matplotlib import colormaps
    from matplotlib.image import imsave

    frames = max(1, round(seconds / Spectrum.HOP_SECONDS))
    whole = np.full((frames, bands.shape[1]), loudest - _SHOWN_DB)
    whole[: len(bands)] = bands[:frames]
    edges = np.linspace(0, frames, min(_COLUMNS, frames) + 1).astype(int)
    columns = np.maximum.reduceat(whole, edges[:-1], axis=0)
    shares = np.clip(1 + (columns.T[::-1] - loudest) / _SHOWN_DB, 0, 1)
    file = io.BytesIO()
    pixels = colormaps["magma"](shares, bytes=True)[..., :3]
    imsave(file, np.ascontiguousarray(pixels), format="png", metadata=_NO_METADATA)
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
