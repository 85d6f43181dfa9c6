"""Kills and full disks, at seeded moments of every command that writes: given again, same bytes.

One of each signal; `pytest tests/attacks --moments 10` for ten, as before a release.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from commands import content, row_of, write_rows, write_scores
from forked_commands import Commands, Forked
from outcomes import Traceback, kept, same

from auditeval.types import EditPair, Scores

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and signals")

ROOT = Path(__file__).parents[2]
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


class Desk(NamedTuple):
    """What the commands read."""

    folder: Path
    model: Path
    clips: Path
    salmon: Path


def swift(pair: EditPair) -> dict[str, Any]:
    """A record of ms-swift's."""
    prompt = "<audio><audio>\nOriginal Caption:\nRain.\n\nTarget Caption:\nWind.\n"
    said = ({"role": "user", "content": prompt}, {"role": "assistant", "content": "[3, 4, 5]"})
    return {"messages": said, "audios": [str(pair.original), str(pair.edited)]}


@pytest.fixture(scope="module")
def desk(
    tmp_path_factory: pytest.TempPathFactory,
    simulated: list[EditPair],
    clip_list: Path,
    spectrum_checkpoint: Path,
) -> Desk:
    folder = tmp_path_factory.mktemp("desk")
    pairs = [row_of(pair) for pair in simulated[:24]]  # of five scenes: eight batches of scores
    write_rows(folder / "pairs.jsonl", pairs)
    write_rows(folder / "few.jsonl", pairs[:6])
    many = [{**pair, "id": f"{turn} {pair['id']}"} for turn in range(60) for pair in pairs]
    write_rows(folder / "many.jsonl", many)
    scores = [Scores(row["id"], 1.0 + i % 4, 3.0, 5.0) for i, row in enumerate(many)]
    write_scores(folder / "many.csv", scores)
    write_scores(folder / "scores.csv", scores[: len(pairs)])
    rows = [Scores(row["id"], 1.0 + i % 4, 3.0, 5.0) for i, row in enumerate(pairs)]
    write_scores(folder / "pairs.csv", rows)
    content(folder / "recipe.yaml", b"stages:\n- {name: best, axis: quality, keep_share: 0.5}\n")
    content(folder / "prompts.csv", b"label,caption\ndog,a dog barks\nrain,it rains\nbell,a bell\n")
    write_rows(folder / "swift.jsonl", [swift(pair) for pair in simulated])
    salmon = folder / "salmon"
    for number in range(12):
        for side in (0, 1):
            path = salmon / "speaker_consistency" / f"sample_{number}_{side}.wav"
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy((simulated[number].original, simulated[number].edited)[side], path)
    return Desk(folder, spectrum_checkpoint, clip_list, salmon)


def score(suffix: str) -> Callable[[Desk, Path], tuple[object, ...]]:
    return lambda d, out: (
        *("auditeval", "score", d.folder / "pairs.jsonl", "-c", d.model, "-o", out / f"s{suffix}"),
        *("--batch-size", 3, "--workers", 0, "--device", "cpu"),
    )


def build(kind: str) -> Callable[[Desk, Path], tuple[object, ...]]:
    return lambda d, out: (
        *("auditeval", "build", "--clips", d.clips, "-o", out / "set", "--audio", kind),
        *("--background-seconds", 2, "--event-seconds", 1, 1.5, "--rate", 8000),
        *("--backgrounds-per-pair", 6, "--workers", 1),
    )


def train(d: Desk, out: Path) -> tuple[object, ...]:
    return (
        *(ROOT / "train.py", "data=manifest", f"data.path={d.folder / 'pairs.jsonl'}"),
        *(
            "features=spectrum",
            "model.rank=0",
            "compare=none",
            f"run_dir={out / 'run'}",
            "resamples=0",
        ),
        *("fit.epochs={quality: 3, relevance: 3, faithfulness: 3}", "trainer.accelerator=cpu"),
        *("hydra.output_subdir=null", f"hydra.run.dir={out}", "workers=1"),
    )


COMMANDS: dict[str, Callable[[Desk, Path], tuple[object, ...]]] = {
    "score csv": score(".csv"),
    "score jsonl": score(".jsonl"),
    "score parquet": score(".parquet"),
    "build flac": build("flac"),
    "build wav": build("wav"),
    "build virtual": build("virtual"),
    "filter": lambda d, out: (
        *("auditeval", "filter", d.folder / "many.jsonl", d.folder / "many.csv"),
        *("--recipe", d.folder / "recipe.yaml", "-o", out / "kept.jsonl"),
    ),
    "metrics": lambda d, out: (
        *("auditeval", "metrics", d.folder / "few.jsonl", "-o", out / "report"),
        *("--workers", 0, "--device", "cpu"),
    ),
    "bench": lambda d, out: (
        *("auditeval", "bench", "salmon", d.salmon, "-c", d.model, "--baselines"),
        *("-o", out / "report", "--workers", 0, "--device", "cpu"),
    ),
    "generate": lambda d, out: (
        *("auditeval", "generate", d.folder / "prompts.csv", "--takes", 5, "--seconds", 2),
        *("-o", out / "made"),
    ),
    "import": lambda d, out: (
        *("auditeval", "import", "ms-swift", d.folder / "swift.jsonl", "-o", out / "m.parquet"),
    ),
    "evaluate": lambda d, out: (
        *("auditeval", "evaluate", d.folder / "pairs.csv", "--against", d.folder / "pairs.jsonl"),
        *("--resamples", 20, "-o", out / "report"),
    ),
    "train": train,
}  # fmt: skip


