"""Texts of recognisers against expected ones: normalisation and error rates."""

from __future__ import annotations

import re
import string
import unicodedata
from typing import Literal

from auditeval.pretrained.packages import imported
from auditeval.types import Undefined

Language = Literal["en", "zh"]

PRESERVED_ERROR_RATE = 0.10
"""SpeechEditBench, Appendix E.2."""

_APOSTROPHES = re.compile("['\u2018\u2019\u02bc`]")
_NOT_CHINESE_TEXT = re.compile(
    "[^\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff0-9a-z]"
)
"""The mark of a repeated character and the zero of years (3005, 3007) are no punctuation."""

_HANZI_PUNCTUATION = (
    "\uff02\uff03\uff04\uff05\uff06\uff07\uff08\uff09\uff0a\uff0b\uff0c\uff0d\uff0f\uff1a\uff1b"
    "\uff1c\uff1d\uff1e\uff20\uff3b\uff3c\uff3d\uff3e\uff3f\uff40\uff5b\uff5c\uff5d\uff5e\uff5f"
    "\uff60\uff62\uff63\uff64\u3000\u3001\u3003\u3008\u3009\u300a\u300b\u300c\u300d\u300e\u300f"
    "\u3010\u3011\u3014\u3015\u3016\u3017\u3018\u3019\u301a\u301b\u301c\u301d\u301e\u301f\u3030"
    "\u303e\u303f\u2013\u2014\u2018\u2019\u201b\u201c\u201d\u201e\u201f\u2026\u2027\ufe4f\ufe51"
    "\ufe54\u00b7\uff01\uff1f\uff61\u3002"
)
"""That of zhon.hanzi.punctuation, which SwanBench-Speech names."""

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation + _HANZI_PUNCTUATION)


def normalise_english(text: str) -> str:
    """Lower case without punctuation, single spaces (SpeechEditBench, Appendix E.2).

    An apostrophe leaves no gap, so that "don't" is the word "dont" and not two; any other mark
    parts words.

    >>> normalise_english("Don't - I SAID - well-known,  1st!")
    'dont i said well known 1st'
    """
    # That of an acute accent alone would be a space.
    plain = unicodedata.normalize("NFKC", text.replace("\u00b4", ""))
    text = _APOSTROPHES.sub("", plain).lower()
    return " ".join("".join(c if c.isalnum() else " " for c in text).split())


def normalise_chinese(text: str) -> str:
    """Chinese characters, digits and lower-case Latin letters alone (Appendix E.2 there).

    >>> normalise_chinese("你好， World 2０!")
    '你好world20'
    """
    return _NOT_CHINESE_TEXT.sub("", unicodedata.normalize("NFKC", text).lower())


def normalise_swanbench_english(text: str) -> str:
    """No punctuation, nothing beyond ASCII, single spaces, lower case (SwanBench-Speech, C.4).

    A letter loses its accents and not its place, as in `clean-text`, which the paper names, without
    the package unidecode.

    >>> normalise_swanbench_english("The Café's \ufb01ne!")
    'the cafes fine'
    """
    # That of an acute accent alone would be a space.
    parted = unicodedata.normalize("NFKD", text.replace("\u00b4", ""))
    kept = parted.translate(_NO_PUNCTUATION).encode("ascii", "ignore").decode()
    return " ".join(kept.lower().split())


def normalise_swanbench_chinese(text: str) -> str:
    """No punctuation, single spaces, simplified characters (SwanBench-Speech, C.4).

    >>> normalise_swanbench_chinese("漢字， 好！")
    '汉字 好'
    """
    zhconv = imported("zhconv", "bench")

    return " ".join(zhconv.convert(text.translate(_NO_PUNCTUATION), "zh-cn").lower().split())


def word_error_rate(reference: str, hypothesis: str) -> float | Undefined:
    """Edits over words of the reference, 0 upwards; both texts normalised. Not rounded.

    >>> round(word_error_rate("a red door", "a blue door"), 3)
    0.333
    """
    jiwer = imported("jiwer", "bench")

    if not reference.split():
        return Undefined("the expected transcript has no words")
    return float(jiwer.wer(reference, hypothesis))


def character_error_rate(reference: str, hypothesis: str) -> float | Undefined:
    """Edits over characters of the reference, spaces left out; both texts normalised.

    >>> character_error_rate("abcd", "abc")
    0.25
    """
    jiwer = imported("jiwer", "bench")

    expected, heard = ("".join(text.split()) for text in (reference, hypothesis))
    if not expected:
        return Undefined("the expected transcript has no characters")
    return float(jiwer.cer(expected, heard))


def error_rate(language: Language, reference: str, hypothesis: str) -> float | Undefined:
    """SpeechEditBench's: WER of English, CER of Chinese, of texts as they come.

    >>> error_rate("en", "A well-known man.", "a well known")
    0.25
    """
    if language == "zh":
        return character_error_rate(normalise_chinese(reference), normalise_chinese(hypothesis))
    return word_error_rate(normalise_english(reference), normalise_english(hypothesis))


def preserved(rate: float) -> bool:
    """Whether an error rate passes SpeechEditBench's gate, which is exact: 0.10 does.

    >>> preserved(0.10), preserved(0.11)
    (True, False)
    """
    return rate <= PRESERVED_ERROR_RATE
