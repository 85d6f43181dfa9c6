"""Doors, keys and small objects handled indoors."""

from __future__ import annotations

import numpy as np

from . import blocks
from .blocks import Samples
from .event import sound_class


@sound_class(
    "IndoorActivities", "event",
    "knocking on a door", "a knock at the door", "someone knocks on a door",
    "a person knocking on wood", "raps on a door",
)  # fmt: skip
def door_knock(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Knuckles on a wooden panel, three to five raps in a row."""
    panel = rng.uniform(140, 260)

    def knocks() -> Samples:
        gap = rng.uniform(0.13, 0.24)
        number = rng.integers(3, 6)
        canvas = np.zeros(blocks.sample_count(number * gap + 0.2, rate_hz))
        for rap in range(number):
            modes = [
                (panel * ratio * rng.uniform(0.98, 1.02), gain, fall)
                for ratio, gain, fall in (
                    (1.0, 1.0, 0.12),
                    (1.7, 0.8, 0.09),
                    (2.9, 0.6, 0.07),
                    (4.6, 0.4, 0.05),
                )
            ]
            sound = blocks.ring(rate_hz, 0.15, modes)
            contact = blocks.burst(rng, rate_hz, 0.012, 500, 2500)
            blocks.place(sound, contact, 0.0, rate_hz, 0.15)
            blocks.place(canvas, sound, rap * gap, rate_hz, rng.uniform(0.75, 1.0))
        return canvas

    raps = blocks.repeat(rng, seconds, rate_hz, knocks, (0.4, 0.9))
    return blocks.room(rng, raps, rate_hz, 0.35, rng.uniform(0.15, 0.35))


@sound_class(
    "IndoorActivities", "event",
    "typing on a keyboard", "a person typing", "keyboard keys clicking", "someone types quickly",
    "clacking of a keyboard",
)  # fmt: skip
def keyboard_typing(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Key presses and softer releases at a typist's uneven pace."""
    canvas = np.zeros(blocks.sample_count(seconds, rate_hz))
    base = rng.uniform(2200, 4500)
    keys = []
    for _ in range(8):
        hz = base * rng.uniform(0.8, 1.25)
        key = blocks.ring(rate_hz, 0.06, [(hz, 0.15, 0.015), (hz * 0.12, 0.2, 0.04)])
        snap = blocks.burst(rng, rate_hz, 0.03, base * 0.6, 9000)
        blocks.place(key, snap, 0.0, rate_hz, 0.35)
        keys.append(key)
    at = blocks.first_onset(rng, seconds)
    pace = rng.uniform(0.09, 0.16)
    while at < seconds:
        key = keys[rng.integers(len(keys))]
        gain = rng.uniform(0.5, 1.0)
        blocks.place(canvas, key, at, rate_hz, gain)
        blocks.place(canvas, key, at + rng.uniform(0.05, 0.09), rate_hz, 0.35 * gain)
        at += pace * rng.gamma(4.0, 0.25) + 0.02
    typed = blocks.room(rng, canvas, rate_hz, 0.2, 0.12)
    return blocks.with_air(rng, typed, rate_hz, rng.uniform(34, 42))


@sound_class(
    "IndoorActivities", "event",
    "glass breaking", "glass shattering", "a window smashing", "a glass shatters",
    "breaking of glass",
)  # fmt: skip
def glass_breaking(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """One smash, then shards that ring and settle ever more sparsely."""
    shards = []
    for hz in np.exp(rng.uniform(np.log(2200), np.log(9000), 16)):
        modes = [
            (hz * ratio, gain, rng.uniform(0.05, 0.25))
            for ratio, gain in ((1.0, 1.0), (rng.uniform(1.3, 1.8), 0.7), (2.3, 0.4))
        ]
        shards.append(blocks.ring(rate_hz, 0.25, modes))

    def smash() -> Samples:
        canvas = np.zeros(blocks.sample_count(rng.uniform(1.0, 1.6), rate_hz))
        impact = blocks.burst(rng, rate_hz, rng.uniform(0.15, 0.3), 1500, 9000)
        blocks.place(canvas, impact, 0.0, rate_hz, 0.8)
        for delay in rng.exponential(0.28, rng.integers(40, 80)):
            gain = rng.uniform(0.2, 1.0) * np.exp(-delay * 1.5)
            blocks.place(canvas, shards[rng.integers(16)], delay, rate_hz, gain)
        return canvas

    smashes = blocks.repeat(rng, seconds, rate_hz, smash, (0.8, 1.6))
    return blocks.room(rng, smashes, rate_hz, 0.4, 0.2)


@sound_class(
    "IndoorActivities", "event",
    "a coin dropping", "a coin bouncing on a table", "a dropped coin clinking",
    "a coin falls and spins", "clinking of a coin",
)  # fmt: skip
def coin_drop(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """A coin that bounces ever faster and ends in a rattle."""
    base = rng.uniform(4200, 6000)
    modes = [(base, 0.7, 0.12), (base * 1.09, 0.6, 0.12), (base * 1.72, 0.8, 0.12)]
    modes += [(base * 2.1, 0.5, 0.1), (base * 0.45, 0.3, 0.05), (base * 0.62, 0.4, 0.07)]
    clink = blocks.ring(rate_hz, 0.3, modes)
    blocks.place(clink, blocks.burst(rng, rate_hz, 0.015, 1500, 9000), 0.0, rate_hz, 0.4)

    def drop() -> Samples:
        canvas = np.zeros(blocks.sample_count(1.6, rate_hz))
        at, gap, gain = 0.0, rng.uniform(0.22, 0.36), 1.0
        while gap > 0.012 and at < 1.3:
            blocks.place(canvas, clink, at, rate_hz, gain * rng.uniform(0.7, 1.0))
            at += gap
            gap *= rng.uniform(0.72, 0.86)
            gain *= 0.88
        return canvas

    drops = blocks.repeat(rng, seconds, rate_hz, drop, (0.0, 0.6))
    return blocks.room(rng, drops, rate_hz, 0.3, 0.12)


@sound_class(
    "IndoorActivities", "event",
    "keys jangling", "jingling of keys", "a bunch of keys rattling", "someone shakes keys",
    "keys jingle",
)  # fmt: skip
def keys_jangling(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """A bunch of keys shaken: clusters of short, dissonant metallic clinks."""
    grains = []
    for hz in np.exp(rng.uniform(np.log(2600), np.log(8500), 20)):
        modes = [
            (hz * ratio * rng.uniform(0.9, 1.1), gain, rng.uniform(0.01, 0.045))
            for ratio, gain in ((1.0, 0.7), (1.4, 0.8), (2.0, 0.6))
        ]
        clink = blocks.ring(rate_hz, 0.12, modes)
        blocks.place(clink, blocks.burst(rng, rate_hz, 0.03, 4000, 12000), 0.0, rate_hz, 0.6)
        grains.append(clink)

    def shake() -> Samples:
        canvas = np.zeros(blocks.sample_count(rng.uniform(0.2, 0.5), rate_hz))
        # A shake begins with a clink, not with a wait for one.
        blocks.place(canvas, grains[rng.integers(len(grains))], 0.0, rate_hz, 1.0)
        blocks.swarm(rng, canvas, rate_hz, grains, rng.uniform(25, 60), 5.0)
        return canvas

    return blocks.repeat(rng, seconds, rate_hz, shake, (0.02, 0.2))


@sound_class(
    "IndoorActivities", "event",
    "a zipper being pulled", "zipping up of a jacket", "someone zips a bag", "a zipper zips",
    "a zip opening and closing",
)  # fmt: skip
def zipper(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Teeth passing the slider: noisy ticks whose rate climbs along the pull."""

    def pull() -> Samples:
        count = blocks.sample_count(rng.uniform(0.3, 0.7), rate_hz)
        low = rng.uniform(90, 160)
        teeth_hz = blocks.contour(count, low, low * rng.uniform(2, 3), low * rng.uniform(2.5, 4))
        teeth = blocks.pulse_train(teeth_hz, rate_hz)
        rough = blocks.band_noise(rng, count, rate_hz, 2000, 9000)
        metal = [(tone * rng.uniform(0.95, 1.05), 900, 1.0) for tone in (2400, 4300, 6800)]
        ticks = blocks.resonate(teeth * (1 + 0.5 * rough), rate_hz, metal)
        grain = (0.5 + 0.5 * np.cos(blocks.phase_of(teeth_hz, rate_hz))) ** 3
        sound = 0.7 * ticks / (np.std(ticks) + 1e-9) + rough * grain
        return sound * blocks.hump(count, 0.15, 0.1)

    return blocks.repeat(rng, seconds, rate_hz, pull, (0.15, 0.6))
