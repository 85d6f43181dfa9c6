"""The published heads of AuditEval as an evaluator: `auditeval convert ... --clap`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import torch
from commands import content
from random_clap import write_tiny_clap
from torch import nn

import auditeval
from auditeval.features import make_extractor
from auditeval.types import AXES, Axis, EditPair

DIM = 32  # of the tiny CLAP
HIDDEN = (40, 20, 10, 8, 4)
EPOCHS = {"quality": 50, "relevance": 30, "faithfulness": 35}


class ScorePredictor(nn.Module):
    """One axis of AuditEval-ssl, as its authors describe it; dropout behind the first layer."""

    def __init__(self, inputs: int, hidden: tuple[int, ...] = HIDDEN) -> None:
        super().__init__()
        first, *rest = hidden
        layers: list[nn.Module] = [nn.Linear(inputs, first), nn.ReLU(), nn.Dropout(0.1)]
        for before, after in zip(hidden, rest, strict=False):
            layers += [nn.Linear(before, after), nn.ReLU()]
        self.model = nn.Sequential(*layers, nn.Linear(hidden[-1], 1))

    def forward(self, joined: torch.Tensor) -> torch.Tensor:
        return self.model(joined)


def head(seed: int, inputs: int = 4 * DIM, hidden: tuple[int, ...] = HIDDEN) -> ScorePredictor:
    """Random weights of which the ratings are spread inside the scale."""
    torch.manual_seed(seed)
    made = ScorePredictor(inputs, hidden)
    linears = [layer for layer in made.model if isinstance(layer, nn.Linear)]
    for layer in linears:
        nn.init.kaiming_normal_(layer.weight)
        nn.init.normal_(layer.bias, std=0.1)
    with torch.no_grad():
        spread = made(torch.randn(200, inputs)).std()
        linears[-1].weight /= 2 * spread
        linears[-1].bias[:] = 3 - (made(torch.randn(200, inputs)).mean() - linears[-1].bias)
    return made.eval()


@pytest.fixture(scope="module")
def heads() -> dict[Axis, ScorePredictor]:
    return {axis: head(seed) for seed, axis in enumerate(AXES)}


@pytest.fixture(scope="module")
def files(
    heads: dict[Axis, ScorePredictor], tmp_path_factory: pytest.TempPathFactory
) -> list[Path]:
    """As the authors save them, given to the command in another order than that of the axes."""
    folder = tmp_path_factory.mktemp("heads")
    paths = []
    for axis in reversed(AXES):
        paths.append(folder / f"{axis}_epoch_{EPOCHS[axis]}.pt")
        torch.save(heads[axis].state_dict(), paths[-1])
    return paths


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> list[EditPair]:
    """Three edits at 44.1 kHz; the second is longer than what the authors' code hears."""
    folder, rng = tmp_path_factory.mktemp("edits"), np.random.default_rng(0)
    for name, seconds in (("a", 2), ("b", 12), ("c", 3), ("d", 1)):
        gain = np.repeat(rng.uniform(0.01, 0.3, 4), round(seconds * 44100 / 4))
        noise = np.convolve(rng.standard_normal(len(gain)), np.ones(rng.integers(1, 30)), "same")
        soundfile.write(folder / f"{name}.wav", gain * noise / 10, 44100, subtype="FLOAT")
    return [
        EditPair(
            id=f"{first}{second}",
            original=folder / f"{first}.wav",
            edited=folder / f"{second}.wav",
            original_caption=before,
            target_caption=after,
        )
        for first, second, before, after in (
            ("a", "c", "Rain.", "Rain and a dog."),
            ("b", "d", "A dog barks!", "A bell."),
            ("c", "a", "an engine", "an engine, softly"),
        )
    ]


def by_hand(clap: Path, head: ScorePredictor, pair: EditPair) -> float:
    """[original audio, original text, edited audio, target text], each normed, to a rating."""
    import soxr

    encoder = make_extractor("clap", model=str(clap), upstream_compat=True)
    clips = []
    for path in (pair.original, pair.edited):
        samples, rate_hz = soundfile.read(path, dtype="float32")
        clips.append(soxr.resample(samples, rate_hz, 16000))
    original, edited = (features.embedding for features in encoder.encode_audio(clips))
    texts = encoder.encode_text([pair.original_caption, pair.target_caption])
    parts = [torch.from_numpy(part) for part in (original, texts[0], edited, texts[1])]
    joined = torch.cat([nn.functional.layer_norm(part, (DIM,)) for part in parts])
    with torch.no_grad():
        return float(head(joined[None]))


