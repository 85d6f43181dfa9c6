"""Does a rater wear headphones? The antiphase test [Woods et al. 2017, 10.3758/s13414-017-1361-2].

Three tones of 200 Hz, one of them 6 dB softer; one of the others has its two channels in opposite
phase. Over headphones the softer one is easily told. Loudspeakers cancel the antiphase tone in the
air, so that it seems the softest. Six questions, passed by five right answers.
"""

from __future__ import annotations

import json
import secrets
from itertools import permutations

import numpy as np
from pydantic import BaseModel

from auditeval.audio import files
from auditeval.audio.waveform import quantised

QUESTIONS, PASSED = 6, 5
ATTEMPTS = 3
_RATE_HZ, _TONE_HZ = 44_100, 200.0
_TONE_SECONDS, _RAMP_SECONDS, _GAP_SECONDS = 1.0, 0.1, 0.5
_LEVEL, _SOFTER = 0.25, 10 ** (-6 / 20)
_GAINS = ((1.0, 1.0), (_SOFTER, _SOFTER), (1.0, -1.0))  # plain, soft, antiphase


class Check(BaseModel):
    """How far a rater has come: names of the questions' clips, what each plays, scores so far.

    An order has the place of the plain, the soft and the antiphase tone, from 0.
    """

    clips: list[str]
    orders: list[tuple[int, int, int]]
    scores: list[int] = []

    @property
    def passed(self) -> bool:
        return any(score >= PASSED for score in self.scores)

    @property
    def over(self) -> bool:
        """Passed, or failed as often as one may."""
        return self.passed or len(self.scores) >= ATTEMPTS

    def right(self, answers: list[int]) -> int:
        """How many of the answers, places from 0, name the soft tone."""
        return sum(order[1] == answer for order, answer in zip(self.orders, answers, strict=True))


def new(scores: list[int]) -> Check:
    """A check in an order that nobody can foresee, each of the six orders once."""
    orders = list(permutations(range(3)))
    secrets.SystemRandom().shuffle(orders)
    return Check(
        clips=[secrets.token_urlsafe(12) for _ in orders],
        orders=[(a, b, c) for a, b, c in orders],
        scores=scores,
    )


def of_json(kept: str | None) -> Check | None:
    """What the database keeps of it."""
    return None if kept is None else Check.model_validate(json.loads(kept))


def tones(order: tuple[int, int, int]) -> np.ndarray:
    """The three tones :: float32 (N, 2), full scale 1."""
    time = np.arange(int(_TONE_SECONDS * _RATE_HZ)) / _RATE_HZ
    ramp = np.clip(np.minimum(time, time[::-1]) / _RAMP_SECONDS, 0, 1)
    tone = _LEVEL * np.sin(np.pi / 2 * ramp) ** 2 * np.sin(2 * np.pi * _TONE_HZ * time)
    silence = np.zeros((int(_GAP_SECONDS * _RATE_HZ), 2))
    made: list[np.ndarray] = [silence] * 5
    for place, gains in zip(order, _GAINS, strict=True):
        made[2 * place] = tone[:, None] * np.array(gains)
    return np.concatenate(made).astype(np.float32)


def clip(order: tuple[int, int, int]) -> bytes:
    """The tones as a WAV file of two channels."""
    return files.encoded(quantised(tones(order)), _RATE_HZ, "WAV")
