"""Clips that are cut, damaged, mislabelled or cancel themselves: told as such, the same each time.

Samples may come from nowhere but the file: each damaged file is decoded twice, with others in
between in another order.
"""

from __future__ import annotations

import io
import re
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from commands import content, row_of
from outcomes import WrongResult, same

from auditeval import audio
from auditeval.audio import AudioError, containers
from auditeval.scoring import Evaluator
from auditeval.types import EditPair

RATE_HZ = 8000
HEADERLESS = ("RAW", "SD2")
UNREADABLE = {("AIFF", "DWVW_16"), ("AIFF", "DWVW_24")}  # libsndfile loses its place in them
NO_LENGTH = {"PAF", "PVF", "IRCAM", "XI"}
"""Their headers do not say how long they are: what is there is all there is."""
DAMAGES = 4  # of each kind to each format


def samples(length: int = RATE_HZ, channels: int = 1, seed: int = 0) -> np.ndarray:
    """Noise that gets quieter upwards :: (length, channels), peak 0.4."""
    steps = np.random.default_rng(seed).uniform(-1, 1, (length, channels))
    walk = np.cumsum(steps, axis=0)
    walk -= walk.mean(axis=0)
    return 0.4 * walk / np.abs(walk).max()


def encoded(container: str, subtype: str, clip: np.ndarray, rate_hz: int = RATE_HZ) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, clip, rate_hz, format=container, subtype=subtype)
    return file.getvalue()


def _formats() -> Iterator[tuple[str, str]]:
    for container in soundfile.available_formats():
        for subtype in soundfile.available_subtypes(container):
            writable = soundfile.check_format(container, subtype)
            if container not in HEADERLESS and writable and (container, subtype) not in UNREADABLE:
                try:
                    encoded(container, subtype, samples(100))
                except soundfile.LibsndfileError:
                    continue
                yield container, subtype


FORMATS = list(_formats())


@pytest.fixture(scope="module")
def wholes() -> dict[tuple[str, str], bytes]:
    """One second in each format."""
    return {kind: encoded(*kind, samples(seed=row)) for row, kind in enumerate(FORMATS)}


def outcome(path: Path) -> str:
    """Hash and length, or what is wrong with it."""
    try:
        clip = audio.decode(path)
    except AudioError as error:
        return str(error).removeprefix(f"{path}: ")
    return f"{audio.content_hash(clip)} {len(clip.samples)}"


def refused_clip(path: Path, said: str) -> None:
    found = outcome(path)
    if not re.search(said, found):
        raise WrongResult(f"expected {said!r}, found {found!r}")


# --- damaged files of every format -------------------------------------------------------------


def cut(data: bytearray, rng: np.random.Generator) -> bytearray:
    return data[: rng.integers(1, len(data))]


def flip(data: bytearray, rng: np.random.Generator) -> bytearray:
    for at in rng.integers(0, len(data), rng.integers(1, 9)):
        data[at] ^= 1 << int(rng.integers(8))
    return data


def blank(data: bytearray, rng: np.random.Generator) -> bytearray:
    at = int(rng.integers(len(data)))
    end = min(len(data), at + int(rng.integers(1, 400)))
    data[at:end] = bytes(end - at)
    return data


def change_header(data: bytearray, rng: np.random.Generator) -> bytearray:
    for at in rng.integers(0, min(200, len(data)), rng.integers(1, 4)):
        data[at] = int(rng.integers(256))
    return data


@pytest.mark.parametrize("damage", [cut, flip, blank, change_header])
def test_damaged_files_are_the_same_whatever_was_decoded_before(
    tmp_path: Path, attacks: Any, wholes: dict[tuple[str, str], bytes], damage: Any
) -> None:
    rng = np.random.default_rng(len(damage.__name__))
    files = [
        content(tmp_path / f"{row}_{number}.{kind[0].lower()}", bytes(damage(bytearray(data), rng)))
        for row, (kind, data) in enumerate(wholes.items())
        for number in range(DAMAGES)
    ]
    attacks(len(files))
    first = {path: outcome(path) for path in files}
    again = {files[row]: outcome(files[row]) for row in rng.permutation(len(files))}
    for path in files:
        same(again[path], first[path], path.name)


