"""Fixtures of all tests: a cache of its own, a small simulated dataset, a small checkpoint."""

from __future__ import annotations

import functools
import gc
import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # two processes test at once; before numpy and torch read it

import numpy as np
import pytest
import torch
import typer.main
from commands import Ended, row_of, write_rows
from forked_commands import draw_blank_plots
from two_devices import prepare as prepare_two_devices

import auditeval
from auditeval import checkpoint, manifest
from auditeval.backends.pitch import compiling
from auditeval.cli import main
from auditeval.data.simulation.build import build
from auditeval.features import minilm, yamnet_network
from auditeval.features.encoder import Encoder
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.features.pair import PairFeatures
from auditeval.features.store import FeatureStore
from auditeval.models.three_head import PairwiseRegressor
from auditeval.scoring import Evaluator
from auditeval.types import AXES, EditPair

# Built from signatures, a command takes longer than most of what tests ask of it; so do models that
# are opened again for every evaluator.
typer.main.get_command = functools.cache(typer.main.get_command)
yamnet_network.read = functools.cache(yamnet_network.read)
minilm._open = {}  # type: ignore[assignment]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--moments", type=int, default=1, help="Kills and full disks of each command, each signal."
    )
    parser.addoption(
        "--trials", type=int, default=3, help="Clips of each law about processors; 3 is quick."
    )
    parser.addoption(
        "--gpu-device", default="cuda", help="Where tests/gpu compute; cpu tries the tests alone."
    )
    parser.addoption("--evaluator", help="Checkpoint that is held to the laws about processors.")


def pytest_configure(config: pytest.Config) -> None:
    """What numba compiles as librosa is imported is there before several processes test at once: of
    these some come to it by other packages than ours, and without its lock."""
    several = getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput")
    if several and importlib.util.find_spec("librosa"):
        import librosa

        with compiling(librosa):
            importlib.import_module("librosa.core.pitch")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """No CUDA device for `--device auto` to find: but for tests/gpu, run alone."""
    if not all(item.get_closest_marker("gpu") for item in items):
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # of commands that tests start as well


def pytest_collection_finish() -> None:
    """What the libraries made stays: to walk a million objects again and again is a fifth of the
    time of all tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    prepare_two_devices()


@pytest.fixture(scope="session")
def trials(request: pytest.FixtureRequest) -> int:
    """Of each law about processors."""
    return int(request.config.getoption("--trials"))


@pytest.fixture
def told(record_property: Callable[[str, object], None]) -> Callable[..., None]:
    """Prints what was found of a law and what is wanted of it, where something is; the report of
    the tests has it as well, for tests/performance/laws.py."""

    def tell(law: str, found: float, trials: int, wanted: str = "") -> None:
        print(f"{law}: {found:.2f} of {trials}", f"({wanted} wanted)" if wanted else "")
        record_property(law, f"{found:.2f} {trials} {wanted}")

    return tell


@pytest.fixture(scope="session", autouse=True)
def cache_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Feature cache of this session: no test reads or fills the user's."""
    folder = tmp_path_factory.mktemp("cache")
    before = os.environ.get("AUDITEVAL_CACHE")
    os.environ["AUDITEVAL_CACHE"] = str(folder)
    yield folder
    del os.environ["AUDITEVAL_CACHE"]
    if before is not None:
        os.environ["AUDITEVAL_CACHE"] = before


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> list[EditPair]:
    """60 simulated pairs of 1.5 s, from 12 scenes."""
    folder = tmp_path_factory.mktemp("simulated")
    path = build(folder, scenes=12, seconds=1.5, seed=7, unedited=0.0)
    return manifest.read(path)


@pytest.fixture(scope="session")
def partly_rated(simulated: list[EditPair]) -> list[EditPair]:
    """The simulated pairs, every fourth without a rating of its relevance."""
    return [
        pair.model_copy(
            update={
                "raters": {},
                "ratings": {a: r for a, r in pair.ratings.items() if a != "relevance" or i % 4},
            }
        )
        for i, pair in enumerate(simulated)
    ]


