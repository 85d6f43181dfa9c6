"""Texts of the pages: every language whole, a user's own checked, captions marked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from listening_tests import RaterClient, pairs, session

from auditeval.listening import headphones, texts
from auditeval.listening import session as sessions
from auditeval.player import captions
from auditeval.types import AXES, UserError


def leaves(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [leaf for one in value.values() for leaf in leaves(one)]
    return [leaf for one in value for leaf in leaves(one)] if isinstance(value, list) else [value]


@pytest.mark.parametrize("language", texts.languages())
def test_a_language_says_everything(language: str) -> None:
    found = texts.read(language)
    assert found["language"] == language
    assert all(text.strip() for text in leaves(found))
    assert set(found["scales"]) == set(AXES)
    for scale in found["scales"].values():
        assert [*scale["grades"]] == [*"54321"]
        assert all(len(grade) == 2 for grade in scale["grades"].values())
    assert set(found["trial"]["reasons"]) == set(sessions.CANNOT)
    assert len(found["headphones"]["choices"]) == 3
    assert headphones.QUESTIONS == 6  # the texts say so


def test_chinese_is_chinese() -> None:
    english, chinese = (leaves(texts.read(language)["scales"]) for language in ("en", "zh"))
    assert not set(english) & set(chinese)


def test_a_language_of_ones_own(tmp_path: Path) -> None:
    own = texts.read("en")
    own["consent"]["heading"] = "Bevor es losgeht"
    own["consent"]["how"] = ["Nehmen Sie Kopfhörer."]
    own["trial"]["keys"] += [["Esc", "nichts"]]
    path = tmp_path / "de.json"
    path.write_text(json.dumps(own))
    test = session(tmp_path, pairs(tmp_path))
    test.texts = texts.read(str(path))
    assert "Bevor es losgeht" in RaterClient(test).page()


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda own: own["trial"].pop("send"), "lacks trial.send"),
        (lambda own: own["scales"]["quality"]["grades"].pop("3"), "lacks scales.quality.grades.3"),
        (lambda own: own.update(pause="Pause"), "lacks pause,"),
        (
            lambda own: own.update(progress="{don} von {all}"),
            "lacks progress with no other",
        ),
        (lambda own: own["headphones"].update(question="Test {"), "lacks headphones.question with"),
        (
            lambda own: own["headphones"]["choices"].pop(),
            "lacks headphones.choices with 3 texts",
        ),
        (
            lambda own: own["scales"]["quality"]["grades"].update({"3": ["Worse"]}),
            "lacks scales.quality.grades.3 with 2 texts",
        ),
        (
            lambda own: own["trial"]["keys"].append(["Esc"]),
            r"lacks trial.keys\[9\] with 2 texts",
        ),
        (
            lambda own: own["consent"]["how"].append(5),
            r"lacks consent.how\[3\],",
        ),
    ],
)
def test_a_language_that_lacks_something(tmp_path: Path, spoil: Any, says: str) -> None:
    own = texts.read("en")
    spoil(own)
    path = tmp_path / "de.json"
    path.write_text(json.dumps(own))
    with pytest.raises(UserError, match=says):
        texts.read(str(path))


def test_a_language_that_there_is_not() -> None:
    with pytest.raises(UserError, match="fr: no such language; those at hand are en, zh"):
        texts.read("fr")


def test_an_instruction_alone_shows_no_caption_as_gone(tmp_path: Path) -> None:
    words = {"target_caption": "", "instruction": "Add a dog barking."}
    page = RaterClient(session(tmp_path, pairs(tmp_path, **words))).consent().page()
    assert "Add a dog barking." in page
    shown = page[page.index('class="captions"') :].split("</dl>")[0]
    assert shown.count("<dd>") == 1
    assert "<mark" not in shown


def test_changed_words_are_marked_and_no_letter_is_lost() -> None:
    for before, after, gone, new in (
        ("Rain, a dog barks.", "Rain, a cat meows.", ["dog barks"], ["cat meows"]),
        ("Rain.", "rain", [], []),
        ("雨声。", "雨声和狗叫声。", [], ["和狗叫声"]),
        ("", "A bell.", [], []),  # what was there before is not said
        ("A bell.", "", [], []),
        ("A bell, <b>then</b> rain", "A bell", ["b>then</b> rain"], []),
    ):
        old, made = captions.marked(before, after)
        assert "".join(text for text, _ in old) == before
        assert "".join(text for text, _ in made) == after
        assert [text for text, differs in old if differs] == gone
        assert [text for text, differs in made if differs] == new
