"""The command `auditeval`. Each subcommand is a file; what is heavy is imported when it runs."""

from __future__ import annotations

import logging
import os
import signal
import sys
from _thread import interrupt_main
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from threading import Timer
from types import FrameType
from typing import TYPE_CHECKING

import typer

from auditeval.cli import (
    bench,
    build,
    compare,
    convert,
    demo,
    describe,
    evaluate,
    explain,
    filter,
    generate,
    import_,
    listen,
    metrics,
    report,
    score,
)
from auditeval.text import OneLine, say

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Predicts human ratings (1 to 5) of audio edits: quality, relevance, faithfulness.",
)
app.command("score")(score.score)
app.command("describe")(describe.describe)
app.command("explain")(explain.explain)
app.command("evaluate")(evaluate.evaluate)
app.command("compare")(compare.compare)
app.command("report")(report.report)
app.command("generate")(generate.generate)
app.command("build")(build.build)
app.command("filter")(filter.filter_)
app.command("metrics")(metrics.metrics)
app.add_typer(bench.app, name="bench")
app.command("import")(import_.import_)
app.command("demo")(demo.demo)
app.add_typer(listen.app, name="listen")
app.command("convert")(convert.convert)


def main() -> None:
    """Run the command; a user's mistake is one sentence and exit status 2, Ctrl-C status 130.

    A disk or an output that takes no more is one sentence too. A reader that has gone, as in
    `| head`, is nobody's mistake: status 1 and no word.
    """
    hook, interrupted = sys.unraisablehook, _noted()
    try:
        sys.unraisablehook = _raised_later
        _set_up_streams()
        try:
            app()
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        _discard_pending()
        sys.exit(1)
    except Exception as error:
        if interrupted:  # a library made an error of its own of it
            sys.exit(130)
        # Imported here: pydantic would double the time that --help takes.
        from auditeval.types import UserError

        if isinstance(error, OSError):
            said = error.strerror or str(error)
            error = UserError(f"{error.filename}: {said}" if error.filename else f"stopped: {said}")
        elif str(error).startswith("Symlink loop from"):  # Path.resolve before Python 3.13
            error = UserError(str(error))
        if not isinstance(error, UserError):
            raise
        with suppress(OSError):  # nobody can be told
            say(f"auditeval: {error}", sys.stderr)
        _discard_pending()
        sys.exit(2)
    finally:
        sys.unraisablehook = hook


def _noted() -> list[int]:
    """Grows with each Ctrl-C from now on, whatever becomes of the exception that it raises."""
    noted: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        noted.append(number)
        signal.default_int_handler(number, frame)

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else somebody else's
        with suppress(ValueError):  # not in the main thread
            signal.signal(signal.SIGINT, interrupt)
    return noted


def _raised_later(unraisable: UnraisableHookArgs) -> None:
    """A Ctrl-C in a callback, which can raise to nobody, comes again behind it and is not lost."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        Timer(0.01, interrupt_main).start()  # at once it would be raised in here
    else:
        sys.__unraisablehook__(unraisable)


def _set_up_streams() -> None:
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by who started this
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # What the terminal's encoding lacks, an arrow or a name, is an escape and no traceback.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if logging.lastResort is not None:  # where warnings go, as nothing else is set up
        logging.lastResort.setFormatter(OneLine())


def _discard_pending() -> None:
    """What a stream does not take: Python would try again when it ends, and end otherwise."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with suppress(OSError):  # captured, it has no number
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
