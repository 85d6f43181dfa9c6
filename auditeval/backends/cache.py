"""Results kept by content: what a model said once of some samples, it need not say again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from auditeval.entries import Entries

Result = TypeVar("Result")


class ResultCache:
    """A folder of small JSON entries, named by what a result depends on; None keeps nothing.

    An entry that cannot be read as what was asked for is made anew.
    """

    def __init__(self, folder: Path | None) -> None:
        self._entries = None if folder is None else Entries(folder, "results", durable=True)

    def get(self, key: tuple[str, ...], kind: Any, make: Callable[[], Result]) -> Result:
        """The result under `key` as a `kind` (what pydantic can write), or that of `make`, kept."""
        if self._entries is None:
            return make()
        adapter: TypeAdapter[Result] = TypeAdapter(kind)
        digest = hashlib.sha256(json.dumps(key).encode()).hexdigest()
        name = f"{digest[:2]}/{digest}"
        found = self._entries.read(name)
        if found is not None:
            try:
                return adapter.validate_json(found)
            except ValidationError:
                pass  # of a version that wrote it in another form
        made = make()
        self._entries.write(name, adapter.dump_json(made))
        return made
