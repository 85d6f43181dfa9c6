"""Clips that are long, or say so: an error row before the memory is full, or bounded memory."""

from __future__ import annotations

import inspect
import re
import struct
import threading
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from commands import content, row_of, write_rows
from outcomes import WrongResult, refused, same

from auditeval import audio, scores_table
from auditeval.audio import AudioError, mixes
from auditeval.cli.score import score
from auditeval.features.encoder import Encoder
from auditeval.features.extractor import AudioFeatures
from auditeval.features.extractors import spectrum, yamnet
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.features.store import Failure, FeatureStore
from auditeval.types import EditPair, UserError

MEGABYTE = 1 << 20


def noise(samples: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-0.3, 0.3, samples).astype(np.float32)


def flac(path: Path, declared: int, rate_hz: int = 44100) -> Path:
    """A small file whose header declares so many samples; 0 stands for unknown."""
    soundfile.write(path, noise(2000), rate_hz, subtype="PCM_16", format="FLAC")
    data = bytearray(path.read_bytes())
    packed = int.from_bytes(data[18:26], "big")
    data[18:26] = (packed >> 36 << 36 | declared).to_bytes(8, "big")
    return content(path, bytes(data))


def wav(path: Path, seconds: int, rate_hz: int = 1000) -> Path:
    minute = (100 * noise(60 * rate_hz) + 128).astype(np.uint8)
    samples = np.resize(minute, seconds * rate_hz)
    header = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(samples), b"WAVE", b"fmt ", 16,
                         1, 1, rate_hz, rate_hz, 1, 8, b"data", len(samples))  # fmt: skip
    return content(path, header + samples.tobytes())


def mp3_without_length(path: Path) -> Path:
    """20 s, the length of which would be guessed from the first frame."""
    soundfile.write(path, noise(320_000), 16000, format="MP3", subtype="MPEG_LAYER_III")
    data = path.read_bytes()
    return content(path, data[data.index(data[:2], 4) :])


LONG: dict[str, tuple[Callable[[Path], Path], float, str]] = {
    "a FLAC of 6 GB": (lambda p: flac(p, 1_500_000_000), 3600, "longer than 3600 s, .* 44100 Hz"),
    "a FLAC of 2^36 samples": (lambda p: flac(p, 2**36 - 1), 3600, "longer than 3600 s"),
    "a FLAC of 2^36 samples, a day": (lambda p: flac(p, 2**36 - 1), 86400, "longer than 86400 s"),
    "a FLAC of unknown length": (lambda p: flac(p, 0), 3600, "declares no number of samples"),
    "a second too much": (lambda p: wav(p, 3601), 3600, "longer than 3600 s"),
    "a minute of 10 s": (lambda p: wav(p, 60, 8000), 10, "longer than 10 s"),
    "half the time at twice the rate": (
        lambda p: wav(p, 6, 96000), 10, "longer than 5 s, the most that is read at 96000 Hz"),
    "an MP3 without length": (mp3_without_length, 10, "longer than 10 s"),
}  # fmt: skip


@pytest.mark.parametrize("kind", LONG)
def test_a_clip_beyond_the_limit_is_refused_before_it_is_in_memory(
    tmp_path: Path, kind: str
) -> None:
    make, most, said = LONG[kind]
    path = make(tmp_path / "long")
    tracemalloc.start()
    try:
        audio.decode(path, most)
    except AudioError as error:
        if not re.search(said, str(error)):
            raise WrongResult(f"expected {said!r}, found {error}") from error
    else:
        raise WrongResult("was decoded")
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    # What does not say its length is given room for all that is allowed, and writes nothing there.
    same(peak < 16 * MEGABYTE or kind == "a FLAC of unknown length", True, f"{peak} bytes")


@pytest.mark.parametrize(
    ("make", "most"),
    [(lambda p: wav(p, 3600), 3600), (lambda p: wav(p, 3601), 3601),
     (mp3_without_length, 21), (lambda p: wav(p, 5, 96000), 10)],
)  # fmt: skip
def test_a_clip_within_the_limit_is_whole(tmp_path: Path, make: Any, most: float) -> None:
    path = make(tmp_path / "long")
    same(audio.decode(path, most).seconds <= most, True, "its length")


def test_1024_channels_are_decoded_in_bounded_memory(tmp_path: Path) -> None:
    mono = np.tile(noise(400), 50)
    with soundfile.SoundFile(tmp_path / "wide.wav", "w", 8000, 1024, "PCM_U8") as file:
        for start in range(0, len(mono), 1000):
            file.write(np.repeat(mono[start : start + 1000, None], 1024, axis=1))
    tracemalloc.start()
    try:
        found = audio.decode(tmp_path / "wide.wav")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    same(len(found.samples), len(mono), "samples")
    same(peak < 128 * MEGABYTE, True, f"{peak} bytes")


