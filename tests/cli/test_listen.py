"""`auditeval listen`: what it refuses in one sentence; status, screen and export of votes."""

from __future__ import annotations

import signal
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra [web] is not installed")

from commands import row_of, start, write_rows

from auditeval import manifest
from auditeval.listening import design, votes_database
from auditeval.listening.votes_database import Vote
from auditeval.types import AXES, EditPair


@pytest.fixture
def served(tmp_path: Path, simulated: list[EditPair]) -> Path:
    """The votes of a test of five pairs, that two raters have finished."""
    write_rows(tmp_path / "pairs.jsonl", [row_of(pair) for pair in simulated[:5]])
    (tmp_path / "design.yaml").write_text(
        "title: A test\ntraining: false\nheadphone_check: false\nraters_per_pair: 2\n"
        "attention_share: 0\nrepeat_share: 0\n"
    )
    process = listen(tmp_path)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130, err  # as of every command
    assert "Traceback" not in out + err
    assert "Warning" not in out + err
    votes = tmp_path / "votes.db"
    database = votes_database.opened(votes)
    from auditeval.listening.serving import settings_of

    for rater in database.raters()[:2]:
        for number, trial in enumerate(design.next_block(database, settings_of(database), rater)):
            grades = dict.fromkeys(AXES, 1.0 + (trial.pair + rater.number) % 5)
            cannot = "unclear" if number == 4 and rater.number == 2 else None
            if cannot:
                grades = dict.fromkeys(AXES)
            at = time.time()
            database.vote(Vote(trial.number, **grades, cannot=cannot, comment="", at=at, seconds=9))
    database.close()
    return votes


