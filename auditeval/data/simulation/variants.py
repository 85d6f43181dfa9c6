"""Edits of one original, several of one scene, as they are written and rated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.random import Generator

from auditeval.data.simulation import panel
from auditeval.data.simulation.build import Made, Row, row_of, write_clip
from auditeval.data.simulation.edits import Words
from auditeval.data.simulation.faults.fault import Dose
from auditeval.data.simulation.nuisance import SHARE, nuisance
from auditeval.data.simulation.scenes import Scene
from auditeval.data.simulation.signals import Span
from auditeval.types import AXES, Axis, EditPair

_FULL = 0.99  # of full scale, which no clip goes above


class Variants:
    """Of a scene: what is written of it below `folder`, and its rows. `rng` draws as they come.

    `kind` and the number of the scene name its files and, with the variant, its systems. `axes`
    are those that the panel is asked about.
    """

    def __init__(
        self,
        folder: Path,
        kind: str,
        number: int,
        scene: Scene,
        operation: str,
        source: str,
        seed: int,
        rng: Generator,
        axes: Sequence[Axis] = AXES,
    ) -> None:
        self.name = f"{kind}{number:05d}"
        self._folder, self._kind = folder, kind
        self._scene, self._operation, self._axes = scene, operation, axes
        self._source = source or self.name
        self._seed, self._rng = seed, rng
        self._pairs: list[EditPair] = []
        self._rows: list[Row] = []
        self._level = 1.0

    @property
    def made(self) -> Made:
        return self._pairs, self._rows

    def begin(self, original: np.ndarray, words: Words, instruction: str | None = None) -> None:
        """The clip that is edited :: float (N,), softer where it is beyond full scale, as all that
        is made of it then is; and what both captions say, or an instruction."""
        self._level = _below_full(original)
        self._original, self._words = self._folder / f"{self.name}_original.flac", words
        self._instruction = instruction
        write_clip(self._original, (original * self._level).astype(np.float32))

    def add(
        self,
        variant: str,
        samples: np.ndarray,
        means: Mapping[Axis, float],
        doses: Mapping[str, Dose],
        changed: Sequence[Span] = (),
    ) -> None:
        """An edit :: float (N,), what a listener without bias or spread would rate it, and what
        was done to it."""
        samples, later = samples * self._level, 0.0
        if self._rng.random() < SHARE:
            samples, later = nuisance(samples, self._rng)
        edited = self._folder / f"{self.name}_{variant}.flac"
        write_clip(edited, (samples * _below_full(samples)).astype(np.float32))
        panel_of_five = np.random.default_rng(self._seed)
        pair = EditPair(
            id=edited.stem,
            original=self._original,
            edited=edited,
            original_caption=self._words.original,
            target_caption=self._words.target,
            instruction=self._instruction,
            operation=self._operation,
            system=f"sim_{self._kind}_{variant}",
            source=self._source,
            raters=dict(panel.votes(means, panel_of_five, self._rng, self._axes)),
        )
        self._pairs.append(pair)
        length = len(samples)
        row = row_of(self._scene, pair.id, self._operation, doses, length, changed, later)
        self._rows.append(row)


def _below_full(samples: np.ndarray) -> float:
    return min(1.0, _FULL / max(float(np.abs(samples).max()), 1e-9))
