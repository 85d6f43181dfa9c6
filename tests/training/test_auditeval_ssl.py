"""The paper's recipe end to end: an AuditScore folder, a CLAP, Appendix E, Table 2."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf

import auditeval
from auditeval.features.store import FeatureStore
from auditeval.types import AXES, EditPair, UserError

ROOT = Path(__file__).parents[2]


def configured(*overrides: str) -> DictConfig:
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        return compose("train", ["experiment=auditeval_ssl", "run_dir=/tmp/run", *overrides])


def composed(*overrides: str) -> dict[str, Any]:
    return OmegaConf.to_container(configured(*overrides), resolve=True)  # type: ignore[return-value]


def test_the_recipe_is_appendix_e() -> None:
    config = composed()
    assert config["fit"]["epochs"] == {"quality": 50, "relevance": 30, "faithfulness": 35}
    assert config["optimizer"]["_target_"] == "torch.optim.Adam"
    assert (config["optimizer"]["lr"], config["optimizer"]["weight_decay"]) == (5e-5, 0.0)
    scheduler = {key: config["scheduler"][key] for key in ("mode", "factor", "patience")}
    assert scheduler == {"mode": "min", "factor": 0.8, "patience": 5}
    assert config["scheduler"]["_target_"] == "torch.optim.lr_scheduler.ReduceLROnPlateau"
    assert (config["fit"]["batch_size"], config["fit"]["validation_batch_size"]) == (256, 64)
    assert config["seed"] == config["data"]["split"]["seed"] == 1984
    assert config["data"]["split"]["test_share"] == 0.1
    assert config["data"]["split"]["validation_share"] == 0.0
    assert config["model"]["hidden"] == [4096, 2048, 512, 128, 32]
    assert config["model"]["dropout"] == 0.1
    assert not config["model"]["standardise"]


def test_the_rows_of_is_say_whose_classes_they_are() -> None:
    """The paper's need weights, so the recipe has the stand-in unless it is told."""
    taggers = {
        name: config["baselines"][f"IS ({name})"]["tagger"]
        for name, config in (
            ("YAMNet", composed()),
            ("CNN14", composed("baselines=paper", "cnn14_checkpoint=x.pth")),
        )
    }
    assert taggers == {
        "YAMNet": {"_target_": "auditeval.features.extractors.yamnet.YamNet"},
        "CNN14": {
            "_target_": "auditeval.features.extractors.cnn14.Cnn14Extractor",
            "checkpoint": "x.pth",
        },
    }
    paper, stand_in = (list(composed(f"baselines={x}")["baselines"]) for x in ("paper", "clap"))
    assert (paper[1:], len(paper)) == (stand_in[1:], len(stand_in))


def test_missing_weights_of_cnn14_are_said_before_anything_is_encoded(
    auditscore: Path, tiny_clap: Path, tmp_path: Path
) -> None:
    from auditeval.training.run import train

    config = configured(
        *("baselines=paper", f"cnn14_checkpoint={tmp_path / 'none.pth'}"),
        *(f"data.root={auditscore}", f"features.clap.model={tiny_clap}", "device=cpu"),
        *(f"run_dir={tmp_path / 'run'}", f"cache_dir={tmp_path / 'cache'}"),
    )
    with pytest.raises(UserError) as caught:
        train(config)
    said = str(caught.value)
    assert said.startswith(f"{tmp_path / 'none.pth'}: no such file; supported are CNN14 of PANNs")
    assert said.endswith("from zenodo.org/records/3987831")
    assert not list((tmp_path / "cache").rglob("*"))


def test_auditscore_to_table_2(
    auditscore: Path,
    tiny_clap: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    folder = tmp_path / "run"
    arguments = [
        *("train.py", "experiment=auditeval_ssl"),
        *(f"data.root={auditscore}", f"features.clap.model={tiny_clap}", f"run_dir={folder}"),
        *("fit.epochs={quality: 25, relevance: 15, faithfulness: 18}", "optimizer.lr=3e-3"),
        *("model.hidden=[64,32]", "trainer.accelerator=cpu", "device=cpu", "resamples=10"),
    ]
    monkeypatch.setattr("sys.argv", arguments)
    # In this process, as most; test_train_py.py starts one.
    runpy.run_path(str(ROOT / "train.py"), run_name="__main__")
    printed = capfd.readouterr().out
    rows = json.loads((folder / "report" / "agreement.json").read_text())["rows"]
    assert [(row["axis"], row["evaluator"]) for row in rows] == [
        ("quality", "IS (YAMNet)"),
        ("quality", "auditeval_ssl"),
        ("quality", "constant"),
        ("relevance", "CLAP text-audio"),
        ("relevance", "auditeval_ssl"),
        ("relevance", "constant"),
        ("faithfulness", "CLAP audio-audio"),
        ("faithfulness", "auditeval_ssl"),
        ("faithfulness", "constant"),
    ]
    for row in rows:
        for level in ("system", "utterance"):
            assert set(row[level]) == {"MSE", "LCC", "SRCC", "KTAU"}
        assert row["rated"] == 36
        cells = {level: row[level]["LCC"]["value"] for level in ("system", "utterance")}
        if row["evaluator"] == "IS (YAMNet)":  # of a whole system: no pair has one
            assert cells["system"] is not None
            assert cells["utterance"] is None
        elif row["evaluator"] != "constant":
            assert None not in cells.values()
            assert f"{cells['utterance']:.3f}" in printed
    splits = json.loads((folder / "splits.json").read_text())
    assert [len(splits[0][part]) for part in ("train", "validation", "test")] == [24, 0, 36]

    evaluator = auditeval.load(folder / "auditeval_ssl" / "published" / "checkpoint", "cpu")
    predicted = json.loads(
        (folder / "auditeval_ssl" / "published" / "predictions.json").read_text()
    )
    from auditeval.data.importers import import_auditscore

    tested = [pair for pair in import_auditscore(auditscore) if pair.split == "test"][:4]
    for pair, scores in zip(tested, evaluator.score(tested), strict=True):
        for axis in AXES:
            assert getattr(scores, axis) == pytest.approx(predicted[pair.id][axis], abs=1e-5)


def test_embeddings_are_made_once_for_a_clip_and_a_caption(
    simulated: list[EditPair], tiny_clap: Path, tmp_path: Path
) -> None:
    from auditeval import audio
    from auditeval.features import make_encoder

    pairs = simulated[:10]
    store = FeatureStore(make_encoder({"clap": {"model": str(tiny_clap)}}), tmp_path / "cache")
    store.pairs(pairs, with_changed_words=False)
    clips = {
        audio.content_hash(audio.decode(path)) for p in pairs for path in (p.original, p.edited)
    }
    captions = {caption for p in pairs for caption in (p.original_caption, p.target_caption)}
    assert store.misses == len(clips) + len(captions)
    store.pairs(pairs, with_changed_words=False)
    assert store.misses == len(clips) + len(captions)
