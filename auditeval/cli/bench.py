"""`auditeval bench`: systems through a benchmark of others, as one report."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from auditeval.cli import bench_make
from auditeval.cli.options import CacheDir, Device, Html
from auditeval.cli.report import check_page, page_of
from auditeval.judges.place import JudgeAt
from auditeval.progress import stages
from auditeval.seed import SEED
from auditeval.text import say

if TYPE_CHECKING:
    from auditeval.benchmarking import Name

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
Tasks = Annotated[
    list[str] | None,
    typer.Option(
        "--task",
        help="Only this task (SALMon: part, MMAE: group of complexity or modality, SwanBench: "
        "language); again for each.",
    ),
]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first so many of each task.")]
MaxDuration = Annotated[
    float | None, typer.Option(help="Only samples whose source lasts at most so many seconds.")
]
Config = Annotated[
    str, typer.Option("--backends", help="offline, a benchmark's own by its name, or a YAML file.")
]
Judge = Annotated[
    str | None,
    typer.Option(
        "--judge",
        help="Who answers: recorded answers (.jsonl), the URL of an OpenAI-compatible endpoint, or "
        "the folder or hub id of an audio language model. Default: that of the backends.",
    ),
]
JudgeModel = Annotated[str | None, typer.Option("--judge-model", help="Its name at the endpoint.")]
JudgeTimeout = Annotated[
    float | None,
    typer.Option("--judge-timeout", help="Seconds of a request to the endpoint; default 120."),
]
JudgeRetries = Annotated[
    int | None,
    typer.Option("--judge-retries", help="Requests more for a question that fails; default 3."),
]
JudgeFailures = Annotated[
    int | None,
    typer.Option(
        "--judge-failures",
        help="Stop after so many questions in a row without an answer; default 20. What was "
        "answered is kept.",
    ),
]
JudgeCheck = Annotated[
    bool,
    typer.Option(
        "--judge-check/--no-judge-check",
        help="First ask eight questions whose answers are known, and warn if it only guesses.",
    ),
]
Protocol = Annotated[
    str | None,
    typer.Option(
        help="Whose rules: official (of the released code), paper (where none is released), ours, "
        "or both (official and ours); not every benchmark has each. Default: official, or paper.",
    ),
]
Workers = Annotated[int, typer.Option(min=0, help="Samples at a time; 0: no threads.")]


@app.command()
def speecheditbench(
    folder: Annotated[Path, typer.Argument(help="The benchmark: `data/<task>/samples.jsonl`.")],
    output: Output,
    system: Systems = None,
    baselines: Baselines = False,
    task: Tasks = None,
    limit: Limit = None,
    max_duration: MaxDuration = None,
    backends: Config = "offline",
    judge: Judge = None,
    judge_model: JudgeModel = None,
    judge_timeout: JudgeTimeout = None,
    judge_retries: JudgeRetries = None,
    judge_failures: JudgeFailures = None,
    judge_check: JudgeCheck = True,
    protocol: Protocol = None,
    workers: Workers = 2,
    cache_dir: CacheDir = None,
    html: Html = None,
) -> None:
    """Target, preservation and joint success of speech edits [SpeechEditBench, Tables 2 to 6].

    Outputs are `FOLDER/<sample_id>.wav` or `FOLDER/<task_id>/<sample_id>.wav`, or in audio/ of
    these folders (.flac, .mp3 too). One that is missing fails by our rules, and leaves the rates by
    the official ones. Without a judge, emotion, style and paralinguistic edits stay unscored.
    FOLDER may be results of the released code too: `eval_results/<model>`.

    Examples:

        auditeval bench speecheditbench SpeechEditBench -s mine=outputs --baselines -o report

        auditeval bench speecheditbench SpeechEditBench -s a=out_a -s b=out_b --backends my.yaml
        --judge http://localhost:8000/v1 --judge-model qwen3-omni -o report
    """
    _bench(
        "speecheditbench",
        folder,
        _named(system, "--system"),
        output,
        baselines=baselines,
        tasks=task or (),
        limit=limit,
        max_seconds=max_duration,
        backends=backends,
        judge=JudgeAt(
            judge, judge_model, judge_timeout, judge_retries, judge_failures, judge_check
        ),
        protocol=protocol,
        workers=workers,
        cache_dir=cache_dir,
        html=html,
    )


@app.command()
def mmae(
    meta: Annotated[Path, typer.Argument(help="MMAE-meta.json, its audio beside it.")],
    output: Output,
    system: Systems = None,
    baselines: Baselines = False,
    task: Tasks = None,
    limit: Limit = None,
    max_duration: MaxDuration = None,
    backends: Config = "offline",
    judge: Judge = None,
    judge_model: JudgeModel = None,
    judge_timeout: JudgeTimeout = None,
    judge_retries: JudgeRetries = None,
    judge_failures: JudgeFailures = None,
    judge_check: JudgeCheck = True,
    seed: Annotated[int, typer.Option(min=0, help="Of the order of options and of noise.")] = SEED,
    protocol: Protocol = None,
    workers: Workers = 2,
    cache_dir: CacheDir = None,
    html: Html = None,
) -> None:
    """Rubrics by vote of an audio language model: IFR, CR and EMR of edits [MMAE, Table 2].

    Outputs are in FOLDER/submission.jsonl, FOLDER/predictions.json or `FOLDER/audio/<id>.wav`, or
    --system names one of these files. Needs a judge; an answer that it does not give is never
    right. Verdicts need none: --system may name the folder of a system in another report, or a JSON
    list of {"id", "rubrics": [{"category", "question", "right_choice", "right"}]}.

    Examples:

        auditeval bench mmae MMAE/MMAE-meta.json -s mine=outputs --baselines
        --judge http://localhost:8000/v1 --judge-model qwen3-omni -o report

        auditeval bench mmae MMAE/MMAE-meta.json -s mine=outputs --judge report/answers.jsonl
        -o again
    """
    _bench(
        "mmae",
        meta,
        _named(system, "--system"),
        output,
        baselines=baselines,
        tasks=task or (),
        limit=limit,
        max_seconds=max_duration,
        backends=backends,
        judge=JudgeAt(
            judge, judge_model, judge_timeout, judge_retries, judge_failures, judge_check
        ),
        seed=seed,
        protocol=protocol,
        workers=workers,
        cache_dir=cache_dir,
        html=html,
    )


@app.command()
def swanbench(
    scripts: Annotated[
        list[Path], typer.Argument(help="The benchmark: a JSONL of scripts, or several.")
    ],
    output: Output,
    system: Systems = None,
    baselines: Baselines = False,
    task: Tasks = None,
    limit: Limit = None,
    backends: Config = "offline",
    judge: Judge = None,
    judge_model: JudgeModel = None,
    judge_timeout: JudgeTimeout = None,
    judge_retries: JudgeRetries = None,
    judge_failures: JudgeFailures = None,
    judge_check: JudgeCheck = True,
    protocol: Protocol = None,
    workers: Workers = 2,
    cache_dir: CacheDir = None,
    html: Html = None,
) -> None:
    """Seven metrics of long speech and dialogue made from scripts [SwanBench-Speech, Tables 2, 3].

    Outputs are `FOLDER/<id>.wav` or `FOLDER/audio/<id>.wav` (.flac, .mp3 too); the id of a script
    without one is its line number. Of several files they are `FOLDER/<file>/<id>.wav`, as
    two_speaker/17.wav. FOLDER/timings.jsonl, lines of {"id", "inference_seconds"}, gives the
    real-time factor. Prosody and expressiveness need a judge. Baseline: noise.

    Examples:

        auditeval bench swanbench test.jsonl -s mine=outputs --baselines -o report

        auditeval bench swanbench mono_speaker.jsonl two_speaker.jsonl multi_speaker.jsonl
        -s a=out_a -s b=out_b --backends swanbench -o report
    """
    _bench(
        "swanbench",
        scripts,
        _named(system, "--system"),
        output,
        baselines=baselines,
        tasks=task or (),
        limit=limit,
        backends=backends,
        judge=JudgeAt(
            judge, judge_model, judge_timeout, judge_retries, judge_failures, judge_check
        ),
        protocol=protocol,
        workers=workers,
        cache_dir=cache_dir,
        html=html,
    )


class Original(str, Enum):
    """What an evaluator compares a clip of SALMon with."""

    halves = "halves"
    positive = "positive"


@app.command()
def salmon(
    folder: Annotated[Path, typer.Argument(help="The benchmark: `<part>/sample_<index>_<i>.wav`.")],
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
    task: Tasks = None,
    limit: Limit = None,
    max_duration: MaxDuration = None,
    protocol: Protocol = None,
    workers: Workers = 2,
    device: Device = "auto",
    cache_dir: CacheDir = None,
    html: Html = None,
) -> None:
    """How often a scorer finds the clip that stays as it began more likely [SALMon, Table II].

    A pair without both scores counts as lost, a tie as half. Baselines: constant (exactly 50 %)
    and noise.

    Examples:

        auditeval bench salmon salmon_dataset --scores twist=likelihoods.csv --baselines -o report

        auditeval bench salmon salmon_dataset -c checkpoints/auditeval-offline -o report
    """
    _bench(
        "salmon",
        folder,
        _named(scores, "--scores"),
        output,
        baselines=baselines,
        tasks=task or (),
        limit=limit,
        max_seconds=max_duration,
        checkpoints=checkpoint or [],
        original=original.value,
        protocol=protocol,
        workers=workers,
        device=device,
        cache_dir=cache_dir,
        html=html,
    )


app.command("make-salmon")(bench_make.salmon)
app.command("make-speecheditbench")(bench_make.speecheditbench)


def _bench(
    name: Name,
    samples: Path | Sequence[Path],
    systems: Mapping[str, Path],
    output: Path,
    html: Path | None,
    **options: Any,
) -> None:
    """Show how far each system has come, print the tables and what they lack; exit status 1, which
    the last line says, where outputs are missing and where all of a system are unscored."""
    from auditeval.benchmarking import bench
    from auditeval.report.render import show

    check_page(html)
    with stages() as watch:
        report = bench(name, samples, systems, output, watch=watch, **options)
    show(*report.tables)
    for status, what in (
        ("failed", "outputs that are missing or cannot be read"),
        ("unscored", "unscored"),
    ):
        counts = report.count(status).items()
        if listed := ", ".join(f"{name} {count}" for name, count in counts if count):
            say(f"{what}: {listed} (see records.jsonl of each)")
            if status == "unscored":
                say("(the same command asks for these once more)")
    say(f"report: {output / name}.md")
    for judge, spent in report.judges.items():
        say(f"{judge}, in this run: {spent}")
    page_of(output, html)
    lacking = []
    if failed := sum(report.count("failed").values()):
        outputs = "output is" if failed == 1 else "outputs are"
        lacking.append(f"{failed} {outputs} missing or cannot be read")
    if report.silent:
        lacking.append(f"all outputs are unscored: {', '.join(report.silent)}")
    if lacking:
        sys.stdout.flush()  # or it would not be the last line of both
        say(f"exit status 1: {'; '.join(lacking)}", sys.stderr)
        raise typer.Exit(1)


def _named(pairs: Sequence[str] | None, option: str) -> dict[str, Path]:
    """NAME=PATH options, in their order."""
    from auditeval.types import UserError

    found: dict[str, Path] = {}
    for pair in pairs or ():
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
