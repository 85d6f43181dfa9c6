"""Intervals from a calibrated checkpoint to the table, the terminal and the report."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from sklearn.linear_model import Ridge

from auditeval import checkpoint, load, manifest, scores_table
from auditeval.features.encoder import Encoder
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.features.pair import PairFeatures
from auditeval.features.store import FeatureStore
from auditeval.models.ensemble import EnsembleRegressor
from auditeval.scoring import Evaluator
from auditeval.training.ensemble import Calibration, fit_members
from auditeval.training.fit import Examples
from auditeval.types import AXES, EditPair, Scores


@pytest.fixture(scope="module")
def calibrated(
    tmp_path_factory: pytest.TempPathFactory, simulated: list[EditPair], cache_dir: Path
) -> Path:
    """An ensemble of spectrum, fitted on 30 pairs and calibrated on 20."""
    encoder = Encoder([Spectrum()])
    features = FeatureStore(encoder, cache_dir).pairs(simulated[:50])
    rows = [row for row in features if isinstance(row, PairFeatures)]
    train, held_out = PairFeatures.stack(rows[:30]), PairFeatures.stack(rows[30:])
    ratings = torch.tensor([[pair.ratings[axis] for axis in AXES] for pair in simulated[:50]])
    torch.manual_seed(7)
    model = EnsembleRegressor(encoder.inputs, kinds=["ridge", "mlp"], hidden=[4]).eval()
    model.fit_scales(train, ratings[:30])
    fit_members(model, train, ratings[:30], {"ridge": Ridge(alpha=100.0)}, seed=1)
    model.calibrate(train, held_out, ratings[30:], torch.arange(20))
    folder = tmp_path_factory.mktemp("checkpoints") / "calibrated"
    checkpoint.save(folder, model, encoder, {"data": "simulated"})
    return folder


@pytest.fixture(scope="module")
def sure(calibrated: Path) -> Evaluator:
    return load(calibrated, "cpu", workers=0)


def ends(row: Scores) -> list[float]:
    return [end for axis in AXES for end in row.interval(axis) or ()]


def test_a_score_lies_in_its_interval(sure: Evaluator, simulated: list[EditPair]) -> None:
    widths = set()
    for row in sure.score(simulated):
        for axis in AXES:
            low, high = row.interval(axis)
            assert 1 <= low <= getattr(row, axis) <= high <= 5
            widths.add(round(high - low, 3))
    assert len(widths) > 80


def test_an_evaluator_that_was_not_calibrated_has_none(
    evaluator: Evaluator, simulated: list[EditPair]
) -> None:
    (row,) = evaluator.score(simulated[:1])
    assert row.status == "ok"
    assert [row.interval(axis) for axis in AXES] == [None] * 3


def test_an_axis_without_scores_has_no_interval(
    calibrated: Path, simulated: list[EditPair]
) -> None:
    made = load(calibrated, "cpu", workers=0)
    made.checkpoint.model.trained[AXES.index("relevance")] = False
    (row,) = made.score(simulated[:1])
    assert (row.relevance, row.interval("relevance")) == (None, None)
    assert row.interval("quality") is not None


@pytest.mark.parametrize("suffix", scores_table.SUFFIXES)
def test_tables_hold_them_whatever_interrupted_the_run(
    sure: Evaluator, simulated: list[EditPair], tmp_path: Path, suffix: str
) -> None:
    broken = simulated[3].model_copy(update={"edited": tmp_path / "absent.wav"})
    manifest.write([*simulated[:3], broken, *simulated[4:12]], tmp_path / "pairs.jsonl")
    whole, cut = tmp_path / f"whole{suffix}", tmp_path / f"cut{suffix}"
    for _ in sure.score_manifest(tmp_path / "pairs.jsonl", whole, batch_size=4):
        pass
    steps = sure.score_manifest(tmp_path / "pairs.jsonl", cut, batch_size=4)
    next(steps), next(steps)
    steps.close()
    for _ in sure.score_manifest(tmp_path / "pairs.jsonl", cut, batch_size=4):
        pass
    assert cut.read_bytes() == whole.read_bytes()
    rows = list(scores_table.read(whole))
    pairs = manifest.read(tmp_path / "pairs.jsonl")
    assert rows == [row for start in (0, 4, 8) for row in sure.score(pairs[start : start + 4])]
    assert [len(ends(row)) for row in rows] == [6, 6, 6, 0] + [6] * 8
    kept = scores_table.read_table(whole)  # the columns that `filter` reads
    assert kept["quality"].to_list() == [row.quality for row in rows]


def test_one_pair_on_the_terminal(
    cli: Any, calibrated: Path, sure: Evaluator, simulated: list[EditPair]
) -> None:
    pair = simulated[0]
    ended = cli(
        *("score", "-c", calibrated, "--original", pair.original, "--edited", pair.edited),
        *("--original-caption", pair.original_caption, "--target-caption", pair.target_caption),
    )
    (row,) = sure.score([pair])
    assert ended.out.splitlines() == [
        f"{axis:<14}{getattr(row, axis):.3f}  [{row.interval(axis)[0]:.2f} to "
        f"{row.interval(axis)[1]:.2f}]"
        for axis in AXES
    ]


def test_evaluate_says_how_many_ratings_they_cover(
    cli: Any, sure: Evaluator, simulated: list[EditPair], tmp_path: Path
) -> None:
    manifest.write(simulated, tmp_path / "pairs.jsonl")
    for _ in sure.score_manifest(tmp_path / "pairs.jsonl", tmp_path / "scores.csv"):
        pass
    ended = cli(
        *("evaluate", tmp_path / "scores.csv", "--against", tmp_path / "pairs.jsonl"),
        *("--resamples", 0, "-o", tmp_path / "report"),
    )
    assert ended.status == 0, ended.err
    rows = json.loads((tmp_path / "report" / "agreement.json").read_text())["rows"]
    scores = {row.id: row for row in scores_table.read(tmp_path / "scores.csv")}
    for row in rows:
        inside = 0
        for pair in simulated:
            low, high = scores[pair.id].interval(row["axis"])
            inside += low <= pair.ratings[row["axis"]] <= high
        assert 30 < inside < 60
        assert row["coverage"]["share"] == pytest.approx(inside / 60)
        assert f"{inside / 60:.3f}" in ended.out


def test_a_training_calibrates_by_the_operation_of_each_pair(
    calibrated: Path, simulated: list[EditPair], cache_dir: Path
) -> None:
    """Ratings that only one of two operations is far from make the intervals of both as wide."""
    model = checkpoint.load(calibrated).model
    assert isinstance(model, EnsembleRegressor)
    store = FeatureStore(Encoder([Spectrum()]), cache_dir)
    features = PairFeatures.stack(
        [row for row in store.pairs(simulated[:40]) if isinstance(row, PairFeatures)]
    )
    with torch.no_grad():
        ratings = model(features)
    ratings[:10] += 1.0  # a quarter of the pairs
    quantiles = []
    for operations in (["add"] * 10 + ["delete"] * 30, ["add"] * 40):
        pairs = [
            pair.model_copy(update={"operation": operation})
            for pair, operation in zip(simulated, operations, strict=False)
        ]
        callback = Calibration(features, Examples(pairs, features, ratings), torch.arange(40))
        callback.on_fit_end(None, SimpleNamespace(model=model, device="cpu"))  # type: ignore[arg-type]
        quantiles.append(model.quantile.clone())
    apart, together = quantiles
    assert (apart > 0).all()
    assert (apart >= together).all()
    assert (apart > together).any()
