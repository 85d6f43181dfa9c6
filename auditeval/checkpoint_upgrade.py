"""Checkpoints that older versions wrote: what their config.json says in today's words."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from auditeval.features.alignment import ALIGNMENT_NAMES
from auditeval.features.comparison import PATCH_NAMES
from auditeval.features.evidence import CAPTION_NAMES, LABEL_NAMES

Json = dict[str, Any]

OLD_FORMAT = "auditeval-1"
_SIZES = ("dim", "text_dim", "joint_dim", "alignment_dim", "evidence_dim")


def upgraded(config: Any) -> Any:
    """A configuration of format auditeval-1 (until 0.1: one encoder, five sizes) as auditeval-2.

    Any other value comes back as it is. Raises ValueError for one of the old format that is
    damaged.
    """
    if not isinstance(config, dict) or config.get("format") != OLD_FORMAT:
        return config
    try:
        encoder, model = config["encoder"], config["model"]
        arguments = dict(model["arguments"])
        sizes = {name: arguments.pop(name, 0) for name in _SIZES}
        if sizes["dim"]:
            arguments["inputs"] = _inputs(encoder["name"], sizes)
        rest = {key: value for key, value in config.items() if key != "encoder"}
        return {
            **rest,
            "format": "auditeval-2",
            "model": {**model, "arguments": arguments},
            "features": _features(**encoder),
        }
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"is no whole configuration of format {OLD_FORMAT} ({error})") from None


def used(weights: dict[str, Tensor], state: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights without the scales of inputs that a model never looked at, once kept as well."""
    return {k: v for k, v in weights.items() if k in state or not k.startswith("scale_")}


def _features(name: str, arguments: Json, revision: str) -> Json:
    """The extractors of what was one encoder, with the revisions that they have today."""
    if name == "offline":
        code, spectrum, *yamnet, minilm = revision.split("-")
        paths = {"yamnet": arguments["yamnet_path"], "minilm": arguments["minilm_path"]}
        of_events = "-".join([code, *yamnet, minilm])
        return {
            "events": {"arguments": paths, "revision": of_events},
            "spectrum": {"arguments": {}, "revision": spectrum},
            "words": {"arguments": {"minilm": paths["minilm"]}, "revision": minilm},
        }
    if name == "clap":
        revision = f"{revision}-2"  # with windows, which these models do not look at
    elif name in ("laion_clap", "msclap"):
        revision = f"2-{revision.partition('-')[2]}"
    return {
        {"melstats": "spectrum"}.get(name, name): {"arguments": arguments, "revision": revision}
    }


def _inputs(encoder: str, sizes: dict[str, int]) -> Json:
    of_frames = {
        "offline": {"spectrum": ALIGNMENT_NAMES, "events": PATCH_NAMES},
        "melstats": {"spectrum": ALIGNMENT_NAMES},
    }.get(encoder, {encoder: PATCH_NAMES})
    of_words = {"events": LABEL_NAMES, "words": CAPTION_NAMES}
    return {
        "audio": sizes["dim"],
        "text": sizes["text_dim"],
        "joint": [sizes["joint_dim"]] if sizes["joint_dim"] else [],
        "alignment": _named(of_frames) if sizes["alignment_dim"] else [],
        "evidence": _named(of_words) if sizes["evidence_dim"] else [],
    }


def _named(numbers: dict[str, tuple[str, ...]]) -> list[str]:
    return [f"{extractor}.{name}" for extractor, names in numbers.items() for name in names]
