"""The original packages behind the encoder protocol; most of it needs the second environment."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import make_references
import numpy as np
import pytest
import torch
import weights

from auditeval.audio import AudioError, Waveform
from auditeval.backends.fidelity import SQUIM
from auditeval.features.extractor import Extractor
from auditeval.features.extractors.clap import ClapExtractor
from auditeval.features.extractors.laion_clap import LaionClapPackage
from auditeval.features.extractors.msclap import MsClapPackage
from auditeval.types import UserError

BAR = 1e-5

PACKAGES: dict[str, Callable[[str], Extractor]] = {
    "laion-htsat-tiny": LaionClapPackage,
    "laion-htsat-base": lambda path: LaionClapPackage(path, amodel="HTSAT-base"),
    "laion-htsat-tiny-fused": lambda path: LaionClapPackage(path, enable_fusion=True),
    "ms-clap-2023": MsClapPackage,
    "ms-clap-2022": lambda path: MsClapPackage(path, version="2022"),
}

second_environment = pytest.mark.skipif(
    not all(find_spec(package) for package in ("laion_clap", "msclap", "torchaudio")),
    reason="laion_clap, msclap and torchaudio are in the second environment only",
)


@pytest.fixture(scope="session")
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the packages find what they would fetch from a hub."""
    folder = tmp_path_factory.mktemp("stand-ins")
    make_references.prepare(folder)
    return folder


