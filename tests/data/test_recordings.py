"""Lists of recordings: a table and a folder, in one order, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from auditeval.audio import files
from auditeval.audio.waveform import quantised
from auditeval.data.recordings import decoded, digest, read_recordings
from auditeval.types import UserError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b/2.wav", "a/1.wav", "a/3.flac"):
        clip = 0.1 * np.random.default_rng(len(name)).standard_normal(1600)
        files.write(tmp_path / name, quantised(clip), 8000)
    (tmp_path / "a/notes.txt").write_text("no audio")
    return tmp_path


def test_a_folder_gives_its_folders_as_classes_and_a_table_says_the_same(folder: Path) -> None:
    found = read_recordings(folder, ["class"])
    assert [(r.name, r.labels["class"]) for r in found] == [
        ("a/1.wav", "a"),
        ("a/3.flac", "a"),
        ("b/2.wav", "b"),
    ]
    table = folder / "list.csv"
    table.write_text("class,path\nb,b/2.wav\na,a/3.flac\na,a/1.wav\n")
    assert read_recordings(table, ["class"]) == found
    assert digest(read_recordings(table)) == digest(found)


def test_a_folder_is_read_through_links_and_without_what_is_hidden(folder: Path) -> None:
    before = [recording.name for recording in read_recordings(folder)]
    hidden = ("a/._1.wav", ".trash/4.wav", "a/.DS_Store")
    for name in hidden:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"none")
    (folder / "a" / "folder.wav").mkdir()
    assert [recording.name for recording in read_recordings(folder)] == before
    linked = folder / "linked"
    linked.mkdir()
    (linked / "a").symlink_to(folder / "a", target_is_directory=True)
    (linked / "a" / "back").symlink_to(linked, target_is_directory=True)
    (linked / "5.wav").symlink_to("/nowhere/5.wav")  # told when it is read
    found = read_recordings(linked, ["class"])
    assert [(r.name, r.labels["class"]) for r in found] == [
        ("5.wav", "linked"),
        ("a/1.wav", "a"),
        ("a/3.flac", "a"),
    ]


def test_the_digest_changes_with_a_label_a_name_and_a_file(folder: Path) -> None:
    before = digest(read_recordings(folder))
    table = folder / "list.csv"
    table.write_text("class,path\nb,b/2.wav\na,a/3.flac\nc,a/1.wav\n")
    assert digest(read_recordings(table)) != before
    with (folder / "a/1.wav").open("ab") as file:
        file.write(b"more")
    assert digest(read_recordings(folder)) != before


def test_the_digest_sees_other_bytes_of_the_same_length(folder: Path) -> None:
    before = digest(read_recordings(folder))
    path = folder / "a/1.wav"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert digest(read_recordings(folder)) != before
    (folder / "same").mkdir()
    with pytest.raises(UserError, match="Is a directory"):
        digest([read_recordings(folder)[0]._replace(path=folder / "same")])


def test_a_recording_comes_at_the_rate_asked_for(folder: Path) -> None:
    first = read_recordings(folder)[0]
    assert len(decoded(first, 16000).samples) == 2 * len(decoded(first, 8000).samples) == 3200
    assert decoded(first, 16000).sha256 == decoded(first, 8000).sha256


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("path\na/1.wav\n", ":1: expected the columns path, text"),
        ("path,text\na/1.wav\n", ":2: expected 2 cells"),
        ("path,text\na/1.wav,x,y\n", ":2: expected 2 cells"),
        ("path,text\na/1.wav, \n", ":2: text is empty"),
        ("path,text\na/1.wav,x\na/1.wav,y\n", ":3: a/1.wav stands twice"),
        ("path,text\n", "has a header and no rows"),
        ("", ":1: expected the columns"),
    ],
)
def test_a_table_that_is_wrong_is_one_sentence(folder: Path, text: str, named: str) -> None:
    table = folder / "list.csv"
    table.write_text(text)
    with pytest.raises(UserError, match=f"list.csv:? ?.*{named}"):
        read_recordings(table, ["text"])


def test_files_that_are_not_there_or_no_audio_are_one_sentence(folder: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        read_recordings(folder / "absent.csv")
    (folder / "empty").mkdir()
    with pytest.raises(UserError, match="holds no audio"):
        read_recordings(folder / "empty")
    with pytest.raises(UserError, match="a folder does not tell text"):
        read_recordings(folder, ["text", "class"])
    with pytest.raises(UserError, match=r"1.wav: expected a folder of recordings or a CSV"):
        read_recordings(folder / "a/1.wav")
    (folder / "a/1.wav").write_bytes(b"RIFF")
    with pytest.raises(UserError, match=r"a/1.wav: cannot be decoded"):
        decoded(read_recordings(folder)[0], 8000)
