"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from auditeval.blocks import Engine as BlockEngine


def path(name: str) -> Path:
    """A file or folder of this machine, or a URL."""
    from auditeval import storage
    from auditeval.types import UserError

    try:
        return storage.path(name)
    except UserError as error:
        raise typer.BadParameter(str(error)) from None


Checkpoint = Annotated[
    str | None,
    typer.Option(
        "--checkpoint", "-c", help="Checkpoint folder or model hub id; default: the shipped one."
    ),
]
Original = Annotated[Path | None, typer.Option(help="One pair: the original clip.", parser=path)]
Edited = Annotated[Path | None, typer.Option(help="One pair: the edited clip.", parser=path)]
OriginalCaption = Annotated[str, typer.Option(help="One pair: what the original holds.")]
TargetCaption = Annotated[str, typer.Option(help="One pair: what the edit was to hold.")]
Instruction = Annotated[
    str, typer.Option(help="One pair: what was asked for; counts where captions do not differ.")
]
Workers = Annotated[
    int,
    typer.Option(
        min=0,
        help="Decoding and encoding threads, no more than cores; 0: none of their own.",
    ),
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:N or mps.")]
CacheDir = Annotated[
    Path | None, typer.Option(help="Cache; default $AUDITEVAL_CACHE or the user's.", parser=path)
]
CacheSize = Annotated[
    str | None,
    typer.Option(help="Most that the cache takes, as in 20GB; what was not used lately goes."),
]
Resamples = Annotated[int, typer.Option(min=0, help="Bootstrap draws of the intervals.")]


def page_path(path: Path | None) -> Path | None:
    """Refused before the work and not behind it."""
    if path is not None and path.suffix.lower() not in (".html", ".htm"):
        from auditeval.types import UserError

        raise UserError(f"{path}: a page ends in .html")
    return path


Html = Annotated[
    Path | None,
    typer.Option(
        "--html", help="Also a page to look at and listen to: a file .html.", callback=page_path
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="Overwrite files that are there and not this command's.")
]


class EngineName(str, Enum):
    """What does the work."""

    local = "local"
    ray = "ray"


Engine = Annotated[
    EngineName, typer.Option(help="local: this process; ray: the workers of a cluster.")
]
Address = Annotated[
    str | None,
    typer.Option(
        help="Ray: auto for this machine's cluster, HOST:PORT, ray://HOST:PORT; default: a new one."
    ),
]
RayWorkers = Annotated[
    int | None,
    typer.Option(
        "--ray-workers", min=1, help="Ray: at most so many; default: one a CPU, or one a GPU."
    ),
]


Host = Annotated[str, typer.Option(help="Where to listen; 0.0.0.0 for others on the network.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")]


def check_web(command: str) -> None:
    """Raises UserError where what serves pages is not installed."""
    from auditeval.types import UserError

    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise UserError(
            f"{command} needs {error.name}: pip install -c constraints.txt '.[web]'"
        ) from None


@contextmanager
def chosen(
    engine: EngineName, address: str | None, workers: int | None, device: str = "cpu"
) -> Iterator[BlockEngine | None]:
    """The engine that these options name, None for this process."""
    from auditeval.types import UserError

    if engine is EngineName.local:
        if address is not None or workers:
            raise UserError("--address and --ray-workers go with --engine ray")
        yield None
        return
    if address is not None and not address.strip():  # as of a variable of the shell that is not set
        raise UserError("--address: expected auto, HOST:PORT or ray://HOST:PORT, found none")
    gpus = {"auto": None, "cpu": False, "cuda": True}
    if device not in gpus:
        raise UserError(f"--device {device}: --engine ray takes auto, cpu or cuda")
    if gpus[device] and address is None:  # a cluster of this machine, which would wait for a GPU
        from auditeval.scoring import choose_device

        choose_device(device)
    from auditeval.ray_engine import Ray

    with Ray(address, workers, gpus[device]) as cluster:
        yield cluster
