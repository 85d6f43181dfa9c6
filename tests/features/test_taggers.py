"""CNN14 and VGGish from the files of their authors against what the originals made of them.

The references are those of random weights, made once by panns_inference and torchvggish; the
weights themselves are drawn again here (tests/second_environment).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from second_environment import tagger_weights
from transformers.audio_utils import mel_filter_bank

from auditeval import audio
from auditeval.features import make_extractor
from auditeval.features.extractors import vggish
from auditeval.features.extractors.cnn14 import FRONT_ENDS, Cnn14Extractor
from auditeval.features.extractors.vggish import VggishExtractor
from auditeval.metrics.divergence import inception_score
from auditeval.pretrained.torch_files import read
from auditeval.training.baselines import inception
from auditeval.types import EditPair, UserError

BAR = 1e-5
"""Of the largest number of an array; measured: 8e-7."""
SEEN = 100 * BAR
"""What a wrong mapping or filter costs at least."""

State = dict[str, torch.Tensor]
Tagger = Cnn14Extractor | VggishExtractor


class Loaded(NamedTuple):
    """One model: what its original made, the file it lay in, and ours from that file."""

    name: str
    original: tagger_weights.Reference
    path: Path
    ours: Tagger


def load(name: str, path: Path) -> Tagger:
    return make_extractor(name.partition("-")[0], checkpoint=str(path))  # type: ignore[return-value]


@pytest.fixture(scope="module", params=tagger_weights.RATES_HZ)
def loaded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Loaded]:
    name = request.param
    original = tagger_weights.Reference.load(name)
    path = tmp_path_factory.mktemp("taggers") / "weights.pth"
    tagger_weights.write(path, name, original.state())
    yield Loaded(name, original, path, load(name, path))
    path.unlink()


def difference(ours: Tagger, original: tagger_weights.Reference, recordings: Path | None) -> float:
    """Largest difference from the original, as a share of an array's largest number."""
    clips = tagger_weights.clips(ours.rate_hz, recordings)
    known = {clip.stem for clip in map(Path, tagger_weights.REAL_CLIPS)} | {"short", "long"}
    assert known == {key.split("/")[0] for key in original.made} - {"noise", "tones"}
    if recordings is not None:  # those alone
        clips = {clip: samples for clip, samples in clips.items() if clip not in ("short", "long")}
    shares = []
    for clip, samples in clips.items():
        features = ours.encode_clip(samples)
        arrays = {"embedding": features.embedding, **features.frames}
        for array, made in arrays.items():
            if (theirs := original.made.get(f"{clip}/{array}")) is not None:
                assert made.shape == theirs.shape
                assert made.dtype == np.float32
                shares.append(np.abs(made - theirs).max() / np.abs(theirs).max())
    assert len(shares) >= len(clips)
    return float(max(shares))


def test_synthetic_clips(loaded: Loaded) -> None:
    assert loaded.ours.rate_hz == tagger_weights.RATES_HZ[loaded.name]
    assert difference(loaded.ours, loaded.original, None) < BAR


def test_recordings(loaded: Loaded, shared_data: Path) -> None:
    assert difference(loaded.ours, loaded.original, shared_data) < BAR


