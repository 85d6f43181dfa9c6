"""Agreement of an evaluator in training with recorded verdicts: statistics, pairs, mistakes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hydra import compose, initialize_config_dir
from scipy import stats
from sklearn.metrics import roc_auc_score
from speechedit_rows import Judges, Says, lay_out, row, tone

from auditeval.audio import files
from auditeval.audio.waveform import quantised
from auditeval.backends.backend import Ratings, Transcript
from auditeval.backends.load import Backends
from auditeval.benchmarks.mmae.benchmark import MMAE
from auditeval.benchmarks.run import run
from auditeval.benchmarks.speecheditbench.benchmark import SpeechEditBench
from auditeval.benchmarks.systems import OutputFolder, find_outputs
from auditeval.benchmarks.verdicts import Verdict, recorded
from auditeval.features.store import Failure
from auditeval.judges.judge import Answer
from auditeval.training.configured import call
from auditeval.training.evaluation.verdicts import VerdictAgreement
from auditeval.types import EditPair, Undefined, UserError

ROOT = Path(__file__).parents[2]
SPEECH, NOISE = 220, 440
"""The tone of which the recogniser hears the words, and another."""
# Of each system what its outputs do, by sample: s(horter), or as long; o(ther words); m(issing).
SYSTEMS = {"good": "s s s s", "fair": "s so - m", "poor": "- - o so"}
GAINS = {"good": 0.4, "fair": 0.1, "poor": -0.2}


def said(clip: Any) -> Transcript:
    text = "the yellow lamps" if round(float(clip.samples[1] * 1e4)) < 400 else "no"
    return Transcript(text, ())


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Samples, outputs/<system>, and report/<system>/records.jsonl."""
    root = tmp_path_factory.mktemp("verdicts")
    enhancement = {"type": "acoustic", "subtask": "enhancement", "degradation_type": "noisy"}
    faster = [row("prosody", sample_id=f"s{n}", instruction="Speak faster.") for n in range(4)]
    lay_out(root, *faster, row("acoustic", enhancement, sample_id="e"))
    level: dict[float, float] = {}
    for system, plan in SYSTEMS.items():
        for number, done in enumerate(plan.split()):
            clip = tone(NOISE if "o" in done else SPEECH, 0.5 if "s" in done else 1.0)
            write(root / "outputs" / system / f"s{number}.wav", clip, "m" not in done)
        clip = tone(SPEECH, 1.0 + GAINS[system])  # its quality is told by its length
        level[clip.seconds] = GAINS[system]
        write(root / "outputs" / system / "e.wav", clip, True)

    def rated(clip: Any) -> Ratings:
        gain = level.get(clip.seconds, 0.0)
        return Ratings({"SIG": 3.0, "BAK": 3.0 + gain, "OVRL": 3.0 + gain})

    backends = Backends({"transcriber_en": Says(said), "speech_quality": Says(rated)})
    benchmark = SpeechEditBench(root, backends)
    ids = [sample.id for sample in benchmark.samples]
    for name in SYSTEMS:
        system = OutputFolder(name, find_outputs(root / "outputs" / name, ids))
        run(benchmark, system, root / "report" / name, workers=0)
    return root


