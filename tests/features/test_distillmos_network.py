"""DistillMOS of ours against the package `distillmos` itself, and what its weights are known by."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from auditeval import audio
from auditeval.data.soundbank import synthesize
from auditeval.features import distillmos_network
from auditeval.features.distillmos_network import WINDOW, DistillMos
from auditeval.pretrained.packages import package_file
from auditeval.types import UserError

RATE_HZ = 16000
SECONDS = (0.05, 1.5, 3.1, 5.0, 7.68)


@pytest.fixture(scope="module")
def weights() -> Path:
    try:
        return package_file("distillmos", "weights/distill_mos_v7.pt")
    except UserError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def network(weights: Path) -> DistillMos:
    return distillmos_network.load(weights)[0]


@pytest.fixture(scope="module")
def package(weights: Path) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        if "torchaudio" not in sys.modules:  # it reads files with it, and nothing else
            patch.setitem(sys.modules, "torchaudio", ModuleType("torchaudio"))
        sqa = pytest.importorskip("distillmos.sqa")
    return sqa.ConvTransformerSQAModel().eval()


def spoken(seconds: float, seed: int = 1) -> torch.Tensor:
    clip = 0.3 * synthesize("speech", seed, max(seconds, 0.5), RATE_HZ)
    return torch.from_numpy(clip[: round(seconds * RATE_HZ)].astype(np.float32))


def rated(network: DistillMos, clip: torch.Tensor) -> float:
    with torch.inference_mode():
        return network(clip)


def rated_by(package: Any, clip: torch.Tensor) -> float:
    with torch.inference_mode():
        return float(package(clip[None]))


@pytest.mark.parametrize("seconds", SECONDS)
def test_ratings_are_those_of_the_package(
    network: DistillMos, package: Any, seconds: float
) -> None:
    clip = spoken(seconds)
    assert rated(network, clip) == pytest.approx(rated_by(package, clip), abs=1e-5)


def test_ratings_of_recordings_are_those_of_the_package_and_differ(
    network: DistillMos, package: Any, shared_data: Path
) -> None:
    files = sorted((shared_data / "librispeech10").glob("*.flac"))[:2]
    found = []
    for path in files:
        heard = audio.resample(audio.decode(path), RATE_HZ)[: 3 * RATE_HZ]
        noisy = heard + 0.05 * np.random.default_rng(0).standard_normal(len(heard))
        for clip in (torch.from_numpy(np.float32(x)) for x in (heard, noisy)):
            found.append(rated(network, clip))
            assert found[-1] == pytest.approx(rated_by(package, clip), abs=1e-5)
    clean, noisy_ratings = found[::2], found[1::2]
    assert min(clean) > max(noisy_ratings) + 0.5


@pytest.mark.parametrize("seconds", [0.05, 2.0])
def test_silence_behind_a_clip_is_what_the_window_would_have_heard(
    network: DistillMos, seconds: float
) -> None:
    """It is computed once: a clip with its silence written out takes the other way."""
    clip = spoken(seconds)
    padded = torch.nn.functional.pad(clip, (0, WINDOW - len(clip)))
    assert rated(network, padded) == pytest.approx(rated(network, clip), abs=1e-5)


@pytest.mark.parametrize("gain", [0.01, 0.5, 3.0])
def test_level_does_not_matter_and_shape_does(network: DistillMos, gain: float) -> None:
    clip = spoken(1.0)
    assert rated(network, gain * clip) == pytest.approx(rated(network, clip), abs=1e-3)
    assert abs(rated(network, clip.flip(0)) - rated(network, clip)) > 0.01


def test_the_digest_is_that_of_the_weights(weights: Path, tmp_path: Path) -> None:
    stored = torch.load(weights, weights_only=True)
    tensors = stored["model"]
    torch.save({"model": tensors}, tmp_path / "same.pt")
    name = "transformer_pool_attn.pool.linear3.bias"
    torch.save({"model": tensors | {name: tensors[name] + 1e-3}}, tmp_path / "other.pt")
    known = [
        distillmos_network.load(path)[1]
        for path in (weights, tmp_path / "same.pt", tmp_path / "other.pt")
    ]
    assert known[0] == known[1] != known[2]


def test_a_file_that_is_damaged_or_of_another_network_is_one_sentence(
    weights: Path, tmp_path: Path
) -> None:
    cut = tmp_path / "cut.pt"
    cut.write_bytes(weights.read_bytes()[:10000])
    with pytest.raises(UserError, match=r"cut.pt: is a truncated PyTorch file.*distill_mos_v7.pt"):
        distillmos_network.load(cut)
    tensors = torch.load(weights, weights_only=True)["model"]
    lacking = {name: value for name, value in tensors.items() if "linear3.bias" not in name}
    torch.save({"model": lacking}, tmp_path / "lacking.pt")
    with pytest.raises(UserError, match=r"lacking.pt: is no checkpoint of DistillMOS.*linear3"):
        distillmos_network.load(tmp_path / "lacking.pt")
    with pytest.raises(UserError, match=r"nowhere.pt: no such file"):
        distillmos_network.load(tmp_path / "nowhere.pt")
