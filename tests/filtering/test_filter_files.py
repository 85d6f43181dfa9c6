"""Laws of the files: two manifests hold the rows of one, in every format and from every folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pyarrow.parquet
import pytest
from test_manifest import ROW, random_pairs

from auditeval import manifest
from auditeval.filtering.recipe import read_recipe
from auditeval.filtering.run import Filtered, filtered
from auditeval.report import selection
from auditeval.types import EditPair, Scores, UserError

SUFFIXES = (".jsonl", ".csv", ".parquet")
RECIPE = """stages:
- {name: 'half, "best"', axis: faithfulness, keep_share: 0.5}
- {name: good é, axis: quality, at_least: 2}
"""


def scores_of(pairs: list[EditPair], seed: int = 0) -> list[Scores]:
    """Scores of most of the pairs in another order, and of one that is no pair."""
    rng = np.random.default_rng(seed)
    rows = [Scores(pair.id, *rng.uniform(1, 5, 3).round(3).tolist()) for pair in pairs[3:]]
    rows += [Scores(pairs[0].id, status="error", reason="x"), Scores("none", 1.0, 1.0, 1.0)]
    return [rows[i] for i in rng.permutation(len(rows))]


def write_inputs(folder: Path, pairs: list[EditPair], suffix: str = ".jsonl") -> list[Path]:
    paths = [folder / f"pairs{suffix}", folder / "scores.parquet", folder / "recipe.yaml"]
    manifest.write(pairs, paths[0])
    columns = ("id", "quality", "relevance", "faithfulness", "status", "reason")
    rows = [{name: getattr(row, name) for name in columns} for row in scores_of(pairs)]
    polars.DataFrame(rows, infer_schema_length=None).write_parquet(paths[1])
    paths[2].write_text(RECIPE)
    return paths


def run(paths: list[Path], output: Path, plotted: bool = False) -> Filtered:
    with pytest.MonkeyPatch.context() as patch, filtered(*paths, output) as made:
        if not plotted:
            patch.setattr(selection, "plot", lambda outcome, path: path.write_bytes(b"plot"))
        selection.write(made, made.drafts)
    return made


def seen(pairs: list[EditPair]) -> list[dict[str, Any]]:
    """Pairs as they are from wherever they are read."""
    paths = ("original", "edited")
    return [
        {**pair.model_dump(), **{side: getattr(pair, side).resolve() for side in paths}}
        for pair in pairs
    ]


@pytest.mark.parametrize("folder", ["", "deep/er", "../beside", "link"])
@pytest.mark.parametrize("target", SUFFIXES)
@pytest.mark.parametrize("source", SUFFIXES)
def test_two_manifests_hold_the_rows_of_one(
    tmp_path: Path, source: str, target: str, folder: str
) -> None:
    home = tmp_path / "home"
    (tmp_path / "far" / "away").mkdir(parents=True)
    home.mkdir()
    (home / "link").symlink_to(tmp_path / "far" / "away")
    pairs = random_pairs(home, 120)  # edited clips lie outside of the folder, up by `..`
    paths = write_inputs(home, pairs, source)
    output = home / folder / f"kept{target}"
    run(paths, output)
    kept = list(manifest.iterate(output))
    rejected = manifest.read(output.with_name(f"kept.rejected{target}"))

    scores = {row.id: row for row in scores_of(pairs) if row.status == "ok"}
    ranked: dict[Any, list[EditPair]] = {}
    for pair in pairs:
        if pair.id in scores:
            ranked.setdefault(pair.operation, []).append(pair)
    reasons = {pair.id: "unscored" for pair in pairs if pair.id not in scores}
    for group in ranked.values():
        group.sort(key=lambda pair: -scores[pair.id].faithfulness)  # type: ignore[operator]
        places = (len(group) + 1) // 2
        reasons |= {pair.id: 'half, "best"' for pair in group[places:]}
        low = [pair for pair in group[:places] if scores[pair.id].quality < 2]  # type: ignore[operator]
        reasons |= {pair.id: "good é" for pair in low}
    assert seen(kept) == seen([pair for pair in pairs if pair.id not in reasons])
    assert seen(rejected) == seen(
        [p.model_copy(update={"rejected_by": reasons[p.id]}) for p in pairs if p.id in reasons]
    )


@pytest.mark.parametrize("folder", ["", "../beside"])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_rows_are_copied_where_nothing_needs_a_parser(
    tmp_path: Path, suffix: str, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fast path: rows as plain as `auditeval build` makes them are never parsed one by one."""
    home = tmp_path / "home"
    names = [f"pair {n}" for n in range(500)]
    pairs = [
        EditPair(**{**ROW, "id": n, "original": home / "a" / n, "edited": home / n}) for n in names
    ]
    paths = write_inputs(home, pairs, suffix)
    with monkeypatch.context() as patch:
        for name in ("checked_line", "iterate", "check"):
            patch.delattr(manifest, name)
        made = run(paths, home / folder / f"kept{suffix}")
    kept = manifest.read(home / folder / f"kept{suffix}")
    assert seen(kept) == seen([pair for pair in pairs if pair.id in {p.id for p in kept}])
    assert len(kept) == made.outcome.cuts[-1].kept["all"] > 100


