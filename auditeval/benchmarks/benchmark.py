"""What a benchmark is to the runner, the report and the callback: samples, records, tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from auditeval.audio import Waveform
from auditeval.table import Column, Content, Table
from auditeval.types import Undefined

Record = dict[str, Any]
"""Plain JSON of one sample of one system: `id`, `status` ("ok", "failed", "unscored"), `reason`
(a sentence unless ok), `failure` (its type, or None), and every value on the way to the verdict.

"failed" is an output that is missing or cannot be read: it counts as a failure in every success
rate. "unscored" is an output that a judge or a backend gave no verdict on: it counts in the
denominator, never as a success, and beside each rate stands the one over what was scored. A
protocol may count otherwise, as SpeechEditBench's official one does. Values that do not exist are
null, with their reasons under `undefined`.
"""

Value = float | Undefined


def is_unscored(record: Record) -> bool:
    """Whether a question about it is open: its own, or one of a further protocol's, whose verdicts
    a record holds under the protocol's name."""
    further = (said for said in record.values() if isinstance(said, dict))
    return any(said.get("status") == "unscored" for said in (record, *further))


@dataclass(frozen=True)
class Missing:
    """An output that is not there, or (`unreadable`) cannot be used as audio, and why."""

    reason: str
    unreadable: bool = False


Output = Waveform | Missing


class Sample(Protocol):
    @property
    def id(self) -> str:
        """Unique within a benchmark."""
        ...


class Benchmark(Protocol):
    """One benchmark on one folder of its samples.

    `evaluate` never raises for what a system made: that is a record. It is a function of sample
    and output alone. `values` are flat, for logs; `tables` are the paper's layouts.
    """

    name: str

    @property
    def settings(self) -> dict[str, Any]:
        """What records depend on, as JSON: digest of the samples, backends with revisions, seed."""
        ...

    @property
    def samples(self) -> Sequence[Sample]:
        """In an order that two runs share."""
        ...

    def source(self, sample: Any) -> Waveform | Undefined:
        """The clip that was to be edited, which baselines start from; undefined: there is none."""
        ...

    def evaluate(self, sample: Any, output: Any) -> Record:
        """`output` is an `Output`; in SALMon, where nothing is edited, a pair of scores."""
        ...

    def values(self, records: Sequence[Record]) -> dict[str, Value]: ...

    def tables(self, systems: Mapping[str, Sequence[Record]]) -> list[BenchmarkTable]:
        """Of several systems side by side, in the order given."""
        ...


@runtime_checkable
class HasResultFiles(Protocol):
    """A benchmark whose authors' code writes files of its own form."""

    def result_files(self, system: str, records: Sequence[Record]) -> Mapping[str, Any]:
        """They as JSON by path, which begins in the folder of the system's records."""
        ...


@dataclass(frozen=True, kw_only=True)
class BenchmarkTable(Table):
    """A table of the report, `name` being its file.

    `radar` names the columns of a radar figure that goes with the table, with the range of its
    axes; `data` goes into the JSON beside the rows.
    """

    name: str
    radar: Sequence[str] = ()
    radar_range: tuple[float, float] = (0.0, 1.0)
    data: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        name: str,
        title: str,
        columns: Sequence[Column],
        rows: Mapping[str, Mapping[str, Content]],
        notes: Sequence[str] = (),
        **more: Any,
    ) -> BenchmarkTable:
        """From rows by label and their values by the names of columns; some may be absent."""
        return cls(
            name=name,
            title=title,
            columns=[Column("", label=True), *columns],
            rows=[
                [label, *(values.get(column.name) for column in columns)]
                for label, values in rows.items()
            ],
            notes=notes,
            **more,
        )