@pytest.mark.parametrize("kind", FORMATS, ids=" ".join)
def test_a_cut_file_says_what_is_missing(
    tmp_path: Path, wholes: dict[tuple[str, str], bytes], kind: tuple[str, str]
) -> None:
    data = wholes[kind]
    path = content(tmp_path / f"clip.{kind[0].lower()}", data)
    whole = outcome(path)
    same(whole.endswith(tuple(map(str, range(RATE_HZ, RATE_HZ + 400)))), True, whole)
    for share in (0.6, 0.9):
        path.write_bytes(data[: int(share * len(data))])
        if kind[0] in NO_LENGTH:
            same(int(outcome(path).split()[1]) < RATE_HZ, True, "a part as the whole")
        elif kind[0] == "OGG":
            refused_clip(path, "^truncated, its last whole Ogg page is not the end of the stream")
        elif kind[0] in ("HTK", "VOC"):  # these say "not recognised", and "ends behind"
            refused_clip(path, r"^truncated, |^cannot be decoded")
        else:
            refused_clip(path, r"^(truncated|cannot be decoded), its header declares \d+ .* \d+ ")


# --- what a cut file hides behind --------------------------------------------------------------


def with_chunks(data: bytes) -> bytes:
    """A WAV with more chunks before its samples than libsndfile's log has room for."""
    at = data.index(b"data")
    chunks = b"".join(b"ab%02d\4\0\0\0wxyz" % (row % 100) for row in range(400))
    return data[:at] + chunks + data[at:]


def with_tag(data: bytes) -> bytes:
    """The same behind an ID3 tag of 300 bytes."""
    return b"ID3\3\0\0\0\0\2\x2c" + bytes(300) + data


WAV = encoded("WAV", "PCM_16", samples())
HIDING: dict[str, bytes] = {
    "chunks": with_chunks(WAV),
    "tag": with_tag(WAV),
    "tag before FLAC": with_tag(encoded("FLAC", "PCM_16", samples())),
    "tag before AIFF": with_tag(encoded("AIFF", "PCM_16", samples())),
    "tags": with_tag(with_tag(WAV)),
}


@pytest.mark.parametrize("kind", HIDING)
def test_a_cut_file_is_seen_behind(tmp_path: Path, kind: str) -> None:
    path = content(tmp_path / "clip.wav", HIDING[kind])
    same(outcome(path).split()[-1], str(RATE_HZ), "the whole")
    path.write_bytes(HIDING[kind][:-5000])
    refused_clip(path, r"^(truncated|cannot be decoded), its header declares \d+ .* \d+ ")


def test_chunks_without_end_are_no_hang(tmp_path: Path) -> None:
    at = WAV.index(b"data")
    path = content(tmp_path / "clip.wav", WAV[:at] + b"abcd\0\0\0\0" * 500_000)
    refused_clip(path, r"its first 10000 chunks hold no samples")


@pytest.mark.parametrize("declared", [0xFFFFFFFF, 0x7FFFFFFF])
def test_a_length_that_its_writer_could_not_know_is_that_of_the_file(
    tmp_path: Path, declared: int
) -> None:
    at = WAV.index(b"data") + 4
    path = content(tmp_path / "clip.wav", WAV[:at] + struct.pack("<I", declared) + WAV[at + 4 :])
    same(outcome(path).split()[-1], str(RATE_HZ), "samples")


# --- MP3 ---------------------------------------------------------------------------------------


def mp3(clip: np.ndarray, mode: str, compression: float, rate_hz: int = 44100) -> bytes:
    file = io.BytesIO()
    soundfile.write(
        file,
        clip,
        rate_hz,
        format="MP3",
        subtype="MPEG_LAYER_III",
        bitrate_mode=mode,
        compression_level=compression,
    )
    return file.getvalue()


def without_length(data: bytes) -> bytes:
    """An MP3 less its first frame, in which its length stands."""
    assert b"Xing" in data[:64] or b"Info" in data[:64]
    return data[data.index(data[:2], 4) :]


MP3S = {
    "constant": mp3(samples(88200), "CONSTANT", 0.5),
    "variable": mp3(samples(88200), "VARIABLE", 0.5),
    "average": mp3(samples(88200), "AVERAGE", 0.5),
    "stereo": mp3(samples(88200, 2), "VARIABLE", 0.5),
    "MPEG 2": mp3(samples(32000), "CONSTANT", 0.3, 16000),
    "MPEG 2 stereo": mp3(samples(32000, 2), "VARIABLE", 0.5, 16000),
    "tagged": with_tag(mp3(samples(88200), "CONSTANT", 0.5)),
}


