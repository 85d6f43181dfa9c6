"""Blocks of a manifest: together they are the manifest, each read from its own beginning."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet
import pytest

from auditeval import manifest, manifest_blocks
from auditeval.types import EditPair, UserError


def pairs_of(folder: Path, count: int) -> list[EditPair]:
    """Pairs whose captions have line breaks, quotes and letters of several bytes."""
    words = ("Rain.", "Ein Käuzchen\nruft.", 'He says "stop", twice.', "", "雨が降る。")
    return [
        EditPair(
            id=f"ü{number}",
            original=folder / "a.wav",
            edited=folder / f"{number}.wav",
            original_caption=words[number % 5],
            target_caption=words[number % 3],
            ratings={"quality": 1 + number % 5} if number % 2 else {},
        )
        for number in range(count)
    ]


def untidy(path: Path) -> None:
    """Empty lines between rows, and a mark of UTF-8 before the first."""
    lines = path.read_bytes().split(b"\n")
    if path.suffix == ".jsonl":
        path.write_bytes(b"\n\n  \n".join(lines))
    elif path.suffix == ".csv":
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\nrow", b"\n\n\nrow"))


@pytest.mark.parametrize("tidy", [True, False])
@pytest.mark.parametrize("suffix", manifest.SUFFIXES)
def test_blocks_are_the_manifest(tmp_path: Path, suffix: str, tidy: bool) -> None:
    path = tmp_path / f"pairs{suffix}"
    whole = pairs_of(tmp_path, 23)
    manifest.write(whole, path)
    if suffix == ".parquet":  # groups of rows that no block begins with
        table = pyarrow.parquet.read_table(path)
        pyarrow.parquet.write_table(table, path, row_group_size=5 if tidy else 9)
    elif not tidy:
        untidy(path)
    assert list(manifest.iterate(path)) == whole
    for rows in (1, 4, 23, 40):
        blocks = list(manifest_blocks.cut(path, 23, rows))
        assert [number for block in blocks for number in block.numbers()] == list(range(23))
        read = [list(manifest_blocks.read(path, block)) for block in reversed(blocks)]
        assert [pair for part in reversed(read) for pair in part] == whole


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_a_row_that_is_wrong_is_named_by_its_line_in_the_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"pairs{suffix}"
    manifest.write(pairs_of(tmp_path, 15), path)
    blocks = list(manifest_blocks.cut(path, 15, 4))
    assert path.read_bytes().count(b"5.0") == 1  # the rating of the tenth row
    path.write_bytes(path.read_bytes().replace(b"5.0", b"6.0"))
    with pytest.raises(UserError) as told_of_all:
        list(manifest.iterate(path))
    said = []
    for block in blocks:
        try:
            list(manifest_blocks.read(path, block))
        except UserError as error:
            said.append(str(error))
    assert said == [str(told_of_all.value)]
    assert f"pairs{suffix}:" in said[0]


def test_a_manifest_that_became_shorter_is_told(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    manifest.write(pairs_of(tmp_path, 3), path)
    with pytest.raises(UserError, match="was changed while it was read"):
        list(manifest_blocks.cut(path, 9, 2))
