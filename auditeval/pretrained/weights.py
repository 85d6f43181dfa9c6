"""Published weights in our modules: all of them or none, and what they are known by."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from torch import Tensor, nn

from auditeval.types import UserError


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
    broken = [key for key, value in model.named_parameters() if not value.isfinite().all()]
    for problem, keys in (
        ("lacks", missing),
        ("holds beyond it", beyond),
        ("holds numbers that are not finite in", broken),
    ):
        if keys:
            raise UserError(
                f"{path}: is no checkpoint of {what}: {problem} {keys[0]} ({len(keys)} tensors)"
            )


def digest(model: nn.Module) -> str:
    """Changes with any tensor's name, shape or bytes."""
    made = hashlib.sha256()
    for key, value in sorted(model.state_dict().items()):
        made.update(f"{key} {tuple(value.shape)}\n".encode())
        made.update(np.ascontiguousarray(value.numpy()).data)
    return made.hexdigest()[:12]
