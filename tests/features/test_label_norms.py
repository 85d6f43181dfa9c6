"""What edits show of each label, and how far a sound is above it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from auditeval.data.soundbank import synthesize
from auditeval.features import label_norms
from auditeval.features.extractors import yamnet
from auditeval.features.extractors.events import Events
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.types import UserError

RECIPE = Path(__file__).parents[2] / "recipes" / "label_norms" / "run.py"


@pytest.fixture(scope="module")
def events() -> Events:
    try:
        return Events()
    except UserError as error:
        pytest.skip(str(error))


def mel(samples: np.ndarray) -> np.ndarray:
    return Spectrum().encode_clip(samples.astype(np.float32)).frames["mel"].astype(np.float32)


def test_there_is_a_norm_for_each_label() -> None:
    norms = load_file(label_norms.NORMS)
    assert {name: x.shape for name, x in norms.items()} == dict.fromkeys(
        ("mean", "deviation"), (521,)
    )
    assert np.isfinite(norms["mean"]).all()
    assert (norms["deviation"] >= 0.3).all()


def test_a_label_counts_by_its_own_spread_and_no_further() -> None:
    norms = load_file(label_norms.NORMS)
    at = norms["mean"] + norms["deviation"] * np.linspace(-5, 5, 521, dtype=np.float32)
    found = label_norms.unusual(at)
    assert found == pytest.approx(np.clip(np.linspace(-5, 5, 521), -2, 4), abs=1e-4)


def test_another_table_begins_anew(events: Events, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_norms, "revision", lambda: "another")
    assert Events().revision != events.revision


def test_the_narrower_of_two_names_is_the_more_unusual(events: Events) -> None:
    """Of a bark YAMNet hears an animal above all, which it hears in much else."""
    rate, names = events.rate_hz, np.array(yamnet.labels())
    rain = 0.1 * synthesize("rain", 3, 4.0, rate)
    bark = np.pad(0.2 * synthesize("dog_bark", 8, 1.0, rate), (rate, 2 * rate))
    alone = events.hear_alone(mel(rain + bark), mel(rain), 0)
    assert names[alone.heard.argmax()] == "Domestic animals, pets"
    assert names[alone.unusual.argmax()] == "Bark"
    assert alone.unusual.max() > 2
    nothing = events.hear_alone(mel(rain), mel(rain + bark), 0)
    assert np.abs(nothing.unusual).max() < 0.1


@pytest.mark.parametrize(("level", "counts"), [(1.0, True), (0.05, False)])
def test_all_of_what_came_is_heard_but_for_what_is_faint(
    events: Events, level: float, counts: bool
) -> None:
    """A second sound beside the loudest, by how much of it there is."""
    rate = events.rate_hz
    silence, first, second = (np.zeros(6 * rate, np.float32) for _ in range(3))
    first[rate : 2 * rate] = 0.2 * synthesize("dog_bark", 2, 1.0, rate)
    second[4 * rate : 5 * rate] = 0.4 * level * synthesize("dog_bark", 7, 1.0, rate)
    both, one, other = (
        events.tag_alone(mel(clip), mel(silence), 0)[0] for clip in (first + second, first, second)
    )
    shares, *_ = np.linalg.lstsq(np.stack([one, other], axis=1), both, rcond=None)
    assert shares.sum() == pytest.approx(1, abs=0.1)
    assert (shares.min() > 0.1) == counts


def test_the_recipe_measures_edits() -> None:
    spec = importlib.util.spec_from_file_location("label_norms_recipe", RECIPE)
    assert spec is not None
    assert spec.loader is not None
    recipe = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recipe)
    found = np.stack(list(recipe.differences(2)))
    assert found.shape[1] == 521
    assert 4 <= len(found) <= 2 * 3 * 2  # what came and what went, of three edits of two scenes
    norms = load_file(label_norms.NORMS)
    correlation = np.corrcoef(found.mean(axis=0), norms["mean"])[0, 1]
    assert correlation > 0.8
