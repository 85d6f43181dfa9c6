"""The runner: records in order, what is missing, resumption after a kill to the same bytes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toy_benchmark import RATE_HZ, Clip, Louder, rms, write_clips

from auditeval.audio import Waveform
from auditeval.benchmarks.benchmark import Missing, Output, Record
from auditeval.benchmarks.run import RECORDS, run
from auditeval.benchmarks.systems import Constant, Identity, Noise, OutputFolder, find_outputs
from auditeval.types import UserError

ROOT = Path(__file__).parents[2]
CLIPS = 12


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Louder:
    return Louder(write_clips(tmp_path_factory.mktemp("louder"), CLIPS))


@pytest.fixture
def loud(benchmark: Louder, tmp_path: Path) -> OutputFolder:
    """Every third output is there, half of them in audio/, one of them is no audio."""
    folder = write_clips(tmp_path / "loud", CLIPS, 0.2, every=3)
    (folder / "audio").mkdir()
    (folder / "clip03.wav").rename(folder / "audio" / "clip03.wav")
    (folder / "clip06.wav").write_bytes(b"no audio at all")
    ids = [sample.id for sample in benchmark.samples]
    return OutputFolder("loud", find_outputs(folder, ids))


def test_records_are_in_order_and_bad_outputs_are_failures(
    benchmark: Louder, loud: OutputFolder, tmp_path: Path
) -> None:
    seen: list[tuple[int, int]] = []
    records = run(benchmark, loud, tmp_path / "run", watch=lambda *step: seen.append(step))
    assert [record["id"] for record in records] == [f"clip{n:02d}" for n in range(CLIPS)]
    assert [r["id"] for r in records if r["success"]] == ["clip00", "clip03", "clip09"]
    reasons = {record["id"]: record["reason"] for record in records}
    assert reasons["clip01"] == "there is no output"
    assert reasons["clip06"].startswith("cannot be decoded as audio")
    assert {record["system"] for record in records} == {"loud"}
    assert seen == [(n, CLIPS) for n in range(CLIPS + 1)]
    assert not (tmp_path / "run" / f"{RECORDS}.partial").exists()


def test_workers_change_no_byte(benchmark: Louder, loud: OutputFolder, tmp_path: Path) -> None:
    made = []
    for workers in (0, 1, 5):
        run(benchmark, loud, tmp_path / str(workers), workers)
        made.append((tmp_path / str(workers) / RECORDS).read_bytes())
    assert made[0] == made[1] == made[2]


@pytest.mark.parametrize("torn", [b"", b'{"id": "cl', b"\x00\xff"])
def test_goes_on_behind_the_last_whole_record(
    benchmark: Louder, loud: OutputFolder, tmp_path: Path, torn: bytes
) -> None:
    whole = tmp_path / "whole"
    run(benchmark, loud, whole)
    begun = tmp_path / "begun"
    run(benchmark, loud, begun)
    lines = (begun / RECORDS).read_bytes().splitlines(keepends=True)
    (begun / RECORDS).unlink()
    (begun / f"{RECORDS}.partial").write_bytes(b"".join(lines[:5]) + torn)
    asked: list[str] = []
    records = run(_Told(benchmark, asked), loud, begun, workers=0)
    assert asked == [f"clip{n:02d}" for n in range(5, CLIPS)]
    assert len(records) == CLIPS
    assert (begun / RECORDS).read_bytes() == (whole / RECORDS).read_bytes()
    # What is finished is read, not made again.
    assert run(_Told(benchmark, asked), loud, begun) == records
    assert len(asked) == CLIPS - 5


def test_a_kill_loses_nothing(tmp_path: Path) -> None:
    """kill -9 in the middle of a run, in a process of its own."""
    clips = write_clips(tmp_path / "clips", CLIPS)
    paths = [str(ROOT), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, __file__, str(clips), str(tmp_path / "run")]
    partial = tmp_path / "run" / f"{RECORDS}.partial"
    process = subprocess.Popen([*command, "0.2"], env=environment)
    ends = time.monotonic() + 60
    while not (partial.exists() and partial.read_bytes().count(b"\n") >= 3):
        assert time.monotonic() < ends
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert 3 <= partial.read_bytes().count(b"\n") < CLIPS
    subprocess.run([*command, "0"], env=environment, check=True, timeout=60)
    benchmark = Louder(clips)
    run(benchmark, Identity(benchmark), tmp_path / "whole")
    assert (tmp_path / "run" / RECORDS).read_bytes() == (tmp_path / "whole" / RECORDS).read_bytes()


def test_what_a_judge_did_not_answer_is_asked_again(
    benchmark: Louder, loud: OutputFolder, tmp_path: Path
) -> None:
    class Judged(Louder):
        """Its judge does not answer on some of the samples."""

        def __init__(self, silent: set[str]) -> None:
            self._samples, self.silent = benchmark._samples, silent
            self.asked: list[str] = []

        def evaluate(self, sample: Clip, output: Output) -> Record:
            self.asked.append(sample.id)
            record = super().evaluate(sample, output)
            unscored = {"status": "unscored", "reason": "no answer", "success": False}
            return record | unscored if sample.id in self.silent else record

    first = Judged({"clip00", "clip03"})
    run(first, loud, tmp_path / "run")
    again = Judged({"clip03"})
    records = run(again, loud, tmp_path / "run")
    assert sorted(again.asked) == ["clip00", "clip03"]
    assert [r["id"] for r in records if r["status"] == "unscored"] == ["clip03"]
    whole = Judged({"clip03"})
    run(whole, loud, tmp_path / "whole")
    before = (tmp_path / "run" / RECORDS).read_bytes()
    assert before == (tmp_path / "whole" / RECORDS).read_bytes()
    run(Judged({"clip03"}), loud, tmp_path / "run")
    assert (tmp_path / "run" / RECORDS).read_bytes() == before


def test_what_a_judge_did_not_answer_before_a_stop_is_asked_again_first(
    benchmark: Louder, loud: OutputFolder, tmp_path: Path
) -> None:
    class Silent(Louder):
        """Gives no verdict on a clip, and stops at a later one, as a judge that fails would."""

        def __init__(self) -> None:
            self._samples = benchmark._samples

        def evaluate(self, sample: Clip, output: Output) -> Record:
            if sample.id == "clip05":
                raise UserError("no answer to 20 questions in a row")
            record = super().evaluate(sample, output)
            return record | {"status": "unscored"} if sample.id >= "clip02" else record

    with pytest.raises(UserError, match="in a row"):
        run(Silent(), loud, tmp_path / "run", workers=0)
    asked: list[str] = []
    run(_Told(benchmark, asked), loud, tmp_path / "run", workers=0)
    assert asked == [f"clip{n:02d}" for n in range(2, CLIPS)]
    run(benchmark, loud, tmp_path / "whole")
    assert (tmp_path / "run" / RECORDS).read_bytes() == (tmp_path / "whole" / RECORDS).read_bytes()


@pytest.mark.parametrize("name", [RECORDS, f"{RECORDS}.partial"])
@pytest.mark.parametrize("damage", ["garbage", "a list", "other samples", "too many", "no id"])
def test_records_that_are_none_are_said(
    benchmark: Louder, loud: OutputFolder, tmp_path: Path, name: str, damage: str
) -> None:
    records = run(benchmark, loud, tmp_path / "run")
    lines = [json.dumps(record) for record in records]
    if damage == "too many":
        lines += lines
    elif damage == "other samples":
        lines = lines[::-1]
    else:
        lines[3] = {"garbage": "{]", "a list": "[]", "no id": "{}"}[damage]
    (tmp_path / "run" / RECORDS).unlink()
    (tmp_path / "run" / name).write_text("".join(f"{line}\n" for line in lines))
    with pytest.raises(UserError, match="does not hold the records of these samples"):
        run(benchmark, loud, tmp_path / "run")


def test_a_finished_run_is_whole(benchmark: Louder, loud: OutputFolder, tmp_path: Path) -> None:
    run(benchmark, loud, tmp_path / "run")
    path = tmp_path / "run" / RECORDS
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:5]))
    with pytest.raises(UserError, match="does not hold the records"):
        run(benchmark, loud, tmp_path / "run")


def test_which_of_several_files_is_the_output(benchmark: Louder, tmp_path: Path) -> None:
    """The folder before its audio/, then WAV before FLAC before MP3, small before capitals."""
    ids = [sample.id for sample in benchmark.samples]
    (tmp_path / "audio").mkdir()
    order = ["clip00.wav", "clip00.WAV", "clip00.flac", "clip00.Mp3", "audio/clip00.wav"]
    for name in order:
        (tmp_path / name).touch()
    for name in order:
        assert find_outputs(tmp_path, ids) == {"clip00": tmp_path / name}
        (tmp_path / name).unlink()
        (tmp_path / "clip01.wav").touch()
        if name == order[-1]:
            assert set(find_outputs(tmp_path, ids)) == {"clip01"}
        (tmp_path / "clip01.wav").unlink()


def test_outputs_may_lie_in_folders_of_their_tasks(tmp_path: Path) -> None:
    """SpeechEditBench's layout of an all-task run, beside the flat one."""
    homes = {"a": "style_editing", "b": "style_editing", "c": "content_editing"}
    (tmp_path / "style_editing" / "audio").mkdir(parents=True)
    placed = {"a": "style_editing/a.mp3", "b": "style_editing/audio/b.wav", "c": "c.flac"}
    for path in placed.values():
        (tmp_path / path).touch()
    (tmp_path / "style_editing" / "c.wav").touch()  # of no sample of that task
    expected = {id: tmp_path / path for id, path in placed.items()}
    assert find_outputs(tmp_path, list(homes), homes) == expected
    (tmp_path / "audio").mkdir()
    (tmp_path / "audio" / "a.wav").touch()
    with pytest.raises(UserError) as caught:
        find_outputs(tmp_path, list(homes), homes)
    one, other = tmp_path / "style_editing/a.mp3", tmp_path / "audio/a.wav"
    assert str(caught.value) == f"{one}: which is the output of a, it or {other}?"
    with pytest.raises(UserError, match=r"like d\.wav, there, in style_editing/ or in audio/ of"):
        find_outputs(tmp_path, ["d"], {"d": "style_editing"})


