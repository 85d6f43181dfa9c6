"""`auditeval build`: labelled clips to a pseudo-parallel editing set."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from auditeval.cli.options import Address, Engine, EngineName, RayWorkers, chosen, path
from auditeval.progress import stages
from auditeval.seed import SEED
from auditeval.text import counted, say


class AudioFormat(str, Enum):
    """How the mixes are kept: as files, or as rows that are rendered when they are read."""

    flac = "flac"
    wav = "wav"
    virtual = "virtual"


class Match(str, Enum):
    """What of an event is made equal to the background's."""

    peak = "peak"
    lufs = "lufs"
    snr = "snr"


def build(
    clips: Annotated[
        Path,
        typer.Option(
            help="CSV of events: file, label or caption; optional category, id.", parser=path
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the set.", parser=path)],
    backgrounds: Annotated[
        Path | None, typer.Option(help="CSV of backgrounds A; default: the events.", parser=path)
    ] = None,
    audio: Annotated[
        AudioFormat, typer.Option(help="virtual: no audio files, mixes are rendered when read.")
    ] = AudioFormat.flac,
    backgrounds_per_pair: Annotated[
        int, typer.Option(help="Tuples of each pair of event prompts.")
    ] = 20,
    background_seconds: Annotated[float, typer.Option(help="Backgrounds are cut to this.")] = 10.0,
    event_seconds: Annotated[
        tuple[float, float],
        typer.Option(help="Shortest and longest event; shorter recordings are used whole."),
    ] = (3.0, 6.0),
    rate: Annotated[int, typer.Option(help="Sampling rate in Hz.")] = 44100,
    match: Annotated[
        Match, typer.Option(help="Make the event's peak, loudness or power that of A.")
    ] = Match.peak,
    level: Annotated[
        tuple[float, float], typer.Option(help="Event over A in dB (LU), drawn between two.")
    ] = (0.0, 0.0),
    drop: Annotated[bool, typer.Option(help="Balance insertions before, during and after.")] = True,
    group_by: Annotated[
        str, typer.Option(help="Column of what must not meet in a mix: recordings of one take.")
    ] = "id",
    seed: Annotated[int, typer.Option(min=0, help="Seed of every choice.")] = SEED,
    workers: Annotated[int, typer.Option(min=1, help="Decoding and encoding threads.")] = 2,
    engine: Engine = EngineName.local,
    address: Address = None,
    ray_workers: RayWorkers = None,
) -> None:
    """Mix labelled clips into pairs to add, delete and replace [AuditEval, Appendix B].

    All pairs of event prompts (B, C), each with some backgrounds A: A+B and A+C, B and C in the
    quietest interval of A, captions by rule. Six edits a tuple. A killed build goes on where it
    stopped when the same command is given again, and ends with the same bytes.

    Where this departs from the paper:

    - **Clips** come from lists, of any prompts (two events at least), and serve in many tuples.
      The paper has TangoFlux generate A, B and C for each tuple, from captions of AudioCaps and
      from over 100 sound types in eight categories; `auditeval generate` makes a list of such
      clips.

    - **B and C** have one length, as in the paper, but in steps of 0.1 s and within both of their
      recordings, out of which they are cut where these are loudest. Where a recording is under the
      shortest event, both are as long as it.

    - **A** is the start of a recording; one that is silent or lasts less than nine tenths of
      `--background-seconds` is left out. A, B and C never share a prompt or a recording, and with
      one pair of events no A comes twice before all that fit have come once.

    - **Volume**: peaks are matched as in the paper, but where a mix could exceed full scale, all
      clips of its tuple are turned down. `--match lufs`, `--match snr` and `--level` are ours.

    - **Place**: the split points are 30 % and 70 % of a background of any length, for the paper's
      3 s and 7 s of 10 s. B and C share their place after the drop operation too.

    - **Drop**: the paper moves "a portion" of the events at either end to a random place in the
      middle; here it is what an end has beyond a third of all. Where an end has less than a third,
      the middle gives it events, each to the quietest place there; in the paper it does not.

    - **Captions** follow the paper's templates and probabilities; inside a sentence the captions
      of A and B begin with a small letter (but for I, TV and the like), and each sentence ends in
      one full stop.

    - **Instructions** are sentences of templates of ours, four for each operation.

    - Mixes are mono, of 16 bits.

    Examples:

        auditeval build --clips esc10/labels.csv --background-seconds 5 --event-seconds 1.5 3
        --group-by freesound_id -o mixed

        auditeval build --clips events.csv --backgrounds audiocaps.csv --audio virtual -o mixed

        auditeval build --clips events.csv --match snr --level -5 10 -o mixed

        auditeval build --clips events.csv --engine ray --address auto -o mixed
    """
    from auditeval.data.pseudo_parallel.build import build as build_set
    from auditeval.data.pseudo_parallel.plan import Settings
    from auditeval.outputs import sole_writer

    settings = Settings(
        backgrounds_per_pair,
        background_seconds,
        event_seconds,
        rate,
        match.value,
        level,
        drop,
        seed,
    )
    with sole_writer(output), chosen(engine, address, ray_workers) as where, stages() as report:
        built = build_set(
            clips, output, settings, backgrounds, audio.value, group_by, workers, report, where
        )
    places = ", ".join(f"{count} {position}" for position, count in built.positions.items())
    pairs = counted(built.pairs, "pair", "pairs")
    say(f"{built.manifest}: {pairs}; events of the mixes: {places} the middle")
    # A clip that is only too short to be a background as well was not asked to be one.
    failed = [clip for clip in built.left_out if backgrounds or clip.role == "events"]
    if failed:
        clips_were = counted(len(failed), "clip was", "clips were")
        say(f"{clips_were} left out (left_out.csv), the first: {failed[0].reason}")
        raise typer.Exit(1)
