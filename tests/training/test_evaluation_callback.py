"""The evaluation callback: whole epochs, on one process and on two; editors and evaluators."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytorch_lightning as lightning
import torch
from hydra import compose, initialize_config_dir
from torch.utils.data import DataLoader, Dataset
from toy_benchmark import RATE_HZ, Louder, write_clips
from two_devices import needs_fork, on_two_devices

from auditeval import audio, manifest, scoring
from auditeval.audio import Waveform, files
from auditeval.audio.waveform import quantised
from auditeval.benchmarks.run import run
from auditeval.benchmarks.salmon.benchmark import Salmon
from auditeval.benchmarks.salmon.scorers import EvaluatorScorer
from auditeval.benchmarks.selection import Selection
from auditeval.features.store import Failure
from auditeval.training.evaluation.callback import EpochMetric, EvaluationCallback
from auditeval.training.evaluation.editors import EditorBenchmark, heard
from auditeval.training.evaluation.evaluators import Agreement, EvaluatorMetric
from auditeval.training.run import train
from auditeval.types import EditPair, Undefined, UserError

ROOT = Path(__file__).parents[2]
CLIPS = 11  # odd: on two devices the sampler deals one of them twice


class Clips(Dataset[Any]):
    def __init__(self, benchmark: Louder) -> None:
        self.samples = benchmark.samples

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, row: int) -> tuple[str, np.ndarray]:
        return self.samples[row].id, audio.decode(self.samples[row].path).samples


class Editor(lightning.LightningModule):
    """Makes every other clip louder by a gain of its own; clips 3 and 4 come out silent and NaN."""

    def __init__(self, benchmark: Louder, batch_size: int = 3, leave: str = "") -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.model = Model()
        self.benchmark, self.batch_size, self.leave = benchmark, batch_size, leave

    def training_step(self, batch: Any, batch_index: int) -> torch.Tensor:
        return self.weight.square().sum()

    def validation_step(self, batch: Any, batch_index: int) -> Any:
        edited = []
        for id, samples in batch:
            number = int(id[-2:])
            gain = {3: 0.0, 4: float("nan")}.get(number, 1 + (-1) ** number * number / 20)
            edited.append(torch.from_numpy(gain * samples))
        outputs = {"id": [id for id, _ in batch], "edited": edited, "rate_hz": RATE_HZ}
        return {key: value for key, value in outputs.items() if key != self.leave}

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def train_dataloader(self) -> Any:
        return self.val_dataloader()

    def val_dataloader(self) -> Any:
        return DataLoader(Clips(self.benchmark), self.batch_size, collate_fn=lambda batch: batch)


class Numbers(EvaluatorMetric):
    """Rates pairs by a model that knows their numbers."""

    @contextmanager
    def pairs(self, trainer: Any) -> Iterator[list[EditPair]]:
        sides = {"original": Path("a"), "edited": Path("b")}
        captions = {"original_caption": "", "target_caption": ""}
        yield [EditPair(id=str(n), **sides, **captions) for n in range(9)]  # type: ignore[arg-type]

    def row(self, pair: EditPair, ratings: Any) -> Any:
        return ratings

    def values(self, rows: dict[str, Any]) -> dict[str, Any]:
        rated = [ratings["faithfulness"] for ratings in rows.values() if ratings]
        return {"mean": sum(rated) / len(rated), "rated": len(rated)}


class Model(torch.nn.Module):
    """Rates a pair by its number; it cannot rate number 4."""

    trained = torch.tensor([False, False, True])

    def look(self, store: Any, pairs: list[EditPair]) -> list[Any]:
        return [Failure("no") if pair.id == "4" else float(pair.id) for pair in pairs]

    def predict(self, rows: list[float]) -> torch.Tensor:
        return torch.tensor(rows)[:, None] * torch.tensor([1.0, 2.0, 3.0])


class Counted(EpochMetric):
    """A metric with items of its own, numbered over the devices: their sum and their number."""

    def epoch(self, trainer: Any, module: Any) -> dict[str, Any]:
        rows = range(7)[trainer.global_rank :: trainer.world_size]
        mine = {str(row): row * module.weight.item() + row for row in rows}
        return {**mine, "shared": trainer.global_rank}  # of two devices the first one's counts

    def values(self, rows: dict[str, Any]) -> dict[str, Any]:
        assert list(rows) == sorted(rows)
        return {"sum": sum(rows.values()), "n": len(rows) - 1, "none": Undefined("never there")}


def fit(editor: Editor, *callbacks: lightning.Callback, **arguments: Any) -> dict[str, float]:
    trainer = lightning.Trainer(
        accelerator="cpu",
        callbacks=list(callbacks),
        **{"max_epochs": 1, "logger": False, **arguments},
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(editor)
    return {name: float(value) for name, value in trainer.callback_metrics.items()}


def evaluated(folder: Path, batch_size: int = 3, **arguments: Any) -> dict[str, float]:
    benchmark = Louder(folder)
    numbers = Numbers({"spectrum": {}}, batch_size=2)
    metrics = {"louder": EditorBenchmark(benchmark), "own": Counted(), "numbers": numbers}
    return fit(Editor(benchmark, batch_size), EvaluationCallback(metrics), **arguments)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clips(tmp_path_factory.mktemp("callback"), CLIPS)


@pytest.fixture(scope="module")
def single(folder: Path) -> dict[str, float]:
    return evaluated(folder)


def test_an_epoch_is_one_set(folder: Path, single: dict[str, float]) -> None:
    gains = [round(1 + (-1) ** n * n / 20, 6) for n in range(CLIPS) if n not in (3, 4)]
    expected = {
        "val/louder/success": sum(gain > 1 for gain in gains) / CLIPS,
        "val/louder/gain": sum(gains) / len(gains),
        "val/louder/seen": 1.0,
        "val/own/sum": 21.0,
        "val/own/n": 7.0,
        "val/numbers/mean": 3 * (36 - 4) / 8,
        "val/numbers/rated": 8.0,
    }
    assert single == pytest.approx(expected, abs=1e-6)
    assert evaluated(folder, batch_size=1) == single
    assert evaluated(folder, batch_size=CLIPS, max_epochs=3) == single


def evaluated_by_two(folder: Path, found: Path) -> None:
    values = evaluated(folder, devices=2, strategy="ddp")
    assert torch.distributed.get_backend() == "gloo"
    assert torch.distributed.get_world_size() == 2
    (found / f"{torch.distributed.get_rank()}.json").write_text(json.dumps(values))


@needs_fork
def test_two_processes_are_as_one(folder: Path, single: dict[str, float], tmp_path: Path) -> None:
    on_two_devices(partial(evaluated_by_two, folder, tmp_path), tmp_path / "said")
    for rank in range(2):
        assert json.loads((tmp_path / f"{rank}.json").read_text()) == single


def test_a_fit_outlives_its_judge(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Away in the second of three epochs: undefined there, told once, asked again in the third."""

    class Judged(Louder):
        epochs = 0

        def evaluate(self, sample: Any, output: Any) -> Any:
            self.epochs += sample.id == "clip00"
            if self.epochs == 2 and sample.id == "clip05":
                raise UserError("http://judge/v1: cannot be reached")
            return super().evaluate(sample, output)

    callback = EvaluationCallback({"louder": EditorBenchmark(Judged(folder))})
    found = fit(Editor(Louder(folder)), callback, max_epochs=3)
    assert found["val/louder/seen"] == 1
    for name in ("success", "gain", "seen"):
        first, away, last = (one.content for one in callback.courses[f"val/louder/{name}"].epochs)
        assert first == last == pytest.approx(found[f"val/louder/{name}"], rel=1e-6)
        assert away == Undefined("http://judge/v1: cannot be reached")
    told = [record.message for record in caplog.records if "undefined" in record.message]
    assert told == ["val/louder is undefined: http://judge/v1: cannot be reached"]


