"""Simulated edits of another length: the more is missing or too much, the less faithful."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from auditeval import manifest
from auditeval.audio import decode
from auditeval.data.simulation import focused
from auditeval.types import EditPair


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> list[EditPair]:
    folder = tmp_path_factory.mktemp("lengths")
    return manifest.read(focused.build(folder, "lengths", scenes=18, seconds=1.2, workers=1))


def of(pairs: list[EditPair], variant: str) -> list[EditPair]:
    return [pair for pair in pairs if pair.id.endswith(f"_{variant}")]


def seconds(path: Path) -> float:
    clip = decode(path)
    return len(clip.samples) / clip.rate_hz


def longer(pair: EditPair) -> float:
    return seconds(pair.edited) / seconds(pair.original)


def test_what_has_the_right_length_loses_nothing(pairs: list[EditPair]) -> None:
    whole = of(pairs, "whole")
    assert len(whole) == 18
    assert min(min(pair.ratings.values()) for pair in whole) >= 4.6
    assert {pair.operation for pair in whole} == {"process", "add", "delete", "replace"}
    assert all(set(pair.ratings) == {"faithfulness"} for pair in pairs)


@pytest.mark.parametrize(("variant", "sign"), [("cut", 1), ("again", -1), ("gone_on", -1)])
def test_the_further_from_its_length_the_less_faithful(
    pairs: list[EditPair], variant: str, sign: int
) -> None:
    found = of(pairs, variant)
    ratio = np.array([longer(pair) for pair in found])
    faithfulness = [pair.ratings["faithfulness"] for pair in found]
    assert (sign * np.log(ratio) < 0.05 if sign > 0 else ratio > 1.05).all()
    assert spearmanr(sign * ratio, faithfulness).statistic > 0.9
    assert min(faithfulness) < 3


def test_what_is_silent_is_as_missing_as_what_is_cut_off(pairs: list[EditPair]) -> None:
    found = of(pairs, "silenced")
    assert min(longer(pair) for pair in found) > 0.9
    heard = []
    for pair in found:
        samples = decode(pair.edited).samples
        heard.append(np.flatnonzero(np.abs(samples) > 1e-3)[-1] / len(samples))
    assert spearmanr(heard, [pair.ratings["faithfulness"] for pair in found]).statistic > 0.7
