"""Names that are markup, formulas, escape sequences or no UTF-8: shown as they are, and as text."""

from __future__ import annotations

import csv
import io
import json
import logging
import os
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import yaml
from commands import Ended, row_of, write_rows
from hostile_names import NAMES
from markdown_it import MarkdownIt
from outcomes import Traceback, WrongResult, refused, same

from auditeval import manifest, scores_table, text
from auditeval.benchmarks.benchmark import BenchmarkTable
from auditeval.cli import main
from auditeval.data_quality.catalogue import DataMetric, Measured
from auditeval.data_quality.measure import DataQuality, Row
from auditeval.report import agreement, agreement_files, benchmarks, contrasts, data_quality
from auditeval.report.render import show
from auditeval.table import Column
from auditeval.types import AXES, EditPair, Scores

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
TAGS = set("h1 h2 h3 p table thead tbody tr th td ul li strong br".split())  # noqa: SIM905
# Before Python 3.11 its CSV holds no NUL.
ALL = [name for name in NAMES.values() if "\0" not in name or sys.version_info >= (3, 11)]
FOLDERS = {
    "markup": "run[red]best [bold]",
    "mathtext": "$x^{2$",
    "a newline": "a\nb",
    "an escape sequence": "\x1b[2J",
    "no UTF-8": os.fsdecode(b"\xff\xfe a"),
    "a pipe": "a|b <b>",
    "a glob": "[a-z]*?",
    "a dash": "-a",
    "a formula": "=1+1",
    "a direction": "\u202ecba",
}


def plain(said: str) -> str:
    """What was printed, which holds nothing but text and lines."""
    if odd := sorted({letter for letter in said if not (letter.isprintable() or letter == "\n")}):
        raise WrongResult(f"{odd} in {said!r}")
    return said


def answered(ended: Ended, status: int = 0) -> str:
    if "Traceback" in ended.err or ended.status != status:
        raise Traceback(f"{ended.status}: {ended.err}")
    return plain(ended.out + ended.err)


def rendered(markdown: str) -> str:
    """The text of a Markdown file as its reader sees it; it has tables, headings and lists only."""
    shown = MARKDOWN.render(plain(markdown))
    if tags := set(re.findall(r"</?([a-z0-9]+)", shown)) - TAGS:
        raise WrongResult(f"{tags} in {markdown}")
    shown = re.sub(r"<[^>]*>", "\n", shown)
    for entity, letter in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        shown = shown.replace(entity, letter)
    return shown


# --- each name, each way out -------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_in_a_terminal(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console
    from rich.table import Table as RichTable

    table = RichTable(title=text.cell(name), caption=text.cell(name))
    table.add_column(text.cell(name), no_wrap=True)
    table.add_row(text.label(name))
    Console(width=200_000).print(table)
    text.say(name)
    shown = plain(capsys.readouterr().out)
    assert shown.count(text.visible(name)) >= (4 if len(name) < 100 else 1)
    assert text.shortened(name, 100) in shown


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_in_markdown(name: str) -> None:
    escaped = text.markdown(name)
    table = f"| {escaped} | x |\n|---|--:|\n| {escaped} | 1 |\n| y | {escaped} |"
    shown = rendered(f"# {escaped}\n\n{table}\n\n{escaped}\n\n- {escaped}\n- a {escaped} b")
    same(shown.count(text.visible(name).strip()) >= 7 or name == " ", True, "seven times the name")
    same(shown.count("\n1\n"), 1, "one table of two columns")


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_in_a_plot(name: str) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3, 2), dpi=50)
    panel = figure.subplots()
    shown = text.plot(name)
    line = panel.plot([0, 1], label=shown)[0]
    panel.set(title=shown, xlabel=shown)
    panel.set_xticks([0, 1], [shown, "b"])
    panel.annotate(shown, (0, 0))
    drawn = panel.legend().get_texts()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a glyph that the font lacks
        figure.canvas.draw()
    same(len(drawn), 1, "names in the legend")
    assert line.get_label() == shown
    assert not panel.title._preprocess_math(shown)[1], "is set as a formula"  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_in_a_spreadsheet(name: str) -> None:
    file = io.StringIO()
    csv.writer(file).writerow([text.spreadsheet(name)])
    ((cell,),) = csv.reader(io.StringIO(file.getvalue()))
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    same(cell.removeprefix("'"), text.visible(name), "the cell")
    plain(cell)


