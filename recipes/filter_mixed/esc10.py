"""ESC-10 as folders of classes with labels.csv, of a checkout of karolpiczak/ESC-50.

python esc10.py CHECKOUT DIR copies the clips that meta/esc50.csv marks as ESC-10's.
"""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import typer

CLASSES = {
    "dog": "dog_bark",
    "rain": "rain",
    "sea_waves": "sea_waves",
    "crying_baby": "baby_cry",
    "clock_tick": "clock_tick",
    "sneezing": "person_sneeze",
    "helicopter": "helicopter",
    "chainsaw": "chainsaw",
    "rooster": "rooster",
    "crackling_fire": "fire_crackling",
}
"""ESC-50's name of a class, and ESC-10's, in ESC-10's order."""


def made(checkout: Path, folder: Path) -> int:
    """Write clips and labels.csv to `folder`; returns the number of clips."""
    with (checkout / "meta" / "esc50.csv").open(encoding="utf-8", newline="") as file:
        clips = [row for row in csv.DictReader(file) if row["esc10"] == "True"]
    order = list(CLASSES)
    clips.sort(key=lambda row: (order.index(row["category"]), row["filename"]))
    labels = []
    for row in clips:
        name = CLASSES[row["category"]]
        path = folder / name / f"{row['fold']}-{row['src_file']}-{row['take']}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(checkout / "audio" / row["filename"], path)
        labels.append(
            {
                "file": f"{name}/{path.name}",
                "label": name.replace("_", " "),
                "fold": row["fold"],
                "freesound_id": row["src_file"],
            }
        )
    with (folder / "labels.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(labels[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(labels)
    return len(labels)


def main(checkout: Path, folder: Path) -> None:
    print(f"{made(checkout, folder)} clips in {folder}")


if __name__ == "__main__":
    typer.run(main)
