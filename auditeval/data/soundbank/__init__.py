"""Sound bank: sounds synthesised by signal processing, so that no recordings are needed.

``EVENTS`` describes the classes; ``synthesize`` makes one clip of a class.
"""

from __future__ import annotations

import zlib

import numpy as np

from . import animals, blocks, devices, human, indoor, music, nature, outdoor, transport
from .event import SoundEvent

# Peak of every clip: half of full scale, so that two clips can be added without clipping.
PEAK = 0.5

# Length of the fades at both ends: a clip cut out of a running sound would click.
_FADE_SECONDS = 0.004

EVENTS: dict[str, SoundEvent] = {
    event.name: event
    for module in (nature, transport, devices, indoor, outdoor, animals, music, human)
    for event in vars(module).values()
    if isinstance(event, SoundEvent)
}


def synthesize(name: str, seed: int, seconds: float, rate_hz: int = 32000) -> np.ndarray:
    """One clip of the class ``name``: float32, mono, ``round(seconds * rate_hz)`` samples.

    The peak is ``PEAK`` and the mean is zero.  The same arguments give the same samples; another
    ``seed`` (zero or more) gives another pitch, rhythm, spectrum and decay, as another recording
    of the same class would.  Raises KeyError for a name that is not in ``EVENTS``.
    """
    if name not in EVENTS:
        raise KeyError(f"There is no sound named {name!r}; the names are: {', '.join(EVENTS)}.")
    count = round(seconds * rate_hz)
    if count < 1:
        raise ValueError(f"A clip of {seconds} s at {rate_hz} Hz holds no samples.")
    # Python's own hash of a string changes from run to run.
    entropy = np.random.SeedSequence([zlib.crc32(name.encode()), seed])
    sound = EVENTS[name].render(np.random.default_rng(entropy), seconds, rate_hz)[:count]
    sound = blocks.high_pass(sound, rate_hz, 25.0)
    fade = min(_FADE_SECONDS * rate_hz / count, 0.25)
    sound *= blocks.hump(count, fade, fade)
    sound -= sound.mean()
    return (sound * (PEAK / max(float(np.abs(sound).max()), 1e-12))).astype(np.float32)
