"""Road, rail and air: engines, horns and the noise of traffic."""

from __future__ import annotations

import numpy as np

from . import blocks
from .blocks import Samples
from .event import sound_class


def _engine(
    rng: np.random.Generator, firing_hz: Samples, rate_hz: int, body: float, noise: float
) -> Samples:
    """Combustion pulses through exhaust resonances; every second pulse differs, so that the half
    order sounds too, as in a real engine.  ``body`` scales the resonances, ``noise`` the hiss."""
    count = firing_hz.size
    shaken = firing_hz * blocks.drift(rng, count, rate_hz, 18, 0.96, 1.04)
    pulses = blocks.pulse_train(shaken, rate_hz) + 0.7 * blocks.pulse_train(shaken / 2, rate_hz)
    pulses = blocks.soften(pulses, rate_hz, 350)
    firing = 0.5 + 0.5 * np.sin(blocks.phase_of(shaken, rate_hz))
    hiss = blocks.shaped_noise(
        rng, count, rate_hz, [(80, 0.0), (500, -4.0), (2500, -14.0), (9000, -30.0)]
    )
    source = pulses + noise * hiss * (0.4 + firing)
    pipes = [(75 * body, 50, 1.0), (160 * body, 80, 1.0), (340 * body, 150, 0.7)]
    pipes += [(800 * body, 400, 0.6), (1900 * body, 900, 0.4)]
    return blocks.resonate(source, rate_hz, pipes) + 0.04 * hiss * firing


