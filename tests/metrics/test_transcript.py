"""Normalisers and error rates: hand-worked cases, laws, an independent edit distance."""

from __future__ import annotations

import random

import pytest

from auditeval.metrics.transcript import (
    Language,
    character_error_rate,
    error_rate,
    normalise_chinese,
    normalise_english,
    normalise_swanbench_chinese,
    normalise_swanbench_english,
    preserved,
    word_error_rate,
)
from auditeval.types import Undefined

pytest.importorskip("jiwer")

NORMALISERS = (
    normalise_english,
    normalise_chinese,
    normalise_swanbench_english,
    normalise_swanbench_chinese,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't DON’T don‘t don´t dont", "dont dont dont dont dont"),
        ("  vice-loving\tsoul… ", "vice loving soul"),
        ("Ｆｕｌｌ width: “quoted” 'too'.", "full width quoted too"),
        ("it costs $5,000!", "it costs 5 000"),
        ("", ""),
        ("?!…", ""),
    ],
)
def test_english_words(text: str, expected: str) -> None:
    assert normalise_english(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("今天，天气 很好！", "今天天气很好"),
        ("用APP打 ３ 折《书名》", "用app打3折书名"),
        ("—— ……", ""),
        ("二〇〇八年，人々", "二〇〇八年人々"),
    ],
)
def test_chinese_characters(text: str, expected: str) -> None:
    assert normalise_chinese(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Well-known,  café “No”", "wellknown cafe no"),
        ("cafe\u0301 naïve Zoë", "cafe naive zoe"),
        ("don´t don’t wait…", "dont dont wait"),
        ("two\u00a0words \ufb01t Ｆｕｌｌ", "two words fit full"),
        ("only 汉字 go", "only go"),
    ],
)
def test_swanbench_drops_marks_without_a_gap_and_what_has_no_ascii(
    text: str, expected: str
) -> None:
    assert normalise_swanbench_english(text) == expected


def test_swanbench_writes_simplified_characters() -> None:
    pytest.importorskip("zhconv")
    assert normalise_swanbench_chinese("漢語、 繁體字。  OK") == "汉语 繁体字 ok"


@pytest.mark.parametrize("normalise", NORMALISERS)
@pytest.mark.parametrize(
    "text", ["Don't stop - OK?", "你好，World 2！", "漢語、 繁體字", " a  b ", "", "naïve ´x´"]
)
def test_normalising_twice_is_normalising_once(normalise: object, text: str) -> None:
    pytest.importorskip("zhconv")
    once = normalise(text)  # type: ignore[operator]
    assert normalise(once) == once  # type: ignore[operator]
    assert once == once.strip()


@pytest.mark.parametrize(
    ("language", "reference", "hypothesis", "expected"),
    [
        ("en", "I don't know", "i dont know!", 0.0),
        ("en", "one two three four", "one too three", 0.5),
        ("en", "one two", "", 1.0),
        ("en", "one", "one two three", 2.0),
        ("zh", "今天天气很好", "今天，天汽很好", 1 / 6),
        ("zh", "今天", "", 1.0),
    ],
)
def test_error_rates_by_hand(
    language: Language, reference: str, hypothesis: str, expected: float
) -> None:
    assert error_rate(language, reference, hypothesis) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("hypothesis", ["", "something 好"])
def test_an_empty_reference_has_no_rate(language: Language, hypothesis: str) -> None:
    assert isinstance(error_rate(language, "?!", hypothesis), Undefined)


def distance(a: str, b: str) -> int:
    """Levenshtein's, as in the textbook."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y)))
    return row[-1]


def test_rates_are_edit_distance_over_length() -> None:
    draw = random.Random(5)
    for _ in range(50):
        a, b = ("".join(draw.choices("abc", k=draw.randint(1, 9))) for _ in range(2))
        expected = distance(a, b) / len(a)
        assert character_error_rate(a, b) == pytest.approx(expected)
        assert word_error_rate(" ".join(a), " ".join(b)) == pytest.approx(expected)


def test_the_gate_is_exact_at_a_tenth() -> None:
    words = [f"w{i}" for i in range(30)]
    for wrong, length in ((1, 10), (2, 20), (3, 30)):
        rate = word_error_rate(" ".join(words[:length]), " ".join(words[wrong:length]))
        assert isinstance(rate, float)
        assert preserved(rate)
    worse = word_error_rate(" ".join(words[:19]), " ".join(words[2:19]))  # .105, .11 rounded
    assert isinstance(worse, float)
    assert not preserved(worse)
    assert not preserved(0.1004)
