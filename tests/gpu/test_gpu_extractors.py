"""Every extractor that moves hears on a GPU what it hears on the CPU; see conftest.py.

Left out are those that run another package's code: laion_clap, msclap, audiobox.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import original_files
import pytest
import torch
from random_clap import write_tiny_clap
from second_environment import tagger_weights, weights

from auditeval.features import cnn14_network as cnn14
from auditeval.features import make_extractor
from auditeval.features.encoder import Encoder
from auditeval.features.extractor import AudioFeatures, Extractor
from auditeval.features.pair import PairFeatures
from auditeval.features.store import FeatureStore
from auditeval.types import EditPair, UserError

pytestmark = pytest.mark.gpu

FLOAT32 = 1e-4
"""Of the largest number of an array. One that is kept in float16 may fall on its next value."""
BFLOAT16 = 0.99
"""Cosine of an embedding with that of the CPU in float32, at least."""

CAPTIONS = ("Rain.", "A dog barks twice, then a door is shut.", "engine", "Rain and an engine.")
NARROW = (8, 16, 24, 32, 40, 48)
Make = Callable[..., Extractor]


def laion(folder: Path, **options: str) -> Extractor:
    return make_extractor("clap", model=str(write_tiny_clap(folder)), **options)


def fused(folder: Path) -> Extractor:
    return make_extractor("clap", model=str(write_tiny_clap(folder, fused=True)))


def microsoft_2023(folder: Path, **options: str) -> Extractor:
    return microsoft(folder, "2023", original_files.microsoft_2023(), "gpt2", options)


def microsoft_2022(folder: Path, **options: str) -> Extractor:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cnn14, "WIDTHS", NARROW)
        patch.setattr(cnn14.Cnn14, "DIM", NARROW[-1])
        state = original_files.microsoft_2022(NARROW)
        return microsoft(folder, "2022", state, "bert-base-uncased", options)


def microsoft(
    folder: Path, year: str, state: original_files.State, words: str, options: dict[str, str]
) -> Extractor:
    weights.write_tokenizers(folder)
    path = folder / f"{year}.pth"
    weights.write_original(path, f"ms-clap-{year}", state)
    return make_extractor("clap", model=str(path), tokenizer=str(folder / words), **options)


def qwen_omni(folder: Path, **options: str) -> Extractor:
    from auditeval.models.omni.random_base import build

    model = build(folder / "base", hidden=32, vocabulary="trained")
    return make_extractor("qwen_omni", model=str(model), **options)


def tagger(name: str) -> Make:
    def make(folder: Path) -> Extractor:
        path = folder / "weights.pth"
        tagger_weights.write(path, name, tagger_weights.Reference.load(name).state())
        return make_extractor(name.partition("-")[0], checkpoint=str(path))

    return make


def shipped(name: str) -> Make:
    def make(folder: Path) -> Extractor:
        try:
            return make_extractor(name)
        except UserError as error:
            pytest.skip(str(error))

    return make


MAKERS: dict[str, Make] = {
    "LAION's CLAP": laion,
    "LAION's CLAP, fused": fused,
    "Microsoft's CLAP 2023": microsoft_2023,
    "Microsoft's CLAP 2022": microsoft_2022,
    "qwen_omni": qwen_omni,
    **{name: tagger(name) for name in tagger_weights.RATES_HZ},
    **{name: shipped(name) for name in ("yamnet", "events", "naturalness")},
}
IN_LESS = ("LAION's CLAP", "Microsoft's CLAP 2023", "Microsoft's CLAP 2022", "qwen_omni")


@pytest.fixture(scope="module", params=MAKERS)
def both(
    request: pytest.FixtureRequest, device: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Extractor, Extractor]:
    """One extractor on the CPU and on the device."""
    folders = tmp_path_factory.mktemp("cpu"), tmp_path_factory.mktemp("device")
    here, there = (MAKERS[request.param](folder) for folder in folders)
    assert here.revision == there.revision
    there.to(device)
    assert there.device == torch.device(device)
    assert here.device.type == "cpu"
    return here, there


def clips(rate_hz: int) -> list[np.ndarray]:
    """Noise and tones, loud and quiet: 0.4 to 23 s."""
    rng = np.random.default_rng(1)
    made = []
    for seconds, gain in ((23, 0.2), (0.4, 1e-3), (10, 0.5), (3.3, 0.05)):
        times = np.arange(round(seconds * rate_hz)) / rate_hz
        noise = rng.standard_normal(len(times)) * np.abs(np.sin(2 * times))
        made.append(gain * (0.3 * noise + np.sin(2 * np.pi * 440 * times)))
    return [clip.astype(np.float32) for clip in made]


def arrays(features: AudioFeatures) -> dict[str, np.ndarray]:
    return {"embedding": features.embedding, **features.frames}


def near(first: np.ndarray, second: np.ndarray, share: float) -> bool:
    """Within a share of the largest number."""
    assert first.shape == second.shape
    assert first.dtype == second.dtype
    if first.dtype == np.float16:
        share += 2.0**-10
    a, b = first.astype(float), second.astype(float)
    return bool(np.abs(a - b).max() <= share * max(np.abs(a).max(), 1e-6))


def test_float32_is_the_same(both: tuple[Extractor, Extractor]) -> None:
    here, there = both
    for mine, its in zip(*(x.encode_audio(clips(x.rate_hz)) for x in both), strict=True):
        for name, array in arrays(mine).items():
            assert near(array, arrays(its)[name], FLOAT32), name
    if here.text_dim:
        assert near(here.encode_text(CAPTIONS), there.encode_text(CAPTIONS), FLOAT32)


def test_neighbours_change_a_result_by_rounding_at_most(
    both: tuple[Extractor, Extractor],
) -> None:
    _, there = both
    heard = clips(there.rate_hz)
    for made, clip in zip(there.encode_audio(heard), heard, strict=True):
        (alone,) = there.encode_audio([clip])
        for name, array in arrays(made).items():
            assert near(array, arrays(alone)[name], FLOAT32), name
    if there.text_dim:
        alone_each = np.concatenate([there.encode_text([caption]) for caption in CAPTIONS])
        assert near(there.encode_text(CAPTIONS), alone_each, FLOAT32)


@pytest.mark.parametrize("name", IN_LESS)
def test_bfloat16_is_near(name: str, device: str, tmp_path: Path) -> None:
    whole = MAKERS[name](tmp_path)
    half = MAKERS[name](tmp_path, dtype="bfloat16")
    half.to(device)
    rows = [[x.embedding for x in e.encode_audio(clips(e.rate_hz))] for e in (whole, half)]
    if whole.text_dim:
        rows = [[*of, *e.encode_text(CAPTIONS)] for of, e in zip(rows, (whole, half), strict=True)]
    exact, rough = (np.array(of, np.float64) for of in rows)
    lengths = np.linalg.norm(exact, axis=1) * np.linalg.norm(rough, axis=1)
    assert ((exact * rough).sum(axis=1) / lengths).min() >= BFLOAT16
    assert not near(exact, rough, FLOAT32)  # or nothing was computed in it


def test_the_cache_keeps_devices_apart_and_pairs_alike(
    simulated: list[EditPair], device: str, tmp_path: Path
) -> None:
    found = {}
    for place in ("cpu", device):
        encoder = Encoder([laion(tmp_path / "clap")])
        encoder.to(place)
        store = FeatureStore(encoder, tmp_path / "cache")
        found[place] = [row for row in store.pairs(simulated[:8]) if isinstance(row, PairFeatures)]
        assert len(found[place]) == 8
    kinds = {torch.device(place).type for place in found}
    ends = {"cpu": "", "cuda": "-cuda", "mps": "-mps"}
    (extractor,) = encoder.extractors.values()
    assert {path.name for path in (tmp_path / "cache").iterdir()} == {
        f"clap@{extractor.revision}{ends[kind]}" for kind in kinds
    }
    for mine, its in zip(found["cpu"], found[device], strict=True):
        for part, other in zip(mine, its, strict=True):
            assert (part - other).abs().max() <= FLOAT32 if part.numel() else True


def test_a_batch_that_memory_does_not_hold_is_halved(device: str, tmp_path: Path) -> None:
    """The mel frames of 128 windows take 2.6 GB; a gigabyte is left."""
    if torch.device(device).type != "cuda":
        pytest.skip("the memory of the CPU cannot be bounded")
    clap = write_tiny_clap(tmp_path)
    alone, many = (make_extractor("clap", model=str(clap), batch_size=n) for n in (1, 128))
    samples = np.tile(clips(alone.rate_hz)[2], 128)
    for extractor in (alone, many):
        extractor.to(device)
    (expected,) = alone.encode_audio([samples])
    torch.cuda.empty_cache()
    whole = torch.cuda.get_device_properties(device).total_memory
    torch.cuda.set_per_process_memory_fraction(2**30 / whole)
    try:
        (made,) = many.encode_audio([samples])
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert near(made.frames["joint"], expected.frames["joint"], FLOAT32)
    assert many._windows._most < 128  # type: ignore[attr-defined]
