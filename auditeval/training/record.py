"""What a run was made from, as its folder records it; no folder goes on with anything else."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from auditeval.data.splits import Fold
from auditeval.digests import sha256
from auditeval.features.comparison import REVISION
from auditeval.features.encoder import Encoder
from auditeval.reading import json_file
from auditeval.training.configured import plain
from auditeval.types import EditPair, UserError
from auditeval.version import __version__

_DECISIVE = ["seed", "fit", "features", "model", "compare", "optimizer", "scheduler"]
_COMPARED = {
    "manifest_sha256": "from another manifest",
    "encoder_revision": "with an encoder of other weights or options",
    "comparison_revision": "with another revision of the comparison of frames",
    "settings": "with other settings",
}


def write(
    folder: Path,
    config: DictConfig,
    manifest: Path,
    pairs: Sequence[EditPair],
    folds: Sequence[Fold],
    encoder: Encoder,
) -> None:
    """run.json, config.yaml and splits.json.

    Raises UserError where the folder has them of other inputs, settings or splits.
    """
    resolved = plain(config)
    settings = {key: resolved[key] for key in _DECISIVE}
    run = {
        "encoder_revision": encoder.revision,
        "comparison_revision": REVISION,
        "settings": json.loads(json.dumps(settings)),
        "auditeval": __version__,
        "git_revision": _git_revision(),
        "manifest": str(manifest),
        "manifest_sha256": sha256(manifest),
    }
    splits = [
        {
            "name": fold.name,
            **{
                part: [pairs[row].id for row in getattr(fold, part)]
                for part in ("train", "validation", "test")
            },
        }
        for fold in folds
    ]
    run_path, splits_path = folder / "run.json", folder / "splits.json"
    if run_path.exists():
        before = json_file(run_path)
        for key, what in _COMPARED.items():
            if before.get(key, run[key]) != run[key]:
                raise UserError(f"{folder}: was made {what}; choose another run_dir")
        if splits_path.exists() and json_file(splits_path) != splits:
            raise UserError(f"{folder}: was made with another split; choose another run_dir")
    run_path.write_text(json.dumps(run, indent=2) + "\n")
    OmegaConf.save(config, folder / "config.yaml", resolve=True)
    splits_path.write_text(json.dumps(splits, indent=1) + "\n")


def _git_revision() -> str | None:
    """The commit of the source tree, with "-dirty" where it was changed; None outside of one."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40"]
    try:
        result = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return result.stdout.strip()
