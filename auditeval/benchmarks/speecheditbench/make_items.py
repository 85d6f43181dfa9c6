"""Single samples of SpeechEditBench, made: the line of samples.jsonl and the clips it names."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from auditeval.audio import Waveform
from auditeval.benchmarks.speecheditbench.templates import INSTRUCTIONS, content_words
from auditeval.data import degrading
from auditeval.data.recordings import CLASS, Decoded, Recording, decoded
from auditeval.data.rooms import Room, speech_band
from auditeval.metrics.reverberation import rt60
from auditeval.seed import SEED
from auditeval.types import Undefined, UserError

RT60_RANGES = {"bathroom": (0.05, 0.18), "small_room": (0.2, 0.4), "large_hall": (0.8, 1.5)}
"""Target ranges of release v1.1, in seconds."""

SCENES = ("outdoor", "crowd", "music")

TRANSFER_SNR_DB = (8.0, 18.0)
"""What release v1.1 has of scenes; of noisy sources to be enhanced nothing is published."""

NOISY_SNR_DB = (0.0, 10.0)

_LIVELY = ("small_room", "large_hall")  # whose reverberation there is to remove
_REFERENCE_SECONDS = (3.0, 8.0)  # A.2, Table 7
_SHORT_SECONDS, _MEDIUM_SECONDS = 10.0, 30.0


@dataclass(frozen=True)
class Settings:
    """`samples` of each direction in each language; `rooms` of each environment are made."""

    samples: int = 10
    seed: int = SEED
    rate_hz: int = 16000
    rooms: int = 5


class Sources(NamedTuple):
    """`rooms` by environment, the keys of RT60_RANGES."""

    speech: list[Recording]
    noise: list[Recording]
    rooms: dict[str, list[Room]]
    settings: Settings


class Item(NamedTuple):
    """A line of samples.jsonl, what it was made from, and its clips by the paths they go to."""

    row: dict[str, Any]
    origin: dict[str, Any]
    paths: list[str]
    render: Callable[[], list[np.ndarray]]


def prosody(recording: Recording, kind: str, cell: str, sources: Sources) -> Item:
    """`kind` is speed, pitch or stress, `cell` the direction."""
    id = _id(recording, kind, cell, sources)
    text, words = recording.labels["text"], []
    if kind == "stress":
        candidates = stressable(recording)
        words = [candidates[_rng(id).integers(len(candidates))]]
        anchor = {"type": "prosody", "prosody_type": kind, "stress_words": words}
        anchor["transcript"] = text
    else:
        anchor = {"type": "prosody", "prosody_type": kind, "direction": cell}
    spoken = decoded(recording, sources.settings.rate_hz)
    path = f"data/prosody_editing/audio/{id}.wav"
    row = _row(id, recording, cell, anchor, spoken, path, sources.settings.rate_hz, "".join(words))
    return Item(row, _origin(recording, spoken), [path], lambda: [spoken.samples])


def acoustic(recording: Recording, kind: str, cell: str, sources: Sources) -> Item:
    """`kind` is enhancement, reverb or noise, `cell` what is to go or to come.

    The clean clip and the other are written with one gain; one is the source, one the target.
    """
    named = {"reverb": f"reverb_{cell}", "noise": f"noise_overlay_{cell}"}.get(kind, cell)
    whole = f"{'enhancement' if kind == 'enhancement' else 'env_transfer'}__{named}"
    id = _id(recording, whole, cell, sources)
    rng, rate_hz = _rng(id), sources.settings.rate_hz
    spoken = decoded(recording, rate_hz)
    origin = _origin(recording, spoken)
    snr_db: float | None = None
    if cell in ("noisy", *SCENES):
        low, high = NOISY_SNR_DB if cell == "noisy" else TRANSFER_SNR_DB
        snr_db = round(float(rng.uniform(low, high)), 1)
        noises = _noises(cell, sources)
        noise = noises[rng.integers(len(noises))]
        heard = decoded(noise, rate_hz)
        origin |= {"noise": noise.name, "noise_sha256": heard.sha256, "snr_db": snr_db}
        change = partial(_with_noise, spoken, heard, snr_db)
    else:
        cells = [cell] if kind == "reverb" else list(_LIVELY)
        rooms = [room for name in cells for room in sources.rooms[name]]
        if not rooms:
            raise UserError(
                f"{cell}: no impulse response has the reverberation time of a "
                f"{' or '.join(cells)}; without a folder of them, rooms are made"
            )
        room = rooms[rng.integers(len(rooms))]
        origin |= {"room": dict(room.origin), "rt60": seconds_of(room, rate_hz)}
        change = partial(degrading.reverberant, spoken.samples, room.response)
    paths = [
        f"data/acoustic_editing/audio/{place}/{id}.wav" for place in ("source", "target_reference")
    ]
    anchor: dict[str, Any] = {"type": "acoustic"}
    if kind == "enhancement":
        anchor |= {"subtask": "enhancement", "degradation_type": cell, "source_condition": cell}
        anchor |= {"target_condition": "clean", "target_reference_path": paths[1]}
    else:
        anchor |= {"subtask": "env_transfer", "env_type": kind, "env_subtype": cell}
        anchor |= {"source_condition": "clean", "target_condition": cell, "snr_db": snr_db}
        anchor |= {"target_reference_path": paths[1]}
    if kind == "reverb":
        anchor |= {"rt60_target_range": list(RT60_RANGES[cell]), "rt60_reference": origin["rt60"]}
    row = _row(id, recording, cell, anchor, spoken, paths[0], rate_hz)
    row["reference_duration_sec"] = row["source_duration_sec"]
    clean_first = kind != "enhancement"
    return Item(
        row,
        origin,
        paths if clean_first else paths[::-1],
        lambda: [spoken.samples.astype(np.float64), change()],
    )


def speaker(recording: Recording, kind: str, cell: str, sources: Sources) -> Item:
    """Its reference is another speaker's, of the same language and 3 to 8 s long."""
    rate_hz = sources.settings.rate_hz
    spoken = decoded(recording, rate_hz)
    who, language = recording.labels["speaker"], recording.labels["language"]
    others = [
        r for r in sources.speech if r.labels["language"] == language and r.labels["speaker"] != who
    ]
    shortest, longest = _REFERENCE_SECONDS
    order = _rng(_id(recording, cell, cell, sources)).permutation(len(others)).tolist()
    candidates = ((others[i], decoded(others[i], rate_hz)) for i in order)
    found = next(
        (c for c in candidates if shortest <= len(c[1].samples) / rate_hz <= longest), None
    )
    if found is None:
        raise UserError(
            f"speaker: no recording of another speaker than {who} in {language} is "
            f"{shortest:g} to {longest:g} s long, which a reference has to be"
        )
    reference, heard = found
    source_name, target_name = (
        f"{_dataset(r)}_{r.labels['speaker']}" for r in (recording, reference)
    )
    whole = f"{source_name}__to_{target_name}"
    id = f"{_slug(whole)}__{_hash(recording, whole, sources)}"
    paths = [f"data/speaker_editing/audio/{place}/{id}.wav" for place in ("source", "reference")]
    anchor = {"type": "speaker", "source_wav": paths[0], "reference_wav": paths[1]}
    anchor |= {"source_speaker": source_name, "target_speaker": target_name}
    anchor |= {"reference_speaker_id": target_name}
    row = _row(id, recording, cell, anchor, spoken, paths[0], rate_hz)
    row["reference_audio_path"] = paths[1]
    row["reference_duration_sec"] = round(len(heard.samples) / rate_hz, 3)
    origin = _origin(recording, spoken) | {
        "reference": reference.name,
        "reference_sha256": heard.sha256,
    }
    return Item(row, origin, paths, lambda: [spoken.samples, heard.samples])


