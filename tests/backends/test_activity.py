"""Voice activity: speech between silences is found where it stands."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch

from auditeval.audio import Waveform, decode, resample
from auditeval.backends.activity import SileroVAD

RATE_HZ = 16000

pytest.importorskip("silero_vad")


@pytest.fixture(scope="module")
def activity() -> SileroVAD:
    return SileroVAD()


@pytest.fixture(scope="module")
def speech(shared_data: Path) -> np.ndarray:
    return resample(decode(sorted((shared_data / "librispeech10").glob("*.flac"))[0]), RATE_HZ)


def between(speech: np.ndarray, before: float, after: float) -> Waveform:
    pauses = [np.zeros(round(s * RATE_HZ), np.float32) for s in (before, after)]
    return Waveform(np.concatenate([pauses[0], speech, pauses[1]]), RATE_HZ)


def test_speech_is_found_where_it_stands(activity: SileroVAD, speech: np.ndarray) -> None:
    seconds = len(speech) / RATE_HZ
    spans = activity(between(speech, 2, 3)).spans
    assert 1.9 < spans[0][0] < 3
    assert 2 + seconds - 1 < spans[-1][1] < 2 + seconds + 0.3
    assert sum(end - start for start, end in spans) > 0.6 * seconds
    times = [time for span in spans for time in span]
    assert times == sorted(times)


def test_no_span_ends_after_the_clip(activity: SileroVAD, speech: np.ndarray) -> None:
    clip = Waveform(speech[: 2 * RATE_HZ + 7], RATE_HZ)
    assert activity(clip).spans[-1][1] <= clip.seconds


def test_nobody_speaks_in_noise_and_silence(activity: SileroVAD) -> None:
    noise = 0.05 * np.random.default_rng(0).standard_normal(RATE_HZ)
    for samples in (noise, np.zeros(RATE_HZ), np.zeros(800)):
        assert activity(Waveform(samples.astype(np.float32), RATE_HZ)).spans == ()


def test_spans_are_a_function_of_the_clip(activity: SileroVAD, speech: np.ndarray) -> None:
    clips = [between(speech, pause, 1) for pause in (0, 0.5, 1, 1.5)]
    alone = [activity(clip) for clip in clips]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(activity, clips)) == alone


def test_torch_keeps_its_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for name in [name for name in sys.modules if name.startswith("silero_vad")]:
        monkeypatch.delitem(sys.modules, name)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        SileroVAD()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
