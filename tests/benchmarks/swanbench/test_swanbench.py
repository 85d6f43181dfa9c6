"""SwanBench-Speech from outputs to records to tables, on backends that say what they are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from swan_files import (
    RATE_HZ,
    ROWS,
    A,
    B,
    Judging,
    Told,
    backends,
    later,
    row,
    speech,
    words,
    write,
)

from auditeval.audio import Waveform
from auditeval.backends.backend import Ratings, SpeechSpans, Transcript
from auditeval.benchmarks.benchmark import Missing, Record
from auditeval.benchmarks.run import run
from auditeval.benchmarks.swanbench.benchmark import SwanBench
from auditeval.benchmarks.swanbench.tables import METRICS
from auditeval.benchmarks.systems import Noise
from auditeval.types import Undefined


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "set.jsonl")


def record_of(path: Path, clip: Any, number: int = 0, **changes: Any) -> Record:
    made = SwanBench([path], backends(**changes))
    record = made.evaluate(made.samples[number], clip)
    json.dumps(record, allow_nan=False)
    return {"id": made.samples[number].id, "system": "mine", **record}


def test_a_steady_clip(path: Path) -> None:
    record = record_of(path, speech(25))
    assert record["status"] == "ok"
    assert record["undefined"] == {}
    assert record["timbre"] == 1
    assert len(record["details"]["reverb"]["srmr"]) == 12
    kept = record["details"]["reverb"]["srmr"]
    assert record["reverb"] == pytest.approx(np.std(kept), abs=1e-5)
    assert (record["fidelity"], record["content"]) == (3.25, 0)
    assert record["prosody"] == 3  # 1, 2, 3, 4, 5 twice
    assert (record["richness"], record["hierarchy"]) == (2.5, 2.5)
    assert record["seconds"] == 25


def test_what_the_judges_are_asked(path: Path) -> None:
    prosody, expression = Judging("p", lambda _: 4), Judging("e", lambda _: 3)
    clip = speech(25)
    changes = {"prosody_judge": prosody, "expressiveness_judge": expression}
    record = record_of(path, clip, 1, **changes)
    assert [question.run for question in prosody.asked] == list(range(10))
    assert len({question.key for question in prosody.asked}) == 10
    assert all(question.temperature > 0 for question in prosody.asked)
    first = prosody.asked[0]
    assert first.prompt.endswith(f"Target Text:\nSpeaker1: {A}!\nSpeaker2: {B}?")
    assert [(name, len(c.samples)) for name, c in first.clips] == [("Output A", 25 * RATE_HZ)]
    lengths = [len(question.clips[0][1].samples) / RATE_HZ for question in expression.asked]
    assert lengths == [10, 10, 5, 25]
    heard = np.concatenate([question.clips[0][1].samples for question in expression.asked[:3]])
    assert (heard == clip.samples).all()
    assert {question.reply.__name__ for question in expression.asked[:3]} == {"Richness"}
    assert expression.asked[3].reply.__name__ == "Hierarchy"
    assert "Expressiveness_Score" in expression.asked[0].prompt
    assert len(record["details"]["richness"]["opinions"]) == 3


def test_scores_are_halves_from_one_to_five(path: Path) -> None:
    asker = Judging("p", lambda _: 4)
    record_of(path, speech(6), prosody_judge=asker)
    reply = asker.asked[0].reply
    said = {
        "Overall_Impression": "",
        "Detailed_Analysis": dict.fromkeys(
            ("Coherence_and_Flow", "Hierarchy_and_Layering", "Naturalness"), ""
        ),
    }
    assert reply.model_validate({**said, "Score": 4.5}).score == 4.5
    for bad in (0.5, 5.5, 4.2, float("nan"), "good", None):
        with pytest.raises(ValueError, match="Score"):
            reply.model_validate({**said, "Score": bad})


def test_an_unanswered_question_is_no_score(path: Path) -> None:
    some = Judging("p", lambda question: None if question.run < 5 else 4)
    none = Judging("e", lambda _: None)
    record = record_of(path, speech(25), prosody_judge=some, expressiveness_judge=none)
    assert record["status"] == "unscored"
    assert record["reason"] == "9 questions have no answer"  # 5 runs, 3 chunks, 1 clip
    assert record["prosody"] == 4
    assert record["richness"] is record["hierarchy"] is None
    assert record["undefined"]["richness"] == "0 of 3 answers: the judge wrote nothing"


def test_a_change_of_voice_is_heard(path: Path) -> None:
    clip = speech(25)
    changed = Waveform(np.concatenate([clip.samples * 0.1, clip.samples]), RATE_HZ)
    assert record_of(path, changed)["timbre"] < 0.6


def test_each_speaker_is_compared_with_himself(path: Path) -> None:
    quiet, loud = speech(10).samples * 0.1, speech(10, 1).samples
    clip = Waveform(np.concatenate([quiet, loud]), RATE_HZ)
    told = Told("t", Transcript("", (*words(A, 10), *later(words(B, 10), 10))))
    record = record_of(path, clip, 1, transcriber_en=told)
    assert (record["timbre"], record["turns"]) == (1, 1)
    assert record["details"]["timbre"] == {
        "speakers": {
            "Speaker1": {"seconds": 10, "windows": 4},
            "Speaker2": {"seconds": 10, "windows": 4},
        },
        "verified": True,
        "cosines": {"Speaker1, Speaker2": 0},
    }
    # One voice for both, which changes inside a turn: heard, whoever speaks.
    early = Told("t", Transcript("", (*words(A, 5), *later(words(B, 15), 5))))
    assert record_of(path, clip, 1, transcriber_en=early)["timbre"] < 1


def test_a_dialogue_in_one_voice_has_no_timbre_and_is_counted(path: Path) -> None:
    told = Told("t", Transcript("", (*words(A, 10), *later(words(B, 10), 10))))
    one = record_of(path, speech(20), 1, transcriber_en=told)
    assert (one["timbre"], one["turns"]) == (None, 0)
    assert one["undefined"]["timbre"] == "one voice speaks for all speakers"
    assert one["details"]["timbre"]["cosines"] == {"Speaker1, Speaker2": 1}
    clip = Waveform(np.concatenate([speech(10).samples * 0.1, speech(10, 1).samples]), RATE_HZ)
    two = record_of(path, clip, 1, transcriber_en=told)
    alone = record_of(path, speech(20))
    assert alone["turns"] is None
    assert "turns" not in alone["undefined"]
    missing = record_of(path, Missing("gone"), 1)
    assert missing["undefined"]["turns"] == "gone"
    records = [one, {**two, "id": "3"}, {**missing, "id": "4"}, alone]
    made = SwanBench([path], backends())
    assert made.values(records)["turns_verified"] == 1 / 2
    single, dialogue, *_ = made.tables({"mine": records})
    assert dialogue.row("mine")["Turns verified"] == 1 / 2
    assert dialogue.row("mine")["Timbre by told-voices"] == 1  # of the one with two voices
    assert any("Turns verified over 2 of 3 samples" in note for note in dialogue.notes)
    assert "turns: told-voices stands in for 3D-Speaker" in dialogue.notes
    assert "Turns verified" not in single.row("mine")
    assert not any("3D-Speaker" in note for note in single.notes)


def test_speakers_that_cannot_be_told_apart_are_undefined(path: Path) -> None:
    nothing = Told("t", Transcript("", ()))
    record = record_of(path, speech(20), 1, transcriber_en=nothing)
    assert record["timbre"] is None
    assert "none are recognised" in record["undefined"]["timbre"]
    assert record["content"] == 1  # an empty transcript has all words wrong
    one = Told("t", Transcript("", words(A, 20)))
    found = record_of(path, speech(20), 1, transcriber_en=one)["undefined"]["timbre"]
    assert found == "nothing that Speaker2 says is recognised"


@pytest.mark.parametrize("unreadable", [False, True])
def test_a_missing_output_has_all_words_wrong_and_nothing_else(
    path: Path, unreadable: bool
) -> None:
    record = record_of(path, Missing("there is no output", unreadable))
    assert record["status"] == "failed"
    assert record["content"] == 1
    assert set(record["undefined"]) == set(METRICS) - {"content"}


def test_a_clip_too_short_or_without_speech_is_undefined(path: Path) -> None:
    short = record_of(path, speech(2))
    assert set(short["undefined"]) == {"timbre", "reverb"}
    assert short["richness"] == 2.5
    silent = Told("v", SpeechSpans(()))
    undefined = record_of(path, speech(25), activity=silent)["undefined"]
    assert undefined["timbre"] == "nobody speaks"
    assert "reverb" in undefined


def test_without_backends_all_is_undefined_and_nothing_scored(path: Path) -> None:
    record = record_of(path, speech(10), **dict.fromkeys(ROLES))
    assert set(record["undefined"]) == set(METRICS)
    assert record["status"] == "unscored"
    assert record["reason"].startswith("no backend for speaker; no backend for activity; ")


ROLES = (
    *("speaker", "activity", "fidelity", "transcriber_en"),
    *("prosody_judge", "expressiveness_judge"),
)


def test_tables(path: Path) -> None:
    made = SwanBench([path], backends(), {"a": {"1": 5.0, "2": 5.0}, "b": {"1": 5.0}})
    records = {}
    for name, level in (("a", 1.0), ("b", 0.5)):
        clips = [speech(20), Waveform(speech(20).samples * level, RATE_HZ)]
        records[name] = [
            {"id": s.id, "system": name, **made.evaluate(s, clip)}
            for s, clip in zip(made.samples, clips, strict=True)
        ]
    missing = made.evaluate(made.samples[1], Missing("gone"))
    records["b"][1] = {"id": "2", "system": "b", **missing}
    single, dialogue, scenes, radar = made.tables(records)
    assert single.row("a")["WER (en) by told-words"] == 0
    assert isinstance(single.row("a")["CER (zh)"], Undefined)
    assert single.row("a")["Sound Fidelity"] == 3.25
    assert single.row("a")["± Sound Fidelity"] == 0
    assert single.row("a")["RTF"] == 0.25
    assert dialogue.row("b")["WER (en) by told-words"] == 1
    assert (dialogue.row("b")["Samples"], dialogue.row("b")["Outputs"]) == (1, 0)
    assert isinstance(dialogue.row("b")["RTF"], Undefined)
    assert "not comparable" in single.title
    assert scenes.labels == ["a, audiobook", "a, chat", "b, audiobook", "b, chat"]
    assert radar.row("a")["Sound Fidelity"] == 3.75
    assert radar.row("a")["Content"] == 5
    assert radar.row("b")["Content"] == 3  # half its words, between 0 and 1
    assert radar.data["scenarios"]["chat"]["b"]["Content"] == 1
    assert radar.row("a")["Timbre by told-voices"] == 3  # all the same: no worst, no best
    assert set(radar.radar) == set(radar.row("a"))
    for table in (single, dialogue, scenes, radar):
        names = {column.name for column in table.columns[1:]}
        assert all(set(cells) == names for cells in map(table.row, table.labels))


def test_a_stand_in_for_fidelity_has_its_own_name_and_scale(path: Path) -> None:
    dnsmos = Told("dnsmos", Ratings({"SIG": 3.0, "BAK": 4.0, "OVRL": 2.75}))
    made = SwanBench([path], backends(fidelity=dnsmos))
    records = [{"id": "1", "system": "a", **made.evaluate(made.samples[0], speech(6))}]
    single, _, radar = made.tables({"a": records})
    assert single.row("a")["Quality by dnsmos"] == 2.75
    assert "Sound Fidelity" not in single.row("a")
    assert radar.row("a")["Quality by dnsmos"] == 2.75


def test_the_papers_models_have_the_papers_columns_and_by_name_alone_not_its_title(
    path: Path,
) -> None:
    def named(name: str) -> Any:
        return Told(name, Transcript("", ()))

    models = {
        "speaker": Told("wavlm-base-plus-sv", None),
        "transcriber_en": named("Fun-ASR-Nano-2512"),
        "prosody_judge": Judging("SpeechJudge-GRM", lambda _: 3),
        "expressiveness_judge": Judging("gemini-3-pro-preview", lambda _: 3),
    }
    made = SwanBench([path], backends(**models))
    records = [{"id": "1", "system": "a", **made.evaluate(made.samples[0], Missing("gone"))}]
    single = made.tables({"a": records})[0]
    assert single.title.startswith("SwanBench-Speech, paper protocol: one speaker")
    assert not any("stands in" in note for note in single.notes)
    assert any("by name; its weights were not compared" in note for note in single.notes)
    assert {"Timbre", "Reverb", "Sound Fidelity", "WER (en)", "Prosody"} <= set(single.row("a"))


def test_values_are_flat(path: Path) -> None:
    made = SwanBench([path], backends())
    records = [{"id": "1", "system": "a", **made.evaluate(made.samples[0], speech(6))}]
    failed = {"id": "2", "system": "a", **made.evaluate(made.samples[1], Missing("gone"))}
    values = made.values([*records, failed])
    assert (values["content"], values["wer_en"], values["fidelity"]) == (0.5, 0.5, 3.25)
    assert (values["coverage"], values["answered"]) == (0.5, 0.5)
    assert isinstance(values["cer_zh"], Undefined)
    assert isinstance(values["real_time_factor"], Undefined)
    assert all(isinstance(value, Undefined) for value in made.values([]).values())


def test_workers_and_resume_change_no_byte(path: Path, tmp_path: Path) -> None:
    write(path, [*ROWS, row([("S", "Nothing more.")], id="last")])
    texts = []
    for workers in (0, 3):
        made = SwanBench([path], backends())
        run(made, Noise(made), tmp_path / str(workers), workers=workers)
        texts.append((tmp_path / str(workers) / "records.jsonl").read_bytes())
    assert texts[0] == texts[1]
    assert [json.loads(line)["id"] for line in texts[0].splitlines()] == ["1", "2", "last"]
