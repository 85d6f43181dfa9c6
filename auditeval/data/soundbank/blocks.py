"""Building blocks shared by the sound classes: noises, oscillators, resonances, placing, rooms.

Times are in seconds, frequencies in hertz, levels in decibels where a name or text says so and
linear otherwise.  Every block takes frequencies above the Nyquist limit: it leaves them out or
lowers them, so that one recipe serves all sampling rates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt
from scipy import signal

Samples = npt.NDArray[np.float64]

# Highest usable frequency as a share of the sampling rate: below 0.5 so that filters stay stable.
HIGHEST_SHARE = 0.45

_STEPS_A_KNOT = 16


def sample_count(seconds: float, rate_hz: int) -> int:
    """Samples in a stretch of time; never less than one."""
    return max(1, round(seconds * rate_hz))


def decay(count: int, rate_hz: int, fall_seconds: float) -> Samples:
    """Exponential envelope from 1, down 60 dB after ``fall_seconds``."""
    return np.exp(np.arange(count) * (-6.908 / (fall_seconds * rate_hz)))


def hump(count: int, rise_share: float, fall_share: float) -> Samples:
    """Envelope with raised-cosine flanks; the shares are parts of the whole length."""
    rise = max(1, round(count * rise_share))
    fall = max(1, round(count * fall_share))
    envelope = np.ones(count)
    envelope[:rise] *= 0.5 - 0.5 * np.cos(np.pi * np.arange(rise) / rise)[:count]
    envelope[-fall:] *= (0.5 + 0.5 * np.cos(np.pi * np.arange(1, fall + 1) / fall))[-count:]
    return envelope


def contour(count: int, *values: float) -> Samples:
    """Broken line through values spread evenly over the length."""
    return np.interp(np.linspace(0, 1, count), np.linspace(0, 1, len(values)), values)


def drift(
    rng: np.random.Generator, count: int, rate_hz: int, hz: float, low: float, high: float
) -> Samples:
    """Smooth random curve between ``low`` and ``high`` that turns about ``hz`` times a second."""
    knots = rng.uniform(low, high, int((count - 1) * hz / rate_hz) + 2)
    # The curve is bent on a coarse grid and drawn straight in between, which saves time.
    share = np.arange(_STEPS_A_KNOT) / _STEPS_A_KNOT
    share = share * share * (3 - 2 * share)
    coarse = knots[:-1, None] + np.diff(knots)[:, None] * share
    grid = np.arange(coarse.size) * (rate_hz / hz / _STEPS_A_KNOT)
    return np.interp(np.arange(count), grid, coarse.ravel())


def shaped_noise(
    rng: np.random.Generator, count: int, rate_hz: int, points: Sequence[tuple[float, float]]
) -> Samples:
    """Gaussian noise of unit power whose spectrum runs through ``points`` of (hertz, decibels).

    The level is interpolated over the logarithm of frequency and held beyond the end points.
    """
    # A length with small prime factors: the transform of a prime length is many times slower.
    length = -(-max(count, 64) // 256) * 256
    hz = np.fft.rfftfreq(length, 1 / rate_hz)
    hz[0] = hz[1]
    levels = np.interp(np.log(hz), np.log([p[0] for p in points]), [p[1] for p in points])
    gains = 10 ** (levels / 20)
    gains[0] = 0
    parts = rng.standard_normal((2, hz.size))
    noise = np.fft.irfft(gains * (parts[0] + 1j * parts[1]), length)[:count]
    return noise / (np.sqrt(np.mean(noise**2)) + 1e-12)


def band_noise(
    rng: np.random.Generator, count: int, rate_hz: int, low_hz: float, high_hz: float
) -> Samples:
    """Noise between two frequencies with skirts of about 12 dB an octave."""
    high_hz = max(high_hz, low_hz * 1.01)
    points = [(low_hz / 32, -60.0), (low_hz, 0.0), (high_hz, 0.0), (high_hz * 32, -60.0)]
    return shaped_noise(rng, count, rate_hz, points)


def phase_of(hz: Samples, rate_hz: int) -> Samples:
    """Running phase in radians of an oscillator whose frequency follows a curve."""
    return np.cumsum(hz) * (2 * np.pi / rate_hz)


def partials(hz: Samples, rate_hz: int, amplitudes: Sequence[float]) -> Samples:
    """Sum of harmonics of a moving fundamental; amplitude k belongs to harmonic k + 1."""
    turn = np.exp(1j * phase_of(hz, rate_hz))
    wheel = np.ones_like(turn)
    total = np.zeros(hz.size)
    highest = float(hz.max())
    for number, amplitude in enumerate(amplitudes, start=1):
        if number > 1 and number * highest > HIGHEST_SHARE * rate_hz:
            break
        wheel = wheel * turn
        if amplitude:
            total += amplitude * wheel.imag
    return total


def pulse_train(hz: Samples, rate_hz: int) -> Samples:
    """Band-limited impulse train (closed form of the sum of equal cosines) without its mean."""
    harmonics = max(1, int(HIGHEST_SHARE * rate_hz / float(hz.max())))
    half = phase_of(hz, rate_hz) / 2
    bottom = np.sin(half)
    close = np.abs(bottom) < 1e-7
    bottom[close] = 1.0
    kernel = np.sin((2 * harmonics + 1) * half) / bottom
    kernel[close] = 2 * harmonics + 1
    return (kernel - 1) / np.sqrt(2 * harmonics)


def soften(sound: Samples, rate_hz: int, corner_hz: float) -> Samples:
    """One-pole low-pass: minus 6 dB an octave above the corner."""
    pole = np.exp(-2 * np.pi * min(corner_hz, HIGHEST_SHARE * rate_hz) / rate_hz)
    return signal.lfilter([1 - pole], [1, -pole], sound)


def high_pass(sound: Samples, rate_hz: int, corner_hz: float) -> Samples:
    """Second-order Butterworth high-pass."""
    corner_hz = min(corner_hz, HIGHEST_SHARE * rate_hz)
    return signal.sosfilt(signal.butter(2, corner_hz, "high", fs=rate_hz, output="sos"), sound)


def voice_source(
    rng: np.random.Generator, hz: Samples, rate_hz: int, tilt_hz: float, breath: float
) -> Samples:
    """Glottal buzz with a little pitch jitter, tilted above ``tilt_hz``, plus breath noise."""
    shaken = hz * drift(rng, hz.size, rate_hz, 45.0, 0.985, 1.015)
    buzz = soften(pulse_train(shaken, rate_hz), rate_hz, tilt_hz)
    return buzz + breath * rng.standard_normal(hz.size)


def resonate(
    sound: Samples, rate_hz: int, resonances: Iterable[tuple[float, float, float]]
) -> Samples:
    """Parallel two-pole band-passes of (centre hertz, bandwidth hertz, peak gain)."""
    total = np.zeros(sound.size)
    for hz, bandwidth, gain in resonances:
        if hz > HIGHEST_SHARE * rate_hz:
            continue
        radius = np.exp(-np.pi * bandwidth / rate_hz)
        edge = gain * (1 - radius * radius) / 2
        poles = [1, -2 * radius * np.cos(2 * np.pi * hz / rate_hz), radius * radius]
        total += signal.lfilter([edge, 0, -edge], poles, sound)
    return total


def ring(rate_hz: int, seconds: float, modes: Iterable[tuple[float, float, float]]) -> Samples:
    """Struck body: damped sines of (hertz, amplitude, seconds to fall 60 dB)."""
    impulse = np.zeros(sample_count(seconds, rate_hz))
    impulse[0] = 1.0
    total = np.zeros(impulse.size)
    for hz, amplitude, fall_seconds in modes:
        if hz > HIGHEST_SHARE * rate_hz:
            continue
        radius = np.exp(-6.908 / (fall_seconds * rate_hz))
        angle = 2 * np.pi * hz / rate_hz
        poles = [1, -2 * radius * np.cos(angle), radius * radius]
        total += signal.lfilter([0, amplitude * radius * np.sin(angle)], poles, impulse)
    return total


def burst(
    rng: np.random.Generator, rate_hz: int, fall_seconds: float, low_hz: float, high_hz: float
) -> Samples:
    """Click of band noise that starts at once and falls 60 dB in ``fall_seconds``."""
    count = max(32, sample_count(fall_seconds, rate_hz))
    return band_noise(rng, count, rate_hz, low_hz, high_hz) * decay(count, rate_hz, fall_seconds)


def place(canvas: Samples, sound: Samples, at_seconds: float, rate_hz: int, gain: float) -> None:
    """Add a sound into the canvas in place; what lies past the end is cut off."""
    start = round(at_seconds * rate_hz)
    if 0 <= start < canvas.size:
        stop = min(canvas.size, start + sound.size)
        canvas[start:stop] += gain * sound[: stop - start]


def first_onset(rng: np.random.Generator, seconds: float) -> float:
    """Early start, so that even a short clip holds the event."""
    lead = min(0.02, 0.05 * seconds)
    return rng.uniform(lead, lead + min(0.2, 0.1 * seconds))


def repeat(
    rng: np.random.Generator,
    seconds: float,
    rate_hz: int,
    take: Callable[[], Samples],
    gap: tuple[float, float],
) -> Samples:
    """Takes of a sound one after another, with silences drawn from ``gap``, to the clip's end."""
    canvas = np.zeros(sample_count(seconds, rate_hz))
    at = first_onset(rng, seconds)
    while at < seconds:
        sound = take()
        place(canvas, sound, at, rate_hz, rng.uniform(0.75, 1.0))
        at += sound.size / rate_hz + rng.uniform(*gap)
    return canvas


