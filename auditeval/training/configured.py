"""What a configuration names, called; what it holds, as plain values."""

from __future__ import annotations

from typing import Any

import hydra
import hydra.errors
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from auditeval.features.wrapped import first_line
from auditeval.types import UserError


def call(node: DictConfig, *arguments: Any, **options: Any) -> Any:
    """Call what a node names; a user's mistake in there comes out as itself, not as Hydra's."""
    try:
        return hydra.utils.call(node, *arguments, **options)
    except hydra.errors.InstantiationException as error:
        cause = error.__cause__
        if isinstance(cause, UserError):
            raise cause from None
        if isinstance(cause, (ValueError, ImportError)) or "argument" in str(cause):
            reason = " ".join(str(cause).split())
            raise UserError(f"{node._target_}: {reason}; see configs/") from None
        raise


def whole(name: str, value: Any, least: int = 1) -> None:
    """Raises UserError for what is no whole number, or less than `least`."""
    if not (isinstance(value, int) and value >= least):
        bound = f" above {least - 1}" if least else ", 0 at least"
        raise UserError(f"{name} {value!r}: expected a whole number{bound}")


def plain(node: DictConfig) -> dict[str, Any]:
    """Its values, resolved; UserError where one is missing, or one that another refers to."""
    try:
        return OmegaConf.to_container(node, resolve=True, throw_on_missing=True)  # type: ignore[return-value]
    except OmegaConfBaseException as error:
        raise UserError(f"{error.full_key}: {first_line(error)}") from None