def test_the_papers_inception_score_is_of_these_logits(
    loaded: Loaded, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The baseline IS (CNN14): of a system's clips at the rate that its CNN14 hears."""
    if not isinstance(loaded.ours, Cnn14Extractor):
        pytest.skip("VGGish has no classes")
    clips = [shared_data / name for name in tagger_weights.REAL_CLIPS]
    logits = [loaded.original.made[f"{clip.stem}/logits"][0] for clip in clips]
    tag, known = loaded.ours.tag, {}

    def once(clip: audio.Waveform) -> np.ndarray:
        """The pairs have three clips between them, each of which takes a quarter of a second."""
        key = audio.content_hash(clip)
        if key not in known:
            known[key] = tag(clip)
        return known[key]

    monkeypatch.setattr(loaded.ours, "tag", once)
    for clip, theirs in zip(clips, logits, strict=True):
        made = loaded.ours.tag(audio.decode(clip))
        assert np.abs(made - theirs).max() < BAR * np.abs(theirs).max()
    pairs = [
        EditPair(
            id=str(n), original=clips[0], edited=clips[n % 3], system="a",
            original_caption="", target_caption="",
        )
        for n in range(10)
    ]  # fmt: skip
    found = inception("IS (CNN14)", pairs, None, loaded.ours)  # type: ignore[arg-type]
    expected = inception_score(np.stack([logits[n % 3] for n in range(10)]), splits=1)
    assert found.values == {
        str(n): {"quality": pytest.approx(expected, rel=1e-4)} for n in range(10)
    }


def test_sizes_are_as_declared(loaded: Loaded) -> None:
    clip = tagger_weights.clips(loaded.ours.rate_hz)["long"]
    made = loaded.ours.encode_clip(clip)
    assert made.embedding.shape == (loaded.ours.dim,)
    assert bool(loaded.ours.alignment) == ("patch" in made.frames)
    assert loaded.ours.encode_text(["a dog"]).shape == (1, loaded.ours.text_dim) == (1, 0)
    if isinstance(loaded.ours, VggishExtractor):
        assert np.allclose(made.embedding, made.frames["patch"].mean(axis=0), atol=1e-5)
    else:
        assert (made.embedding >= 0).all()
        assert made.frames["logits"].min() < 0  # no sigmoid


@pytest.mark.parametrize("clip", ["noise", "tones"])
def test_front_end_of_vggish(clip: str) -> None:
    theirs = tagger_weights.Reference.load("vggish").made[f"{clip}/mel"]
    ours = vggish.log_mel(tagger_weights.patch_clips(16000)[clip])
    assert ours.shape == (96, 64)
    assert np.abs(ours - theirs).max() < BAR


def test_a_clip_is_encoded_alone(loaded: Loaded) -> None:
    short, long = tagger_weights.clips(loaded.ours.rate_hz).values()
    together = loaded.ours.encode_audio([short, long, short])
    apart = [loaded.ours.encode_audio([clip.copy()])[0] for clip in (short, long)]
    for alone, made in zip((*apart, apart[0]), together, strict=True):
        assert alone.embedding.tobytes() == made.embedding.tobytes()
        for name, frames in made.frames.items():
            assert alone.frames[name].tobytes() == frames.tobytes()
    assert not np.array_equal(together[0].embedding, together[1].embedding)


def test_what_is_too_short_ends_in_zeros(loaded: Loaded) -> None:
    least = 15600 if loaded.name == "vggish" else 31 * loaded.ours.rate_hz // 100
    clip = tagger_weights.clips(loaded.ours.rate_hz)["short"][: least - 1]
    padded = np.pad(clip, (0, 1))
    ours = loaded.ours.encode_clip(clip).embedding
    assert np.array_equal(ours, loaded.ours.encode_clip(padded).embedding)
    for samples in (clip[:1], np.zeros(1, np.float32), np.zeros(40000, np.float32)):
        made = loaded.ours.encode_clip(samples)
        assert np.isfinite(made.embedding).all()
        assert all(len(frames) >= 1 for frames in made.frames.values())


def swap_norms(state: State) -> None:
    for key in list(state):
        if "conv_block3.bn1" in key:
            other = key.replace("bn1", "bn2")
            state[key], state[other] = state[other], state[key]


def forget_the_first_norm(state: State) -> None:
    state["bn0.running_mean"] = torch.zeros(64)


def turn_the_last_layer(state: State) -> None:
    key = "fc_audioset.weight" if "fc_audioset.weight" in state else "embeddings.4.weight"
    state[key] = state[key].roll(1, dims=0)


def channels_first(state: State) -> None:
    """What the first dense layer of VGGish is without the change of axes."""
    weight = state["embeddings.0.weight"].view(4096, 6, 4, 512)
    state["embeddings.0.weight"] = weight.permute(0, 3, 1, 2).reshape(4096, -1)


ONLY_VGGISH = pytest.mark.parametrize("loaded", ["vggish"], indirect=True)
ONE_CNN14 = pytest.mark.parametrize("loaded", ["cnn14-16k"], indirect=True)
EACH_CLASS = pytest.mark.parametrize("loaded", ["cnn14-16k", "vggish"], indirect=True)
ONLY_CNN14 = pytest.mark.parametrize("loaded", ["cnn14-32k", "cnn14-16k"], indirect=True)


@EACH_CLASS  # what the two of CNN14 are known by is made by the same lines
def test_revision_is_that_of_the_weights(loaded: Loaded, tmp_path: Path) -> None:
    assert loaded.ours.arguments == {"checkpoint": str(loaded.path)}
    state = read(loaded.path, "")
    copy = tmp_path / "other name.pth"
    tagger_weights.write(copy, "vggish", state)  # without what PANNs leaves beside the weights
    assert load(loaded.name, copy).revision == loaded.ours.revision
    key = list(state)[-1]
    state[key][0] += 1e-3
    tagger_weights.write(copy, loaded.name, state)
    assert load(loaded.name, copy).revision != loaded.ours.revision
    copy.unlink()


def spoiled(loaded: Loaded, spoil: Callable[[State], None]) -> Tagger:
    ours = deepcopy(loaded.ours)
    state = dict(ours._model.state_dict())
    spoil(state)
    ours._model.load_state_dict(state)
    return ours


@ONE_CNN14  # both are of one trunk
@pytest.mark.parametrize("spoil", [swap_norms, forget_the_first_norm, turn_the_last_layer])
def test_wrong_mapping_of_cnn14_is_seen(loaded: Loaded, spoil: Callable[[State], None]) -> None:
    assert difference(spoiled(loaded, spoil), loaded.original, None) > SEEN


@ONLY_VGGISH
@pytest.mark.parametrize("spoil", [channels_first, turn_the_last_layer])
def test_wrong_mapping_of_vggish_is_seen(loaded: Loaded, spoil: Callable[[State], None]) -> None:
    assert difference(spoiled(loaded, spoil), loaded.original, None) > SEEN


@ONLY_CNN14
def test_wrong_mel_bank_of_cnn14_is_seen(loaded: Loaded, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bank up to 8 kHz for the model of 32 kHz, one up to 7.5 kHz for that of 16 kHz."""
    highest_hz = {32000: 8000.0, 16000: 7500.0}[loaded.ours.rate_hz]
    bank = loaded.ours.front_end._replace(highest_hz=highest_hz).mel_bank()
    monkeypatch.setattr(loaded.ours, "_bank", bank)
    assert difference(loaded.ours, loaded.original, None) > SEEN


@ONLY_VGGISH
def test_wrong_mel_bank_of_vggish_is_seen(loaded: Loaded, monkeypatch: pytest.MonkeyPatch) -> None:
    """Triangles straight in Hz, not in mel."""
    plain = mel_filter_bank(257, 64, 125.0, 7500.0, 16000, norm=None, mel_scale="htk")
    monkeypatch.setattr(vggish, "mel_bank", lambda: plain)
    assert difference(loaded.ours, loaded.original, None) > SEEN


@ONLY_VGGISH
def test_vggish_drops_what_is_left_over_and_knows_no_blocks(loaded: Loaded) -> None:
    clip = np.tile(tagger_weights.clips(16000)["long"], 8)  # 37.6 s: more than a block
    patches = loaded.ours.encode_clip(clip).frames["patch"]
    assert len(patches) == (1 + (len(clip) - 400) // 160) // 96 == 39
    last = loaded.ours.encode_clip(clip[38 * 96 * 160 :]).frames["patch"]
    assert len(last) == 1
    assert np.abs(last[0] - patches[38]).max() < BAR * np.abs(patches).max()


def test_banks_are_those_of_the_originals() -> None:
    """Which are librosa's."""
    for name, front_end in zip(("cnn14-32k", "cnn14-16k"), FRONT_ENDS, strict=True):
        theirs = tagger_weights.Reference.load(name).mel_bank
        assert theirs is not None
        assert np.abs(front_end.mel_bank() - theirs).max() < 1e-7


@pytest.mark.parametrize("loaded", ["cnn14-32k"], indirect=True)
def test_the_bank_says_which_front_end_a_file_has(loaded: Loaded, tmp_path: Path) -> None:
    """Not the name: the trunks are of one shape, and the bank of 16 kHz makes it that model."""
    state = tagger_weights.zeros(loaded.original.layout)
    state[tagger_weights.MEL_BANK] = torch.from_numpy(FRONT_ENDS[1].mel_bank()).float()
    path = tmp_path / "Cnn14_mAP=0.431.pth"
    tagger_weights.write(path, "cnn14", state)
    assert Cnn14Extractor(str(path)).rate_hz == 16000
    path.unlink()


@pytest.mark.parametrize(
    "bank",
    [
        FRONT_ENDS[0]._replace(rate_hz=44100).mel_bank(),  # as Microsoft's CLAP of 2022 has it
        FRONT_ENDS[0]._replace(highest_hz=8000.0).mel_bank(),
        np.roll(FRONT_ENDS[1].mel_bank(), 1, axis=1),
        FRONT_ENDS[1]._replace(rate_hz=8000, n_fft=256, highest_hz=4000.0).mel_bank(),
    ],
    ids=["44.1 kHz", "to 8 kHz", "turned", "8 kHz"],
)
def test_another_bank_is_refused(bank: np.ndarray, tmp_path: Path) -> None:
    torch.save({"model": {tagger_weights.MEL_BANK: torch.from_numpy(bank)}}, tmp_path / "m.pth")
    with pytest.raises(UserError, match=r"mel bank .* is that of another front end") as caught:
        Cnn14Extractor(str(tmp_path / "m.pth"))
    assert "\n" not in str(caught.value)
