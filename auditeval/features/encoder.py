"""What every frozen encoder is: the protocol, and what it makes of one clip."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from auditeval.features.threads import one_thread

Frames = dict[str, np.ndarray]


class AudioFeatures(NamedTuple):
    """One clip, encoded.

    `embedding` :: float32 (dim,) for the whole clip, windows weighted by length.
    `frames` :: name -> (T, F), what the encoder knows frame by frame; empty if it knows nothing.
    Names that several encoders share: `patch` :: (P, F), embeddings of the patches that an encoder
    cuts a clip into; `joint` :: (P, joint_dim), those patches in the space shared with words;
    `span` :: int32 (P, 2), where both are kept, the first frame of `mel` in each patch and the one
    after its last; `logits` :: (1, C), class logits of the whole clip.
    """

    embedding: np.ndarray
    frames: Frames


class Encoder(Protocol):
    """A frozen audio encoder, with a text encoder where it has one (`text_dim` > 0).

    The last `joint_dim` numbers of an audio and of a text embedding lie in one space, in which
    their dot product says how well sound and words agree (0: the encoder has no such space; CLAP:
    all of them). `revision` changes whenever the same samples would encode to other numbers: it
    covers weights, code and window settings, and is part of every cache key and checkpoint.

    Encoding is a function of one item: neighbours in a list change a result by rounding at most.
    `batch_size` clips at a time are what the encoder is fastest with. `arguments` (JSON values
    only) rebuild the encoder. `compares_frames` says whether it keeps frames by which two clips can
    be compared (`mel` or `patch`).
    """

    name: str
    arguments: dict[str, Any]
    revision: str
    rate_hz: int
    dim: int
    text_dim: int
    joint_dim: int
    batch_size: int
    compares_frames: bool

    def to(self, device: str) -> None:
        """Run on a torch device from now on; encoders that know the CPU only stay there."""
        ...

    def encode_audio(self, clips: Sequence[np.ndarray]) -> list[AudioFeatures]:
        """Mono float32 (N,) clips at `rate_hz`, N >= 1, of any length.

        Raises audio.AudioError where one of them has no features.
        """
        ...

    def encode_text(self, captions: Sequence[str]) -> np.ndarray:
        """Captions to float32 (len(captions), text_dim)."""
        ...


@runtime_checkable
class DifferenceEncoder(Protocol):
    """An encoder with `joint` frames, which can also hear one clip without the other."""

    def encode_difference(
        self, clip: Frames, other: Frames, lag: int, gain: float
    ) -> tuple[np.ndarray, float]:
        """The loudest moment of what a clip has and another has not, from the frames of both.

        In the joint space :: (joint_dim,), and its share of the clip's magnitude then, 0..1. Where
        both are the same, the other comes `lag` frames of `mel` later, and the clip is `gain` dB
        louder.
        """
        ...


class ClipEncoder:
    """What encoders share that take one clip after the other: of sound alone, on the CPU."""

    batch_size = 1
    text_dim = 0
    joint_dim = 0
    compares_frames = True

    def to(self, device: str) -> None:
        """Stays on the CPU."""

    def encode_audio(self, clips: Sequence[np.ndarray]) -> list[AudioFeatures]:
        """Mono float32 (N,) clips at `rate_hz`; see `encode_clip`."""
        with one_thread():
            return [self.encode_clip(clip) for clip in clips]

    @abstractmethod
    def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
        """Mono float32 (N,) at `rate_hz`, N >= 1, of any length."""

    def encode_text(self, captions: Sequence[str]) -> np.ndarray:
        """No text encoder: (N, 0)."""
        return np.zeros((len(captions), 0), np.float32)
