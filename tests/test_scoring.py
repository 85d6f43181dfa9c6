"""Scoring: the same numbers however it is run, and the same bytes however often it is killed."""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pyarrow.parquet
import pytest
import torch
from forked_commands import Commands

from auditeval import manifest, manifest_scoring, scores_table
from auditeval.audio import decode, resample
from auditeval.features.alignment import align
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.features.pair import PairFeatures
from auditeval.scoring import Evaluator, Progress, load
from auditeval.types import AXES, EditPair, Scores, UserError

TOLERANCE = 1e-6 + 1e-9


@pytest.fixture(scope="module")
def evaluator(spectrum_checkpoint: Path) -> Evaluator:
    return load(spectrum_checkpoint, device="cpu", workers=0)


def values(rows: list[Scores]) -> np.ndarray:
    return np.array([[getattr(row, axis) for axis in AXES] for row in rows], float)


def many(pairs: list[EditPair], rows: int) -> list[EditPair]:
    """`rows` pairs of the same few clips, each with an id of its own."""
    return [
        pairs[i % len(pairs)].model_copy(update={"id": f"{i:05d}-{pairs[i % len(pairs)].id}"})
        for i in range(rows)
    ]


@pytest.fixture
def table(simulated: list[EditPair], tmp_path: Path) -> Path:
    """A manifest of 20 rows, two of them with a clip that is not there."""
    pairs = many(simulated, 20)
    for row in (3, 11):
        pairs[row] = pairs[row].model_copy(update={"edited": tmp_path / "absent.wav"})
    path = tmp_path / "pairs.jsonl"
    manifest.write(pairs, path)
    return path


def run(evaluator: Evaluator, table: Path, output: Path, batch_size: int = 4) -> list[Progress]:
    return list(evaluator.score_manifest(table, output, batch_size))


def test_scores_are_the_model_on_the_encoded_pair(
    evaluator: Evaluator, simulated: list[EditPair]
) -> None:
    """The chain written out: decode, resample, encode, compare, model, clamp."""
    encoder, model = Spectrum(), evaluator.checkpoint.model
    for pair in simulated[:3]:
        clips = [
            encoder.encode_clip(resample(decode(path), encoder.rate_hz))
            for path in (pair.original, pair.edited)
        ]
        empty = torch.zeros(1, 0)
        original, edited = (torch.from_numpy(clip.embedding)[None] for clip in clips)
        alignment = torch.from_numpy(align(*(clip.frames["mel"] for clip in clips)).values)[None]
        with torch.no_grad():
            batch = PairFeatures(original, empty, edited, empty, empty, empty, alignment, empty)
            expected = model(batch).clamp(1, 5)
        (row,) = evaluator.score([pair])
        assert row.id == pair.id
        assert values([row]) == pytest.approx(expected.double().numpy(), abs=2e-6)


def test_batch_size_and_workers_do_not_matter(
    spectrum_checkpoint: Path, simulated: list[EditPair], tmp_path: Path
) -> None:
    pairs, found = simulated[:16], []
    for workers in (0, 2):
        # Each has a cache of its own, or the second would only read what the first computed.
        made = load(spectrum_checkpoint, "cpu", tmp_path / f"cache{workers}", workers)
        for size in (1, 8, len(pairs)):
            batches = [pairs[at : at + size] for at in range(0, len(pairs), size)]
            found.append(values([row for batch in batches for row in made.score(batch)]))
    assert np.ptp(found[0], axis=0).min() > 1e-3  # the rows do differ
    for other in found[1:]:
        assert other == pytest.approx(found[0], abs=TOLERANCE)


def test_order_and_neighbours_do_not_matter(
    evaluator: Evaluator, simulated: list[EditPair]
) -> None:
    pairs = simulated[:12]
    order = np.random.default_rng(0).permutation(12)
    straight, shuffled = evaluator.score(pairs), evaluator.score([pairs[i] for i in order])
    assert [row.id for row in straight] == [pair.id for pair in pairs]
    assert [row.id for row in shuffled] == [pairs[i].id for i in order]
    assert values(shuffled) == pytest.approx(values(straight)[order], abs=TOLERANCE)
    missing = pairs[0].model_copy(update={"edited": Path("absent.wav")})
    mixed = evaluator.score([missing, *pairs, missing])
    assert values(mixed[1:-1]) == pytest.approx(values(straight), abs=TOLERANCE)
    for row in (mixed[0], mixed[-1]):
        assert (row.status, row.quality, row.relevance, row.faithfulness) == ("error", *[None] * 3)
        assert "absent.wav" in row.reason


