"""Laws about what real processors leave, on what an evaluator was not trained on.

Separators that no simulated edit was made with (HPSS and NMF), talkers of VCTK and TSP, roosters
and the sea. `pytest tests/test_laws_of_processors.py --evaluator CHECKPOINT --trials 40 -s` prints
shares. Nothing is asked without --evaluator: it takes a minute.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import edited_clips
import numpy as np
import pytest
from edited_clips import Edit, Saved, pairs, recordings
from other_effects import OTHER_EFFECTS
from scipy.stats import spearmanr
from spoken import say

import auditeval
from auditeval.audio import Waveform, decode, resample
from auditeval.data.simulation import effects
from auditeval.data.simulation.processors import Processors
from auditeval.data.simulation.separation import HEARD, MASKS, separate
from auditeval.data.simulation.signals import RATE_HZ, active_rms, decibels
from auditeval.scoring import Evaluator
from auditeval.types import AXES, Scores

UNHEARD = sorted({*MASKS} - {*HEARD})
RESIDUES_DB, ARTEFACTS_DB = (30.0, 20.0, 12.0, 4.0), (28.0, 20.0, 12.0, 4.0)
SECONDS = 4.0
Make = Callable[[np.ndarray, float, np.random.Generator], np.ndarray]


@pytest.fixture(scope="module")
def evaluator(request: pytest.FixtureRequest, cache_dir: Path) -> Evaluator:
    checkpoint = request.config.getoption("--evaluator")
    if checkpoint is None:
        pytest.skip("--evaluator names none")
    return auditeval.load(checkpoint)


@pytest.fixture(scope="module")
def talkers(shared_data: Path, trials: int) -> list[np.ndarray]:
    """Clean speech :: float (N,) at RATE_HZ, of talkers in no simulated edit."""
    found = sorted((shared_data / "neural_codecs" / "audio").glob("*/ref.wav"))[:trials]
    return [levelled(read(path)) for path in found]


@pytest.fixture(scope="module")
def sounds(shared_data: Path, trials: int) -> list[np.ndarray]:
    esc10 = shared_data / "esc10"
    clips = [
        clip
        for kind in ("sea_waves", "rooster")
        for clip in recordings(esc10 / kind, "A sound.", trials)
    ]
    rate_hz = edited_clips.RATE_HZ
    return [
        levelled(resample(Waveform(clip.samples.astype(np.float32), rate_hz), RATE_HZ))
        for clip in clips
    ]


def read(path: Path) -> np.ndarray:
    return resample(decode(path), RATE_HZ)


def levelled(x: np.ndarray) -> np.ndarray:
    x = np.asarray(x, np.float64)[: round(SECONDS * RATE_HZ)]
    return 0.05 * x / active_rms(x)


def score(evaluator: Evaluator, folder: Path, edits: dict[str, Edit]) -> dict[str, Scores]:
    rows = evaluator.score(pairs(folder, edits))
    assert all(row.status == "ok" for row in rows), [row.reason for row in rows]
    return dict(zip(edits, rows, strict=True))


def saved(x: np.ndarray) -> Saved:
    return Saved(x.astype(np.float32), RATE_HZ)


def mixtures(
    talkers: list[np.ndarray], sounds: list[np.ndarray], trials: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """A voice to keep and a sound to take away, equally loud, for each trial."""
    made = []
    for trial in range(trials):
        voice, sound = talkers[trial % len(talkers)], sounds[trial % len(sounds)]
        made.append((voice, np.resize(sound, len(voice))))
    return made


def removed(mixture: np.ndarray, left: np.ndarray) -> Edit:
    captions = "Somebody talks amid a racket.", "Somebody talks."  # as no simulated edit says it
    return Edit(saved(mixture), saved(left), *captions)


@pytest.fixture(scope="module")
def removals(
    evaluator: Evaluator,
    talkers: list[np.ndarray],
    sounds: list[np.ndarray],
    trials: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Scores]:
    """By "trial variant": the true voice, separators unheard of, and ladders of one part alone."""
    edits: dict[str, Edit] = {}
    for trial, (voice, sound) in enumerate(mixtures(talkers, sounds, trials)):
        mixture = voice + sound
        edits[f"{trial} true"] = removed(mixture, voice)
        for method in UNHEARD:
            parts = separate(voice, sound, method, np.random.default_rng(trial))
            edits[f"{trial} {method}"] = removed(mixture, sum(parts))
        for db in RESIDUES_DB:
            edits[f"{trial} residue {db:g}"] = removed(mixture, voice + sound * decibels(-db))
        wrong = parts.artefacts * (active_rms(voice) / active_rms(parts.artefacts))
        for db in ARTEFACTS_DB:
            left = voice + sound * decibels(-20.0) + wrong * decibels(-db)
            edits[f"{trial} artefacts {db:g}"] = removed(mixture, left)
    return score(evaluator, tmp_path_factory.mktemp("removals"), edits)


def test_the_true_voice_is_better_than_what_separators_leave(
    removals: dict[str, Scores], told: Callable[..., None], trials: int
) -> None:
    """By all axes together. In quality alone a timid one, which leaves much and hurts nothing, may
    be as good: what is left is a matter of relevance."""

    def above(of: Callable[[Scores], float]) -> float:
        best = [max(of(removals[f"{n} {method}"]) for method in UNHEARD) for n in range(trials)]
        return float(np.mean([of(removals[f"{n} true"]) > best[n] for n in range(trials)]))

    for axis in AXES:
        share = above(lambda row, axis=axis: row.ratings[axis])
        wanted = "0.95" if axis == "quality" else ""
        told(f"true voice above every separator in {axis}", share, trials, wanted)
    together = above(lambda row: sum(row.ratings.values()))
    told("true voice above every separator in all axes together", together, trials, "0.95")
    assert together >= 0.95


@pytest.mark.parametrize(
    ("axis", "part", "levels", "least"),
    [("relevance", "residue", RESIDUES_DB, 0.8), ("quality", "artefacts", ARTEFACTS_DB, 0.7)],
)
def test_each_part_of_a_removal_has_its_axis(
    removals: dict[str, Scores],
    told: Callable[..., None],
    trials: int,
    axis: str,
    part: str,
    levels: tuple[float, ...],
    least: float,
) -> None:
    orders = [
        spearmanr(levels, [getattr(removals[f"{n} {part} {db:g}"], axis) for db in levels])[0]
        for n in range(trials)
    ]
    told(
        f"SRCC of {axis} with the level of the {part}", float(np.mean(orders)), trials, f"{least}0"
    )
    assert np.mean(orders) >= least


@pytest.fixture(scope="module")
def voices(
    evaluator: Evaluator, talkers: list[np.ndarray], tmp_path_factory: pytest.TempPathFactory
) -> list[tuple[Scores, Scores]]:
    """Of each talker a vocoded original, and the same words by a synthesiser."""
    pytest.importorskip("pyworld")
    from auditeval.backends.transcribers import FasterWhisper

    world, transcriber = Processors({"world": True}), FasterWhisper()
    caption = "A person speaking."
    edits: dict[str, Edit] = {}
    for number, voice in enumerate(talkers):
        heard = transcriber(Waveform(voice.astype(np.float32), RATE_HZ))
        spoken = say(heard.text)
        again = levelled(resample(spoken, RATE_HZ))
        for name, made in (("vocoded", world.run("world", voice)), ("spoken", again)):
            edits[f"{number} {name}"] = Edit(saved(voice), saved(made), caption, caption)
    rated = score(evaluator, tmp_path_factory.mktemp("voices"), edits)
    return [(rated[f"{n} vocoded"], rated[f"{n} spoken"]) for n in range(len(talkers))]


@pytest.mark.parametrize(("axis", "least"), [("quality", 0.8), ("faithfulness", 0.95)])
def test_a_vocoded_voice_is_nearer_than_the_words_said_anew(
    voices: list[tuple[Scores, Scores]], told: Callable[..., None], axis: str, least: float
) -> None:
    nearer = [getattr(vocoded, axis) > getattr(spoken, axis) for vocoded, spoken in voices]
    law = f"vocoded voice above the words spoken anew in {axis}"
    told(law, float(np.mean(nearer)), len(nearer), f"{least:.2f}")
    assert np.mean(nearer) >= least


@pytest.fixture(scope="module")
def treated(
    evaluator: Evaluator,
    talkers: list[np.ndarray],
    sounds: list[np.ndarray],
    trials: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Scores]:
    """By "effect trial strength": beside the effect as it should be, another make of it."""
    edits: dict[str, Edit] = {}
    caption = "A sound with an effect."
    for effect in effects.EFFECTS:
        for trial in range(max(2, trials // 4)):
            dry = [*talkers, *sounds][trial * 5 % (len(talkers) + len(sounds))]
            ideal = saved(effects.apply(effect, dry, 1.0, seed=1))
            for strength in (0.5, 1.0, 2.0):
                made = saved(effects.apply(effect, dry, strength, seed=2))
                edits[f"{effect} {trial} {strength:g}"] = Edit(ideal, made, caption, caption)
    return score(evaluator, tmp_path_factory.mktemp("treated"), edits)


def test_an_effect_of_the_right_strength_is_the_most_faithful(
    treated: dict[str, Scores], told: Callable[..., None]
) -> None:
    shares = {}
    for effect in effects.EFFECTS:
        names = sorted({key.rsplit(" ", 1)[0] for key in treated if key.startswith(f"{effect} ")})
        shares[effect] = np.mean(
            [
                treated[f"{name} 1"].faithfulness > treated[f"{name} {wrong}"].faithfulness
                for name in names
                for wrong in ("0.5", "2")
            ]
        )
        law = f"{effect}: right strength above half and double in faithfulness"
        told(law, float(shares[effect]), 2 * len(names), "0.85")
    assert np.mean(list(shares.values())) >= 0.85, shares


def test_so_is_one_of_an_effect_by_another_hand(
    evaluator: Evaluator,
    talkers: list[np.ndarray],
    told: Callable[..., None],
    tmp_path: Path,
) -> None:
    """The simulation has the effects above; these it has not. Of talkers, in 4 s."""
    edits: dict[str, Edit] = {}
    caption = "A sound with an effect."
    for effect, make in OTHER_EFFECTS.items():
        for number, dry in enumerate(talkers):

            def clip(strength: float, seed: int, dry: np.ndarray = dry, make: Make = make) -> Saved:
                return saved(levelled(make(dry, strength, np.random.default_rng(seed))))

            ideal = clip(1.0, 2 * number)
            for strength in (0.5, 1.0, 2.0):
                made = clip(strength, 2 * number + 1)
                edits[f"{effect} {number} {strength:g}"] = Edit(ideal, made, caption, caption)
    rated = score(evaluator, tmp_path, edits)
    shares = {}
    for effect in OTHER_EFFECTS:
        right, *wrong = (
            np.array([rated[f"{effect} {n} {x}"].faithfulness for n in range(len(talkers))])
            for x in ("1", "0.5", "2")
        )
        shares[effect] = float(np.mean([right > x for x in wrong]))
        law = f"{effect} by another hand: right strength above half and double in faithfulness"
        told(law, shares[effect], 2 * len(talkers), "0.85")
    assert np.mean(list(shares.values())) >= 0.85, shares