def stressable(recording: Recording) -> list[str]:
    """Words that it can be asked to stress: those of the column, or English content words."""
    if given := recording.labels.get("stress", "").split():
        absent = [word for word in given if word not in recording.labels["text"]]
        if absent:
            raise UserError(f"{recording.name}: stress names {absent[0]}, which its text lacks")
        return given
    english = recording.labels["language"] == "en"
    return content_words(recording.labels["text"]) if english else []


def seconds_of(room: Room, rate_hz: int) -> float | None:
    """Its reverberation time in the band of speech, None where it has none."""
    found = rt60(Waveform(speech_band(room.response, rate_hz), rate_hz))
    return None if isinstance(found, Undefined) else round(found, 3)


def _row(
    id: str,
    recording: Recording,
    cell: str,
    anchor: dict[str, Any],
    spoken: Decoded,
    path: str,
    rate_hz: int,
    word: str = "",
) -> dict[str, Any]:
    language, seconds = recording.labels["language"], len(spoken.samples) / rate_hz
    tag = "short" if seconds < _SHORT_SECONDS else "medium" if seconds < _MEDIUM_SECONDS else "long"
    return {
        "sample_id": id,
        "task": f"{anchor['type']}_editing",
        "audio_path": path,
        "instruction": INSTRUCTIONS[language][cell].format(word=word),
        "transcript": recording.labels["text"],
        "anchor": anchor,
        "duration_tag": tag,
        "source_duration_sec": round(seconds, 3),
        "language": language,
        "source_dataset": _dataset(recording),
        "benchmark_version": "v1.1",
        "derived_from_sample_id": id,
        "revision_reason": "made",
    }


def _origin(recording: Recording, spoken: Decoded) -> dict[str, Any]:
    return {"speech": recording.name, "speech_sha256": spoken.sha256}


def _with_noise(spoken: Decoded, noise: Decoded, snr_db: float) -> np.ndarray:
    clip = spoken.samples.astype(np.float64)
    return clip + degrading.noise_at(snr_db, clip, noise.samples, len(clip))


def _noises(cell: str, sources: Sources) -> list[Recording]:
    """Those of the scene; for noisy speech all that make no scene, if there are such."""
    if cell != "noisy":
        found = [noise for noise in sources.noise if noise.labels[CLASS] == cell]
        if not found:
            raise UserError(f"noise: no recording is of the class {cell}")
        return found
    plain = [noise for noise in sources.noise if noise.labels[CLASS] not in SCENES]
    return plain or sources.noise


def _id(recording: Recording, whole: str, cell: str, sources: Sources) -> str:
    """As in the release: corpus, subtype, and eight digits of a hash."""
    return f"{_slug(_dataset(recording))}__{whole}__{_hash(recording, f'{whole} {cell}', sources)}"


def _hash(recording: Recording, what: str, sources: Sources) -> str:
    text = f"{sources.settings.seed}\n{what}\n{recording.name}"
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _rng(id: str) -> np.random.Generator:
    """A generator of a sample's own: neither its place nor its neighbours matter."""
    return np.random.default_rng(list(hashlib.sha256(id.encode()).digest()))


def _dataset(recording: Recording) -> str:
    return recording.labels.get("dataset") or "own"


def _slug(words: str) -> str:
    return re.sub(r"[^\w.-]+", "-", words)
