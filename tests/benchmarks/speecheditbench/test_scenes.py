"""Scenes: grouped classes, a lead, and a gain over the source."""

from __future__ import annotations

import pytest

from auditeval.backends.backend import Tags
from auditeval.benchmarks.speecheditbench.scenes import SCENES, scene_scores, scene_succeeds
from auditeval.features.extractors.yamnet import labels

QUIET = {"outdoor": 0.0, "crowd": 0.0, "music": 0.0}


def test_every_class_of_a_scene_is_audioset_s_and_of_one_scene() -> None:
    names = [name for group in SCENES.values() for name in group]
    assert len(names) == len(set(names))
    assert set(names) <= set(labels())


def test_a_scene_has_its_largest_class() -> None:
    tags = Tags({"Rain": 0.3, "Wind": 0.2, "Cheering": 0.1, "Speech": 0.9})
    assert scene_scores(tags) == {"outdoor": 0.3, "crowd": 0.1, "music": 0.0}


@pytest.mark.parametrize(
    ("source", "output", "success"),
    [
        (0.0, {"crowd": 0.5}, True),
        (0.07, {"crowd": 0.1}, True),  # exactly 0.10, exactly 0.03 more
        (0.0, {"crowd": 0.099}, False),  # too faint
        (0.48, {"crowd": 0.5}, False),  # it was there
        (0.0, {"crowd": 0.5, "music": 0.6}, False),  # another leads
        (0.0, {"crowd": 0.5, "music": 0.5}, False),
        (0.0, {}, False),
    ],
)
def test_success(source: float, output: dict[str, float], success: bool) -> None:
    assert scene_succeeds({**QUIET, "crowd": source}, {**QUIET, **output}, "crowd") == success


def test_the_source_as_it_was_fails_whatever_it_holds() -> None:
    loud = dict.fromkeys(SCENES, 0.9)
    for scene in SCENES:
        assert not scene_succeeds(loud, loud, scene)
