"""A full device, a reader that is gone, no room for temporary files: a sentence, or none, no stack.

What a command was asked to keep is there in the end, whatever became of what it prints.
"""

from __future__ import annotations

import contextlib
import io
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Ended, Run, row_of, write_rows, write_scores
from outcomes import kept, refused, same

from auditeval.audio import files
from auditeval.audio.waveform import quantised
from auditeval.types import AXES, EditPair, Scores

RATED = dict.fromkeys(AXES, 3.0)


@pytest.fixture
def commands(
    tmp_path: Path, good: list[EditPair], spectrum_checkpoint: Path
) -> dict[str, tuple[Any, ...]]:
    """Commands that print, each with an output."""
    pairs = write_rows(
        tmp_path / "pairs.jsonl", [row_of(pair, raters={}, ratings=RATED) for pair in good]
    )
    scores = write_scores(tmp_path / "s.csv", [Scores(pair.id, 3.0, 3.0, 3.0) for pair in good])
    for index in range(2):
        rng = np.random.default_rng(index)
        path = tmp_path / "salmon" / "speaker_consistency" / f"sample_0_{index}.wav"
        files.write(path, quantised(rng.normal(0, 0.1, 8000)), 8000)
    return {
        "score": ("score", pairs, "-c", spectrum_checkpoint, "--device", "cpu", "-o", "out.csv"),
        "evaluate": ("evaluate", scores, "--against", pairs, "--resamples", 0, "-o", "report"),
        "describe": ("describe", pairs, "-o", "described"),
        "bench": ("bench", "salmon", tmp_path / "salmon", "--baselines", "-o", "salmon-report"),
        "bench with an evaluator": (
            *("bench", "salmon", tmp_path / "salmon", "-c", spectrum_checkpoint),
            *("--device", "cpu", "-o", "salmon-report"),
        ),
        "help": ("--help",),
    }


PRINTING = ("score", "evaluate", "describe", "bench", "help")


class Full(io.StringIO):
    """A stream to a device that takes nothing more, as Python sees it."""

    error: OSError = OSError(28, "No space left on device")

    def write(self, text: str) -> int:
        raise self.error

    def flush(self) -> None:
        raise self.error


class Gone(Full):
    error = BrokenPipeError(32, "Broken pipe")


@pytest.fixture
def printing(
    commands: dict[str, tuple[Any, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Any
) -> Callable[[str, io.StringIO], Ended]:
    monkeypatch.chdir(tmp_path)

    def run(name: str, stream: io.StringIO) -> Ended:
        monkeypatch.setattr(sys, "stdout", stream)
        with contextlib.redirect_stdout(stream):
            return cli(*commands[name])  # type: ignore[no-any-return]

    return run


@pytest.mark.parametrize("name", PRINTING)
def test_a_full_device_for_stdout_is_one_sentence(
    name: str, printing: Callable[[str, io.StringIO], Ended]
) -> None:
    refused(printing(name, Full()), r"No space left on device")


@pytest.mark.parametrize("name", PRINTING)
def test_a_reader_that_is_gone_is_nobodys_mistake(
    name: str, printing: Callable[[str, io.StringIO], Ended], tmp_path: Path
) -> None:
    ended = printing(name, Gone())
    assert ended.status == 1
    assert "auditeval:" not in ended.err
    assert "Traceback" not in ended.err


STREAMS: dict[str, tuple[str, int, str]] = {
    "stdout on a full device": ("auditeval --help > /dev/full", 2, r"auditeval: .*No space left"),
    "a closed stdout": ("auditeval --help >&-", 0, ""),
    "both on a full device": ("auditeval score nothing.jsonl > /dev/full 2>&1", 2, ""),
    "a reader that ends at once": ("auditeval --help | true; exit ${PIPESTATUS[0]}", 1, ""),
    "stderr on a full device": ("auditeval score nothing.jsonl 2> /dev/full", 2, ""),
    "a closed stderr": ("auditeval score nothing.jsonl 2>&-", 2, ""),
    "a closed stdin": ("auditeval --help <&- > /dev/null", 0, ""),
}


@pytest.mark.parametrize(("line", "status", "said"), STREAMS.values(), ids=STREAMS)
def test_streams_of_a_shell(line: str, status: int, said: str, tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    call = f"{sys.executable} -c 'from auditeval.cli import main; main()'"
    ended = subprocess.run(
        ["bash", "-c", line.replace("auditeval", call, 1)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
    )
    assert "Traceback" not in ended.stderr
    assert "Exception ignored" not in ended.stderr
    refused_or_quiet = Ended(ended.returncode, ended.stdout, ended.stderr)
    if said:
        refused(refused_or_quiet, said, status)
    else:
        kept(refused_or_quiet.status, status, "the status")


@contextlib.contextmanager
def no_file_above(size: int) -> Iterator[None]:
    """As on a disk that is full: no file grows beyond `size` bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


TEMPORARY = ("score", "evaluate", "describe", "bench with an evaluator")


@pytest.mark.parametrize("name", TEMPORARY)
def test_no_folder_for_temporary_files_is_one_sentence(
    name: str,
    commands: dict[str, tuple[Any, ...]],
    cli: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    refused(cli(*commands[name]), r"absent.*(No such file or directory|cannot be written)")


@pytest.mark.parametrize("size", [0, 2000, 9000])
@pytest.mark.parametrize("name", TEMPORARY)
def test_a_full_disk_of_temporary_files_is_one_sentence(
    name: str,
    size: int,
    commands: dict[str, tuple[Any, ...]],
    cli: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    with no_file_above(size):
        ended = cli(*commands[name])
    if ended.status:
        refused(ended, r"cannot be written|File too large|database or disk is full")
    after = {name: (tmp_path / name).read_bytes() for name in before}
    kept(after, before, "the inputs")
    ended = cli(*commands[name])
    kept(ended.status, 0, f"what the same command ends with when there is room: {ended.err}")


def test_the_sentence_names_the_folder_of_temporary_files(
    commands: dict[str, tuple[Any, ...]],
    cli: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with no_file_above(100):
        ended = cli(*commands["score"])
    refused(ended, rf"{tempfile.gettempdir()}: temporary files cannot be written .*set TMPDIR to")


def test_null_is_no_output(cli: Run, pairs_path: Path, spectrum_checkpoint: Path) -> None:
    ended = cli("score", pairs_path, "-c", spectrum_checkpoint, "-o", os.devnull)
    refused(ended, r"a scores file ends in")


def test_a_ctrl_c_that_a_library_takes_for_an_error_is_none(
    cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """torch's reading of a file makes a ValueError of it."""

    def command(**_: Any) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ValueError("could not determine the shape") from None

    monkeypatch.setattr("auditeval.cli.app", command)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        ended = cli("score")
    finally:
        signal.signal(signal.SIGINT, before)
    same((ended.status, ended.err), (130, ""), "the end")


def test_a_ctrl_c_in_a_callback_is_not_lost(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python prints and drops what a weak reference's callback raises."""

    class Referred:
        pass

    def command(**_: Any) -> None:
        referred = Referred()
        kept = weakref.ref(referred, lambda _: signal.raise_signal(signal.SIGINT))
        del referred
        time.sleep(5)
        pytest.fail(f"the Ctrl-C was lost with {kept}")

    monkeypatch.setattr("auditeval.cli.app", command)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a runner may ignore it
    try:
        ended = cli("score")
    finally:
        signal.signal(signal.SIGINT, before)
    same((ended.status, ended.err), (130, ""), "the end")