# --- the option --------------------------------------------------------------------------------


def test_the_limit_of_the_command_is_that_of_the_library() -> None:
    same(inspect.signature(score).parameters["max_duration"].default, audio.MAX_SECONDS, "limit")


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "-inf", "1e300", "86401"])
def test_a_limit_that_is_none_is_refused(
    cli: Any, tmp_path: Path, pairs_path: Path, spectrum_checkpoint: Path, seconds: str
) -> None:
    ended = cli("score", pairs_path, "-o", tmp_path / "s.csv", "-c", spectrum_checkpoint,
                "--device", "cpu", f"--max-duration={seconds}")  # fmt: skip
    refused(ended, r"clips of at most \S+ s: expected seconds above 0, up to a day \(86400\)")


def test_long_clips_cost_their_own_rows_only(
    cli: Any, tmp_path: Path, spectrum_checkpoint: Path, good: list[EditPair]
) -> None:
    rows = [
        row_of(good[0]),
        row_of(good[0], id="bomb", edited=str(flac(tmp_path / "bomb.flac", 2**36 - 1))),
        row_of(good[0], id="hours", original=str(wav(tmp_path / "hours.wav", 9000))),
        row_of(good[1]),
    ]
    path, output = write_rows(tmp_path / "pairs.jsonl", rows), tmp_path / "scores.csv"
    command = ["score", path, "-o", output, "-c", spectrum_checkpoint, "--device", "cpu"]
    ended = cli(*command)
    same(ended.status, 1, "status")
    found = list(scores_table.read(output))
    same([row.status for row in found], ["ok", "error", "error", "ok"], "rows")
    for row in found[1:3]:
        same("lasts longer than 3600 s" in row.reason, True, row.reason)
    # Error rows of one limit are not kept for another.
    refused(cli(*command, "--max-duration", 1), r"was not made by this .* with --fresh")
    same(cli(*command, "--max-duration", 1, "--fresh").status, 1, "status")
    same({row.status for row in scores_table.read(output)}, {"error"}, "rows")


def test_a_mix_is_as_long_as_its_recordings_may_be(tmp_path: Path) -> None:
    with pytest.raises(AudioError, match=r"hours\.wav: lasts longer than 3600 s"):
        mixes.recording(wav(tmp_path / "hours.wav", 9000), 8000)


# --- memory and order --------------------------------------------------------------------------


def test_ten_minutes_are_encoded_in_stretches() -> None:
    samples = noise(600 * Spectrum.rate_hz)
    tracemalloc.start()
    try:
        made = Spectrum().encode_clip(samples)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    same(made.frames["mel"].shape, (60_000, 64), "frames")
    # 15 MB of frames, as much for their statistics, and one stretch of long windows.
    same(peak < 200 * MEGABYTE, True, f"{peak} bytes")


@pytest.mark.parametrize("block", [1, 7, 64])
def test_a_clip_is_the_same_in_any_stretches(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    samples = noise(60_001)
    whole = [spectrum.log_mel(samples, 1024, 320), yamnet._log_mel(samples)]
    monkeypatch.setattr(spectrum, "_BLOCK_FRAMES", block)
    monkeypatch.setattr(yamnet, "_BLOCK_FRAMES", block)
    for made, expected in zip(
        [spectrum.log_mel(samples, 1024, 320), yamnet._log_mel(samples)], whole, strict=True
    ):
        np.testing.assert_allclose(made, expected, atol=1e-4)


class _Watching(Spectrum):
    """Notes how many clips are encoded at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.inside, self.most, self.lock = 0, 0, threading.Lock()

    def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        time.sleep(0.05)
        with self.lock:
            self.inside -= 1
        return super().encode_clip(samples)


@pytest.mark.parametrize(("large_bytes", "most"), [(0, 1), (1 << 40, 4)])
def test_large_files_are_encoded_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large_bytes: int, most: int
) -> None:
    monkeypatch.setattr("auditeval.features.store._LARGE_BYTES", large_bytes)
    paths = [tmp_path / f"{row}.wav" for row in range(6)]
    for row, path in enumerate(paths):
        soundfile.write(path, noise(8000, seed=row), 8000)
    encoder = _Watching()
    made = FeatureStore(Encoder([encoder]), tmp_path / "cache", workers=4).files(paths)
    same(any(isinstance(row, Failure) for row in made.values()), False, "a failure")
    same(encoder.most <= most, True, f"{encoder.most} at a time")
    same(encoder.most > 1, most > 1, "several at a time")


def test_a_store_has_a_limit(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="expected seconds above 0"):
        FeatureStore(Encoder([Spectrum()]), tmp_path, max_seconds=float("nan"))
