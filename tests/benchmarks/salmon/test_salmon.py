"""SALMon: its layout read strictly, likelihoods to Table II, and that nothing bad ever pays."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from salmon_files import SAMPLES, by_part, lay_out, likelihoods, written

from auditeval.audio import files
from auditeval.audio.waveform import quantised
from auditeval.benchmarks.benchmark import Missing
from auditeval.benchmarks.run import run
from auditeval.benchmarks.salmon.benchmark import COLUMNS, HUMAN, Salmon
from auditeval.benchmarks.salmon.samples import ALIGNMENT, PARTS, read_pairs
from auditeval.benchmarks.salmon.scorers import (
    ConstantScorer,
    EvaluatorScorer,
    NoiseScorer,
    PairScores,
    read_likelihoods,
)
from auditeval.benchmarks.selection import Selection
from auditeval.report import benchmarks as report
from auditeval.scoring import Evaluator
from auditeval.types import Undefined, UserError


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lay_out(tmp_path_factory.mktemp("salmon"))


@pytest.fixture(scope="module")
def benchmark(root: Path) -> Salmon:
    return Salmon(root)


def test_the_rates_are_those_of_a_count_by_hand(
    benchmark: Salmon, root: Path, tmp_path: Path
) -> None:
    rows = likelihoods(root)
    scores = {f"{row['part']}/{row['file']}": row["score"] for row in rows}
    found = by_part(
        benchmark,
        read_likelihoods(written(tmp_path / "m.csv", rows), benchmark.samples),
        tmp_path / "r",
    )
    for part in PARTS:
        won = 0.0
        for index in range(SAMPLES):
            p, n = (scores[f"{part}/sample_{index}_{i}.wav"] for i in (0, 1))
            won += (p > n) + (p == n) / 2
        assert found[part] == pytest.approx(won / SAMPLES)
        assert found[f"{part}_scored_only"] == found[part]
        assert found[f"{part}_coverage"] == 1


def test_constant_is_half_exactly_and_noise_is_near_it(benchmark: Salmon, tmp_path: Path) -> None:
    constant = by_part(benchmark, ConstantScorer(), tmp_path / "c")
    assert {constant[part] for part in PARTS} == {0.5}
    noise = by_part(benchmark, NoiseScorer(3), tmp_path / "n")
    assert 0.3 < np.mean([noise[part] for part in PARTS]) < 0.7
    assert noise == by_part(benchmark, NoiseScorer(3), tmp_path / "again")
    assert noise != by_part(benchmark, NoiseScorer(4), tmp_path / "other")


@pytest.mark.parametrize("bad", ["", "nan", "inf", None])
def test_a_clip_without_likelihood_is_counted_and_never_pays(
    benchmark: Salmon, root: Path, tmp_path: Path, bad: Any
) -> None:
    rows = likelihoods(root)
    before = by_part(
        benchmark,
        read_likelihoods(written(tmp_path / "a.jsonl", rows), benchmark.samples),
        tmp_path / "a",
    )
    for row in rows[::5]:
        row["score"] = bad
    after = by_part(
        benchmark,
        read_likelihoods(written(tmp_path / "b.jsonl", rows), benchmark.samples),
        tmp_path / "b",
    )
    for part in PARTS:
        assert after[part] <= before[part]
        assert after[f"{part}_coverage"] < 1
    records = [json.loads(line) for line in (tmp_path / "b/records.jsonl").open()]
    unscored = [record for record in records if record["status"] == "unscored"]
    assert unscored
    assert all(r["outcome"] is None and r["reason"] and r["undefined"] for r in unscored)


def test_a_failed_output_is_lost_in_both_rates(benchmark: Salmon) -> None:
    pairs = benchmark.samples[:4]
    records = [benchmark.evaluate(pair, PairScores(1.0, 0.0)) for pair in pairs[:3]]
    records.append(benchmark.evaluate(pairs[3], Missing("no such thing")))
    values = benchmark.values(records)
    assert values[pairs[0].part] == values[f"{pairs[0].part}_scored_only"] == 0.75
    assert records[3]["status"] == "failed"


def test_the_table_has_the_papers_columns_and_its_human_row_never_wins(
    benchmark: Salmon, tmp_path: Path
) -> None:
    records = {
        scorer.name: run(benchmark, scorer, tmp_path / scorer.name)
        for scorer in (ConstantScorer(), NoiseScorer())
    }
    table, counts = benchmark.tables(records)
    assert [column.name for column in table.columns[1:]] == list(COLUMNS.values())
    human = table.row("Human (published, their set)")
    assert human["Consistency: Bg (domain)"] == f"{HUMAN['bg_domain_consistency']:.1f}" == "83.1"
    assert "Human (published, their set)" not in {table.labels[row] for row, _ in table.best()}
    row = counts.row("constant, rir_consistency")
    assert (row["Pairs"], row["Scored"], row["Won"]) == (SAMPLES, SAMPLES, 0.5)
    assert row["Low"] < 0.5 < row["High"]
    assert "| 50.00 |" in report.to_markdown([table])


def test_the_table_says_who_left_how_many_pairs_unscored(
    benchmark: Salmon, root: Path, evaluator: Evaluator, tmp_path: Path
) -> None:
    rows = likelihoods(root)
    for row in rows:
        if row["file"] in ("sample_2_0.wav", "sample_2_1.wav", "sample_7_1.wav"):
            row["score"] = "nan"
    scorers = [
        read_likelihoods(written(tmp_path / "lm.csv", rows), benchmark.samples),
        ConstantScorer(),
        EvaluatorScorer(evaluator),  # has no pairs in parts that do not apply
    ]
    records = {s.name: run(benchmark, s, tmp_path / str(i)) for i, s in enumerate(scorers)}
    table, _ = benchmark.tables(records)
    left = f"{2 * len(PARTS)} of {SAMPLES * len(PARTS)} pairs"
    said = f"lm left {left} unscored: they count as lost."
    assert [note for note in table.notes if "unscored" in note] == [said]
    # The headline is the rate with them lost.
    for part, column in COLUMNS.items():
        won = [r["outcome"] or 0 for r in records["lm"] if r["part"] == part]
        assert table.row("lm")[column] == pytest.approx(sum(won) / SAMPLES)
    assert said in report.to_markdown([table])


def test_an_evaluator_scores_each_clip_alone_by_its_halves(
    benchmark: Salmon, evaluator: Evaluator, tmp_path: Path
) -> None:
    scorer = EvaluatorScorer(evaluator)
    found = by_part(benchmark, scorer, tmp_path / "r")
    for part in PARTS:
        if part in ALIGNMENT:
            values = [found[f"{part}{kind}"] for kind in ("", "_scored_only", "_coverage")]
            assert all(isinstance(value, Undefined) for value in values)
        else:
            assert found[f"{part}_coverage"] == 1
    pair = benchmark.samples[0]
    # What the other clip of the pair is does not matter.
    other = pair._replace(negative=benchmark.samples[5].negative)
    assert scorer.output(pair).positive == scorer.output(other).positive  # type: ignore[union-attr]
    assert scorer.output(pair).negative != scorer.output(other).negative  # type: ignore[union-attr]


def test_halves_of_one_sound_are_the_same_edit_as_none(
    benchmark: Salmon, evaluator: Evaluator, tmp_path: Path
) -> None:
    """Where the second half repeats the first, nothing was edited."""
    clip = files.read(benchmark.samples[0].positive)
    path = tmp_path / "sample_0_0.wav"
    twice = np.concatenate([clip.samples, clip.samples])
    files.write(path, quantised(twice), clip.rate_hz)
    repeated = benchmark.samples[0]._replace(positive=path)
    once = repeated._replace(positive=benchmark.samples[0].positive)
    by_halves = EvaluatorScorer(evaluator).output(repeated)
    with_original = EvaluatorScorer(evaluator, "positive").output(once)
    assert by_halves.positive == with_original.positive  # type: ignore[union-attr]


def test_the_other_way_to_make_pairs_has_a_name_of_its_own(evaluator: Evaluator) -> None:
    halves, positive = EvaluatorScorer(evaluator), EvaluatorScorer(evaluator, "positive")
    assert "not SALMon" in positive.name
    assert "not SALMon" not in halves.name
    assert halves.settings != positive.settings


def test_a_clip_that_cannot_be_read_is_unscored(
    root: Path, evaluator: Evaluator, tmp_path: Path
) -> None:
    shutil.copytree(root / "rir_consistency", tmp_path / "rir_consistency")
    (tmp_path / "rir_consistency/sample_3_1.wav").write_bytes(b"RIFF")
    benchmark = Salmon(tmp_path)
    for original in ("halves", "positive"):
        scorer = EvaluatorScorer(evaluator, original)  # type: ignore[arg-type]
        record = benchmark.evaluate(benchmark.samples[3], scorer.output(benchmark.samples[3]))
        assert record["status"] == "unscored"
        assert "sample_3_1.wav" in record["reason"]


def test_a_reason_is_the_same_each_time(root: Path, evaluator: Evaluator, tmp_path: Path) -> None:
    """Halves lie in a temporary folder."""
    shutil.copytree(root / "rir_consistency", tmp_path / "rir_consistency")
    half_silent = np.concatenate([np.zeros(4000), np.full(4000, 0.5)]).astype(np.float32)
    path = tmp_path / "rir_consistency/sample_3_1.wav"
    files.write(path, quantised(half_silent), 8000)
    pair = Salmon(tmp_path).samples[3]
    first, second = (EvaluatorScorer(evaluator).output(pair) for _ in range(2))
    assert isinstance(first.negative, Undefined)  # type: ignore[union-attr]
    assert first == second
    assert "digital silence" in first.negative.reason  # type: ignore[union-attr]


@pytest.mark.parametrize("original", ["halves", "positive"])
@pytest.mark.parametrize("silent", [True, False], ids=["silent", "no audio"])
def test_records_are_the_same_wherever_the_samples_lie(
    root: Path, evaluator: Evaluator, tmp_path: Path, original: Any, silent: bool
) -> None:
    records = []
    for home in (tmp_path / "here", tmp_path / "somewhere" / "else"):
        shutil.copytree(root / "rir_consistency", home / "rir_consistency")
        path = home / "rir_consistency/sample_3_1.wav"
        path.write_bytes(b"RIFF but no audio")
        if silent:
            files.write(path, np.zeros(8000, np.int16), 8000)
        run(Salmon(home), EvaluatorScorer(evaluator, original), home / "records")
        records.append((home / "records/records.jsonl").read_bytes())
    assert records[0] == records[1]
    (reason,) = {
        record["reason"] for record in map(json.loads, records[0].splitlines()) if record["reason"]
    }
    assert reason.startswith("sample_3_1.wav: ")
    assert reason.count(".wav: ") == 1
    assert "/" not in reason


def test_several_negatives_make_a_pair_each(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root / "rir_consistency", tmp_path / "rir_consistency")
    shutil.copy(
        root / "rir_consistency/sample_0_1.wav", tmp_path / "rir_consistency/sample_0_2.wav"
    )
    (tmp_path / "rir_consistency/metadata.json").write_text("{}")
    ids = [pair.id for pair in read_pairs(tmp_path)]
    assert len(ids) == SAMPLES + 1
    assert ids[:2] == ["rir_consistency/sample_0_1", "rir_consistency/sample_0_2"]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda f: (f / "sample_1_0.wav").unlink(), "sample_1_1.wav: has no positive sample_1_0"),
        (lambda f: (f / "sample_1_1.wav").unlink(), "sample_1_0.wav: has no negative sample_1_1"),
        (lambda f: shutil.copy(f / "sample_1_1.wav", f / "x.wav"), "x.wav: expected a name like"),
        (
            lambda f: [p.rename(p.with_suffix(".WAV")) for p in f.glob("sample_1_*")],
            "sample_1_0.WAV: expected a name like",
        ),
        (
            lambda f: shutil.copy(f / "sample_1_1.wav", f / "sample_01_1.wav"),
            "sample_1_1.wav: is the same clip as sample_01_1.wav",
        ),
    ],
)
def test_a_layout_that_is_wrong_is_one_sentence_with_the_file(
    root: Path, tmp_path: Path, change: Any, named: str
) -> None:
    shutil.copytree(root / "bg_alignment", tmp_path / "bg_alignment")
    change(tmp_path / "bg_alignment")
    with pytest.raises(UserError) as caught:
        Salmon(tmp_path)
    assert named in str(caught.value)


def test_a_folder_that_is_none_or_holds_nothing_says_what_was_expected(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent"):
        with pytest.raises(UserError, match="speaker_consistency"):
            Salmon(path)
    with pytest.raises(UserError, match="there is no task 'speaker' "):
        Salmon(tmp_path, Selection(("speaker",)))


def test_what_records_depend_on_changes_with_one_sample(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root / "bg_alignment", tmp_path / "bg_alignment")
    before = Salmon(tmp_path).settings
    assert before == Salmon(tmp_path).settings
    path = tmp_path / "bg_alignment/sample_1_1.wav"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert Salmon(tmp_path).settings != before
