"""samples.jsonl of the public layout: what is read, and the sentence for what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from speechedit_rows import ANCHORS, lay_out, row, write_tone

from auditeval.audio import files
from auditeval.benchmarks.speecheditbench.samples import TASKS, digest, read
from auditeval.types import UserError


def test_every_task_is_read_in_the_papers_order(tmp_path: Path) -> None:
    lay_out(tmp_path, *(row(task) for task in reversed(TASKS)))
    samples = read(tmp_path)
    assert [sample.row.task for sample in samples] == list(TASKS)
    some = read(tmp_path, ["style", "content"])
    assert [sample.row.task for sample in some] == ["content", "style"]
    both = samples[-1]
    assert [edit.anchor.type for edit in both.edits] == ["content", "speaker"]
    assert both.edits[1].reference == "data/ref.wav"
    assert both.expected_transcript == "the red lamps"
    assert samples[1].expected_transcript == "the yellow lamps"


def test_a_reference_of_the_sample_goes_before_the_anchors(tmp_path: Path) -> None:
    made = row("speaker", reference_audio_path="data/speaker_editing/audio/s.wav")
    (sample,) = read(lay_out(tmp_path, made))
    assert sample.files[1] == tmp_path / "data/speaker_editing/audio/s.wav"


def test_the_digest_sees_rows_and_audio(tmp_path: Path) -> None:
    def now() -> str:
        return digest(read(tmp_path))

    lay_out(tmp_path, row("style"))
    before = now()
    assert now() == before
    files.write(tmp_path / "data/style_editing/audio/s.wav", np.full(1600, 9, np.int16), 16000)
    after = now()
    assert after != before
    lay_out(tmp_path, row("style", {**ANCHORS["style"], "target_style": "dramatic"}))
    assert now() not in (before, after)


def test_the_digest_does_not_see_what_is_only_told(tmp_path: Path) -> None:
    """Who speaks, say, which result files repeat, of whatever type it is."""
    told = row("speaker", {**ANCHORS["speaker"], "target_speaker": 318, "source_speaker": None})
    (sample,) = read(lay_out(tmp_path, told))
    assert sample.row.anchor.target_speaker == 318
    before = digest([sample])
    assert digest(read(lay_out(tmp_path, row("speaker")))) == before


def changed(task: str, **changes: Any) -> tuple[str, dict[str, Any]]:
    """An anchor with other values; None takes a key away."""
    anchor = {**ANCHORS[task], **changes}
    return task, {name: value for name, value in anchor.items() if value is not None}


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (changed("content", edit_target=None), "edit_target is needed to replace"),
        (changed("content", edit_type="delete", edit_original=None), "is needed to delete"),
        (changed("content", edit_type="swap"), "edit_type"),
        (changed("content", transcript_target=None), "transcript_target: is missing"),
        (changed("speaker", reference_wav=None), "reference_audio_path: is missing"),
        (changed("emotion", target_emotion="playful"), "playful is none of"),
        (changed("emotion", emotion_taxonomy="ravdess"), "emotion_taxonomy"),
        (changed("style", target_style="angry"), "target_style"),
        (changed("prosody", direction="higher"), "speed has no direction higher"),
        (changed("prosody", prosody_type="stress", direction=None), "stress_words are needed"),
        (changed("paralinguistic", event="yawn"), "event"),
        (changed("acoustic", env_type="reverb", rt60_target_range=None), "rt60_target_range"),
        (changed("acoustic", env_type="reverb", rt60_target_range=[1.0, 0.3]), "rt60_target_range"),
        (changed("acoustic", env_type="noise", env_subtype="sea"), "env_subtype sea"),
        (changed("acoustic", env_type=None), "env_type is needed"),
        (("style", ANCHORS["prosody"]), "anchor: is one of prosody, the task is style"),
    ],
)
def test_a_wrong_anchor_is_a_sentence_with_file_and_line(
    wrong: tuple[str, dict[str, Any]], sentence: str, tmp_path: Path
) -> None:
    task, anchor = wrong
    lay_out(tmp_path, row(task), row(task, anchor, sample_id="second"))
    with pytest.raises(UserError) as caught:
        read(tmp_path)
    assert f"{task}_editing/samples.jsonl:2: " in str(caught.value)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"language": "de"}, "language"),
        ({"sample_id": "../s"}, "name a file"),
        ({"transcript": 3}, "transcript"),
        ({"anchor": None}, "anchor: is missing"),
        ({"task": "prosody_editing"}, "prosody"),
        ({"components": [{"component_type": "style", "anchor": ANCHORS["prosody"]}]}, "of type"),
    ],
)
def test_a_wrong_row_is_a_sentence(changes: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    lay_out(tmp_path, {**row("style"), **changes}, folder="style_editing")
    with pytest.raises(UserError, match=r"style_editing/samples\.jsonl:1: ") as caught:
        read(tmp_path)
    assert sentence in str(caught.value)


OUTSIDE = "../../outside.wav"


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize(
    ("key", "changes"),
    [
        ("audio_path", {"audio_path": OUTSIDE}),
        ("reference_audio_path", {"reference_audio_path": OUTSIDE}),
        ("reference_wav", {"anchor": {**ANCHORS["speaker"], "reference_wav": OUTSIDE}}),
        (
            "target_reference_path",
            {
                "task": "acoustic",
                "anchor": {**ANCHORS["acoustic"], "target_reference_path": OUTSIDE},
            },
        ),
        (
            "reference_audio_path",
            {
                "task": "compositional",
                "components": [
                    {"component_type": "style", "anchor": ANCHORS["style"]},
                    {
                        "component_type": "speaker",
                        "anchor": ANCHORS["speaker"],
                        "reference_audio_path": OUTSIDE,
                    },
                ],
            },
        ),
    ],
)
def test_no_path_of_a_row_leads_out_of_the_benchmark(
    key: str, changes: dict[str, Any], absolute: bool, tmp_path: Path
) -> None:
    root = tmp_path / "a" / "b" / "set"
    made = {**row("speaker"), **changes}
    lay_out(root, row("style"))
    # There to be read, from the folder of the samples and from the root.
    for place in (root.parent / "outside.wav", root.parents[2] / "outside.wav"):
        write_tone(place, 220)
    written = str(root / "data/ref.wav") if absolute else "../../../outside.wav"
    line = json.dumps(made).replace(OUTSIDE, written)
    home = f"{made['task'].removesuffix('_editing')}_editing"
    lay_out(root, json.loads(line), folder=home)
    with pytest.raises(UserError) as caught:
        read(root)
    assert str(caught.value).endswith(
        f"{home}/samples.jsonl:1: {key}: {written} leads out of {root}"
    )


def test_a_path_may_go_up_within_the_benchmark_and_a_file_be_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the model hub's client lays it out: links into the blobs beside the snapshots."""
    made = tmp_path / "snapshots/set"
    lay_out(made, row("style", audio_path="../ref.wav"))
    clip, blob = made / "data/ref.wav", tmp_path / "blobs/1f"
    blob.parent.mkdir()
    clip.rename(blob)
    clip.symlink_to(blob)
    monkeypatch.chdir(made)
    for root in (made, Path(), Path("../set")):
        (sample,) = read(root)
        assert sample.files[0].samefile(blob)
    clip.unlink()
    clip.symlink_to(blob.rename(tmp_path / "ref.wav"))
    with pytest.raises(UserError, match=r"audio_path: \.\./ref\.wav leads out of "):
        read(made)


