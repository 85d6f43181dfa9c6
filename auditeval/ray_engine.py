"""Blocks of rows on a Ray cluster; beside what its workers run, the only module that knows Ray.

Workers are actors of one CPU (or GPU), and as many as the cluster has, also when nodes come and go
meanwhile. A worker takes its next block when it is done with one, so a slow node does fewer. What a
block needs is in its few numbers, and what comes of it goes to the one process that writes.

A process that dies takes nothing with it but the block in its hands, which is done again, unless a
row of it is what kills (`suspects`). Of a node whose disk or network fails nothing more is asked.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from auditeval.blocks import B, Step, Worker
from auditeval.ray_holder import Holder
from auditeval.suspects import TRIES, Case
from auditeval.types import UserError
from auditeval.version import __version__

log = logging.getLogger(__name__)

_LOOK_SECONDS = 2.0  # how often the cluster is asked how large it is
_PATIENCE_SECONDS = 60.0  # without a worker, before it is said why nothing happens
_SLOW = 2.0  # times the median of all blocks, before one is given to a second worker
_SLOW_SECONDS = 10.0
_STARTS = 9  # workers that die as they are made, before that is told
_ANSWER_SECONDS = 10.0  # of a cluster that is named by its address
_AHEAD = 4  # blocks a worker, that may be done before one that is awaited
_AGAIN = "give the command again, and it goes on with what is not finished"


class Ray:
    """A Ray cluster, for as long as the `with` block lasts.

    `address` is that of a cluster (auto: the one that RAY_ADDRESS names or this machine is part of,
    HOST:PORT, `ray://...`), None starts one of this machine's cores, whatever others there are.
    `workers` bounds how many there are, `gpus` gives each one of the cluster's GPUs; by default
    where it has any. It is joined when its device or work is asked for, so that what is wrong with
    the work itself is told before. Raises UserError where Ray is not installed, and there where no
    cluster answers.
    """

    def __init__(
        self, address: str | None = None, workers: int | None = None, gpus: bool | None = None
    ) -> None:
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # read as Ray is imported
        os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "1"  # who is given no GPU sees none
        os.environ["RAY_ENABLE_AUTO_CONNECT"] = "0"  # no other cluster where one is lost
        try:
            import ray
        except ImportError:
            raise UserError(
                "Ray is not installed: pip install -c constraints.txt '.[ray]'"
            ) from None
        if address == "auto":
            address = os.environ.get("RAY_ADDRESS") or address
        self._ray, self._address, self._workers, self._gpus = ray, address, workers, gpus
        self._is_joined = False
        self._runs: set[_Run] = set()

    def __enter__(self) -> Ray:
        return self

    def _join(self) -> None:
        if self._is_joined:
            return
        ends = signal.getsignal(signal.SIGTERM)
        try:
            self._knock()
            self._ray.init(
                "local" if self._address is None else self._address,
                include_dashboard=None if self._address else False,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
        except Exception as error:  # a node that takes too long to start is a bare one
            lines = str(error).split("\n") if str(error).strip() else [type(error).__name__]
            said, *more = (line.strip() for line in lines if line.strip())
            if said.endswith(":") and more:  # of a stack the last line says why
                said = f"{said} {more[-1]}"
            if self._address is None:
                raise UserError(f"this machine: Ray cannot be started ({said})") from None
            hint = "start one with `ray start --head`, or leave out --address"
            if self._address.startswith("ray://"):
                hint = "`ray[client]` is needed here, and on the head before `ray start --head`"
            raise UserError(
                f"{self._address}: no Ray cluster answers ({said}); {hint}; where one asks for a "
                "token, set RAY_AUTH_MODE=token"
            ) from None
        self._is_joined = True
        with suppress(ValueError):  # not in the main thread, where Ray has no handler either
            # Ray's prints a stack and aborts.
            signal.signal(signal.SIGTERM, signal.SIG_DFL if ends is None else ends)
        # Each death of a worker is ten lines there, and one of ours.
        self._ray._private.worker.print_to_stdstream = lambda *_, **__: None
        if self._gpus is None:
            self._gpus = self._ray.cluster_resources().get("GPU", 0) > 0

    def _knock(self) -> None:
        """Raises OSError where nothing listens at HOST:PORT, for which Ray would wait and wait."""
        address = self._address or ""
        if address == "auto":  # a cluster that ended without `ray stop` is still written down
            address = self._ray._private.services.canonicalize_bootstrap_address(address)
        place = urlsplit(f"//{address.removeprefix('ray://')}")
        if place.port is not None:
            with socket.create_connection((place.hostname, place.port), _ANSWER_SECONDS):
                pass

    def __exit__(self, *_: object) -> None:
        for run in self._runs:  # those that an error of who takes the steps left as they were
            run.close()
        if self._is_joined:
            self._ray.shutdown()
            self._is_joined = False

    @property
    def device(self) -> str:
        """See `blocks.Engine`."""
        self._join()
        return "cuda" if self._gpus else "cpu"

    def run(
        self, start: Callable[[], Worker[B, Step]], blocks: Iterable[B], in_order: bool = False
    ) -> Iterator[tuple[B, Step]]:
        """See `blocks.Engine`; a block's steps come together, once it is done.

        Raises UserError where workers cannot be started, a disk or server fails on all nodes, or
        a block kills its workers and none of its rows alone does.
        """
        self._join()
        run = _Run(self._ray, self._size, bool(self._gpus), start, iter(blocks), in_order)
        self._runs.add(run)
        try:
            for block, steps in run.done():
                for step in steps:
                    yield block, step
        except self._ray.exceptions.LocalRayletDiedError:
            raise UserError(f"the Ray node that this command runs on is gone; {_AGAIN}") from None
        except ConnectionError:  # of `ray://`; one of a worker comes as its task's
            raise UserError(
                f"{self._address}: the connection to the Ray cluster is lost; {_AGAIN}"
            ) from None
        finally:
            run.close()
            self._runs.discard(run)

    def _size(self) -> int:
        """How many workers the cluster has room for."""
        there = self._ray.cluster_resources().get("GPU" if self._gpus else "CPU", 0)
        return max(1, int(min(there, self._workers or there)))


@dataclass(eq=False)
class _Actor:
    handle: Any
    node: str = ""
    host: str = ""
    benched: bool = False  # keeps its place on a node whose disk or network fails


@dataclass(eq=False)
class _Job:
    actor: _Actor
    case: Case | None  # None: the worker is being made
    begun: float
    doubled: bool = False
    attempt: bool = False
    steps: Any = None  # of what it makes, fetched when it is its turn


class _Run:
    """One call of `Ray.run`."""

    def __init__(
        self,
        ray: Any,
        size: Callable[[], int],
        gpus: bool,
        start: Callable[[], Any],
        blocks: Iterator[Any],
        in_order: bool,
    ) -> None:
        self._ray, self._size, self._blocks, self._in_order = ray, size, blocks, in_order
        self._holder = ray.remote(Holder).options(
            num_cpus=0 if gpus else 1, num_gpus=1 if gpus else 0, max_restarts=0
        )
        self._start = ray.put(start)
        self._actors: list[_Actor] = []
        self._idle: deque[_Actor] = deque()
        self._running: dict[Any, _Job] = {}
        self._again: deque[Case] = deque()
        self._open: dict[int, Case] = {}  # by number, blocks that were begun and not handed out
        self._kept: dict[int, Any] = {}  # by number, results that wait for their turn
        self._next, self._ended = 0, False
        self._seconds: deque[float] = deque(maxlen=99)
        self._failed_starts = 0
        self._looked = -_LOOK_SECONDS
        self._without_worker = time.monotonic()

    def close(self) -> None:
        """The workers go, whatever they are at; where the cluster is lost, they went with it."""
        with suppress(ConnectionError):
            while self._actors and self._ray.is_initialized():
                self._ray.kill(self._actors.pop().handle)

    def done(self) -> Iterator[tuple[Any, list[Any]]]:
        """Blocks with their steps."""
        while True:
            self._grow()
            self._hand_out()
            if self._ended and not self._open:
                return
            if not self._running:  # whoever is left is on a node that fails; another may join
                time.sleep(_LOOK_SECONDS)
                continue
            found, _ = self._ray.wait(list(self._running), timeout=_LOOK_SECONDS)
            for ref in found:
                yield from self._ended_job(self._running.pop(ref), ref)

    def _grow(self) -> None:
        """Workers for all that the cluster has room for."""
        if time.monotonic() < self._looked + _LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        for _ in range(self._size() - len(self._actors)):
            actor = _Actor(self._holder.remote())
            self._actors.append(actor)
            ref = actor.handle.open.remote(self._start, str(Path.cwd()), __version__)
            self._running[ref] = _Job(actor, None, time.monotonic())
        if any(actor.node and not actor.benched for actor in self._actors):
            self._without_worker = self._looked
        elif self._looked > self._without_worker + _PATIENCE_SECONDS:
            self._without_worker = self._looked
            log.warning(
                "no worker is ready yet: the cluster has no CPU (or GPU) free for one, or it takes "
                "long to load"
            )

    def _hand_out(self) -> None:
        """A block to each worker that has none."""
        while self._idle:
            case, doubled = self._chosen()
            if case is None:
                return
            actor = self._idle.popleft()
            job = _Job(actor, case, time.monotonic(), doubled, case.suspects is not None)
            if job.attempt:
                ref = actor.handle.attempt.remote(case.block, case.tried)
            else:
                do = actor.handle.do.options(num_returns=2)
                ref, job.steps = do.remote(case.block, case.failed)
            self._running[ref] = job

    def _chosen(self) -> tuple[Case | None, bool]:
        """What is to be done next: again, for the first time, or twice for being slow."""
        while self._again:
            case = self._again.popleft()
            if self._is_wanted(case):
                return case, False
        is_far = self._in_order and len(self._open) >= _AHEAD * len(self._actors)
        if not self._ended and not is_far:
            block = next(self._blocks, None)
            if block is not None:
                case = self._open[block.number] = Case(block)
                return case, False
            self._ended = True
        if not self._ended or not self._seconds:
            return None, False
        slow = max(_SLOW * statistics.median(self._seconds), _SLOW_SECONDS)
        for job in self._running.values():  # the oldest first
            if job.case is None or job.doubled or job.attempt or not self._is_wanted(job.case):
                continue
            if time.monotonic() - job.begun > slow:
                job.doubled = True
                return job.case, True
        return None, False

    def _is_wanted(self, case: Case) -> bool:
        """Whether nobody has done it meanwhile."""
        return case.block.number in self._open and case.block.number not in self._kept

    def _ended_job(self, job: _Job, ref: Any) -> Iterator[tuple[Any, list[Any]]]:
        try:
            said = self._ray.get(ref)
        except self._ray.exceptions.RayTaskError as error:
            self._refused(job, error.cause)
            return
        except self._ray.exceptions.LocalRayletDiedError:
            raise
        except self._ray.exceptions.RayError as error:
            self._lost(job, error)
            return
        case = job.case
        if case is None:
            job.actor.node, job.actor.host = said
            self._failed_starts = 0
        if not job.actor.benched:
            self._idle.append(job.actor)
        if case is None:
            return
        if job.attempt:
            case.outlived()
            self._again.append(case)
            return
        for message in said:
            log.warning("%s: %s", job.actor.host, message)
        if self._is_wanted(case):
            self._seconds.append(time.monotonic() - job.begun)
            self._kept[case.block.number] = job.steps
            yield from self._delivered(case.block.number)

    def _delivered(self, number: int) -> Iterator[tuple[Any, list[Any]]]:
        """What has its turn. What its node took with it when it went is done again."""
        number = self._next if self._in_order else number
        while number in self._kept:
            case, ref = self._open[number], self._kept.pop(number)
            try:
                steps = self._ray.get(ref)
            except self._ray.exceptions.RayError:
                self._again.append(case)
                return
            del self._open[number], ref
            number = self._next = self._next + 1
            yield case.block, steps
            if not self._in_order:
                return

    def _refused(self, job: _Job, cause: BaseException) -> None:
        """A worker raised something: raise it, or do without a node whose disk or network fails."""
        if job.case is None and isinstance(cause, ImportError):
            raise UserError(f"a worker cannot be started, on some node: {cause}") from None
        if not isinstance(cause, OSError):
            raise cause from None
        actor = job.actor
        for other in self._actors:
            other.benched = other.benched or other.node == actor.node
        self._idle = deque(other for other in self._idle if not other.benched)
        what = f"{cause.filename}: " if cause.filename else ""
        said = f"{what}{cause.strerror or cause} (on {actor.host or 'a node'}, tried {TRIES} times)"
        if all(other.benched for other in self._actors if other.node):
            raise UserError(
                f"{said}; what is finished is kept, and the same command goes on from there"
            ) from None
        log.warning("%s; the others go on without that node", said)
        if job.case is not None:
            self._again.append(job.case)

    def _lost(self, job: _Job, error: Exception) -> None:
        """A worker died: its block is done again."""
        if job.actor in self._actors:
            self._actors.remove(job.actor)
            self._ray.kill(job.actor.handle)
        self._looked = -_LOOK_SECONDS
        if job.case is not None:
            if self._is_wanted(job.case):
                first, last = job.case.block.first + 1, job.case.block.first + job.case.block.rows
                said = f"a worker died; rows {first:,} to {last:,} are done again"
                log.warning("%s: %s", job.actor.host, said)
                job.case.died()
                self._again.append(job.case)
            return
        self._failed_starts += 1
        if self._failed_starts == _STARTS:
            said = (str(error).splitlines() or [type(error).__name__])[-1]
            raise UserError(f"workers end as they are started, {_STARTS} times: {said}")
