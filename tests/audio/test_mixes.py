"""Virtual clips: rendered as written, refused when what they are made from is another."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import soundfile
from commands import content

from auditeval import audio
from auditeval.audio import AudioError, mixes
from auditeval.audio.waveform import quantised
from auditeval.data.pseudo_parallel import table
from auditeval.data.pseudo_parallel.build import build
from auditeval.data.pseudo_parallel.plan import Settings

SETTINGS = Settings(
    backgrounds_per_pair=2, background_seconds=2.0, event_seconds=(0.5, 1.0), rate_hz=8000
)


@pytest.fixture(scope="module")
def virtual(clip_list: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of 12 tuples beside a copy of its recordings."""
    folder = tmp_path_factory.mktemp("virtual")
    shutil.copytree(clip_list.parent, folder / "clips")
    build(folder / "clips" / "labels.csv", folder / "set", SETTINGS, None, "virtual")
    return folder / "set" / "mixes.parquet"


def test_a_mix_is_the_sum_that_its_row_says(virtual: Path) -> None:
    for number, row in enumerate(table.read(virtual)):
        a, b = (
            soundfile.read(virtual.parent / row[f"{letter}_file"], dtype="float64")[0]
            for letter in "ab"
        )
        expected = row["a_gain"] * a[: row["a_samples"]]
        length = row["event_samples"]
        event = row["b_gain"] * b[row["b_start"] : row["b_start"] + length]
        expected[row["event_start"] : row["event_start"] + length] += event
        found = audio.decode(virtual / mixes.name(number, "ab"))
        assert found.rate_hz == 8000
        np.testing.assert_allclose(found.samples, expected, atol=0.51 / 32768)


def test_outside_the_event_the_background_is_untouched(virtual: Path) -> None:
    for number, row in enumerate(table.read(virtual)):
        alone, mixed = (audio.decode(virtual / mixes.name(number, c)).samples for c in ("a", "ac"))
        changed = np.flatnonzero(alone != mixed)
        assert len(changed)
        assert changed[0] >= row["event_start"]
        assert changed[-1] < row["event_start"] + row["event_samples"]


@pytest.mark.parametrize("clip", ["00000099_ab", "00000001_b", "00000001_ab.flac", "1_ab"])
def test_a_clip_that_no_row_has_is_one_sentence(virtual: Path, clip: str) -> None:
    with pytest.raises(AudioError, match=r"no such mix; mixes\.parquet has 00000000_a to 00000011"):
        audio.decode(virtual / clip)


def test_no_table(tmp_path: Path, virtual: Path) -> None:
    with pytest.raises(AudioError, match=r"absent\.parquet: no such table of mixes"):
        audio.decode(tmp_path / "absent.parquet" / "00000000_a")
    broken = content(tmp_path / "broken.parquet", virtual.read_bytes()[:-100])
    with pytest.raises(AudioError, match=r"broken\.parquet: is no table of mixes"):
        audio.decode(broken / "00000000_a")
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table({"a_file": ["x"]}), tmp_path / "other.parquet")
    with pytest.raises(
        AudioError, match=r"is no table of mixes, it needs one column each of rate_hz"
    ):
        audio.decode(tmp_path / "other.parquet" / "00000000_a")


def test_a_recording_that_has_changed_is_named(
    clip_list: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(clip_list.parent, tmp_path / "clips")
    build(tmp_path / "clips" / "labels.csv", tmp_path / "set", SETTINGS, None, "virtual")
    monkeypatch.setattr(mixes, "_recordings", mixes._Recordings(1 << 30))  # as another process
    path = tmp_path / "set" / "mixes.parquet"
    (first, *_) = table.read(path)
    changed = path.parent / first["b_file"]
    samples, rate_hz = soundfile.read(changed, dtype="int16")
    samples[7] += 1
    soundfile.write(changed, samples, rate_hz)
    assert len(audio.decode(path / "00000000_a").samples) == first["a_samples"]
    with pytest.raises(AudioError, match=f"{changed.name}: holds other samples than when"):
        audio.decode(path / "00000000_ab")
    changed.unlink()
    monkeypatch.setattr(mixes, "_recordings", mixes._Recordings(1 << 30))
    with pytest.raises(AudioError, match=f"{changed.name}: no such file"):
        audio.decode(path / "00000000_ab")


def test_recordings_are_kept_up_to_a_limit(clip_list: Path) -> None:
    paths = sorted(clip_list.parent.glob("*.wav"))
    few = mixes._Recordings(limit_bytes=4 * 8000 * 4 * 2)  # two clips of 4 s
    many = mixes._Recordings(limit_bytes=1 << 30)
    for path in [*paths, *paths]:
        assert np.array_equal(few.read(path, 8000).samples, many.read(path, 8000).samples)
        assert few._held == sum(held.samples.nbytes for held in few._kept.values()) <= few._limit
    assert many.read(paths[0], 8000) is many.read(paths[0].parent / "." / paths[0].name, 8000)
    assert many.read(paths[0], 16000).samples.shape == (32000,)


def test_sixteen_bits_round_and_clip() -> None:
    samples = np.array([0, 1.4, -1.4, 0.6 / 32768, 1.6 / 32768, -1.0], np.float32)
    assert quantised(samples).tolist() == [0, 32767, -32768, 1, 2, -32768]
