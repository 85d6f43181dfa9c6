"""Laws of decoding: every container gives the same samples, and nothing cut passes as whole."""

from __future__ import annotations

import errno
import os
import pickle
import wave
from pathlib import Path

import numpy as np
import pytest
import soundfile

from auditeval import audio
from auditeval.audio import files

RATE_HZ = 16000
LOSSLESS = [
    ("WAV", "PCM_16", 2**-15),
    ("WAV", "PCM_24", 2**-23),
    ("WAV", "PCM_32", 2**-23),  # float32 holds no more
    ("WAV", "FLOAT", 0.0),
    ("WAV", "DOUBLE", 0.0),
    ("WAVEX", "PCM_16", 2**-15),
    ("FLAC", "PCM_16", 2**-15),
    ("FLAC", "PCM_24", 2**-23),
    ("AIFF", "PCM_16", 2**-15),
    ("AU", "PCM_16", 2**-15),
    ("CAF", "ALAC_16", 2**-15),
    ("W64", "PCM_16", 2**-15),
    ("RF64", "PCM_16", 2**-15),
]


@pytest.fixture(scope="module")
def noise() -> np.ndarray:
    """One second of noise, peak 0.5."""
    return np.random.default_rng(0).uniform(-0.5, 0.5, RATE_HZ).astype(np.float32)


@pytest.mark.parametrize(("container", "subtype", "tolerance"), LOSSLESS)
def test_lossless_containers_give_the_samples_that_were_written(
    tmp_path: Path, noise: np.ndarray, container: str, subtype: str, tolerance: float
) -> None:
    path = tmp_path / f"clip.{container.lower()}"
    soundfile.write(path, noise, RATE_HZ, format=container, subtype=subtype)
    decoded = audio.decode(path)
    assert decoded.rate_hz == RATE_HZ
    assert decoded.samples.dtype == np.float32
    np.testing.assert_allclose(decoded.samples, noise, rtol=0, atol=tolerance)


