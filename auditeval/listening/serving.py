"""A test from a manifest: its database made or opened again, its clips checked, its server run."""

from __future__ import annotations

import json
import secrets
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from auditeval import audio, manifest, scores_table
from auditeval.audio import AudioError
from auditeval.listening import design, texts, votes_database
from auditeval.listening.session import Session
from auditeval.listening.settings import Settings
from auditeval.listening.votes_database import VotesDatabase
from auditeval.progress import track
from auditeval.types import AXES, EditPair, UserError


def made_or_opened(
    path: Path, pairs: list[EditPair], settings: Settings, scores: Path | None
) -> VotesDatabase:
    """The database of these pairs and settings: made, or opened again if it is of the same.

    `scores` is a table of `auditeval score`, whose intervals `selection` weighs. Raises UserError
    for a clip that cannot be heard, for scores that are not weighed, and for a database of other
    pairs, settings or intervals: votes under two designs are not to be mixed.
    """
    for pair in pairs:
        if pair.system is None and settings.select == "uncertain" and settings.goal == "ranking":
            raise UserError(f"pair {pair.id!r} names no system; --goal ranking is about systems")
    if scores is not None and settings.select != "uncertain":
        raise UserError(f"--scores {scores}: is weighed by --select uncertain alone")
    if path.exists():
        return _opened(path, pairs, settings, scores)
    for pair in track(pairs, "checking clips", transient=True):
        for clip in (pair.original, pair.edited):
            try:
                audio.decode(clip)
            except AudioError as error:
                raise UserError(f"pair {pair.id!r}: {error}") from None
    intervals = _intervals(scores, {pair.id for pair in pairs})
    blocks = design.blocks(pairs, settings.block, settings.seed)
    rows = [
        (_placed(pair), block, intervals.get(pair.id))
        for pair, block in zip(pairs, blocks, strict=True)
    ]
    facts = {
        "settings": settings.model_dump_json(),
        "secret": secrets.token_urlsafe(32),
        "admin": secrets.token_urlsafe(24),
    }
    votes_database.create(path, rows, facts)
    return votes_database.opened(path)


def _placed(pair: EditPair) -> EditPair:
    """Without ratings of another test, its clips by paths that hold wherever this is read."""
    update = {"original": pair.original.resolve(), "edited": pair.edited.resolve()}
    return pair.model_copy(update={**update, "ratings": {}, "raters": {}, "listening_test": None})


def _opened(
    path: Path, pairs: list[EditPair], settings: Settings, scores: Path | None
) -> VotesDatabase:
    database = votes_database.opened(path)
    kept = settings_of(database).model_dump()
    for key, value in settings.model_dump().items():
        if kept[key] != value:
            raise UserError(
                f"{path}: was made with {key} {kept[key]}, not {value}; give the same settings, or "
                "another --votes for another test"
            )
    known, given = [*database.pairs.values()], [_placed(pair) for pair in pairs]
    if known != given:
        other = next((b.id for a, b in zip(known, given, strict=False) if a != b), "their number")
        raise UserError(
            f"{path}: was made of another manifest (first difference: {other}); give the same one, "
            "or another --votes for another test"
        )
    if scores is not None:
        found = _intervals(scores, {pair.id for pair in pairs})
        for id, weighed in database.rows("SELECT id, intervals FROM pairs"):
            if found.get(id) != weighed:
                raise UserError(
                    f"{path}: was made with other intervals than those of {scores} (first "
                    f"difference: {id}); leave --scores out, or give another --votes for another "
                    "test"
                )
    for pair in given:
        for clip in (pair.original, pair.edited):
            if not clip.is_file():  # all were heard when the test was made
                raise UserError(f"pair {pair.id!r}: {clip}: no such file")
    return database


def settings_of(database: VotesDatabase) -> Settings:
    """Those that the test was made with."""
    return Settings.model_validate(json.loads(database.fact("settings")))


def _intervals(scores: Path | None, ids: set[str]) -> dict[str, str]:
    """{id: JSON of (3, 2)} of the pairs that have an interval on every axis."""
    if scores is None:
        return {}
    found = {
        row.id: json.dumps([row.intervals[axis] for axis in AXES])
        for row in scores_table.read(scores)
        if row.id in ids and len(row.intervals) == len(AXES)
    }
    if not found:
        raise UserError(f"{scores}: has no row with intervals of a pair of this manifest")
    return found


def serve(
    test: Session, host: str, port: int, url: str | None, ready: Callable[[str], Any]
) -> None:
    """Serve a test to raters; see `run`."""
    from auditeval.listening.server import application

    run(lambda names, prefix: application(test, names, prefix), host, port, url, ready)


def run(
    application: Callable[[set[str], str], Any],
    host: str,
    port: int,
    url: str | None,
    ready: Callable[[str], Any],
) -> None:
    """Serve until the process is told to stop; `ready` is called with the address when it can be.

    `application` makes what is served, of the names that it may be asked for and its sub-path.
    `url` is what people open where that is not `host` and `port`: a proxy's, with its sub-path.
    Raises UserError where the port cannot be had.
    """
    import uvicorn

    listener = _listener(host, port)
    port = listener.getsockname()[1]
    shown = socket.gethostname() if host in ("0.0.0.0", "::") else host
    address = (url or f"http://{f'[{shown}]' if ':' in shown else shown}:{port}").rstrip("/")
    app = application(hosts(host, address), urlsplit(address).path)
    config = uvicorn.Config(
        app,
        access_log=False,  # links are secret, and raters' addresses nobody's business
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        timeout_graceful_shutdown=3,
    )

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready(address)

    with listener:
        Server(config).run(sockets=[listener])


def hosts(host: str, address: str) -> set[str]:
    """The names that a server may be asked for: its own, and the one in its address."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise UserError(f"--url {address}: expected one as in https://lab.example/listen")
    names = {host, parts.hostname, "localhost", "127.0.0.1", "::1"}
    if host in ("0.0.0.0", "::"):
        own = socket.gethostname()
        names |= {own, own.lower(), f"{own}.local", *_addresses(own)}
    return names


def _addresses(name: str) -> set[str]:
    found = {"127.0.0.1"}
    try:
        found |= {str(item[4][0]) for item in socket.getaddrinfo(name, None)}
    except OSError:
        return found  # a machine may not know its own name
    return found


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise UserError(
            f"{host}:{port}: cannot be served on ({error.strerror or error}); choose another --port"
        ) from None
    listener.listen(128)
    return listener


def test_of(database: VotesDatabase, language: str) -> Session:
    """What a server runs."""
    return Session(database, settings_of(database), texts.read(language))


def read_pairs(path: Path) -> list[EditPair]:
    """The pairs of a manifest that can be listened to; raises UserError where there are too few."""
    pairs = manifest.read(path)
    if len(pairs) < 2:
        raise UserError(f"{path}: a listening test needs at least 2 pairs")
    return pairs
