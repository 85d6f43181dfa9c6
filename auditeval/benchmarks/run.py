"""One system through one benchmark: records in a file, gone on with where a killed run stopped."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from auditeval import reading
from auditeval.atomic import claim, replacing
from auditeval.benchmarks.benchmark import Benchmark, Record, is_unscored
from auditeval.benchmarks.systems import System
from auditeval.types import UserError
from auditeval.version import __version__

RECORDS, SETTINGS = "records.jsonl", "run.json"
"""Of each system, in its folder."""
_STATUSES = ("ok", "failed", "unscored")


def run(
    benchmark: Benchmark,
    system: System,
    folder: Path,
    workers: int = 2,
    watch: Callable[[int, int], None] = lambda done, total: None,
    stop: Callable[[], None] = lambda: None,
) -> list[Record]:
    """The records of all samples, in their order, which are then in `folder`/records.jsonl.

    They are written one by one: the same call after a kill goes on behind the last whole record,
    to the same bytes. First it evaluates again what is unscored: a judge that gave no answer may
    have one now. `watch` is told how many are done, of how many; `stop` is called where it ends
    before all are (an error, Ctrl-C), so that threads at work need not finish their samples, with
    all that a judge would be asked of them. Raises UserError for a folder of other samples,
    outputs, backends or another version, for records that are none, and where they cannot be
    written.
    """
    settings = {
        "auditeval": __version__,
        "benchmark": benchmark.name,
        "system": system.name,
        **benchmark.settings,
        **system.settings,
    }
    finished, partial = folder / RECORDS, folder / f"{RECORDS}.partial"
    samples = benchmark.samples
    try:
        claim(folder, SETTINGS, settings)
        is_whole = finished.exists()
        place = finished if is_whole else partial
        records = _read(finished, samples) if is_whole else _resume(partial, samples)
        if is_whole and len(records) < len(samples):
            raise _damaged(finished)
        _check_usable(benchmark, system, records, place)
        records = _asked_again(benchmark, system, place, records, workers, watch, stop)
        if is_whole:
            return records
        rest = samples[len(records) :]
        with closing(_evaluated(benchmark, system, rest, workers, stop)) as made:
            for record in made:
                # Not opened before: a folder without any record is free for other settings.
                with partial.open("ab") as file:
                    file.write(_line(record))
                records.append(record)
                watch(len(records), len(samples))
        partial.replace(finished)
    except OSError as error:
        raise UserError(
            f"{error.filename or folder}: cannot be written ({error.strerror}); records so far are "
            "kept and the same command goes on from there"
        ) from None
    return _read(finished, samples)  # as a run that is read from its file has them


def evaluate(benchmark: Benchmark, system: System, sample: Any) -> Record:
    """The record of one sample, with its id and the system's name first."""
    record = benchmark.evaluate(sample, system.output(sample))
    return {"id": sample.id, "system": system.name, **record}


def _evaluated(
    benchmark: Benchmark,
    system: System,
    samples: Sequence[Any],
    workers: int,
    stop: Callable[[], None],
) -> Generator[Record, None, None]:
    """In order; a few samples ahead of the one that is waited for, so that memory stays bounded.

    Closed before its end, or at an error, it calls `stop` and waits for what is under way.
    """
    if workers == 0:
        yield from (evaluate(benchmark, system, sample) for sample in samples)
        return
    ahead: deque[Future[Record]] = deque()
    rest = iter(samples)
    pool = ThreadPoolExecutor(workers)
    try:
        for sample in islice(rest, 2 * workers):
            ahead.append(pool.submit(evaluate, benchmark, system, sample))
        while ahead:
            yield ahead.popleft().result()
            for sample in islice(rest, 1):
                ahead.append(pool.submit(evaluate, benchmark, system, sample))
    except BaseException:
        stop()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _asked_again(
    benchmark: Benchmark,
    system: System,
    path: Path,
    records: list[Record],
    workers: int,
    watch: Callable[[int, int], None],
    stop: Callable[[], None],
) -> list[Record]:
    """The records, those unscored evaluated once more; the file only changes if they do."""
    places = [place for place, record in enumerate(records) if is_unscored(record)]
    open_samples = [benchmark.samples[place] for place in places]
    kept, total = len(records) - len(places), len(benchmark.samples)
    watch(kept, total)
    again = list(records)
    with closing(_evaluated(benchmark, system, open_samples, workers, stop)) as made:
        for done, (place, record) in enumerate(zip(places, made, strict=True), start=1):
            again[place] = json.loads(_line(record))
            watch(kept + done, total)
    if again != records:
        with replacing(path) as temporary:
            temporary.write_bytes(b"".join(map(_line, again)))
    return again


def _line(record: Record) -> bytes:
    return json.dumps(record, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _resume(partial: Path, samples: Sequence[Any]) -> list[Record]:
    """The whole records of a run that was killed; what is torn is cut off."""
    if not partial.exists():
        return []
    whole = partial.read_bytes()
    whole = whole[: whole.rfind(b"\n") + 1]
    with partial.open("r+b") as file:
        file.truncate(len(whole))
    return _read(partial, samples)


def _read(path: Path, samples: Sequence[Any]) -> list[Record]:
    """Records of the first samples, in their order; raises UserError for anything else."""
    try:
        records = [reading.from_json(line) for line in reading.lines(path)]
        ids = [record["id"] for record in records]
        statuses = [record["status"] for record in records]
    except (ValueError, TypeError, KeyError):
        raise _damaged(path) from None
    whole = all(status in _STATUSES for status in statuses)
    if not whole or ids != [sample.id for sample in samples[: len(ids)]]:
        raise _damaged(path)
    return records


def _check_usable(benchmark: Benchmark, system: System, records: list[Record], path: Path) -> None:
    """Raises UserError for records that lie there and are not such as this benchmark makes."""
    try:
        benchmark.values(records)
        benchmark.tables({system.name: records})
    except (LookupError, TypeError, ValueError, AttributeError):
        raise _damaged(path) from None


def _damaged(path: Path) -> UserError:
    return UserError(f"{path}: does not hold the records of these samples; delete its folder")
