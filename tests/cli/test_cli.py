"""The command, as a user types it: what it prints, what it writes, how it ends."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.main import get_command

from auditeval import manifest, scores_table
from auditeval.cli import app, main
from auditeval.metrics.agreement import STATISTICS
from auditeval.scoring import load
from auditeval.types import AXES, EditPair


class Ended(NamedTuple):
    code: int
    out: str
    err: str


Command = Callable[..., Ended]


@pytest.fixture
def auditeval(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    def run(*arguments: object) -> Ended:
        monkeypatch.setattr("sys.argv", ["auditeval", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        return Ended(ended.value.code or 0, *capsys.readouterr())

    return run


@pytest.fixture(scope="module")
def table(simulated: list[EditPair], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "pairs.jsonl"
    manifest.write(simulated, path)
    return path


@pytest.fixture(scope="module")
def scores(table: Path, spectrum_checkpoint: Path) -> Path:
    evaluator = load(spectrum_checkpoint, "cpu", workers=0)
    for _ in evaluator.score_manifest(table, table.with_name("scores.csv")):
        pass
    return table.with_name("scores.csv")


@pytest.fixture(scope="module")
def perfect(table: Path) -> Path:
    """Scores that are the ratings themselves, with one row that could not be scored."""
    path = table.with_name("perfect.csv")
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, scores_table.COLUMNS)
        writer.writeheader()
        for number, pair in enumerate(manifest.read(table)):
            row = {"id": pair.id, "status": "ok", **pair.ratings}
            writer.writerow(row if number else {"id": pair.id, "status": "error", "reason": "x"})
    return path


def refused(ended: Ended) -> str:
    """A user's mistake: status 2, one sentence, no traceback."""
    assert ended.code == 2
    assert ended.out == ""
    (line,) = ended.err.splitlines()
    assert line.startswith("auditeval: ")
    return line


def test_score_a_manifest(
    auditeval: Command, table: Path, spectrum_checkpoint: Path, scores: Path, tmp_path: Path
) -> None:
    output = tmp_path / "scores.csv"
    ended = auditeval("score", table, "-c", spectrum_checkpoint, "-o", output, "--device", "cpu")
    assert ended.code == 0
    assert ended.out == f"{output}: 60 scored, 0 errors\n"
    assert output.read_bytes() == scores.read_bytes()
    again = auditeval("score", table, "-c", spectrum_checkpoint, "-o", output, "--device", "cpu")
    kept = "60 rows were kept of an earlier run; --fresh scores all again\n"
    assert (again.code, again.out) == (0, f"{ended.out}{kept}")


def test_score_says_errors_in_the_row_and_in_the_status(
    auditeval: Command, simulated: list[EditPair], spectrum_checkpoint: Path, tmp_path: Path
) -> None:
    pairs = [simulated[0], simulated[1].model_copy(update={"original": tmp_path / "absent.wav"})]
    manifest.write(pairs, tmp_path / "pairs.csv")
    output = tmp_path / "scores.jsonl"
    command = ("score", tmp_path / "pairs.csv", "-c", spectrum_checkpoint, "-o", output)
    for _ in range(2):  # the second finds it finished
        ended = auditeval(*command)
        assert ended.code == 1
        assert ended.out.startswith(f"{output}: 1 scored, 1 error\n")
    bad = json.loads(output.read_text().splitlines()[1])
    assert (bad["id"], bad["status"]) == (pairs[1].id, "error")
    assert "absent.wav" in bad["reason"]


def test_score_that_was_killed_after_its_last_row(
    auditeval: Command, simulated: list[EditPair], spectrum_checkpoint: Path, tmp_path: Path
) -> None:
    """Nothing is left to score: the rows only have to become the table."""
    broken = simulated[3].model_copy(update={"edited": tmp_path / "absent.wav"})
    manifest.write([*simulated[:3], broken], tmp_path / "pairs.jsonl")
    output = tmp_path / "scores.jsonl"
    command = ("score", tmp_path / "pairs.jsonl", "-c", spectrum_checkpoint, "-o", output)
    first = auditeval(*command)
    rows = output.read_bytes()
    output.rename(f"{output}.partial")
    Path(f"{output}.json").rename(f"{output}.partial.json")
    again = auditeval(*command)
    assert (again.code, again.out) == (first.code, first.out) == (
        1, f"{output}: 3 scored, 1 error\n"
    )  # fmt: skip
    assert output.read_bytes() == rows


