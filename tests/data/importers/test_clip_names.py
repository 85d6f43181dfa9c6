"""The authors' file names: what they tell arrives in the pairs of both layouts, and no more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from auditeval.data.importers import clip_names, import_auditscore, import_ms_swift
from auditeval.data.splits import holdout

CLIP = "--8puiAGLhs_30000_40000"  # of the examples that the authors publish
PROMPT = "Original Caption:\nRain.\n\nTarget Caption:\nRain, with a bell.\n"

NAMES: dict[str, tuple[str, str, dict[str, str]]] = {
    "AuditScore": (
        f"ori_wavs/sys1_add_ori_{CLIP}.wav",
        f"tar_wavs/sys3_add_tar_{CLIP}.wav",
        {"system": "sys3", "operation": "add", "source": CLIP},
    ),
    "its short words": (
        "sys23_rep_ori_x_1.flac",
        "/somewhere/sys23_rep_tar_x_1.flac",
        {"system": "sys23", "operation": "replace", "source": "x_1"},
    ),
    "a tuple's addition": (
        "original_wavs/1_add_a_2_ab_ori.wav",
        "target_wavs/1_add_a_2_ab_tar.wav",
        {"operation": "add", "source": "1"},
    ),
    "a tuple's deletion": (
        "12_del_ac_2_a_ori.wav",
        "12_del_ac_2_a_tar.wav",
        {"operation": "delete", "source": "12"},
    ),
    "a tuple's replacement": (
        "1_replace_ab_2_ac_ori.wav",
        "1_replace_ab_2_ac_tar.wav",
        {"operation": "replace", "source": "1"},
    ),
    "an output of one's own": ("1_add_a_2_ab_ori.wav", "outputs/1.wav", {"source": "1"}),
    "other names": ("original_wavs/1.wav", "target_wavs/1.wav", {}),
    "nearly": ("1_add_a_2_b_ori.wav.bak.x/1_add_tar.wav", "xsys1_add_tar_1.wav", {}),
}


@pytest.mark.parametrize(("original", "edited", "told"), NAMES.values(), ids=list(NAMES))
def test_names_tell_what_they_say(original: str, edited: str, told: dict[str, str]) -> None:
    assert clip_names.told(original, edited) == told


@pytest.mark.parametrize(("original", "edited", "told"), NAMES.values(), ids=list(NAMES))
def test_both_layouts_say_the_same(
    tmp_path: Path, original: str, edited: str, told: dict[str, str]
) -> None:
    record = {"ori_wav": original, "tar_wav": edited, "ori_prompt": "Rain.", "tar_prompt": "Bell."}
    (tmp_path / "train_meta.json").write_text(json.dumps([record]))
    line: dict[str, Any] = {"messages": [{"role": "user", "content": PROMPT}]}
    (tmp_path / "train.jsonl").write_text(json.dumps(line | {"audios": [original, edited]}))
    for (pair,) in (import_auditscore(tmp_path), import_ms_swift(tmp_path)):
        row = pair.model_dump(include={"system", "operation", "source"}, exclude_none=True)
        assert row == told


def test_no_split_tears_what_one_tuple_or_one_clip_is_in(tmp_path: Path) -> None:
    """The originals of a tuple hold one background, those of a clip's systems are copies of it."""
    edits = ("add_a_2_ab", "add_a_2_ac", "delete_ab_2_a", "delete_ac_2_a", "replace_ab_2_ac")
    names = [f"{number}_{edit}" for number in range(1, 9) for edit in edits]
    audios = [[f"original_wavs/{n}_ori.wav", f"target_wavs/{n}_tar.wav"] for n in names]
    for system in range(1, 6):
        for clip in "pqrstuvw":
            audios.append([f"sys{system}_add_{side}_{clip}.wav" for side in ("ori", "tar")])
    path = tmp_path / "all.jsonl"
    with path.open("w") as file:
        for two in audios:
            line = {"messages": [{"role": "user", "content": PROMPT}], "audios": two}
            print(json.dumps(line), file=file)
    pairs = import_ms_swift(path)
    assert len({pair.source for pair in pairs}) == 16
    (fold,) = holdout(pairs, test_share=0.25, validation_share=0.25)
    parts = [{pairs[row].source for row in part} for part in fold[1:]]
    assert [len(part) for part in parts] == [8, 4, 4]
    assert len(set().union(*parts)) == 16
