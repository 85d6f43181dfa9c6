"""SwanBench-Speech's parts: files, who speaks when, the radar's scale."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from swan_files import ROWS, A, B, row, words, write

from auditeval.audio import Waveform
from auditeval.backends.backend import Word
from auditeval.benchmarks.swanbench.alignment import speaker_streams, turn_spans
from auditeval.benchmarks.swanbench.radar import shifted_pesq, stretched
from auditeval.benchmarks.swanbench.samples import Turn, digest, read_samples, read_timings
from auditeval.types import Undefined, UserError


def test_samples(tmp_path: Path) -> None:
    chinese = row([("甲", "你好。")], language="chinese", id="z")
    first, second, third = read_samples([write(tmp_path / "set.jsonl", [*ROWS, chinese])])
    assert [first.id, second.id, third.id] == ["1", "2", "z"]
    assert [first.language, third.language] == ["en", "zh"]
    assert second.speakers == ["Speaker1", "Speaker2"]
    assert second.text == f"{A}! {B}?"
    assert first.script == first.text


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "is not JSON"),
        ("[]", "expected an object"),
        (json.dumps(row([])), "content: "),
        (json.dumps(row([("a", "")])), "content.0.text: "),
        (json.dumps(row([("a", "b")], language="french")), "language: .*'french'"),
        (json.dumps(row([("a", "b")], language=None)), "language: "),
        (json.dumps(row([("a", "b")], id="1")), "id '1' stands twice"),
        (json.dumps({"language": "english"}), "content: is missing"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, says: str) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(f"{json.dumps(ROWS[0])}\n{line}\n")
    with pytest.raises(UserError, match=rf"set\.jsonl:2: {says}"):
        read_samples([path])
    path.write_text("\n")
    with pytest.raises(UserError, match="holds no samples"):
        read_samples([path])
    with pytest.raises(UserError, match="cannot be read"):
        read_samples([tmp_path / "none.jsonl"])


def test_timings(tmp_path: Path) -> None:
    path = tmp_path / "timings.jsonl"
    path.write_text('{"id": "1", "inference_seconds": 2}\n\n{"id": "2", "inference_seconds": 0.5}')
    assert read_timings(path) == {"1": 2.0, "2": 0.5}
    path.write_text('\ufeff{"id": "1", "inference_seconds": 2}\r\n')  # as Windows writes it
    assert read_timings(path) == {"1": 2.0}
    twice = '{"id": "1", "inference_seconds": 1, "inference_seconds": 2}'
    for bad in ('{"id": "1"}', '{"id": "1", "inference_seconds": 0}', "{", '{"id":1}', twice):
        path.write_text(bad)
        with pytest.raises(UserError, match=r"timings\.jsonl:1: "):
            read_timings(path)


@pytest.mark.parametrize(
    "changes",
    [{"content": [{"speaker": "Speaker1", "text": "other"}]}, {"scene": "x"}, {"language": "zh"}],
)
def test_the_digest_is_of_all_that_a_record_rests_on(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    before = read_samples([write(tmp_path / "a.jsonl")])
    after = read_samples([write(tmp_path / "b.jsonl", [{**ROWS[0], **changes}, ROWS[1]])])
    assert [sample.id for sample in before] == [sample.id for sample in after]
    assert digest(before) != digest(after)
    assert digest(before) == digest(read_samples([tmp_path / "a.jsonl"]))


def turns(*said: tuple[str, str]) -> list[Turn]:
    return [Turn(speaker=speaker, text=text) for speaker, text in said]


SCRIPT = turns(("x", "One two, three."), ("y", "Four FIVE six?"), ("x", "Seven eight nine!"))


def test_turns_last_from_their_first_word_to_their_last() -> None:
    heard = words("one two three four five six seven eight nine", 9)
    assert turn_spans(SCRIPT, heard, "en") == [(0, 3), (3, 6), (6, 9)]
    wrong = words("um one two tree four five six seven eat nine", 10)
    assert turn_spans(SCRIPT, wrong, "en") == [(1, 3), (4, 7), (7, 10)]


def test_an_unheard_turn_has_no_time() -> None:
    heard = words("one two three seven eight nine", 6)
    assert turn_spans(SCRIPT, heard, "en") == [(0, 3), None, (3, 6)]


def test_a_word_of_the_recogniser_may_be_several_and_chinese_is_by_character() -> None:
    heard = (Word("One, two", 0, 2), Word(" Three, four", 2, 4), Word("five six.", 4, 6))
    assert turn_spans(SCRIPT[:2], heard, "en") == [(0, 4), (2, 6)]
    chinese = turns(("x", "今天天氣"), ("y", "很好嗎？"))
    said = tuple(Word(c, n, n + 1) for n, c in enumerate("今天天气很好吗"))
    assert turn_spans(chinese, said, "zh") == [(0, 4), (4, 7)]


@pytest.mark.parametrize("heard", ["", "something else entirely was said here", "one two three"])
def test_too_little_recognised_is_undefined(heard: str) -> None:
    said = words(heard, 9) if heard else ()
    assert isinstance(turn_spans(SCRIPT, said, "en"), Undefined)
    assert isinstance(turn_spans(turns(("x", "...")), words("one", 1), "en"), Undefined)


def test_streams_hold_the_samples_of_their_speakers() -> None:
    clip = Waveform(np.arange(90, dtype=np.float32), 10)
    heard = words("one two three four five six seven eight nine", 9)
    streams = speaker_streams(clip, SCRIPT, heard, "en")
    assert isinstance(streams, dict)
    assert streams["x"].samples.tolist() == [*range(30), *range(60, 90)]
    assert streams["y"].samples.tolist() == list(range(30, 60))


def test_the_radar_scale() -> None:
    values: list[Any] = [0.2, 0.4, 0.3, Undefined("none")]
    assert [stretched(v, values, False) for v in values[:3]] == pytest.approx([1, 5, 3])
    assert [stretched(v, values, True) for v in values[:3]] == pytest.approx([5, 1, 3])
    assert stretched(values[3], values, True) == values[3]
    assert stretched(0.7, [0.7, 0.7], True) == stretched(0.7, [0.7], False) == 3
    means: list[Any] = [sum([0.7] * count) / count for count in (1, 3, 7)]
    assert len(set(means)) > 1  # of one value, but for rounding
    assert [stretched(v, means, True) for v in means] == [3, 3, 3]
    assert [shifted_pesq(v) for v in (-0.5, 4.5)] == [0, 5]
    assert shifted_pesq(values[3]) == values[3]
