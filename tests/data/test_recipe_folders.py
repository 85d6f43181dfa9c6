"""The scripts beside recipes that make their folders of what is published, on miniatures of it."""

from __future__ import annotations

import runpy
import zipfile
from pathlib import Path
from typing import Any

from auditeval.data.importers import import_p835
from auditeval.data.recordings import CLASS, read_recordings
from auditeval.data.simulation.vocabulary import spelled

RECIPES = Path(__file__).parents[2] / "recipes"


def script(name: str) -> dict[str, Any]:
    return runpy.run_path(str(RECIPES / name))


MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
HEADS = (
    *("short_file_name", "n votes", "MOS_BAK", "std_bak", "MOS_SIG", "std_sig"),
    *("MOS_OVRL", "std_ovrl"),
)


def workbook(path: Path, sheets: dict[str, list[tuple[str, ...]]]) -> None:
    """Its sheets in Excel's form: words of the first row and column stand in a table of words."""
    words: list[str] = []
    with zipfile.ZipFile(path, "w") as file:
        named, related = "", ""
        for number, (name, rows) in enumerate(sheets.items(), 1):
            named += f'<sheet name="{name}" r:id="r{number}"/>'
            related += f'<Relationship Id="r{number}" Target="worksheets/sheet{number}.xml"/>'
            text = ""
            for row, cells in enumerate([HEADS, *rows], 1):
                text += "<row>"
                for column, cell in enumerate(cells):
                    at = f"{chr(65 + column)}{row}"
                    if row == 1 or column == 0:
                        text += f'<c r="{at}" t="s"><v>{len(words)}</v></c>'
                        words.append(cell)
                    else:
                        text += f'<c r="{at}"><v>{cell}</v></c>'
                text += "</row>"
            file.writestr(
                f"xl/worksheets/sheet{number}.xml", f"<worksheet {MAIN}>{text}</worksheet>"
            )
        file.writestr(
            "xl/workbook.xml", f'<workbook {MAIN} xmlns:r="{RELATIONS}">{named}</workbook>'
        )
        file.writestr("xl/_rels/workbook.xml.rels", f"<Relationships>{related}</Relationships>")
        table = "".join(f"<si><t>{word}</t></si>" for word in words)
        file.writestr("xl/sharedStrings.xml", f"<sst {MAIN}>{table}</sst>")


def test_the_reference_conditions_of_p808_become_labels(tmp_path: Path) -> None:
    conditions = tmp_path / "P.808" / "p835_reference_conditions"
    rated = ("6", "4.5", "0.5", "4.66666666666", "0.51639777949", "4.0", "0.0")
    rows = [(f"c{c}_{talker}.wav", *rated) for c in (0, 12) for talker in ("m1", "m3")]
    for folder in ("degraded_fullband_48KHz", "degraded_WB_16KHz"):
        (conditions / folder).mkdir(parents=True)
        for name, *_ in rows:
            (conditions / folder / name).write_bytes(folder.encode())
    names = ("Fullband-results per file", "16KHzWB-results per file")
    workbook(conditions / "CSP835_Ref_Conditions.xlsx", dict.fromkeys(names, rows))
    made = tmp_path / "p835"
    assert script("train_p835/labels.py")["made"](tmp_path / "P.808", made) == 4  # m3 left out
    pairs = import_p835(made)
    assert [pair.id for pair in pairs] == ["fb_c0_m1", "fb_c12_m1", "wb_c0_m1", "wb_c12_m1"]
    assert pairs[3].original == made / "wb" / "c0_m1.wav"
    assert pairs[3].ratings == {"quality": 4.0, "faithfulness": 4.6667}
    assert (made / "wb" / "c12_m1.wav").read_bytes() == b"degraded_WB_16KHz"


def test_esc10_of_esc50_has_names_of_ours(tmp_path: Path) -> None:
    esc50, classes = tmp_path / "ESC-50", script("filter_mixed/esc10.py")["CLASSES"]
    lines = ["filename,fold,target,category,esc10,src_file,take"]
    for number, name in enumerate([*classes, "pig"]):
        lines.append(f"1-7{number}-A-{number}.wav,1,{number},{name},{name != 'pig'},7{number},A")
    (esc50 / "meta").mkdir(parents=True)
    (esc50 / "audio").mkdir()
    (esc50 / "meta" / "esc50.csv").write_text("\n".join(lines))
    for line in lines[1:]:
        (esc50 / "audio" / line.split(",")[0]).write_bytes(b"RIFF")
    made = tmp_path / "esc10"
    assert script("filter_mixed/esc10.py")["made"](esc50, made) == 10
    found = read_recordings(made)
    assert {spelled(recording.labels[CLASS]) for recording in found} >= {"dog_bark", "sneeze"}
    assert (made / "labels.csv").read_text().splitlines()[:2] == [
        "file,label,fold,freesound_id",
        "dog_bark/1-70-A.wav,dog bark,1,70",
    ]
