"""Which spoken words are asked for, and how far transcripts show that they came and went."""

from __future__ import annotations

import pytest

from auditeval.features.changes.spoken import Spoken, asked_speech
from auditeval.features.changes.transcripts import Done, done

BEFORE = "the red car stopped in front of the school"


@pytest.mark.parametrize(
    ("instruction", "new", "gone"),
    [
        ('Replace the word "cat" with "dog".', ["dog"], ["cat"]),
        ('Substitute "dog" for the word "cat".', ["dog"], ["cat"]),
        ('Change "good morning" to "good evening".', ["good evening"], ["good morning"]),
        ('Say "blue" instead of "red".', ["blue"], ["red"]),
        ('Make it "blue" rather than "red".', ["blue"], ["red"]),
        ('Remove the word "really".', [], ["really"]),
        ("Cut 'you know' out of the sentence.", [], ["you know"]),
        ("Insert the word “very” before “cold”.", ["very"], []),
        ('Add the words "thank you" at the end.', ["thank you"], []),
        ('Remove the words "red" and "blue".', [], ["red", "blue"]),
        ('Bleep out "damn".', [], ["damn"]),
        ('"Remove the dog."', [], []),
        ('Don\'t say "red", say "blue".', ["blue"], ["red"]),
        ('Correct "red" to "blue".', ["blue"], ["red"]),
        ('In "the red car", replace "red" by "blue".', ["blue"], ["red"]),
        ('Emphasize the word "red".', [], []),
        ('Insert a pause between "red" and "blue".', [], []),
        ('Add a door slam after he says "red".', [], []),
        ('"red" should become "blue".', ["blue"], ["red"]),
        ('"red" -> "blue"', ["blue"], ["red"]),
        ('Replace "cat" with "dog" and "red" with "blue".', ["dog", "blue"], ["cat", "red"]),
        ('Turn to the crowd and say "dog" instead of "cat".', ["dog"], ["cat"]),
        ('The speaker shouldn\'t say "hello".', [], ["hello"]),
        ('Stop saying "hello".', [], ["hello"]),
        ('Leave "hello" out.', [], ["hello"]),
        ('Keep "hello", remove "goodbye".', [], ["goodbye"]),
        ('Remove everything except "hello".', [], []),
        ('Make "hello" louder.', [], []),
        ('Raise the pitch of the word "hello".', [], []),
        ('Replace "cat" by "".', [], ["cat"]),
        ("Change 'I can't go' to 'I can go'.", ["i can go"], ["i can't go"]),
        ("Say „Katze“ instead of „Hund“.", ["katze"], ["hund"]),
        ("The speaker should say dog, not cat.", ["dog"], ["cat"]),
        ("Instead of cat, say dog.", ["dog"], ["cat"]),
        ("Replace the word cat by dog.", ["dog"], ["cat"]),
        ("Say tomorrow instead of today.", ["tomorrow"], ["today"]),
        ("Delete the word actually.", [], ["actually"]),
        # Without marks.
        ("Make her say good morning.", ["good morning"], []),
        ("Say: good morning", ["good morning"], []),
        ("Say good morning.", ["good morning"], []),
        ("The speaker should say thank you.", ["thank you"], []),
        ("I want her to say hello in a deep voice.", ["hello"], []),
        ("Make her say goodbye, then make it louder.", ["goodbye"], []),
        ("Have him say yes, but slowly.", ["yes"], []),
        ("Have the reader read: the train leaves at nine.", ["the train leaves at nine"], []),
        ("Let him say yes where he said no.", ["yes"], ["no"]),
        ("Add a man saying hello.", ["hello"], []),
        ("Change what she says to good evening.", ["good evening"], []),
        ("Don't let him say sorry.", [], ["sorry"]),
        ("Make her stop saying um.", [], ["um"]),
        ("Make the man say ‘see you later’.", ["see you later"], []),
        # Nothing that is said.
        ("Say it louder.", [], []),
        ("Let him say that again slowly.", [], []),
        ("Say something nice.", [], []),
        ("Say more, and more slowly.", [], []),
        ("Say the sentence louder.", [], []),
        ("Say 3 dB louder.", [], []),
        ("The voice never says please.", [], []),
        ("Make her say hello and him say goodbye.", [], []),
        ("Make it louder.", [], []),
        ("", [], []),
    ],
)
def test_instructions_name_words(instruction: str, new: list[str], gone: list[str]) -> None:
    assert asked_speech("A man.", "A man.", instruction) == Spoken(tuple(new), tuple(gone))


