"""Where the sounds of scenes come from: recordings in folders, the sound bank, tones.

Recordings are dealt into disjoint pools, those of one origin (a Freesound upload, a talker) into
one pool, and a scene takes all of its own from one pool. Two pools share no recording, and of files
with the same bytes the first alone counts, so a split by pool is a split by recording.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import uniform_filter1d

from auditeval.audio import AudioError, files
from auditeval.audio.waveform import FULL_SCALE, quantised
from auditeval.data.recordings import CLASS, Recording, decoded, read_recordings
from auditeval.data.simulation.processors import Processors
from auditeval.data.simulation.signals import RATE_HZ, above, active_rms, decibels
from auditeval.data.simulation.tones import TONES, tones
from auditeval.data.simulation.vocabulary import known, spelled
from auditeval.data.simulation.words import WORDS
from auditeval.data.soundbank import EVENTS, synthesize
from auditeval.digests import sha256
from auditeval.types import UserError, whole

log = logging.getLogger(__name__)

REAL_SHARE = 0.75
"""How often a class that has recordings is taken from them and not synthesised; speech always."""

SPEECH = ("speech", "male_speech", "female_speech")

WIDENED_SHARE, STUDIO_SHARE = 0.5, 0.5
"""Of recordings of speech. Corpora end at 8 kHz, so that a low-pass would cost nothing, and have
noise in pauses, under which added noise would hide."""

_STEADY = ("helicopter", "chainsaw", "clock_ticking")
_BACKGROUNDS = (
    *(name for name, event in EVENTS.items() if event.role == "background"),
    *_STEADY,
    *("chords", "melody", "piano_notes", "guitar_pluck"),
)
_EMODB_MEN = ("03", "10", "11", "12", "15")  # of its ten talkers; the others are women

_NAMED = 5  # files in a sentence about more

_FRAME = round(0.02 * RATE_HZ)
_AUDIBLE_DB = 40.0
_JOIN = round(0.05 * RATE_HZ)

Recordings = Mapping[str, str | Path | None]
"""Folders of recordings by corpus, one of READERS; None where there is none."""


class Clip(NamedTuple):
    """A recording of one of WORDS; those of one `origin` stand in one pool.

    `words` :: which sentence is spoken, where it is known.
    """

    recording: Recording
    name: str
    origin: str
    words: str = ""


def esc10(folder: Path) -> list[Clip]:
    """ESC-10 (or ESC-50) as folders of classes; a file is FOLD-FREESOUND_ID-TAKE."""
    clips = []
    for recording in read_recordings(folder, [CLASS]):
        (upload,) = _named(recording, "esc10", r"[^-]*-([^-]*).*", "FOLD-FREESOUND_ID-TAKE")
        try:
            name = spelled(recording.labels[CLASS])
        except KeyError as error:
            raise UserError(
                f"{folder}: there is no class of sound {error}, which {recording.name} is of; "
                f"there are {', '.join(WORDS)}"
            ) from None
        clips.append(Clip(recording, name, f"esc10/{upload}"))
    return clips


def librispeech(folder: Path) -> list[Clip]:
    """LibriSpeech: a file is TALKER-CHAPTER-NUMBER."""
    clips = []
    for recording in read_recordings(folder):
        (talker,) = _named(recording, "librispeech", r"([^-]*)-.*", "TALKER-CHAPTER-NUMBER")
        clips.append(Clip(recording, "speech", f"librispeech/{talker}"))
    return clips


def emodb(folder: Path) -> list[Clip]:
    """EMO-DB: the first two letters of a file are its talker, the next three its sentence."""
    clips = []
    for recording in read_recordings(folder):
        talker, sentence = _named(
            *(recording, "emodb", r"(03|08|09|1[0-6])([a-z]\d\d)[A-Z].*"),
            "a talker of its ten, a sentence and an emotion, as 03a01Fa",
        )
        name = "male_speech" if talker in _EMODB_MEN else "female_speech"
        clips.append(Clip(recording, name, f"emodb/{talker}", sentence))
    return clips


def _named(recording: Recording, kind: str, pattern: str, form: str) -> tuple[str, ...]:
    """The parts of a file's name. UserError: a name that tells no origin would let one talker stand
    in two pools."""
    found = re.fullmatch(pattern, recording.path.stem, re.DOTALL)
    if found is None:
        raise UserError(f"{recording.path}: is not named as those of {kind} ({form})")
    return found.groups()


READERS: dict[str, Callable[[Path], list[Clip]]] = {
    "esc10": esc10,
    "librispeech": librispeech,
    "emodb": emodb,
}


class Material:
    """Sounds by class and pool. `held_out` classes are not there at all.

    Raises UserError for an unknown corpus, for a folder without audio, or with a file that is not
    named as the corpus names its own or a class that has no words.
    """

    def __init__(
        self,
        recordings: Recordings | None = None,
        held_out: Sequence[str] = (),
        pools: int = 20,
        real_share: float = REAL_SHARE,
        processors: Processors | None = None,
    ) -> None:
        whole("pools", pools)
        self.processors = processors or Processors({})
        folders = {name: Path(path) for name, path in (recordings or {}).items() if path}
        if unknown := folders.keys() - READERS.keys():
            raise UserError(f"recordings: {min(unknown)!r} is none of {', '.join(READERS)}")
        self._made_of = (
            *(tuple(folders.items()), tuple(held_out), pools, real_share),
            tuple(self.processors.given.items()),
        )
        left_out = set(known(held_out))
        self.synthetic = [name for name in (*EVENTS, *TONES) if name not in left_out]
        clips: list[Clip] = []
        for kind, folder in folders.items():
            clips += [clip for clip in READERS[kind](folder) if clip.name not in left_out]
        # Each class is dealt by itself: every pool has some of it.
        self.clips: list[dict[str, list[Clip]]] = [{} for _ in range(pools if clips else 1)]
        origins: dict[str, int] = {}
        dealt: dict[str, int] = {}
        clips, self._copies = _once(clips)
        shuffled = sorted(clips, key=lambda x: hashlib.sha256(_bytes(x.origin)).hexdigest())
        for clip in shuffled:
            kind = "speech" if clip.name in SPEECH else clip.name
            if clip.origin not in origins:
                origins[clip.origin] = dealt.setdefault(kind, 0) % len(self.clips)
                dealt[kind] += 1
            pool = self.clips[origins[clip.origin]]
            pool.setdefault(clip.name, []).append(clip)
        for pool in self.clips:
            for found in pool.values():
                found.sort(key=lambda clip: clip.recording.name)
        self.real, self._real_share = bool(clips), real_share
        self._samples = lru_cache(maxsize=None)(_samples)

    def __reduce__(self) -> tuple[Any, ...]:
        return _in_this_process, self._made_of

    def check(self) -> None:
        """Raises UserError that names recordings that cannot be opened; tells which count once.

        By their headers: to decode all takes as long as many scenes, and one that breaks off or is
        silent is told when it is taken.
        """
        if self._copies:
            log.warning("recordings that hold the bytes of others: %s", _some(self._copies))
        unusable, count = [], 0
        for clip in (clip for pool in self.clips for found in pool.values() for clip in found):
            count += 1
            try:
                files.seconds(clip.recording.path)
            except AudioError as error:
                unusable.append(str(error))
        if unusable:
            raise UserError(
                f"{len(unusable)} of {count} recordings cannot be used: {_some(unusable)}"
            )

    def identity(self) -> str:
        """SHA-256 of the names and sizes of all recordings, and of the processors, in hex."""
        found = hashlib.sha256(self.processors.identity().encode())
        for pool in self.clips:
            for clip in (clip for clips in pool.values() for clip in clips):
                size = clip.recording.path.stat().st_size
                found.update(_bytes(f"{clip.origin} {clip.recording.name} {size}\n"))
        return found.hexdigest()

    def classes(self, pool: int) -> list[str]:
        """All that can be had in that pool, in the order of WORDS."""
        there = {*self.synthetic, *self.clips[pool]}
        return [name for name in WORDS if name in there]

    def backgrounds(self, pool: int) -> list[str]:
        """Textures, steady sounds and music that may last a whole clip; not speech."""
        return [name for name in self.classes(pool) if name in _BACKGROUNDS]

    def speech(self, pool: int) -> list[str]:
        """The kinds of speech; recordings before the bank's where there are any."""
        real = [name for name in SPEECH if name in self.clips[pool]]
        return real or [name for name in SPEECH if name in self.synthetic]

    def readings(self, pool: int, taken: str) -> list[Clip]:
        """Other recordings of that pool in which the sentence of the one `taken` is spoken."""
        spoken = [clip for name in SPEECH for clip in self.clips[pool].get(name, [])]
        words = next((clip.words for clip in spoken if clip.recording.name == taken), "")
        return [c for c in spoken if words and c.words == words and c.recording.name != taken]

    def sayings(self, pool: int, taken: str) -> list[Clip]:
        """Recordings of that pool in which something else is spoken than in the one `taken`."""
        same = {taken, *(clip.recording.name for clip in self.readings(pool, taken))}
        spoken = [clip for name in SPEECH for clip in self.clips[pool].get(name, [])]
        return [clip for clip in spoken if taken and clip.recording.name not in same]

    def reading(self, clip: Clip) -> np.ndarray:
        """A recording of speech as it is :: float32 (N,)."""
        return faded(self._samples(clip.recording.path).astype(np.float32) / FULL_SCALE)

    def has_another(self, name: str, pool: int, taken: str) -> bool:
        """Whether there is another sound of the class than the recording `taken`, "" for none."""
        recorded = self.clips[pool].get(name, [])
        return name in self.synthetic or any(clip.recording.name != taken for clip in recorded)

    def take(
        self,
        name: str,
        pool: int,
        seconds: float,
        rng: np.random.Generator,
        whole: bool = False,
        but: str = "",
    ) -> tuple[np.ndarray, str]:
        """A sound of the class :: float32 (N,), and which it is; another than `but` if there is.

        At most `seconds` long, and exactly so for synthetic sounds and where `whole` is wanted:
        what is shorter is then repeated, except for speech.
        """
        choice = [c for c in self.clips[pool].get(name, []) if c.recording.name != but]
        real = rng.random() < self._real_share or name not in self.synthetic or name in SPEECH
        if choice and real:
            clip = choice[rng.integers(len(choice))]
            x = self._samples(clip.recording.path).astype(np.float32) / FULL_SCALE
            if whole and name not in SPEECH:
                x = repeated(x, round(seconds * RATE_HZ))
            length = min(len(x), round(seconds * RATE_HZ))
            start = 0
            if whole and len(x) > length:
                start = int(rng.integers(len(x) - length + 1))
            x = faded(x[start : start + length])
            if name in SPEECH and rng.random() < WIDENED_SHARE:
                x = widened(x, rng)
            if name in SPEECH and rng.random() < STUDIO_SHARE:
                x = expanded(x)
            return x, clip.recording.name
        if name not in self.synthetic:  # the only recording there is
            return self.take(name, pool, seconds, rng, whole)
        if name in TONES:
            return tones(name, rng, seconds, RATE_HZ), ""
        return synthesize(name, int(rng.integers(2**31)), seconds, RATE_HZ), ""


