"""What is behind SwanBench-Speech's means: nothing that is left out goes unsaid or pays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from swan_files import ROWS, Judging, Told, backends, row, speech, write

from auditeval.audio import Waveform
from auditeval.backends.backend import Transcript
from auditeval.benchmarks.benchmark import BenchmarkTable, Missing, Output, Record
from auditeval.benchmarks.swanbench.benchmark import SwanBench
from auditeval.benchmarks.swanbench.means import deviation, mean
from auditeval.types import Undefined

TIMBRE = "Timbre by told-voices"


def swanbench(folder: Path, **changes: Any) -> SwanBench:
    """Four scripts of one speaker."""
    return SwanBench([write(folder / "set.jsonl", 4 * [ROWS[0]])], backends(**changes))


def records_of(made: SwanBench, system: str, outputs: list[Output]) -> list[Record]:
    return [
        {"id": sample.id, "system": system, **made.evaluate(sample, output)}
        for sample, output in zip(made.samples, outputs, strict=True)
    ]


def tops(table: BenchmarkTable, name: str) -> set[str]:
    return {table.labels[row] for row, at in table.best() if table.columns[at].name == name}


def changing(seconds: float) -> Waveform:
    clip = speech(seconds)
    half = len(clip.samples) // 2
    samples = np.concatenate([0.1 * clip.samples[:half], clip.samples[half:]])
    return Waveform(samples.astype(np.float32), clip.rate_hz)


LONG, SHORT, CHANGING = speech(9), speech(2), changing(9)


def test_a_mean_over_a_part_of_the_samples_says_so_and_is_not_the_best(tmp_path: Path) -> None:
    made = swanbench(tmp_path)
    systems = {
        "picked": records_of(made, "picked", [LONG, SHORT, SHORT, Missing("gone")]),
        "whole": records_of(made, "whole", [CHANGING] * 4),
    }
    single, scenes, radar = made.tables(systems)
    row = single.row("picked")
    assert (row[TIMBRE], row["Samples"], row["Outputs"]) == (1, 4, 3)
    reason = systems["picked"][1]["undefined"]["timbre"]
    (note,) = (note for note in single.notes if note.startswith("picked: "))
    assert f"{TIMBRE} over 1 of 4 samples (most often: {reason})" in note
    assert "Prosody by told-prosody" in note
    assert "over 3 of 4 samples (most often: gone)" in note
    assert "WER" not in note
    assert not any(note.startswith("whole: ") for note in single.notes)
    assert any(note.startswith("picked, audiobook: ") for note in scenes.notes)
    assert note.partition(" over")[0] in " ".join(radar.notes)
    assert tops(single, TIMBRE) == tops(single, "Prosody by told-prosody") == set()
    assert tops(single, "WER (en) by told-words") == {"whole"}
    assert tops(radar, TIMBRE) == set()
    values = made.values(systems["picked"])
    assert [values[f"{m}_coverage"] for m in ("timbre", "prosody", "content")] == [0.25, 0.75, 1]


def test_a_best_is_among_means_over_the_same_samples(tmp_path: Path) -> None:
    made = swanbench(tmp_path)
    first = records_of(made, "first", [LONG, LONG, SHORT, SHORT])
    same = records_of(made, "same", [CHANGING, CHANGING, SHORT, SHORT])
    other = records_of(made, "other", [SHORT, SHORT, CHANGING, CHANGING])
    none = records_of(made, "none", [SHORT] * 4)
    assert tops(made.tables({"first": first, "same": same, "none": none})[0], TIMBRE) == {"first"}
    assert tops(made.tables({"first": first, "other": other})[0], TIMBRE) == set()


def test_real_time_factors_of_other_outputs_have_no_best(tmp_path: Path) -> None:
    path = write(tmp_path / "set.jsonl", 2 * [ROWS[0]])
    timings = {"a": {"1": 1.0, "2": 9.0}, "b": {"1": 1.0}}
    made = SwanBench([path], backends(), timings)
    systems = {
        "a": records_of(made, "a", [SHORT, SHORT]),
        "b": records_of(made, "b", [SHORT, Missing("gone")]),
    }
    assert tops(made.tables(systems)[0], "RTF") == set()
    systems["b"] = records_of(made, "b", [SHORT, SHORT])
    timings["b"]["2"] = 1.0
    assert tops(made.tables(systems)[0], "RTF") == {"b"}


def test_the_real_time_factor_is_the_mean_over_outputs(tmp_path: Path) -> None:
    """As the paper's Table 9 has it, with its deviation: a long output weighs no more."""
    path = write(tmp_path / "set.jsonl", 2 * [ROWS[0]])
    made = SwanBench([path], backends(), {"a": {"1": 0.5 * SHORT.seconds, "2": 2 * LONG.seconds}})
    records = records_of(made, "a", [SHORT, LONG])
    row = made.tables({"a": records})[0].row("a")
    assert (row["RTF"], row["± RTF"]) == (pytest.approx(1.25), pytest.approx(0.75))
    assert made.values(records)["real_time_factor"] == pytest.approx(1.25)


