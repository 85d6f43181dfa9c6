"""What a configuration names, called; what it holds, as plain values."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import hydra
import hydra.errors
import pytorch_lightning as lightning
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pytorch_lightning.accelerators import CPUAccelerator
from pytorch_lightning.utilities.exceptions import MisconfigurationException

from auditeval.pretrained.packages import first_line
from auditeval.types import UserError

Made = TypeVar("Made")


def call(node: DictConfig, *arguments: Any, **options: Any) -> Any:
    """Call what a node names; a user's mistake in there, and what a disk refuses, come out as
    themselves, not as Hydra's."""
    try:
        return hydra.utils.call(node, *arguments, **options)
    except hydra.errors.InstantiationException as error:
        cause = error.__cause__
        if isinstance(cause, (UserError, OSError)):
            raise cause from None
        if cause is not None and not isinstance(cause, (TypeError, ValueError, ImportError)):
            raise
        # Without a cause it is Hydra's own, of what is named.
        reason = " ".join(str(cause or first_line(error)).split())
        raise UserError(f"{_place(node)}: {reason}; see configs/") from None
    except TypeError as error:  # Hydra's, of _partial_ and its like
        raise UserError(f"{_place(node)}: {first_line(error)}; see configs/") from None


def _place(node: DictConfig) -> str:
    return f"{node._get_full_key(None)} ({node._target_})"


def plain(node: DictConfig) -> dict[str, Any]:
    """Its values, resolved; UserError where one is missing, or one that another refers to."""
    try:
        return OmegaConf.to_container(node, resolve=True, throw_on_missing=True)  # type: ignore[return-value]
    except OmegaConfBaseException as error:
        raise UserError(f"{error.full_key}: {first_line(error)}") from None


def built(
    what: str, make: Callable[..., Made], *arguments: Any, advice: str = "", **named: Any
) -> Made:
    """What a function that a configuration names makes; UserError where its settings are wrong."""
    try:
        return make(*arguments, **named)
    except UserError:
        raise
    except (TypeError, ValueError, RuntimeError, ArithmeticError, AssertionError) as error:
        raise UserError(
            f"{what} cannot be made with its settings ({first_line(error)}){advice}"
        ) from None


def make_trainer(
    configured: Mapping[str, Any], decided: Mapping[str, Any], **more: Any
) -> lightning.Trainer:
    """A Trainer; UserError for arguments it does not take, and for those that the run sets."""
    for name in configured.keys() & {*decided, "default_root_dir", "logger", "callbacks"}:
        raise UserError(f"trainer.{name} is set by the run itself: see fit, logger and callbacks")
    try:
        made = built("the trainer", lambda: lightning.Trainer(**configured, **decided, **more))
    except MisconfigurationException as error:
        raise UserError(f"the trainer cannot be made ({first_line(error)})") from None
    # Each is a process; Lightning would start any number, which then fill the memory.
    if isinstance(made.accelerator, CPUAccelerator) and made.num_devices > (os.cpu_count() or 1):
        raise UserError(
            f"trainer.devices={made.num_devices}: there are {os.cpu_count()} cores here"
        )
    return made
