"""The votes on disk: SQLite in WAL mode, one transaction a vote, each trial voted on at most once.

What a function wrote is on disk when it returns (`synchronous = FULL`), so that a killed server or
a power cut loses no vote that was acknowledged. One process writes; others may read meanwhile.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from auditeval import storage
from auditeval.atomic import replacing
from auditeval.types import AXES, EditPair, UserError

_VERSION = 1
_SCHEMA = """
CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE pairs (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, block INTEGER NOT NULL,
    row TEXT NOT NULL, intervals TEXT
);
CREATE TABLE raters (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, token TEXT NOT NULL UNIQUE,
    consented REAL, headphones TEXT, finished REAL
);
CREATE TABLE trials (
    number INTEGER PRIMARY KEY, token TEXT NOT NULL UNIQUE,
    rater INTEGER NOT NULL REFERENCES raters, position INTEGER NOT NULL, block INTEGER NOT NULL,
    kind TEXT NOT NULL, form TEXT NOT NULL,
    pair INTEGER NOT NULL REFERENCES pairs, other INTEGER REFERENCES pairs,
    original TEXT NOT NULL UNIQUE, edited TEXT NOT NULL UNIQUE,
    given REAL NOT NULL, shown REAL,
    original_served REAL, edited_served REAL, original_heard REAL, edited_heard REAL,
    seen REAL, UNIQUE (rater, position)
);
CREATE UNIQUE INDEX no_pair_twice ON trials (rater, pair) WHERE kind = 'rating';
CREATE TABLE votes (
    trial INTEGER PRIMARY KEY REFERENCES trials,
    quality REAL, relevance REAL, faithfulness REAL,
    cannot TEXT, comment TEXT NOT NULL, at REAL NOT NULL, seconds REAL NOT NULL,
    CHECK ((cannot IS NULL) = (quality IS NOT NULL)),
    CHECK ((quality IS NULL) = (relevance IS NULL)),
    CHECK ((quality IS NULL) = (faithfulness IS NULL)),
    CHECK (quality BETWEEN 1 AND 5 AND relevance BETWEEN 1 AND 5 AND faithfulness BETWEEN 1 AND 5)
);
"""


class Rater(NamedTuple):
    """`consented` and `finished` are times; `headphones` is what `headphones.py` keeps, as JSON."""

    number: int
    name: str
    token: str
    consented: float | None
    headphones: str | None
    finished: float | None


class Trial(NamedTuple):
    """One page of one rater. Times are seconds since 1970, None before they came.

    `kind` is "training", "rating", "repeat" or "attention"; `form` says what is played of `pair`
    (see `design.FORMS`), `other` whose words stand beside it. `original` and `edited` are the
    opaque names of its two clips. `seen` is when the explanation of a training item was read.
    """

    number: int
    token: str
    rater: int
    position: int
    block: int
    kind: str
    form: str
    pair: int
    other: int | None
    original: str
    edited: str
    given: float
    shown: float | None
    original_served: float | None
    edited_served: float | None
    original_heard: float | None
    edited_heard: float | None
    seen: float | None


class Vote(NamedTuple):
    """Grades by axis, or why the rater `cannot` judge; `seconds` from the page to the vote."""

    trial: int
    quality: float | None
    relevance: float | None
    faithfulness: float | None
    cannot: str | None
    comment: str
    at: float
    seconds: float

    @property
    def grades(self) -> dict[str, float]:
        """By axis; empty where the rater could not judge."""
        found = zip(AXES, (self.quality, self.relevance, self.faithfulness), strict=True)
        return {axis: grade for axis, grade in found if grade is not None}


class VotesDatabase:
    """One open database; its functions may be called by any thread."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection, self._path = connection, path
        self._lock = threading.RLock()
        self._pairs: dict[int, EditPair] | None = None

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of the block is on disk when it ends, or none of it; OSError where it is full."""
        with self._lock:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException as error:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                if isinstance(error, sqlite3.OperationalError):
                    raise OSError(errno.EIO, str(error), str(self._path)) from None
                raise

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """What a query finds; UserError where the file is damaged."""
        with self._lock:
            try:
                return self._connection.execute(query, values).fetchall()
            except sqlite3.DatabaseError as error:
                raise UserError(f"{self._path}: cannot be read ({error})") from None

    def fact(self, key: str) -> str:
        """What was written down when the test was made."""
        ((value,),) = self.rows("SELECT value FROM facts WHERE key = ?", (key,))
        return str(value)

    @property
    def pairs(self) -> dict[int, EditPair]:
        """{number: pair}; they never change."""
        if self._pairs is None:
            found = self.rows("SELECT number, row FROM pairs ORDER BY number")
            self._pairs = {number: _pair(json.loads(row)) for number, row in found}
        return self._pairs

    def raters(self) -> list[Rater]:
        return [Rater(*row) for row in self.rows("SELECT * FROM raters ORDER BY number")]

    def rater(self, token: str) -> Rater | None:
        """Whose link this is."""
        found = self.rows("SELECT * FROM raters WHERE token = ?", (token,))
        return Rater(*found[0]) if found else None

    def add_raters(self, count: int) -> list[Rater]:
        """New raters, each with a link that nobody can guess."""
        with self.transaction() as write:
            ((last,),) = write.execute("SELECT COALESCE(MAX(number), 0) FROM raters").fetchall()
            for number in range(last + 1, last + count + 1):
                row = (number, f"r{number:02d}", secrets.token_urlsafe(24))
                write.execute("INSERT INTO raters (number, name, token) VALUES (?, ?, ?)", row)
        return self.raters()[-count:] if count else []

    def note_rater(self, rater: Rater, column: str, value: float | str) -> None:
        """Keep a rater's consent, headphone check or end."""
        assert column in Rater._fields[-3:]
        with self.transaction() as write:
            write.execute(f"UPDATE raters SET {column} = ? WHERE number = ?", (value, rater.number))

    def trials(self, rater: Rater) -> list[Trial]:
        """Of one rater, in their order."""
        query = "SELECT * FROM trials WHERE rater = ? ORDER BY position"
        return [Trial(*row) for row in self.rows(query, (rater.number,))]

    def trial(self, rater: Rater, token: str) -> Trial | None:
        """The trial of this name, if it is this rater's."""
        query = "SELECT * FROM trials WHERE token = ? AND rater = ?"
        found = self.rows(query, (token, rater.number))
        return Trial(*found[0]) if found else None

    def trial_of_clip(self, rater: Rater, clip: str) -> tuple[Trial, str] | None:
        """The trial of this rater that plays the clip of this name, and its side."""
        for side in ("original", "edited"):
            query = f"SELECT * FROM trials WHERE {side} = ? AND rater = ?"
            if found := self.rows(query, (clip, rater.number)):
                return Trial(*found[0]), side
        return None

    def note_trial(self, trial: Trial, column: str, at: float) -> None:
        """Keep the first time at which something happened to a trial."""
        assert column in Trial._fields[-6:]
        with self.transaction() as write:
            write.execute(
                f"UPDATE trials SET {column} = ? WHERE number = ? AND {column} IS NULL",
                (at, trial.number),
            )

    def vote(self, vote: Vote) -> bool:
        """Write a vote; False where the trial has one already, which stays as it is."""
        with self.transaction() as write:
            places = ", ".join("?" * len(vote))
            done = write.execute(f"INSERT OR IGNORE INTO votes VALUES ({places})", vote)
            return done.rowcount == 1

    def votes(self, rater: Rater | None = None) -> dict[int, Vote]:
        """{trial: vote}, of one rater or of all."""
        query = "SELECT votes.* FROM votes"
        if rater is not None:
            query += f" JOIN trials ON trial = number WHERE rater = {rater.number:d}"
        return {row[0]: Vote(*row) for row in self.rows(query)}

    def all_trials(self) -> list[Trial]:
        """Of all raters."""
        return [Trial(*row) for row in self.rows("SELECT * FROM trials ORDER BY number")]