@lru_cache(maxsize=1)
def _in_this_process(
    folders: tuple[tuple[str, Path], ...],
    held_out: tuple[str, ...],
    pools: int,
    real_share: float,
    processors: tuple[tuple[str, Any], ...],
) -> Material:
    """Material that came from another process: read once, for all the scenes that are made here."""
    return Material(dict(folders), held_out, pools, real_share, Processors(dict(processors)))


def widened(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """With 4 to 8 kHz once more above 8 kHz and above 12 kHz, weaker: spectral band replication."""
    upper, time = above(x, 4000.0), np.arange(len(x)) / RATE_HZ
    for shift_hz, gain_db in ((4000.0, rng.uniform(-12, 0)), (8000.0, rng.uniform(-24, -6))):
        moved = above(upper * np.cos(2 * np.pi * shift_hz * time), 4000.0 + shift_hz)
        x = x + 2 * decibels(gain_db) * moved
    return x.astype(np.float32)


def expanded(x: np.ndarray) -> np.ndarray:
    """With pauses as silent as a studio's, which corpora of speech have not.

    Frames of 20 ms more than 25 dB below the active level are turned down by as much again and
    half, 30 dB at the most.
    """
    count = max(1, len(x) // _FRAME)
    parts = np.array_split(np.asarray(x, np.float64), count)
    level_db = 10 * np.log10([part @ part / len(part) + 1e-12 for part in parts])
    below_db = np.maximum(20 * np.log10(max(active_rms(x), 1e-6)) - 25 - level_db, 0)
    gain_db = uniform_filter1d(-np.minimum(1.5 * below_db, 30), 3, mode="nearest")
    centres = (np.arange(count) + 0.5) * len(x) / count
    return (x * 10 ** (np.interp(np.arange(len(x)), centres, gain_db) / 20)).astype(np.float32)


def repeated(x: np.ndarray, length: int) -> np.ndarray:
    """The clip again and again, each passing into the next over 50 ms or its half, until it is that
    long."""
    made, join = x, min(_JOIN, len(x) // 2)
    ramp = np.linspace(0, 1, join, dtype=np.float32) ** 0.5
    while len(made) < length:
        joined = made[-join:] * ramp[::-1] + x[:join] * ramp
        made = np.concatenate([made[:-join], joined, x[join:]])
    return made


def faded(x: np.ndarray) -> np.ndarray:
    """With a rise and a fall of 8 ms: a cut would click."""
    n = min(round(0.008 * RATE_HZ), len(x) // 2)
    x = x.copy()
    x[:n] *= np.linspace(0, 1, n, dtype=np.float32)
    x[len(x) - n :] *= np.linspace(1, 0, n, dtype=np.float32)
    return x


def audible(x: np.ndarray) -> np.ndarray:
    """From the first to the last frame of 20 ms within 40 dB of the loudest."""
    count = max(1, len(x) // _FRAME)
    power = np.square(x[: count * _FRAME].reshape(count, -1), dtype=np.float64).mean(axis=1)
    loud = np.flatnonzero(power >= power.max() * 10 ** (-_AUDIBLE_DB / 10))
    return x[loud[0] * _FRAME : (loud[-1] + 1) * _FRAME]


def _once(clips: Sequence[Clip]) -> tuple[list[Clip], list[str]]:
    """Those that hold no other's bytes, and the names of the rest: a recording that stood in two
    pools would be trained on and tested, and one held against itself is no other take."""
    kept: list[Clip] = []
    left: list[str] = []
    known: set[str] = set()
    try:
        sizes = [clip.recording.path.stat().st_size for clip in clips]
        several = {size for size, count in Counter(sizes).items() if size and count > 1}
        for clip, size in zip(clips, sizes, strict=True):
            content = sha256(clip.recording.path) if size in several else ""
            if content and content in known:
                left.append(str(clip.recording.path))
                continue
            known.add(content)
            kept.append(clip)
    except OSError as error:
        raise UserError(f"{error.filename}: cannot be read ({error.strerror})") from None
    return kept, left


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return "; ".join(names[:_NAMED]) + more


def _bytes(name: str) -> bytes:
    """Also of a file whose name is no UTF-8."""
    return name.encode("utf-8", "surrogateescape")


def _samples(path: Path) -> np.ndarray:
    """int16 (N,): half the memory, since all clips of a set are kept."""
    samples = audible(decoded(Recording(path, path.name, {}), RATE_HZ).samples)
    return quantised(samples * (0.9 / max(float(np.abs(samples).max()), 1e-9)))
