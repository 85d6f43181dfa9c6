"""AudioBox aesthetics behind the encoder protocol; needs the package, the predictor torchaudio."""

from __future__ import annotations

import importlib
import pickle
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from second_environment import weights

from auditeval.features import make_extractor
from auditeval.features.extractors.audiobox import Audiobox
from auditeval.types import UserError

BAR = 1e-5

installed = pytest.mark.skipif(
    not find_spec("audiobox_aesthetics"), reason="audiobox_aesthetics is not installed here"
)

SETTINGS = {
    "proj_num_layer": 5,
    "proj_ln": True,
    "proj_act_fn": "gelu",
    "proj_dropout": 0.1,
    "nth_layer": 13,
    "use_weighted_layer_sum": True,
    "precision": "32",
    "normalize_embed": True,
    "output_dim": 1,
    "freeze_encoder": True,  # more than the package asks for
}
# No two alike: a mean or deviation of another measure is seen.
TRANSFORM = {
    name: {"mean": 5.0 + place, "std": 1.0 + 0.2 * place}
    for place, name in enumerate(("CE", "CU", "PC", "PQ"))
}


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file like Meta's checkpoint.pt, of seeded weights."""
    aes = importlib.import_module("audiobox_aesthetics.model.aes")
    used = {name: value for name, value in SETTINGS.items() if name != "freeze_encoder"}
    blank = aes.AesMultiOutput(**used).state_dict()
    layout = {key: tuple(value.shape) for key, value in blank.items()}
    state = {f"model.{k}": v for k, v in weights.state(layout, weights.SEED, {}).items()}
    path = tmp_path_factory.mktemp("audiobox") / "checkpoint.pt"
    torch.save({"state_dict": state, "model_cfg": SETTINGS, "target_transform": TRANSFORM}, path)
    return path


@pytest.fixture(scope="session")
def encoder(checkpoint: Path) -> Audiobox:
    return Audiobox(str(checkpoint))


def clips() -> list[np.ndarray]:
    """2.3 s, a window and two fifths, exactly two windows, two and 20 ms, a sample."""
    short, longer = weights.synthetic_clips(16000)
    long = np.tile(np.concatenate([short, 0.3 * longer]), 3)
    return [short, long[: 14 * 16000], long[:320000], long[:320320], short[500:501]]


@installed
@pytest.mark.skipif(not find_spec("torchaudio"), reason="the predictor imports torchaudio")
def test_measures_are_those_of_the_predictor(checkpoint: Path, encoder: Audiobox) -> None:
    try:
        infer = importlib.import_module("audiobox_aesthetics.infer")
    except OSError:
        pytest.skip("torchaudio was built for another torch")
    predictor = infer.AesPredictor(checkpoint_pth=str(checkpoint))
    batch = [{"path": torch.from_numpy(clip)[None], "sample_rate": 16000} for clip in clips()]
    rows = predictor.forward(batch)
    theirs = np.array([[row[name] for name in encoder.MEASURES] for row in rows])
    ours = np.stack([made.embedding for made in encoder.encode_audio(clips())])
    assert ours.shape == (5, 4)
    worst = np.abs(ours - theirs).max()
    print(
        f"largest difference {worst:.1e} of numbers from {theirs.min():.2f} to {theirs.max():.2f}"
    )
    assert worst < BAR * np.abs(theirs).max()
    # The clips are told apart by far more than that, and so are the measures.
    gaps = [np.abs(theirs[i] - theirs[j]).max() for i in range(5) for j in range(i)]
    assert min(gaps) > 10 * BAR
    assert np.abs(theirs[:, :, None] - theirs[:, None] + 9 * np.eye(4)).min() > 100 * BAR


@installed
def test_a_clip_is_rated_alone(encoder: Audiobox, checkpoint: Path) -> None:
    short, long = clips()[:2]
    together = encoder.encode_audio([short, long, short])
    (alone,) = Audiobox(str(checkpoint)).encode_audio([short.copy()])
    for made in (together[0], together[2]):
        assert made.embedding.tobytes() == alone.embedding.tobytes()
    assert made.frames == {}
    assert encoder.encode_text(["a", "b"]).shape == (2, 0)
    assert np.isfinite(encoder.encode_clip(np.zeros(16000, np.float32)).embedding).all()


@installed
def test_revision_covers_the_file(encoder: Audiobox, checkpoint: Path, tmp_path: Path) -> None:
    content = torch.load(checkpoint, weights_only=True)
    content["target_transform"]["PQ"]["mean"] = 0.0
    torch.save(content, tmp_path / "other.pt")
    assert Audiobox(str(tmp_path / "other.pt")).revision != encoder.revision
    assert make_extractor("audiobox", **encoder.arguments).revision == encoder.revision


@installed
@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"weight": torch.zeros(1)}, "is no AudioBox aesthetics (KeyError: 'state_dict')"),
        (torch.zeros(3), "is no AudioBox aesthetics; supported"),
        (
            {"state_dict": {}, "model_cfg": {}, "target_transform": TRANSFORM},
            "is no AudioBox aesthetics (KeyError: 'proj_num_layer')",
        ),
        (
            {"state_dict": {}, "model_cfg": SETTINGS, "target_transform": TRANSFORM},
            "is no checkpoint of AudioBox aesthetics: lacks",
        ),
    ],
)
def test_wrong_file_is_one_sentence(content: Any, said: str, tmp_path: Path) -> None:
    torch.save(content, tmp_path / "m.pt")
    with pytest.raises(UserError) as caught:
        Audiobox(str(tmp_path / "m.pt"))
    assert str(caught.value).startswith(f"{tmp_path / 'm.pt'}: {said}")
    assert len(str(caught.value).splitlines()) == 1


class Bomb:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return print, ("this code must not run",)


def test_code_in_a_file_is_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.save({"state_dict": {}, "model_cfg": Bomb()}, tmp_path / "bomb.pt")
    (tmp_path / "bomb.pkl").write_bytes(pickle.dumps(Bomb()))
    for name in ("bomb.pt", "bomb.pkl"):
        with pytest.raises(UserError, match="refused"):
            Audiobox(str(tmp_path / name))
    assert "must not run" not in capsys.readouterr().out


@pytest.mark.skipif(bool(find_spec("audiobox_aesthetics")), reason="the package is installed here")
def test_missing_package_is_one_sentence(tmp_path: Path) -> None:
    torch.save({"state_dict": {}}, tmp_path / "m.pt")
    with pytest.raises(UserError, match=r"\.\[audiobox\]'$") as caught:
        Audiobox(str(tmp_path / "m.pt"))
    assert "\n" not in str(caught.value)