@pytest.mark.parametrize("junk", ["nothing like it " * 40, "", "it was a bright cold day"])
def test_to_drop_an_output_never_improves_the_content_error(tmp_path: Path, junk: str) -> None:
    made = swanbench(tmp_path, transcriber_en=Told("told-words", Transcript(junk, ())))
    kept = records_of(made, "kept", [LONG] * 4)
    dropped = records_of(made, "dropped", [LONG, LONG, Missing("gone"), LONG])
    if len(junk) > 100:
        assert kept[0]["content"] > 2  # the record has what was found
    tables = made.tables({"kept": kept, "dropped": dropped})
    column = "WER (en) by told-words"
    row = tables[0].row
    assert row("kept")[column] <= row("dropped")[column] <= 1
    for name in ("content", "wer_en"):
        assert made.values(kept)[name] <= made.values(dropped)[name] <= 1
    assert any("counts up to 1" in note for note in tables[0].notes)


def test_means_and_deviations_by_hand() -> None:
    def record(id: str, language: str, content: float, timbre: float | None) -> Record:
        undefined = {} if timbre is not None else {"timbre": "short" if id != "1" else "silent"}
        made = {"content": content, "timbre": timbre, "language": language}
        return {"id": id, "undefined": undefined, **made}

    records = [record("1", "en", 0.5, None), record("2", "en", 3.0, 0.2)]
    records += [record("3", "zh", 0.0, 0.6), record("4", "zh", 0.5, None)]
    assert mean(records, "timbre") == pytest.approx(0.4)
    assert deviation(records, "timbre") == pytest.approx(0.2)  # of these samples: ddof 0
    assert [mean(records, key) for key in ("content", "en", "zh")] == [0.5, 0.75, 0.25]
    rest = [*records[::3], record("5", "en", 0, None)]
    assert mean(rest, "timbre") == deviation(rest, "timbre") == Undefined("short")  # two of three


def test_a_score_from_less_than_half_of_its_answers_is_none(tmp_path: Path) -> None:
    def answered(count: int) -> SwanBench:
        told = Judging("told", lambda question: 4 if question.run < count else None)
        return swanbench(tmp_path, prosody_judge=told)

    half = records_of(answered(5), "mine", [LONG] * 4)
    assert half[0]["prosody"] == 4
    less = records_of(answered(4), "mine", [LONG] * 4)
    assert less[0]["prosody"] is None
    reason = "4 of 10 answers: the judge wrote nothing"
    assert less[0]["undefined"]["prosody"] == reason
    made = answered(5)
    notes = made.tables({"mine": [*half[:3], less[3]]})[0].notes
    (note,) = (note for note in notes if note.startswith("mine: "))
    assert f"Prosody by told over 3 of 4 samples (most often: {reason})" in note
    assert "Prosody by told from 15 of 30 answers" in note


def test_chunks_without_an_answer_are_counted(tmp_path: Path) -> None:
    shorter = Judging("told", lambda q: 4 if q.clips[0][1].seconds != 10 else None)
    made = swanbench(tmp_path, expressiveness_judge=shorter)
    records = records_of(made, "mine", [speech(15), LONG, LONG, LONG])
    assert records[0]["richness"] == 4  # 1 of 2 chunks
    notes = made.tables({"mine": records})[0].notes
    assert any("Richness by told from 4 of 5 answers" in note for note in notes)


def test_who_speaks_when_is_never_told_by_the_papers_aligner(tmp_path: Path) -> None:
    models = {
        "speaker": Told("wavlm-base-plus-sv", None),
        "transcriber_en": Told("Fun-ASR-Nano-2512", Transcript("", ())),
        "prosody_judge": Judging("SpeechJudge-GRM", lambda _: 3),
        "expressiveness_judge": Judging("gemini-3-pro-preview", lambda _: 3),
    }
    three = row([("a", "one"), ("b", "two"), ("c", "three")])
    made = SwanBench([write(tmp_path / "set.jsonl", [*ROWS, three])], backends(**models))
    records = records_of(made, "mine", [Missing("gone")] * 3)
    single, *others = made.tables({"mine": records})
    assert single.title.startswith("SwanBench-Speech, paper protocol: one speaker")
    assert not any("WhisperX" in note for note in single.notes)
    assert len(others) == 4
    for table in others:
        assert table.title.startswith("SwanBench-Speech, paper protocol: ")
        assert any("stand in for WhisperX (en), Paraformer (zh)" in note for note in table.notes)
