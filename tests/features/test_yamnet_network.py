"""YAMNet's network in float32: two implementations agree, and it hears the same everywhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import special

from auditeval import audio
from auditeval.data.soundbank import synthesize
from auditeval.features import yamnet_network
from auditeval.features.extractors import yamnet
from auditeval.features.extractors.yamnet import YamNet
from auditeval.types import UserError

# Logits of the first patch, by onnxruntime 1.31 on a processor with AVX-512 and VNNI.
REFERENCE = {
    "rain": {"Rain": 4.4783, "Speech": -7.6018, "Dog": -16.9035},
    "siren": {"Siren": 2.5842, "Speech": -7.8932, "Dog": -14.9261},
    "dog_bark": {"Dog": -5.3296, "Speech": -2.5402, "Rain": -17.5443},
}


@pytest.fixture(scope="module")
def heard() -> YamNet:
    try:
        return YamNet()
    except UserError as error:
        pytest.skip(str(error))


def patches(samples: np.ndarray) -> np.ndarray:
    mel = yamnet._log_mel(samples)
    spans = audio.windows(len(mel), yamnet.PATCH_FRAMES, yamnet.PATCH_HOP_FRAMES)
    return np.stack([yamnet._padded(mel[span.start : span.stop]) for span in spans])


@pytest.mark.parametrize("sound", REFERENCE)
def test_logits_are_those_of_another_machine(heard: YamNet, sound: str) -> None:
    logits = heard(synthesize(sound, 1, 1.0, yamnet.RATE_HZ)).logits[0]
    names = yamnet.labels()
    found = {name: float(logits[names.index(name)]) for name in REFERENCE[sound]}
    assert found == pytest.approx(REFERENCE[sound], abs=1e-3)


def test_onnxruntime_and_torch_agree_on_recordings(heard: YamNet, shared_data: Path) -> None:
    torch = yamnet_network.on_device(heard._model, "cpu")
    files = sorted((shared_data / "esc10").glob("*/*.ogg"))[::40]
    files += sorted((shared_data / "librispeech10").glob("*.flac"))[:2]
    assert len(files) == 12
    for path in files:
        clip = patches(audio.resample(audio.decode(path), yamnet.RATE_HZ))
        (embeddings, logits), (embeddings2, logits2) = heard._network(clip), torch(clip)
        assert np.abs(embeddings - embeddings2).max() < 1e-4
        assert np.abs(special.expit(logits) - special.expit(logits2)).max() < 1e-4
        assert np.allclose(logits, logits2, rtol=1e-5, atol=1e-4)


def test_rain_is_heard_as_rain(heard: YamNet, shared_data: Path) -> None:
    """On processors with AVX2 and no VNNI the quantised graph says .15, .02 and .29 of these."""
    rain = yamnet.labels().index("Rain")
    for path in sorted((shared_data / "esc10" / "rain").glob("*.ogg"))[:3]:
        found = heard(audio.resample(audio.decode(path), yamnet.RATE_HZ))
        assert found.probabilities[:, rain].max() > 0.85


def test_nothing_is_rounded_and_every_layer_is_there(heard: YamNet) -> None:
    kinds = [node.op_type for node in heard._model.graph.node]
    assert kinds == ["Conv", "Clip"] * 27 + ["GlobalAveragePool", "Reshape", "Gemm"]


def test_silence_is_heard_as_silence_and_is_no_outlier(heard: YamNet) -> None:
    """Without the ranges of its layers its embedding has a length of 69."""
    silent, rain = (
        heard(sound).embeddings[0]
        for sound in (np.zeros(16000, np.float32), synthesize("rain", 1, 1.0, yamnet.RATE_HZ))
    )
    assert np.linalg.norm(silent) < 2 * np.linalg.norm(rain)
    logits = heard(np.zeros(16000, np.float32)).logits[0]
    assert yamnet.labels()[int(np.argmax(logits))] == "Silence"
    assert logits.min() > -100


def test_a_patch_has_the_same_numbers_in_any_batch_and_in_a_long_clip(heard: YamNet) -> None:
    """70 patches are two passes of the network."""
    samples = np.tile(synthesize("siren", 2, 1.7, yamnet.RATE_HZ), 20)
    found = heard(samples)
    assert len(found.logits) > 64
    alone = [heard._network(patch[None]) for patch in patches(samples)]
    for made, (embedding, logits) in zip(zip(*found[:2], strict=True), alone, strict=True):
        assert made[0].tobytes() == embedding[0].tobytes()
        assert made[1].tobytes() == logits[0].tobytes()


def test_the_way_of_other_devices_and_back(heard: YamNet) -> None:
    samples = synthesize("rain", 3, 2.0, yamnet.RATE_HZ)
    other = YamNet()
    other.to("cpu:0")  # in torch, as on an accelerator
    assert np.abs(other(samples).logits - heard(samples).logits).max() < 1e-4
    other.to("cpu")
    assert other(samples).logits.tobytes() == heard(samples).logits.tobytes()
