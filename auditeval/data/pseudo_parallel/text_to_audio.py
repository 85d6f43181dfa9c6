"""Clips that a text-to-audio model makes, where there are no recordings [Appendix B].

`generate` fills a folder and writes the list that `auditeval build` reads. A model is whatever has
the method of `TextToAudio`; the paper's, TangoFlux, has a package of its own, whose
pins of torch and transformers exclude ours.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from auditeval.atomic import claim, replacing
from auditeval.audio import files
from auditeval.audio.waveform import Waveform, quantised
from auditeval.data.pseudo_parallel.clips import Prompt
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
        self.name = f"{model}, {steps} steps, guidance scale {guidance_scale:g}"

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
) -> Iterator[Made]:
    """Make `takes` clips of each prompt and list them in OUTPUT/labels.csv, written last.

    The takes of a prompt differ by seed; each clip is a group of its own. A clip that is there is
    not made again, so a killed run goes on. Yields after each clip. Raises UserError for a folder
    of other prompts or settings.
    """
    digest = hashlib.sha256(json.dumps(prompts).encode()).hexdigest()
    settings = {"prompts_sha256": digest, "seconds": seconds, "takes": takes, "seed": seed}
    lines: list[tuple[str | None, ...]] = []
    total = len(prompts) * takes
    try:
        claim(output, "generate.json", {**settings, "model": model.name})
        for number, prompt in enumerate(prompts):
            for take in range(takes):
                path = output / f"{number:06d}_{take:03d}.flac"
                reason = None
                if not path.exists():
                    own_seed = int(np.random.default_rng([seed, number, take]).integers(2**31))
                    made = model.generate(prompt.caption, seconds, own_seed)
                    reason = _unusable(made.samples)
                    if reason is None:
                        loudest = max(1.0, float(np.abs(made.samples).max()))
                        files.write(path, quantised(made.samples / loudest), made.rate_hz)
                if reason is None:
                    lines.append((path.name, *prompt, path.stem))
                else:
                    reason = f"{prompt.caption!r}, take {take}: {reason}"
                yield Made(number * takes + take + 1, total, reason)
        with (
            replacing(output / "labels.csv") as temporary,
            temporary.open("w", newline="", encoding="utf-8") as file,
        ):
            csv.writer(file, lineterminator="\n").writerows([_COLUMNS, *lines])
    except OSError as error:
        raise UserError(
            f"{output}: cannot be written ({error.strerror}); what is finished is kept, and the "
            "same command goes on from there"
        ) from None


def _unusable(samples: np.ndarray) -> str | None:
    if not samples.size:
        return "the model made no samples"
    if not np.isfinite(samples).all():
        return "the model made samples that are not finite"
    return None if samples.any() else "the model made silence"


def _load_tangoflux(model: str) -> Any:
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
    except (OSError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"{model}: TangoFlux cannot be loaded ({reason})") from None
