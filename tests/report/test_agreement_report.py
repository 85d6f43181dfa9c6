"""Reports: every number in them is one of metrics.agreement, and what is undefined says why."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from auditeval.metrics.agreement import LEVELS, STATISTICS, agreement, paired_difference
from auditeval.metrics.raters import rater_ceiling
from auditeval.report import agreement as report
from auditeval.report import agreement_files
from auditeval.report.agreement import Predictions
from auditeval.report.agreement_plot import plot
from auditeval.report.agreement_table import to_markdown, to_table
from auditeval.report.render import to_rich
from auditeval.types import AXES, EditPair, Scores, Undefined


@pytest.fixture(scope="module")
def pairs() -> list[EditPair]:
    """60 pairs of 6 systems; relevance is unrated in every third."""
    rng, made = np.random.default_rng(0), []
    for i in range(60):
        level = 2 + (i % 6) * 0.4
        ratings = {axis: float(np.clip(level + rng.normal(0, 0.5), 1, 5)) for axis in AXES}
        if i % 3 == 0:
            del ratings["relevance"]
        made.append(
            EditPair(
                id=f"p{i}",
                original="a.wav",
                edited="b.wav",
                original_caption="Rain.",
                target_caption="Rain.",
                system=f"sys{i % 6}",
                ratings=ratings,
            )
        )
    return made


def predict(pairs: list[EditPair], name: str, noise: float, **options: Any) -> Predictions:
    rng = np.random.default_rng(len(name))
    values = {
        pair.id: {axis: pair.ratings.get(axis, 3.0) + rng.normal(0, noise) for axis in AXES}
        for pair in pairs
    }
    return Predictions(name, values, **options)


@pytest.fixture(scope="module")
def evaluators(pairs: list[EditPair]) -> list[Predictions]:
    good, bad = predict(pairs, "good", 0.2), predict(pairs, "bad one", 2.0)
    partial = Predictions("partial", {k: v for k, v in good.values.items() if k != "p6"})
    constant = Predictions("constant", {pair.id: dict.fromkeys(AXES, 3.0) for pair in pairs})
    distance = predict(pairs, "PESQ", 0.5, on_rating_scale=())
    speech = Predictions("quality only", {k: {"quality": v["quality"]} for k, v in
                                          good.values.items()})  # fmt: skip
    return [good, bad, partial, constant, distance, speech]


@pytest.fixture(scope="module")
def made(pairs: list[EditPair], evaluators: list[Predictions]) -> report.Report:
    return report.make_report(pairs, evaluators, "test ratings", resamples=50, seed=3)


def row_of(made: report.Report, axis: str, evaluator: str) -> report.Row:
    (row,) = [row for row in made.rows if (row.axis, row.evaluator) == (axis, evaluator)]
    return row


def test_rows_are_by_axis_then_evaluator(
    made: report.Report, evaluators: list[Predictions]
) -> None:
    names = [e.evaluator for e in evaluators]
    expected = [(axis, name) for axis in AXES for name in names]
    for axis in AXES[1:]:
        expected.remove((axis, "quality only"))
    assert [(row.axis, row.evaluator) for row in made.rows] == expected


@pytest.mark.parametrize("axis", AXES)
def test_numbers_are_those_of_the_rated_pairs(
    made: report.Report, pairs: list[EditPair], evaluators: list[Predictions], axis: str
) -> None:
    rated = [pair for pair in pairs if axis in pair.ratings]
    assert len(rated) == (40 if axis == "relevance" else 60)
    for evaluator in evaluators[:2]:
        expected = agreement(
            [evaluator.values[pair.id][axis] for pair in rated],
            [pair.ratings[axis] for pair in rated],
            [pair.system for pair in rated],
            resamples=50,
            seed=3,
        )
        row = row_of(made, axis, evaluator.evaluator)
        assert row.agreement == expected
        assert (row.rated, row.missing) == (len(rated), 0)


def test_a_missing_prediction_is_counted(made: report.Report) -> None:
    row = row_of(made, "quality", "partial")
    assert (row.rated, row.missing) == (60, 1)
    assert row.agreement["utterance"]["MSE"].items == 59
    # Its relevance is unrated.
    assert "left out: quality, partial 1; faithfulness, partial 1." in to_markdown(made)


def test_no_group_takes_the_place_of_the_pairs_that_state_none(
    pairs: list[EditPair], evaluators: list[Predictions]
) -> None:
    """Though a value be called as these are."""
    operations = ["add", "not stated", None, None]
    named = [p.model_copy(update={"operation": operations[i % 4]}) for i, p in enumerate(pairs)]
    found = report.by_field(named, evaluators[:1], "operation", "ratings", resamples=0)
    rated = {name: group.rows[0].rated for name, group in found.items()}
    assert list(rated.items()) == [("add", 15), ("not stated", 15), ("(not stated)", 30)]
    titles = [group.ratings_from for group in found.values()]
    assert titles[1:] == [
        "ratings: operation not stated (15 pairs)",
        "ratings: operation (not stated) (30 pairs)",
    ]
    whole = report.by_field(named[::2], evaluators[:1], "operation", "ratings", resamples=0)
    assert list(whole) == ["add", "not stated"]


def test_undefined_is_said_with_its_reason(made: report.Report) -> None:
    constant = row_of(made, "quality", "constant").agreement["utterance"]
    assert isinstance(constant["SRCC"].value, Undefined)
    assert isinstance(constant["MSE"].value, float)
    off_scale = row_of(made, "quality", "PESQ").agreement
    for level in LEVELS:
        assert isinstance(off_scale[level]["MSE"].value, Undefined)
        assert isinstance(off_scale[level]["LCC"].value, float)
    caption = to_markdown(made).splitlines()[-1]
    assert re.search(r"all predictions are equal[^;]*\bconstant\b", caption)
    assert re.search(r"not ratings[^;]*\bPESQ\b", caption)


def test_json_is_strict_and_complete(made: report.Report) -> None:
    text = json.dumps(agreement_files.to_json(made), allow_nan=False)
    rows = json.loads(text)["rows"]
    assert len(rows) == len(made.rows)
    for plain, row in zip(rows, made.rows, strict=True):
        for level in LEVELS:
            for name in STATISTICS:
                cell, found = plain[level][name], row.agreement[level][name]
                if isinstance(found.value, Undefined):
                    assert cell["value"] is None
                    assert cell["undefined"] == found.value.reason
                else:
                    assert cell["value"] == found.value
                    if isinstance(found.interval, Undefined):  # 4 systems
                        assert cell["undefined"] == found.interval.reason


def test_markdown_and_terminal_say_the_same_numbers(made: report.Report) -> None:
    lines = [line for line in to_markdown(made).splitlines() if line.startswith("|")]
    header, _, *body = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert len(body) == len(made.rows)
    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    console.print(to_rich(to_table(made)))
    terminal = console.export_text()
    for cells, row in zip(body, made.rows, strict=True):
        assert cells[:2] == [row.axis, row.evaluator]
        assert cells[-1] == f"{row.rated - row.missing}/{row.rated}"
        for column, cell in zip(header[2:-1], cells[2:-1], strict=True):
            level, name = column.split()[:2]
            assert column.endswith("↓" if name == "MSE" else "↑")
            value = row.agreement[level][name].value
            if isinstance(value, Undefined):
                assert cell == "–"
                continue
            assert float(cell.split()[0]) == pytest.approx(value, abs=5.001e-4)
            assert cell.split()[0] in terminal
            ends = [*map(float, re.findall(r"-?\d*\.\d+", cell)[1:])]
            interval = row.agreement[level][name].interval
            assert ends == (
                [] if isinstance(interval, Undefined) else pytest.approx(interval, abs=5.001e-3)
            )


def test_an_interval_above_ten_keeps_its_digits(pairs: list[EditPair]) -> None:
    """Zeros before the point are left out, but not that of a ten."""
    far = [
        p.model_copy(update={"ratings": {"quality": 1 + 0.005 * i}}) for i, p in enumerate(pairs)
    ]
    constant = Predictions("far", {p.id: {"quality": 4.4} for p in far})
    made = report.make_report(far, [constant], "x", resamples=50)
    low, high = made.rows[0].agreement["utterance"]["MSE"].interval
    assert 10 < low < 11  # or the case is not there
    assert f"[{low:.2f} {high:.2f}]" in to_markdown(made)


def test_compare_tells_by_how_much_the_first_is_better(
    pairs: list[EditPair], evaluators: list[Predictions], made: report.Report
) -> None:
    good, bad, partial = evaluators[:3]
    rated = [pair for pair in pairs if pair.id != "p6"]
    expected = paired_difference(
        [partial.values[p.id]["quality"] for p in rated],
        [bad.values[p.id]["quality"] for p in rated],
        [p.ratings["quality"] for p in rated],
        [p.system for p in rated],
        resamples=40,
    )
    found = report.difference(pairs, partial, bad, "quality", resamples=40)
    assert found == ("quality", "partial", "bad one", 59, expected)
    back = report.difference(pairs, bad, partial, "quality", resamples=40)
    assert back is not None
    said = to_markdown(made._replace(differences=[found, back])).splitlines()[-2:]
    for sign, names, line in zip(
        (1, -1), ("partial minus bad one", "bad one minus partial"), said, strict=True
    ):
        assert line.startswith(f"- quality: SRCC of {names}: system ")
        assert line.endswith(", on 59 pairs")
        values = re.findall(r"(?:system|utterance) (-?\d\.\d{3}) \[", line)
        assert list(map(float, values)) == pytest.approx(
            [sign * expected[level].value for level in LEVELS], abs=5.001e-4
        )
    plain = agreement_files.to_json(made._replace(differences=[found]))["differences"]
    assert plain[0]["system"]["SRCC"]["interval"] == list(expected["system"].interval)
    assert expected["utterance"].value > 0.3
    assert report.difference(pairs, good, evaluators[5], "relevance") is None


def test_error_rows_of_a_scores_table_have_no_values() -> None:
    rows = [
        Scores("a", 1.0, 2.0, 3.0),
        Scores("b", status="error", reason="no file"),
        Scores("c", 1.5, None, 2.5),  # of a checkpoint that was not trained on relevance
    ]
    found = Predictions.from_scores("x", rows).values
    assert found["a"] == {"quality": 1.0, "relevance": 2.0, "faithfulness": 3.0}
    assert not found.get("b")
    assert found["c"] == {"quality": 1.5, "faithfulness": 2.5}


def test_write_makes_three_files_and_the_same_bytes_again(
    made: report.Report, tmp_path: Path
) -> None:
    for folder in ("one", "two"):
        agreement_files.write(made, tmp_path / folder)
    names = ["agreement.json", "agreement.md", "agreement.png"]
    assert sorted(p.name for p in (tmp_path / "one").iterdir()) == names
    for name in names:
        first, second = ((tmp_path / f / name).read_bytes() for f in ("one", "two"))
        assert first == second
    assert (tmp_path / "one" / "agreement.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert json.loads((tmp_path / "one" / "agreement.json").read_text()) == agreement_files.to_json(
        made
    )


def test_pairs_without_systems_are_reported_at_utterance_level(
    pairs: list[EditPair], evaluators: list[Predictions], tmp_path: Path
) -> None:
    nameless = [pair.model_copy(update={"system": None}) for pair in pairs]
    made = report.make_report(nameless, evaluators[:1], "x", resamples=20)
    agreement_files.write(made, tmp_path)
    said = (tmp_path / "agreement.md").read_text()
    assert "not every pair names its system" in said
    assert "Brackets" not in said
    (row, *_) = made.rows
    assert isinstance(row.agreement["utterance"]["SRCC"].value, float)
    assert isinstance(row.agreement["system"]["SRCC"].value, Undefined)


def test_the_plot_is_of_the_evaluator_that_is_named(
    pairs: list[EditPair], evaluators: list[Predictions], tmp_path: Path
) -> None:
    first = report.make_report(pairs, evaluators, "x", resamples=5)
    named = report.make_report(pairs, evaluators, "x", resamples=5, plotted="bad one")
    assert first.plotted == "good"
    assert named.plotted == "bad one"
    assert named.rows == first.rows
    for made, evaluator in ((first, evaluators[0]), (named, evaluators[1])):
        for axis in AXES:
            assert made.points[axis] == [
                (pair.ratings[axis], evaluator.values[pair.id][axis], pair.system)
                for pair in pairs
                if axis in pair.ratings
            ]
        plot(made, tmp_path / f"{made.plotted}.png")
    bytes_of = [(tmp_path / f"{name}.png").read_bytes() for name in ("good", "bad one")]
    assert bytes_of[0] != bytes_of[1]


def test_the_plot_has_the_axes_that_its_evaluator_rates(
    pairs: list[EditPair], evaluators: list[Predictions], tmp_path: Path
) -> None:
    """A baseline of one axis may stand before it."""
    order = [evaluators[5], evaluators[0]]
    whole = report.make_report(pairs, order, "x", resamples=5, plotted="good")
    assert list(whole.points) == list(AXES)
    partial = report.make_report(pairs, order, "x", resamples=5, plotted="quality only")
    assert list(partial.points) == ["quality"]
    for made in (whole, partial):
        agreement_files.write(made, tmp_path)


def test_coverage_stands_in_the_table_of_evaluators_with_intervals_alone(
    pairs: list[EditPair],
) -> None:
    good = predict(pairs, "good", 0.2)
    bounds = {
        id: {"quality": (x["quality"] - 0.3, x["quality"] + 0.3)} for id, x in good.values.items()
    }
    del bounds["p5"]
    made = report.make_report(
        pairs, [good._replace(intervals=bounds), predict(pairs, "bad", 1)], "x", 0
    )
    rows = {(row.axis, row.evaluator): row.coverage for row in made.rows}
    found = rows.pop(("quality", "good"))
    assert set(rows.values()) == {None}
    inside = [
        abs(good.values[pair.id]["quality"] - pair.ratings["quality"]) <= 0.3
        for pair in pairs
        if pair.id != "p5"
    ]
    assert found is not None
    assert (found.share, found.items) == (pytest.approx(np.mean(inside)), 59)
    markdown = to_markdown(made)
    assert f"| {found.share:.3f} ±0.30 |" in markdown
    plain = agreement_files.to_json(made)["rows"]
    assert [("coverage" in row) for row in plain] == [row.coverage is not None for row in made.rows]
    without = report.make_report(pairs, [good], "x", 0)
    assert "interval covers" not in to_markdown(without)
    assert "No intervals: no resamples; 4 systems; an interval" in to_markdown(without)
    widths = {len(line.split(" | ")) for line in markdown.splitlines() if line.startswith("| ")}
    assert len(widths) == 1


@pytest.fixture(scope="module")
def voted(pairs: list[EditPair]) -> list[EditPair]:
    """Five votes on the quality of 57 pairs, one on the others'; none on faithfulness."""
    rng = np.random.default_rng(8)
    made = []
    for number, pair in enumerate(pairs):
        votes = np.clip(pair.ratings["quality"] + rng.normal(0, 0.7, 5 if number > 2 else 1), 1, 5)
        ratings = {"quality": float(votes.mean()), "faithfulness": pair.ratings["faithfulness"]}
        made.append(
            pair.model_copy(update={"raters": {"quality": votes.tolist()}, "ratings": ratings})
        )
    return made