def test_an_id_may_name_a_folder(tmp_path: Path) -> None:
    placed = {"a/1": "a/1.wav", "b/1": "audio/b/1.mp3", "c": "c.wav"}
    for path in placed.values():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    expected = {id: tmp_path / path for id, path in placed.items()}
    assert find_outputs(tmp_path, [*placed, "b", f"{300 * 'x'}/1"]) == expected
    with pytest.raises(UserError, match="leads out"):
        find_outputs(tmp_path / "a", ["../c"])


def test_other_outputs_are_not_mixed_in(
    benchmark: Louder, loud: OutputFolder, tmp_path: Path
) -> None:
    run(benchmark, loud, tmp_path / "run")
    other = write_clips(tmp_path / "other", CLIPS, 0.3, every=3)
    changed = OutputFolder("loud", find_outputs(other, [s.id for s in benchmark.samples]))
    with pytest.raises(UserError, match="was made with other settings"):
        run(benchmark, changed, tmp_path / "run")


def test_an_error_keeps_what_was_done(
    benchmark: Louder, loud: OutputFolder, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match="no judge"):
        run(_Told(benchmark, [], stop_at="clip07"), loud, tmp_path / "run", workers=3)
    lines = (tmp_path / "run" / f"{RECORDS}.partial").read_bytes().splitlines()
    assert [json.loads(line)["id"] for line in lines] == [f"clip{n:02d}" for n in range(7)]


