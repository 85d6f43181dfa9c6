"""The example of docs/benchmarks.md, as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import auditeval
from auditeval.audio import files
from auditeval.backends.backend import JUDGES
from auditeval.benchmarking import make_backends

DOCS = Path(__file__).parents[2] / "docs" / "benchmarks.md"


def test_the_example_of_the_page_runs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    spectrum_checkpoint: Path,
) -> None:
    """Four pairs, of which the likelihoods prefer the right clip in three."""
    blocks = re.findall(r"(?s)```python\n(.*?)```", DOCS.read_text(encoding="utf-8"))
    (example,) = [block for block in blocks if 'bench("salmon"' in block]
    lines = ["part,file,score"]
    for index, number in np.ndindex(4, 2):
        name = f"sample_{index}_{number}.wav"
        noise = np.random.default_rng(index).integers(-9000, 9000, 8000).astype(np.int16)
        files.write(tmp_path / "salmon_dataset" / "rir_consistency" / name, noise, 16000)
        score = -number if index else number
        lines.append(f"rir_consistency,{name},{score}")
    (tmp_path / "likelihoods.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    exec(compile(example, str(DOCS), "exec"), {})
    shown = capsys.readouterr().out
    assert "SALMon, Table II (official protocol): pairs won (%) {" in shown
    assert "'Consistency: Room': 0.75" in shown
    assert (tmp_path / "report" / "lm" / "records.jsonl").read_text().count("\n") == 4
    # One task or checkpoint, a path or not, is no list of letters.
    part, one = "rir_consistency", str(spectrum_checkpoint)
    found = auditeval.bench(
        "salmon", Path("salmon_dataset"), {}, "one", tasks=part, checkpoints=one, workers=0
    )
    assert [len(records) for records in found.records.values()] == [4]
    with pytest.raises(auditeval.UserError, match="workers -1: expected a whole number"):
        auditeval.bench("salmon", "salmon_dataset", {}, "none", baselines=True, workers=-1)


def test_recorded_answers_may_be_given_as_a_path(tmp_path: Path) -> None:
    given = tmp_path / "answers.jsonl"
    given.write_text("")
    assert JUDGES[0] in make_backends(judge=given)
