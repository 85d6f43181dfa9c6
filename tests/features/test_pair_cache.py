"""Features of pairs that are asked for again: the same, and nothing is compared for them."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch

from auditeval import audio
from auditeval.features import pair_cache
from auditeval.features.alignment import Alignment
from auditeval.features.comparison import Frames
from auditeval.features.encoder import Encoder
from auditeval.features.extractors.naturalness import Naturalness
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.features.extractors.words import Words
from auditeval.features.pair import PairFeatures
from auditeval.features.pair_cache import PairCache
from auditeval.features.store import Failure, FeatureStore
from auditeval.types import EditPair

Rows = list[PairFeatures | Failure]


class Compared(Spectrum):
    """Counts what it compares."""

    count = 0

    def compare(self, original: Frames, edited: Frames, alignment: Alignment | None) -> np.ndarray:
        type(self).count += 1
        return super().compare(original, edited, alignment)


@pytest.fixture(autouse=True)
def nothing_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Compared, "count", 0)


def store_of(folder: Path) -> FeatureStore:
    return FeatureStore(Encoder([Compared(), Words()]), folder, heard={})


@pytest.fixture
def asked(tmp_path: Path) -> Callable[..., Rows]:
    """What a cache in one folder says, each time by a store of its own."""
    return lambda pairs, *with_words: PairCache(store_of(tmp_path / "cache")).pairs(
        pairs, *with_words
    )


def same(first: Rows, second: Rows) -> bool:
    return all(
        isinstance(a, PairFeatures)
        and isinstance(b, PairFeatures)
        and all(torch.equal(x, y) for x, y in zip(a, b, strict=True))
        for a, b in zip(first, second, strict=True)
    )


def test_what_is_asked_for_again_is_the_same_and_compared_once(
    simulated: list[EditPair], tmp_path: Path, asked: Callable[..., Rows]
) -> None:
    pairs = simulated[:10]
    expected = FeatureStore(Encoder([Spectrum(), Words()]), tmp_path / "plain").pairs(pairs)
    assert same(asked(pairs), expected)
    assert Compared.count == 10
    assert same(asked(pairs), expected)
    assert same(asked(pairs[3:7][::-1]), expected[3:7][::-1])
    assert Compared.count == 10
    assert asked([]) == []


def test_what_is_new_among_the_others_is_compared(
    simulated: list[EditPair], asked: Callable[..., Rows]
) -> None:
    asked(simulated[:4])
    mixed = [*simulated[4:8], *simulated[2:4]]
    assert same(asked(mixed), [*asked(simulated[4:8]), *asked(simulated[2:4])])
    assert Compared.count == 8


def test_a_pair_is_its_clips_and_its_words(
    simulated: list[EditPair], tmp_path: Path, asked: Callable[..., Rows]
) -> None:
    pair = simulated[0]
    asked([pair])
    renamed = tmp_path / "renamed.flac"
    renamed.write_bytes(pair.edited.read_bytes())
    asked([pair.model_copy(update={"id": "other", "edited": renamed, "ratings": {}})])
    assert Compared.count == 1
    louder = audio.decode(pair.edited)
    soundfile.write(renamed, 0.5 * louder.samples, louder.rate_hz)
    others = {"edited": renamed}, {"target_caption": "Rain."}, {"instruction": "Make it rain."}
    for number, change in enumerate(others):
        asked([pair.model_copy(update=change)])
        assert Compared.count == 2 + number
    asked([pair], False)
    assert Compared.count == 5


def test_another_revision_begins_anew(
    simulated: list[EditPair], asked: Callable[..., Rows], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked(simulated[:2])
    monkeypatch.setattr(pair_cache, "REVISION", "of tomorrow")
    asked(simulated[:2])
    assert Compared.count == 4
    monkeypatch.setattr(Compared, "revision", "of tomorrow")
    asked(simulated[:2])
    assert Compared.count == 6


def test_other_arguments_begin_anew(simulated: list[EditPair], tmp_path: Path) -> None:
    """Of one revision, since what they make of a clip is the same."""
    if find_spec("distillmos") is None:
        pytest.skip("distillmos is not installed")
    pair = simulated[0].model_copy(update={"target_caption": "Rain falls."})
    encoders = [Encoder([Spectrum(), Naturalness(on_demand=which)]) for which in (True, False)]
    for encoder in encoders:
        store = FeatureStore(encoder, tmp_path / "cache", heard={})
        plain = FeatureStore(encoder, tmp_path / "plain")
        assert same(PairCache(store).pairs([pair]), plain.pairs([pair]))


def test_a_pair_that_fails_is_asked_for_each_time(
    simulated: list[EditPair], tmp_path: Path, asked: Callable[..., Rows]
) -> None:
    missing = tmp_path / "late.wav"
    pairs = [*simulated[:2], simulated[2].model_copy(update={"edited": missing}), simulated[3]]
    for _ in range(2):
        *_, failed, last = asked(pairs)
        assert isinstance(failed, Failure)
        assert "late.wav" in failed.reason
        assert isinstance(last, PairFeatures)
    assert Compared.count == 3
    missing.write_bytes(simulated[2].edited.read_bytes())
    assert same(asked(pairs), asked(simulated[:4]))


def test_a_damaged_entry_is_made_again(
    simulated: list[EditPair], tmp_path: Path, asked: Callable[..., Rows]
) -> None:
    expected = asked(simulated[:3])
    first, *_ = sorted((tmp_path / "cache").glob("pairs@*/*/*.entry"))
    first.write_bytes(first.read_bytes()[:-1])
    store = store_of(tmp_path / "cache")
    assert same(PairCache(store).pairs(simulated[:3]), expected)
    assert store.damaged >= 1
    assert Compared.count == 4


def test_all_files_are_told_wherever_their_pairs_come_from(
    simulated: list[EditPair], tmp_path: Path
) -> None:
    told = []
    for _ in range(2):
        store = store_of(tmp_path / "cache")
        PairCache(store).pairs(simulated[:5])
        told.append(store.heard)
    files = {path for pair in simulated[:5] for path in (pair.original, pair.edited)}
    assert told[0] == told[1] == {path: audio.content_hash(audio.decode(path)) for path in files}


def test_a_store_that_does_not_tell_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not asked to tell"):
        PairCache(FeatureStore(Encoder([Spectrum()]), tmp_path))