def test_other_wrongs_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"expected data/<task>/samples\.jsonl"):
        read(tmp_path)
    lay_out(tmp_path, row("style"), row("style"))
    with pytest.raises(UserError, match=r":2: sample_id: s__style is there twice"):
        read(tmp_path)
    path = tmp_path / "data" / "style_editing" / "samples.jsonl"
    path.write_text("{")
    with pytest.raises(UserError, match=r"samples\.jsonl:1: "):
        read(tmp_path)
    made = row("compositional")
    lay_out(tmp_path / "other", {**made, "components": made["components"][:1]})
    with pytest.raises(UserError, match="two or more"):
        read(tmp_path / "other")
    lay_out(tmp_path / "third", row("style"))
    (tmp_path / "third/data/style_editing/audio/s.wav").unlink()
    with pytest.raises(UserError, match=r"samples\.jsonl:1: .*s\.wav: no such audio file"):
        read(tmp_path / "third")


def test_labels_are_of_the_language_unless_a_taxonomy_is_named(tmp_path: Path) -> None:
    anchor = {**ANCHORS["emotion"], "target_emotion": "playful"}
    assert read(lay_out(tmp_path / "zh", row("emotion", anchor, language="zh")))
    named = {**anchor, "emotion_taxonomy": "csemotions_zh"}
    assert read(lay_out(tmp_path / "named", row("emotion", named)))


def test_null_is_as_good_as_absent(tmp_path: Path) -> None:
    made = row("emotion", {**ANCHORS["emotion"], "source_emotion": None, "note": [None, 1]})
    nulls = dict.fromkeys(("subset", "source_dataset", "instruction", "components", "revision"))
    (sample,) = read(lay_out(tmp_path, made | nulls))
    assert (sample.row.subset, sample.row.instruction) == ("", "")


def test_the_digest_sees_the_clean_reference(tmp_path: Path) -> None:
    anchor = {"type": "acoustic", "subtask": "enhancement", "target_reference_path": "clean.wav"}
    root = lay_out(tmp_path, row("acoustic", anchor))
    found = [digest(read(root))]
    for content in (b"one", b"two"):
        (root / "clean.wav").write_bytes(content)
        found.append(digest(read(root)))
    assert len(set(found)) == 3
