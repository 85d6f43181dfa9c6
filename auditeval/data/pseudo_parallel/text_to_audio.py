"""Clips that a text-to-audio model makes, where there are no recordings [Appendix B].

`generate` fills a folder and writes the list that `auditeval build` reads. A model is whatever has
the method of `TextToAudio`; the paper's, TangoFlux, has a package of its own, whose
pins of torch and transformers exclude ours.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from auditeval.atomic import claim, replacing, resumable
from auditeval.audio import files
from auditeval.audio.waveform import Waveform, quantised
from auditeval.blocks import Block, Engine, Local, cut
from auditeval.data.pseudo_parallel.clips import Prompt
from auditeval.manifest import csv_writer
from auditeval.seed import SEED
from auditeval.types import UserError

_COLUMNS = ("file", "label", "caption", "category", "id")


class TextToAudio(Protocol):
    """A model that makes sound from words; `name` says which, and with which settings."""

    name: str

    def generate(self, prompt: str, seconds: float, seed: int) -> Waveform:
        """A clip of about that length; the same prompt, length and seed give the same samples."""
        ...


class TangoFlux:
    """TangoFlux (Hung et al. 2024) with the paper's 50 steps and guidance scale of 4.5.

    `pipeline` is a `tangoflux.TangoFluxInference` or anything with its `generate(prompt, steps,
    duration, guidance_scale)`, which returns torch samples (channels, N) at `rate_hz`. Without one
    the package `tangoflux` is imported, and `model` (hub id) read. Raises UserError where one of
    them is not there.
    """

    def __init__(
        self,
        pipeline: Any = None,
        model: str = "declare-lab/TangoFlux",
        steps: int = 50,
        guidance_scale: float = 4.5,
        rate_hz: int = 44100,
    ) -> None:
        self._pipeline = pipeline if pipeline is not None else _load_tangoflux(model)
        self._steps, self._guidance_scale, self._rate_hz = steps, guidance_scale, rate_hz
        self.name = _name(model, steps, guidance_scale)

    @staticmethod
    def deferred(model: str, steps: int, guidance_scale: float) -> Deferred:
        """One that is made where it is asked for its first clip."""
        make = partial(TangoFlux, None, model, steps, guidance_scale)
        return Deferred(_name(model, steps, guidance_scale), make)

    def generate(self, prompt: str, seconds: float, seed: int) -> Waveform:
        """Mono mean of the channels; torch's generators are left as they were."""
        import torch

        with torch.random.fork_rng():
            torch.manual_seed(seed)
            samples = self._pipeline.generate(
                prompt,
                steps=self._steps,
                duration=seconds,
                guidance_scale=self._guidance_scale,
            )
        mono = samples.detach().float().cpu().reshape(-1, samples.shape[-1]).mean(dim=0)
        return Waveform(mono.numpy(), self._rate_hz)


class Deferred:
    """A model of that `name`, made when it is first asked: it can be sent to other processes."""

    def __init__(self, name: str, make: Callable[[], TextToAudio]) -> None:
        self.name, self._make = name, make
        self._model: TextToAudio | None = None

    def generate(self, prompt: str, seconds: float, seed: int) -> Waveform:
        """See `TextToAudio`; raises what making it raises."""
        self._model = self._model or self._make()
        return self._model.generate(prompt, seconds, seed)


def _name(model: str, steps: int, guidance_scale: float) -> str:
    return f"{model}, {steps} steps, guidance scale {guidance_scale:g}"


class Made(NamedTuple):
    """How far a list has come, in clips; `reason` where the model made nothing usable."""

    done: int
    total: int
    reason: str | None


def generate(
    prompts: Sequence[Prompt],
    model: TextToAudio,
    output: Path,
    seconds: float,
    takes: int = 1,
    seed: int = SEED,
    engine: Engine | None = None,
) -> Iterator[Made]:
    """Make `takes` clips of each prompt and list them in OUTPUT/labels.csv, written last.

    The takes of a prompt differ by seed; each clip is a group of its own. A clip that is there is
    not made again, so a killed run goes on. Yields after each clip. The workers of an `engine` have
    a model each, that was sent to them: see `Deferred`. Raises UserError for a folder of other
    prompts or settings.
    """
    digest = hashlib.sha256(json.dumps(prompts).encode()).hexdigest()
    settings = {"prompts_sha256": digest, "seconds": seconds, "takes": takes, "seed": seed}
    reasons: dict[int, str | None] = {}
    total = len(prompts) * takes
    with resumable(output):
        claim(output, "generate.json", {**settings, "model": model.name})
        start = partial(_Generator, prompts, model, output, seconds, takes, seed)
        for block, reason in (engine or Local()).run(start, cut(total, 1)):
            number, take = divmod(block.first, takes)
            if reason is not None:
                reason = f"{prompts[number].caption!r}, take {take}: {reason}"
            reasons[block.first] = reason
            yield Made(len(reasons), total, reason)
        paths = (_path(output, row, takes) for row in range(total))
        lines = (
            [path.name, *(cell or "" for cell in prompts[row // takes]), path.stem]
            for row, path in enumerate(paths)
            if reasons[row] is None
        )
        with (
            replacing(output / "labels.csv") as temporary,
            temporary.open("w", newline="", encoding="utf-8") as file,
        ):
            write_cells = csv_writer(file)
            for cells in ([*_COLUMNS], *lines):
                write_cells(cells)


def _path(folder: Path, row: int, takes: int) -> Path:
    number, take = divmod(row, takes)
    return folder / f"{number:06d}_{take:03d}.flac"


class _Generator:
    """Makes clips that are not there: see `blocks.Worker`; a step is why one could not be made."""

    def __init__(
        self,
        prompts: Sequence[Prompt],
        model: TextToAudio,
        output: Path,
        seconds: float,
        takes: int,
        seed: int,
    ) -> None:
        self._prompts, self._model, self._output = prompts, model, output
        self._seconds, self._takes, self._seed = seconds, takes, seed

    def __call__(self, block: Block, failed: Mapping[int, str]) -> Iterator[str | None]:
        for row in block.numbers():
            yield failed[row] if row in failed else self._make(row)

    def _make(self, row: int) -> str | None:
        import torch

        path = _path(self._output, row, self._takes)
        if path.exists():
            return None
        number, take = divmod(row, self._takes)
        own_seed = int(np.random.default_rng([self._seed, number, take]).integers(2**31))
        try:
            made = self._model.generate(self._prompts[number].caption, self._seconds, own_seed)
        except (MemoryError, torch.OutOfMemoryError):
            return "the memory does not do for the model and a clip of this length"
        reason = _unusable(made.samples)
        if reason is None:
            loudest = max(1.0, float(np.abs(made.samples).max()))
            files.write(path, quantised(made.samples / loudest), made.rate_hz)
        return reason


def _unusable(samples: np.ndarray) -> str | None:
    if not samples.size:
        return "the model made no samples"
    if not np.isfinite(samples).all():
        return "the model made samples that are not finite"
    return None if samples.any() else "the model made silence"


def _load_tangoflux(model: str) -> Any:
    import torch

    try:
        from tangoflux import TangoFluxInference
    except ImportError as error:
        raise UserError(
            f"the package tangoflux cannot be imported ({error}); its pins exclude ours, so "
            "install it without them: pip install diffusers datasets, then "
            "pip install --no-deps tangoflux"
        ) from None
    try:
        return TangoFluxInference(name=model)
    except (OSError, ValueError, MemoryError, torch.OutOfMemoryError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"{model}: TangoFlux cannot be loaded ({reason})") from None
