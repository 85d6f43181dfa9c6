"""The files of a described set: everything as JSON, the tables as Markdown, the picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from auditeval import text
from auditeval.atomic import write_text
from auditeval.data.inventory import Inventory
from auditeval.report.description import BIN_CENTRES, SECONDS, Description, shown
from auditeval.report.description_plot import plot
from auditeval.report.description_tables import to_markdown
from auditeval.types import Undefined
from auditeval.version import __version__


def to_json(made: Description) -> dict[str, Any]:
    """The description as plain values; an undefined one is null beside its reason."""
    return {
        "auditeval": __version__,
        "manifest": made.manifest.name,
        "all": _plain(made.whole),
        **{f"by_{field}": _plain(groups) for field, groups in made.by.items()},
        "by_system_and_operation": [
            {"system": system, "operation": operation, **_plain(group)}
            for (system, operation), group in made.crossed.items()
        ],
        "bin_centres": list(BIN_CENTRES),
        "distributions": _plain(made.distributions),
        "panels": _plain(made.panels),
        "clips": made.inventory and _plain_inventory(made.inventory, made),
        "leaks": [
            {"original": shown(leak.original, made), "pairs": leak.pairs} for leak in made.leaks
        ],
    }


def _plain_inventory(stock: Inventory, made: Description) -> dict[str, Any]:
    return {
        **{
            side: {
                "files": len(found.seconds),
                "sounds": found.sounds,
                "seconds": found.seconds
                and {name: f(found.seconds) for name, f in SECONDS.items()},
                "rates_hz": found.rates_hz,
                "channels": found.channels,
                "same": [[shown(path, made) for path in paths] for paths in stock.same[side]],
            }
            for side, found in stock.clips.items()
        },
        "pair_seconds": stock.pair_seconds,
        "unusable": [
            {"path": shown(clip.path, made), "reason": clip.reason, "pairs": clip.pairs}
            for clip in stock.unusable
        ],
        "unchanged": stock.unchanged,
    }


def _plain(value: Any) -> Any:
    """Records as objects; an undefined field is null, with its reason as `FIELD_undefined`."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
        reasons = {
            f"{name}_undefined": found.reason
            for name, found in value.items()
            if isinstance(found, Undefined)
        }
        value = {**value, **reasons}
    if isinstance(value, Mapping):
        return {name: _plain(found) for name, found in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(found) for found in value]
    return None if isinstance(value, Undefined) else value


FILES = ("description.json", "description.md", "description.png")


def write(made: Description, folder: Path) -> None:
    """description.json, description.md and, where something is rated, description.png."""
    write_text(folder / "description.json", text.to_json(to_json(made)) + "\n")
    write_text(folder / "description.md", to_markdown(made))
    if made.distributions:
        plot(made, folder / "description.png")
