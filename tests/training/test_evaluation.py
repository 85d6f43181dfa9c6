"""Data quality of an epoch: an editor's as one set, on one device and on two; what is kept."""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytorch_lightning as lightning
import torch
from fake_encoders import FakeClap, FakeExtractor
from hydra import compose, initialize_config_dir
from torch.utils.data import DataLoader, Dataset
from two_devices import needs_fork, on_two_devices

from auditeval import audio, checkpoint, manifest
from auditeval.data_quality import measure
from auditeval.data_quality.catalogue import METRICS, Heard, summarise
from auditeval.features.pair import PairFeatures
from auditeval.features.store import FeatureStore
from auditeval.filtering.recipe import Stage
from auditeval.training.evaluation.callback import EvaluationCallback
from auditeval.training.evaluation.data_quality import DataQuality, KeptShare, best_share
from auditeval.training.run import train
from auditeval.types import AXES, EditPair, UserError

ROOT = Path(__file__).parents[2]
CLIPS, SAMPLES, FED_HZ = 23, 24000, 24000


def fakes() -> dict[str, Any]:
    return {"yamnet": FakeExtractor(), "clap": FakeClap()}


class Clips(Dataset[Any]):
    """Noises whose loudness and colour differ; `broken` are NaN and silent after editing."""

    def __init__(self, broken: bool = False) -> None:
        self.broken = broken

    def __len__(self) -> int:
        return CLIPS

    def __getitem__(self, row: int) -> dict[str, Any]:
        rng = np.random.default_rng(row)
        original = np.cumsum(rng.normal(0, 0.1, SAMPLES)) % 1 - 0.5 if row % 3 else None
        original = rng.normal(0, 0.1, SAMPLES) if original is None else original
        edited = 0.5 * original + rng.normal(0, 0.02 * (1 + row % 4), SAMPLES)
        if self.broken and row == 4:
            edited[7] = np.nan
        if self.broken and row == 9:
            edited[:] = 0
        clips = {"original": original, "edited": edited}
        return {
            **{side: torch.from_numpy(x.astype(np.float32)) for side, x in clips.items()},
            "target_caption": f"Sound {row}.",
            "id": row,
        }


class Editor(lightning.LightningModule):
    """Returns its input; something to train is in it."""

    def __init__(self, leave: tuple[str, ...] = (), broken: bool = False) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.leave, self.broken = leave, broken

    def training_step(self, batch: Any, batch_index: int) -> torch.Tensor:
        return self.weight.square().sum()

    def validation_step(self, batch: Any, batch_index: int) -> Any:
        outputs = {**batch, "rate_hz": FED_HZ}
        return {key: value for key, value in outputs.items() if key not in self.leave}

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def train_dataloader(self) -> Any:
        return DataLoader(Clips(), batch_size=20)

    def val_dataloader(self) -> Any:
        return DataLoader(Clips(self.broken), batch_size=4)