@pytest.mark.parametrize("share", [0.05, 0.5, 0.97])
@pytest.mark.parametrize("kind", MP3S)
def test_a_cut_mp3_that_knows_its_length(tmp_path: Path, kind: str, share: float) -> None:
    data = MP3S[kind]
    path = content(tmp_path / "clip.mp3", data)
    declared = outcome(path).split()[-1]
    path.write_bytes(data[: int(share * len(data))])
    # Of two frames even libsndfile makes nothing.
    short = rf"^truncated, its header declares {declared} samples and \d+ are there"
    refused_clip(path, short if share > 0.1 else f"{short}|^cannot be decoded as audio")


@pytest.mark.parametrize("kind", ["variable", "average", "stereo", "MPEG 2 stereo"])
def test_of_an_mp3_that_does_not_know_its_length_counts_what_can_be_read(
    tmp_path: Path, kind: str
) -> None:
    paths = [tmp_path / name for name in ("whole.mp3", "part.mp3")]
    data = without_length(MP3S[kind])
    content(paths[0], data), content(paths[1], data[: len(data) // 2])
    whole, part = (audio.decode(path).samples for path in paths)
    same(len(whole) % 576, 0, "a length in whole frames")
    same(len(part) < len(whole), True, "the length of a part")
    least = len(part) - 1152  # the last frame has lost what stands in the next
    same(np.array_equal(part[:least], whole[:least]), True, "the samples of a part")


@pytest.mark.parametrize("first", [0.0, 0.9])
def test_an_mp3_without_length_is_read_to_its_end(tmp_path: Path, first: float) -> None:
    """Its first frames are far larger than the others, or far smaller: the guess is wrong."""
    parts = [without_length(mp3(samples(44100), "CONSTANT", x)) for x in (first, 0.9 - first)]
    alone = [audio.decode(content(tmp_path / "a.mp3", part)).samples for part in parts]
    both = audio.decode(content(tmp_path / "both.mp3", b"".join(parts))).samples
    same(len(both), sum(map(len, alone)), "samples")


@pytest.mark.parametrize(
    "tail", [b"TAG".ljust(128, b"\0"), b"APETAGEX" + bytes(9000), b"\0" * 70_000, b"LYRICSBEGIN"]
)
def test_what_stands_behind_an_mp3_without_length_is_no_sound(tmp_path: Path, tail: bytes) -> None:
    data = without_length(MP3S["variable"])
    alone, tagged = (
        outcome(content(tmp_path / f"{name}.mp3", data + more))
        for name, more in (("alone", b""), ("tagged", tail))
    )
    same(tagged, alone, "the samples")


def test_a_disk_that_fails_in_an_mp3_without_length_makes_no_shorter_clip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = content(tmp_path / "clip.mp3", without_length(MP3S["variable"]))
    reads = iter(range(100))

    def fail(file: containers.Endless, buffer: Any) -> int | None:
        return super(containers.Endless, file).readinto(buffer) if next(reads, None) else 0

    monkeypatch.setattr(containers.Endless, "readinto", fail, raising=False)
    next(reads)
    refused_clip(path, r"^cannot be decoded")


# --- what is no audio, or is by its name only --------------------------------------------------


@pytest.mark.parametrize(
    "suffix", ["au", "snd", "vox", "gsm", "raw", "mp3", "wav", "flac", "sd2", "txt", "al", "ul"]
)
@pytest.mark.parametrize("what", ["text", "noise", "zeros"])
def test_a_name_makes_no_audio(tmp_path: Path, suffix: str, what: str) -> None:
    noise = np.random.default_rng(3).bytes(20_000)
    data = {"text": b"hello audio world " * 1000, "noise": b"\1" + noise, "zeros": bytes(20_000)}
    refused_clip(content(tmp_path / f"clip.{suffix}", data[what]), r"^cannot be decoded as audio")


def test_a_file_of_a_like_name_beside_it_changes_nothing(tmp_path: Path) -> None:
    path = content(tmp_path / "clip.mp3", MP3S["constant"])
    alone = outcome(path)
    for name in ("._clip.mp3", "._"):
        content(tmp_path / name, np.random.default_rng(0).bytes(3000))
    same(outcome(path), alone, "with what a Mac leaves beside a file")
    soundfile.write(tmp_path / "fork.sd2", samples(), RATE_HZ, format="SD2", subtype="PCM_16")
    shutil.copy(tmp_path / "._fork.sd2", tmp_path / "._clip.mp3")
    same(outcome(path), alone, "with the fork of another file")


@pytest.mark.parametrize("rate_hz", [0, 1, 999, 2_000_000, 2**31 - 1])
def test_a_rate_that_no_clip_has(tmp_path: Path, rate_hz: int) -> None:
    data = bytearray(WAV)
    data[24:28] = struct.pack("<I", rate_hz)
    refused_clip(content(tmp_path / "clip.wav", bytes(data)), r"declares \d+ Hz|cannot be decoded")


# --- channels ----------------------------------------------------------------------------------


def stereo(left: np.ndarray, right: np.ndarray, *more: np.ndarray) -> np.ndarray:
    return np.stack([left, right, *more], axis=1).astype(np.float32)


ONE = samples()[:, 0].astype(np.float32)
DITHER = np.random.default_rng(1).uniform(-1, 1, (2, RATE_HZ)).astype(np.float32) / 32768
CANCELLING = {
    "opposite": stereo(ONE, -ONE),
    "opposite with dither": stereo(ONE + DITHER[0], DITHER[1] - ONE),
    "two pairs": stereo(ONE, -ONE, 2 * ONE, -2 * ONE),
    "quiet": stereo(1e-4 * ONE, -1e-4 * ONE),
}
SOUND = {
    "one silent": stereo(ONE, 0 * ONE),
    "unrelated": stereo(ONE, ONE[::-1]),
    "opposite but for 1 %": stereo(ONE, -0.99 * ONE),
    "64 unrelated": samples(channels=64, seed=5).astype(np.float32),
}


@pytest.mark.parametrize("kind", CANCELLING)
def test_channels_that_cancel_are_told_as_such(tmp_path: Path, kind: str) -> None:
    soundfile.write(tmp_path / "clip.wav", CANCELLING[kind], RATE_HZ, subtype="FLOAT")
    refused_clip(tmp_path / "clip.wav", r"^has channels that cancel each other, so that nothing is")


@pytest.mark.parametrize("kind", SOUND)
def test_other_channels_are_their_mean(tmp_path: Path, kind: str) -> None:
    soundfile.write(tmp_path / "clip.wav", SOUND[kind], RATE_HZ, subtype="FLOAT")
    mean = SOUND[kind].mean(axis=1, dtype=np.float64).astype(np.float32)
    same(
        outcome(tmp_path / "clip.wav"),
        f"{audio.content_hash(audio.Waveform(mean, RATE_HZ))} {RATE_HZ}",
        kind,
    )


def test_silent_channels_are_silence(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "clip.wav", np.zeros((RATE_HZ, 2)), RATE_HZ)
    refused_clip(tmp_path / "clip.wav", r"^is digital silence")


# --- in a batch --------------------------------------------------------------------------------


def test_damaged_clips_cost_their_own_rows_only(
    tmp_path: Path, evaluator: Evaluator, good: list[EditPair]
) -> None:
    soundfile.write(tmp_path / "cancel.wav", CANCELLING["opposite"], RATE_HZ)
    bad = {
        content(tmp_path / "cut.mp3", MP3S["variable"][:-900]): "truncated",
        content(tmp_path / "cut.w64", encoded("W64", "PCM_16", samples())[:-900]): "truncated",
        content(tmp_path / "cut.rf64", encoded("RF64", "PCM_16", samples())[:-900]): "truncated",
        content(tmp_path / "text.au", b"hello " * 9000): "cannot be decoded as audio",
        tmp_path / "cancel.wav": "cancel each other",
    }
    pairs = [
        EditPair.model_validate(row_of(good[0], id=path.name, edited=str(path))) for path in bad
    ]
    found = evaluator.score([good[0], *pairs, good[1]])
    same([row.status for row in found], ["ok", *["error"] * len(bad), "ok"], "status")
    for row, (path, said) in zip(found[1:-1], bad.items(), strict=True):
        same(bool(re.search(rf"{path.name}: .*{said}", row.reason)), True, row.reason)
