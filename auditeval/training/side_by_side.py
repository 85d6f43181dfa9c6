"""Small models of one run side by side, on one thread and in a process of its own each."""

from __future__ import annotations

import logging
import os
import signal
import time
import warnings
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pickle import PicklingError
from threading import Thread
from typing import Any

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky import get_reusable_executor
from joblib.externals.loky.process_executor import TerminatedWorkerError
from pytorch_lightning.accelerators import CPUAccelerator
from pytorch_lightning.callbacks import ProgressBar

from auditeval.progress import track
from auditeval.training import process
from auditeval.training.configured import make_trainer
from auditeval.training.fit import Examples, Job, Seen, Taught
from auditeval.training.fold import Outcome, answered, is_answered
from auditeval.types import UserError

log = logging.getLogger(__name__)

_WORTH_A_PROCESS = 1000  # pairs to learn from: to start one takes as long as to learn from as many


def all_answered(
    jobs: Sequence[Job[Seen, Taught]], tests: Mapping[str, Examples[Seen]], workers: int
) -> list[Outcome | None]:
    """`answered` of each job of a plan, in this order, by as many processes as there are workers.

    By this one alone where a model takes more than a thread, or an accelerator, and where there is
    little to learn from. What is found is the same to the last bit.
    """
    missing = deque(job for job in jobs if not is_answered(job, tests))
    processes = min(workers, len(missing))
    if processes > 1 and _are_small(missing):
        here = missing.popleft()
        with _others(missing, tests, processes - 1):
            answered(here, tests)
            while (job := _next(missing)) is not None:
                answered(job, tests)
    return [answered(job, tests) for job in jobs]


def _are_small(jobs: Sequence[Job[Seen, Taught]]) -> bool:
    plan = jobs[0].plan
    if not plan.fit.one_thread or any(len(job.fold.train) < _WORTH_A_PROCESS for job in jobs):
        return False
    trainer = make_trainer(plan.trainer(), {}, logger=False)
    return isinstance(trainer.accelerator, CPUAccelerator) and trainer.world_size == 1


def _next(missing: deque[Job[Seen, Taught]]) -> Job[Seen, Taught] | None:
    with suppress(IndexError):  # another thread hands them out as well
        return missing.popleft()
    return None


@contextmanager
def _others(
    missing: deque[Job[Seen, Taught]], tests: Mapping[str, Examples[Seen]], count: int
) -> Iterator[None]:
    """So many processes that take jobs, until none is left; ends when all of theirs are done.

    What they find is in the folders. Features lie in shared memory, or on disk, once for all of
    them. Raises what a job raises.
    """
    sent = 0

    def handed_out() -> Iterator[Any]:
        nonlocal sent
        while (job := _next(missing)) is not None:
            sent += 1
            yield delayed(_answer)(_sent(job), tests, os.getpid())

    with parallel_config("loky", inner_max_num_threads=1):
        run = Parallel(
            max(2, count),  # of one joblib makes none
            pre_dispatch=count,
            batch_size=1,
            return_as="generator",
            mmap_mode="c",  # as if they were written to: torch has none for reading alone
        )
    steps = run(handed_out())
    try:
        yield
        for _ in track(steps, "models of other processes", sent):
            pass
    except PicklingError:  # of somebody's own callback or fit, say
        log.warning("a model cannot be sent to another process, and is trained in this one")
    except TerminatedWorkerError:
        raise UserError(
            "a process that trained a model was killed, most likely for want of memory; fewer "
            "workers need less, and the same command with its run_dir goes on from there"
        ) from None
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib, of work that nobody waits for
            steps.close()
        get_reusable_executor().shutdown(kill_workers=True)


def _sent(job: Job[Seen, Taught]) -> Job[Seen, Taught]:
    """What goes to another process: nothing there encodes, and nobody looks at its bars."""
    plan = job.plan
    trainer, callbacks = plan.trainer, plan.callbacks  # the plan itself has the models
    sent = replace(
        plan,
        encoder=plan.encoder.described(),
        trainer=lambda: {**trainer(), "enable_progress_bar": False},
        callbacks=lambda: [x for x in callbacks() if not isinstance(x, ProgressBar)],
    )
    return replace(job, plan=sent)


def _answer(job: Job[Seen, Taught], tests: Mapping[str, Examples[Seen]], parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    Thread(target=_end_with, args=[parent], daemon=True).start()
    process.prepare()
    answered(job, tests)


def _end_with(parent: int) -> None:
    """A run that was killed may go on at once, and two must not write one folder."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
