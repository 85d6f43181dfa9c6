"""The command `auditeval`. Each subcommand is a file; what is heavy is imported when it runs."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import suppress
from io import TextIOWrapper

import typer

from auditeval.cli import (
    bench,
    build,
    compare,
    convert,
    describe,
    evaluate,
    explain,
    filter,
    generate,
    import_,
    metrics,
    score,
)
from auditeval.text import OneLine, say

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
app.command("generate")(generate.generate)
app.command("build")(build.build)
app.command("filter")(filter.filter_)
app.command("metrics")(metrics.metrics)
app.add_typer(bench.app, name="bench")
app.command("import")(import_.import_)
app.command("convert")(convert.convert)


def main() -> None:
    """Run the command; a user's mistake is one sentence and exit status 2, Ctrl-C status 130.

    A disk or an output that takes no more is one sentence too. A reader that has gone, as in
    `| head`, is nobody's mistake: status 1 and no word.
    """
    for stream in (sys.stdout, sys.stderr):
        # What the terminal's encoding lacks, an arrow or a name, is an escape and no traceback.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if logging.lastResort is not None:  # where warnings go, as nothing else is set up
        logging.lastResort.setFormatter(OneLine())
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        _discard_output()
        sys.exit(1)
    except Exception as error:
        # Imported here: pydantic would double the time that --help takes.
        from auditeval.types import UserError

        if isinstance(error, OSError):
            said = error.strerror or str(error)
            error = UserError(f"{error.filename}: {said}" if error.filename else f"stopped: {said}")
            _discard_output()
        if not isinstance(error, UserError):
            raise
        say(f"auditeval: {error}", sys.stderr)
        sys.exit(2)


def _discard_output() -> None:
    """What is still to be written to stdout, which Python would try again when it ends."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        return
    with suppress(OSError, ValueError):  # captured, it has no number
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
