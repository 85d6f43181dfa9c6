"""Commands of the recipes' scripts and of the pages are such as the programs take.

Each block of bash in a page runs as it stands, in a folder that looks like a clone, and each script
that it calls. The programs of this project, and foreign ones, are one stub that notes its words and
does nothing; these are then held against parsers, configurations and files.
"""

from __future__ import annotations

import ast
import functools
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import pytest
import typer
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from readme_figures import ROOT, readmes

from auditeval.cli import app
from auditeval.filtering.recipe import read_recipe

BASH = shutil.which("bash")
REAL = ("bash", "cat", "dirname", "env", "grep", "mkdir", "paste", "sleep")
OWN = ("python", "auditeval", "pip", "mkdocs", "ruff", "mypy")
FOREIGN = (
    *("apt-get", "cp", "git", "head", "kubectl", "pre-commit", "ray", "sbatch", "scontrol"),
    *("split", "srun", "swift"),
)
# What comes to `-` is as good as what comes to `-c`; folders of outputs are made, a server stays.
STUB = """#!{bash} -p
[ "${{1-}}" != - ] || set -- -c "$(cat)" "${{@:2}}"
printf '%s\\0' "$#" "${{0##*/}}" "$@" >> "$CALLS"
for word; do
    [[ $before != -o || $word != */* ]] || mkdir -p "${{word%/*}}"
    before=$word
done
[[ " $* " != *" --port "* ]] || {{ echo serving; exec sleep 60; }}
"""
FOLDERS = ("DATA/neural_codecs", "DATA/pick_the_best", "DATA/processors", "DIR", "P835", "p835")
# What no page shows: it stands in the scripts' own words.
MORE = """
recipes/train_auditeval_llm/tiny.sh RUN
ABLATION=1 recipes/train_default/run.sh DATA WORK
CHECKPOINT=runs/NAME recipes/filter_mixed/run.sh CLIPS.csv WORK
recipes/listening_selection/run.sh P835 CODECS WORK
EPOCHS=3 recipes/listening_test/run.sh WORK
recipes/report/run.sh WORK
"""
COMMAND = "from auditeval.cli import main; main()"


class Called(NamedTuple):
    """A program by its name, and its words."""

    program: str
    words: tuple[str, ...]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder that holds what a clone does, by links, with stubs for every program."""
    if BASH is None:
        pytest.skip("no bash on this machine")
    clone = tmp_path / "clone"
    for folder in ("bin", ".venv/bin", ".ci", *FOLDERS):
        (clone / folder).mkdir(parents=True, exist_ok=True)
    shutil.copytree(ROOT / "recipes", clone / "recipes", copy_function=os.symlink)
    for name in ("tests", "train.py"):
        (clone / name).symlink_to(ROOT / name)
    stub = clone / "bin" / "stub"
    stub.write_text(STUB.format(bash=BASH))
    stub.chmod(0o755)
    named = (f"bin/{name}" for name in (*OWN, *FOREIGN))
    for name in (*named, *(f".venv/bin/{name}" for name in OWN), ".ci/run", "setup.sh"):
        (clone / name).symlink_to(stub)
    for name in REAL:
        (clone / "bin" / name).symlink_to(shutil.which(name) or name)
    (clone / ".venv" / "bin" / "activate").touch()
    # What greps through a file that no program made has status 2.
    (clone / "started").write_text('grep() { command grep "$@" 2> /dev/null || [ $? -eq 2 ]; }\n')
    return clone


def called(clone: Path, block: str) -> list[Called]:
    """What a block of bash calls, and what the scripts call that it calls."""
    calls = clone / "calls"
    calls.write_bytes(b"")
    made = subprocess.run(
        [BASH or "", "-e", "-o", "pipefail", "-c", block],
        cwd=clone,
        env={
            "PATH": str(clone / "bin"),
            "CALLS": str(calls),
            "BASH_ENV": str(clone / "started"),
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert made.returncode == 0, f"{block}\n{made.stderr}"
    words = iter(calls.read_text(encoding="utf-8").split("\0")[:-1])
    return [Called(next(words), tuple(next(words) for _ in range(int(n)))) for n in words]


def blocks(page: Path) -> list[str]:
    return re.findall(r"(?ms)^```bash\n(.*?)^```", page.read_text(encoding="utf-8"))


def check(call: Called, clone: Path) -> None:
    """Raises where the program would not take its words, or a file is not where they say."""
    program, words = call
    if program == "auditeval":
        parse(typer.main.get_command(app), words)
    elif program == "python" and words[0] == "train.py":
        composes(tuple(without_place(word) for word in words[1:]))
    elif program == "python" and words[:2] == ("-c", COMMAND):
        check(Called("auditeval", words[2:]), clone)
    elif program == "python" and words[0] == "-c":
        names_what_exists(words[1])
    elif program == "python" and words[0] == "-m":
        assert find_spec(words[1]), words[1]
    elif program == "python":
        parse_script(clone / words[0], words[1:])
    elif program == "pip":
        extras = re.findall(r"\[([\w,-]+)\]", " ".join(words))
        declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
        for extra in ",".join(extras).split(",") if extras else []:
            assert re.search(rf"(?m)^{extra} = \[", declared), extra
    elif program in FOREIGN:  # srun auditeval ...; sh -c 'cd /data && auditeval ...'
        inner = " ".join(words if "auditeval" in words else words[-1:])
        for rest in re.findall(r"(?:^|[\s;])auditeval (.*)", inner):
            check(Called("auditeval", tuple(shlex.split(rest))), clone)


def parse(command: Any, words: Sequence[str], parent: Any = None) -> None:
    """As the command would, without running it; raises its UsageError."""
    context = command.make_context(command.name, list(words), parent)
    if hasattr(command, "commands"):
        rest = [*context._protected_args, *context.args]
        _, inner, rest = command.resolve_command(context, rest)
        parse(inner, rest, context)
    elif recipe := context.params.get("recipe"):
        read_recipe(recipe)


def parse_script(path: Path, words: Sequence[str]) -> None:
    """Of a script that ends in `typer.run(main)`: only main's signature, imports take too long."""
    source = path.read_text(encoding="utf-8")
    if "typer.run(main)" not in source:
        assert "argparse" in source or not words, f"{path} takes no arguments, found {words}"
        return
    (main,) = (node for node in ast.parse(source).body if getattr(node, "name", "") == "main")
    assert isinstance(main, ast.FunctionDef)
    main.body = [ast.Pass(lineno=main.lineno, col_offset=0)]
    names = {"Annotated": Annotated, "Path": Path, "typer": typer, "__file__": str(path)}
    exec(compile(ast.Module([main], []), path, "exec"), names)
    script = typer.Typer(add_completion=False)
    script.command()(names["main"])  # type: ignore[type-var]
    parse(typer.main.get_command(script), words)


