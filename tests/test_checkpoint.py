"""Checkpoints: what is saved comes back bit for bit, and nothing in a folder is ever run."""

from __future__ import annotations

import copy
import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from auditeval import checkpoint
from auditeval.features.encoder import Encoder
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.models import MODELS
from auditeval.scoring import Evaluator, load
from auditeval.types import EditPair, UserError


class _Marker:
    """A pickle of it writes the file when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return (_touch, (str(self.path),))


def _touch(path: str) -> None:
    Path(path).write_text("executed")


@pytest.fixture
def folder(tmp_path: Path, spectrum_checkpoint: Path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(spectrum_checkpoint, tmp_path / "checkpoint"))


def edit(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    config = json.loads((folder / checkpoint.CONFIG).read_text())
    change(config)
    (folder / checkpoint.CONFIG).write_text(json.dumps(config))


def refused(folder: Path) -> str:
    """The sentence of the refusal: one line, naming the folder."""
    with pytest.raises(UserError) as caught:
        checkpoint.load(folder)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert str(folder) in sentence
    return sentence


@pytest.mark.parametrize("kind", ["concat", "pairwise"])
def test_round_trip_is_bitwise(kind: str, tmp_path: Path) -> None:
    encoder = Encoder([Spectrum()])
    torch.manual_seed(3)
    rank = {"rank": 0} if kind == "pairwise" else {}
    model = MODELS[kind](encoder.inputs, **rank, hidden=[6, 4], members=2)
    for value in [*model.parameters(), *model.buffers()]:
        # Scales and LayerNorms too: upstream forgot to save these.
        value.data.copy_(torch.rand_like(value, dtype=torch.float32) + 0.5)
    checkpoint.save(tmp_path / "made", model, encoder, {"pairs": 3})
    loaded = checkpoint.load(tmp_path / "made")
    assert type(loaded.model) is type(model)
    assert not loaded.model.training
    assert loaded.config.training == {"pairs": 3}
    expected = model.state_dict()
    assert list(loaded.model.state_dict()) == list(expected)
    for name, value in loaded.model.state_dict().items():
        assert torch.equal(value, expected[name]), name
    trained = {name for name, _ in model.named_parameters()}
    assert trained <= set(expected)


def test_saving_again_replaces_and_leaves_nothing_behind(folder: Path) -> None:
    before = checkpoint.load(folder)
    (folder / "stale.txt").write_text("old")
    with torch.no_grad():
        next(before.model.parameters()).add_(1)
    checkpoint.save(folder, before.model, before.encoder, {})
    assert sorted(p.name for p in folder.iterdir()) == [checkpoint.CONFIG, checkpoint.WEIGHTS]
    assert sorted(p.name for p in folder.parent.iterdir()) == ["checkpoint"]
    assert checkpoint.load(folder).digest != before.digest


def test_digest_follows_weights_and_configuration(folder: Path) -> None:
    first = checkpoint.load(folder).digest
    assert checkpoint.load(folder).digest == first
    edit(folder, lambda config: config["training"].update(note="edited"))
    assert checkpoint.load(folder).digest != first


def test_config_that_names_a_python_target_is_refused(folder: Path, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    target = {"_target_": "pathlib.Path.touch", "_args_": [str(marker)]}
    for where in ("model", "features", "training"):
        original = (folder / checkpoint.CONFIG).read_text()
        edit(folder, lambda config, where=where: config[where].update(target))
        assert "_target_" in refused(folder)
        (folder / checkpoint.CONFIG).write_text(original)
    assert not marker.exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c["model"].update(name="os.system"), "os.system"),
        (lambda c: c["features"].update(run=c["features"]["spectrum"]), "extractor is 'run'"),
        (lambda c: c["model"].update({"arguments": {"inputs": {"audio": "x"}}}), "cannot be made"),
        (lambda c: c["model"]["arguments"].update(shell="ls"), "cannot be made"),
        (lambda c: c["features"]["spectrum"]["arguments"].update(path="/x.py"), "cannot be made"),
        (lambda c: c.update(hooks=["x"]), "hooks"),
        (lambda c: c["model"].update(module="x"), "module"),
        (lambda c: c.pop("features"), "features"),
        (lambda c: c.update(format="auditeval-0"), "format"),
        (lambda c: c["features"]["spectrum"].update(revision="0"), "revision 0"),
        (lambda c: c.update(comparison="0"), "revision 0 of the comparison"),
        (lambda c: c.pop("comparison"), "revision unknown of the comparison"),
    ],
)
def test_an_edited_configuration_is_refused(
    folder: Path, change: Callable[[dict[str, Any]], None], said: str
) -> None:
    edit(folder, change)
    assert said in refused(folder)


@pytest.mark.parametrize("text", [b"{not json", b"[]", b"", b"\xff\xfe", b"null"])
def test_a_configuration_that_is_no_json_object_is_refused(folder: Path, text: bytes) -> None:
    (folder / checkpoint.CONFIG).write_bytes(text)
    refused(folder)


@pytest.mark.parametrize("name", ["optimizer.pkl", "sub/pytorch_model.BIN", "last.ckpt", "a.pt"])
def test_a_pickle_in_the_folder_is_refused(folder: Path, name: str, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(pickle.dumps(_Marker(marker)))
    assert path.name in refused(folder)
    assert not marker.exists()


@pytest.mark.parametrize("writer", ["pickle", "torch"])
def test_weights_that_are_a_pickle_are_not_run(folder: Path, writer: str, tmp_path: Path) -> None:
    edit(folder, lambda config: config.update(weights=""))  # who forges one forges both
    marker = tmp_path / "marker"
    weights = folder / checkpoint.WEIGHTS
    if writer == "pickle":
        weights.write_bytes(pickle.dumps(_Marker(marker)))
    else:
        torch.save({"heads": _Marker(marker)}, weights)
    assert checkpoint.WEIGHTS in refused(folder)
    assert not marker.exists()
    if writer == "pickle":  # the bait works: it is the loader that does not bite
        pickle.loads(weights.read_bytes())
        assert marker.exists()


@pytest.mark.parametrize("kept", [0, 4, 100, 0.5, -1])
def test_truncated_weights_are_refused(folder: Path, kept: float) -> None:
    edit(folder, lambda config: config.pop("weights"))  # as older ones
    weights = folder / checkpoint.WEIGHTS
    data = weights.read_bytes()
    weights.write_bytes(data[: int(len(data) * kept) if 0 < kept < 1 else int(kept)])
    assert checkpoint.WEIGHTS in refused(folder)


def test_weights_that_are_not_those_written_are_refused(folder: Path) -> None:
    """Damaged ones would score all the same, with other numbers."""
    weights = folder / checkpoint.WEIGHTS
    data = bytearray(weights.read_bytes())
    data[-3] ^= 1
    weights.write_bytes(data)
    assert "is damaged or another's, its SHA-256 is not the one in config.json" in refused(folder)
    edit(folder, lambda config: config.pop("weights"))
    checkpoint.load(folder)  # nothing else would have told


def test_weights_of_another_model_are_refused(folder: Path) -> None:
    edit(folder, lambda config: config["model"]["arguments"].update(hidden=[5, 3]))
    assert checkpoint.WEIGHTS in refused(folder)


def test_what_the_program_around_has_told_torch_does_not_matter(
    evaluator: Evaluator, spectrum_checkpoint: Path, good: list[EditPair]
) -> None:
    before, state = torch.get_default_dtype(), torch.get_rng_state()
    torch.set_default_dtype(torch.float64)
    try:
        with torch.device("meta"):
            found = load(spectrum_checkpoint, "cpu", workers=0).score(good)
            assert torch.empty(0).dtype == torch.float64
    finally:
        torch.set_default_dtype(before)
    assert found == evaluator.score(good)
    assert torch.equal(torch.get_rng_state(), state)  # its own training draws the same


def test_an_evaluator_goes_to_another_process_and_is_copied(
    evaluator: Evaluator, folder: Path, good: list[EditPair]
) -> None:
    """As joblib, multiprocessing by spawn, and a copy of the module that holds it, have it."""
    made = load(folder, "cpu", workers=0, max_seconds=60)
    made.name = "mine"
    for other in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        assert other.score(good) == evaluator.score(good)
        assert (other.name, other.source) == ("mine", str(folder))
        assert (other.store.workers, other.store.max_seconds) == (0, 60)
    sent = pickle.dumps(made)
    edit(folder, lambda config: config["training"].update(note="another"))
    with pytest.raises(UserError, match="is another checkpoint here"):
        pickle.loads(sent)


@pytest.mark.parametrize("file", [checkpoint.WEIGHTS, checkpoint.CONFIG])
def test_a_missing_file_is_named(folder: Path, file: str) -> None:
    (folder / file).unlink()
    assert file in refused(folder)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    assert "no checkpoint" in refused(tmp_path / "absent")
