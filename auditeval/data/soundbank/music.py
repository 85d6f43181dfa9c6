"""Musical instruments."""

from __future__ import annotations

import numpy as np

from . import blocks
from .blocks import Samples
from .event import sound_class

# Semitone steps above the tonic from which tunes are drawn.
_SCALES = ((0, 2, 4, 5, 7, 9, 11, 12), (0, 2, 3, 5, 7, 8, 10, 12), (0, 2, 4, 7, 9, 12, 14, 16))


def _tune(rng: np.random.Generator, low_hz: float, high_hz: float, notes: int) -> Samples:
    """Pitches in hertz of a tune that walks by small steps through a random key and scale."""
    tonic = np.exp(rng.uniform(np.log(low_hz), np.log(high_hz)))
    scale = np.array(_SCALES[rng.integers(len(_SCALES))])
    walk = np.abs(rng.integers(0, 8) + np.cumsum(rng.integers(-2, 3, notes)))
    # Fold the walk back at the top of the scale instead of letting it run away.
    steps = 7 - np.abs(walk % 14 - 7)
    return tonic * 2 ** (scale[steps] / 12)


def _plucked_string(
    rng: np.random.Generator, hz: float, seconds: float, rate_hz: int, loss: float
) -> Samples:
    """Karplus-Strong string, worked one period at a time; ``loss`` is the gain of a turn."""
    period = max(4, round(rate_hz / hz))
    string = blocks.soften(rng.standard_normal(period), rate_hz, 5000)
    string -= string.mean()
    # Plucking at a point of the string takes out the harmonics that have a node there.
    string -= np.roll(string, round(period * rng.uniform(0.12, 0.3)))
    turns = -(-blocks.sample_count(seconds, rate_hz) // period)
    sound = np.empty((turns, period))
    last = 0.0
    for turn in range(turns):
        sound[turn] = string
        shifted = np.concatenate([[last], string[:-1]])
        last = string[-1]
        string = loss * 0.5 * (string + shifted)
    flat = sound.ravel()
    return flat * blocks.hump(flat.size, 0.002, 0.2)


@sound_class(
    "Music", "event",
    "a drum beat", "drums playing", "a drummer playing a beat", "drumming of a drum kit",
    "someone plays the drums",
)  # fmt: skip
def drum_beat(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """A bar of bass drum, snare and hi-hat in eighth notes, repeated."""
    low = rng.uniform(48, 68)
    count = blocks.sample_count(0.28, rate_hz)
    fall = low + low * 2.5 * blocks.decay(count, rate_hz, 0.12)
    kick = np.sin(blocks.phase_of(fall, rate_hz)) * blocks.decay(count, rate_hz, 0.35)
    blocks.place(kick, blocks.burst(rng, rate_hz, 0.012, 1200, 5000), 0.0, rate_hz, 0.15)
    shell = rng.uniform(170, 240)
    snare = 0.7 * blocks.ring(rate_hz, 0.25, [(shell, 1.0, 0.18), (shell * 1.6, 0.6, 0.14)])
    wires = blocks.burst(rng, rate_hz, rng.uniform(0.16, 0.25), 1500, 9000)
    blocks.place(snare, wires, 0.0, rate_hz, 0.4)
    hat = blocks.high_pass(blocks.burst(rng, rate_hz, 0.07, 6000, 14000), rate_hz, 5000)
    canvas = np.zeros(blocks.sample_count(seconds, rate_hz))
    eighth = 30 / rng.uniform(88, 140)
    kicks = {0, 4} | set(rng.choice([3, 5, 6, 7], rng.integers(0, 3), replace=False).tolist())
    at, number = blocks.first_onset(rng, seconds), 0
    while at < seconds:
        blocks.place(canvas, hat, at, rate_hz, 0.22 if number % 2 else 0.3)
        if number % 8 in kicks:
            blocks.place(canvas, kick, at, rate_hz, 1.0)
        if number % 8 in (2, 6):
            blocks.place(canvas, snare, at, rate_hz, 0.9)
        at, number = at + eighth, number + 1
    return blocks.room(rng, canvas, rate_hz, 0.3, 0.15)


@sound_class(
    "Music", "event",
    "a piano playing", "piano music", "someone plays a piano", "notes played on a piano",
    "a piano melody",
)  # fmt: skip
def piano_notes(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Hammered strings: stretched partials that fade faster the higher they lie."""
    canvas = np.zeros(blocks.sample_count(seconds, rate_hz))
    step = rng.uniform(0.22, 0.5)
    onsets = np.arange(blocks.first_onset(rng, seconds), seconds, step)
    tune = _tune(rng, 180, 380, onsets.size)
    hardness = rng.uniform(0.6, 0.8)
    thud = blocks.burst(rng, rate_hz, 0.04, 150, 1200)
    for number, (at, hz) in enumerate(zip(onsets, tune, strict=True)):
        pitches = (hz, hz / 2) if number % 4 == 0 else (hz,)
        for pitch in pitches:
            modes = []
            for order in range(1, 10):
                stretched = order * pitch * np.sqrt(1 + 4e-4 * order**2)
                gain = hardness ** (order - 1) * (1 - 0.6 * (order == 8))
                modes.append((stretched, gain, 3.2 * (220 / pitch) ** 0.5 / order**0.7))
            modes.append((pitch * 1.0012, 0.6, 4.0))
            note = blocks.ring(rate_hz, min(1.4, seconds - at + 0.01), modes)
            note *= blocks.hump(note.size, 0.001, 0.25)
            blocks.place(canvas, note, at, rate_hz, rng.uniform(0.6, 1.0))
        blocks.place(canvas, thud, at, rate_hz, 0.06)
    return blocks.room(rng, canvas, rate_hz, 0.8, 0.25)


@sound_class(
    "Music", "event",
    "a guitar playing", "plucking of a guitar", "guitar strings being plucked",
    "someone plays an acoustic guitar", "an acoustic guitar tune",
)  # fmt: skip
def guitar_pluck(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Plucked strings through the resonances of a wooden body: picked notes, some strummed."""
    canvas = np.zeros(blocks.sample_count(seconds, rate_hz))
    step = rng.uniform(0.2, 0.45)
    onsets = np.arange(blocks.first_onset(rng, seconds), seconds, step)
    tune = _tune(rng, 110, 220, onsets.size)
    loss = rng.uniform(0.992, 0.998)
    for number, (at, hz) in enumerate(zip(onsets, tune, strict=True)):
        chord = (1.0, 1.5, 2.0) if number % 4 == 0 else (1.0,)
        for string, ratio in enumerate(chord):
            note = _plucked_string(rng, hz * ratio, 1.3, rate_hz, loss)
            blocks.place(canvas, note, at + 0.02 * string, rate_hz, rng.uniform(0.6, 1.0))
    body = [(105, 40, 0.8), (205, 60, 0.7), (420, 150, 0.5)]
    return canvas + blocks.resonate(canvas, rate_hz, body)


@sound_class(
    "Music", "event",
    "a flute playing", "a flute melody", "someone plays the flute", "flute music",
    "a tune played on a flute",
)  # fmt: skip
def flute_melody(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Legato tune of a flute: few harmonics, slow vibrato and breath noise."""
    step = rng.uniform(0.28, 0.6)
    tune = _tune(rng, 480, 800, 24)
    number = 0

    def note() -> Samples:
        nonlocal number
        hz = tune[number % tune.size]
        number += 1
        count = blocks.sample_count(step * rng.choice([1.0, 1.0, 2.0]), rate_hz)
        vibrato = np.sin(2 * np.pi * rng.uniform(4.5, 6) * np.arange(count) / rate_hz)
        vibrato *= blocks.contour(count, 0.0, 1.0, 1.0)
        curve = hz * (1 + 0.006 * vibrato)
        tone = blocks.partials(curve, rate_hz, [1.0, 0.45, 0.22, 0.08, 0.04])
        breath = blocks.band_noise(rng, count, rate_hz, hz, hz * 4)
        edge = 0.05 * rate_hz / count
        return (tone * (1 + 0.12 * vibrato) + 0.05 * breath) * blocks.hump(count, edge, edge)

    melody = blocks.repeat(rng, seconds, rate_hz, note, (0.0, 0.02))
    return blocks.room(rng, melody, rate_hz, 1.0, rng.uniform(0.25, 0.5))
