"""What every frozen extractor is: its features of a clip and a caption, its numbers of a pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from auditeval.features.alignment import Alignment
from auditeval.features.comparison import PATCH_NAMES, Frames, compare_patches
from auditeval.features.turning import NO_TURN, Turn
from auditeval.pretrained.accelerators import place
from auditeval.pretrained.threads import one_thread


class AudioFeatures(NamedTuple):
    """One clip, encoded.

    `embedding` :: float32 (dim,) for the whole clip, windows weighted by length.
    `frames` :: name -> (T, F), what the extractor knows frame by frame; empty if it knows nothing.
    Names that several share: `patch` :: (P, F), embeddings of the patches that a clip is cut into;
    `joint` :: (P, joint_dim), those patches in the space shared with words; `span` :: int32 (P, 2),
    the first log-mel frame of 10 ms in each patch and the one after its last; `logits` :: (1, C),
    class logits of the whole clip.
    """

    embedding: np.ndarray
    frames: Frames


class Texts(NamedTuple):
    """Text features of a pair :: (text_dim,) each, 0 for no words.

    Of both captions, of the words that the target caption adds and removes, and of the instruction;
    and the words themselves: of both captions and the instruction, "" for none.
    """

    original: np.ndarray
    target: np.ndarray
    added: np.ndarray
    removed: np.ndarray
    instruction: np.ndarray
    words: tuple[str, str, str] = ("", "", "")


class Extractor:
    """A frozen model of sound (`dim` > 0), of words (`text_dim` > 0), or of both.

    The last `joint_dim` numbers of an audio and of a text embedding lie in one space, in which
    their dot product says how well sound and words agree (0: there is no such space; CLAP: all of
    them). `revision` changes whenever the same samples would encode, or the same pair compare, to
    other numbers: it covers weights, code and window settings, and is part of every cache key and
    checkpoint.

    `alignment` and `evidence` name the numbers that it makes of a pair, in the order of `compare`
    and `weigh`: how the sound differs, and how well what changed in it fits the words.

    What it makes of a pair may rest on what others keep of the clips, too: on the frames of those
    extractors that `beside` names, where they are there. An extractor `on_demand` hears the clips
    of a pair only where one that names it `needs` it for the words of that pair, or where it is
    `wanted` by these words; its embedding counts nowhere.

    Encoding is a function of one item: neighbours in a list change a result by rounding at most.
    `batch_size` clips at a time are what it is fastest with. `arguments` (JSON values only) rebuild
    it. By default it takes one clip after the other, on the CPU, and no words.
    """

    name: str
    arguments: dict[str, Any]
    revision: str
    rate_hz: int
    dim: int = 0
    text_dim: int = 0
    joint_dim: int = 0
    batch_size: int = 1
    alignment: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    on_demand: bool = False
    further: bool = False
    """Whether relevance is to hear `weigh_further` in place of `weigh`."""
    steps: Mapping[str, float] = MappingProxyType({})
    """Of frames that lie evenly in time: how many seconds one is after the other, by name."""
    device = torch.device("cpu")
    """Where it computes: of two kinds of device the numbers differ by rounding."""
    modules: tuple[nn.Module, ...] = ()
    """What `to` moves there; none of an extractor that knows the CPU only."""

    def __init__(self) -> None:
        self.arguments = {}

    @property
    def made_by(self) -> str:
        """Whose numbers an entry of the cache holds: `revision` alone where the CPU made them."""
        kind = self.device.type
        return f"{self.name}@{self.revision}" + ("" if kind == "cpu" else f"-{kind}")

    def described(self) -> Extractor:
        """One that is called as it is, and encodes nothing."""
        described = Extractor()
        described.name, described.revision = self.name, self.revision
        described.arguments = self.arguments
        return described

    def to(self, device: str) -> None:
        """Run on a torch device from now on; those that know the CPU only stay there."""
        if self.modules:
            self.device = place(device, *self.modules)

    def encode_audio(self, clips: Sequence[np.ndarray]) -> list[AudioFeatures]:
        """Mono float32 (N,) clips at `rate_hz`, N >= 1, of any length.

        Raises audio.AudioError where one of them has no features.
        """
        with one_thread():
            return [self.encode_clip(clip) for clip in clips]

    def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
        """Mono float32 (N,) at `rate_hz`, N >= 1, of any length."""
        raise NotImplementedError(f"{self.name} hears nothing")

    def encode_text(self, captions: Sequence[str]) -> np.ndarray:
        """Captions to float32 (len(captions), text_dim)."""
        return np.zeros((len(captions), 0), np.float32)

    def alike(self, first: str, second: str) -> float:
        """How surely two names are of one sound, up to 1; 0 of one that cannot tell."""
        return 0.0

    def needs(self, texts: Texts) -> tuple[str, ...]:
        """Which of `beside` it wants to hear with for a pair of these words: all of them."""
        return self.beside

    def wanted(self, words: tuple[str, str, str]) -> bool:
        """Whether it hears, `on_demand`, a pair of these captions and this instruction."""
        return False

    def turn(self, texts: Texts) -> Turn:
        """Which way words ask pitch and pace to go: 1 up, -1 down, 0 neither."""
        return NO_TURN

    def align(self, original: Frames, edited: Frames, way: Turn) -> Alignment | None:
        """Where and how loud the edit is the original, turned if it was to be turned that way; None
        of one that cannot tell."""
        return None

    def compare(self, original: Frames, edited: Frames, alignment: Alignment | None) -> np.ndarray:
        """Its frames of two clips to the numbers called `alignment` :: float32 (K,).

        0 where nothing differs. What differs in time or level alone is told by the alignment, which
        another extractor may have found (None: nobody did).
        """
        return np.zeros(0, np.float32)

    def weigh(
        self, original: Frames, edited: Frames, alignment: Alignment | None, texts: Texts
    ) -> np.ndarray:
        """Its frames of two clips and its texts to the numbers called `evidence` :: (E,)."""
        return np.zeros(0, np.float32)

    def weigh_further(
        self,
        original: Frames,
        edited: Frames,
        alignment: Alignment | None,
        texts: Texts,
        weighed: np.ndarray,
    ) -> np.ndarray:
        """What `weigh` made of the same, in view of all that is known of the pair."""
        return weighed


class PatchExtractor(Extractor):
    """An extractor that keeps patches, the frames called `patches`: they are compared in time."""

    alignment = PATCH_NAMES
    patches = "patch"

    def compare(self, original: Frames, edited: Frames, alignment: Alignment | None) -> np.ndarray:
        return compare_patches(self.patches, original, edited, alignment)
