"""Whether speech sounds better after an edit (SpeechEditBench, Table 12)."""

from __future__ import annotations

from auditeval.backends.backend import Ratings

TOLERANCE = 1e-6


def enhancement_succeeds(source: Ratings, output: Ratings) -> bool:
    """Whether DNSMOS P.835 rates the output above the source in both OVRL and BAK.

    By more than rounding, so the source returned as it was has not improved.

    >>> source = Ratings({"OVRL": 2.1, "BAK": 2.0})
    >>> enhancement_succeeds(source, Ratings({"OVRL": 2.9, "BAK": 3.8}))
    True
    >>> enhancement_succeeds(source, source)
    False
    """
    gains = (output.values[name] - source.values[name] for name in ("OVRL", "BAK"))
    return all(gain > TOLERANCE for gain in gains)
