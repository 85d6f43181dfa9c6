"""Wordings of changes: well formed, apart in training and in test, fit to make instructions of."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from auditeval.data.change_words.vocabulary import (
    CHANGES,
    EVENT,
    HELD_OUT,
    OPPOSITES,
    TRAINING,
    Wordings,
    caption,
    example,
    fill,
    instruction,
)

SLOTS = {"thing", "amount", "sound", "other sound", "qualified", "words", "other words"}


def spelled_out(template: str) -> Iterator[str]:
    """Every text that the choices of a template make, slots left as they are."""
    parts = re.split(r"\[([^\]]*)\]", template)
    options = [part.split("|") if place % 2 else [part] for place, part in enumerate(parts)]
    for chosen in itertools.product(*options):
        yield " ".join("".join(chosen).split()).lower()


def all_texts(half: dict[str, Wordings]) -> set[str]:
    return {
        text
        for wordings in half.values()
        for template in itertools.chain(*wordings)
        for text in spelled_out(template)
    }


def test_the_changes_are_those_of_every_table() -> None:
    assert list(TRAINING) == list(HELD_OUT) == list(CHANGES)
    assert CHANGES[-1] == EVENT
    assert len({*CHANGES}) == len(CHANGES)
    assert all(OPPOSITES[OPPOSITES[change]] == change for change in OPPOSITES)
    assert {*OPPOSITES} < {*CHANGES}


def test_no_held_out_wording_is_one_to_learn_from() -> None:
    learned, kept = all_texts(TRAINING), all_texts(HELD_OUT)
    assert len(learned) > 2000
    assert len(kept) > 300
    only_slots = {"{sound}", "{qualified}", "{words}"}
    assert (learned & kept) - only_slots == set()


@pytest.mark.parametrize("half", [TRAINING, HELD_OUT], ids=["training", "held_out"])
def test_a_wording_asks_for_one_change(half: dict[str, Wordings]) -> None:
    found: dict[str, str] = {}
    for change, wordings in half.items():
        for template in itertools.chain(*wordings):
            for text in spelled_out(template):
                assert found.setdefault(text, change) == change, text


@pytest.mark.parametrize("half", [TRAINING, HELD_OUT], ids=["training", "held_out"])
def test_slots_and_choices_are_known(half: dict[str, Wordings]) -> None:
    for wordings in half.values():
        for template in itertools.chain(*wordings):
            assert (
                template.count("[")
                == template.count("]")
                == len(re.findall(r"\[[^\[\]]*\]", template))
            ), template
            assert {*re.findall(r"\{([^}]*)\}", template)} <= SLOTS, template
        for template in wordings.captions:
            assert "{thing}" not in template, template


@pytest.mark.parametrize("held_out", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_instructions_and_captions_are_made_of_any(change: str, held_out: bool) -> None:
    rng = np.random.default_rng(7)
    for amount in ("", "17 percent"):
        made = [instruction(change, "xylophone", rng, held_out, amount) for _ in range(20)]
        told = [caption(change, "a man speaks", rng, held_out, amount) for _ in range(20)]
        if change != "said":
            assert all("xylophone" in text for text in made)
        assert all(text.startswith("a man speaks") for text in told)
        assert all(not re.search(r"[{}\[\]|]|\bsome some\b|  ", text) for text in made + told)
        if change not in (EVENT, "said"):
            assert all("the xylophone" in text for text in made)
        if not amount:  # nothing claims an amount that nobody named
            assert all("17 percent" not in text for text in made + told)
        elif change in ("faster", "louder", "pitch_up"):
            assert all("17 percent" in text for text in made)


def test_a_thing_keeps_its_article() -> None:
    rng = np.random.default_rng(1)
    assert "the the" not in instruction("faster", "the dog", rng)
    assert "the it" not in instruction("faster", "it", rng)
    assert "the xylophone" in instruction("faster", "xylophone", rng)


def test_the_same_seed_makes_the_same_texts() -> None:
    first, second = (
        [
            example(change, np.random.default_rng(3), half)
            for change in CHANGES
            for half in (False, True)
        ]
        for _ in range(2)
    )
    assert first == second


def test_an_amount_is_told_only_where_there_is_one() -> None:
    rng = np.random.default_rng(5)
    template = "go up[| a bit| by {amount}]"
    assert {fill(template, rng, {}) for _ in range(30)} == {"go up", "go up a bit"}
    assert {fill(template, rng, {"amount": "6 dB"}) for _ in range(30)} == {"go up by 6 dB"}


RECIPE = Path(__file__).parents[2] / "recipes" / "change_words"


def test_what_was_written_asks_for_one_change_and_is_on_no_list() -> None:
    """The lists of phrasings.txt are to stay unlearnt."""

    def plain(text: str) -> str:
        return text.lower().strip(" .!?")

    listed = {
        plain(line.partition(" | ")[2])
        for line in (RECIPE / "phrasings.txt").read_text(encoding="utf-8").splitlines()
        if " | " in line
    }
    assert len(listed) > 1000
    asked: dict[str, str] = {}
    for path in sorted((RECIPE / "written").glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            change, mark, text = line.partition(" | ")
            assert mark, line
            assert change in CHANGES, line
            assert {*re.findall(r"\{([^}]*)\}", text)} <= SLOTS | {"c"}, line
            assert plain(text) not in listed, line
            assert asked.setdefault(plain(text), change) == change, line
    assert len(asked) > 9000
    names = (RECIPE / "sounds.txt").read_text(encoding="utf-8").splitlines()
    assert names == sorted({*names})