@sound_class(
    "Transportation", "background",
    "an engine idling", "a car engine running", "a vehicle idling", "idling of a truck",
    "a motor running steadily",
)  # fmt: skip
def engine_idling(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """A car or lorry standing with its engine on."""
    count = blocks.sample_count(seconds, rate_hz)
    hz = rng.uniform(20, 36) * blocks.drift(rng, count, rate_hz, 1.0, 0.97, 1.03)
    sound = _engine(rng, hz, rate_hz, rng.uniform(0.8, 1.3), rng.uniform(0.8, 1.6))
    clatter = blocks.shaped_noise(rng, count, rate_hz, [(500, -9.0), (2000, 0.0), (7000, -12.0)])
    tick = (0.5 + 0.5 * np.sin(blocks.phase_of(hz, rate_hz))) ** 6
    return sound / np.abs(sound).max() + rng.uniform(0.015, 0.05) * clatter * (0.2 + tick)


@sound_class(
    "Transportation", "background",
    "highway traffic passing", "cars driving by", "traffic noise", "vehicles passing on a road",
    "road traffic humming",
)  # fmt: skip
def highway_traffic(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Tyre roar of a steady flow with single vehicles swelling past."""
    count = blocks.sample_count(seconds, rate_hz)
    time = np.arange(count) / rate_hz
    far = blocks.shaped_noise(
        rng, count, rate_hz, [(30, 0.0), (120, 0.0), (900, -10.0), (2500, -22.0), (9000, -48.0)]
    )
    near = blocks.shaped_noise(
        rng, count, rate_hz, [(60, -3.0), (250, -3.0), (1000, 0.0), (2200, -9.0), (9000, -34.0)]
    )
    passing = np.zeros(count)
    for middle in np.arange(-1.0, seconds + 1.0, rng.uniform(1.0, 2.2)):
        offset = (time - middle - rng.uniform(-0.4, 0.4)) / rng.uniform(0.35, 0.8)
        passing += rng.uniform(0.3, 1.0) / (1 + offset**2)
    return far * rng.uniform(0.5, 0.9) + near * (0.2 + passing)


@sound_class(
    "Transportation", "background",
    "a train rolling over tracks", "clickety-clack of a train", "a train moving on rails",
    "railway cars rattling past", "a train passing",
)  # fmt: skip
def train_rolling(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Rolling rumble with the double knock of each bogie over the rail joints."""
    count = blocks.sample_count(seconds, rate_hz)
    slope = rng.uniform(-5, 4)
    rumble = blocks.shaped_noise(
        rng,
        count,
        rate_hz,
        [(40, 0.0), (250, 0.0), (700, slope - 10.0), (2000, 2 * slope - 26.0), (9000, -54.0)],
    )
    rumble *= blocks.drift(rng, count, rate_hz, 6.0, 0.6, 1.1)
    period = rng.uniform(0.4, 0.65)
    turn = (np.arange(count) / (rate_hz * period) + rng.uniform()) % 1.0
    # The distance of the two axles of a bogie is a fixed part of that between two rail joints.
    pair = rng.uniform(0.2, 0.3)
    joints = np.exp(-(((turn - 0.2) / 0.06) ** 2)) + 0.8 * np.exp(
        -(((turn - 0.2 - pair) / 0.06) ** 2)
    )
    thud_hz = rng.uniform(80, 130)
    thud = blocks.shaped_noise(
        rng,
        count,
        rate_hz,
        [(thud_hz / 8, -30.0), (thud_hz, 0.0), (thud_hz * 4, 0.0), (thud_hz * 32, -40.0)],
    )
    return rumble * (1 + 0.5 * joints) + rng.uniform(0.8, 1.4) * thud * joints


@sound_class(
    "Transportation", "event",
    "an engine revving", "a motorcycle revving", "revving of a motor", "a motorbike accelerates",
    "an engine revs up",
)  # fmt: skip
def engine_revving(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """A motorcycle blipping its throttle: the firing rate leaps up and sinks back."""
    count = blocks.sample_count(seconds, rate_hz)
    time = np.arange(count) / rate_hz
    knots_at, knots = [0.0], [rng.uniform(0.8, 1.0)]
    at = blocks.first_onset(rng, seconds)
    while at < seconds + 1:
        rise, hold = rng.uniform(0.25, 0.6), rng.uniform(0.1, 0.5)
        knots_at += [at, at + rise, at + rise + hold, at + rise + hold + 0.5]
        top = rng.uniform(2.2, 3.8)
        knots += [1.0, top, top * 0.95, 1.1]
        at += rise + hold + 0.5 + rng.uniform(0.05, 0.4)
    speed = np.interp(time, knots_at, knots)
    idle_hz = rng.uniform(32, 48)
    sound = _engine(rng, idle_hz * speed, rate_hz, rng.uniform(1.1, 1.7), 0.35)
    return np.tanh(sound / (np.std(sound) * 2.5)) * speed


@sound_class(
    "Transportation", "event",
    "a siren wailing", "an emergency siren", "a police siren sounding", "wailing of a siren",
    "an ambulance siren blares",
)  # fmt: skip
def siren(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Emergency vehicle: slow wail, quick yelp or two-tone, by the seed."""
    count = blocks.sample_count(seconds, rate_hz)
    time = np.arange(count) / rate_hz
    start = rng.uniform()
    style = rng.integers(3)
    if style == 2:
        low = rng.uniform(430, 620)
        high = low * rng.uniform(1.2, 1.36)
        gate = np.sin(2 * np.pi * (time * rng.uniform(0.7, 1.1) + start))
        hz = low + (high - low) * (0.5 + 0.5 * np.tanh(gate * 25))
    else:
        speed = rng.uniform(0.25, 0.45) if style == 0 else rng.uniform(2.5, 4.0)
        sweep = 0.5 - 0.5 * np.cos(2 * np.pi * (time * speed + start))
        hz = rng.uniform(550, 700) * rng.uniform(2.0, 2.5) ** sweep
    tone = blocks.partials(hz, rate_hz, [1.0, 0.35, 0.45, 0.15, 0.25, 0.08, 0.12])
    tone *= blocks.contour(count, *rng.uniform(0.5, 1.0, 3))
    return blocks.room(rng, tone, rate_hz, 0.9, rng.uniform(0.2, 0.5))


@sound_class(
    "Transportation", "event",
    "a car horn honking", "honking of a car", "a car honks", "a vehicle horn beeping",
    "a driver honking",
)  # fmt: skip
def car_horn(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Two reed tones about a third apart, in one to three honks."""
    low = rng.uniform(330, 440)
    high = low * rng.uniform(1.18, 1.3)

    def honk() -> Samples:
        count = blocks.sample_count(rng.uniform(0.18, 0.8), rate_hz)
        source = np.zeros(count)
        for hz in (low, high):
            source += blocks.pulse_train(np.full(count, hz), rate_hz)
        trumpet = [(900, 700, 0.6), (2200, 900, 1.0), (3600, 1200, 0.6)]
        sound = blocks.resonate(source, rate_hz, trumpet)
        edge = 0.02 * rate_hz / count
        return sound * blocks.hump(count, edge, edge * 2)

    honks = blocks.repeat(rng, seconds, rate_hz, honk, (0.08, 0.5))
    return blocks.room(rng, honks, rate_hz, 0.6, rng.uniform(0.15, 0.4))


@sound_class(
    "Transportation", "event",
    "a train horn blowing", "a train blows its horn", "the blast of a train horn",
    "a locomotive horn sounding", "a train honking",
)  # fmt: skip
def train_horn(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Locomotive air horn: a brassy chord of several chimes in a wide space."""
    chord = rng.uniform(250, 330) * np.array([1.0, 1.19, 1.335, 1.585, 1.89])

    def blast() -> Samples:
        count = blocks.sample_count(rng.uniform(0.9, 2.4), rate_hz)
        source = 0.3 * rng.standard_normal(count)
        onset = 1 - 0.06 * blocks.decay(count, rate_hz, 0.25)
        for hz in chord * rng.uniform(0.985, 1.015, chord.size):
            source += blocks.pulse_train(hz * onset, rate_hz)
        bells = [(500, 300, 0.6), (1000, 600, 1.0), (1900, 900, 0.8), (3200, 1200, 0.4)]
        sound = blocks.resonate(source, rate_hz, bells)
        sound = np.tanh(sound / (2 * np.std(sound)))
        return sound * blocks.hump(count, 0.06, 0.12)

    blasts = blocks.repeat(rng, seconds, rate_hz, blast, (0.3, 0.9))
    return blocks.room(rng, blasts, rate_hz, 1.6, rng.uniform(0.5, 0.9))


@sound_class(
    "Transportation", "event",
    "a bicycle bell ringing", "a bike bell dinging", "ringing of a bicycle bell",
    "a cyclist rings a bell", "the ding of a bike bell",
)  # fmt: skip
def bicycle_bell(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Small steel dome struck in quick succession by the whirling clapper."""
    base = rng.uniform(2200, 3400)
    modes = [
        (base * ratio * rng.uniform(0.995, 1.005), gain, rng.uniform(0.5, 1.2) / ratio**0.5)
        for ratio, gain in ((1.0, 1.0), (1.006, 0.6), (2.05, 0.7), (3.2, 0.4), (4.1, 0.2))
    ]
    stroke = blocks.ring(rate_hz, 0.9, modes)

    def trill() -> Samples:
        canvas = np.zeros(blocks.sample_count(1.2, rate_hz))
        gap = rng.uniform(0.045, 0.085)
        for number in range(rng.integers(4, 9)):
            at = number * gap * rng.uniform(0.97, 1.03)
            blocks.place(canvas, stroke, at, rate_hz, rng.uniform(0.5, 1.0))
        return canvas

    return blocks.repeat(rng, seconds, rate_hz, trill, (0.0, 0.4))


@sound_class(
    "Transportation", "event",
    "a helicopter flying", "helicopter blades whirring", "a chopper hovering overhead",
    "a helicopter passes by", "whirring of a helicopter",
)  # fmt: skip
def helicopter(rng: np.random.Generator, seconds: float, rate_hz: int) -> Samples:
    """Blade slap: noise and low thumps chopped at the blade rate, over a turbine's whine."""
    count = blocks.sample_count(seconds, rate_hz)
    blade_hz = np.full(count, rng.uniform(11, 19))
    turn = blocks.phase_of(blade_hz, rate_hz)
    chop = (0.5 + 0.5 * np.sin(turn)) ** rng.uniform(3, 6)
    thump = blocks.soften(blocks.pulse_train(blade_hz, rate_hz), rate_hz, 120)
    thump = blocks.soften(thump, rate_hz, 200)
    # The farther the machine, the darker: the air swallows the high part.
    far = rng.uniform(-5, 5)
    wash = blocks.shaped_noise(
        rng,
        count,
        rate_hz,
        [(40, 0.0), (250, 0.0), (900, far - 9.0), (3000, 2 * far - 24.0), (9000, 2 * far - 44.0)],
    )
    whine = blocks.partials(np.full(count, rng.uniform(600, 1100)), rate_hz, [1.0, 0.4])
    near = blocks.contour(count, *rng.uniform(0.55, 1.0, 3))
    return near * (2.2 * thump / np.std(thump) + wash * (0.35 + 2.0 * chop) + 0.05 * whine)
