"""A set as it lies on disk: the same bytes however it was built, virtual or written."""

from __future__ import annotations

import csv
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyloudnorm
import pytest
import soundfile
from commands import every_file

from auditeval import audio, manifest
from auditeval.audio import mixes
from auditeval.data.pseudo_parallel import table
from auditeval.data.pseudo_parallel.build import Built, build
from auditeval.data.pseudo_parallel.plan import Settings
from auditeval.scoring import Evaluator
from auditeval.types import UserError

SMALL: dict[str, Any] = {
    **{"backgrounds_per_pair": 3, "background_seconds": 2.0},
    **{"event_seconds": (0.5, 1.0), "rate_hz": 8000},
}


def made(
    clips: Path, folder: Path, audio_format: Any = "flac", workers: int = 2, **change: Any
) -> Built:
    return build(clips, folder, Settings(**SMALL | change), None, audio_format, workers=workers)


@pytest.fixture(scope="module")
def flac(clip_list: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(clip_list, tmp_path_factory.mktemp("flac") / "set").manifest


def test_each_tuple_gives_the_six_edits_of_the_paper(flac: Path) -> None:
    pairs = manifest.read(flac)
    rows = list(table.read(flac.parent / "mixes.parquet"))
    assert len(pairs) == 6 * len(rows) == 6 * 6 * 3
    assert Counter(pair.operation for pair in pairs) == {"add": 36, "delete": 36, "replace": 36}
    for number, row in enumerate(rows):
        name = {c: f"{number:08d}_{c}.flac" for c in ("a", "ab", "ac")}
        caption = {c: row[f"{c}_caption"] for c in name}
        expected = [
            (f"{number:08d}_{operation}", name[x], name[y], caption[x], caption[y])
            for operation, x, y in [
                ("add_ab", "a", "ab"), ("add_ac", "a", "ac"),
                ("delete_ab", "ab", "a"), ("delete_ac", "ac", "a"),
                ("replace_ab_ac", "ab", "ac"), ("replace_ac_ab", "ac", "ab"),
            ]
        ]  # fmt: skip
        found = pairs[6 * number : 6 * number + 6]
        assert expected == [
            (p.id, p.original.name, p.edited.name, p.original_caption, p.target_caption)
            for p in found
        ]
        assert {p.source for p in found} == {row["a_group"]}
        b, c = row["b_caption"], row["c_caption"]
        for pair, there in zip(found, [(b,), (c,), (b,), (c,), (b, c), (c, b)], strict=True):
            assert pair.instruction is not None
            places = [pair.instruction.index(event) for event in there]
            assert places == sorted(places)
            assert pair.instruction.count(".") == 1


def test_instructions_say_where_in_several_wordings(flac: Path) -> None:
    pairs = manifest.read(flac)
    rows = list(table.read(flac.parent / "mixes.parquet"))
    said = {"before": "at the beginning", "during": "in the middle", "after": "at the end"}
    wordings: dict[str, set[str]] = {"add": set(), "delete": set(), "replace": set()}
    for number, pair in enumerate(pairs):
        row, words = rows[number // 6], str(pair.instruction)
        for position, place in said.items():
            assert (place in words) <= (position == row["position"])
        for event in (row["b_caption"], row["c_caption"], *said.values()):
            words = words.replace(event, "-")
        wordings[str(pair.operation)].add(words)
    assert {operation: len(found) for operation, found in wordings.items()} == {
        "add": 4, "delete": 4, "replace": 4,
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["flac", "wav"])
def test_a_virtual_clip_is_the_written_file_bit_by_bit(
    clip_list: Path, tmp_path: Path, kind: str
) -> None:
    written = manifest.read(made(clip_list, tmp_path / kind, kind).manifest)
    virtual = manifest.read(made(clip_list, tmp_path / "virtual", "virtual").manifest)
    assert not (tmp_path / "virtual" / "audio").exists()
    assert [pair.id for pair in written] == [pair.id for pair in virtual]
    for one, other in zip(written, virtual, strict=True):
        for side in ("original", "edited"):
            clips = [audio.decode(getattr(pair, side)) for pair in (one, other)]
            assert clips[0].rate_hz == clips[1].rate_hz == 8000
            assert np.array_equal(clips[0].samples, clips[1].samples)
        assert soundfile.info(one.edited).subtype == "PCM_16"


def test_a_virtual_set_is_scored_like_a_written_one(
    flac: Path, clip_list: Path, tmp_path: Path, evaluator: Evaluator
) -> None:
    virtual = made(clip_list, tmp_path / "virtual", "virtual").manifest
    found = [evaluator.score(manifest.read(path)[:12]) for path in (flac, virtual)]
    assert found[0] == found[1]
    assert {row.status for row in found[0]} == {"ok"}


def test_workers_and_a_second_run_change_no_byte(
    clip_list: Path, flac: Path, tmp_path: Path
) -> None:
    expected = every_file(flac.parent)
    moved = tmp_path / "a" / "set"  # paths in the table are relative to it
    shutil.copytree(clip_list.parent, tmp_path / clip_list.parent.name)
    made(clip_list, moved.parent.parent / "set", workers=1)
    again = every_file(tmp_path / "set")
    assert expected.keys() == again.keys()
    differing = {name for name in expected if expected[name] != again[name]}
    assert differing <= {"mixes.parquet", "left_out.csv"}  # which name the recordings
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "set").rglob("*")}
    made(clip_list, tmp_path / "set", workers=3)
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "set").rglob("*")}