@pytest.mark.parametrize("suffix", scores_table.SUFFIXES)
def test_in_data_they_are_unchanged(suffix: str, good: list[EditPair], tmp_path: Path) -> None:
    pairs = [
        good[0].model_copy(update={"id": name, "system": name, "original_caption": name})
        for name in ALL
    ]
    manifest.write(pairs, tmp_path / f"m{suffix}")
    found = list(manifest.iterate(tmp_path / f"m{suffix}"))
    same([(p.id, p.system, p.original_caption) for p in found], [(n, n, n) for n in ALL], "pairs")
    rows = [Scores(name, status="error", reason=name) for name in ALL]
    scores_table.write(rows, tmp_path / f"s{suffix}")
    same(list(scores_table.read(tmp_path / f"s{suffix}")), rows, "rows")


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_in_a_log_and_an_error(
    name: str, cli: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if "\0" not in name:  # no argument can hold it
        ended = cli("score", f"{name}.jsonl", "-o", "x.csv")
        if not name.startswith("-"):
            refused(ended, re.escape(text.visible(str(Path(f"{name}.jsonl")))))
        plain(ended.err)
    record = logging.LogRecord("x", logging.WARNING, "", 0, "%s: left out", (name,), None)
    same(text.OneLine().format(record), f"{text.visible(name)}: left out", "the line")


# --- all names at once through the commands ----------------------------------------------------


@pytest.fixture(scope="module")
def crowd(good: list[EditPair], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a pair of each name, its scores, and a recipe."""
    folder = tmp_path_factory.mktemp("crowd")
    rows = [
        row_of(
            good[number % 3],
            id=name,
            system=name,
            operation=name,
            talker=name,
            original_caption=name if name.strip() else "a",
            ratings=dict.fromkeys(AXES, 1 + number % 5),
            raters={},
        )
        for number, name in enumerate(ALL)
    ]
    write_rows(folder / "pairs.jsonl", rows)
    scores = [Scores(name, *(1 + (3 * n + k) % 5 for k in range(3))) for n, name in
              enumerate(ALL)]  # fmt: skip
    scores_table.write(scores, folder / "scores.csv")
    stages = [{"name": f"{name} {n}", "axis": "quality", "at_least": 1}
              for n, name in enumerate(ALL[:12])]  # fmt: skip
    (folder / "recipe.yaml").write_text(json.dumps({"stages": stages}))
    return folder


def in_text(shown: str, names: Any = ALL) -> None:
    """Every name that is no space, as it is printed in a table."""
    flat = " ".join(shown.split())
    for name in names:
        wanted = " ".join(text.shortened(name, 100).split())
        if wanted not in flat:
            raise WrongResult(f"{name!r} is not shown as {wanted!r}")


def in_markdown(path: Path, names: Any = ALL) -> None:
    flat = " ".join(rendered(path.read_text("utf-8")).split())
    for name in names:
        wanted = " ".join(text.visible(name).split())
        if wanted not in flat:
            raise WrongResult(f"{name!r} is not shown as {wanted!r}")


def test_evaluate(cli: Any, crowd: Path, attacks: Any, tmp_path: Path) -> None:
    attacks(len(NAMES))
    arguments = ("--against", crowd / "pairs.jsonl", "--by", "system", "--resamples", 0)
    ended = cli("evaluate", crowd / "scores.csv", *arguments, "-o", tmp_path / "r")
    answered(ended)
    in_markdown(tmp_path / "r" / "agreement.md")
    groups = json.loads((tmp_path / "r" / "agreement.json").read_bytes())["groups"]
    same(set(groups), set(ALL), "systems in the JSON")


def test_describe(cli: Any, crowd: Path, attacks: Any, tmp_path: Path) -> None:
    attacks(len(NAMES))
    in_text(
        answered(cli("describe", crowd / "pairs.jsonl", "-o", tmp_path / "r", "--resamples", 0))
    )
    in_markdown(tmp_path / "r" / "description.md")


def test_filter(cli: Any, crowd: Path, attacks: Any, tmp_path: Path) -> None:
    attacks(len(NAMES))
    files = (crowd / "pairs.jsonl", crowd / "scores.csv", "--recipe", crowd / "recipe.yaml")
    in_text(answered(cli("filter", *files, "-o", tmp_path / "kept.jsonl")))
    in_markdown(tmp_path / "kept.filter.md")
    same({pair.id for pair in manifest.iterate(tmp_path / "kept.jsonl")}, set(ALL), "")


def test_explain(
    cli: Any, crowd: Path, attacks: Any, spectrum_checkpoint: Path, tmp_path: Path
) -> None:
    chosen = [NAMES[name] for name in ("mathtext", "colours")]
    attacks(len(chosen))
    for number, name in enumerate(chosen):
        made = tmp_path / f"{number}"
        arguments = ("--id", name, "-o", made, "-c", spectrum_checkpoint)
        answered(cli("explain", crowd / "pairs.jsonl", *arguments))
        same(json.loads((made / "explanation.json").read_bytes())["id"], name, "the pair")


def test_score(
    cli: Any, crowd: Path, attacks: Any, spectrum_checkpoint: Path, tmp_path: Path
) -> None:
    attacks(len(NAMES))
    arguments = (
        "score",
        crowd / "pairs.jsonl",
        "-o",
        tmp_path / "s.csv",
        "-c",
        spectrum_checkpoint,
    )
    answered(cli(*arguments))
    same([row.id for row in scores_table.read(tmp_path / "s.csv")], ALL, "ids")


def test_tables_of_benchmarks(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, attacks: Any
) -> None:
    attacks(len(NAMES))
    columns = (Column("a", "higher"), Column(NAMES["mathtext"], "lower"), Column(NAMES["markup"]))
    rows = {name: {column.name: float(n) for column in columns} for n, name in enumerate(ALL)}
    more = {"radar": tuple(column.name for column in columns), "radar_range": (0, 9)}
    title, notes = NAMES["an end of markup"], (NAMES["colours"],)
    table = BenchmarkTable.of("t", title, columns, rows, notes, **more)
    show(table)
    in_text(plain(capsys.readouterr().out))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        benchmarks.write([table], {}, tmp_path, "t")
    in_markdown(tmp_path / "t.md")


def test_sets_and_contrasts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, attacks: Any
) -> None:
    attacks(2 * len(NAMES))
    metric = DataMetric(NAMES["markup"], "clap", True, None, None, lambda *_: None, max)  # type: ignore[arg-type]
    found = {name: Measured(len(name) / 3, (0.0, 9.0), 3) for name in ALL}
    rows = [Row(name, 3, {metric.name: found[name]}, {name: name}) for name in ALL]
    sets = DataQuality([metric], rows, {}, 0)
    show(data_quality.to_table(sets))
    in_text(plain(capsys.readouterr().out))
    data_quality.write(sets, tmp_path)
    in_markdown(tmp_path / "data_quality.md")
    scores = {key: {name: {"right": 2.0, name: 1.0} for name in ALL} for key in ALL}
    report = contrasts.of_scores(NAMES["mathtext"], "quality", scores)
    show(contrasts.to_table(report))
    in_text(plain(capsys.readouterr().out))
    contrasts.write(report, tmp_path)
    in_markdown(tmp_path / "contrasts.md")


def test_compare(cli: Any, attacks: Any, tmp_path: Path, good: list[EditPair]) -> None:
    """Run folders, models and tests of these names."""
    names = [name for name in NAMES.values() if not set(name) & set("/\0") and len(name) < 200]
    names = [name for name in names if name.strip(" .") and name != "-a"]
    attacks(len(names))
    pairs = [good[n % 3].model_copy(update={"id": f"{n}", "ratings": {"quality": 1.0 + n % 4}})
             for n in range(8)]  # fmt: skip
    values = {pair.id: {"quality": 2.0 + int(pair.id) % 3} for pair in pairs}
    for name in names:
        run = tmp_path / "runs" / name
        (run / "report").mkdir(parents=True)
        config = yaml.safe_dump({"name": name, "compare": {}}, default_style='"')
        (run / "config.yaml").write_text(config)
        report = agreement.make_report(pairs, [agreement.Predictions(name, values)], name, 0)
        agreement_files.write(report._replace(points={}), run / "report")
    runs = [tmp_path / "runs" / name for name in names]
    shown = answered(cli("compare", *runs, "--no-baselines", "-o", tmp_path / "t.md"))
    in_text(shown, [f"{name}/{name}" for name in names if len(name) < 40])
    in_markdown(tmp_path / "t.md", [f"{name}/{name}" for name in names])


# --- folders and arguments ---------------------------------------------------------------------


@pytest.mark.parametrize("name", FOLDERS.values(), ids=FOLDERS)
def test_a_folder_and_files_of_this_name(
    name: str,
    good: list[EditPair],
    cli: Any,
    spectrum_checkpoint: Path,
    tmp_path: Path,
    attacks: Any,
) -> None:
    attacks(4)
    folder = tmp_path / name
    folder.mkdir()
    rows = [row_of(p, ratings={"quality": 2.0 + n}, raters={}) for n, p in enumerate(good)]
    rows[0]["original"] = "none.wav"  # its reason names the folder
    pairs, scores = write_rows(folder / f"{name}.jsonl", rows), folder / f"{name}.csv"
    recipe = folder / f"{name}.yaml"
    recipe.write_text("stages:\n- {name: s, axis: quality, at_least: -99}\n")
    answered(cli("score", pairs, "-o", scores, "-c", spectrum_checkpoint), status=1)
    plain(next(scores_table.read(scores)).reason)
    arguments = ("--against", pairs, "-o", folder / "e", "--resamples", 0)
    shown = answered(cli("evaluate", scores, *arguments))
    assert f"report: {text.visible(str(folder))}" in shown
    in_markdown(folder / "e" / "agreement.md", [name])
    answered(cli("describe", pairs, "-o", folder / "d", "--resamples", 0), status=1)
    in_markdown(folder / "d" / "description.md", [name])
    answered(cli("filter", pairs, scores, "--recipe", recipe, "-o", folder / "kept.jsonl"))
    same(len(manifest.read(folder / "kept.jsonl")), 2, "pairs kept")


@pytest.mark.parametrize("side", ["original_caption", "target_caption"])
@pytest.mark.parametrize("command", ["score", "explain"])
def test_captions_that_are_no_utf_8(
    command: str, side: str, good: list[EditPair], cli: Any, tmp_path: Path
) -> None:
    captions = {"original_caption": "a", "target_caption": "b", side: os.fsdecode(b"rain \xff")}
    arguments = [f"--{key.replace('_', '-')}={value}" for key, value in captions.items()]
    clips = ("--original", good[0].original, "--edited", good[0].edited)
    output = ("-o", tmp_path / "why") if command == "explain" else ()
    refused(cli(command, *clips, *arguments, *output), f"{side}: input should be a valid string")


def test_a_pair_of_no_utf_8_is_written_nowhere(good: list[EditPair], tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"\xff.wav")
    for suffix in manifest.SUFFIXES:
        with pytest.raises(ValueError, match="not UTF-8"):
            manifest.write([good[0].model_copy(update={"original": odd})], tmp_path / f"m{suffix}")
        assert not (tmp_path / f"m{suffix}").exists()


@pytest.mark.parametrize("name", ["[/x]", "\x1b[2J", "a\nb", "\udcff", "$x", "\u202ea"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "--batch-size", "{}"),
        ("{}",),
        ("evaluate", "x.csv", "--against", "y.jsonl", "--split", "{}"),
        ("evaluate", "x.csv", "--against", "y.jsonl", "--checkpoint", "{}"),
        ("import", "{}", "x", "-o", "y.csv"),
        ("bench", "salmon", "x", "--scores", "{}=y.csv", "-o", "z"),
        ("bench", "{}",),
    ],
)  # fmt: skip
def test_an_argument(cli: Any, arguments: tuple[str, ...], name: str) -> None:
    answered(cli(*(argument.format(name) for argument in arguments)), status=2)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_a_terminal_of_another_encoding(
    encoding: str, crowd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding))
    monkeypatch.setattr(
        sys, "argv", ["auditeval", "describe", str(crowd / "pairs.jsonl"), "--no-audio"]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    sys.stdout.flush()
    assert not ended.value.code
    assert "±".encode(encoding, "backslashreplace") in written.getvalue()