def beat(
    rng: np.random.Generator,
    seconds: float,
    rate_hz: int,
    take: Callable[[], Samples],
    period: float,
    looseness: float,
) -> Samples:
    """Takes of a sound at a regular period; ``looseness`` is the timing error over the period."""
    canvas = np.zeros(sample_count(seconds, rate_hz))
    at = first_onset(rng, seconds)
    while at < seconds:
        place(canvas, take(), at, rate_hz, rng.uniform(0.7, 1.0))
        at += period * rng.uniform(1 - looseness, 1 + looseness)
    return canvas


def swarm(
    rng: np.random.Generator,
    canvas: Samples,
    rate_hz: int,
    grains: Sequence[Samples],
    per_second: float,
    spread_db: float,
) -> None:
    """Throw grains into the canvas in place at Poisson times with levels spread log-normally;
    at least one is thrown.
    """
    number = max(1, rng.poisson(per_second * canvas.size / rate_hz))
    starts = rng.integers(0, canvas.size, number)
    choices = rng.integers(0, len(grains), number)
    gains = 10 ** (rng.normal(0, spread_db, number) / 20)
    for start, choice, gain in zip(starts, choices, gains, strict=True):
        sound = grains[choice]
        stop = min(canvas.size, start + sound.size)
        canvas[start:stop] += gain * sound[: stop - start]


