"""Manifests made of others: listening tests beside simulated edits, and a set less some faults."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from auditeval import manifest
from auditeval.data.importers import IMPORTERS, import_to_manifest
from auditeval.data.simulation.faults import FAULTS
from auditeval.data.simulation.vocabulary import known
from auditeval.types import UserError

MANIFEST = "manifest"


def combine(always: str | Path, rated: str | Path | None, output: str | Path) -> Path:
    """Write a manifest of `always`, every row marked with the split `train`, and then `rated`.

    A split that `rated` states is dropped, and its rows get ids of their own. Raises UserError
    where no `rated` is named or none of its pairs has ratings.
    """
    first = manifest.read(always)
    second = [pair for pair in manifest.read(manifest.named(rated)) if pair.ratings]
    if not second:
        raise UserError(f"{rated}: no pair has ratings, so there is nothing to adapt to")
    manifest.write(
        [
            *(pair.model_copy(update={"split": "train"}) for pair in first),
            *(pair.model_copy(update={"split": None, "id": f"rated/{pair.id}"}) for pair in second),
        ],
        output,
    )
    return Path(output)


def with_people(
    simulated: str | Path, listening_tests: Mapping[str, str | Path | None], output: str | Path
) -> Path:
    """Write a manifest of simulated edits and of the pairs of listening tests, {layout: folder}.

    A layout is one of `importers`, or "manifest", whose folder is a file of pairs with ratings. It
    names the test in `listening_test` of pairs that name none; its ids stand behind it. Those
    without a folder are left out.
    """
    pairs = list(manifest.read(simulated))
    for layout, folder in listening_tests.items():
        if folder is None:
            continue
        path = Path(output).with_name(f"{layout}.jsonl")
        rated = [pair for pair in manifest.read(_imported(layout, folder, path)) if pair.ratings]
        if not rated:
            raise UserError(f"{folder}: no pair has ratings, so there is nothing to learn")
        pairs += [
            pair.model_copy(
                update={
                    "listening_test": pair.listening_test or layout,
                    "split": None,
                    "id": f"{layout}/{pair.id}",
                }
            )
            for pair in rated
        ]
    manifest.write(pairs, output)
    return Path(output)


def _imported(layout: str, folder: str | Path, output: Path) -> Path:
    if layout == MANIFEST:
        return manifest.named(folder)
    if layout not in IMPORTERS:
        known = ", ".join([*IMPORTERS, MANIFEST])
        raise UserError(f"data.people: {layout!r} is none of {known}")
    return import_to_manifest(layout, str(folder), str(output))


def without(
    simulated: Sequence[str | Path | None],
    output: str | Path,
    faults: Sequence[str] = (),
    sounds: Sequence[str] = (),
) -> Path:
    """Write simulated manifests as one, less the edits that have one of these faults or sounds.

    None among them are left out. edits.jsonl beside each manifest says what its edits have. Raises
    UserError for a name that is no fault and no sound: the set would be whole, and be called
    reduced.
    """
    if unknown := sorted({*faults} - {*FAULTS}):
        raise UserError(f"{unknown[0]!r} is no fault of simulated edits")
    unwanted = {*faults, *known(sounds)}
    kept = []
    for path in simulated:
        if path is None:
            continue
        had: dict[str, set[str]] = {}
        with Path(path).with_name("edits.jsonl").open(encoding="utf-8") as file:
            for line in file:
                edit = json.loads(line)
                had[edit["id"]] = {*edit["faults"], *edit["sounds"]}
        kept += [pair for pair in manifest.read(path) if not unwanted & had[pair.id]]
    manifest.write(kept, output)
    return Path(output)
