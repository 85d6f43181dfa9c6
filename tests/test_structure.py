"""The shape of the house: import order, heavy imports, configurations, file lengths, --help."""

from __future__ import annotations

import ast
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hydra.utils import get_object
from omegaconf import OmegaConf

from auditeval.training import shape

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "auditeval"
CONFIGS = ROOT / "configs"

# A room may import those left of it. Rooms that share a place do not know each other.
ORDER = (
    ("types", "seed"),
    ("blocks", "storage"),
    ("suspects",),
    ("version", "reading", "targets", "text", "table"),
    ("progress",),
    ("digests",),
    ("atomic", "votes"),
    ("outputs", "entries", "manifest_columns"),
    ("manifest", "scores_table", "jsonl", "checkpoint_files"),
    ("manifest_blocks", "audio"),
    ("scores_log",),
    ("scoring_blocks",),
    ("manifest_scoring",),
    ("ray_holder",),
    ("ray_engine",),
    ("pretrained",),
    ("data",),
    ("features",),
    ("backends",),
    ("models",),
    ("metrics",),
    ("data_quality",),
    ("judges",),
    ("checkpoint_upgrade",),
    ("checkpoint",),
    ("scoring",),
    ("explaining",),
    ("filtering",),
    ("benchmarks",),
    ("report", "player"),
    ("benchmarking", "listening"),
    ("pages",),
    ("training",),
    ("cli",),
)
PLACE = {room: place for place, rooms in enumerate(ORDER) for room in rooms}

