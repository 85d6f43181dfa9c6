"""Bad options, checkpoints and outputs: one sentence, status 2, and nothing computed is lost."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import Ended, content, folder, row_of, write_rows
from fake_encoders import FakeExtractor

from auditeval.data_quality.measure import measure
from auditeval.scoring import Evaluator
from auditeval.types import EditPair, Scores, UserError

OPTIONS: dict[str, tuple[Callable[[Path], list[object]], str]] = {
    "no output": (lambda d: [d / "pairs.jsonl"], r"a MANIFEST needs -o SCORES"),
    "unknown suffix": (
        lambda d: [d / "pairs.jsonl", "-o", d / "scores.txt"],
        r"scores\.txt: a scores file ends in \.csv, \.jsonl, \.parquet",
    ),
    "output is a directory": (
        lambda d: [d / "pairs.jsonl", "-o", folder(d / "scores.csv")],
        r"scores\.csv: is a directory",
    ),
    "output below a file": (
        lambda d: [d / "pairs.jsonl", "-o", d / "pairs.jsonl" / "scores.csv"],
        r"scores\.csv: cannot be written",
    ),
    "unknown device": (
        lambda d: [d / "pairs.jsonl", "-o", d / "s.csv", "--device", "abacus"],
        r"device 'abacus': expected auto, cpu, cuda",
    ),
    "absent device": (
        lambda d: [d / "pairs.jsonl", "-o", d / "s.csv", "--device", "xpu"],
        r"device 'xpu' is not available",
    ),
    "cache below a file": (
        lambda d: [d / "pairs.jsonl", "-o", d / "s.csv", "--cache-dir", d / "pairs.jsonl" / "x"],
        r"the feature cache cannot be made",
    ),
    "a manifest and a pair": (
        lambda d: [d / "pairs.jsonl", "--original", "a.wav", "--edited", "b.wav"],
        r"give either a MANIFEST",
    ),
    "nothing": (lambda d: [], r"give either a MANIFEST"),
    "half a pair": (lambda d: ["--original", "a.wav"], r"needs both --original and --edited"),
    "an empty path": (
        lambda d: ["--original", "", "--edited", "b.wav"],
        r"original: expected the path of an audio file",
    ),
    "a missing clip": (
        lambda d: ["--original", d / "x.wav", "--edited", d / "y.wav", "--original-caption", "a",
                   "--target-caption", "b"],
        r"x\.wav: no such file",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", OPTIONS)
def test_a_bad_option_is_one_sentence(
    tmp_path: Path, cli: Any, spectrum_checkpoint: Path, pairs_path: Path, kind: str
) -> None:
    make, said = OPTIONS[kind]
    before = pairs_path.read_bytes()
    ended = cli("score", *make(tmp_path), "-c", spectrum_checkpoint)
    assert ended.status == 2
    assert re.search(said, ended.sentence)
    assert pairs_path.read_bytes() == before
    assert not [p for p in tmp_path.iterdir() if p.is_file() and p != pairs_path]


@pytest.mark.parametrize("number", ["0", "-1", "many"])
def test_a_batch_size_that_is_none_is_refused(cli: Any, pairs_path: Path, number: str) -> None:
    ended = cli("score", pairs_path, "-o", "s.csv", "--batch-size", number)
    assert ended.status == 2
    assert "--batch-size" in ended.err


@pytest.mark.parametrize("number", [0, -1, 1.5, "4"])
def test_python_refuses_a_batch_size_that_is_none(
    evaluator: Evaluator, pairs_path: Path, number: Any
) -> None:
    """Of none at a time, metrics had been those of no pairs, and nothing said so."""
    before = sorted(pairs_path.parent.iterdir())
    said = re.escape(f"batch_size {number!r}: expected a whole number above 0")
    with pytest.raises(UserError, match=said):
        list(evaluator.score_manifest(pairs_path, pairs_path.with_name("s.csv"), number))
    with pytest.raises(UserError, match=said):
        measure({"pairs": pairs_path}, {"yamnet": FakeExtractor()}, batch_size=number)
    assert sorted(pairs_path.parent.iterdir()) == before


CHECKPOINTS: dict[str, tuple[Callable[[Path, Path], Path], str]] = {
    "missing": (lambda d, model: d / "none", r"none: is no checkpoint, it has no model\.safet"),
    "a file": (lambda d, model: content(d / "model.bin", b"x"), r"model\.bin: is no checkpoint"),
    "no weights": (
        lambda d, model: (
            (shutil.copytree(model, d / "m") / "model.safetensors").unlink() or d / "m"
        ),
        r"m: is no checkpoint, it has no model\.safetensors",
    ),
    "cut weights": (
        lambda d, model: (
            content(
                shutil.copytree(model, d / "m") / "model.safetensors",
                (model / "model.safetensors").read_bytes()[:-100],
            ).parent
        ),
        r"model\.safetensors: is damaged or another's, its SHA-256 is not the one in config\.json",
    ),
    "broken config": (
        lambda d, model: content(shutil.copytree(model, d / "m") / "config.json", b"{").parent,
        r"config\.json: is not JSON",
    ),
}


def test_a_checkpoint_that_no_hub_gives_is_one_sentence(
    cli: Any, pairs_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    ended = cli("score", pairs_path, "-o", pairs_path.with_name("s.csv"), "-c", "nobody/nothing")
    assert ended.status == 2
    assert "nobody/nothing: no such folder, and the model hub did not give it" in ended.sentence


@pytest.mark.parametrize("kind", CHECKPOINTS)
def test_a_bad_checkpoint_is_one_sentence(
    tmp_path: Path, cli: Any, spectrum_checkpoint: Path, pairs_path: Path, kind: str
) -> None:
    make, said = CHECKPOINTS[kind]
    made = make(tmp_path, spectrum_checkpoint)
    ended = cli("score", pairs_path, "-o", tmp_path / "scores.csv", "-c", made)
    assert ended.status == 2
    assert re.search(said, ended.sentence)
    assert not (tmp_path / "scores.csv").exists()


def score_again(cli: Any, path: Path, output: Path, model: Path) -> Ended:
    return cli("score", path, "-o", output, "-c", model, "--device", "cpu", "--batch-size", 2)


def test_an_output_of_another_checkpoint_is_kept(
    tmp_path: Path, cli: Any, spectrum_checkpoint: Path, pairs_path: Path
) -> None:
    output = tmp_path / "scores.csv"
    assert score_again(cli, pairs_path, output, spectrum_checkpoint).status == 0
    kept = output.read_bytes()
    other = shutil.copytree(spectrum_checkpoint, tmp_path / "other")
    config = json.loads((other / "config.json").read_bytes())
    config["training"]["note"] = "another one"
    (other / "config.json").write_text(json.dumps(config))
    ended = score_again(cli, pairs_path, output, other)
    assert ended.status == 2
    assert re.search(r"scores\.csv: exists already and was not made by this", ended.sentence)
    assert output.read_bytes() == kept


def test_a_file_of_the_users_own_is_never_overwritten(
    tmp_path: Path, cli: Any, spectrum_checkpoint: Path, pairs_path: Path
) -> None:
    output = content(tmp_path / "scores.csv", b"my thesis")
    ended = score_again(cli, pairs_path, output, spectrum_checkpoint)
    assert ended.status == 2
    assert "exists already" in ended.sentence
    assert output.read_bytes() == b"my thesis"


def test_an_output_of_a_manifest_that_changed_is_kept(
    tmp_path: Path, cli: Any, spectrum_checkpoint: Path, pairs_path: Path, good: list[EditPair]
) -> None:
    output = tmp_path / "scores.csv"
    assert score_again(cli, pairs_path, output, spectrum_checkpoint).status == 0
    kept = output.read_bytes()
    write_rows(pairs_path, [row_of(pair) for pair in good[:2]])
    ended = score_again(cli, pairs_path, output, spectrum_checkpoint)
    assert ended.status == 2
    assert "exists already" in ended.sentence
    assert output.read_bytes() == kept


def interrupt(evaluator: Evaluator, path: Path, output: Path, after: int) -> None:
    steps = evaluator.score_manifest(path, output, batch_size=2)
    for _ in range(after):
        next(steps)
    steps.close()


def test_a_partial_run_never_goes_on_with_another_manifest(
    tmp_path: Path, evaluator: Evaluator, simulated: list[EditPair]
) -> None:
    path, output = tmp_path / "pairs.jsonl", tmp_path / "scores.csv"
    write_rows(path, [row_of(pair) for pair in simulated[:8]])
    interrupt(evaluator, path, output, after=2)
    assert not output.exists()
    write_rows(path, [row_of(pair) for pair in reversed(simulated[:8])])
    partial = output.with_name("scores.csv.partial") / "000000.jsonl"
    kept = partial.read_bytes()
    with pytest.raises(UserError, match="holds rows of another checkpoint or manifest"):
        list(evaluator.score_manifest(path, output, 2))
    assert partial.read_bytes() == kept


@pytest.mark.parametrize("tail", [b"", b'{"id": "hal', b'{"id": "x", "status": "ok"}\n'])
def test_what_was_computed_is_not_computed_again(
    tmp_path: Path,
    evaluator: Evaluator,
    simulated: list[EditPair],
    monkeypatch: pytest.MonkeyPatch,
    tail: bytes,
) -> None:
    path, output = tmp_path / "pairs.jsonl", tmp_path / "scores.csv"
    write_rows(path, [row_of(pair) for pair in simulated[:7]])
    interrupt(evaluator, path, output, after=2)
    with (tmp_path / "scores.csv.partial" / "000000.jsonl").open("ab") as file:
        file.write(tail)  # a kill in the middle of a batch
    scored = []
    score = evaluator.score

    def spy(pairs: list[EditPair]) -> list[Scores]:
        scored.extend(pair.id for pair in pairs)
        return score(pairs)

    monkeypatch.setattr(evaluator, "score", spy)
    steps = list(evaluator.score_manifest(path, output, 2))
    assert scored == [pair.id for pair in simulated[4:7]]
    assert (steps[-1].done, steps[-1].total) == (7, 7)
    list(evaluator.score_manifest(path, tmp_path / "whole.csv", 2))
    assert output.read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert not list(tmp_path.glob("*.partial*"))


def test_a_bad_line_far_down_costs_nothing_that_was_scored(
    tmp_path: Path, evaluator: Evaluator, simulated: list[EditPair]
) -> None:
    """The manifest is spoilt while it is being scored; the rows that were made are kept."""
    path, output = tmp_path / "pairs.jsonl", tmp_path / "scores.csv"
    # More than is read ahead of the rows that are scored: 128 KiB since Python 3.14.
    write_rows(path, [json.dumps(row_of(pair)) + 8192 * " " for pair in simulated[:40]])
    steps = evaluator.score_manifest(path, output, batch_size=2)
    next(steps)
    whole = path.read_bytes()
    path.write_bytes(whole[: -len(whole) // 4])
    with pytest.raises(UserError, match=r"pairs\.jsonl:\d+: is not JSON"):
        list(steps)
    kept = (tmp_path / "scores.csv.partial" / "000000.jsonl").read_bytes().count(b"\n")
    assert kept >= 2
    path.write_bytes(whole)
    first = next(evaluator.score_manifest(path, output, batch_size=2))
    assert first.done >= kept