def test_score_one_pair(
    auditeval: Command, simulated: list[EditPair], spectrum_checkpoint: Path, scores: Path
) -> None:
    pair = simulated[5]
    ended = auditeval(
        *("score", "-c", spectrum_checkpoint, "--original", pair.original),
        *("--edited", pair.edited, "--original-caption", pair.original_caption),
        *("--target-caption", pair.target_caption),
    )
    assert ended.code == 0
    printed = dict(line.split() for line in ended.out.splitlines())
    (row,) = [row for row in scores_table.read(scores) if row.id == pair.id]
    assert list(printed) == list(AXES)
    for axis in AXES:
        assert float(printed[axis]) == pytest.approx(getattr(row, axis), abs=5.1e-4)


def test_score_one_pair_by_an_instruction(auditeval: Command, simulated: list[EditPair]) -> None:
    clips = "--original", simulated[5].original, "--edited", simulated[5].edited
    found = {}
    for asked in ("Add a siren.", "Surprise me."):
        ended = auditeval("score", *clips, "--instruction", asked)
        assert ended.code == 0
        found[asked] = dict(line.split(maxsplit=1) for line in ended.out.splitlines())
    known, unknown = (one["relevance"] for one in found.values())
    assert known != unknown
    assert unknown.endswith("[1.00 to 5.00]")
    said = refused(auditeval("score", *clips))
    assert "original_caption is empty, and there is no instruction" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give either"),
        (("pairs.jsonl", "--original", "a.wav"), "give either"),
        (("pairs.jsonl",), "needs -o"),
        (("absent.jsonl", "-o", "x.csv"), "absent.jsonl: no such manifest"),
        (("--original", "a.wav"), "both --original and --edited"),
        (("--original", "a.wav", "--edited", "b.wav", "-c", "no/such/place"), "no/such/place"),
    ],
)
def test_score_refuses(auditeval: Command, arguments: tuple[str, ...], said: str) -> None:
    assert said in refused(auditeval("score", *arguments))


def test_score_one_pair_that_cannot_be(
    auditeval: Command, simulated: list[EditPair], spectrum_checkpoint: Path, tmp_path: Path
) -> None:
    clips = ("--original", simulated[0].original, "--edited", tmp_path / "absent.wav")
    said = refused(
        auditeval("score", "-c", spectrum_checkpoint, *clips, "--original-caption", "Rain.",
                  "--target-caption", "Rain.")
    )  # fmt: skip
    assert "absent.wav" in said


def test_evaluate_prints_the_table_and_writes_the_report(
    auditeval: Command, table: Path, scores: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "report"
    ended = auditeval(
        "evaluate", scores, "--against", table, "-o", folder, "--resamples", 20, "--seed", 5
    )
    assert ended.code == 0
    written = json.loads((folder / "agreement.json").read_text())
    assert [row["axis"] for row in written["rows"]] == list(AXES)
    for row in written["rows"]:
        assert (row["rated"], row["missing"]) == (60, 0)
        for level in ("utterance", "system"):
            for name in STATISTICS:
                assert f"{row[level][name]['value']:.3f}" in ended.out
    assert f"the ratings of {table.name}" in ended.out
    assert "…" not in ended.out  # nothing is cut off, however narrow the terminal
    assert ended.out.splitlines()[-1] == f"report: {folder}"
    assert {p.name for p in folder.glob("[!.]*")} == {
        f"agreement.{x}" for x in ("json", "md", "png")
    }
    repeated = auditeval("evaluate", scores, "--against", table, "--resamples", 20, "--seed", 5)
    assert repeated.out == "".join(ended.out.splitlines(keepends=True)[:-1])


def test_evaluate_of_the_ratings_themselves(
    auditeval: Command, table: Path, perfect: Path, tmp_path: Path
) -> None:
    ended = auditeval("evaluate", perfect, "--against", table, "-o", tmp_path, "--resamples", 9)
    assert ended.code == 0
    for row in json.loads((tmp_path / "agreement.json").read_text())["rows"]:
        assert (row["rated"], row["missing"]) == (60, 1)
        for level in ("utterance", "system"):
            assert row[level]["MSE"]["value"] == pytest.approx(0, abs=1e-12)
            for name in ("LCC", "SRCC", "KTAU"):
                assert row[level][name]["value"] == pytest.approx(1)
    assert "59/60" in ended.out
    # The table may break its caption over lines.
    assert "left out: quality, perfect 1; relevance, perfect 1;" in " ".join(ended.out.split())


def test_evaluate_two_prints_the_paired_line(
    auditeval: Command, table: Path, perfect: Path, scores: Path
) -> None:
    ended = auditeval("evaluate", perfect, scores, "--against", table, "--resamples", 50)
    assert ended.code == 0
    lines = [line for line in ended.out.splitlines() if "minus" in line]
    assert len(lines) == len(AXES)
    for axis, line in zip(AXES, lines, strict=True):
        found = re.fullmatch(
            rf"{axis}: SRCC of perfect minus scores: system (-?\d\.\d+) \[.+\], "
            r"utterance (\d\.\d+) \[.+\], on 59 pairs",
            line,
        )
        assert found, line
        assert float(found[2]) > 0.3


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("id,quality,relevance,faithfulness,status,reason\nother,1,2,3,ok,\n", "for none of the"),
        ("a,b\n1,2\n", "lacks id"),
    ],
)
def test_evaluate_refuses(
    auditeval: Command, table: Path, tmp_path: Path, rows: str, said: str
) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(rows)
    assert said in refused(auditeval("evaluate", path, "--against", table))


