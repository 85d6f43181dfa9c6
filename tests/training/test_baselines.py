"""Baselines of the paper's Table 2: what they say of a pair, and what a report makes of it."""

from __future__ import annotations

import dataclasses
import hashlib
import logging
from pathlib import Path

import hydra
import numpy as np
import pytest
import torch
from omegaconf import OmegaConf

from auditeval import audio
from auditeval.data.splits import Fold
from auditeval.features.pair import PairFeatures
from auditeval.metrics.agreement import LEVELS, STATISTICS
from auditeval.metrics.divergence import inception_score
from auditeval.report import agreement, agreement_files
from auditeval.report.agreement_table import to_markdown
from auditeval.training import baselines
from auditeval.training.fit import Examples
from auditeval.types import EditPair, Undefined, UserError

CONFIG = Path(__file__).parents[2] / "configs" / "baselines" / "clap.yaml"
DIM, CLASSES = 16, 12


def batch(pairs: int, dim: int = DIM, text_dim: int = DIM, seed: int = 0) -> PairFeatures:
    """Embeddings of no certain length; those of sound and of words lie in one space."""
    rng = torch.Generator().manual_seed(seed)
    sizes = (dim, text_dim, dim, text_dim, text_dim, text_dim, 0, 0)
    return PairFeatures(*(torch.randn(pairs, size, generator=rng) for size in sizes))


@dataclasses.dataclass
class HashTagger:
    """Logits that follow from the samples."""

    scale: float = 3

    def tag(self, waveform: audio.Waveform) -> np.ndarray:
        seed = int.from_bytes(hashlib.sha256(waveform.samples.tobytes()).digest()[:4], "big")
        return np.random.default_rng(seed).normal(0, self.scale, CLASSES)


@pytest.fixture(scope="module")
def pairs(simulated: list[EditPair]) -> list[EditPair]:
    """Four systems of 12 pairs, one of 9, which is too few, and three pairs of no system."""
    names = [*(f"sys{i % 4}" for i in range(48)), *["few"] * 9, *[None] * 3]
    return [
        pair.model_copy(update={"system": name})
        for pair, name in zip(simulated, names, strict=True)
    ]


@pytest.fixture(scope="module")
def inception(pairs: list[EditPair]) -> agreement.Predictions:
    return baselines.inception("IS", pairs, batch(len(pairs)), HashTagger())


def test_clap_baselines_are_the_cosines_of_their_axis(pairs: list[EditPair]) -> None:
    features = batch(len(pairs))
    for function, axis, other in (
        (baselines.text_audio_clap, "relevance", features.target_text),
        (baselines.audio_audio_clap, "faithfulness", features.original_audio),
    ):
        made = function("name", pairs, features)
        cosines = torch.nn.functional.cosine_similarity(
            features.edited_audio.double(), other.double()
        )
        assert made.evaluator == "name"
        assert not made.on_rating_scale
        assert not made.of_systems
        assert list(made.values) == [pair.id for pair in pairs]
        for row, cosine in zip(made.values.values(), cosines.tolist(), strict=True):
            assert row == {axis: pytest.approx(cosine, abs=1e-9)}


@pytest.mark.parametrize("text_dim", [0, DIM - 1])
def test_an_encoder_without_a_joint_space_has_no_clap_score(
    pairs: list[EditPair], text_dim: int
) -> None:
    features = batch(len(pairs), text_dim=text_dim)
    for baseline in (baselines.text_audio_clap, baselines.audio_audio_clap):
        with pytest.raises(UserError, match=r"^baseline 'CLAP' needs one space of sound and words"):
            baseline("CLAP", pairs, features)


def test_the_configured_baselines_see_the_rows_taken_alone(pairs: list[EditPair]) -> None:
    settings = OmegaConf.load(CONFIG)
    settings["IS (YAMNet)"].tagger = {"_target_": f"{__name__}.HashTagger"}
    features = batch(len(pairs))
    functions = {name: hydra.utils.instantiate(node) for name, node in settings.items()}
    examples = Examples.of(pairs, features)
    made = {one.evaluator: one for one in baselines.ask(functions, examples.take([2, 31, 40, 55]))}
    assert list(made) == ["IS (YAMNet)", "CLAP text-audio", "CLAP audio-audio"]
    assert made["IS (YAMNet)"].values == {}  # no system has ten of them
    whole = baselines.text_audio_clap("x", pairs, features).values
    tested = [pairs[row].id for row in (2, 31, 40, 55)]
    assert made["CLAP text-audio"].values == {name: whole[name] for name in tested}
    lacking = batch(len(pairs), text_dim=0)
    with pytest.raises(UserError, match="features=clap"):
        baselines.ask(functions, Examples.of(pairs, lacking))


