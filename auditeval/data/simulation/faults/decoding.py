"""What neural decoders and vocoders leave of a clip :: float (N,). Each needs its processor."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from auditeval.data.simulation.faults.fault import Damage, Edit, Fault, Scale, Stage
from auditeval.data.simulation.processors import Processors

_BANDS_HZ = (16000, 24000, 32000)


# By ear. SoundStream at 3 kbit/s is rated above Opus at 12 [arXiv:2107.03312, 5.1], which costs 1.6
# here; Lyra is a smaller model of its kind, for phones, and costs more at its lowest rate. Below
# 2 kbit/s it is "robotic".
@Damage(
    Scale("kbit/s at 16 kHz", ((0, 9.2), (0.5, 4.6), (1, 1.4))),
    quality=((1.4, 3.2), (2.0, 2.8), (3.2, 2.1), (4.6, 1.6), (6.0, 1.3), (9.2, 0.9)),
    relevance=((1.4, 0.8), (2.0, 0.4), (3.2, 0.0)),
    faithfulness=((1.4, 3.0), (2.0, 2.6), (3.2, 1.9), (4.6, 1.4), (6.0, 1.1), (9.2, 0.8)),
    processor="lyra",
    since=13,
)
def neural_codec(x: np.ndarray, kbits: float, rng: Generator, processors: Processors) -> np.ndarray:
    """Through a neural codec at that rate and back; below 8 kHz, or of a wider band."""
    return processors.run("lyra", x, kbits, rate_hz=int(rng.choice(_BANDS_HZ)))


# The decoder alone: what a generative editor ends in, whatever it generates.
@Damage(
    quality=((0, 0.0), (1, 0.6)),
    faithfulness=((0, 0.0), (1, 0.5)),
    processor="lyra",
    since=13,
)
def neural_decoder(
    x: np.ndarray, amount: float, rng: Generator, processors: Processors
) -> np.ndarray:
    """Encoded and decoded without quantisation; below 8 kHz, or of a wider band."""
    return processors.run("lyra", x, rate_hz=int(rng.choice(_BANDS_HZ)))


# Analysis and synthesis without change: "near to natural", buzzing where voicing is misjudged.
@Damage(
    quality=((0, 0.0), (1, 0.8)),
    faithfulness=((0, 0.0), (1, 0.7)),
    processor="world",
    speech_only=True,
    since=13,
)
def speech_vocoded(
    x: np.ndarray, amount: float, rng: Generator, processors: Processors
) -> np.ndarray:
    """Speech through WORLD, below 8 kHz."""
    return processors.run("world", x)


# The same words spoken anew: well said, and another utterance: "only the kind is left". That the
# voice, the melody or the pace is not the talker's is heard as unnatural too.
@Fault(
    quality=((0, 0.0), (1, 1.5)),
    relevance=((0, 0.0), (1, 0.3)),
    faithfulness=((0, 0.0), (1, 3.0)),
    stage=Stage.BACKGROUND,
    needs="reading",
    speech_only=True,
    since=13,
)
def speech_respoken(edit: Edit, amount: float, rng: Generator) -> None:
    edit.background = edit.scene.spare("reading")
    edit.touched.append((0, len(edit.background)))
