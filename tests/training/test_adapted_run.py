"""`data=adapted`: a small listening test beside simulated edits, one training a group left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from auditeval import manifest
from auditeval.data.simulation.focused import KINDS
from auditeval.training.run import train
from auditeval.types import EditPair

ROOT = Path(__file__).parents[2]


def test_a_listening_test_is_learned_beside_simulated_edits(
    simulated: list[EditPair], tmp_path: Path
) -> None:
    talkers = [int(str(pair.source).removeprefix("scene")) % 2 for pair in simulated[:12]]
    rated = [
        pair.model_copy(
            update={
                "id": f"mine{i}",
                "talker": f"t{talkers[i]}",
                "source": f"mine{talkers[i]}",
                "raters": {},
                "ratings": {"quality": pair.ratings["quality"]},
            }
        )
        for i, pair in enumerate(simulated[:12])
    ]
    manifest.write(rated, tmp_path / "mine.jsonl")
    manifest.write(simulated[20:], tmp_path / "simulated.jsonl")
    overrides = [
        *("data=adapted", f"data.path={tmp_path / 'mine.jsonl'}", f"run_dir={tmp_path / 'run'}"),
        *("features=spectrum", "compare=none", "model.rank=0", "model.hidden=[8]", "resamples=10"),
        *("fit.epochs={quality: 1, relevance: 1, faithfulness: 1}", "workers=0"),
        *("~callbacks.progress", "+trainer.enable_progress_bar=false", "trainer.accelerator=cpu"),
    ]
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        config = compose("train", overrides)
    # In place of the simulator, what it made.
    there = {"_target_": "auditeval.manifest.named", "path": str(tmp_path / "simulated.jsonl")}
    config.data.manifest.always = there
    made = train(config)
    assert made is not None
    splits = json.loads((tmp_path / "run" / "splits.json").read_text())
    assert [split["name"] for split in splits] == ["t0", "t1"]
    for split, other in zip(splits, (1, 0), strict=True):
        assert split["test"] == [f"rated/mine{i}" for i in range(12) if talkers[i] != other]
        mine = [id for id in split["train"] if id.startswith("rated/")]
        assert mine == [
            f"rated/mine{i}" for i in range(12) if talkers[i] == other for _ in range(8)
        ]
        always = len(set(split["train"])) - len(set(mine)) + len(split["validation"])
        assert always == len(simulated[20:])
    # Relevance is learned from the simulated edits; nobody rated it in the listening test.
    assert {(row.axis, row.evaluator) for row in made.report.rows} == {
        ("quality", "pairwise"),
        ("quality", "constant"),
    }
    predicted = (tmp_path / "run" / "pairwise" / "t0" / "predictions.json").read_text()
    assert "relevance" in json.loads(predicted)["rated/mine0"]


@pytest.mark.parametrize("data", ["people", "recordings", "adapted"])
def test_the_evaluator_that_ships_learns_changes_beside_whatever_it_learns_from(data: str) -> None:
    """Its slopes for changes would else be of nothing; who does not hear changes learns none."""
    said = []
    for experiment in ([], ["experiment=auditeval_offline"]):
        given = [*experiment, f"data={data}", "run_dir=run"]
        given += ["data.path=mine.jsonl"] if data == "adapted" else []
        with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
            config = compose("train", given)
        manifest_of = OmegaConf.to_container(config.data, resolve=True)["manifest"]
        said.append(str(manifest_of))
    assert all("simulation.build.build" in learnt for learnt in said)
    sets = [f"simulation.{x}.build" for x in ("changes", "restorations", "contrasts", "focused")]
    for learnt_too in (*sets, *(f"'kind': '{kind}'" for kind in KINDS)):
        assert [learnt_too in learnt for learnt in said] == [False, True]