def write(path: Path, clip: Any, there: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if there:
        files.write(path, quantised(clip.samples), clip.rate_hz)


def agreement(root: Path, *systems: str, **changed: Any) -> VerdictAgreement:
    settings: dict[str, Any] = {
        "benchmark": "speecheditbench",
        "samples": root,
        "run": root / "report",
        "systems": {name: root / "outputs" / name for name in systems or SYSTEMS},
        "features": {"spectrum": {}},
        **changed,
    }
    return VerdictAgreement(**settings)


class Model(torch.nn.Module):
    """Rates a pair on all axes by a function of it, None what cannot be rated."""

    def __init__(self, rating: Callable[[EditPair], float | None], *trained: bool) -> None:
        super().__init__()
        self.trained = torch.tensor(trained or (True, True, True))
        self.rating = rating

    def look(self, store: Any, pairs: list[EditPair]) -> list[Any]:
        found = map(self.rating, pairs)
        return [Failure("unreadable") if x is None else x for x in found]

    def predict(self, rows: list[float]) -> torch.Tensor:
        return torch.tensor(rows)[:, None].repeat(1, 3)


def values(metric: VerdictAgreement, model: Model) -> dict[str, Any]:
    trainer: Any = SimpleNamespace(global_rank=0, world_size=1)
    module = SimpleNamespace(model=model)
    metric.start(trainer, module)
    rows = metric.epoch(trainer, module)
    return dict(metric.values({id: rows[id] for id in sorted(rows)}))


def rating(pair: EditPair) -> float:
    """Any numbers, with ties among them."""
    return 1.0 + sum(map(ord, pair.id)) % 5 / 2


def test_each_axis_is_compared_with_its_verdict(root: Path) -> None:
    """Target success with relevance, preservation with faithfulness, the gain with quality."""
    pairs = {
        f"{system}: s{n}": (float("s" in done), float("o" not in done))
        for system, plan in SYSTEMS.items()
        for n, done in enumerate(plan.split())
        if "m" not in done
    }
    whole = {
        **pairs,
        **{f"{system}: e": (float(gain > 0), 1.0) for system, gain in GAINS.items()},
    }
    found = values(agreement(root), Model(lambda pair: rating(pair)))
    predicted = [rating(SimpleNamespace(id=id)) for id in whole]  # type: ignore[arg-type]
    for axis, place in (("relevance", 0), ("faithfulness", 1)):
        verdicts = [found[place] for found in whole.values()]
        assert found[f"{axis}/pairs"] == len(whole) == 14
        assert found[f"{axis}/auc"] == pytest.approx(roc_auc_score(verdicts, predicted))
        srcc = stats.spearmanr(predicted, verdicts).statistic
        assert found[f"{axis}/srcc"] == pytest.approx(srcc)
        means = [
            [
                sum(side[n] for n, id in enumerate(whole) if id.startswith(system))
                / sum(id.startswith(system) for id in whole)
                for system in SYSTEMS
            ]
            for side in (predicted, verdicts)
        ]
        srcc = stats.spearmanr(*means).statistic
        assert found[f"{axis}/system_srcc"] == pytest.approx(srcc)
    predicted = [rating(SimpleNamespace(id=f"{name}: e")) for name in GAINS]  # type: ignore[arg-type]
    assert found["quality/pairs"] == 3
    assert found["quality/srcc"] == pytest.approx(
        stats.spearmanr(predicted, list(GAINS.values())).statistic
    )
    assert found["quality/auc"] == pytest.approx(roc_auc_score([1, 1, 0], predicted))


def test_a_perfect_evaluator_agrees_wholly_and_a_contrary_one_not_at_all(root: Path) -> None:
    metric = agreement(root)
    best = {one.pair.id: one.verdicts["relevance"].grade for one in metric._judged.values()}
    assert values(metric, Model(lambda pair: best[pair.id]))["relevance/auc"] == 1.0
    assert values(metric, Model(lambda pair: -best[pair.id]))["relevance/auc"] == 0.0
    constant = values(metric, Model(lambda pair: 3.0))
    assert constant["relevance/auc"] == 0.5
    assert constant["relevance/srcc"] == Undefined("all predictions are equal")


def test_a_sample_gives_its_words_and_what_is_asked_as_captions(root: Path) -> None:
    (pair,) = [one.pair for one in agreement(root)._judged.values() if one.pair.id == "poor: s2"]
    assert pair.original_caption == 'A person says: "the yellow lamps"'
    assert pair.target_caption == 'A person says: "the yellow lamps" Speak faster.'
    assert pair.original == root / "data/prosody_editing/audio/s.wav"
    assert pair.edited == root / "outputs/poor/s2.wav"
    assert (pair.system, pair.source) == ("poor", "s2")


def test_what_cannot_be_said_has_its_reason(root: Path) -> None:
    one = values(agreement(root, "good"), Model(rating, False, True, True))
    assert one["quality/srcc"] == Undefined("no edit could be rated on it")
    assert one["quality/pairs"] == 0
    assert one["relevance/auc"] == Undefined("all of them succeeded")
    assert not any("system" in name for name in one)  # of one system there is no such level
    two = values(agreement(root, "good", "poor"), Model(rating))
    assert two["relevance/system_srcc"] == Undefined("2 items; a correlation needs 3")
    none = values(agreement(root), Model(lambda pair: None if "s0" in pair.id else 2.0))
    assert none["relevance/pairs"] == 11
    # What is no number is no rating either.
    wild = Model(lambda pair: float("nan") if "s0" in pair.id else rating(pair))
    assert values(agreement(root), wild) == values(
        agreement(root), Model(lambda pair: None if "s0" in pair.id else rating(pair))
    )


def test_the_configuration_names_it(root: Path) -> None:
    node = "callbacks.evaluation.metrics.verdicts"
    systems = ", ".join(f"{name}: {root / 'outputs' / name}" for name in SYSTEMS)
    paths = [f"{node}.samples={root}", f"{node}.run={root / 'report'}"]
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        config = compose("train", ["callbacks=benchmarks", *paths, f"{node}.systems={{{systems}}}"])
    metric = call(config.callbacks.evaluation.metrics.verdicts)
    assert values(metric, Model(rating)) == values(agreement(root), Model(rating))


def test_rubrics_are_grades_and_those_without_an_answer_are_none(tmp_path: Path) -> None:
    def entry(id: str, *rubrics: tuple[str, str]) -> dict[str, Any]:
        clip = {"type": "audio", "audio_url": "in.wav"}
        return {
            "id": id,
            **dict.fromkeys(("complexity", "modality"), "single"),
            **{name: [] for name in ("granularity", "operations")},
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Remove\nthe dog."}, clip]}
            ],
            "rubrics": [
                {
                    "category": category,
                    "question": "?",
                    "right_choice": right,
                    "wrong_choices": [wrong],
                }
                for category, right in rubrics
                for wrong in ["no" if right == "yes" else "yes"]
            ],
        }

    write(tmp_path / "in.wav", tone(220), True)
    entries = [entry("a", ("IF", "yes"), ("IF", "no"), ("Con.", "no")), entry("b", ("IF", "yes"))]
    (tmp_path / "meta.json").write_text(json.dumps(entries))
    for id in "ab":
        write(tmp_path / "outputs" / f"{id}.wav", tone(330), True)

    class SaysYes(Judges):
        def ask(self, question: Any) -> Any:
            (place,) = re.findall(r"(?m)^\W*([AB])\W+yes$", question.prompt)
            return Answer(question.reply.model_validate({"choice": place, "reason": ""}))

    for name, judge in {"asked": SaysYes({}), "silent": Judges(None)}.items():
        benchmark = MMAE(tmp_path / "meta.json", Backends({"judge": judge}))
        system = OutputFolder("mine", find_outputs(tmp_path / "outputs", ["a", "b"]))
        run(benchmark, system, tmp_path / name / "mine", workers=0)
    a, b = recorded(benchmark, [system], tmp_path / "asked")
    assert a.verdicts == {"relevance": Verdict(0.5), "faithfulness": Verdict(0.0)}
    assert b.verdicts == {"relevance": Verdict(1.0)}
    said = a.pair.original_caption, a.pair.target_caption, a.pair.instruction
    assert said == ("", "", "Remove the dog.")
    assert [one.verdicts for one in recorded(benchmark, [system], tmp_path / "silent")] == [{}, {}]
    given: Any = SimpleNamespace(name="given")  # verdicts in place of outputs
    with pytest.raises(UserError, match="given: expected its outputs, found verdicts without"):
        recorded(benchmark, [given], tmp_path / "asked")


