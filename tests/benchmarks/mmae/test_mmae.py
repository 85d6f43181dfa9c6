"""MMAE end to end on a small set: votes to records to rates that were worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mmae_files import ENTRIES, IF, OUTPUT, ToldJudge, asked, entry, rubric, write

from auditeval.audio import Waveform
from auditeval.backends.load import Backends
from auditeval.benchmarks.benchmark import Missing, Record
from auditeval.benchmarks.mmae.benchmark import MMAE
from auditeval.benchmarks.mmae.questions import _reply
from auditeval.benchmarks.run import run
from auditeval.benchmarks.selection import Selection
from auditeval.benchmarks.systems import Identity, OutputFolder
from auditeval.judges.answers import AnswerLog
from auditeval.judges.cached import CachedJudge
from auditeval.judges.replay import ReplayJudge
from auditeval.types import Undefined

VOTES = {"a1": "rrw", "a2": "rwu", "a3": "rrr", "b1": "rur", "b2": "wwr", "b3": "uuw", "c1": "rrr"}


def benchmark(folder: Path, judge: Any, entries: list[Any] = ENTRIES, seed: int = 1) -> MMAE:
    return MMAE(write(folder, entries), Backends({"judge": judge}), seed)


def records_of(made: MMAE, output: Any = OUTPUT) -> list[Record]:
    return [{"id": s.id, **made.evaluate(s, output)} for s in made.samples]


def test_rates_by_hand(tmp_path: Path) -> None:
    made = benchmark(tmp_path, ToldJudge(VOTES))
    records = records_of(made)
    assert [[r["right"] for r in record["rubrics"]] for record in records] == [
        [True, None, True],
        [True, False, None],
        [True, True],
    ]
    assert [record["status"] for record in records] == ["unscored", "unscored", "ok"]
    assert [record["reason"] for record in records] == ["1 of 3 rubrics have no verdict"] * 2 + [""]
    assert records[2]["cr"] is None
    assert "consistency" in records[2]["undefined"]["cr"]
    values = made.values(records)
    assert values["ifr"] == pytest.approx((1 / 2 + 1 + 1) / 3)
    assert values["cr"] == pytest.approx((1 + 0) / 2)
    assert values["emr"] == pytest.approx(1 / 3)
    assert (values["micro_ifr"], values["micro_cr"]) == (4 / 5, 1 / 3)
    assert values["ifr_scored_only"] == 1
    assert values["cr_scored_only"] == pytest.approx(1 / 2)
    assert values["rubrics_scored"] == 6 / 8
    assert values["coverage"] == 1
    json.dumps(records, allow_nan=False)


@pytest.mark.parametrize("unreadable", [False, True])
def test_a_missing_output_fails_every_rubric(tmp_path: Path, unreadable: bool) -> None:
    judge = ToldJudge({})
    made = benchmark(tmp_path, judge)
    records = records_of(made, Missing("there is no output", unreadable))
    assert [record["status"] for record in records] == ["failed"] * 3
    assert {r["failure"] for r in records} == {
        "unreadable_output" if unreadable else "missing_output"
    }
    values = made.values(records)
    assert [values[name] for name in ("ifr", "cr", "emr", "coverage")] == [0, 0, 0, 0]
    assert all(isinstance(values[f"{name}_scored_only"], Undefined) for name in ("ifr", "emr"))
    assert judge.asked == []


def test_a_judge_that_writes_junk_never_raises_a_rate(tmp_path: Path) -> None:
    made = benchmark(tmp_path, ToldJudge(dict.fromkeys((*VOTES, "c2"), "uuu")))
    values = made.values(records_of(made))
    assert [values[name] for name in ("ifr", "cr", "emr", "rubrics_scored")] == [0, 0, 0, 0]
    assert isinstance(values["emr_scored_only"], Undefined)


def test_options_are_shuffled_each_query_and_all_are_shown(tmp_path: Path) -> None:
    judge = ToldJudge(VOTES)
    made = benchmark(tmp_path, judge)
    first, again = made.evaluate(made.samples[0], OUTPUT), made.evaluate(made.samples[0], OUTPUT)
    assert first == again
    shown = [vote["options"] for r in first["rubrics"] for vote in r["votes"]]
    assert all(
        sorted(o) == sorted(["yes", "no", "cannot be told", "None of the above"]) for o in shown
    )
    assert len({tuple(options) for options in shown}) > 3
    for question, options in zip(judge.asked, shown, strict=False):
        lines = "\n".join(f"{letter}. {o}" for letter, o in zip("ABCD", options, strict=True))
        assert question.prompt.endswith(f"\n\nChoices:\n{lines}")
        assert question.run in (0, 1, 2)
        properties = question.schema["properties"]
        assert list(properties) == ["reason", "choice"]
        assert properties["choice"]["enum"] == ["A", "B", "C", "D"]
    other = benchmark(tmp_path / "other", ToldJudge(VOTES), seed=2)
    reordered = other.evaluate(other.samples[0], OUTPUT)
    assert [v["options"] for r in reordered["rubrics"] for v in r["votes"]] != shown


def test_none_of_the_above_can_be_right(tmp_path: Path) -> None:
    judge = ToldJudge({"n": "rrr"}, {"n": "None of the above"})
    made = benchmark(tmp_path, judge, [entry("n", [rubric(IF, "n?", "None of the above")])])
    assert made.evaluate(made.samples[0], OUTPUT)["exact"] == 1


def test_a_question_gets_the_clips_it_names(tmp_path: Path) -> None:
    judge = ToldJudge({})
    made = benchmark(tmp_path, judge)
    records_of(made)
    clips = {asked(q)[:2]: q.clips for q in judge.asked}
    assert [name for name, _ in clips["a1"]] == ["output"]
    ((name, part),) = clips["b1"]
    assert name == "output[1s:2s]"
    assert (part.samples == OUTPUT.samples[8000:16000]).all()
    ((name, second),) = clips["c1"]
    assert name == "input2"
    assert abs(second.samples - 0.2 * OUTPUT.samples).max() < 1e-4


def test_a_part_that_holds_nothing_is_asked_in_words_and_counted(tmp_path: Path) -> None:
    judge = ToldJudge({}, {"cut": "no"})
    entries = [
        entry(
            "a",
            [
                rubric(IF, "cut? Is there any sound in <audio output[4s:]>?", "no"),
                rubric(IF, "like <audio output[:1s]> and <audio input1[9s:]>?"),
                rubric(IF, "part of <audio output[3.5s:9s]>?"),
            ],
        )
    ]
    made = benchmark(tmp_path, judge, entries)
    (record,) = records_of(made)
    assert [r["right"] for r in record["rubrics"]] == [True, True, True]
    output, source = (
        f"<audio {part}> holds no audio: <audio {clip}> lasts 4.000 s."
        for part, clip in (("output[4s:]", "output"), ("input1[9s:]", "input1"))
    )
    assert [r["past_end"] for r in record["rubrics"]] == [[output], [source], []]
    cut, like, part = judge.asked[::3]
    assert cut.prompt.startswith(f"{output}\n\n")
    assert [(name, len(clip.samples)) for name, clip in cut.clips] == [("output", 4 * 8000)]
    assert [name for name, _ in like.clips] == ["output[:1s]", "input1"]
    assert [len(clip.samples) for _, clip in part.clips] == [4000]
    assert made.tables({"a": [record]})[0].row("a")["Past the end"] == 2


def test_an_input_that_cannot_be_heard_is_nobodys_fault(tmp_path: Path) -> None:
    made = benchmark(tmp_path, ToldJudge({}), [entry("a", [rubric(IF, "i of <audio input1>?")])])
    (tmp_path / "wav" / "a" / "audio1.wav").write_bytes(b"nothing")
    (record,) = records_of(made)
    assert (record["rubrics"][0]["right"], record["status"]) == (None, "unscored")


def test_rates_over_what_was_scored_leave_missing_outputs_out(tmp_path: Path) -> None:
    made = benchmark(tmp_path, ToldJudge(VOTES))
    there, gone = records_of(made), records_of(made, Missing("gone"))
    mixed = [there[0], gone[1], there[2]]
    values = made.values(mixed)
    assert values["ifr"] == pytest.approx((1 / 2 + 0 + 1) / 3)
    assert values["ifr_scored_only"] == 1
    assert values["emr_scored_only"] == 1  # of one sample: the first is not whole, the second gone
    assert values["rubrics_scored"] == 4 / 8
    row = made.tables({"a": mixed})[0].row("a")
    assert (row["IFR (scored)"], row["EMR (scored)"], row["Scored"]) == (1, 1, 4 / 8)
    assert isinstance(made.values(gone)["ifr_scored_only"], Undefined)


@pytest.mark.parametrize("said", ["B", "b", "B.", "(B)", " [b] ", "**B**", "B) a dog", "B: yes, I"])
def test_a_choice_is_one_letter_however_it_is_set(said: str) -> None:
    assert (
        _reply("ABC").model_validate({"reason": "", "choice": said}).model_dump()["choice"] == "B"
    )


@pytest.mark.parametrize(
    "said", ["D", "", "a dog", "A. or B.", "AB", "A/B", "A, B", "yes", 1, None]
)
def test_a_choice_that_is_no_letter_of_those_shown_is_none(said: Any) -> None:
    with pytest.raises(ValueError, match="choice"):
        _reply("ABC").model_validate({"reason": "", "choice": said})


def test_tables_rank_and_group(tmp_path: Path) -> None:
    made = benchmark(tmp_path, ToldJudge(VOTES))
    worse, better = records_of(made, Missing("gone")), records_of(made)
    main, by_complexity, by_modality, _, by_operation = made.tables(
        {"worse": worse, "better": better}
    )
    assert main.labels == ["better", "worse"]
    row = main.row("better")
    assert (row["Rank"], row["Samples"], row["Rubrics"], row["Unscored"]) == (1, 3, 8, 2)
    assert (row["Without IF"], row["Without Con."], main.row("worse")["Failed"]) == (0, 1, 3)
    assert row["EMR"] == pytest.approx(1 / 3)
    assert "not comparable" in main.title
    assert not any("27.37" in note for note in main.notes)
    assert list(by_complexity.row("better")) == [
        f"{group} {rate}"
        for group in ("single", "multi-hop", "multiple")
        for rate in ("IFR", "CR", "EMR")
    ]
    assert by_complexity.row("better")["single IFR"] == pytest.approx(3 / 4)
    assert by_complexity.row("better")["multiple EMR"] == 0
    assert by_modality.row("better")["mixed CR"] == 0
    assert by_operation.row("better")["remove EMR"] == pytest.approx(1 / 3)
    assert by_operation.row("better")["add EMR"] == 0
    for table in (main, by_complexity):
        names = {column.name for column in table.columns[1:]}
        assert all(set(cells) == names for cells in map(table.row, table.labels))


def test_exact_matches_rank_before_following_before_consistency(tmp_path: Path) -> None:
    judges = {
        "keeps": {"a1": "www", "b1": "www", "c1": "www"},
        "follows": {"a3": "www", "b2": "www", "b3": "www", "c1": "www"},
        "exact": {"a1": "www", "a2": "www", "a3": "www", "b1": "www", "b2": "www", "b3": "www"},
    }
    records = {}
    for name, votes in judges.items():
        made = benchmark(tmp_path, ToldJudge(votes))
        records[name] = records_of(made)
    main = made.tables(records)[0]
    assert main.labels == ["exact", "follows", "keeps"]
    assert [main.row(name)["Rank"] for name in main.labels] == [1, 2, 3]
    assert main.row("keeps")["CR"] > main.row("follows")["CR"]


def test_level_systems_share_a_rank_in_any_order(tmp_path: Path) -> None:
    made = benchmark(tmp_path, ToldJudge(VOTES))
    worse, better = records_of(made, Missing("gone")), records_of(made)
    systems = {"one": better, "two": better, "gone": worse}
    for order in (systems, dict(reversed(systems.items()))):
        main = made.tables(order)[0]
        ranks = {name: main.row(name)["Rank"] for name in main.labels}
        assert ranks == {"one": 1, "two": 1, "gone": 3}


@pytest.mark.parametrize(
    ("name", "stands_in"),
    [("Qwen/Qwen3-Omni-30B-A3B-Instruct", 0), ("qwen3-omni", 0), ("told", 1)],
)
def test_the_papers_title_is_never_that_of_our_prompt(
    tmp_path: Path, name: str, stands_in: int
) -> None:
    judge = ToldJudge(VOTES)
    judge.name = name
    made = benchmark(tmp_path, judge)
    for table in made.tables({"a": records_of(made)}):
        assert table.title.startswith("MMAE, paper protocol: ")
        assert "prompt: the paper's (Appendix C) in our words" in table.notes
        assert sum("stands in for" in note for note in table.notes) == stands_in
        assert not any("27.37" in note for note in table.notes)


@pytest.mark.parametrize(
    ("selection", "title", "subset"),
    [
        (Selection(max_seconds=10), "the paper's Table 2 (subset of at most 10 s))", False),
        (Selection(max_seconds=5), "the paper's Table 2)", True),
        (Selection(("single",), max_seconds=10), "the paper's Table 2)", True),
    ],
)
def test_the_papers_subset_is_named(
    tmp_path: Path, selection: Selection, title: str, subset: bool
) -> None:
    made = MMAE(write(tmp_path), Backends({"judge": ToldJudge(VOTES)}), selection=selection)
    for table in made.tables({"a": records_of(made)}):
        assert table.title.endswith(title)
        assert any(note.startswith("samples: a subset") for note in table.notes) == subset


def test_a_replay_agrees_byte_for_byte_whatever_the_workers(tmp_path: Path) -> None:
    meta = write(tmp_path / "set")
    record = tmp_path / "answers.jsonl"

    def made(judge: Any) -> MMAE:
        return MMAE(meta, Backends({"judge": judge}))

    recorded = made(CachedJudge(ToldJudge(VOTES), tmp_path / "cache", AnswerLog(record)))
    run(recorded, Identity(recorded), tmp_path / "first", workers=3)
    texts = []
    for workers in (0, 4):
        again = made(ReplayJudge(record))
        run(again, Identity(again), tmp_path / str(workers), workers=workers)
        texts.append((tmp_path / str(workers) / "records.jsonl").read_bytes())
    assert texts[0] == texts[1] == (tmp_path / "first" / "records.jsonl").read_bytes()
    assert made(ReplayJudge(record)).settings == made(ReplayJudge(record)).settings


def test_settings_are_of_contents(tmp_path: Path) -> None:
    judge = ToldJudge({})
    first = benchmark(tmp_path / "1", judge).settings
    assert first == benchmark(tmp_path / "2", judge).settings
    (tmp_path / "2" / "wav" / "a" / "audio1.wav").write_bytes(b"changed")
    changed = MMAE(tmp_path / "2" / "MMAE-meta.json", Backends({"judge": judge}), 1)
    assert changed.settings != first
    assert isinstance(changed.source(changed.samples[0]), Undefined)
    assert isinstance(changed.source(changed.samples[1]), Waveform)


def test_outputs_of_a_folder_are_found_by_id(tmp_path: Path) -> None:
    made = benchmark(tmp_path, ToldJudge({}))
    files = {"a": made.samples[0].inputs[0], "b": tmp_path / "none.wav"}
    records = run(made, OutputFolder("mine", files), tmp_path / "run")
    assert [record["status"] for record in records] == ["ok", "failed", "failed"]
