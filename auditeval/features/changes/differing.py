"""Captions that name the same and differ in how much, how high or how fast it is."""

from __future__ import annotations

import re
from collections.abc import Callable

from auditeval.features.changes.keys import in_semitones

# How much of something there is; captions that differ in that alone both name it.
_DEGREE = (
    r"(?:(?:very )?(?:high|low|heavy|light|strong|slight|small|large|big|huge|tiny|deep)(?:er)?|"
    r"full|half|normal|medium|moderate)"
)
_AMOUNT = r"(?:no|without|little|some|much|more|less|lots? of)"
_OF_DEGREES = (
    r"(?:volume|loudness|level|energy|speed|tempo|pace|rate|pitch(?:ed)?|bass|treble|room|hall|space|"
    r"reverb(?:eration)?|quality|fidelity)"
)
_OF_AMOUNTS = rf"(?:{_OF_DEGREES}|distortion|echo|(?:background )?(?:noise|hiss|hum))"
_MEASURED = tuple(
    re.compile(rf"\b(?P<much>{degree})[ -](?P<of>{of})\b", re.IGNORECASE)
    for degree, of in ((_DEGREE, _OF_DEGREES), (_AMOUNT, _OF_AMOUNTS))
)


def _transposed(old: str, new: str) -> str:
    text = in_semitones(f"transposed from {old} to {new}")
    return text if "semitone" in text else ""


def _paced(old: str, new: str) -> str:
    return f"at {float(new) / float(old):.4g} times the speed" if float(old) else ""


def _louder(*louder: str) -> Callable[[str, str], str]:
    """Words that begin with these are said of what is loud, others of what is soft."""

    def asked(old: str, new: str) -> str:
        was, now = (word.startswith(louder) for word in (old, new))
        return "" if was == now else "louder" if now else "softer"

    return asked


_ALONE: tuple[tuple[str, Callable[[str, str], str]], ...] = (
    (r"\b([a-g](?:[ -]?(?:sharp|flat|[#b♯♭]))? ?(?:major|minor))\b", _transposed),
    (r"\b(\d+(?:\.\d+)?) ?(?:bpm|beats (?:per|a) minute)\b", _paced),
    (r"\b(foreground|background)\b", _louder("foreground")),
    (  # "heavy rain" and "light rain"
        r"\b((?:heav(?:y|i)|strong|intense|violent|light|gentl[ey]?|mild|weak)(?:er|ly)?)\b"
        rf"(?! {_OF_AMOUNTS})",
        _louder("heav", "strong", "intense", "violent"),
    ),
)


def asked_alone(before: str, after: str) -> str:
    """What captions ask for that have one such word each, and nothing else that differs.

    >>> asked_alone("A waltz in C major.", "A waltz in D major.")
    'transposed up by 2 semitones'
    >>> asked_alone("Drums at 100 bpm.", "Drums at 80 bpm."), asked_alone("Heavy rain.", "Wind.")
    ('at 0.8 times the speed', '')
    """
    before, after = before.lower(), after.lower()
    for pattern, asked in _ALONE:
        old, new = (re.findall(pattern, caption) for caption in (before, after))
        if len(old) == len(new) == 1 and old != new:
            left = [re.sub(rf"(?:\ban? )?{pattern}", "", caption) for caption in (before, after)]
            return asked(old[0], new[0]) if left[0] == left[1] else ""
    return ""


def of_measure(words: str, caption: str) -> str:
    """Words that one caption has alone with what they are of, which both have.

    >>> of_measure("low", "Music at low volume."), of_measure("no", "A man with no reverb.")
    ('low volume', 'no reverb')
    """
    much = re.sub(r"^(?:an?|the|with) ", "", words)
    found = (one for pattern in _MEASURED for one in pattern.finditer(caption))
    of = next((one["of"] for one in found if one["much"].lower() == much), "")
    return f"{words} {of.lower()}".strip()
