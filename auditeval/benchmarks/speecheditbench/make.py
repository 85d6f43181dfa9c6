"""Samples of SpeechEditBench's layout (v1.1) from a user's own speech [arXiv:2606.01804, A.2].

Prosody, acoustics and speaker: the edits whose targets need no annotator. Cells are balanced as
the paper's Table 7: each language and direction alike, stress as often as both directions of
speed, half as many of each environment.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np

from auditeval.atomic import claim, resumable, write_text
from auditeval.audio import files
from auditeval.audio.waveform import quantised
from auditeval.benchmarks.speecheditbench.make_items import (
    RT60_RANGES,
    SCENES,
    Item,
    Settings,
    Sources,
    acoustic,
    prosody,
    seconds_of,
    speaker,
    stressable,
)
from auditeval.benchmarks.speecheditbench.templates import INSTRUCTIONS
from auditeval.data import degrading
from auditeval.data.recordings import CLASS, Recording, digest, read_recordings
from auditeval.data.rooms import Room, read_rooms, shoebox
from auditeval.types import UserError
from auditeval.version import __version__

VERSION = 1
"""Raise it when the same settings would make other samples."""

_CELLS: dict[str, dict[str, float]] = {
    "speed": {"faster": 1, "slower": 1},
    "pitch": {"higher": 1, "lower": 1},
    "stress": {"stress": 2},
    "enhancement": {"noisy": 1, "reverberant": 1},
    "reverb": dict.fromkeys(RT60_RANGES, 0.5),
    "noise": dict.fromkeys(SCENES, 0.5),
    "speaker": {"speaker": 1},
}
KINDS = tuple(_CELLS)
_TASKS = {
    "prosody_editing": ("speed", "pitch", "stress"),
    "acoustic_editing": ("enhancement", "reverb", "noise"),
    "speaker_editing": ("speaker",),
}
_DRAWN_RT60 = {"bathroom": (0.1, 0.16), "small_room": (0.22, 0.38), "large_hall": (0.85, 1.4)}
"""Of made rooms, which keep to what is drawn within 5 %."""

Report = Callable[[str, int, int], None]
"""Called with a task, how many of its samples are done, and how many there are."""


def make(
    output: Path,
    speech: Path,
    noise: Path | None = None,
    rooms: Path | None = None,
    kinds: Sequence[str] = KINDS,
    settings: Settings | None = None,
    report: Report = lambda task, done, total: None,
) -> Path:
    """Make samples of these kinds below `output`/data, laid out as the release; returns `output`.

    `speech` is a CSV with path, text, language (en, zh) and, for speaker, speaker; `dataset` if
    known, and `stress` (words of the text, by spaces), without which English words are drawn.
    `noise` is a CSV with path and class (outdoor, crowd, music make scenes), or a folder of a
    folder a class; `rooms` are impulse responses, without which random shoebox rooms are made.
    Clips keep the length of the speech: of a recording under about 3 s, which the release has
    none of, a room's ringing is cut, and the target misses its own range.
    Beside samples.jsonl stand sources.jsonl, with what each sample was made of, and make.json. A
    run that was stopped goes on with what is missing, to the same bytes. Raises UserError.
    """
    settings = settings or Settings()
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise UserError(
            f"there is no kind {unknown[0]!r} that can be made (known: {', '.join(KINDS)})"
        )
    needed = ["text", "language", *(["speaker"] if "speaker" in kinds else [])]
    spoken = read_recordings(speech, needed)
    for recording in spoken:
        if recording.labels["language"] not in INSTRUCTIONS:
            raise UserError(
                f"{speech}: {recording.name}: language is {recording.labels['language']!r}; "
                "expected en or zh"
            )
    if noise is None and {"noise", "enhancement"} & set(kinds):
        raise UserError("noise and enhancement need recordings of noise: a CSV with path and class")
    noises = read_recordings(noise, [CLASS]) if noise else []
    asked = {
        "version": VERSION,
        "auditeval": __version__,
        "kinds": list(kinds),
        **asdict(settings),
        "speech_sha256": digest(spoken),
        "noise_sha256": digest(noises),
        "rooms_sha256": digest(read_recordings(rooms)) if rooms else None,
    }
    sources = Sources(spoken, noises, {}, settings)
    with resumable(output):
        for task, known in _TASKS.items():
            chosen = [kind for kind in known if kind in kinds]
            folder = output / "data" / task
            if not chosen:
                continue
            claim(folder, "make.json", asked)
            if (folder / "samples.jsonl").exists():
                continue
            if {"reverb", "enhancement"} & set(chosen):
                sources = sources._replace(rooms=_rooms(rooms, settings))
            _make_task(output, task, chosen, sources, report)
    return output


def _make_task(
    output: Path, task: str, kinds: Sequence[str], sources: Sources, report: Report
) -> None:
    items = []
    plans = [plan for kind in kinds for plan in _plans(kind, sources)]
    for done, plan in enumerate(plans, start=1):
        item = plan()
        if not all((output / path).exists() for path in item.paths):
            # One gain for all clips of a sample, so that none clips and their levels compare.
            clips, _ = degrading.below_ceiling(item.render())
            for path, clip in zip(item.paths, clips, strict=True):
                samples = quantised(clip.astype(np.float32))
                files.write(output / path, samples, sources.settings.rate_hz)
        items.append(item)
        report(task, done, len(plans))
    # The samples last: where they stand the clips are whole.
    for name, lines in (
        ("sources", [{"sample_id": i.row["sample_id"], **i.origin} for i in items]),
        ("samples", [i.row for i in items]),
    ):
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        write_text(output / "data" / task / f"{name}.jsonl", text)


def _plans(kind: str, sources: Sources) -> Iterator[Callable[[], Item]]:
    """Cells of a kind take turns at one seeded order, so that they share recordings last."""
    settings = sources.settings
    for language in sorted({recording.labels["language"] for recording in sources.speech}):
        speech = [r for r in sources.speech if r.labels["language"] == language]
        if kind == "stress":
            speech = [recording for recording in speech if stressable(recording)]
        rng = np.random.default_rng(
            [settings.seed, KINDS.index(kind), list(INSTRUCTIONS).index(language)]
        )
        order = rng.permutation(len(speech)).tolist()
        taken = 0
        for cell, share in _CELLS[kind].items():
            wanted = max(1, int(share * settings.samples))
            if wanted > len(speech):
                raise UserError(
                    f"{cell}: needs {wanted} recordings in {language} and has {len(speech)}"
                    + (_NO_WORDS if kind == "stress" else "")
                )
            for number in range(wanted):
                recording = speech[order[(taken + number) % len(speech)]]
                yield partial(_ITEMS[kind], recording, kind, cell, sources)
            taken += wanted


_NO_WORDS = " with a word to stress (the column stress; of English, content words are drawn)"


def _rooms(path: Path | None, settings: Settings) -> dict[str, list[Room]]:
    """By environment: made ones, or those of the folder with a reverberation time in its range."""
    if path is None:
        return {cell: _made_rooms(cell, settings) for cell in RT60_RANGES}
    found = [
        (room, seconds_of(room, settings.rate_hz)) for room in read_rooms(path, settings.rate_hz)
    ]
    return {
        cell: [room for room, seconds in found if seconds and low <= seconds <= high]
        for cell, (low, high) in RT60_RANGES.items()
    }


def _made_rooms(cell: str, settings: Settings) -> list[Room]:
    place, (low, high) = list(RT60_RANGES).index(cell), _DRAWN_RT60[cell]
    rooms = []
    for number in range(settings.rooms):
        rng = np.random.default_rng([settings.seed, place, number])
        rooms.append(shoebox(float(rng.uniform(low, high)), rng, settings.rate_hz))
    return rooms


_ITEMS: dict[str, Callable[[Recording, str, str, Sources], Item]] = {
    **dict.fromkeys(_TASKS["prosody_editing"], prosody),
    **dict.fromkeys(_TASKS["acoustic_editing"], acoustic),
    "speaker": speaker,
}
