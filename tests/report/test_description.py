"""A set described: the paper's tables come back from ratings that have them, and what is found."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auditeval.audio import AudioError
from auditeval.data.contents import Clip
from auditeval.metrics.raters import rater_ceiling, reliability, screened
from auditeval.report.description import BIN_CENTRES, Description, describe
from auditeval.report.description_files import to_json, write
from auditeval.report.description_tables import findings, tables, to_markdown
from auditeval.report.render import lines_of
from auditeval.types import AXES, EditPair

REFERENCE = Path(__file__).parents[2].parent / "shared" / "reference"
HERE = Path("/set/pairs.jsonl")


def pair(id: int, **more: Any) -> EditPair:
    given = {"original": f"/set/o/{id}.wav", "edited": f"/set/e/{id}.wav", **more}
    return EditPair(id=str(id), original_caption="a", target_caption="b", **given)


def rows_of(made: Description, title: str) -> list[list[str]]:
    (table,) = [table for table in tables(made) if table.title == title]
    return [[" ".join(lines) for lines in row] for row in lines_of(table)]


def reference(name: str) -> list[dict[str, str]]:
    if not REFERENCE.is_dir():
        pytest.skip(f"{REFERENCE} is not there")
    with (REFERENCE / name).open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def auditscore() -> list[EditPair]:
    """276 pairs for each system and operation whose means and SDs are those of the paper."""
    by_system = {row["system_id"]: row for row in reference("auditscore_by_system.csv")}
    by_operation = reference("auditscore_by_operation.csv")
    pairs = []
    for row in by_operation:
        system = by_system[row["system_id"]]
        same = [other for other in by_operation if other["system_id"] == row["system_id"]]
        for side in (-1, 1):
            ratings = {}
            for axis in AXES:
                # Half of the pairs lie below the operation's mean, half as far above it, so that
                # with the operations' own differences the system's SD is the published one.
                between = np.var([float(other[axis]) for other in same])
                sd = float(system[f"{axis}_std"]) * np.sqrt(1 - 1 / (6 * 46))
                reach = np.sqrt(sd**2 - between)
                ratings[axis] = float(row[axis]) + side * float(reach)
            for _ in range(46):
                more = {"system": row["system_id"], "operation": row["operation"]}
                pairs.append(pair(len(pairs), ratings=ratings, **more))
    return pairs


def test_the_papers_tables_come_back(auditscore: list[EditPair]) -> None:
    made = describe(auditscore, HERE)
    by_system = reference("auditscore_by_system.csv")
    assert list(made.by["system"]) == [row["system_id"] for row in by_system]  # sys2 before sys10
    unbalanced = {"sys8", "sys23"}  # whose means are not those of their operations'
    for row in by_system:
        group = made.by["system"][row["system_id"]]
        for axis in AXES:
            rated, mean, sd = group.ratings[axis]
            tolerance = 0.007 if row["system_id"] in unbalanced else 0.001
            assert mean == pytest.approx(float(row[axis]), abs=tolerance + 1e-9)
            assert sd == pytest.approx(float(row[f"{axis}_std"]), abs=1e-9)
            assert rated == group.pairs == 276
    for row in reference("auditscore_by_operation.csv"):
        group = made.crossed[row["system_id"], row["operation"]]
        assert group.pairs == 92
        for axis in AXES:
            assert group.ratings[axis].mean == pytest.approx(float(row[axis]), abs=1e-9)
    table = {row[1]: row for row in rows_of(made, "Pairs and their ratings")}
    assert table["sys1"][2:] == ["276", "3.621 ± 0.315", "2.896 ± 0.731", "3.699 ± 0.327"]
    appendix = rows_of(made, "By system and operation")
    assert len(appendix) == 69
    assert appendix[1][:3] == ["sys1", "delete", "92"]
    assert [cell.split()[0] for cell in appendix[1][3:]] == ["3.560", "2.466", "3.726"]


def votes_of(seed: int, raters: int = 5) -> list[dict[str, float]]:
    rng = np.random.default_rng(seed)
    truth = rng.uniform(1.5, 4.5, (40, 1))
    votes = np.clip(np.round(truth + rng.normal(0, 0.7, (40, raters))), 1, 5)
    return [{f"r{i}": vote for i, vote in enumerate(row)} for row in votes.tolist()]


@pytest.fixture(scope="module")
def rated() -> list[EditPair]:
    """40 pairs of five systems; quality has raters with ids, relevance lists, the rest none."""
    quality, relevance = votes_of(0), [list(given.values()) for given in votes_of(1, 3)]
    return [
        pair(
            n,
            system=f"s{n % 5}",
            raters={"quality": quality[n], "relevance": relevance[n]},
            ratings={"faithfulness": 3.0} if n < 10 else {},
        )
        for n in range(40)
    ]


@pytest.fixture(scope="module")
def described(rated: list[EditPair]) -> Description:
    said: list[str] = []
    made = describe(rated, HERE, resamples=50, watch=said.append)
    assert said == ["quality", "relevance"]
    return made


def test_raters_are_those_of_the_metrics(rated: list[EditPair], described: Description) -> None:
    made = described
    assert list(made.panels) == ["quality", "relevance"]
    systems = [made.system for made in rated]
    for axis, panel in made.panels.items():
        votes = [made.raters[axis] for made in rated]
        assert panel.reliability == reliability(votes, systems, 50)
        assert panel.ceiling == rater_ceiling(votes, systems)
        assert panel.raters == screened(votes)
    table = {row[0]: row[1:] for row in rows_of(made, "Raters")}
    assert table["votes a pair"] == ["5", "3"]
    assert table["raters with ids"] == ["5", "0"]
    assert table["ICC(2,k)"][1] == "–"
    ceiling = made.panels["quality"].ceiling["system"]["SRCC"].value
    assert table["rater ceiling, system SRCC"][0].startswith(f"{ceiling:.3f} [")
    raters = rows_of(made, "Each rater against the others")
    assert [row[1] for row in raters] == [row.rater for row in made.panels["quality"].raters]
    assert "Raters of relevance have no ids: none can be held against the others." in findings(made)


def test_no_rater_is_dropped_from_what_is_written(rated: list[EditPair], tmp_path: Path) -> None:
    many = [
        made.model_copy(
            update={"raters": {"quality": {f"p{n % 20}": 3.0, f"q{n % 7}": 2.0 + n % 3}}}
        )
        for n, made in enumerate(rated)
    ]
    made = describe(many, HERE, resamples=0)
    shown = rows_of(made, "Each rater against the others")
    assert len(shown) == 11
    assert shown[-1][1] == "and 17 more"
    listed = to_json(made)["panels"]["quality"]["raters"]
    assert {row["rater"] for row in listed} == {
        *(f"p{n}" for n in range(20)),
        *(f"q{n}" for n in range(7)),
    }
    assert listed[0]["agreement"] is None
    assert "a correlation needs 3" in listed[0]["agreement_undefined"]


def test_histograms_hold_every_rating_and_means_of_five_votes_in_the_middle() -> None:
    assert (BIN_CENTRES[0], BIN_CENTRES[-1]) == (1, 5)
    means = [sum(votes) / 5 for votes in np.random.default_rng(0).integers(1, 6, (300, 5)).tolist()]
    made = describe([pair(n, ratings={"quality": mean}) for n, mean in enumerate(means)], HERE)
    counts = made.distributions["quality"].counts
    assert counts == [sum(round(mean, 1) == centre for mean in means) for centre in BIN_CENTRES]
    ends = describe([pair(n, ratings={"quality": r}) for n, r in enumerate([1.0, 5.0, 5.0])], HERE)
    assert ends.distributions["quality"] == (1, 5, 5, [1, *[0] * 19, 2])
    (row,) = rows_of(ends, "Distribution of ratings")
    assert row[:3] == ["quality", "▄" + "·" * 19 + "█", "3"]


def test_a_set_without_ratings_systems_or_splits_is_described_all_the_same() -> None:
    made = describe([pair(0), pair(1)], HERE)
    assert [table.title for table in tables(made)] == ["Pairs and their ratings"]
    assert rows_of(made, "Pairs and their ratings") == [["all", "", "2"]]
    assert findings(made) == ["Leaks: the manifest states no split."]


def test_no_group_takes_the_place_of_the_pairs_without_one() -> None:
    """Though a system, or an operation, be called as these are."""
    names = [("(none)", "add"), (None, "(none)"), ("a", None), ("a", "add")]
    made = describe([pair(n, system=s, operation=o) for n, (s, o) in enumerate(names)], HERE)
    for field, of_all in made.by.items():
        counts = {name: group.pairs for name, group in of_all.items()}
        most = {"system": "a", "operation": "add"}[field]
        assert counts == {"(none)": 1, "((none))": 1, most: 2}
    assert set(made.crossed) == {
        *(("(none)", "add"), ("((none))", "(none)"), ("a", "((none))"), ("a", "add"))
    }


def test_few_ratings_say_how_many_and_have_no_deviation() -> None:
    pairs = [
        pair(0, system="a", ratings={"quality": 3.0, "relevance": 2.0}),
        pair(1, system="a", ratings={"quality": 4.0}),
        pair(2),
    ]
    made = describe(pairs, HERE)
    rows = {row[1]: row[2:] for row in rows_of(made, "Pairs and their ratings")}
    assert rows[""] == ["3", "3.500 ± 0.707 (2)", "2.000 (1)"]
    assert rows["a"] == ["2", "3.500 ± 0.707", "2.000 (1)"]
    assert rows["(none)"] == ["1", "", ""]
    assert to_json(made)["by_system"]["a"]["ratings"]["relevance"] == {
        "rated": 1,
        "mean": 2.0,
        "sd": None,
        "sd_undefined": "one rating; a standard deviation needs 2",
    }


CLIP = Clip("x", 2.0, 8000, 1)


def test_what_is_wrong_is_said_by_name() -> None:
    pairs = [pair(n, split="train" if n % 2 else "test", system="s") for n in range(14)]
    clips: dict[Path, Any] = {}
    for n, made in enumerate(pairs):
        clips[made.original] = CLIP._replace(digest=f"o{n // 2}" if n < 12 else f"o{n}")
        clips[made.edited] = CLIP._replace(digest=f"e{n}")
    clips[pairs[12].edited] = AudioError("/set/e/12.wav: no such file")
    clips[pairs[13].edited] = clips[pairs[13].original]
    made = describe(pairs, HERE, clips)
    unusable, same, unchanged, leak = findings(made)
    assert unusable == "Cannot be used: 1 clip of 1 pair: e/12.wav no such file."
    assert same.startswith(
        "The same sound: 12 files of original clips hold 6 sounds: o/0.wav = o/1.wav; o/10.wav = "
    )
    assert same.endswith("; o/6.wav = o/7.wav and 1 more.")
    assert unchanged == "Not edited: 1 pair has one sound on both sides: 13."
    assert leak.startswith(
        "LEAK: 6 originals, by samples, file or source, are on two sides of the stated split, with "
        "6 of 7 train, 6 of 7 test pairs: o/0.wav (test 0; train 1); "
    )
    plain = to_json(made)
    assert [found["pairs"] for found in plain["leaks"]] == [
        {"test": [str(n)], "train": [str(n + 1)]} for n in range(0, 12, 2)
    ]
    assert plain["clips"]["unusable"] == [
        {"path": "e/12.wav", "reason": "no such file", "pairs": ["12"]}
    ]
    assert len(plain["clips"]["original"]["same"]) == 6
    assert plain["clips"]["edited"]["seconds"] == {
        "total": 26, "shortest": 2, "median": 2, "longest": 2,
    }  # fmt: skip
    quiet = describe(pairs, HERE)
    assert findings(quiet) == [
        "Leaks: no original, by file or source (no audio was read), is on two sides of the stated "
        "split."
    ]
    assert to_json(quiet)["clips"] is None


def test_splits_are_columns() -> None:
    pairs = [pair(n, split="test" if n < 3 else "train", system=f"s{n % 2}") for n in range(10)]
    made = describe(pairs, HERE)
    (table,) = tables(made)
    assert list(map(str, table.columns)) == ["", "", "pairs", "train", "test"]
    rows = {row[1]: row[2:] for row in rows_of(made, table.title)}
    assert rows[""] == ["10", "7", "3"]
    assert (rows["train"], rows["test"]) == (["7", "7", "0"], ["3", "0", "3"])
    assert (rows["s0"], rows["s1"]) == (["5", "3", "2"], ["5", "4", "1"])


def test_files_hold_everything_and_are_the_same_each_time(
    described: Description, tmp_path: Path
) -> None:
    made = described
    for name in ("first", "second"):
        write(made, tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "first").iterdir())
    assert files == ["description.json", "description.md", "description.png"]
    for name in files:
        first, second = ((tmp_path / folder / name).read_bytes() for folder in ("first", "second"))
        assert first == second
    plain = json.loads((tmp_path / "first" / "description.json").read_text())
    assert plain["all"]["ratings"]["quality"]["mean"] == made.whole.ratings["quality"].mean
    text = to_markdown(made)
    assert (tmp_path / "first" / "description.md").read_text() == text
    for table in tables(made):
        for row in rows_of(made, table.title):
            assert f"| {' | '.join(row)} |" in text
    write(describe([pair(0)], HERE), tmp_path / "bare")
    assert not (tmp_path / "bare" / "description.png").exists()


def test_the_picture_has_the_histograms_and_the_systems(
    described: Description, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from matplotlib.figure import Figure

    drawn = []
    save = Figure.savefig
    monkeypatch.setattr(
        Figure, "savefig", lambda figure, *a, **k: (drawn.append(figure), save(figure, *a, **k))
    )
    made = described
    write(made, tmp_path)
    panels = drawn[0].axes
    assert len(panels) == 2 * len(AXES)
    for row, axis in enumerate(AXES):
        bars = [bar.get_height() for bar in panels[2 * row].patches]
        assert bars == made.distributions[axis].counts
        means = [line.lines[0].get_ydata()[0] for line in panels[2 * row + 1].containers]
        groups = made.by["system"].values()
        assert means == [group.ratings[axis].mean for group in groups if axis in group.ratings]
