"""This process, one of several where a run trains on several devices."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable
from datetime import timedelta

import pytorch_lightning as lightning
import torch
from pytorch_lightning.plugins.environments import SLURMEnvironment, TorchElasticEnvironment
from pytorch_lightning.utilities.rank_zero import rank_zero_only
from torch import distributed

from auditeval.types import UserError

_PATIENCE = timedelta(days=30)  # of those that wait for the features of a large set


def is_first() -> bool:
    """Whether this is the process that writes; the others only train."""
    return getattr(rank_zero_only, "rank", 0) == 0


def prepare() -> None:
    """Silence what tells a user of train.py nothing, and choose this process's accelerator."""
    # Its hints and the device list.
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)
    # Nothing is deleted: a resumed run keeps the metrics of the part before it.
    warnings.filterwarnings("ignore", "Experiment logs directory")
    warnings.filterwarnings("ignore", "Total length of `list`")  # there may be no validation part
    warnings.filterwarnings("ignore", "You're resuming from a checkpoint")  # our data can
    warnings.filterwarnings("ignore", ".*will run with no optimizer")  # an ensemble without MLPs
    warnings.filterwarnings("ignore", ".*LeafSpec")  # Lightning, of torch's way to walk a tuple
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))  # not all of them on the first


def join(make_trainer: Callable[[], lightning.Trainer]) -> None:
    """Find the others that torchrun or Slurm started beside this one, if any.

    Those that Lightning starts itself begin when the first one trains.
    """
    if not (TorchElasticEnvironment.detect() or SLURMEnvironment.detect()):
        return
    trainer = make_trainer()
    if trainer.world_size > 1:
        trainer.strategy.setup_environment()


def told(word: str) -> str:
    """What the first process says here; the others wait for it, however long that takes."""
    if not distributed.is_initialized():
        return word
    words = [word]
    group = distributed.new_group(backend="gloo", timeout=_PATIENCE)
    distributed.broadcast_object_list(words, src=0, group=group)
    distributed.destroy_process_group(group)
    return words[0]


def run_dir(configured: str) -> str:
    """The run folder, whose default name holds the time: the first process tells the others."""
    if is_first():
        os.environ["AUDITEVAL_RUN_DIR"] = configured
    return os.environ.get("AUDITEVAL_RUN_DIR", configured)


def deterministic(seed: int) -> None:
    """Seed every generator, and let torch use deterministic algorithms only.

    Raises UserError for a seed that one of them does not take.
    """
    if not (isinstance(seed, int) and 0 <= seed < 2**32):
        raise UserError(f"seed {seed!r}: expected a whole number from 0 to 2^32 - 1")
    lightning.seed_everything(seed, workers=True, verbose=False)
    torch.use_deterministic_algorithms(True, warn_only=True)
