"""`auditeval.bench`: the example of docs/benchmarks.md, and a run that is broken off."""

from __future__ import annotations

import re
import time
from pathlib import Path

import numpy as np
import pytest
from judges_endpoint import serving
from mmae_files import IF, OUTPUT, RATE_HZ, entry, rubric, write

import auditeval
from auditeval.audio import files
from auditeval.audio.waveform import quantised
from auditeval.backends.backend import JUDGES
from auditeval.benchmarking import make_backends
from auditeval.judges.place import JudgeAt

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


def test_a_run_that_is_broken_off_asks_its_judge_nothing_more(tmp_path: Path) -> None:
    """Threads that are in the middle of their samples do not go on and pay for the rest of them."""
    entries = [entry(f"s{n}", [rubric(IF, f"{n}.{k}?") for k in range(40)]) for n in range(3)]
    entries[0]["rubrics"] = [rubric(IF, "0?")]
    for sample in entries:
        files.write(tmp_path / "out" / f"{sample['id']}.wav", quantised(OUTPUT.samples), RATE_HZ)
    meta = write(tmp_path, entries)

    def broken_off(system: str, done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with serving((200, '{"reason": "", "choice": "A"}')) as endpoint:
        judge = JudgeAt(endpoint.url, "tiny", check=False)
        with pytest.raises(KeyboardInterrupt):
            auditeval.bench(
                *("mmae", meta, {"mine": tmp_path / "out"}, tmp_path / "report"),
                judge=judge,
                cache_dir=tmp_path / "cache",
                watch=broken_off,
            )
        asked = len(endpoint.requests)
        time.sleep(0.1)
        assert asked == len(endpoint.requests) < 120
