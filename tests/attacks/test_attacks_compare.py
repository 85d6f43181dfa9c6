"""Run folders whose reports are not what train.py wrote: `compare` says so in one sentence."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import content
from outcomes import refused, same

from auditeval.report import agreement, agreement_files, contrasts
from auditeval.types import EditPair

PAIRS = [
    EditPair(
        id=str(n),
        original="a.wav",
        edited="b.wav",
        original_caption="a",
        target_caption="b",
        ratings={"quality": 1.0 + n % 4},
    )
    for n in range(8)
]


def make_run(folder: Path) -> Path:
    """What `compare` reads of a run of train.py: two reports, the names of its models."""
    report = folder / "report"
    report.mkdir(parents=True)
    (folder / "config.yaml").write_text("name: mine\ncompare: {}\n")
    values = {pair.id: {"quality": 1.0 + int(pair.id) % 3} for pair in PAIRS}
    made = agreement.make_report(PAIRS, [agreement.Predictions("mine", values)], "x", 0)  # type: ignore[arg-type]
    agreement_files.write(made._replace(points={}), report)
    trials = {f"{n}": {"right": 3.0, "hiss": float(n)} for n in range(4)}
    found = contrasts.of_scores("x", "quality", {"mine": trials})
    contrasts.write(found._replace(set_sha256="0"), report)
    return folder


def changed(kind: str, *keys: Any, to: Any) -> Callable[[Path], object]:
    """A value of a report is another."""

    def change(run: Path) -> None:
        path = run / "report" / f"{kind}.json"
        report = place = json.loads(path.read_bytes())
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = to
        path.write_text(json.dumps(report))

    return change


def instead(kind: str, data: bytes) -> Callable[[Path], object]:
    return lambda run: content(run / "report" / f"{kind}.json", data)


def a_pipe(run: Path) -> None:
    (run / "report" / "agreement.json").unlink()
    os.mkfifo(run / "report" / "agreement.json")


ROW = ("agreement", "rows", 0)
REPORTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut off": (instead("agreement", b"{"), r"agreement\.json: is not JSON"),
    "empty": (instead("agreement", b""), r"agreement\.json: is not JSON"),
    "a list": (instead("agreement", b"[]"), r"agreement\.json: "),
    "null": (instead("agreement", b"null"), r"agreement\.json: "),
    "no rows": (instead("agreement", b"{}"), r"agreement\.json: rows: is missing"),
    "100,000 deep": (instead("agreement", b"[" * 100_000), r"agreement\.json: .*deeper"),
    "no UTF-8": (instead("agreement", b'{"rows": "\xff"}'), r"agreement\.json: is not JSON"),
    "a key twice": (instead("agreement", b'{"rows": [], "rows": []}'), "'rows' stands twice"),
    "a pipe": (a_pipe, "has no report yet|no regular file"),
    "rows that are no list": (changed("agreement", "rows", to=3), "rows: input should be a valid"),
    "a row that is none": (changed(*ROW, to="x"), r"rows\.0: "),
    "an axis as number": (changed(*ROW, "axis", to=3), r"rows\.0\.axis: "),
    "an evaluator as list": (changed(*ROW, "evaluator", to=[]), r"rows\.0\.evaluator: "),
    "no level": (changed(*ROW, "system", to=None), r"rows\.0\.system: "),
    "a statistic as number": (changed(*ROW, "utterance", "SRCC", to=1), r"rows\.0\.utterance"),
    "a value as text": (changed(*ROW, "utterance", "SRCC", "value", to="x"), r"\.SRCC\.value: "),
    "no number": (
        changed(*ROW, "utterance", "SRCC", "value", to=float("nan")),
        r"\.SRCC\.value: ",
    ),
    "a value as list": (changed(*ROW, "utterance", "SRCC", "value", to=[1]), r"\.SRCC\.value: "),
    "a ceiling as list": (changed("agreement", "rater_ceiling", to=[1]), "rater_ceiling: "),
    "contrasts cut off": (instead("contrasts", b"{"), r"contrasts\.json: is not JSON"),
    "contrasts without rows": (instead("contrasts", b"{}"), r"contrasts\.json: title: is missing"),
    "variants as list": (changed("contrasts", "rows", 0, "variants", to=[]), r"rows\.0\.variants"),
    "trials as list": (changed("contrasts", "scores", to=[]), "scores: "),
    "a trial's score as text": (
        changed("contrasts", "scores", "mine", "0", "hiss", to="x"),
        r"scores\.mine\.0\.hiss: ",
    ),
    "choices cut off": (instead("within", b"{"), r"within\.json: is not JSON"),
    "choices without rows": (instead("within", b"{}"), r"within\.json: rows: is missing"),
    "an unknown axis": (changed("contrasts", "axis", to="loudness"), "axis: "),
    "a model that is no word": (
        lambda run: (run / "config.yaml").write_text("name: 3\ncompare: {}\n"),
        "names a model that is no word",
    ),
    "no models": (lambda run: (run / "config.yaml").write_text("compare: {}\n"), "is no run"),
    "models as a number": (
        lambda run: (run / "config.yaml").write_text("name: x\ncompare: 3\n"),
        "is no run folder",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("damage", "said"), REPORTS.values(), ids=REPORTS)
@pytest.mark.parametrize("options", [(), ("--pool",)], ids=["compared", "pooled"])
def test_a_report_of_others_is_one_sentence(
    cli: Any, tmp_path: Path, options: tuple[str, ...], damage: Any, said: str
) -> None:
    run = make_run(tmp_path / "run")
    damage(run)
    refused(cli("compare", run, *options), said)


def test_the_reports_of_train_py_are_read(cli: Any, tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    for options in ((), ("--pool",)):
        same(cli("compare", run, *options).status, 0, "status")
