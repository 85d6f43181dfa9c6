"""What a configuration has to hold, said of its key before anything is called."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from auditeval.training import shape
from auditeval.types import UserError

ROOT = Path(__file__).parents[2]
GONE = object()


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    choices = ["data=manifest", "run_dir=run", "model=ensemble", "fit=ensemble", "compare=members"]
    choices += ["baselines=speech", "callbacks=kept", "workers=0"]
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        made = OmegaConf.to_container(compose("train", choices), resolve=True)
    assert isinstance(made, dict)
    return made  # type: ignore[return-value]


def changed(settings: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    made = deepcopy(settings)
    *parents, last = key.split(".")
    node = made
    for name in parents:
        node = node[name]
    if value is GONE:
        del node[last]
    else:
        node[last] = value
    return made


def keys(node: dict[str, Any], parents: str = "") -> Iterator[str]:
    for name, part in node.items():
        yield f"{parents}{name}"
        if isinstance(part, dict):
            yield from keys(part, f"{parents}{name}.")


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("model", None, "model None: expected the settings of a model; see configs/"),
        ("model.name", GONE, "model.name is missing; see configs/"),
        ("compare.x", 3, "compare.x 3: expected the settings of a model; see configs/"),
        ("compare", [], "compare []: expected settings by name, {name: value}; see configs/"),
        ("cache_dir", 3, "cache_dir 3: expected a text; see configs/"),
        ("optimizer", GONE, "optimizer is missing; see configs/"),
        ("data", "x", "data 'x': expected settings by name, {name: value}; see configs/"),
        ("data.manifest", "x.csv", "data.manifest 'x.csv': expected a node with a _target_; see "),
        ("data.split._target_", GONE, ": expected a node with a _target_; see configs/"),
        ("fit._target_", 3, "fit._target_ 3: expected a text; see configs/"),
        ("optimizer._partial_", None, "optimizer._partial_ None: expected true or false; see "),
        ("html", "no", "html 'no': expected true or false; see configs/"),
    ],
)
def test_what_is_not_there_or_is_something_else_is_named(
    settings: dict[str, Any], key: str, value: Any, sentence: str
) -> None:
    shape.check(settings)
    with pytest.raises(UserError) as caught:
        shape.check(changed(settings, key, value))
    assert sentence in str(caught.value)
    assert str(caught.value).startswith(key.rpartition("._")[0] or key)


def test_no_value_of_any_key_ends_in_anything_but_a_sentence(settings: dict[str, Any]) -> None:
    for key in keys(settings):
        for value in (None, "x", 3, -1.5, [1], [], {}, {"x": 3}, True, "", GONE):
            said = ""
            try:
                shape.check(changed(settings, key, value))
            except UserError as error:
                said = str(error)
            assert not said or said.startswith(key.rpartition("._")[0] or key)
            assert "\n" not in said


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("model.by_removal", "no", "true or false"),
        ("model.hidden", "", "a list"),
        ("model.deaf", {"quality": "spectrum"}, "a list"),
        ("model.level", True, "a number"),
        ("compare.MLPs alone.members", None, "a whole number"),
        ("fit.epochs", {"quality": 1.5, "relevance": 1, "faithfulness": 1}, "a whole number"),
        ("features.events.occasions", "off", "true or false"),
        ("data.split.seed", None, "a whole number"),
        ("data.split.by", "row", "'original', 'talker' or 'system'"),
        ("data.manifest.path", [1], "a text"),
        ("callbacks.kept.every_epochs", "5", "a whole number"),
        ("optimizer.foreach", "no", "true or false"),
        ("trainer.enable_progress_bar", "no", "true or false"),
    ],
)
def test_a_value_of_another_kind_than_its_function_takes_is_named(
    settings: dict[str, Any], key: str, value: Any, expected: str
) -> None:
    shape.check_kinds(settings)
    with pytest.raises(UserError) as caught:
        shape.check_kinds(changed(settings, key, value))
    assert str(caught.value).startswith(key)
    assert f": expected {expected}; see configs/" in str(caught.value)