def test_an_error_at_the_first_leaves_the_folder_to_other_settings(
    benchmark: Louder, loud: OutputFolder, tmp_path: Path
) -> None:
    """As of who forgot the judge, and names one."""
    with pytest.raises(UserError, match="no judge"):
        run(_Told(benchmark, [], stop_at="clip00"), loud, tmp_path / "run")
    fewer = OutputFolder("loud", {"clip00": loud.files["clip00"]})
    assert run(benchmark, fewer, tmp_path / "run")[0]["success"]


def test_a_folder_without_outputs_is_said(benchmark: Louder, tmp_path: Path) -> None:
    ids = [sample.id for sample in benchmark.samples]
    with pytest.raises(UserError, match=r"no output of any of the 12 samples; .* clip00\.wav"):
        find_outputs(tmp_path, ids)
    with pytest.raises(UserError, match="is no folder"):
        find_outputs(tmp_path / "nowhere", ids)


def test_baselines(benchmark: Louder) -> None:
    first, second = benchmark.samples[:2]
    same = Identity(benchmark).output(second)
    assert isinstance(same, Waveform)
    assert np.array_equal(same.samples, benchmark.source(second).samples)  # type: ignore[union-attr]
    constant = Constant(benchmark).output(second)
    assert isinstance(constant, Waveform)
    assert np.array_equal(constant.samples, benchmark.source(first).samples)  # type: ignore[union-attr]
    noise, again = (Noise(benchmark, seed=3).output(second) for _ in range(2))
    other = Noise(benchmark, seed=4).output(second)
    assert isinstance(noise, Waveform)
    assert isinstance(again, Waveform)
    assert isinstance(other, Waveform)
    assert np.array_equal(noise.samples, again.samples)
    assert not np.array_equal(noise.samples, other.samples)
    assert len(noise.samples) == len(same.samples)
    assert noise.rate_hz == RATE_HZ
    assert rms(noise) == pytest.approx(rms(same), rel=0.1)


class _Told(Louder):
    """Notes what it is asked, and ends at one of the samples as a judge that is gone would."""

    def __init__(self, benchmark: Louder, asked: list[str], stop_at: str | None = None) -> None:
        self._samples, self._asked, self._stop_at = benchmark._samples, asked, stop_at

    def evaluate(self, sample: Clip, output: Output) -> Record:
        self._asked.append(sample.id)
        if sample.id == self._stop_at:
            raise UserError("no judge")
        return super().evaluate(sample, output)


class _Slow(Louder):
    seconds = 0.0

    def evaluate(self, sample: Clip, output: Output | Missing) -> Record:
        time.sleep(self.seconds)
        return super().evaluate(sample, output)


def main(clips: str, folder: str, seconds: str) -> Any:
    benchmark = _Slow(Path(clips))
    benchmark.seconds = float(seconds)
    return run(benchmark, Identity(benchmark), Path(folder), workers=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
