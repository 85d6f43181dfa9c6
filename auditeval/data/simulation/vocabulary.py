"""The classes of sound that scenes are made of, and which of them could be confused."""

from __future__ import annotations

from collections.abc import Iterable

from auditeval.data.simulation.words import WORDS
from auditeval.types import UserError

# Classes that a listener could take for one another never stand in one scene, nor for each other.
_ALIKE = (
    {"speech", "male_speech", "female_speech", "crowd_babble", "laughter"},
    {"hand_clap", "applause"},
    {"engine_idling", "engine_revving", "highway_traffic", "chainsaw", "helicopter"},
    {"air_conditioner", "vacuum_cleaner", "engine_idling", "wind"},
    {"rain", "stream", "sea_waves", "water_drip", "applause", "wind"},
    {"cough", "sneeze", "snoring"},
    {"alarm_clock", "telephone_ring", "beep", "bicycle_bell", "doorbell", "church_bell"},
    {"train_rolling", "train_horn"},
    {"gunshot", "fireworks", "thunder"},
    {"hammering", "door_knock", "footsteps", "horse_clip_clop", "drum_beat", "clock_ticking"},
    {"melody", "chords", "piano_notes", "guitar_pluck", "flute_melody", "beep", "whistle"},
    {"bird_chirp", "crickets"},
    {"fire_crackling", "fireworks"},
    {"coin_drop", "keys_jangling", "glass_breaking"},
)

ALIASES = {
    "clock_tick": "clock_ticking",
    "person_sneeze": "sneeze",
    "rooster": "rooster_crow",
}
"""Names that collections of recordings use for classes of ours."""


def spelled(name: str) -> str:
    """A class name ("clock tick", "clock_tick") as ours; KeyError for what is no class."""
    plain = name.strip().lower().replace(" ", "_")
    plain = ALIASES.get(plain, plain)
    if plain not in WORDS:
        raise KeyError(name)
    return plain


def known(names: Iterable[str]) -> list[str]:
    """Class names that a user gave, as ours; UserError for what is no class."""
    try:
        return [spelled(name) for name in names]
    except KeyError as error:
        raise UserError(
            f"there is no class of sound {error}; there are {', '.join(WORDS)}"
        ) from None


def alike(one: str, other: str) -> bool:
    """Whether the two are one class or could be taken for one another."""
    return one == other or any(one in group and other in group for group in _ALIKE)
