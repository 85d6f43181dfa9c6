"""MMAE's files: what is read, and the one sentence that says what is wrong where."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mmae_files import ENTRIES, write

from auditeval.audio import Waveform
from auditeval.benchmarks.mmae.outputs import find, predicted
from auditeval.benchmarks.mmae.references import references
from auditeval.benchmarks.mmae.samples import read_samples
from auditeval.types import Undefined, UserError

RAMP = Waveform(np.arange(40, dtype=np.float32) / 40, 10)  # 4 s


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<audio output>", slice(None)),
        ("<audio output[0.0s:3s]>", slice(0, 30)),
        ("<audio output[:2.0s]>", slice(0, 20)),
        ("<audio output[1.5s:]>", slice(15, 40)),
        ("<audio output[-2.5s:]>", slice(15, 40)),
        ("<audio output[:-1s]>", slice(0, 30)),
        ("<audio output[-3s:-1s]>", slice(10, 30)),
        ("<Audio output [ 1 : 2 ]>", slice(10, 20)),
        ("<audio output[3s:99s]>", slice(30, 40)),
        ("<audio output[-99s:1s]>", slice(0, 10)),
        ("<audio output[:1.16s]>", slice(0, 12)),
        ("<audio output[1.16s:]>", slice(12, 40)),
        ("<audio output[-1.16s:]>", slice(28, 40)),
    ],
)
def test_slices_are_those_of_python(text: str, expected: slice) -> None:
    (reference,) = references(f"Is {text} louder?")
    part = reference.of(RAMP)
    assert isinstance(part, Waveform)
    assert part.rate_hz == 10
    assert (part.samples == RAMP.samples[expected]).all()


@pytest.mark.parametrize("bounds", ["4s:", "5s:9s", "3s:2s", "1s:1s", ":-4s"])
def test_an_empty_slice_is_undefined(bounds: str) -> None:
    (reference,) = references(f"<audio output[{bounds}]>")
    assert isinstance(reference.of(RAMP), Undefined)


def test_references_stand_in_their_order_once() -> None:
    found = references(
        "Is <audio input2> or <audio output[:1s]> like <audio input2>? <audio input>"
    )
    assert [(r.name, r.input_number) for r in found] == [
        ("input2", 2),
        ("output[:1s]", 0),
        ("input", 1),
    ]
    assert references("Is 3 < audio > 2?") == references("no <b>reference</b>") == []


@pytest.mark.parametrize("text", ["<audio>", "<audio 1>", "<audio output[1s]>", "<audio input0>"])
def test_a_reference_that_is_none_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="is no reference to audio"):
        references(text)


def test_labels_may_be_worded_as_in_the_paper(tmp_path: Path) -> None:
    samples = read_samples(write(tmp_path))
    assert [[r.category for r in s.rubrics] for s in samples] == [
        ["instruction_following", "instruction_following", "consistency"],
        ["instruction_following", "consistency", "consistency"],
        ["instruction_following", "instruction_following"],
    ]
    assert samples[1].groups == {
        "complexity": ["multi-hop"],
        "modality": ["sound-music"],
        "granularity": ["global", "local"],
        "operation": ["add", "remove"],
    }


def test_inputs_are_what_the_user_sent(tmp_path: Path) -> None:
    entries = copy.deepcopy(ENTRIES)
    heard = {"type": "audio", "audio_url": "wav/c/audio1.wav"}
    entries[0]["messages"] += [
        {"role": "assistant", "content": [{"type": "audio", "audio_url": "wav/b/audio1.wav"}]},
        {"role": "user", "content": [{"type": "text", "text": "Now this one."}, heard]},
        {"role": "user", "content": "Thanks."},
    ]
    meta = write(tmp_path)
    meta.write_text(json.dumps(entries))
    assert read_samples(meta)[0].inputs == [
        tmp_path / "wav/a/audio1.wav",
        tmp_path / "wav/c/audio1.wav",
    ]


def changed(path: str, value: Any) -> list[Any]:
    entries = copy.deepcopy(ENTRIES)
    *parents, last = path.split(".")
    place: Any = entries
    for key in parents:
        place = place[int(key) if isinstance(place, list) else key]
    if value is None:
        del place[last]
    else:
        place[int(last) if isinstance(place, list) else last] = value
    return entries


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("1.rubrics", [], r"entry 1 \(b\): rubrics: "),
        ("1.rubrics.0.category", "Quality", r"entry 1 \(b\): rubrics.0.category: .*'Quality'"),
        ("1.rubrics.0.right_choice", "no", r"entry 1 \(b\): rubrics.0: choices have to differ"),
        ("1.rubrics.0.wrong_choices", [], r"rubrics.0.wrong_choices: "),
        ("1.rubrics.0.question", "<audio input2>?", "speaks of input2, and the messages have 1"),
        ("1.rubrics.0.question", "<audio outptu>?", "is no reference to audio"),
        ("1.complexity", None, r"entry 1 \(b\): complexity: is missing"),
        ("1.messages", "Remove it.", r"entry 1 \(b\): messages: "),
        ("1.id", "a", r"entry 1 \(a\): this id stands twice"),
        ("1.id", 7, "entry 1: id: "),
        ("1.messages.0.content.1.audio_url", "wav/none.wav", r"entry 1 \(b\): .*no such file"),
        ("1.messages.0.content.1.audio_url", "x" * 999, r"entry 1 \(b\): .*no such file"),
        ("1.messages.0.content.1.audio_url", "a\0b", r"entry 1 \(b\): .*no such file"),
        ("1.messages.0.content.1.audio_url", "/wav/b.wav", r"entry 1 \(b\): /wav/b.wav: leads out"),
        ("1.messages.0.content.1.audio_url", "wav/../../b.wav", r"entry 1 \(b\): .*leads out"),
        ("1", [], "entry 1: "),
    ],
)
def test_a_bad_entry_is_named(tmp_path: Path, path: str, value: Any, says: str) -> None:
    meta = write(tmp_path)
    meta.write_text(json.dumps(changed(path, value)))
    with pytest.raises(UserError, match=says):
        read_samples(meta)


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", "\xff", 100_000 * "["])
def test_a_bad_file_is_named(tmp_path: Path, text: str) -> None:
    meta = tmp_path / "MMAE-meta.json"
    meta.write_text(text, encoding="latin-1")
    with pytest.raises(UserError, match=r"MMAE-meta\.json: "):
        read_samples(meta)
    with pytest.raises(UserError, match="cannot be read"):
        read_samples(tmp_path / "none.json")


def said(id: str, *urls: str) -> dict[str, Any]:
    audio = [{"type": "audio", "audio_url": url} for url in urls]
    user = {"role": "user", "content": [{"type": "audio", "audio_url": "in.wav"}]}
    return {"id": id, "messages": [user, {"role": "assistant", "content": audio}]}


def test_predictions(tmp_path: Path) -> None:
    two_rounds = said("c", "first.wav")
    two_rounds["messages"] += said("c", "last.wav")["messages"]
    refused = {"id": "d", "messages": [{"role": "assistant", "content": "I cannot."}]}
    whole = said("b", str(tmp_path / "b.wav"))
    entries = [said("a", "audio/a.wav"), whole, two_rounds, refused, said("e")]
    (tmp_path / "predictions.json").write_text(json.dumps(entries))
    assert predicted(tmp_path) == {
        "a": tmp_path / "audio/a.wav",
        "b": tmp_path / "b.wav",
        "c": tmp_path / "last.wav",
    }


def test_a_submission(tmp_path: Path) -> None:
    path = tmp_path / "submission.jsonl"
    path.write_text('{"id": "a", "audio_path": "audio/a.wav"}\n\n')
    assert predicted(tmp_path) == predicted(path) == {"a": tmp_path / "audio/a.wav"}


def test_a_folder_of_the_tools_may_be_moved(tmp_path: Path) -> None:
    """Its predictions.json has the paths of the machine that wrote it."""
    (tmp_path / "submission.jsonl").write_text('{"id": "a", "audio_path": "audio/a.wav"}\n')
    (tmp_path / "predictions.json").write_text(json.dumps([said("a", "/there/audio/a.wav")]))
    (tmp_path / "run_meta.json").write_text("{}")
    assert predicted(tmp_path) == {"a": tmp_path / "audio/a.wav"}


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("submission.jsonl", '{"id": "a"}\n', r"submission\.jsonl:1: expected"),
        ("submission.jsonl", '{"id": "a", "audio_path": "x"}\n{', r"submission\.jsonl:2: is not"),
        ("submission.jsonl", 2 * '{"id": "a", "audio_path": "x"}\n', ":2: id 'a' stands twice"),
        ("predictions.json", "{}", "expected a JSON list"),
        ("predictions.json", '[{"id": "a"}]', "entry 0: expected"),
        ("other.txt", "", r"holds no submission\.jsonl or predictions"),
    ],
)
def test_bad_predictions_are_named(tmp_path: Path, name: str, text: str, says: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UserError, match=says):
        predicted(tmp_path)


def test_what_is_named_and_not_there_is_no_output(tmp_path: Path) -> None:
    there, other = tmp_path / "a.wav", tmp_path / "other.wav"
    for file in (there, other):
        file.write_bytes(b"not audio")
    urls = {"a": "a.wav", "b": "none.wav", "c": "a\0.wav", "d": "x" * 999, "other": "other.wav"}
    path = tmp_path / "submission.jsonl"
    rows = (json.dumps({"id": id, "audio_path": url}) for id, url in urls.items())
    path.write_text("\n".join(rows))
    assert find(path, ["a", "b", "c", "d"]) == find(tmp_path, ["a", "b"]) == {"a": there}
    for ids in (["sample1", "sample2"], ["b", "c"]):
        with pytest.raises(UserError, match=rf"any of the 2 samples; expected ids like '{ids[0]}'"):
            find(path, ids)
