"""Examples in docstrings: each says what it says, and every public function of metrics has one."""

from __future__ import annotations

import ast
import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted(
    path for path in (ROOT / "auditeval").rglob("*.py") if ">>> " in path.read_text("utf-8")
)
METRICS = sorted((ROOT / "auditeval" / "metrics").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_examples_are_true(path: Path) -> None:
    if path.name == "signal.py":
        pytest.importorskip("pesq")
    parts = path.relative_to(ROOT).with_suffix("").parts
    module = import_module(".".join(parts).removesuffix(".__init__"))
    failed, tried = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert tried > 0
    assert failed == 0  # what was expected and got is printed


def test_every_function_of_metrics_has_an_example() -> None:
    lacking = {
        node.name
        for path in METRICS
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef)
        and not node.name.startswith("_")
        and ">>> " not in (ast.get_docstring(node) or "")
    }
    assert lacking == set()