def fit(
    metric: DataQuality, editor: Editor, every_epochs: int = 1, **arguments: Any
) -> lightning.Trainer:
    trainer = lightning.Trainer(
        accelerator="cpu",
        callbacks=[EvaluationCallback({"data": metric}, every_epochs)],
        **{"max_epochs": 1, "logger": False, **arguments},
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(editor)
    return trainer


def logged(trainer: lightning.Trainer) -> dict[str, float]:
    return {name: float(value) for name, value in trainer.callback_metrics.items()}


def expected(rows: list[int]) -> dict[str, float]:
    """By the functions that `auditeval metrics` calls, from the clips themselves."""
    found: dict[str, float] = {}
    for role, encoder in fakes().items():
        heard = {}
        for row in rows:
            item = Clips()[row]
            original, edited = (
                encoder.encode_clip(
                    audio.resample(audio.Waveform(item[side].numpy(), FED_HZ), encoder.rate_hz)
                )
                for side in ("original", "edited")
            )
            text = encoder.encode_text([item["target_caption"]])[0] if encoder.text_dim else None
            heard[str(row)] = Heard(original, edited, text, encoder.joint_dim)
        metrics = [metric for metric in METRICS.values() if metric.role == role]
        values = summarise(metrics, heard)
        found |= {f"val/data/{n}": m.value for n, m in values.items() if isinstance(m.value, float)}
    return found


def test_an_epoch_is_one_set(tmp_path: Path) -> None:
    found = logged(fit(DataQuality(fakes(), cache_dir=tmp_path), Editor()))
    assert found.pop("val/data/left_out") == 0
    assert found == pytest.approx(expected(list(range(CLIPS))), rel=1e-6)
    assert len(found) == 7
    # In another epoch: the same, not twice as many.
    again = logged(fit(DataQuality(fakes(), cache_dir=tmp_path), Editor(), max_epochs=3))
    assert again == pytest.approx({**found, "val/data/left_out": 0}, rel=1e-6)


def fit_by_two(found: Path) -> None:
    metric = DataQuality(fakes(), cache_dir=found / "cache")
    trainer = fit(metric, Editor(), devices=2, strategy="ddp")
    (found / f"{trainer.global_rank}.json").write_text(json.dumps(logged(trainer)))


@needs_fork
def test_two_devices_are_as_one(tmp_path: Path) -> None:
    """23 clips on two devices are 24 steps: the clip that is dealt twice counts once."""
    on_two_devices(partial(fit_by_two, tmp_path), tmp_path / "said")
    for rank in range(2):
        found = json.loads((tmp_path / f"{rank}.json").read_text())
        assert found.pop("val/data/left_out") == 0
        assert found == pytest.approx(expected(list(range(CLIPS))), rel=1e-6)


def test_what_cannot_be_heard_is_left_out_and_counted(tmp_path: Path) -> None:
    trainer = fit(DataQuality(fakes(), cache_dir=tmp_path), Editor(broken=True))
    found = logged(trainer)
    assert found.pop("val/data/left_out") == 2
    rest = [row for row in range(CLIPS) if row not in (4, 9)]
    assert found == pytest.approx(expected(rest), rel=1e-6)
    refusing = {"clap": FakeClap(), "yamnet": FakeExtractor(refused=SAMPLES * 2 // 3)}
    none = logged(fit(DataQuality(refusing, cache_dir=tmp_path), Editor()))
    assert none == {"val/data/left_out": CLIPS}


def test_only_some_epochs_and_metrics(tmp_path: Path) -> None:
    tagger = FakeExtractor("counted")
    metric = DataQuality({"yamnet": tagger}, ["fd_yamnet_16k"], cache_dir=tmp_path)
    trainer = fit(metric, Editor(), every_epochs=2, max_epochs=5)
    assert set(logged(trainer)) == {"val/data/fd_yamnet_16k", "val/data/left_out"}
    assert tagger.clips == 4 * CLIPS  # originals once, edits in two epochs and the last


@pytest.mark.parametrize(
    ("editor", "sentence"),
    [
        (
            Editor(leave=("rate_hz",)),
            "DataQuality needs a validation_step that returns a dict with ",
        ),
        (
            Editor(leave=("id",)),
            "returns a dict with id, original, edited, rate_hz, target_caption",
        ),
    ],
)
def test_what_the_module_must_return_is_said(editor: Editor, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=sentence):
        fit(DataQuality(fakes(), cache_dir=tmp_path), editor)


def test_what_the_module_returns_is_checked(tmp_path: Path) -> None:
    metric, module = DataQuality(fakes(), cache_dir=tmp_path), Editor()
    clips = torch.zeros(2, 100)
    sides = {"original": clips, "edited": clips}
    outputs = {"id": [7, 8], **sides, "rate_hz": 8000, "target_caption": ["a", "b"]}
    assert metric.batch(module, outputs) == {"7": None, "8": None}  # silent
    with pytest.raises(UserError, match="2 clips and 1 rates for 3 ids"):
        metric.batch(module, {**outputs, "id": torch.arange(3)})
    with pytest.raises(UserError, match="1 clips and 1 rates for 2 ids"):
        metric.batch(module, {**outputs, "edited": clips[:1]})
    for wrong in ({"original": clips[:, None]}, {"target_caption": ["a"]}):
        with pytest.raises(UserError, match=r"not \(B, T\) on both sides with B captions"):
            metric.batch(module, {**outputs, **wrong})


def test_settings_that_make_no_sense_are_said() -> None:
    with pytest.raises(UserError, match=r"keep_share 1\.5: expected a number above 0, 1 at most"):
        KeptShare(fakes(), 1.5, {"spectrum": {}})
    with pytest.raises(UserError, match="no metric is called 'fad'"):
        DataQuality(fakes(), ["fad"])


@pytest.fixture(scope="module")
def table(simulated: list[EditPair], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kept") / "pairs.jsonl"
    manifest.write(simulated, path)
    return path


def configured(table: Path, folder: Path, *overrides: str) -> Any:
    settings = [
        *("data=manifest", f"data.path={table}", f"run_dir={folder}", "features=spectrum"),
        *("compare=none", "resamples=10", "workers=0", "model.rank=0", "model.hidden=[8]"),
        *("fit.epochs={quality: 4, relevance: 4, faithfulness: 4}", "fit.batch_size=16"),
        *("callbacks=kept", "~callbacks.progress", "+trainer.enable_progress_bar=false"),
        *("trainer.accelerator=cpu", "data.split.validation_share=0.4"),
        *(
            "callbacks.kept.every_epochs=2",
            "optimizer.lr=0.0003",
            "seed=1",
            "callbacks.kept.metrics.kept.keep_share=0.5",
        ),
    ]
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        return compose("train", [*settings, *overrides])


def columns(folder: Path) -> dict[str, list[float]]:
    with (folder / "pairwise" / "holdout" / "metrics.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        name: [float(row[name]) for row in rows if row[name]] for name in rows[0] if "val/" in name
    }


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    asked: list[str] = []

    def make(name: str) -> FakeExtractor:
        asked.append(name)
        return FakeClap() if name == "events" else FakeExtractor()

    monkeypatch.setattr(measure, "make_extractor", make)
    return asked


def test_the_evaluator_in_training_is_judged_by_what_it_keeps(
    table: Path, tmp_path: Path, made: list[str]
) -> None:
    train(configured(table, tmp_path / "run"))
    # Once before anything is encoded, and once in the run, not every time.
    assert sorted(made) == ["events", "events", "yamnet", "yamnet"]
    found = columns(tmp_path / "run")
    assert {len(v) for name, v in found.items() if name.startswith("val/kept/")} == {2}

    (fold,) = json.loads((tmp_path / "run" / "splits.json").read_text())
    pairs = [pair for pair in manifest.read(table) if pair.id in fold["validation"]]
    assert len(pairs) >= 15
    whole = measure.measure({"x": pairs}, {"yamnet": FakeExtractor(), "events": FakeClap()})
    defined = {n: m.value for n, m in whole.rows[0].values.items() if isinstance(m.value, float)}
    assert len(defined) > 3  # too few sources for those that need ten groups
    for name, value in defined.items():
        assert found[f"val/kept/all/{name}"] == pytest.approx([value] * 2, rel=1e-5)

    # The last epoch's weights, if the heads were best then, are those of the checkpoint.
    loaded = checkpoint.load(tmp_path / "run" / "pairwise" / "holdout" / "checkpoint")
    if set(loaded.config.training["best_epochs"].values()) == {3}:
        rows = FeatureStore(loaded.encoder).pairs(pairs)
        with torch.no_grad():
            scores = loaded.model(PairFeatures.stack(rows)).mean(dim=1).tolist()  # type: ignore[operator,arg-type]
        best = best_share({p.id: x for p, x in zip(pairs, scores, strict=True)}, 0.5)
        share = [pair for pair in pairs if pair.id in best]
        half = measure.measure({"x": share}, {"yamnet": FakeExtractor(), "events": FakeClap()})
        for name, measured in half.rows[0].values.items():
            if isinstance(measured.value, float):
                assert found[f"val/kept/{name}"][-1] == pytest.approx(measured.value, rel=1e-5)
    else:
        pytest.fail("train longer or shorter: the comparison needs the last epoch to be the best")


class Diverging(lightning.Callback):
    """From epoch 2 on all heads say NaN."""

    def on_train_epoch_start(self, trainer: lightning.Trainer, module: Any) -> None:
        if trainer.current_epoch == 2:
            for weights in module.model.heads.parameters():
                weights.data.fill_(float("nan"))


def test_what_is_not_finite_is_undefined_while_the_fit_goes_on(
    table: Path, tmp_path: Path, made: list[str]
) -> None:
    target = "auditeval.training.evaluation.evaluators.Agreement"
    train(
        configured(
            *(table, tmp_path / "run", "callbacks.kept.every_epochs=1"),
            f"+callbacks.diverging={{_target_: {__name__}.Diverging}}",
            f"+callbacks.kept.metrics.agreement={{_target_: {target}, features: ${{features}}}}",
        )
    )
    (courses,) = json.loads((tmp_path / "run/report/evaluation.json").read_text()).values()
    told = {
        f"val/agreement/{axis}/{name}": "no pair could be rated on it"
        for axis in AXES
        for name in ("mse", "lcc", "srcc", "ktau")
    }
    told["val/kept/label_bridge_score"] = "no pairs"
    for name, why in told.items():
        first, second, third, fourth = courses[name]["epochs"]
        assert "undefined" not in first, name
        assert "undefined" not in second, name
        assert third["undefined"] == fourth["undefined"] == why
    whole = [one["value"] for one in courses["val/kept/all/label_bridge_score"]["epochs"]]
    assert whole == [whole[0]] * 4
    assert len(courses["val/kept/fad_yamnet_16k"]["epochs"]) == 4


def test_all_of_them_are_all(table: Path, tmp_path: Path, made: list[str]) -> None:
    train(configured(table, tmp_path / "run", "callbacks.kept.metrics.kept.keep_share=1.0"))
    found = columns(tmp_path / "run")
    whole = [name for name in found if name.startswith("val/kept/all/")]
    assert len(whole) > 3
    for name in whole:
        assert found[name.replace("/all/", "/")] == found[name]


def test_without_a_validation_part_it_is_said(table: Path, tmp_path: Path, made: Any) -> None:
    with pytest.raises(UserError, match=r"EvaluationCallback \(kept\) needs a validation part"):
        train(configured(table, tmp_path, "data.split.validation_share=0.0"))


def test_a_share_of_nothing_is_one_sentence_before_anything_is_encoded(
    table: Path, tmp_path: Path, made: list[str]
) -> None:
    with pytest.raises(UserError, match=r"^keep_share 0: expected a number above 0, 1 at most"):
        train(configured(table, tmp_path / "run", "callbacks.kept.metrics.kept.keep_share=0"))
    assert not made


def test_the_best_share_is_by_score() -> None:
    scores = dict(zip("abcde", [1.0, 5.0, 3.0, 5.0, 2.0], strict=True))
    assert best_share(scores, 0.2) == {"b"}
    assert best_share(scores, 0.15) == {"b"}
    assert best_share(scores, 0.01) == {"b"}  # at least one
    assert best_share(scores, 0.5) == {"b", "c", "d"}
    assert best_share(scores, 1) == set("abcde")
    for share in (0.07, 0.14, 0.15, 0.28, 0.3, 0.55):  # as many as a filter keeps
        stage = Stage(name="best", axis="quality", keep_share=share)
        for count in (1, 10, 50, 100, 101, 1000):
            kept = best_share({str(row): float(row) for row in range(count)}, share)
            assert len(kept) == max(1, stage.places(count)), (share, count)