def test_the_rater_ceiling_stands_below_the_evaluators_of_its_axis(
    voted: list[EditPair], evaluators: list[Predictions]
) -> None:
    made = report.make_report(voted, evaluators[:2], "x", resamples=30, seed=6)
    kept = voted[3:]
    expected = rater_ceiling(
        [p.raters["quality"] for p in kept], [p.system for p in kept], splits=30, seed=6
    )
    assert made.ceilings == {"quality": expected}
    table = [line for line in to_markdown(made).splitlines() if line.startswith("| ")]
    names = [tuple(line.strip("| ").split(" | ")[:2]) for line in table[1:]]
    assert names == [
        *(("quality", name) for name in ("good", "bad one", "rater ceiling")),
        *(("faithfulness", name) for name in ("good", "bad one")),
    ]
    header, ceiling = ([cell.strip() for cell in table[row].split("|")] for row in (0, 3))
    cells = dict(zip(header, ceiling, strict=True))
    for level in LEVELS:
        assert cells[f"{level} MSE ↓"] == cells[f"{level} KTAU ↑"] == ""
        for name in ("LCC", "SRCC"):
            value = expected[level][name].value
            assert float(cells[f"{level} {name} ↑"].split()[0]) == pytest.approx(value, abs=5.1e-4)
    assert cells["pairs"] == "57/60"
    assert "Rater ceiling: " in to_markdown(made)
    assert "No rater ceiling of faithfulness: " in to_markdown(made)
    plain = agreement_files.to_json(made)
    assert plain["rater_ceiling"]["quality"]["system"]["LCC"]["items"] == 6
    assert "rater ceiling" not in {row["evaluator"] for row in plain["rows"]}
    # A perfect evaluator of the true ratings comes near to it, and stays below.
    true = report.make_report(voted, [evaluators[0]], "x", resamples=0).rows[0].agreement
    bound = rater_ceiling([p.raters["quality"] for p in kept], [p.system for p in kept])
    srcc = [found["utterance"]["SRCC"].value for found in (true, bound)]
    assert srcc[0] - 0.03 < srcc[1] < srcc[0] + 0.12


def test_without_votes_there_is_no_ceiling(
    pairs: list[EditPair], evaluators: list[Predictions]
) -> None:
    made = report.make_report(pairs, evaluators[:1], "x", resamples=0)
    assert made.ceilings == {}
    axes = "quality, relevance, faithfulness"
    assert f"No rater ceiling of {axes}: no pair comes with two votes." in to_markdown(made)
    assert "| rater ceiling |" not in to_markdown(made)
    why = made._replace(no_votes="they were lost")
    assert f"No rater ceiling of {axes}: they were lost." in to_markdown(why)
    single = [pair.model_copy(update={"raters": {"quality": [3.0]}}) for pair in pairs]
    assert report.make_report(single, evaluators[:1], "x", resamples=0).ceilings == {}
