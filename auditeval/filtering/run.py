"""A manifest and its scores through a recipe: two manifests and the counts, all or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import polars

from auditeval import manifest, scores_table
from auditeval.atomic import replacing
from auditeval.digests import sha256
from auditeval.filtering.recipe import read_recipe
from auditeval.filtering.select import Outcome, select, summarize
from auditeval.filtering.split import Halves, split
from auditeval.filtering.tables import read_pairs
from auditeval.outputs import writing
from auditeval.text import counted
from auditeval.types import AXES, UserError
from auditeval.version import __version__


class Files(NamedTuple):
    """What `auditeval filter -o kept.jsonl` writes."""

    kept: Path
    rejected: Path
    markdown: Path
    plot: Path
    record: Path


class Filtered(NamedTuple):
    """The outcome, what it was made from, and where the three report files are to be written."""

    outcome: Outcome
    provenance: dict[str, Any]
    drafts: Files


def files(output: Path) -> Files:
    """kept.jsonl, kept.rejected.jsonl, kept.filter.json, kept.filter.md, kept.filter.png."""
    stem, suffix = output.stem, output.suffix
    others = (f"rejected{suffix}", "filter.md", "filter.png", "filter.json")
    return Files(output, *(output.with_name(f"{stem}.{other}") for other in others))


@contextmanager
def filtered(
    manifest_path: Path,
    scores_path: Path,
    recipe_path: Path,
    output: Path,
    progress: Callable[[str], None] = lambda doing: None,
    force: bool = False,
) -> Iterator[Filtered]:
    """Filter a manifest; its caller writes the report into `drafts` before the block ends.

    Both manifests are written meanwhile, in a thread. The files get their names when it has ended
    without an error, `output` as the last one: where it is, all of them are, and from the same
    inputs come the same bytes. Paths of the kept and the rejected manifest are relative to their
    folder. Raises UserError for bad input, for an output that is one of the inputs or, without
    `force`, somebody else's, and where no pair has a score.
    """
    manifest.check_suffix(output)
    manifest.check_readable(manifest_path)
    names = files(output)
    inputs = {"recipe": recipe_path, "manifest": manifest_path, "scores": scores_path}
    with (
        writing(output, "auditeval filter", [p.name for p in names], inputs.values(), force),
        _written(names) as drafts,
        ThreadPoolExecutor(3) as aside,
    ):
        recipe = read_recipe(recipe_path)
        digests = {name: aside.submit(sha256, path) for name, path in inputs.items()}
        progress(f"reading {manifest_path.name} and {scores_path.name}")
        reading = aside.submit(scores_table.read_table, scores_path)
        pairs = read_pairs(manifest_path)
        scores = reading.result().select("id", *AXES).with_columns(scored=polars.lit(True))
        table = pairs.join(scores, on="id", how="left", maintain_order="left")
        matched = table["scored"].count()
        if not matched:
            raise UserError(f"{scores_path}: has a row for none of the {pairs.height:,} pairs")
        try:
            rejected_by = select(table, recipe)
        except UserError as error:
            raise UserError(f"{recipe_path}: {error}") from None
        outcome = summarize(table, recipe, rejected_by)
        del table
        progress(f"writing {counted(pairs.height, 'row', 'rows')}")
        halves = Halves(drafts.kept, drafts.rejected, output)
        splitting = aside.submit(split, manifest_path, halves, pairs["id"], rejected_by)
        provenance = {
            "auditeval": __version__,
            "kept_in": output.name,
            **{name: path.name for name, path in inputs.items()},
            **{f"{name}_sha256": digest.result() for name, digest in digests.items()},
            "scores_of_no_pair": scores.height - matched,
        }
        yield Filtered(outcome, provenance, drafts)
        splitting.result()
        output.unlink(missing_ok=True)  # an older one would stand beside the new report


@contextmanager
def _written(names: Files) -> Iterator[Files]:
    """Temporary names of all files, given up for their own in the end, the kept one last."""
    with ExitStack() as stack:
        yield Files(*(stack.enter_context(replacing(path)) for path in names))
