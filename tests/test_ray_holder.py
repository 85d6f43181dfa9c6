"""What a process of a cluster makes of a disk or server that fails: another node may read it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from auditeval import manifest, manifest_blocks, ray_holder
from auditeval.manifest_blocks import ManifestBlock
from auditeval.ray_holder import Holder
from auditeval.types import EditPair, UserError
from auditeval.version import __version__


class Ids:
    """Those of the pairs; what it lacks is put back before the try of that number."""

    def __init__(self, path: Path, back: int = 0) -> None:
        self._path, self._back, self.tries = path, back, 0
        self._content = path.read_bytes()

    def __call__(self, block: ManifestBlock, failed: Mapping[int, str]) -> Iterator[str]:
        self.tries += 1
        if self.tries == self._back:
            self._path.write_bytes(self._content)
        for pair in manifest_blocks.read(self._path, block):
            yield pair.id


@pytest.fixture
def pairs(
    simulated: list[EditPair], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, ManifestBlock]:
    """A manifest and its one block; to wait between tries takes no time."""
    monkeypatch.setattr(ray_holder, "_PAUSES_SECONDS", (0.0, 0.0))
    here = SimpleNamespace(get_node_id=lambda: "node")
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(get_runtime_context=lambda: here))  # type: ignore[arg-type]
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "pairs.jsonl"
    manifest.write(simulated[:2], path)
    return path, next(manifest_blocks.cut(path, 2, 2))


def opened(worker: Ids, folder: Path) -> Holder:
    holder = Holder()
    holder.open(lambda: worker, str(folder), __version__)
    return holder


def test_a_manifest_that_a_node_cannot_read_is_its_disk(
    pairs: tuple[Path, ManifestBlock], tmp_path: Path
) -> None:
    """It was the user's mistake, and one node of a hundred ended the command."""
    path, block = pairs
    worker = Ids(path)
    holder = opened(worker, tmp_path)
    path.unlink()
    with pytest.raises(
        OSError, match=r"pairs.jsonl: cannot be read \(No such file or directory\)$"
    ):
        holder.do(block, {})
    assert worker.tries == 3


def test_one_that_is_back_a_moment_later_is_read(
    pairs: tuple[Path, ManifestBlock], tmp_path: Path
) -> None:
    path, block = pairs
    holder = opened(Ids(path, back=3), tmp_path)
    path.unlink()
    assert holder.do(block, {}) == ([], [pair.id for pair in manifest.iterate(path)])


def test_a_checkpoint_that_a_node_cannot_read_is_its_disk(
    pairs: tuple[Path, ManifestBlock], tmp_path: Path
) -> None:
    def start() -> Ids:
        try:
            return Ids(tmp_path / "model.safetensors")
        except OSError as error:
            raise UserError(f"model.safetensors: cannot be read ({error.strerror})") from None

    with pytest.raises(OSError, match=r"^model.safetensors: cannot be read \(No such"):
        Holder().open(start, str(tmp_path), __version__)


def test_a_row_that_is_wrong_is_nobodys_disk(
    pairs: tuple[Path, ManifestBlock], tmp_path: Path
) -> None:
    """On no node it is better, so it is told at once."""
    path, block = pairs
    worker = Ids(path)
    holder = opened(worker, tmp_path)
    path.write_text('{"id": 1}\n')
    with pytest.raises(UserError, match=r"pairs.jsonl:1: "):
        holder.do(block, {})
    assert worker.tries == 1
