"""`auditeval metrics`: the data-quality metrics of manifests, as one table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditeval.cli.options import (
    Address,
    CacheDir,
    CacheSize,
    Device,
    Engine,
    EngineName,
    Force,
    RayWorkers,
    Workers,
    chosen,
    path,
)
from auditeval.progress import bars
from auditeval.seed import SEED
from auditeval.text import counted, say

if TYPE_CHECKING:
    from rich.progress import TaskID


def metrics(
    manifests: Annotated[
        list[Path],
        typer.Argument(
            help="Pairs: .jsonl, .csv or .parquet; each is a row of the table.", parser=path
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Folder for data_quality.json and .md.", parser=path),
    ],
    only: Annotated[
        str | None,
        typer.Option(help="Names of metrics, with commas; default: all of the encoders given."),
    ] = None,
    clap: Annotated[
        str | None,
        typer.Option(
            help="Microsoft's CLAP, the paper's: original file, or folder of auditeval convert."
        ),
    ] = None,
    laion_clap: Annotated[
        str | None, typer.Option(help="LAION's CLAP: folder, model hub id or original file.")
    ] = None,
    human_clap: Annotated[
        str | None, typer.Option(help="Human-CLAP: as --laion-clap, fine-tuned on human ratings.")
    ] = None,
    cnn14: Annotated[
        Path | None, typer.Option(help="PANNs CNN14, of 32 or 16 kHz: for FD, KL and IS.")
    ] = None,
    vggish: Annotated[Path | None, typer.Option(help="VGGish: for FAD.")] = None,
    audiobox: Annotated[
        Path | None, typer.Option(help="AudioBox aesthetics: for PQ, PC, CE and CU.")
    ] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Pairs at a time.")] = 32,
    workers: Workers = 2,
    device: Device = "auto",
    cache_dir: CacheDir = None,
    cache_size: CacheSize = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of groups and splits.")] = SEED,
    force: Force = False,
    engine: Engine = EngineName.local,
    address: Address = None,
    ray_workers: RayWorkers = None,
) -> None:
    """Data quality of edits against their originals: FAD, FD, KL, IS, CLAP and AudioBox scores.

    Without weights YAMNet and the label bridge stand in, under names of their own. A pair that
    cannot be used is left out of all metrics and listed in the JSON, and the exit status is 1.

    A column has the paper's name only with the paper's kind of model: `clap_score` is of
    Microsoft's CLAP, which the paper cites (Elizalde et al., ICASSP 2023: CLAP_weights_2022.pth;
    that of 2023 is read too, and the table says which), and `laion_clap_score` of LAION's.

    Of a whole set that `auditeval build` made, FAD and FD are 0: it holds every edit with its
    reverse, so that originals and edited clips are the same. Compare parts of it.

    Examples:

        auditeval metrics random.jsonl kept.jsonl -o report

        auditeval metrics kept.jsonl --cnn14 Cnn14_mAP=0.431.pth --only fd_cnn14_32k -o report

        auditeval metrics kept.jsonl --clap CLAP_weights_2022.pth --laion-clap
        laion/clap-htsat-unfused -o report

        auditeval metrics kept.parquet --engine ray --address auto -o report
    """
    from auditeval.data_quality.catalogue import ENCODER_ROLES
    from auditeval.data_quality.measure import measure
    from auditeval.outputs import writing
    from auditeval.report.data_quality import FILES, to_table, write
    from auditeval.report.render import show
    from auditeval.scoring import choose_device

    manifests_by_name = _named(manifests)
    given = {
        "clap": clap,
        "laion_clap": laion_clap,
        "human_clap": human_clap,
        "cnn14": cnn14,
        "vggish": vggish,
        "audiobox": audiobox,
    }
    offline = {
        role: {"name": kind.extractor} for role, kind in ENCODER_ROLES.items() if not kind.option
    }
    paper = {
        role: {"name": ENCODER_ROLES[role].extractor, ENCODER_ROLES[role].argument: str(weights)}
        for role, weights in given.items()
        if weights is not None
    }
    names = [name.strip() for name in only.split(",")] if only is not None else []
    encoders = {**paper, **offline} if names or not paper else paper
    with (
        writing(output, "auditeval metrics", FILES, manifests, force),
        chosen(engine, address, ray_workers, device) as where,
        bars() as bar,
    ):
        tasks: dict[str, TaskID] = {}

        def watch(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what)
            bar.update(tasks[what], completed=done, total=total)

        made = measure(
            manifests_by_name,
            encoders,
            names,
            batch_size=batch_size,
            cache_dir=cache_dir,
            cache_size=cache_size,
            workers=workers,
            device="cpu" if where else str(choose_device(device)),
            seed=seed,
            watch=watch,
            engine=where,
        )
        write(made, output)
    show(to_table(made))
    left_out = sum(len(row.left_out) for row in made.rows)
    say(f"report: {output}, {counted(left_out, 'pair', 'pairs')} left out")
    if left_out:
        raise typer.Exit(1)


def _named(manifests: list[Path]) -> dict[str, Path]:
    """By stem; by path where two have one stem."""
    from auditeval.types import UserError

    for one in manifests:
        if not one.exists():
            raise UserError(f"{one}: no such manifest")
    if len({one.resolve() for one in manifests}) < len(manifests):
        raise UserError("a manifest stands twice among those to compare")
    short = len({one.stem for one in manifests}) == len(manifests)
    return {one.stem if short else str(one): one for one in manifests}
