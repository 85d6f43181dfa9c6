"""Further numbers of what words ask for: relevance hears them in the place of the plain ones."""

from __future__ import annotations

import numpy as np
import torch

from auditeval.features.alignment import Alignment
from auditeval.features.comparison import Frames
from auditeval.features.encoder import EncodedPair, Encoder
from auditeval.features.extractor import AudioFeatures, Extractor, Texts
from auditeval.features.pair import FURTHER, Inputs, PairFeatures
from auditeval.models.ensemble import EnsembleRegressor
from auditeval.types import AXES

INPUTS = Inputs(
    audio=1,
    text=1,
    alignment=("a.x",),
    evidence=("a.first", "b.second", "c.third", f"b.second{FURTHER}"),
)


def _model() -> EnsembleRegressor:
    torch.manual_seed(11)
    hears = {"faithfulness": ["b.second"]}
    return EnsembleRegressor(INPUTS, ["mlp"], hidden=[8], members=2, hears=hears).eval()


def test_relevance_hears_them_in_the_place_of_the_plain_ones() -> None:
    model, batch = _model(), PairFeatures.random(INPUTS, 4)
    scores = model(batch)
    moved = {}
    for place, name in enumerate(INPUTS.evidence):
        evidence = batch.evidence.clone()
        evidence[:, place] += 0.5
        changed = (model(batch._replace(evidence=evidence)) != scores).all(dim=0)
        moved[name] = [axis for axis, is_so in zip(AXES, changed, strict=True) if is_so]
    assert moved == {
        "a.first": ["relevance"],
        "b.second": ["faithfulness"],
        "c.third": ["relevance"],
        f"b.second{FURTHER}": ["relevance"],
    }


def test_a_model_without_them_has_the_same_weights() -> None:
    model, batch = _model(), PairFeatures.random(INPUTS, 4)
    batch.evidence[:, 3] = batch.evidence[:, 1]
    plain = INPUTS.model_copy(update={"evidence": INPUTS.evidence[:3]})
    alone = EnsembleRegressor(
        plain, ["mlp"], hidden=[8], members=2, hears={"faithfulness": ["b.second"]}
    ).eval()
    weights = model.state_dict()
    for name in ("scale_evidence.mean", "scale_evidence.spread"):
        weights[name] = weights[name][:3]
    alone.load_state_dict(weights)
    assert torch.equal(alone(INPUTS.pick(plain)(batch)), model(batch))


class _Reader(Extractor):
    text_dim, evidence, revision = 1, ("one", "two"), "1"

    def __init__(self, name: str, further: bool) -> None:
        super().__init__()
        self.name, self.further = name, further

    def weigh(
        self, original: Frames, edited: Frames, alignment: Alignment | None, texts: Texts
    ) -> np.ndarray:
        return np.array([1, 2], np.float32)

    def weigh_further(
        self,
        original: Frames,
        edited: Frames,
        alignment: Alignment | None,
        texts: Texts,
        weighed: np.ndarray,
    ) -> np.ndarray:
        return 10 * weighed


def test_an_encoder_makes_them_after_all_others_of_those_that_have_any() -> None:
    encoder = Encoder([_Reader("a", True), _Reader("b", False)])
    assert encoder.inputs.evidence == (
        *("a.one", "a.two", "b.one", "b.two"),
        *(f"a.one{FURTHER}", f"a.two{FURTHER}"),
    )
    clip: dict[str, AudioFeatures] = {}
    texts = Texts(*[np.zeros(1, np.float32)] * 5)
    pair = encoder.pair(EncodedPair(clip, clip, {"a": texts, "b": texts}))
    assert pair.evidence.tolist() == [1, 2, 1, 2, 10, 20]
