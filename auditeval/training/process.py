"""This process, one of several where a run trains on several devices."""

from __future__ import annotations

import logging
import os
import warnings

import pytorch_lightning as lightning
import torch
from pytorch_lightning.utilities.rank_zero import rank_zero_only

from auditeval.types import UserError


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


def reseed(device: torch.device, seed: int) -> None:
    """Seed the generator of a device before a step. `torch.manual_seed` notes down, for each kind
    of device that is not there, the stack that it was called from: as long as a small step."""
    if device.type == "cpu":
        torch.default_generator.manual_seed(seed)
    else:
        torch.manual_seed(seed)
