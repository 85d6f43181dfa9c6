"""python miniatures.py MATERIAL WORK: MMAE and SwanBench-Speech in miniature, as released.

Of MMAE: WORK/mmae/MMAE-meta.json, outputs of two systems (`able` does what is asked, `deaf`
returns its input) as the challenge has them, and answers.jsonl, those of an ear that can tell
sound from silence and loud from soft, and nothing else. Of SwanBench-Speech: two files of scripts
and two systems, of which one reads dialogues in one voice. MATERIAL is that of
evaluation_callbacks/material.py.
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import librosa
import numpy as np
import typer

from auditeval import audio
from auditeval.audio import Waveform, files
from auditeval.audio.waveform import quantised
from auditeval.backends.load import Backends
from auditeval.benchmarks.mmae.benchmark import MMAE
from auditeval.benchmarks.mmae.verdicts import system
from auditeval.benchmarks.run import run
from auditeval.benchmarks.systems import BASELINES, System
from auditeval.judges.answers import AnswerLog
from auditeval.judges.cached import CachedJudge
from auditeval.judges.judge import Answer, Question

SECONDS = 4.0
YES, NO, UNKNOWN = "Yes", "No", "It cannot be told"
SOUND = "Is there any sound in <audio {}>?"
LOUDER = "Is <audio output> clearly louder than <audio input1>?"
# Id -> the instruction, and its rubrics: category, question, right answer.
EDITS: dict[str, tuple[str, list[tuple[str, str, str]]]] = {
    "trim": (
        "Keep the first two seconds only.",
        [
            ("Instruction Following", SOUND.format("output[2.0s:]"), NO),
            ("Consistency", SOUND.format("output[:2.0s]"), YES),
        ],
    ),
    "mute": (
        "Mute the second half.",
        [
            ("Instruction Following", SOUND.format("output[2.2s:]"), NO),
            ("Consistency", SOUND.format("output[:1.8s]"), YES),
        ],
    ),
    "louder": (
        "Make it three times as loud.",
        [
            ("Instruction Following", LOUDER, YES),
            ("Consistency", SOUND.format("output"), YES),
        ],
    ),
}
SCRIPTS = {"mono_speaker": (1, 2), "two_speaker": (2, 2)}
"""File -> speakers and scripts of it."""
TURNS = 4


class Ear:
    """Answers `SOUND` and `LOUDER` by level; a judge for this miniature, not for MMAE."""

    name, revision = "ear", "1"

    def ask(self, question: Question[Any]) -> Answer[Any]:
        asked, _, choices = question.prompt.partition("Question:\n")[2].partition("\n\nChoices:\n")
        levels = [float(np.sqrt(np.mean(clip.samples**2))) for _, clip in question.clips]
        if asked == LOUDER:
            heard = levels[0] > 2 * levels[1]
        else:
            heard = "holds no audio" not in question.prompt and levels[0] > 1e-3
        letters = {said: letter for letter, said in re.findall(r"^(\w)\. (.*)$", choices, re.M)}
        reply = {"reason": f"levels {levels}", "choice": letters[YES if heard else NO]}
        return Answer(question.reply.model_validate(reply))


def done(edit: str, clip: Waveform) -> np.ndarray:
    """What was asked for."""
    half = int(SECONDS / 2 * clip.rate_hz)
    if edit == "trim":
        return clip.samples[:half]
    if edit == "mute":
        return np.concatenate([clip.samples[:half], np.zeros(half, np.float32)])
    return 3 * clip.samples


def mmae(material: Path, folder: Path) -> None:
    entries = []
    for number, (edit, (instruction, rubrics)) in enumerate(EDITS.items()):
        noise = audio.decode(material / ("rain.wav", "stream.wav", "wind.wav")[number])
        clip = Waveform(noise.samples[: int(SECONDS * noise.rate_hz)] / 4, noise.rate_hz)
        url = f"wav/{edit}/audio1.wav"
        write(folder / url, clip.samples, clip.rate_hz)
        for name, made in (("able", done(edit, clip)), ("deaf", clip.samples)):
            write(folder / "outputs" / name / "audio" / f"{edit}.wav", made, clip.rate_hz)
        content = [{"type": "text", "text": instruction}, {"type": "audio", "audio_url": url}]
        entries.append(
            {
                "id": edit,
                "complexity": "single",
                "modality": "sound",
                "granularity": ["local" if edit != "louder" else "global"],
                "operations": [{"granularity": "local", "operation": edit}],
                "messages": [{"role": "user", "content": content}],
                "tags": [],
                "rubrics": [
                    {
                        "category": category,
                        "question": question,
                        "right_choice": right,
                        "wrong_choices": [c for c in (YES, NO, UNKNOWN) if c != right],
                    }
                    for category, question, right in rubrics
                ],
            }
        )
    (folder / "MMAE-meta.json").write_text(json.dumps(entries, indent=1))
    judge = CachedJudge(Ear(), None, AnswerLog(folder / "answers.jsonl"))
    benchmark = MMAE(folder / "MMAE-meta.json", Backends({"judge": judge}))
    systems: list[System] = [kind(benchmark) for kind in BASELINES.values()]
    for name in ("able", "deaf"):
        place = folder / "outputs" / name
        lines = [json.dumps({"id": edit, "audio_path": f"audio/{edit}.wav"}) for edit in EDITS]
        (place / "submission.jsonl").write_text("\n".join(lines) + "\n")
        systems.append(system(name, place, benchmark.samples))
    for one in systems:
        run(benchmark, one, folder / "heard" / one.name)


def swanbench(material: Path, folder: Path) -> None:
    with (material / "test.csv").open(newline="") as file:
        spoken = [
            (row["text"], audio.decode(material / row["path"])) for row in csv.DictReader(file)
        ]
    for file_name, (speakers, count) in SCRIPTS.items():
        rows = []
        for number in range(count):
            turns = [
                (turn % speakers, *spoken[(number * TURNS + turn) % len(spoken)])
                for turn in range(TURNS)
            ]
            content = [{"speaker": f"Speaker{who + 1}", "text": text} for who, text, _ in turns]
            about = {"theme": "home", "scene": "chat", "language": "english", "source": "recipe"}
            rows.append({"content": content, **about, "num_speakers": speakers})
            for name in ("voices", "one_voice"):
                parts = [
                    voiced(clip) if who and name == "voices" else clip.samples
                    for who, _, clip in turns
                ]
                path = folder / "outputs" / name / file_name / f"{number + 1}.wav"
                write(path, np.concatenate(parts), turns[0][2].rate_hz)
        lines = (json.dumps(row) for row in rows)
        (folder / f"{file_name}.jsonl").write_text("\n".join(lines) + "\n")


def voiced(clip: Waveform) -> np.ndarray:
    """The same words as fast in a voice that is higher, in pitch and in formants."""
    fast = librosa.resample(clip.samples, orig_sr=100, target_sr=82)
    return librosa.effects.time_stretch(fast, rate=0.82)


def write(path: Path, samples: np.ndarray, rate_hz: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write(path, quantised(np.clip(samples, -1, 1).astype(np.float32)), rate_hz)


def main(material: Path, work: Path) -> None:
    mmae(material, work / "mmae")
    swanbench(material, work / "swanbench")


if __name__ == "__main__":
    typer.run(main)
