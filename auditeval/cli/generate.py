"""`auditeval generate`: clips from words, for `auditeval build`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from auditeval.cli.options import Address, Engine, EngineName, RayWorkers, chosen, path
from auditeval.progress import track
from auditeval.seed import SEED
from auditeval.text import counted, say


def generate(
    prompts: Annotated[
        Path, typer.Argument(help="CSV: label or caption; optional category.", parser=path)
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder of the clips.", parser=path)
    ],
    seconds: Annotated[
        float,
        typer.Option(
            min=0.1,
            max=30.0,  # TangoFlux makes no more [arXiv:2412.21037]
            help="Length of each clip: 10 for backgrounds, 6 for events.",
        ),
    ] = 10.0,
    takes: Annotated[int, typer.Option(min=1, help="Clips of each prompt.")] = 1,
    steps: Annotated[int, typer.Option(min=1, help="Steps of the sampler.")] = 50,
    guidance_scale: Annotated[float, typer.Option(help="Classifier-free guidance.")] = 4.5,
    model: Annotated[str, typer.Option(help="Hub id of TangoFlux.")] = "declare-lab/TangoFlux",
    seed: Annotated[int, typer.Option(min=0, help="Seed of every clip.")] = SEED,
    engine: Engine = EngineName.local,
    address: Address = None,
    ray_workers: RayWorkers = None,
) -> None:
    """Make clips with TangoFlux.

    Its pins exclude ours, so it is installed without them: `pip install diffusers datasets`, then
    `pip install --no-deps tangoflux`.

    Writes the clips and labels.csv, the list that `auditeval build` reads. A killed run goes on
    where it stopped when the same command is given again.

    Examples:

        auditeval generate audiocaps.csv -o backgrounds

        auditeval generate events.csv --seconds 6 --takes 4 -o events

        auditeval generate events.csv --engine ray --address auto -o events
    """
    from auditeval.data.pseudo_parallel import text_to_audio
    from auditeval.data.pseudo_parallel.clips import read_prompts
    from auditeval.outputs import sole_writer

    wanted = read_prompts(prompts)
    tangoflux: text_to_audio.TextToAudio
    if engine is EngineName.local:
        tangoflux = text_to_audio.TangoFlux(None, model, steps, guidance_scale)
    else:
        tangoflux = text_to_audio.TangoFlux.deferred(model, steps, guidance_scale)
    with chosen(engine, address, ray_workers, "auto") as where, sole_writer(output):
        made = text_to_audio.generate(wanted, tangoflux, output, seconds, takes, seed, where)
        bar = track(made, "generate", len(wanted) * takes)
        failed = [step.reason for step in bar if step.reason]
    clips = counted(len(wanted) * takes - len(failed), "clip", "clips")
    say(f"{output / 'labels.csv'}: {clips}")
    if failed:
        clips = counted(len(failed), "clip", "clips")
        say(f"{clips} could not be made, the first: {failed[0]}")
        raise typer.Exit(1)
