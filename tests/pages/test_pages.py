"""Pages without a browser: what is chosen, compared, compressed; same input, same bytes."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

pytest.importorskip("fastapi", reason="the extra [web] is not installed")
from written_results import (
    HOSTILE,
    pairs,
    scores_of,
    written_evaluation,
    written_filter,
    written_run,
    written_scores,
)

from auditeval import pages, scores_table
from auditeval.outputs import inputs_of
from auditeval.pages import curves, page, rows, tables
from auditeval.pages.choice import choose
from auditeval.report import contrasts
from auditeval.report.render import to_html
from auditeval.table import Cell, Column, Table
from auditeval.types import AXES, EditPair, Scores, Undefined, UserError


def unpacked(text: str) -> bytes:
    return gzip.decompress(base64.b64decode(text))


def about(page: Path) -> Any:
    """What the script of a page is told."""
    found = re.search(r'id="about">(.*?)</script>', page.read_text(encoding="utf-8"))
    assert found
    return json.loads(found[1])


def plain_rows(values: dict[str, list[float]], **words: list[str]) -> rows.Rows:
    """Rows of these values of quality by system, a pair a source."""
    ids = [f"{system}{n}" for system, found in values.items() for n in range(len(found))]
    made = rows.Rows(ids, scales=[rows.Scale("quality", "quality")])
    made.numbers["quality"] = np.concatenate([np.array(x, float) for x in values.values()])
    made.words["system"] = [system for system, found in values.items() for _ in found]
    made.words |= words
    made.clips = [(Path("a"), Path("b"))] * len(ids)
    return made


def test_columns_come_back_as_they_were() -> None:
    given = rows.Rows(
        ["a", "b", "c"],
        {"before": ["Rain.", "z", "Rain."], "after": ["Rain, a dog barks.", "x\n\u202ey", "Rain."]},
        {"quality": np.array([1.5, np.nan, 3.0])},
        compared=[("before", "after")],
    )
    columns = {column["name"]: column for column in rows.to_json(given)["columns"]}
    numbers = np.frombuffer(unpacked(columns["quality"]["data"]), "<f4")
    np.testing.assert_array_equal(numbers, [1.5, np.nan, 3.0])

    def words(name: str) -> list[str]:
        known = json.loads(unpacked(columns[name]["known"]))
        codes = np.frombuffer(unpacked(columns[name]["data"]), "<u4")
        return [known[code] for code in codes]

    assert words("id") == ["a", "b", "c"]
    assert words("before") == ["Rain.", "\x01z\x02", "Rain."]
    assert words("after") == ["Rain, \x01a dog barks\x02.", "\x01x\n\\u202ey\x02", "Rain."]


def test_the_same_input_makes_the_same_bytes(tmp_path: Path) -> None:
    table, manifest = written_scores(tmp_path)
    for name in ("a.html", "b.html"):
        pages.write(pages.read([table], manifest), "embed", tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert not list(tmp_path.glob("*_clips"))


def test_copies_lie_beside_the_page_and_their_size_is_told(tmp_path: Path) -> None:
    table, manifest = written_scores(tmp_path)
    page, told = pages.read([table], manifest, most=1), list[Any]()
    pages.write(page, "copy", tmp_path / "page.html", told=lambda *what: told.append(what))
    copies = sorted((tmp_path / "page_clips").glob("*.flac"))
    ((count, size, where),) = told
    assert count == len(copies) > 0
    assert size == sum(path.stat().st_size for path in copies)
    assert where == "in page_clips/"
    assert about(tmp_path / "page.html")["clips"]["0"]["original"] == {
        "href": "page_clips/0-original.flac"
    }


def test_a_link_leads_from_the_page_to_the_clip(tmp_path: Path) -> None:
    from urllib.parse import unquote

    table, manifest = written_scores(tmp_path, hostile=True)
    page = tmp_path / "deep" / "page.html"
    pages.write(pages.read([table], manifest), "link", page)
    links = json.loads(unpacked(about(page)["links"]["data"]))
    original = (page.parent / unquote(links[0][0])).resolve()
    assert original == pairs(tmp_path, hostile=True)[0].original.resolve()


def test_pairs_to_hear_are_those_that_are_meant() -> None:
    made = plain_rows({"a": [3.0, 1.0, np.nan], "b": [5.0, 2.0]})
    made.clips[1] = (None, None)
    made.numbers |= {
        "quality rated": np.array([3.0, 1.0, 2.0, 1.0, 2.0]),
        "quality low": np.array([2.0, 1.0, np.nan, 4.9, 1.0]),
        "quality high": np.array([3.0, 1.0, np.nan, 5.0, 4.0]),
        "quality of other": np.array([1.0, 1.0, np.nan, 5.0, 2.0]),
    }
    made.scales = [
        rows.Scale(
            "quality", "quality", "quality low", "quality high", "quality rated",
            {"other": "quality of other"}, rows.RATINGS,
        )
    ]  # fmt: skip
    found = {choice.name: choice.rows for choice in choose(made, 2)}
    assert found["Worst"] == [4, 0]
    assert found["Best"] == [3, 0]
    assert found["Least sure"] == [4, 0]
    assert found["Unlike people"] == [3, 0]
    assert found["In dispute"] == [0, 3]
    # Who could not rate a pair takes it from no other's dispute.
    made.numbers["third"] = np.array([np.nan, 1.0, np.nan, 5.0, np.nan])
    made.scales[0].others["third"] = "third"  # type: ignore[index]
    assert {c.name: c.rows for c in choose(made, 2)}["In dispute"] == [0, 3]
    assert len(found["Random"]) == 2
    assert 1 not in found["Random"]
    assert found["Random"] == {c.name: c.rows for c in choose(made, 2)}["Random"]


def test_better_systems_are_those_of_the_t_test_and_holm() -> None:
    rng = np.random.default_rng(1)
    values = {
        name: (3 + 0.15 * n + rng.normal(0, 0.3, 12)).tolist() for n, name in enumerate("abcd")
    }
    table = tables.ranking(plain_rows(values))
    assert table is not None
    better = {row[0]: set(filter(None, str(row[2]).split(", "))) for row in table.rows}
    assert 0 < sum(map(len, better.values())) < 6
    p_values = {
        (x, y) if np.mean(values[x]) > np.mean(values[y]) else (y, x): stats.ttest_ind(
            values[x], values[y], equal_var=False
        ).pvalue
        for n, x in enumerate("abcd")
        for y in "abcd"[n + 1 :]
    }
    ordered = sorted(p_values, key=lambda pair: p_values[pair])
    highest, expected = 0.0, set()
    for place, pair in enumerate(ordered):
        highest = max(highest, p_values[pair] * (6 - place))  # the corrected p-value
        expected |= {pair} if highest < 0.05 else set()
    assert {(x, y) for x, ys in better.items() for y in ys} == expected


def test_systems_of_the_same_sources_are_compared_pair_by_pair() -> None:
    """Sources differ by far more than systems do."""
    base = np.linspace(1, 4, 8)
    noise = np.random.default_rng(0).normal(0, 0.02, 8)
    values = {"a": base.tolist(), "b": (base + 0.1 + noise).tolist()}
    sources = [f"s{n}" for n in range(8)] * 2
    paired, apart = plain_rows(values, source=sources), plain_rows(values)
    found = [tables.ranking(x) for x in (paired, apart)]
    assert [[row[1] for row in table.rows] for table in found if table] == [[0, 1], [0, 0]]


@pytest.mark.filterwarnings("error")
def test_a_system_of_equal_scores_is_compared_without_a_warning() -> None:
    table = tables.ranking(plain_rows({"a": [3.0] * 6, "b": [4.0, 4.5, 5.0], "c": [4.0] * 6}))
    assert table is not None
    assert [row[2] for row in table.rows] == ["", "", "a"]


def test_calibration_counts_what_lies_within() -> None:
    made = plain_rows({"a": [3.0] * 12})
    made.numbers |= {
        "low": np.full(12, 2.0),
        "high": np.array([2.5] * 4 + [3.0] * 4 + [4.0] * 4),
        "rated": np.array([2.2, 2.4, 2.6, 2.6, *[2.9] * 4, *[3.5] * 3, np.nan]),
    }
    made.scales = [rows.Scale("quality", "quality", "low", "high", "rated")]
    table = tables.calibration(made)
    assert table is not None
    shares = {row[1]: (row[2].value, row[4]) for row in table.rows}  # type: ignore[union-attr]
    assert shares["all"] == (pytest.approx(9 / 11), 11)
    assert shares["surest third"] == (0.5, 4)
    assert shares["least sure third"] == (1.0, 3)
    assert tables.calibration(plain_rows({"a": [3.0] * 12})) is None


def test_a_table_as_html_is_text_alone() -> None:
    columns = [Column("system", label=True), Column(HOSTILE, "higher", form=".2f")]
    contents = [[HOSTILE, Cell(1.5, (1.0, 2.0), "N=3")], ["b", Undefined(HOSTILE)], ["c", 1.25]]
    found = to_html(Table(title=HOSTILE, columns=columns, rows=contents, notes=[HOSTILE]))
    assert set(re.findall(r"<(\w+)", found)) == {
        *("h2", "div", "table", "thead", "tbody", "tr", "th", "td", "small", "strong", "p")
    }
    assert re.findall(r'<td[^>]*data-value="([^"]*)"', found) == ["1.5", "", "1.25"]
    assert "<strong>1.50</strong><small>[1.00 2.00]</small><small>N=3</small>" not in found
    assert "<small>N=3</small>" in found


def test_scores_need_not_lie_on_the_scale_of_ratings(tmp_path: Path) -> None:
    """As of a distance, or in per cent; intervals of their means are cut to no scale but theirs."""
    given = pairs(tmp_path)
    scored = [Scores(row.id, -2.0 + n, 60.0 + 9 * n, 4.9) for n, row in enumerate(given)]
    made = rows.of_scores({"ours": [*scored[:5], Scores(given[5].id, -1.0, 50.0, 1.0)]}, given)
    assert [scale.ends for scale in made.scales] == [None, None, rows.RATINGS]
    beyond = rows.of_scores({"ours": [*scored[:5], Scores(given[5].id, -1.0, 50.0, 5.03)]}, given)
    assert [scale.ends for scale in beyond.scales] == [None, None, (1.0, 5.03)]
    assert "Unlike people" in {choice.name for choice in choose(beyond, 1)}
    for cell in tables.means(made).rows[0][2:5]:
        assert isinstance(cell, Cell)
        low, high = cell.interval  # type: ignore[misc]
        assert low < cell.value < high  # type: ignore[operator]
    assert high == 5.0  # of faithfulness, the last of them
    values, rated = made.numbers["faithfulness"], made.numbers["faithfulness rated"]
    found = {choice.name: choice.rows for choice in choose(made, 1)}
    assert found["Unlike people"] == [int(np.argmax(np.abs(values - rated)))]


def test_evaluators_stand_beside_each_other(tmp_path: Path) -> None:
    given = pairs(tmp_path)
    other = [Scores(row.id, quality=1.0) for row in scores_of(given)]
    made = rows.of_scores({"ours": scores_of(given), "theirs": other[1:]}, given)
    assert [dict(scale.others) for scale in made.scales] == [
        {"theirs": "quality of theirs"},
        {},
        {},
    ]
    np.testing.assert_array_equal(made.numbers["quality of theirs"], [np.nan, *[1.0] * 5])


def test_rows_of_another_table_alone_are_counted(tmp_path: Path) -> None:
    table, manifest = written_scores(tmp_path)
    other = tmp_path / "theirs.csv"
    scores_table.write([Scores("pair1", 2.0), Scores("pair9", 2.0), Scores("x", 2.0)], other)
    page = pages.read([table, other], manifest)
    assert page.remarks[0] == "2 of 3 rows of theirs are of no row of scores: left out."
    assert pages.read([other, table], manifest).remarks[0].startswith("5 of 6 rows of scores")


@pytest.mark.parametrize("write", [written_evaluation, written_run, written_filter])
def test_a_report_leads_back_to_its_pairs(tmp_path: Path, write: Any) -> None:
    page = pages.read([write(tmp_path)])
    assert len(page.rows) == 6
    assert [scale.rated for scale in page.rows.scales] == [f"{axis} rated" for axis in AXES]
    assert {"Worst", "Best"} <= {choice.name for choice in page.choices}


def test_the_page_of_a_report_on_a_split_is_of_its_pairs_alone(tmp_path: Path) -> None:
    found = written_evaluation(tmp_path) / "agreement.json"
    found.write_text(json.dumps({**json.loads(found.read_text()), "split": "test"}))
    table = tmp_path / "pairs.jsonl"
    plain = [json.loads(line) for line in table.read_text().splitlines()]
    for number, row in enumerate(plain):
        row["split"] = "test" if number in (1, 3) else "train"
    table.write_text("".join(json.dumps(row) + "\n" for row in plain))
    page = pages.read([found.parent])
    assert page.rows.ids == ["pair1", "pair3"]
    assert page.facts["split"] == "test"


def test_a_curve_has_gaps_and_a_page_no_number_that_is_none() -> None:
    curve = np.array([1.23456, np.nan, 5.0])
    found: Any = SimpleNamespace(seconds=curve, curves={"quality": curve}, change=1 / curve)
    drawn = curves.plain(found)
    assert drawn["curves"] == {"quality": [1.235, None, 5.0]}
    assert drawn["change"] == [0.81, None, 0.2]
    with pytest.raises(ValueError, match="JSON"):
        page.data([np.nan])


def test_runs_compared_are_a_table_pooled_or_not(tmp_path: Path) -> None:
    trials = {"model": {"t1": {"right": 3.0, "wrong": 2.0}, "t2": {"right": 1.0, "wrong": 2.0}}}
    pooled = {"contrasts": contrasts.to_json(contrasts.of_scores("runs", "relevance", trials))}
    compared = {"rows": {"a/model": {"held-out quality utterance SRCC": 0.5}}}
    for plain, said in ((pooled, ["model", 2]), (compared, ["a/model", 0.5])):
        (tmp_path / "runs.json").write_text(json.dumps(plain))
        (table,) = pages.read([tmp_path / "runs.json"]).sections["Runs"]
        assert [table.rows[0][0], table.rows[0][-1]] == said
    for strange in ({}, [], {"rows": 1}, {"a": {}}, {"a": {"title": 1, "axis": 2, "scores": 3}}):
        (tmp_path / "runs.json").write_text(json.dumps(strange))
        with pytest.raises(UserError, match=r"runs\.json: is no comparison of `auditeval compare`"):
            pages.read([tmp_path / "runs.json"])


def test_losses_of_a_run_go_on_where_it_was_interrupted(tmp_path: Path) -> None:
    made = pages.read([written_run(tmp_path)])
    line = {"model": "heads", "fold": "holdout"}
    assert made.losses == {
        "quality": [
            {**line, "part": "training", "course": [(1, 4.0), (2, 2.0), (3, 1.0)]},
            {**line, "part": "validation", "course": [(1, 5.0), (2, 3.0)]},
        ]
    }
    assert not any("No losses" in said for said in made.remarks)
    fold = tmp_path / "heads" / "holdout"
    (fold / "metrics-1.csv").unlink()
    (fold / "metrics.csv").write_text("epoch,step\n")
    assert any("No losses" in said for said in pages.read([tmp_path]).remarks)
    (fold / "metrics.csv").write_text("epoch\nmany\n")
    with pytest.raises(UserError, match=r"metrics\.csv: is no table of numbers"):
        pages.read([tmp_path])


def test_a_run_of_several_folds_says_why_it_has_no_curves_over_time(tmp_path: Path) -> None:
    run = written_run(tmp_path)
    (run / "heads" / "scores.csv.json").write_text('{"evaluator": "heads"}')
    for fold in ("fold1", "fold2"):
        (run / "heads" / fold / "checkpoint").mkdir(parents=True)
    page = pages.explained(pages.read([run]))
    assert page.remarks[-1] == "No curves over time: each of 2 folds has a checkpoint of its own."
    assert page.scored_in == run / "heads" / "scores.csv"


def test_a_report_whose_scores_are_gone_says_so(tmp_path: Path) -> None:
    report = written_evaluation(tmp_path)
    assert [path.name for path in inputs_of(report)] == ["scores.csv", "pairs.jsonl"]
    (tmp_path / "scores.csv").unlink()
    page = pages.read([report])
    assert len(page.rows) == 0
    assert [said for said in page.remarks if "scores.csv is not there" in said]
    assert [table.title for table in page.sections["Agreement"]]


BAD: dict[str, tuple[list[str], str]] = {
    "gone": (["nothing.csv", "-o", "a.html"], r"nothing\.csv: no such file or folder"),
    "a stranger": (["notes.txt", "-o", "a.html"], r"notes\.txt: is nothing that a page is made of"),
    "an empty folder": (["empty", "-o", "a.html"], r"empty: is nothing that a page is made of"),
    "another suffix": (["scores.csv", "-o", "a.pdf"], r"a\.pdf: a page ends in \.html"),
    "another audio": (["scores.csv", "-o", "a.html", "--audio", "mp3"], "--audio 'mp3': expected"),
    "another manifest": (
        ["scores.csv", "--manifest", "other.jsonl", "-o", "a.html"],
        r"scores\.csv: has a row for none of the pairs of .*other\.jsonl",
    ),
    "a broken report": (["broken", "-o", "a.html"], r"agreement\.json: is no report of"),
    "no scores": (["pairs.jsonl", "-o", "a.html"], r"pairs\.jsonl: lacks quality"),
    "a stranger's page": (["scores.csv", "-o", "own.html"], r"own\.html: exists already"),
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    written_scores(folder)
    (folder / "notes.txt").write_text("a")
    (folder / "own.html").write_text("mine")
    (folder / "empty").mkdir()
    (folder / "broken").mkdir()
    (folder / "broken" / "agreement.json").write_text('{"rows": [{}]}')
    row = json.loads((folder / "pairs.jsonl").read_text().splitlines()[0])
    (folder / "other.jsonl").write_text(json.dumps({**row, "id": "other"}) + "\n")
    return folder


@pytest.mark.parametrize("case", BAD)
def test_a_mistake_is_one_sentence(
    cli: Any, inputs: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.chdir(inputs)
    arguments, says = BAD[case]
    ended = cli("report", *arguments)
    assert ended.status == 2
    assert re.search(says, ended.sentence)
    assert not (inputs / "a.html").exists()


def test_the_command_says_what_it_wrote(cli: Any, inputs: Path, tmp_path: Path) -> None:
    output = tmp_path / "page.html"
    manifest = inputs / "pairs.jsonl"
    arguments = ["report", inputs / "scores.csv", "--manifest", manifest, "-o", output]
    ended = cli(*arguments)
    assert ended.status == 0
    assert re.search(r"\d+ clips, \d\.\d MB as FLAC, in the page", ended.out)
    assert f"page: {output}" in ended.out
    whole = output.read_text(encoding="utf-8")
    assert "scores.csv.json is not beside it; name the checkpoint with --checkpoint" in whole
    assert cli(*arguments).status == 0  # its own page is written anew


def test_a_pair_of_the_page_is_explained_by_all_that_was_said_of_it() -> None:
    said = {"original_caption": "Rain.", "target_caption": "", "instruction": "Add a dog."}
    pair = EditPair(id="a", original=Path("a.wav"), edited=Path("b.wav"), **said)
    shown = rows.Rows(["a"])
    rows.add_pairs(shown, [pair])
    assert curves._pair(shown, 0) == pair
