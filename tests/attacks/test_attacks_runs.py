"""Run folders and checkpoints of others: data, whatever they name; nothing of them is called."""

from __future__ import annotations

import os
import pickle
import runpy
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from commands import Ended
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from outcomes import kept, refused

from auditeval.training import resuming
from auditeval.types import UserError

ROOT = Path(__file__).parents[2]


def run_folder(path: Path, **changes: Any) -> Path:
    """The folder of a run that was begun, its configuration changed: a key with dots, a value."""
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        config = compose("train", [f"run_dir={path}", "features=spectrum"])
    OmegaConf.resolve(config)
    for key, value in changes.items():
        OmegaConf.update(config, key.replace("__", "."), value, force_add=True)
    path.mkdir(exist_ok=True)
    OmegaConf.save(config, path / "config.yaml")
    return path


ENSEMBLE = "auditeval.training.ensemble.EnsembleFit"
TOUCH = {"_target_": "os.system", "command": "touch ran"}
RESUMED: dict[str, tuple[dict[str, Any], str]] = {
    "a call for data": ({"data__manifest": TOUCH}, r"refused, it names 'os\.system'"),
    "a call for a split": ({"data__split": TOUCH}, "refused, it names"),
    "a call for a logger": ({"logger": TOUCH}, "refused, it names"),
    "a call for a callback": ({"callbacks__mine": TOUCH}, "refused, it names"),
    "a call for a baseline": ({"baselines": {"x": TOUCH}}, "refused, it names"),
    "a call for a test": ({"tests": {"x": TOUCH}}, "refused, it names"),
    "a call for a base": ({"base__make": TOUCH}, "refused, it names"),
    "a call within an estimator": (
        {"fit": {"_target_": ENSEMBLE, "estimators": {"x": TOUCH}}},
        "refused, it names",
    ),
    "a callback that is no more": (
        {"callbacks__kept": {"_target_": "auditeval.training.evaluation.KeptShare"}},
        "KeptShare', which no file under configs/ names; .* or from an older auditeval",
    ),
    "a call in a list": ({"trainer__plugins": [{"x": [TOUCH]}]}, "refused, it names"),
    "torch.load": (
        {"optimizer": {"_target_": "torch.load", "f": "x", "weights_only": False}},
        r"'torch\.load', which no file under configs/ names",
    ),
    "a function beside the optimizers": (
        {"optimizer___target_": "torch.optim.swa_utils.update_bn"},
        "refused, it names",
    ),
    "a module beside the optimizers": (
        {"optimizer___target_": "torch.optim.lr_scheduler.math"},
        "refused, it names",
    ),
    "a transformer that unpickles": (
        {"optimizer___target_": "sklearn.pipeline.Pipeline"},
        "refused, it names",
    ),
    "a function of ours": (
        {"data__manifest": {"_target_": "auditeval.atomic.new_folder", "path": "x"}},
        r"'auditeval\.atomic\.new_folder'",
    ),
    "a number for a name": ({"fit___target_": 7}, "refused, it names 7"),
    "a variable": ({"name": "\\${oc.env:HOME}"}, r"name: .* stands for another value"),
    "another variable": ({"data__credits": "\\${now:%Y}"}, r"credits: .* stands for another value"),
    "an output elsewhere": (
        {
            "data__manifest": {
                "_target_": "auditeval.data.combining.combine",
                "always": "a.jsonl",
                "rated": "b.jsonl",
                "output": "/etc/hosts",
            }
        },
        r"output: /etc/hosts is not in",
    ),
    "an output by dots": (
        {"data__manifest__output": "{run}/../mine.jsonl"},
        r"output: .*mine\.jsonl is not in",
    ),
    "another run folder": ({"run_dir": "/somewhere/else"}, r"run_dir is /somewhere/else, which is"),
    "no run folder": ({"run_dir": None}, r"run_dir is None"),
    "a log elsewhere": ({"logger__name": "../../else"}, r"logger\.name is '\.\./\.\./else'"),
    "a server for wandb": (
        {
            "logger": {
                "_target_": "auditeval.training.wandb_logger.WandbLogger",
                "settings": {"base_url": "http://127.0.0.1:9"},
            }
        },
        r"logger\.settings is ",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "said"), RESUMED.values(), ids=RESUMED)
