"""Models as plain torch modules. A checkpoint names one of `MODELS`; nothing else can be built."""

from __future__ import annotations

from auditeval.models.ensemble import EnsembleRegressor
from auditeval.models.model import Model
from auditeval.models.omni.regressor import OmniRegressor
from auditeval.models.three_head import ConcatRegressor, PairwiseRegressor
from auditeval.types import UserError

MODELS: dict[str, type[Model]] = {
    "concat": ConcatRegressor,
    "ensemble": EnsembleRegressor,
    "pairwise": PairwiseRegressor,
    "qwen_omni": OmniRegressor,
}


def find_model(name: str) -> type[Model]:
    """The model of that name; raises UserError for a name that is not in MODELS."""
    if name not in MODELS:
        raise UserError(f"no model is called {name!r}; known: {', '.join(MODELS)}")
    return MODELS[name]
