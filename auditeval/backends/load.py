"""The backends of a run, by role: made from a configuration when a benchmark first needs them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from auditeval.audio import Waveform, content_hash
from auditeval.backends.backend import ROLES
from auditeval.backends.cache import ResultCache
from auditeval.types import UserError


class Backends:
    """Models by role, each made from its node (`_target_` and arguments) when first needed.

    A node may be a model already made. What they say of a clip is kept by content in `cache_dir`.
    Judges are nodes too (`judge`), see auditeval.judges.
    """

    def __init__(self, nodes: Mapping[str, Any], cache_dir: Path | None = None) -> None:
        self._nodes, self._models = dict(nodes), dict[str, Any]()
        self._cache = ResultCache(cache_dir)
        self._lock = threading.Lock()

    def __contains__(self, role: str) -> bool:
        return self._nodes.get(role) is not None

    def model(self, role: str) -> Any:
        """The model of a role. Raises UserError where none is configured or it cannot be made."""
        with self._lock:
            if role not in self._models:
                if role not in self:
                    raise UserError(f"no backend for {role}: name one in the configuration")
                node = self._nodes[role]
                self._models[role] = _made(node) if isinstance(node, Mapping) else node
            return self._models[role]

    def __call__(self, role: str, clip: Waveform) -> Any:
        """What the model of a role says of a clip: a result as `ROLES` has it."""
        model = self.model(role)
        key = (role, model.name, model.revision, content_hash(clip))
        return self._cache.get(key, ROLES[role], lambda: model(clip))

    def named(self, roles: list[str]) -> dict[str, str]:
        """Name and revision of the models of these roles, "none" where there is none."""
        return {role: _label(self.model(role)) if role in self else "none" for role in roles}


def _label(model: Any) -> str:
    return f"{model.name} ({model.revision})"


def _made(node: Mapping[str, Any]) -> Any:
    from hydra.errors import InstantiationException
    from hydra.utils import instantiate

    try:
        return instantiate(dict(node), _convert_="all")
    except InstantiationException as error:
        if isinstance(error.__cause__, UserError):
            raise error.__cause__ from None
        raise UserError(f"backend {node.get('_target_')}: {str(error).splitlines()[0]}") from None