def listen(folder: Path, *options: object) -> Any:
    """The server, once it serves."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a runner may ignore it
    process = start(
        *("listen", folder / "pairs.jsonl", "--votes", folder / "votes.db", "--port", 0),
        *("--settings", folder / "design.yaml", "--raters", 3, *options),
    )
    signal.signal(signal.SIGINT, before)
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith("serving"):
            process.links = [one.split()[1] for one in lines if one.startswith("r0")]
            return process
    raise AssertionError(process.communicate()[1])


def test_status_screen_and_export(cli: Any, tmp_path: Path, served: Path) -> None:
    ended = cli("listen", "status", served)
    assert ended.status == 0, ended.err
    last = ended.out.rstrip().splitlines()[-1]
    assert "9 of 10 votes" in last
    assert "4 of 5 pairs have all of theirs, 2 raters have begun" in last
    assert "Agreement so far" in ended.out

    ended = cli("listen", "screen", served, "--screen", "p808")
    assert ended.status == 0, ended.err
    assert ended.out.count("nobody") >= 2
    assert "bt500" not in ended.out
    assert "bt500: no pair has 7 votes" in cli("listen", "screen", served).out

    ended = cli("listen", "export", served, "-o", tmp_path / "rated.csv")
    assert ended.status == 0, ended.err
    assert "5 pairs with 9 of 9 votes" in ended.out
    rated = manifest.read(tmp_path / "rated.csv")
    assert {pair.listening_test for pair in rated} == {"A test"}
    for number, pair in enumerate(rated):
        expected = {f"r0{rater}": 1.0 + (number + rater) % 5 for rater in (1, 2)}
        given = pair.raters["quality"]
        assert isinstance(given, dict)
        assert given.items() <= expected.items()
        assert pair.original.is_file()
    assert cli("describe", tmp_path / "rated.csv", "--no-audio").status == 0


def test_a_test_goes_on_with_the_same_links(tmp_path: Path, served: Path) -> None:
    before = [rater.token for rater in votes_database.opened(served, reading=True).raters()]
    process = listen(tmp_path)
    process.kill()
    process.communicate()
    assert [link.rsplit("/", 1)[1] for link in process.links] == before


def test_one_server_a_database(cli: Any, tmp_path: Path, served: Path) -> None:
    process = listen(tmp_path)
    try:
        ended = cli(
            *("listen", tmp_path / "pairs.jsonl", "--votes", served, "--port", "0"),
            *("--settings", tmp_path / "design.yaml"),
        )
        assert ended.status == 2
        assert "is being written by process" in ended.sentence
    finally:
        process.kill()
        process.communicate()


def test_another_design_or_manifest_is_refused(
    cli: Any, tmp_path: Path, served: Path, simulated: list[EditPair]
) -> None:
    again = ("listen", tmp_path / "pairs.jsonl", "--votes", served, "--port", "0")
    ended = cli(*again)
    assert ended.status == 2
    assert "was made with title A test, not Listening test" in ended.sentence
    write_rows(tmp_path / "pairs.jsonl", [row_of(pair) for pair in simulated[1:6]])
    ended = cli(*again, "--settings", tmp_path / "design.yaml")
    assert ended.status == 2
    assert "was made of another manifest" in ended.sentence


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("raters_per_pair: 0", "raters_per_pair: input should be greater than or equal to 1"),
        ("raters: 5", "raters: unknown key (known: title, raters_per_pair"),
        ("raters_per_pair: yes", "raters_per_pair: input should be a valid integer, found True"),
        ("step: 0.25", "step: expected 1 or 0.5, found 0.25"),
        ("hours_held: .inf", "hours_held: input should be a finite number, found inf"),
        ("order: williams\nselect: uncertain", "order williams has fixed blocks"),
        ("- 5", "expected settings as in `raters_per_pair: 5`"),
    ],
)
def test_settings_that_cannot_be(
    cli: Any, tmp_path: Path, pairs_path: Path, text: str, says: str
) -> None:
    (tmp_path / "design.yaml").write_text(text)
    ended = cli(
        *("listen", pairs_path, "--votes", tmp_path / "votes.db"),
        *("--settings", tmp_path / "design.yaml"),
    )
    assert ended.status == 2
    assert ended.sentence.startswith(f"{tmp_path / 'design.yaml'}: ")
    assert says in ended.sentence
    assert not (tmp_path / "votes.db").exists()


def test_a_clip_that_cannot_be_heard_is_named_before_anybody_listens(
    cli: Any, tmp_path: Path, good: list[EditPair]
) -> None:
    rows = [row_of(pair) for pair in good]
    rows[1]["edited"] = str(tmp_path / "nowhere.wav")
    write_rows(tmp_path / "pairs.jsonl", rows)
    ended = cli("listen", tmp_path / "pairs.jsonl", "--votes", tmp_path / "votes.db")
    assert ended.status == 2
    assert f"pair {good[1].id!r}: {tmp_path / 'nowhere.wav'}: no such file" in ended.sentence


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--language", "fr"], "fr: no such language"),
        (["--url", "lab.example"], "expected one as in https://lab.example/listen"),
        (["--select", "best"], "select: "),
        (["--host", "203.0.113.1"], "203.0.113.1:8000: cannot be served on"),
    ],
)
def test_options_that_cannot_be(
    cli: Any, tmp_path: Path, pairs_path: Path, options: list[str], says: str
) -> None:
    ended = cli("listen", pairs_path, "--votes", tmp_path / "votes.db", *options)
    assert ended.status == 2
    assert says in ended.sentence
    # A test that was made would be in the way of the right command, with its settings.
    assert (tmp_path / "votes.db").exists() == (options[0] == "--host")


@pytest.mark.parametrize("command", ["status", "screen", "export"])
def test_what_holds_no_votes(cli: Any, tmp_path: Path, pairs_path: Path, command: str) -> None:
    output = ["-o", tmp_path / "rated.jsonl"] if command == "export" else []
    ended = cli("listen", command, tmp_path / "votes.db", *output)
    assert ended.status == 2
    assert "no such file" in ended.sentence
    ended = cli("listen", command, pairs_path, *output)
    assert ended.status == 2
    assert "holds no votes of `auditeval listen`" in ended.sentence
    assert not (tmp_path / "rated.jsonl").exists()


@pytest.mark.parametrize("command", ["status", "screen", "export"])
def test_votes_that_are_damaged_within(
    cli: Any, tmp_path: Path, served: Path, command: str
) -> None:
    path = tmp_path / "damaged.db"
    with sqlite3.connect(served) as votes:
        votes.execute("VACUUM INTO ?", (str(path),))
        (page,) = votes.execute("PRAGMA page_size").fetchone()
    whole = path.read_bytes()
    path.write_bytes(whole[: 2 * page] + b"\xff" * (len(whole) - 2 * page))
    output = ["-o", tmp_path / "rated.jsonl"] if command == "export" else []
    ended = cli("listen", command, path, *output)
    assert ended.status == 2
    assert ended.sentence.startswith(f"{path}: ")
    assert not (tmp_path / "rated.jsonl").exists()


def test_a_rule_that_there_is_not_writes_nothing(cli: Any, tmp_path: Path, served: Path) -> None:
    ended = cli("listen", "export", served, "-o", tmp_path / "rated.jsonl", "--screen", "feeling")
    assert ended.status == 2
    assert "--screen feeling: no such rule; there are p808" in ended.sentence
    assert not (tmp_path / "rated.jsonl").exists()
