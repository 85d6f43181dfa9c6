"""What a page is made of and beside: nobody's folder is replaced, nothing is shown for another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the extra [web] is not installed")
from written_results import pairs, scores_of, written_evaluation, written_filter, written_scores

from auditeval import manifest, pages, scores_table
from auditeval.outputs import writing
from auditeval.pages import tables
from auditeval.report import agreement
from auditeval.types import Scores, UserError


def copied(folder: Path, output: str = "page.html") -> Path:
    page = pages.read([folder / "scores.csv"], folder / "pairs.jsonl", most=1)
    pages.write(page, "copy", folder / output)
    return folder / output.replace(".html", "_clips")


def test_a_page_with_copies_is_written_again(tmp_path: Path) -> None:
    written_scores(tmp_path)
    before = sorted(path.name for path in copied(tmp_path).iterdir())
    assert sorted(path.name for path in copied(tmp_path).iterdir()) == before


@pytest.mark.parametrize("kind", ["folder", "file", "own and another"])
def test_copies_take_no_strangers_place(tmp_path: Path, kind: str) -> None:
    written_scores(tmp_path)
    folder = tmp_path / "page_clips"
    if kind == "file":
        folder.write_text("precious")
    elif kind == "folder":
        folder.mkdir()
    else:
        copied(tmp_path)
    if kind != "file":
        (folder / "mine.txt").write_text("precious")
    with pytest.raises(UserError, match="page_clips: exists and holds something else; choose a"):
        copied(tmp_path)
    there = folder if kind == "file" else folder / "mine.txt"
    assert there.read_text() == "precious"


def test_a_copy_that_somebody_changed_is_theirs(tmp_path: Path) -> None:
    written_scores(tmp_path)
    folder = copied(tmp_path)
    (folder / "0-original.flac").write_bytes(b"another")
    with pytest.raises(UserError, match="page_clips: exists and holds something else"):
        copied(tmp_path)


def test_the_clips_of_a_page_are_not_replaced_by_their_copies(tmp_path: Path) -> None:
    """Not even where they are copies that an earlier page has left."""
    written_scores(tmp_path)
    folder = copied(tmp_path, "first.html")
    rated = [
        pair.model_copy(update={side: folder / f"0-{side}.flac" for side in ("original", "edited")})
        for pair in pairs(tmp_path)
    ]
    manifest.write(rated, tmp_path / "pairs.jsonl")
    with pytest.raises(
        UserError, match=r"first_clips: holds clips of the page, .*0-original\.flac"
    ):
        copied(tmp_path, "first.html")


def test_scores_of_what_was_kept_are_no_filters_report(tmp_path: Path) -> None:
    kept = written_filter(tmp_path)
    assert pages.read([kept]).title.endswith("filtered by recipe.yaml")
    table = kept.with_suffix(".csv")
    scores_table.write([Scores(pair.id, 1.5) for pair in manifest.read(kept)], table)
    page = pages.read([table], kept)
    assert "filtered" not in page.title
    assert page.rows.numbers["quality"].tolist() == [1.5] * len(page.rows)


def test_a_report_says_which_of_its_inputs_has_changed(tmp_path: Path) -> None:
    report = written_evaluation(tmp_path)
    names = [path.name for path in report.iterdir()]
    inputs = [tmp_path / "scores.csv", tmp_path / "pairs.jsonl"]
    with writing(report, "auditeval evaluate", names, inputs, force=True, digests=True):
        pass
    assert not [said for said in pages.read([report]).remarks if "Changed since" in said]
    scores_table.write(scores_of(pairs(tmp_path), shift=0.2), inputs[0])
    (said,) = [said for said in pages.read([report]).remarks if "Changed since" in said]
    assert "scores.csv" in said
    assert "pairs.jsonl" not in said


def better(values: dict[str, list[float]], paired: bool = False) -> set[tuple[str, str]]:
    of = {
        name: {f"{'' if paired else name}{n}": value for n, value in enumerate(given)}
        for name, given in values.items()
    }
    return tables._better(of)


def test_a_tie_is_asked_too_and_counts_in_holms_family() -> None:
    """p = .021 of a against b and c: three were asked, whether or not b and c are level."""
    a, b = [4.0, 4.2, 4.4, 4.6], [3.35, 3.6, 3.85, 4.0]
    p = tables._p_value(*({f"{n}{i}": v for i, v in enumerate(x)} for n, x in (("a", a), ("b", b))))
    assert 0.05 / 3 < p < 0.05 / 2
    nearly = [value + 1e-9 for value in b]
    assert better({"a": a, "b": b}) == {("a", "b")}
    assert better({"a": a, "b": b, "c": b}) == better({"a": a, "b": b, "c": nearly}) == set()


def test_equal_differences_are_no_certainty() -> None:
    assert better({"a": [4.0, 3.0], "b": [3.0, 2.0]}, paired=True) == set()
    one = np.arange(1.0, 4.0, 0.5).tolist()
    assert better({"a": [x + 1 for x in one], "b": one}, paired=True) == {("a", "b")}
    assert better({"a": [4.0] * 3, "b": [3.0] * 3}) == set()
    assert better({"a": [4.0] * 5, "b": [3.0] * 5}) == {("a", "b")}


def test_an_evaluator_that_rated_none_of_a_group_is_there(tmp_path: Path) -> None:
    given = [pair for pair in pairs(tmp_path) if pair.ratings]
    first = agreement.Predictions.from_scores("first", scores_of(given))
    added = [pair.id for pair in given if pair.operation == "add"]
    second = first._replace(evaluator="second", values={x: first.values[x] for x in added})
    groups = agreement.by_field(given, [first, second], "operation", "a panel", resamples=0)
    rows = {(row.evaluator, row.axis): row for row in groups["delete"].rows}
    none = rows["second", "quality"]
    count = sum(pair.operation == "delete" for pair in given)
    assert (none.rated, none.missing) == (count, count)
    assert "none of these pairs has a prediction" in str(none.agreement["utterance"]["SRCC"].value)


def test_options_that_would_be_ignored_are_refused(cli: Any, tmp_path: Path) -> None:
    table, listed = written_scores(tmp_path)
    kept = written_filter(tmp_path)
    page = tmp_path / "page.html"
    for arguments, says in (
        ([table, "--no-explain", "-c", "x"], "is for curves over time; leave out --no-explain"),
        ([table, "--audio", "none", "-c", "x"], "is for curves over time; leave out --audio none"),
        ([kept, "--manifest", listed], "says itself which pairs it is of; leave out --manifest"),
    ):
        ended = cli("report", *arguments, "-o", page)
        assert ended.status == 2
        assert says in ended.sentence
        assert not page.exists()


def test_a_page_that_may_not_be_written_is_said_before_the_work(cli: Any, tmp_path: Path) -> None:
    table, listed = written_scores(tmp_path)
    (tmp_path / "page.html").write_text("mine")
    evaluate = ("evaluate", table, "--against", listed, "-o", tmp_path / "new")
    ended = cli(*evaluate, "--html", tmp_path / "page.html")
    assert ended.status == 2
    assert "page.html: exists already and is not as this command made it" in ended.sentence
    assert not (tmp_path / "new").exists()
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text("stages:\n- {name: faithful, axis: faithfulness, keep_top: 2}\n")
    ended = cli(
        *("filter", listed, table, "--recipe", recipe, "-o", tmp_path / "kept" / "kept.jsonl"),
        *("--html", tmp_path / "page.html"),
    )
    assert ended.status == 2
    assert not (tmp_path / "kept" / "kept.jsonl").exists()
    assert (tmp_path / "page.html").read_text() == "mine"
