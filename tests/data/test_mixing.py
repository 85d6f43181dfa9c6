"""Laws of mixing, and the paper's Table 4 written out a second time."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from auditeval.data import mixing

RATE_HZ = 1000

# arXiv:2508.11966, Appendix B, Table 4: percent and sentence for B before, during and after A.
TABLE_4 = {
    1.0: {
        "Bell, rain.": 30,
        "Bell, followed by rain.": 20,
        "Bell, then rain.": 20,
        "With bell, rain.": 10,
        "Bell, and rain.": 10,
        "After bell, rain.": 5,
        "Bell before rain.": 5,
    },
    5.0: {
        "Rain, with bell.": 30,
        "Rain, while bell.": 30,
        "Rain, bell.": 20,
        "Rain, and bell.": 20,
    },
    9.0: {
        "Rain, bell.": 30,
        "Rain, followed by bell.": 20,
        "Rain, then bell.": 20,
        "Rain, with bell.": 10,
        "Rain, and bell.": 10,
        "After rain, bell.": 5,
        "Rain before bell.": 5,
    },
}
DRAWS = 4000


def drawn(centre_seconds: float, clip_seconds: float, draws: int = DRAWS) -> Counter[str]:
    rng = np.random.default_rng(0)
    return Counter(
        mixing.mix_caption("rain", "bell", centre_seconds, clip_seconds, rng) for _ in range(draws)
    )


@pytest.mark.parametrize("centre", TABLE_4)
def test_captions_follow_table_4(centre: float) -> None:
    found = drawn(centre, 10.0)
    assert set(found) == set(TABLE_4[centre])
    for caption, percent in TABLE_4[centre].items():
        share = percent / 100
        spread = np.sqrt(share * (1 - share) / DRAWS)
        assert found[caption] / DRAWS == pytest.approx(share, abs=4.5 * spread), caption


@pytest.mark.parametrize("clip_seconds", [1.5, 5.0, 10.0])
@pytest.mark.parametrize(
    ("share", "like"), [(0.299, 1.0), (0.301, 5.0), (0.5, 5.0), (0.699, 5.0), (0.701, 9.0)]
)
def test_split_points_are_shares_of_the_clip(
    clip_seconds: float, share: float, like: float
) -> None:
    assert set(drawn(share * clip_seconds, clip_seconds, 400)) == set(TABLE_4[like])


@pytest.mark.parametrize("length", [1, 99, 100, 101, 350, 1000])
def test_the_quietest_start_is_that_of_a_search_over_all_starts(length: int) -> None:
    rng = np.random.default_rng(length)
    for _ in range(20):
        # Whole numbers: sums are exact, and ties are real ties.
        background = rng.integers(-5, 6, 1000).astype(np.float32)
        starts = range(0, len(background) - length + 1, 100)  # 0.1 s
        energies = [float(np.square(background[s : s + length]).sum()) for s in starts]
        expected = starts[energies.index(min(energies))]
        assert mixing.quietest_start(background, length, RATE_HZ) == expected


def test_a_gap_is_found_in_float_noise() -> None:
    background = np.random.default_rng(0).standard_normal(48000 * 5).astype(np.float32)
    background[48000 * 3 : 48000 * 4] *= 0.01
    assert mixing.quietest_start(background, 48000, 48000) == 48000 * 3


def test_an_event_that_is_longer_than_the_background_is_refused() -> None:
    with pytest.raises(ValueError, match="a window of 11 does not fit into 10"):
        mixing.quietest_start(np.zeros(10), 11, RATE_HZ)


def test_placing_moves_the_event_and_adds_nothing() -> None:
    event = np.random.default_rng(0).standard_normal(30).astype(np.float32)
    for start in (0, 7, 70):
        clip = mixing.place(event, start, 100)
        assert np.array_equal(clip[start : start + 30], event)
        assert np.count_nonzero(clip) == np.count_nonzero(event)


@pytest.mark.parametrize("words", ["rain falls", "Rain falls", "rain falls.", "rain falls..."])
def test_a_sentence_has_one_capital_and_one_full_stop(words: str) -> None:
    assert mixing.sentence(words) == "Rain falls."
    assert mixing.sentence(mixing.sentence(words)) == "Rain falls."


@pytest.mark.parametrize(
    ("caption", "within"),
    [
        ("A dog barks.", "a dog barks"),
        ("Constant rattling ", "constant rattling"),
        ("TV static", "TV static"),
        ("I speak", "I speak"),
        ("rain {b}", "rain {b}"),
        ("Élan", "Élan"),
    ],
)
def test_a_caption_joins_a_sentence(caption: str, within: str) -> None:
    worded = {
        mixing.mix_caption(caption, "a bell", 5.0, 10.0, np.random.default_rng(seed))
        for seed in range(20)
    }
    starts = within[0].upper() + within[1:]
    assert worded == {f"{starts}{tail} a bell." for tail in (", with", ", while", ",", ", and")}
