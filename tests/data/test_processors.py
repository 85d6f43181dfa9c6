"""Real processors do what they are taken for, where their weights are at hand; see `at_hand`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from processors_at_hand import FOLDERS, STAND_INS, folder, missing, real

from auditeval import audio
from auditeval.data.simulation import build, processors
from auditeval.data.simulation.material import Material
from auditeval.data.simulation.processors import NAMES, Processors
from auditeval.data.simulation.signals import RATE_HZ, active_rms, below, decibels, spectrum
from auditeval.types import UserError


@pytest.fixture(scope="module")
def talkers(shared_data: Path) -> list[np.ndarray]:
    """2 s of three talkers, of a band of 8 kHz."""
    files = sorted((shared_data / "librispeech10").glob("*.flac"))[:3]
    return [audio.resample(audio.decode(path), RATE_HZ)[: 2 * RATE_HZ] for path in files]


@cache
def loaded(*names: str) -> Processors:
    return real(*names)


def snr_db(clean: np.ndarray, x: np.ndarray) -> float:
    return 20 * float(np.log10(np.linalg.norm(clean) / np.linalg.norm(x - clean)))


def distance(x: np.ndarray, y: np.ndarray) -> float:
    """Log-spectral, rms in dB."""
    one, other = (10 * np.log10(np.abs(spectrum(z)) ** 2 + 1e-4) for z in (x, y))
    return float(np.sqrt(np.mean((one - other) ** 2)))


def delay(x: np.ndarray, y: np.ndarray) -> int:
    """Samples that y is later, at RATE_HZ."""
    size = 2 * len(x)
    found = np.fft.irfft(np.conj(np.fft.rfft(x, size)) * np.fft.rfft(y, size))
    return (int(np.argmax(found)) + size // 2) % size - size // 2


def test_lyra_is_nearer_to_the_original_at_a_higher_rate_and_never_late(
    talkers: list[np.ndarray],
) -> None:
    lyra = loaded("lyra")
    for clip in talkers:
        coarse, fine, unquantised = (lyra.run("lyra", clip, *a) for a in ((2.0,), (9.2,), ()))
        assert distance(fine, clip) < distance(coarse, clip) - 0.2
        assert snr_db(clip, coarse) + 1 < snr_db(clip, fine) < snr_db(clip, unquantised)
        for made in (fine, unquantised):
            assert abs(delay(clip, made)) <= 2  # of 32000 a second
        np.testing.assert_array_equal(lyra.run("lyra", clip, 9.2), fine)  # no state is left


@pytest.mark.parametrize("name", processors.ENHANCERS)
def test_an_enhancer_raises_the_ratio_of_speech_to_noise(
    name: str, talkers: list[np.ndarray]
) -> None:
    enhancer, rng = loaded(name), np.random.default_rng(0)
    for clip in talkers:
        noise = below(rng.standard_normal(len(clip)), 7900)
        noisy = clip + noise * active_rms(clip) * decibels(-5)
        made = enhancer.run(name, noisy)
        gain = made @ clip / (clip @ clip)
        assert snr_db(gain * clip, made) > snr_db(clip, noisy) + 1.5
        assert abs(delay(clip, made)) <= 2
        assert snr_db(clip, enhancer.run(name, clip)) > snr_db(clip, made)


@pytest.mark.parametrize("semitones", [-4.0, 0.0, 3.0])
def test_world_changes_the_pitch_by_the_semitones_asked_for(
    semitones: float, talkers: list[np.ndarray]
) -> None:
    world = loaded("world")
    import pyworld

    def pitch(x: np.ndarray) -> np.ndarray:
        low = audio.resample(audio.Waveform(np.float32(x), RATE_HZ), 16000)
        return pyworld.harvest(low.astype(np.float64), 16000)[0]  # not the tracker it is made with

    for clip in talkers[:2]:
        before, after = pitch(clip), pitch(world.run("world", clip, semitones))
        voiced = (before > 0) & (after > 0)
        assert voiced.sum() > 100
        ratio = np.median(after[voiced] / before[voiced])
        assert 12 * np.log2(ratio) == pytest.approx(semitones, abs=0.2)


def test_world_makes_formants_higher_and_speech_longer(talkers: list[np.ndarray]) -> None:
    world, clip = loaded("world"), talkers[0]

    def centroid(x: np.ndarray) -> float:
        power = (np.abs(spectrum(x)) ** 2).sum(axis=0)[10:256]
        return float((power * np.arange(10, 256)).sum() / power.sum())

    low, high = (centroid(world.run("world", clip, 0.0, f)) for f in (0.85, 1.18))
    assert high > 1.1 * low

    def end(x: np.ndarray) -> float:
        """When the clip has had nine tenths of its power, in seconds."""
        power = np.cumsum(np.square(x, dtype=np.float64))
        return int(np.argmax(power > 0.9 * power[-1])) / RATE_HZ

    part = np.pad(clip[:RATE_HZ], (0, RATE_HZ))
    same, longer, shorter = (end(world.run("world", part, 0.0, 1.0, d)) for d in (1.0, 1.4, 0.7))
    assert longer == pytest.approx(1.4 * same, rel=0.05)
    assert shorter == pytest.approx(0.7 * same, rel=0.05)
    assert len(world.run("world", part, 0.0, 1.0, 1.4)) == len(part)


def error(x: np.ndarray, y: np.ndarray, low_hz: float, high_hz: float) -> float:
    """Of y in that band, as a share of x."""
    one, other = (np.fft.rfft(z * np.hanning(len(z))) for z in (x, y))
    hz = np.fft.rfftfreq(len(x), 1 / RATE_HZ)
    band = (hz > low_hz) & (hz < high_hz)
    return float(np.linalg.norm(other[band] - one[band]) / np.linalg.norm(one[band]))


@pytest.mark.parametrize(("rate_hz", "top_hz"), [(16000, 8000.0), (24000, 12000.0)])
@pytest.mark.parametrize("name", NAMES)
def test_what_lies_above_its_band_is_kept(
    name: str, rate_hz: int, top_hz: float, talkers: list[np.ndarray]
) -> None:
    clip = talkers[0]
    wide = clip + 0.01 * np.random.default_rng(0).standard_normal(len(clip))
    made = loaded(name).run(name, wide, rate_hz=rate_hz)
    assert made.shape == wide.shape
    assert error(wide, made, 1.07 * top_hz, 16000) < 1e-3
    assert error(wide, made, 0.5 * top_hz, 0.9 * top_hz) > 0.1  # and something was done in it


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("length", [1, 319, 5001])
def test_clips_of_any_length_keep_it(name: str, length: int, talkers: list[np.ndarray]) -> None:
    made = loaded(name).run(name, talkers[0][16000 : 16000 + length])
    assert made.shape == (length,)
    assert np.isfinite(made).all()
    assert np.isfinite(loaded(name).run(name, np.zeros(length, np.float32))).all()


@pytest.mark.parametrize("name", FOLDERS)
def test_a_missing_file_is_one_sentence(name: str, tmp_path: Path) -> None:
    for where in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(UserError, match=rf"{where}: has no \w+\.(tflite|onnx)"):
            Processors({name: where})


def test_a_missing_package_and_an_unknown_name_are_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(UserError, match="processors: 'opus' is none of lyra, dtln, gtcrn, world"):
        Processors({"opus": "somewhere"})
    monkeypatch.setitem(sys.modules, "pyworld", None)
    with pytest.raises(UserError, match=r"pyworld cannot be imported.*\.\[processors\]"):
        Processors({"world": True})


def test_what_is_not_given_is_not_there() -> None:
    for given in ({}, {"lyra": None, "world": False, "gtcrn": ""}):
        none = Processors(given)
        assert not any(name in none for name in NAMES)
        assert none.any_of(NAMES) == []
        assert none.identity() == Processors({}).identity()


def test_the_identity_is_that_of_names_and_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, _ = processors._READERS["lyra"]
    stand_in: dict[str, tuple[tuple[str, ...], Callable]] = {
        name: (files, lambda folder: STAND_INS["lyra"]) for name in ("lyra", "dtln")
    }
    monkeypatch.setattr(processors, "_READERS", stand_in)
    for place, content in (("one", b"1"), ("same", b"1"), ("other", b"2")):
        (tmp_path / place / "below").mkdir(parents=True)
        for file in files:
            (tmp_path / place / "below" / file).write_bytes(content + file.encode())
    one, same, other, named, more = (
        Processors(given).identity()
        for given in (
            {"lyra": tmp_path / "one"},
            {"lyra": tmp_path / "same"},
            {"lyra": tmp_path / "other"},
            {"dtln": tmp_path / "one"},
            {"lyra": tmp_path / "one", "dtln": tmp_path / "one"},
        )
    )
    assert one == same
    assert len({one, other, named, more, Processors({}).identity()}) == 5
    both = {"dtln": tmp_path / "one", "lyra": tmp_path / "one"}
    assert Processors(both).identity() == more  # in any order
    known = Material({}, processors=Processors({"lyra": tmp_path / "one"})).identity()
    assert known != Material({}).identity()


def test_a_set_with_no_processors_is_the_same_whatever_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = build.build(tmp_path / "all", 6, 1.2, workers=1, unedited=0.5)
    for package in ("pyworld", "ai_edge_litert", "ai_edge_litert.interpreter", "onnxruntime"):
        monkeypatch.setitem(sys.modules, package, None)
    bare = build.build(
        tmp_path / "none", 6, 1.2, workers=1, unedited=0.5, processors={"lyra": None}
    )
    assert bare.parent.name == made.parent.name
    files = sorted(path.relative_to(made.parent) for path in made.parent.rglob("*.*"))
    assert len(files) > 20
    for file in files:
        assert (bare.parent / file).read_bytes() == (made.parent / file).read_bytes(), file


def test_real_processors_are_read_from_checkouts() -> None:
    there = [name for name in FOLDERS if not missing(name)]
    if not there:
        pytest.skip("; ".join(missing(name) for name in FOLDERS))
    made = Processors({name: folder(name) for name in there})
    assert made.any_of(NAMES) == there
