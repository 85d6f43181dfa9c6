"""`auditeval score`: a manifest to a scores table, or one pair to the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditeval.cli.options import (
    Address,
    CacheDir,
    CacheSize,
    Checkpoint,
    Device,
    Edited,
    Engine,
    EngineName,
    Instruction,
    Original,
    OriginalCaption,
    RayWorkers,
    TargetCaption,
    Workers,
    chosen,
    path,
)
from auditeval.progress import bars
from auditeval.text import counted, say

if TYPE_CHECKING:
    from auditeval.manifest_scoring import Progress
    from auditeval.scoring import Evaluator
    from auditeval.types import EditPair

_NAMED = 5  # ids in a sentence


def score(
    manifest: Annotated[
        Path | None,
        typer.Argument(help="Pairs: .jsonl, .csv or .parquet.", show_default=False, parser=path),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Scores table: .csv, .jsonl or .parquet.", parser=path),
    ] = None,
    checkpoint: Checkpoint = None,
    original: Original = None,
    edited: Edited = None,
    original_caption: OriginalCaption = "",
    target_caption: TargetCaption = "",
    instruction: Instruction = "",
    batch_size: Annotated[int, typer.Option(min=1, help="Pairs at a time.")] = 32,
    workers: Workers = 2,
    device: Device = "auto",
    cache_dir: CacheDir = None,
    cache_size: CacheSize = None,
    base: Annotated[
        str | None,
        typer.Option(help="Qwen2.5-Omni: folder or hub id of the base; default: as in training."),
    ] = None,
    dtype: Annotated[
        str | None,
        typer.Option(
            help="Qwen2.5-Omni: float32, bfloat16 or float16 for the base; default: as in training."
        ),
    ] = None,
    merge: Annotated[
        bool, typer.Option("--merge", help="Qwen2.5-Omni: add LoRA to the weights of the base.")
    ] = False,
    max_duration: Annotated[
        float, typer.Option(help="Seconds; a clip that lasts longer is an error row.")
    ] = 3600.0,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Keep no row of an earlier run, whoever made the table.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite SCORES even where it is no scores table.")
    ] = False,
    parts: Annotated[
        bool, typer.Option("--parts", help="Leave SCORES as a folder of numbered Parquet files.")
    ] = False,
    engine: Engine = EngineName.local,
    address: Address = None,
    ray_workers: RayWorkers = None,
) -> None:
    """Score edits: quality, relevance, faithfulness, 1 (worst) to 5 (best).

    In brackets, where the evaluator was calibrated: where the rating lies, nine times in ten.
    A killed run goes on where it stopped when the same command is given again, and rows whose clips
    have changed since are scored again. A pair that cannot be scored gets a row with its reason,
    and the exit status is 1.

    Examples:

        auditeval score pairs.jsonl -o scores.csv

        auditeval score --original a.wav --edited b.wav --original-caption "Rain."
        --target-caption "Rain, with a dog barking."

        auditeval score --original a.wav --edited b.wav --instruction "Remove the dog."

        auditeval score pairs.jsonl -c ADAPTER --base Qwen2.5-Omni-7B --dtype bfloat16 -o scores.csv

        auditeval score pairs.parquet --engine ray --address auto --parts -o scores

        auditeval score s3://BUCKET/pairs.parquet --cache-dir s3://BUCKET/cache -o
        s3://BUCKET/scores.parquet
    """
    from auditeval.scoring import load
    from auditeval.types import AXES, UserError

    def loaded(device: str) -> Evaluator:
        return load(
            checkpoint, device, cache_dir, workers, base, dtype, merge, max_duration, cache_size
        )

    single = original is not None or edited is not None
    if single == (manifest is not None):
        raise UserError(
            "give either a MANIFEST with -o, or --original and --edited with captions or an "
            "instruction"
        )
    if manifest is not None:
        said_by_manifest(original_caption, target_caption, instruction)
        if output is None:
            raise UserError("a MANIFEST needs -o SCORES, a file ending in .csv, .jsonl or .parquet")
        if not manifest.exists():
            raise UserError(f"{manifest}: no such manifest")
        own = device if engine is EngineName.local else "cpu"
        evaluator = loaded(own)
        with chosen(engine, address, ray_workers, device) as where:
            steps = evaluator.score_manifest(
                manifest, output, batch_size, fresh, force, where, parts
            )
            step = _score_manifest(steps, output)
        if damaged := evaluator.store.damaged:
            entries = counted(damaged, "damaged entry", "damaged entries")
            say(f"{entries} of the feature cache {'was' if damaged == 1 else 'were'} made again")
        if step.errors:
            raise typer.Exit(1)
        return
    if engine is not EngineName.local:
        raise UserError("--engine ray goes with a MANIFEST; one pair is scored here")
    if output is not None or parts:
        given = "--parts" if output is None else "-o"
        raise UserError(f"{given} goes with a MANIFEST; the scores of one pair are printed")
    pair = one_pair(original, edited, original_caption, target_caption, instruction)
    evaluator = loaded(device)
    (row,) = evaluator.score([pair])
    if row.status == "error":
        raise UserError(row.reason)
    for axis in AXES:
        value, interval = row.ratings.get(axis), row.interval(axis)
        ends = f"  [{interval[0]:.2f} to {interval[1]:.2f}]" if interval else ""
        say(f"{axis:<14}{value:.3f}{ends}" if value is not None else f"{axis:<14}not trained")


def said_by_manifest(*words: str) -> None:
    """Raises UserError for words on the command line: of a manifest's pairs its rows say them."""
    from auditeval.types import UserError

    if any(words):
        raise UserError(
            "captions and --instruction go with --original and --edited; those of a MANIFEST stand "
            "in its rows"
        )


def one_pair(
    original: Path | None,
    edited: Path | None,
    original_caption: str,
    target_caption: str,
    instruction: str,
) -> EditPair:
    """The EditPair that a command line names; UserError says what it lacks."""
    from pydantic import ValidationError

    from auditeval.types import EditPair, UserError, sentence

    if original is None or edited is None:
        raise UserError("one pair needs both --original and --edited")
    for option, clip in (("--original", original), ("--edited", edited)):
        if clip == Path():  # "" as well, as of a variable of the shell that is not set
            raise UserError(f"{option}: expected the path of an audio file, found none")
    try:
        return EditPair(
            id="pair",
            original=original,
            edited=edited,
            original_caption=original_caption,
            target_caption=target_caption,
            instruction=instruction,
        )
    except ValidationError as error:
        raise UserError(sentence(error)) from None


def _score_manifest(steps: Iterator[Progress], output: Path) -> Progress:
    """Show a bar and say what came of it; the last of the steps."""
    with bars("rate", "errors") as bar:
        task = bar.add_task("score", total=None, errors="", rate="")
        for step in steps:
            speed = bar.tasks[0].speed
            rate = f"{speed:.1f} pairs/s" if speed else ""
            bar.update(
                task,
                completed=step.done,
                total=step.total,
                rate=rate,
                errors=counted(step.errors, "error", "errors"),
            )
    errors = counted(step.errors, "error", "errors")
    say(f"{output}: {step.total - step.errors:,} scored, {errors}")
    if step.kept:
        kept = counted(step.kept, "row was", "rows were")
        say(f"{kept} kept of an earlier run; --fresh scores all again")
    if step.changed:
        more = f" and {len(step.changed) - _NAMED:,} more" if len(step.changed) > _NAMED else ""
        changed = counted(len(step.changed), "pair was", "pairs were")
        say(
            f"{changed} scored again, with clips that are other files than before: "
            f"{', '.join(step.changed[:_NAMED])}{more}"
        )
    return step
