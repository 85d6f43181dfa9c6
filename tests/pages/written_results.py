"""What commands write, in miniature: six results that a page is made of, and hostile words."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from commands import row_of, write_rows
from listening_tests import RaterClient, session
from mmae_files import IF, OUTPUT, RATE_HZ, ToldJudge, entry, rubric
from mmae_files import write as write_mmae

from auditeval import scores_table
from auditeval.audio import files
from auditeval.audio.waveform import quantised
from auditeval.backends.load import Backends
from auditeval.benchmarks.mmae.benchmark import MMAE
from auditeval.benchmarks.run import run
from auditeval.benchmarks.systems import Identity, OutputFolder, find_outputs
from auditeval.filtering.run import filtered
from auditeval.listening import server
from auditeval.outputs import writing
from auditeval.report import agreement, agreement_files, benchmarks, selection
from auditeval.types import AXES, EditPair, Scores

HOSTILE = (
    "<script>document.title='x'</script>\"'&{{7*7}} \u202e=1+1 <img src=x onerror=alert(1)> "
    + "W" * 99
)
SHOWN = HOSTILE.replace("\u202e", "\\u202e")
CLIP = 'a <b> "q" #%? \u202e\'.wav'
RECIPE = "stages:\n- {name: faithful, axis: faithfulness, keep_top: 2}\n"


def pairs(folder: Path, total: int = 6, hostile: bool = False) -> list[EditPair]:
    """Two seconds of noise each, rated, of two systems; the last one's edited clip is missing."""
    rng = np.random.default_rng(0)
    made = []
    for number in range(total):
        sides = {}
        for side in ("original", "edited"):
            path = folder / "clips" / f"{side}-{number}{CLIP if hostile else '.wav'}"
            sides[side] = path
            if number < total - 1 or side == "original":
                files.write(path, quantised(rng.uniform(-0.3, 0.3, 16000)), 8000)
        words = f"Rain, with a dog {HOSTILE if hostile else 'barking'}."
        made.append(
            EditPair(
                id=f"pair{number}{HOSTILE if hostile else ''}",
                original_caption="Rain.",
                target_caption=words,
                system=HOSTILE if hostile and number % 2 else f"sys{number % 2}",
                operation="add" if number < 4 else "delete",
                source=f"source{number}",
                ratings={axis: 1.0 + (number + place) % 5 for place, axis in enumerate(AXES)},
                **sides,
            )
        )
    return made


def scores_of(given: list[EditPair], shift: float = 0.3) -> list[Scores]:
    """Near the ratings, with intervals; the last but one is an error and has neither."""
    made = []
    for pair in given:
        values: dict[Any, float] = {a: round(min(5, r + shift), 2) for a, r in pair.ratings.items()}
        ends = {axis: (max(1.0, x - 1), min(5.0, x + 1)) for axis, x in values.items()}
        made.append(Scores(pair.id, **values, intervals=ends))
    reason = f"{given[-2].edited}: {HOSTILE}"
    made[-2] = replace(Scores(given[-2].id), status="error", reason=reason)
    return made


def written_scores(folder: Path, hostile: bool = False) -> tuple[Path, Path]:
    """A scores table and its manifest."""
    given = pairs(folder, hostile=hostile)
    scores_table.write(scores_of(given), folder / "scores.csv")
    return folder / "scores.csv", write_rows(folder / "pairs.jsonl", [row_of(p) for p in given])


def written_evaluation(folder: Path) -> Path:
    """The folder of `auditeval evaluate`, without its plot."""
    table, manifest = written_scores(folder)
    output = folder / "report"
    with writing(output, "auditeval evaluate", agreement_files.FILES, [table, manifest]):
        output.mkdir(exist_ok=True)
        (output / "agreement.json").write_text(_agreement(folder, "scores"))
    return output


def _agreement(folder: Path, name: str) -> str:
    given = pairs(folder)
    made = agreement.Predictions.from_scores(name, scores_of(given))
    report = agreement.make_report(given, [made], f"a panel {HOSTILE}", resamples=10)
    return json.dumps(agreement_files.to_json(report))


def written_run(folder: Path) -> Path:
    """What `train.py` leaves of a run that was interrupted once, without its models."""
    table, manifest = written_scores(folder)
    (folder / "config.yaml").write_text("name: heads\ncompare: []\n")
    (folder / "report").mkdir()
    (folder / "report" / "agreement.json").write_text(_agreement(folder, "heads"))
    (folder / "heads").mkdir()
    table.rename(folder / "heads" / "scores.csv")
    manifest.rename(folder / "held_out.jsonl")
    fold = folder / "heads" / "holdout"
    fold.mkdir()
    names = "epoch,step,train/lr/quality,train/mse/quality,val/mse/quality\n"
    (fold / "metrics-1.csv").write_text(f"{names}0,0,0.1,,\n0,1,,4.0,5.0\n1,2,,3.0,\n")
    (fold / "metrics.csv").write_text(f"{names}1,2,0.1,2.0,3.0\n2,3,,1.0,nan\n")
    return folder


def written_filter(folder: Path) -> Path:
    """KEPT of `auditeval filter`, and what lies beside it, without its plot."""
    table, manifest = written_scores(folder)
    recipe = folder / "recipe.yaml"
    recipe.write_text(RECIPE)
    output = folder / "kept" / "kept.jsonl"
    with filtered(manifest, table, recipe, output) as made:
        record = json.dumps(selection.to_json(made))
        made.drafts.record.write_text(record)
        made.drafts.markdown.write_text("")
        made.drafts.plot.write_bytes(b"")
    return output


def written_benchmark(folder: Path) -> Path:
    """A report of MMAE: a system that misses one sample, the identity, a judge of hostile words."""
    entries = [entry(f"edit_{name}", [rubric(IF, f"{name}1? {HOSTILE}")]) for name in "abcd"]
    meta = write_mmae(folder, entries)
    for name in "abc":
        samples = quantised(0.5 * OUTPUT.samples)
        files.write(folder / "outputs" / "audio" / f"edit_{name}.wav", samples, RATE_HZ)
    benchmark = MMAE(meta, Backends({"judge": ToldJudge({"a1": "www", "b1": "rrr"})}))
    found = find_outputs(folder / "outputs", [sample.id for sample in benchmark.samples])
    systems = [OutputFolder("mine", found), Identity(benchmark)]
    output = folder / "bench"
    names = ["mmae.json", "mmae.md"]
    with writing(output, "auditeval bench mmae", names, [meta, folder / "outputs"]):
        records = {one.name: run(benchmark, one, output / one.name, workers=0) for one in systems}
        benchmarks.write(benchmark.tables(records), {"benchmark": "mmae"}, output, "mmae")
    return output


def written_votes(folder: Path) -> Path:
    """The votes of two raters on five pairs, with a hostile comment."""
    given = pairs(folder)[:-1]
    test = session(folder, given, title=f"Barks {HOSTILE}")
    clock = count(time.time(), 10)  # nobody waits for clips to end
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "time", SimpleNamespace(time=lambda: next(clock)))
        for rater in range(2):
            client = RaterClient(test, rater).consent()
            for number in range(len(given)):
                comment = {"comment": HOSTILE} if number == 0 else {}
                client.vote(client.listen(), str(1 + (number + rater) % 5), **comment)
    test.database.close()
    return folder / "votes.db"
