"""Backends by role: made when needed, kept by content, and what a configuration can get wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_limits

from auditeval.audio import AudioError, Waveform
from auditeval.backends.backend import ROLES, SpeakerEmbedding, Tags, Transcript, Word
from auditeval.backends.load import Backends, read
from auditeval.data.soundbank import synthesize
from auditeval.types import UserError

CLIP = Waveform(np.linspace(-0.5, 0.5, 8000, dtype=np.float32), 8000)


class Loudness:
    """Counts how often it is asked."""

    def __init__(self, revision: str = "1", name: str = "loudness") -> None:
        self.name, self.revision, self.asked = name, revision, 0

    def __call__(self, clip: Waveform) -> Tags:
        self.asked += 1
        if clip.samples.max() <= 0:
            raise AudioError("nothing to hear")
        return Tags({"peak": float(clip.samples.max()), "third": 1 / 3})


def test_what_a_model_said_is_kept_by_content(tmp_path: Path) -> None:
    model = Loudness()
    said = Backends({"tagger": model}, tmp_path)("tagger", CLIP)
    same = Waveform(CLIP.samples.copy(), CLIP.rate_hz)
    assert Backends({"tagger": model}, tmp_path)("tagger", same) == said  # to the last digit
    assert model.asked == 1
    for other in (Waveform(CLIP.samples, 16000), Waveform(CLIP.samples[1:], 8000)):
        Backends({"tagger": model}, tmp_path)("tagger", other)
    assert model.asked == 3
    for changed in (Loudness("2"), Loudness(name="other")):
        Backends({"tagger": changed}, tmp_path)("tagger", CLIP)
        assert changed.asked == 1
    # A file that was cut is made anew; without a folder nothing is kept.
    for path in tmp_path.rglob("*.entry"):
        path.write_bytes(path.read_bytes()[:10])
    assert Backends({"tagger": model}, tmp_path)("tagger", CLIP) == said
    assert Backends({"tagger": model})("tagger", CLIP) == said
    assert model.asked == 5


def test_results_of_every_shape_come_back_as_they_were(tmp_path: Path) -> None:
    results = {
        "transcriber_en": Transcript("Two words", (Word("Two", 0.1, 0.2), Word("words", 0.3, 1.0))),
        "speaker": SpeakerEmbedding((0.6, -0.8)),
        "tagger": Tags({"Dog": 0.25}),
    }
    for role, result in results.items():
        model = Loudness()
        model.__class__ = type("Fixed", (Loudness,), {"__call__": lambda self, clip, r=result: r})
        for _ in range(2):
            found = Backends({role: model}, tmp_path)(role, CLIP)
            assert found == result
            assert type(found) is ROLES[role]


def test_a_clip_without_a_result_is_asked_again(tmp_path: Path) -> None:
    model, silent = Loudness(), Waveform(np.zeros(800, np.float32), 8000)
    for _ in range(2):
        with pytest.raises(AudioError, match="nothing to hear"):
            Backends({"tagger": model}, tmp_path)("tagger", silent)
    assert model.asked == 2


def test_a_model_is_made_when_it_is_needed(tmp_path: Path) -> None:
    pyin = {"_target_": "auditeval.backends.pitch.Pyin", "low_hz": 60}
    broken = {"_target_": "auditeval.backends.taggers.PANNsTagger", "checkpoint": "???"}
    backends = Backends({"pitch": pyin, "tagger": broken, "speaker": None})
    assert backends.model("pitch") is backends.model("pitch")
    assert backends.named(["pitch", "speaker"])["speaker"] == "none"
    assert "-60-500" in backends.named(["pitch"])["pitch"]
    with pytest.raises(UserError, match=r"PANNsTagger: checkpoint is not set; copy the YAML"):
        backends.model("tagger")
    with pytest.raises(UserError, match="no backend for speaker: name one"):
        backends("speaker", CLIP)


def test_what_a_node_gets_wrong_is_one_sentence(tmp_path: Path) -> None:
    absent = {"_target_": "auditeval.backends.pitch.NoSuchTracker"}
    wrong = {"_target_": "auditeval.backends.pitch.Pyin", "height": 3}
    missing = {
        "_target_": "auditeval.backends.taggers.PANNsTagger",
        "checkpoint": str(tmp_path / "no.pth"),
    }
    nodes = {"pitch": absent, "speaker": wrong, "tagger": missing, "activity": {"name": "x"}}
    backends = Backends(nodes)
    for role, sentence in {
        "pitch": "NoSuchTracker",
        "speaker": "height",
        "tagger": r"no\.pth",
        "activity": "expected the name of a class",
    }.items():
        with pytest.raises(UserError, match=sentence) as caught:
            backends.model(role)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("tagger: [", r"is not YAML"),
        ("taggers: {_target_: x}", r"expected nodes under some of transcriber_en, .*'taggers'"),
        ("just words", r"expected nodes under some of"),
        ("1: {}\ntaggers: {}", r"expected nodes under some of .*found 1"),
        ("tagger: auditeval.backends.taggers.YAMNetTagger", r"tagger is 'auditeval.*_target_"),
        ("tagger: [1]", r"tagger is \[1\]; expected _target_"),
    ],
)
def test_a_configuration_is_checked(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(UserError, match=sentence):
        read(path)


def test_a_variable_that_is_not_set_is_one_sentence() -> None:
    node = {"_target_": "auditeval.backends.pitch.Pyin", "low_hz": "${oc.env:NO_SUCH_VARIABLE}"}
    with pytest.raises(UserError, match=r"Pyin: .*NO_SUCH_VARIABLE"):
        Backends({"pitch": node}).model("pitch")


def test_configurations_that_ship_go_by_name() -> None:
    assert set(read("offline")) <= {*ROLES, "judge"}
    with pytest.raises(UserError, match="expected a YAML file or one of mmae, offline, "):
        read("nowhere")


def test_threads_change_no_result_and_no_model_changes_their_number() -> None:
    """Some of their packages set torch's for the whole process, and BLAS adds up in other orders
    on several."""
    clip = Waveform(synthesize("speech", 0, 3.0, 16000), 16000)
    backends = Backends(read("offline"))
    said: list[dict[str, object]] = []
    state = torch.get_rng_state()
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            said.append({})
            with threadpool_limits(threads, user_api="blas"):
                for role in ROLES:
                    if role in backends:
                        said[-1][role] = backends(role, clip)
                        assert torch.get_num_threads() == threads, role
    finally:
        torch.set_num_threads(1)
    assert said[0] == said[1]
    assert torch.equal(torch.get_rng_state(), state)  # what an editor in training draws by
    assert set(said[0]) == {
        "transcriber_en",
        "speaker",
        "pitch",
        "speech_quality",
        "activity",
        "tagger",
    }