def test_captions_that_quote_go_before_instructions() -> None:
    captions = 'He says "we leave at nine".', 'He says "we leave at ten".'
    assert asked_speech(*captions, 'Say "never".') == Spoken(("ten",), ("nine",))
    assert asked_speech("A man.", 'A man says "hello there".', "") == Spoken(("hello there",), ())
    captions = 'He says "the red car is at home".', 'He says "the blue car is at work".'
    assert asked_speech(*captions, "") == Spoken(("blue", "work"), ("red", "home"))


def test_captions_that_deny_words() -> None:
    says, denies = 'A man says "hello".', 'A man speaks, but doesn\'t say "hello".'
    assert asked_speech(says, denies, "") == Spoken((), ("hello",))
    assert asked_speech(denies, says, "") == Spoken(("hello",), ())
    assert asked_speech("A man speaks.", denies, "") == Spoken((), ("hello",))


@pytest.mark.parametrize(
    ("after", "asked", "others"),
    [
        ("the blue car stopped in front of the school", 1.0, 0.0),
        (BEFORE, 0.0, 0.0),
        ("the car stopped in front of the school", 0.5, 0.0),
        ("the blue car stopped in front of my house", 1.0, 2 / 9),
        ("", 0.5, 8 / 9),
    ],
)
def test_words_come_and_go(after: str, asked: float, others: float) -> None:
    assert done(Spoken(("blue",), ("red",)), BEFORE, after) == pytest.approx((asked, others))


def test_the_reverse_is_below_nothing() -> None:
    after = BEFORE.replace("red", "blue")
    assert done(Spoken(("red",), ("blue",)), BEFORE, after) == Done(-1.0, 0.0)


def test_a_word_that_is_misheard_counts_in_part() -> None:
    asked = Spoken(("football",), ())
    exact, alike, other = (
        done(asked, "they played", f"they played {word}").asked
        for word in ("football", "footbal", "tennis")
    )
    assert exact == 1.0 > alike > 0.5 > other == 0.0


def test_a_word_that_stands_there_already_is_counted() -> None:
    asked = Spoken(("very",), ())
    assert done(asked, "very cold", "very very cold").asked == 1.0
    assert done(asked, "very cold", "very cold").asked == 0.0


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("twenty", "20"),
        ("one hundred and five", "105"),
        ("two thousand", "2,000"),
        ("nineteen ninety", "1990"),
        ("twenty-one dollars", "$21"),
        ("fifty percent", "50%"),
        ("cafe", "café"),
        ("I don't", "I don’t"),
    ],
)
def test_a_word_is_the_same_however_it_is_written(said: str, heard: str) -> None:
    sentence = "there were {} left"
    for one, two in ((said, heard), (heard, said)):
        asked = Spoken((one,), ("none",))
        assert done(asked, sentence.format("none"), sentence.format(two)).asked == 1.0
    assert done(Spoken(("30",), ()), "none", "20").asked == 0.0


def test_a_long_text_is_looked_for_by_parts() -> None:
    """In one stretch it took minutes, and a word that was heard otherwise cost the whole."""
    words = "abcdefghijklmnopqrstuvwxyz"
    text = " ".join(f"{one}{two}{one}{one}" for one in words[:15] for two in words[:12])
    heard = text.replace("gag", "other")
    assert done(Spoken((text,), ()), "", text).asked == 1.0
    assert 0.8 < done(Spoken((text,), ()), "", heard).asked < 1.0
    assert done(Spoken((text,), ()), "", "we will be late").asked == 0.0
