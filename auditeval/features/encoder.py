"""An encoder: extractors beside each other, and what they make of a pair together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from auditeval.features.extractor import AudioFeatures, Extractor, Texts
from auditeval.features.pair import FURTHER, Inputs, PairFeatures
from auditeval.features.turning import NO_TURN, Turn

Clip = dict[str, AudioFeatures]
"""One clip, as each extractor that hears has it, by its name."""


class EncodedPair(NamedTuple):
    """A pair before its sides are compared: both clips, and the texts by extractor."""

    original: Clip
    edited: Clip
    texts: Mapping[str, Texts]


class Encoder:
    """A list of extractors, by name.

    An embedding is that of each in turn, but for the joint spaces, which stand last: a model that
    takes one space of sound and words finds it at the end of both. Numbers of a pair are called
    `extractor.name`.
    """

    def __init__(self, extractors: Iterable[Extractor]) -> None:
        self.extractors = {extractor.name: extractor for extractor in extractors}
        listed = self.extractors.values()
        # Whoever aligns the clips comes first: the others compare at its delay.
        self._comparing = sorted(listed, key=lambda x: type(x).align is Extractor.align)
        self.name = "+".join(self.extractors)
        self.revision = " ".join(f"{x.name}@{x.revision}" for x in listed)
        self.arguments = {x.name: x.arguments for x in listed}
        self.inputs = Inputs(
            audio=sum(x.dim for x in listed if not x.on_demand),
            text=sum(x.text_dim for x in listed),
            joint=tuple(x.joint_dim for x in listed if x.joint_dim),
            alignment=tuple(f"{x.name}.{n}" for x in self._comparing for n in x.alignment),
            evidence=(
                *(f"{x.name}.{n}" for x in self.reading for n in x.evidence),
                *(f"{x.name}.{n}{FURTHER}" for x in self.reading if x.further for n in x.evidence),
            ),
        )

    def described(self) -> Encoder:
        """What it says of itself, without its models: to be sent where nothing is encoded."""
        described = copy(self)
        described.extractors = {name: x.described() for name, x in self.extractors.items()}
        described._comparing = []
        return described

    def to(self, device: str) -> None:
        """Run on a torch device from now on."""
        for extractor in self.extractors.values():
            extractor.to(device)

    @property
    def batch_size(self) -> int:
        """Clips at a time that suit all of them; on another device another number may."""
        return max(extractor.batch_size for extractor in self.extractors.values())

    @property
    def hearing(self) -> list[Extractor]:
        """Those that encode sound."""
        return [
            extractor
            for extractor in self.extractors.values()
            if extractor.dim or extractor.on_demand
        ]

    @property
    def always(self) -> list[Extractor]:
        """Those that encode the sound of every pair."""
        return [extractor for extractor in self.hearing if not extractor.on_demand]

    def needed(self, texts: Mapping[str, Texts]) -> frozenset[str]:
        """Those that encode sound which a pair of these texts, by extractor, needs, by name."""
        asked = {name for x in self.reading for name in x.needs(texts[x.name])}
        for words in {text.words for text in texts.values()}:
            asked |= {x.name for x in self.hearing if x.wanted(words)}
        return frozenset(x.name for x in self.hearing if not x.on_demand or x.name in asked)

    @property
    def reading(self) -> list[Extractor]:
        """Those that encode words."""
        return [extractor for extractor in self.extractors.values() if extractor.text_dim]

    def alike(self, first: str, second: str) -> float:
        """How surely two names are of one sound, up to 1, as who can tell best says."""
        return max((x.alike(first, second) for x in self.reading), default=0.0)

    def way(self, texts: Mapping[str, Texts]) -> Turn:
        """Which way words ask pitch and pace to go, as the first says that knows."""
        return next(filter(any, (x.turn(texts[x.name]) for x in self.reading)), NO_TURN)

    def pair(self, encoded: EncodedPair) -> PairFeatures:
        """What a model is given of a pair, as `inputs` says."""
        original, edited = (
            _joined(
                self.always,
                [
                    clip[x.name].embedding if x.name in clip else np.zeros(x.dim, np.float32)
                    for x in self.always
                ],
            )
            for clip in (encoded.original, encoded.edited)
        )
        reading = self.reading
        said = [encoded.texts[x.name][:4] for x in reading]
        before, after, added, removed = (
            _joined(reading, [texts[place] for texts in said]) for place in range(4)
        )
        alignment, evidence = self._compare(encoded)
        return PairFeatures(original, before, edited, after, added, removed, alignment, evidence)

    def _compare(self, encoded: EncodedPair) -> tuple[Tensor, Tensor]:
        """The numbers called `inputs.alignment` and `inputs.evidence`; 0 of who did not hear it, or
        heard it for another pair of these clips."""
        heard = encoded.original.keys() & encoded.edited.keys()
        if any(self.extractors[name].on_demand for name in heard):
            heard &= self.needed(encoded.texts)
        deaf = {x.name for x in self.hearing} - heard
        nothing = AudioFeatures(np.zeros(0, np.float32), {})
        before, after = (
            {
                x.name: {
                    name: frame
                    for of in (*x.beside, x.name)
                    for name, frame in clip.get(of, nothing).frames.items()
                }
                for x in self.extractors.values()
            }
            for clip in (encoded.original, encoded.edited)
        )
        way = self.way(encoded.texts)
        found = (x.align(before[x.name], after[x.name], way) for x in self._comparing)
        alignment = next((made for made in found if made is not None), None)
        compared = [
            np.zeros(len(x.alignment), np.float32)
            if x.name in deaf
            else x.compare(before[x.name], after[x.name], alignment)
            for x in self._comparing
        ]
        weighed, further = list[np.ndarray](), list[np.ndarray]()
        for x in self.reading:
            pair = before[x.name], after[x.name], alignment, encoded.texts[x.name]
            weighed.append(x.weigh(*pair))
            if x.further:
                further.append(x.weigh_further(*pair, weighed[-1]))
        return _numbers(compared), _numbers([*weighed, *further])


def _joined(extractors: Sequence[Extractor], embeddings: Sequence[np.ndarray]) -> Tensor:
    """One embedding of all, the joint spaces at its end."""
    joint = [len(made) - x.joint_dim for x, made in zip(extractors, embeddings, strict=True)]
    parts = [made[:place] for made, place in zip(embeddings, joint, strict=True)]
    return _numbers(parts + [made[place:] for made, place in zip(embeddings, joint, strict=True)])


def _numbers(parts: Sequence[np.ndarray]) -> Tensor:
    return torch.from_numpy(np.concatenate([*parts, np.zeros(0, np.float32)]))
