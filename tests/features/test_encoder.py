"""Extractors beside each other: one layout, numbers by name, a cache for each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from fake_encoders import FakeClap, FakeExtractor

from auditeval.features import EXTRACTORS, find_extractor, make_encoder
from auditeval.features.alignment import ALIGNMENT_NAMES
from auditeval.features.comparison import PATCH_NAMES
from auditeval.features.encoder import Encoder
from auditeval.features.evidence import CAPTION_NAMES, SIMILARITY_NAMES
from auditeval.features.extractor import Extractor
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.features.pair import Inputs, PairFeatures
from auditeval.features.store import Failure, FeatureStore
from auditeval.types import EditPair, UserError


def rows(store: FeatureStore, pairs: list[EditPair]) -> PairFeatures:
    return PairFeatures.stack([row for row in store.pairs(pairs) if not isinstance(row, Failure)])


def test_the_joint_space_is_the_end_of_every_embedding(
    simulated: list[EditPair], tmp_path: Path
) -> None:
    clap, plain = FakeClap(), FakeExtractor(bands=4)
    encoder = Encoder([clap, Spectrum(), plain])
    assert encoder.inputs.audio == 6 + 640 + 4
    assert (encoder.inputs.text, encoder.inputs.joint) == (6, (6,))
    assert encoder.inputs.spaces() == [slice(-6, None)]
    store = FeatureStore(encoder, tmp_path)
    (encoded,), made = store.encoded(simulated[:1]), rows(store, simulated[:1])
    assert not isinstance(encoded, Failure)
    clip = {name: features.embedding for name, features in encoded.original.items()}
    expected = np.concatenate([clip["spectrum"], clip["fake"], clip["fake_clap"]])
    assert np.array_equal(made.original_audio[0], expected)
    assert np.array_equal(made.target_text[0], clap.encode_text([simulated[0].target_caption])[0])


def test_two_joint_spaces_follow_each_other() -> None:
    inputs = Inputs(audio=9, text=8, joint=(2, 3))
    assert [list(range(9))[space] for space in inputs.spaces()] == [[4, 5], [6, 7, 8]]


def test_numbers_are_named_by_their_extractor_whoever_aligns_first() -> None:
    inputs = Encoder([FakeClap(), Spectrum(), FakeExtractor()]).inputs
    assert inputs.alignment == (
        *(f"spectrum.{name}" for name in ALIGNMENT_NAMES),
        *(f"fake_clap.{name}" for name in PATCH_NAMES),
        *(f"fake.{name}" for name in PATCH_NAMES),
    )
    assert inputs.evidence == ()


def test_clips_come_as_many_at_a_time_as_the_device_wants() -> None:
    class Moving(FakeExtractor):
        def to(self, device: str) -> None:
            self.batch_size = 16 if device == "cuda" else 1

    encoder = Encoder([Spectrum(), Moving()])
    assert encoder.batch_size == 1
    encoder.to("cuda")
    assert encoder.batch_size == 16


def test_an_extractor_more_costs_the_others_nothing(
    simulated: list[EditPair], tmp_path: Path
) -> None:
    fake = FakeExtractor()
    clips = {path for pair in simulated[:5] for path in (pair.original, pair.edited)}
    alone = FeatureStore(Encoder([fake]), tmp_path)
    alone.pairs(simulated[:5])
    assert alone.misses == fake.clips <= len(clips)
    beside = FeatureStore(Encoder([Spectrum(), fake]), tmp_path)
    beside.pairs(simulated[:5])
    assert beside.misses == alone.misses  # those of the spectrum
    assert fake.clips == alone.misses
    fake.revision = "another"
    again = FeatureStore(Encoder([Spectrum(), fake]), tmp_path)
    again.pairs(simulated[:5])
    assert again.misses == alone.misses


def test_a_model_takes_the_numbers_that_it_knows_by_name(
    simulated: list[EditPair], tmp_path: Path
) -> None:
    whole = FeatureStore(Encoder([FakeExtractor(), Spectrum()]), tmp_path)
    made, given = rows(whole, simulated[:3]), whole.encoder.inputs
    wanted = given.model_copy(update={"alignment": ("fake.patch_new_mean", "spectrum.eq")})
    picked = given.pick(wanted)(made)
    for place, name in enumerate(wanted.alignment):
        column = made.alignment[:, given.alignment.index(name)]
        assert torch.equal(picked.alignment[:, place], column)
    assert given.pick(given)(made) is made
    with pytest.raises(UserError, match=r"does not make clap\.x, which the model looks at"):
        given.pick(given.model_copy(update={"evidence": ("clap.x",)}))
    with pytest.raises(UserError, match="other sizes"):
        given.pick(given.model_copy(update={"audio": 3}))


def test_the_windows_of_a_clap_feed_alignment_and_evidence(
    simulated: list[EditPair], tiny_clap: Path, tmp_path: Path
) -> None:
    both = make_encoder({"spectrum": {}, "clap": {"model": str(tiny_clap)}})
    assert both.inputs.evidence == tuple(
        f"clap.{name}" for name in (*SIMILARITY_NAMES, *CAPTION_NAMES)
    )
    made = rows(FeatureStore(both, tmp_path), simulated[:4])
    assert made.alignment.shape == (4, len(ALIGNMENT_NAMES) + len(PATCH_NAMES))
    numbers = dict(zip(both.inputs.evidence, made.evidence.T, strict=True))
    like = (made.original_text * made.target_text).sum(dim=1)
    assert torch.allclose(numbers["clap.captions_like"], like, atol=1e-6)
    # A clip of one window: what changed along the captions is the difference of its embeddings,
    # as far as the bands say that anything changed.
    asked = torch.nn.functional.normalize(made.target_text - made.original_text, dim=1)
    along = ((made.edited_audio - made.original_audio)[:, -32:] * asked).sum(dim=1)
    moved = numbers["clap.captions_along"]
    assert (moved.abs() <= along.abs() + 1e-5).all()
    alone = make_encoder({"clap": {"model": str(tiny_clap)}})
    paper = rows(FeatureStore(alone, tmp_path), simulated[:4])
    assert torch.equal(paper.edited_audio, made.edited_audio[:, -32:])
    assert torch.allclose(
        paper.evidence[:, alone.inputs.evidence.index("clap.captions_along")], along, atol=1e-5
    )


@pytest.mark.parametrize(
    ("features", "said"),
    [
        ({}, "expected at least one extractor"),
        ({"name": "clap", "model": "x"}, "features are a list of extractors now"),
        ({"melstats": {}}, "no extractor is called 'melstats': it is spectrum now"),
        (
            {"mel": {}},
            "no extractor is called 'mel'; known: acoustics, audiobox, changes, clap, cnn14",
        ),
        ({"spectrum": {"bands": 3}}, "extractor 'spectrum' cannot be made with its arguments"),
    ],
)
def test_what_is_no_list_of_extractors_is_one_sentence(features: dict, said: str) -> None:
    with pytest.raises(UserError, match=said):
        make_encoder(features)


@pytest.mark.parametrize("name", EXTRACTORS)
def test_a_module_of_extractors_has_one_of_its_name(name: str) -> None:
    kind = find_extractor(name)
    assert issubclass(kind, Extractor)
    assert kind.name == name
