"""What a model is given of a pair, or of a batch of them, and what these numbers are called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, NonNegativeInt, PositiveInt, ValidationError
from torch import Tensor

from auditeval.types import UserError, sentence

FURTHER = "_further"
"""How numbers are called that relevance alone is to hear, in place of those without this ending."""


def extractors(alignment: Iterable[str]) -> set[str]:
    """Those that numbers are of.

    >>> extractors(["spectrum.eq", "spectrum.lsd"])
    {'spectrum'}
    """
    return {name.partition(".")[0] for name in alignment}


def lacking(names: Iterable[str], known: Iterable[str]) -> str:
    """What is not known of these, and what that is near to; "" where all are.

    >>> lacking(["spectrum", "tekstur"], {"spectrum", "texture", "parts"})
    'tekstur (near it: texture)'
    """
    known = sorted(known)
    said = []
    for name in sorted({*names} - {*known}):
        near = ", ".join(get_close_matches(name, known))
        said.append(f"{name} (near it: {near})" if near else name)
    return ", ".join(said)


class Inputs(BaseModel):
    """Sizes of embeddings and names of numbers, as an encoder makes and a model expects them.

    `audio` and `text` are sizes of a clip's and a caption's embedding; the last of their numbers
    lie in `joint` spaces of these sizes, one behind the other. `alignment` and `evidence` name
    numbers of a pair, each as `extractor.name`, the latter also `extractor.name_further`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    audio: NonNegativeInt
    text: NonNegativeInt = 0
    joint: tuple[PositiveInt, ...] = ()
    alignment: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()

    @classmethod
    def of(cls, described: Inputs | dict[str, Any]) -> Inputs:
        """From what a checkpoint says; raises ValueError."""
        try:
            return cls.model_validate(described)
        except ValidationError as error:
            raise ValueError(f"inputs: {sentence(error, cls)}") from None

    def spaces(self) -> list[slice]:
        """Where the joint spaces lie, counted from the end of an embedding."""
        ends = [-sum(self.joint[place + 1 :]) for place in range(len(self.joint))]
        return [slice(end - size, end or None) for size, end in zip(self.joint, ends, strict=True)]

    def pick(self, wanted: Inputs) -> Callable[[PairFeatures], PairFeatures]:
        """What turns features like these into those that a model was trained on: numbers by name.

        Raises UserError for what is not there.
        """
        if (self.audio, self.text, self.joint) != (wanted.audio, wanted.text, wanted.joint):
            raise UserError("the encoder makes embeddings of other sizes than the model expects")
        if missing := {*wanted.alignment, *wanted.evidence} - {*self.alignment, *self.evidence}:
            raise UserError(f"the encoder does not make {min(missing)}, which the model looks at")
        if self == wanted:
            return lambda features: features
        alignment = [self.alignment.index(name) for name in wanted.alignment]
        evidence = [self.evidence.index(name) for name in wanted.evidence]
        return lambda features: features._replace(
            alignment=features.alignment[..., alignment], evidence=features.evidence[..., evidence]
        )


class PairFeatures(NamedTuple):
    """What a model sees: the four embeddings of the paper's Figure 2, and what changed; float32.

    Of one pair :: (F,) each, or of B pairs :: (B, F) each. `*_audio` and `*_text` are of the clips,
    the captions, and the words added and removed between these (0 for no words). See `Inputs`.
    """

    original_audio: Tensor
    original_text: Tensor
    edited_audio: Tensor
    target_text: Tensor
    added_text: Tensor
    removed_text: Tensor
    alignment: Tensor
    evidence: Tensor

    def __reduce__(self) -> tuple[Any, ...]:
        """To another process it goes as arrays, which joblib lays where both can see them."""
        return _of_arrays, tuple(part.numpy(force=True) for part in self)

    @classmethod
    def stack(cls, rows: Sequence[PairFeatures]) -> PairFeatures:
        """B pairs to a batch."""
        return cls(*map(torch.stack, zip(*rows, strict=True)))

    @classmethod
    def random(cls, inputs: Inputs, pairs: int) -> PairFeatures:
        """Numbers from 0 to 1 in the shape of a batch."""
        texts = (inputs.text,) * 2
        sizes = (inputs.audio, inputs.text) * 2 + texts
        numbers = len(inputs.alignment), len(inputs.evidence)
        return cls(*(torch.rand(pairs, size) for size in (*sizes, *numbers)))

    def take(self, rows: Sequence[int]) -> PairFeatures:
        """Some pairs of a batch."""
        index = torch.as_tensor(rows, dtype=torch.long)
        return PairFeatures(*(part[index] for part in self))

    def to(self, device: torch.device) -> PairFeatures:
        return PairFeatures(*(part.to(device) for part in self))


def _of_arrays(*parts: np.ndarray) -> PairFeatures:
    return PairFeatures(*map(torch.from_numpy, parts))
