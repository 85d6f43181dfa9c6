"""How far each change of a voice that words can ask for was made, in audible steps."""

from __future__ import annotations

import numpy as np

from auditeval.features.changes.spoken import asked_speech
from auditeval.features.changes.transcripts import done
from auditeval.features.comparison import Frames

HEARD: tuple[str, ...] = (
    *("female", "male", "other_talker", "whispered", "voiced", "lively", "calm", "said"),
    "said_otherwise",
)
"""Names of `vocabulary.CHANGES`, and the words that changed though nobody asked for these."""

RELATED: dict[str, tuple[str, ...]] = {
    "female": ("pitch_up", "brighter", "other_talker"),
    "male": ("pitch_down", "duller", "other_talker"),
    "other_talker": (
        *("female", "male", "pitch_up", "pitch_down", "brighter", "duller", "faster", "slower"),
    ),
    "whispered": ("softer", "brighter", "noisier", "other_talker"),
    "voiced": ("louder", "duller", "cleaner", "other_talker"),
    "lively": ("pitch_up", "faster", "louder", "brighter"),
    "calm": ("pitch_down", "slower", "softer", "duller"),
    "said": ("faster", "slower"),
}
"""What comes with a change by its nature, so that it is no other change."""

MANNER = ("pitch", "range", "voiced", "rate", "tilt", "level")
"""Of speech :: median of the pitch in octaves, log2 Hz, and its 10th to 90th percentile; share of
voiced frames; words a second; dB from 1 kHz on above what lies below; dB of the whole."""

_MOST = 4.0  # steps; two are done
_BOUNDARY, _WIDTH = np.log2(165.0), 0.11  # octaves, between the pitch of men and of women
_SAME_VOICE, _VOICE_STEP = 0.79, 0.045  # cosine; by talkers of EMO-DB, neutral
_VOICED_SHARE = 0.25
# Arousal shows in pitch, its range, level, treble and rate [Juslin & Laukka 2003; Eyben et al.
# 2016]: what of each is a clear difference.
_AROUSED = {"pitch": 0.2, "range": 0.3, "tilt": 4.0, "level": 4.0, "rate": 1.5}


def voiced(before: Frames, after: Frames, words: tuple[str, str, str]) -> dict[str, float]:
    """Frames of `voices`, captions and instruction to steps by HEARD, below 0 the other way.

    Nothing where no clip has a voice, and where one has none what words tell is to be said; nothing
    of this where they do not.
    """
    spoken = _said(before, after, words)
    if "manner" not in before or "manner" not in after:
        heard = "manner" in before or "manner" in after
        return {"said": spoken["said"]} if heard and "said" in spoken else {}
    was, now = (dict(zip(MANNER, x["manner"][0].tolist(), strict=True)) for x in (before, after))
    change = {name: now[name] - was[name] for name in MANNER}
    woman = [1 / (1 + np.exp(-(x["pitch"] - _BOUNDARY) / _WIDTH)) for x in (was, now)]
    likeness = float(before["talker"][0] @ after["talker"][0])
    breath = -change["voiced"] / _VOICED_SHARE
    aroused = sum(np.tanh(change[name] / unit) for name, unit in _AROUSED.items())
    values = {
        "female": _MOST * (woman[1] - woman[0]),
        "male": _MOST * (woman[0] - woman[1]),
        "other_talker": np.clip((_SAME_VOICE - likeness) / _VOICE_STEP, 0, _MOST),
        **{"whispered": breath, "voiced": -breath},
        **{"lively": aroused, "calm": -aroused},
    }
    return {name: float(np.clip(value, -_MOST, _MOST)) for name, value in (values | spoken).items()}


def _said(before: Frames, after: Frames, words: tuple[str, str, str]) -> dict[str, float]:
    asked = asked_speech(*words)
    texts = (bytes(x.get("said", b"")).decode(errors="replace") for x in (before, after))
    made = done(asked, *texts)
    said = {"said": _MOST * made.asked} if asked.new or asked.gone else {}
    return said | {"said_otherwise": _MOST * made.others}
