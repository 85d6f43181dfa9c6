"""Evidence of relevance: nothing rises in an equal clip, and a rise is found on its own side."""

from __future__ import annotations

import numpy as np
import pytest

from auditeval.features.evidence import EVIDENCE_NAMES, names, weigh

LABELS = 6


def test_names_and_numbers_go_together() -> None:
    assert len(set(EVIDENCE_NAMES)) == len(EVIDENCE_NAMES)
    none = np.zeros(LABELS, np.float32)
    x = {"joint": np.ones((3, LABELS), np.float16)}
    assert weigh(x, x, none, none, none, none).shape == (len(names({"joint", "mel"})),)
    assert names({"mel", "patch"}) == ()
    assert weigh({}, {}, none, none, none, none).shape == (0,)


@pytest.mark.parametrize(("first", "second"), [(1, 1), (1, 9), (9, 1), (5, 6)])
def test_any_lengths_give_finite_numbers(first: int, second: int) -> None:
    rng = np.random.default_rng(first * 10 + second)
    a, b = ({"joint": rng.uniform(0, 9, (n, LABELS)).astype(np.float16)} for n in (first, second))
    words = rng.dirichlet(np.ones(LABELS), 4).astype(np.float32)
    found = weigh(a, b, *words)
    assert found.dtype == np.float32
    assert np.isfinite(found).all()