COMMAND = """
import sys
from auditeval.cli import main
sys.argv = ["auditeval", "build", *sys.argv[1:]]
main()
"""


def command(clips: Path, folder: Path, *more: str) -> list[str]:
    return [
        *(sys.executable, "-c", COMMAND, "--clips", str(clips), "-o", str(folder)),
        *("--backgrounds-per-pair", "12", "--background-seconds", "2", "--event-seconds", "0.5"),
        *("1", "--rate", "8000", *more),
    ]


@pytest.fixture(scope="module")
def whole(clip_list: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What the command writes when nothing stops it, in a folder as deep as those of tests."""
    folder = tmp_path_factory.mktemp("whole") / "set"
    subprocess.run(command(clip_list, folder), check=True, capture_output=True)
    return every_file(folder)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
def test_killed_at_random_moments_it_ends_with_the_same_bytes(
    clip_list: Path, tmp_path: Path, whole: dict[str, bytes]
) -> None:
    rng = random.Random(7)
    # Killed when so many files have appeared; the plan comes before the first of them.
    goals = [1, 3, *sorted(rng.randrange(5, len(whole)) for _ in range(2))]
    folder = tmp_path / "killed"
    for goal in goals:
        process = subprocess.Popen(
            command(clip_list, folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while process.poll() is None and sum(p.is_file() for p in folder.rglob("*")) < goal:
            time.sleep(0.001)
        process.kill()
        process.wait()
        for path in folder.rglob("*.flac"):
            name = path.relative_to(folder).as_posix()
            assert path.name.startswith(".") or path.read_bytes() == whole[name]
    (folder / ".build.json.7-7.partial").write_text("{")
    subprocess.run(command(clip_list, folder), check=True, capture_output=True)
    assert every_file(folder) == whole


def test_killed_before_there_was_a_record(clip_list: Path, tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / ".build.json.7-7.partial").write_text("{")
    assert made(clip_list, tmp_path / "set", "virtual").pairs == 108


@pytest.mark.parametrize(
    ("limit", "last"), [(100, "build.json"), (8000, "mixes.parquet"), (20_000, "_a.flac")]
)
def test_a_full_disk_is_one_sentence_and_leaves_no_half_file(
    clip_list: Path, tmp_path: Path, whole: dict[str, bytes], limit: int, last: str
) -> None:
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    ended = subprocess.run(
        command(clip_list, tmp_path / "set"), preexec_fn=small_files, capture_output=True, text=True
    )
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    said = ended.stderr.strip().splitlines()[-1]
    assert said.startswith(f"auditeval: {tmp_path / 'set'}: cannot be written (")
    assert "File too large" in said
    assert said.endswith("the same command goes on from there")
    there = every_file(tmp_path / "set")
    assert not [name for name in there if name.endswith(".partial")]
    assert all(len(data) <= limit for data in there.values())
    subprocess.run(command(clip_list, tmp_path / "set"), check=True, capture_output=True)
    assert every_file(tmp_path / "set") == whole
    assert any(name.endswith(last) and len(data) > limit for name, data in whole.items())


def test_loudness_is_matched_in_lufs(clip_list: Path, tmp_path: Path) -> None:
    change: dict[str, Any] = {"match": "lufs", "level_db": (-3.0, 6.0)}
    path = made(clip_list, tmp_path / "set", "virtual", **change).manifest
    meter = pyloudnorm.Meter(8000)
    levels = []
    for number, row in enumerate(table.read(path.parent / "mixes.parquet")):
        alone, mixed = (
            audio.decode(path.parent / "mixes.parquet" / mixes.name(number, clip)).samples
            for clip in ("a", "ab")
        )
        at, length = row["event_start"], row["event_samples"]
        event = (mixed - alone)[at : at + length].astype(float)
        difference = meter.integrated_loudness(event) - meter.integrated_loudness(
            alone.astype(float)
        )
        assert difference == pytest.approx(row["b_level_db"], abs=0.05)
        levels.append(row["b_level_db"])
    assert -3 <= min(levels) < 0 < max(levels) <= 6


def test_a_background_too_short_is_left_out_with_its_reason(
    clip_list: Path, tmp_path: Path
) -> None:
    built = made(clip_list, tmp_path / "set", "virtual", background_seconds=4.0)
    rows = list(csv.DictReader((tmp_path / "set" / "left_out.csv").open()))
    assert len(rows) == len(built.left_out) == 8  # of 2 and 3 s
    assert {row["role"] for row in rows} == {"backgrounds"}
    least = "a background 3.6 s at least, nine tenths of --background-seconds"
    assert rows[0]["reason"].endswith(f"dog_bark_0.wav: lasts 2.0 s, {least}")
    used = {row["a_file"] for row in table.read(tmp_path / "set" / "mixes.parquet")}
    assert all(name.endswith("_2.wav") for name in used)


def test_other_settings_or_a_foreign_folder_are_refused(
    clip_list: Path, flac: Path, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match="set: was made with other settings, inputs or"):
        made(clip_list, flac.parent, seed=3)
    (tmp_path / "mine.txt").write_text("keep")
    with pytest.raises(UserError, match="exists and holds something else; choose a new folder"):
        made(clip_list, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    with pytest.raises(UserError, match=r"mine\.txt: exists and holds something else"):
        made(clip_list, tmp_path / "mine.txt")


def test_backgrounds_have_a_list_of_their_own(clip_list: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(clip_list.parent, tmp_path / "clips")
    scenes = folder / "scenes.csv"
    scenes.write_text("file,caption\nrain_0.wav,A heavy rain falls.\nrain_1.wav,Rain\n")
    settings = Settings(**SMALL)
    path = build(folder / "labels.csv", tmp_path / "set", settings, scenes, "virtual").manifest
    rows = list(table.read(path.parent / "mixes.parquet"))
    assert {row["a_caption"] for row in rows} == {"A heavy rain falls.", "Rain."}
    assert any(", a heavy rain falls." in row["ab_caption"] for row in rows)
    assert {row["b_category"] for row in rows} == {"category 0", "category 1"}


def test_captions_of_events_are_worded_into_instructions(clip_list: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(clip_list.parent, tmp_path / "clips")
    listed = folder / "captions.csv"
    listed.write_text(
        'file,caption\nrain_0.wav,"Rain falls\n on {a} roof."\nsiren_1.wav,A siren wails!\n'
        "siren_2.wav,a siren wails\ndog_bark_0.wav,Dogs bark.\n"
    )
    path = made(listed, tmp_path / "set", "virtual").manifest
    rows = list(table.read(path.parent / "mixes.parquet"))
    assert len(rows) == 9  # "A siren wails!" and "a siren wails" are one prompt
    for pair in manifest.read(path):
        assert pair.instruction is not None
        assert re.fullmatch(r"[A-Z][a-z {}]+\.", pair.instruction)
        assert re.fullmatch(r"[A-Z][a-z {},]+\.", pair.target_caption)


def test_clips_that_are_others_by_now_are_no_part_of_a_set(clip_list: Path, tmp_path: Path) -> None:
    """A list of the same bytes does not say what its files hold."""
    folder = shutil.copytree(clip_list.parent, tmp_path / "clips")
    broken, used = folder / "rain_0.wav", folder / "siren_1.wav"
    broken.write_bytes(b"no audio")
    listed, target = folder / "labels.csv", tmp_path / "set"
    before = every_file(made(listed, target).manifest.parent)
    used.touch()
    (tmp_path / "link").symlink_to(folder)
    assert len(made(tmp_path / "link" / "labels.csv", target).left_out) == 2
    assert every_file(target) == before
    anew = "; delete that folder, or choose another one"
    with pytest.raises(UserError, match=f"set: was made from other files than those of .*{anew}"):
        made(clip_list, target)
    shutil.copyfile(clip_list.parent / broken.name, broken)
    with pytest.raises(UserError, match=f"rain_0.wav: was left out of .* written since{anew}"):
        made(listed, target)
    os.utime(broken, ns=(0, 0))
    samples, rate_hz = soundfile.read(used)
    soundfile.write(used, 0.5 * samples, rate_hz)
    with pytest.raises(UserError, match=f"siren_1.wav: holds other samples than .*{anew}"):
        made(listed, target)


@pytest.mark.parametrize("audio_format", ["flac", "virtual"])
def test_an_output_behind_a_symbolic_link_finds_its_recordings(
    clip_list: Path, tmp_path: Path, audio_format: Any
) -> None:
    (tmp_path / "deep" / "er" / "real").mkdir(parents=True)
    (tmp_path / "out").symlink_to(tmp_path / "deep" / "er" / "real")
    path = made(clip_list, tmp_path / "out" / "set", audio_format).manifest
    for row in table.read(path.parent / "mixes.parquet"):
        assert (path.parent / row["b_file"]).exists()
    mixes._recordings._kept.clear()
    for pair in manifest.read(path):
        assert len(audio.decode(pair.edited).samples) > 0


def test_what_was_lost_is_made_again_or_named(clip_list: Path, tmp_path: Path) -> None:
    path = made(clip_list, tmp_path / "set").manifest
    before = every_file(path.parent)
    next(path.parent.rglob("*_ab.flac")).unlink()
    made(clip_list, tmp_path / "set")
    assert every_file(path.parent) == before
    mixed = path.with_name("mixes.parquet")
    mixed.write_bytes(before["mixes.parquet"][:-50])
    with pytest.raises(UserError, match=r"mixes\.parquet: is damaged or gone .* build it again"):
        made(clip_list, tmp_path / "set")
    mixed.unlink()
    with pytest.raises(UserError, match=r"mixes\.parquet: is damaged or gone"):
        made(clip_list, tmp_path / "set")
    path.with_name("build.json").write_bytes(b"\xff")
    with pytest.raises(UserError, match="was made with other settings"):
        made(clip_list, tmp_path / "set")


def test_a_clip_too_faint_for_lufs_is_left_out(clip_list: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(clip_list.parent, tmp_path / "clips")
    samples, rate_hz = soundfile.read(folder / "rain_0.wav")
    soundfile.write(folder / "rain_0.wav", 1e-3 * samples, rate_hz)
    samples, rate_hz = soundfile.read(folder / "rain_2.wav")  # 4 s, of which 2 serve as background
    samples[: 2 * rate_hz] *= 1e-3
    soundfile.write(folder / "rain_2.wav", samples, rate_hz)
    built = made(folder / "labels.csv", tmp_path / "set", "virtual", match="lufs")
    assert [(Path(clip.file).name, clip.role) for clip in built.left_out] == [
        ("rain_0.wav", "events"),
        ("rain_0.wav", "backgrounds"),
        ("rain_2.wav", "backgrounds"),
    ]
    assert {clip.reason.split(": ")[1] for clip in built.left_out} == {
        "is too faint to have a loudness in LUFS"
    }


def test_the_environment_does_not_matter(clip_list: Path, flac: Path, tmp_path: Path) -> None:
    """Paths are taken from the working directory, and no byte follows from it but theirs."""
    relative = Path(os.path.relpath(clip_list))
    again = made(relative, tmp_path / "set").manifest
    assert again.read_bytes() == flac.read_bytes()
    assert every_file(flac.parent / "audio") == every_file(tmp_path / "set" / "audio")
