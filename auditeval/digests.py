"""Digests of files."""

from __future__ import annotations

import hashlib
from pathlib import Path

from auditeval.reading import opened

_BLOCK_BYTES = 1 << 20


def sha256(*paths: Path) -> str:
    """SHA-256 in hex of the bytes of files, one behind the other; memory is that of a block.

    Raises OSError.
    """
    digest = hashlib.sha256()
    for path in paths:
        with opened(path) as file:
            while block := file.read(_BLOCK_BYTES):
                digest.update(block)
    return digest.hexdigest()
