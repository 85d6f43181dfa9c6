"""The folder that the recipe reads, of a checkout of microsoft/P.808 at commit 5b8c00a0654d.

python labels.py CHECKOUT DIR copies the clips of four of its six talkers to DIR/fb (48 kHz) and
DIR/wb (16 kHz) and writes DIR/labels.csv, of the ratings per file of CSP835_Ref_Conditions.xlsx.
"""

from __future__ import annotations

import csv
import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import typer

SETS = {
    "fb": ("Fullband-results per file", "degraded_fullband_48KHz"),
    "wb": ("16KHzWB-results per file", "degraded_WB_16KHz"),
}
TALKERS = ("f1", "f2", "m1", "m2")
COLUMNS = {
    "n_votes": "n votes",
    **{
        f"{kind}_{name}": f"{kind}_{name}"
        for name in ("sig", "bak", "ovrl")
        for kind in ("mos", "std")
    },
}
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def rows(workbook: zipfile.ZipFile, sheet: str) -> Iterator[dict[str, str]]:
    """The rows of a sheet below its first, by the heads in that one, in small letters."""
    targets = {
        relation.get("Id"): relation.get("Target")
        for relation in ElementTree.fromstring(workbook.read("xl/_rels/workbook.xml.rels"))
    }
    sheets = {
        node.get("name"): f"xl/{targets[node.get(_RELATION)]}"
        for node in ElementTree.fromstring(workbook.read("xl/workbook.xml")).iter(f"{_MAIN}sheet")
    }
    shared = [
        "".join(part.text or "" for part in entry.iter(f"{_MAIN}t"))
        for entry in ElementTree.fromstring(workbook.read("xl/sharedStrings.xml"))
    ]
    heads: dict[str, str] = {}
    for row in ElementTree.fromstring(workbook.read(sheets[sheet])).iter(f"{_MAIN}row"):
        cells = {}
        for cell in row.iter(f"{_MAIN}c"):
            text = cell.findtext(f"{_MAIN}v") or ""
            column = re.sub(r"\d", "", cell.get("r", ""))
            cells[column] = shared[int(text)] if cell.get("t") == "s" and text else text
        if heads:
            yield {heads[column]: text for column, text in cells.items() if column in heads}
        else:
            heads = {column: text.lower() for column, text in cells.items()}


def made(checkout: Path, folder: Path) -> int:
    """Write clips and labels.csv to `folder`; returns the number of clips."""
    source = checkout / "p835_reference_conditions"
    labels = []
    with zipfile.ZipFile(source / "CSP835_Ref_Conditions.xlsx") as workbook:
        for name, (sheet, clips) in SETS.items():
            (folder / name).mkdir(parents=True, exist_ok=True)
            for row in rows(workbook, sheet):
                clip = row.get("short_file_name", "")
                condition, _, talker = clip.removesuffix(".wav").partition("_")
                if talker not in TALKERS:
                    continue
                shutil.copyfile(source / clips / clip, folder / name / clip)
                labels.append(
                    {
                        "set": name,
                        "edited": f"{name}/{clip}",
                        "original": f"{name}/c0_{talker}.wav",
                        "talker": talker,
                        "condition": condition,
                        **{ours: round(float(row[theirs]), 4) for ours, theirs in COLUMNS.items()},
                        "n_votes": int(row["n votes"]),
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
