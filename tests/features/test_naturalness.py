"""naturalness: windows that cover a clip, and what of two ratings counts as a change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from auditeval import audio
from auditeval.data.soundbank import synthesize
from auditeval.features.alignment import Alignment, align
from auditeval.features.distillmos_network import WINDOW
from auditeval.features.encoder import Encoder
from auditeval.features.extractors.naturalness import Naturalness
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.features.extractors.words import Words
from auditeval.features.store import FeatureStore
from auditeval.types import EditPair, UserError


@pytest.fixture(scope="module")
def heard() -> Naturalness:
    try:
        return Naturalness()
    except UserError as error:
        pytest.skip(str(error))


def spoken(seconds: float, rate_hz: int = Naturalness.rate_hz) -> np.ndarray:
    return (0.3 * synthesize("speech", 1, seconds, rate_hz)).astype(np.float32)


def aligned(original: np.ndarray, edited: np.ndarray) -> Alignment:
    frames = (Spectrum().encode_clip(x).frames["mel"] for x in (original, edited))
    return align(*frames)


def compared(heard: Naturalness, before: float, after: float, how: Alignment | None) -> dict:
    frames = ({"mos": np.array([[x]], np.float32)} for x in (before, after))
    return dict(zip(heard.alignment, heard.compare(*frames, how).tolist(), strict=True))


def test_windows_cover_a_long_clip_and_the_embedding_is_their_mean(heard: Naturalness) -> None:
    clip = spoken(10.0)
    clip = clip[audio.heard(audio.Waveform(clip, heard.rate_hz))]
    silence = np.zeros(3000, np.float32)
    made = heard.encode_clip(np.concatenate([silence, clip, silence]))
    assert made.frames["mos"].shape == (2, 1)
    ends = heard.encode_clip(clip[:WINDOW]), heard.encode_clip(clip[-WINDOW:])
    expected = [part.embedding[0] for part in ends]
    np.testing.assert_allclose(made.frames["mos"][:, 0], expected, atol=1e-6)
    np.testing.assert_allclose(made.embedding, [np.mean(expected)], atol=1e-6)
    assert all(part.frames["mos"].shape == (1, 1) for part in ends)


@pytest.mark.parametrize("length", [1, 100, 320])
def test_a_few_samples_and_silence_have_a_rating(heard: Naturalness, length: int) -> None:
    for clip in (spoken(0.5)[:length], np.zeros(length, np.float32)):
        assert 1.0 <= heard.encode_clip(clip).embedding[0] <= 5.0


def test_noise_lowers_the_rating_of_recordings_the_more_of_it_there_is(
    heard: Naturalness, shared_data: Path
) -> None:
    path = min((shared_data / "librispeech10").glob("*.flac"))
    clip = audio.resample(audio.decode(path), heard.rate_hz)[: 3 * heard.rate_hz]
    noise = np.random.default_rng(0).standard_normal(len(clip)).astype(np.float32) * clip.std()
    ratings = [float(heard.encode_clip(clip + gain * noise).embedding[0]) for gain in (0, 0.1, 1)]
    assert ratings[0] > ratings[1] + 0.3 > ratings[2] + 0.6


def test_of_equal_clips_nothing_is_said_and_of_others_both_ratings(heard: Naturalness) -> None:
    clip = spoken(1.5, Spectrum.rate_hz)
    noise = 0.05 * np.random.default_rng(0).standard_normal(len(clip)).astype(np.float32)
    same, noisy = aligned(clip, clip), aligned(clip, clip + noise)
    assert not any(compared(heard, 2.0, 2.5, same).values())

    worse = compared(heard, 4.0, 2.5, noisy)
    changed = worse["unnatural"] / 2.5
    assert 0.9 < changed <= 1.0
    assert worse["mos_lost"] == pytest.approx(1.5 * changed)
    assert worse["mos_gained"] == 0
    better = compared(heard, 2.5, 4.0, noisy)
    assert better["mos_gained"] == pytest.approx(1.5 * changed)
    assert better["mos_lost"] == 0
    assert changed == pytest.approx(worse["original"] / 1.0)

    unaligned = compared(heard, 4.0, 2.5, None)
    assert (unaligned["unnatural"], unaligned["original"]) == (2.5, 1.0)


def test_a_small_change_counts_for_less_than_a_clear_one(heard: Naturalness) -> None:
    clip = spoken(1.5, Spectrum.rate_hz)
    noise = np.random.default_rng(0).standard_normal(len(clip)).astype(np.float32)
    said = [
        compared(heard, 3.0, 3.0, aligned(clip, clip + gain * noise))["unnatural"]
        for gain in (0.0, 1e-4, 1e-3, 1e-1)
    ]
    assert said[0] == 0
    assert said == sorted(said)
    assert said[1] < 1.0 < said[-1]


def test_it_is_rebuilt_from_its_arguments(heard: Naturalness, tmp_path: Path) -> None:
    assert Naturalness(**heard.arguments).revision == heard.revision
    with pytest.raises(UserError, match=r"nowhere.pt: no such file"):
        Naturalness(str(tmp_path / "nowhere.pt"))


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("A sentence is read aloud by a woman.", True),
        ("The spoken phrase.", True),
        ("Remove the word 'harbour'.", True),
        ("A crowd is yelling.", True),
        ("A man shouts over traffic.", True),
        ("An interview in a podcast.", True),
        ("A song sung a cappella.", True),
        ("Birdsong and a singing kettle.", True),  # a word is all that it goes by
        ("Swords clash on a bed of gravel.", False),
        ("Essays rustle, a reed bends.", False),
    ],
)
def test_words_name_a_voice(words: str, named: bool) -> None:
    extractor = Naturalness(on_demand=True)
    assert extractor.wanted(("", words, "")) == extractor.wanted(("", "", words)) == named
    assert not extractor.wanted((words, "", ""))  # of the original alone: it may be gone


@pytest.mark.parametrize(
    ("target", "instruction", "heard"),
    [
        ("A man is talking.", None, True),
        ("Rain falls.", None, False),
        ("A song of birds.", None, False),
        ("Rain and a dog.", "Remove the singer.", False),
        ("Rain and a dog.", "Remove the dog and the narration.", False),
        ("Rain and a singer.", "Remove the singer.", False),
        ("Rain and a singer.", "Remove the rain.", True),
        ("Rain and a singer.", "Replace the singer with a narrator.", True),
        ("Rain and a singer.", "Remove the word harbour.", True),
        ("Rain and a dog.", "Remove the dog.", False),
    ],
)
def test_on_demand_it_hears_pairs_whose_words_name_a_voice(
    target: str, instruction: str | None, heard: bool, tmp_path: Path
) -> None:
    clips = tmp_path / "original.wav", tmp_path / "edited.wav"
    voice = spoken(1.0)
    for path, samples in zip(clips, (voice, 0.5 * np.tanh(20 * voice)), strict=True):
        audio.files.write(path, audio.waveform.quantised(samples), Naturalness.rate_hz)
    pair = EditPair(
        id="a",
        original=clips[0],
        edited=clips[1],
        original_caption="A dog." if instruction is None else target,
        target_caption=target,
        instruction=instruction,
    )
    encoder = Encoder([Spectrum(), Naturalness(on_demand=True), Words()])
    (made,) = FeatureStore(encoder, tmp_path / "cache").pairs([pair])
    names = [name for name in encoder.inputs.alignment if name.startswith("naturalness.")]
    places = [encoder.inputs.alignment.index(name) for name in names]
    assert bool(made.alignment[places].any()) == heard
    assert bool(list(tmp_path.glob("cache/naturalness@*/audio/*/*"))) == heard
    assert len(made.original_audio) == encoder.inputs.audio == Spectrum.dim

    # The same clips under words that name a voice, beside it: it is rated as alone.
    spoken_of = pair.model_copy(
        update={"id": "b", "instruction": None, "target_caption": "Speech."}
    )
    beside, other = FeatureStore(encoder, tmp_path / "cache").pairs([pair, spoken_of])
    assert beside.alignment.equal(made.alignment)
    assert other.alignment[places].any()
