"""What a manifest's rows and columns are told where a newcomer's do not fit."""

from __future__ import annotations

from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from auditeval import manifest
from auditeval.types import UserError

CLIPS = {"id": "a", "original": "a.wav", "edited": "b.wav"}
ROW = {**CLIPS, "original_caption": "", "target_caption": "", "instruction": "Add rain."}
EMPTY = "original_caption: is missing; it may be empty where there is an instruction"


def test_a_manifest_of_instructions_is_told_that_captions_may_be_empty(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,original,edited,instruction\na,b,c,d\n")
    with pytest.raises(UserError, match=rf"a\.csv:1: {EMPTY}; the columns are 'id', 'original'"):
        manifest.read(tmp_path / "a.csv")
    (tmp_path / "a.jsonl").write_text('{"id": "a", "original": "b", "edited": "c"}')
    with pytest.raises(UserError, match=rf"a\.jsonl:1: {EMPTY}$"):
        manifest.read(tmp_path / "a.jsonl")


def test_a_clip_in_no_store_is_named_with_its_line(tmp_path: Path) -> None:
    names = ",".join(ROW)
    (tmp_path / "a.csv").write_text(f"{names}\na,b,c,,,d\nb,b,https://x.org/c.wav,,,d\n")
    with pytest.raises(UserError, match=r"a\.csv:3: https://x\.org/c\.wav: no such storage"):
        manifest.read(tmp_path / "a.csv")


@pytest.mark.parametrize(("column", "value"), [("ratings.quality", 4.0), ("raters.quality", "3;4")])
def test_a_column_of_csv_in_parquet_is_told_to_be_a_struct(
    column: str, value: object, tmp_path: Path
) -> None:
    pyarrow.parquet.write_table(
        pyarrow.Table.from_pylist([{**ROW, column: value}]), tmp_path / "a.parquet"
    )
    group = column.partition(".")[0]
    with pytest.raises(UserError, match=rf"in Parquet {group} is a struct with quality"):
        manifest.read(tmp_path / "a.parquet")
