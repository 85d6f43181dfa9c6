"""How far talkers, manners and words changed, in steps of what words can ask for."""

from __future__ import annotations

import numpy as np
import pytest

from auditeval.data.change_words.vocabulary import CHANGES
from auditeval.features.changes.voiced import HEARD, MANNER, RELATED, voiced
from auditeval.features.comparison import Frames

NOTHING = ("A man.", "A man.", "")
AT_REST = {"pitch": 6.8, "range": 0.4, "voiced": 0.7, "rate": 3.0, "tilt": -12.0, "level": -25.0}


def clip(text: str = "we leave at nine", talker: int = 0, **manner: float) -> Frames:
    return {
        "said": np.frombuffer(text.encode(), np.uint8)[:, None],
        "talker": np.eye(256, dtype=np.float32)[[talker]],
        "manner": np.array([[({**AT_REST, **manner})[name] for name in MANNER]], np.float32),
    }


def steps(before: Frames, after: Frames, words: tuple[str, str, str] = NOTHING) -> dict[str, float]:
    return voiced(before, after, words)


def test_names_are_those_of_the_vocabulary() -> None:
    assert set(HEARD) - {"said_otherwise"} <= set(CHANGES)
    assert set(RELATED) <= set(HEARD)


def test_nothing_changed() -> None:
    assert not any(steps(clip(), clip()).values())


def test_no_voice_tells_nothing() -> None:
    assert steps(clip(), {}) == steps({}, clip()) == {}
    words = ("Rain.", "Rain.", 'Add a man saying "nine".')
    assert steps({}, {}, words) == {}


def test_who_begins_to_speak_says_the_right_words_or_not() -> None:
    words = ("Rain.", 'Rain, and a man says "we leave at nine".', "")
    assert steps({}, clip(), words) == {"said": 4.0}
    assert steps({}, clip("hello there"), words) == {"said": 0.0}
    assert steps(clip(), {}, (words[1], words[0], "")) == {"said": 4.0}


def test_what_no_words_tell_is_not_measured() -> None:
    assert {*HEARD} - {*steps(clip(), clip("never"))} == {"said"}
    assert "said" not in steps(clip(), clip("never"), ("A man.", "A man.", "Reword the sentence."))


@pytest.mark.parametrize(
    ("manner", "name", "opposite"),
    [
        ({"pitch": 7.8}, "female", "male"),
        ({"voiced": 0.1}, "whispered", "voiced"),
        ({"pitch": 7.2, "range": 0.8, "level": -18.0, "tilt": -6.0}, "lively", "calm"),
    ],
)
def test_a_manner_changes_one_way(manner: dict[str, float], name: str, opposite: str) -> None:
    there, back = steps(clip(), clip(**manner)), steps(clip(**manner), clip())
    assert there[name] > 2 > 0 > -2 > there[opposite]
    assert back[opposite] == pytest.approx(there[name])


def test_another_talker() -> None:
    assert steps(clip(), clip(talker=1))["other_talker"] == 4.0


def test_words() -> None:
    asked = ("A man.", "A man.", 'Say "ten" instead of "nine".')
    there = steps(clip(), clip("we leave at ten"), asked)
    assert (there["said"], there["said_otherwise"]) == (4.0, 0.0)
    wrong = steps(clip(), clip("we arrive at ten"), asked)
    assert wrong["said"] == 4.0
    assert wrong["said_otherwise"] == 1.0
    assert steps(clip("we leave at ten"), clip(), asked)["said"] == -4.0
