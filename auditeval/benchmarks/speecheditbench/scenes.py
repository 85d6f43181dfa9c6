"""The scene behind the speech, from the probabilities of a tagger (SpeechEditBench, Table 12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from auditeval.backends.backend import Tags

Scene = Literal["outdoor", "crowd", "music"]

SCENES: Mapping[Scene, tuple[str, ...]] = {
    "outdoor": (
        "Outside, urban or manmade",
        "Outside, rural or natural",
        "Traffic noise, roadway noise",
        "Vehicle",
        "Motor vehicle (road)",
        "Wind",
        "Rain",
        "Bird",
        "Water",
    ),
    "crowd": (
        "Crowd",
        "Hubbub, speech noise, speech babble",
        "Cheering",
        "Applause",
        "Children shouting",
    ),
    "music": (
        "Music",
        "Background music",
        "Musical instrument",
        "Singing",
        "Pop music",
        "Electronic music",
    ),
}
"""AudioSet display names by scene: the benchmark's grouping (daxintan-cuhk/SpeechEditBench v1.1,
eval/metrics/acoustic_accuracy.py)."""

LEAST_SCORE, LEAST_GAIN = 0.10, 0.03
TOLERANCE = 1e-6


def scene_scores(tags: Tags) -> dict[Scene, float]:
    """The largest probability among the classes of each scene; of a class nobody tags it is 0.

    >>> scene_scores(Tags({"Rain": 0.7, "Music": 0.1}))
    {'outdoor': 0.7, 'crowd': 0.0, 'music': 0.1}
    """
    return {
        scene: max(tags.probabilities.get(name, 0.0) for name in names)
        for scene, names in SCENES.items()
    }


def scene_succeeds(
    source: Mapping[Scene, float], output: Mapping[Scene, float], target: Scene
) -> bool:
    """Whether the target leads in the output with at least 0.10, and gained at least 0.03.

    A tie for the lead is none.

    >>> before = {"outdoor": 0.05, "crowd": 0.0, "music": 0.1}
    >>> scene_succeeds(before, {**before, "outdoor": 0.7}, "outdoor")
    True
    """
    rivals = [score for scene, score in output.items() if scene != target]
    return (
        output[target] > max(rivals)
        and output[target] >= LEAST_SCORE - TOLERANCE
        and output[target] - source[target] >= LEAST_GAIN - TOLERANCE
    )
