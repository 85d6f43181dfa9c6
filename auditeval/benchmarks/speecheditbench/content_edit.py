"""Whether the words that an edit was to change were changed (SpeechEditBench, Table 12)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from auditeval.metrics.transcript import Language, normalise_chinese, normalise_english
from auditeval.pretrained.packages import imported

EditType = Literal["replace", "insert", "delete"]


class ContentEdit(NamedTuple):
    """An edit of words: the span to go (`original`), to come (`target`) and where it stands."""

    edit_type: EditType
    transcript_original: str
    transcript_target: str
    original: str = ""
    target: str = ""
    insert_after: str = ""


class Verdict(NamedTuple):
    """`reason` says what was not as asked; "" for a success."""

    success: bool
    reason: str


def tokens(text: str, language: Language) -> list[str]:
    """What spans are made of: words of normalised English, characters of Chinese.

    >>> tokens("Don't stop!", "en"), tokens("你好。", "zh")
    (['dont', 'stop'], ['你', '好'])
    """
    return list(normalise_chinese(text)) if language == "zh" else normalise_english(text).split()


def spans(words: Sequence[str], wanted: str, language: Language) -> list[int]:
    """Places of the words that first spell `wanted` in a row; none where they never do.

    >>> spans(["The", "well-known", "man."], "known man", "en")
    [1, 2]
    """
    pieces = [
        (place, token) for place, word in enumerate(words) for token in tokens(word, language)
    ]
    span = tokens(wanted, language)
    found = _places(span, [token for _, token in pieces])[:1]
    return sorted({place for start in found for place, _ in pieces[start : start + len(span)]})


def edit_succeeds(edit: ContentEdit, hypothesis: str, language: Language) -> Verdict:
    """Whether a transcript of the output shows the edit.

    Replace: the target is there and the original is not. Insert: the target is there, behind the
    anchor if one is given. Delete: the original is not there. A span that the expected transcript
    holds elsewhere, too, must stand as often as there: not less often if it is to come, not more
    often if it is to go. What was to be deleted must be absent from its own place, and a word
    beside that place must be heard, so that no output succeeds by saying nothing.

    >>> edit = ContentEdit("replace", "a red door", "a blue door", "red", "blue")
    >>> edit_succeeds(edit, "A blue door.", "en")
    Verdict(success=True, reason='')
    >>> edit_succeeds(edit, "A red door.", "en").reason
    "'blue' is not heard"
    """
    heard, expected = tokens(hypothesis, language), tokens(edit.transcript_target, language)
    original, target = tokens(edit.original, language), tokens(edit.target, language)
    if not heard:
        return Verdict(False, "nothing was recognised in the output")
    if edit.edit_type in ("replace", "delete") and not original:
        return Verdict(False, "the edit names no word that is to go")
    if edit.edit_type in ("replace", "insert") and (
        len(_places(target, heard)) < max(1, len(_places(target, expected)))
    ):
        return Verdict(False, f"{edit.target!r} is not heard")
    if edit.edit_type in ("replace", "delete") and (
        len(_places(original, heard)) > len(_places(original, expected))
    ):
        return Verdict(False, f"{edit.original!r} is still heard")
    if edit.edit_type == "insert":
        return _stands_behind(edit, target, heard, language)
    if edit.edit_type == "delete":
        source = tokens(edit.transcript_original, language)
        return _cut(edit.original, original, source, expected, heard)
    return Verdict(True, "")


def _places(span: list[str], text: list[str]) -> list[int]:
    if not span:
        return []
    return [i for i in range(len(text) - len(span) + 1) if text[i : i + len(span)] == span]


def _stands_behind(
    edit: ContentEdit, target: list[str], heard: list[str], language: Language
) -> Verdict:
    anchor = tokens(edit.insert_after, language)
    if not anchor:
        return Verdict(True, "")
    anchors = _places(anchor, heard)
    if not anchors:
        return Verdict(False, f"{edit.insert_after!r}, which it was to follow, is not heard")
    if _places(target, heard)[-1] < anchors[0] + len(anchor):
        return Verdict(False, f"{edit.target!r} is heard before {edit.insert_after!r}")
    return Verdict(True, "")


def _cut(
    name: str, original: list[str], source: list[str], expected: list[str], heard: list[str]
) -> Verdict:
    """Whether the place of a deletion is heard, without what was deleted."""
    jiwer = imported("jiwer", "bench")

    if not expected:
        return Verdict(False, "the expected transcript is empty")
    pairs = zip(source, expected, strict=False)
    cut = next((i for i, (a, b) in enumerate(pairs) if a != b), len(expected))
    (chunks,) = jiwer.process_words(" ".join(expected), " ".join(heard)).alignments
    matched = {
        place
        for chunk in chunks
        if chunk.type == "equal"
        for place in range(chunk.ref_start_idx, chunk.ref_end_idx)
    }
    if not matched & {cut - 1, cut}:
        return Verdict(False, f"no word beside the place of {name!r} is heard")
    for chunk in chunks:
        added = heard[chunk.hyp_start_idx : chunk.hyp_end_idx]
        if chunk.type == "insert" and chunk.ref_start_idx == cut and _places(original, added):
            return Verdict(False, f"{name!r} is still heard in its place")
    return Verdict(True, "")
