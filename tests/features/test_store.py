"""The feature cache: everything once, keyed by content, shared by processes, never damaged."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch
from commands import every_file

from auditeval import audio, manifest
from auditeval.data.soundbank import synthesize
from auditeval.features import store as feature_store
from auditeval.features.alignment import Alignment, align
from auditeval.features.comparison import Frames
from auditeval.features.encoder import Encoder
from auditeval.features.extractor import AudioFeatures
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.features.extractors.words import Words
from auditeval.features.pair import PairFeatures
from auditeval.features.store import Failure, FeatureStore
from auditeval.features.turning import NO_TURN, Turn
from auditeval.types import EditPair, UserError


class Counting(Spectrum):
    """The spectrum with a small text encoder, so that captions are cached too."""

    text_dim = 2

    def encode_text(self, captions: list[str]) -> np.ndarray:
        return np.array([[len(c), c.count("a")] for c in captions], np.float32)


@pytest.fixture
def pairs(tmp_path: Path) -> list[EditPair]:
    """Four clips and three captions in three pairs; short, so that they may be rewritten."""
    folder = tmp_path / "audio"
    folder.mkdir()
    for name in ("rain", "siren", "dog_bark", "speech"):
        soundfile.write(folder / f"{name}.wav", synthesize(name, 1, 0.5, 16000), 16000, "PCM_16")
    named = [("rain", "siren"), ("rain", "dog_bark"), ("siren", "speech")]
    return [
        EditPair(
            id=f"{a}-{b}",
            original=folder / f"{a}.wav",
            edited=folder / f"{b}.wav",
            original_caption="Rain.",
            target_caption=f"Rain and a {b[0]}.",
        )
        for a, b in named
    ]


def equal(first: list[PairFeatures | Failure], second: list[PairFeatures | Failure]) -> bool:
    assert all(isinstance(row, PairFeatures) for row in [*first, *second])
    return len(first) == len(second) and all(
        torch.equal(x, y)
        for a, b in zip(first, second, strict=True)
        for x, y in zip(a, b, strict=True)
    )


def test_second_call_computes_nothing(pairs: list[EditPair], tmp_path: Path) -> None:
    store = FeatureStore(Encoder([Counting()]), tmp_path / "cache")
    first = store.pairs(pairs)
    assert store.misses == 4 + 3 + 2  # captions "Rain.", "... s.", "... d."; words added to them
    assert store.encoder_seconds > 0
    again = FeatureStore(Encoder([Counting()]), tmp_path / "cache")
    assert equal(again.pairs(pairs), first)
    assert again.misses == 0
    assert again.encoder_seconds == 0


def test_what_is_stored_is_what_the_encoder_said(pairs: list[EditPair], tmp_path: Path) -> None:
    store = FeatureStore(Encoder([Counting()]), tmp_path / "cache")
    store.pairs(pairs)
    (row,) = store.pairs(pairs[1:2])
    clips = [audio.decode(path) for path in (pairs[1].original, pairs[1].edited)]
    made = Counting().encode_audio([audio.resample(clip, 32000) for clip in clips])
    assert np.array_equal(row.original_audio, made[0].embedding)
    assert np.array_equal(row.edited_audio, made[1].embedding)
    aligned = align(made[0].frames["mel"], made[1].frames["mel"])
    assert np.array_equal(row.alignment, aligned.values)
    assert row.original_text.tolist() == [5, 1]
    assert row.target_text.tolist() == [len(pairs[1].target_caption), 3]


def test_texts_asked_for_lately_are_not_read_again(
    pairs: list[EditPair], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feature_store, "_REMEMBERED", 2)
    store = FeatureStore(Encoder([Counting()]), tmp_path / "cache")
    texts = ["Rain.", "", "A bell.", "Hail."]
    first = store.captions(texts)
    for entry in (tmp_path / "cache").rglob("*.entry"):
        entry.unlink()
    assert [row["spectrum"].tolist() for row in store.captions(texts[1:])] == [
        row["spectrum"].tolist() for row in first[1:]
    ]
    assert store.misses == 3
    store.captions(texts)  # the first is one too many to be remembered
    assert store.misses == 4


def test_one_changed_sample_recomputes_that_clip_alone(
    pairs: list[EditPair], tmp_path: Path
) -> None:
    FeatureStore(Encoder([Counting()]), tmp_path / "cache").pairs(pairs)
    samples, rate_hz = soundfile.read(pairs[0].edited, dtype="int16")
    samples[1234] += 1
    soundfile.write(pairs[0].edited, samples, rate_hz, "PCM_16")
    store = FeatureStore(Encoder([Counting()]), tmp_path / "cache")
    store.pairs(pairs)
    assert store.misses == 1


def test_a_renamed_or_rewrapped_file_costs_nothing(pairs: list[EditPair], tmp_path: Path) -> None:
    first = FeatureStore(Encoder([Counting()]), tmp_path / "cache").pairs(pairs[:1])
    moved = pairs[0].original.rename(tmp_path / "elsewhere.wav")
    samples, rate_hz = soundfile.read(pairs[0].edited, dtype="int16")
    flac = tmp_path / "same samples.flac"
    soundfile.write(flac, samples, rate_hz, "PCM_16")
    store = FeatureStore(Encoder([Counting()]), tmp_path / "cache")
    again = store.pairs([pairs[0].model_copy(update={"original": moved, "edited": flac})])
    assert store.misses == 0
    assert equal(again, first)


@pytest.mark.parametrize("damage", ["truncate", "garbage", "empty"])
def test_a_damaged_entry_is_computed_again(
    pairs: list[EditPair], tmp_path: Path, damage: str
) -> None:
    cache = tmp_path / "cache"
    first = FeatureStore(Encoder([Counting()]), cache).pairs(pairs)
    before = every_file(cache)
    for path in sorted(cache.rglob("*.entry"))[:2]:
        data = path.read_bytes()
        path.write_bytes({"truncate": data[:-9], "garbage": b"\xff" * 99, "empty": b""}[damage])
    store = FeatureStore(Encoder([Counting()]), cache)
    assert equal(store.pairs(pairs), first)
    assert store.misses == 2
    assert every_file(cache) == before


def test_another_revision_shares_nothing(pairs: list[EditPair], tmp_path: Path) -> None:
    FeatureStore(Encoder([Counting()]), tmp_path / "cache").pairs(pairs)
    other = Counting()
    other.revision = "next"
    store = FeatureStore(Encoder([other]), tmp_path / "cache")
    store.pairs(pairs)
    assert store.misses == 9


def test_workers_do_not_change_a_bit(simulated: list[EditPair], tmp_path: Path) -> None:
    stores = [FeatureStore(Encoder([Spectrum()]), tmp_path / str(n), workers=n) for n in (0, 2)]
    alone, shared = (store.pairs(simulated[:15]) for store in stores)
    assert equal(alone, shared)
    assert every_file(tmp_path / "0") == every_file(tmp_path / "2")
    assert stores[0].misses == stores[1].misses


class Slow(Spectrum):
    """One clip at a time, and each takes a while."""

    batch_size = 1

    def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
        time.sleep(0.05)
        return super().encode_clip(samples)


def test_threads_encode_files_of_equal_content_once(pairs: list[EditPair], tmp_path: Path) -> None:
    for pair in pairs:
        pair.edited.write_bytes(pairs[0].original.read_bytes())
        pair.original.write_bytes(pairs[0].original.read_bytes())
    store = FeatureStore(Encoder([Slow()]), tmp_path / "cache", workers=2)
    made = store.pairs(pairs)
    assert store.misses == 1
    assert equal(made, FeatureStore(Encoder([Slow()]), tmp_path / "other", workers=0).pairs(pairs))


def test_a_clip_that_fails_in_one_thread_keeps_no_other_waiting(
    pairs: list[EditPair], tmp_path: Path
) -> None:
    class Failing(Slow):
        def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
            super().encode_clip(samples)
            raise audio.AudioError("is too much")

    pairs[0].edited.write_bytes(pairs[0].original.read_bytes())
    rows = FeatureStore(Encoder([Failing()]), tmp_path / "cache", workers=2).pairs(pairs)
    assert [row.reason[-11:] for row in rows if isinstance(row, Failure)] == ["is too much"] * 3


PROCESS = """
import os, signal, sys, time
from pathlib import Path
from auditeval import manifest
from auditeval.features.encoder import Encoder
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.features.store import FeatureStore

