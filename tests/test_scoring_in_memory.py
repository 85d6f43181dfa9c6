"""Clips in memory, as an editor in training makes them: scored as their files would be."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import auditeval
from auditeval.audio import Waveform, decode
from auditeval.features.store import FeatureStore
from auditeval.scoring import Evaluator, load
from auditeval.types import EditPair, UserError

ROOT = Path(__file__).parent.parent
ASKED = {"original_caption": "A dog.", "target_caption": "", "instruction": "Add rain."}
NOISE = np.random.default_rng(0).normal(0, 0.1, 16_000).astype(np.float32)


@pytest.fixture
def evaluator(spectrum_checkpoint: Path, tmp_path: Path) -> Evaluator:
    return load(spectrum_checkpoint, device="cpu", workers=2, cache_dir=tmp_path / "cache")


def in_memory(pairs: list[EditPair]) -> tuple[list[EditPair], dict[str, Waveform]]:
    """The same pairs by names of no file, and the clips that these stand for."""
    held = {f"rollout-{pair.id}": decode(pair.edited) for pair in pairs}
    named = [pair.model_copy(update={"edited": Path(f"rollout-{pair.id}")}) for pair in pairs]
    return named, held


def test_they_have_the_scores_of_their_files(
    evaluator: Evaluator, simulated: list[EditPair]
) -> None:
    named, held = in_memory(simulated[:6])
    both = evaluator.score(named, clips=held)
    assert both == evaluator.score(simulated[:6])
    # One alone, and as a model has it: on its way of gradients.
    (name,) = {str(named[0].edited)}
    clip = Waveform(torch.from_numpy(held[name].samples).requires_grad_(), held[name].rate_hz)  # type: ignore[arg-type]
    assert evaluator.score(named[:1], clips={Path(name): clip}) == both[:1]


def test_nothing_is_kept_of_them_and_originals_are(
    evaluator: Evaluator, simulated: list[EditPair], tmp_path: Path
) -> None:
    named, held = in_memory(simulated[:3])

    def kept() -> int:
        return sum(path.is_file() for path in (tmp_path / "cache").rglob("*"))

    evaluator.score(named, clips=held)
    of_originals = kept()
    evaluator.score([pair.model_copy(update={"edited": pair.original}) for pair in named])
    assert kept() == of_originals > 0
    evaluator.score(simulated[:3])
    assert kept() > of_originals


def test_the_original_of_an_edit_that_changed_nothing_is_kept(
    evaluator: Evaluator,
    simulated: list[EditPair],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(FeatureStore, "_at_once", lambda *_: 8)  # both in one batch
    pair = simulated[0].model_copy(update={"edited": Path("rollout")})
    evaluator.score([pair], clips={"rollout": decode(pair.original)})
    audio = [path for path in (tmp_path / "cache").rglob("*.entry") if "audio" in path.parts]
    assert len(audio) == 1


def test_a_clip_that_cannot_be_rated_is_an_error_of_its_pair(
    evaluator: Evaluator, simulated: list[EditPair]
) -> None:
    named, held = in_memory(simulated[:4])
    for pair, samples in zip(named, (0 * NOISE, np.nan * NOISE, NOISE[:100]), strict=False):
        held[str(pair.edited)] = Waveform(samples, 16_000)
    *bad, good = evaluator.score(named, clips=held)
    assert [row.reason for row in bad] == [
        f"{named[0].edited}: is digital silence, so there is nothing to rate",
        f"{named[1].edited}: holds NaN or infinite samples",
        f"{named[2].edited}: holds 100 samples (6.2 ms), at least 50 ms are needed",
    ]
    assert good == evaluator.score(simulated[3:4])[0]


def test_the_page_on_rewards_does_what_it_says(
    evaluator: Evaluator, simulated: list[EditPair], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs" / "rewards.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"(?s)```python\n(.*?)```", page)
    monkeypatch.setattr(auditeval, "load", lambda: evaluator, raising=False)
    named: dict[str, Any] = {}
    exec(code, named)
    pair = simulated[0]
    edits = torch.from_numpy(np.stack([NOISE, 0 * NOISE, decode(pair.original).samples[:16_000]]))
    told = named["rewards"](str(pair.original), "A dog.", "Add rain.", edits, 32_000).tolist()
    made = [pair.model_copy(update={"edited": Path("x")})]
    assert told[1] == 1.0
    for row in (0, 2):
        (scores,) = evaluator.score(
            [x.model_copy(update=ASKED) for x in made],
            {"x": Waveform(edits[row].numpy(), 32_000)},
        )
        assert told[row] == pytest.approx(min(scores.ratings.values()), abs=1e-6)


@pytest.mark.parametrize(
    ("clip", "said"),
    [
        (NOISE, "is of type ndarray, expected auditeval.Waveform"),
        (
            Waveform(NOISE[None], 16_000),
            r"holds torch.float32 of shape \(1, 16000\), expected",
        ),
        (Waveform(np.int16(9 * NOISE), 16_000), r"holds torch.int16 of shape \(16000,\), expected"),
        (Waveform(NOISE, 0), "is at 0 Hz, expected a whole number, 1000 to 1000000"),
        (Waveform(NOISE, "16000"), "is at '16000' Hz, expected a whole number"),
        (Waveform(NOISE, 16000.5), "is at 16000.5 Hz, expected a whole number"),
    ],
)
def test_what_is_no_clip_is_refused(
    clip: Any, said: str, evaluator: Evaluator, simulated: list[EditPair]
) -> None:
    with pytest.raises(UserError, match=f"clips: x {said}"):
        evaluator.score([simulated[0].model_copy(update={"edited": Path("x")})], clips={"x": clip})


def test_a_name_of_no_pair_is_refused(evaluator: Evaluator, simulated: list[EditPair]) -> None:
    with pytest.raises(UserError, match="clips: y is neither original nor edited of any"):
        evaluator.score(simulated[:1], clips={"y": Waveform(NOISE, 16_000)})


def test_a_clip_longer_than_is_scored_is_an_error(
    spectrum_checkpoint: Path, simulated: list[EditPair]
) -> None:
    short = load(spectrum_checkpoint, device="cpu", max_seconds=0.5)
    pair = simulated[0].model_copy(update={"edited": Path("x"), "original": Path("y")})
    half = Waveform(NOISE[:8000], 16_000)
    (row,) = short.score([pair], clips={"x": Waveform(NOISE, 16_000), "y": half})
    assert row.reason == "x: lasts longer than 0.5 s"
