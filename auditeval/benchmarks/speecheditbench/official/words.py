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
    """(WER, CER) of texts as they come, both rounded to four digits.

    0 or 1 where the reference has no words: whether the hypothesis has none, too. The spaces of
    English count as characters. Chinese has none left, so that all of it is one word, right or not.

    >>> error_rates("en", "don't go", "do not go"), error_rates("en", "...", "go")
    ((0.6667, 0.25), (1.0, 1.0))
    >>> error_rates("zh", "你好， 世界", "你好世"), error_rates("zh", "你好， 世界", "你好世界。")
    ((1.0, 0.25), (0.0, 0.0))
    """
    expected, heard = normalise(reference, language), normalise(hypothesis, language)
    if not expected:
        return (float(bool(heard)),) * 2
    jiwer = imported("jiwer", "bench")
    words, characters = jiwer.wer(expected, heard), jiwer.cer(expected, heard)
    return round(float(words), 4), round(float(characters), 4)


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
    original, target, before = _spans(anchor, language)
    if anchor.edit_type == "delete":
        return bool(original) and original not in heard
    if not target or target not in heard:
        return False
    if anchor.edit_type == "replace":
        return not original or original not in heard
    return not before or 0 <= heard.find(before) <= heard.find(target)


def edit_reason(anchor: ContentAnchor, hypothesis: str, language: Language) -> str:
    """What `edit_succeeds` found, as the released code writes it into its result files.

    >>> anchor = ContentAnchor(
    ...     type="content", edit_type="delete", transcript_target="go now", edit_original="on"
    ... )
    >>> edit_reason(anchor, "Go.", "en"), edit_reason(anchor, "Gone.", "en")
    ('delete_original_absent', 'delete_original_present')
    """
    heard, kind = normalise(hypothesis, language), anchor.edit_type
    original, target, before = _spans(anchor, language)
    needed, span = ("original", original) if kind == "delete" else ("target", target)
    there = span in heard
    if not span:
        return f"{kind}_missing_edit_{needed}"
    if kind == "delete" or (kind == "insert" and not before):
        return f"{kind}_{needed}_{'present' if there else 'absent'}"
    if edit_succeeds(anchor, hypothesis, language):
        more = "original_absent" if kind == "replace" else "after_anchor"
        return f"{kind}_target_present_{more}"
    if kind == "replace":
        gone = not original or original not in heard
        return f"replace_target_present={there};original_absent={gone}"
    ordered = 0 <= heard.find(before) <= heard.find(target)
    return f"insert_target_present={there};after_before_target={ordered}"


def _spans(anchor: ContentAnchor, language: Language) -> list[str]:
    """What is to go, to come, and what it is to follow; "" for what the anchor does not name."""
    texts = (anchor.edit_original, anchor.edit_target, anchor.insert_after)
    return [normalise(text or "", language) for text in texts]
