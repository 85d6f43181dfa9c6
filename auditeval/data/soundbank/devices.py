"""Devices of the house: appliances, clocks and bells."""

from __future__ import annotations

import numpy as np

from . import blocks
from .blocks import Samples
from .event import sound_class


@sound_class(
    "IndoorActivities", "background",
    "an air conditioner humming", "humming of an air conditioner", "a fan running steadily",
    "the hum of ventilation", "a low electric hum",
)  # fmt: skip
def air_conditioner(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Mains hum and its harmonics under the even rush of a fan."""
    count = blocks.sample_count(seconds, rate_hz)
    mains = rng.choice([100.0, 120.0]) * rng.uniform(0.995, 1.0)
    hum = blocks.partials(
        np.full(count, mains), rate_hz, list(rng.uniform(0.2, 1.0, 8) / np.arange(1, 9) ** 0.8)
    )
    slope = rng.uniform(-3, 3)
    air = blocks.shaped_noise(
        rng,
        count,
        rate_hz,
        [(60, 0.0), (250, 0.0), (1000, -8.0 + slope), (4000, -22.0 + slope), (12000, -40.0)],
    )
    blade = 1 + 0.1 * np.sin(2 * np.pi * rng.uniform(14, 28) * np.arange(count) / rate_hz)
    return rng.uniform(2.5, 4.5) * hum + air * blade


@sound_class(
    "IndoorActivities", "background",
    "a vacuum cleaner running", "vacuuming of a carpet", "the whine of a vacuum cleaner",
    "a vacuum cleaner whirring", "someone vacuuming",
)  # fmt: skip
def vacuum_cleaner(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Fast commutator whine with many harmonics in the roar of the sucked air."""
    count = blocks.sample_count(seconds, rate_hz)
    motor = rng.uniform(420, 640) * blocks.drift(rng, count, rate_hz, 0.7, 0.98, 1.02)
    whine = blocks.partials(motor, rate_hz, [0.7, 1.0, 0.5, 0.5, 0.3, 0.35, 0.25, 0.2, 0.15, 0.1])
    roar_hz = rng.uniform(600, 1000)
    roar = blocks.shaped_noise(
        rng,
        count,
        rate_hz,
        [(60, -20.0), (200, -4.0), (roar_hz, 0.0), (roar_hz * 4, -6.0), (8000, -12.0)],
    )
    roar *= blocks.drift(rng, count, rate_hz, 1.5, 0.8, 1.05)
    return roar + rng.uniform(0.4, 0.65) * whine


@sound_class(
    "IndoorActivities", "event",
    "a clock ticking", "ticking of a clock", "a clock ticks steadily", "tick-tock of a clock",
    "a ticking clock",
)  # fmt: skip
def clock_ticking(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Dry clicks of the escapement, tick and tock in turn, in a wooden or tin case."""
    period = rng.choice([0.25, 0.5, 0.5, 1.0]) * rng.uniform(0.96, 1.04)
    case = rng.uniform(1800, 3600)
    canvas = np.zeros(blocks.sample_count(seconds, rate_hz))
    at, number = blocks.first_onset(rng, seconds), 0
    while at < seconds:
        hz = case * (1.0 if number % 2 == 0 else 0.82)
        tick = blocks.ring(
            rate_hz, 0.06, [(hz, 1.0, 0.03), (hz * 1.7, 0.8, 0.02), (hz * 0.4, 0.5, 0.04)]
        )
        for delay, gain in ((0.0, 1.0), (0.011, 0.45), (0.024, 0.2)):
            blocks.place(canvas, tick, at + delay, rate_hz, gain)
            snap = blocks.burst(rng, rate_hz, 0.006, 2500, 9000)
            blocks.place(canvas, snap, at + delay, rate_hz, 0.3 * gain)
        at, number = at + period, number + 1
    ticks = blocks.room(rng, canvas, rate_hz, 0.25, 0.12)
    return blocks.with_air(rng, ticks, rate_hz, rng.uniform(30, 38))


@sound_class(
    "IndoorActivities", "event",
    "a telephone ringing", "ringing of a phone", "a phone rings", "an old telephone rings",
    "telephone bell ringing",
)  # fmt: skip
def telephone_ring(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Two gongs struck in turn by an electromagnet, in the ring-and-pause of an old telephone."""
    base = rng.uniform(1050, 1500)
    strokes = [
        blocks.ring(
            rate_hz,
            0.45,
            [(hz, 1.0, 0.5), (hz * 2.38, 0.8, 0.4), (hz * 3.9, 0.5, 0.25), (hz * 5.6, 0.25, 0.15)],
        )
        for hz in (base, base * rng.uniform(1.18, 1.3))
    ]
    strike_gap = 1 / rng.uniform(19, 27)
    length = rng.uniform(0.7, 1.4)

    def ringing() -> Samples:
        canvas = np.zeros(blocks.sample_count(length + 0.4, rate_hz))
        for number, at in enumerate(np.arange(0, length, strike_gap)):
            blocks.place(canvas, strokes[number % 2], at, rate_hz, rng.uniform(0.8, 1.0))
        return canvas

    rings = blocks.repeat(rng, seconds, rate_hz, ringing, (0.1, 0.6))
    return blocks.room(rng, rings, rate_hz, 0.3, 0.1)


@sound_class(
    "IndoorActivities", "event",
    "an alarm clock beeping", "beeping of an alarm", "an alarm clock goes off", "electronic beeps",
    "an alarm beeps repeatedly",
)  # fmt: skip
def alarm_clock(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Electronic beeps of a square-like tone in groups of four."""
    hz = rng.uniform(1900, 3100)
    length = rng.uniform(0.05, 0.09)

    def group() -> Samples:
        count = blocks.sample_count(length, rate_hz)
        beep = blocks.partials(np.full(count, hz), rate_hz, [1.0, 0.05, 0.33, 0.02, 0.2])
        edge = 0.003 * rate_hz / count
        beep *= blocks.hump(count, edge, edge)
        pause = np.zeros(blocks.sample_count(length * 0.9, rate_hz))
        return np.concatenate([part for _ in range(4) for part in (beep, pause)])

    return blocks.repeat(rng, seconds, rate_hz, group, (0.2, 0.5))


@sound_class(
    "IndoorActivities", "event",
    "a doorbell ringing", "the ding-dong of a doorbell", "a doorbell chimes", "a doorbell rings",
    "chiming of a doorbell",
)  # fmt: skip
def doorbell(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Ding-dong: two chime bars, the second about a major third lower."""
    high = rng.uniform(600, 850)
    bars = (high, high / rng.choice([1.26, 1.2, 1.335]))

    def ding_dong() -> Samples:
        gap = rng.uniform(0.4, 0.65)
        canvas = np.zeros(blocks.sample_count(gap + 1.3, rate_hz))
        for number, hz in enumerate(bars):
            modes = [(hz, 1.0, 1.8), (hz * 2.76, 0.35, 0.7), (hz * 5.4, 0.15, 0.25)]
            chime = blocks.ring(rate_hz, 1.3, modes)
            chime *= blocks.hump(chime.size, 0.002, 0.2)
            blocks.place(canvas, chime, number * gap, rate_hz, 1.0)
        return canvas

    return blocks.repeat(rng, seconds, rate_hz, ding_dong, (0.1, 0.8))
