"""Laws about changes of how a sound sounds, by processors and in words that nothing was trained on.

Talkers are of VCTK and TSP. Pitch and pace are changed by librosa, effects are written here, and so
are the instructions. `pytest tests/test_laws_of_changes.py --evaluator CHECKPOINT --trials 16 -s`
prints shares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import librosa
import numpy as np
import pytest
import soundfile
from scipy import signal

import auditeval
from auditeval.audio import decode, resample
from auditeval.scoring import Evaluator
from auditeval.types import AXES, EditPair, Scores

RATE_HZ = 32000
SECONDS = 4.0
Process = Callable[..., np.ndarray]


class Way(NamedTuple):
    """A change, its right amount, half and double of it, the opposite; and words for both ways."""

    make: Process
    amount: float
    half: float
    double: float
    opposite: float | None
    asked: Sequence[str]
    otherwise: Sequence[str]
    told: Sequence[str] = ()


def pitched(x: np.ndarray, semitones: float) -> np.ndarray:
    return librosa.effects.pitch_shift(x, sr=RATE_HZ, n_steps=semitones)


def paced(x: np.ndarray, factor: float) -> np.ndarray:
    return librosa.effects.time_stretch(x, rate=factor)


def gained(x: np.ndarray, db: float) -> np.ndarray:
    return x * 10 ** (db / 20)


AMOUNTS = {
    "pitch": Way(
        *(pitched, 4.0, 2.0, 8.0, -4.0),
        ("Raise the pitch of the voice.", "Make the speaker sound higher pitched."),
        ("Lower the pitch of the voice.", "Make the speaker sound lower pitched."),
        ("Shift the pitch up by four semitones.",),
    ),
    "pace": Way(
        *(paced, 1.5, 1.22, 2.25, 0.67),
        ("Make the person talk faster.", "Speed up the speech."),
        ("Make the person talk slower.", "Slow down the speech."),
        ("Speed it up to 1.5 times as fast.",),
    ),
    "level": Way(
        *(gained, 8.0, 4.0, 16.0, -8.0),
        ("Make it louder.", "Turn up the volume of the voice."),
        ("Make it quieter.", "Turn down the volume of the voice."),
        ("Make it louder by 8 dB.",),
    ),
}


def delayed(b: Sequence[float], a: Sequence[float], seconds: float, x: np.ndarray) -> np.ndarray:
    """A filter in powers of a delay: as many interleaved ones as it has samples."""
    delay = round(seconds * RATE_HZ)
    rows = np.pad(x, (0, -len(x) % delay)).reshape(-1, delay)
    return signal.lfilter(b, a, rows, axis=0).ravel()[: len(x)]


def reverberant(x: np.ndarray) -> np.ndarray:
    """Four combs and two all-passes [Schroeder 1962]."""
    wet = np.zeros_like(x)
    for seconds, gain in ((0.0297, 0.85), (0.0371, 0.83), (0.0411, 0.82), (0.0437, 0.80)):
        wet += delayed([1.0], [1.0, -gain], seconds, x)
    for seconds in (0.005, 0.0017):
        wet = delayed([-0.7, 1.0], [1.0, -0.7], seconds, wet)
    return x + 0.35 * wet


def repeated(x: np.ndarray) -> np.ndarray:
    made, delay = x.copy(), round(0.33 * RATE_HZ)
    for count, gain in ((1, 0.6), (2, 0.36), (3, 0.2)):
        made[count * delay :] += gain * x[: -count * delay]
    return made


def telephone(x: np.ndarray) -> np.ndarray:
    spectrum, hz = np.fft.rfft(x), np.fft.rfftfreq(len(x), 1 / RATE_HZ)
    spectrum[(hz < 350) | (hz > 3300)] = 0
    return np.fft.irfft(spectrum, len(x))


def muffled(x: np.ndarray) -> np.ndarray:
    return signal.sosfilt(signal.butter(3, 1300, fs=RATE_HZ, output="sos"), x)


def driven(x: np.ndarray) -> np.ndarray:
    limit = 0.25 * np.sqrt(np.mean(x**2))
    return 3 * np.clip(x, -limit, limit)


def noisy(x: np.ndarray) -> np.ndarray:
    noise = np.cumsum(np.random.default_rng(0).standard_normal(len(x)))
    noise = signal.lfilter([1, -1], [1, -0.98], noise)
    return x + noise / noise.std() * 0.18 * x.std()


def trembling(x: np.ndarray) -> np.ndarray:
    return x * (0.6 + 0.4 * signal.sawtooth(2 * np.pi * 6 * np.arange(len(x)) / RATE_HZ, 0.5))


EFFECTS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], str]] = {
    "reverb": (reverberant, "Make it sound as if it was spoken in a large church."),
    "echo": (repeated, "Add an echo to the voice."),
    "telephone": (telephone, "Make it sound like a phone call."),
    "muffled": (muffled, "Make the voice muffled, as if it came through a wall."),
    "distortion": (driven, "Distort the voice with heavy overdrive."),
    "noise": (noisy, "Add background hiss to the recording."),
    "tremolo": (trembling, "Apply a tremolo effect."),
}
BROKEN: dict[str, tuple[Process, str]] = {
    "reverb": (reverberant, "Take away the reverb."),
    "distortion": (driven, "Remove the distortion."),
    "noise": (noisy, "Get rid of the hiss."),
}
PARAPHRASES = (
    *("Raise the pitch of the voice.", "Make the voice higher.", "Pitch the voice up."),
    *("Increase the pitch of the speaker.", "Let the speaker talk in a higher pitch."),
    *("Shift the voice to a higher pitch.", "Could you make her voice sound higher?"),
    *("The voice should be higher pitched.", "Turn the pitch of the speech up."),
    "Change the voice so that its pitch is higher.",
)


@pytest.fixture(scope="module")
def evaluator(request: pytest.FixtureRequest, cache_dir: Path) -> Evaluator:
    found = auditeval.load(request.config.getoption("--evaluator"))
    if "changes" not in found.store.encoder.extractors:
        pytest.skip("the evaluator has not learnt what words for changes mean")
    return found


def untouched(x: np.ndarray) -> np.ndarray:
    return x


class Bench:
    """Scores edits of talkers by name, each talker's original being the same."""

    def __init__(self, evaluator: Evaluator, talkers: Sequence[np.ndarray], folder: Path) -> None:
        self.evaluator, self.talkers, self.folder = evaluator, talkers, folder
        self.pairs: dict[tuple[str, int], EditPair] = {}
        self.files: dict[tuple[object, ...], list[Path]] = {}

    def made(self, process: Callable[..., np.ndarray], *amount: float) -> list[Path]:
        """Of each talker's clip, written once: an edit is scored under several instructions."""
        if (process, *amount) not in self.files:
            paths = [self.folder / f"{len(self.files)} {n}.wav" for n in range(len(self.talkers))]
            for path, voice in zip(paths, self.talkers, strict=True):
                soundfile.write(path, process(voice, *amount), RATE_HZ, "FLOAT")
            self.files[(process, *amount)] = paths
        return self.files[(process, *amount)]

    def add(
        self,
        name: str,
        instruction: str | None,
        process: Callable[..., np.ndarray],
        *amount: float,
        given: Callable[..., np.ndarray] = untouched,
    ) -> None:
        both = zip(self.made(given), self.made(process, *amount), strict=True)
        for number, (original, edited) in enumerate(both):
            self.pairs[name, number] = EditPair(
                id=f"{name} {number}",
                original=original,
                edited=edited,
                original_caption="A person speaks.",
                target_caption="A person speaks.",
                instruction=instruction,
            )

    def score(self) -> dict[str, list[Scores]]:
        rows = self.evaluator.score(list(self.pairs.values()))
        assert all(row.status == "ok" for row in rows), [row.reason for row in rows]
        found: dict[str, list[Scores]] = {}
        for (name, _), row in zip(self.pairs, rows, strict=True):
            found.setdefault(name, []).append(row)
        return found


