"""Constructed cases of SpeechEditBench, with what its released code says of each.

references/speecheditbench_official.json holds for each case the row of samples.jsonl, how source,
output and reference are made (`clip`), what every model says of them, the verdicts of the released
code (daxintan-cuhk/SpeechEditBench at commit 1ac1ab89, its models replaced by what is written
there) with the RT60 or the gains that it measured, and where the verdicts by our rules differ:
these, and why.

    python tests/speechedit_cases.py    # writes the table of the differences beside it
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from scipy import signal

from auditeval import audio
from auditeval.audio import AudioError, Waveform, content_hash, files
from auditeval.audio.waveform import quantised
from auditeval.backends.backend import PitchTrack, Ratings, SpeakerEmbedding, Tags, Transcript, Word
from auditeval.backends.load import Backends
from auditeval.benchmarks.benchmark import Missing, Output, Record
from auditeval.benchmarks.speecheditbench.benchmark import SpeechEditBench
from auditeval.judges.judge import Answer, Question
from auditeval.judges.replies import parsed

PATH = Path(__file__).parent / "references" / "speecheditbench_official.json"
TABLE = PATH.with_name("speecheditbench_protocols.md")
RATE_HZ, HOP = 16000, 256
VERDICTS = ("target_success", "preservation_success", "joint_success")


def read() -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads(PATH.read_text(encoding="utf-8"))["cases"]
    return cases


def clip(recipe: Mapping[str, Any]) -> np.ndarray:
    """16-bit samples at 16 kHz :: int16 (N,).

    `kind` of `seconds`: a tone of `hz`, white noise, or noise shaped like speech (syllables of 0.2
    s under 4 kHz, a pause each second). Then `gains` (from, to, factor), `delay` of the whole, a
    `room` (an exponential decay of noise behind the direct sound, `wet` of it) and `tail` of zeros.
    """
    seconds = recipe.get("seconds", 1.0)
    time = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    rng = np.random.default_rng(recipe.get("seed", 0))
    if recipe.get("kind", "tone") == "tone":
        made = 0.3 * np.sin(2 * np.pi * recipe.get("hz", 220) * time)
    else:
        made = 0.1 * rng.standard_normal(len(time))
    if recipe.get("kind") == "speech":
        low = signal.butter(2, [150, 4000], "bandpass", fs=RATE_HZ, output="sos")
        made = signal.sosfilt(low, made) * np.sin(np.pi * time / 0.2) ** 2 * (time % 1 < 0.8) * 3
    for start, end, factor in recipe.get("gains", ()):
        made[round(start * RATE_HZ) : round(end * RATE_HZ)] *= factor
    if room := recipe.get("room"):
        late = np.arange(round(1.5 * room * RATE_HZ)) / RATE_HZ
        noise = np.random.default_rng(7).standard_normal(len(late))
        response = recipe.get("wet", 0.1) * noise * 10 ** (-3 * late / room)
        response[0] = 1.0
        made = signal.fftconvolve(made, response)[: len(made)]
    made = np.pad(made, [round(recipe.get(at, 0) * RATE_HZ) for at in ("delay", "tail")])
    return quantised(np.clip(made, -1, 1).astype(np.float32))


def f0(segments: list[list[float]], samples: int) -> tuple[float | None, ...]:
    """A track of (from, to, Hz), unvoiced between them, with a frame each 16 ms."""
    times = [frame * HOP / RATE_HZ for frame in range(1 + samples // HOP)]
    return tuple(
        next((hz for start, end, hz in segments if start <= time < end), None) for time in times
    )


class Evaluated(NamedTuple):
    official: Record
    ours: Record


def evaluate(case: Mapping[str, Any], folder: Path) -> Evaluated:
    """The case by both protocols, its samples laid out in `folder`."""
    made = {name: clip(case[name]) for name in ("source", "output", "reference") if case.get(name)}
    for name, samples in made.items():
        files.write(folder / f"{name}.wav", samples, RATE_HZ)
    row = {**case["row"], "sample_id": "case", "audio_path": "source.wav"}
    home = folder / "data" / row["task"]
    home.mkdir(parents=True)
    (home / "samples.jsonl").write_text(json.dumps(row))
    clips = {name: audio.decode(folder / f"{name}.wav") for name in made}
    bench = SpeechEditBench(folder, Backends(_nodes(case["said"], clips)), protocol="both")
    output: Output = clips.get("output", Missing("there is no output"))
    if case.get("output") == {}:
        output = Missing("is no audio file", unreadable=True)
    official = bench.evaluate(bench.samples[0], output)
    return Evaluated(official, official["ours"])


def verdicts(record: Mapping[str, Any]) -> dict[str, Any]:
    """What a case compares of a record."""
    return {
        **{name: record[name] for name in VERDICTS},
        "edits": [edit["success"] for edit in record["edits"]],
    }


def table() -> str:
    """Of every rule on which verdicts of the cases differ, in Markdown."""
    cases = read()
    rules = dict.fromkeys((case["rule"], case["why"]) for case in cases if "why" in case)
    lines = [
        "# SpeechEditBench: where our rules and the released code's differ",
        "",
        "| rule | cases | differ | the released code, and ours |",
        "|---|---:|---:|---|",
    ]
    for rule, why in sorted(rules):
        of_rule = sum(case["rule"] == rule for case in cases)
        differ = sum((case["rule"], case.get("why")) == (rule, why) for case in cases)
        lines.append(f"| {rule} | {of_rule} | {differ} | {why} |")
    differ = sum("why" in case for case in cases)
    lines.append(f"| all | {len(cases)} | {differ} | |")
    return "\n".join(lines) + "\n"


class _Says:
    """A model that says of each clip what is written; nothing, where that is null."""

    same_speaker_cosine = 0.5
    name, revision = "says", "1"

    def __init__(self, said: Mapping[str, Any]) -> None:
        self._said = said

    def __call__(self, heard: Waveform) -> Any:
        found = self._said[content_hash(heard)]
        if found is None:
            raise AudioError("cannot be heard")
        return found


class _Writes:
    """A judge that writes this to every question."""

    name, revision = "writes", "1"

    def __init__(self, text: str | None) -> None:
        self._text = text

    def ask(self, question: Question[Any]) -> Answer[Any]:
        found = parsed(self._text, question.reply)
        return Answer(None, found) if isinstance(found, str) else Answer(found)


def _nodes(said: Mapping[str, Any], clips: Mapping[str, Waveform]) -> dict[str, Any]:
    made: dict[str, dict[str, Any]] = {}
    for name, heard in clips.items():
        for kind, value in said.get(name, {}).items():
            role, result = _result(kind, value, heard)
            made.setdefault(role, {})[content_hash(heard)] = result
    nodes: dict[str, Any] = {role: _Says(results) for role, results in made.items()}
    if "transcriber" in nodes:
        both = nodes.pop("transcriber")
        nodes |= {"transcriber_en": both, "transcriber_zh": both}
    return nodes | {"judge": _Writes(said.get("judge"))}


def _result(kind: str, value: Any, heard: Waveform) -> tuple[str, Any]:
    if kind == "text":
        return "transcriber", Transcript(value, ())
    if kind == "words":
        text = " ".join(word for word, _, _ in value)
        return "transcriber", Transcript(text, tuple(Word(*word) for word in value))
    if kind == "f0":
        return "pitch", PitchTrack(HOP / RATE_HZ, f0(value, len(heard.samples)))
    roles: dict[str, Any] = {
        "speaker": lambda value: SpeakerEmbedding(tuple(value)),
        "speech_quality": Ratings,
        "tagger": Tags,
    }
    return kind, None if value is None else roles[kind](value)


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        for number, case in enumerate(read()):
            found = evaluate(case, Path(folder) / str(number))
            assert verdicts(found.official) == case["official"], case["name"]
            assert verdicts(found.ours) == case.get("ours", case["official"]), case["name"]
    TABLE.write_text(table(), encoding="utf-8")