def without_place(override: str) -> str:
    """What two runs of one configuration differ by, one word for both: composing takes a while."""
    return re.sub(r"^(run_dir=).*|^(data\.unheard=\[)\w+,\w+|/[^,:}\]]*/", r"\1\2x", override)


@functools.cache
def composes(words: tuple[str, ...]) -> None:
    overrides = [word for word in words if word not in ("--cfg", "job")]
    with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
        config = compose("train", overrides)
    OmegaConf.to_container(config, resolve=True, throw_on_missing=True)


def names_what_exists(code: str) -> None:
    """Modules that a line of Python imports, and what it takes from them."""
    tree = ast.parse(code)
    imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    names: dict[str, Any] = {}
    exec(compile(ast.Module(imports, []), "<code>", "exec"), names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            assert node.value.id not in names or hasattr(names[node.value.id], node.attr), node.attr


def missing(calls: Sequence[Called], clone: Path) -> Iterator[str]:
    """Files that a page names in folders of the project and that are not there, nor made by it."""
    made: set[str] = set()
    for _, words in calls:
        for before, word in zip(("", *words), words, strict=False):
            name = os.path.relpath(word, clone) if word.startswith(f"{clone}/") else word
            if before in ("-o", "--output"):
                made.add(name)
            elif re.match(r"(checkpoints|configs|docs|notebooks|recipes|tests)/", name):
                if name not in made and "results" not in name and not (ROOT / name).exists():
                    yield name
            elif name.endswith(("constraints.txt", "no-deps.txt")) and not (ROOT / name).exists():
                yield name


def wrong(clone: Path, source: Sequence[str]) -> list[str]:
    """What is amiss with the commands of these blocks."""
    calls = [call for block in source for call in called(clone, block)]
    found = list(missing(calls, clone))
    for call in dict.fromkeys(calls):
        try:
            check(call, clone)
        except (Exception, SystemExit) as error:
            found.append(f"{call.program} {shlex.join(call.words)}: {error!r}")
    return found


PAGES = [page for page in readmes() if blocks(page)]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_commands_of_a_page_are_such_as_the_programs_take(page: Path, clone: Path) -> None:
    assert wrong(clone, blocks(page)) == []


@pytest.mark.parametrize("line", MORE.strip().splitlines())
def test_so_are_those_of_a_script_called_otherwise(line: str, clone: Path) -> None:
    assert wrong(clone, [line]) == []


def test_every_script_is_called_by_a_page_or_here() -> None:
    said = "\n".join([MORE, *(block for page in PAGES for block in blocks(page))])
    scripts = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("recipes/*/*.sh")}
    assert {script for script in scripts if script not in said} == set()


@pytest.mark.parametrize(
    "line",
    [
        "python recipes/listening_test/pairs.py WORK 2.5",
        "python recipes/listening_test/pairs.py WORK 2.5 four",
        "python recipes/listening_test/pears.py WORK 2.5 4",
        "python - <<< 'from auditeval.report import card; card.writes()'",
        "python -m auditeval.report.machines WORK",
        "python train.py data.simulation.scene=3",
        "python train.py experiment=no_such",
        "auditeval scores pairs.jsonl",
        "auditeval score pairs.jsonl --out scores.csv",
        "auditeval listen stats votes.db",
        "auditeval bench salmon",
        "auditeval filter a.jsonl a.csv --recipe recipes/filter/no_such.yaml -o kept.jsonl",
        "auditeval score pairs.jsonl -c checkpoints/no_such",
        "pip install '.[webs]'",
        "srun -- auditeval score pairs.jsonl --engines ray",
    ],
)
def test_a_wrong_command_is_told(line: str, clone: Path) -> None:
    assert wrong(clone, [line])