@pytest.mark.parametrize(("container", "subtype"), [("OGG", "VORBIS"), ("MP3", "MPEG_LAYER_III")])
def test_lossy_containers_sound_like_what_was_written(
    tmp_path: Path, container: str, subtype: str
) -> None:
    tone = 0.4 * np.sin(2 * np.pi * 440 * np.arange(2 * RATE_HZ) / RATE_HZ)
    path = tmp_path / f"clip.{container.lower()}"
    soundfile.write(path, tone, RATE_HZ, format=container, subtype=subtype)
    decoded = audio.decode(path).samples
    assert abs(len(decoded) - len(tone)) < 0.1 * RATE_HZ
    spectrum = np.abs(np.fft.rfft(decoded[RATE_HZ // 2 : 3 * RATE_HZ // 2]))
    assert np.argmax(spectrum) == 440
    assert np.square(spectrum[435:446]).sum() > 0.99 * np.square(spectrum).sum()


def test_decoding_agrees_with_the_wave_module(tmp_path: Path) -> None:
    integers = np.random.default_rng(1).integers(-(2**15), 2**15, (4000, 2), dtype=np.int16)
    with wave.open(str(tmp_path / "clip.wav"), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(22050)
        file.writeframes(integers.astype("<i2").tobytes())
    expected = integers.astype(np.float64).mean(axis=1) / 2**15
    np.testing.assert_allclose(audio.decode(tmp_path / "clip.wav").samples, expected, atol=1e-7)


@pytest.mark.parametrize("channels", [1, 2, 8])
def test_downmix_is_the_mean_of_the_channels_across_blocks(tmp_path: Path, channels: int) -> None:
    rng = np.random.default_rng(channels)
    length = audio.files._BLOCK_SAMPLES + 777  # more than one block
    samples = rng.uniform(-0.5, 0.5, (length, channels)).astype(np.float32)
    soundfile.write(tmp_path / "clip.wav", samples, 48000, subtype="FLOAT")
    decoded = audio.decode(tmp_path / "clip.wav").samples
    np.testing.assert_allclose(decoded, samples.astype(np.float64).mean(axis=1), atol=3e-8)


@pytest.mark.parametrize("share", [0.3, 0.97])
@pytest.mark.parametrize(
    ("container", "subtype"),
    [
        ("WAV", "PCM_16"),
        ("WAV", "FLOAT"),
        ("WAV", "IMA_ADPCM"),
        ("WAVEX", "PCM_24"),
        ("FLAC", "PCM_16"),
        ("AIFF", "PCM_16"),
        ("AU", "PCM_16"),
        ("CAF", "PCM_16"),
        ("OGG", "VORBIS"),
        ("OGG", "OPUS"),
    ],
)
def test_a_cut_file_is_refused(
    tmp_path: Path, noise: np.ndarray, container: str, subtype: str, share: float
) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    soundfile.write(whole, np.tile(noise, 8), RATE_HZ, format=container, subtype=subtype)
    audio.decode(whole)
    data = whole.read_bytes()
    cut.write_bytes(data[: int(share * len(data))])
    with pytest.raises(audio.AudioError, match=r"cut: (truncated|cannot be decoded), its "):
        audio.decode(cut)


def test_a_wav_from_a_pipe_is_no_cut_file(tmp_path: Path, noise: np.ndarray) -> None:
    path = tmp_path / "clip.wav"
    soundfile.write(path, noise, RATE_HZ, subtype="PCM_16")
    data = bytearray(path.read_bytes())
    at = data.index(b"data")
    data[4:8] = data[at + 4 : at + 8] = b"\xff\xff\xff\xff"  # as ffmpeg writes to stdout
    path.write_bytes(data)
    assert len(audio.decode(path).samples) == len(noise)


@pytest.mark.parametrize("rate_hz", [8000, 44100])
def test_the_shortest_clip_is_fifty_milliseconds(tmp_path: Path, rate_hz: int) -> None:
    path = tmp_path / "clip.wav"
    least = round(0.05 * rate_hz)
    soundfile.write(path, np.full(least, 0.1), rate_hz)
    assert len(audio.decode(path).samples) == least
    soundfile.write(path, np.full(least - 1, 0.1), rate_hz)
    with pytest.raises(audio.AudioError, match=rf"clip\.wav: holds {least - 1:,} samples"):
        audio.decode(path)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (np.nan, "NaN"),
        (np.inf, "infinite"),
        (-np.inf, "infinite"),
        (1e25, "samples of 1e\\+25"),
        (32768, "samples of 3.28e\\+04"),
    ],
)
def test_one_bad_sample_is_enough(
    tmp_path: Path, noise: np.ndarray, value: float, said: str
) -> None:
    samples = noise.copy()
    samples[len(samples) // 2] = value
    soundfile.write(tmp_path / "clip.wav", samples, RATE_HZ, subtype="FLOAT")
    with pytest.raises(audio.AudioError, match=said):
        audio.decode(tmp_path / "clip.wav")


def test_the_hash_is_of_the_samples_not_of_the_file(tmp_path: Path, noise: np.ndarray) -> None:
    integers = (noise * 2**15).astype(np.int16)
    hashes = set()
    for name, subtype in (("a.wav", "PCM_16"), ("b.flac", "PCM_24"), ("c.aiff", "PCM_32")):
        soundfile.write(tmp_path / name, integers, RATE_HZ, subtype=subtype)
        hashes.add(audio.content_hash(audio.decode(tmp_path / name)))
    assert len(hashes) == 1


def test_the_hash_changes_with_one_sample_with_the_rate_and_with_the_length(
    noise: np.ndarray,
) -> None:
    changed = noise.copy()
    changed[5000] = np.nextafter(changed[5000], np.float32(1))
    clips = [
        audio.Waveform(noise, RATE_HZ),
        audio.Waveform(changed, RATE_HZ),
        audio.Waveform(noise, 2 * RATE_HZ),
        audio.Waveform(noise[:-1], RATE_HZ),
        audio.Waveform(np.append(noise, np.float32(0)), RATE_HZ),
    ]
    assert len({audio.content_hash(clip) for clip in clips}) == len(clips)
    assert audio.content_hash(clips[0]) == audio.content_hash(audio.Waveform(noise[::1], RATE_HZ))


def test_the_hash_of_a_strided_view_is_that_of_its_samples(noise: np.ndarray) -> None:
    view = noise[::2]
    assert audio.content_hash(audio.Waveform(view, 8000)) == audio.content_hash(
        audio.Waveform(view.copy(), 8000)
    )


@pytest.mark.parametrize(
    ("from_hz", "to_hz"), [(8000, 32000), (44100, 16000), (192000, 32000), (48000, 44100)]
)
def test_resampling_keeps_a_tone(from_hz: int, to_hz: int) -> None:
    seconds, tone_hz = 1.0, 997.0

    def tone(rate_hz: int) -> np.ndarray:
        t = np.arange(round(seconds * rate_hz)) / rate_hz
        return (0.5 * np.sin(2 * np.pi * tone_hz * t)).astype(np.float32)

    resampled = audio.resample(audio.Waveform(tone(from_hz), from_hz), to_hz)
    assert len(resampled) == to_hz
    inner = slice(to_hz // 10, -to_hz // 10)  # the ends ring
    np.testing.assert_allclose(resampled[inner], tone(to_hz)[inner], atol=1e-4)


def test_resampling_lets_nothing_fold_back() -> None:
    t = np.arange(48000) / 48000
    high = (0.5 * np.sin(2 * np.pi * 15000 * t)).astype(np.float32)
    folded = audio.resample(audio.Waveform(high, 48000), 16000)[800:-800]
    assert np.abs(folded).max() < 1e-4


def test_resampling_to_the_same_rate_changes_nothing(noise: np.ndarray) -> None:
    assert np.array_equal(audio.resample(audio.Waveform(noise, RATE_HZ), RATE_HZ), noise)


@pytest.mark.parametrize("window", [1, 7, 48])
@pytest.mark.parametrize("hop", [1, 5, 7, 24, 48])
@pytest.mark.parametrize("length", [1, 6, 7, 8, 95, 96, 97, 1000])
def test_windows_cover_every_sample_with_equal_steps(length: int, window: int, hop: int) -> None:
    if hop > window:
        with pytest.raises(ValueError, match="no windows"):
            audio.windows(length, window, hop)
        return
    spans = audio.windows(length, window, hop)
    covered = np.zeros(length, int)
    for span in spans:
        covered[span.start : span.stop] += 1
    assert covered.min() >= 1
    assert spans[-1].stop == length
    assert [span.start for span in spans] == [i * hop for i in range(len(spans))]
    assert all(span.stop - span.start == window for span in spans[:-1])
    assert all(span.stop < length for span in spans[:-1])  # none is there for nothing
    lengths = np.array([span.stop - span.start for span in spans])
    np.testing.assert_allclose([s.weight for s in spans], lengths / lengths.sum(), rtol=1e-12)


@pytest.mark.parametrize(("length", "window", "hop"), [(0, 4, 2), (4, 0, 1), (4, 4, 0)])
def test_windows_of_nothing_are_refused(length: int, window: int, hop: int) -> None:
    with pytest.raises(ValueError, match="no windows"):
        audio.windows(length, window, hop)


def test_real_recordings_decode_to_their_declared_length(shared_data: Path) -> None:
    paths = sorted((shared_data / "p835").rglob("*.flac"))[:5]
    assert paths
    for path in paths:
        info = soundfile.info(path)
        decoded = audio.decode(path)
        assert (len(decoded.samples), decoded.rate_hz) == (info.frames, info.samplerate)


@pytest.mark.parametrize(
    ("container", "coding", "rate_hz", "compression"),
    [
        *[("OGG", "VORBIS", 32000, level) for level in (0.0, 1.0)],
        *[("OGG", "OPUS", 48000, level) for level in (0.2, 0.95)],
        *[("MP3", "MPEG_LAYER_III", 16000, level) for level in (0.5, 0.8, 0.85, 0.95, 0.99)],
    ],
)
def test_a_lossy_round_trip_keeps_the_clip_in_its_place(
    container: str, coding: str, rate_hz: int, compression: float
) -> None:
    time = np.arange(rate_hz) / rate_hz
    clip = (
        0.3 * np.sin(2 * np.pi * (300 + 400 * time) * time) * np.exp(-(((time - 0.5) / 0.2) ** 2))
    )
    clip = clip.astype(np.float32)
    kept = files.recoded(clip, rate_hz, container, coding, compression)
    assert len(kept) == len(clip)
    assert kept.dtype == np.float32
    both = [np.fft.rfft(x, 2 * rate_hz) for x in (kept, clip)]
    lag = int(np.argmax(np.fft.irfft(both[0] * both[1].conj())))
    assert min(lag, 2 * rate_hz - lag) <= 0.0005 * rate_hz
    assert np.corrcoef(kept, clip)[0, 1] > 0.9
    assert not np.array_equal(kept, clip)


def test_channels_are_those_of_the_file(tmp_path: Path, noise: np.ndarray) -> None:
    for count in (1, 2, 6):
        path = tmp_path / f"{count}.flac"
        soundfile.write(path, np.repeat(noise[:, None], count, axis=1), RATE_HZ)
        assert audio.channels(path) == count
    (tmp_path / "text.wav").write_text("no audio")
    for name, said in (("text.wav", "cannot be decoded as audio"), ("none.wav", "no such file")):
        with pytest.raises(audio.AudioError, match=rf"{name}: {said}"):
            audio.channels(tmp_path / name)


def test_a_disk_that_takes_no_more_is_told_with_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by a write, which knows no name; also where the error comes from another process."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left on device") as told:
        files.write(tmp_path / "a.flac", np.zeros(800, np.int16), 8000)
    assert pickle.loads(pickle.dumps(told.value)).filename == str(tmp_path / "a.flac")
    assert not list(tmp_path.iterdir())