# Where a library may be imported, as paths relative to the package.
HOMES = {
    "lightning": ("training/",),
    "pytorch_lightning": ("training/",),
    "wandb": ("training/",),
    "soundfile": ("audio/files.py",),
    "soxr": ("audio/waveform.py",),
    "onnxruntime": ("pretrained/onnx.py",),
    "ray": ("ray_engine.py", "ray_holder.py"),
    "fsspec": ("storage/",),
    "obstore": ("storage/buckets.py",),
}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def imported(source: str, package: str) -> Iterator[str]:
    """Full names that a module of `package` imports, wherever in the file, type checks too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parents, *([base] if base else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def wrong_imports(source: str, relative: str) -> list[str]:
    """Imports of `relative` ("data/splits.py") that point to the right or away from home."""
    found = []
    parts = Path(relative).with_suffix("").parts
    room = parts[0]
    package = ".".join(["auditeval", *parts[:-1]])
    for name in imported(source, package):
        first, *rest = name.split(".")
        if first in HOMES and not relative.startswith(HOMES[first]):
            found.append(f"{relative}: {name}: belongs in {' or '.join(HOMES[first])}")
        if first != "auditeval" or not rest or room == "__init__":
            continue
        target = rest[0]
        if target not in PLACE:
            # `from auditeval import X` of something that is no module: the lazy front door.
            found.append(f"{relative}: {name}: imports the front door or an unknown room")
        elif target != room and PLACE[target] >= PLACE[room]:
            found.append(f"{relative}: {name}: {target} is not left of {room}")
    return found


def test_imports_go_leftwards_only() -> None:
    wrong = []
    for path in modules():
        relative = path.relative_to(PACKAGE).as_posix()
        room = Path(relative).parts[0].removesuffix(".py")
        if relative != "__init__.py":
            assert room in PLACE, f"{relative}: a new room; give it a place in ORDER"
        wrong += wrong_imports(path.read_text(encoding="utf-8"), relative)
    assert not wrong, "\n".join(wrong)


def test_modules_import_each_other_in_no_circle() -> None:
    names = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in modules()
    }
    graph = {}
    for name, path in names.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        found = imported(path.read_text(encoding="utf-8"), package)
        wanted = {one if one in names else one.rpartition(".")[0] for one in found}
        # A package's own names are for those outside of it.
        graph[name] = {one for one in wanted & names.keys() if not name.startswith(f"{one}.")}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_a_users_text_goes_out_by_one_door() -> None:
    """Who prints, escapes or sets text otherwise than by `auditeval.text` forgets something."""
    own = re.compile(r"(?<![.\w])print\(|rich\.markup|parse_math|ensure_ascii=False, indent")
    for path in modules():
        source = path.read_text(encoding="utf-8").split("if __name__ ==")[0]
        if path.name != "text.py":
            assert not own.findall(source), path
        if path.name not in ("text.py", "render.py", "card.py"):  # a card is a document of its own
            assert not re.search(r"rich\.table|text\.markdown", source), path


@pytest.mark.parametrize(
    ("relative", "source"),
    [
        ("types.py", "from auditeval.manifest import read"),
        ("manifest.py", "from auditeval import scores_table"),
        ("data/mixing.py", "def f():\n    from auditeval.features.store import FeatureStore"),
        ("data/soundbank/music.py", "from ...training import run"),
        ("models/three_head.py", "import auditeval.scoring"),
        ("metrics/signal.py", "from auditeval.checkpoint import load as audio"),
        ("report/agreement.py", "import pytorch_lightning as lightning"),
        ("features/store.py", "import soundfile"),
        ("data/mixing.py", "import soxr"),
        ("cli/score.py", "from wandb import init"),
        ("scoring.py", "from auditeval import load"),
    ],
)
def test_a_wrong_import_is_caught(relative: str, source: str) -> None:
    assert len(wrong_imports(source, relative)) == 1


@pytest.mark.parametrize(
    ("relative", "source"),
    [
        ("data/soundbank/music.py", "from .event import SoundEvent\nfrom . import blocks"),
        ("data/splits.py", "from auditeval import manifest"),
        ("training/run.py", "import pytorch_lightning\nfrom auditeval import audio, report"),
        ("audio/waveform.py", "import soxr"),
    ],
)
def test_a_right_import_is_not(relative: str, source: str) -> None:
    assert wrong_imports(source, relative) == []


def test_no_file_is_longer_than_400_lines() -> None:
    files = [*modules(), *(ROOT / "tests").rglob("*.py"), ROOT / "train.py"]
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert len(lengths) > 30
    assert {path: n for path, n in lengths.items() if n > 400} == {}


# Groups that are no part of train.yaml: each file of theirs is whole by itself.
APART = {"backends"}


def choices() -> list[str]:
    """Every option of every group as an override, experiments with the "+"-free syntax."""
    return sorted(
        f"{path.parent.relative_to(CONFIGS).as_posix()}={path.stem}"
        for path in CONFIGS.rglob("*.yaml")
        if path.parent != CONFIGS and path.parent.name not in APART
    )


def targets(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if "_target_" in node:
            yield node["_target_"]
        node = list(node.values())
    if isinstance(node, list):
        for child in node:
            yield from targets(child)


# What only a user can name.
NAMED = {
    "data=manifest": ["data.path=pairs.jsonl"],
    "callbacks=benchmarks": [
        f"callbacks.evaluation.metrics.{name}"
        for name in (
            "verdicts.samples=x",
            "verdicts.run=x",
            "verdicts.systems={x: x}",
            "salmon.root=x",
        )
    ],
}


@pytest.mark.parametrize("choice", ["seed=1", *choices()])
def test_every_config_composes_and_its_targets_resolve(choice: str) -> None:
    overrides = [choice, "run_dir=/tmp/run", *NAMED.get(choice, [])]
    with initialize_config_dir(str(CONFIGS), version_base="1.3"):
        config = compose("train", overrides)
    settings: Any = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    shape.check(settings)
    shape.check_kinds(settings)
    found = list(targets(settings))
    assert len(found) >= 5  # data, split, optimizer, scheduler, logger at least
    for name in found:
        if name.startswith("wandb"):
            pytest.importorskip("wandb")
        assert callable(get_object(name)), name


EXPERIMENTS = sorted((CONFIGS / "experiment").glob("*.yaml"))


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_an_experiment_says_what_it_is_made_of(path: Path) -> None:
    """Whoever reads it need not know what train.yaml would choose."""
    overridden = {key for node in OmegaConf.load(path).defaults for key in node}
    groups = ("data", "features", "model", "compare", "fit", "optimizer", "scheduler")
    assert {f"override /{group}" for group in groups} <= overridden


@pytest.mark.parametrize(
    "path", sorted((CONFIGS / "backends").glob("*.yaml")), ids=lambda p: p.stem
)
def test_every_backend_has_a_role_and_takes_its_arguments(path: Path) -> None:
    from auditeval.backends.load import read

    for role, node in read(path).items():
        if node is not None:
            target = get_object(node.pop("_target_"))
            assert target.__module__.startswith(
                "auditeval.judges" if role.endswith("judge") else "auditeval.backends"
            )
            inspect.signature(target).bind(**node)


def test_each_benchmark_finds_the_models_of_its_paper() -> None:
    """What `--backends <benchmark>` names is what its tables call the paper's own."""
    from auditeval.backends.load import read
    from auditeval.benchmarks.mmae.benchmark import PAPER as MMAE
    from auditeval.benchmarks.speecheditbench.benchmark import PAPER as SPEECHEDITBENCH
    from auditeval.benchmarks.swanbench.benchmark import PAPER as SWANBENCH

    for name, paper in {
        "mmae": MMAE,
        "speecheditbench": SPEECHEDITBENCH,
        "swanbench": SWANBENCH,
    }.items():
        nodes = read(name)
        assert set(paper) == set(nodes)
        for role, node in nodes.items():
            found = node.get("name") or node.get("model") or ""
            known = getattr(get_object(node["_target_"]), "name", None)
            if isinstance(known, str):
                found = known
            elif "checkpoint" in node and "wavlm" in node:
                found = f"{Path(node['wavlm']).name}-ecapa-tdnn"
            elif "checkpoint" in node:
                found = Path(node["checkpoint"]).name
            elif node["_target_"].endswith("FasterWhisper"):
                found = f"whisper-{found}"
            elif node["_target_"].endswith("DNSMOS"):
                found = "dnsmos-p835"
            assert fnmatchcase(Path(found).name, paper[role]), (name, role, found)


