"""A benchmark by its name, on the samples that are asked for, beside the systems to evaluate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from auditeval.backends.load import Backends
from auditeval.benchmarks.benchmark import Benchmark
from auditeval.benchmarks.protocols import chosen
from auditeval.benchmarks.selection import WHOLE, Selection
from auditeval.benchmarks.systems import OutputFolder, System, find_outputs
from auditeval.seed import SEED
from auditeval.types import UserError

AnyPath = str | PathLike[str]
Name = Literal["speecheditbench", "swanbench", "salmon", "mmae"]
Opened = tuple[Benchmark, list[System]]


def several(given: AnyPath | Sequence[AnyPath]) -> list[Any]:
    """One alone, a path or a name, is a list of one: as a sequence it would be its letters."""
    return [given] if isinstance(given, str | PathLike) else [*given]


@dataclass(frozen=True)
class Asked:
    """What a benchmark is run on: its folder or files, models by role, which samples of it, and
    `systems`: name -> their outputs, of SALMon tables of likelihoods; with `baselines` beside them.
    `protocol`: see `protocols`, None for the most comparable."""

    samples: Sequence[Path]
    models: Backends
    systems: Mapping[str, Path] = field(default_factory=dict)
    selection: Selection = WHOLE
    seed: int = SEED
    protocol: str | None = None
    baselines: bool = False

    @classmethod
    def of(
        cls,
        samples: AnyPath | Sequence[AnyPath],
        models: Backends,
        systems: Mapping[str, AnyPath] | None = None,
        **more: Any,
    ) -> Asked:
        """From paths as people write them, one or several of samples."""
        outputs = {name: Path(path) for name, path in (systems or {}).items()}
        return cls(list(map(Path, several(samples))), models, outputs, **more)

    @property
    def place(self) -> Path:
        """The samples of a benchmark which is one folder or file; raises UserError for several."""
        if len(self.samples) != 1:
            raise UserError(f"expected one folder or file of samples, found {len(self.samples)}")
        return self.samples[0]

    def outputs(
        self,
        benchmark: Benchmark,
        find: Callable[[Path, Sequence[str]], Mapping[str, Path]] = find_outputs,
    ) -> list[System]:
        ids = [sample.id for sample in benchmark.samples]
        return [OutputFolder(name, find(place, ids)) for name, place in self.systems.items()]


def open_benchmark(name: Name, asked: Asked) -> Opened:
    """Raises UserError for what is no such benchmark, sample, selection, protocol or output."""
    if name not in _OPEN:
        raise UserError(f"no benchmark is called {name!r}; known: {', '.join(_OPEN)}")
    chosen(name, asked.protocol)
    return _OPEN[name](asked)


def _speecheditbench(asked: Asked) -> Opened:
    from auditeval.benchmarks.speecheditbench.benchmark import SpeechEditBench
    from auditeval.benchmarks.speecheditbench.results import holds_results, system

    protocol = chosen("speecheditbench", asked.protocol)
    read = {name for name, place in asked.systems.items() if holds_results(place)}
    if read and protocol != "official":
        raise UserError(
            f"{min(read)}: result files of the released code have its verdicts alone, so their "
            "protocol is official"
        )
    heard = asked.baselines or not asked.systems or len(read) < len(asked.systems)
    benchmark = SpeechEditBench(
        asked.place, asked.models, asked.selection, with_audio=heard, protocol=protocol
    )
    samples = benchmark.samples
    return benchmark, [system(name, place, samples) for name, place in asked.systems.items()]


def _mmae(asked: Asked) -> Opened:
    from auditeval.benchmarks.mmae.benchmark import MMAE
    from auditeval.benchmarks.mmae.verdicts import system

    benchmark = MMAE(asked.place, asked.models, asked.seed, asked.selection)
    samples = benchmark.samples
    return benchmark, [system(name, place, samples) for name, place in asked.systems.items()]


def _swanbench(asked: Asked) -> Opened:
    from auditeval.benchmarks.swanbench.benchmark import SwanBench
    from auditeval.benchmarks.swanbench.outputs import find
    from auditeval.benchmarks.swanbench.samples import read_timings

    files = {name: folder / "timings.jsonl" for name, folder in asked.systems.items()}
    timings = {name: read_timings(file) for name, file in files.items() if file.exists()}
    benchmark = SwanBench(asked.samples, asked.models, timings, asked.selection)
    return benchmark, asked.outputs(benchmark, partial(find, scripts=asked.samples))


def _salmon(asked: Asked) -> Opened:
    from auditeval.benchmarks.salmon.benchmark import Salmon
    from auditeval.benchmarks.salmon.scorers import read_likelihoods

    benchmark = Salmon(asked.place, asked.selection)
    tables: list[System] = []
    for name, path in asked.systems.items():
        table = read_likelihoods(path, benchmark.samples)
        table.name = name
        tables.append(table)
    return benchmark, tables


_OPEN: Mapping[str, Callable[[Asked], Opened]] = {
    "speecheditbench": _speecheditbench,
    "swanbench": _swanbench,
    "salmon": _salmon,
    "mmae": _mmae,
}
