"""Leaks: an original is known by its samples, and where nothing can be known the reason is said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import soundfile

from auditeval import audio, checkpoint_files
from auditeval.checkpoint_files import TRAINED_ON, TrainedOn
from auditeval.report import leaks
from auditeval.types import EditPair, UserError


def content(path: Path) -> str:
    return audio.content_hash(audio.decode(path))


@pytest.fixture
def trained(spectrum_checkpoint: Path, simulated: list[EditPair], tmp_path: Path) -> Path:
    """A checkpoint that was trained on the original of the first pair."""
    folder = Path(shutil.copytree(spectrum_checkpoint, tmp_path / "trained"))
    made = TrainedOn.of([content(simulated[0].original)], [content(simulated[-1].original)])
    (folder / TRAINED_ON).write_text(made.model_dump_json())
    return folder


@pytest.fixture
def table(trained: Path, tmp_path: Path) -> Path:
    """The path of a scores table that this checkpoint made."""
    path = tmp_path / "scores.csv"
    describe(path, checkpoint=str(trained), checkpoint_sha256=checkpoint_files.digest(trained))
    return path


def describe(table: Path, **record: Any) -> None:
    table.with_name(f"{table.name}.json").write_text(json.dumps(record))


def test_a_copy_of_another_name_and_format_is_known(
    trained: Path, simulated: list[EditPair], tmp_path: Path
) -> None:
    samples, rate_hz = soundfile.read(simulated[0].original, dtype="int16")
    copy, louder = tmp_path / "take 2.flac", tmp_path / "louder.wav"
    soundfile.write(copy, samples, rate_hz, subtype="PCM_16")
    soundfile.write(louder, (samples * 1.1).astype("int16"), rate_hz, subtype="PCM_16")
    first, last = simulated[0], simulated[-1]
    other = next(p for p in simulated if p.original not in (first.original, last.original))
    pairs = [
        first.model_copy(update={"id": "copied", "original": copy}),
        first.model_copy(update={"id": "louder", "original": louder}),
        other.model_copy(update={"id": "other"}),
        last.model_copy(update={"id": "chose"}),
        first.model_copy(update={"id": "not scored"}),
    ]
    seen = checkpoint_files.read_trained_on(trained)
    assert seen is not None
    scored = ["copied", "louder", "other", "chose", "of another manifest"]
    (found,) = leaks.find(pairs, {"mine": scored}, {"mine": seen})
    assert found == ("mine", 4, ["copied"], ["chose"], [], "")


def test_nothing_is_decoded_where_nothing_can_be_known(simulated: list[EditPair]) -> None:
    gone = [simulated[0].model_copy(update={"original": Path("gone.wav")})]
    (found,) = leaks.find(gone, {"mine": [gone[0].id]}, {"mine": "no list"})
    assert found == ("mine", 1, [], [], [], "no list")
    assert leaks.sentences(found) == [
        "Leaks: whether mine was trained on these pairs is not known: no list."
    ]


def test_the_sidecar_leads_to_the_checkpoint(
    table: Path, trained: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    expected = checkpoint_files.read_trained_on(trained)
    assert leaks.trained_on(table) == expected
    sha256 = checkpoint_files.digest(trained)
    describe(table, checkpoint="trained", checkpoint_sha256=sha256)  # from the table's folder
    assert leaks.trained_on(table) == expected
    (tmp_path / "elsewhere").mkdir()
    shutil.move(trained, tmp_path / "elsewhere" / "trained")
    assert "trained" in str(leaks.trained_on(table))
    monkeypatch.chdir(tmp_path / "elsewhere")  # from the working directory
    assert leaks.trained_on(table) == expected


def test_the_checkpoint_that_ships_and_one_of_the_hub_are_found(
    table: Path, trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def find(named: str | None, **options: Any) -> Path:
        asked.append((named, options))
        return trained

    monkeypatch.setattr(checkpoint_files, "find", find)
    for named in (None, "lab/evaluator"):
        describe(table, checkpoint=named, checkpoint_sha256=checkpoint_files.digest(trained))
        assert isinstance(leaks.trained_on(table), TrainedOn)
        assert asked[-1] == (named, {"local_files_only": True})


def unknown(table: Path) -> str:
    found = leaks.trained_on(table)
    assert isinstance(found, str)
    assert "\n" not in found
    return found


def test_what_cannot_be_known_says_why(
    table: Path, trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sha256 = checkpoint_files.digest(trained)
    assert "other.csv.json is not beside it" in unknown(tmp_path / "other.csv")
    describe(table, checkpoint_sha256=sha256)
    assert "scores.csv.json does not name its checkpoint" in unknown(table)
    table.with_name("scores.csv.json").write_text("[")
    assert "scores.csv.json does not name its checkpoint" in unknown(table)
    describe(table, evaluator="theirs", results="theirs.jsonl", results_sha256=sha256)
    assert unknown(table) == "theirs.jsonl does not say what its model was trained on"
    describe(table, checkpoint=str(tmp_path / "gone"), checkpoint_sha256=sha256)
    assert "gone: is no checkpoint" in unknown(table)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    describe(table, checkpoint="nobody/nothing", checkpoint_sha256=sha256)
    assert "nobody/nothing: no such folder" in unknown(table)
    describe(table, checkpoint=None, checkpoint_sha256=sha256)
    assert "the checkpoint that ships is not the checkpoint that made it any more" in unknown(table)

    describe(table, checkpoint=str(trained), checkpoint_sha256=sha256)
    (trained / TRAINED_ON).write_text('{"train": 3}')
    assert f"{TRAINED_ON}: is no list of originals" in unknown(table)
    (trained / TRAINED_ON).unlink()
    assert "keeps no list of its originals" in unknown(table)


def test_another_checkpoint_is_not_believed(table: Path, trained: Path) -> None:
    config = trained / checkpoint_files.CONFIG
    config.write_text(config.read_text() + "\n")  # trained anew in the same folder
    assert "is not the checkpoint that made it any more" in unknown(table)
    with pytest.raises(UserError, match=r"is not the checkpoint that made .*scores\.csv"):
        leaks.trained_on(table, str(trained))


def test_a_list_of_ids_is_cut_in_the_sentence_only() -> None:
    names = [f"p{i}" for i in range(1200)]
    found = leaks.Leaks("mine", 1600, names, ["v1"], ["u1", "u2"])
    assert leaks.sentences(found) == [
        "LEAK: mine was trained on the originals of 1,200 of 1,600 pairs (75.0 %): "
        "p0, p1, p2, p3, p4 and 1,195 more.",
        "LEAK: mine was chosen or calibrated by the originals of 1 of 1,600 pairs (0.1 %): v1.",
        "Leaks: the original cannot be read in 2 of 1,600 pairs (0.1 %): u1, u2.",
    ]
    none = leaks.Leaks("mine", 10, [], [], ["u1"])
    assert leaks.sentences(none)[0] == "Leaks: mine knows the original of none of 9 pairs."