def test_a_target_that_does_not_exist_is_caught() -> None:
    config = OmegaConf.create({"a": [{"b": {"_target_": "auditeval.data.splits.no_such"}}]})
    (name,) = targets(OmegaConf.to_container(config))
    with pytest.raises(Exception, match="no_such"):
        get_object(name)


HELP = """
import sys
from auditeval.cli import main
sys.argv = ["auditeval", "--help"]
try:
    main()
except SystemExit as stop:
    assert stop.code in (0, None), stop.code
heavy = {"torch", "pydantic", "transformers", "numpy", "scipy", "pyarrow", "hydra", "soundfile"}
heavy |= {"polars", "matplotlib"}
print("LOADED", sorted(heavy & set(sys.modules)))
"""


TYPER = """
import typer
app = typer.Typer(rich_markup_mode="markdown")
app.command("one")(lambda: None)
app.command("two")(lambda: None)
app(["--help"])
"""


def test_help_is_light_and_quick() -> None:
    made = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, check=True)
    assert "score" in made.stdout
    assert made.stdout.splitlines()[-1] == "LOADED []"

    command = Path(sys.executable).with_name("auditeval")
    if not command.exists():
        pytest.skip("the package is not installed in this environment: no command auditeval")
    # Processors differ, and from moment to moment: the measure is what Typer takes just then for a
    # page of two commands.
    pages = [command, "--help"], [sys.executable, "-c", TYPER]
    taken = [[_processor_seconds(page) for page in pages] for _ in range(5)]
    assert min(ours / least for ours, least in taken) < 2, taken


def _processor_seconds(command: list[str | Path]) -> float:
    """Of a command alone: other tests may run at the same time."""
    before = os.times()
    subprocess.run(command, capture_output=True, check=True)
    after = os.times()
    return sum(b - a for a, b in zip(before[2:4], after[2:4], strict=True))


FRONT = """
import sys
import auditeval
shown = dir(auditeval)
heavy = {"torch", "pydantic", "numpy", "scipy", "matplotlib", "hydra"}
print(shown == sorted(auditeval.__all__), "bench" in shown, sorted(heavy & set(sys.modules)))
print({name for name in shown if getattr(auditeval, name, None) is None})
"""


def test_the_front_door_shows_what_there_is_and_loads_none_of_it() -> None:
    made = subprocess.run([sys.executable, "-c", FRONT], capture_output=True, text=True, check=True)
    assert made.stdout.splitlines() == ["True True []", "set()"]