@pytest.fixture
def made(cli: Any, files: list[Path], tiny_clap: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "auditeval-ssl"
    ended = cli("convert", *files, "--clap", tiny_clap, "-o", folder)
    assert ended.status == 0, ended.err
    assert ended.out.startswith(f"{folder}: faithfulness, relevance, quality; use it with")
    return folder


def test_the_evaluator_says_what_the_heads_say(
    made: Path, heads: dict[Axis, ScorePredictor], pairs: list[EditPair], tiny_clap: Path
) -> None:
    evaluator = auditeval.load(made, "cpu")
    expected = [{axis: by_hand(tiny_clap, heads[axis], p) for axis in AXES} for p in pairs]
    values = [value for row in expected for value in row.values()]
    assert all(1 < value < 5 for value in values)  # a clamped one would say nothing
    assert max(values) - min(values) > 0.3
    for scores, row in zip(evaluator.score(pairs), expected, strict=True):
        assert scores.status == "ok"
        for axis in AXES:
            assert getattr(scores, axis) == pytest.approx(row[axis], abs=2e-6)


def test_a_pair_is_scored_by_the_command(
    cli: Any, made: Path, heads: dict[Axis, ScorePredictor], pairs: list[EditPair], tiny_clap: Path
) -> None:
    pair = pairs[0]
    ended = cli(
        *("score", "-c", made, "--original", pair.original, "--edited", pair.edited),
        *("--original-caption", pair.original_caption, "--target-caption", pair.target_caption),
    )
    assert ended.status == 0, ended.err
    printed = dict(line.split() for line in ended.out.splitlines())
    assert list(printed) == list(AXES)
    for axis, cell in printed.items():
        assert float(cell) == pytest.approx(by_hand(tiny_clap, heads[axis], pair), abs=5.1e-4)


def test_it_says_what_it_was_made_from_and_holds_no_pickle(made: Path, files: list[Path]) -> None:
    assert sorted(p.name for p in made.iterdir()) == ["config.json", "model.safetensors"]
    config = json.loads((made / "config.json").read_text())
    assert config["training"]["converted_from"] == [path.name for path in files]
    assert config["features"]["clap"]["arguments"]["upstream_compat"] is True
    assert config["model"]["arguments"]["hidden"] == list(HIDDEN)


@pytest.mark.parametrize("axis", AXES)
def test_an_axis_without_a_head_is_not_trained(
    cli: Any,
    files: list[Path],
    heads: dict[Axis, ScorePredictor],
    pairs: list[EditPair],
    tiny_clap: Path,
    tmp_path: Path,
    axis: Axis,
) -> None:
    folder = tmp_path / "one"
    (path,) = [path for path in files if path.name.startswith(axis)]
    assert cli("convert", path, "--clap", tiny_clap, "-o", folder).status == 0
    (scores,) = auditeval.load(folder, "cpu").score(pairs[:1])
    for other in AXES:
        if other != axis:
            assert getattr(scores, other) is None
    assert getattr(scores, axis) == pytest.approx(
        by_hand(tiny_clap, heads[axis], pairs[0]), abs=1e-6
    )
    pair = pairs[0]
    ended = cli(
        *("score", "-c", folder, "--original", pair.original, "--edited", pair.edited),
        *("--original-caption", pair.original_caption, "--target-caption", pair.target_caption),
    )
    assert len(re.findall("not trained", ended.out)) == 2
    assert "not trained" not in next(x for x in ended.out.splitlines() if x.startswith(axis))


def test_wrong_heads_are_a_sentence_each(
    cli: Any, files: list[Path], tiny_clap: Path, tmp_path: Path
) -> None:
    def saved(name: str, state: Any) -> Path:
        torch.save(state, tmp_path / name)
        return tmp_path / name

    state = head(0).state_dict()
    folder, faithfulness = tmp_path / "made", files[0]
    nameless = saved("epoch_50.pt", state)
    second = saved("faithfulness_epoch_40.pt", state)
    shallow = saved("quality_shallow.pt", head(0, hidden=(40, 20)).state_dict())
    wide = saved("quality_wide.pt", head(0, hidden=(48, 20, 10, 8, 4)).state_dict())
    other = saved("quality_other.pt", nn.Linear(3, 1).state_dict())
    uneven = saved("quality_uneven.pt", head(0, inputs=4 * DIM + 1).state_dict())
    two = saved("quality_two.pt", {**state, "model.11.weight": torch.zeros(2, 4)})
    bias = saved("quality_bias.pt", {**state, "model.3.bias": torch.zeros(7)})
    joint = saved("quality_joint.pt", {**state, "model.5.weight": torch.zeros(10, 19)})
    flat = saved("quality_flat.pt", {**state, "model.0.weight": torch.zeros(40)})
    text = content(tmp_path / "quality.pt", b"no weights\n")
    small = write_tiny_clap(tmp_path / "small", dim=16)
    before = sorted(tmp_path.iterdir())
    for given, clap, said in (
        ([nameless], tiny_clap, f"{nameless}: the name of a head's file must begin with its axis"),
        ([faithfulness, second], tiny_clap, f"{second}: is a second head for faithfulness"),
        ([faithfulness, wide], tiny_clap, "the heads of faithfulness and quality differ in shape"),
        ([shallow], tiny_clap, f"{shallow}: is no head of AuditEval-ssl, it holds model.0.weight"),
        ([other], tiny_clap, f"{other}: is no head of AuditEval-ssl, it holds weight"),
        ([uneven], tiny_clap, "a head of 129 inputs does not take four embeddings of one size"),
        ([two], tiny_clap, "the head of quality does not fit together (size mismatch for 11"),
        ([bias], tiny_clap, "the head of quality does not fit together (size mismatch for 3.bias"),
        ([joint], tiny_clap, "the head of quality does not fit together (size mismatch for 5"),
        ([flat], tiny_clap, f"{flat}: is no head of AuditEval-ssl, it holds model.0.weight"),
        ([text], tiny_clap, f"{text}: is a text file"),
        (files, small, f"{small}: makes 16 numbers, the heads expect 32"),
        (files, tmp_path / "absent", f"{tmp_path / 'absent'}: no such file or folder"),
        ([tmp_path / "quality_absent.pt"], tiny_clap, f"{tmp_path / 'quality_absent.pt'}: no such"),
    ):
        ended = cli("convert", *given, "--clap", clap, "-o", folder)
        assert ended.status == 2
        assert ended.sentence.startswith(said)
    assert sorted(tmp_path.iterdir()) == before
    ended = cli("convert", *files, "-o", folder)  # without the CLAP they were trained on
    assert ended.status == 2
    assert "--clap" in ended.sentence
    ended = cli("convert", files[0], "-o", folder)
    assert ended.status == 2
    assert ended.sentence.startswith(f"{files[0]}: holds a head of AuditEval-ssl, not a CLAP")
