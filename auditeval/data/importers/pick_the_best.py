"""Choices of the best of separated voices [Ward et al. 2018, SiSEC 2018: Pick the Best].

results/dataset.csv has a row for each version of a song that a listener heard beside the true
voice, `value` true of the one picked; site/sounds/SONG/ holds the clips.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from auditeval import audio
from auditeval.audio import files
from auditeval.audio.waveform import quantised
from auditeval.data.importers import rows
from auditeval.types import EditPair, UserError

log = logging.getLogger(__name__)

_CLIP = re.compile(r"sounds/(?P<song>(?!\.\.?/)[^/\\]+)/(?P<system>[^/\\]+)_vocals\.flac")
_BOOLEANS = {"True": True, "False": False}
_PICKED, _NOT_PICKED = 5.0, 1.0
_VOICE = "A person singing."
_VOICE_FILE, _REST_FILE = "ref_vocals.flac", "ref_accompaniment.flac"


class _Heard(NamedTuple):
    """A version that a listener heard, and whether it was picked; `where` is FILE:LINE."""

    listener: str
    song: str
    system: str
    picked: bool
    where: str = ""


Versions = dict[tuple[str, str], tuple[str, dict[str, float]]]
"""{(song, system): (FILE:LINE of the first who heard it, {listener: vote})}."""


def import_pick_the_best(folder: Path, made_in: Path) -> list[EditPair]:
    """Voices that systems separated, beside the mixture that they had: the music was to go.

    A listener's vote of a version is 5 if it was picked and 1 if not, so that the rating is 1 + 4 *
    the share of those who picked it. It is one of quality, the only axis that picking the best says
    anything of. Votes compare the versions of one song (`source`) and say nothing across songs:
    `metrics.within` is made for them. A listener who picked none of a song's versions has no vote
    on them, and a log says how often that was. Replicates (`is_replicate`) are left out, so that
    nobody counts twice; listeners who broke off count where they picked.

    The mixture is no file of theirs. It is made of the true voice and the accompaniment, mono as
    any clip is heard here, as mixtures/SONG.wav in the folder `made_in`. Raises UserError, before
    any is made, also for a version without its audio or that somebody was not shown.
    """
    versions = _versions(folder)
    originals = {song: _mixture(folder, song, made_in) for song, _ in versions}
    asked = {
        "original_caption": "A person singing with music.",
        "target_caption": _VOICE,
        "instruction": "Remove the music.",
        "operation": "delete",
    }
    return _pairs(folder, versions, originals, asked)


def import_pick_the_best_voice(folder: Path) -> list[EditPair]:
    """The same votes of the same versions, beside the true voice, as listeners heard them.

    Nothing was asked for: a version differs from its original by what separation did to it.
    """
    versions = _versions(folder)
    originals = {song: _song(folder, song) / _VOICE_FILE for song, _ in versions}
    asked = {"original_caption": _VOICE, "target_caption": _VOICE, "operation": "process"}
    return _pairs(folder, versions, originals, asked)


def _pairs(
    folder: Path, versions: Versions, originals: dict[str, Path], asked: dict[str, str]
) -> list[EditPair]:
    def row(song: str, system: str, votes: dict[str, float]) -> dict[str, Any]:
        return {
            "id": f"{song}_{system}",
            "original": originals[song],
            "edited": _song(folder, song) / f"{system}_vocals.flac",
            "system": system,
            "source": song,
            "raters": {"quality": votes} if votes else {},
            **asked,
        }

    return [rows.pair(where, row(*name, votes)) for name, (where, votes) in versions.items()]


def _song(folder: Path, song: str) -> Path:
    return folder / "site" / "sounds" / song


def _versions(folder: Path) -> Versions:
    """The versions and their votes, in the order of the table; their audio is there."""
    path = folder / "results" / "dataset.csv"
    if not path.parent.is_dir():
        raise UserError(f"{folder}: expected results/{path.name} beside site/sounds/")
    table = rows.of_csv(path, "the raw results of the test", _heard)
    heard = [row._replace(where=where) for where, row in table]
    found: Versions = {}
    for row in heard:
        if (row.song, row.system) not in found:
            _check_audio(row, _song(folder, row.song))
            found[row.song, row.system] = row.where, {}
    undecided = 0
    for of_listener in _by_listener_and_song(heard):
        listener, song = of_listener[0].listener, of_listener[0].song
        _check_heard(of_listener, [system for of, system in found if of == song])
        picked = [row for row in of_listener if row.picked]
        if len(picked) > 1:
            raise UserError(
                f"{picked[1].where}: listener {listener} picked {picked[0].system} and "
                f"{picked[1].system} of {song!r}, expected one"
            )
        undecided += not picked
        for row in of_listener if picked else ():
            found[song, row.system][1][listener] = _PICKED if row.picked else _NOT_PICKED
    if undecided:
        log.warning("%s: %d times a listener picked no version of a song", path, undecided)
    return found


def _heard(cells: dict[str, str]) -> _Heard | None:
    """None of a replicate."""
    truth = {}
    for column in ("value", "is_replicate"):
        if cells[column] is not None and cells[column] not in _BOOLEANS:
            raise ValueError(f"{column}: expected True or False, found {cells[column]!r}")
        truth[column] = _BOOLEANS.get(cells[column])
    listener, url, sound = (cells[name] for name in ("submission_id", "url", "sound"))
    if None in (listener, url, sound, *truth.values()):
        raise TypeError
    clip = _CLIP.fullmatch(url)
    if clip is None or clip["system"] != sound:
        expected = f"sounds/SONG/{sound}_vocals.flac"
        raise ValueError(f"url: expected {expected} of the sound {sound!r}, found {url!r}")
    if not listener:
        raise ValueError("submission_id is empty, expected the id of a listener")
    heard = _Heard(listener, clip["song"], clip["system"], bool(truth["value"]))
    return None if truth["is_replicate"] else heard


def _by_listener_and_song(heard: Iterable[_Heard]) -> Iterable[list[_Heard]]:
    found: dict[tuple[str, str], list[_Heard]] = {}
    for row in heard:
        found.setdefault((row.listener, row.song), []).append(row)
    return found.values()


def _check_heard(of_listener: list[_Heard], systems: list[str]) -> None:
    """Raise UserError where a listener heard a version of the song twice, or not at all."""
    seen: set[str] = set()
    for row in of_listener:
        if row.system in seen:
            raise UserError(
                f"{row.where}: listener {row.listener} heard {row.system} of {row.song!r} twice"
            )
        seen.add(row.system)
    if missing := [system for system in systems if system not in seen]:
        row = of_listener[0]
        raise UserError(
            f"{row.where}: listener {row.listener} was not shown {', '.join(missing)} of "
            f"{row.song!r}, and did not choose among all of its versions"
        )


def _check_audio(row: _Heard, song: Path) -> None:
    for name in (_VOICE_FILE, _REST_FILE, f"{row.system}_vocals.flac"):
        if not _is_file(song / name):
            raise UserError(f"{row.where}: the audio {song / name} is not there")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that no file can have
        return False


def _mixture(folder: Path, song: str, made_in: Path) -> Path:
    """The file of the voice with the music; one that is there already has to be the same."""
    try:
        voice, rest = (audio.decode(_song(folder, song) / f) for f in (_VOICE_FILE, _REST_FILE))
    except audio.AudioError as error:
        raise UserError(f"{error}") from None
    if voice.rate_hz != rest.rate_hz or len(voice.samples) != len(rest.samples):
        raise UserError(f"{_song(folder, song)}: {_VOICE_FILE} and {_REST_FILE} differ in length")
    mixed = voice.samples + rest.samples
    if (peak := float(np.abs(mixed).max())) > 1:
        raise UserError(
            f"{_song(folder, song)}: voice and accompaniment make a peak of {peak:.2f}, which 16 "
            "bits cannot hold"
        )
    path = made_in / "mixtures" / f"{song}.wav"
    samples = quantised(mixed)
    try:
        if not path.exists():
            files.write(path, samples, voice.rate_hz)
        elif path.read_bytes() != files.encoded(samples, voice.rate_hz, "WAV"):
            raise UserError(f"{path}: exists already and is another clip; choose another output")
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror or error})") from None
    return path
