"""auditeval: predicts human ratings of audio edits.

>>> import auditeval
>>> evaluator = auditeval.load()                                    # doctest: +SKIP
>>> evaluator.score([auditeval.EditPair(id="1", original="a.wav", edited="b.wav",
...     original_caption="Rain.", target_caption="Rain, with a dog barking.")])  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from auditeval.version import __version__

if TYPE_CHECKING:
    from auditeval.audio import Waveform
    from auditeval.benchmarking import BenchmarkReport, bench
    from auditeval.explaining import explain
    from auditeval.scoring import Evaluator, load
    from auditeval.types import AXES, EditPair, Scores, Undefined, UserError

__all__ = [
    "AXES",
    "BenchmarkReport",
    "EditPair",
    "Evaluator",
    "Scores",
    "Undefined",
    "UserError",
    "Waveform",
    "__version__",
    "bench",
    "explain",
    "load",
]

_HOMES = {
    "AXES": "types",
    "BenchmarkReport": "benchmarking",
    "EditPair": "types",
    "Evaluator": "scoring",
    "Scores": "types",
    "Undefined": "types",
    "UserError": "types",
    "Waveform": "audio",
    "bench": "benchmarking",
    "explain": "explaining",
    "load": "scoring",
}


def __getattr__(name: str) -> Any:
    """Import on first use, so that `auditeval --help` loads neither torch nor pydantic."""
    if name not in _HOMES:
        raise AttributeError(f"module 'auditeval' has no attribute {name!r}")
    return getattr(import_module(f"auditeval.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
