"""`auditeval evaluate`: scores tables against the ratings of a manifest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from auditeval.cli.options import Force, Html, Resamples
from auditeval.cli.report import check_page, page_of
from auditeval.seed import SEED
from auditeval.text import counted, say

if TYPE_CHECKING:
    from auditeval.report.agreement import Predictions, Report
    from auditeval.types import EditPair

_SPLITS = ("test", "validation", "train")


def evaluate(
    scores: Annotated[
        list[Path],
        typer.Argument(
            help="Scores tables; of several also the differences in SRCC, on pairs that both have."
        ),
    ],
    against: Annotated[Path, typer.Option(help="The manifest that holds the ratings.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for JSON, Markdown and the plot.")
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="test, validation, train or all; default: test where the manifest states splits."
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="A table for each operation, system, split, talker, source or other field as well."
        ),
    ] = None,
    checkpoint: Annotated[
        list[str] | None,
        typer.Option(
            "--checkpoint",
            "-c",
            help="TABLE=FOLDER (or hub id) of the checkpoint that made a table, to look for leaks "
            "in what it was trained on; needed where the JSON beside the table does not lead there."
            " TABLE is its name in the report, and may be left out where there is one.",
        ),
    ] = None,
    resamples: Resamples = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")] = SEED,
    html: Html = None,
    force: Force = False,
) -> None:
    """Agreement with ratings: MSE, LCC, SRCC, KTAU at system and utterance level, with intervals.

    Names the pairs whose original the evaluator was trained on, and, where pairs have several
    raters, the correlation that their noise leaves to an evaluator without error.

    Examples:

        auditeval evaluate scores.csv --against pairs.jsonl -o report

        auditeval evaluate ours.csv theirs.csv --against pairs.jsonl --split test --by operation

        auditeval evaluate scores.csv --against pairs.jsonl --checkpoint runs/a/a/holdout/checkpoint
    """
    from auditeval.outputs import writing
    from auditeval.report import agreement_files
    from auditeval.report.agreement_table import print_report
    from auditeval.types import UserError

    if html is not None and output is None:
        raise UserError("--html is the page of a report; it needs -o FOLDER")
    check_page(html, force)
    inputs = [*scores, against]
    with writing(output, "auditeval evaluate", agreement_files.FILES, inputs, force, digests=True):
        made = _make_report(scores, against, split, by, checkpoint or [], resamples, seed)
        print_report(made)
        if output is not None:
            agreement_files.write(made, output)
            say(f"report: {output}")
    if output is not None:
        page_of(output, html, force)


def _make_report(
    scores: Sequence[Path],
    against: Path,
    split: str | None,
    by: str | None,
    given: Sequence[str],
    resamples: int,
    seed: int,
) -> Report:
    from auditeval import manifest
    from auditeval.report import agreement, leaks
    from auditeval.types import AXES, UserError

    pairs = [pair for pair in manifest.read(against) if pair.ratings]
    if not pairs:
        raise UserError(f"{against}: no pair has ratings to compare with")
    split = split or ("all" if by == "split" or not any(pair.split for pair in pairs) else "test")
    pairs, part = _part(pairs, split, against)
    names = _names(scores)
    checkpoints = _checkpoints(given, list(names.values()))
    predictions = [_predictions(path, name, pairs) for path, name in names.items()]
    trained = {name: leaks.trained_on(path, checkpoints.get(name)) for path, name in names.items()}
    title = f"the ratings of {against.name}{part}"
    settings = (title, resamples, seed)
    groups = agreement.by_field(pairs, predictions, by, *settings) if by is not None else {}
    differences = [
        difference
        for axis in AXES
        for other in predictions[1:]
        if (difference := agreement.difference(pairs, predictions[0], other, axis, resamples, seed))
    ]
    scored = {made.evaluator: [id for id, x in made.values.items() if x] for made in predictions}
    return agreement.make_report(pairs, predictions, *settings)._replace(
        differences=differences,
        leaks=leaks.find(pairs, scored, trained),
        split="" if split == "all" else split,
        by=by or "",
        groups=groups,
        notes=_notes(names, against),
    )


def _part(pairs: list[EditPair], split: str, against: Path) -> tuple[list[EditPair], str]:
    """The pairs of a split, and how the title names it."""
    from auditeval.types import UserError

    stated = Counter(pair.split or "none stated" for pair in pairs)
    if split == "all":
        splits = any(pair.split for pair in pairs)
        return pairs, f" (all splits, {counted(len(pairs), 'pair', 'pairs')})" if splits else ""
    if split not in _SPLITS:
        raise UserError(f"--split {split!r}: expected {', '.join(_SPLITS)} or all")
    kept = [pair for pair in pairs if pair.split == split]
    if not kept:
        listed = ", ".join(f"{name} {count}" for name, count in sorted(stated.items()))
        raise UserError(
            f"{against}: no rated pair is in the split {split} (there are: {listed}); choose "
            "another with --split, or all"
        )
    return kept, f" (split {split}, {len(kept):,} of {len(pairs):,} pairs)"


def _names(tables: Sequence[Path]) -> dict[Path, str]:
    """What the report calls each table: its name without the suffix, of several with one name with
    as many folders before it as tell them apart. None is called as the raters' ceiling is."""
    from auditeval.report.agreement_table import CEILING
    from auditeval.types import UserError

    whole = {table: table.resolve() for table in tables}
    if len(set(whole.values())) < len(tables):
        raise UserError("a scores table is named twice")
    names: dict[Path, str] = {}
    for table, path in whole.items():
        alike = [x for x in whole.values() if x.stem == path.stem and x != path]
        others = [list(x.with_suffix("").parts) for x in alike]
        tails = ([*path.parts[-depth:-1], path.stem] for depth in range(1, len(path.parts)))
        names[table] = next(
            (
                "/".join(tail)
                for tail in tails
                if tail != [CEILING] and not any(x[-len(tail) :] == tail for x in others)
            ),
            str(table),  # they differ in the suffix only
        )
    return names


def _notes(names: Mapping[Path, str], against: Path) -> list[str]:
    """Which tables were made from another manifest, as their sidecars have it."""
    from auditeval.digests import sha256
    from auditeval.report import leaks

    records = {name: leaks.made_from(table) for table, name in names.items()}
    digest = sha256(against)
    return [
        f"{name} was made from another manifest ({record.get('manifest')}) than {against.name} is "
        "now."
        for name, record in records.items()
        if record.get("manifest_sha256") not in (None, digest)
    ]


def _checkpoints(given: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """TABLE=FOLDER options by table; the one table needs no name."""
    from auditeval.types import UserError

    found: dict[str, str] = {}
    for option in given:
        name, equals, folder = option.partition("=")
        if (not equals or name not in names) and len(names) == 1:
            name, folder = names[0], option
        if name not in names or not folder:
            raise UserError(
                f"--checkpoint {option!r}: expected TABLE=FOLDER, TABLE one of {', '.join(names)}"
            )
        if name in found:
            raise UserError(f"--checkpoint {name}: stands twice")
        found[name] = folder
    return found


def _predictions(path: Path, name: str, pairs: Sequence[EditPair]) -> Predictions:
    from auditeval import scores_table
    from auditeval.report.agreement import Predictions
    from auditeval.types import UserError

    rows = list(scores_table.of_frame(scores_table.read_table(path)))
    made = Predictions.from_scores(name, rows)
    if not any(pair.ratings.keys() & made.values.get(pair.id, {}).keys() for pair in pairs):
        raise UserError(f"{path}: has a score for none of the {len(pairs)} rated pairs")
    return made
