"""Frozen encoders behind one protocol, and the store that runs each once per clip."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from auditeval.features.encoder import Encoder
from auditeval.types import UserError

ENCODERS = {
    "melstats": "melstats.MelStats",
    "offline": "offline.OfflineEncoder",
    "clap": "clap.encoder.ClapEncoder",
    "laion_clap": "packages.LaionClapPackage",
    "msclap": "packages.MsClapPackage",
    "squim": "packages.Squim",
    "audiobox": "audiobox.Audiobox",
    "yamnet": "yamnet.YamNetEncoder",
    "cnn14": "panns.Cnn14Encoder",
    "vggish": "vggish.VggishEncoder",
    "qwen_omni": "omni.encoder.OmniEncoder",
}
"""The encoders that a configuration or checkpoint may name, and where each lies in this package.

A module is imported when its encoder is used: laion_clap, msclap, squim and audiobox need packages
that may be absent or clash with ours.
"""


def make_encoder(name: str, **arguments: Any) -> Encoder:
    """Build the encoder of that name; raises UserError for another name or unfit arguments."""
    if name not in ENCODERS:
        raise UserError(f"no encoder is called {name!r}; known: {', '.join(ENCODERS)}")
    module, kind = ENCODERS[name].rsplit(".", 1)
    try:
        return getattr(import_module(f"{__name__}.{module}"), kind)(**arguments)
    except TypeError as error:
        raise UserError(f"encoder {name!r} cannot be made with its arguments ({error})") from None
