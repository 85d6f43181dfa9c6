"""Whether relevance follows a change of speech that is asked for in other people's words.

Each instruction of recipes/change_words/phrasings.txt that asks for one of twelve changes, with
clips of two talkers: one changed as asked, one changed the opposite way or, where there is none,
in another, and one left as it was. Shares of pairs in which the first has more relevance.

Run by hand: python tests/performance/instructions.py [-c CHECKPOINT] [--data FOLDER]
FOLDER holds librispeech10/ (by default ../shared/data beside the project); three minutes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import soundfile
from results import keep
from scipy import signal

import auditeval
from auditeval.data.change_words.vocabulary import OPPOSITES
from auditeval.types import EditPair

sys.path.insert(0, str(Path(__file__).parents[2] / "recipes" / "change_words"))
sys.path.insert(0, str(Path(__file__).parents[1]))
from edited_clips import recordings
from phrasings import phrasings
from test_laws_of_changes import (
    RATE_HZ,
    driven,
    gained,
    muffled,
    noisy,
    paced,
    pitched,
    repeated,
    reverberant,
    telephone,
    trembling,
)

SHARED = Path(__file__).parents[3] / "shared" / "data"
TALKERS = 2


def thinned(x: np.ndarray) -> np.ndarray:
    return signal.sosfilt(signal.butter(2, 1500, "highpass", fs=RATE_HZ, output="sos"), x)


WAYS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "pitch_up": partial(pitched, semitones=4.0),
    "pitch_down": partial(pitched, semitones=-4.0),
    "faster": partial(paced, factor=1.4),
    "slower": partial(paced, factor=0.7),
    "louder": partial(gained, db=8.0),
    "softer": partial(gained, db=-8.0),
    "brighter": thinned,
    "duller": muffled,
    "more_reverb": reverberant,
    "echo": repeated,
    "narrow": telephone,
    "distorted": driven,
    "noisier": noisy,
    "tremolo": trembling,
}


def pairs(folder: Path, data: Path) -> Iterator[EditPair]:
    """Ids "CHANGE LIST NUMBER TALKER WAY", the way the change that was made or "untouched"."""
    folder.mkdir()
    clips = recordings(data / "librispeech10", "Someone speaks.", TALKERS)
    made = {"untouched": lambda x: x, **WAYS}
    for clip in clips:
        x = signal.resample_poly(clip.samples, 320, 441)
        for way, process in made.items():
            name = folder / f"{clip.name.replace(' ', '_')} {way}.wav"
            soundfile.write(name, process(x), RATE_HZ, subtype="FLOAT")
    for number, texts in phrasings().items():
        for place, (change, text) in enumerate(texts):
            for talker, clip in enumerate(clips) if change in WAYS else ():
                for way in (change, other(change), "untouched"):
                    name = clip.name.replace(" ", "_")
                    yield EditPair(
                        id=f"{change} {number} {place} {talker} {way}",
                        original=folder / f"{name} untouched.wav",
                        edited=folder / f"{name} {way}.wav",
                        original_caption=clip.caption,
                        target_caption=clip.caption,
                        instruction=text,
                    )


def other(change: str) -> str:
    """The opposite, where it is made here, or the next."""
    names = [*WAYS]
    opposite = OPPOSITES.get(change, "")
    return opposite if opposite in WAYS else names[(names.index(change) + 1) % len(names)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--checkpoint", "-c")
    parser.add_argument("--data", type=Path, default=SHARED)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        evaluator = auditeval.load(chosen.checkpoint, "cpu", folder / "cache", 2)
        asked = pairs(folder / "audio", chosen.data)
        scores = {tuple(row.id.rsplit(" ", 1)): row.relevance for row in evaluator.score(asked)}
    rows = []
    for change in (*WAYS, "all"):
        mine = [one for one, way in scores if way == one.split()[0] and change in (way, "all")]
        right = np.array([scores[one, one.split()[0]] for one in mine])
        wrong = np.array([scores[one, other(one.split()[0])] for one in mine])
        left = np.array([scores[one, "untouched"] for one in mine])
        rows.append(
            {
                "asked for": change,
                "instructions": len(mine) // TALKERS,
                "above the opposite or another": f"{np.mean(right > wrong):.2f}",
                "above the clip as it was": f"{np.mean(right > left):.2f}",
            }
        )
    keep("instructions", "Changes of speech asked for in other people's words", rows)


if __name__ == "__main__":
    main()
