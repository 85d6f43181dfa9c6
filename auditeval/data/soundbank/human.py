"""Voices and the sounds people make with their bodies."""

from __future__ import annotations

import numpy as np
from scipy import signal

from . import blocks
from .blocks import Samples
from .event import sound_class

# First three formants in hertz of five vowels of an adult man (after Peterson and Barney).
_VOWELS = (
    (730, 1090, 2440),
    (530, 1840, 2480),
    (270, 2290, 3010),
    (570, 840, 2410),
    (300, 870, 2240),
)


def _vocal_tract(source: Samples, rate_hz: int, formants: list[float]) -> Samples:
    """Three formants in cascade, which sets their relative levels as a real tract does.

    The peak of the whole response is scaled to one, so that all vowels come out alike in level.
    """
    poles = np.ones(1)
    for hz, bandwidth in zip(formants, (80, 100, 140), strict=True):
        hz = min(hz, blocks.HIGHEST_SHARE * rate_hz)
        radius = np.exp(-np.pi * bandwidth / rate_hz)
        turn = 2 * radius * np.cos(2 * np.pi * hz / rate_hz)
        poles = np.convolve(poles, [1, -turn, radius * radius])
    grid = np.exp(-2j * np.pi * np.array(formants)[:, None] / rate_hz * np.arange(poles.size))
    peak = 1 / np.abs(grid @ poles).min()
    return signal.lfilter([1 / peak], poles, source)


def _talk(
    rng: np.random.Generator, seconds: float, rate_hz: int, voices: int, hurry: float
) -> Samples:
    """Speech without words: syllables that glide between vowels, consonant noise, pauses.

    All voices share one bank of vowel filters, so that a crowd costs little more than one talker;
    ``hurry`` scales the rate of syllables.
    """
    count = blocks.sample_count(seconds, rate_hz)
    vowel_buses = np.zeros((len(_VOWELS), count))
    hiss_bus = np.zeros(count)
    tract = rng.uniform(1.0, 1.2)
    for voice in range(voices):
        pitch = np.exp(rng.uniform(np.log(95), np.log(220)))
        loudness = 1.0 if voice == 0 else rng.uniform(0.4, 0.9)
        melody = pitch * blocks.drift(rng, count, rate_hz, 3.0, 0.8, 1.3)
        source = blocks.voice_source(rng, melody, rate_hz, 1000, 0.02)
        at = blocks.first_onset(rng, seconds)
        left_in_phrase = rng.integers(3, 9)
        vowel = rng.integers(len(_VOWELS))
        while at < seconds:
            size = blocks.sample_count(rng.uniform(0.1, 0.24) / hurry, rate_hz)
            start = round(at * rate_hz)
            part = source[start : start + size]
            if part.size > 8:
                stress = loudness * rng.uniform(0.4, 1.0)
                shaped = part * (blocks.hump(size, 0.2, 0.35) * stress)[: part.size]
                goal = rng.integers(len(_VOWELS))
                glide = blocks.contour(size, 0, 0, 1, 1)[: part.size]
                vowel_buses[vowel, start : start + size] += shaped * (1 - glide)
                vowel_buses[goal, start : start + size] += shaped * glide
                vowel = goal
                if rng.uniform() < 0.45:
                    length = blocks.sample_count(rng.uniform(0.03, 0.1), rate_hz)
                    hiss = rng.standard_normal(length) * blocks.hump(length, 0.3, 0.4)
                    blocks.place(hiss_bus, hiss, max(0.0, at - 0.04), rate_hz, 0.12 * stress)
            at += size / rate_hz * rng.uniform(0.85, 1.15)
            left_in_phrase -= 1
            if left_in_phrase == 0:
                at += rng.uniform(0.15, 0.4)
                left_in_phrase = rng.integers(3, 9)
    total = np.zeros(count)
    for bus, formants in zip(vowel_buses, _VOWELS, strict=True):
        total += _vocal_tract(bus, rate_hz, [hz * tract for hz in formants])
    total += blocks.resonate(hiss_bus, rate_hz, [(4300, 1800, 1.0), (6800, 2500, 0.7)])
    return total


