"""Evaluator: pairs or a manifest in, scores out; streaming, batched, resumable."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import ModelHubMixin

from auditeval import checkpoint as checkpoints
from auditeval import checkpoint_files, storage
from auditeval.audio import MAX_SECONDS, Waveform
from auditeval.audio.files import RATES_HZ
from auditeval.blocks import Engine, Local
from auditeval.features.store import Failure, FeatureStore
from auditeval.manifest_scoring import Progress, score_manifest
from auditeval.pretrained.accelerators import place
from auditeval.pretrained.threads import one_thread
from auditeval.scoring_blocks import ScoringWorker
from auditeval.text import visible
from auditeval.types import AXES, Axis, EditPair, Scores, UserError
from auditeval.version import __version__


def load(
    checkpoint: str | os.PathLike[str] | None = None,
    device: str = "auto",
    cache_dir: str | os.PathLike[str] | None = None,
    workers: int = 2,
    base: str | None = None,
    dtype: str | None = None,
    merge: bool = False,
    max_seconds: float = MAX_SECONDS,
    cache_size: str | None = None,
) -> Evaluator:
    """An evaluator from a checkpoint folder, a model hub id, or the one that ships (None).

    `device` is auto, cpu, cuda, cuda:N or mps; `workers` are decoding and encoding threads. Clips
    that last longer than `max_seconds` are not scored: a pair of an hour takes 3.5 GB of memory.
    Folders and files may be URLs (see `auditeval.storage`); `cache_size` bounds the cache, as in
    "20GB". The other three are for evaluators on Qwen2.5-Omni: where their base lies (default:
    where it lay in training), what it computes in (float32, bfloat16, float16; default: as in
    training, if need be in 4 bits), and whether LoRA is merged into it.
    """
    folder = checkpoint_files.find(checkpoint)
    loaded = checkpoints.load(folder, base, dtype)
    if merge:
        try:
            loaded.model.merge()
        except UserError as error:
            raise UserError(f"{folder}: {error}") from None
    name, source = Path(checkpoint or folder).name, None if checkpoint is None else str(checkpoint)
    evaluator = Evaluator(name, loaded, device, cache_dir, workers, source, max_seconds, cache_size)
    evaluator.loaded_by = {
        "checkpoint": source,
        "cache_dir": cache_dir,
        "base": base,
        "dtype": dtype,
        "merge": merge,
        "max_seconds": max_seconds,
        "cache_size": cache_size,
    }
    return evaluator


class Evaluator(ModelHubMixin, library_name="auditeval", tags=["audio-editing"]):
    """A loaded checkpoint with its encoder and feature cache.

    To and from the model hub as huggingface_hub has it: `save_pretrained`, `push_to_hub`,
    `from_pretrained`. What goes there are weights, configuration and model card. `source` is the
    folder or hub id that it was loaded by, None for the one that ships.
    """

    def __init__(
        self,
        name: str,
        checkpoint: checkpoints.Checkpoint,
        device: str = "auto",
        cache_dir: str | os.PathLike[str] | None = None,
        workers: int = 2,
        source: str | None = None,
        max_seconds: float = MAX_SECONDS,
        cache_size: str | None = None,
    ) -> None:
        self.name, self.source = name, source
        self.loaded_by: dict[str, Any] = {}
        self.checkpoint = checkpoint
        self.device = choose_device(device)
        checkpoint.encoder.to(str(self.device))
        self.store = FeatureStore(checkpoint.encoder, cache_dir, workers, max_seconds, cache_size)
        place(self.device, checkpoint.model)
        self._model = checkpoint.model

    def __reduce__(self) -> tuple[Any, ...]:
        """To another process, or copied, it goes as what it was loaded by, and is loaded again."""
        if not self.loaded_by:
            raise TypeError(f"{self.name}: is copied by what it was loaded by; auditeval.load it")
        settings = {"device": str(self.device), "workers": self.store.workers, **self.loaded_by}
        named = {"name": self.name, "source": self.source}
        return _again, (settings, self.checkpoint.digest), named

    def score(
        self,
        pairs: Iterable[EditPair],
        clips: Mapping[str | os.PathLike[str], Waveform] | None = None,
    ) -> list[Scores]:
        """Ratings 1 to 5 for each pair, in order; what cannot be scored has status "error".

        An axis that the checkpoint was not trained on is None; intervals are there where it was
        calibrated. `clips` are those in memory, as what a model in training just made, by the name
        that stands for them in `original` or `edited`; they are scored as their files would be, and
        their features are not kept. Raises UserError for what is no list of pairs, such as a pair
        alone, and for clips that are no mono floats or of no pair.
        """
        if isinstance(pairs, EditPair):
            raise UserError("score: expected a list of pairs, found one pair; give [pair]")
        if not isinstance(pairs, Iterable):
            raise UserError(f"score: expected a list of pairs, found {pairs!r}")
        pairs = list(pairs)
        for pair in pairs:
            if not isinstance(pair, EditPair):
                raise UserError(
                    f"score: expected a list of EditPair, found {type(pair).__name__} in it; "
                    "give [EditPair(id=..., original=..., edited=..., ...)]"
                )
        store = self.store
        if clips:
            store = store.holding(_held(clips, pairs))
        with one_thread():
            looked = self._model.look(store, pairs)
            usable = [row for row in looked if not isinstance(row, Failure)]
            predicted = iter(self._predict(usable) if usable else ())
        scores = []
        for pair, row in zip(pairs, looked, strict=True):
            if isinstance(row, Failure):
                scores.append(Scores(pair.id, status="error", reason=visible(row.reason)))
                continue
            cells = next(predicted)
            if not all(math.isfinite(x) for numbers in cells.values() for x in numbers):
                reason = "the model's answer is not a number; load it in float32"
                scores.append(Scores(pair.id, status="error", reason=reason))
            else:
                ratings: dict[str, Any] = {axis: x[0] for axis, x in cells.items()}
                intervals = {axis: (x[1], x[2]) for axis, x in cells.items() if len(x) > 1}
                scores.append(Scores(pair.id, **ratings, intervals=intervals))
        return scores

    def score_manifest(
        self,
        manifest_path: str | os.PathLike[str],
        output: str | os.PathLike[str],
        batch_size: int = 32,
        fresh: bool = False,
        force: bool = False,
        engine: Engine | None = None,
        parts: bool = False,
    ) -> Iterator[Progress]:
        """Score a manifest into a CSV, JSONL or Parquet file; yields after every batch.

        Rows go to `OUTPUT.partial` as they are made, a numbered file for each block of rows. A run
        that was killed goes on behind the whole batches in it: with one batch size the finished
        file has the same bytes as that of an uninterrupted run, with another the same scores to
        1e-6 (of a Qwen2.5-Omni 1e-5, and in less than float32 to 1e-3). Batches with a clip that
        has changed since, by its size or time, are scored again, in a finished table too. Memory
        does not grow with the rows.

        `engine` (default: this process) has blocks scored elsewhere, by workers that `load` this
        evaluator again, each with one thread on the device that it is given; on processors the
        bytes are the same.

        OUTPUT.json records what made the file, by which `evaluate` finds the checkpoint again, and
        OUTPUT.clips.npy sizes and times of the clips.

        `fresh` starts over, also where another checkpoint or manifest made the table; `force` also
        overwrites a file that is no table of this method. Raises UserError for a manifest that
        cannot be read, an output that is not this run's, and while another process writes it.
        """
        path = storage.path(manifest_path)
        start: Callable[[str], ScoringWorker] = partial(_own_worker, self, path, batch_size)
        if engine is not None:
            digest = self.checkpoint.digest
            start = partial(_scoring_worker, self.loaded_by, digest, path, batch_size)
        return score_manifest(
            start,
            engine or Local(),
            self._provenance(),
            path,
            storage.path(output),
            batch_size,
            fresh,
            force,
            parts,
        )

    def _save_pretrained(self, save_directory: Path) -> None:
        model, _, config, _, card, trained_on = self.checkpoint
        checkpoints.write(save_directory, model, config, card, trained_on)

    @classmethod
    def from_pretrained(
        cls,
        pretrained_model_name_or_path: str | os.PathLike[str],
        *,
        force_download: bool = False,
        token: str | bool | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        local_files_only: bool = False,
        revision: str | None = None,
        **arguments: Any,
    ) -> Evaluator:
        """`load` with the mixin's options of downloading; `arguments` are those of `load`.

        `cache_dir` is where downloads are kept, not the feature cache. As in `load`, nothing that
        came with the weights is run.
        """
        folder = checkpoint_files.find(
            pretrained_model_name_or_path,
            force_download=force_download,
            token=token,
            cache_dir=cache_dir,
            local_files_only=local_files_only,
            revision=revision,
        )
        evaluator = load(folder, **arguments)
        evaluator.source = str(pretrained_model_name_or_path)
        evaluator.name = Path(evaluator.source).name
        return evaluator

    def _predict(self, rows: Sequence[Any]) -> list[dict[Axis, tuple[float, ...]]]:
        """Of each axis that was trained its rating and, where they are known, low and high end."""
        ratings, intervals = self._model.predict_with_intervals(rows)
        cells = ratings.unsqueeze(2)
        if intervals is not None:
            cells = torch.cat([cells, intervals], dim=2)
        trained = self._model.trained.tolist()
        return [
            {
                # The scale ends at 1 and 5; more digits than these are noise of the arithmetic.
                axis: tuple(round(x, 6) for x in numbers)
                for axis, numbers, known in zip(AXES, row, trained, strict=True)
                if known
            }
            for row in cells.double().clamp(1, 5).tolist()
        ]

    def _provenance(self) -> dict[str, Any]:
        return {
            "evaluator": self.name,
            "checkpoint": self.source,
            "checkpoint_sha256": self.checkpoint.digest,
            "auditeval": __version__,
            **({} if (most := self.store.max_seconds) == MAX_SECONDS else {"max_seconds": most}),
            **self._model.computed_in(),
        }


def _held(
    clips: Mapping[str | os.PathLike[str], Waveform], pairs: Sequence[EditPair]
) -> dict[Path, Waveform]:
    """By path, as float32; raises UserError."""
    named = {path for pair in pairs for path in (pair.original, pair.edited)}
    held: dict[Path, Waveform] = {}
    for name, clip in clips.items():
        path = storage.path(name)
        if path not in named:
            raise UserError(f"clips: {name} is neither original nor edited of any of the pairs")
        if not isinstance(clip, Waveform):
            raise UserError(
                f"clips: {name} is of type {type(clip).__name__}, expected "
                "auditeval.Waveform(samples, rate_hz)"
            )
        samples = torch.as_tensor(clip.samples).detach().cpu()
        if samples.ndim != 1 or not samples.is_floating_point():
            raise UserError(
                f"clips: {name} holds {samples.dtype} of shape {tuple(samples.shape)}, expected "
                "mono samples as floats :: (N,), full scale 1"
            )
        least, most = RATES_HZ
        is_number = isinstance(clip.rate_hz, Real)  # a user's, whatever its type is to be
        if not (is_number and least <= clip.rate_hz <= most and clip.rate_hz % 1 == 0):
            raise UserError(
                f"clips: {name} is at {clip.rate_hz!r} Hz, expected a whole number, {least} to "
                f"{most}"
            )
        held[path] = Waveform(samples.float().numpy(), int(clip.rate_hz))
    return held


def _own_worker(
    evaluator: Evaluator, manifest_path: Path, batch_size: int, _: str
) -> ScoringWorker:
    """In this process, on the device where the evaluator is."""
    return ScoringWorker(evaluator.score, manifest_path, batch_size)


def _scoring_worker(
    loaded_by: Mapping[str, Any], digest: str, manifest_path: Path, batch_size: int, device: str
) -> ScoringWorker:
    """In a process of its own: the evaluator of that digest, loaded again."""
    # What an accelerator does is not all that a worker does: threads decode meanwhile.
    workers = 0 if device == "cpu" else 2
    evaluator = _again({**loaded_by, "device": device, "workers": workers}, digest)
    return ScoringWorker(evaluator.score, manifest_path, batch_size)


def _again(loaded_by: Mapping[str, Any], digest: str) -> Evaluator:
    """The evaluator of that digest, loaded by these arguments of `load`."""
    evaluator = load(**loaded_by)
    if evaluator.checkpoint.digest != digest:
        raise UserError(
            f"{evaluator.source or evaluator.name}: is another checkpoint here than where the "
            "command was given"
        )
    return evaluator


def choose_device(name: str) -> torch.device:
    """ "auto" to the best there is; raises UserError for a device that is not there."""
    found = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if name == "auto":
        return torch.device(next((kind for kind, there in found.items() if there), "cpu"))
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError):
        raise UserError(f"device {name!r}: expected auto, cpu, cuda, cuda:N or mps") from None
    if not found.get(device.type, device.type == "cpu"):
        raise UserError(f"device {name!r} is not available on this machine; use auto or cpu")
    return device