def test_part_of_an_epoch_says_so(folder: Path) -> None:
    found = evaluated(folder, limit_val_batches=2)
    assert found["val/louder/seen"] == pytest.approx(6 / CLIPS)


def test_only_some_epochs(folder: Path) -> None:
    benchmark = Louder(folder)
    seen: list[str] = []

    class Told(Counted):
        def epoch(self, trainer: Any, module: Any) -> dict[str, Any]:
            seen.append(f"{trainer.state.fn.value}{trainer.current_epoch}")
            return super().epoch(trainer, module)

    callback = EvaluationCallback({"own": Told()}, every_epochs=2)
    fit(Editor(benchmark), callback, max_epochs=5)
    assert seen == ["fit1", "fit3", "fit4"]  # the last in any case
    seen.clear()
    fit(Editor(benchmark), EvaluationCallback({"own": Told()}, every_epochs=9), max_epochs=2)
    assert seen == ["fit1"]


def test_what_is_undefined_is_told_once(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    found = evaluated(folder, max_epochs=3)
    assert "val/own/none" not in found
    told = [record.message for record in caplog.records if "undefined" in record.message]
    assert told == ["val/own/none is undefined: never there"]


@pytest.mark.parametrize("leave", ["id", "edited", "rate_hz"])
def test_what_an_editor_must_return_is_said(folder: Path, leave: str) -> None:
    benchmark = Louder(folder)
    callback = EvaluationCallback({"louder": EditorBenchmark(benchmark)})
    with pytest.raises(UserError, match=r"louder needs a validation_step that returns a dict with"):
        fit(Editor(benchmark, leave=leave), callback)


def test_what_an_editor_returns_is_checked(folder: Path) -> None:
    metric = EditorBenchmark(Louder(folder))
    clips = torch.ones(2, 4000)
    outputs = {"id": ["clip00", "clip01"], "edited": clips, "rate_hz": torch.tensor([8000, 16000])}
    assert [clip.rate_hz for clip in metric.clips(outputs, "edited")] == [8000, 16000]
    with pytest.raises(UserError, match="the id 'clip99', which louder does not have"):
        metric.batch(None, {**outputs, "id": ["clip00", "clip99"]})
    for rate in (0, -8000, float("nan"), float("inf")):
        with pytest.raises(UserError, match=r"a rate_hz of .* expected above 0"):
            metric.batch(None, {**outputs, "rate_hz": torch.tensor(rate)})
    with pytest.raises(UserError, match="1 clips and 2 rates for 2 ids"):
        metric.batch(None, {**outputs, "edited": clips[:1]})


@pytest.mark.parametrize(
    "samples",
    [np.zeros(4000), np.full(4000, np.nan), np.ones(10), np.zeros(0), np.ones((2, 4000))],
    ids=["silent", "nan", "short", "empty", "stereo"],
)
def test_what_cannot_be_heard_is_no_success(folder: Path, samples: np.ndarray) -> None:
    benchmark = Louder(folder)
    output = heard(Waveform(samples.astype(np.float32), RATE_HZ))
    assert benchmark.evaluate(benchmark.samples[0], output)["success"] is False


def test_a_rating_that_is_not_finite_is_none(folder: Path) -> None:
    class Wild(Model):
        trained = torch.tensor([True, False, True])

        def predict(self, rows: list[float]) -> torch.Tensor:
            made = super().predict(rows)
            for number, axis, value in (
                (2, 0, "nan"),
                (3, 2, "inf"),
                (6, 0, "-inf"),
                (6, 2, "nan"),
            ):
                made[torch.tensor(rows) == number, axis] = float(value)
            return made

    class Told(Numbers):
        def values(self, rows: dict[str, Any]) -> dict[str, Any]:
            told.update(rows)
            return {}

    told: dict[str, Any] = {}
    editor = Editor(Louder(folder))
    editor.model = Wild()
    fit(editor, EvaluationCallback({"told": Told({"spectrum": {}})}))
    whole = {str(n): {"quality": float(n), "faithfulness": 3.0 * n} for n in range(9)}
    del whole["2"]["quality"], whole["3"]["faithfulness"]
    assert told == {**whole, "4": None, "6": None}


def test_settings_that_make_no_sense_are_said() -> None:
    with pytest.raises(UserError, match="every_epochs 0: expected a whole number above 0"):
        EvaluationCallback({"own": Counted()}, every_epochs=0)
    with pytest.raises(UserError, match="metrics is empty"):
        EvaluationCallback({})


def test_the_evaluator_in_training_agrees_as_its_module_says(
    simulated: list[EditPair], tmp_path: Path
) -> None:
    """`val/srcc` and `val/mse` come from the batches of the module, by another way."""
    table = tmp_path / "pairs.jsonl"
    manifest.write(simulated, table)
    settings = [
        *("data=manifest", f"data.path={table}", f"run_dir={tmp_path / 'run'}", "compare=none"),
        *("features=spectrum", "resamples=10", "workers=0", "model.rank=0", "model.hidden=[8]"),
        *("fit.epochs={quality: 2, relevance: 2, faithfulness: 2}", "fit.batch_size=16"),
        *("callbacks=evaluation", "~callbacks.progress", "+trainer.enable_progress_bar=false"),
        *("trainer.accelerator=cpu", "data.split.validation_share=0.4"),
    ]
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        train(compose("train", settings))
    path = tmp_path / "run" / "pairwise" / "holdout" / "metrics.csv"
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["val/mse/quality"]]
    assert len(rows) == 2
    for row in rows:
        for axis in ("quality", "relevance", "faithfulness"):
            for statistic in ("mse", "srcc"):
                ours = float(row[f"val/agreement/{axis}/{statistic}"])
                assert ours == pytest.approx(float(row[f"val/{statistic}/{axis}"]), rel=1e-4)
    # The report has them as the log does.
    written = json.loads((tmp_path / "run/report/evaluation.json").read_text())
    for name, course in written["pairwise/holdout"].items():
        logged = [float(row[name]) for row in rows]
        assert [one["value"] for one in course["epochs"]] == pytest.approx(logged, rel=1e-4)
    assert written["pairwise/holdout"]["val/agreement/quality/mse"]["better"] == "lower"
    assert (
        "| pairwise/holdout | val/agreement/" in (tmp_path / "run/report/evaluation.md").read_text()
    )


