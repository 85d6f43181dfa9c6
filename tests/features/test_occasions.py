"""When and how often words want a sound, and whether it came so."""

from __future__ import annotations

import numpy as np
import pytest

from auditeval.features.occasions import (
    Occasions,
    as_often,
    asked_occasions,
    in_order,
    in_place,
    in_time,
)

SECONDS = np.arange(10) * 0.48


def heard_at(*places: int) -> np.ndarray:
    track = np.zeros(10)
    track[list(places)] = 1.0
    return track


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("Rain, a dog barks, then a bell rings.", Occasions("a dog barks", "a bell rings.")),
        ("Rain while a dog barks followed by a bell.", Occasions("a dog barks", "a bell.")),
        ("A bell rings after a dog barks.", Occasions("a dog barks.", "a bell rings")),
        ("Rain, a dog barks at the very end.", Occasions(placed="a dog barks", late=1.0)),
        ("A dog barks near the start.", Occasions(placed="a dog barks")),
        ("Rain, a dog barks in the middle.", Occasions(placed="a dog barks", late=0.5)),
        ("A man stands in the middle of the road.", Occasions()),
        ("A bell rings from 2 s to 3 s.", Occasions(timed="a bell rings", begin=2.0, end=3.0)),
        ("A bell between 1.5 and 2 seconds.", Occasions(timed="a bell", begin=1.5, end=2.0)),
        ("At 0:03, a bell rings.", Occasions(timed="a bell rings", begin=3.0, end=3.0)),
        ("A bell rings from 2 s on.", Occasions(timed="a bell rings", begin=2.0, end=np.inf)),
        ("A bell rings until 2 s.", Occasions(timed="a bell rings", end=2.0)),
        ("From 300 to 3000 Hz.", Occasions()),
        ("The bell is louder at the end, and 2x as fast.", Occasions()),
        ('A man says "so" at the end.', Occasions()),
        ("Rain, and a dog barks twice.", Occasions(times=2)),
        ("A dog barks three times.", Occasions(times=3)),
        ("Rain, and a dog barks 2 times.", Occasions(times=2)),
        ("Rain, and a dog barks 12x.", Occasions(times=12)),
        ("First a dog barks, then a bell rings.", Occasions("a dog barks", "a bell rings")),
        ("After a dog barks, a bell rings.", Occasions("a dog barks", "a bell rings")),
        ("Before a bell rings, a dog barks.", Occasions("a dog barks", "a bell rings")),
        ("A dog barks, and after that a bell rings.", Occasions("a dog barks", "a bell rings")),
        ("A bell rings right after a dog barks.", Occasions("a dog barks", "a bell rings")),
        ("A bell rings, at the end a dog barks.", Occasions(placed="a dog barks", late=1.0)),
        ("At the start, a dog barks.", Occasions(placed="a dog barks")),
        ("A dog barks at the end of the clip.", Occasions(placed="a dog barks", late=1.0)),
        ("A dog barks at the end of the street.", Occasions()),
        ("Rain that stops at the end.", Occasions()),
        ("A dog barks, then stops.", Occasions()),
        ("A man speaks before a large audience.", Occasions()),
        ("A dog barks after a while.", Occasions()),
        ("Dogs bark one after another.", Occasions()),
        ("Rain, twice as loud.", Occasions()),
        ("Once upon a time it rained.", Occasions()),
        ("A dog barks once the rain ends.", Occasions()),
        ("A dog barks at least twice.", Occasions()),
        ('A man says "I came twice, then left at the end".', Occasions()),
        ("Many people talk at once.", Occasions()),
        ("Rain, with a dog barking.", Occasions()),
    ],
)
def test_captions_say_when(after: str, expected: Occasions) -> None:
    found = asked_occasions("Rain.", after, "")
    assert found._replace(first=found.first.rstrip("."), second=found.second.rstrip(".")) == (
        expected._replace(first=expected.first.rstrip("."), second=expected.second.rstrip("."))
    )


def test_what_was_so_before_is_not_asked_for() -> None:
    before = "A dog barks, then a bell rings"
    assert asked_occasions(f"{before}.", f"{before} with rain.", "") == Occasions()
    for after in ("Rain.", "rain"):
        assert asked_occasions("Rain.", after, "Add a bark at the end.").late == 1.0
    assert asked_occasions(f"{before}.", "A bell rings, then a dog barks.", "").first == (
        "a bell rings"
    )


@pytest.mark.parametrize(
    ("before", "after", "times"),
    [("once", "three times", 2), ("three times", "twice", 1), ("twice", "twice", 0)],
)
def test_of_a_number_that_changes_the_rest_comes_or_goes(
    before: str, after: str, times: int
) -> None:
    found = asked_occasions(f"A dog barks {before}.", f"A dog barks {after}.", "")
    assert found == Occasions(times=times)
    assert asked_occasions("Rain.", f"A dog barks {after}.", "").times > times


def test_orders_are_no_sounds() -> None:
    for asked in ("Raise the pitch, then add a dog.", "Add a dog, then raise the pitch."):
        assert asked_occasions("Rain.", "Rain.", asked) == Occasions()
    asked = "Add a dog, then a bell."
    assert asked_occasions("Rain.", "Rain.", asked)[:2] == ("a dog", "a bell")


def test_order() -> None:
    early, late = heard_at(1, 2), heard_at(7, 8)
    assert in_order(early, late, SECONDS) == 1.0
    assert in_order(late, early, SECONDS) == 0.0
    assert in_order(early, early, SECONDS) == pytest.approx(0.5)
    lasting, nothing = np.ones(10), np.zeros(10)
    assert in_order(lasting, early, SECONDS) == in_order(late, nothing, SECONDS) == 1.0


def test_place() -> None:
    assert in_place(heard_at(8, 9), SECONDS, 1.0) == 1.0 > in_place(heard_at(0), SECONDS, 1.0) == 0
    assert in_place(heard_at(0), SECONDS, 0.0) == 1.0


def test_times() -> None:
    early, late = heard_at(1, 2), heard_at(7, 8)
    assert (
        in_place(heard_at(4, 5), SECONDS, 0.5) == 1.0 > in_place(heard_at(8, 9), SECONDS, 0.5) == 0
    )
    for begin, end in ((3.0, 4.0), (3.0, np.inf), (3.4, 3.4)):
        assert in_time(late, SECONDS, begin, end) == 1.0 > in_time(early, SECONDS, begin, end) == 0
    assert in_time(heard_at(1, 8), SECONDS, 3.0, 4.0) == pytest.approx(0.5)
    assert in_time(np.ones(10), SECONDS, 3.0, 4.0) == 1.0


@pytest.mark.parametrize(("times", "expected"), [(2, 1.0), (1, 1 / 3), (3, 0.6), (5, 1 / 7)])
def test_number(times: int, expected: float) -> None:
    change = np.zeros(500, np.float32)
    change[50:100] = change[300:360] = 20.0
    change[70:75] = 0.0  # a short gap within one
    assert as_often(change, times) == pytest.approx(expected)
    assert as_often(np.zeros(500), times) == 1.0
