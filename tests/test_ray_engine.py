"""Blocks on a Ray cluster of this machine: all of them, once each, the same bytes as here."""

from __future__ import annotations

import csv
import logging
import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from commands import every_file
from fake_encoders import FakeClap, FakeExtractor
from toy_workers import FullDisk, Squares, Uneven

from auditeval import manifest, manifest_scoring
from auditeval.blocks import Local, cut
from auditeval.data.pseudo_parallel import text_to_audio
from auditeval.data.pseudo_parallel.build import build
from auditeval.data.pseudo_parallel.clips import Prompt
from auditeval.data.pseudo_parallel.plan import Settings
from auditeval.data_quality import measure as measuring
from auditeval.data_quality.measure import measure
from auditeval.scoring import load
from auditeval.suspects import GIVEN_UP
from auditeval.types import EditPair, UserError

pytest.importorskip("ray", reason="Ray is not installed (the extra [ray])")
from auditeval.ray_engine import Ray


@pytest.fixture(scope="module")
def cluster() -> Iterator[Ray]:
    """Two workers; they import what lies beside this file, and the package from where it is.

    It is one of its own, whatever other is named for those that look for one.
    """
    tests = Path(__file__).parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, (tests, tests.parent))))
        patch.setenv("RAY_ADDRESS", "127.0.0.1:9")
        with Ray(workers=2) as engine:
            yield engine