def test_salmon_in_training_is_salmon_of_the_checkpoint(
    simulated: list[EditPair], tmp_path: Path
) -> None:
    """One epoch, so that the checkpoint holds the weights that were validated."""
    table, root = tmp_path / "pairs.jsonl", tmp_path / "salmon"
    manifest.write(simulated, table)
    rng = np.random.default_rng(0)
    for part in ("speaker_consistency", "rir_consistency", "bg_alignment"):
        for index, number in np.ndindex(9, 2):
            clip = np.cumsum(rng.normal(0, 0.02, 12000)) % 0.5 - rng.normal(0, 0.1, 12000)
            clip[6000:] *= rng.uniform(0.2, 1) if number else 1
            files.write(root / part / f"sample_{index}_{number}.wav", quantised(clip), 16000)
    # Neither can be halved; half of the third is silent.
    files.write(root / "rir_consistency/sample_2_1.wav", np.zeros(12000, np.int16), 16000)
    (root / "rir_consistency/sample_4_0.wav").write_bytes(b"RIFF but no audio")
    half = np.where(np.arange(12000) < 6000, 0.0, rng.normal(0, 0.1, 12000))
    files.write(root / "rir_consistency/sample_6_1.wav", quantised(half), 16000)
    settings = [
        *("data=manifest", f"data.path={table}", f"run_dir={tmp_path / 'run'}", "compare=none"),
        *("features=spectrum", "resamples=10", "workers=0", "model.rank=0", "model.hidden=[8]"),
        *("fit.epochs={quality: 1, relevance: 1, faithfulness: 1}", "fit.batch_size=16"),
        *("callbacks=benchmarks", "~callbacks.progress", "+trainer.enable_progress_bar=false"),
        *("trainer.accelerator=cpu", "data.split.validation_share=0.4"),
        f"callbacks.evaluation.metrics.salmon.root={root}",
        "~callbacks.evaluation.metrics.verdicts",
    ]
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        train(compose("train", settings))
    with (tmp_path / "run/pairwise/holdout/metrics.csv").open(newline="") as file:
        (row,) = [row for row in csv.DictReader(file) if row["val/mse/quality"]]
    found = {
        name.removeprefix("val/salmon/"): float(value)
        for name, value in row.items()
        if name.startswith("val/salmon/")
    }
    benchmark = Salmon(root, Selection(("speaker_consistency", "rir_consistency")))
    scorer = EvaluatorScorer(scoring.load(tmp_path / "run/pairwise/holdout/checkpoint", "cpu"))
    expected = benchmark.values(run(benchmark, scorer, tmp_path / "records"))
    assert found == pytest.approx(expected)
    assert 0 < found["speaker_consistency"] < 1
    assert found["speaker_consistency_coverage"] == 1
    assert found["rir_consistency_coverage"] == pytest.approx(6 / 9)
    lost = 6 / 9 * found["rir_consistency_scored_only"]
    assert found["rir_consistency"] == pytest.approx(lost)


def test_without_validation_it_is_said(folder: Path) -> None:
    with pytest.raises(UserError, match="works in validation, and there is none"):
        evaluated(folder, limit_val_batches=0)


def test_an_evaluator_metric_wants_an_evaluator(folder: Path) -> None:
    callback = EvaluationCallback({"agreement": Agreement({"spectrum": {}})})
    editor = Editor(Louder(folder))
    del editor.model
    with pytest.raises(UserError, match="Agreement is for an evaluator in training"):
        fit(editor, callback)
