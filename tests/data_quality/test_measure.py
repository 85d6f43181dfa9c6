"""`measure` and its table: sets side by side, what cannot be used, names, what is best."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import RATE_HZ, noise, row_of, sound, write_rows
from fake_encoders import FakeClap, FakeExtractor
from omegaconf import OmegaConf

from auditeval import audio, manifest
from auditeval.data_quality.catalogue import ENCODER_ROLES, METRICS, Measured
from auditeval.data_quality.measure import DataQuality, Row, choose, measure
from auditeval.report.data_quality import to_json, to_table, write
from auditeval.report.render import show, to_markdown
from auditeval.table import Table
from auditeval.types import EditPair, Undefined, UserError


def fakes() -> dict[str, Any]:
    return {"yamnet": FakeExtractor(), "events": FakeClap()}


@pytest.fixture
def made(simulated: list[EditPair], tmp_path: Path) -> Table:
    sets = {"all": simulated, "half": simulated[::2]}
    return measure(sets, fakes(), cache_dir=tmp_path)


def values(table: Table, row: int = 0) -> dict[str, Any]:
    return {name: (m.value, m.interval) for name, m in table.rows[row].values.items()}


def test_a_manifest_and_its_pairs_are_one(
    simulated: list[EditPair], made: Table, tmp_path: Path
) -> None:
    path = tmp_path / "pairs.jsonl"
    manifest.write(simulated, path)
    again = measure({"all": path}, fakes(), cache_dir=tmp_path)
    assert again.rows[0] == made.rows[0]
    assert again.rows[0].pairs == 60
    assert {m.pairs for m in again.rows[0].values.values()} == {60}
    assert [metric.name for metric in again.metrics] == list(again.rows[0].values)
    assert again.encoders == {"yamnet": "fake@16000-6", "events": "fake_clap@16000-6"}


@pytest.mark.parametrize("batch_size", [1, 8])
def test_batches_and_order_do_not_matter(
    simulated: list[EditPair], made: Table, tmp_path: Path, batch_size: int
) -> None:
    turned = {"all": simulated[::-1]}
    again = measure(turned, fakes(), batch_size=batch_size, workers=0, cache_dir=tmp_path / "new")
    for name, (value, interval) in values(again).items():
        assert value == pytest.approx(values(made)[name][0], rel=1e-6)
        assert interval == pytest.approx(values(made)[name][1], rel=1e-6)


def test_each_clip_is_encoded_once(simulated: list[EditPair], tmp_path: Path) -> None:
    def contents(*paths: Path) -> int:
        return len({audio.content_hash(audio.decode(path)) for path in paths})

    tagger, sets = FakeExtractor(), {"a": simulated, "b": simulated[:30]}
    measure(sets, {"yamnet": tagger}, cache_dir=tmp_path, workers=0)
    edited = [pair.edited for pair in simulated]
    assert tagger.clips == contents(*edited, *(pair.original for pair in simulated))
    rater = FakeExtractor("rater")
    measure(sets, {"audiobox": rater}, cache_dir=tmp_path, workers=0)
    assert rater.clips == contents(*edited)  # it rates no originals


def test_pairs_that_cannot_be_used_are_left_out_of_everything(
    simulated: list[EditPair], tmp_path: Path
) -> None:
    """Also of what an encoder before had no trouble with; as if the set were without them."""
    bad = {
        "none": {"edited": tmp_path / "none.wav"},
        "words": {"target_caption": " "},
        "told": {"target_caption": "", "instruction": "Add a dog."},
        "short": {"original": sound(tmp_path / "short.wav", noise(RATE_HZ // 2))},
    }
    broken = [simulated[i].model_copy(update={"id": id, **bad[id]}) for i, id in enumerate(bad)]
    encoders: dict[str, Any] = {
        "events": FakeClap(),
        "yamnet": FakeExtractor(refused=8000),
    }
    pairs = [*broken[:3], *simulated[:15], *broken[3:], *simulated[15:]]
    found = measure({"x": pairs, "y": simulated}, encoders, batch_size=4, cache_dir=tmp_path)
    without = measure({"x": simulated}, fakes(), cache_dir=tmp_path)
    row = found.rows[0]
    assert row.values == without.rows[0].values == found.rows[1].values
    assert row.pairs == 64
    unread = "target_caption is empty, which label_bridge_score needs; --only of other metrics "
    unread += "keeps the pair"
    assert row.left_out == {
        "none": f"{tmp_path / 'none.wav'}: no such file",
        "words": unread,
        "told": unread,
        "short": f"{tmp_path / 'short.wav'}: has no features",
    }
    assert found.rows[1].left_out == {}
    why = f"x 4 (none: {tmp_path / 'none.wav'}: no such file)."
    assert any(note.endswith(why) for note in to_table(found).notes)


def test_a_set_without_a_usable_pair_has_no_values(good: list[EditPair], tmp_path: Path) -> None:
    broken = [pair.model_copy(update={"edited": tmp_path / "none.wav"}) for pair in good]
    table = measure({"x": broken}, fakes(), cache_dir=tmp_path)
    for measured in table.rows[0].values.values():
        assert isinstance(measured.value, Undefined)
        assert measured.pairs == 0
    write(table, tmp_path)
    assert "NaN" not in (tmp_path / "data_quality.json").read_text()


def test_the_rate_of_the_encoder_is_in_the_name(good: list[EditPair], tmp_path: Path) -> None:
    for rate_hz, other in ((16000, 32000), (32000, 16000)):
        cnn14 = {"cnn14": FakeExtractor(rate_hz=rate_hz)}
        table = measure({"x": good}, cnn14, cache_dir=tmp_path)
        assert len(table.metrics) == 3
        assert all(f"cnn14_{rate_hz // 1000}k" in metric.name for metric in table.metrics)
        with pytest.raises(UserError) as caught:
            measure({"x": good}, cnn14, [f"fd_cnn14_{other // 1000}k"], cache_dir=tmp_path)
        assert f"is of clips at {other} Hz, the encoder cnn14 that was given" in str(caught.value)


def test_names_that_are_wrong_are_told_what_is_missing(good: list[EditPair]) -> None:
    with pytest.raises(UserError, match="no metric is called 'fad'; known: clap_score, "):
        measure({"x": good}, fakes(), ["fad"])
    with pytest.raises(
        UserError, match=r"^fd_cnn14_32k needs the encoder cnn14; give --cnn14 FILE"
    ):
        measure({"x": good}, fakes(), ["is_yamnet_16k_splits10", "fd_cnn14_32k"])
    with pytest.raises(UserError, match="no metric has an encoder in the role 'panns'"):
        measure({"x": good}, {"panns": FakeExtractor()})
    with pytest.raises(UserError, match="4 pairs have 3 ids; ids must be unique"):
        measure({"x": [*good, good[0]]}, fakes())
    only = choose(fakes(), ["label_bridge_score"])
    assert {role: [m.name for m in metrics] for role, metrics in only.items()} == {
        "events": ["label_bridge_score"]
    }


def test_the_papers_metrics_are_configured_with_what_it_cites() -> None:
    configs = Path(__file__).parents[2] / "configs" / "data_quality"
    paper, laion = (OmegaConf.load(configs / f"{name}.yaml") for name in ("paper", "laion_clap"))
    assert paper["clap"] == {"name": "clap", "model": "CLAP_weights_2022.pth"}
    assert "laion" not in str(paper)
    assert laion == {"laion_clap": {"name": "clap", "model": "laion/clap-htsat-unfused"}}
    for roles in (paper, laion):
        chosen = choose(roles)
        assert chosen.keys() == roles.keys()
        for role, arguments in roles.items():
            assert arguments.keys() == {"name", ENCODER_ROLES[role].argument}
            assert arguments.name == ENCODER_ROLES[role].extractor


def table_of(**rows: dict[str, float | Undefined]) -> Table:
    none = Undefined("no interval")
    metrics = [METRICS[name] for name in next(iter(rows.values()))]
    sets = [
        Row(name, 9, {n: Measured(x, none, 9) for n, x in found.items()}, {})
        for name, found in rows.items()
    ]
    return to_table(DataQuality(metrics, sets, {}, 0))


def test_the_best_is_marked_by_direction(capsys: pytest.CaptureFixture[str]) -> None:
    few = Undefined("too few")
    table = table_of(
        a={"clap_score": 40.0, "fd_cnn14_32k": 2.0, "audiobox_pq": 5.0, "audiobox_cu": few},
        b={"clap_score": 50.0, "fd_cnn14_32k": 3.0, "audiobox_pq": 5.0, "audiobox_cu": few},
        c={"clap_score": few, "fd_cnn14_32k": few, "audiobox_pq": 4.0, "audiobox_cu": 4.0},
    )
    assert table.best() == {(1, 1), (0, 2)}
    a, b, c = to_markdown(table).splitlines()[4:7]
    assert a == "| a | 40 N=9 | **2** N=9 | 5 N=9 | – N=9 |"
    assert b.startswith("| b | **50** N=9 | 3 ")
    assert "–" in c
    assert "clap_score ↑ | fd_cnn14_32k ↓ | audiobox_pq ↑" in to_markdown(table)
    said = "– undefined: too few (clap_score, fd_cnn14_32k of c; audiobox_cu of a, b)."
    assert said in to_markdown(table)
    show(table)
    assert "cnn14_32k ↓" in capsys.readouterr().out


def test_distances_below_zero_are_level() -> None:
    name = "fad_inf_yamnet_16k"
    assert table_of(a={name: -0.2}, b={name: -0.1}).best() == set()
    assert table_of(a={name: -0.2}, b={name: 0.1}).best() == {(0, 1)}


@pytest.mark.parametrize("source", ["one", None])
def test_pairs_of_one_source_are_one_unit(good: list[EditPair], source: str | None) -> None:
    """Copies of a pair add nothing: the interval is that of the sources, stated or not."""
    encoders = {"yamnet": {"name": "yamnet"}}
    first = good[0]
    alike = [first.model_copy(update={"id": f"{n}", "source": source}) for n in range(20)]
    (row,) = measure({"alike": alike}, encoders, ["is_yamnet_16k_splits10"]).rows
    found = row.values["is_yamnet_16k_splits10"]
    assert found.value == pytest.approx(1.0)
    assert found.pairs == 20


def test_what_is_written_is_plain_and_the_same_again(made: Table, tmp_path: Path) -> None:
    write(made, tmp_path / "one")
    write(made, tmp_path / "two")
    for name in ("data_quality.json", "data_quality.md"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert sorted(p.name for p in (tmp_path / "one").iterdir()) == [
        "data_quality.json",
        "data_quality.md",
    ]
    found = json.loads((tmp_path / "one" / "data_quality.json").read_text())
    assert found == to_json(made)
    fad = found["sets"][0]["values"]["fad_yamnet_16k"]
    assert fad == {
        "value": made.rows[0].values["fad_yamnet_16k"].value,
        "interval": list(made.rows[0].values["fad_yamnet_16k"].interval),
        "pairs": 60,
    }
    assert found["metrics"]["fad_yamnet_16k"] == {
        "encoder": "yamnet",
        "higher_is_better": False,
        "range": [0.0, None],
    }
    few = measure({"x": []}, fakes(), cache_dir=tmp_path)
    plain = to_json(few)["sets"][0]["values"]["is_yamnet_16k_splits10"]
    assert plain["value"] is None
    assert plain["undefined"] == "0 pairs are too few, 20 are needed"


def test_a_filter_that_keeps_the_likest_pairs_shows(
    simulated: list[EditPair], tmp_path: Path
) -> None:
    """Pairs whose edit is a quiet copy are nearer to the originals than edits are."""
    rng = np.random.default_rng(0)
    alike = [
        pair.model_copy(update={"edited": pair.original if rng.random() < 0.8 else pair.edited})
        for pair in simulated
    ]
    table = measure({"edits": simulated, "alike": alike}, fakes(), cache_dir=tmp_path)
    shown = to_table(table)
    best = {(shown.columns[at].name, shown.labels[row]) for row, at in shown.best()}
    for name in ("fad_yamnet_16k", "fd_yamnet_16k", "kl_softmax_ref_gen_yamnet_16k"):
        assert (name, "alike") in best
        high = table.rows[1].values[name].interval[1]  # type: ignore[index]
        assert high < table.rows[0].values[name].value  # type: ignore[operator]


def test_rows_of_a_manifest_are_checked_before_anything_is_encoded(
    good: list[EditPair], tmp_path: Path
) -> None:
    rows = [row_of(good[0]), row_of(good[1], id=good[0].id)]
    path, tagger = write_rows(tmp_path / "pairs.jsonl", rows), FakeExtractor()
    with pytest.raises(UserError, match="stands in rows 1 and 2"):
        measure({"x": path}, {"yamnet": tagger}, cache_dir=tmp_path)
    assert tagger.clips == 0
