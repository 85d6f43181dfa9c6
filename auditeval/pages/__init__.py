"""Reports as one page of HTML to look at and listen to, without a server and without a network.

`read` turns what a command wrote into a `page.Page`; `write` makes the file of it. The page is a
Jinja2 template; what moves in it is plain JavaScript of `static/` and of the room `player`, with no
library in between. Plots are drawn by that script, as SVG and on a canvas, and not by matplotlib:
they follow the filter, the reader's light or dark and the width of a phone, and each point leads to
its pair; 100,000 points as SVG would be 20 MB. Rows are columns of numbers and words, compressed by
gzip, which browsers undo themselves (DecompressionStream).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from auditeval import scores_table
from auditeval.outputs import check, is_own_folder, writing
from auditeval.pages import benchmark, data_quality, evaluation, filtering, scores, sound, votes
from auditeval.pages import page as pages
from auditeval.pages.page import Page
from auditeval.report import leaks
from auditeval.seed import SEED
from auditeval.types import UserError

MADE_BY = "auditeval report"


def read(
    what: Sequence[Path], manifest: Path | None = None, most: int = 4, seed: int = SEED
) -> Page:
    """The page of what a command wrote: scores tables, or one file or folder of another.

    `most` pairs of each kind are chosen to be heard. Raises UserError for what is none of these.
    """
    for path in what:
        if not path.exists():
            raise UserError(f"{path}: no such file or folder")
    first = what[0]
    if len(what) == 1 and (page := _of_one(first, manifest, most, seed)) is not None:
        if manifest is not None and not (first / evaluation.REPORT).is_file():
            raise UserError(f"{first}: says itself which pairs it is of; leave out --manifest")
        return page
    if all(path.is_file() and path.suffix.lower() in scores_table.SUFFIXES for path in what):
        return scores.of_tables(what, manifest, most, seed)
    strange = next(
        path for path in what if path.is_dir() or path.suffix.lower() not in scores_table.SUFFIXES
    )
    raise UserError(
        f"{strange}: is nothing that a page is made of; expected scores tables, or one report of "
        "evaluate, compare, filter, metrics or bench, a run folder of train.py, or votes of listen"
    )


def _of_one(path: Path, manifest: Path | None, most: int, seed: int) -> Page | None:
    """The page of what is no scores table; None where it looks like nothing of that."""
    if path.is_dir():
        if (path / "config.yaml").is_file():
            return evaluation.of_run(path, most, seed)
        if (path / evaluation.REPORT).is_file():
            return evaluation.of_report(path, manifest, most, seed)
        if (path / "data_quality.json").is_file():
            return data_quality.of_report(path)
        found = [name for name in benchmark.NAMES if (path / f"{name}.json").is_file()]
        return benchmark.of_run(path, found[0], most, seed) if found else None
    if path.name.endswith(".filter.json"):
        return filtering.of_filter(path, most, seed)
    if filtering.is_kept(path):
        return filtering.of_filter(path.with_name(f"{path.stem}.filter.json"), most, seed)
    if path.suffix.lower() == ".json":
        return evaluation.of_comparison(path)
    return votes.of_database(path, most, seed) if path.suffix.lower() == ".db" else None


def explained(
    page: Page,
    checkpoint: str | Path | None = None,
    device: str = "auto",
    cache_dir: Path | None = None,
) -> Page:
    """The page with curves of its pairs to hear, by the evaluator that scored them or by this one.

    Where there is none at hand, or it hears pairs as a whole, the page says so.
    """
    from auditeval.pages import curves

    if not page.choices or not page.rows.clips:
        return page
    place = checkpoint
    if place is None:
        if page.scored_in is None:  # not scores of one evaluator
            return page
        found = leaks.checkpoint_of(page.scored_in)
        if isinstance(found, str):
            return replace(page, remarks=[*page.remarks, f"No curves over time: {found}."])
        place = found
    chosen = [row for choice in page.choices for row in choice.rows]
    made, why = curves.explained(page.rows, chosen, place, device, cache_dir)
    said = [f"Some pairs have no curves over time: {why}."] if why else []
    return replace(page, curves=made, remarks=[*page.remarks, *said])


def write(
    page: Page,
    mode: sound.Mode,
    output: Path,
    inputs: Iterable[Path] = (),
    force: bool = False,
    told: Callable[[int, int, str], None] = lambda clips, size, where: None,
) -> None:
    """The page at `output`, a file ending in .html; before that `told` how many clips of how many
    bytes go with it, and where. Raises UserError for an output that is an input or a stranger's.
    """
    folder = pages.clips_folder(output)
    if mode == "copy":
        _check_folder(output.with_name(folder), page)
    with writing(output, MADE_BY, inputs=inputs, force=force):
        chosen = [row for choice in page.choices for row in choice.rows]
        sounds = sound.gather(page.rows, chosen, mode, output, folder)
        count = len(sounds.within) + len(sounds.beside)
        if count:
            told(count, sounds.bytes, f"in {folder}/" if sounds.beside else "in the page")
        pages.write(page, sounds, mode, output, MADE_BY)


def _check_folder(folder: Path, page: Page) -> None:
    """Raise UserError where copies would take the place of a stranger's folder, or of clips that
    the page is of."""
    check([folder], own=is_own_folder(folder, MADE_BY), folder=True)
    inside = folder.resolve()
    clips = (path for both in page.rows.clips for path in both if path is not None)
    places: dict[Path, Path] = {}
    for path in clips:
        places.setdefault(path.parent, path)
    for place, path in places.items():
        if inside in (place.resolve(), *place.resolve().parents):
            raise UserError(f"{folder}: holds clips of the page, {path}; choose another -o")
