"""What evidence of a change says: the asked one, its opposite, another, too little and too much."""

from __future__ import annotations

import numpy as np
import pytest

from auditeval.features.changes.weigh import NAMES, weigh_changes

KIN = np.zeros((5, 5), bool)
KIN[[0, 1, 2, 3], [1, 0, 3, 2]] = True
FIRST = np.array([1.0, 0, 0, 0, 0], np.float32)
MENDS = np.array([False, False, False, False, True])


def weighed(
    made: list[float],
    asked: np.ndarray = FIRST,
    unheard: float = 0.0,
    off: float | None = None,
) -> dict[str, float]:
    values = weigh_changes(asked, KIN, MENDS, np.array(made, np.float32), unheard, off)
    return dict(zip(NAMES, values.tolist(), strict=True))


def test_words_that_ask_for_no_change_say_nothing() -> None:
    assert not any(weighed([5, -5, 0, 0, 2], 0 * FIRST).values())


def test_the_asked_change_is_along_and_its_opposite_against() -> None:
    right, nothing, wrong = weighed([4, -4, 0, 0, 0]), weighed([0] * 5), weighed([-4, 4, 0, 0, 0])
    assert right["along"] > 0.9 > 0.0 == nothing["along"] > -0.9 > wrong["along"]
    assert right["share"] == pytest.approx(1.0, abs=0.05)
    assert wrong["share"] == 0.0
    assert right["unasked"] == wrong["unasked"] == 0.0
    assert right["much"] > weighed([1, -1, 0, 0, 0])["much"] > nothing["much"] == 0.0


def test_what_was_not_asked_for_takes_the_lead() -> None:
    other, both = weighed([0, 0, 4, -4, 0]), weighed([4, -4, 4, -4, 3])
    assert other["lead"] < -0.9
    assert other["unasked"] > 0.9
    assert weighed([4, -4, 0, 0, 0])["lead"] > 0.9 > both["lead"]
    assert both["share"] < 0.8


def test_amounts_are_told_in_octaves_of_too_little_and_too_much() -> None:
    made = [3, -3, 0, 0, 0]
    assert weighed(made)["amount"] == 0.0
    for off, short, over in ((0.0, 0, 0), (-1.0, 1, 0), (0.5, 0, 0.5), (-9.0, 2, 0)):
        found = weighed(made, off=off)
        assert (found["short"], found["over"], found["amount"]) == (short, over, 1.0)


def test_what_nobody_measures_is_said_and_unsure_words_say_less() -> None:
    assert weighed([0] * 5, 0 * FIRST, unheard=0.9)["unheard"] == pytest.approx(0.9)
    sure, unsure = weighed([4, -4, 0, 0, 0]), weighed([4, -4, 0, 0, 0], 0.35 * FIRST)
    assert unsure["along"] == pytest.approx(0.5 * sure["along"])
    assert unsure["told"] == pytest.approx(0.5)


def test_words_that_are_sure_enough_say_the_same_however_they_are_put() -> None:
    made = [2, -2, 1, 0, 0]
    assert weighed(made, 0.75 * FIRST) == weighed(made, FIRST)


def test_a_fault_that_is_to_go_is_told_apart_as_far_as_it_is_what_is_asked() -> None:
    fault = np.array([0, 0, 0, 0, 1.0], np.float32)
    assert weighed([0] * 5)["mend"] == 0
    assert weighed([0] * 5, fault)["mend"] == 1
    assert weighed([0] * 5, 0.5 * (FIRST + fault))["mend"] == pytest.approx(0.5)