@sound_class(
    "Speech", "background",
    "a crowd talking", "people chattering", "murmur of a crowd", "many people talking at once",
    "the babble of voices",
)  # fmt: skip
def crowd_babble(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Many people talking at once in a large room."""
    near = _talk(rng, seconds, rate_hz, 2, 1.0)
    crowd = 0.5 * near
    places = np.arange(near.size)
    endless = np.tile(near, 3)
    # Played faster or slower, shifted copies of a few talkers pass for many others.
    for _ in range(6):
        moved = places * rng.uniform(0.75, 1.3) + rng.integers(near.size)
        other = np.interp(moved, np.arange(endless.size), endless)
        crowd += rng.uniform(0.4, 0.9) * other
    floor = blocks.shaped_noise(
        rng, near.size, rate_hz, [(100, -3.0), (450, 0.0), (2500, -14.0), (9000, -36.0)]
    )
    crowd += 0.08 * np.std(crowd) * floor
    return blocks.room(rng, crowd, rate_hz, 0.6, rng.uniform(0.3, 0.6))


@sound_class(
    "Speech", "event",
    "a man speaking", "a person talking", "someone speaking", "a man talks", "speech of a man",
)  # fmt: skip
def speech(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """One person talking, not to be understood."""
    talk = _talk(rng, seconds, rate_hz, 1, rng.uniform(0.85, 1.2))
    return blocks.room(rng, talk, rate_hz, 0.3, rng.uniform(0.05, 0.2))


@sound_class(
    "HumanSounds", "event",
    "footsteps", "a person walking", "footsteps on a hard floor", "someone walks by",
    "steps of a person walking",
)  # fmt: skip
def footsteps(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Heel and toe of a walker on a hard floor."""
    heel_hz = rng.uniform(75, 150)
    bright = rng.uniform(500, 900)

    def step() -> Samples:
        canvas = np.zeros(blocks.sample_count(0.3, rate_hz))
        thud = blocks.ring(rate_hz, 0.1, [(heel_hz, 1.0, 0.08)])
        blocks.place(canvas, thud, 0.0, rate_hz, 0.8)
        heel = blocks.burst(rng, rate_hz, rng.uniform(0.08, 0.12), 150, bright)
        heel *= blocks.hump(heel.size, 0.05, 0.3)
        blocks.place(canvas, heel, 0.0, rate_hz, 1.0)
        toe = blocks.burst(rng, rate_hz, 0.16, 200, bright * 1.5)
        toe *= blocks.hump(toe.size, 0.2, 0.3)
        blocks.place(canvas, toe, rng.uniform(0.07, 0.11), rate_hz, rng.uniform(0.25, 0.5))
        return canvas

    steps = blocks.beat(rng, seconds, rate_hz, step, rng.uniform(0.36, 0.62), 0.05)
    steps = blocks.room(rng, steps, rate_hz, rng.uniform(0.25, 0.5), rng.uniform(0.2, 0.4))
    return blocks.with_air(rng, steps, rate_hz, rng.uniform(40, 48))


def _clap(rng: np.random.Generator, rate_hz: int, hollow_hz: float) -> Samples:
    """Two palms meeting: a noise burst above the resonance of the hollow between them."""
    return blocks.burst(rng, rate_hz, rng.uniform(0.06, 0.1), hollow_hz, hollow_hz * 4)


@sound_class(
    "HumanSounds", "event",
    "a person clapping", "hands clapping", "someone claps slowly", "clapping of hands",
    "a few claps",
)  # fmt: skip
def hand_clap(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """One person clapping slowly in a room."""
    hollow = rng.uniform(650, 950)
    claps = blocks.beat(
        rng,
        seconds,
        rate_hz,
        lambda: _clap(rng, rate_hz, hollow * rng.uniform(0.9, 1.1)),
        rng.uniform(0.22, 0.45),
        0.08,
    )
    claps = blocks.room(rng, claps, rate_hz, rng.uniform(0.3, 0.6), rng.uniform(0.2, 0.4))
    return blocks.with_air(rng, claps, rate_hz, rng.uniform(46, 54))


@sound_class(
    "HumanSounds", "event",
    "an audience applauding", "applause", "a crowd clapping", "people applaud",
    "a round of applause",
)  # fmt: skip
def applause(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """An audience clapping: hundreds of claps a second, swelling and thinning."""
    canvas = np.zeros(blocks.sample_count(seconds, rate_hz))
    # The claps of a far crowd are shorter and narrower than those of a person near by.
    grains = [
        blocks.burst(rng, rate_hz, rng.uniform(0.015, 0.035), hz * 0.8, hz * 1.6)
        for hz in rng.uniform(700, 1800, 40)
    ]
    blocks.swarm(rng, canvas, rate_hz, grains, rng.uniform(600, 1000), 4.0)
    canvas *= blocks.drift(rng, canvas.size, rate_hz, 0.7, 0.7, 1.0)
    return blocks.room(rng, canvas, rate_hz, 1.0, rng.uniform(0.3, 0.7))


@sound_class(
    "HumanSounds", "event",
    "a baby crying", "crying of a baby", "an infant wailing", "a baby cries", "an infant cries",
)  # fmt: skip
def baby_cry(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Wails on each breath out: a high, rough, arched tone; a short gasp in between."""
    pitch = rng.uniform(380, 520)
    tract = [(1050, 250, 1.0), (3000, 500, 0.8), (4600, 700, 0.4)]

    def wail() -> Samples:
        count = blocks.sample_count(rng.uniform(0.5, 1.0), rate_hz)
        curve = pitch * rng.uniform(0.93, 1.08) * blocks.contour(count, 0.75, 1.1, 1.15, 1.05, 0.7)
        curve *= blocks.drift(rng, count, rate_hz, 9, 0.96, 1.04)
        source = blocks.voice_source(rng, curve, rate_hz, 2500, 0.04)
        cry = blocks.resonate(source, rate_hz, tract)
        cry *= blocks.hump(count, 0.12, 0.3) * blocks.drift(rng, count, rate_hz, 14, 0.7, 1.0)
        gasp_count = blocks.sample_count(rng.uniform(0.12, 0.2), rate_hz)
        gasp = blocks.band_noise(rng, gasp_count, rate_hz, 1000, 4000)
        gasp *= blocks.hump(gasp_count, 0.5, 0.3) * np.std(cry) * 0.08
        return np.concatenate([cry, np.zeros(round(0.05 * rate_hz)), gasp])

    return blocks.repeat(rng, seconds, rate_hz, wail, (0.02, 0.15))


@sound_class(
    "HumanSounds", "event",
    "a person coughing", "coughing", "someone coughs", "a man coughing", "a cough",
)  # fmt: skip
def cough(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Each cough is a burst of throat noise and a short strained voice after it."""
    size = rng.uniform(0.85, 1.2)
    pitch = rng.uniform(140, 280)

    def fit() -> Samples:
        parts: list[Samples] = []
        for _ in range(rng.integers(1, 4)):
            count = blocks.sample_count(rng.uniform(0.22, 0.34), rate_hz)
            noise = blocks.shaped_noise(
                rng, count, rate_hz, [(200, -6.0), (800, 0.0), (3000, -4.0), (10000, -14.0)]
            )
            noise *= blocks.hump(count, 0.03, 0.4) * blocks.decay(count, rate_hz, 0.45)
            curve = blocks.contour(count, pitch * 1.2, pitch, pitch * 0.8)
            curve *= blocks.drift(rng, count, rate_hz, 90, 0.9, 1.1)
            voice = blocks.soften(blocks.pulse_train(curve, rate_hz), rate_hz, 1200)
            voice *= blocks.hump(count, 0.3, 0.5)
            throat = [(650 * size, 180, 1.0), (1450 * size, 250, 0.8), (2700 * size, 400, 0.5)]
            sound = blocks.resonate(noise + 1.5 * voice, rate_hz, throat) + 0.08 * noise
            parts += [sound, np.zeros(blocks.sample_count(rng.uniform(0.03, 0.12), rate_hz))]
        return np.concatenate(parts)

    coughs = blocks.repeat(rng, seconds, rate_hz, fit, (0.3, 0.8))
    return blocks.room(rng, coughs, rate_hz, 0.3, rng.uniform(0.1, 0.25))


@sound_class(
    "HumanSounds", "event",
    "a person snoring", "snoring of a sleeper", "someone snores", "a man snoring loudly",
    "loud snores",
)  # fmt: skip
def snoring(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Fluttering palate on the way in, soft breath on the way out."""
    flutter = rng.uniform(35, 65)

    def breath() -> Samples:
        count = blocks.sample_count(rng.uniform(0.8, 1.3), rate_hz)
        curve = flutter * blocks.contour(count, 0.9, 1.1, 1.0)
        curve *= blocks.drift(rng, count, rate_hz, 30, 0.85, 1.15)
        pulses = blocks.soften(blocks.pulse_train(curve, rate_hz), rate_hz, 900)
        noise = rng.standard_normal(count) * (0.5 + 0.5 * np.cos(blocks.phase_of(curve, rate_hz)))
        throat = [(240, 90, 1.0), (560, 140, 0.8), (1300, 300, 0.5), (2500, 500, 0.2)]
        snore = blocks.resonate(0.5 * pulses + 1.5 * noise, rate_hz, throat)
        snore *= blocks.hump(count, 0.35, 0.2)
        out_count = blocks.sample_count(rng.uniform(0.5, 0.8), rate_hz)
        out = blocks.band_noise(rng, out_count, rate_hz, 500, 2500)
        out *= blocks.hump(out_count, 0.4, 0.5) * np.std(snore) * 0.15
        return np.concatenate([snore, np.zeros(round(0.15 * rate_hz)), out])

    return blocks.repeat(rng, seconds, rate_hz, breath, (0.1, 0.3))


@sound_class(
    "HumanSounds", "event",
    "a person laughing", "laughter", "someone laughs", "laughing of a person", "a hearty laugh",
)  # fmt: skip
def laughter(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Ha-ha-ha: a row of breathy vowels that sinks in pitch and loudness."""
    pitch = np.exp(rng.uniform(np.log(180), np.log(360)))
    tract = 0.85 + pitch / 900

    def bout() -> Samples:
        parts: list[Samples] = []
        number = rng.integers(4, 9)
        pace = rng.uniform(0.15, 0.21)
        for turn in range(number):
            count = blocks.sample_count(pace, rate_hz)
            top = pitch * (1.25 - 0.4 * turn / number) * rng.uniform(0.95, 1.05)
            curve = blocks.contour(count, top, top * 1.1, top * 0.8)
            voice = blocks.voice_source(rng, curve, rate_hz, 1200, 0.02)
            voice *= blocks.hump(count, 0.25, 0.3) * blocks.contour(count, 0, 1, 1, 0.1)
            breath = rng.standard_normal(count) * blocks.contour(count, 0.12, 0.02, 0.02, 0.14)
            mouth = [(780 * tract, 120, 1.0), (1400 * tract, 150, 0.7), (2700 * tract, 250, 0.4)]
            sound = blocks.resonate(voice + breath, rate_hz, mouth)
            parts.append(sound * (1.1 - 0.6 * turn / number))
        return np.concatenate(parts)

    bouts = blocks.repeat(rng, seconds, rate_hz, bout, (0.15, 0.5))
    return blocks.room(rng, bouts, rate_hz, 0.4, rng.uniform(0.1, 0.25))
