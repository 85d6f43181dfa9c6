"""Reports within sources: the values are those of `metrics.within`, and nothing goes unsaid."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from auditeval.metrics.within import ceiling_within, within
from auditeval.report import within as report
from auditeval.report.agreement import Predictions
from auditeval.report.agreement_table import CEILING
from auditeval.table import Cell
from auditeval.types import EditPair, UserError

SONGS, SYSTEMS = ("Rain", "Siren", "Tides", "Dust", "Moss"), ("s1", "s2", "s3", "s4", "s5")


def chosen() -> list[EditPair]:
    """Twelve listeners each choose one of five systems in five songs."""
    rng = np.random.default_rng(0)
    pairs = []
    for song in SONGS:
        best = rng.choice(SYSTEMS, size=12, p=[0.5, 0.2, 0.15, 0.1, 0.05])
        for system in SYSTEMS:
            votes = {f"l{n}": 5.0 if name == system else 1.0 for n, name in enumerate(best)}
            pairs.append(
                EditPair.model_validate(
                    {
                        "id": f"{song}-{system}",
                        "original": f"{song}.wav",
                        "edited": f"{song}-{system}.wav",
                        "original_caption": "",
                        "target_caption": "",
                        "source": song,
                        "system": system,
                        "raters": {"quality": votes},
                    }
                )
            )
    return pairs


PAIRS = chosen()
RATED = [pair.ratings["quality"] for pair in PAIRS]
SOURCES = [str(pair.source) for pair in PAIRS]


def said(name: str, level: str | None = None, without: tuple[str, ...] = ()) -> Predictions:
    """Ratings with noise; the same number in the song `level`, none of the pairs `without`."""
    rng = np.random.default_rng(1)
    values = {
        pair.id: {"quality": float(pair.ratings["quality"] + rng.normal(0, 1)), "relevance": 3.0}
        for pair in PAIRS
    }
    for pair in PAIRS:
        if pair.source == level:
            values[pair.id]["quality"] = 2.5
    return Predictions(name, {id: row for id, row in values.items() if id not in without})  # type: ignore[misc]


def test_each_row_has_the_correlations_within_and_the_ceiling_stands_below() -> None:
    made = report.make_report(PAIRS, [said("model")], "LISTENERS", "song", resamples=100)
    (row,) = made.rows  # nobody rated relevance
    predicted = [said("model").values[pair.id]["quality"] for pair in PAIRS]
    expected = within(predicted, RATED, SOURCES, resamples=100)
    assert row.found == expected
    ceiling = ceiling_within([p.raters["quality"] for p in PAIRS], SOURCES, 100, 100)
    assert made.ceilings == {"quality": ceiling}
    table = report.to_table(made)
    assert table.title == "Agreement with LISTENERS"
    assert [c.full_name for c in table.columns[2:4]] == ["within a song SRCC", "within a song KTAU"]
    assert table.labels == ["model", CEILING]
    assert table.row("model") == {
        **{name: Cell(*found[:2]) for name, found in expected.items()},
        "songs": "5/5",
        "pairs": "25/25",
    }
    assert table.row(CEILING) == {"SRCC": Cell(*ceiling[:2]), "songs": "5/5"}
    assert any(note.startswith("Rater ceiling: ") for note in table.notes)
    assert not any("Without a correlation" in note for note in table.notes)


def test_a_song_without_a_correlation_is_named_with_its_reason(tmp_path: Path) -> None:
    predictions = [said("model"), said("flat", level="Siren")]
    made = report.make_report(PAIRS, predictions, "LISTENERS", "song", resamples=20)
    table = report.to_table(made)
    assert table.row("flat")["songs"] == "4/5"
    clause = "Siren (quality, flat: all predictions are equal)"
    assert f"Without a correlation and in no mean: {clause}." in table.notes
    report.write(made, tmp_path)
    assert clause in (tmp_path / "within.md").read_text()
    found = json.loads((tmp_path / "within.json").read_text())["rows"]
    sources = found[1]["within"]["KTAU"]["sources"]
    assert sources["Siren"] == {"value": None, "undefined": "all predictions are equal"}
    others = [sources[song] for song in SONGS if song != "Siren"]
    assert found[1]["within"]["KTAU"]["value"] == pytest.approx(np.mean(others))
    assert found[0]["within"]["SRCC"]["interval"] == pytest.approx(
        made.rows[0].found["SRCC"].interval
    )


def test_pairs_without_a_prediction_are_counted() -> None:
    lacking = said("lacking", without=("Dust-s1", "Dust-s2", "Dust-s3"))
    made = report.make_report(PAIRS, [lacking], "LISTENERS", "song", resamples=20)
    table = report.to_table(made)
    assert table.row("lacking")["pairs"] == "22/25"
    assert "Rated pairs without a prediction, left out: quality, lacking 3." in table.notes
    assert any(
        "Dust (quality, lacking: 2 items; a correlation needs 3)" in note for note in table.notes
    )


def test_of_mean_ratings_alone_there_is_no_ceiling() -> None:
    bare = [pair.model_copy(update={"raters": {}}) for pair in PAIRS]
    made = report.make_report(bare, [said("model")], "LISTENERS", resamples=20)
    assert made.ceilings == {}
    table = report.to_table(made)
    assert table.labels == ["model"]
    assert "sources" in table.row("model")
    assert not any(note.startswith("Rater ceiling:") for note in table.notes)
    assert "No rater ceiling of quality: no pair comes with two votes." in table.notes


def test_pairs_that_cannot_be_compared_within_a_source_are_refused() -> None:
    nameless = [*PAIRS[:4], PAIRS[4].model_copy(update={"source": None})]
    with pytest.raises(UserError, match="pair 'Rain-s5' is rated and names no source"):
        report.make_report(nameless, [said("model")], "LISTENERS")
    apart = [pair for pair in PAIRS if pair.system in ("s1", "s2")]
    with pytest.raises(UserError, match="no source has 3 pairs that are rated"):
        report.make_report(apart, [said("model")], "LISTENERS")
