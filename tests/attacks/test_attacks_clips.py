"""Bad input through the real entry points.

A bad clip or caption costs its own row, never the batch: the row says which file and what was
found. A bad manifest, table, option or output ends the command with one sentence and status 2.
Nothing that was computed is lost. Odd but sound input (eight channels, 8 and 192 kHz, an hour) is
scored.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from commands import RATE_HZ, content, folder, noise, row_of, sound, write_rows
from scipy import signal

from auditeval import manifest, scores_table
from auditeval.listening import votes_database
from auditeval.scoring import Evaluator
from auditeval.types import AXES, EditPair, Scores

MAX_HOUR_KB = 2_500_000
"""Measured 1.6 GB at the peak: an hour at 32 kHz is 0.46 GB, and three copies live at once."""


@pytest.fixture(scope="module")
def good_scores(evaluator: Evaluator, good: list[EditPair]) -> list[Scores]:
    """What the good pairs get in company of nobody."""
    return [row for pair in good for row in evaluator.score([pair])]


def assert_same_scores(found: list[Scores], expected: list[Scores]) -> None:
    assert [row.id for row in found] == [row.id for row in expected]
    assert {row.status for row in found} == {"ok"}
    for row, other in zip(found, expected, strict=True):
        for axis in AXES:
            # They are rounded to 1e-6.
            assert getattr(row, axis) == pytest.approx(getattr(other, axis), abs=2e-6)


def cut(path: Path, share: float) -> Path:
    whole = sound(path, noise(), "PCM_16").read_bytes()
    return content(path, whole[: int(share * len(whole))])


def with_sample(path: Path, value: float) -> Path:
    samples = noise()
    samples[1234] = value
    return sound(path, samples)


BAD_CLIPS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "missing": (lambda d: d / "none.wav", r"none\.wav: no such file"),
    "missing folder": (lambda d: d / "no" / "none.wav", r"none\.wav: no such file"),
    "below a file": (lambda d: content(d / "a", b"x") / "b.wav", r"b\.wav: no such file"),
    "0 bytes": (lambda d: content(d / "zero.wav", b""), r"zero\.wav: is empty \(0 bytes\)"),
    "text named .wav": (
        lambda d: content(d / "text.wav", b"hello " * 1000),
        r"text\.wav: cannot be decoded as audio",
    ),
    "text named .raw": (
        lambda d: content(d / "text.raw", b"hello " * 1000),
        r"text\.raw: cannot be decoded as audio",
    ),
    "half a header": (lambda d: cut(d / "head.wav", 0.0003), r"head\.wav: cannot be decoded"),
    "truncated FLAC": (lambda d: cut(d / "cut.flac", 0.6), r"cut\.flac: "),
    "truncated WAV": (lambda d: cut(d / "cut.wav", 0.6), r"cut\.wav: truncated, .* declares 64000"),
    "truncated Ogg": (
        lambda d: content(d / "c.ogg", sound(d / "c.ogg", noise(), "VORBIS").read_bytes()[:-99]),
        r"c\.ogg: truncated",
    ),
    "0 samples": (lambda d: sound(d / "s0.wav", noise(0)), r"s0\.wav: holds 0 samples"),
    "1 sample": (lambda d: sound(d / "s1.wav", noise(1)), r"s1\.wav: holds 1 sample .*50 ms"),
    "silence": (
        lambda d: sound(d / "silent.wav", np.zeros(RATE_HZ), "PCM_16"),
        r"silent\.wav: is digital silence",
    ),
    "a NaN sample": (lambda d: with_sample(d / "nan.wav", np.nan), r"nan\.wav: holds NaN or inf"),
    "an Inf sample": (lambda d: with_sample(d / "inf.wav", np.inf), r"inf\.wav: holds NaN or inf"),
    "a sample of 1e30": (lambda d: with_sample(d / "big.wav", 1e30), r"big\.wav: .* of 1e\+30"),
    "a directory": (lambda d: folder(d / "dir.wav"), r"dir\.wav: is not a file"),
    "a device": (lambda d: Path("/dev/null"), r"/dev/null: is not a file"),
    "a name too long": (lambda d: d / ("n" * 300 + ".wav"), r"n\.wav: cannot be read \(File name"),
    "a NUL in the name": (lambda d: d / "a\0b.wav", r"a\\x00b\.wav'?: is not a path"),
}


@pytest.mark.parametrize("side", ["original", "edited"])
@pytest.mark.parametrize("kind", BAD_CLIPS)
def test_a_bad_clip_costs_its_own_row_only(
    tmp_path: Path,
    evaluator: Evaluator,
    good: list[EditPair],
    good_scores: list[Scores],
    kind: str,
    side: str,
) -> None:
    make, reason = BAD_CLIPS[kind]
    bad = EditPair.model_validate(row_of(good[0], id="bad", **{side: make(tmp_path)}))
    found = evaluator.score([good[0], bad, *good[1:]])
    assert_same_scores([found[0], *found[2:]], good_scores)
    assert (found[1].id, found[1].status) == ("bad", "error")
    assert (found[1].quality, found[1].relevance, found[1].faithfulness) == (None, None, None)
    assert re.search(reason, found[1].reason)


@pytest.mark.parametrize("caption", ["", "   ", "\n\t"])
@pytest.mark.parametrize("side", ["original_caption", "target_caption"])
def test_an_empty_caption_costs_its_own_row_only(
    evaluator: Evaluator, good: list[EditPair], good_scores: list[Scores], side: str, caption: str
) -> None:
    bad = good[0].model_copy(update={"id": "bad", side: caption})
    found = evaluator.score([bad, *good])
    assert_same_scores(found[1:], good_scores)
    reason = f"{side} is empty, and there is no instruction"
    assert (found[0].status, found[0].reason) == ("error", reason)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_manifest_of_bad_clips_ends_with_status_1_and_a_row_for_each(
    tmp_path: Path,
    cli: Any,
    spectrum_checkpoint: Path,
    good: list[EditPair],
    good_scores: list[Scores],
    suffix: str,
) -> None:
    (tmp_path / "clips").mkdir()
    rows = [row_of(good[0]), row_of(good[1], target_caption="", id="no words")]
    rows += [
        row_of(good[1], id=kind, edited=str(make(tmp_path / "clips")))
        for kind, (make, _) in BAD_CLIPS.items()
    ]
    rows += [row_of(pair) for pair in good[1:]]
    path, output = write_rows(tmp_path / "pairs.jsonl", rows), tmp_path / f"scores{suffix}"
    ended = cli("score", path, "-o", output, "-c", spectrum_checkpoint, "--device", "cpu",
                "--batch-size", 4)  # fmt: skip
    assert ended.status == 1
    assert f"{len(good)} scored, {1 + len(BAD_CLIPS)} errors" in ended.out
    assert "Traceback" not in ended.err
    found = list(scores_table.read(output))
    assert [row.id for row in found] == [row["id"] for row in rows]
    assert_same_scores([row for row in found if row.status == "ok"], good_scores)
    for row in found:
        if row.id in BAD_CLIPS:
            assert re.search(BAD_CLIPS[row.id][1], row.reason), row
    # Given again, the command has nothing to do and says the same.
    again = cli("score", path, "-o", output, "-c", spectrum_checkpoint, "--device", "cpu",
                "--batch-size", 4)  # fmt: skip
    assert again.status == ended.status
    assert again.out.startswith(f"{ended.out}{len(rows)} rows were kept")


@pytest.mark.parametrize("inside", [True, False])
def test_the_manifests_folder_for_a_clip_costs_its_own_row_from_wherever_it_is_read(
    tmp_path: Path,
    evaluator: Evaluator,
    good: list[EditPair],
    monkeypatch: pytest.MonkeyPatch,
    inside: bool,
) -> None:
    path = write_rows(tmp_path / "pairs.jsonl", [row_of(good[0], edited="."), row_of(good[1])])
    monkeypatch.chdir(tmp_path if inside else "/")
    bad, fine = evaluator.score(manifest.read(path.name if inside else path))
    assert (bad.status, fine.status) == ("error", "ok")
    assert bad.reason.endswith(f"{'.' if inside else tmp_path}: is not a file")


@contextmanager
def nobody() -> Iterator[Path]:
    """A folder that everybody may write to, and no right to more than that."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o777)
        if os.geteuid() != 0:
            yield place
            return
        os.seteuid(65534)
        try:
            try:
                (place / "probe").touch()
                (place / "probe").unlink()
                tempfile.TemporaryFile().close()
            except PermissionError as error:
                pytest.skip(f"an unprivileged user may not write to {error.filename}")
            yield place
        finally:
            os.seteuid(0)


