"""Commands in a store: the bytes of a folder, and whatever fails costs no row."""

from __future__ import annotations

import errno
import shutil
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from fake_encoders import FakeExtractor

from auditeval import manifest, manifest_scoring, scores_table
from auditeval.atomic import replacing
from auditeval.data.pseudo_parallel import text_to_audio
from auditeval.data.pseudo_parallel.build import build
from auditeval.data.pseudo_parallel.clips import Prompt
from auditeval.data.pseudo_parallel.plan import Settings
from auditeval.data_quality.measure import measure
from auditeval.scoring import Evaluator, load
from auditeval.storage import StorageError, copies, objects
from auditeval.types import EditPair, UserError

ENDS = ("", ".json", ".clips.npy")


def put(folder: Path, target: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            objects.put(path, str(target / path.relative_to(folder).as_posix()))


@pytest.fixture
def pairs(simulated: list[EditPair], tmp_path: Path) -> list[EditPair]:
    """30 pairs of ten clips below `tmp_path`/clips."""
    (tmp_path / "clips").mkdir()
    for pair in simulated[:5]:
        for side in (pair.original, pair.edited):
            (tmp_path / "clips" / f"{pair.id}-{side.name}").write_bytes(side.read_bytes())
    return [
        pair.model_copy(
            update={
                "id": f"{row:02d}",
                "original": tmp_path / "clips" / f"{pair.id}-{pair.original.name}",
                "edited": tmp_path / "clips" / f"{pair.id}-{pair.edited.name}",
            }
        )
        for row in range(30)
        for pair in [simulated[row % 5]]
    ]


def in_bucket(pairs: list[EditPair], tmp_path: Path, bucket: Path) -> Path:
    """Their manifest, with their clips."""
    put(tmp_path / "clips", bucket / "set" / "clips")
    there = [
        pair.model_copy(
            update={
                side: bucket / "set" / "clips" / getattr(pair, side).name
                for side in ("original", "edited")
            }
        )
        for pair in pairs
    ]
    manifest.write(there, bucket / "set" / "pairs.jsonl")
    return bucket / "set" / "pairs.jsonl"


def scored(evaluator: Evaluator, table: Path, output: Path, **options: Any) -> Any:
    *_, last = evaluator.score_manifest(table, output, 4, **options)
    return last


def test_scores_of_a_store_have_the_bytes_of_a_folder(
    bucket: Path, pairs: list[EditPair], spectrum_checkpoint: Path, tmp_path: Path
) -> None:
    """Manifest, clips, cache, checkpoint and table there, a file or parts."""
    pairs[7] = pairs[7].model_copy(update={"edited": tmp_path / "clips" / "absent.wav"})
    there = in_bucket(pairs, tmp_path, bucket)
    manifest.write(pairs, tmp_path / "pairs.jsonl")
    put(spectrum_checkpoint, bucket / "spectrum-random")
    here = load(spectrum_checkpoint, "cpu", tmp_path / "own")
    of_store = load(str(bucket / "spectrum-random"), "cpu", bucket / "cache")
    assert of_store.checkpoint.digest == here.checkpoint.digest
    for parts, name in ((False, "scores.parquet"), (False, "scores.csv"), (True, "scores")):
        whole = scored(here, tmp_path / "pairs.jsonl", tmp_path / name, parts=parts)
        found = scored(of_store, there, bucket / name, parts=parts)
        assert found == whole
        assert (found.total, found.errors) == (30, 1)
        own = tmp_path / name
        for path in [own] if own.is_file() else own.iterdir():
            assert objects.read(
                str(bucket / path.relative_to(tmp_path))
            ) == path.read_bytes() or "absent" in path.read_text(errors="replace")
        rows = list(scores_table.read(bucket / name))
        assert [row.ratings for row in rows] == [row.ratings for row in scores_table.read(own)]
        assert rows[7].reason.endswith("absent.wav: no such file")
        assert scored(of_store, there, bucket / name, parts=parts).kept == 30
    left = {path.name for path in bucket.iterdir()}
    assert not [name for name in left if "partial" in name]
    assert objects.below(str(bucket / "cache"))
    changed = bucket / "set" / "clips" / pairs[0].edited.name
    objects.write(str(changed), pairs[1].edited.read_bytes())
    copies.forget(str(changed))
    again = scored(of_store, there, bucket / "scores.csv")
    assert set(again.changed) == {pair.id for pair in pairs[::5]}


@pytest.fixture
def there(
    bucket: Path,
    pairs: list[EditPair],
    evaluator: Evaluator,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """A manifest in the bucket, beside its scores, whole.csv, that were made in blocks of eight."""
    found = in_bucket(pairs, tmp_path, bucket)
    monkeypatch.setattr(manifest_scoring, "_BLOCK_ROWS", 8)
    scored(evaluator, found, bucket / "whole.csv")
    return found


def test_another_machine_goes_on_with_the_blocks_that_are_done(
    bucket: Path,
    there: Path,
    evaluator: Evaluator,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = evaluator.score_manifest(there, bucket / "two.csv", 4)
    list(islice(steps, 5))  # two blocks and a half; the half is put as the run ends
    steps.close()
    objects.remove(str(bucket / "two.csv.partial" / "000002.jsonl"))
    monkeypatch.setenv("AUDITEVAL_CACHE", str(tmp_path / "other"))
    assert scored(evaluator, there, bucket / "two.csv").kept == 16
    for end in ENDS:
        assert objects.read(str(bucket / f"two.csv{end}")) == objects.read(
            str(bucket / f"whole.csv{end}")
        )


CUT = StorageError(errno.EIO, "the request failed (cut)")
FULL = OSError(errno.ENOSPC, "No space left on device")  # of this machine, where a copy was to be


@pytest.mark.parametrize(
    ("what", "error", "said"),
    [
        ("get", CUT, r"the request failed \(cut\)"),
        ("info", CUT, r"the request failed \(cut\)"),
        ("put", CUT, r"the request failed \(cut\)"),
        ("get", FULL, r"cannot be copied to .*fetched \(No space left on device\)"),
    ],
)
def test_a_store_that_fails_in_mid_run_costs_no_row(
    what: str,
    error: OSError,
    said: str,
    bucket: Path,
    there: Path,
    evaluator: Evaluator,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No clip becomes an error row for it; the same command goes on from where it was."""
    monkeypatch.setenv("AUDITEVAL_CACHE", str(tmp_path / "other"))
    steps = evaluator.score_manifest(there, bucket / "two.csv", 4)
    next(steps)
    with monkeypatch.context() as patch:

        def fails(*arguments: Any) -> Any:
            url = next(one for one in arguments if "://" in str(one))
            raise type(error)(*error.args, url) if error is CUT else error

        patch.setattr(objects, what, fails)
        copies._seen.clear()
        shutil.rmtree(tmp_path / "other" / "fetched")
        with pytest.raises(UserError, match=rf"^{bucket}/.*: {said}; rows scored so far are kept"):
            list(steps)
    again = scored(evaluator, there, bucket / "two.csv")
    assert again.kept >= 4
    assert not again.errors
    assert objects.read(str(bucket / "two.csv")) == objects.read(str(bucket / "whole.csv"))


def test_sets_are_built_measured_and_filtered_in_a_store(
    bucket: Path,
    clip_list: Path,
    spectrum_checkpoint: Path,
    tmp_path: Path,
    cli: Any,
    blank_plots: None,
) -> None:
    """To the files of a folder, virtual clips too."""
    put(clip_list.parent, bucket / "clips")
    shutil.copytree(clip_list.parent, tmp_path / "clips")
    recipe = "stages: [{name: best, axis: quality, keep_share: 0.5}]\n"
    measured = []
    for base in (tmp_path, bucket):
        clips, table = base / "clips" / "labels.csv", base / "set" / "manifest.jsonl"
        settings = Settings(2, 2.0, (0.5, 1.0), 8000)
        build(clips, base / "set", settings, audio_format="wav")
        build(clips, base / "virtual", settings, audio_format="virtual")
        (measure_of,) = measure({"set": table}, {"yamnet": FakeExtractor()}).rows
        measured.append(measure_of)
        evaluator = load(spectrum_checkpoint, "cpu", base / "cache")
        scored(evaluator, base / "virtual" / "manifest.jsonl", base / "virtual.csv")
        assert scored(evaluator, table, base / "scores.csv").errors == 0
        with replacing(base / "best.yaml") as temporary:
            temporary.write_text(recipe)
        files = [table, base / "scores.csv", "--recipe", base / "best.yaml"]
        ended = cli("filter", *files, "-o", base / "kept" / "kept.jsonl")
        assert ended.status == 0, ended.err
        ended = cli("filter", *files, "-o", base / "kept" / "kept.jsonl")  # its own, again
        assert ended.status == 0, ended.err
    assert measured[0] == measured[1]
    for name in ("set", "virtual", "kept", "scores.csv", "virtual.csv"):
        own = [tmp_path / name, *(tmp_path / name).rglob("*")]
        files = {one.relative_to(tmp_path).as_posix(): one for one in own if one.is_file()}
        there = {url.removeprefix(f"{bucket}/") for url in objects.below(str(bucket))}
        assert {one for one in there if one.split("/")[0] == name} == files.keys()
        for url, file in files.items():
            assert objects.read(f"{bucket}/{url}") == file.read_bytes(), url


def test_a_manifest_here_may_name_clips_there(
    bucket: Path, pairs: list[EditPair], evaluator: Evaluator, tmp_path: Path
) -> None:
    there = in_bucket(pairs, tmp_path, bucket)
    manifest.write(manifest.iterate(there), tmp_path / "here.csv")
    assert str(bucket) in (tmp_path / "here.csv").read_text()
    assert scored(evaluator, tmp_path / "here.csv", tmp_path / "s.csv").errors == 0


def test_clips_are_generated_into_a_store(bucket: Path, tmp_path: Path) -> None:
    from fake_tangoflux import FakePipeline

    prompts = [Prompt(word, word, None) for word in ("rain", "dog")]
    model = text_to_audio.Deferred("fake", partial(text_to_audio.TangoFlux, FakePipeline()))
    for base in (tmp_path, bucket):
        for _ in range(2):  # the second time all are there
            steps = text_to_audio.generate(prompts, model, base / "made", 0.5, 2)
            assert [step.reason for step in steps] == [None] * 4
    own = {f"{bucket}/made/{path.name}": path for path in (tmp_path / "made").iterdir()}
    assert objects.below(f"{bucket}/made").keys() == own.keys()
    assert all(objects.read(url) == path.read_bytes() for url, path in own.items())
