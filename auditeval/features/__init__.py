"""Frozen encoders behind one protocol, and the store that runs each once per clip."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from auditeval.features.encoder import Encoder
from auditeval.types import UserError


def _melstats(**arguments: Any) -> Encoder:
    from auditeval.features.melstats import MelStats

    return MelStats(**arguments)


def _offline(**arguments: Any) -> Encoder:
    from auditeval.features.offline import OfflineEncoder

    return OfflineEncoder(**arguments)


ENCODERS: dict[str, Callable[..., Encoder]] = {"melstats": _melstats, "offline": _offline}
"""The encoders that a checkpoint may name. Each import is put off until its encoder is used."""


def make_encoder(name: str, **arguments: Any) -> Encoder:
    """Build the encoder of that name; raises UserError for a name that is not in ENCODERS."""
    if name not in ENCODERS:
        raise UserError(f"no encoder is called {name!r}; known: {', '.join(ENCODERS)}")
    return ENCODERS[name](**arguments)
