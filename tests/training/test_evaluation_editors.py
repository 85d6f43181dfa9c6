"""A benchmark of an editor in training: by name, on a subset, while its judge comes and goes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hydra
import pytest
import torch
from omegaconf import OmegaConf
from speechedit_rows import ANCHORS, Judges, lay_out, row, tone
from toy_benchmark import RATE_HZ, Louder, write_clips

from auditeval.backends.load import Backends
from auditeval.benchmarks.swanbench import tables
from auditeval.training.configured import call
from auditeval.training.evaluation.editors import EditorBenchmark
from auditeval.types import Undefined, UserError

CLIPS = 7


@pytest.fixture(scope="module")
def louder(tmp_path_factory: pytest.TempPathFactory) -> Louder:
    return Louder(write_clips(tmp_path_factory.mktemp("clips"), CLIPS))


def louder_outputs(benchmark: Louder) -> dict[str, Any]:
    clips = [torch.from_numpy(2 * benchmark.source(clip).samples) for clip in benchmark.samples]
    return {"id": [clip.id for clip in benchmark.samples], "edited": clips, "rate_hz": RATE_HZ}


def test_an_outage_leaves_its_epoch_undefined_and_is_over_in_the_next(louder: Louder) -> None:
    asked: list[str] = []

    class Away(Louder):
        away = True

        def evaluate(self, sample: Any, output: Any) -> Any:
            asked.append(sample.id)
            if self.away and sample.id == "clip02":
                raise UserError("http://judge/v1: cannot be reached")
            return super().evaluate(sample, output)

    benchmark = Away(louder.samples[0].path.parent)
    metric = EditorBenchmark(benchmark)
    rows = metric.batch(None, louder_outputs(louder))
    assert asked == ["clip00", "clip01", "clip02"]  # who is away is not asked for the rest
    assert metric.values(rows) == Undefined("http://judge/v1: cannot be reached")
    benchmark.away = False
    values = metric.values(metric.batch(None, louder_outputs(louder)))
    assert not isinstance(values, Undefined)
    assert values["success"] == 1.0


def test_a_judge_that_answers_nothing_is_no_editor_that_does_nothing(louder: Louder) -> None:
    class Silent(Louder):
        answered = 0

        def evaluate(self, sample: Any, output: Any) -> Any:
            made = super().evaluate(sample, output)
            silent = int(sample.id[-2:]) >= self.answered
            unscored = {"status": "unscored", "reason": "the judge refused: 500", "success": False}
            return {**made, **(unscored if silent else {})}

    benchmark = Silent(louder.samples[0].path.parent)
    metric = EditorBenchmark(benchmark)
    silent = metric.values(metric.batch(None, louder_outputs(louder)))
    assert silent == Undefined("the judge refused: 500")
    benchmark.answered = 1
    values = metric.values(metric.batch(None, louder_outputs(louder)))
    assert values["success"] == pytest.approx(1 / CLIPS)  # type: ignore[index]


def test_a_judge_that_gave_up_is_made_anew() -> None:
    made: list[Any] = []
    backends = Backends({"judge": Judges(None)}, around=lambda judge: made.append(judge) or judge)
    backends.model("judge")
    backends.model("judge")
    assert len(made) == 1
    backends.forget_judges()
    backends.model("judge")
    assert len(made) == 2


def test_errors_and_delays_of_a_benchmark_are_better_where_they_are_lower() -> None:
    """All of the names are those of values: of SwanBench-Speech, `error_rate` of another one."""
    known = set(tables.values([], {}))
    lower = {name for name, metric in tables.METRICS.items() if metric.better == "lower"}
    lower |= {name for name in known if name.startswith(("cer", "wer"))} | {"real_time_factor"}
    assert EditorBenchmark.lower_is_better == lower | {"error_rate"}
    assert lower == {"content", "reverb", "cer_zh", "wer_en", "real_time_factor"}
    assert lower <= known


def test_yaml_names_a_benchmark_and_who_judges(tmp_path: Path) -> None:
    """An endpoint that is not there: undefined for its sentence, while the fit goes on."""
    pytest.importorskip("openai")
    lay_out(tmp_path / "bench", row("style"), row("style", sample_id="s2"), row("paralinguistic"))
    judge = "{_target_: auditeval.judges.http.HTTPJudge, base_url: http://127.0.0.1:9/v1, "
    (tmp_path / "mine.yaml").write_text(f"judge: {judge} model: none, retries: 0}}")
    node = OmegaConf.create(
        {
            "_target_": "auditeval.training.evaluation.editors.EditorBenchmark.named",
            "benchmark": "speecheditbench",
            "samples": str(tmp_path / "bench"),
            "backends": str(tmp_path / "mine.yaml"),
            "cache_dir": str(tmp_path / "cache"),
            "tasks": "style",
            "limit": 1,
        }
    )
    metric = hydra.utils.instantiate(node)
    assert list(metric.samples) == ["s__style"]  # no s2, no paralinguistic
    metric.start(None, None)
    clip = torch.from_numpy(tone(220).samples)
    found = metric.values(
        metric.batch(None, {"id": ["s__style"], "edited": [clip], "rate_hz": 16000})
    )
    assert isinstance(found, Undefined)
    assert found.reason.startswith("http://127.0.0.1:9/v1: cannot be reached (")


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"benchmark": "speechbench"}, "no benchmark is called 'speechbench'; known: speecheditb"),
        ({"benchmark": "salmon"}, "salmon is for an evaluator in training"),
        ({"samples": "nowhere"}, "nowhere: expected data/<task>/samples.jsonl"),
        ({"backends": "ofline"}, "backends 'ofline': expected a YAML file or one of"),
        ({"limit": 0}, "limit: expected 1 or more samples of each task, found 0"),
        ({"judge": "answers.jsonl"}, r"answers\.jsonl: cannot be read"),
    ],
)
def test_a_mistake_in_the_set_up_is_said_before_the_first_epoch(
    tmp_path: Path, changed: dict[str, Any], sentence: str
) -> None:
    lay_out(tmp_path / "bench", row("style", ANCHORS["style"]))
    (tmp_path / "none.yaml").write_text("{}")
    settings = {
        "benchmark": "speecheditbench",
        "samples": str(tmp_path / "bench"),
        "backends": str(tmp_path / "none.yaml"),
        "cache_dir": str(tmp_path / "cache"),
        **changed,
    }
    target = "auditeval.training.evaluation.editors.EditorBenchmark.named"
    with pytest.raises(UserError, match=sentence):
        call(OmegaConf.create({"_target_": target, **settings})).start(None, None)