def test_inception_scores_are_of_the_edited_clips_of_each_system(
    pairs: list[EditPair], inception: agreement.Predictions
) -> None:
    assert inception.of_systems
    assert not inception.on_rating_scale
    tagger = HashTagger()
    scored = {pair.id: pair.system for pair in pairs if (pair.system or "few") != "few"}
    assert set(inception.values) == set(scored)
    for system in sorted(set(scored.values())):
        logits = [tagger.tag(audio.decode(p.edited)) for p in pairs if p.system == system]
        expected = inception_score(np.stack(logits), splits=1)
        said = [inception.values[name] for name, of in scored.items() if of == system]
        assert said == [{"quality": expected}] * 12
    assert len({row["quality"] for row in inception.values.values()}) == 4


def test_a_system_with_too_few_clips_is_said_and_has_no_score(
    pairs: list[EditPair], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        made = baselines.inception("IS", pairs[48:], batch(12), HashTagger())
    assert made.values == {}
    (line,) = [record.getMessage() for record in caplog.records]
    assert line == "IS of few is undefined: 9 clips are too few, 10 are needed"


def test_the_order_of_the_pairs_changes_no_inception_score(
    pairs: list[EditPair], inception: agreement.Predictions
) -> None:
    again = baselines.inception("IS", pairs[::-1], batch(len(pairs)), HashTagger())
    assert again.values.keys() == inception.values.keys()
    for name, row in again.values.items():
        assert row["quality"] == pytest.approx(inception.values[name]["quality"], rel=1e-12)


def test_a_measure_of_systems_has_no_agreement_at_utterance_level(
    pairs: list[EditPair], inception: agreement.Predictions, tmp_path: Path
) -> None:
    made = agreement.make_report(pairs, [inception], "test ratings", resamples=20)
    (row,) = made.rows
    assert row.axis == "quality"
    assert (row.rated, row.missing) == (60, 12)
    for name in STATISTICS:
        cell = row.agreement["utterance"][name]
        assert (
            cell.value
            == cell.interval
            == Undefined("its values are of whole systems, not of single pairs")
        )
        if name != "MSE":
            assert isinstance(row.agreement["system"][name].value, float)
    # At system level they are those of a measure that says the same of each pair.
    single = inception._replace(of_systems=False)
    (other,) = agreement.make_report(pairs, [single], "test ratings", resamples=20).rows
    assert other.agreement["system"] == row.agreement["system"]
    assert isinstance(other.agreement["utterance"]["SRCC"].value, float)
    assert set(row.agreement) == set(LEVELS)
    assert "of whole systems, not of single pairs (IS)" in to_markdown(made)
    agreement_files.write(made, tmp_path)
    assert (tmp_path / "agreement.png").exists()


def test_a_constant_is_the_mean_of_what_its_fold_was_trained_on() -> None:
    pairs = [
        EditPair(
            id=str(i), original="a.wav", edited="b.wav", original_caption="a", target_caption="b",
            ratings={"quality": 1 + i / 4, **({"relevance": 5 - i / 4} if i % 2 else {})},
        )
        for i in range(12)
    ]  # fmt: skip
    folds = [Fold("a", [0, 1, 3], [2], [10, 11]), Fold("b", [0, 2, 4], [], [9])]
    made = baselines.constant(pairs, folds)
    assert made.on_rating_scale
    first = {"quality": pytest.approx(np.mean([1, 1.25, 1.75])), "relevance": 4.5}
    assert made.values == {"10": first, "11": first, "9": {"quality": pytest.approx(1.5)}}
    # The means of the folds differ, and tell nothing of a pair.
    report = agreement.make_report(pairs, [made], "the test", resamples=20)
    row = next(row for row in report.rows if row.axis == "quality")
    assert isinstance(row.agreement["utterance"]["MSE"].value, float)
    for name in ("LCC", "SRCC", "KTAU"):
        none = Undefined("all predictions of a fold are equal")
        assert row.agreement["utterance"][name].value == none
    one = baselines.constant(pairs, folds[:1])
    assert not one.is_guess
