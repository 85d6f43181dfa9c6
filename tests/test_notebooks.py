"""The notebooks: they run on the shipped weights, and what is in git is fit to be read."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
MACHINE = re.compile(
    r"/(?:home|root|tmp|work|Users|private|var|opt|usr)/|[A-Z]:\\\\|/site-packages/"
)


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def code(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_there_are_two() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["choose_filtering_threshold", "score_one_edit"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_in_git_was_run_in_order_and_defines_nothing(path: Path) -> None:
    cells = code(read(path))
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert any(output for cell in cells for output in cell["outputs"])
    assert not [o for cell in cells for o in cell["outputs"] if o["output_type"] == "error"]
    for cell in cells:
        kinds = {type(node) for node in ast.walk(ast.parse("".join(cell["source"])))}
        assert not kinds & {ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda}
    text = re.sub(r'"image/png": "[^"]*"', "", path.read_text(encoding="utf-8"))
    assert not MACHINE.findall(text)
    assert path.stat().st_size < 700_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient")
    import nbformat

    root = str(Path(__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", root)
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = nbclient.NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()  # raises CellExecutionError with the cell that failed
    before, after = ([len(cell["outputs"]) > 0 for cell in code(n)] for n in (read(path), notebook))
    assert before == after
