"""`naturalness`: how good people would find each clip as speech, unheard before, by DistillMOS."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import torch

from auditeval import audio
from auditeval.features.alignment import Alignment
from auditeval.features.asked import asked
from auditeval.features.comparison import Frames, same_words
from auditeval.features.distillmos_network import WINDOW, load
from auditeval.features.extractor import AudioFeatures, Extractor
from auditeval.pretrained.packages import package_file

_CODE = "2"
"""Part of the revision: counts the changes here that change a number."""

# A mean change of the bands by this is a change; a moment that is new counts as one that is other.
_CLEARLY_DB, _MOST_DB = 1.0, 6.0

_OF_A_VOICE = re.compile(
    r"\b(?:speak|spoke|talk|say|said|tell(?:s|ing)?\b|voice|vocal|speech|sing(?:s|ing|ers?)?\b|sang|sung"
    r"|narrat|convers|dialog|discuss|interview|commentat|announc|lectur|preach|recit|utter|whisper"
    r"|shout|yell|mutter|mumbl|stutter|words?\b|sentence|reads\b|read(?:ing)? (?:aloud|out)|podcast"
    r"|audiobook|chant|choir|lyric|a cappella|rapp)"
)

_SPOKEN = re.compile(r"\b(?:words?|phrases?|sentences?)\b")  # who says them is still heard


class Naturalness(Extractor):
    """A rating of speech quality of windows of 7.68 s, without a reference, and of the clip.

    What is no speech is rated as bad speech: only the difference between two clips, and that only
    where both hold speech, means anything then. `weights` is another file like the package's.
    Frames :: `mos` (W, 1), of windows that overlap where they must; the embedding (1,) is the mean.
    `on_demand` it hears pairs whose target caption or instruction names a voice, and of others all
    numbers are 0: it takes several times as long as what hears every pair.
    """

    name = "naturalness"
    rate_hz = 16000
    dim = 1
    alignment = (
        "unnatural",  # points that the edit is below 5, where it is not what the original is
        "mos_lost",  # points that it is below the original,
        "mos_gained",  # and above
        "original",  # points that the original is below 5, as `unnatural`
    )

    def __init__(self, weights: str | None = None, on_demand: bool = False) -> None:
        path = Path(weights).expanduser().resolve() if weights is not None else None
        self.arguments = {"weights": str(path) if path is not None else None}
        self.arguments["on_demand"] = self.on_demand = on_demand
        file = path or package_file("distillmos", "weights/distill_mos_v7.pt")
        self._network, digest = load(file)
        self.modules = (self._network,)
        self.revision = f"{_CODE}-{digest}"

    def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
        """Mono float32 (N,) at 16 kHz to its ratings, 1 to 5, without silence at its ends."""
        samples = samples[audio.heard(audio.Waveform(samples, self.rate_hz))]
        beyond = max(len(samples) - WINDOW, 0)
        starts = np.linspace(0, beyond, 1 + -(-beyond // WINDOW)).astype(int)
        with torch.inference_mode():
            clip = torch.from_numpy(samples).to(self.device)
            ratings = [self._network(clip[start : start + WINDOW]) for start in starts]
        mos = np.array(ratings, np.float32)[:, None]
        return AudioFeatures(mos.mean(axis=0), {"mos": mos})

    def wanted(self, words: tuple[str, str, str]) -> bool:
        """Where a voice is named that is heard after the edit, or in what is told to do.

        One that is told to go is not heard after it.
        """
        if not self.on_demand:
            return False
        _, target, instruction = words
        if instruction and same_words(words[0], target):
            _, target, _, gone = asked(*words)
            for one in filter(None, gone.split(" and ")):
                if _SPOKEN.search(one):
                    continue
                instruction = re.sub(re.escape(one), "", instruction, flags=re.IGNORECASE)
        return any(_OF_A_VOICE.search(text.lower()) for text in (target, instruction))

    def compare(self, original: Frames, edited: Frames, alignment: Alignment | None) -> np.ndarray:
        """Ratings of both clips, by their means over windows; nothing where nothing changed."""
        before, after = (float(frames["mos"].mean()) for frames in (original, edited))
        changed = 1.0
        if alignment is not None:
            changed = float(np.tanh(np.minimum(alignment.change, _MOST_DB).mean() / _CLEARLY_DB))
        values = [5 - after, max(before - after, 0), max(after - before, 0), 5 - before]
        return changed * np.array(values, np.float32)
