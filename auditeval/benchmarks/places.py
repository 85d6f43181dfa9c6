"""Where the files of a benchmark may lie: what is in its folder may be sent to a judge."""

from __future__ import annotations

from pathlib import Path


def leads_out(folder: Path, path: Path) -> bool:
    """Whether a path, given from the folder's own place, leads out of it by words or by a link.

    In a download of the model hub's, files are links to the blobs beside its snapshots; these are
    inside.
    """
    home = folder.resolve()
    homes = [home]
    for place in (home, *home.parents):
        if place.name == "snapshots":
            homes.append(place.parent / "blobs")
    try:
        target = path.resolve()
    except (OSError, RuntimeError, ValueError):  # links in a circle, a NUL: no file to be read
        return False
    return not any(target.is_relative_to(home) for home in homes)
