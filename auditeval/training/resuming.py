"""What a run that goes on reads of its folder. That may come from somebody else: it is data.

Nothing in it names what is called, but for what the project's own configurations name as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf
from pydantic import FiniteFloat, TypeAdapter, ValidationError
from sklearn.base import RegressorMixin
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from auditeval import reading
from auditeval.pretrained import torch_files
from auditeval.targets import find, named
from auditeval.types import Axis, UserError

CONFIG, LAST = "config.yaml", "last.ckpt"
_FAMILIES = {
    "torch.optim": Optimizer,
    "torch.optim.lr_scheduler": LRScheduler,
    "sklearn.linear_model": RegressorMixin,
    "sklearn.ensemble": RegressorMixin,
}
_OF_LOGGERS = {"_target_", "run_dir", "project", "offline", "entity", "tags", "notes"}
_LASTS_KEYS = {"state_dict", "epoch", "global_step", "loops", "optimizer_states", "callbacks"}
_PREDICTIONS = TypeAdapter(dict[str, dict[Axis, FiniteFloat | tuple[FiniteFloat, FiniteFloat]]])


def config(folder: Path, configs: Path) -> DictConfig:
    """The configuration that the run in `folder` was begun with.

    It may name what a file under `configs` names, the optimizers, schedulers and regressors of
    torch and scikit-learn, and what installed packages register (see `auditeval.targets`); it
    refers to no variable, and writes into `folder`. Raises UserError for any other.
    """
    path = folder / CONFIG
    if not path.exists():
        raise UserError(f"{folder}: is no run folder, it has no {CONFIG}")
    plain = reading.yaml_file(path)
    if not isinstance(plain, dict) or "fit" not in plain:
        raise UserError(f"{folder}: was begun by an older auditeval; start it anew")
    known = {name for file in configs.rglob("*.yaml") for name in named(reading.yaml_file(file))}
    for name in named(plain):
        if name not in known:
            _check_named(path, name)
    for key, value in _values(plain):
        if "${" in f"{key}{value}":
            raise UserError(f"{path}: {key}: {value!r} stands for another value; expected itself")
        if key == "output" and not Path(str(value)).resolve().is_relative_to(folder.resolve()):
            raise UserError(f"{path}: output: {value} is not in {folder}")
    if Path(str(plain.get("run_dir"))).resolve() != folder.resolve():
        raise UserError(
            f"{path}: run_dir is {plain.get('run_dir')}, which is another folder from here; a run "
            "goes on where it was begun"
        )
    logger = plain.get("logger")
    for key, value in logger.items() if isinstance(logger, dict) else ():
        if key not in _OF_LOGGERS and value != "":
            raise UserError(f"{path}: logger.{key} is {value!r}; a run that goes on takes none")
    return OmegaConf.create(plain)


def _check_named(path: Path, name: Any) -> None:
    module, _, kind = str(name).rpartition(".")
    family = _FAMILIES.get(module)
    found = getattr(import_module(module), kind, None) if family else None
    if family and isinstance(found, type) and issubclass(found, family):
        return
    try:
        find(name, ())
    except UserError:
        raise UserError(
            f"{path}: refused, it names {name!r}, which no file under configs/ names; a run folder "
            "may come from anybody, or from an older auditeval: if you trust it, name that in a "
            "file of yours there"
        ) from None


def _values(node: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """(Its key, a value that is no list or mapping), of all that there are."""
    if isinstance(node, dict):
        for name, part in node.items():
            yield from _values(part, str(name))
    elif isinstance(node, list):
        for part in node:
            yield from _values(part, key)
    else:
        yield key, node


def last(folder: Path) -> Path | None:
    """The checkpoint that training goes on from, None where there is none.

    Raises UserError for one that asks for code, is cut, or is not Lightning's.
    """
    path = folder / LAST
    if not path.exists():
        return None
    advice = f"delete it to train {folder.name} from the start"
    held = torch_files.load(path, advice, mapped=True)
    if not (isinstance(held, dict) and held.keys() >= _LASTS_KEYS):
        raise UserError(f"{path}: is no checkpoint that training goes on from; {advice}")
    return path


def predictions(path: Path) -> dict[str, dict[Axis, Any]]:
    """{pair id: {axis: rating}}, or of intervals (low, high); {} without the file.

    Raises UserError for another file.
    """
    if not path.exists():
        return {}
    try:
        return _PREDICTIONS.validate_json(reading.content(path))
    except (OSError, ValidationError):
        raise UserError(f"{path}: holds no ratings by pair and axis; delete it") from None