@pytest.fixture
def original(stand_ins: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """A checkpoint file of one of the originals."""
    monkeypatch.chdir(stand_ins)

    def write(name: str) -> Path:
        path = stand_ins / f"{name}.pt"
        if not path.exists():
            made = reference(name)
            # Not the zeros that stand for the front end: the package computes its own.
            keep = ".melW" if made.mel_bank is not None else "nothing"
            state = {
                key: value
                for key, value in made.state().items()
                if key.endswith(keep) or not weights.is_constant(key)
            }
            weights.write_original(path, name, state)
        return path

    return write


def reference(name: str) -> weights.Reference:
    return weights.Reference.load(weights.REFERENCES / f"{name}.npz")


def embeddings(encoder: Extractor, clips: list[np.ndarray]) -> np.ndarray:
    return np.stack([features.embedding for features in encoder.encode_audio(clips)])


@second_environment
@pytest.mark.parametrize("name", PACKAGES)
def test_package_gives_its_own_embeddings(name: str, original: Callable[[str], Path]) -> None:
    encoder, made = PACKAGES[name](str(original(name))), reference(name)
    assert encoder.rate_hz == weights.FORMATS[name].rate_hz
    assert encoder.dim == encoder.text_dim == encoder.joint_dim == made.text.shape[1]
    clips = weights.synthetic_clips(encoder.rate_hz)
    assert np.abs(embeddings(encoder, clips) - made.synthetic).max() < BAR
    assert np.abs(encoder.encode_text(weights.CAPTIONS) - made.text).max() < BAR


@second_environment
@pytest.mark.parametrize("name", ["laion-htsat-tiny", "laion-htsat-tiny-fused", "ms-clap-2023"])
def test_long_clips_are_cut_as_the_native_encoder_cuts(
    name: str, original: Callable[[str], Path], stand_ins: Path
) -> None:
    form, path = weights.FORMATS[name], str(original(name))
    package = PACKAGES[name](path)
    native = ClapExtractor(path, str(stand_ins / form.tokenizer))
    short, longer = weights.synthetic_clips(form.rate_hz)
    window = form.rate_hz * form.window_seconds
    long = np.tile(np.concatenate([short, 0.3 * longer]), 4)
    # Two windows and a half; two and what is too short for a third; exactly two.
    clips = [long[: 5 * window // 2], long[: 2 * window + 1000], long[: 2 * window]]
    ours, theirs = embeddings(native, clips), embeddings(package, clips)
    assert np.abs(ours - theirs).max() < BAR
    np.testing.assert_array_equal(theirs[1], theirs[2])
    assert np.abs(theirs[0] - theirs[2]).max() > 100 * BAR


@second_environment
@pytest.mark.parametrize("name", ["laion-htsat-tiny-fused", "ms-clap-2023"])
def test_nothing_is_random(name: str, original: Callable[[str], Path]) -> None:
    encoder = PACKAGES[name](str(original(name)))
    clip = np.tile(weights.synthetic_clips(encoder.rate_hz)[1], 3)  # longer than a window
    first = embeddings(encoder, [clip])
    again = embeddings(PACKAGES[name](str(original(name))), [clip[:5000], clip])
    np.testing.assert_array_equal(first[0], again[1])
    assert PACKAGES[name](str(original(name))).revision == encoder.revision


@second_environment
def test_file_of_another_model_is_refused(original: Callable[[str], Path]) -> None:
    tiny, microsoft = str(original("laion-htsat-tiny")), str(original("ms-clap-2023"))
    with pytest.raises(UserError, match=r"no checkpoint of laion_clap's HTSAT-base"):
        LaionClapPackage(tiny, amodel="HTSAT-base")
    with pytest.raises(UserError, match="no checkpoint of laion_clap's HTSAT-tiny, fusion True"):
        LaionClapPackage(tiny, enable_fusion=True)
    with pytest.raises(UserError, match="no checkpoint of laion_clap"):
        LaionClapPackage(microsoft)
    with pytest.raises(UserError, match="no checkpoint of msclap 2023"):
        MsClapPackage(tiny)
    with pytest.raises(UserError, match="cannot build 'HTSAT-none'"):
        LaionClapPackage(tiny, amodel="HTSAT-none")


@second_environment
def test_caption_beyond_the_positions_is_named(original: Callable[[str], Path]) -> None:
    encoder = MsClapPackage(str(original("ms-clap-2022")), version="2022")
    with pytest.raises(UserError, match="longer than msclap reads"):
        encoder.encode_text(["bell " * 200])


@second_environment
def test_missing_hub_is_named(
    original: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = original("laion-htsat-tiny")
    LaionClapPackage(str(path))  # imported once, from the stand-ins
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(UserError, match="fetches files from the internet"):
        LaionClapPackage(str(path))


@pytest.fixture(scope="session")
def squim_weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from torchaudio.models import squim_objective_base

    model = squim_objective_base()
    layout = {key: tuple(value.shape) for key, value in model.state_dict().items()}
    path = tmp_path_factory.mktemp("squim") / "squim.pth"
    torch.save(weights.state(layout, weights.SEED, {}), path)
    return path


@second_environment
def test_squim_gives_what_torchaudio_gives(squim_weights: Path) -> None:
    from torchaudio.models import squim_objective_base

    model = squim_objective_base().eval()
    model.load_state_dict(torch.load(squim_weights, weights_only=True))
    squim = SQUIM(str(squim_weights))
    short, longer = weights.synthetic_clips(16000)

    def torchaudio_of(clip: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return np.array([value.item() for value in model(torch.from_numpy(clip)[None])])

    clip = np.tile(longer, 3)
    window = 16000 * SQUIM.WINDOW_SECONDS
    share = window / len(clip)
    expected = [
        torchaudio_of(short),
        share * torchaudio_of(clip[:window]) + (1 - share) * torchaudio_of(clip[window:]),
        torchaudio_of(short),
    ]
    silent_half = np.concatenate([np.zeros(window, np.float32), short])
    rated = [squim(Waveform(x, 16000)).values for x in (short, clip, silent_half)]
    made = np.array([[row[name] for name in ("STOI", "PESQ", "SI-SDR")] for row in rated])
    np.testing.assert_allclose(made, expected, atol=1e-4)
    assert np.abs(made[0] - made[1]).max() > 0.01
    assert 0 <= rated[0]["STOI"] <= 1 <= rated[0]["PESQ"] <= 4.65


@second_environment
def test_squim_has_no_value_for_silence_and_no_least_length(squim_weights: Path) -> None:
    squim = SQUIM(str(squim_weights))
    with pytest.raises(AudioError, match="silence"):
        squim(Waveform(np.zeros(20000, np.float32), 16000))
    assert np.isfinite([*squim(Waveform(np.full(1, 0.5, np.float32), 16000)).values.values()]).all()


class Bomb:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return print, ("this code must not run",)


@pytest.mark.parametrize("package", [LaionClapPackage, MsClapPackage])
def test_code_in_a_file_is_not_run(
    package: Callable[[str], Extractor], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torch.save({"state_dict": {"weight": Bomb()}}, tmp_path / "bomb.pt")
    (tmp_path / "bomb.pkl").write_bytes(pickle.dumps(Bomb()))
    for name in ("bomb.pt", "bomb.pkl"):
        with pytest.raises(UserError, match="refused"):
            package(str(tmp_path / name))
    assert "must not run" not in capsys.readouterr().out


@pytest.mark.skipif(bool(find_spec("laion_clap")), reason="laion_clap is installed here")
@pytest.mark.parametrize(
    ("package", "extra"), [(LaionClapPackage, "laion-clap"), (MsClapPackage, "msclap")]
)
def test_missing_package_is_one_sentence(
    package: Callable[[str], Extractor], extra: str, tmp_path: Path
) -> None:
    torch.save({"weight": torch.zeros(1)}, tmp_path / "weights.pt")
    with pytest.raises(UserError, match=rf"\.\[{extra}\].*numpy below 2") as caught:
        package(str(tmp_path / "weights.pt"))
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(bool(find_spec("torchaudio")), reason="torchaudio is installed here")
def test_missing_torchaudio_is_one_sentence() -> None:
    with pytest.raises(UserError, match=r"\.\[squim\]"):
        SQUIM()