def test_evaluate_refuses_unrated_pairs(
    auditeval: Command, simulated: list[EditPair], scores: Path, tmp_path: Path
) -> None:
    bare = [pair.model_copy(update={"ratings": {}, "raters": {}}) for pair in simulated]
    manifest.write(bare, tmp_path / "bare.jsonl")
    said = refused(auditeval("evaluate", scores, "--against", tmp_path / "bare.jsonl"))
    assert "no pair has ratings" in said


def test_import_p835(auditeval: Command, shared_data: Path, tmp_path: Path) -> None:
    output = tmp_path / "p835.jsonl"
    ended = auditeval("import", "p835", shared_data / "p835", "-o", output)
    assert ended.code == 0
    assert ended.out == f"{output}: 104 pairs, 104 with ratings\n"
    pairs = {pair.edited.resolve(): pair for pair in manifest.read(output)}
    assert len(pairs) == 104
    with (shared_data / "p835" / "labels.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            pair = pairs[(shared_data / "p835" / row["edited"]).resolve()]
            assert pair.original.samefile(shared_data / "p835" / row["original"])
            assert pair.ratings == {
                "quality": float(row["mos_ovrl"]),
                "faithfulness": float(row["mos_sig"]),
            }
            assert (pair.talker, pair.system) == (row["talker"], row["condition"])


def test_the_help_of_import_has_each_layout_whole(auditeval: Command) -> None:
    """Of 80 columns the one of types, which has them too, cuts them in the middle."""
    shown = auditeval("import", "--help").out
    layouts = ("mushra-codecs", "webmushra", "pick-the-best-voice", "omni-results", "auditscore")
    folder = shown[shown.index("holds:") :]
    assert all(re.search(rf" {layout}[,. ]", folder) for layout in layouts)


def test_import_refuses(auditeval: Command, tmp_path: Path) -> None:
    assert "no such file or folder" in refused(
        auditeval("import", "p835", tmp_path / "absent", "-o", tmp_path / "x.jsonl")
    )
    assert "labels.csv" in refused(
        auditeval("import", "p835", tmp_path, "-o", tmp_path / "x.jsonl")
    )


def test_a_seed_is_never_below_0(auditeval: Command) -> None:
    """numpy refuses it, with a traceback."""

    def seeded(command: Any, *names: str) -> Iterator[tuple[str, ...]]:
        for name, found in getattr(command, "commands", {}).items():
            yield from seeded(found, *names, name)
        if any("--seed" in parameter.opts for parameter in command.params):
            yield names

    commands = list(seeded(get_command(app)))
    assert len(commands) >= 9
    for names in commands:
        ended = auditeval(*names, "--seed", -1)
        assert ended.code == 2, names
        assert "--seed" in ended.err, names