needs_users = pytest.mark.skipif(not hasattr(os, "seteuid"), reason="needs POSIX permissions")


@needs_users
@pytest.mark.parametrize("what", ["the clip", "its folder"])
def test_a_clip_without_permission_costs_its_own_row_only(
    evaluator: Evaluator, good: list[EditPair], what: str
) -> None:
    evaluator.score(good)  # imports all that is needed
    with nobody() as place:
        closed = folder(place / "closed")
        clip, readable = sound(closed / "clip.wav", noise()), sound(place / "a.wav", noise())
        fine = good[0].model_copy(update={"original": readable, "edited": readable})
        locked = fine.model_copy(update={"id": "bad", "edited": clip})
        (clip if what == "the clip" else closed).chmod(0)
        try:
            unprivileged = Evaluator("model", evaluator.checkpoint, "cpu", place / "cache")
            found = unprivileged.score([fine, locked])
        finally:
            closed.chmod(0o700)
    assert (found[0].status, found[1].status) == ("ok", "error")
    assert re.search(r"clip\.wav: cannot be read \(Permission denied\)", found[1].reason)


@needs_users
def test_a_closed_output_folder_is_one_sentence(
    cli: Any, evaluator: Evaluator, spectrum_checkpoint: Path, good: list[EditPair]
) -> None:
    evaluator.score(good)  # imports all that is needed
    data = {file.name: file.read_bytes() for file in spectrum_checkpoint.iterdir()}
    with nobody() as place:
        (place / "model").mkdir()
        for name, held in data.items():
            (place / "model" / name).write_bytes(held)
        path = write_rows(place / "pairs.jsonl", [row_of(good[0], original="x", edited="y")])
        closed = folder(place / "closed")
        for mode in (0o500, 0):
            closed.chmod(mode)
            try:
                ended = cli("score", path, "-o", closed / "scores.csv", "-c", place / "model",
                            "--device", "cpu", "--cache-dir", place / "cache")  # fmt: skip
            finally:
                closed.chmod(0o700)
            assert ended.status == 2
            assert "scores.csv" in ended.sentence
            assert "Permission denied" in ended.sentence
            assert not list(closed.iterdir())


