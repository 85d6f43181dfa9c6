"""Made rooms ring as long as they should, by our own fit, and are the same whenever made."""

from __future__ import annotations

import numpy as np
import pytest

from auditeval.audio import Waveform
from auditeval.data.rooms import LIVELINESS, random_rooms, shoebox, speech_band
from auditeval.metrics.reverberation import rt60
from auditeval.types import UserError

pytest.importorskip("pyroomacoustics")

RATE_HZ = 16000


@pytest.mark.parametrize("seconds", [0.12, 0.3, 0.7])
def test_the_reverberation_time_is_the_one_asked_for(seconds: float) -> None:
    room = shoebox(seconds, np.random.default_rng(1), RATE_HZ)
    assert rt60(Waveform(speech_band(room.response, RATE_HZ), RATE_HZ)) == pytest.approx(
        seconds, rel=0.1
    )
    assert room.response[0] == np.abs(room.response).max() == 1


def test_rooms_follow_from_the_seed_and_from_nothing_else() -> None:
    import pyroomacoustics

    first, again, other = (
        random_rooms(2, 1, 8000),
        random_rooms(2, 1, 8000),
        random_rooms(2, 2, 8000),
    )
    assert [r.response.tobytes() for r in first] == [r.response.tobytes() for r in again]
    assert all(
        a.response.tobytes() != b.response.tobytes() for a, b in zip(first, other, strict=True)
    )
    before = pyroomacoustics.constants.get("num_threads")
    pyroomacoustics.constants.set("num_threads", before + 1)
    try:
        threaded = shoebox(0.3, np.random.default_rng(0), 8000)
        assert pyroomacoustics.constants.get("num_threads") == before + 1
    finally:
        pyroomacoustics.constants.set("num_threads", before)
    alone = shoebox(0.3, np.random.default_rng(0), 8000)
    assert threaded.response.tobytes() == alone.response.tobytes()


def test_rooms_of_a_set_are_spread_from_dry_to_lively() -> None:
    times = [
        rt60(Waveform(speech_band(room.response, 8000), 8000)) for room in random_rooms(3, 3, 8000)
    ]
    assert times == sorted(times)  # type: ignore[type-var]
    steps = np.linspace(*LIVELINESS, 4)
    for time, low, high in zip(times, steps, steps[1:], strict=False):
        assert 0.9 * low <= time <= 1.1 * high  # type: ignore[operator]


def test_a_time_that_no_room_has_is_one_sentence() -> None:
    with pytest.raises(UserError, match=r"no room of about .* 0\.02 s"):
        shoebox(0.02, np.random.default_rng(0), RATE_HZ)