@pytest.fixture(scope="module")
def bench(
    evaluator: Evaluator, shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[int], Bench]:
    """Of so many talkers."""

    def of(talkers: int) -> Bench:
        paths = sorted((shared_data / "neural_codecs" / "audio").glob("*/ref.wav"))[:talkers]
        voices = [resample(decode(path), RATE_HZ)[: round(SECONDS * RATE_HZ)] for path in paths]
        voices = [0.08 * x / np.sqrt(np.mean(np.square(x))) for x in voices]
        return Bench(evaluator, voices, tmp_path_factory.mktemp("changes"))

    return of


@pytest.fixture(scope="module")
def scored(bench: Callable[[int], Bench], trials: int) -> dict[str, list[Scores]]:
    rng, made = np.random.default_rng(0), bench(trials)
    for name, way in AMOUNTS.items():
        for number, (asked, otherwise) in enumerate(zip(way.asked, way.otherwise, strict=True)):
            made.add(f"{name} right {number}", asked, way.make, way.amount)
            made.add(f"{name} misnamed {number}", otherwise, way.make, way.amount)
            made.add(f"{name} untouched {number}", asked, untouched)
        for said, amount in (("told", way.amount), ("half", way.half), ("double", way.double)):
            made.add(f"{name} {said}", way.told[0], way.make, amount)

        def damaged(x: np.ndarray, way: Way = way) -> np.ndarray:
            changed = way.make(x, way.amount)
            return changed + 0.2 * changed.std() * rng.standard_normal(len(changed))

        made.add(f"{name} damaged", way.asked[0], damaged)
    for asked, (_, instruction) in EFFECTS.items():
        for done, (make, _) in EFFECTS.items():
            made.add(f"{asked} by {done}", instruction, make)
    return made.score()