def _pair(row: dict[str, Any]) -> EditPair:
    clips = {side: storage.path(row[side]) for side in ("original", "edited")}  # or by URL
    return EditPair.model_validate({**row, **clips})


def create(
    path: Path, pairs: Sequence[tuple[EditPair, int, str | None]], facts: dict[str, str]
) -> None:
    """A new database of pairs, each with its block and the JSON of an evaluator's intervals."""
    with replacing(path) as temporary:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL, 0o600))  # it holds the raters' links
        database = VotesDatabase(sqlite3.connect(temporary, isolation_level=None), path)
        try:
            with database.transaction() as write:
                for statement in filter(str.strip, _SCHEMA.split(";")):
                    write.execute(statement)
                for key, value in {**facts, "version": str(_VERSION)}.items():
                    write.execute("INSERT INTO facts VALUES (?, ?)", (key, value))
                for number, (pair, block, intervals) in enumerate(pairs):
                    row = pair.model_dump_json(exclude_none=True)
                    values = (number, pair.id, block, row, intervals)
                    write.execute("INSERT INTO pairs VALUES (?, ?, ?, ?, ?)", values)
        finally:
            database.close()


def opened(path: Path, reading: bool = False) -> VotesDatabase:
    """The database of that path; raises UserError where there is none."""
    if not path.is_file():
        raise UserError(
            f"{path}: no such file; `auditeval listen MANIFEST --votes {path}` makes it"
        )
    try:
        connection = (_reading if reading else _connect)(path)
        ((version,),) = connection.execute("SELECT value FROM facts WHERE key = 'version'")
    except (sqlite3.DatabaseError, ValueError) as error:
        raise UserError(f"{path}: holds no votes of `auditeval listen` ({error})") from None
    if version != str(_VERSION):
        raise UserError(f"{path}: is of version {version} of `auditeval listen`, not {_VERSION}")
    return VotesDatabase(connection, path)


def _reading(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, check_same_thread=False, timeout=30)
    connection.execute("PRAGMA query_only = ON")
    try:
        connection.execute("SELECT 1 FROM sqlite_master")
    except sqlite3.OperationalError:
        if path.with_name(f"{path.name}-wal").exists():
            raise
        # Readers share an index in files beside it. In a folder where they may write none it is
        # not needed either, as long as no server writes.
        address = f"{path.absolute().as_uri()}?immutable=1"
        return sqlite3.connect(address, uri=True, check_same_thread=False)
    return connection


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    return connection
