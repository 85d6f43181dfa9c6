"""Outputs: a command that would write over its input, a stranger's file or another process."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from commands import content, start, write_rows, write_scores
from outcomes import kept, refused, same

from auditeval import scores_table
from auditeval.outputs import sole_writer, writing
from auditeval.types import EditPair, Scores, UserError

RECIPE = "stages:\n- {name: best, axis: quality, keep_top: 2}\n"
PROMPT = "<audio><audio>\nOriginal Caption:\nRain.\n\nTarget Caption:\nWind.\n"
Place = Callable[[Path], Any]


@pytest.fixture
def desk(
    tmp_path: Path,
    good: list[EditPair],
    pairs_path: Path,
    clip_list: Path,
    spectrum_checkpoint: Path,
) -> Path:
    """A folder with everything that commands read: pairs, scores, a recipe, recordings, a run."""
    rows = [Scores(pair.id, 1.0 + i, 2.0, 3.0 - i / 2) for i, pair in enumerate(good)]
    write_scores(tmp_path / "scores.csv", rows)
    scores_table.write(rows, tmp_path / "scores.jsonl")
    pairs = map(json.loads, pairs_path.read_text().splitlines())
    rated = [{**p, "raters": {}, "ratings": {"quality": 2 + i}} for i, p in enumerate(pairs)]
    write_rows(tmp_path / "rated.jsonl", rated)
    content(tmp_path / "recipe.yaml", RECIPE.encode())
    shutil.copytree(clip_list.parent, tmp_path / "clips")
    content(tmp_path / "clips" / "prompts.csv", b"label,caption\ndog,a dog barks\n")
    shutil.copytree(spectrum_checkpoint, tmp_path / "model")
    return tmp_path


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Of every file, but the marks of commands."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def linked(link: Path, target: Path) -> Path:
    link.symlink_to(target)
    return link


def hard_linked(link: Path, target: Path) -> Path:
    os.link(target, link)
    return link


def spelled(path: Path) -> Path:
    """The same file by another spelling of its path."""
    return path.parent / "clips" / ".." / path.name


def through_folder(path: Path) -> Path:
    """The same file through a link to its folder."""
    return linked(path.parent / "elsewhere", path.parent) / path.name


INPUTS: dict[str, tuple[tuple[str, ...], Place]] = {
    "score: its manifest": (("score", "pairs.jsonl"), lambda d: d / "pairs.jsonl"),
    "score: its manifest, spelled": (
        ("score", "pairs.jsonl"), lambda d: spelled(d / "pairs.jsonl")
    ),
    "score: a link to its manifest": (
        ("score", "pairs.jsonl"), lambda d: linked(d / "l.jsonl", d / "pairs.jsonl")
    ),
    "score: a hard link to its manifest": (
        ("score", "pairs.jsonl"), lambda d: hard_linked(d / "h.jsonl", d / "pairs.jsonl")
    ),
    "score: through a linked folder": (
        ("score", "pairs.jsonl"), lambda d: through_folder(d / "pairs.jsonl")
    ),
    "filter: its manifest": (
        ("filter", "rated.jsonl", "scores.csv", "--recipe", "recipe.yaml"),
        lambda d: d / "rated.jsonl",
    ),
    "filter: its scores": (
        ("filter", "rated.jsonl", "scores.jsonl", "--recipe", "recipe.yaml"),
        lambda d: spelled(d / "scores.jsonl"),
    ),
    "filter: a link to its scores": (
        ("filter", "rated.jsonl", "scores.jsonl", "--recipe", "recipe.yaml"),
        lambda d: linked(d / "l.jsonl", d / "scores.jsonl"),
    ),
    "filter: its recipe as the report": (
        ("filter", "rated.jsonl", "scores.csv", "--recipe", "kept.filter.json"),
        lambda d: content(d / "kept.filter.json", RECIPE.encode()).with_name("kept.jsonl"),
    ),
    "evaluate: a folder that is the manifest": (
        ("evaluate", "scores.csv", "--against", "rated.jsonl"), lambda d: d / "rated.jsonl"
    ),
    "describe: a folder that is the manifest": (
        ("describe", "rated.jsonl"), lambda d: d / "rated.jsonl"
    ),
    "metrics: a folder that is the manifest": (
        ("metrics", "pairs.jsonl"), lambda d: d / "pairs.jsonl"
    ),
    "build: a folder that is the list": (
        ("build", "--clips", "clips/labels.csv"), lambda d: d / "clips" / "labels.csv"
    ),
    "build: the folder of the recordings": (
        ("build", "--clips", "clips/labels.csv"), lambda d: d / "clips"
    ),
    "convert: the checkpoint": (("convert", "model"), lambda d: d / "model"),
    "convert: a link to it": (("convert", "model"), lambda d: linked(d / "m", d / "model")),
    "make-salmon: the folder of the list": (
        ("bench", "make-salmon", "clips/labels.csv", "--part", "speaker_consistency"),
        lambda d: d / "clips",
    ),
    "make-speecheditbench: the folder of the list": (
        ("bench", "make-speecheditbench", "clips/labels.csv"), lambda d: d / "clips"
    ),
}  # fmt: skip


def run(cli: Any, desk: Path, command: tuple[str, ...], output: Path) -> Any:
    """A command on the desk: words that name what lies there are paths."""
    words = [desk / word if (desk / word).exists() else word for word in command]
    extra: list[object] = []
    if command[0] == "score":
        extra = ["-c", desk / "model", "--device", "cpu"]
    return cli(*words, *extra, "-o", output)


@pytest.mark.parametrize("kind", INPUTS)
def test_an_input_is_not_written_over(cli: Any, desk: Path, kind: str) -> None:
    command, place = INPUTS[kind]
    output = place(desk)
    before = bytes_of(desk)
    refused(run(cli, desk, command, output), r"input|exists|cannot be (written|made)|directory")
    kept(bytes_of(desk), before, kind)


COMMANDS: dict[str, tuple[tuple[str, ...], str, tuple[str, ...]]] = {
    "score csv": (("score", "pairs.jsonl"), "s.csv", ("s.csv",)),
    "score jsonl": (("score", "pairs.jsonl"), "s.jsonl", ("s.jsonl",)),
    "score parquet": (("score", "pairs.jsonl"), "s.parquet", ("s.parquet",)),
    "filter": (
        ("filter", "rated.jsonl", "scores.csv", "--recipe", "recipe.yaml"),
        "kept.jsonl",
        ("kept.jsonl", "kept.rejected.jsonl", *(f"kept.filter.{x}" for x in ("json", "md", "png"))),
    ),
    "evaluate": (
        ("evaluate", "scores.csv", "--against", "rated.jsonl", "--resamples", "0"),
        "report",
        ("report/agreement.json", "report/agreement.md", "report/agreement.png"),
    ),
    "describe": (
        ("describe", "rated.jsonl", "--no-audio", "--resamples", "0"),
        "about",
        ("about/description.json", "about/description.md", "about/description.png"),
    ),
    "import": (("import", "ms-swift", "swift.jsonl"), "m.jsonl", ("m.jsonl",)),
    "build": (
        ("build", "--clips", "clips/labels.csv", "--background-seconds", "2", "--event-seconds",
         "1", "1.5", "--rate", "8000", "--backgrounds-per-pair", "1", "--audio", "virtual"),
        "set",
        ("set/notes.txt",),
    ),
}  # fmt: skip


@pytest.fixture
def swift(desk: Path, good: list[EditPair]) -> Path:
    rows = [
        {
            "messages": [
                {"role": "user", "content": PROMPT},
                {"role": "assistant", "content": "[3, 4, 5]"},
            ],
            "audios": [str(pair.original), str(pair.edited)],
        }
        for pair in good
    ]
    return write_rows(desk / "swift.jsonl", rows)


@pytest.mark.parametrize(
    ("kind", "file"), [(kind, file) for kind, (_, _, files) in COMMANDS.items() for file in files]
)
def test_a_stranger_s_file_stays(cli: Any, desk: Path, swift: Path, kind: str, file: str) -> None:
    command, output, _ = COMMANDS[kind]
    (desk / file).parent.mkdir(exist_ok=True)
    content(desk / file, b"my thesis")
    refused(run(cli, desk, command, desk / output), r"exists (already )?and")
    kept((desk / file).read_bytes(), b"my thesis", file)


@pytest.mark.parametrize("kind", [kind for kind in COMMANDS if kind != "build"])
def test_its_own_file_that_somebody_changed_is_a_stranger_s(
    cli: Any, desk: Path, swift: Path, kind: str
) -> None:
    command, output, files = COMMANDS[kind]
    first = run(cli, desk, command, desk / output)
    same(first.status, 0, first.err)
    made = (desk / files[0]).read_bytes()
    again = run(cli, desk, command, desk / output)
    same(again.status, 0, again.err)
    same((desk / files[0]).read_bytes(), made, "given again")
    if kind.startswith("score"):
        return  # its rows are read again before anything is written
    content(desk / files[0], made + b" ")
    refused(run(cli, desk, command, desk / output), "is not as this command made it.*--force")
    kept((desk / files[0]).read_bytes(), made + b" ", files[0])
    words = [*command, "--force"]
    same(run(cli, desk, tuple(words), desk / output).status, 0, "--force")
    same((desk / files[0]).read_bytes(), made, "--force")


@pytest.mark.parametrize("kind", COMMANDS)
def test_another_process_writes_it(cli: Any, desk: Path, swift: Path, kind: str) -> None:
    command, output, _ = COMMANDS[kind]
    with sole_writer(desk / output):
        before = bytes_of(desk)
        ended = run(cli, desk, command, desk / output)
        refused(ended, rf"is being written by process {os.getpid()} on \S+ since \d{{4}}-")
        kept(bytes_of(desk), before, "files")
    ended = run(cli, desk, command, desk / output)
    same(ended.status, 0, f"after it has ended: {ended.err}")
    assert not list(desk.rglob("*.lock"))


def ended_process() -> int:
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def test_the_lock_of_a_dead_process_is_taken_over(cli: Any, desk: Path) -> None:
    content(desk / ".s.csv.lock", f"{ended_process()}\n{socket.gethostname()}\n".encode())
    same(run(cli, desk, ("score", "pairs.jsonl"), desk / "s.csv").status, 0, "dead process")
    assert not (desk / ".s.csv.lock").exists()


@pytest.mark.parametrize("is_signed", [True, False])
def test_what_a_takeover_that_was_killed_left_is_swept(
    cli: Any, desk: Path, is_signed: bool
) -> None:
    """Its own mark, aside of the one it found; those of the living are theirs."""
    dead = f"{ended_process()}\n{socket.gethostname()}\n".encode()
    living = f"{os.getpid()}\n{socket.gethostname()}\n".encode()
    content(desk / ".s.csv.lock", dead)
    content(desk / f".s.csv.lock.break.{ended_process()}.{'0a' * 16}", dead if is_signed else b"")
    kept_file = content(desk / f".s.csv.lock.break.{os.getpid()}.{'0b' * 16}", living)
    other = content(desk / ".s.csv.lock.break.made.json", b"{}")
    same(run(cli, desk, ("score", "pairs.jsonl"), desk / "s.csv").status, 0, "dead process")
    same(sorted(desk.glob(".s.csv.lock*")), sorted([kept_file, other]), "marks")


@pytest.mark.parametrize("torn", [b"", b"12", b"12\nho", b"\0" * 20])
def test_a_lock_without_a_name_is_taken_over(cli: Any, desk: Path, torn: bytes) -> None:
    """Its process was killed between making and writing it, or the machine was."""
    content(desk / ".s.csv.lock", torn)
    ended = run(cli, desk, ("score", "pairs.jsonl"), desk / "s.csv")
    same(ended.status, 0, f"an empty mark: {ended.err}")
    assert not (desk / ".s.csv.lock").exists()


def test_a_lock_that_is_just_being_written_is_not(tmp_path: Path) -> None:
    lock = content(tmp_path / ".s.csv.lock", b"")
    holder = f"{os.getppid()}\n{socket.gethostname()}\n"
    with ThreadPoolExecutor(1) as other:
        other.submit(lambda: (time.sleep(0.3), lock.write_text(holder)))
        with (
            pytest.raises(UserError, match=f"by process {os.getppid()} on"),
            sole_writer(tmp_path / "s.csv"),
        ):
            pass
    assert lock.read_text() == holder


def test_the_lock_of_another_host_is_not(cli: Any, desk: Path) -> None:
    lock = content(desk / ".s.csv.lock", b"7\nthe-other-node\n")
    ended = run(cli, desk, ("score", "pairs.jsonl"), desk / "s.csv")
    refused(ended, r"by process 7 on the-other-node since .* delete .*\.s\.csv\.lock if")
    assert lock.exists()


def test_other_spellings_of_one_output_are_one(desk: Path) -> None:
    with sole_writer(desk / "s.csv"):
        for other in (spelled(desk / "s.csv"), through_folder(desk / "s.csv")):
            with pytest.raises(UserError, match="is being written"), sole_writer(other):
                pass


def test_two_processes_at_once_make_one_whole_table(
    desk: Path, simulated: list[EditPair], attacks: Any
) -> None:
    """Of several started together one scores and the others say so; no row stands twice."""
    rows = [
        pair.model_copy(update={"id": f"{turn}-{pair.id}"}).model_dump(
            mode="json", exclude={"ratings", "raters"}, exclude_none=True
        )
        for turn in range(3)
        for pair in simulated
    ]
    table, output = write_rows(desk / "many.jsonl", rows), desk / "many.csv"
    command = ("score", table, "-c", desk / "model", "-o", output, "--device", "cpu")
    started = [start(*command, "--batch-size", "4") for _ in range(2)]
    attacks(2)
    ended = [process.communicate() for process in started]
    statuses = sorted(process.returncode for process in started)
    assert statuses[0] == 0, ended
    for process, (_, err) in zip(started, ended, strict=True):
        if process.returncode:
            assert "is being written by process" in err
            assert "Traceback" not in err
    same([row.id for row in scores_table.read(output)], [row["id"] for row in rows], "rows")


def test_no_option_is_ignored(cli: Any, desk: Path, good: list[EditPair]) -> None:
    pair = good[0]
    ended = cli(
        *("score", "--original", pair.original, "--edited", pair.edited, "-o", desk / "x.csv"),
        *("--original-caption", "a", "--target-caption", "b", "-c", desk / "model"),
    )
    refused(ended, "-o goes with a MANIFEST")
    said = ("--instruction", "Remove the dog.", "-c", desk / "model")
    one = ("score", "--original", pair.original, "--edited", pair.edited, *said)
    refused(cli(*one, "--parts"), "--parts goes with a MANIFEST")
    for command in (("score", "-o", desk / "x.csv"), ("explain", "--id", pair.id)):
        ended = cli(command[0], desk / "pairs.jsonl", *command[1:], *said)
        refused(ended, "those of a MANIFEST stand in its rows")


def test_what_fails_leaves_no_note(desk: Path, tmp_path: Path) -> None:
    for output, names in ((tmp_path / "new", ["a.json"]), (tmp_path / "new.md", [])):
        before = bytes_of(desk)
        with pytest.raises(ZeroDivisionError), writing(output, "a test", names):
            raise ZeroDivisionError
        kept(bytes_of(desk), before, "files")
        assert not list(tmp_path.glob(".new*"))
        assert not output.exists()
