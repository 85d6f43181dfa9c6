"""Models as plain torch modules. A checkpoint names one of `MODELS`; nothing else can be built."""

from __future__ import annotations

from auditeval.models.three_head import ConcatRegressor, PairwiseRegressor, Regressor

MODELS: dict[str, type[Regressor]] = {
    "concat": ConcatRegressor,
    "pairwise": PairwiseRegressor,
}
