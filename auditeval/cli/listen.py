"""`auditeval listen`: a listening test on this computer, from a manifest to a rated manifest."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from auditeval.cli import listen_simulate
from auditeval.cli.options import Force, Host, Port, check_web
from auditeval.text import counted, say


class _ServesByDefault(TyperGroup):
    """`auditeval listen MANIFEST` is `auditeval listen serve MANIFEST`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["serve", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_ServesByDefault,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Run a listening test: `auditeval listen MANIFEST --votes votes.db` serves it.",
)

app.command("simulate")(listen_simulate.simulate)

VotesFile = Annotated[Path, typer.Argument(help="The votes of `auditeval listen`.")]
Screen = Annotated[
    list[str] | None,
    typer.Option(
        "--screen",
        help="Leave out votes by a rule: p808 (or p808-gold, p808-variance, p808-outliers), bt500, "
        "repeats, headphones, agreement; several allowed.",
    ),
]


@app.command("serve")
def serve(
    manifest: Annotated[Path, typer.Argument(help="Pairs: .jsonl, .csv or .parquet.")],
    votes: Annotated[Path, typer.Option(help="Database of the votes, made or gone on with.")],
    raters: Annotated[int, typer.Option(min=0, max=1000, help="Raters to have links for.")] = 5,
    settings: Annotated[
        Path | None, typer.Option(help="YAML file of the design; see docs/listening.md")
    ] = None,
    select: Annotated[
        str | None, typer.Option(help="Which pair next: balanced (default), random or uncertain.")
    ] = None,
    goal: Annotated[
        str | None, typer.Option(help="What --select uncertain is for: ranking or training.")
    ] = None,
    scores: Annotated[
        Path | None, typer.Option(help="Scores with intervals, which --select uncertain weighs.")
    ] = None,
    language: Annotated[
        str, typer.Option(help="en, zh, or a .json file of texts of your own.")
    ] = "en",
    headphone_check: Annotated[
        bool | None,
        typer.Option("--headphone-check/--no-headphone-check", help="Default: as in --settings."),
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    url: Annotated[
        str | None,
        typer.Option(help="What raters open, behind a proxy: https://lab.example/listen."),
    ] = None,
) -> None:
    """Serve a listening test: original and edited clips, three grades, until every pair has its
    votes.

    Prints a link for each rater, by which they can pause and return on any device, and one for you.
    A vote is on disk before the page says so: stop and start this at any time. Clips are sent anew
    without names, to their rater only. Needs `pip install -c constraints.txt '.[web]'`.

    Examples:

        auditeval listen edits.jsonl --votes votes.db

        auditeval listen edits.jsonl --votes votes.db --settings design.yaml --language zh

        auditeval listen edits.jsonl --votes votes.db --select uncertain --scores scores.csv

        auditeval listen edits.jsonl --votes votes.db --url https://lab.example/listen
    """
    from auditeval.listening import serving, texts
    from auditeval.listening import settings as designs
    from auditeval.outputs import sole_writer

    check_web("auditeval listen")
    texts.read(language)  # a test is made of what stands, or not at all
    if url is not None:
        serving.hosts(host, url)
    given = {"select": select, "goal": goal, "headphone_check": headphone_check}
    design = designs.read(settings, **{k: v for k, v in given.items() if v is not None})
    pairs = serving.read_pairs(manifest)
    with sole_writer(votes):
        database = serving.made_or_opened(votes, pairs, design, scores)
        try:
            database.add_raters(max(0, raters - len(database.raters())))
            test = serving.test_of(database, language)

            def ready(address: str) -> None:
                for rater in database.raters():
                    say(f"{rater.name}  {address}/r/{rater.token}")
                say(f"you  {address}/admin/{database.fact('admin')}")
                served = counted(len(pairs), "pair", "pairs")
                say(f"serving {served}; votes go to {votes}; Ctrl-C stops")
                sys.stdout.flush()  # who reads it from a pipe waits for it

            serving.serve(test, host, port, url, ready)
        finally:
            database.close()


@app.command("status")
def status(votes: VotesFile) -> None:
    """How a test stands: progress, systems, agreement and raters; the server may run meanwhile.

    Examples:

        auditeval listen status votes.db
    """
    from auditeval.listening import overview, serving, votes_database
    from auditeval.report.render import show

    database = votes_database.opened(votes, reading=True)
    found = overview.of(database, serving.settings_of(database))
    show(*found.tables)
    say(
        f"{votes}: {found.done} of {found.wanted} votes, {found.settled} of {found.pairs} pairs "
        f"have all of theirs, {found.active} raters have begun"
    )


@app.command("screen")
def screen(votes: VotesFile, rules: Screen = None) -> None:
    """What rules of screening would leave out of an export, and why; nothing is deleted.

    Without --screen all rules are shown.

    Examples:

        auditeval listen screen votes.db

        auditeval listen screen votes.db --screen p808 --screen bt500
    """
    from auditeval.listening import results, screening, votes_database
    from auditeval.report.render import show
    from auditeval.table import Column, Table

    found = results.read(votes_database.opened(votes, reading=True))
    of = {trial.number: found.name(trial) for trial in found.trials}
    rows: list[list[Any]] = []
    by_rule = screening.screen(found, rules or list(screening.RULES))
    for rule, left_out in by_rule.items():
        said = Counter((of[number], reason) for number, reason in left_out.items())
        rows += [[rule, rater, count, reason] for (rater, reason), count in sorted(said.items())]
        if not said:
            rows.append([rule, "nobody", 0, screening.RULES[rule].says])
    labels = [Column(name, label=True) for name in ("rule", "rater")]
    columns = [*labels, Column("votes"), Column("why")]
    notes = []
    if by_rule.get("bt500") == {} and screening.too_few_for_bt500(found):
        notes.append(
            f"bt500: no pair has {screening.BT500_VOTES} votes. Among fewer no grade can be as far "
            "from the mean as the rule asks (among 6, some half points)."
        )
    title = "Votes that rules leave out"
    show(Table(title=title, columns=columns, rows=rows, notes=notes, marked=False))


@app.command("export")
def export(
    votes: VotesFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Manifest to write: .jsonl, .csv or .parquet.")
    ],
    rules: Screen = None,
    force: Force = False,
) -> None:
    """Write the rated pairs as a manifest with the votes of each rater, ready to train on.

    Votes that a rule of --screen leaves out stay in the database: export again for other rules.

    Examples:

        auditeval listen export votes.db -o rated.jsonl

        auditeval listen export votes.db -o rated.jsonl --screen p808 --screen bt500

        python train.py data=manifest data.path=rated.jsonl
    """
    from auditeval import manifest
    from auditeval.listening import export as exporting
    from auditeval.listening import results, screening, serving, votes_database
    from auditeval.outputs import writing
    from auditeval.types import UserError

    manifest.check_suffix(output)
    with writing(output, "auditeval listen export", inputs=[votes], force=force):
        database = votes_database.opened(votes, reading=True)
        found = results.read(database)
        left_out = {n for f in screening.screen(found, rules or []).values() for n in f}
        pairs = exporting.to_pairs(found, serving.settings_of(database).title, left_out)
        if not pairs:
            raise UserError(f"{votes}: holds no votes that could be exported")
        manifest.write(pairs, output)
    total = len(found.of("rating"))
    votes_of = f"{total - len(left_out):,} of {counted(total, 'vote', 'votes')}"
    say(f"{output}: {counted(len(pairs), 'pair', 'pairs')} with {votes_of}")
