"""`changes`: higher, faster, louder, in a hall: how a sound changed, and what words ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from auditeval.data.change_words.vocabulary import CHANGES, EVENT, OPPOSITES
from auditeval.features import label_bridge
from auditeval.features.alignment import Alignment
from auditeval.features.changes.amounts import MEASURED
from auditeval.features.changes.made import HEARD, made
from auditeval.features.changes.of_one import exchanged, levels, one_of, steps_of_one
from auditeval.features.changes.pace_and_pitch import HOP_SECONDS, RATE_HZ, Turned, tones, turned
from auditeval.features.changes.polarity import said_apart
from auditeval.features.changes.spoken import marked, quotes_changed, quotes_speech
from auditeval.features.changes.voiced import HEARD as VOICED
from auditeval.features.changes.voiced import RELATED, voiced
from auditeval.features.changes.weigh import NAMES, weigh_changes
from auditeval.features.changes.words import ChangeWords
from auditeval.features.comparison import Frames, same_words
from auditeval.features.extractor import AudioFeatures, Extractor, Texts
from auditeval.features.minilm import shared
from auditeval.features.turning import Turn

_CODE = "17"
"""Part of the revision: counts the changes that change a number, here or in how words are read."""

_UNITS = tuple(MEASURED)
_ASKED = 0.15  # of probability; less is what the regression leaves for anything
_SURE, _LEAST = 0.5, 0.5  # of a way; of a change whose amount counts, by the one asked for most


def _kin(names: Sequence[str]) -> np.ndarray:
    """Opposites, and what goes with a change of a voice :: bool (K, K)."""
    related = {name: (OPPOSITES.get(name), *RELATED.get(name, ())) for name in names}
    return np.array([[other in related[name] for other in names] for name in names])


_KIN = _kin(HEARD)
_MENDS = ("cleaner", "less_reverb")
_OF_LEVEL = [CHANGES.index("louder"), CHANGES.index("softer")]
_OF_TURNS = [
    [CHANGES.index(name) for name in ways]
    for ways in (("pitch_up", "pitch_down"), ("faster", "slower"))
]
_OF_VOICES = [CHANGES.index(name) for name in VOICED if name in CHANGES]


class Changes(Extractor):
    """Changes of pitch, pace, level, room, colour and the like, as far as frames tell them.

    Text :: probabilities of `change_words.vocabulary.CHANGES`, then an amount: 1 in the place of
    its unit (semitones, octaves of pace, decibels) and its number in one of three more; all 0 of no
    words. Audio :: the mean of the frames `tones` float16 (T, 152), dB on a scale of octaves.
    The rest is measured in the frames by which `spectrum` aligned the clips; without, nothing is.
    Of a voice, its talker, manner and words, something is known beside the extractor `voices` only,
    `for_relevance` for that axis alone, and of the level of one of several sounds beside `events`.
    """

    name = "changes"
    rate_hz = RATE_HZ
    dim = 1
    steps = MappingProxyType({"tones": HOP_SECONDS})
    text_dim = len(CHANGES) + 2 * len(_UNITS)
    evidence = NAMES
    beside = ("events", "voices")

    def __init__(self, minilm: str | None = None, for_relevance: bool = False) -> None:
        self.arguments = {"minilm": minilm}
        if for_relevance:  # else it is not among them: no checkpoint of before has it
            self.arguments["for_relevance"] = True
        self.further = for_relevance
        self._words, self._minilm = ChangeWords(minilm), shared(minilm)
        self.revision = f"{_CODE}-{self._words.revision}"

    def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
        """Mono float32 (N,) at 16 kHz."""
        found = tones(samples)
        return AudioFeatures(np.array([found.mean()], np.float32) / 100, {"tones": found})

    def encode_text(self, captions: Sequence[str]) -> np.ndarray:
        """Captions, instructions or words of them to float32 (N, text_dim)."""
        return np.stack([self._encode(caption) for caption in captions])

    def _encode(self, text: str) -> np.ndarray:
        row = np.zeros(self.text_dim, np.float32)
        row[: len(CHANGES)] = self._words.probabilities(marked(text))[: len(CHANGES)]
        for found in self._words.amounts(text):
            place = _UNITS.index(found.unit)
            value = abs(np.log2(found.value)) if found.unit == "ratio" else abs(found.value)
            row[len(CHANGES) + place] = 1.0
            row[len(CHANGES) + len(_UNITS) + place] = value
        return row

    def weigh(
        self, original: Frames, edited: Frames, alignment: Alignment | None, texts: Texts
    ) -> np.ndarray:
        """See `weigh_changes`."""
        return self._weigh(original, edited, alignment, texts, voices=not self.further)

    def weigh_further(
        self,
        original: Frames,
        edited: Frames,
        alignment: Alignment | None,
        texts: Texts,
        weighed: np.ndarray,
    ) -> np.ndarray:
        """The same with what is known of voices."""
        if not self.needs(texts):
            return weighed
        return self._weigh(original, edited, alignment, texts, voices=True)

    def _weigh(
        self,
        original: Frames,
        edited: Frames,
        alignment: Alignment | None,
        texts: Texts,
        voices: bool,
    ) -> np.ndarray:
        asked, amounts = self._asked(texts)
        apart = self._apart(asked, texts.words)
        if alignment is None or not (asked.any() or apart):
            return np.zeros(len(NAMES), np.float32)
        how = turned(original["tones"], edited["tones"])
        steps, names, kin = made(how, alignment), HEARD, _KIN
        if asked[_OF_LEVEL].any() or apart:
            one = apart or one_of(texts.words)
            of_one = self._levels(original, alignment, one) if one else None
            if apart:  # known of both or of neither
                asked[_OF_LEVEL] = (asked[_OF_LEVEL].sum() or 1.0) * (of_one is not None), 0.0
            if of_one:
                steps = steps_of_one(steps, *of_one, apart=apart is not None)
        voices = voices and bool(asked[_OF_VOICES].any())
        if voices and (of_voices := self._voiced(original, edited, texts, asked)):
            steps = np.append(steps, np.array([*of_voices.values()], np.float32))
            names = (*HEARD, *of_voices)
            kin = _kin(names)
        heard = np.array([asked[CHANGES.index(n)] if n in CHANGES else 0 for n in names])
        unheard = float(asked.sum() - heard.sum())
        off = _off(amounts, how, dict(zip(names, heard, strict=True)), steps)
        mends = np.isin(names, _MENDS)
        return weigh_changes(heard, kin, mends, steps, unheard, off)

    def turn(self, texts: Texts) -> Turn:
        """By the words alone, of whatever sound."""
        asked = self._asked(texts)[0]
        ways = [int(x > max(y, _SURE)) - int(y > max(x, _SURE)) for x, y in asked[_OF_TURNS]]
        return Turn(*ways)

    def _apart(self, asked: np.ndarray, words: tuple[str, str, str]) -> tuple[str, str] | None:
        """See `exchanged`; an instruction that asks for it asks for both."""
        if same_words(*words[:2]) and not asked[_OF_LEVEL].all():
            return None
        return exchanged(words, self._way)

    def _way(self, text: str) -> int:
        louder, softer = self._words.probabilities(text)[_OF_LEVEL]
        return int(louder > _SURE) - int(softer > _SURE)

    def _levels(
        self, original: Frames, alignment: Alignment, names: tuple[str, str]
    ) -> tuple[float, float] | None:
        """dB of the sound that is meant and of the others, where that can be told."""
        if "joint" not in original or not all(names):
            return None
        one, others = (label_bridge.of_words(self._minilm, name)[0] for name in names)
        return levels(original, alignment, one, others)

    def _voiced(
        self, original: Frames, edited: Frames, texts: Texts, asked: np.ndarray
    ) -> dict[str, float]:
        """Steps of a voice by name. Where other words are asked for, and nothing says which, those
        that changed are neither right nor wrong."""
        found = voiced(original, edited, texts.words)
        if "said" not in found and asked[CHANGES.index("said")]:
            found.pop("said_otherwise", None)
        return found

    def needs(self, texts: Texts) -> tuple[str, ...]:
        """Voices, where words ask for a change of one."""
        return ("voices",) if self._asked(texts)[0][_OF_VOICES].any() else ()

    def _asked(self, texts: Texts) -> tuple[np.ndarray, np.ndarray]:
        """Of the words added and, the other way round, removed, and of the instruction.

        Captions that quote other speech ask for this speech, and their words for nothing else.
        """
        size = len(CHANGES)
        rows = np.stack([texts.added, texts.removed, texts.instruction])
        asked = rows[:, :size].copy()
        asked[1] = asked[1][_MIRROR] * (_MIRRORED > 0)
        before, after, _ = texts.words
        if quotes_changed(before, after):
            asked[:2] *= said_apart(before) != said_apart(after)
            asked[0, CHANGES.index("said")] = 1.0
        elif same_words(before, after):
            asked = _settled(asked)
        else:
            asked[:2] = _larger(asked[:2])
        if same_words(before, after) and quotes_speech(marked(texts.words[2])):
            said = CHANGES.index("said")
            asked[2] /= max(1 - asked[2, said], 0.5)  # the quotation tells it: the rest shares
            asked[2, said] = 1.0
        asked = asked.max(axis=0)
        asked[CHANGES.index(EVENT)] = 0.0
        asked[asked < _ASKED] = 0.0
        return asked, rows[:, size:].max(axis=0)


def _settled(asked: np.ndarray) -> np.ndarray:
    """What an instruction asks for :: rows of what it adds, removes, and of all of it -> (3, K).

    "Change the emotion to angry" removes no emotion: its parts say no more than which of two
    opposites the whole asks for.
    """
    added, removed, whole = asked
    made = whole.copy()
    for one, two in _OPPOSED:
        total = whole[one] + whole[two]
        if total < _ASKED:
            continue
        part = added
        if max(added[one], added[two]) < _ASKED and min(whole[one], whole[two]) > 0.1 * total:
            part = removed
        if max(part[one], part[two]) >= _ASKED:
            won, lost = (one, two) if part[one] >= part[two] else (two, one)
            made[won], made[lost] = total, 0.0
    return np.stack([0 * made, 0 * made, made])


def _larger(asked: np.ndarray) -> np.ndarray:
    """What captions ask for :: (2, K), of two opposites that which they ask for more."""
    most = asked.max(axis=0)
    return asked * ~(_MIRRORED & (most[_MIRROR] > most))


_MIRROR = np.array([CHANGES.index(OPPOSITES.get(n) or n) for n in CHANGES])
_MIRRORED = np.array([bool(OPPOSITES.get(name)) for name in CHANGES])
_OPPOSED = [(one, int(two)) for one, two in enumerate(_MIRROR) if one < two]


def _off(
    amounts: np.ndarray, how: Turned, asked: Mapping[str, float], steps: np.ndarray
) -> float | None:
    """Octaves that what was made lies above the amount told; of several, of that missed by most."""
    told, values = np.split(amounts, 2)
    measured = {"semitones": how.semitones, "ratio": float(np.log2(how.pace))}
    apart = []
    for unit, is_told, value in zip(_UNITS, told, values, strict=True):
        name = max(MEASURED[unit], key=lambda name: asked[name])
        if not is_told or asked[name] < max(_LEAST * max(asked.values()), _ASKED):
            continue
        sign = 1 if name == MEASURED[unit][0] else -1
        made = sign * measured[unit] if unit in measured else 3.0 * steps[[*asked].index(name)]
        most = max(float(value), 1e-3)
        apart.append(float(np.log2(max(float(made), 0.05 * most) / most)))
    return max(apart, key=abs, default=None)
