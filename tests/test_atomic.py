"""A file or folder is whole or not there, whoever fails or writes beside."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from auditeval.atomic import new_folder, replacing


def test_a_failed_writer_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def fail() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half of the n")
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_nobody_sees_the_new_file_before_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "file"
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"


def test_writers_in_threads_do_not_mix_their_bytes(tmp_path: Path) -> None:
    path = tmp_path / "file"

    def write(letter: str) -> None:
        for _ in range(20):
            with replacing(path) as temporary, temporary.open("w") as file:
                for _ in range(10):
                    file.write(letter * 1000)
                    file.flush()
            assert len(set(path.read_text())) == 1

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, "abcd"))
    assert len(path.read_text()) == 10_000
    assert list(tmp_path.iterdir()) == [path]


def contents(folder: Path) -> dict[str, str]:
    return {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*")
            if p.is_file()}  # fmt: skip


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_failed_writer_leaves_the_old_folder_and_nothing_else(
    tmp_path: Path, error: type[BaseException]
) -> None:
    path = tmp_path / "folder"
    (path / "deep").mkdir(parents=True)
    (path / "deep" / "file").write_text("old")

    def fail() -> None:
        with new_folder(path) as temporary:
            (temporary / "other").write_text("half of the n")
            assert contents(path) == {"deep/file": "old"}
            raise error("killed")

    with pytest.raises(error, match="killed"):
        fail()
    assert contents(path) == {"deep/file": "old"}
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_first_writer_leaves_no_folder(tmp_path: Path) -> None:
    def fail() -> None:
        with new_folder(tmp_path / "folder") as temporary:
            (temporary / "file").write_text("half of the n")
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_a_new_folder_replaces_the_old_one_whole(tmp_path: Path) -> None:
    path = tmp_path / "new parent" / "folder"
    for text, names in (("old", ("one", "two")), ("new", ("two", "three"))):
        with new_folder(path) as temporary:
            for name in names:
                (temporary / name).write_text(text)
            assert text not in contents(path).values()
        assert contents(path) == dict.fromkeys(names, text)
    assert list(path.parent.iterdir()) == [path]
