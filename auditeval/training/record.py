"""What a run was made from, as its folder records it; no folder goes on with anything else."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from auditeval.atomic import write_text
from auditeval.data.splits import Fold
from auditeval.digests import sha256
from auditeval.features.comparison import REVISION
from auditeval.features.encoder import Encoder
from auditeval.reading import json_file
from auditeval.training.configured import plain
from auditeval.types import EditPair, UserError
from auditeval.version import __version__

_RUN, _CLIPS, _TESTS = "run.json", "clips_sha256", "tests_sha256"
_DECISIVE = ["seed", "fit", "features", "model", "compare", "optimizer", "scheduler"]
_COMPARED = {
    "manifest_sha256": "from another manifest",
    "encoder_revision": "with an encoder of other weights or options",
    "comparison_revision": "with another revision of the comparison of frames",
    "settings": "with other settings",
    "trainer": "with other settings of the trainer",
}
# Of the trainer, what is to change no weights: where it computes, and what it shows.
_OF_NO_WEIGHT = ("accelerator", "devices", "num_nodes", "strategy", "enable_*", "log_every_n_steps")


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
    trainer = {
        key: value
        for key, value in resolved["trainer"].items()
        if not any(fnmatchcase(key, name) for name in _OF_NO_WEIGHT)
    }
    run = {
        "encoder_revision": encoder.revision,
        "comparison_revision": REVISION,
        "settings": json.loads(json.dumps(settings)),
        "trainer": json.loads(json.dumps(trainer)),
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
    run_path, splits_path = folder / _RUN, folder / "splits.json"
    if run_path.exists():
        before = json_file(run_path)
        for key, what in _COMPARED.items():
            if before.get(key, run[key]) != run[key]:
                raise UserError(f"{folder}: was made {what}; choose another run_dir")
        if splits_path.exists() and json_file(splits_path) != splits:
            raise UserError(f"{folder}: was made with another split; choose another run_dir")
        run |= {key: before[key] for key in (_CLIPS, _TESTS) if key in before}
    _write(run, run_path)
    write_text(folder / "config.yaml", OmegaConf.to_yaml(config, resolve=True))
    write_text(splits_path, json.dumps(splits, indent=1) + "\n")


def hear(
    folder: Path,
    pairs: Sequence[EditPair],
    tests: Mapping[str, Sequence[EditPair]],
    contents: Mapping[Path, str],
) -> None:
    """Into run.json, what was heard: a manifest stays the same where its clips are overwritten.

    `contents` is the hash of each clip. What models said of a further test that is not of the same
    clips and texts any more is deleted, to be said again. Raises UserError where the run's own
    pairs were heard of other clips.
    """
    path = folder / _RUN
    run = json_file(path)
    clips = _digest(pairs, contents)
    if run.get(_CLIPS, clips) != clips:
        raise UserError(
            f"{folder}: was made of other clips than {run['manifest']} has now, they were "
            "overwritten; choose another run_dir"
        )
    before: dict[str, str] = run.get(_TESTS, {})
    heard = {name: _digest(of_test, contents) for name, of_test in tests.items()}
    for name, digest in heard.items():
        if before.get(name, digest) != digest:
            for answers in folder.glob(f"*/*/predictions-{escape(name)}.json"):
                answers.unlink()
    _write({**run, _CLIPS: clips, _TESTS: {**before, **heard}}, path)


def _digest(pairs: Sequence[EditPair], contents: Mapping[Path, str]) -> str:
    """Of all that is heard and read of these pairs."""
    rows = [
        [
            pair.id,
            *(contents[side] for side in (pair.original, pair.edited)),
            *(pair.original_caption, pair.target_caption, pair.instruction),
        ]
        for pair in pairs
    ]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def _write(run: Mapping[str, object], path: Path) -> None:
    write_text(path, json.dumps(run, indent=2) + "\n")


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