@pytest.mark.parametrize("style", ["plain", "compact", "last", "windows", "gaps", "mark", "key"])
@pytest.mark.parametrize("folder", ["", "deep"])
def test_lines_are_copied_byte_for_byte(tmp_path: Path, folder: str, style: str) -> None:
    pairs = random_pairs(tmp_path, 40)
    pairs[1] = pairs[1].model_copy(update={"target_caption": '\\"original": "edited": "/.'})
    paths = write_inputs(tmp_path, pairs)
    rows = [json.loads(line) for line in paths[0].read_text().split("\n")[:-1]]
    separators = (",", ":") if style == "compact" else (", ", ": ")
    lines = [json.dumps(row, separators=separators).encode() + b"\n" for row in rows]
    changes: dict[str, Callable[[list[bytes]], list[bytes]]] = {
        "last": lambda lines: [*lines[:-1], lines[-1].rstrip()],
        "windows": lambda lines: [line.replace(b"\n", b"\r\n") for line in lines],
        "gaps": lambda lines: [b"\n", *lines[:7], b"  \n", *lines[7:]],
        "mark": lambda lines: [b"\xef\xbb\xbf", *lines],
        "key": lambda lines: [line.replace(b'"id"', b'"\\u0069d"') for line in lines],
    }
    lines = changes.get(style, list)(lines)
    paths[0].write_bytes(b"".join(lines))
    output = tmp_path / folder / "kept.jsonl"
    run(paths, output)
    kept = manifest.read(output)
    assert 5 < len(kept) < 20
    by_id = {pair.id: pair for pair in manifest.read(paths[0])}
    assert seen(kept) == seen([by_id[pair.id] for pair in kept])
    if not folder:
        found = output.read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines()
        assert set(found) <= set(b"".join(lines).removeprefix(b"\xef\xbb\xbf").splitlines())
        assert len(found) == len(kept)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_rejected_can_be_filtered_again(tmp_path: Path, suffix: str) -> None:
    """What is kept of them has no stage, what is rejected has the new one."""
    pairs = random_pairs(tmp_path, 100)
    paths = write_inputs(tmp_path, pairs, suffix)
    run(paths, tmp_path / f"kept{suffix}")
    again = tmp_path / f"kept.rejected{suffix}"
    paths[2].write_text("stages:\n- {name: second, axis: relevance, at_least: 3}\n")
    run([again, *paths[1:]], tmp_path / f"second{suffix}")
    kept = manifest.read(tmp_path / f"second{suffix}")
    rejected = manifest.read(tmp_path / f"second.rejected{suffix}")
    assert len(kept) + len(rejected) == len(manifest.read(again))
    assert {pair.rejected_by for pair in kept} == {None}
    assert {pair.rejected_by for pair in rejected} == {"second", "unscored"}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_inputs_give_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    paths = write_inputs(tmp_path, random_pairs(tmp_path, 200), suffix)
    outputs = []
    for name in ("first", "second"):
        run(paths, tmp_path / name / f"kept{suffix}", plotted=True)
        outputs.append({p.name: p.read_bytes() for p in (tmp_path / name).iterdir()})
    report = {f"kept.filter.{end}" for end in ("json", "md", "png")}
    note = f".kept{suffix}.made.json"
    assert set(outputs[0]) == {note, f"kept{suffix}", f"kept.rejected{suffix}", *report}
    assert outputs[0] == outputs[1]


