"""How well a change that was made fits one that words ask for, in numbers free of which change."""

from __future__ import annotations

import numpy as np

NAMES: tuple[str, ...] = (
    "told",  # how surely the words ask for a change of how a sound sounds, and for no event,
    "unheard",  # and for one that is not among those measured here
    "mend",  # the part of it that is to take a fault away: what is left of it is heard as a fault
    "along",  # steps the asked way, 1 at the most; below 0: the other way
    "share",  # as cosine with all that was made
    "lead",  # above the greatest that was not asked for
    "much",  # log of the steps the asked way
    "short",  # octaves that they fall short of the amount that was told,
    "over",  # and go beyond it
    "amount",  # 1 where one was told
    "unasked",  # the greatest change that was not asked for, of 1, and their mean
    "unasked_mean",
)
_ENOUGH = 2.0  # steps that count as done
_SURELY = 0.7  # of weight; beyond it words say no more of what is asked, but of how it was worded
_MOST_OCTAVES = 2.0


def weigh_changes(
    asked: np.ndarray,
    kin: np.ndarray,
    mends: np.ndarray,
    made: np.ndarray,
    unheard: float,
    off: float | None,
) -> np.ndarray:
    """Weights of what is asked for :: (K,), 0..1, and steps made :: (K,) to the values of NAMES.

    `kin` :: bool (K, K), which others a change brings along by its nature. `mends` :: bool (K,),
    which take a fault away. `unheard` is the weight of what is not among the K. `off` :: octaves
    that what was made lies above (below 0: below) the amount that was told; None where none was.
    All are 0 where the words ask for no change.
    """
    told = float(asked.sum()) + unheard
    if told == 0:
        return np.zeros(len(NAMES), np.float32)
    done = np.tanh(made / _ENOUGH)
    forward = np.maximum(done, 0)
    weights = asked / max(float(asked.sum()), 1e-6) if asked.any() else asked
    # What goes with the asked change by its nature is not unasked: each counts as far as it is not.
    related = asked > 0.25 * max(float(asked.max()), 1e-6)
    related |= kin[related].any(axis=0)
    unlike = np.abs(done)[~related]
    most = float(unlike.max(initial=0.0))
    along = float(weights @ done)
    amount = 0.0 if off is None else float(np.clip(off, -_MOST_OCTAVES, _MOST_OCTAVES))
    values = [
        float(asked[mends].sum()) / told,
        along,
        float(weights @ forward) / max(_length(weights) * _length(forward), 0.3),
        along - most,
        float(weights @ np.log1p(np.maximum(made, 0))),
        max(-amount, 0.0),
        max(amount, 0.0),
        float(off is not None),
        most,
        float(unlike.mean()) if unlike.size else 0.0,
    ]
    told = min(told / _SURELY, 1.0)
    return np.array([told, unheard, *(told * value for value in values)], np.float32)


def _length(x: np.ndarray) -> float:
    return float(np.linalg.norm(x))
