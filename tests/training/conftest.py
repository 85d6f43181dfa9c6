"""Runs here are of seconds, and most of these would be spent on plots that nobody looks at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from matplotlib.figure import Figure


@pytest.fixture(scope="module", autouse=True)
def blank_plots() -> Iterator[None]:
    """Plots of reports are there, and blank; tests/report and tests/cli draw them."""
    save = Figure.savefig

    def blank(_: Figure, *arguments: Any, **options: Any) -> None:
        save(Figure(figsize=(1, 1)), *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", blank)
        yield
