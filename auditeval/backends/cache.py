"""Results kept by content: what a model said once of some samples, it need not say again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from auditeval.atomic import replacing

Result = TypeVar("Result")


class ResultCache:
    """A folder of small JSON files, named by what a result depends on; None keeps nothing.

    A file that cannot be read as what was asked for is made anew.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def get(self, key: tuple[str, ...], kind: Any, make: Callable[[], Result]) -> Result:
        """The result under `key` as a `kind` (what pydantic can write), or that of `make`, kept."""
        adapter: TypeAdapter[Result] = TypeAdapter(kind)
        if self._folder is None:
            return make()
        digest = hashlib.sha256("\n".join(key).encode()).hexdigest()
        path = self._folder / digest[:2] / f"{digest}.json"
        try:
            return adapter.validate_json(path.read_bytes())
        except (FileNotFoundError, ValidationError):
            pass
        made = make()
        with replacing(path) as temporary:
            temporary.write_bytes(adapter.dump_json(made))
        return made
