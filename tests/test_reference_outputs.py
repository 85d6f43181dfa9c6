"""Models say the same on every processor, but for rounding.

The references are of a processor with AVX-512 and VNNI, the evaluator's of one with AVX2 alone.
`python tests/performance/processors.py` prints how far those of another one are from them.
"""

from __future__ import annotations

import pytest
from reference_outputs import OUTPUTS, difference

MOST = 2e-4
"""Of the largest output."""


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_are_the_reference(name: str) -> None:
    found = difference(name)
    assert found.largest <= MOST * found.of, f"{found.largest:.1e} of {found.of:.1e}"
