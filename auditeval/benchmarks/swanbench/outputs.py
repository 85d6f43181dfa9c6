"""Where a system's outputs of one script file or of several lie."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from auditeval.benchmarks.places import leads_out
from auditeval.benchmarks.systems import find_outputs
from auditeval.types import UserError


def find(folder: Path, ids: Sequence[str], scripts: Sequence[Path]) -> dict[str, Path]:
    """Output files by sample id, of those that are there: <folder>/<script>/<line>.wav.

    <script> is the name of a script file without its suffix, <line> the id in it; audio/ may stand
    between (see `systems.find_outputs`). Of one script the outputs may lie in the folder itself;
    they do where it has no <script>/. Raises UserError where no sample has an output, where a
    folder of a script holds none of it, and for a link that leads out.
    """
    names = [script.stem for script in scripts]
    if len(names) == 1:
        place = folder / names[0]
        return find_outputs(_inside(folder, place) if place.is_dir() else folder, ids)
    found: dict[str, Path] = {}
    for name in names:
        lines = {id.removeprefix(f"{name}/"): id for id in ids if id.startswith(f"{name}/")}
        if lines and (place := folder / name).is_dir():  # of a part there may be none in a script
            outputs = find_outputs(_inside(folder, place), [*lines])
            found |= {lines[line]: path for line, path in outputs.items()}
    if not found:
        raise UserError(
            f"{folder}: holds no output of any of the {len(ids)} samples; expected names like "
            f"{ids[0]}.wav, in a folder for each script"
        )
    return found


def _inside(folder: Path, place: Path) -> Path:
    if leads_out(folder, place):  # a judge's endpoint is sent what is there
        raise UserError(f"{place}: is a link that leads out of {folder}")
    return place
