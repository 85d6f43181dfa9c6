"""Taggers: names in AudioSet's order, and what rain and speech are tagged as."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from auditeval.audio import Waveform, decode, resample
from auditeval.backends.taggers import PANNsTagger, YAMNetTagger, audioset_labels
from auditeval.benchmarks.speecheditbench.scenes import SCENES, scene_scores, scene_succeeds
from auditeval.features.extractor import AudioFeatures

RATE_HZ = 16000


@pytest.fixture(scope="module")
def yamnet() -> YAMNetTagger:
    return YAMNetTagger()


def test_audioset_s_order() -> None:
    """Places in class_labels_indices.csv of AudioSet."""
    names = audioset_labels()
    assert len(names) == len(set(names)) == 527
    known = {0: "Speech", 3: "Child speech, kid speaking", 13: "Children shouting", 27: "Singing"}
    known |= {34: "Child singing", 66: "Cheering", 137: "Music", 276: "Happy music"}
    known |= {278: "Sad music", 283: "Wind", 300: "Vehicle", 500: "Silence"}
    known |= {509: "Outside, urban or manmade", 526: "Field recording"}
    assert {place: names[place] for place in known} == known
    assert {name for group in SCENES.values() for name in group} <= set(names)


def test_rain_behind_speech_is_outdoors(yamnet: YAMNetTagger, shared_data: Path) -> None:
    speech = decode(sorted((shared_data / "librispeech10").glob("*.flac"))[0])
    rain = resample(decode(sorted((shared_data / "esc10" / "rain").glob("*.ogg"))[0]), RATE_HZ)
    rain = np.resize(rain, len(speech.samples)) * speech.samples.std() / rain.std()
    source = yamnet(speech)
    output = yamnet(Waveform((speech.samples + 0.6 * rain).astype(np.float32), RATE_HZ))
    assert max(source.probabilities, key=source.probabilities.__getitem__) == "Speech"
    scores = scene_scores(source), scene_scores(output)
    assert max(scores[0].values()) < 0.03
    assert scene_succeeds(*scores, "outdoor")
    assert not scene_succeeds(*scores, "music")


def test_a_sound_that_occurs_once_counts_in_full(yamnet: YAMNetTagger, shared_data: Path) -> None:
    rain = decode(sorted((shared_data / "esc10" / "rain").glob("*.ogg"))[0])
    alone = yamnet(rain).probabilities["Rain"]
    silence = np.zeros(60 * rain.rate_hz, np.float32)
    late = Waveform(np.concatenate([silence, rain.samples]), rain.rate_hz)
    assert yamnet(late).probabilities["Rain"] == pytest.approx(alone, abs=0.1)
    assert alone > 0.3


def test_panns_has_the_probability_of_each_logit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    weights = tmp_path / "Cnn14.pth"
    weights.write_bytes(b"weights")

    class Encoder:
        rate_hz, revision = 32000, "1-abc"

        def __init__(self, checkpoint: str) -> None:
            assert checkpoint == str(weights)

        def to(self, device: str) -> None:
            assert device == "cpu"

        def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
            logits = np.full((1, 527), -20, np.float32)
            logits[0, [0, 137]] = 0.0, np.log(3)
            return AudioFeatures(np.full(2048, len(samples), np.float32), {"logits": logits})

    monkeypatch.setattr("auditeval.features.extractors.cnn14.Cnn14Extractor", Encoder)
    tagger = PANNsTagger(str(weights))
    assert tagger.fingerprint == sha256(b"weights").hexdigest()
    made = tagger(Waveform(np.ones(RATE_HZ, np.float32), RATE_HZ)).probabilities
    assert {name: p for name, p in made.items() if p > 0.1} == pytest.approx(
        {"Speech": 0.5, "Music": 0.75}
    )
