"""Systems through a benchmark of others, as one report: what `auditeval bench` does, in Python."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from auditeval import storage
from auditeval.atomic import write_text
from auditeval.backends.backend import JUDGES
from auditeval.backends.load import Backends, read
from auditeval.benchmarks.benchmark import (
    Benchmark,
    BenchmarkTable,
    HasResultFiles,
    Record,
    is_unscored,
)
from auditeval.benchmarks.judge_table import judge_table
from auditeval.benchmarks.opening import AnyPath, Asked, Name, open_benchmark, several
from auditeval.benchmarks.run import run
from auditeval.benchmarks.selection import Selection
from auditeval.benchmarks.systems import BASELINES, System
from auditeval.judges.answers import AnswerLog
from auditeval.judges.cached import CachedJudge
from auditeval.judges.check import check
from auditeval.judges.patience import is_live
from auditeval.judges.place import JudgeAt
from auditeval.outputs import writing
from auditeval.report import benchmarks as reports
from auditeval.seed import SEED
from auditeval.text import to_json
from auditeval.types import Undefined, UserError, whole

Watch = Callable[[str, int, int], None]


@dataclass(frozen=True)
class BenchmarkReport:
    """`tables` in the paper's layout; `records` of each system, a `benchmark.Record` a sample;
    `judges`: name -> what was asked of it in this run."""

    tables: list[BenchmarkTable]
    records: dict[str, list[Record]]
    judges: dict[str, str]

    def count(self, status: str) -> dict[str, int]:
        """How many records of each system have that status: "ok", "failed", or "unscored", which
        is also one that only a further protocol leaves open."""
        return {
            name: sum(
                is_unscored(record) if status == "unscored" else record["status"] == status
                for record in records
            )
            for name, records in self.records.items()
        }

    @property
    def silent(self) -> list[str]:
        """Systems of which nothing was scored."""
        return [
            name
            for name, records in self.records.items()
            if all(record["status"] == "unscored" for record in records)
        ]


def bench(
    benchmark: Name,
    samples: AnyPath | Sequence[AnyPath],
    systems: Mapping[str, AnyPath],
    output: AnyPath,
    *,
    baselines: bool = False,
    tasks: str | Sequence[str] = (),
    limit: int | None = None,
    max_seconds: float | None = None,
    backends: str | Path = "offline",
    judge: AnyPath | JudgeAt | None = None,
    protocol: str | None = None,
    checkpoints: AnyPath | Sequence[AnyPath] = (),
    original: Literal["halves", "positive"] = "halves",
    seed: int = SEED,
    workers: int = 2,
    device: str = "auto",
    cache_dir: AnyPath | None = None,
    watch: Watch = lambda system, done, total: None,
) -> BenchmarkReport:
    """Evaluate `systems` (name -> its outputs; in SALMon its table of likelihoods) on a benchmark.

    `samples` is the folder or file of the benchmark, as `auditeval bench BENCHMARK --help` says (of
    SwanBench-Speech several files of scripts, too); the tables go to `output`, records of each
    system to `output`/<system>/records.jsonl, from where the same call goes on after a kill.
    `baselines` are identity, noise and constant, where there are. Of a subset are `tasks` (of
    SALMon its parts, of MMAE groups of complexity or modality, of SwanBench languages), the first
    `limit` samples of each, and sources of at most `max_seconds`. `backends` is "offline", a
    benchmark's own by its name, or a YAML file; `judge` recorded answers (.jsonl), an audio
    language model, or a `JudgeAt`, which an endpoint needs. One that takes time or money is first
    asked what is known, and a warning logged if it guesses. `protocol` says whose rules make the
    verdicts (`protocols.PROTOCOLS`; None for the most comparable). `checkpoints`, `original` and
    `device` are for SALMon: evaluators, what they compare a clip with, and where they compute; of
    other models the file of `backends` says where. `watch` is told of each system how many samples
    are done, of how many. Where several are taken (`samples`, `tasks`, `checkpoints`) one will do.

    Raises UserError for what is no such benchmark, system, backend or output.
    """
    if checkpoints and benchmark != "salmon":
        raise UserError(f"checkpoints are scorers of SALMon, {benchmark} takes outputs of systems")
    if original != "halves" and not checkpoints:
        raise UserError("original is what an evaluator compares with: name a checkpoint of one")
    if device != "auto" and not checkpoints:
        raise UserError("device is where an evaluator computes: name a checkpoint of one")
    whole("workers", workers, 0)
    folder = Path(output)
    judged = _judge_at(judge)
    models = make_backends(backends, judged, cache_dir, folder / "answers.jsonl")
    selection = Selection(tuple(several(tasks)), limit, max_seconds)
    asked = Asked.of(
        *(samples, models, systems),
        selection=selection,
        seed=seed,
        protocol=protocol,
        baselines=baselines,
    )
    opened, contestants = open_benchmark(benchmark, asked)
    if checkpoints:
        from auditeval import scoring  # with it comes torch
        from auditeval.benchmarks.salmon.scorers import EvaluatorScorer

        loaded = [scoring.load(place, device, cache_dir) for place in several(checkpoints)]
        contestants += [EvaluatorScorer(evaluator, original) for evaluator in loaded]
    if baselines:
        contestants += _baselines(opened)
    names = [system.name for system in contestants]
    if not names:
        raise UserError("nothing to evaluate: name a --system, or ask for --baselines")
    if len(set(names)) < len(names):
        raise UserError(f"two systems have one name ({', '.join(names)})")
    files = [f"{opened.name}{suffix}" for suffix in (".json", ".md", "_radar.png")]
    inputs = [Path(path) for path in (*several(samples), *systems.values())]
    with writing(folder, f"auditeval bench {opened.name}", files, inputs):
        settings = opened.settings  # by which its judges are made
        for one in models.judges if judged.check else ():
            if one.is_live:
                check(one)
        records = {
            system.name: run(
                opened,
                system,
                folder / system.name,
                workers,
                lambda done, total, name=system.name: watch(name, done, total),  # type: ignore[misc]
                models.stop_judges,
            )
            for system in contestants
        }
        tables = opened.tables(records)
        if models.judges:
            tables.append(judge_table(opened.name, models.judges))
        try:
            reports.write(tables, {"benchmark": opened.name, **settings}, folder, opened.name)
            if isinstance(opened, HasResultFiles):
                for name, found in records.items():
                    for path, result in opened.result_files(name, found).items():
                        write_text(folder / name / path, to_json(result) + "\n")
        except OSError as error:
            raise UserError(f"{folder}: cannot be written ({error.strerror})") from None
    # Beyond what a judge had answered before.
    return BenchmarkReport(
        tables, records, {judge.name: str(judge.spent) for judge in models.judges}
    )


def make_backends(
    backends: str | Path = "offline",
    judge: AnyPath | JudgeAt | None = None,
    cache_dir: AnyPath | None = None,
    record: Path | None = None,
) -> Backends:
    """The models of `bench`. Its judges stand behind a cache, and share the record of answers."""
    nodes = read(backends)
    node = _judge_at(judge).node()
    if node is not None:
        nodes |= dict.fromkeys(JUDGES, node)
    folder = storage.path(cache_dir or storage.cache_dir()) / "benchmarks"
    # Not before a judge is made: then this process is the one that writes it.
    log = lru_cache(lambda: None if record is None else AnswerLog(record))

    def kept(made: Any) -> CachedJudge:
        return CachedJudge(made, folder / "judges" if is_live(made) else None, log())

    return Backends(nodes, folder, kept)


def _judge_at(judge: AnyPath | JudgeAt | None) -> JudgeAt:
    if isinstance(judge, JudgeAt):
        return judge
    return JudgeAt(None if judge is None else os.fspath(judge))


def _baselines(benchmark: Benchmark) -> list[System]:
    if benchmark.name == "salmon":
        from auditeval.benchmarks.salmon.scorers import ConstantScorer, NoiseScorer

        return [ConstantScorer(), NoiseScorer()]
    # Without a source there is nothing to return as it was.
    sources = any(
        not isinstance(benchmark.source(sample), Undefined) for sample in benchmark.samples
    )
    return [kind(benchmark) for name, kind in BASELINES.items() if sources or name == "noise"]
