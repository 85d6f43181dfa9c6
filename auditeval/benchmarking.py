"""Systems through a benchmark of others, as one report: what `auditeval bench` does, in Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from auditeval.backends.backend import JUDGES
from auditeval.backends.load import Backends, read
from auditeval.benchmarks.benchmark import Benchmark, BenchmarkTable, Record
from auditeval.benchmarks.run import run
from auditeval.benchmarks.systems import BASELINES, OutputFolder, System, find_outputs
from auditeval.features.store import default_cache_dir
from auditeval.judges.cached import CachedJudge
from auditeval.outputs import writing
from auditeval.report import benchmarks as reports
from auditeval.seed import SEED
from auditeval.types import Undefined, UserError

Name = Literal["speecheditbench", "swanbench", "salmon", "mmae"]
AnyPath = str | PathLike[str]
Watch = Callable[[str, int, int], None]


@dataclass(frozen=True)
class BenchmarkReport:
    """`tables` in the paper's layout; `records` of each system, a `benchmark.Record` a sample;
    `judges`: name -> what was asked of it in this run."""

    tables: list[BenchmarkTable]
    records: dict[str, list[Record]]
    judges: dict[str, str]

    def count(self, status: str) -> dict[str, int]:
        """How many records of each system have that status ("ok", "failed", "unscored")."""
        return {
            name: sum(record["status"] == status for record in records)
            for name, records in self.records.items()
        }

    @property
    def silent(self) -> list[str]:
        """Systems of which nothing was scored."""
        unscored = self.count("unscored")
        return [name for name, records in self.records.items() if len(records) == unscored[name]]


def bench(
    benchmark: Name,
    samples: AnyPath,
    systems: Mapping[str, AnyPath],
    output: AnyPath,
    *,
    baselines: bool = False,
    backends: str | Path = "offline",
    judge: str | None = None,
    judge_model: str | None = None,
    checkpoints: Sequence[AnyPath] = (),
    original: Literal["halves", "positive"] = "halves",
    seed: int = SEED,
    workers: int = 2,
    device: str = "auto",
    cache_dir: AnyPath | None = None,
    watch: Watch = lambda system, done, total: None,
) -> BenchmarkReport:
    """Evaluate `systems` (name -> its outputs; in SALMon its table of likelihoods) on a benchmark.

    `samples` is the folder or file of the benchmark, as `auditeval bench BENCHMARK --help` says;
    the tables go to `output`, records of each system to `output`/<system>/records.jsonl, from where
    the same call goes on after a kill. `baselines` are identity, noise and constant, where there
    are. `backends` is "offline", a benchmark's own by its name, or a YAML file; `judge` recorded
    answers (.jsonl), the URL of an OpenAI-compatible endpoint, which needs `judge_model`, or an
    audio language model. `checkpoints` and `original` are for SALMon: evaluators, and what they
    compare a clip with. `watch` is told of each system how many samples are done, of how many.

    Raises UserError for what is no such benchmark, system, backend or output.
    """
    if checkpoints and benchmark != "salmon":
        raise UserError(f"checkpoints are scorers of SALMon, {benchmark} takes outputs of systems")
    folder = Path(output)
    models = make_backends(backends, judge, judge_model, cache_dir, folder / "answers.jsonl")
    opened, contestants = open_benchmark(benchmark, samples, systems, models, seed)
    if checkpoints:
        from auditeval import scoring  # with it comes torch
        from auditeval.benchmarks.salmon.scorers import EvaluatorScorer

        loaded = [scoring.load(place, device, cache_dir) for place in checkpoints]
        contestants += [EvaluatorScorer(evaluator, original) for evaluator in loaded]
    if baselines:
        contestants += _baselines(opened)
    names = [system.name for system in contestants]
    if not names:
        raise UserError("nothing to evaluate: name a --system, or ask for --baselines")
    if len(set(names)) < len(names):
        raise UserError(f"two systems have one name ({', '.join(names)})")
    files = [f"{opened.name}{suffix}" for suffix in (".json", ".md", "_radar.png")]
    with writing(folder, f"auditeval bench {opened.name}", files):
        records = {
            system.name: run(
                opened,
                system,
                folder / system.name,
                workers,
                lambda done, total, name=system.name: watch(name, done, total),  # type: ignore[misc]
            )
            for system in contestants
        }
        tables = opened.tables(records)
        try:
            reports.write(
                tables, {"benchmark": opened.name, **opened.settings}, folder, opened.name
            )
        except OSError as error:
            raise UserError(f"{folder}: cannot be written ({error.strerror})") from None
    # Beyond what a judge had answered before.
    return BenchmarkReport(
        tables, records, {judge.name: str(judge.spent) for judge in models.judges}
    )


Opened = tuple[Benchmark, list[System]]


def open_benchmark(
    benchmark: Name,
    samples: AnyPath,
    systems: Mapping[str, AnyPath],
    models: Backends,
    seed: int = SEED,
) -> Opened:
    """A benchmark by its name on the samples and systems of `bench`, with `models` by role.

    Raises UserError for what is no such benchmark, sample or output.
    """
    if benchmark not in _OPEN:
        raise UserError(f"no benchmark is called {benchmark!r}; known: {', '.join(_OPEN)}")
    places = {name: Path(path) for name, path in systems.items()}
    return _OPEN[benchmark](Path(samples), places, models, seed)


def make_backends(
    backends: str | Path = "offline",
    judge: str | None = None,
    judge_model: str | None = None,
    cache_dir: AnyPath | None = None,
    record: Path | None = None,
) -> Backends:
    """The models of `bench`. Its judges stand behind a cache, and are recorded in `record`."""
    nodes = read(backends)
    if judge is not None:
        nodes |= dict.fromkeys(JUDGES, _judge(judge, judge_model))
    elif judge_model is not None:
        raise UserError("--judge-model goes with a --judge that is an endpoint")
    folder = Path(cache_dir or default_cache_dir()) / "benchmarks"
    return Backends(nodes, folder, lambda judge: CachedJudge(judge, folder / "judges", record))


def _speecheditbench(samples: Path, places: Mapping[str, Path], models: Backends, _: int) -> Opened:
    from auditeval.benchmarks.speecheditbench.benchmark import SpeechEditBench

    benchmark = SpeechEditBench(samples, models)
    return benchmark, _outputs(benchmark, places)


def _mmae(samples: Path, places: Mapping[str, Path], models: Backends, seed: int) -> Opened:
    from auditeval.benchmarks.mmae.benchmark import MMAE
    from auditeval.benchmarks.mmae.outputs import find

    benchmark = MMAE(samples, models, seed)
    return benchmark, _outputs(benchmark, places, find)


def _swanbench(samples: Path, places: Mapping[str, Path], models: Backends, _: int) -> Opened:
    from auditeval.benchmarks.swanbench.benchmark import SwanBench
    from auditeval.benchmarks.swanbench.samples import read_timings

    files = {name: folder / "timings.jsonl" for name, folder in places.items()}
    timings = {name: read_timings(file) for name, file in files.items() if file.exists()}
    benchmark = SwanBench(samples, models, timings)
    return benchmark, _outputs(benchmark, places)


def _salmon(samples: Path, places: Mapping[str, Path], _: Backends, __: int) -> Opened:
    from auditeval.benchmarks.salmon.benchmark import Salmon
    from auditeval.benchmarks.salmon.scorers import read_likelihoods

    benchmark = Salmon(samples)
    tables: list[System] = []
    for name, path in places.items():
        table = read_likelihoods(path, benchmark.samples)
        table.name = name
        tables.append(table)
    return benchmark, tables


_OPEN: Mapping[str, Callable[[Path, Mapping[str, Path], Backends, int], Opened]] = {
    "speecheditbench": _speecheditbench,
    "swanbench": _swanbench,
    "salmon": _salmon,
    "mmae": _mmae,
}


def _outputs(
    benchmark: Benchmark,
    places: Mapping[str, Path],
    find: Callable[[Path, Sequence[str]], Mapping[str, Path]] = find_outputs,
) -> list[System]:
    ids = [sample.id for sample in benchmark.samples]
    return [OutputFolder(name, find(place, ids)) for name, place in places.items()]


def _baselines(benchmark: Benchmark) -> list[System]:
    if benchmark.name == "salmon":
        from auditeval.benchmarks.salmon.scorers import ConstantScorer, NoiseScorer

        return [ConstantScorer(), NoiseScorer()]
    # Without a source there is nothing to return as it was.
    sources = any(
        not isinstance(benchmark.source(sample), Undefined) for sample in benchmark.samples
    )
    return [kind(benchmark) for name, kind in BASELINES.items() if sources or name == "noise"]


def _judge(where: str, model: str | None) -> dict[str, Any]:
    if where.startswith(("http://", "https://")):
        if model is None:
            raise UserError("--judge is an endpoint: name its model by --judge-model")
        return {"_target_": "auditeval.judges.http.HTTPJudge", "base_url": where, "model": model}
    if model is not None:
        raise UserError("--judge-model goes with a --judge that is an endpoint")
    if where.endswith(".jsonl"):
        return {"_target_": "auditeval.judges.replay.ReplayJudge", "path": where}
    return {"_target_": "auditeval.judges.local.LocalJudge", "checkpoint": where}