@pytest.mark.parametrize("address", ["127.0.0.1:9", "ray://127.0.0.1:9"])
def test_an_address_where_nothing_listens_is_one_sentence(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", address)
    for given in (address, "auto"):
        with pytest.raises(UserError, match=rf"^{address}: no Ray cluster answers"):
            assert Ray(given).device


def test_a_cluster_that_is_gone_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a restart of the machine: Ray has it written down, and would wait for minutes."""
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.setattr("ray._private.services.find_gcs_addresses", set)
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray" / "ray_current_cluster").write_text("127.0.0.1:9")
    with pytest.raises(UserError, match=r"^auto: no Ray cluster answers"):
        assert Ray("auto").device


def test_a_cluster_that_does_not_start_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that is busy Ray raises a bare Exception, which ended in a traceback."""

    def init(*_: object, **__: object) -> None:
        raise Exception("The current node timed out during startup. This could happen")

    monkeypatch.setattr("ray.init", init)
    said = r"^this machine: Ray cannot be started \(The current node timed out during startup"
    with pytest.raises(UserError, match=said):
        assert Ray().device


def test_what_is_wrong_with_the_work_is_told_before_a_cluster_is_joined(
    simulated: list[EditPair], spectrum_checkpoint: Path, clip_list: Path, tmp_path: Path
) -> None:
    """And where none answers, what an earlier run made is as it was."""
    engine = Ray("127.0.0.1:9")
    broken, pairs, table = (tmp_path / name for name in ("broken.jsonl", "p.jsonl", "s.csv"))
    broken.write_text('{"id": 1}\n')
    (tmp_path / "clips.csv").write_text("file\n")
    manifest.write(simulated[:2], pairs)
    evaluator = load(spectrum_checkpoint, "cpu")
    with pytest.raises(UserError, match=r"broken.jsonl:1: "):
        next(evaluator.score_manifest(broken, table, engine=engine))
    with pytest.raises(UserError, match=r"broken.jsonl:1: "):
        measure({"broken": broken}, {"yamnet": FakeExtractor()}, engine=engine)
    settings = Settings(6, 2.0, (0.5, 1.0), 8000)
    with pytest.raises(UserError, match=r"clips.csv:1: "):
        build(clip_list, tmp_path / "set", settings, tmp_path / "clips.csv", engine=engine)
    list(evaluator.score_manifest(pairs, table))
    before = every_file(tmp_path)
    with pytest.raises(UserError, match="no Ray cluster answers"):
        next(evaluator.score_manifest(pairs, table, fresh=True, engine=engine))
    assert every_file(tmp_path) == before


def test_the_command_is_ended_as_without_a_cluster(cluster: Ray) -> None:
    """By SIGTERM, of which Ray made an abort with a stack."""
    assert cluster.device in ("cpu", "cuda")
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_every_block_once_in_any_order_and_in_its_own(cluster: Ray) -> None:
    expected = dict(step for _, step in Local().run(Squares, cut(23, 4)))
    found = list(cluster.run(Uneven, cut(23, 4)))
    assert len(found) == 23
    assert dict(step for _, step in found) == expected
    blocks = [block.number for block, _ in cluster.run(Uneven, cut(23, 4), in_order=True)]
    assert blocks == sorted(blocks) == [number // 4 for number in range(23)]


def test_a_row_that_kills_its_process_is_given_up_and_the_rest_goes_on(cluster: Ray) -> None:
    found = dict(step for _, step in cluster.run(partial(Squares, kills=5), cut(6, 1)))
    assert found == {**{row: row * row for row in range(6)}, 5: GIVEN_UP}


def test_a_disk_that_stays_full_is_one_sentence(
    cluster: Ray, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    said = r"^/scratch/part-7: No space left on device \(on .*, tried 3 times\); what is finished"
    with pytest.raises(UserError, match=said):
        list(cluster.run(partial(FullDisk, tmp_path, 1000), cut(2, 1)))
    (tmp_path / "tally").unlink()
    # One that had no space for a moment is tried again; what workers warn of is told here.
    with caplog.at_level(logging.WARNING):
        assert {b.number for b, _ in cluster.run(partial(FullDisk, tmp_path, 1), cut(2, 1))} == {
            0, 1
        }  # fmt: skip
    assert "the cache cannot be written" in caplog.text


def test_scores_have_the_bytes_of_this_process(
    cluster: Ray,
    simulated: list[EditPair],
    spectrum_checkpoint: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever the blocks, and whoever began: a run goes on with the parts of another engine."""
    pairs = [
        simulated[row % 20].model_copy(update={"id": f"{row}, {'x' * (row % 7)}"})
        for row in range(50)
    ]
    pairs[7] = pairs[7].model_copy(update={"edited": tmp_path / "absent.wav"})
    table = tmp_path / "pairs.csv"
    manifest.write(pairs, table)
    evaluator = load(spectrum_checkpoint, "cpu")
    *_, whole = evaluator.score_manifest(table, tmp_path / "here.csv", 4)
    monkeypatch.setattr(manifest_scoring, "_BLOCK_ROWS", 8)
    *_, there = evaluator.score_manifest(table, tmp_path / "there.csv", 4, engine=cluster)
    assert there[:4] == whole[:4] == (50, 1, 50, 0)
    steps = evaluator.score_manifest(table, tmp_path / "both.csv", 4)
    for _ in range(5):
        next(steps)
    steps.close()
    *_, both = evaluator.score_manifest(table, tmp_path / "both.csv", 4, engine=cluster)
    assert both.kept == 20  # five batches: two blocks and a half
    for name in ("there", "both"):
        for end in ("", ".json", ".clips.npy"):
            made = (tmp_path / f"{name}.csv{end}").read_bytes()
            assert made == (tmp_path / f"here.csv{end}").read_bytes()


def test_a_checkpoint_that_is_another_on_a_node_is_told(
    cluster: Ray, simulated: list[EditPair], spectrum_checkpoint: Path, tmp_path: Path
) -> None:
    manifest.write(simulated[:2], tmp_path / "pairs.jsonl")
    evaluator = load(spectrum_checkpoint, "cpu")
    evaluator.checkpoint = evaluator.checkpoint._replace(digest="0" * 64)
    with pytest.raises(UserError, match="is another checkpoint here than"):
        list(evaluator.score_manifest(tmp_path / "pairs.jsonl", tmp_path / "s.csv", engine=cluster))


def test_a_set_is_built_and_measured_to_the_same_bytes(
    cluster: Ray, clip_list: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(6, 2.0, (0.5, 1.0), 8000)
    files = {}
    for name, engine in {"here": None, "there": cluster}.items():
        build(clip_list, tmp_path / name, settings, audio_format="wav", engine=engine)
        files[name] = every_file(tmp_path / name)
    assert files["here"] == files["there"]
    assert len(files["here"]) == 4 + 3 * 36

    monkeypatch.setattr(measuring, "_BLOCK_ROWS", 50)
    path = tmp_path / "here" / "manifest.jsonl"
    pairs = manifest.read(path)[:160]
    pairs[3] = pairs[3].model_copy(update={"edited": tmp_path / "absent.wav"})
    manifest.write(pairs, tmp_path / "some.jsonl")
    tables: list[Any] = [
        measure(
            {"some": tmp_path / "some.jsonl"},
            {"yamnet": FakeExtractor(), "events": FakeClap()},
            engine=engine,
        )
        for engine in (None, cluster)
    ]
    assert tables[0] == tables[1]
    assert len(tables[0].metrics) > 5
    assert tables[0].rows[0].left_out.keys() == {pairs[3].id}


def test_clips_are_generated_to_the_same_bytes(cluster: Ray, tmp_path: Path) -> None:
    from fake_tangoflux import FakePipeline

    prompts = [Prompt(word, word, None) for word in ("rain", "wind", "dog")]
    rows = {}
    for name, engine in {"here": None, "there": cluster}.items():
        model = text_to_audio.Deferred("fake", partial(text_to_audio.TangoFlux, FakePipeline()))
        steps = text_to_audio.generate(prompts, model, tmp_path / name, 0.5, 2, engine=engine)
        assert [step.reason for step in steps] == [None] * 6
        rows[name] = {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
    assert rows["here"] == rows["there"]
    assert len(list(csv.reader((tmp_path / "there" / "labels.csv").open()))) == 7


def test_a_cluster_that_does_not_answer_is_one_sentence() -> None:
    with pytest.raises(UserError, match=r"^no.such:1: no Ray cluster answers"):
        assert Ray("no.such:1").device
