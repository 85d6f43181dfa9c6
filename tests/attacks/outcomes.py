"""What an attack may end in, and the four ways in which it gets through."""

from __future__ import annotations

import re

from commands import Ended

SECONDS = 120
"""An attack that has not ended by then hangs; the slowest that is withstood takes a tenth."""


class Traceback(AssertionError):
    """A user's mistake was answered with a stack of calls."""


class Hang(AssertionError):
    """No answer."""


class WrongResult(AssertionError):
    """A result that says nothing of what it was made from."""


class LostFile(AssertionError):
    """Something that was there is gone or another."""


def refused(ended: Ended, said: str, status: int = 2) -> None:
    """The command ended in one sentence, in which `said` (a pattern) is found."""
    if "Traceback" in ended.err:
        raise Traceback(ended.err)
    if ended.status != status:
        raise WrongResult(f"status {ended.status}, expected {status}: {ended.out}{ended.err}")
    last = ended.err.rstrip().splitlines()[-1] if ended.err.strip() else ""
    if not last.startswith("auditeval: ") or not re.search(said, last):
        raise WrongResult(f"expected {said!r}, found {ended.err!r}")


def same(found: object, expected: object, what: str) -> None:
    """A result is that of an undisturbed run."""
    if found != expected:
        raise WrongResult(f"{what}: {found!r} instead of {expected!r}")


def kept(found: object, expected: object, what: str) -> None:
    """What was there before is there still."""
    if found != expected:
        raise LostFile(f"{what}: {found!r} instead of {expected!r}")