def share(better: Sequence[Scores], worse: Sequence[Scores], axis: str = "relevance") -> float:
    pairs = zip(better, worse, strict=True)
    return float(np.mean([getattr(a, axis) > getattr(b, axis) for a, b in pairs]))


@pytest.mark.parametrize("kind", AMOUNTS)
def test_direction_and_amount(
    kind: str, scored: dict[str, list[Scores]], told: Callable[..., None]
) -> None:
    right = [row for n in (0, 1) for row in scored[f"{kind} right {n}"]]
    misnamed = [row for n in (0, 1) for row in scored[f"{kind} misnamed {n}"]]
    untouched = [row for n in (0, 1) for row in scored[f"{kind} untouched {n}"]]
    asked = scored[f"{kind} told"]
    found = {
        "opposite instruction": (share(right, misnamed), 0.95),
        "untouched": (share(right, untouched), 1.0),
        "half": (share(asked, scored[f"{kind} half"]), 0.8),
        "double": (share(asked, scored[f"{kind} double"]), 0.8),
    }
    for other, (above, wanted) in found.items():
        told(f"{kind}: right above {other}", above, len(asked), f"{wanted:.2f}")
    assert all(above >= wanted for above, wanted in found.values())


@pytest.mark.parametrize("kind", AMOUNTS)
def test_a_change_with_the_rest_damaged_is_less_faithful(
    kind: str, scored: dict[str, list[Scores]], told: Callable[..., None]
) -> None:
    right, damaged = scored[f"{kind} right 0"], scored[f"{kind} damaged"]
    found = share(right, damaged, "faithfulness")
    told(f"{kind}: right above damaged in faithfulness", found, len(right), "0.95")
    assert found >= 0.95


def test_an_effect_is_told_from_others(
    scored: dict[str, list[Scores]], told: Callable[..., None], trials: int
) -> None:
    shares = {
        asked: np.mean(
            [
                share(scored[f"{asked} by {asked}"], scored[f"{asked} by {done}"])
                for done in EFFECTS
                if done != asked
            ]
        )
        for asked in EFFECTS
    }
    for name, above in shares.items():
        told(f"{name}: right effect above others", above, trials * (len(EFFECTS) - 1))
    together = float(np.mean(list(shares.values())))
    told(
        "all effects: right above others",
        together,
        trials * len(EFFECTS) * (len(EFFECTS) - 1),
        "0.90",
    )
    assert together >= 0.9


def test_paraphrases_say_the_same(
    bench: Callable[[int], Bench], told: Callable[..., None], trials: int
) -> None:
    """Of eight talkers at least: a median of fewer says little."""
    made = bench(max(trials, 8))
    for number, instruction in enumerate(PARAPHRASES):
        made.add(f"{number}", instruction, pitched, 4.0)
    by_words = [[row.relevance for row in rows] for rows in made.score().values()]
    spread = float(np.median(np.std(by_words, axis=0)))
    law = "ten paraphrases: median standard deviation in points of relevance"
    told(law, spread, max(trials, 8), "below 0.25")
    assert spread < 0.25


@pytest.fixture(scope="module")
def mended(bench: Callable[[int], Bench], trials: int) -> dict[str, list[Scores]]:
    made = bench(trials)
    for kind, (broken, instruction) in BROKEN.items():

        def still_worse(x: np.ndarray, broken: Process = broken) -> np.ndarray:
            return driven(broken(x))

        for asked, words in (("asked", instruction), ("unasked", None)):
            made.add(f"{kind} mended {asked}", words, untouched, given=broken)
            made.add(f"{kind} left {asked}", words, broken, given=broken)
            made.add(f"{kind} worse {asked}", words, still_worse, given=broken)
        made.add(f"{kind} reversed", instruction, np.flip, given=broken)
    return made.score()


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_clip_is_better_mended_than_left(
    kind: str, axis: str, mended: dict[str, list[Scores]], told: Callable[..., None], trials: int
) -> None:
    """As was asked; and is more faithful than another."""
    other = "reversed" if axis == "faithfulness" else "left asked"
    found = share(mended[f"{kind} mended asked"], mended[f"{kind} {other}"], axis)
    law = f"{kind}: mended as asked above {other.removesuffix(' asked')} in {axis}"
    told(law, found, trials, "0.90")
    assert found >= 0.9


@pytest.mark.parametrize("kind", BROKEN)
def test_where_nobody_asked_a_mended_clip_is_better_than_one_made_worse(
    kind: str,
    mended: dict[str, list[Scores]],
    told: Callable[..., None],
    trials: int,
) -> None:
    unasked, worse = (mended[f"{kind} {name} unasked"] for name in ("mended", "worse"))
    found = share(unasked, worse, "quality")
    told(f"{kind}: mended unasked above worse in quality", found, trials, "0.90")
    assert found >= 0.9
