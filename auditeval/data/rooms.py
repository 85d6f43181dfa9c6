"""Impulse responses of rooms: from a folder, or of random shoebox rooms by pyroomacoustics."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import signal

from auditeval.data.recordings import decoded, read_recordings
from auditeval.types import UserError

SPEECH_BAND_HZ = (250.0, 3500.0)
"""Where reverberation times are taken; image sources add up to too much below it."""

LIVELINESS = (0.2, 1.2)
"""Reverberation times in seconds that `random_rooms` is spread over."""

_TOLERANCE = 0.05
_GEOMETRIES, _CORRECTIONS = 20, 6
_SHARE_OF_ORDER = 0.7
"""Of the reflections down to -60 dB; what is left out is 40 dB down and most of the work."""

_MARGIN_METRES = 0.3
_PAD_SECONDS = 0.05  # for the slopes of the band filter


class Room(NamedTuple):
    """`response` is float32 (N,), its peak 1; `origin` says where it comes from, as plain JSON."""

    response: np.ndarray
    origin: Mapping[str, object]


def read_rooms(path: Path, rate_hz: int) -> list[Room]:
    """The impulse responses of a folder or a CSV (see `read_recordings`)."""
    rooms = []
    for recording in read_recordings(path):
        found = decoded(recording, rate_hz)
        origin = {"path": recording.name, "sha256": found.sha256}
        rooms.append(Room(_unit(found.samples), origin))
    return rooms


def random_rooms(count: int, seed: int, rate_hz: int) -> list[Room]:
    """Seeded shoebox rooms, one in each of `count` equal steps of `LIVELINESS`."""
    edges = np.linspace(*LIVELINESS, count + 1)
    rooms = []
    for number, (low, high) in enumerate(pairwise(edges)):
        rng = np.random.default_rng([seed, number])
        rooms.append(shoebox(float(rng.uniform(low, high)), rng, rate_hz))
    return rooms


def _imported() -> Any:
    try:
        import pyroomacoustics
    except ImportError as error:
        raise UserError(
            f"pyroomacoustics cannot be imported here ({error}); give impulse responses of yours, "
            "or install it with pip install -c constraints.txt '.[bench]'"
        ) from None
    return pyroomacoustics


def shoebox(rt60_seconds: float, rng: np.random.Generator, rate_hz: int) -> Room:
    """A random room, talker and microphone in it, with that reverberation time within 5 %.

    Larger rooms ring longer. Absorption starts from Sabine's formula and is corrected by what the
    image sources give in the band of speech, from -5 to -25 dB. Raises UserError for a time that
    no such room has.
    """
    pyroomacoustics = _imported()

    threads = pyroomacoustics.constants.get("num_threads")
    # Sums over image sources depend on how many threads share them.
    pyroomacoustics.constants.set("num_threads", 1)
    try:
        for _ in range(_GEOMETRIES):
            side = 1.2 + 11 * rt60_seconds
            size = np.round(
                [*(side * rng.uniform(0.8, 1.2, 2)), 2.2 + 0.4 * side * rng.random()], 3
            )
            places = np.round(rng.uniform(_MARGIN_METRES, size - _MARGIN_METRES, (2, 3)), 3)
            if (room := _absorbing(rt60_seconds, size, places, rate_hz)) is not None:
                return room
    finally:
        pyroomacoustics.constants.set("num_threads", threads)
    raise UserError(
        f"no room of about {side:.2g} m has a reverberation time of {rt60_seconds:.3g} s"
    )


def speech_band(response: np.ndarray, rate_hz: int) -> np.ndarray:
    """The response in `SPEECH_BAND_HZ`, from its direct sound on."""
    top = min(SPEECH_BAND_HZ[1], 0.45 * rate_hz)
    band = signal.butter(4, (SPEECH_BAND_HZ[0], top), "bandpass", fs=rate_hz, output="sos")
    padded = np.pad(np.asarray(response, np.float64), round(_PAD_SECONDS * rate_hz))
    heard = signal.sosfiltfilt(band, padded)
    return heard[int(np.argmax(np.abs(heard))) :]


def _absorbing(
    rt60_seconds: float, size: np.ndarray, places: np.ndarray, rate_hz: int
) -> Room | None:
    """The room with the absorption that it takes; None where there is none, up to 1."""
    pyroomacoustics = _imported()
    from pyroomacoustics.experimental import measure_rt60

    sabine = rt60_seconds
    for _ in range(_CORRECTIONS):
        try:
            absorption, whole = pyroomacoustics.inverse_sabine(sabine, size)
        except ValueError:
            return None
        order = round(_SHARE_OF_ORDER * whole)
        material = pyroomacoustics.Material(absorption)
        room = pyroomacoustics.ShoeBox(size, fs=rate_hz, materials=material, max_order=order)
        room.add_source(places[0])
        room.add_microphone(places[1])
        room.compute_rir()
        response = room.rir[0][0]
        measured = measure_rt60(speech_band(response, rate_hz), rate_hz, decay_db=20)
        if abs(measured / rt60_seconds - 1) <= _TOLERANCE:
            origin = {
                "size_metres": size.tolist(),
                "talker_metres": places[0].tolist(),
                "microphone_metres": places[1].tolist(),
                "absorption": round(float(absorption), 6),
                "max_order": order,
            }
            return Room(_unit(response), origin)
        sabine *= rt60_seconds / measured
    return None


def _unit(response: np.ndarray) -> np.ndarray:
    """From the direct sound on, which is 1."""
    direct = int(np.argmax(np.abs(response)))
    return (response[direct:] / response[direct]).astype(np.float32)
