"""`auditeval bench`: systems through a benchmark of others, as one report."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from auditeval.cli import bench_make
from auditeval.cli.options import bars
from auditeval.text import say, shortened

if TYPE_CHECKING:
    from auditeval.backends.load import Backends
    from auditeval.benchmarks.benchmark import Benchmark
    from auditeval.benchmarks.systems import System

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Systems through SpeechEditBench, SwanBench-Speech, SALMon or MMAE, as one report.",
)

Systems = Annotated[
    list[str] | None,
    typer.Option("--system", "-s", help="NAME=FOLDER of its outputs; again for each system."),
]
Output = Annotated[
    Path, typer.Option("--output", "-o", help="Folder for records of each system and the report.")
]
Baselines = Annotated[
    bool, typer.Option("--baselines", help="Also identity, noise and constant, where there are.")
]
Config = Annotated[
    str, typer.Option("--backends", help="offline, a benchmark's own by its name, or a YAML file.")
]
JudgeAt = Annotated[
    str | None,
    typer.Option(
        "--judge",
        help="Who answers: recorded answers (.jsonl), the URL of an OpenAI-compatible endpoint, or "
        "the folder or hub id of an audio language model. Default: that of the backends.",
    ),
]
JudgeModel = Annotated[str | None, typer.Option("--judge-model", help="Its name at the endpoint.")]
Workers = Annotated[int, typer.Option(min=0, help="Samples at a time; 0: no threads.")]
CacheDir = Annotated[
    Path | None, typer.Option(help="Cache of results; default $AUDITEVAL_CACHE or the user's.")
]


@app.command()
def speecheditbench(
    folder: Annotated[Path, typer.Argument(help="The benchmark: data/<task>/samples.jsonl.")],
    output: Output,
    system: Systems = None,
    baselines: Baselines = False,
    backends: Config = "offline",
    judge: JudgeAt = None,
    judge_model: JudgeModel = None,
    workers: Workers = 2,
    cache_dir: CacheDir = None,
) -> None:
    """Target, preservation and joint success of speech edits [SpeechEditBench, Tables 2 to 6].

    Outputs are FOLDER/<sample_id>.wav or FOLDER/audio/<sample_id>.wav (.flac, .mp3 too). One that
    is missing or cannot be read fails. Without a judge, emotion, style and paralinguistic edits
    stay unscored, and are never a success.

    Examples:

        auditeval bench speecheditbench SpeechEditBench -s mine=outputs --baselines -o report

        auditeval bench speecheditbench SpeechEditBench -s a=out_a -s b=out_b --backends my.yaml
        --judge http://localhost:8000/v1 --judge-model qwen3-omni -o report
    """
    from auditeval.benchmarks.speecheditbench.benchmark import SpeechEditBench

    _bench(
        lambda listeners: SpeechEditBench(folder, listeners),
        system,
        baselines,
        output,
        _listeners(backends, judge, judge_model, cache_dir, output),
        workers,
    )


@app.command()
def mmae(
    meta: Annotated[Path, typer.Argument(help="MMAE-meta.json, its audio beside it.")],
    output: Output,
    system: Systems = None,
    baselines: Baselines = False,
    backends: Config = "offline",
    judge: JudgeAt = None,
    judge_model: JudgeModel = None,
    seed: Annotated[int, typer.Option(help="Of the order of options and of noise.")] = 1984,
    workers: Workers = 2,
    cache_dir: CacheDir = None,
) -> None:
    """Rubrics by vote of an audio language model: IFR, CR and EMR of edits [MMAE, Table 2].

    Outputs are in FOLDER/predictions.json, FOLDER/submission.jsonl or FOLDER/audio/<id>.wav, or
    --system names one of these files. Needs a judge; an answer that it does not give is never
    right.

    Examples:

        auditeval bench mmae MMAE/MMAE-meta.json -s mine=outputs --baselines
        --judge http://localhost:8000/v1 --judge-model qwen3-omni -o report

        auditeval bench mmae MMAE/MMAE-meta.json -s mine=outputs --judge report/answers.jsonl
        -o again
    """
    from auditeval.benchmarks.mmae.benchmark import MMAE
    from auditeval.benchmarks.mmae.outputs import find

    _bench(
        lambda listeners: MMAE(meta, listeners, seed),
        system,
        baselines,
        output,
        _listeners(backends, judge, judge_model, cache_dir, output),
        workers,
        find,
    )


app.command("make-salmon")(bench_make.salmon)
app.command("make-speecheditbench")(bench_make.speecheditbench)


@app.command()
def swanbench(
    scripts: Annotated[Path, typer.Argument(help="The benchmark: a JSONL of scripts.")],
    output: Output,
    system: Systems = None,
    baselines: Baselines = False,
    backends: Config = "offline",
    judge: JudgeAt = None,
    judge_model: JudgeModel = None,
    workers: Workers = 2,
    cache_dir: CacheDir = None,
) -> None:
    """Seven metrics of long speech and dialogue made from scripts [SwanBench-Speech, Tables 2, 3].

    Outputs are FOLDER/<id>.wav or FOLDER/audio/<id>.wav (.flac, .mp3 too); the id of a script
    without one is its line number. FOLDER/timings.jsonl, lines of {"id", "inference_seconds"},
    gives the real-time factor. Prosody and expressiveness need a judge. Baseline: noise.

    Examples:

        auditeval bench swanbench test.jsonl -s mine=outputs --baselines -o report

        auditeval bench swanbench test.jsonl -s a=out_a -s b=out_b --backends swanbench -o report
    """
    from auditeval.benchmarks.swanbench.benchmark import SwanBench
    from auditeval.benchmarks.swanbench.samples import read_timings

    folders = _named(system or [], "--system").items()
    files = {name: folder / "timings.jsonl" for name, folder in folders}
    timings = {name: read_timings(file) for name, file in files.items() if file.exists()}
    _bench(
        lambda listeners: SwanBench(scripts, listeners, timings),
        system,
        baselines,
        output,
        _listeners(backends, judge, judge_model, cache_dir, output),
        workers,
    )


class Original(str, Enum):
    """What an evaluator compares a clip of SALMon with."""

    halves = "halves"
    positive = "positive"


@app.command()
def salmon(
    folder: Annotated[Path, typer.Argument(help="The benchmark: <part>/sample_<index>_<i>.wav.")],
    output: Output,
    scores: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=FILE of likelihoods (.csv, .jsonl with part, file, score); again for each."
        ),
    ] = None,
    checkpoint: Annotated[
        list[str] | None,
        typer.Option(
            "--checkpoint", "-c", help="An evaluator of edits, by its faithfulness; again for each."
        ),
    ] = None,
    original: Annotated[
        Original,
        typer.Option(
            help="What an evaluator compares with: the first half of each clip with its second, or "
            "the positive of the pair with both (not SALMon's protocol)."
        ),
    ] = Original.halves,
    baselines: Baselines = False,
    workers: Workers = 2,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:N or mps.")] = "auto",
    cache_dir: CacheDir = None,
) -> None:
    """How often a scorer finds the clip that stays as it began more likely [SALMon, Table II].

    A pair without both scores counts as lost, a tie as half. Baselines: constant (exactly 50 %)
    and noise.

    Examples:

        auditeval bench salmon salmon_dataset --scores twist=likelihoods.csv --baselines -o report

        auditeval bench salmon salmon_dataset -c checkpoints/auditeval-offline -o report
    """
    from auditeval import scoring
    from auditeval.benchmarks.salmon import scorers
    from auditeval.benchmarks.salmon.benchmark import Salmon

    benchmark = Salmon(folder)
    systems: list[System] = []
    for name, path in _named(scores or [], "--scores").items():
        table = scorers.read_likelihoods(path, benchmark.samples)
        table.name = name
        systems.append(table)
    for evaluator in [scoring.load(place, device, cache_dir) for place in checkpoint or []]:
        systems.append(scorers.EvaluatorScorer(evaluator, original.value))
    if baselines:
        systems += [scorers.ConstantScorer(), scorers.NoiseScorer()]
    if not _report(benchmark, systems, output, workers):
        raise typer.Exit(1)


def _bench(
    make: Callable[[Backends], Benchmark],
    named: Sequence[str] | None,
    baselines: bool,
    output: Path,
    listeners: Backends,
    workers: int,
    find: Callable[[Path, Sequence[str]], Mapping[str, Path]] | None = None,
) -> None:
    """Run all systems, print and write the report; exit status 1 where outputs are missing, and
    where all of a system are unscored."""
    from auditeval.benchmarks.systems import BASELINES, OutputFolder, find_outputs
    from auditeval.types import Undefined

    folders = _named(named or [], "--system")
    benchmark = make(listeners)
    ids = [sample.id for sample in benchmark.samples]
    systems: list[System] = [
        OutputFolder(name, (find or find_outputs)(folder, ids)) for name, folder in folders.items()
    ]
    if baselines:
        sources = any(
            not isinstance(benchmark.source(sample), Undefined) for sample in benchmark.samples
        )
        kinds = [kind for name, kind in BASELINES.items() if sources or name == "noise"]
        systems += [kind(benchmark) for kind in kinds]
    whole = _report(benchmark, systems, output, workers)
    for judge in listeners.judges:
        say(f"{judge.name}: {judge.spent}")  # beyond what it had answered before
    if not whole:
        raise typer.Exit(1)


def _report(benchmark: Benchmark, systems: Sequence[System], output: Path, workers: int) -> bool:
    """`_reported`, by this process alone."""
    from auditeval.outputs import writing

    names = [f"{benchmark.name}{suffix}" for suffix in (".json", ".md", "_radar.png")]
    with writing(output, f"auditeval bench {benchmark.name}", names):
        return _reported(benchmark, systems, output, workers)


def _reported(benchmark: Benchmark, systems: Sequence[System], output: Path, workers: int) -> bool:
    """Records of each system under `output`/<name>, the tables in `output` and on the screen.

    Whether all outputs could be read, and at least one of each system was scored.
    """
    from auditeval.benchmarks.run import run
    from auditeval.report import benchmarks as reports
    from auditeval.types import UserError

    names = [system.name for system in systems]
    if not names:
        raise UserError("nothing to evaluate: name a --system, or ask for --baselines")
    if len(set(names)) < len(names):
        raise UserError(f"two systems have one name ({', '.join(names)})")
    records: dict[str, list[dict[str, Any]]] = {}
    with bars() as bar:
        for system in systems:
            task = bar.add_task(shortened(system.name), total=len(benchmark.samples))
            records[system.name] = run(
                benchmark,
                system,
                output / system.name,
                workers,
                lambda done, total, task=task: bar.update(task, completed=done, total=total),  # type: ignore[misc]
            )
    tables = benchmark.tables(records)
    try:
        reports.write(
            tables, {"benchmark": benchmark.name, **benchmark.settings}, output, benchmark.name
        )
    except OSError as error:
        raise UserError(f"{output}: cannot be written ({error.strerror})") from None
    reports.print_tables(tables)
    for what in ("failed", "unscored"):
        counts = {
            name: sum(record["status"] == what for record in found)
            for name, found in records.items()
        }
        if listed := ", ".join(f"{name} {count}" for name, count in counts.items() if count):
            said = "outputs that are missing or cannot be read" if what == "failed" else what
            say(f"{said}: {listed} (see records.jsonl of each)")
            if what == "unscored":
                say("(the same command asks for these once more)")
    say(f"report: {output / benchmark.name}.md")
    silent = [
        name for name, found in records.items() if all(r["status"] == "unscored" for r in found)
    ]
    if silent:
        say(f"all outputs are unscored: {', '.join(silent)}", sys.stderr)
    return not silent and not any(
        record["status"] == "failed" for found in records.values() for record in found
    )


def _named(pairs: Sequence[str], option: str) -> dict[str, Path]:
    """NAME=PATH options, in their order."""
    from auditeval.types import UserError

    found: dict[str, Path] = {}
    for pair in pairs:
        name, equals, path = pair.partition("=")
        # It is the name of a folder too.
        usable = name.isprintable() and not set(name) & set("/\\") and name not in ("", ".", "..")
        if not usable or not equals or not path:
            raise UserError(
                f"{option} {pair!r}: expected NAME=PATH, the name printable and without slashes"
            )
        if name in found:
            raise UserError(f"{option} {name}: stands twice")
        found[name] = Path(path)
    return found


def _listeners(
    config: str, judge: str | None, judge_model: str | None, cache_dir: Path | None, output: Path
) -> Backends:
    """The backends of a run, their judges behind a cache and recorded in `output`/answers.jsonl."""
    from auditeval.backends.backend import JUDGES
    from auditeval.backends.load import Backends, read
    from auditeval.features.store import default_cache_dir
    from auditeval.judges.cached import CachedJudge
    from auditeval.types import UserError

    folder = (cache_dir or default_cache_dir()) / "benchmarks"
    nodes = read(config)
    if judge is not None:
        nodes |= dict.fromkeys(JUDGES, _judge(judge, judge_model))
    elif judge_model is not None:
        raise UserError("--judge-model goes with a --judge that is an endpoint")
    return Backends(
        nodes,
        folder,
        lambda judge: CachedJudge(judge, folder / "judges", output / "answers.jsonl"),
    )


def _judge(where: str, model: str | None) -> dict[str, str]:
    """The node of --judge."""
    from auditeval.types import UserError

    if where.startswith(("http://", "https://")):
        if model is None:
            raise UserError("--judge is an endpoint: name its model by --judge-model")
        return {
            "_target_": "auditeval.judges.http.HTTPJudge",
            "base_url": where,
            "model": model,
        }
    if model is not None:
        raise UserError("--judge-model goes with a --judge that is an endpoint")
    if where.endswith(".jsonl"):
        return {"_target_": "auditeval.judges.replay.ReplayJudge", "path": where}
    return {"_target_": "auditeval.judges.local.LocalJudge", "checkpoint": where}
