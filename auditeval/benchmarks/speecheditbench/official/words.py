"""Words as the released code compares them (its content_accuracy.py and editing_common.py)."""

from __future__ import annotations

import re
import unicodedata

from auditeval.benchmarks.speecheditbench.anchors import ContentAnchor
from auditeval.metrics.transcript import Language
from auditeval.pretrained.packages import imported

GATE = 0.10
"""Largest error rate that preserves (Appendix E.2)."""


def normalise(text: str, language: Language) -> str:
    """NFKC; of English lower-case ASCII letters and digits, all else a gap; of Chinese the
    characters of the basic block, digits and ASCII letters in their case.

    >>> normalise("Don't stop, José!", "en"), normalise("你好， World!", "zh")
    ('don t stop jos', '你好World')
    """
    text = unicodedata.normalize("NFKC", text)
    if language == "zh":
        return re.sub("[^\u4e00-\u9fff0-9a-zA-Z]", "", text)
    return " ".join(re.sub(r"[^a-z0-9\s]", " ", text.lower()).split())


def error_rates(language: Language, reference: str, hypothesis: str) -> tuple[float, float]:
    """(WER of English or CER of Chinese, CER) of texts as they come, both rounded to four digits.

    0 or 1 where the reference has no words: whether the hypothesis has none, too. The spaces of
    English count as characters.

    >>> error_rates("en", "don't go", "do not go"), error_rates("en", "...", "go")
    ((0.6667, 0.25), (1.0, 1.0))
    """
    expected, heard = normalise(reference, language), normalise(hypothesis, language)
    if not expected:
        return (float(bool(heard)),) * 2
    jiwer = imported("jiwer", "bench")
    characters = round(float(jiwer.cer(expected, heard)), 4)
    if language == "zh":
        return characters, characters
    return round(float(jiwer.wer(expected, heard)), 4), characters


def edit_succeeds(anchor: ContentAnchor, hypothesis: str, language: Language) -> bool:
    """Whether substrings of the normalised transcript are there, or gone, as the edit asks.

    Replace: the target is there, the original is not. Insert: the target is there, and begins no
    earlier than the first place of what it is to follow. Delete: the original is not there. Parts
    of words count, so does a span that stands elsewhere in the sentence, and a transcript of
    nothing has lost all that was to go.

    >>> anchor = ContentAnchor(
    ...     type="content", edit_type="delete", transcript_target="go now", edit_original="on"
    ... )
    >>> edit_succeeds(anchor, "Go.", "en"), edit_succeeds(anchor, "Gone.", "en")
    (True, False)
    """
    heard = normalise(hypothesis, language)
    original, target, before = (
        normalise(text or "", language)
        for text in (anchor.edit_original, anchor.edit_target, anchor.insert_after)
    )
    if anchor.edit_type == "delete":
        return bool(original) and original not in heard
    if not target or target not in heard:
        return False
    if anchor.edit_type == "replace":
        return not original or original not in heard
    return not before or 0 <= heard.find(before) <= heard.find(target)