def test_the_record_names_everything_it_was_made_from(tmp_path: Path) -> None:
    paths = write_inputs(tmp_path, random_pairs(tmp_path, 100))
    made = run(paths, tmp_path / "kept.jsonl")
    record = json.loads((tmp_path / "kept.filter.json").read_bytes())
    assert record["manifest"] == "pairs.jsonl"
    assert record["scores_of_no_pair"] == 1
    assert record["unscored"]["all"] == 3
    assert [stage["name"] for stage in record["stages"]] == ['half, "best"', "good é"]
    assert record["stages"][-1]["kept"]["all"] == len(manifest.read(tmp_path / "kept.jsonl"))
    paths[2].write_text(RECIPE + "# another text\n")
    run(paths, tmp_path / "kept.jsonl")
    again = json.loads((tmp_path / "kept.filter.json").read_bytes())
    assert [key for key in record if record[key] != again[key]] == ["recipe_sha256"]
    text = (tmp_path / "kept.filter.md").read_text()
    counts = [f"{count:,}" for count in made.outcome.original.values()]
    assert f"| Original number | {' | '.join(counts)} |" in text
    assert text.index("With scores") < text.index('After half, "best"') < text.index("After good")


@pytest.mark.parametrize("step", ["kept", "rejected", "record", "markdown", "plot"])
def test_a_full_disk_is_one_sentence_and_leaves_nothing(
    tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """/dev/full takes no byte: each file in turn is one that cannot be written."""
    paths = write_inputs(tmp_path, random_pairs(tmp_path, 100))
    from auditeval.filtering import run as module

    real = module.replacing

    def full(path: Path) -> Any:
        made = real(path)
        if path == getattr(module.files(tmp_path / "out" / "kept.jsonl"), step):
            enter = made.__enter__

            def linked() -> Path:
                temporary = enter()
                temporary.symlink_to("/dev/full")
                return temporary

            class Linked:
                def __enter__(self) -> Path:
                    return linked()

                def __exit__(self, *error: Any) -> Any:
                    return made.__exit__(*error)

            return Linked()
        return made

    monkeypatch.setattr(module, "replacing", full)
    with pytest.raises(UserError, match=r"kept\.jsonl: cannot be written \(No space left"):
        run(paths, tmp_path / "out" / "kept.jsonl", plotted=True)
    assert not (tmp_path / "out").exists()


def test_reading_a_recipe_needs_no_manifest() -> None:
    folder = Path(__file__).parents[2] / "recipes" / "filter"
    assert len([read_recipe(path) for path in folder.glob("*.yaml")]) == 4


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_columns_of_the_user_s_types_are_copied(tmp_path: Path, suffix: str) -> None:
    """Dictionaries, as pandas and pyarrow write repeated text, and views, as DataFusion any."""
    paths = write_inputs(tmp_path, random_pairs(tmp_path, 60), suffix)
    if suffix == ".parquet":
        table = pyarrow.parquet.read_table(paths[0])
        for name in ("id", "original", "operation"):
            at = table.schema.get_field_index(name)
            table = table.set_column(at, name, table.column(name).dictionary_encode())
        at = table.schema.get_field_index("target_caption")
        views = table.column(at).cast(pyarrow.string_view())
        table = table.set_column(at, "target_caption", views)
        pyarrow.parquet.write_table(table, paths[0])
    pairs = manifest.read(paths[0])
    run(paths, tmp_path / "x" / f"kept{suffix}")
    kept = manifest.read(tmp_path / "x" / f"kept{suffix}")
    assert seen(kept) == seen([pair for pair in pairs if pair.id in {p.id for p in kept}])


def test_a_column_that_stands_twice_is_refused(tmp_path: Path) -> None:
    paths = write_inputs(tmp_path, random_pairs(tmp_path, 6), ".parquet")
    table = pyarrow.parquet.read_table(paths[0])
    pyarrow.parquet.write_table(table.append_column("id", table.column("id")), paths[0])
    with pytest.raises(UserError, match=r"\.parquet:1: the column id stands twice"):
        run(paths, tmp_path / "kept.parquet")
