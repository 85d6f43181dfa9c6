"""Optional packages that carry or run a model: import, files, and what they are known by."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import sys
import warnings
from collections.abc import Iterator
from importlib.metadata import version as installed_version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from auditeval.types import UserError

_OWN_ENVIRONMENT = (
    "in an environment of its own, because it needs numpy below 2 and transformers below 5"
)


def imported(module: str, extra: str, clashes: bool = False) -> Any:
    """A module of an optional package; UserError says how to get it.

    A package that `clashes` with ours needs another environment, and reaches for a hub at once.
    """
    package = module.partition(".")[0]
    pins = "" if clashes else "-c constraints.txt "
    advice = f"install it with pip install {pins}'.[{extra}]'"
    if clashes:
        advice += f" {_OWN_ENVIRONMENT}"
    # Whatever a release of numpy, transformers or torch provokes that the package does not know; an
    # OSError is a library that was built for another torch.
    unfit = (ImportError, AttributeError, TypeError, ValueError, OSError)
    try:
        with reaching_a_hub(package) if clashes else contextlib.nullcontext():
            return importlib.import_module(module)
    except UserError:
        raise
    except unfit as error:
        reason = first_line(error)
        raise UserError(f"{package} cannot be imported here ({reason}); {advice}") from None


@contextlib.contextmanager
def reaching_a_hub(package: str) -> Iterator[None]:
    """Keep what a package prints off stdout, and its warning filters out; name a hub's absence."""
    with contextlib.redirect_stdout(sys.stderr), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except OSError as error:
            raise UserError(
                f"{package} fetches files from the internet when it starts, which failed "
                f"({first_line(error)}); run it once where they can be fetched"
            ) from None


def package_file(package: str, relative: str) -> Path:
    """A file inside an installed package, found without importing it."""
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or []:
        if (path := Path(folder) / relative).exists():
            return path
    raise UserError(
        f"the package {package} ({relative}) is not installed: run "
        "`pip install --no-deps -r requirements-no-deps.txt`"
    )


def first_line(error: Exception) -> str:
    """Of what an error says; its name where it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def revision(code: str, package: str, checkpoint: Path) -> str:
    """Of the wrapping code, the package and the file's bytes."""
    digest = hashlib.sha256()
    with checkpoint.open("rb") as file:
        while block := file.read(1 << 24):
            digest.update(block)
    return f"{code}-{installed_version(package)}-{digest.hexdigest()[:12]}"
