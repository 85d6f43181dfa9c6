"""SpeechEditBench in miniature: 64 samples of synthesised speech, the edits done as they should be.

`FEW` of them have an edit of each kind, each in the easier and the harder direction.

`write` makes a folder in the public layout (data/<task>_editing/samples.jsonl), outputs of a system
that does everything right (ideal/<sample_id>.wav), and the answers of a judge who hears that
(judge.jsonl, for `ReplayJudge`). English only: no recogniser of Chinese is carried by a package.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.signal import fftconvolve
from spoken import say

from auditeval import audio
from auditeval.audio import Waveform, files
from auditeval.audio.waveform import quantised
from auditeval.backends.load import Backends
from auditeval.benchmarks.speecheditbench import judging
from auditeval.benchmarks.speecheditbench.anchors import EmotionAnchor
from auditeval.benchmarks.speecheditbench.official import judging as released
from auditeval.benchmarks.speecheditbench.samples import Sample, read, taxonomy

# What the carried recogniser gets wholly right of this voice.
SENTENCES = (
    "My brother bought a small house near the river.",
    "She opened the window and looked at the garden.",
    "We finished the work before the sun went down.",
    "The museum is open every day except Monday.",
    "He drove the old car to the city this morning.",
    "I want to drink some water before we leave.",
    "It was a very very good day for everyone.",
    "The doctor said that he should sleep more every night.",
)
CONTENT: tuple[tuple[int, str, str | None, str | None, str | None, str], ...] = (
    (0, "replace", "small", "large", None, "My brother bought a large house near the river."),
    (1, "replace", "window", "door", None, "She opened the door and looked at the garden."),
    (2, "replace", "work", "game", None, "We finished the game before the sun went down."),
    (3, "insert", None, "and Tuesday", "Monday", SENTENCES[3][:-1] + " and Tuesday."),
    (4, "insert", None, "red", "old", "He drove the old red car to the city this morning."),
    (5, "insert", None, "cold", "some", "I want to drink some cold water before we leave."),
    (6, "delete", "very", None, None, "It was a very good day for everyone."),
    (7, "delete", "every night", None, None, "The doctor said that he should sleep more."),
)
EMOTIONS = ("angry", "happy", "fearful", "surprise", "angry", "happy", "fearful", "excited")
SOURCE_EMOTIONS = (*["neutral"] * 4, *["sad"] * 4)
STYLES = (
    *("public-broadcast", "intimate", "dramatic", "restrained-flat", "storytelling"),
    *("conversational", "dramatic", "intimate"),
)
EVENTS = ("breath", "laugh", "cough", "sigh")
REFERENCE = "People in the village were happy to see the rain."
HIGH, LOW = 1.3, 0.8
"""Factors of pitch and formants that make other voices of the one there is."""


@dataclass(frozen=True)
class Speech:
    """How a clip is made: the words, their voice and speed, the room, a background and its SNR."""

    text: str
    voice: float = 1.0
    length: float = 1.0
    rt60: float | None = None
    background: str | None = None
    stressed: str | None = None


def render(speech: Speech, recordings: Path, backends: Backends) -> Waveform:
    clip = say(speech.text, speech.length * speech.voice)
    rate = clip.rate_hz
    samples = audio.resample(Waveform(clip.samples, round(rate * speech.voice)), rate)
    if speech.stressed:
        samples = _stressed(Waveform(samples, rate), speech.stressed, backends)
    if speech.rt60:
        samples = fftconvolve(samples, _response(speech.rt60, rate))[: len(samples)]
    if speech.background:
        noise = _background(speech.background, len(samples), rate, recordings)
        loudness = np.sqrt(np.mean(samples**2) / np.mean(noise**2))
        samples = samples + 10 ** (-12 / 20) * loudness * noise
    return Waveform((0.5 * samples / np.abs(samples).max()).astype(np.float32), rate)


def _stressed(clip: Waveform, word: str, backends: Backends) -> np.ndarray:
    """The word 8 dB louder and longer by four tenths, the rest softer."""
    import librosa

    (there,) = [w for w in backends("transcriber_en", clip).words if w.text.strip(".") == word]
    start, end = (round(time * clip.rate_hz) for time in (there.start, there.end))
    longer = librosa.effects.time_stretch(clip.samples[start:end], rate=0.7)
    return np.concatenate([clip.samples[:start], 2.5 * longer, clip.samples[end:]])


def _response(rt60: float, rate: int) -> np.ndarray:
    """Direct sound and noise that decays by 60 dB in that time."""
    time = np.arange(round(1.5 * rt60 * rate)) / rate
    response = 0.05 * np.random.default_rng(0).standard_normal(len(time)) * 10 ** (-3 * time / rt60)
    response[0] = 1.0
    return response


def _background(kind: str, length: int, rate: int, recordings: Path) -> np.ndarray:
    if kind == "outdoor":
        path = sorted((recordings / "esc10" / "rain").iterdir())[4]
        return np.resize(audio.resample(audio.decode(path), rate), length)
    music = np.zeros(length)
    beat = rate // 2
    chords = ((262, 330, 392), (220, 262, 330), (175, 220, 262), (196, 247, 294))
    for number, start in enumerate(range(0, length, beat)):
        time = np.arange(min(beat, length - start)) / rate
        for tone in chords[number % 4]:
            for partial in range(1, 6):
                wave = np.sin(2 * np.pi * tone * partial * time) / partial**1.5
                music[start : start + beat] += np.exp(-3 * time) * wave
    return music


def _anchor_of_content(number: int) -> dict[str, Any]:
    sentence, edit_type, original, target, behind, text = CONTENT[number]
    return {
        "type": "content",
        "edit_type": edit_type,
        "transcript_original": SENTENCES[sentence],
        "transcript_target": text,
        "edit_original": original,
        "edit_target": target,
        "insert_after": behind,
    }


def _emotion(number: int) -> dict[str, Any]:
    return {
        "type": "emotion",
        "source_emotion": SOURCE_EMOTIONS[number],
        "target_emotion": EMOTIONS[number],
        "emotion_taxonomy": "iemocap_en",
    }


def _speaker(voice: float) -> dict[str, Any]:
    name = "high" if voice > 1 else "low"
    return {"type": "speaker", "reference_wav": f"data/reference_{name}.wav"}


def _prosody(kind: str, direction: str) -> dict[str, Any]:
    return {"type": "prosody", "prosody_type": kind, "direction": direction}


def _reverb(rt60: float) -> dict[str, Any]:
    limits = [round(0.9 * rt60, 3), round(1.1 * rt60, 3)]
    room = {"env_subtype": "small_room", "rt60_target_range": limits}
    return {"type": "acoustic", "subtask": "env_transfer", "env_type": "reverb", **room}


def _noise(scene: str) -> dict[str, Any]:
    kind = {"subtask": "env_transfer", "env_type": "noise", "env_subtype": scene, "snr_db": 12.0}
    return {"type": "acoustic", **kind}


_ENHANCEMENT = {"type": "acoustic", "subtask": "enhancement", "degradation_type": "noisy"}

Plan = tuple[str, int, list[dict[str, Any]], Speech, Speech]
"""Task, number of the sentence, anchors, and how source and ideal output are made."""


def plans() -> list[Plan]:
    made: list[Plan] = []

    def plan(task: str, number: int, anchors: Sequence[Any], ideal: Speech, **source: Any) -> None:
        made.append((task, number, list(anchors), Speech(SENTENCES[number], **source), ideal))

    for number, sentence in enumerate(SENTENCES):
        lively = Speech(sentence, voice=1.1)
        voice = HIGH if number % 2 else LOW
        event = {"operation": ("add", "remove")[number % 2], "event": EVENTS[number // 2]}
        style = {"source_style": "conversational", "target_style": STYLES[number]}
        if number == 5:
            style["source_style"] = "storytelling"
        plan("content", number, [_anchor_of_content(number)], Speech(CONTENT[number][-1]))
        plan("speaker", number, [_speaker(voice)], Speech(sentence, voice=voice))
        plan("emotion", number, [_emotion(number)], lively)
        plan("style", number, [{"type": "style", **style}], lively)
        plan("paralinguistic", number, [{"type": "paralinguistic", **event}], lively)

    for number in (0, 2):
        plan(
            "prosody", number, [_prosody("speed", "faster")], Speech(SENTENCES[number], length=0.8)
        )
    for number in (1, 3):
        plan("prosody", number, [_prosody("pitch", "higher")], Speech(SENTENCES[number], voice=1.1))
    plan("prosody", 4, [_prosody("pitch", "lower")], Speech(SENTENCES[4], voice=0.9))
    plan("prosody", 5, [_prosody("speed", "slower")], Speech(SENTENCES[5], length=1.3))
    for number, word in ((6, "good"), (7, "sleep")):
        anchor = {"type": "prosody", "prosody_type": "stress", "stress_words": [word]}
        plan("prosody", number, [anchor], Speech(SENTENCES[number], stressed=word))

    for number in (0, 4):
        clean = Speech(SENTENCES[number])
        plan("acoustic", number, [_ENHANCEMENT], clean, background="outdoor")
    for number, rt60 in ((1, 0.3), (2, 0.4), (3, 0.5)):
        plan("acoustic", number, [_reverb(rt60)], Speech(SENTENCES[number], rt60=rt60))
    for number, scene in ((5, "outdoor"), (6, "music"), (7, "music")):
        plan("acoustic", number, [_noise(scene)], Speech(SENTENCES[number], background=scene))

    words = [_anchor_of_content(number) for number in range(8)]
    texts = [edit[-1] for edit in CONTENT]
    both = "compositional"
    plan(both, 0, [words[0], _speaker(HIGH)], Speech(texts[0], voice=HIGH))
    plan(both, 1, [words[1], _noise("music")], Speech(texts[1], background="music"))
    plan(
        both,
        2,
        [_prosody("speed", "faster"), _noise("music")],
        Speech(SENTENCES[2], length=0.8, background="music"),
    )
    plan(
        both,
        3,
        [_speaker(HIGH), _noise("music")],
        Speech(SENTENCES[3], voice=HIGH, background="music"),
    )
    plan(
        both,
        4,
        [_emotion(4), _noise("music")],
        Speech(SENTENCES[4], voice=1.1, background="music"),
    )
    plan(both, 5, [words[5], _prosody("speed", "slower")], Speech(texts[5], length=1.3))
    plan(both, 6, [words[6], _speaker(HIGH), _emotion(6)], Speech(texts[6], voice=HIGH))
    plan(
        both,
        7,
        [words[7], _emotion(7), _noise("music")],
        Speech(texts[7], voice=1.1, background="music"),
    )
    return made


FEW: dict[str, tuple[int, ...]] = {
    "content": (0, 3, 5, 6),
    "speaker": (0, 1),
    "emotion": (0, 4),
    "style": (0, 5),
    "paralinguistic": (0, 1),
    "prosody": (0, 1, 4, 5, 6),
    "acoustic": (0, 1, 5, 6),
    "compositional": (0, 2, 5, 6),
}
"""Numbers by task."""


def write(
    folder: Path,
    recordings: Path,
    backends: Backends,
    chosen: Mapping[str, Sequence[int]] | None = None,
) -> Path:
    """The miniature in `folder`, which is returned; `recordings` holds esc10, `chosen` as `FEW`."""
    (folder / "ideal").mkdir(parents=True, exist_ok=True)
    for name, voice in (("high", HIGH), ("low", LOW)):
        clip = render(Speech(REFERENCE, voice=voice), recordings, backends)
        _write(folder / "data" / f"reference_{name}.wav", clip)
    rows: dict[str, list[str]] = {}
    for task, number, anchors, source, ideal in plans():
        if chosen is not None and number not in chosen[task]:
            continue
        id = f"mini__{task}__{number}"
        home = folder / "data" / f"{task}_editing"
        path = home / "audio" / f"{id}.wav"
        _write(path, render(source, recordings, backends))
        _write(folder / "ideal" / f"{id}.wav", render(ideal, recordings, backends))
        row: dict[str, Any] = {
            "sample_id": id,
            "task": f"{task}_editing",
            "audio_path": path.relative_to(folder).as_posix(),
            "instruction": "Edit the speech as the anchor says.",
            "transcript": SENTENCES[number],
            "duration_tag": "short",
            "language": "en",
            "source_dataset": "piper_joe",
            "benchmark_version": "v1.1",
        }
        if task == "compositional":
            row["components"] = [{"component_type": a["type"], "anchor": a} for a in anchors]
        else:
            row["anchor"] = anchors[0]
        if anchors[0] is _ENHANCEMENT:
            clean = f"data/{task}_editing/audio/{id}_clean.wav"
            _write(folder / clean, render(ideal, recordings, backends))
            row["anchor"] = {**_ENHANCEMENT, "target_reference_path": clean}
        if task == "emotion":
            row["subset"] = "standard" if number < 4 else "challenging"
        rows.setdefault(task, []).append(json.dumps(row))
    for task, lines in rows.items():
        home = folder / "data" / f"{task}_editing"
        (home / "samples.jsonl").write_text("\n".join(lines) + "\n")
    answers = _answers(folder, backends)
    (folder / "judge.jsonl").write_text("\n".join(map(json.dumps, answers)) + "\n")
    return folder


def _write(path: Path, clip: Waveform) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write(path, quantised(clip.samples), clip.rate_hz)


def _answers(folder: Path, backends: Backends) -> list[dict[str, Any]]:
    """The ideal has what was asked for, the source what it had; of anything else, no answer."""
    rows = []
    for sample in read(folder):
        for path, done in ((sample.files[0], False), (folder / f"ideal/{sample.id}.wav", True)):
            for question, value in _asked(sample, audio.decode(path), done, backends):
                row = {"key": question.key, "judge": "miniature", "value": value, "reason": ""}
                rows.append(row)
    return rows


def _asked(sample: Sample, clip: Waveform, done: bool, backends: Backends) -> list[Any]:
    asked: list[Any] = []
    for anchor in (edit.anchor for edit in sample.edits):
        if isinstance(anchor, EmotionAnchor):
            heard = backends("transcriber_en", clip).text
            question: Any = judging.emotion_question(clip, heard, taxonomy(sample.row, anchor))
            language, labels = sample.row.language, taxonomy(sample.row, anchor)
            expected = sample.expected_transcript
            official = released.emotion_question(clip, expected, labels, language)
            label = anchor.target_emotion if done else anchor.source_emotion
            spelt = {"fearful": "Fear", "surprise": "surprised"}.get(label, label)
            answer = {"predicted_emotion": spelt, "confidence": 0.9}
            asked += [(question, answer), (official, answer)]
        elif anchor.type == "style":
            style = anchor.target_style if done else anchor.source_style
            score = {"target_style_score": 4 if done else 0, "target_style_success": done}
            question = judging.style_question(clip, anchor.target_style)
            official = released.style_question(
                clip, sample.row.transcript, anchor.target_style, sample.row.language
            )
            asked += [(q, {**score, "dominant_style": style}) for q in (question, official)]
        elif anchor.type == "paralinguistic":
            there = (anchor.operation == "add") == done
            scores = {event: 3 if there and event == anchor.event else 0 for event in EVENTS}
            questions = (judging.event_question(clip), released.event_question(clip))
            asked += [(question, {"event_scores": scores}) for question in questions]
    return asked
