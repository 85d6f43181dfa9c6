"""Captions of scenes in varied words, after those of AudioCaps. Pure, but for the generator."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from auditeval.data.change_words.vocabulary import caption, instruction
from auditeval.data.mixing import AFTER, BEFORE, DURING, position, sentence
from auditeval.data.simulation.words import WORDS


class Phrase(NamedTuple):
    """One sound in words: as a clause ("a dog barks") and as a thing ("a dog barking", "bark")."""

    clause: str
    thing: str

    def joined(self, other: Phrase) -> Phrase:
        """Both of them.

        >>> Phrase("rain falls", "rain").joined(Phrase("a dog barks", "barking"))
        Phrase(clause='rain falls and a dog barks', thing='rain and barking')
        """
        return Phrase(*(f"{one} and {two}" for one, two in zip(self, other, strict=True)))


# {a} and {b} are clauses, {A} and {B} things; a stands first in time where a place is told.
_ANYWHERE = (
    *("{a} while {b}", "{a} as {b}", "{b} while {a}", "{a} and {b}", "{b} and {a}"),
    *("{A} with {B}", "{A} with {B} in the background", "{B} with {A} in the background"),
    *("{A} and {B}", "{A} together with {B}", "{A}, {B}", "{B}, {A}", "{A} along with {B}"),
    "the sound of {A} and {B}",
)
_IN_ORDER = (
    *("{A} followed by {B}", "{A}, followed by {B}", "{a}, then {b}", "{A} and then {B}"),
    *("{a} and then {b}", "{A} before {B}", "first {A}, then {B}", "{b} after {A}"),
)
_ALONE = ("{a}", "{A}", "{A}", "the sound of {A}")
_AMID = ("{A} over {B}", "{A} with {B}", "{A} and {B}", "{A} with {B} in the background")
_UNNAMED = (
    *("other sounds", "other noises", "background noise", "background sounds", "something else"),
    *("noise", "other things", "unwanted sounds"),
)
_TOLD = 0.6
"""Share of the captions that tell the place of an event that has one."""


def phrase(name: str, rng: np.random.Generator) -> Phrase:
    """Words for a class of sound, without a stop, small letters first."""
    clauses, names = WORDS[name]
    subject, verb, participle = clauses[rng.integers(len(clauses))]
    if rng.random() < 0.4:
        return Phrase(f"{subject} {verb}", str(rng.choice(names)))
    return Phrase(f"{subject} {verb}", f"{subject} {participle}")


def alone(sound: Phrase, rng: np.random.Generator) -> str:
    return _worded(str(rng.choice(_ALONE)), sound, sound)


def together(
    background: Phrase, event: Phrase, centre: float, clip: float, rng: np.random.Generator
) -> tuple[str, bool]:
    """A caption of both sounds, and whether it tells the place of the event.

    `centre` of the event and length of the `clip` are in one unit; the place of what lies amid the
    clip is not told.
    """
    where = int(position(centre, clip))
    told = where != DURING and rng.random() < _TOLD
    if not told:
        return _worded(str(rng.choice(_ANYWHERE)), background, event), False
    sounds = {BEFORE: (event, background), AFTER: (background, event)}[where]
    return _worded(str(rng.choice(_IN_ORDER)), *sounds), True


def amid(sound: Phrase, rng: np.random.Generator) -> str:
    """A caption of a sound among others that are not named."""
    other = str(rng.choice(_UNNAMED))
    return _worded(str(rng.choice(_AMID)), sound, Phrase(other, other))


def of_change(
    sound: Phrase, change: str, rng: np.random.Generator, held_out: bool = False, amount: str = ""
) -> tuple[str, str, str | None]:
    """Captions before and after a change of a sound, which may be the same; an instruction or none.

    Arguments as of `change_words.vocabulary.instruction`.
    """
    first, *rest = sound.clause.split()
    subject = f"the {rest[0]}" if first in ("a", "an", "the") and len(rest) > 1 else "the sound"
    thing = str(rng.choice(["it", "the sound", "the recording", subject]))
    said = sentence(instruction(change, thing, rng, held_out, amount))
    if rng.random() < 0.4:
        before = alone(sound, rng)
        return before, before, said
    after = sentence(caption(change, sound.clause, rng, held_out, amount))
    return sentence(sound.clause), after, said if rng.random() < 0.5 else None


def _worded(template: str, first: Phrase, second: Phrase) -> str:
    words = {"a": first.clause, "A": first.thing, "b": second.clause, "B": second.thing}
    return sentence(template.format(**words))
