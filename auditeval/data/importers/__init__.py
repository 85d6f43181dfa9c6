"""Other layouts to pairs: AuditScore's metadata, ms-swift JSONL, results of listening tests.

Each importer takes a folder and returns pairs, or raises UserError with file and line. Audio stays
where it is; a clip that is only made of others is written beside the manifest. What an evaluator
said of the pairs of an ms-swift file is imported as a scores table (`ms_swift`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from auditeval import manifest
from auditeval.data.importers.auditscore import import_auditscore
from auditeval.data.importers.listening_tests import import_mushra_codecs, import_p835
from auditeval.data.importers.ms_swift import import_ms_swift, import_omni_results
from auditeval.data.importers.p808 import import_p808
from auditeval.data.importers.pick_the_best import (
    import_pick_the_best,
    import_pick_the_best_voice,
)
from auditeval.data.importers.webmushra import import_webmushra
from auditeval.types import EditPair, UserError

Importer = Callable[[Path, Path], list[EditPair]]
"""Of the folder that holds a layout, and the folder where clips that have to be made go."""


def _making_none(importer: Callable[[Path], list[EditPair]]) -> Importer:
    return lambda folder, made_in: importer(folder)


IMPORTERS: dict[str, Importer] = {
    "auditscore": _making_none(import_auditscore),
    "ms-swift": _making_none(import_ms_swift),
    "p808": _making_none(import_p808),
    "p835": _making_none(import_p835),
    "mushra-codecs": _making_none(import_mushra_codecs),
    "webmushra": _making_none(import_webmushra),
    "pick-the-best": import_pick_the_best,
    "pick-the-best-voice": _making_none(import_pick_the_best_voice),
}


def import_to_manifest(layout: str, folder: str, output: str) -> Path:
    """Import a folder and write its manifest; returns the manifest's path."""
    if not Path(folder).exists():
        raise UserError(f"{folder}: no such folder; name the one that holds the {layout} data")
    path = Path(output)
    manifest.check_suffix(path)  # before clips are made
    manifest.write(IMPORTERS[layout](Path(folder), path.parent), path)
    return path