class Meeting(Spectrum):
    # Its first clip is not encoded before the other process has one in hand too.
    def encode_clip(self, samples):
        (meeting / str(os.getpid())).touch()
        while len(list(meeting.iterdir())) < 2:
            time.sleep(0.01)
        return super().encode_clip(samples)

meeting = Path(sys.argv[3])
signal.alarm(110)  # one that is left alone does not wait for ever
store = FeatureStore(Encoder([Meeting()]), sys.argv[2])
store.pairs(manifest.read(sys.argv[1]))
print(store.misses)
"""


def test_two_processes_share_one_cache(simulated: list[EditPair], tmp_path: Path) -> None:
    path, shared, meeting = tmp_path / "pairs.jsonl", tmp_path / "shared", tmp_path / "meeting"
    manifest.write(simulated[:20], path)
    meeting.mkdir()
    command = [sys.executable, "-c", PROCESS, str(path), str(shared), str(meeting)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    misses = [int(process.communicate(timeout=120)[0]) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert all(misses)  # both worked: they did meet

    FeatureStore(Encoder([Spectrum()]), tmp_path / "alone").pairs(simulated[:20])
    assert every_file(shared) == every_file(tmp_path / "alone")  # same bytes, and no leftovers


def test_errors_are_rows_of_their_own_pair(pairs: list[EditPair], tmp_path: Path) -> None:
    missing = pairs[1].model_copy(update={"edited": tmp_path / "absent.wav"})
    wordless = pairs[2].model_copy(update={"target_caption": "  "})
    rows = FeatureStore(Encoder([Counting()]), tmp_path / "cache").pairs(
        [pairs[0], missing, wordless]
    )
    assert isinstance(rows[0], PairFeatures)
    assert "absent.wav" in rows[1].reason
    assert rows[2] == Failure("target_caption is empty, and there is no instruction")


def test_an_instruction_is_read_as_captions_that_tell_the_same(
    pairs: list[EditPair], tmp_path: Path
) -> None:
    store = FeatureStore(Encoder([Spectrum(), Words()]), tmp_path / "cache")
    said = pairs[0].model_copy(update={"target_caption": "Rain and a siren"})
    told = {"instruction": "Add a siren.", "original_caption": "Rain"}
    for target in ("Rain", "", "rain!"):
        pair = pairs[0].model_copy(update={**told, "target_caption": target})
        ((by_captions,), (by_instruction,)) = store.pairs([said], False), store.pairs([pair], False)
        assert isinstance(by_instruction, PairFeatures)
        assert torch.equal(by_instruction.target_text, by_captions.target_text)
        assert not by_instruction.added_text.any()
    (alone,) = store.pairs([said.model_copy(update={**told, "original_caption": ""})])
    assert isinstance(alone, PairFeatures)
    assert alone.added_text.any()


def test_a_cache_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError, match="AUDITEVAL_CACHE"):
        FeatureStore(Encoder([Counting()]), tmp_path / "file")


@pytest.mark.parametrize("workers", [-1, 1.5, "2", True])
def test_threads_are_a_whole_number(tmp_path: Path, workers: object) -> None:
    with pytest.raises(UserError, match=f"workers {workers!r}: expected a whole number, 0 at"):
        FeatureStore(Encoder([Spectrum()]), tmp_path, workers)  # type: ignore[arg-type]


def test_cache_folder_follows_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pairs: list[EditPair]
) -> None:
    monkeypatch.setenv("AUDITEVAL_CACHE", str(tmp_path / "chosen"))
    FeatureStore(Encoder([Counting()])).pairs(pairs)
    names = list(every_file(tmp_path / "chosen"))
    key = hashlib.sha256(b"Rain.").hexdigest()
    assert f"spectrum@1/text/{key[:2]}/{key}.entry" in names
    assert len(names) == 9


class Fussy(Counting):
    """Has no features of clips as long as the odd one, and takes four at a time."""

    batch_size = 4
    odd = 0

    def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
        if len(samples) == self.odd:
            raise audio.AudioError("a clip of this length has no features")
        return super().encode_clip(samples)


def test_one_clip_without_features_costs_no_other_theirs(
    pairs: list[EditPair], tmp_path: Path
) -> None:
    soundfile.write(pairs[1].edited, synthesize("dog_bark", 2, 0.7, 16000), 16000, "PCM_16")
    encoder = Fussy()
    encoder.odd = len(audio.resample(audio.decode(pairs[1].edited), encoder.rate_hz))
    first, failed, last = FeatureStore(Encoder([encoder]), tmp_path / "cache").pairs(pairs)
    reason = f"{pairs[1].edited}: a clip of this length has no features"
    assert failed == Failure(reason)
    expected = FeatureStore(Encoder([Counting()]), tmp_path / "other").pairs([pairs[0], pairs[2]])
    assert equal([first, last], expected)


class Unfit(Counting):
    dim, made = 2, np.ones(2, np.float32)

    def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
        return AudioFeatures(self.made, {})


def test_numbers_that_are_not_finite_are_no_features(pairs: list[EditPair], tmp_path: Path) -> None:
    encoder = Unfit()
    encoder.made = np.array([1, np.nan], np.float32)
    (failed,) = FeatureStore(Encoder([encoder]), tmp_path).pairs(pairs[:1])
    assert isinstance(failed, Failure)
    assert failed.reason.endswith(f"{encoder.name} makes numbers of it that are not finite")


def test_an_embedding_of_another_width_than_its_extractors_is_refused(
    pairs: list[EditPair], tmp_path: Path
) -> None:
    encoder = Unfit()
    encoder.dim = 3
    with pytest.raises(ValueError, match=r"an embedding of shape \(2,\), and its dim is 3"):
        FeatureStore(Encoder([encoder]), tmp_path).pairs(pairs[:1])


def test_pairs_are_compared_before_the_last_clip_is_encoded(
    pairs: list[EditPair], tmp_path: Path
) -> None:
    """Else the cores that encode wait for the one that compares."""
    steps: list[str] = []

    class Recording(Counting):
        def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
            steps.append("encode")
            return super().encode_clip(samples)

        def align(self, original: Frames, edited: Frames, way: Turn = NO_TURN) -> Alignment:
            steps.append("compare")
            return super().align(original, edited, way)

    many = []
    for number in range(12):
        path = tmp_path / f"{number}.wav"
        soundfile.write(path, synthesize("wind", number, 0.5, 16000), 16000, "PCM_16")
        many.append(pairs[0].model_copy(update={"id": str(number), "edited": path}))
    FeatureStore(Encoder([Recording()]), tmp_path / "cache", workers=1).pairs(many)
    assert steps.count("encode") == 13
    assert steps.count("compare") == 12
    assert steps.index("compare") < 10


def test_what_an_interrupted_store_had_not_begun_it_does_not_begin(
    pairs: list[EditPair], tmp_path: Path
) -> None:
    class Broken(Counting):
        begun = 0

        def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
            Broken.begun += 1
            time.sleep(0.02)
            raise UserError("out of order")

    many = [
        pairs[0].model_copy(update={"id": str(number), "edited": tmp_path / f"{number}.wav"})
        for number in range(20)
    ]
    for number in range(20):
        soundfile.write(
            tmp_path / f"{number}.wav", synthesize("wind", number, 0.5, 16000), 16000, "PCM_16"
        )
    with pytest.raises(UserError, match="out of order"):
        FeatureStore(Encoder([Broken()]), tmp_path / "cache", workers=1).pairs(many)
    assert Broken.begun < 21
