"""Changes of how a sound sounds, and the words that ask for them: some to learn from, some kept.

A wording is a template: `[a|b]` is a choice, and slots stand for what it is about: `{thing}`, that
is changed; `{amount}`, by how much, without "by"; `{words}`, spoken ones in quotation marks;
`{sound}`, that comes or goes, `{qualified}`, such a one with an adjective that names a change when
it stands alone ("loud thunder" is asked for as an event). All of it is English, written by us.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from auditeval.data.change_words import phrases, phrases_of_effects, phrases_of_voices
from auditeval.data.change_words.held_out import HELD_OUT as _KEPT

EVENT = "event"
"""None of the changes: a sound comes, goes, or gives way to another."""

_PAIRS = (
    ("pitch_up", "pitch_down"),
    ("faster", "slower"),
    ("louder", "softer"),
    ("female", "male"),  # whose voice it is then
    ("whispered", "voiced"),
    ("lively", "calm"),  # arousal: excited, angry, shouting; sad, subdued, flat
    ("more_reverb", "less_reverb"),  # a hall, far away; dry, close
    ("brighter", "duller"),  # more treble or less bass; muffled, behind a door
    ("noisier", "cleaner"),
)
OPPOSITES: dict[str, str] = dict(_PAIRS) | {after: before for before, after in _PAIRS}
"""The change that undoes another; those that have none are absent."""

CHANGES: tuple[str, ...] = (
    *("pitch_up", "pitch_down", "faster", "slower", "louder", "softer"),
    *("female", "male", "other_talker", "whispered", "voiced", "lively", "calm"),
    *("more_reverb", "less_reverb", "brighter", "duller", "narrow", "echo"),
    *("distorted", "noisier", "cleaner", "tremolo", "chorus", "compressed"),
    *("said", EVENT),
)
"""What a text can ask for, in this order everywhere; `narrow`: the band of a telephone, `said`: the
words that are spoken."""


class Wordings(NamedTuple):
    """Templates of one change: see `phrases`."""

    instructions: tuple[str, ...]
    captions: tuple[str, ...]
    recognised: tuple[str, ...]


def _read(table: dict[str, tuple[str, str, str]]) -> dict[str, Wordings]:
    return {
        change: Wordings(*(tuple(kind.split("; ")) for kind in table[change])) for change in CHANGES
    }


TRAINING = _read(phrases.PHRASES | phrases_of_voices.PHRASES | phrases_of_effects.PHRASES)
HELD_OUT = _read(_KEPT)

# What wordings are about: those to learn from, those that are kept.
_TALKERS = (
    "the voice; the speaker; the man; the woman; the singer; the speech; the person; him; her; it; "
    "the talker; this sentence; the vocals; the boy; the lady; the girl; the gentleman; the actor; "
    "the actress; the host; the father; the mother; the old man; the young woman; the teacher; "
    "the male speaker; the female speaker; the child; the first speaker; the male voice; "
    "the female voice; my voice; his speech; the dialogue; the reader; the spoken words",
    "the narrator; the grandfather; the grandmother; the announcer; the recording; the student; "
    "the waiter; the queen; the politician; the second talker",
)
_THINGS = (
    "the voice; the song; the guitar; the dog; the recording; the clip; the sound; it; the audio; "
    "the music; the speech; the speaker; the piano; the drums; the siren; the rain; the engine; "
    "the whole clip; the bird; the crowd; the woman; the bell; everything; the cat; this",
    "the violin; the narrator; the crying baby; the podcast; the footsteps; the melody; the train; "
    "the entire file; the horn; the thunder; the man's voice; the applause",
)
_SPOKEN = (
    "a man speaks; a woman speaks; a person talks; someone sings; a child speaks; people talk; "
    "a man is talking; a woman is talking; the speaker talks; a boy talks; a lady reads a text; "
    "a girl speaks; an old man speaks; a male voice speaks; a female voice speaks",
    "a grandfather talks; a queen gives a speech; somebody tells a story; an announcer speaks",
)
_CLAUSES = (
    "a man speaks; a woman speaks; a person talks; a dog barks; a guitar plays; rain falls; "
    "someone sings; music plays; a car passes; a bird chirps; a child speaks; a bell rings; "
    "an engine runs; a piano plays; a crowd cheers; water runs; a cat meows; a phone rings",
    "a boy talks; a lady reads a text; a violin plays; an owl hoots; a train passes; "
    "a band plays a song; a baby cries; a horn honks; somebody walks; a clock ticks",
)
_SOUNDS = (
    "a dog barking; rain; thunder; a siren; a car horn; birds chirping; footsteps; a cat meowing; "
    "a piano; a violin; a guitar; drums; applause; laughter; wind; a doorbell; a phone ringing; "
    "glass breaking; an engine; a helicopter; a man speaking; a woman speaking; music; a bell; "
    "a baby crying; water running; a speed boat; a radio; a beep; a bang; the piano; the drums; "
    "the rain; the dog; the traffic; waves; a door slamming; a fire alarm; crickets; a trumpet; "
    "a bass guitar; a bass drum; a race car; a telephone; a choir; the crowd; a flute; typing",
    "a cow mooing; hail; an explosion; an ambulance; a train whistle; an owl hooting; a saxophone; "
    "a banjo; cymbals; cheering; coughing; a gust of wind; a knock on the door; a clock ticking; "
    "a chainsaw; a tractor; a boy speaking; an organ; a gong; a sheep bleating; a fountain; "
    "the saxophone; the knocking; the bees; fireworks; a motorboat; a rooster; a harp; a zipper",
)
_QUALITIES = (
    "loud; quiet; soft; fast; slow; high-pitched; low; deep; distant; far away; close; noisy; "
    "muffled; bright; echoing; calm; angry; heavy; distorted; low-pitched; excited",
    "faint; rapid; high; nearby; shrill; gentle; dull; sad; harsh; booming; hushed; sharp",
)
_SAYINGS = (
    "hello; good morning; the weather is fine; cat; dog; tomorrow; never; we will be late; please; "
    "louder; faster; he came home; thank you very much; blue; the train leaves at nine; Paris",
    "goodbye; yesterday; see you later; slower; higher; green; London; always; it was a mistake; "
    "my sister; the meeting is over",
)
_ASKING = (
    "; ; ; please ; can you ; could you ; I want you to ; now ; just ; you should ",
    "; ; ; would you ; kindly ; I'd like you to ; try to ; let's ; we need to ",
)
_AMOUNTS: dict[str, str] = {
    **dict.fromkeys(
        ("pitch_up", "pitch_down"),
        "two semitones; 3 semitones; a semitone; an octave; 5 semitones; a whole tone; "
        "half an octave; seven semitones; 200 cents; a fifth",
    ),
    **dict.fromkeys(
        ("faster", "slower"), "20 percent; 50%; 10 percent; a third; 25%; half; 30 percent"
    ),
    **dict.fromkeys(("louder", "softer"), "6 dB; 3 dB; ten decibels; 10 dB; 12 dB; six decibels"),
}
_OF_TALKERS = {*CHANGES[CHANGES.index("female") : CHANGES.index("more_reverb")], "said"}
_CHOICE = re.compile(r"\[([^\]]*)\]")
_DETERMINED = re.compile(r"(?i)(the|an?|this|that|these|it|him|her|his|my|every\w+|its)\b|.*'s\b")


def instruction(
    change: str, thing: str, rng: np.random.Generator, held_out: bool = False, amount: str = ""
) -> str:
    """What somebody writes who asks for this change of a thing, without capital and full stop.

    "dog", "the dog" -> "make the dog sound higher"; of `EVENT` the thing is the sound that comes or
    goes, as it stands. `amount` is a phrase without "by": "two semitones", "20 percent", "6 dB";
    changes of which nobody says how much take no notice of it. `held_out`: of the wordings that
    nothing is fitted on.
    """
    templates = (HELD_OUT if held_out else TRAINING)[change].instructions
    if change != EVENT and not _DETERMINED.match(thing):
        thing = f"the {thing}"
    slots = {"thing": thing, "sound": thing, "amount": amount}
    return fill(_pick(templates, rng, amount), rng, slots, held_out)


def caption(
    change: str, clause: str, rng: np.random.Generator, held_out: bool = False, amount: str = ""
) -> str:
    """A clause of what sounds after the change: "a man speaks" -> "a man speaks in a higher voice".

    Arguments as of `instruction`.
    """
    templates = (HELD_OUT if held_out else TRAINING)[change].captions
    after = fill(_pick(templates, rng, amount), rng, {"amount": amount}, held_out)
    return f"{clause} {after}"


def example(
    change: str, rng: np.random.Generator, held_out: bool = False, sounds: Sequence[str] = ()
) -> str:
    """A text that asks for the change, of all kinds that `ChangeWords` is given.

    An instruction, a caption, or words in which it differs from another. `sounds` are more sounds
    that come, go, or are changed.
    """
    wordings = (HELD_OUT if held_out else TRAINING)[change]
    about = subjects(change, rng, held_out, sounds)
    thing, clause, amount = about["thing"], about["clause"], about["amount"]
    kind = rng.random()
    if kind < 0.45:
        if change == EVENT:
            thing = about["sound"]
        text = instruction(change, thing, rng, held_out, amount)
        bare = text.startswith((thing, "the ", "there ", "instead ", "I ", "could ", "a "))
        return text if bare else _drawn(_ASKING, rng, held_out) + text
    if kind < 0.75:
        if change == EVENT and rng.random() < 0.4:
            return clause
        text = caption(change, clause, rng, held_out, amount)
        # Of the words that differ between two captions, marks are gone: `changed_words`.
        words = " ".join(re.findall(r"[\w']+", text.removeprefix(clause)))
        return text if kind < 0.6 else words.lower()
    template = wordings.recognised[rng.integers(len(wordings.recognised))]
    return fill(template, rng, about, held_out)


def subjects(
    change: str, rng: np.random.Generator, held_out: bool = False, sounds: Sequence[str] = ()
) -> dict[str, str]:
    """What a wording of the change can be about: `thing`, `clause`, `sound`, `amount` ("" often).

    Half of the time one of `sounds`, where there are any and it is no matter of a voice.
    """
    talked = change in _OF_TALKERS
    amounts = _AMOUNTS.get(change, "").split("; ")
    sound = _drawn(_SOUNDS, rng, held_out)
    if sounds and rng.random() < 0.5:
        sound = sounds[int(rng.integers(len(sounds)))]
    thing = _drawn(_TALKERS if talked else _THINGS, rng, held_out)
    clause = _drawn(_SPOKEN if talked else _CLAUSES, rng, held_out)
    if not talked and rng.random() < 0.5:
        thing = sound if _DETERMINED.match(sound) else f"the {sound}"
        clause = f"{sound} is heard" if rng.random() < 0.5 else sound
    amount = amounts[rng.integers(len(amounts))] if rng.random() < 0.4 else ""
    return {"thing": thing, "clause": clause, "sound": sound, "amount": amount}


def fill(
    template: str, rng: np.random.Generator, slots: Mapping[str, str], held_out: bool = False
) -> str:
    """A template with its choices made and its slots filled, those that are not given at random.

    Where `amount` is given and not "", it is told wherever it can be.
    """
    amount = slots.get("amount", "")

    def choose(found: re.Match[str]) -> str:
        options = found[1].split("|")
        telling = [one for one in options if "{amount}" in one]
        if telling:
            options = telling if amount else [one for one in options if one not in telling]
        return options[rng.integers(len(options))]

    text = _CHOICE.sub(choose, template)
    sound = slots.get("sound") or _drawn(_SOUNDS, rng, held_out)
    drawn = {
        "other sound": _drawn(_SOUNDS, rng, held_out),
        "qualified": _qualified(sound, _drawn(_QUALITIES, rng, held_out)),
        "words": f'"{_drawn(_SAYINGS, rng, held_out)}"',
        "other words": f'"{_drawn(_SAYINGS, rng, held_out)}"',
    }
    given = {**drawn, **slots, "sound": sound, "amount": amount or "some"}
    return " ".join(text.format_map(given).split())


def _pick(templates: Sequence[str], rng: np.random.Generator, amount: str) -> str:
    """A template that tells an amount, if there is any, or one that can do without."""
    if amount:
        fitting = [one for one in templates if "{amount}" in one] or templates
    else:
        fitting = [one for one in templates if "{amount}" not in _CHOICE.sub("", one)]
    return fitting[int(rng.integers(len(fitting)))]


def _qualified(sound: str, quality: str) -> str:
    """The adjective behind the article: "a dog barking" -> "a loud dog barking"."""
    article, space, noun = sound.partition(" ")
    if article not in ("a", "an", "the"):
        return f"{quality} {sound}"
    article = "an" if article != "the" and quality[0] in "aeiou" else article.replace("an", "a")
    return f"{article}{space}{quality} {noun}"


def _drawn(halves: tuple[str, str], rng: np.random.Generator, held_out: bool) -> str:
    options = halves[held_out].split("; ")
    return options[rng.integers(len(options))]