def test_a_run_folder_of_others_runs_nothing(
    changes: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    changes = {
        key: value.format(run=tmp_path / "run") if "{run}" in str(value) else value
        for key, value in changes.items()
    }
    folder = run_folder(tmp_path / "run", **changes)
    with pytest.raises(UserError, match=said) as caught:
        resuming.config(folder, ROOT / "configs")
    assert "\n" not in str(caught.value)
    kept(sorted(p.name for p in tmp_path.iterdir()), ["run"], "the folder")


GOES_ON: dict[str, dict[str, Any]] = {
    "as it was begun": {},
    "another optimizer": {"optimizer": {"_target_": "torch.optim.SGD", "_partial_": True, "lr": 1}},
    "another schedule": {"scheduler": {"_target_": "torch.optim.lr_scheduler.StepLR"}},
    "another regressor": {"fit__estimators": {"x": {"_target_": "sklearn.linear_model.Lasso"}}},
    "an output in it": {"data__manifest__output": "{run}/manifest.jsonl"},
    "data as they were nested before": {
        "recordings": None,
        "data__simulation": {"manifest": {"_target_": "auditeval.data.simulation.build.build"}},
    },
}


@pytest.mark.parametrize("changes", GOES_ON.values(), ids=GOES_ON)
def test_a_run_of_ones_own_goes_on(changes: dict[str, Any], tmp_path: Path) -> None:
    changes = {
        key: value.format(run=tmp_path / "run") if isinstance(value, str) else value
        for key, value in changes.items()
    }
    folder = run_folder(tmp_path / "run", **changes)
    config = resuming.config(folder, ROOT / "configs")
    assert config == OmegaConf.load(folder / "config.yaml")


def test_train_py_goes_on_with_no_code_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = run_folder(tmp_path / "run", callbacks__mine=TOUCH)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["train.py", f"resume={folder}"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "train.py"), run_name="__main__")
    assert "refused, it names 'os.system'" in str(ended.value.code)
    assert not (tmp_path / "ran").exists()


class Runs:
    def __reduce__(self) -> Any:
        return os.system, ("touch ran",)


def _bytes(made: Any, how: Callable[[Any, Any], None]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with path.open("wb") as file:
            how(made, file)

    return write


WHOLE = dict.fromkeys(
    ("state_dict", "epoch", "global_step", "loops", "optimizer_states", "callbacks"), 0
)
LASTS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a pickle": (_bytes(Runs(), pickle.dump), r"is a pickle, not a PyTorch file"),
    "a pickle in torch's file": (
        _bytes(WHOLE | {"callbacks": Runs()}, torch.save),
        r"asks for Python code to be run \((posix|nt)\.system\), which is refused",
    ),
    "a pickle as torch wrote until 1.5": (
        _bytes(Runs(), partial(torch.save, _use_new_zipfile_serialization=False)),
        r"asks for Python code|is a truncated|is no PyTorch",
    ),
    "cut": (
        lambda path: (torch.save(WHOLE, path), path.write_bytes(path.read_bytes()[:300])),
        r"is a truncated PyTorch file|no whole PyTorch file",
    ),
    "something else": (lambda path: path.write_text("hello"), r"is a text file"),
    "empty": (lambda path: path.write_bytes(b""), r"is empty"),
    "a folder": (lambda path: path.mkdir(), r"is a folder"),
    "a pipe": (lambda path: os.mkfifo(path), r"no such file"),
    "weights alone": (
        lambda path: torch.save({"state_dict": {}}, path),
        r"is no checkpoint that training goes on from",
    ),
    "a list": (lambda path: torch.save([1], path), r"is no checkpoint that training goes on from"),
}  # fmt: skip


@pytest.mark.parametrize(("write", "said"), LASTS.values(), ids=LASTS)
def test_the_last_checkpoint_of_a_run_is_data(
    write: Callable[[Path], Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "last.ckpt")
    with pytest.raises(UserError, match=said) as caught:
        resuming.last(tmp_path)
    assert "delete it to train" in str(caught.value)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "text", ["[]", '{"a": 1}', '{"a": {"beauty": 1}}', '{"a": {"quality": "x"}}', "{", "[" * 10**5,
             '{"a": {"quality": NaN}}', '{"a": {"quality": [1]}}', "\xff", ""],
)  # fmt: skip
def test_predictions_of_a_run_are_numbers(text: str, tmp_path: Path) -> None:
    path = tmp_path / "predictions.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(UserError, match=r"predictions\.json: holds no ratings"):
        resuming.predictions(path)


CONFIGS: dict[str, tuple[Callable[[str], str], str]] = {
    "a call": (
        lambda text: text.replace('"arguments": {', '"arguments": {"_target_": "os.system", ', 1),
        r"refused, it names a Python object to call",
    ),
    "another model": (lambda text: text.replace('"pairwise"', '"os"', 1), r"refused, its model"),
    "another extractor": (
        lambda text: text.replace('"spectrum": {', '"os": {', 1),
        r"its extractor is 'os'",
    ),
    "a key twice": (
        lambda text: text.replace('"format"', '"model": 1, "format"', 1),
        r"key 'model' stands twice",
    ),
    "nested deep": (
        lambda text: text.replace('"training": {', '"training": {"x": ' + "[" * 10**5, 1),
        r"config\.json: nests deeper than 64 levels",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "said"), CONFIGS.values(), ids=CONFIGS)
def test_a_checkpoints_configuration_is_data(
    change: Callable[[str], str],
    said: str,
    tmp_path: Path,
    cli: Callable[..., Ended],
    spectrum_checkpoint: Path,
    pairs_path: Path,
) -> None:
    folder = shutil.copytree(spectrum_checkpoint, tmp_path / "evil")
    text = (folder / "config.json").read_text()
    assert change(text) != text
    (folder / "config.json").write_text(change(text))
    ended = cli("score", pairs_path, "-c", folder, "-o", tmp_path / "s.csv", "--device", "cpu")
    refused(ended, said)
