"""Runs here are of seconds, and most of these would be spent on plots that nobody looks at."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module", autouse=True)
def _blank(blank_plots: None) -> None:
    """See `blank_plots`."""