def test_mistakes_are_said_when_it_is_made(root: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="swanbench: has no verdicts on edits to agree with"):
        agreement(root, benchmark="swanbench")
    for none in ({}, "good=outputs"):
        with pytest.raises(UserError, match=r"systems is .*; expected \{NAME: OUTPUTS\}"):
            agreement(root, systems=none)
    with pytest.raises(UserError, match=r"nowhere: is no folder"):
        agreement(root, systems={"good": root / "nowhere"})
    with pytest.raises(UserError, match=r"better/records\.jsonl: no such records"):
        agreement(root, systems={"better": root / "outputs" / "good"})
    with pytest.raises(UserError, match=r"run\.json: was made of other outputs than those of good"):
        agreement(root, systems={"good": root / "outputs" / "fair"})


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ({"id": "s9"}, r"records\.jsonl:1: 's9' is no sample of this speecheditbench"),
        ({"id": "s0", "status": "ok"}, r"records\.jsonl:1: is no record of speecheditbench"),
        (
            {"id": "s0", "status": "ok", "target_success": "x", "preservation_success": None},
            r"records\.jsonl:1: is no record of speecheditbench",
        ),
    ],
)
def test_a_damaged_record_is_said(root: Path, tmp_path: Path, line: Any, sentence: str) -> None:
    (tmp_path / "good").mkdir()
    (tmp_path / "good" / "records.jsonl").write_text(json.dumps(line) + "\n")
    with pytest.raises(UserError, match=sentence):
        agreement(root, "good", run=tmp_path)
