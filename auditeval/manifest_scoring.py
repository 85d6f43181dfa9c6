"""A manifest through an evaluator into a scores table: what is made is kept, what is old is not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from auditeval import manifest, reading, scores_table
from auditeval.atomic import replacing, sweep
from auditeval.digests import sha256
from auditeval.outputs import check, sole_writer
from auditeval.scores_log import ScoresLog, states
from auditeval.types import EditPair, Scores, UserError

_TABLE = "scores_sha256"


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
    """What lies beside a table while it is made (`partial`, `started`), and when it is finished."""

    def __init__(self, output: Path) -> None:
        def beside(suffix: str) -> Path:
            return output.with_name(f"{output.name}.{suffix}")

        self.output, self.finished, self.states = output, beside("json"), beside("clips.npy")
        self.partial, self.started = beside("partial"), beside("partial.json")


def score_manifest(
    score: Callable[[Sequence[EditPair]], list[Scores]],
    provenance: Mapping[str, Any],
    manifest_path: Path,
    output: Path,
    batch_size: int,
    fresh: bool = False,
    force: bool = False,
) -> Iterator[Progress]:
    """See `Evaluator.score_manifest`; `score` rates a batch, `provenance` says by what."""
    scores_table.check_suffix(output)
    check([output], [manifest_path], own=True)
    total = manifest.check(manifest_path)
    record = {**provenance, **_made_from(manifest_path), "rows": total}
    files = _Files(output)
    try:
        with sole_writer(output):
            for path in vars(files).values():
                sweep(path)
            if not _goes_on(files, record, fresh, force):
                _discard(files)
            elif not _is_of(files.started, record) and files.output.exists():
                known = _known(files, total)
                if known is not None and _all_current(known, manifest_path):
                    files.partial.unlink(missing_ok=True)
                    errors = sum(row.status == "error" for row in scores_table.read(output))
                    yield Progress(total, errors, total, total)
                    return
                _reopen(files, known)
            with replacing(files.started) as temporary:
                temporary.write_text(json.dumps(record, indent=2) + "\n")
            with ScoresLog(files.partial, total) as log:
                yield from _scored(score, log, manifest_path, batch_size, total)
                _finish(log, files, manifest_path, record)
    except OSError as error:
        raise UserError(
            f"{output}: cannot be written ({error.strerror}); rows scored so far are kept in "
            f"{files.partial.name} and the same command goes on from there"
        ) from None


def _goes_on(files: _Files, record: Mapping[str, Any], fresh: bool, force: bool) -> bool:
    """Whether what lies there is of this run; raises UserError for what must not be given up."""
    if fresh or force:
        check([files.output], own=_is_scores(files.finished), force=force)
        return False
    going_on = _is_of(files.started, record)
    if files.output.exists() and not going_on and _is_of(files.finished, record):
        if _record(files.finished).get(_TABLE) == sha256(files.output):
            return True
        raise UserError(
            f"{files.output}: was changed after it was made; score again with --fresh, or choose "
            "another output"
        )
    if files.output.exists() and not going_on:
        check([files.output], own=_is_scores(files.finished))
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
    for path in (files.partial, files.started, files.finished, files.states):
        path.unlink(missing_ok=True)


def _known(files: _Files, total: int) -> np.ndarray | None:
    """The `states` of the clips that a finished table was made from :: int64 (total, 4)."""
    try:
        known: np.ndarray = np.load(files.states, allow_pickle=False)
    except (OSError, ValueError):
        return None
    return known if known.shape == (total, 4) and known.dtype == np.int64 else None


def _all_current(known: np.ndarray, manifest_path: Path) -> bool:
    pairs = manifest.iterate(manifest_path)
    return all(states(pair) == row.tolist() for pair, row in zip(pairs, known, strict=True))


def _reopen(files: _Files, known: np.ndarray | None) -> None:
    """Make the log again that a finished table was made from, if it is known from what clips."""
    files.partial.unlink(missing_ok=True)
    if known is None:
        return
    with replacing(files.partial) as temporary, ScoresLog(temporary, len(known)) as log:
        rows = zip(scores_table.read(files.output), known.tolist(), strict=True)
        for number, (scores, found) in enumerate(rows):
            log.add(number, [scores], [found])


def _scored(
    score: Callable[[Sequence[EditPair]], list[Scores]],
    log: ScoresLog,
    manifest_path: Path,
    batch_size: int,
    total: int,
) -> Iterator[Progress]:
    """Score each batch of the manifest that the log does not hold whole and of today's clips.

    A batch is scored as a whole, so that its rows come out to the last bit as in a run from
    nothing.
    """
    changed: list[str] = []
    done = kept = 0
    for number, pairs in enumerate(_batches(manifest.iterate(manifest_path), batch_size)):
        first = number * batch_size
        held = [log.holds(first + i, pair) for i, pair in enumerate(pairs)]
        found = [states(pair) for pair in pairs]
        old = [
            pair.id
            for i, pair in enumerate(pairs)
            if held[i] and not log.is_current(first + i, found[i])
        ]
        done += len(pairs)
        if all(held) and not old:
            kept += len(pairs)
        else:
            changed += old
            log.add(first, score(pairs), found)
            yield Progress(done, log.errors, total, kept, tuple(changed))
    if kept:
        yield Progress(done, log.errors, total, kept, tuple(changed))


def _finish(log: ScoresLog, files: _Files, manifest_path: Path, record: Mapping[str, Any]) -> None:
    made = _made_from(manifest_path)
    if made["manifest_sha256"] != record["manifest_sha256"]:
        raise UserError(
            f"{manifest_path}: was changed while it was scored; give the command again with --fresh"
        )
    ids = (pair.id for pair in manifest.iterate(manifest_path))
    scores_table.write(_checked(log.scores(), ids, files.partial), files.output)
    with replacing(files.states) as temporary, temporary.open("wb") as file:
        np.save(file, log.states)
    with replacing(files.finished) as temporary:
        content = {**record, _TABLE: sha256(files.output)}
        temporary.write_text(json.dumps(content, indent=2) + "\n")
    files.started.unlink()
    files.partial.unlink()


def _checked(rows: Iterator[Scores], ids: Iterator[str], partial: Path) -> Iterator[Scores]:
    """The rows, one for each id and in their order."""
    for row, id in zip(rows, ids, strict=True):
        if row.id != id:
            raise UserError(f"{partial}: has {row.id!r} for {id!r}; start over with --fresh")
        yield row


def _made_from(manifest_path: Path) -> dict[str, Any]:
    return {"manifest": manifest_path.name, "manifest_sha256": sha256(manifest_path)}


def _batches(rows: Iterable[EditPair], size: int) -> Iterator[list[EditPair]]:
    rows = iter(rows)
    while batch := list(islice(rows, size)):
        yield batch


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
    found.pop(_TABLE, None)
    return found == record


def _is_scores(path: Path) -> bool:
    """Whether the file is the record of a scores table that some evaluator made."""
    return {"checkpoint_sha256", "manifest_sha256"} <= _record(path).keys()
