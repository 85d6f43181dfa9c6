"""SwanBench-Speech on synthesised speech, with the offline backends and judges that are told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from spoken import say
from swan_files import A, B, Judging, Told, backends, later, row, words, write

from auditeval import audio
from auditeval.audio import Waveform, resample
from auditeval.backends.backend import Transcript
from auditeval.backends.load import Backends, read
from auditeval.benchmarks.benchmark import Record
from auditeval.benchmarks.swanbench.alignment import turn_spans
from auditeval.benchmarks.swanbench.benchmark import SwanBench

FIRST = "The boat left the harbor early in the morning, and nobody on the shore saw it go."
SECOND = "By the time the sun was high, the fishermen had already filled all of their nets."


def other_voice(clip: Waveform) -> Waveform:
    """The same words from a shorter throat: all frequencies a third higher."""
    faster = resample(clip, round(clip.rate_hz * 3 / 4))
    return Waveform(faster, clip.rate_hz)


@pytest.fixture(scope="module")
def clips() -> tuple[Waveform, Waveform]:
    return say(FIRST, 1.6), other_voice(say(SECOND, 2.1))


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> SwanBench:
    pytest.importorskip("faster_whisper")
    pytest.importorskip("resemblyzer")
    folder = tmp_path_factory.mktemp("swan")
    rows = [
        row([("Speaker1", f"{FIRST} {SECOND}")]),
        row([("Speaker1", FIRST), ("Speaker2", SECOND)], scene="chat"),
    ]
    told = Judging("told", lambda _: 3.5)
    nodes = {**read("offline"), "prosody_judge": told, "expressiveness_judge": told}
    return SwanBench([write(folder / "set.jsonl", rows)], Backends(nodes, folder / "cache"))


def joined(*parts: Waveform) -> Waveform:
    return Waveform(np.concatenate([part.samples for part in parts]), parts[0].rate_hz)


def record_of(benchmark: SwanBench, number: int, clip: Waveform) -> Record:
    return benchmark.evaluate(benchmark.samples[number], clip)


def test_a_dialogue_is_parted_by_its_words(
    benchmark: SwanBench, clips: tuple[Waveform, Waveform]
) -> None:
    sample, clip = benchmark.samples[1], joined(*clips)
    words = benchmark._backends("transcriber_en", clip).words
    spans = turn_spans(sample.content, words, "en")
    assert isinstance(spans, list)
    (start, end), (begin, stop) = spans
    turn = clips[0].seconds
    assert start < 0.5
    assert end == pytest.approx(turn, abs=0.6)
    assert begin == pytest.approx(turn, abs=0.6)
    assert stop == pytest.approx(clip.seconds, abs=0.6)


def test_two_voices_unsettle_one_speaker_and_not_a_dialogue(
    benchmark: SwanBench, clips: tuple[Waveform, Waveform]
) -> None:
    changing = joined(*clips)
    steady = joined(clips[0], say(SECOND, 1.6))
    alone, changed = (record_of(benchmark, 0, clip) for clip in (steady, changing))
    dialogue = record_of(benchmark, 1, changing)
    assert alone["timbre"] > changed["timbre"] + 0.05
    assert dialogue["timbre"] > changed["timbre"] + 0.05
    assert dialogue["turns"] == 1
    assert set(dialogue["details"]["timbre"]["speakers"]) == {"Speaker1", "Speaker2"}
    assert alone["content"] < 0.15
    assert alone["undefined"] == {"fidelity": "no backend for fidelity"}
    assert alone["prosody"] == 3.5


def test_a_dialogue_read_by_one_voice_is_not_verified(
    benchmark: SwanBench, clips: tuple[Waveform, Waveform]
) -> None:
    record = record_of(benchmark, 1, joined(clips[0], say(SECOND, 1.6)))
    assert (record["turns"], record["timbre"]) == (0, None)
    (cosine,) = record["details"]["timbre"]["cosines"].values()
    assert cosine > 0.8


def test_two_actors_are_two_voices_and_one_is_one(shared_data: Path, tmp_path: Path) -> None:
    """Neutral speech of EMO-DB; who speaks when is told."""
    pytest.importorskip("resemblyzer")
    from auditeval.backends.speakers import Resemblyzer

    def neutral(actor: str, start: int) -> Waveform:
        paths = sorted((shared_data / "emodb_subset").glob(f"{actor}*N*.flac"))[start : start + 4]
        return joined(*map(audio.decode, paths))

    first, second = neutral("03", 0), neutral("03", 4)
    for other, turns in ((second, 0), (neutral("08", 0), 1)):
        said = (*words(A, first.seconds), *later(words(B, other.seconds), first.seconds))
        told = Told("told-words", Transcript(f"{A} {B}", said))
        made = SwanBench(
            [write(tmp_path / "set.jsonl")], backends(speaker=Resemblyzer(), transcriber_en=told)
        )
        record = made.evaluate(made.samples[1], joined(first, other))
        assert record["turns"] == turns, record["details"]["timbre"]
        assert (record["timbre"] is None) == (turns == 0)


def test_a_room_that_changes_is_heard(
    benchmark: SwanBench, clips: tuple[Waveform, Waveform]
) -> None:
    from scipy.signal import fftconvolve

    dry = joined(clips[0], say(SECOND, 1.6))
    time = np.arange(dry.rate_hz) / dry.rate_hz
    room = np.random.default_rng(1).normal(size=len(time)) * 10 ** (-3 * time / 0.9)
    wet = fftconvolve(dry.samples, room / np.sqrt(np.square(room).sum()))[: len(dry.samples)]
    half = len(dry.samples) // 2
    mixed = np.concatenate([dry.samples[:half], wet[half:].astype(np.float32)])
    steady = record_of(benchmark, 0, dry)["reverb"]
    changed = record_of(benchmark, 0, Waveform(mixed, dry.rate_hz))["reverb"]
    assert changed > 1.3 * steady
