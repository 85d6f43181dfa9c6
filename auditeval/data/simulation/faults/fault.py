"""What a fault of a simulated edit is: what it does and when, and what it costs on each axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from auditeval.data.simulation.scenes import OPERATIONS, SLOTS, SPARES, Need, Scene
from auditeval.data.simulation.signals import Span, blended
from auditeval.types import AXES, Axis

Curve = tuple[tuple[float, float], ...]
"""Points (x, y), x rising; straight between them and level beyond."""


class Scale(NamedTuple):
    """`span` :: severity 0..1 -> amount in `unit`."""

    unit: str
    span: Curve


ALL_OR_NOTHING = Scale("of 1", ((0, 0), (1, 1)))


class Dose(NamedTuple):
    """A severity in 0..1, and the samples it acts on where these are not the whole clip."""

    severity: float
    span: Span | None = None

    def share(self, length: int) -> float:
        """Of a clip of that many samples."""
        return (self.span[1] - self.span[0]) / length if self.span else 1.0


class Stage(Enum):
    """What a fault acts on, in this order. The clip is the sum of background and event.

    An estimate is a background that a separator got out of a mixture.
    """

    WORDS, BACKGROUND, ESTIMATE, EVENT, CLIP, FILE = range(6)


class Edit:
    """An edit in the making, on its way through the stages; clips are float (N,).

    `event` stands in `places`, at a `gain`, with a `residue` (a gain too) of the event `before`.
    `subject` is the event that the edit is about, `touched` what faults changed beside it.
    """

    def __init__(self, scene: Scene, operation: str) -> None:
        self.scene, self.operation = scene, operation
        present, self.wanted = SLOTS[operation]
        silence = np.zeros(len(scene.background), np.float32)
        self.background = self.clip = scene.background
        self.before = scene.events[present].samples if present else silence
        self.event = scene.events[self.wanted].samples if self.wanted else silence
        self.subject = scene.events[self.wanted or "B"]
        self.gain, self.residue = 1.0, 0.0
        self.places = [scene.events[slot].span for slot in SLOTS[operation] if slot]
        self.touched: list[Span] = []


@dataclass(frozen=True, eq=False)
class Fault:
    """What can go wrong. Decorates its `effect(edit, amount, generator)`, which gives the name.

    Curves :: amount -> points lost of the 4 between the best and the worst rating (Appendix A);
    none: costless. They were not fitted to ratings.
    """

    scale: Scale = ALL_OR_NOTHING
    quality: Curve = ()
    relevance: Curve = ()
    faithfulness: Curve = ()
    name: str = ""
    effect: Callable[..., Any] = lambda edit, amount, rng: None
    operations: tuple[str, ...] = tuple(SLOTS)
    stage: Stage = Stage.EVENT
    needs: Need | None = None  # what the scene must have for it
    processor: str = ""  # a real one that it runs
    of_speech: bool = True  # it can strike where the kept sound is speech
    speech_only: bool = False  # and nowhere else
    local: bool = False  # it can act on a moment of the clip alone
    of_band: float = np.inf  # the amount is drawn below this share of the clip's bandwidth
    whole: bool = False  # it leaves no edit that other faults of the edit could act on
    untold: float = 1.0  # factor of the severity where the words do not tell the event's place
    implies: Mapping[str, str] = field(default_factory=dict)  # operation -> what comes with it
    since: int = 12  # VERSION of the builds that first have it as it is: raise it with a change

    def __call__(self, effect: Callable[..., Any]) -> Fault:
        return replace(self, name=effect.__name__, effect=effect)

    @property
    def curves(self) -> dict[Axis, Curve]:
        return dict(zip(AXES, (self.quality, self.relevance, self.faithfulness), strict=True))

    def amount(self, severity: float) -> float:
        """What a severity is in the fault's unit; ValueError for one outside 0 to 1."""
        if not 0.0 <= severity <= 1.0:
            raise ValueError(f"severity of {self.name} is {severity}, expected 0 to 1")
        return _at(self.scale.span, severity)

    def lost(self, severity: float, share: float = 1.0) -> np.ndarray:
        """Points lost :: (3,) in AXES order, where the fault fills that share of the clip.

        By the square root of the share: an eighth of the clip damaged already costs a third of what
        the whole costs, since listeners go by the worst they heard [ITU-T P.862's averaging over
        time weights bad frames by high powers for the same reason].
        """
        at = self.amount(severity)
        losses = [_at(curve, at) if curve else 0.0 for curve in self.curves.values()]
        return np.sqrt(share) * np.array(losses)

    def draw(self, band_hz: float, rng: Generator) -> float:
        """A severity for a clip of that bandwidth: uniform, but of what is all or nothing."""
        if self.scale is ALL_OR_NOTHING:
            return 1.0
        return round(max(float(rng.uniform(0.0, 1.0)), self.least(band_hz)), 6)

    def least(self, band_hz: float) -> float:
        """The severity from which it is heard in a clip of that bandwidth."""
        grid = np.linspace(0.0, 1.0, 101)
        return float(next((s for s in grid if self.amount(s) <= self.of_band * band_hz), 1.0))

    def can_befall(self, scene: Scene, operation: str) -> bool:
        """Whether an edit of that scene can have it at all."""
        there = self.needs is None or self.needs in scene.offers
        kind = self.of_speech if scene.is_speech else not self.speech_only
        runs = not self.processor or self.processor in scene.processors
        return there and kind and runs and operation in self.operations

    def apply(self, edit: Edit, dose: Dose, rng: Generator) -> None:
        self.effect(edit, self.amount(dose.severity), rng)

    def _changed(self, x: np.ndarray, edit: Edit, dose: Dose, rng: Generator) -> Any:
        given: list[Any] = [edit.scene.spare(spare) for spare in SPARES if spare == self.needs]
        given += [edit.scene.processors] if self.processor else []
        return self.effect(x, self.amount(dose.severity), rng, *given)


@dataclass(frozen=True, eq=False)
class EditFault(Fault):
    """Of the edit itself, where one was asked for."""

    operations: tuple[str, ...] = OPERATIONS


@dataclass(frozen=True, eq=False)
class ContentFault(Fault):
    """Of the background. `effect(x, amount, generator[, spare])` gives it and the span touched."""

    stage: Stage = Stage.BACKGROUND

    def apply(self, edit: Edit, dose: Dose, rng: Generator) -> None:
        edit.background, touched = self._changed(edit.background, edit, dose, rng)
        edit.touched.append(touched)


@dataclass(frozen=True, eq=False)
class Damage(Fault):
    """To the clip or a moment of it. `effect(x, amount, generator[, spare][, processors])` keeps
    the length."""

    stage: Stage = Stage.CLIP
    local: bool = True

    def apply(self, edit: Edit, dose: Dose, rng: Generator) -> None:
        damaged = self._changed(edit.clip, edit, dose, rng)
        if dose.span:
            damaged = blended(edit.clip, damaged, dose.span)
            edit.touched.append(dose.span)
        edit.clip = damaged


def _at(curve: Curve, x: float) -> float:
    xs, ys = zip(*curve, strict=True)
    return float(np.interp(x, xs, ys))
