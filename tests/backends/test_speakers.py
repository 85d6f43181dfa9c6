"""Speaker embeddings: speakers told apart, and the heads that come from checkpoints.

The figures of the ECAPA-TDNN are those of the original class (microsoft/UniSpeech at 40d3227,
downstreams/speaker_verification/models/ecapa_tdnn.py) with the weights drawn here.
"""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from auditeval.audio import AudioError, Waveform, decode
from auditeval.backends.backend import SpeakerEmbedding
from auditeval.backends.ecapa_tdnn import EcapaTdnn
from auditeval.backends.speakers import Resemblyzer, WavLMECAPA, WavLMSpeaker
from auditeval.metrics.speakers import speaker_similarity
from auditeval.types import UserError

RATE_HZ = 16000
SILENCE = Waveform(np.zeros(RATE_HZ, np.float32), RATE_HZ)
TINY = {
    "hidden_size": 16,
    "num_hidden_layers": 4,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "conv_dim": (8, 8, 8, 8, 8, 8, 8),
    "num_conv_pos_embeddings": 8,
    "num_conv_pos_embedding_groups": 2,
}


def clip(seed: int = 0, seconds: float = 1.0) -> Waveform:
    samples = 0.1 * np.random.default_rng(seed).standard_normal(round(seconds * RATE_HZ))
    return Waveform(samples.astype(np.float32), RATE_HZ)


@pytest.fixture(scope="module")
def resemblyzer() -> Resemblyzer:
    pytest.importorskip("resemblyzer")
    return Resemblyzer()


@pytest.fixture(scope="module")
def neutral(
    resemblyzer: Resemblyzer, shared_data: Path
) -> list[tuple[str, Waveform, SpeakerEmbedding]]:
    """Neutral clips of EMO-DB, whose names begin with the speaker's number."""
    paths = sorted((shared_data / "emodb_subset").glob("*N?.flac"))
    clips = [(path.name[:2], decode(path)) for path in paths]
    return [(speaker, waveform, resemblyzer(waveform)) for speaker, waveform in clips]


def test_one_speaker_is_told_from_another(
    resemblyzer: Resemblyzer, neutral: list[tuple[str, Waveform, SpeakerEmbedding]]
) -> None:
    same, other = [], []
    for (a, _, x), (b, _, y) in itertools.combinations(neutral, 2):
        (same if a == b else other).append(speaker_similarity(x, y))
    ranks = np.less.outer(other, same) + 0.5 * np.equal.outer(other, same)
    assert len(same) > 100
    assert ranks.mean() > 0.95  # area under the curve
    threshold = resemblyzer.same_speaker_cosine
    assert np.mean(np.array(same) < threshold) < 0.1
    assert np.mean(np.array(other) >= threshold) < 0.1


def test_an_embedding_is_a_function_of_the_clip(
    resemblyzer: Resemblyzer, neutral: list[tuple[str, Waveform, SpeakerEmbedding]]
) -> None:
    clips, alone = zip(*((waveform, made) for _, waveform, made in neutral[:4]), strict=True)
    with ThreadPoolExecutor(4) as pool:
        assert tuple(pool.map(resemblyzer, clips)) == alone
    assert [np.linalg.norm(made.values) for made in alone] == pytest.approx([1] * 4)


def test_a_gain_makes_no_other_voice(
    resemblyzer: Resemblyzer, neutral: list[tuple[str, Waveform, SpeakerEmbedding]]
) -> None:
    _, waveform, made = neutral[0]
    for gain in (0.01, 4):
        moved = Waveform(waveform.samples * np.float32(gain), waveform.rate_hz)
        assert resemblyzer(moved).values == pytest.approx(made.values, abs=1e-4)


def test_silence_is_nobody(resemblyzer: Resemblyzer) -> None:
    with pytest.raises(AudioError, match="silence"):
        resemblyzer(SILENCE)


