"""The pages of the site that do not lie in docs/: a hook of mkdocs.

Files that people read in the repository (README, recipes, their results) become pages as they
are, under the paths that they have there, and each room of the package has a page that is made
from its docstrings. So nothing is written twice.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel

ROOT = Path(__file__).parents[1]
READ = ("*.md", "docs/*.md", "checkpoints/*/README.md", "recipes/*/README.md")
# What those link to.
LINKED = (
    "recipes/*/history.md",
    "recipes/**/results/*.md",
    "recipes/**/*.png",
    "tests/performance/results/*.md",
    "tests/references/*.md",
)
# The rooms whose names people import.
ROOMS = (
    *("metrics", "data_quality", "features", "models", "backends", "judges", "benchmarks"),
    "training/evaluation",
)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The section of the API, behind those of mkdocs.yml."""
    pages = [_page(room) for room in ("auditeval", *ROOMS)]
    assert config.nav is not None
    config.nav.append({"Python API": pages})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Every page under its path in the repository."""
    for file in list(files):
        if file.src_dir == config.docs_dir:
            files.remove(file)
    for pattern in (*READ, *LINKED):
        for path in sorted(ROOT.glob(pattern)):
            name = path.relative_to(ROOT).as_posix()
            file = File.generated(config, name, abs_src_path=str(path))
            if pattern in LINKED:
                file.inclusion = InclusionLevel.NOT_IN_NAV
            files.append(file)
    files.append(File.generated(config, _page("auditeval"), content=_names()))
    for room in ROOMS:
        files.append(File.generated(config, _page(room), content=_room(room)))
    return files


def _page(room: str) -> str:
    return f"docs/api/{room.replace('/', '.')}.md"


def _names() -> str:
    """What `import auditeval` gives, and where it is defined."""
    objects = (
        *("scoring.load", "scoring.Evaluator", "types.EditPair", "types.Scores"),
        *("benchmarking.bench", "benchmarking.BenchmarkReport", "explaining.explain"),
    )
    return "# auditeval\n\n" + "\n\n".join(f"::: auditeval.{name}" for name in objects)


def _room(room: str) -> str:
    """The modules of one room, each by its docstrings."""
    names = []
    for path in sorted((ROOT / "auditeval" / room).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[-1] != "__init__":
            names.append(".".join(parts))
    return f"# auditeval.{room.replace('/', '.')}\n\n" + "\n\n".join(
        f"::: {name}" for name in names
    )


class Examples(griffe.Extension):
    """Doctests are code; to Markdown alone `>>>` would be a quotation."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            examples = r"(?m)^>>> .*\n?(?:^(?!\s*$).*\n?)*"
            obj.docstring.value = re.sub(
                examples, lambda m: f"```python\n{m[0].rstrip()}\n```\n", obj.docstring.value
            )