def test_pairs_may_come_one_by_one_and_one_alone_is_told(
    evaluator: Evaluator, good: list[EditPair]
) -> None:
    assert evaluator.score(iter(good)) == evaluator.score(good)
    with pytest.raises(UserError, match=r"found one pair; give \[pair\]"):
        evaluator.score(good[0])  # type: ignore[arg-type]
    with pytest.raises(UserError, match="expected a list of EditPair, found dict in it"):
        evaluator.score([good[0], good[0].model_dump()])  # type: ignore[list-item]
    with pytest.raises(UserError, match="expected a list of pairs, found None"):
        evaluator.score(None)  # type: ignore[arg-type]


def test_scores_stay_on_the_scale(simulated: list[EditPair], spectrum_checkpoint: Path) -> None:
    made = load(spectrum_checkpoint, device="cpu", workers=0)
    made.checkpoint.model.target_mean += torch.tensor([100.0, -100.0, 0.0])
    found = values(made.score(simulated[:4]))
    assert (found[:, 0] == 5).all()
    assert (found[:, 1] == 1).all()
    assert ((found[:, 2] > 1) & (found[:, 2] < 5)).all()


def test_an_axis_that_was_not_trained_has_no_score(
    simulated: list[EditPair], spectrum_checkpoint: Path, tmp_path: Path
) -> None:
    made = load(spectrum_checkpoint, device="cpu", workers=0)
    whole = made.score(simulated[:3])
    made.checkpoint.model.trained[AXES.index("relevance")] = False
    part = made.score(simulated[:3])
    assert [row.relevance for row in part] == [None] * 3
    assert [(r.quality, r.faithfulness) for r in part] == [
        (r.quality, r.faithfulness) for r in whole
    ]
    table = tmp_path / "pairs.jsonl"
    manifest.write(simulated[:3], table)
    for suffix in scores_table.SUFFIXES:
        run(made, table, tmp_path / f"scores{suffix}")
        assert list(scores_table.read(tmp_path / f"scores{suffix}")) == part


