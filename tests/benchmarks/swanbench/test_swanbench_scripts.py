"""Several files of scripts in one run: ids, outputs and tables that span them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from swan_files import RATE_HZ, ROWS, backends, row, speech, write

import auditeval
from auditeval.audio import files
from auditeval.audio.waveform import quantised
from auditeval.benchmarks.benchmark import Missing
from auditeval.benchmarks.swanbench.benchmark import SwanBench
from auditeval.benchmarks.swanbench.outputs import find
from auditeval.benchmarks.swanbench.samples import read_samples
from auditeval.types import UserError

MONO, TWO = "mono_speaker", "two_speaker"


def scripts(folder: Path) -> list[Path]:
    return [
        write(folder / f"{MONO}.jsonl", [ROWS[0], row([("S", "More.")], id="last")]),
        write(folder / f"{TWO}.jsonl", [ROWS[1]]),
    ]


def outputs(folder: Path, *names: str) -> Path:
    for name in names:
        file = folder / f"{name}.wav"
        file.parent.mkdir(parents=True, exist_ok=True)
        files.write(file, quantised(0.3 * speech(6).samples), RATE_HZ)
    return folder


def ids(paths: Sequence[Path]) -> list[str]:
    return [sample.id for sample in read_samples(paths)]


def test_line_numbers_of_several_files_do_not_collide(tmp_path: Path) -> None:
    mono, two = scripts(tmp_path)
    assert ids([mono]) == ["1", "last"]
    assert ids([mono, two]) == [f"{MONO}/1", f"{MONO}/last", f"{TWO}/1"]
    assert ids([two, mono]) == [f"{TWO}/1", f"{MONO}/1", f"{MONO}/last"]


def test_scripts_of_one_name_are_refused(tmp_path: Path) -> None:
    same = [write(tmp_path / folder / "set.jsonl") for folder in "ab"]
    with pytest.raises(UserError, match=r"b/set\.jsonl and .*a/set\.jsonl: two scripts have one"):
        read_samples(same)
    empty = tmp_path / "none.jsonl"
    empty.write_text("\n")
    with pytest.raises(UserError, match=r"none\.jsonl: holds no samples"):
        read_samples([same[0], empty])


@pytest.mark.parametrize(
    "names", [("mono_speaker/1", "two_speaker/1"), ("mono_speaker/audio/1", "two_speaker/1")]
)
def test_outputs_of_several_files_lie_in_their_folders(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    paths = scripts(tmp_path)
    folder = outputs(tmp_path / "mine", *names)
    mono, two = (folder / f"{name}.wav" for name in names)
    assert find(folder, ids(paths), paths) == {f"{MONO}/1": mono, f"{TWO}/1": two}
    # The first sample of each language may be of one script alone.
    assert find(folder, [f"{MONO}/1"], paths) == {f"{MONO}/1": mono}


def test_outputs_of_one_file_lie_in_its_folder_or_beneath(tmp_path: Path) -> None:
    _, two = scripts(tmp_path)
    flat = outputs(tmp_path / "flat", "1", f"{MONO}/1")
    assert find(flat, ["1"], [two]) == {"1": flat / "1.wav"}
    deep = outputs(tmp_path / "deep", "1", f"{TWO}/1")
    assert find(deep, ["1"], [two]) == {"1": deep / TWO / "1.wav"}


def test_outputs_that_are_not_there_are_a_sentence(tmp_path: Path) -> None:
    paths = scripts(tmp_path)
    flat = outputs(tmp_path / "flat", "1")
    with pytest.raises(UserError, match=r"names like mono_speaker/1\.wav, in a folder for each"):
        find(flat, ids(paths), paths)
    wrong = outputs(tmp_path / "wrong", f"{MONO}/1", f"{TWO}/one")
    with pytest.raises(UserError, match="two_speaker: holds no output of any of the 1 samples"):
        find(wrong, ids(paths), paths)
    outside = outputs(tmp_path / "outside", "1")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / MONO).symlink_to(outside)
    for chosen in (paths, paths[:1]):
        with pytest.raises(UserError, match=r"mono_speaker: is a link that leads out"):
            find(tmp_path / "linked", ids(chosen), chosen)


def test_one_radar_spans_all_files(tmp_path: Path) -> None:
    made = SwanBench(scripts(tmp_path), backends())
    clips = [speech(6), speech(6), Missing("gone")]
    records = [
        {"id": sample.id, "system": "a", **made.evaluate(sample, clip)}
        for sample, clip in zip(made.samples, clips, strict=True)
    ]
    names = [table.name for table in made.tables({"a": records})]
    assert names[:2] == ["swanbench", "swanbench_dialogue"]
    scenes = made.tables({"a": records})[-1].data["scenarios"]
    # The worst error is the missing dialogue's, whichever file it is of: 1 to 5 spans both.
    assert scenes["chat"]["a"]["Content"] == 1
    assert scenes["audiobook"]["a"]["Content"] > 1


def test_the_command_in_python_takes_several_files_of_scripts_alone(tmp_path: Path) -> None:
    config = tmp_path / "none.yaml"
    config.write_text("speaker: null\n")
    mine = outputs(tmp_path / "mine", f"{MONO}/1", f"{TWO}/1")
    timings = [{"id": f"{MONO}/1", "inference_seconds": 3}]
    (mine / "timings.jsonl").write_text("".join(json.dumps(one) + "\n" for one in timings))
    paths = scripts(tmp_path / "set")
    report = auditeval.bench(
        "swanbench", paths, {"mine": mine}, tmp_path / "report", backends=config
    )
    statuses = {record["id"]: record["status"] for record in report.records["mine"]}
    assert statuses == {f"{MONO}/1": "unscored", f"{MONO}/last": "failed", f"{TWO}/1": "unscored"}
    assert report.tables[0].row("mine")["RTF"] == 3 / 6
    with pytest.raises(UserError, match=re.escape("expected one folder or file of samples, found")):
        auditeval.bench("salmon", paths, {}, tmp_path / "other")