ENCODING = {"score csv", "metrics", "bench", "train"}
"""The first of those that leave entries in the cache: the other scores find those of one."""


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    folder = tmp_path_factory.mktemp("forked")
    made = Commands(folder / "cache", folder)
    yield made
    made.close()


class Whole(NamedTuple):
    """An undisturbed run: its end, its seconds, and the files that it leaves."""

    ended: Forked
    seconds: float
    files: dict[str, bytes]


_MEASURED = ("timing.json", "machine.md")
_OF_THIS_TURN = ("last.ckpt", "metrics.csv", "metrics-1.csv", "hparams.yaml")
"""A run that was interrupted keeps the metrics of both its parts."""


def left(folder: Path, kind: str) -> dict[str, bytes]:
    """Files by path but those that hold times or, of training, the turns that it took."""
    skipped = {*_MEASURED, *(_OF_THIS_TURN if kind == "train" else ())}
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in skipped and not path.match("metrics-*.csv")
    }


@pytest.fixture(scope="module")
def wholes() -> dict[str, Whole]:
    return {}


@pytest.fixture
def whole(wholes: dict[str, Whole], commands: Commands, desk: Desk, kind: str, out: Path) -> Whole:
    if kind not in wholes:
        for _ in range(2 if kind in ENCODING else 1):  # the first fills the cache
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            started = time.monotonic()
            ended = commands.run(*COMMANDS[kind](desk, out))
            seconds = time.monotonic() - started
            assert ended.status == 0, ended.err
        wholes[kind] = Whole(ended, seconds, left(out, kind))
        shutil.rmtree(out)
        out.mkdir()
    return wholes[kind]


@pytest.fixture
def out(desk: Desk) -> Iterator[Path]:
    """One path for all runs, since some records name it."""
    folder = desk.folder / "out"
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def moments(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--moments"))


@pytest.mark.parametrize("kind", COMMANDS)
def test_killed_at_seeded_moments(
    commands: Commands, desk: Desk, whole: Whole, out: Path, kind: str, attacks: Any, moments: int
) -> None:
    """By each signal in turn, one run going on from what the last one left."""
    rng = random.Random(kind)
    attacks(len(SIGNALS) * moments)
    killed = 0
    for sent in SIGNALS * moments:
        pid = commands.start(*COMMANDS[kind](desk, out))
        time.sleep(rng.uniform(0, whole.seconds))
        with suppress(ProcessLookupError):
            os.kill(pid, sent)
        ended = commands.wait()
        if "Traceback" in ended.err:
            raise Traceback(ended.err)
        if kind != "train":  # each file of its own is whole where it is
            for name, data in left(out, kind).items():
                if name in whole.files and not name.endswith(".made.json"):
                    kept(data, whole.files[name], name)
        killed += ended.status != 0
        if ended.status == 0:  # it was quicker
            shutil.rmtree(out)
            out.mkdir()
    assert killed or moments < 10  # a few may all have come too late
    again(commands, desk, whole, out, kind)


@pytest.mark.parametrize("kind", COMMANDS)
def test_a_full_disk_at_seeded_sizes(
    commands: Commands, desk: Desk, whole: Whole, out: Path, kind: str, attacks: Any, moments: int
) -> None:
    """No file may grow beyond a size: it is told in a sentence, and no file is half there."""
    rng = random.Random(kind)
    attacks(moments)
    largest = max(map(len, whole.files.values()))
    for _ in range(moments):
        ended = commands.run(
            *COMMANDS[kind](desk, out), limit=max(2000, int(largest * rng.random()))
        )
        if "Traceback" in ended.err:
            raise Traceback(ended.err)
        for name, data in left(out, kind).items():
            if name in whole.files and kind != "train" and not name.endswith(".made.json"):
                kept(data, whole.files[name], name)
        if ended.status == 0:
            shutil.rmtree(out)
            out.mkdir()
        else:
            assert "cannot be" in ended.err or "large" in ended.err, ended.err
    again(commands, desk, whole, out, kind)


def again(commands: Commands, desk: Desk, whole: Whole, out: Path, kind: str) -> None:
    """The command once more, undisturbed: to the bytes of an undisturbed run, nothing beside."""
    ended = commands.run(*COMMANDS[kind](desk, out))
    same(ended.status, 0, ended.err)
    found = left(out, kind)
    same(sorted(found), sorted(whole.files), "files")
    for name, data in found.items():
        same(data == whole.files[name], True, name)
