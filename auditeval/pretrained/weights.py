"""Published weights in our modules: all of them or none, and what they are known by."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from auditeval.types import UserError

_DRAWS = {"uniform_", "normal_", "trunc_normal_", "kaiming_uniform_"}
"""What layers begin with, of tensors and of `torch.nn.init`, which transformers replaces."""


class Undrawn(TorchFunctionMode):
    """Modules made inside begin with any numbers: for those that are read over, as `fill` does.

    To draw them is as long as all the rest of loading.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__name__", "") in _DRAWS:
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)


def fill(
    path: Path,
    model: nn.Module,
    state: Mapping[str, Tensor],
    what: str,
    computed: re.Pattern[str] = re.compile(r"num_batches_tracked$"),
    beyond_is_wrong: bool = True,
) -> None:
    """Load every tensor, or raise UserError that says why the file is no checkpoint of `what`.

    Keys in which `computed` is found may be absent: the model computes them or does not use them.
    """
    try:
        found = model.load_state_dict(state, strict=False)
    except RuntimeError as error:
        reason = str(error).splitlines()[-1].strip()
        raise UserError(f"{path}: is no checkpoint of {what} ({reason})") from None
    missing = [key for key in found.missing_keys if not computed.search(key)]
    beyond = found.unexpected_keys if beyond_is_wrong else []
    broken = [key for key, value in model.named_parameters() if not _finite(value)]
    for problem, keys in (
        ("lacks", missing),
        ("holds beyond it", beyond),
        ("holds numbers that are not finite in", broken),
    ):
        if keys:
            raise UserError(
                f"{path}: is no checkpoint of {what}: {problem} {keys[0]} ({len(keys)} tensors)"
            )


def _finite(value: Tensor) -> bool:
    """Told by the least and the largest number, which a NaN is as well: one pass, no copy."""
    return value.numel() == 0 or all(end.isfinite() for end in torch.aminmax(value.detach()))


def digest(model: nn.Module) -> str:
    """Changes with any tensor's name, shape or bytes."""
    made = hashlib.sha256()
    for key, value in sorted(model.state_dict().items()):
        made.update(f"{key} {tuple(value.shape)}\n".encode())
        made.update(np.ascontiguousarray(value.numpy()).data)
    return made.hexdigest()[:12]
