"""Further tests of a run: each model is scored on them, beside baselines of their own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig
from rich.console import Console

from auditeval import audio, manifest, scores_table, scoring
from auditeval.backends.backend import Ratings
from auditeval.features.extractor import AudioFeatures
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.features.pair import PairFeatures
from auditeval.metrics.within import within
from auditeval.report import agreement, agreement_files
from auditeval.report.render import to_rich
from auditeval.training import baselines
from auditeval.training.further_tests import ContrastTest, RatedTest, WithinTest
from auditeval.training.run import Trained, train
from auditeval.types import AXES, EditPair, UserError

ROOT = Path(__file__).parents[2]
VARIANTS = ("right", "wrong", "untouched")
SMALL = [
    *("data=manifest", "features=spectrum", "compare=none", "resamples=10", "workers=0"),
    *("model.rank=0", "model.hidden=[8]", "model.members=1"),
    "fit.epochs={quality: 1, relevance: 1, faithfulness: 1}",
    *("~callbacks.progress", "+trainer.enable_progress_bar=false", "trainer.accelerator=cpu"),
]


class Peak:
    """A rater of any clip but one; it counts how often it is asked."""

    name, revision = "peak", "1"

    def __init__(self, silent: np.ndarray) -> None:
        self.silent, self.asked = silent, 0

    def __call__(self, clip: audio.Waveform) -> Ratings:
        self.asked += 1
        if np.array_equal(clip.samples, self.silent):
            raise audio.AudioError("cannot be rated")
        peak = float(np.abs(clip.samples).max())
        return Ratings({"PEAK": peak, "DOUBLE": 2 * peak})


def louder(name: str, pairs: list[EditPair], features: Any) -> agreement.Predictions:
    """A baseline that any test can name: the level of the edited clip."""
    values = {pair.id: float(np.square(audio.decode(pair.edited).samples).mean()) for pair in pairs}
    return agreement.Predictions(
        name, {id: dict.fromkeys(AXES, value) for id, value in values.items()}, ()
    )


@pytest.fixture(scope="module")
def trials(simulated: list[EditPair]) -> list[EditPair]:
    """Three trials of three variants, unrated."""
    return [
        pair.model_copy(
            update={
                "id": f"trial{i // 3}-{VARIANTS[i % 3]}",
                "source": f"trial{i // 3}",
                "system": VARIANTS[i % 3],
                "ratings": {},
                "raters": {},
            }
        )
        for i, pair in enumerate(simulated[30:39])
    ]


@pytest.fixture(scope="module")
def tables(
    simulated: list[EditPair], trials: list[EditPair], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """pairs.jsonl to train on, people.jsonl to be tested on, trials.jsonl of contrasts."""
    folder = tmp_path_factory.mktemp("tables")
    named = [
        pair.model_copy(update={"talker": f"t{int(pair.source[-1]) % 2}"})
        for pair in simulated[:30]
        if pair.source
    ]
    manifest.write(named, folder / "pairs.jsonl")
    manifest.write(simulated[40:50], folder / "people.jsonl")
    manifest.write(trials, folder / "trials.jsonl")
    return folder


def configured(tables: Path, folder: Path, *overrides: str) -> DictConfig:
    kind = "auditeval.training.further_tests"
    baseline = f"{{level: {{_target_: {__name__}.louder, _partial_: true}}}}"
    tests = [
        f"+tests.people={{_target_: {kind}.RatedTest, manifest: {tables / 'people.jsonl'}, "
        f"ratings_from: PEOPLE, baselines: {baseline}}}",
        f"+tests.contrasts={{_target_: {kind}.ContrastTest, manifest: {tables / 'trials.jsonl'}, "
        f"title: TRIALS, baselines: {baseline}}}",
        f"+tests.choices={{_target_: {kind}.WithinTest, manifest: {tables / 'people.jsonl'}, "
        f"ratings_from: CHOICES, unit: scene, baselines: {baseline}}}",
    ]
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        return compose(
            "train",
            [
                *SMALL,
                *tests,
                f"data.path={tables / 'pairs.jsonl'}",
                f"run_dir={folder}",
                *overrides,
            ],
        )


def test_tests_on_people_have_the_same_baselines_where_the_original_is_clean() -> None:
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        tests = compose("train", ["tests=[people,codecs,removal]", "run_dir=x"]).tests
    assert tests.p835.baselines.keys() == tests.codecs.baselines.keys() > {"PESQ", "DNSMOS SIG"}
    assert tests.removal_voice.baselines == tests.p835.baselines
    assert list(tests.removal_mixture.baselines) == ["DNSMOS OVRL", "DNSMOS SIG"]


@pytest.fixture(scope="module")
def finished(tables: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Trained]:
    folder = tmp_path_factory.mktemp("runs") / "run"
    made = train(configured(tables, folder))
    assert made is not None
    return folder, made


def test_a_test_reports_the_checkpoint_of_the_run_beside_its_own_baselines(
    finished: tuple[Path, Trained], tables: Path
) -> None:
    folder, _ = finished
    rows = json.loads((folder / "report" / "people" / "agreement.json").read_text())
    assert rows["ratings_from"] == "PEOPLE"
    assert {row["evaluator"] for row in rows["rows"]} == {"level", "pairwise"}
    evaluator = scoring.load(folder / "pairwise" / "holdout" / "checkpoint", "cpu", workers=0)
    pairs = manifest.read(tables / "people.jsonl")
    scores = agreement.Predictions.from_scores("pairwise", evaluator.score(pairs))
    made = agreement_files.to_json(agreement.make_report(pairs, [scores], "PEOPLE", 10))
    said = [row for row in rows["rows"] if row["evaluator"] == "pairwise"]
    for ours, theirs in zip(said, made["rows"], strict=True):
        for name in ("MSE", "SRCC"):
            value = theirs["utterance"][name]["value"]
            assert ours["utterance"][name]["value"] == pytest.approx(value, abs=1e-4)
    # The held-out part of the data is reported by itself, without the tests' baselines.
    held_out = json.loads((folder / "report" / "agreement.json").read_text())["rows"]
    assert {row["evaluator"] for row in held_out} == {"pairwise", "constant"}


def test_what_a_model_said_of_a_test_is_a_table_of_scores(
    finished: tuple[Path, Trained], tables: Path
) -> None:
    folder, _ = finished
    for name in ("people", "choices", "contrasts"):
        said = [*scores_table.read(folder / "pairwise" / f"scores-{name}.csv")]
        kept = folder / "pairwise" / "holdout" / f"predictions-{name}.json"
        predicted = json.loads(kept.read_text())
        assert {row.id for row in said} == {*predicted}
        for row in said:
            assert row.ratings == pytest.approx(predicted[row.id], abs=1e-6)


def test_contrasts_hold_the_relevance_of_each_variant(
    finished: tuple[Path, Trained], tables: Path, trials: list[EditPair]
) -> None:
    folder, _ = finished
    found = json.loads((folder / "report" / "contrasts" / "contrasts.json").read_text())
    predicted = json.loads(
        (folder / "pairwise" / "holdout" / "predictions-contrasts.json").read_text()
    )
    assert set(found["scores"]) == {"level", "pairwise"}
    for pair in trials:
        said = found["scores"]["pairwise"][pair.source][pair.system]
        assert said == predicted[pair.id]["relevance"]
    level = next(row for row in found["rows"] if row["evaluator"] == "level")["variants"]
    assert list(level) == ["wrong", "untouched", "total"]
    powers = {name: louder("x", trials, None).values[name]["quality"] for name in predicted}
    wins = [powers[f"trial{i}-right"] > powers[f"trial{i}-wrong"] for i in range(3)]
    assert level["wrong"]["value"] == pytest.approx(np.mean(wins))


def test_agreement_within_sources_is_that_of_the_models_predictions(
    finished: tuple[Path, Trained], tables: Path
) -> None:
    folder, _ = finished
    found = json.loads((folder / "report" / "choices" / "within.json").read_text())
    rows = {(row["axis"], row["evaluator"]): row["within"] for row in found["rows"]}
    assert set(rows) == {(axis, name) for axis in AXES for name in ("level", "pairwise")}
    predicted = json.loads(
        (folder / "pairwise" / "holdout" / "predictions-choices.json").read_text()
    )
    pairs = manifest.read(tables / "people.jsonl")
    for axis in AXES:
        expected = within(
            [predicted[pair.id][axis] for pair in pairs],
            [pair.ratings[axis] for pair in pairs],
            [str(pair.source) for pair in pairs],
        )
        for name, value in expected.items():
            assert rows[axis, "pairwise"][name]["value"] == pytest.approx(value.value)
    assert set(found["rater_ceiling"]) == set(AXES)


def test_what_is_printed_says_whose_ratings_they_are(finished: tuple[Path, Trained]) -> None:
    folder, made = finished
    assert list(made.tests) == ["people", "contrasts", "choices"]
    console = Console(width=300, record=True)
    for table in made.tests.values():
        console.print(to_rich(table))
    text = " ".join(console.export_text().split())  # a title may run over lines
    assert "Agreement with PEOPLE" in text
    assert "Agreement with CHOICES" in text
    assert "relevance prefers the right edit: TRIALS" in text
    markdown = (folder / "report" / "contrasts" / "contrasts.md").read_text()
    assert markdown.startswith(
        "# Share of trials in which relevance prefers the right edit: TRIALS"
    )


def test_the_card_beside_the_weights_has_the_tables_of_the_run(
    finished: tuple[Path, Trained],
) -> None:
    folder, _ = finished
    card = (folder / "pairwise" / "holdout" / "checkpoint" / "README.md").read_text()
    of_tests = ("people/agreement.md", "contrasts/contrasts.md", "choices/within.md")
    for name in ("agreement.md", *of_tests, "machine.md"):
        assert (folder / "report" / name).read_text().strip() in card
    assert card.index("# Agreement with the ratings of") < card.index("# Agreement with PEOPLE")


def test_each_fold_is_tested_under_its_name(tables: Path, tmp_path: Path) -> None:
    made = train(
        configured(
            *(tables, tmp_path / "run", "data.split._target_=auditeval.data.splits.leave_one_out"),
            *("data.split.by=talker", "~data.split.test_share", "data.split.validation_share=0"),
        )
    )
    assert made is not None
    path = tmp_path / "run" / "report" / "people" / "agreement.json"
    named = {row["evaluator"] for row in json.loads(path.read_text())["rows"]}
    assert named == {"level", "pairwise/t0", "pairwise/t1"}
    assert {row.rated for row in made.report.rows} == {30}
    assert len([*(tmp_path / "run").glob("pairwise/t*/scores-people.csv")]) == 2
    assert not list((tmp_path / "run").rglob("README.md"))  # none of the folds is the evaluator


def test_a_finished_run_is_tested_on_more_without_being_trained_again(
    finished: tuple[Path, Trained], tables: Path
) -> None:
    folder, _ = finished
    kept = folder / "pairwise" / "holdout"
    before = (kept / "predictions-people.json").read_bytes()
    weights = (kept / "checkpoint" / "model.safetensors").stat()
    (kept / "predictions-people.json").unlink()
    train(configured(tables, folder))
    assert (kept / "predictions-people.json").read_bytes() == before
    assert (kept / "checkpoint" / "model.safetensors").stat().st_mtime_ns == weights.st_mtime_ns


def test_what_changed_under_the_name_of_a_test_is_answered_again(
    finished: tuple[Path, Trained], tables: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished[0], folder)
    kept = folder / "pairwise" / "holdout"
    people = manifest.read(tables / "people.jsonl")
    copies = []
    for pair in people:
        copies.append(tmp_path / f"{pair.id}.wav")
        shutil.copy(pair.edited, copies[-1])
    moved = [p.model_copy(update={"edited": x}) for p, x in zip(people, copies, strict=True)]
    manifest.write(moved, tmp_path / "people.jsonl")

    def again() -> dict[str, Any]:
        changed = configured(tables, folder)
        changed.tests.people.manifest = str(tmp_path / "people.jsonl")
        train(changed)
        found: dict[str, Any] = json.loads((kept / "predictions-people.json").read_text())
        return found

    mark = kept / "predictions-people.json"
    first = json.loads(mark.read_text())
    written = mark.stat().st_mtime_ns
    assert again() == first
    assert mark.stat().st_mtime_ns == written  # other files of the same clips
    shutil.copy(people[0].original, copies[0])  # under the same name
    second = again()
    assert [id for id in first if second[id] != first[id]] == [people[0].id]
    text = people[1].model_copy(update={"edited": copies[1], "target_caption": "Nothing."})
    manifest.write([moved[0], text, *moved[2:]], tmp_path / "people.jsonl")
    again()
    assert mark.stat().st_mtime_ns > written
    others = [kept / f"predictions-{name}.json" for name in ("contrasts", "choices")]
    assert all(path.stat().st_mtime_ns < mark.stat().st_mtime_ns for path in others)


def test_an_unrated_test_of_ratings_and_a_trial_without_its_right_one_are_refused(
    trials: list[EditPair], tmp_path: Path
) -> None:
    path = tmp_path / "trials.jsonl"
    manifest.write(trials, path)
    for kind in (RatedTest, WithinTest):
        with pytest.raises(UserError, match=r"trials\.jsonl: no pair has ratings to compare with"):
            kind(path, "nobody")
    rated = [pair.model_copy(update={"ratings": {"quality": 3.0}}) for pair in trials]
    manifest.write(rated[:2], path)
    with pytest.raises(UserError, match=r"trials\.jsonl: no source has 3 pairs"):
        WithinTest(path, "people")
    manifest.write(trials[1:], path)
    with pytest.raises(UserError, match="trial 'trial0' has no pair whose system is 'right'"):
        ContrastTest(path, "x")
    manifest.write([trials[0].model_copy(update={"system": None})], path)
    with pytest.raises(UserError, match="pair 'trial0-right' names no trial"):
        ContrastTest(path, "x")
    manifest.write([*trials, trials[1].model_copy(update={"id": "again"})], path)
    with pytest.raises(UserError, match="pair 'again': trial trial0 has 'wrong' twice"):
        ContrastTest(path, "x")


def test_of_people_whose_votes_are_not_published_the_table_says_so(
    simulated: list[EditPair], tmp_path: Path
) -> None:
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        why = compose("train", ["tests=[people]", "run_dir=x"]).tests.p835.no_votes
    assert "not published" in why
    path = tmp_path / "people.jsonl"
    manifest.write([pair.model_copy(update={"raters": {}}) for pair in simulated[:9]], path)
    said = [louder("level", simulated[:9], None)]
    table = RatedTest(path, "PEOPLE", no_votes=why).report(said, tmp_path / "report", 0, "nobody")
    note = f"No rater ceiling of {', '.join(AXES)}: {why}."
    assert note in table.notes
    assert note in (tmp_path / "report" / "agreement.md").read_text()


def test_a_rating_of_the_edited_clip_alone_and_a_cosine_of_embeddings(
    simulated: list[EditPair], tmp_path: Path
) -> None:
    # Edits that did nothing to a scene are one clip, and a clip is asked about once.
    pairs = list({pair.edited.read_bytes(): pair for pair in simulated}.values())[:4]
    same = pairs[0].model_copy(update={"id": "same", "edited": pairs[0].original})

    rater = Peak(silent=audio.decode(pairs[3].edited).samples)
    for rating, factor in (("PEAK", 1), ("DOUBLE", 2)):
        made = baselines.of_edited("peak", pairs, None, rater, rating, str(tmp_path))
        assert not made.on_rating_scale
        assert set(made.values) == {pair.id for pair in pairs[:3]}
        for pair in pairs[:3]:
            peak = float(np.abs(audio.decode(pair.edited).samples).max())
            assert made.values[pair.id] == dict.fromkeys(AXES, pytest.approx(factor * peak))
    assert rater.asked == 5  # three clips once, the one that cannot be rated each time

    encoder = Spectrum()
    cosines = baselines.of_embeddings("cos", [*pairs, same], None, encoder, str(tmp_path), 0).values
    assert cosines["same"]["quality"] == pytest.approx(1)
    sides: list[AudioFeatures] = encoder.encode_audio(
        [
            audio.resample(audio.decode(path), encoder.rate_hz)
            for path in (pairs[1].original, pairs[1].edited)
        ]
    )
    x, y = (side.embedding.astype(float) for side in sides)
    expected = x @ y / np.linalg.norm(x) / np.linalg.norm(y)
    assert cosines[pairs[1].id]["faithfulness"] == pytest.approx(expected, abs=1e-6)
    gone = pairs[2].model_copy(update={"edited": tmp_path / "absent.wav"})
    assert baselines.of_embeddings("cos", [gone], None, encoder, str(tmp_path), 0).values == {}


def test_the_joint_space_is_the_end_of_both_embeddings(simulated: list[EditPair]) -> None:
    import torch

    pairs = simulated[:3]
    fields = {name: torch.zeros(3, 0) for name in PairFeatures._fields}
    fields["edited_audio"] = torch.tensor([[9.0, 1.0, 2.0], [9.0, 0.0, 1.0], [9.0, 3.0, 0.0]])
    fields["target_text"] = torch.tensor([[1.0, 0.0], [0.5, 0.5], [1.0, 1.0]])
    made = baselines.joint_space("bridge", pairs, PairFeatures(**fields), 2)
    said = [made.values[pair.id] for pair in pairs]
    assert said == [{"relevance": 1.0}, {"relevance": 0.5}, {"relevance": 3.0}]
    with pytest.raises(UserError, match="needs a joint space of 3 numbers"):
        baselines.joint_space("bridge", pairs, PairFeatures(**fields), 3)
