"""Laws of selection: what pandas selects, whole counts, every pair under one heading."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest

from auditeval.filtering.recipe import Recipe, read_recipe
from auditeval.filtering.select import ALL, select, summarize
from auditeval.types import AXES, UserError

RECIPES = Path(__file__).parents[2] / "recipes" / "filter"
OPERATIONS = ("add", "delete", "replace", None)


def reference(table: pandas.DataFrame, stages: list[dict[str, Any]]) -> pandas.Series:
    """The stage that rejects each row, NaN where none does, the plain way."""
    rejected = pandas.Series(np.nan, table.index, dtype=object)
    left = table.assign(operation=table.operation.fillna("-"))
    finite = np.isfinite(left[[stage["axis"] for stage in stages]]).all(axis=1)
    rejected[left.index[~finite]], left = "unscored", left[finite]
    for stage in stages:
        if "at_least" in stage:
            limit = stage["at_least"]
            if isinstance(limit, dict):
                limit = left.operation.map(limit).astype(float)
            kept = left[left[stage["axis"]] >= limit].index
        else:
            ranked = left.sort_values([stage["axis"], "id"], ascending=[False, True])
            group = ranked.operation if stage.get("per") != "all" else ranked.id.str[:0]
            size = ranked.groupby(group).id.transform("size")
            share = stage.get("keep_share")
            places = stage.get("keep_top") or (size * round(share * 100) * 2 + 100) // 200
            kept = ranked.index[(ranked.groupby(group).cumcount() < places).astype(bool)]
        rejected[left.index.difference(kept)] = stage["name"]
        left = left.loc[left.index.intersection(kept)]
    return rejected


def random_table(rng: np.random.Generator, rows: int) -> polars.DataFrame:
    """Scores in steps of a quarter, so that most are equal; some are missing, NaN or infinite."""
    scores = rng.integers(4, 21, (rows, len(AXES))) / 4
    scores[rng.random(scores.shape) < 0.02] = np.nan
    scores[rng.random(scores.shape) < 0.01] = np.inf
    columns = {axis: polars.Series(scores[:, i]) for i, axis in enumerate(AXES)}
    gone = polars.Series(rng.random(rows) < 0.05)
    names = [f"{n:x} é"[:: rng.choice([-1, 1])] for n in rng.permutation(rows)]
    return polars.DataFrame(
        {
            "id": [f"{name}-{n}" for n, name in enumerate(names)],
            "operation": [OPERATIONS[i] for i in rng.integers(0, len(OPERATIONS), rows)],
            **columns,
        },
        schema_overrides={"operation": polars.String},
    ).with_columns(polars.when(~gone).then(polars.col(axis)) for axis in AXES)


def random_stages(rng: np.random.Generator) -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = [
        {"at_least": float(rng.integers(4, 14) / 4)},
        {"at_least": {name or "-": float(rng.integers(4, 14) / 4) for name in OPERATIONS}},
        {"keep_share": float(rng.integers(1, 101) / 100)},
        {"keep_share": float(rng.integers(1, 101) / 100), "per": "all"},
        {"keep_top": int(rng.integers(1, 60))},
        {"keep_top": int(rng.integers(1, 200)), "per": "all"},
    ]
    return [
        {"name": f"stage {n}", "axis": str(rng.choice(AXES)), **rules[rng.integers(len(rules))]}
        for n in range(rng.integers(1, 5))
    ]


@pytest.mark.parametrize("seed", range(60))
def test_rows_are_rejected_as_pandas_rejects_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table, stages = random_table(rng, int(rng.integers(100, 600))), random_stages(rng)
    found = select(table, Recipe.model_validate({"stages": stages}))
    expected = reference(pandas.DataFrame(table.to_dict(as_series=False)), stages)
    assert found.cast(polars.String).to_list() == [
        None if isinstance(name, float) else name for name in expected
    ]


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_rows_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table, recipe = random_table(rng, 500), Recipe.model_validate({"stages": random_stages(rng)})
    order = rng.permutation(table.height)
    found = select(table, recipe).cast(polars.String)
    again = select(table[order], recipe).cast(polars.String)
    assert again.to_list() == found.gather(order).to_list()


def test_the_paper_s_counts_at_the_paper_s_size() -> None:
    """Table 5: 198,000 of each operation, 59,400 after round 1, 30,000 after round 3."""
    rows = 594_000
    rng = np.random.default_rng(1984)
    table = polars.DataFrame(
        {
            "id": [str(number) for number in range(rows)],
            "operation": ["add", "delete", "replace"] * (rows // 3),
            **{axis: rng.normal(3.6, 0.3, rows).clip(1, 5) for axis in AXES},
        }
    )
    recipe = read_recipe(RECIPES / "ssl.yaml")
    outcome = summarize(table, recipe, select(table, recipe))
    assert outcome.operations == ["add", "delete", "replace"]
    assert outcome.original == {"add": 198000, "delete": 198000, "replace": 198000, ALL: rows}
    unscored, first, second, third = (cut.kept for cut in outcome.cuts)
    assert unscored == outcome.original
    for operation in outcome.operations:
        assert first[operation] == 59400
        assert 30000 < second[operation] < 59400
        assert third[operation] == 30000
    assert third[ALL] == 90000
    assert outcome.notes == []


@pytest.mark.parametrize(
    ("share", "rows", "kept"),
    [
        (0.30, 198000, 59400),
        (0.15, 20, 3),
        (0.15, 10, 2),  # a half counts as one
        (0.29, 100, 29),  # in binary 28.999999999999996
        (0.07, 50, 4),  # 3.5, in binary 3.5000000000000004
        (0.005, 100, 1),  # 0.5
        (0.005, 99, 0),
        (1.0, 7, 7),
        (1e-7, 10**7, 1),
    ],
)
def test_a_share_is_taken_in_decimals(share: float, rows: int, kept: int) -> None:
    stage = {"name": "a", "axis": "quality", "keep_share": share}
    assert Recipe.model_validate({"stages": [stage]}).stages[0].places(rows) == kept


@pytest.mark.parametrize("seed", range(5))
def test_counts_are_those_of_the_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table, stages = random_table(rng, 400), random_stages(rng)
    recipe = Recipe.model_validate({"stages": stages})
    rejected = select(table, recipe)
    outcome = summarize(table, recipe, rejected)
    names = ["unscored", *(stage["name"] for stage in stages)]
    operations = table["operation"].fill_null("-")
    for position, cut in enumerate(outcome.cuts):
        left = ~rejected.cast(polars.String).is_in(names[: position + 1]).fill_null(False)
        assert cut.kept[ALL] == left.sum()
        for name in outcome.operations:
            here = left & (operations == name)
            assert cut.kept[name] == here.sum()
            if cut.stage is not None:
                lowest = table.filter(here)[cut.stage.axis].min()
                assert cut.lowest.get(name) == lowest
    kept = rejected.is_null()
    for name, found in outcome.distributions.items():
        for axis, bars in found.items():
            scores = table.filter(operations == name)[axis]
            assert bars.before.sum() == scores.is_finite().sum()
            of_kept = table.filter(kept & (operations == name))[axis]
            assert bars.after.sum() == of_kept.is_finite().sum()


def test_a_distribution_is_numpy_s_histogram() -> None:
    rng = np.random.default_rng(0)
    scores = rng.integers(100, 501, 1000) / 100 + 0.001
    table = polars.DataFrame(
        {"id": map(str, range(1000)), "operation": ["add"] * 1000, **dict.fromkeys(AXES, scores)}
    )
    stage = {"name": "a", "axis": "quality", "keep_share": 0.5}
    recipe = Recipe.model_validate({"stages": [stage]})
    found = summarize(table, recipe, select(table, recipe))
    assert found.limits == (1.0, scores.max())
    bars = found.distributions["add"]["relevance"]
    expected, _ = np.histogram(scores, len(bars.before), found.limits)
    np.testing.assert_array_equal(bars.before, expected)
    assert bars.after.sum() == 500


def test_too_few_pairs_to_keep_are_told() -> None:
    table = polars.DataFrame(
        {
            "id": ["a", "b", "c"],
            "operation": ["add", "add", ""],
            **{axis: [1.0, 2.0, None] for axis in AXES},
        }
    )
    stage = {"name": "top", "axis": "quality", "keep_top": 2}
    recipe = Recipe.model_validate({"stages": [stage]})
    rejected = select(table, recipe)
    assert rejected.to_list() == [None, None, "unscored"]
    notes = summarize(table, recipe, rejected).notes
    assert notes == ["top: - had only 0 of the 2 pairs to keep, and all of them stayed."]
    none = Recipe.model_validate({"stages": [{"name": "x", "axis": "quality", "at_least": 3}]})
    assert summarize(table, none, select(table, none)).notes == ["No pair passed all stages."]


BAD_RECIPES = {
    "empty": ("", "expected the key stages and a list of stages under it"),
    "a list": ("- name: a\n", "expected the key stages and a list of stages under it"),
    "no stages": ("stages: []\n", "stages: list should have at least 1 item"),
    "a tab": ("stages:\n\t- name: a\n", r":2: is not YAML \(found character"),
    "a key twice": (
        "stages:\n- name: a\n  axis: quality\n  axis: quality\n  keep_top: 1\n",
        r":4: is not YAML \(key 'axis' stands twice\)",
    ),
    "an unknown key": (
        "stages:\n- {name: a, axis: quality, keep_top: 1, best: 1}\n",
        r"stage 1 \('a'\): best: unknown key \(known: name, axis, seed, at_least",
    ),
    "a key beside stages": (
        "stages:\n- {name: a, axis: quality, keep_top: 1}\nseed: 1\n",
        r"seed: unknown key \(known: stages\)",
    ),
    "a threshold for no operation": (
        "stages:\n- {name: a, axis: quality, at_least: {}}\n",
        r"stage 1 \('a'\): at_least: expected a number for each operation, found none",
    ),
    "a part that holds itself": (
        "stages: &s\n- *s\n",
        r": nests deeper than 64 levels",
    ),
    "neither axis nor seed": (
        "stages:\n- {name: a, keep_top: 1}\n",
        r"stage 1 \('a'\): expected an axis, or a seed to draw at random",
    ),
    "an axis and a seed": (
        "stages:\n- {name: a, axis: quality, seed: 1, keep_top: 1}\n",
        r"stage 1 \('a'\): expected an axis, or a seed to draw at random",
    ),
    "a threshold at random": (
        "stages:\n- {name: a, seed: 1, at_least: 3}\n",
        r"stage 1 \('a'\): a seed is of keep_share and keep_top; at_least needs an axis",
    ),
    "an unknown axis": (
        "stages:\n- {name: a, axis: quality, keep_top: 1}\n- {name: b, axis: beauty}\n",
        r"stage 2 \('b'\): axis: input should be 'quality', 'relevance' or 'faithfulness'",
    ),
    "no rule": (
        "stages:\n- {name: a, axis: quality}\n",
        r"stage 1 \('a'\): expected exactly one of at_least, keep_share, keep_top, found none",
    ),
    "two rules": (
        "stages:\n- {name: a, axis: quality, keep_top: 1, at_least: 3}\n",
        r"stage 1 \('a'\): expected exactly one of .*, found at_least and keep_top",
    ),
    "a word": (
        "stages:\n- {name: a, axis: quality, at_least: high}\n",
        r"stage 1 \('a'\): at_least: expected a number, or a number for each .*'high'",
    ),
    "a word in a mapping": (
        "stages:\n- {name: a, axis: quality, at_least: {add: high}}\n",
        r"stage 1 \('a'\): at_least: expected a number, or a number for each .*'high'",
    ),
    "not a number": (
        "stages:\n- {name: a, axis: quality, at_least: .nan}\n",
        r"stage 1 \('a'\): at_least: expected a number, or a number for each .*nan",
    ),
    "a share of 0": (
        "stages:\n- {name: a, axis: quality, keep_share: 0}\n",
        r"stage 1 \('a'\): keep_share: input should be greater than 0, found 0",
    ),
    "a share of 30": (
        "stages:\n- {name: a, axis: quality, keep_share: 30}\n",
        r"stage 1 \('a'\): keep_share: input should be less than or equal to 1, found 30",
    ),
    "half a pair": (
        "stages:\n- {name: a, axis: quality, keep_top: 1.5}\n",
        r"stage 1 \('a'\): keep_top: input should be a valid integer, found 1\.5",
    ),
    "a ranking of thresholds": (
        "stages:\n- {name: a, axis: quality, at_least: 3, per: all}\n",
        r"stage 1 \('a'\): per: all is of keep_share and keep_top",
    ),
    "one name twice": (
        "stages:\n- &a {name: a, axis: quality, keep_top: 1}\n- *a\n",
        "stages 1 and 2 are both called 'a'",
    ),
    "a reserved name": (
        "stages:\n- {name: unscored, axis: quality, keep_top: 1}\n",
        "stage 1 is called 'unscored', as pairs without scores are",
    ),
    "a stage that is text": ("stages:\n- quality\n", "stage 1: "),
    "not UTF-8": ("stages:\n- {name: caf\udce9}\n", r"is not UTF-8 \('utf-8' codec"),
}


@pytest.mark.parametrize(("text", "said"), BAD_RECIPES.values(), ids=BAD_RECIPES)
def test_a_bad_recipe_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UserError, match=said) as caught:
        read_recipe(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_recipe_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.yaml: cannot be read \(No such file"):
        read_recipe(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (
            {"add": 3, "dub": 3},
            r"stage 1 \('a'\): at_least names the operation 'dub', which no pai",
        ),
        (
            {"add": 3},
            r"stage 1 \('a'\): at_least has no number for the operation '-' of some pairs",
        ),
    ],
)
def test_thresholds_are_of_the_operations_that_are_there(limits: dict[str, int], said: str) -> None:
    table = polars.DataFrame(
        {"id": ["a", "b"], "operation": ["add", None], **{axis: [3.0, 3.0] for axis in AXES}}
    )
    stage = {"name": "a", "axis": "quality", "at_least": limits}
    with pytest.raises(UserError, match=said):
        select(table, Recipe.model_validate({"stages": [stage]}))


@pytest.mark.parametrize("name", ["ssl", "llm"])
def test_shipped_thresholds_are_those_in_the_shipped_comments(name: str) -> None:
    by_rank, by_score = (read_recipe(RECIPES / f"{name}{end}.yaml") for end in ("", "_thresholds"))
    comments = (RECIPES / f"{name}.yaml").read_text().splitlines()
    for one, other in zip(by_rank.stages, by_score.stages, strict=True):
        assert (one.name, one.axis) == (other.name, other.axis)
        if isinstance(other.at_least, dict):
            listed = " / ".join(f"{score:.3f}" for score in other.at_least.values())
            assert list(other.at_least) == ["add", "delete", "replace"]
            assert any(line.endswith(f"# {listed}") for line in comments)
        else:
            assert one.at_least == other.at_least


def test_a_seed_draws_so_many_of_each_operation_whatever_their_scores_and_order() -> None:
    rows = 900
    table = polars.DataFrame(
        {
            "id": [f"{number:04d}" for number in range(rows)],
            "operation": ["add", "delete", "replace"] * (rows // 3),
            **{axis: [None] * rows for axis in AXES},
        },
        schema_overrides=dict.fromkeys(AXES, polars.Float64),
    )

    def drawn(seed: int, of: polars.DataFrame = table) -> set[str]:
        stage = {"name": "random", "seed": seed, "keep_share": 0.15}
        kept = select(of, Recipe.model_validate({"stages": [stage]})).is_null()
        assert of.filter(kept)["operation"].value_counts()["count"].to_list() == [45] * 3
        return set(of.filter(kept)["id"])

    assert drawn(1) == drawn(1, table.sample(fraction=1, shuffle=True, seed=5))
    assert len(drawn(1) & drawn(2)) < 45
    # Each operation draws for itself: of one tuple, not all three edits or none.
    assert 5 < len({int(name) // 3 for name in drawn(1)}) - 45 < 85
    times = np.bincount([int(name) for seed in range(200) for name in drawn(seed)], minlength=rows)
    assert abs(times.mean() - 30) < 1e-9
    assert times.std() < 1.3 * np.sqrt(200 * 0.15 * 0.85)
    assert times.min() > 5


def test_an_operation_may_not_be_called_as_the_sum_is() -> None:
    table = polars.DataFrame({"id": ["a"], "operation": ["all"], "quality": [3.0]})
    recipe = Recipe.model_validate({"stages": [{"name": "x", "axis": "quality", "keep_top": 1}]})
    with pytest.raises(UserError, match="an operation is called 'all', as the sum of all is"):
        select(table, recipe)
