"""Other layouts to pairs: AuditScore's metadata, ms-swift JSONL, tables of listening tests.

Each importer takes a folder and returns pairs, or raises UserError with file and line. What an
evaluator said of the pairs of an ms-swift file is imported as a scores table (`ms_swift`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from auditeval import manifest
from auditeval.data.importers.auditscore import import_auditscore
from auditeval.data.importers.listening_tests import import_mushra_codecs, import_p835
from auditeval.data.importers.ms_swift import import_ms_swift, import_omni_results
from auditeval.types import EditPair, UserError

__all__ = [
    "IMPORTERS",
    "import_auditscore",
    "import_ms_swift",
    "import_mushra_codecs",
    "import_omni_results",
    "import_p835",
    "import_to_manifest",
]

IMPORTERS: dict[str, Callable[[Path], list[EditPair]]] = {
    "auditscore": import_auditscore,
    "ms-swift": import_ms_swift,
    "p835": import_p835,
    "mushra-codecs": import_mushra_codecs,
}


def import_to_manifest(layout: str, folder: str, output: str) -> Path:
    """Import a folder and write its manifest; returns the manifest's path."""
    if not Path(folder).exists():
        raise UserError(f"{folder}: no such folder; name the one that holds the {layout} data")
    manifest.write(IMPORTERS[layout](Path(folder)), output)
    return Path(output)
