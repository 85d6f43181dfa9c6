"""Old scores passed off as new: clips, manifests and logs that change between two runs."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import noise, row_of, sound, write_rows
from outcomes import refused, same

from auditeval import scores_table
from auditeval.scoring import Evaluator
from auditeval.types import EditPair, Scores, UserError

PAIRS, BATCH = 12, 4


@pytest.fixture
def table(simulated: list[EditPair], tmp_path: Path) -> Path:
    """A manifest of copies of twelve pairs, under tmp_path/clips."""
    return copied(simulated, tmp_path)


def copied(simulated: list[EditPair], folder: Path) -> Path:
    (folder / "clips").mkdir()
    rows = []
    for number, pair in enumerate(simulated[:PAIRS]):
        copies = {}
        for side in ("original", "edited"):
            path = folder / "clips" / f"{number}_{side}.wav"
            shutil.copy(getattr(pair, side), path)
            os.utime(path, ns=(1_700_000_000_000_000_000,) * 2)
            copies[side] = path
        rows.append(row_of(pair.model_copy(update={"id": f"pair {number}", **copies})))
    return write_rows(folder / "pairs.jsonl", rows)


@pytest.fixture(scope="module")
def whole(
    evaluator: Evaluator, simulated: list[EditPair], tmp_path_factory: pytest.TempPathFactory
) -> bytes:
    """Scores of the unchanged table, made without a stop; they name no path."""
    folder = tmp_path_factory.mktemp("whole")
    run(evaluator, copied(simulated, folder), folder / "scores.csv")
    return (folder / "scores.csv").read_bytes()


@pytest.fixture
def scored(evaluator: Evaluator, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ids of the pairs that are scored, in their order."""
    ids: list[str] = []
    score = evaluator.score

    def spy(pairs: list[EditPair]) -> list[Scores]:
        ids.extend(pair.id for pair in pairs)
        return score(pairs)

    monkeypatch.setattr(evaluator, "score", spy)
    return ids


def run(evaluator: Evaluator, table: Path, output: Path, **options: Any) -> Any:
    *_, last = evaluator.score_manifest(table, output, BATCH, **options)
    return last


def other_sound(table: Path, number: int, side: str = "edited") -> Path:
    path = table.parent / "clips" / f"{number}_{side}.wav"
    return sound(path, noise(20_000), "PCM_16")


def same_size(table: Path) -> list[int]:
    """Other samples, as many, with the time of now."""
    path = table.parent / "clips" / "5_edited.wav"
    data = bytearray(path.read_bytes())
    data[100:2000] = bytes(reversed(data[100:2000]))
    path.write_bytes(data)
    return [5]


def swapped(table: Path) -> list[int]:
    clips = table.parent / "clips"
    first, second = clips / "1_edited.wav", clips / "9_edited.wav"
    first.rename(clips / "x")
    second.rename(first)
    (clips / "x").rename(second)
    os.utime(first, ns=(1, 1))  # as a copy of an archive may have it
    os.utime(second, ns=(2, 2))
    return [1, 9]


CHANGES: dict[str, Callable[[Path], list[int]]] = {
    "an edited clip": lambda t: [3] if other_sound(t, 3) else [],
    "an original": lambda t: [0] if other_sound(t, 0, "original") else [],
    "the last clip": lambda t: [11] if other_sound(t, 11) else [],
    "two of one batch": lambda t: [n for n in (4, 6) if other_sound(t, n)],
    "one of each batch": lambda t: [n for n in (0, 5, 10) if other_sound(t, n)],
    "other samples, as many": same_size,
    "two clips swapped": swapped,
    "a clip that is gone": lambda t: (t.parent / "clips" / "2_edited.wav").unlink() or [2],
    "a clip cut short": lambda t: (
        [7] if os.truncate(t.parent / "clips" / "7_edited.wav", 9000) is None else []
    ),
    "an older file put back": lambda t: (
        [8] if other_sound(t, 8) and os.utime(t.parent / "clips" / "8_edited.wav", (9, 9)) is None
        else []
    ),
}  # fmt: skip


