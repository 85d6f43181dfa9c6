"""Clips of classes that the shipped evaluator was not trained on, and edits of known severity.

Written apart from `auditeval.data.simulation`, so that a fault of the simulator is none of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import soundfile
from scipy import signal

from auditeval.audio import Waveform, decode, resample
from auditeval.data.soundbank import synthesize
from auditeval.types import EditPair

RATE_HZ = 44100
SECONDS = 5.0
LENGTH = round(SECONDS * RATE_HZ)
PEAK = 0.15  # leaves room for an event


class Clip(NamedTuple):
    """5 s of one sound at 44.1 kHz, and a caption of it."""

    name: str
    caption: str
    samples: np.ndarray

    def changed(self, samples: np.ndarray) -> Clip:
        return self._replace(samples=samples)


class Saved(NamedTuple):
    """How an edit is written."""

    samples: np.ndarray
    rate_hz: int = RATE_HZ
    suffix: str = ".wav"
    subtype: str = "FLOAT"


class Edit(NamedTuple):
    original: np.ndarray | Saved
    edited: np.ndarray | Saved
    original_caption: str
    target_caption: str


def synthetic(name: str, seed: int, caption: str) -> Clip:
    """A take of the sound bank that no simulated set has."""
    samples = synthesize(name, 30_000_000 + seed, SECONDS, 32000)
    return _levelled(f"bank {name} {seed}", caption, resample(Waveform(samples, 32000), RATE_HZ))


def recordings(folder: Path, caption: str, count: int) -> list[Clip]:
    """5 s of each of the first recordings in a folder, where one is shorter with the next ones."""
    clips: list[Clip] = []
    name, parts, last = "", [], ""
    for path in sorted(p for p in folder.iterdir() if p.suffix in (".ogg", ".flac")):
        recording = path.name.rsplit("-", 1)[0]  # ESC-10 has several clips of many
        if len(clips) == count or recording == last:
            continue
        last = recording
        parts.append(_heard(resample(decode(path), RATE_HZ).astype(np.float64)))
        name = name or f"{folder.name} {path.stem}"
        if sum(map(len, parts)) >= LENGTH:
            clips.append(_levelled(name, caption, np.concatenate(parts)[:LENGTH]))
            name, parts = "", []
    return clips


def _levelled(name: str, caption: str, samples: np.ndarray) -> Clip:
    return Clip(name, caption, PEAK * samples / np.abs(samples).max())


def _heard(samples: np.ndarray) -> np.ndarray:
    """Without silence at its ends, at one level."""
    heard = np.flatnonzero(np.abs(samples) > 0.02 * np.abs(samples).max())
    part = samples[heard[0] : heard[-1] + 1]
    return part / rms(part)


def rms(x: np.ndarray) -> float:
    """Of what is heard of the clip."""
    frames = np.square(x[: len(x) // 882 * 882].reshape(-1, 882)).mean(axis=1)
    return float(np.sqrt(frames[frames >= 1e-4 * frames.max()].mean()))


def noisy(x: np.ndarray, snr_db: float, seed: int = 0) -> np.ndarray:
    """White noise, below the level of what is heard."""
    noise = np.random.default_rng(seed).standard_normal(len(x))
    return x + noise * rms(x) * 10 ** (-snr_db / 20)


def modulated(x: np.ndarray, q_db: float, seed: int = 0) -> np.ndarray:
    """Noise that follows the signal: the modulated noise reference unit of ITU-T P.810."""
    noise = np.random.default_rng(seed).standard_normal(len(x))
    return x * (1 + noise * 10 ** (-q_db / 20))


def clipped(x: np.ndarray, share: float) -> np.ndarray:
    """That share of what is heard is over the threshold, and cut off; the level as before."""
    heard = np.abs(x[np.abs(x) > 1e-3 * np.abs(x).max()])
    threshold = float(np.quantile(heard, 1 - share))
    cut = np.clip(x, -threshold, threshold)
    return cut * rms(x) / rms(cut)


def narrowed(x: np.ndarray, cutoff_hz: float) -> np.ndarray:
    """Without what lies above, 48 dB an octave and no delay."""
    return signal.sosfiltfilt(signal.butter(8, cutoff_hz, fs=RATE_HZ, output="sos"), x)


def replaced(x: np.ndarray, other: np.ndarray, share: float) -> np.ndarray:
    """Another sound of equal level instead of the last share of the clip, over 10 ms."""
    other = other[: len(x)] * rms(x) / rms(other)
    return x + _from(len(x), share) * (other - x)


def lost(x: np.ndarray, share: float) -> np.ndarray:
    """Nothing instead of the last share of the clip."""
    return x * (1 - _from(len(x), share))


def cut_off(x: np.ndarray, share: float) -> np.ndarray:
    """Without the last share of the clip."""
    return x[: round((1 - share) * len(x))]


def begun_again(x: np.ndarray, times: float) -> np.ndarray:
    """The clip over and over, so many times as long."""
    return np.resize(x, round(times * len(x)))


def with_event(x: np.ndarray, event: np.ndarray, start: float, times: float) -> np.ndarray:
    """The heard part of the event, up to 2 s of it, at that share of the clip and level."""
    heard = np.flatnonzero(np.abs(event) > 0.03 * np.abs(event).max())
    event = event[heard[0] : heard[0] + 2 * RATE_HZ]
    ramp = np.minimum(np.arange(len(event)), np.arange(len(event))[::-1]) / 441
    event = event * np.minimum(ramp, 1) * times * rms(x) / rms(event)
    made, first = x.copy(), round(start * len(x))
    made[first : first + len(event)] += event[: len(x) - first]
    return made


def resaved(x: np.ndarray) -> dict[str, Saved]:
    """The same to every ear: what must not change a score."""
    silence = np.zeros(round(0.3 * RATE_HZ))
    shift = round(0.02 * RATE_HZ)
    heard = Waveform(x.astype(np.float32), RATE_HZ)
    return {
        "48 kHz": Saved(resample(heard, 48000), 48000),
        "32 kHz": Saved(resample(heard, 32000), 32000),
        "1 dB up": Saved(x * 10 ** (1 / 20)),
        "1 dB down": Saved(x * 10 ** (-1 / 20)),
        "20 ms later": Saved(np.concatenate([np.zeros(shift), x[:-shift]])),
        "20 ms earlier": Saved(np.concatenate([x[shift:], np.zeros(shift)])),
        "silence before": Saved(np.concatenate([silence, x])),
        "silence after": Saved(np.concatenate([x, silence])),
        "0.1 s before and after": Saved(np.pad(x, len(silence) // 3)),
        "FLAC of 16 bit": Saved(x, suffix=".flac", subtype="PCM_16"),
        "WAV of 24 bit": Saved(x, suffix=".wav", subtype="PCM_24"),
        "Ogg Vorbis": Saved(x, suffix=".ogg", subtype="VORBIS"),
    }


def pairs(folder: Path, edits: Mapping[str, Edit]) -> list[EditPair]:
    """Their files and rows, in order."""
    folder.mkdir(parents=True, exist_ok=True)
    written: dict[int, Path] = {}

    def write(clip: np.ndarray | Saved) -> Path:
        if id(clip) not in written:
            saved = clip if isinstance(clip, Saved) else Saved(clip)
            path = folder / f"{len(written)}{saved.suffix}"
            best = {"compression_level": 0.0} if saved.subtype == "VORBIS" else {}
            soundfile.write(path, saved.samples, saved.rate_hz, saved.subtype, **best)
            written[id(clip)] = path
        return written[id(clip)]

    return [
        EditPair(
            id=name,
            original=write(edit.original),
            edited=write(edit.edited),
            original_caption=edit.original_caption,
            target_caption=edit.target_caption,
        )
        for name, edit in edits.items()
    ]


def _from(length: int, share: float) -> np.ndarray:
    """0, and from the last share of the clip on 1."""
    if share == 0:
        return np.zeros(length)
    ramp = (np.arange(length) - (1 - share) * length) / 441 + (1 if share == 1 else 0)
    return np.clip(ramp, 0, 1)