@needs_users
def test_votes_in_a_closed_folder_are_read(good: list[EditPair]) -> None:
    """An archive, or another's: SQLite makes files of its own beside a database that it reads."""
    with nobody() as place:
        closed = folder(place / "votes?#%20")
        votes_database.create(closed / "votes.db", [(pair, 0, None) for pair in good], {})
        votes_database.opened(closed / "votes.db").close()
        closed.chmod(0o500)
        try:
            database = votes_database.opened(closed / "votes.db", reading=True)
            assert [pair.id for pair in database.pairs.values()] == [pair.id for pair in good]
            database.close()
        finally:
            closed.chmod(0o700)


# --- odd clips that must be scored -------------------------------------------------------------


def test_eight_channels_are_their_mean(
    tmp_path: Path, evaluator: Evaluator, good: list[EditPair]
) -> None:
    channels = np.random.default_rng(0).uniform(-0.5, 0.5, (RATE_HZ, 8)).astype(np.float32)
    mean = channels.mean(axis=1, dtype=np.float64).astype(np.float32)
    paths = [sound(tmp_path / "eight.wav", channels), sound(tmp_path / "mono.wav", mean)]
    pairs = [good[0].model_copy(update={"edited": path}) for path in paths]
    # Each alone: two rows of one batch may differ in their last digits.
    (eight,), (mono,) = (evaluator.score([pair]) for pair in pairs)
    assert eight.status == "ok"
    assert eight == mono


