"""A manifest through an evaluator into a scores table: what is made is kept, what is old is not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xxhash

from auditeval import manifest, manifest_blocks, reading, scores_table, storage
from auditeval.atomic import new_folder, replacing, sweep, write_text
from auditeval.blocks import Block, Engine, cut
from auditeval.digests import sha256
from auditeval.manifest_blocks import ManifestBlock
from auditeval.outputs import check, sole_writer
from auditeval.scores_log import ScoresLog, states
from auditeval.scoring_blocks import Scored, ScoringBlock, ScoringWorker
from auditeval.types import Scores, UserError, whole

_TABLE, _BLOCK = "scores_sha256", "block_rows"
_BLOCK_ROWS, _MOST_BLOCKS = 256, 10_000


class Progress(NamedTuple):
    """How far a manifest has come, in rows.

    `kept` of those done are of an earlier run; `changed` are the ids of the rows of that run that
    are scored again, since a clip of theirs is another file now.
    """

    done: int
    errors: int
    total: int
    kept: int = 0
    changed: tuple[str, ...] = ()


class _Files:
    """What lies beside a table while it is made (`partial`, a folder of logs of blocks, and
    `started`), and when it is finished.

    An object cannot be added to. So the log of a block is written on this machine (in the cache
    folder, where a killed run finds it) and put when the block is done or the run ends: another
    machine goes on with all blocks but the last.
    """

    def __init__(self, output: Path, is_folder: bool, record: Mapping[str, Any]) -> None:
        def beside(suffix: str) -> Path:
            return output.with_name(f"{output.name}.{suffix}")

        self.output, self.finished, self.states = output, beside("json"), beside("clips.npy")
        self.partial, self.started = beside("partial"), beside("partial.json")
        self.is_folder = is_folder
        self._of = xxhash.xxh3_64_hexdigest(json.dumps({**record, "checkpoint": ""}).encode())

    @contextmanager
    def log(self, block: Block) -> Iterator[ScoresLog]:
        """That of a block."""
        path = self.partial / _name(block)
        with storage.appended(path, self._of) as own, ScoresLog(own, block) as log:
            yield log

    def begun(self) -> set[str]:
        """Names of the logs that are there."""
        return storage.names(self.partial, self._of)

    def all(self) -> list[Path]:
        return [self.output, self.finished, self.states, self.partial, self.started]

    def digest(self) -> str:
        """Of the table, whether file or parts."""
        return sha256(*(scores_table.parts(self.output) or [self.output]))


def score_manifest(
    start: Callable[[str], ScoringWorker],
    engine: Engine,
    provenance: Mapping[str, Any],
    manifest_path: Path,
    output: Path,
    batch_size: int,
    fresh: bool = False,
    force: bool = False,
    parts: bool = False,
) -> Iterator[Progress]:
    """See `Evaluator.score_manifest`; `start` makes a worker on a device, `provenance`
    says what scores."""
    whole("batch_size", batch_size)
    if not parts:
        scores_table.check_suffix(output)
    elif output.suffix.lower() in scores_table.SUFFIXES:
        raise UserError(f"{output}: parts are files in a folder; leave out {output.suffix}")
    check([output], [manifest_path], own=True, folder=parts)
    total = manifest.check(manifest_path)
    record = {**provenance, **_made_from(manifest_path), "rows": total}
    files = _Files(output, parts, record)
    try:
        with sole_writer(output):
            for path in files.all():
                sweep(path)
            block_rows = _block_rows(total, batch_size)
            goes_on = _goes_on(files, record, fresh, force)
            finished = goes_on and not _is_of(files.started, record) and files.output.exists()
            known = _known(files, total) if finished else None
            if known is not None and _all_current(known, manifest_path):
                storage.remove(files.partial)
                errors = sum(row.status == "error" for row in scores_table.read(output))
                yield Progress(total, errors, total, total)
                return
            make = partial(start, engine.device)  # a cluster is joined: nothing is given up before
            if not goes_on:
                _discard(files)
            elif finished:
                _reopen(files, known, block_rows)
            elif _is_of(files.started, record):
                block_rows = _record(files.started).get(_BLOCK, block_rows)
            write_text(files.started, json.dumps({**record, _BLOCK: block_rows}, indent=2) + "\n")
            if not files.partial.is_dir():
                files.partial.unlink(missing_ok=True)
                files.partial.mkdir()
            blocks = _unfinished(files, manifest_blocks.cut(manifest_path, total, block_rows))
            yield from _scored(engine.run(make, blocks), files, total)
            _finish(files, manifest_path, record, block_rows)
    except storage.StorageError as error:
        raise UserError(
            f"{error.filename}: {error.strerror}; rows scored so far are kept, and the same "
            "command goes on from there"
        ) from None
    except OSError as error:
        raise UserError(
            f"{output}: cannot be written ({error.strerror}); rows scored so far are kept in "
            f"{files.partial.name} and the same command goes on from there"
        ) from None


def _block_rows(total: int, batch_size: int) -> int:
    """Whole batches: a part is not too long to be made twice, and parts are not too many."""
    return batch_size * -(-max(_BLOCK_ROWS, total // _MOST_BLOCKS) // batch_size)


def _name(block: Block) -> str:
    return f"{block.number:06d}.jsonl"


def _unfinished(files: _Files, blocks: Iterable[ManifestBlock]) -> Iterator[ScoringBlock]:
    """All blocks, with what an earlier run left of them."""
    begun = files.begun()
    for block in blocks:
        held = None
        if _name(block) in begun:
            with files.log(block) as log:
                held = log.held
        yield ScoringBlock(block.number, block.first, block.rows, block.start, held)


def _scored(
    steps: Iterator[tuple[ScoringBlock, Scored]], files: _Files, total: int
) -> Iterator[Progress]:
    """Write what is scored into the log of its block."""
    changed: list[str] = []
    done = kept = errors = 0
    said = None
    for place, of_block in groupby(
        steps, lambda step: (step[0].number, step[0].first, step[0].rows)
    ):
        with files.log(Block(*place)) as log:
            before = errors
            for _, step in of_block:
                done += step.kept or len(step.rows)
                kept += step.kept
                changed += step.changed
                log.add(step.first, step.rows, step.found)
                errors = before + log.errors
                made = Progress(done, errors, total, kept, tuple(changed))
                if step.rows:
                    yield (said := made)
    if said != made:
        yield made


def _goes_on(files: _Files, record: Mapping[str, Any], fresh: bool, force: bool) -> bool:
    """Whether what lies there is of this run; raises UserError for what must not be given up."""
    if fresh or force:
        check([files.output], (), _is_scores(files.finished), force, files.is_folder)
        return False
    going_on = _is_of(files.started, record)
    if files.output.exists() and not going_on and _is_of(files.finished, record):
        if _record(files.finished).get(_TABLE) == files.digest():
            return True
        raise UserError(
            f"{files.output}: was changed after it was made; score again with --fresh, or choose "
            "another output"
        )
    if files.output.exists() and not going_on:
        check([files.output], (), _is_scores(files.finished), False, files.is_folder)
        raise UserError(
            f"{files.output}: exists already and was not made by this checkpoint from this "
            "manifest; start over with --fresh, or choose another output"
        )
    if files.partial.exists() and not going_on and not files.output.exists():
        raise UserError(
            f"{files.partial}: holds rows of another checkpoint or manifest; start over with "
            "--fresh, or choose another output"
        )
    return True


def _discard(files: _Files) -> None:
    """An older table stays until the new one takes its place."""
    storage.remove(files.partial)
    for path in (files.started, files.finished, files.states):
        path.unlink(missing_ok=True)


def _known(files: _Files, total: int) -> np.ndarray | None:
    """The `states` of the clips that a finished table was made from :: int64 (total, 4)."""
    try:
        known: np.ndarray = np.load(storage.local(files.states), mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError):
        return None
    return known if known.shape == (total, 4) and known.dtype == np.int64 else None


def _all_current(known: np.ndarray, manifest_path: Path) -> bool:
    pairs = manifest.iterate(manifest_path)
    return all(states(pair) == row.tolist() for pair, row in zip(pairs, known, strict=True))


def _reopen(files: _Files, known: np.ndarray | None, block_rows: int) -> None:
    """Make the logs again that a finished table was made from, if it is known from what clips."""
    storage.remove(files.partial)
    if known is None:
        return
    rows = scores_table.read(files.output)
    with new_folder(files.partial) as temporary:
        for block in cut(len(known), block_rows):
            with ScoresLog(temporary / _name(block), block) as log:
                found = known[block.first : block.first + block.rows].tolist()
                log.add(block.first, list(islice(rows, block.rows)), found)


def _finish(files: _Files, manifest_path: Path, record: Mapping[str, Any], block_rows: int) -> None:
    made = _made_from(manifest_path)
    if made["manifest_sha256"] != record["manifest_sha256"]:
        raise UserError(
            f"{manifest_path}: was changed while it was scored; give the command again with --fresh"
        )
    total = record["rows"]
    header = {"descr": "<i8", "fortran_order": False, "shape": (total, 4)}
    with replacing(files.states) as temporary, temporary.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)

        def rows() -> Iterator[Scores]:
            for block in cut(total, block_rows):
                with files.log(block) as log:
                    file.write(log.held.states.astype("<i8").tobytes())
                    yield from log.scores()

        ids = (pair.id for pair in manifest.iterate(manifest_path))
        table = _checked(rows(), ids, files.partial)
        if files.is_folder:
            sizes = (block.rows for block in cut(total, block_rows))
            scores_table.write_parts(table, sizes, files.output)
        else:
            scores_table.write(table, files.output)
    write_text(files.finished, json.dumps({**record, _TABLE: files.digest()}, indent=2) + "\n")
    files.started.unlink()
    storage.remove(files.partial)


def _checked(rows: Iterator[Scores], ids: Iterator[str], partial: Path) -> Iterator[Scores]:
    """The rows, one for each id and in their order."""
    for row, id in zip(rows, ids, strict=True):
        if row.id != id:
            raise UserError(f"{partial}: has {row.id!r} for {id!r}; start over with --fresh")
        yield row


def _made_from(manifest_path: Path) -> dict[str, Any]:
    return {"manifest": manifest_path.name, "manifest_sha256": sha256(manifest_path)}


def _record(path: Path) -> dict[str, Any]:
    try:
        found = reading.json_file(path)
    except UserError:
        return {}
    return found if isinstance(found, dict) else {}


def _is_of(path: Path, record: Mapping[str, Any]) -> bool:
    """Whether the file is this record, by whatever path the checkpoint was named: its digest says
    which it is."""
    found = {**_record(path), "checkpoint": record["checkpoint"]}
    for own in (_TABLE, _BLOCK):
        found.pop(own, None)
    return found == record


def _is_scores(path: Path) -> bool:
    """Whether the file is the record of a scores table that some evaluator made."""
    return {"checkpoint_sha256", "manifest_sha256"} <= _record(path).keys()