def test_its_weights_are_read_as_data(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("resemblyzer")
    asked: list[Any] = []
    original = torch.load

    def load(*arguments: Any, **options: Any) -> Any:
        asked.append(options.get("weights_only"))
        return original(*arguments, **{**options, "weights_only": True})

    monkeypatch.setattr(torch, "load", load)
    Resemblyzer()
    assert asked in ([None], [True])  # None is True since torch 2.6


def drawn(model: torch.nn.Module, seed: int) -> dict[str, torch.Tensor]:
    """Weights of these shapes, in the order of their names."""
    generator, state = np.random.default_rng(seed), {}
    for name, tensor in sorted(model.state_dict().items()):
        if name.endswith("num_batches_tracked"):
            continue
        shape = tuple(tensor.shape)
        values = generator.standard_normal(shape)
        values *= 1 / np.sqrt(max(1, np.prod(shape[1:]))) if len(shape) > 1 else 0.3
        if name.endswith("running_var"):
            values = np.abs(values) + 0.5
        if name.endswith("weight") and len(shape) == 1 and "feature" not in name:
            values = values + 1
        state[name] = torch.from_numpy(values.astype(np.float32))
    return state


def test_ecapa_tdnn_is_unispeech_s() -> None:
    head = EcapaTdnn(dim=16, layers=5).eval()
    head.load_state_dict(drawn(head, 0), strict=False)
    states = np.random.default_rng(9).standard_normal((5, 1, 40, 16)).astype(np.float32)
    with torch.inference_mode():
        made = head(torch.from_numpy(states))[0]
    assert made.shape == (256,)
    theirs = [-0.44013, -0.09598, -0.05774, -1.56169, -3.76264, -0.31678]
    assert made[:6].tolist() == pytest.approx(theirs, abs=2e-5)
    assert made.norm().item() == pytest.approx(26.202491760253906, rel=1e-5)
    assert made.sum().item() == pytest.approx(51.533836364746094, rel=1e-5)


@pytest.fixture(scope="module")
def wavlm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from transformers import WavLMConfig, WavLMModel

    folder = tmp_path_factory.mktemp("models") / "wavlm-tiny"
    torch.manual_seed(0)
    WavLMModel(WavLMConfig(**TINY)).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def head(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As UniSpeech saves it: with its own copy of WavLM and the classifier of its training."""
    path = tmp_path_factory.mktemp("models") / "wavlm_nofinetune.pth"
    state = drawn(EcapaTdnn(dim=16, layers=5), 1)
    state["feature_extract.model.mask_emb"] = torch.zeros(16)
    state["loss_calculator.projection.weight"] = torch.zeros(3, 256)
    torch.save({"model": state}, path)
    return path


def test_wavlm_with_ecapa_tdnn(wavlm: Path, head: Path) -> None:
    backend = WavLMECAPA(str(head), str(wavlm))
    assert backend.name == "wavlm-tiny-ecapa-tdnn"
    assert backend.same_speaker_cosine == 0.50
    made = backend(clip())
    assert made == backend(clip()) != backend(clip(1))
    assert np.linalg.norm(made.values) == pytest.approx(1)
    assert len(made.values) == 256
    assert len(backend(clip(seconds=0.05)).values) == 256
    with pytest.raises(AudioError, match="silence"):
        backend(SILENCE)
    assert backend.revision == WavLMECAPA(str(head), str(wavlm)).revision


def test_a_head_of_another_network_is_refused(wavlm: Path, head: Path, tmp_path: Path) -> None:
    for name, state in {
        "narrow.pth": drawn(EcapaTdnn(dim=8, layers=5), 1),
        "shallow.pth": drawn(EcapaTdnn(dim=16, layers=3), 1),
        "half.pth": dict(itertools.islice(drawn(EcapaTdnn(dim=16, layers=5), 1).items(), 9)),
    }.items():
        torch.save({"model": state}, tmp_path / name)
        with pytest.raises(UserError, match=name):
            WavLMECAPA(str(tmp_path / name), str(wavlm))
    with pytest.raises(UserError, match="no such file"):
        WavLMECAPA(str(tmp_path / "absent.pth"), str(wavlm))


def test_wavlm_x_vectors(tmp_path: Path, wavlm: Path) -> None:
    from transformers import Wav2Vec2FeatureExtractor, WavLMConfig, WavLMForXVector

    torch.manual_seed(0)
    model = WavLMForXVector(
        WavLMConfig(**TINY, tdnn_dim=(8, 8, 8, 8, 24), xvector_output_dim=12)
    ).eval()
    front_end = Wav2Vec2FeatureExtractor(do_normalize=True)
    model.save_pretrained(tmp_path / "sv")
    front_end.save_pretrained(tmp_path / "sv")
    backend = WavLMSpeaker(str(tmp_path / "sv"))
    inputs = front_end(clip().samples, sampling_rate=RATE_HZ, return_tensors="pt")
    with torch.inference_mode():
        theirs = torch.nn.functional.normalize(model(**inputs).embeddings[0], dim=0)
    made = backend(clip())
    assert made.values == pytest.approx(theirs.tolist(), abs=1e-5)
    assert made == backend(clip())
    long = clip().samples
    assert len(backend(Waveform(long[:5200], RATE_HZ)).values) == 12  # 16 frames for the TDNN
    for bad in (SILENCE, Waveform(long[:5199], RATE_HZ), clip(seconds=0.05)):
        with pytest.raises(AudioError, match=r"silence|too short for a voice, at least 0\.3"):
            backend(bad)
    for folder in (wavlm, tmp_path / "absent"):  # a WavLM without the head, and nothing
        with pytest.raises(UserError, match=folder.name):
            WavLMSpeaker(str(folder))