def room(
    rng: np.random.Generator, sound: Samples, rate_hz: int, fall_seconds: float, wet: float
) -> Samples:
    """Late reverberation: convolution with a softened, decaying noise.

    ``fall_seconds`` is the 60 dB decay time, ``wet`` the level of the tail against the dry sound.
    """
    count = sample_count(fall_seconds, rate_hz)
    tail = soften(rng.standard_normal(count), rate_hz, 3000.0)
    tail *= decay(count, rate_hz, fall_seconds)
    tail[: round(0.004 * rate_hz)] = 0
    tail *= wet / (np.sqrt(np.sum(tail**2)) + 1e-12)
    # Single precision halves the time of the transforms and is far below what one hears.
    wet_sound = signal.oaconvolve(sound.astype(np.float32), tail.astype(np.float32))
    return sound + wet_sound[: sound.size]


def with_air(rng: np.random.Generator, sound: Samples, rate_hz: int, below_db: float) -> Samples:
    """The sound over the faint noise of the open air or a quiet room.

    ``below_db`` is how far the power of that noise lies under the peak of the sound.
    """
    points = [(50, 0.0), (300, -6.0), (2000, -16.0), (10000, -30.0)]
    air = shaped_noise(rng, sound.size, rate_hz, points)
    return sound + air * (np.abs(sound).max() * 10 ** (-below_db / 20))
