"""What an offline run of wandb left on disk: its .wandb file is a LevelDB log of protobuf records.

https://github.com/google/leveldb/blob/main/doc/log_format.md, with another header and zlib's CRC.
wandb's own reader is no longer in the Python package.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HEADER, BLOCK, PREFIX = b":W&B\xe1\xbe\x00", 32768, 7
WHOLE, FIRST, MIDDLE, LAST = 1, 2, 3, 4


class WandbRun(NamedTuple):
    """One .wandb file. `history` has a dict for each `log`; `exit_code` is None if nobody ended it.

    `files` is the folder of what `history` names by a relative path.
    """

    id: str
    name: str
    group: str
    job_type: str
    project: str
    config: dict[str, Any]
    history: list[dict[str, Any]]
    exit_code: int | None
    files: Path

    def curve(self, name: str) -> list[tuple[int, float]]:
        """(epoch, value) of each `log` that has it."""
        return [(int(row["epoch"]), row[name]) for row in self.history if name in row]


def read_runs(run_dir: Path) -> list[WandbRun]:
    """All runs of a folder, in the order in which they were begun.

    Their names have the second alone, and two may begin in one.

    Waits for wandb's process to end: it writes behind a run's end.
    """
    import wandb

    wandb.teardown()
    paths = list(run_dir.glob("wandb/offline-run-*/run-*.wandb"))
    second = {path: path.parent.name.split("-")[2] for path in paths}
    return [
        read(path)
        for path in sorted(paths, key=lambda path: (second[path], _begun_ns(path.read_bytes())))
    ]


def _begun_ns(content: bytes) -> int:
    """When the run's own record says that it was begun, in nanoseconds."""
    from wandb.proto.wandb_internal_pb2 import Record

    records = (Record.FromString(data) for data in _logged(content))
    begun = [record.run.start_time for record in records if record.HasField("run")]
    return begun[0].seconds * 10**9 + begun[0].nanos


def read(path: Path) -> WandbRun:
    from wandb.proto.wandb_internal_pb2 import Record

    config: dict[str, Any] = {}
    history, exits, begun = [], [], []
    for data in _logged(path.read_bytes()):
        record = Record.FromString(data)
        kind = record.WhichOneof("record_type")
        if kind == "run":
            begun.append(record.run)
            updates = record.run.config.update
        elif kind == "config":
            updates = record.config.update
        else:
            updates = []
        config |= {item.key: json.loads(item.value_json) for item in updates if item.key}
        if kind == "history":
            row: dict[str, Any] = {}
            for item in record.history.item:
                keys = list(item.nested_key) or [item.key]
                row["/".join(keys)] = json.loads(item.value_json)
            history.append(row)
        elif kind == "exit":
            exits.append(record.exit.exit_code)
    (run,) = begun
    assert len(exits) <= 1
    return WandbRun(
        *(run.run_id, run.display_name, run.run_group, run.job_type, run.project),
        *(config, history, exits[0] if exits else None, path.parent / "files"),
    )


def _logged(data: bytes) -> Iterator[bytes]:
    assert data.startswith(HEADER)
    at, parts = len(HEADER), b""
    while at < len(data):
        left = BLOCK - at % BLOCK
        if left < PREFIX:  # too little for a prefix: filled up
            at += left
            continue
        checksum, size, kind = struct.unpack_from("<IHB", data, at)
        part = data[at + PREFIX : at + PREFIX + size]
        assert len(part) == size
        assert zlib.crc32(part, zlib.crc32(bytes([kind]))) == checksum
        at += PREFIX + size
        assert (kind in (WHOLE, FIRST)) == (parts == b"")
        parts += part
        if kind in (WHOLE, LAST):
            yield parts
            parts = b""
    assert parts == b""
