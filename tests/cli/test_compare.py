"""`auditeval compare`: the table's numbers are those of the runs' reports, and what is refused."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auditeval.metrics.agreement import LEVELS, agreement
from auditeval.metrics.pairwise import contrasts as pairwise_contrasts
from auditeval.metrics.within import within as within_songs
from auditeval.report import agreement as report
from auditeval.report import agreement_files, contrasts, within
from auditeval.types import AXES, EditPair, Undefined

RATED = [
    EditPair(
        id=str(i), original="a.wav", edited="b.wav", original_caption="a", target_caption="b",
        system=f"s{i % 4}",
        ratings={axis: 1 + (i * (k + 3)) % 9 / 2 for k, axis in enumerate(AXES)},
    )
    for i in range(24)
]  # fmt: skip


def predicted(name: str, seed: int) -> report.Predictions:
    rng = np.random.default_rng(seed)
    values = {p.id: {a: p.ratings[a] + rng.normal(0, 1) for a in AXES} for p in RATED}
    return report.Predictions(name, values)


def write(pairs: list[EditPair], said: list[report.Predictions], folder: Path) -> None:
    """Without the plot, which takes a second."""
    agreement_files.write(report.make_report(pairs, said, "x", 0, plotted="nobody"), folder)


Make = Callable[..., Path]


@pytest.fixture
def make_run(tmp_path: Path) -> Make:
    """A run folder with the reports that train.py leaves in it."""

    def make(name: str, seed: int, trials: str | None = None) -> Path:
        folder = tmp_path / name
        (folder / "report").mkdir(parents=True)
        (folder / "config.yaml").write_text("name: mine\ncompare: {other: {name: concat}}\n")
        said = [predicted(model, seed + k) for k, model in enumerate(("mine", "other", "PESQ"))]
        constant = report.Predictions("constant", {p.id: dict.fromkeys(AXES, 3.0) for p in RATED})
        write(RATED, [*said, constant], folder / "report")
        write(RATED, said[:1], folder / "report" / "people")
        if trials:
            rng = np.random.default_rng(seed)
            scores: dict[str, Any] = {
                "mine": {
                    f"trial{i}": {n: float(rng.normal()) for n in ("right", "hiss")}
                    for i in range(9)
                }
            }
            made = contrasts.of_scores("title", "relevance", scores)
            made = made._replace(set_sha256=f"set of {trials}")
            contrasts.write(made, folder / "report" / "classes")
        return folder

    return make


def test_a_row_a_model_a_column_an_axis_of_a_test(cli: Any, make_run: Make, tmp_path: Path) -> None:
    runs = [make_run("first", 0), make_run("second", 5)]
    both = ("-l", "system", "-l", "utterance")
    ended = cli("compare", *runs, *both, "-s", "SRCC", "-s", "MSE", "-o", tmp_path / "table.json")
    assert ended.status == 0, ended.err
    rows = json.loads((tmp_path / "table.json").read_text())["rows"]
    models = ["first/mine", "first/other", "second/mine", "second/other"]
    assert list(rows) == [*models, "first/PESQ", "second/PESQ", "constant"]
    # Mean quality is the same in all systems: SRCC of systems is undefined there, and absent.
    assert len(rows["first/mine"]) == 24 - 2
    assert len(rows["first/other"]) == 12 - 1  # it has no report of people
    systems = [pair.system for pair in RATED]
    for row, seed in (("first/mine", 0), ("second/other", 6)):
        values = predicted("x", seed).values
        for axis in AXES:
            sides = [values[pair.id][axis] for pair in RATED], [p.ratings[axis] for p in RATED]
            found = agreement(*sides, systems, resamples=0)
            for level in LEVELS:
                for name in ("SRCC", "MSE"):
                    said = rows[row].get(f"held-out {axis} {level} {name}")
                    value = found[level][name].value
                    assert (said is None) == isinstance(value, Undefined)
                    if said is not None:
                        assert said == pytest.approx(value)
                        assert f"{said:.3f}" in ended.out

    cli("compare", *runs, *both, "-s", "SRCC", "-s", "MSE", "-o", tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(newline="") as file:
        read = {row.pop("run/model"): row for row in csv.DictReader(file)}
    assert {
        row: {name: float(x) for name, x in values.items() if x} for row, values in read.items()
    } == rows

    command = ("compare", *runs, "-s", "MSE", "--no-baselines", "-o", tmp_path / "table.md")
    assert cli(*command).status == 0
    lines = (tmp_path / "table.md").read_text().splitlines()
    assert "| held-out quality utterance MSE ↓ | " in lines[2]
    assert [line.split(" ")[1] for line in lines[4:8]] == models
    assert not lines[8]
    cells = [line.split(" | ")[1].strip("*") for line in lines[4:8]]
    marked = [line.split(" | ")[1].startswith("**") for line in lines[4:8]]
    assert marked == [cell == min(cells) for cell in cells]  # of errors the least is best


def test_a_baseline_stands_once_where_all_runs_agree_on_it(
    cli: Any, make_run: Make, tmp_path: Path
) -> None:
    """By test: what is measured on one test set is the same in each run, on held-out parts not."""
    runs = [make_run("first", 0), make_run("second", 5), make_run("third", 9)]
    for number, run in enumerate(runs[:2]):  # the third was not tested on people
        said = [predicted("mine", number), predicted("PESQ", 3)]
        voted = [p.model_copy(update={"raters": {"quality": [p.ratings["quality"]] * 2}})
                 for p in RATED]  # fmt: skip
        write(voted, said, run / "report" / "people")
    shutil.rmtree(runs[2] / "report" / "people")
    ended = cli("compare", *runs, "-s", "SRCC", "-s", "MSE", "-o", tmp_path / "table.json")
    assert ended.status == 0, ended.err
    rows = json.loads((tmp_path / "table.json").read_text())["rows"]
    names = [name for name in rows if "/mine" not in name and "/other" not in name]
    assert names == ["first/PESQ", "second/PESQ", "third/PESQ", "constant", "PESQ", "rater ceiling"]
    assert {column.split()[0] for column in rows["PESQ"]} == {"people"}
    assert {column.split()[0] for column in rows["first/PESQ"]} == {"held-out"}
    assert len(rows["constant"]) == 3  # of a constant an error is defined, no correlation
    assert rows["rater ceiling"] == {"people quality utterance SRCC": pytest.approx(1)}
    cli("compare", *runs, "-o", tmp_path / "table.md")
    (ceiling,) = [line for line in (tmp_path / "table.md").read_text().splitlines()
                  if line.startswith("| rater ceiling")]  # fmt: skip
    assert "1.000" in ceiling
    assert "**" not in ceiling  # best is the best of the evaluators


def test_agreement_within_sources_has_columns_of_its_own(
    cli: Any, make_run: Make, tmp_path: Path
) -> None:
    runs = [make_run("first", 0), make_run("second", 5)]
    chosen = [
        pair.model_copy(
            update={
                "source": f"song{i // 6}",
                "raters": {"quality": {f"l{n}": pair.ratings["quality"] for n in range(4)}},
            }
        )
        for i, pair in enumerate(RATED)
    ]
    for number, run in enumerate(runs):
        said = [predicted("mine", number), predicted("PESQ", 3)]
        within.write(within.make_report(chosen, said, "x", "song", 0), run / "report" / "songs")
    ended = cli("compare", *runs, "-s", "SRCC", "-s", "KTAU", "-o", tmp_path / "table.json")
    assert ended.status == 0, ended.err
    rows = json.loads((tmp_path / "table.json").read_text())["rows"]
    values = predicted("mine", 1).values
    expected = within_songs(
        [values[pair.id]["faithfulness"] for pair in chosen],
        [pair.ratings["faithfulness"] for pair in chosen],
        [str(pair.source) for pair in chosen],
    )
    for name, found in expected.items():
        said_of = rows["second/mine"][f"songs faithfulness within {name}"]
        assert said_of == pytest.approx(found.value)
        assert f"songs faithfulness within {name}" in rows["PESQ"]  # once: the same in both runs
    assert rows["rater ceiling"] == {"songs quality within SRCC": pytest.approx(1)}
    assert "songs quality within SRCC" not in rows["first/other"]


def test_pooled_runs_are_folds_of_one(cli: Any, make_run: Make, tmp_path: Path) -> None:
    runs = [make_run(name, seed, trials=name) for seed, name in enumerate(("a", "b"))]
    ended = cli("compare", *runs, "--pool", "-o", tmp_path / "pooled.json")
    assert ended.status == 0, ended.err
    found = json.loads((tmp_path / "pooled.json").read_text())["classes"]
    trials = list(found["scores"]["mine"].values())
    assert len(trials) == 18
    accuracy = pairwise_contrasts(trials)["hiss"].accuracy
    assert found["rows"][0]["variants"]["hiss"]["value"] == accuracy
    assert f"{accuracy:.3f}" in ended.out
    separate = json.loads(
        (runs[0] / "report" / "classes" / "contrasts.json").read_text()
    )["scores"]["mine"]  # fmt: skip
    for trial, variants in separate.items():
        assert found["scores"]["mine"][f"a/{trial}"] == variants


def test_what_cannot_be_compared_is_one_sentence(cli: Any, make_run: Make, tmp_path: Path) -> None:
    run = make_run("first", 0)
    (tmp_path / "empty").mkdir()
    begun = tmp_path / "begun"
    begun.mkdir()
    (begun / "config.yaml").write_text("name: x\ncompare: {}\n")
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "config.yaml").write_text("- a\n")
    for arguments, said in (
        ([tmp_path / "absent"], "absent: is no run folder of train.py"),
        ([tmp_path / "empty"], "empty: is no run folder of train.py"),
        ([tmp_path / "odd"], "odd: is no run folder of train.py"),
        ([begun], "begun: has no report yet"),
        ([run, "-s", "R2"], "statistic 'R2': expected one of MSE, LCC, SRCC, KTAU"),
        ([run, "-l", "pair"], "level 'pair': expected one of system, utterance"),
        ([run, run], "two of the runs are called 'first'"),
        ([run, "--pool", "-s", "LCC"], "--pool makes the table of contrast sets, and takes no"),
        ([run, "--pool", "--no-baselines"], "--pool makes the table of contrast sets"),
        ([run, "--pool"], "first: lacks the contrast sets of the others"),
        ([run, "-o", tmp_path / "t.txt"], "t.txt: expected a file ending in .md, .csv or .json"),
    ):
        ended = cli("compare", *arguments)
        assert ended.status == 2
        assert said in ended.sentence
    (run / "report" / "agreement.json").write_text("{")
    assert "agreement.json: is not JSON" in cli("compare", run).sentence
    twice = [make_run(name, 0, trials="same") for name in ("x", "y")]
    assert "x and y were tested on one contrast set" in cli("compare", *twice, "--pool").sentence
    other = make_run("z", 0)
    assert "z: lacks the contrast sets" in cli("compare", twice[0], other, "--pool").sentence
