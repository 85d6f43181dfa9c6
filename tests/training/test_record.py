"""What run.json holds of the clips that a run heard."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from auditeval.training import record
from auditeval.types import EditPair, UserError


def pair(id: str, caption: str = "A dog.") -> EditPair:
    return EditPair(
        id=id,
        original=Path("a.wav"),
        edited=Path(f"{id}.wav"),
        original_caption="Rain.",
        target_caption=caption,
    )


PAIRS = [pair("1"), pair("2")]
HEARD = {Path("a.wav"): "a", Path("1.wav"): "b", Path("2.wav"): "c"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "run.json").write_text('{"manifest": "pairs.jsonl", "seed": 1}')
    return tmp_path


@pytest.mark.parametrize("overwritten", HEARD)
def test_a_run_whose_clips_were_overwritten_is_refused(folder: Path, overwritten: Path) -> None:
    record.hear(folder, PAIRS, {}, HEARD)
    record.hear(folder, PAIRS, {}, {**HEARD, Path("of another manifest.wav"): "d"})
    assert json.loads((folder / "run.json").read_text())["seed"] == 1
    before = (folder / "run.json").read_bytes()
    with pytest.raises(UserError, match=r"was made of other clips than pairs\.jsonl has now"):
        record.hear(folder, PAIRS, {}, {**HEARD, overwritten: "other"})
    assert (folder / "run.json").read_bytes() == before


def test_answers_to_other_pairs_of_a_test_are_deleted(folder: Path) -> None:
    fold = folder / "model" / "holdout"
    fold.mkdir(parents=True)
    own, kept = fold / "predictions.json", fold / "predictions-t.json"
    changed = fold / "predictions-[t].json"  # a name that a pattern would read otherwise

    def left(tests: dict[str, list[EditPair]]) -> list[Path]:
        for path in (own, kept, changed):
            path.touch()
        record.hear(folder, PAIRS, tests, HEARD)
        return [path for path in (own, kept, changed) if path.exists()]

    assert left({"t": PAIRS, "[t]": PAIRS}) == [own, kept, changed]
    assert left({"t": PAIRS, "[t]": [pair("1"), pair("2", "A cat.")]}) == [own, kept]
    assert left({"t": PAIRS}) == [own, kept, changed]  # not asked now, so not answered either
    assert left({"t": PAIRS, "[t]": PAIRS}) == [own, kept]