def test_the_table_holds_every_row_with_its_error(
    evaluator: Evaluator, table: Path, tmp_path: Path
) -> None:
    steps = run(evaluator, table, tmp_path / "scores.csv")
    done = [step[:3] for step in steps]
    assert done == [(4, 1, 20), (8, 1, 20), (12, 2, 20), (16, 2, 20), (20, 2, 20)]
    pairs = manifest.read(table)
    direct = {row.id: row for row in evaluator.score(pairs)}
    with (tmp_path / "scores.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == scores_table.COLUMNS
    assert [row["id"] for row in rows] == [pair.id for pair in pairs]
    for number, row in enumerate(rows):
        expected = direct[row["id"]]
        assert (row["status"], row["reason"]) == (expected.status, expected.reason)
        if number in (3, 11):
            assert row["status"] == "error"
            assert [row[axis] for axis in AXES] == ["", "", ""]
        else:
            assert [float(row[a]) for a in AXES] == pytest.approx(
                values([expected])[0], abs=TOLERANCE
            )
    record = json.loads((tmp_path / "scores.csv.json").read_text())
    assert record["checkpoint_sha256"] == evaluator.checkpoint.digest
    assert record["rows"] == 20


def test_formats_hold_the_same_values(evaluator: Evaluator, table: Path, tmp_path: Path) -> None:
    found = []
    for suffix in scores_table.SUFFIXES:
        run(evaluator, table, tmp_path / f"scores{suffix}")
        found.append(list(scores_table.read(tmp_path / f"scores{suffix}")))
    assert found[0] == found[1] == found[2]
    # By other readers than ours.
    lines = (tmp_path / "scores.jsonl").read_text().splitlines()
    columns = pyarrow.parquet.read_table(tmp_path / "scores.parquet").to_pylist()
    assert [json.loads(line) for line in lines] == columns
    assert sorted(p.name for p in tmp_path.glob("scores*")) == sorted(
        f"scores{suffix}{end}"
        for suffix in scores_table.SUFFIXES
        for end in ("", ".json", ".clips.npy")
    )


def test_parts_are_a_table_as_well(
    evaluator: Evaluator, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest_scoring, "_BLOCK_ROWS", 8)
    run(evaluator, table, tmp_path / "scores.parquet")
    whole = scores_table.read_table(tmp_path / "scores.parquet")
    folder = tmp_path / "parts"

    def again() -> Progress:
        *_, last = evaluator.score_manifest(table, folder, 4, parts=True)
        return last

    steps = evaluator.score_manifest(table, folder, 4, parts=True)
    next(steps)
    steps.close()
    assert not folder.exists()
    assert again()[:4] == (20, 2, 20, 4)
    assert sorted(path.name for path in folder.iterdir()) == [
        f"part-{number:06d}.parquet" for number in range(3)
    ]
    assert scores_table.read_table(folder).equals(whole)
    assert polars.read_parquet(folder / "*.parquet").equals(whole)
    assert again().kept == 20
    (folder / "part-000001.parquet").unlink()
    with pytest.raises(UserError, match="was changed after it was made"):
        again()
    (tmp_path / "mine").mkdir()
    for name, said in {"mine": "holds something else", "a.csv": "files in a folder"}.items():
        with pytest.raises(UserError, match=said):
            next(evaluator.score_manifest(table, tmp_path / name, parts=True, force=True))


def test_a_finished_output_is_not_computed_again(
    evaluator: Evaluator, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "scores.csv"
    run(evaluator, table, output)
    before = output.stat()
    with monkeypatch.context() as patch:
        patch.setattr(Evaluator, "score", lambda *_: pytest.fail("scored again"))
        cluster: Any = object()  # that is not joined: nobody asks what it computes on
        assert [*evaluator.score_manifest(table, output, engine=cluster)] == [(20, 2, 20, 20, ())]
    assert (output.stat().st_ino, output.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    # Of another manifest it is neither reused nor overwritten.
    manifest.write(manifest.read(table)[:-1], table)
    with pytest.raises(UserError, match=r"scores\.csv: exists already"):
        run(evaluator, table, output)
    assert output.stat().st_mtime_ns == before.st_mtime_ns


def stopped(evaluator: Evaluator, table: Path, output: Path, batches: int, size: int = 4) -> Path:
    """The log of a run that was stopped after so many batches."""
    steps = evaluator.score_manifest(table, output, size)
    for _ in range(batches):
        next(steps)
    steps.close()
    return output.with_name(f"{output.name}.partial") / "000000.jsonl"


def test_a_partial_file_cut_at_any_byte_is_gone_on_with(
    evaluator: Evaluator, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tmp_path / "whole.jsonl"
    run(evaluator, table, whole)
    expected = whole.read_bytes()
    log = stopped(evaluator, table, tmp_path / "stopped.jsonl", 5).read_bytes()
    starts = [0]  # first byte of each line, and the end
    for line in log.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    assert len(starts) == 21
    rng = random.Random(7)
    cuts = [0, 1, starts[4], starts[4] - 1, starts[5], len(log) - 1, len(log)]
    scored: list[int] = []
    score = Evaluator.score
    monkeypatch.setattr(
        Evaluator, "score", lambda self, rows: scored.append(len(rows)) or score(self, rows)
    )
    for number, cut in enumerate([*cuts, *(rng.randrange(len(log)) for _ in range(5))]):
        output = tmp_path / f"{number}.jsonl"
        stopped(evaluator, table, output, 1).write_bytes(log[:cut])
        scored.clear()
        assert run(evaluator, table, output)[-1][:3] == (20, 2, 20)
        assert output.read_bytes() == expected, cut
        complete = sum(start <= cut for start in starts[1:])
        assert sum(scored) == 20 - complete // 4 * 4  # what was whole is not scored again
        assert not list(tmp_path.glob(f"{number}.jsonl.partial*"))


def test_a_crash_while_finishing_is_gone_on_with(
    evaluator: Evaluator, table: Path, tmp_path: Path
) -> None:
    output = tmp_path / "scores.csv"
    partial, started = tmp_path / "scores.csv.partial", tmp_path / "scores.csv.partial.json"
    rows = partial / "000000.jsonl"
    log = stopped(evaluator, table, output, 5).read_bytes()
    run(evaluator, table, output)
    expected, record = output.read_bytes(), Path(f"{output}.json").read_bytes()
    # Killed after the table was renamed into place, before its record was.
    partial.mkdir()
    rows.write_bytes(log)
    Path(f"{output}.json").rename(started)
    assert run(evaluator, table, output) == [(20, 2, 20, 20, ())]
    assert (output.read_bytes(), Path(f"{output}.json").read_bytes()) == (expected, record)
    assert not partial.exists()
    # Killed after that, before the rows were removed.
    partial.mkdir()
    rows.write_bytes(log)
    assert run(evaluator, table, output) == [(20, 2, 20, 20, ())]
    assert output.read_bytes() == expected
    assert not partial.exists()


@pytest.fixture
def commands(cache_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    made = Commands(cache_dir, tmp_path_factory.mktemp("forked"))
    yield made
    made.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and kill -9")
def test_killed_at_seeded_bytes_the_file_is_that_of_an_uninterrupted_run(
    commands: Commands, simulated: list[EditPair], spectrum_checkpoint: Path, tmp_path: Path
) -> None:
    rows = many(simulated[:20], 90)
    rows[50] = rows[50].model_copy(update={"original": tmp_path / "absent.wav"})
    table = tmp_path / "pairs.jsonl"
    manifest.write(rows, table)

    def command(output: Path) -> list[str]:
        options = ["-o", str(output), "--batch-size", "3", "--workers", "0", "--device", "cpu"]
        return ["auditeval", "score", str(table), "-c", str(spectrum_checkpoint), *options]

    whole = tmp_path / "whole.csv"
    assert commands.run(*command(whole)).status == 1  # one row could not be scored
    size = 230 * len(rows)  # about that of the partial file

    rng = random.Random(1984)
    output = tmp_path / "killed.csv"
    partial = tmp_path / "killed.csv.partial" / "000000.jsonl"
    moments = [0, *(int(size * (i + rng.random()) / 4) for i in range(3))]
    for moment in moments:
        pid = commands.start(*command(output))
        reached = -1
        while reached < moment:
            try:
                reached = partial.stat().st_size
            except FileNotFoundError:
                os.kill(pid, 0)  # raises where the command ended before it wrote anything
            assert not output.exists(), f"finished before byte {moment}"
        os.kill(pid, signal.SIGKILL)
        assert commands.wait().status == -signal.SIGKILL
        assert not output.exists()
    assert commands.run(*command(output)).status == 1
    assert output.read_bytes() == whole.read_bytes()
    assert len(output.read_text().splitlines()) == 1 + len(rows)
    leftovers = {path.name for path in tmp_path.glob("*killed*")}
    assert leftovers == {"killed.csv", "killed.csv.json", "killed.csv.clips.npy"}


def test_memory_does_not_grow_with_rows(
    evaluator: Evaluator, simulated: list[EditPair], tmp_path: Path
) -> None:
    def peak(rows: int) -> int:
        table = tmp_path / f"{rows}.jsonl"
        manifest.write(many(simulated[:4], rows), table)
        tracemalloc.start()
        try:
            for _ in evaluator.score_manifest(table, tmp_path / f"{rows}.csv", 10):
                pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(10)  # imports and caches
    few, plenty = peak(20), peak(120)
    # 100 rows of features alone would be 0.5 MB, the pairs themselves another 0.2 MB.
    assert plenty < few + 300_000, (few, plenty)


@pytest.mark.parametrize(("device", "said"), [("warp9", "expected auto"), ("cuda:0", "not avail")])
def test_a_device_that_is_not_there(spectrum_checkpoint: Path, device: str, said: str) -> None:
    if device.startswith("cuda") and torch.cuda.is_available():
        pytest.skip("this machine has cuda")
    with pytest.raises(UserError, match=said):
        load(spectrum_checkpoint, device)


def test_scores_tables_that_are_none(tmp_path: Path) -> None:
    cases: dict[str, Any] = {
        "a.csv": ("id,quality\n1,2\n", "lacks relevance"),
        "b.csv": ("id,quality,relevance,faithfulness,status,reason\n1,good,2,3,ok,\n", "row 1"),
        "c.jsonl": ('{"id": "1"}\n', "lacks quality"),
        "d.jsonl": ("nonsense\n", "d.jsonl:1: is not JSON"),
        "e.parquet": ("not parquet", "e.parquet"),
        "f.txt": ("", "ends in"),
    }
    for name, (text, said) in cases.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(UserError, match=said):
            list(scores_table.read(tmp_path / name))
