"""How steady voice and room are throughout a long clip (SwanBench-Speech C.1 and C.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from auditeval.audio import Waveform
from auditeval.backends.backend import SpeechSpans
from auditeval.types import Undefined

WINDOW_SECONDS, STRIDE_SECONDS = 3.0, 2.0
MOST_NON_SPEECH = 0.6
_TOLERANCE = 1e-9


def speaker_windows(
    clip: Waveform, seconds: float = WINDOW_SECONDS, stride: float = STRIDE_SECONDS
) -> list[Waveform]:
    """The whole windows of a clip, one each `stride` seconds: none where it is shorter than one.

    >>> [len(speaker_windows(Waveform(np.zeros(n), 10))) for n in (29, 49, 50, 100)]
    [0, 1, 2, 4]
    """
    length, hop = round(seconds * clip.rate_hz), round(stride * clip.rate_hz)
    starts = range(0, len(clip.samples) - length + 1, hop)
    return [Waveform(clip.samples[s : s + length], clip.rate_hz) for s in starts]


def speech_shares(
    speech: SpeechSpans,
    windows: int,
    seconds: float = WINDOW_SECONDS,
    stride: float = STRIDE_SECONDS,
) -> list[float]:
    """How much of each of the first `windows` windows is speech, 0 to 1.

    >>> speech_shares(SpeechSpans(((0.0, 3.0), (4.0, 4.5))), windows=2)
    [1.0, 0.5]
    """
    return [speech_share(speech, i * stride, i * stride + seconds) for i in range(windows)]


def speech_share(speech: SpeechSpans, start: float, end: float) -> float:
    """How much of the time from `start` to `end` (seconds) is speech, 0 to 1.

    >>> speech_share(SpeechSpans(((0.5, 1.0),)), 0.0, 2.0)
    0.25
    """
    spoken = sum(max(0.0, min(stop, end) - max(begin, start)) for begin, stop in speech.spans)
    return spoken / (end - start)


def mean_pairwise_cosine(embeddings: np.ndarray) -> float | Undefined:
    """Mean cosine over all pairs of two different rows :: (n, d) -> -1 to 1; higher is steadier.

    (|sum of e|^2 - n) / (n (n - 1)) with e of unit length. Undefined for fewer than two rows.
    Raises ValueError for a row of zeros, which has no direction.

    >>> round(mean_pairwise_cosine(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]])), 3)
    0.333
    """
    count = len(embeddings)
    if count < 2:
        return Undefined(f"{count} windows, at least 2 are needed")
    total = _units(embeddings).sum(axis=0)
    return float((np.square(total).sum() - count) / (count * (count - 1)))


def mean_cosine_between(first: np.ndarray, second: np.ndarray) -> float:
    """Mean cosine of each row of one with each of the other :: (n, d), (m, d) -> -1 to 1.

    Raises ValueError for a row of zeros, as above.

    >>> mean_cosine_between(np.array([[1.0, 0.0]]), np.array([[2.0, 0.0], [0.0, 1.0]]))
    0.5
    """
    return float((_units(first) @ _units(second).T).mean())


def timbre_consistency(streams: Sequence[np.ndarray]) -> float | Undefined:
    """Mean over speakers of `mean_pairwise_cosine` of each one's windows :: n_k x (d,).

    `streams` holds one array (n, d) for each speaker. Undefined where it is for one of them: a
    voice that is hardly heard must not drop out of the mean.

    >>> timbre_consistency([np.ones((2, 4)), np.eye(2)])
    0.5
    """
    values = [mean_pairwise_cosine(stream) for stream in streams]
    known = [value for value in values if not isinstance(value, Undefined)]
    if not values:
        return Undefined("no speaker")
    if len(known) < len(values):
        place, value = next((i, v) for i, v in enumerate(values) if isinstance(v, Undefined))
        where = f"speaker {place + 1} of {len(values)}: " if len(values) > 1 else ""
        return Undefined(f"{where}{value.reason}")
    return sum(known) / len(known)


def reverb_consistency(
    values: Sequence[float | Undefined], speech_shares: Sequence[float], ddof: int = 0
) -> float | Undefined:
    """Standard deviation of SRMR over the windows of a clip; lower is steadier.

    Windows of more than 60 % non-speech and those without a value are left out. `ddof` as in
    numpy.std; the paper does not say which. Undefined for fewer than two windows.

    >>> reverb_consistency([4.0, 6.0, 99.0], speech_shares=[1.0, 0.5, 0.3])
    1.0
    """
    kept = [
        value
        for value, share in zip(values, speech_shares, strict=True)
        if not isinstance(value, Undefined) and 1 - share <= MOST_NON_SPEECH + _TOLERANCE
    ]
    if len(kept) < 2:
        return Undefined(f"{len(kept)} windows of speech, at least 2 are needed")
    return float(np.std(kept, ddof=ddof))


def _units(embeddings: np.ndarray) -> np.ndarray:
    rows = np.asarray(embeddings, np.float64)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (norms > 0).all():
        raise ValueError(f"embedding {int(np.argmin(norms))} is zero, and has no direction")
    return rows / norms
