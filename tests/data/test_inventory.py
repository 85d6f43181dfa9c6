"""What a set's clips are: counted, told apart by their samples, named where they cannot be used."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from auditeval import audio, manifest
from auditeval.data import inventory
from auditeval.data.pseudo_parallel.build import build
from auditeval.data.pseudo_parallel.plan import Settings
from auditeval.types import EditPair


def clip(
    path: Path, seed: int, seconds: float = 0.5, rate_hz: int = 8000, channels: int = 1
) -> Path:
    path.parent.mkdir(exist_ok=True)
    samples = np.random.default_rng(seed).uniform(-0.3, 0.3, round(seconds * rate_hz))
    rows = np.repeat(np.round(samples * 32768)[:, None], channels, axis=1).astype(np.int16)
    soundfile.write(path, rows, rate_hz, subtype="PCM_16")
    return path


def pair(id: str, original: Path, edited: Path, **more: Any) -> EditPair:
    return EditPair(
        id=id, original=original, edited=edited, original_caption="a", target_caption="b", **more
    )


@pytest.fixture
def pairs(tmp_path: Path) -> list[EditPair]:
    """Two sounds in three originals; of five edits one is missing, one silent, one no edit."""
    first = clip(tmp_path / "o" / "first.wav", 1)
    copy = clip(tmp_path / "o" / "copy.flac", 1)  # the same samples in another container
    second = clip(tmp_path / "o" / "second.wav", 2, seconds=1.5, rate_hz=16000, channels=2)
    soundfile.write(tmp_path / "silent.wav", np.zeros(8000), 8000)
    return [
        pair("a", first, clip(tmp_path / "e1.wav", 11)),
        pair("b", copy, clip(tmp_path / "e2.wav", 12, channels=2)),
        pair(
            "c", tmp_path / "o" / ".." / "o" / "first.wav", shutil.copy(first, tmp_path / "e3.wav")
        ),
        pair("d", second, tmp_path / "missing.wav"),
        pair("e", second, tmp_path / "silent.wav"),
    ]


def test_clips_are_counted_measured_and_told_apart(pairs: list[EditPair], tmp_path: Path) -> None:
    found = inventory.take_stock(pairs, inventory.read(pairs))
    originals, edited = found.clips["original"], found.clips["edited"]
    assert originals.sounds == 2
    assert sorted(originals.seconds) == [0.5, 0.5, 1.5]
    assert originals.rates_hz == {8000: 2, 16000: 1}
    assert originals.channels == {1: 2, 2: 1}
    assert (edited.sounds, sorted(edited.seconds)) == (3, [0.5] * 3)
    assert edited.channels == {1: 2, 2: 1}
    files = [tmp_path / "o" / name for name in ("copy.flac", "first.wav")]
    assert found.same == {"original": [files], "edited": []}
    assert found.unchanged == ["c"]
    assert found.pair_seconds == pytest.approx(6 * 0.5 + 2 * 1.5)
    assert found.unusable == [
        (tmp_path / "missing.wav", "no such file", ["d"]),
        (tmp_path / "silent.wav", "is digital silence, so there is nothing to rate", ["e"]),
    ]


def test_each_file_is_decoded_once(
    pairs: list[EditPair], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    read, decode = [], audio.decode

    def counted(path: Path) -> audio.Waveform:
        read.append(path)
        return decode(path)

    monkeypatch.setattr(audio, "decode", counted)
    again = [made.model_copy(update={"id": f"{made.id}2"}) for made in pairs]
    inventory.read([*pairs, *again])
    assert len(read) == len(set(read)) == 8


def test_the_worst_of_many_pairs_names_them_all(pairs: list[EditPair]) -> None:
    more = [*pairs, pairs[3].model_copy(update={"id": "f"})]
    (missing, _) = inventory.take_stock(more, inventory.read(more)).unusable
    assert missing.pairs == ["d", "f"]


def test_mixes_of_a_table_are_clips_as_others(clip_list: Path, tmp_path: Path) -> None:
    shutil.copytree(clip_list.parent, tmp_path / "clips")
    settings = Settings(
        backgrounds_per_pair=1, background_seconds=1.0, event_seconds=(0.5, 1.0), rate_hz=8000
    )
    build(tmp_path / "clips" / "labels.csv", tmp_path / "set", settings, None, "virtual")
    (path,) = (tmp_path / "set").glob("*.jsonl")
    pairs = manifest.read(path)
    found = inventory.take_stock(pairs, inventory.read(pairs))
    assert found.unusable == []
    for side in inventory.SIDES:
        clips = found.clips[side]
        assert set(clips.seconds) == {1.0}
        assert clips.channels == {1: len(clips.seconds)}
        assert clips.rates_hz == {8000: len(clips.seconds)}


def split(pairs: list[EditPair], *sides: str | None) -> list[EditPair]:
    return [
        made.model_copy(update={"split": side}) for made, side in zip(pairs, sides, strict=True)
    ]


def test_one_original_in_two_files_leaks_by_its_samples(
    pairs: list[EditPair], tmp_path: Path
) -> None:
    stated = split(pairs, "train", "test", "test", "validation", "validation")
    first = tmp_path / "o" / "first.wav"
    (leak,) = inventory.leaks(stated, inventory.read(stated))
    assert leak.pairs == {"train": ["a"], "test": ["b", "c"]}
    assert leak.original in (first, tmp_path / "o" / "copy.flac")
    # Without audio the copy is another file; the file that two rows write in two ways is one.
    assert inventory.leaks(stated, {}) == [(first, {"train": ["a"], "test": ["c"]})]


def test_what_stands_on_one_side_or_on_none_does_not_leak(pairs: list[EditPair]) -> None:
    clips = inventory.read(pairs)
    assert inventory.leaks(split(pairs, *["train"] * 3, *["test"] * 2), clips) == []
    assert inventory.leaks(split(pairs, "train", None, None, "test", "test"), clips) == []
    assert inventory.leaks(pairs, clips) == []


def test_a_declared_source_leaks_without_audio(tmp_path: Path) -> None:
    made = [
        pair("a", tmp_path / "x.wav", tmp_path / "e.wav", source="scene 1", split="train"),
        pair("b", tmp_path / "y.wav", tmp_path / "e.wav", source="scene 1", split="validation"),
        pair("c", tmp_path / "z.wav", tmp_path / "e.wav", source="scene 2", split="test"),
    ]
    assert inventory.leaks(made, {}) == [("scene 1", {"train": ["a"], "validation": ["b"]})]
