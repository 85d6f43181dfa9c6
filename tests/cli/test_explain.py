"""`auditeval explain`: one pair or a row of a manifest, two files, clear refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from auditeval.types import EditPair


def test_one_pair_and_a_row_of_a_manifest_are_explained_alike(
    cli: Any, spectrum_checkpoint: Path, good: list[EditPair], pairs_path: Path, tmp_path: Path
) -> None:
    pair, common = good[1], ("-c", spectrum_checkpoint, "--device", "cpu")
    ended = cli("explain", pairs_path, "--id", pair.id, "-o", tmp_path / "row", *common)
    assert (ended.status, ended.err) == (0, "")
    assert [line.split()[0] for line in ended.out.splitlines()[:4]] == [
        *("quality", "relevance", "faithfulness", "change"),
    ]
    direct = cli(
        *("explain", "--original", pair.original, "--edited", pair.edited),
        *("--original-caption", pair.original_caption, "--target-caption", pair.target_caption),
        *("-o", tmp_path / "pair", *common),
    )
    assert direct.out.splitlines()[:4] == ended.out.splitlines()[:4]
    row, one = (
        json.loads((tmp_path / name / "explanation.json").read_text()) for name in ("row", "pair")
    )
    assert (row.pop("id"), one.pop("id")) == (pair.id, "pair")
    assert row == one
    assert (tmp_path / "row" / "explanation.png").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give either a MANIFEST with --id, or --original and --edited"),
        (("{pairs}",), "a MANIFEST needs --id"),
        (("{pairs}", "--id", "nobody"), "has no pair with the id 'nobody'"),
        (("none.jsonl", "--id", "1"), "none.jsonl: no such manifest"),
        (("--original", "a.wav"), "one pair needs both --original and --edited"),
        (("{pairs}", "--id", "1", "--edited", "a.wav"), "give either a MANIFEST"),
        (
            ("--original", "a.wav", "--edited", "b.wav", "--id", "1"),
            "--id is the pair of a MANIFEST",
        ),
    ],
)
def test_a_mistake_is_one_sentence(
    cli: Any, pairs_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    ended = cli("explain", *(x.format(pairs=pairs_path) for x in arguments))
    assert ended.status == 2
    assert said in ended.sentence


def test_a_folder_that_cannot_be_made_is_one_sentence(
    cli: Any, spectrum_checkpoint: Path, good: list[EditPair], pairs_path: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "why"
    where = ("-c", spectrum_checkpoint, "--device", "cpu", "-o", folder)
    ended = cli("explain", pairs_path, "--id", good[1].id, *where)
    assert ended.status == 2
    assert f"{folder}: cannot be written" in ended.sentence
