"""The backends of a run, by role: made from a configuration when a benchmark first needs them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from auditeval import reading
from auditeval.audio import Waveform, content_hash
from auditeval.backends.backend import JUDGES, ROLES
from auditeval.backends.cache import ResultCache
from auditeval.pretrained.packages import first_line
from auditeval.targets import TARGET, find, named
from auditeval.types import UserError

_SHIPPED = "configs/backends"
_PACKAGES = ("auditeval.backends", "auditeval.judges")


def read(config: str | Path) -> dict[str, Any]:
    """Nodes by role of a YAML file, or of one that ships, by its name ("offline", "mmae").

    Raises UserError for a file that is not there or is no mapping of roles to nodes.
    """
    path = Path(config)
    if path.suffix not in (".yaml", ".yml"):
        # Beside the package in a source tree, inside it in a wheel.
        package = Path(__file__).parent.parent
        folders = [place / _SHIPPED for place in (package.parent, package)]
        shipped = {file.stem: file for folder in folders for file in folder.glob("*.yaml")}
        if str(config) not in shipped:
            raise UserError(
                f"backends {str(config)!r}: expected a YAML file or one of "
                f"{', '.join(sorted(shipped))}"
            )
        path = shipped[str(config)]
    nodes = reading.yaml_file(path)
    roles = {*ROLES, *JUDGES}
    unknown = [name for name in nodes if name not in roles] if isinstance(nodes, dict) else [nodes]
    if unknown:
        raise UserError(
            f"{path}: expected nodes under some of {', '.join([*ROLES, *JUDGES])}; found "
            f"{unknown[0]!r}"
        )
    for role, node in nodes.items():
        if not (node is None or isinstance(node, dict)):
            raise UserError(f"{path}: {role} is {node!r}; expected _target_ and arguments, or null")
    return nodes


class Backends:
    """Models by role, each made from its node (`_target_` and arguments) when first needed.

    A node may be a model already made. What they say of a clip is kept by content in `cache_dir`.
    Judges are nodes too (see JUDGES and auditeval.judges); `around` is put around each when it is
    made. Roles that share a node share its model.
    """

    def __init__(
        self,
        nodes: Mapping[str, Any],
        cache_dir: Path | None = None,
        around: Callable[[Any], Any] = lambda judge: judge,
    ) -> None:
        self._nodes, self._models = dict(nodes), dict[str, Any]()
        self._around = around
        self._cache = ResultCache(cache_dir)
        self._lock = threading.Lock()

    def __contains__(self, role: str) -> bool:
        return self._nodes.get(role) is not None

    def model(self, role: str) -> Any:
        """The model of a role. Raises UserError where none is configured or it cannot be made."""
        with self._lock:
            if role not in self._models:
                if role not in self:
                    how = "by --judge or " if role in JUDGES else ""
                    raise UserError(f"no backend for {role}: name one {how}in the configuration")
                node = self._nodes[role]
                shared = [other for other in self._models if self._nodes[other] is node]
                if shared:
                    self._models[role] = self._models[shared[0]]
                else:
                    made = _made(role, node) if isinstance(node, Mapping) else node
                    self._models[role] = self._around(made) if role in JUDGES else made
            return self._models[role]

    @property
    def judges(self) -> list[Any]:
        """The judges that were needed so far, each once."""
        made = [self._models[role] for role in JUDGES if role in self._models]
        return list({id(judge): judge for judge in made}.values())

    def stop_judges(self) -> None:
        """They are asked nothing more: a run has ended, and its threads may not know."""
        for judge in self.judges:
            judge.stop()

    def forget_judges(self) -> None:
        """Each is made anew when it is next needed: one that has given up asks again."""
        with self._lock:
            for role in JUDGES:
                self._models.pop(role, None)

    def __call__(self, role: str, clip: Waveform) -> Any:
        """What the model of a role says of a clip: a result as `ROLES` has it."""
        model = self.model(role)
        kind = str(getattr(model, "device", "cpu")).partition(":")[0]
        place = () if kind == "cpu" else (kind,)  # other devices round otherwise
        key = (role, model.name, model.revision, *place, content_hash(clip))
        return self._cache.get(key, ROLES[role], lambda: _heard(model, clip))

    def named(self, roles: list[str]) -> dict[str, str]:
        """Name and revision of the models of these roles, "none" where there is none."""
        return {role: _label(self.model(role)) if role in self else "none" for role in roles}


def _heard(model: Any, clip: Waveform) -> Any:
    """On one thread, whichever libraries the model computes with."""
    from auditeval.pretrained.threads import one_thread

    with one_thread():
        return model(clip)


def _label(model: Any) -> str:
    return f"{model.name} ({model.revision})"


def _made(role: str, node: Mapping[str, Any]) -> Any:
    """Nothing but a backend is called, and nothing is put in the place of what is written."""
    if TARGET not in node:
        raise UserError(f"backend {dict(node)}: expected the name of a class under {TARGET}")
    made_of = f"backend {node[TARGET]}"
    try:
        kind = find(node[TARGET], _PACKAGES)
    except UserError as error:
        raise UserError(f"{role}: {error}") from None
    if ("ask" if role in JUDGES else "__call__") not in dir(kind):
        what = "judge" if role in JUDGES else "backend"
        raise UserError(f"{role}: {TARGET}: {node[TARGET]} is no {what}")
    arguments = {name: value for name, value in node.items() if name != TARGET}
    for name, value in arguments.items():
        if value == "???":
            raise UserError(
                f"{made_of}: {name} is not set; copy the YAML file and name what you have"
            )
        if list(named(value)) or "${" in str(value):
            raise UserError(
                f"{made_of}: {name} is {value!r}; expected a plain value: no object is made and no "
                "variable read for an argument"
            )
    try:
        if role in JUDGES:
            return kind(**arguments)
        from auditeval.pretrained.threads import made_apart

        with made_apart():
            return kind(**arguments)
    except UserError:
        raise
    except Exception as error:  # whatever a wrong value provokes in a model's own library
        raise UserError(f"{made_of}: {first_line(error)}") from None
