"""`auditeval bench make-...`: samples of a benchmark from a user's own recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from auditeval.progress import stages
from auditeval.seed import SEED
from auditeval.text import counted, say

Noise = Annotated[
    Path | None, typer.Option(help="CSV with path and class, or a folder with one a class.")
]
Rooms = Annotated[
    Path | None, typer.Option(help="Folder of impulse responses; default: rooms that are made.")
]


def salmon(
    speech: Annotated[
        Path,
        typer.Argument(help="CSV with path, text, speaker, gender, emotion, as the parts need."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the dataset.")],
    noise: Noise = None,
    rooms: Rooms = None,
    part: Annotated[
        list[str] | None, typer.Option(help="speaker_consistency and so on; default: all six.")
    ] = None,
    samples: Annotated[int, typer.Option(min=1, help="Of each part.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Of every choice.")] = SEED,
) -> None:
    """Make SALMon's consistency tasks from your own recordings [SALMon, III-A, Table I].

    Speaker, gender and sentiment: another recording of the same text from half-way on. Background,
    of one class or of all, and room: another one from half-way on. A run that was stopped goes on,
    to the same bytes.

    Examples:

        auditeval bench make-salmon speech.csv --noise sounds.csv -o salmon_dataset

        auditeval bench make-salmon recordings/ --part rir_consistency --samples 50 -o rooms
    """
    from auditeval.benchmarks.salmon.make import Settings, make
    from auditeval.benchmarks.salmon.samples import CONSISTENCY
    from auditeval.outputs import sole_writer

    with sole_writer(output), stages() as watch:
        settings = Settings(samples=samples, seed=seed)
        make(output, speech, noise, rooms, tuple(part or CONSISTENCY), settings, watch)
    each = counted(samples, "sample", "samples")
    say(f"{output}: {each} of each of {', '.join(part or CONSISTENCY)}")


def speecheditbench(
    speech: Annotated[
        Path,
        typer.Argument(help="CSV with path, text, language (en, zh) and, for speaker, speaker."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the dataset.")],
    noise: Noise = None,
    rooms: Rooms = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            help="speed, pitch, stress, enhancement, reverb, noise, speaker; default: all."
        ),
    ] = None,
    samples: Annotated[int, typer.Option(min=1, help="Of each direction in each language.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Of every choice.")] = SEED,
) -> None:
    """Make prosody, acoustic and speaker samples from your own speech [SpeechEditBench, A.2].

    Anchors and files are laid out as those of the release (v1.1), sources of enhancement and
    references of environments are made. Of noise, the classes outdoor, crowd and music are scenes.

    Examples:

        auditeval bench make-speecheditbench speech.csv --noise sounds.csv -o mine

        auditeval bench make-speecheditbench speech.csv --kind speed --kind pitch -o prosody
    """
    from auditeval.benchmarks.speecheditbench.make import KINDS, make
    from auditeval.benchmarks.speecheditbench.make_items import Settings
    from auditeval.outputs import sole_writer

    with sole_writer(output), stages() as watch:
        settings = Settings(samples=samples, seed=seed)
        make(output, speech, noise, rooms, tuple(kind or KINDS), settings, watch)
    say(f"{output}: samples of {', '.join(kind or KINDS)} in data/")
