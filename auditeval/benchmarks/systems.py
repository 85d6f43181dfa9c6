"""Systems under test: a folder of outputs, or a baseline that every system has to beat."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from auditeval import audio
from auditeval.audio import AudioError, Waveform
from auditeval.benchmarks.benchmark import Benchmark, Missing, Output, Sample
from auditeval.benchmarks.places import leads_out
from auditeval.digests import sha256
from auditeval.seed import SEED
from auditeval.types import Undefined, UserError

SUFFIXES = (".wav", ".flac", ".mp3")
"""Of output files, in the order in which they are looked for."""


class System(Protocol):
    """`settings` identify what it makes: other outputs, other settings."""

    name: str

    @property
    def settings(self) -> dict[str, Any]: ...

    def output(self, sample: Any) -> Any:
        """What it made of a sample: for most benchmarks an `Output`."""
        ...


class OutputFolder:
    """The outputs of a system as files by sample id; see `find_outputs`."""

    def __init__(self, name: str, files: Mapping[str, Path]) -> None:
        self.name, self.files = name, files

    @property
    def settings(self) -> dict[str, Any]:
        """Digest of the outputs' bytes."""
        digest = hashlib.sha256()
        for id, path in sorted(self.files.items()):
            digest.update(f"{id}\n{_file_digest(path)}\n".encode())
        return {"outputs": len(self.files), "outputs_sha256": digest.hexdigest()}

    def output(self, sample: Sample) -> Output:
        path = self.files.get(sample.id)
        if path is None:
            return Missing("there is no output")
        try:
            return audio.decode(path)
        except AudioError as error:
            return Missing(str(error).removeprefix(f"{path}: "), unreadable=True)


def find_outputs(
    folder: Path, ids: Sequence[str], homes: Mapping[str, str] | None = None
) -> dict[str, Path]:
    """<folder>/<id>.wav or <folder>/audio/<id>.wav (.flac, .mp3 too), of those that are there.

    A suffix may be in capitals, and an id may name a folder (a/1). The folder goes before its
    audio/, then .wav before .flac before .mp3. `homes` may name, by sample id, a folder beneath
    that is looked into in the same way.
    Raises UserError for a folder with no output of any sample, for an output that lies above its
    home as well as in it, and for one that is a link to somewhere else: it might be sent to a
    judge.
    """
    if not folder.is_dir():
        raise UserError(f"{folder}: is no folder; expected one with the outputs of a system")
    homes = homes or {}
    listed = functools.cache(_listed)
    found = {}
    for id in ids:
        # Its parts as they are: a/1 lies in a/, or in audio/a/.
        under, _, name = id.rpartition("/")
        places = [folder, *([folder / homes[id]] if id in homes else [])]
        paths = [path for place in places if (path := _output(listed(place, under), name))]
        if len(paths) > 1:
            raise UserError(f"{paths[1]}: which is the output of {id}, it or {paths[0]}?")
        for path in paths:
            if leads_out(folder, path):
                raise UserError(f"{path}: is a link that leads out of {folder}")
            found[id] = path
    if not found:
        at = f"there, in {homes[ids[0]]}/ or in audio/ of these" if homes else "there or in audio/"
        raise UserError(
            f"{folder}: holds no output of any of the {len(ids)} samples; expected names like "
            f"{ids[0]}.wav, {at}"
        )
    return found


def _listed(folder: Path, under: str) -> list[dict[str, Path]]:
    """What is under a folder and its audio/, by name, the suffix in small letters: to ask for each
    name would cost six requests a sample on a network disk."""
    return [
        {path.stem + path.suffix.lower(): path for path in sorted(place.iterdir())}
        for place in (folder / under, folder / "audio" / under)
        if os.path.isdir(place)  # noqa: PTH112  # Path.is_dir raises for a name that is too long
    ]


def _output(places: Sequence[Mapping[str, Path]], stem: str) -> Path | None:
    names = [f"{stem}{suffix}" for suffix in SUFFIXES]
    return next((there[name] for there in places for name in names if name in there), None)


class _Baseline:
    name: str

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark

    @property
    def settings(self) -> dict[str, Any]:
        return {"baseline": self.name}


class Identity(_Baseline):
    """Returns the source, of several inputs the first, as it is: what nobody has worked for. Some
    of it counts: MMAE's paper has it at IFR 27.37, CR 94.13 and EMR 4.60 (Table 2)."""

    name = "identity"

    def output(self, sample: Sample) -> Output:
        source = self._benchmark.source(sample)
        return Missing(source.reason) if isinstance(source, Undefined) else source


class Noise(_Baseline):
    """White noise as long and as loud as the source; where a benchmark has no sources, ten seconds
    of it. MMAE's paper has such at IFR 32.08, CR 15.68 and EMR 0.00."""

    name = "noise"
    _SECONDS, _RATE_HZ, _LEVEL = 10.0, 16000, 0.05

    def __init__(self, benchmark: Benchmark, seed: int = SEED) -> None:
        super().__init__(benchmark)
        self._seed = seed

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "seed": self._seed}

    def output(self, sample: Sample) -> Output:
        source = self._benchmark.source(sample)
        if isinstance(source, Undefined):
            length, rate_hz, level = int(self._SECONDS * self._RATE_HZ), self._RATE_HZ, self._LEVEL
        else:
            length, rate_hz = len(source.samples), source.rate_hz
            level = float(np.sqrt(np.mean(np.square(source.samples, dtype=np.float64))))
        digest = hashlib.sha256(f"{self._seed}\n{sample.id}".encode()).digest()
        noise = np.random.default_rng(list(digest)).standard_normal(length)
        return Waveform((level * noise).astype(np.float32), rate_hz)


class Constant(_Baseline):
    """Returns the first source that there is, whatever it is asked: deaf to its input."""

    name = "constant"

    def output(self, sample: Sample) -> Output:
        sources = map(self._benchmark.source, self._benchmark.samples)
        first = next((found for found in sources if not isinstance(found, Undefined)), None)
        return Missing("no sample has a source") if first is None else first


BASELINES = {kind.name: kind for kind in (Identity, Noise, Constant)}


def _file_digest(path: Path) -> str:
    try:
        return sha256(path)
    except OSError as error:
        return str(error.strerror)
