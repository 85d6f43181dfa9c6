"""A small listening test and raters who have consented."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra [web] is not installed")

from listening_tests import RaterClient, pairs, session

from auditeval.listening.session import Session


@pytest.fixture
def listening(tmp_path: Path) -> Session:
    """Four pairs, two raters, nothing but rated pairs."""
    return session(tmp_path, pairs(tmp_path))


@pytest.fixture
def rater(listening: Session) -> RaterClient:
    return RaterClient(listening).consent()


@pytest.fixture
def other(listening: Session) -> RaterClient:
    return RaterClient(listening, 1).consent()