def test_8_and_192_khz_score_as_the_same_sound_at_32_khz(
    tmp_path: Path, evaluator: Evaluator, good: list[EditPair]
) -> None:
    rng = np.random.default_rng(0)
    low = signal.firwin(801, 3000, fs=RATE_HZ)  # nothing that 8 kHz would lose
    bursts = np.repeat(rng.uniform(0.1, 1, 20), RATE_HZ // 10)
    clip = 0.5 * signal.fftconvolve(rng.uniform(-1, 1, 2 * RATE_HZ) * bursts, low, mode="same")
    pairs = []
    for rate_hz, up, down in ((32000, 1, 1), (8000, 1, 4), (192000, 6, 1)):
        path = tmp_path / f"{rate_hz}.wav"
        # A second resampler; its noise stands in for what lies above the sound's own band.
        samples = signal.resample_poly(clip, up, down, window=("kaiser", 14.0))
        samples = samples + 1e-4 * signal.resample_poly(
            np.random.default_rng(1).standard_normal(2 * 8000), rate_hz // 8000, 1
        )
        soundfile.write(path, samples, rate_hz, subtype="FLOAT")
        pairs.append(good[0].model_copy(update={"id": str(rate_hz), "edited": path}))
    reference, *others = evaluator.score([*pairs, good[0]])
    assert {row.status for row in (reference, *others)} == {"ok"}
    unlike = max(abs(getattr(others[-1], axis) - getattr(reference, axis)) for axis in AXES)
    for row in others[:2]:
        for axis in AXES:
            change = abs(getattr(row, axis) - getattr(reference, axis))
            assert change < 0.1 * unlike


# On Linux a process starts with the peak of the one that made it, which here holds all tests.
WITH_PEAK = """
import resource, subprocess, sys
command = "from auditeval.cli import main; main()"
status = subprocess.call([sys.executable, "-c", command, *sys.argv[1:]])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)
"""


def test_an_hour_is_scored_in_bounded_memory(
    tmp_path: Path, spectrum_checkpoint: Path, good: list[EditPair]
) -> None:
    minute = np.random.default_rng(0).uniform(-0.3, 0.3, 8000 * 60)
    with soundfile.SoundFile(tmp_path / "hour.wav", "w", 8000, 1, "PCM_U8") as file:
        for level in np.linspace(0.2, 1, 60):
            file.write(level * minute)
    rows = [row_of(good[0], edited="hour.wav"), row_of(good[1], edited="none.wav")]
    path = write_rows(tmp_path / "pairs.jsonl", rows)
    options = ["-o", tmp_path / "scores.csv", "-c", spectrum_checkpoint, "--device", "cpu"]
    ended = subprocess.run(
        [sys.executable, "-c", WITH_PEAK, "score", path, *options],
        capture_output=True,
        text=True,
        env={**os.environ, "AUDITEVAL_CACHE": str(tmp_path / "cache")},
    )
    assert ended.returncode == 1, ended.stderr  # of the missing clip
    assert "Traceback" not in ended.stderr
    hour, missing = scores_table.read(tmp_path / "scores.csv")
    assert (hour.status, missing.status) == ("ok", "error")
    peak_kb = int(ended.stdout.split()[-1]) / (1024 if sys.platform == "darwin" else 1)
    assert peak_kb < MAX_HOUR_KB