def interrupted(evaluator: Evaluator, table: Path, output: Path) -> None:
    steps = evaluator.score_manifest(table, output, BATCH)
    for _ in range(PAIRS // BATCH):
        next(steps)
    steps.close()
    assert not output.exists()


@pytest.mark.parametrize("before", ["finished", "interrupted"])
@pytest.mark.parametrize("kind", CHANGES)
def test_what_has_changed_is_scored_again(
    evaluator: Evaluator, table: Path, tmp_path: Path, scored: list[str], kind: str, before: str
) -> None:
    output = tmp_path / "scores.csv"
    if before == "finished":
        run(evaluator, table, output)
    else:
        interrupted(evaluator, table, output)
    changed = CHANGES[kind](table)
    scored.clear()
    step = run(evaluator, table, output)
    same(list(step.changed), [f"pair {number}" for number in changed], "named")
    batches = {number // BATCH for number in changed}
    same(len(scored), BATCH * len(batches), "pairs scored again")
    same(step.kept, PAIRS - len(scored), "kept")
    run(evaluator, table, tmp_path / "anew.csv")
    same(output.read_bytes(), (tmp_path / "anew.csv").read_bytes(), "scores")
    same(run(evaluator, table, output).kept, PAIRS, "kept by a third run")


def test_a_clip_that_comes_late_is_scored(
    evaluator: Evaluator, table: Path, tmp_path: Path
) -> None:
    late, output = tmp_path / "clips" / "6_edited.wav", tmp_path / "scores.jsonl"
    late.rename(tmp_path / "late.wav")
    same(run(evaluator, table, output).errors, 1, "errors")
    (tmp_path / "late.wav").rename(late)
    step = run(evaluator, table, output)
    same((step.errors, step.changed), (0, ("pair 6",)), "late clip")


def test_the_command_names_them(
    cli: Any, table: Path, tmp_path: Path, spectrum_checkpoint: Path
) -> None:
    command = (
        "score",
        table,
        "-c",
        spectrum_checkpoint,
        "-o",
        tmp_path / "s.csv",
        "--device",
        "cpu",
    )
    cli(*command)
    for number in range(7):
        other_sound(table, number)
    said = cli(*command, "--batch-size", 1).out
    assert "5 rows were kept of an earlier run" in said
    assert "7 pairs were scored again" in said
    assert "pair 0, pair 1, pair 2, pair 3, pair 4 and 2 more" in said
    assert "kept" not in cli(*command, "--fresh").out


def test_a_mix_of_other_recordings_is_scored_again(
    cli: Any, clip_list: Path, tmp_path: Path, spectrum_checkpoint: Path
) -> None:
    shutil.copytree(clip_list.parent, tmp_path / "clips")
    shape = ("--background-seconds", 2, "--event-seconds", 1, 1.5, "--rate", 8000)
    few = ("--backgrounds-per-pair", 1, "--audio", "virtual", "-o", tmp_path / "set")
    assert cli("build", "--clips", tmp_path / "clips" / "labels.csv", *shape, *few).status == 0
    table = tmp_path / "set" / "manifest.jsonl"
    command = (
        "score",
        table,
        "-c",
        spectrum_checkpoint,
        "-o",
        tmp_path / "s.csv",
        "--device",
        "cpu",
    )
    assert "0 errors" in cli(*command).out
    sound(tmp_path / "clips" / "rain_0.wav", noise(), "PCM_16")
    again = cli(*command)
    assert again.status == 1
    assert "scored again" in again.out
    reasons = {row.reason for row in scores_table.read(tmp_path / "s.csv") if row.reason}
    assert reasons
    assert all("other samples than when the mixes were planned" in reason for reason in reasons)


def edited_captions(table: Path) -> None:
    rows = [json.loads(line) for line in table.read_text().splitlines()]
    write_rows(table, [{**row, "target_caption": "Silence."} for row in rows])


def reversed_order(table: Path) -> None:
    write_rows(table, [json.loads(line) for line in reversed(table.read_text().splitlines())])


def one_less(table: Path) -> None:
    table.write_text("".join(table.read_text().splitlines(keepends=True)[:-1]))


@pytest.mark.parametrize("change", [edited_captions, reversed_order, one_less])
@pytest.mark.parametrize("before", ["finished", "interrupted"])
def test_another_manifest_of_the_same_name_is_another(
    cli: Any, evaluator: Evaluator, spectrum_checkpoint: Path, table: Path, tmp_path: Path,
    change: Callable[[Path], None], before: str,
) -> None:  # fmt: skip
    output = tmp_path / "scores.csv"
    if before == "finished":
        run(evaluator, table, output)
    else:
        interrupted(evaluator, table, output)
    change(table)
    command = ("score", table, "-c", spectrum_checkpoint, "-o", output, "--device", "cpu")
    refused(cli(*command), r"another checkpoint or manifest|not made by this checkpoint")
    assert cli(*command, "--fresh", "--batch-size", BATCH).status == 0
    run(evaluator, table, tmp_path / "anew.csv")
    same(output.read_bytes(), (tmp_path / "anew.csv").read_bytes(), "scores")


def test_a_manifest_that_changes_meanwhile_is_noticed(
    evaluator: Evaluator, table: Path, tmp_path: Path
) -> None:
    steps = evaluator.score_manifest(table, tmp_path / "s.csv", BATCH)
    for _ in range(PAIRS // BATCH):
        next(steps)
    edited_captions(table)
    with pytest.raises(UserError, match="was changed while it was scored"):
        list(steps)
    assert not (tmp_path / "s.csv").exists()


def zeroed(data: bytes, rng: random.Random) -> bytes:
    """As a file system leaves a page after a loss of power."""
    at = rng.randrange(len(data) - 300)
    return data[:at] + bytes(300) + data[at + 300 :]


def torn(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data))]


def with_junk(data: bytes, rng: random.Random) -> bytes:
    return data + rng.choice(JUNK) + data[:200]


def shuffled(data: bytes, rng: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    rng.shuffle(lines)
    return b"".join(lines)


def of_other_ids(data: bytes, rng: random.Random) -> bytes:
    return data.replace(b'"id": "pair 3"', b'"id": "pair 4"')


def twice(data: bytes, rng: random.Random) -> bytes:
    return data + data


def with_another_digit(data: bytes, rng: random.Random) -> bytes:
    """What is still a number, another one."""
    at = rng.choice([found.start() for found in re.finditer(rb"[0-9]", data)])
    return data[:at] + b"%d" % ((int(data[at : at + 1]) + 5) % 10) + data[at + 1 :]


JUNK = (
    b"\n\n[1, 2]\n",
    b"null\n",
    b"\xff\xfe\n",
    b"[" * 9000 + b"\n",
    b"1" * 5000 + b"\n",
    b'{"row": true}\n',
    b'{"row": 1e99}\n',
    b'{"row": 99, "clips": [1, 2, 3, 4]}\n',
    b'{"row": -1, "clips": [0, 0, 0, 0], "id": "pair 1"}\n',
    b'{"row": 1, "clips": [1e400, 0, 0, 0], "id": "pair 1"}\n',
    b'{"row": 1, "clips": [1, 2], "id": 7, "status": "ok"}\n',
    b'{"row": 1, "clips": "x"}\n',
)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "damage", [zeroed, torn, with_junk, shuffled, of_other_ids, twice, with_another_digit]
)
def test_a_damaged_log_gives_the_scores_of_a_whole_one(
    evaluator: Evaluator, table: Path, whole: bytes, tmp_path: Path, damage: Any, seed: int
) -> None:
    output = tmp_path / "scores.csv"
    interrupted(evaluator, table, output)
    partial = output.with_name("scores.csv.partial") / "000000.jsonl"
    partial.write_bytes(damage(partial.read_bytes(), random.Random(seed)))
    same(run(evaluator, table, output)[:3], (PAIRS, 0, PAIRS), "progress")
    same(output.read_bytes(), whole, "scores")


def another(digit: re.Match[str]) -> str:
    return str((int(digit[0]) + 1) % 10)


EDITS: dict[str, Callable[[list[str]], list[str]]] = {
    "sorted": lambda lines: [lines[0], *sorted(lines[1:], reverse=True)],
    "a row gone": lambda lines: [*lines[:5], *lines[6:]],
    "a row twice": lambda lines: [*lines, lines[-1]],
    "a digit": lambda lines: [*lines[:3], re.sub(r"\d(?=,ok)", another, lines[3]), *lines[4:]],
    "another id": lambda lines: [*lines[:3], lines[3].replace("pair 2", "pair II"), *lines[4:]],
    "nothing": lambda lines: [],
}


@pytest.mark.parametrize("clips", ["the same", "changed"])
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_a_table_that_somebody_edited_is_not_passed_off_as_scored(
    evaluator: Evaluator,
    table: Path,
    tmp_path: Path,
    edit: Callable[[list[str]], list[str]],
    clips: str,
) -> None:
    output = tmp_path / "scores.csv"
    run(evaluator, table, output)
    whole = output.read_bytes()
    output.write_text("".join(edit(output.read_text().splitlines(keepends=True))))
    edited = output.read_bytes()
    assert edited != whole
    if clips == "changed":
        os.utime(table.parent / "clips" / "5_edited.wav", ns=(1, 1))
    with pytest.raises(UserError, match=r"scores\.csv: was changed after it was made.*--fresh"):
        run(evaluator, table, output)
    same(output.read_bytes(), edited, "the table")
    run(evaluator, table, output, fresh=True)
    same(output.read_bytes(), whole, "the table")


def not_numpy(path: Path) -> None:
    path.write_bytes(b"junk")


def of_objects(path: Path) -> None:
    """A pickle in numpy's clothes, which would run code where it was loaded as one."""
    np.save(path, np.array([[print] * 4] * PAIRS, dtype=object), allow_pickle=True)


def of_other_shape(path: Path) -> None:
    np.save(path, np.zeros((3, 4), np.int64))


@pytest.mark.parametrize("spoil", [not_numpy, of_objects, of_other_shape, Path.unlink])
def test_states_that_cannot_be_read_keep_nothing(
    evaluator: Evaluator, table: Path, tmp_path: Path, scored: list[str], spoil: Any
) -> None:
    output = tmp_path / "scores.csv"
    run(evaluator, table, output)
    before = output.read_bytes()
    spoil(tmp_path / "scores.csv.clips.npy")
    scored.clear()
    step = run(evaluator, table, output)
    same((len(scored), step.kept), (PAIRS, 0), "scored again")
    same(output.read_bytes(), before, "scores")


@pytest.mark.parametrize("record", ["", "[]", "null", "{}", '{"rows": 12}', "\0" * 40, "[" * 9000])
def test_a_damaged_record_is_a_stranger_s(
    cli: Any, evaluator: Evaluator, spectrum_checkpoint: Path, table: Path, tmp_path: Path,
    record: str,
) -> None:  # fmt: skip
    output = tmp_path / "scores.csv"
    run(evaluator, table, output)
    before = output.read_bytes()
    (tmp_path / "scores.csv.json").write_text(record)
    command = ("score", table, "-c", spectrum_checkpoint, "-o", output, "--device", "cpu")
    refused(cli(*command), "is not as this command made it")
    refused(cli(*command, "--fresh"), "is not as this command made it")
    same(output.read_bytes(), before, "scores")
    assert re.search("12 scored", cli(*command, "--force", "--batch-size", BATCH).out)
    same(output.read_bytes(), before, "scores")
