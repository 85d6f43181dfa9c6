"""regeneration: silent where a clip was only damaged; of one made anew, how it sounds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import signal

from auditeval.data.soundbank import synthesize
from auditeval.features.alignment import REGIONS, align
from auditeval.features.extractors.regeneration import Regeneration, shared_fluctuation
from auditeval.features.extractors.spectrum import Spectrum

RATE_HZ = Spectrum.rate_hz
SECONDS = 3.0


def take(name: str, seed: int) -> np.ndarray:
    return 0.2 * synthesize(name, seed, SECONDS, RATE_HZ)


def compared(original: np.ndarray, edited: np.ndarray) -> dict[str, float]:
    frames = (Spectrum().encode_clip(np.float32(x)).frames["mel"] for x in (original, edited))
    row = Regeneration().compare({}, {}, align(*frames))
    return dict(zip(Regeneration.alignment, row.tolist(), strict=True))


def noisy(x: np.ndarray, snr_db: float = 15.0) -> np.ndarray:
    noise = np.random.default_rng(0).standard_normal(len(x))
    return x + noise * x.std() * 10 ** (-snr_db / 20)


def dull(x: np.ndarray) -> np.ndarray:
    return signal.sosfiltfilt(signal.butter(6, 2500, fs=RATE_HZ, output="sos"), x)


DAMAGE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "none": lambda x: x,
    "noise": noisy,
    "a low-pass": dull,
    "clipping": lambda x: np.clip(x, -np.abs(x).max() / 8, np.abs(x).max() / 8),
    "a level": lambda x: 0.2 * x,
    "a delay": lambda x: np.pad(x, (2400, 0)),
    "a second lost": lambda x: np.where(np.arange(len(x)) < 2 * RATE_HZ, x, 0.0),
    "something that came": lambda x: x + 2 * np.pad(take("siren", 1)[RATE_HZ:], (RATE_HZ, 0)),
}
SOUNDS = ("rain", "speech", "dog_bark", "wind")


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("sound", SOUNDS)
def test_of_a_damaged_clip_it_says_nothing(sound: str, damage: str) -> None:
    clip = take(sound, 1)
    assert set(compared(clip, DAMAGE[damage](clip)).values()) == {0.0}


@pytest.mark.parametrize("sound", ["rain", "wind"])
def test_what_was_lost_was_not_made_anew(sound: str) -> None:
    """However much it is, and though what is left correlates with hardly anything of the whole."""
    clip = take(sound, 1)
    left = np.where(np.arange(len(clip)) < 0.1 * len(clip), clip, 0.0)
    assert set(compared(clip, left).values()) == {0.0}


@pytest.mark.parametrize("damage", [name for name in DAMAGE if name != "something that came"])
@pytest.mark.parametrize("sound", ["rain", "wind", "siren"])
def test_of_another_take_it_knows_whatever_came_on_top(sound: str, damage: str) -> None:
    assert compared(take(sound, 1), DAMAGE[damage](take(sound, 2)))["regenerated"] == 1.0


@pytest.mark.parametrize("sound", ["cat_meow", "rooster_crow"])
def test_how_another_take_sounds_does_not_depend_on_what_stands_where(sound: str) -> None:
    original, anew = take(sound, 1), take(sound, 2)
    clean, muffled, hissing = (compared(original, x) for x in (anew, dull(anew), noisy(anew)))
    assert muffled["bandwidth_down"] > clean["bandwidth_down"] + 1
    assert muffled["bandwidth"] < clean["bandwidth"] - 1
    for region in ("high", "top"):
        risen, before = (x[f"bed_{region}_up"] - x[f"bed_{region}_down"] for x in (hissing, clean))
        assert risen > before + 1
        assert hissing[f"bed_{region}"] > clean[f"bed_{region}"] + 1


def test_what_a_band_does_is_what_neither_its_region_nor_a_third_of_a_second_does() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(-30, 6, (120, 64)).astype(np.float32)
    y = (x + rng.normal(0, 6, x.shape)).astype(np.float32)
    padded = (np.pad(z, ((15, 15), (0, 0)), mode="edge") for z in (x, y))
    own = [z[15:-15] - np.stack([z[t : t + 31].mean(axis=0) for t in range(120)]) for z in padded]
    by_region = []
    for bands in REGIONS.values():
        first, second = (z[:, bands] - z[:, bands].mean(axis=1, keepdims=True) for z in own)
        power = (first**2).sum() * (second**2).sum()
        by_region.append((first * second).sum() / np.sqrt(power))
    assert shared_fluctuation(x, y) == pytest.approx(max(by_region), abs=1e-4)


@pytest.mark.parametrize("still", ["silence", "a tone"])
def test_of_what_does_nothing_all_is_shared(still: str) -> None:
    tone = np.sin(2 * np.pi * 440 * np.arange(round(SECONDS * RATE_HZ)) / RATE_HZ)
    clip = 0.1 * tone if still == "a tone" else 0.0 * tone
    assert set(compared(clip, clip).values()) == {0.0}
    assert set(compared(clip, 0.5 * clip).values()) == {0.0}


def test_it_needs_aligned_clips_and_encodes_none() -> None:
    assert not Regeneration().compare({}, {}, None).any()
    assert Regeneration.dim == 0
