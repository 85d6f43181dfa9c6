"""What every frozen encoder is: the protocol, and what it makes of one clip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np


class AudioFeatures(NamedTuple):
    """One clip, encoded.

    `embedding` :: float32 (dim,) for the whole clip, windows weighted by length.
    `frames` :: name -> (T, F), what the encoder knows frame by frame; empty if it knows nothing.
    """

    embedding: np.ndarray
    frames: dict[str, np.ndarray]


class Encoder(Protocol):
    """A frozen audio encoder, with a text encoder where it has one (`text_dim` > 0).

    The last `joint_dim` numbers of an audio and of a text embedding lie in one space, in which
    their dot product says how well sound and words agree (0: the encoder has no such space; CLAP:
    all of them). `revision` changes whenever the same samples would encode to other numbers: it
    covers weights, code and window settings, and is part of every cache key and checkpoint.

    Encoding is a function of one item: neighbours in the list never change a result.
    """

    name: str
    revision: str
    rate_hz: int
    dim: int
    text_dim: int
    joint_dim: int

    def encode_audio(self, samples: np.ndarray) -> AudioFeatures:
        """Mono float32 (N,) at `rate_hz`, N >= 1, of any length."""
        ...

    def encode_text(self, captions: Sequence[str]) -> np.ndarray:
        """Captions to float32 (len(captions), text_dim)."""
        ...
