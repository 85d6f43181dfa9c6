"""SALMon's six consistency tasks from a user's own recordings [arXiv:2409.07437, III-A].

Conventions are those of the authors' generator: 16 kHz, the second part from half-way on (by words
or by time), one of four SNR ranges and a value in it, a fifth of a room's response beside the dry
speech. In three things this one is stricter, so that nothing but the element under test gives a
negative away: what follows a splice is as loud as what it replaces, a splice fades over 10 ms, and
one gain keeps all clips of a sample from clipping.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from auditeval.atomic import claim, resumable, write_text
from auditeval.audio import files
from auditeval.audio.waveform import quantised
from auditeval.benchmarks.salmon.samples import CONSISTENCY, MADE, PARTS
from auditeval.data import degrading
from auditeval.data.recordings import CLASS, Recording, decoded, digest, read_recordings
from auditeval.data.rooms import Room, random_rooms, read_rooms
from auditeval.seed import SEED
from auditeval.types import UserError
from auditeval.version import __version__

VERSION = 1
"""Raise it when the same settings would make other clips."""

SNR_RANGES_DB = ((0.01, 0.02), (0.1, 0.2), (1.0, 2.0), (5.0, 10.0))
"""Table I: a range is drawn first, then a value in it."""

_SPOKEN = {
    "sentiment_consistency": ("text", "speaker", "emotion"),
    "speaker_consistency": ("text", "speaker"),
    "gender_consistency": ("text", "gender"),
}
"""The labels that a task needs of the speech."""

_NOISY = ("bg_domain_consistency", "bg_all_consistency")
_QUIET_REACH = 0.15  # of the clip, about the split ratio

Report = Callable[[str, int, int], None]
"""Called with a part, how many of its samples are done, and how many there are."""


@dataclass(frozen=True)
class Settings:
    """`samples` a part; `wet` is the share of a room's response, the rest is dry; `rooms` are made
    where no impulse responses are given."""

    samples: int = 200
    seed: int = SEED
    split_ratio: float = 0.5
    rate_hz: int = 16000
    wet: float = 0.2
    rooms: int = 5


class Sources(NamedTuple):
    """What clips are made from; empty where no task needs it."""

    speech: list[Recording]
    noise: list[Recording]
    rooms: list[Room]


class Made(NamedTuple):
    """The clips of a sample, the positive first, and how they came about, as plain JSON."""

    clips: list[np.ndarray]
    how: dict[str, Any]


def make(
    output: Path,
    speech: Path,
    noise: Path | None = None,
    rooms: Path | None = None,
    parts: Sequence[str] = tuple(CONSISTENCY),
    settings: Settings | None = None,
    report: Report = lambda part, done, total: None,
) -> Path:
    """Make samples of these parts below `output`, in SALMon's layout; returns `output`.

    `speech` is a CSV with path and, by part, text, speaker, gender, emotion (see `_SPOKEN`), and
    if known `words`, their times in seconds ("0.12-0.40 0.45-0.80"); for backgrounds and rooms
    alone a folder does. `noise` is a CSV with path and class, or a folder of a folder a class.
    `rooms` are impulse responses; without them random shoebox rooms are made. Beside each sample
    stands a JSON file with its sources, seed, SNR and gains. A run that was stopped goes on with
    what is missing, to the same bytes. Raises UserError.
    """
    settings = settings or Settings()
    unknown = [part for part in parts if part not in CONSISTENCY]
    if unknown:
        raise UserError(
            f"there is no part {unknown[0]!r} that can be made (known: {', '.join(CONSISTENCY)})"
        )
    needed = sorted({label for part in parts for label in _SPOKEN.get(part, ())})
    if noise is None and set(parts) & set(_NOISY):
        raise UserError("backgrounds need recordings of noise: a CSV with path and class, a folder")
    spoken = read_recordings(speech, needed)
    noises = read_recordings(noise, [CLASS]) if noise and set(parts) & set(_NOISY) else []
    noise_sha256 = digest(noises)
    asked = {
        "version": VERSION,
        "auditeval": __version__,
        **asdict(settings),
        "speech_sha256": digest(spoken),
    }
    with resumable(output):
        for part in parts:
            sources, inputs = Sources(spoken, [], []), dict[str, Any]()
            if part in _NOISY:
                sources, inputs = sources._replace(noise=noises), {"noise_sha256": noise_sha256}
            elif part == "rir_consistency":
                inputs = {"rooms_sha256": digest(read_recordings(rooms)) if rooms else None}
            # By part: the parts of one set may come from different speech.
            claim(output / part, MADE, asked | inputs)
            if part == "rir_consistency":
                sources = sources._replace(rooms=_rooms(rooms, settings))
            _make_part(output / part, part, sources, settings, report)
    return output


def _make_part(
    folder: Path,
    part: str,
    sources: Sources,
    settings: Settings,
    report: Report,
) -> None:
    planned = list(islice(_PLANS[part](sources, part, settings), settings.samples))
    if len(planned) < settings.samples:
        raise UserError(
            f"{part}: the speech gives {len(planned)} of {settings.samples} samples: a sample "
            f"takes two recordings of one text that differ in {part.split('_')[0]}"
            f"{_SAME.get(part, '')}; ask for fewer samples or give more speech"
        )
    for index, plan in enumerate(planned):
        path = folder / f"sample_{index}.json"
        if not path.exists():
            rng = np.random.default_rng([settings.seed, PARTS.index(part), index])
            made = plan(rng)
            clips, gain = degrading.below_ceiling(made.clips)
            for number, clip in enumerate(clips):
                samples = quantised(clip.astype(np.float32))
                files.write(folder / f"sample_{index}_{number}.wav", samples, settings.rate_hz)
            how = {
                "part": part,
                "index": index,
                "seed": settings.seed,
                "gain": round(gain, 6),
                **made.how,
            }
            # Last: where it stands the clips are whole.
            write_text(path, json.dumps(how, indent=2, ensure_ascii=False) + "\n")
        report(part, index + 1, settings.samples)


Plan = Callable[[np.random.Generator], Made]


def _spliced_recordings(sources: Sources, part: str, settings: Settings) -> Iterator[Plan]:
    """Every recording with a partner before any with a second one, both in a seeded order."""
    differs = part.split("_")[0].replace("sentiment", "emotion")
    groups: dict[tuple[str, ...], list[Recording]] = {}
    keys = []
    for recording in sources.speech:
        labels = recording.labels
        same = ["" if differs == "emotion" else labels.get("emotion", "")]
        same += [labels["speaker"]] if differs == "emotion" else []
        keys.append((" ".join(labels["text"].casefold().split()), *same))
        groups.setdefault(keys[-1], []).append(recording)

    seed = [settings.seed, PARTS.index(part)]
    order = np.random.default_rng(seed).permutation(len(keys))
    partners: list[tuple[Recording, list[Recording]]] = []
    for place in order.tolist():
        first = sources.speech[place]
        others = [r for r in groups[keys[place]] if r.labels[differs] != first.labels[differs]]
        mixed = np.random.default_rng([*seed, place]).permutation(len(others))
        partners.append((first, [others[i] for i in mixed]))
    for turn in count():
        found = [(first, others[turn]) for first, others in partners if turn < len(others)]
        if not found:
            return
        yield from (partial(_change_voice, *pair, differs, settings) for pair in found)


def _change_voice(
    first: Recording,
    second: Recording,
    differs: str,
    settings: Settings,
    rng: np.random.Generator,
) -> Made:
    heard = [decoded(recording, settings.rate_hz) for recording in (first, second)]
    clips = [found.samples.astype(np.float64) for found in heard]
    level = degrading.rms(clips[0]) / degrading.rms(clips[1])
    words = [
        _words(recording, len(clip), settings.rate_hz)
        for recording, clip in zip((first, second), clips, strict=True)
    ]
    if words[0] and len(words[0]) == len(words[1]) > 1:
        # Between the same two words, as the authors cut.
        last = int((len(words[0]) - 1) * settings.split_ratio)
        cuts = [
            round((spans[last][1] + spans[last + 1][0]) / 2 * settings.rate_hz) for spans in words
        ]
        cuts = [min(cut, len(clip) - 1) for cut, clip in zip(cuts, clips, strict=True)]
    else:
        ratio, cuts = settings.split_ratio, []
        for clip in clips:
            cuts.append(degrading.quietest_point(clip, ratio, _QUIET_REACH, settings.rate_hz))
            ratio = cuts[0] / len(clips[0])
    at, onward = cuts
    negative = degrading.spliced(clips[0], level * clips[1], at, onward, settings.rate_hz)
    how = {
        "differs": differs,
        "text": first.labels["text"],
        "splice": at,
        "second_from": onward,
        "second_gain": round(level, 6),
        "recordings": [
            {"path": recording.name, "sha256": found.sha256, differs: recording.labels[differs]}
            for recording, found in zip((first, second), heard, strict=True)
        ],
    }
    return Made([clips[0], negative], how)


def _noisy(sources: Sources, part: str, settings: Settings) -> Iterator[Plan]:
    classes: dict[str, list[Recording]] = {}
    for recording in sources.noise:
        classes.setdefault(recording.labels[CLASS], []).append(recording)
    if part == "bg_domain_consistency":
        classes = {name: found for name, found in classes.items() if len(found) > 1}
        if not classes:
            raise UserError(f"{part}: no class of the noise has two recordings")
    elif len(classes) < 2:
        raise UserError(f"{part}: the noise has one class, {next(iter(classes))}; two are needed")
    for speech in _cycled(sources.speech, part, settings):
        yield partial(
            _change_noise, speech, [classes[name] for name in sorted(classes)], part, settings
        )


def _change_noise(
    speech: Recording,
    classes: list[list[Recording]],
    part: str,
    settings: Settings,
    rng: np.random.Generator,
) -> Made:
    if part == "bg_domain_consistency":
        found = classes[rng.integers(len(classes))]
        noises = [found[i] for i in rng.choice(len(found), 2, replace=False)]
    else:
        chosen = [classes[i] for i in rng.choice(len(classes), 2, replace=False)]
        noises = [found[rng.integers(len(found))] for found in chosen]
    low, high = SNR_RANGES_DB[rng.integers(len(SNR_RANGES_DB))]
    snr_db = round(float(rng.uniform(low, high)), 6)
    spoken = decoded(speech, settings.rate_hz)
    heard = [decoded(recording, settings.rate_hz) for recording in noises]
    clip = spoken.samples.astype(np.float64)
    at = int(len(clip) * settings.split_ratio)
    positive = clip + degrading.noise_at(snr_db, clip, heard[0].samples, len(clip))
    # As loud over its part as the first noise is over the whole.
    other = clip.copy()
    other[at:] += degrading.noise_at(snr_db, clip, heard[1].samples, len(clip) - at)
    negative = degrading.spliced(positive, other, at, at, settings.rate_hz)
    how = {
        "splice": at,
        "snr_range_db": [low, high],
        "snr_db": snr_db,
        "speech": {"path": speech.name, "sha256": spoken.sha256},
        "noises": [
            {"path": recording.name, "sha256": found.sha256, "class": recording.labels[CLASS]}
            for recording, found in zip(noises, heard, strict=True)
        ],
    }
    return Made([positive, negative], how)


def _in_rooms(sources: Sources, part: str, settings: Settings) -> Iterator[Plan]:
    if len(sources.rooms) < 2:
        raise UserError(f"{part}: two rooms are needed, there is {len(sources.rooms)}")
    for speech in _cycled(sources.speech, part, settings):
        yield partial(_change_room, speech, sources.rooms, settings)


def _change_room(
    speech: Recording, rooms: list[Room], settings: Settings, rng: np.random.Generator
) -> Made:
    chosen = [rooms[i] for i in rng.choice(len(rooms), 2, replace=False)]
    spoken = decoded(speech, settings.rate_hz)
    positive, other = (
        degrading.reverberant(spoken.samples, room.response, settings.wet) for room in chosen
    )
    at = int(len(positive) * settings.split_ratio)
    how = {
        "splice": at,
        "wet": settings.wet,
        "speech": {"path": speech.name, "sha256": spoken.sha256},
        "rooms": [room.origin for room in chosen],
    }
    return Made([positive, degrading.spliced(positive, other, at, at, settings.rate_hz)], how)


_PLANS: dict[str, Callable[[Sources, str, Settings], Iterator[Plan]]] = {
    **dict.fromkeys(_SPOKEN, _spliced_recordings),
    **dict.fromkeys(_NOISY, _noisy),
    "rir_consistency": _in_rooms,
}
_SAME = {
    "sentiment_consistency": " and are by one speaker",
    "gender_consistency": " and not in emotion",
    "speaker_consistency": " and not in emotion",
}


def _cycled(speech: list[Recording], part: str, settings: Settings) -> Iterator[Recording]:
    """All recordings in a seeded order, over and over."""
    order = np.random.default_rng([settings.seed, PARTS.index(part)]).permutation(len(speech))
    for turn in count():
        yield speech[order[turn % len(order)]]


def _rooms(path: Path | None, settings: Settings) -> list[Room]:
    if path is not None:
        return read_rooms(path, settings.rate_hz)
    return random_rooms(settings.rooms, settings.seed, settings.rate_hz)


def _words(recording: Recording, length: int, rate_hz: int) -> list[tuple[float, float]]:
    """Start and end of each word in seconds; raises UserError for one beyond the `length`."""
    spans = []
    for word in recording.labels.get("words", "").split():
        try:
            start, end = map(float, word.split("-"))
            within = 0 <= start < end and round(end * rate_hz) <= length
        # OverflowError: the end is infinite.
        except (ValueError, OverflowError):
            within = False
        if not within:
            raise UserError(
                f"{recording.name}: words is {word!r}; expected the start and the end of a word in "
                f"seconds, like 0.12-0.40, within its {length / rate_hz:.2f} s"
            )
        spans.append((start, end))
    return spans
