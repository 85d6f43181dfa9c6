"""Whole instructions for sounds beside a caption: what stays, goes and comes; sound_edits.txt."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from auditeval.features import label_bridge
from auditeval.features.asked import asked, told
from auditeval.features.minilm import shared
from auditeval.features.named import stems


class Edit(NamedTuple):
    part: int
    caption: str
    instruction: str
    stays: list[str]
    goes: list[str]
    comes: list[str]


def edits() -> Iterator[Edit]:
    part = 1
    for line in Path(__file__).with_name("sound_edits.txt").read_text().splitlines():
        part += line == "# The second part."
        if line and not line.startswith("#"):
            cells = [cell.strip() for cell in line.split("|")]
            names = [[x.strip() for x in cell.split(",") if x.strip()] for cell in cells[3:]]
            yield Edit(part, cells[1], cells[2], *names)


@pytest.fixture(scope="module")
def alike() -> partial[float]:
    return partial(label_bridge.alike, shared(None))


def is_read(edit: Edit, alike: partial[float]) -> bool:
    """Whether the target caption has what stays and comes, and nothing of what goes."""
    found = asked(*told(edit.caption, "", edit.instruction), edit.instruction, alike)
    target, comes = stems(found.target_caption), stems(" ".join(edit.comes))
    return (
        all(stems(name) <= target for name in edit.stays)
        and not any(stems(name) & (target - comes) for name in edit.goes)
        and all(stems(name) <= target and stems(name) & stems(found.added) for name in edit.comes)
        and bool(found.added) == bool(edit.comes)
        and bool(found.removed) == bool(edit.goes)
        and stems(found.original_caption) == stems(edit.caption)
    )


@pytest.mark.parametrize(("part", "total", "least"), [(1, 160, 153), (2, 39, 34)])
def test_what_is_asked_for_is_read(
    part: int, total: int, least: int, alike: partial[float]
) -> None:
    listed = [edit for edit in edits() if edit.part == part]
    missed = [edit for edit in listed if not is_read(edit, alike)]
    assert len(listed) == total
    assert len(missed) <= total - least, "\n".join(f"{x.caption}: {x.instruction}" for x in missed)


def unusual() -> Iterator[tuple[int, str, str, str, str]]:
    """Part, caption, instruction, words of what comes and of what goes."""
    part = 1
    for line in Path(__file__).with_name("sound_edits_unusual.txt").read_text().splitlines():
        part += line.startswith("# The second part")
        if line and not line.startswith("#"):
            caption, instruction, comes, goes = (cell.strip() for cell in line.split("|"))
            yield part, caption, instruction, comes, goes


def is_meant(wanted: str, words: str) -> bool:
    """Whether words have half of what is wanted, and something only if something is wanted."""
    meant, found = stems(wanted), stems(words)
    return bool(meant) == bool(found) and 2 * len(meant & found) >= len(meant)


@pytest.mark.parametrize(
    ("part", "edits", "least", "traps", "least_traps"),
    [(1, 225, 198, 35, 35), (2, 220, 122, 40, 34)],
)
def test_as_much_of_unusual_words_is_read(
    part: int, edits: int, least: int, traps: int, least_traps: int, alike: partial[float]
) -> None:
    read: dict[bool, list[bool]] = {True: [], False: []}
    for _, caption, instruction, comes, goes in (x for x in unusual() if x[0] == part):
        found = asked(caption, caption, instruction, alike)
        right = is_meant(comes, found.added) and is_meant(goes, found.removed)
        read[bool(comes or goes)].append(right)
    assert (len(read[True]), len(read[False])) == (edits, traps)
    assert (sum(read[True]) >= least, sum(read[False]) >= least_traps) == (True, True)


@pytest.mark.parametrize(
    ("caption", "instruction", "added", "removed", "target"),
    [
        # Called by another name than in the caption.
        ("A gun fires and people scream", "Remove the gunshot", "", "the gunshot", "people scream"),
        (
            "Music plays while a crowd claps",
            "Cut out the clapping",
            "",
            "the clapping",
            "Music plays",
        ),
        # Hardly alike, and yet more so than the rest; and nothing that could be meant.
        ("A dog barks over rain", "Remove the puppy", "", "the puppy", "rain"),
        ("A car passes and birds chirp", "Mute the vehicle", "", "the vehicle", "birds chirp"),
        ("Thunder and rain", "Remove the downpour", "", "the downpour", "Thunder"),
        ("A man speaks", "Remove the dog", "", "the dog", "A man speaks"),
        # It, and what is told of it.
        ("Rain falls", "Thunder is added", "thunder", "", "Rain falls and thunder"),
        (
            "Birds chirp and frogs croak",
            "Find the frogs and delete them",
            "",
            "the frogs",
            "Birds chirp",
        ),
        # Lists of sounds of two words, and two names of one.
        (
            "Drums, bass guitar and piano",
            "Swap the bass guitar with a cello",
            *("a cello", "the bass guitar", "Drums and piano and a cello"),
        ),
        (
            "Baby cry, infant cry and rain",
            "Remove the rain",
            "",
            "the rain",
            "Baby cry, infant cry",
        ),
    ],
)
def test_the_words_of_some(
    caption: str, instruction: str, added: str, removed: str, target: str, alike: partial[float]
) -> None:
    found = asked(*told(caption, "", instruction), instruction, alike)
    assert (found.added, found.removed, found.target_caption) == (added, removed, target)


@pytest.mark.parametrize(
    ("instruction", "target"),
    [
        ("Remove the vocals", "a piano plays"),
        ("Make it an instrumental.", "a piano plays"),
        ("Turn this into a karaoke track", "a piano plays"),
        ("karaoke version please", "a piano plays"),
        ("A cappella!", "A woman sings"),
        ("Extract the voice", "A woman sings"),
        ("Give me an a cappella version of this.", "A woman sings"),
        ("Replace the voice with a flute", "a piano plays and a flute"),
        ("Remove the male voice", "A woman sings while a piano plays"),
        ("Make the instrumental louder", "A woman sings while a piano plays"),
        ("Turn down the instrumental", "A woman sings while a piano plays"),
        ("Make it less instrumental", "A woman sings while a piano plays"),
        ("Turn my song into an instrumental", "a piano plays"),
    ],
)
def test_the_voice_of_music_is_who_sings(
    instruction: str, target: str, alike: partial[float]
) -> None:
    caption = "A woman sings while a piano plays"
    assert asked(*told(caption, "", instruction), instruction, alike).target_caption == target


def test_an_instrumental_that_is_to_go_takes_no_singer(alike: partial[float]) -> None:
    caption, instruction = "A woman sings while a piano plays", "Get rid of the instrumental"
    assert "sings" in asked(*told(caption, "", instruction), instruction, alike).target_caption
