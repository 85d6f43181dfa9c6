"""Which transcripts show an edit of words, and which never may."""

from __future__ import annotations

import pytest

from auditeval.benchmarks.speecheditbench.content_edit import ContentEdit, EditType, edit_succeeds

pytest.importorskip("jiwer")

SOURCE = "The yellow lamps would light up early."


def replace(original: str, target: str, before: str, after: str) -> ContentEdit:
    return ContentEdit("replace", before, after, original, target)


def insert(target: str, behind: str, before: str, after: str) -> ContentEdit:
    return ContentEdit("insert", before, after, target=target, insert_after=behind)


def delete(original: str, before: str, after: str) -> ContentEdit:
    return ContentEdit("delete", before, after, original)


YELLOW = replace("yellow", "red", SOURCE, "The red lamps would light up early.")
STREETS = insert(
    "on the streets", "lamps", SOURCE, "The yellow lamps on the streets would light up early."
)
EARLY = delete("early", SOURCE, "The yellow lamps would light up.")
VERY = delete("very", "It was a very very good day", "It was a very good day")
FIRST_THE = delete("the", "the cat saw the dog", "cat saw the dog")
ART = replace("art", "craft", "the art of the party", "the craft of the party")
WIDER = replace("car", "red car", "he drove the car home", "he drove the red car home")
NARROWER = replace("red car", "car", "he drove the red car home", "he drove the car home")
TWICE = replace("good", "bad", "bad days and good days", "bad days and bad days")


@pytest.mark.parametrize(
    ("edit", "heard"),
    [
        (YELLOW, "The RED lamps would light up, early"),
        (YELLOW, "a red lamp lights up early"),  # drift elsewhere is no matter of this
        (STREETS, "the yellow lamps on the streets would light up early"),
        (STREETS._replace(insert_after=""), "on the streets the yellow lamps light up"),
        (EARLY, "The yellow lamps would light up"),
        (VERY, "it was a very good day"),
        (VERY, "it was a good day"),
        (FIRST_THE, "cat saw the dog"),
        (ART, "the craft of the party"),
        (WIDER, "he drove the red car home"),
        (NARROWER, "he drove the car home"),
        (TWICE, "bad days and bad days"),
    ],
)
def test_an_edit_that_was_made(edit: ContentEdit, heard: str) -> None:
    assert edit_succeeds(edit, heard, "en") == (True, "")


@pytest.mark.parametrize(
    ("edit", "heard", "reason"),
    [
        (YELLOW, "the yellow red lamps", "'yellow' is still heard"),
        (YELLOW, "the lamps would light up", "'red' is not heard"),
        (YELLOW, "the predator lamps", "'red' is not heard"),
        (STREETS, "the yellow lamps would light up early", "is not heard"),
        (STREETS, "on the streets the yellow lamps would light up", "before 'lamps'"),
        (STREETS, "the yellow lambs on the streets", "'lamps', which it was to follow"),
        (EARLY, "the yellow lamps would light up early", "still heard"),
        (EARLY, "you", "no word beside"),
        (EARLY, "the yellow cat", "no word beside"),
        (VERY, "it was a very very good day", "still heard"),
        (FIRST_THE, "the cat saw dog", "in its place"),
        (ART, "the party", "'craft' is not heard"),
        (WIDER, "he drove the car home", "'red car' is not heard"),
        (NARROWER, "he drove the red car home", "still heard"),
        (TWICE, "bad days and good days", "'bad' is not heard"),
    ],
)
def test_an_edit_that_was_not_made(edit: ContentEdit, heard: str, reason: str) -> None:
    success, why = edit_succeeds(edit, heard, "en")
    assert not success
    assert reason in why


EDITS = (YELLOW, STREETS, EARLY, VERY, FIRST_THE, ART, WIDER, NARROWER, TWICE)


@pytest.mark.parametrize("edit", EDITS)
def test_the_expected_transcript_succeeds_and_the_source_does_not(edit: ContentEdit) -> None:
    assert edit_succeeds(edit, edit.transcript_target, "en").success
    assert not edit_succeeds(edit, edit.transcript_original, "en").success


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("heard", ["", " ... ", "Mm-hmm."])
def test_saying_nothing_of_it_never_succeeds(edit: ContentEdit, heard: str) -> None:
    assert not edit_succeeds(edit, heard, "en").success


@pytest.mark.parametrize(
    ("edit_type", "original", "target", "behind", "after"),
    [
        ("replace", "很好", "不错", "", "今天天气不错"),
        ("insert", "", "真的", "天气", "今天天气真的很好"),
        ("delete", "今天", "", "", "天气很好"),
    ],
)
def test_chinese_edits_by_characters(
    edit_type: EditType, original: str, target: str, behind: str, after: str
) -> None:
    edit = ContentEdit(edit_type, "今天天气很好", after, original, target, behind)
    assert edit_succeeds(edit, " ".join(after) + "。", "zh").success
    assert not edit_succeeds(edit, "今天天气很好", "zh").success
    assert not edit_succeeds(edit, "", "zh").success