@pytest.fixture(scope="session")
def auditscore(simulated: list[EditPair], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Simulated edits under the names and in the files of AuditScore; 24 to train, 36 to test."""
    folder, systems = tmp_path_factory.mktemp("auditscore"), ("sys1", "sys2", "sys3")
    records: dict[str, list[dict[str, Any]]] = {"train": [], "valid": []}
    for number, pair in enumerate(simulated):
        stem = f"{systems[number % 3]}_{pair.operation}_{{}}_{number // 5:03d}_{number}.wav"
        for side, path in (("ori", pair.original), ("tar", pair.edited)):
            (folder / f"{side}_wavs").mkdir(exist_ok=True)
            shutil.copy(path, folder / f"{side}_wavs" / stem.format(side))
        records["train" if number < 24 else "valid"].append(
            {
                "ori_wav": stem.format("ori"),
                "tar_wav": stem.format("tar"),
                "ori_prompt": pair.original_caption,
                "tar_prompt": pair.target_caption,
                **{axis: pair.ratings[axis] for axis in AXES},
            }
        )
    for name, rows in records.items():
        (folder / f"{name}_meta.json").write_text(json.dumps(rows))
    return folder


@pytest.fixture(scope="session")
def spectrum_checkpoint(
    tmp_path_factory: pytest.TempPathFactory, simulated: list[EditPair], cache_dir: Path
) -> Path:
    """A pairwise head on `spectrum` with scales of the simulated pairs; its weights are random."""
    encoder = Encoder([Spectrum()])
    features = FeatureStore(encoder, cache_dir).pairs(simulated)
    batch = PairFeatures.stack([row for row in features if isinstance(row, PairFeatures)])
    ratings = torch.tensor([[pair.ratings[axis] for axis in AXES] for pair in simulated])
    torch.manual_seed(7)
    model = PairwiseRegressor(encoder.inputs, rank=0, hidden=(8,))
    model.fit_scales(batch, ratings)
    folder = tmp_path_factory.mktemp("checkpoints") / "spectrum-random"
    checkpoint.save(folder, model, encoder, {"data": "simulated", "note": "not trained"})
    return folder


@pytest.fixture(scope="session")
def tiny_clap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A transformers directory of a small CLAP with random weights; see `write_tiny_clap`."""
    from random_clap import write_tiny_clap  # with it comes half of transformers

    return write_tiny_clap(tmp_path_factory.mktemp("models") / "tiny-clap")


@pytest.fixture(scope="session")
def tiny_omni(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a small Qwen2.5-Omni with random weights; see `random_base.build`."""
    from auditeval.models.omni.random_base import build

    return build(tmp_path_factory.mktemp("bases") / "tiny", hidden=32, vocabulary="trained")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Recordings that lie beside the repository on the development machine."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"real recordings are not on this machine ({folder} is absent)")
    return folder


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The command in this process; an exception that is no exit fails the test."""

    def run(*arguments: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["auditeval", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as caught:
            main()
        code = caught.value.code
        return Ended(code if isinstance(code, int) else 0, *capsys.readouterr())

    return run


@pytest.fixture(scope="module")
def blank_plots() -> Iterator[None]:
    """Plots of reports are there, and blank; tests/report and tests/cli draw them."""
    with pytest.MonkeyPatch.context() as patch:
        draw_blank_plots(patch.setattr)
        yield


@pytest.fixture(scope="session")
def evaluator(spectrum_checkpoint: Path) -> Evaluator:
    """The small checkpoint, loaded."""
    return auditeval.load(spectrum_checkpoint, "cpu")


@pytest.fixture(scope="session")
def good(simulated: list[EditPair]) -> list[EditPair]:
    """Three pairs that can be scored."""
    return simulated[:3]


@pytest.fixture
def pairs_path(tmp_path: Path, good: list[EditPair]) -> Path:
    """A manifest of them."""
    return write_rows(tmp_path / "pairs.jsonl", [row_of(pair) for pair in good])


@pytest.fixture(scope="session")
def clip_list(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A list of 12 clips of the sound bank, of four classes, 2 to 4 s at 8 kHz."""
    from auditeval.audio import files
    from auditeval.audio.waveform import quantised
    from auditeval.data.soundbank import synthesize

    folder = tmp_path_factory.mktemp("clips")
    lines = ["file,label,category,id"]
    for place, label in enumerate(("dog_bark", "siren", "rain", "door_knock")):
        for take in range(3):
            sound = synthesize(label, 10 * place + take, 2.0 + take, 8000)
            name = f"{label}_{take}.wav"
            files.write(folder / name, quantised(0.5 * sound / np.abs(sound).max()), 8000)
            lines.append(f"{name},{label.replace('_', ' ')},category {place % 2},{label}{take}")
    path = folder / "labels.csv"
    path.write_text("\n".join(lines) + "\n")
    return path
