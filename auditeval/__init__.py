"""auditeval: predicts human ratings of audio edits.

>>> import auditeval
>>> evaluator = auditeval.load()                                    # doctest: +SKIP
>>> evaluator.score([auditeval.EditPair(id="1", original="a.wav", edited="b.wav",
...     original_caption="Rain.", target_caption="Rain, with a dog barking.")])  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from auditeval.version import __version__

if TYPE_CHECKING:
    from auditeval.scoring import load
    from auditeval.types import AXES, EditPair, Scores

__all__ = ["AXES", "EditPair", "Scores", "__version__", "load"]


def __getattr__(name: str) -> Any:
    """Import on first use, so that `auditeval --help` loads neither torch nor pydantic."""
    if name == "load":
        from auditeval.scoring import load

        return load
    if name in ("AXES", "EditPair", "Scores"):
        from auditeval import types

        return getattr(types, name)
    raise AttributeError(f"module 'auditeval' has no attribute {name!r}")
