"""Generated clips, from a pipeline of TangoFlux's own call signature without its weights."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile
import torch

from auditeval.data.pseudo_parallel import text_to_audio
from auditeval.data.pseudo_parallel.build import build
from auditeval.data.pseudo_parallel.clips import Prompt, read_clips, read_prompts
from auditeval.data.pseudo_parallel.plan import Settings
from auditeval.data.pseudo_parallel.text_to_audio import TangoFlux, generate
from auditeval.types import UserError

RATE_HZ = 8000
PROMPTS = [Prompt("dog", "a dog barks", "Animals"), Prompt("rain", "rain", None)]


class FakePipeline:
    """`generate` as TangoFluxInference has it: stereo noise of torch's global generator."""

    def __init__(self, scale: float = 0.5) -> None:
        self.asked: list[tuple[str, int, float, float]] = []
        self._scale = scale

    def generate(
        self, prompt: str, steps: int = 25, duration: float = 10, guidance_scale: float = 4.5
    ) -> torch.Tensor:
        self.asked.append((prompt, steps, duration, guidance_scale))
        return self._scale * torch.randn(2, int(duration * RATE_HZ))


def model(pipeline: object) -> TangoFlux:
    return TangoFlux(pipeline, rate_hz=RATE_HZ)


def test_it_is_asked_as_in_the_paper(tmp_path: Path) -> None:
    pipeline = FakePipeline()
    steps = list(generate(PROMPTS, model(pipeline), tmp_path / "clips", 3.0, takes=2))
    assert pipeline.asked == [(p.caption, 50, 3.0, 4.5) for p in PROMPTS for _ in range(2)]
    assert [step.done for step in steps] == [1, 2, 3, 4]
    rows = list(csv.DictReader((tmp_path / "clips" / "labels.csv").open()))
    assert [(r["label"], r["caption"], r["category"]) for r in rows[::2]] == [
        ("dog", "a dog barks", "Animals"),
        ("rain", "rain", ""),
    ]
    assert len({row["id"] for row in rows}) == 4
    for row in rows:
        samples, rate_hz = soundfile.read(tmp_path / "clips" / row["file"])
        assert (len(samples), rate_hz) == (3 * RATE_HZ, RATE_HZ)
        assert np.abs(samples).max() > 0.5


def test_a_seed_makes_the_sound_and_leaves_torch_as_it_was() -> None:
    tango = model(FakePipeline())
    torch.manual_seed(5)
    first = tango.generate("rain", 1.0, seed=1)
    after = torch.randn(1)
    torch.manual_seed(5)
    assert torch.equal(torch.randn(1), after)
    torch.manual_seed(99)
    assert np.array_equal(first.samples, tango.generate("rain", 1.0, seed=1).samples)
    assert not np.array_equal(first.samples, tango.generate("rain", 1.0, seed=2).samples)
    assert first.samples.shape == (RATE_HZ,)
    assert first.samples.dtype == np.float32


def test_a_stopped_run_goes_on_with_the_same_bytes(tmp_path: Path) -> None:
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    list(generate(PROMPTS, model(FakePipeline()), whole, 1.0, takes=3))
    for step in generate(PROMPTS, model(FakePipeline()), stopped, 1.0, takes=3):
        if step.done == 4:
            break
    assert not (stopped / "labels.csv").exists()
    again = FakePipeline()
    list(generate(PROMPTS, model(again), stopped, 1.0, takes=3))
    assert len(again.asked) == 2
    files = sorted(path.name for path in whole.iterdir())
    assert files == sorted(path.name for path in stopped.iterdir())
    assert all((whole / name).read_bytes() == (stopped / name).read_bytes() for name in files)
    with pytest.raises(UserError, match="stopped: was made with other settings"):
        list(generate(PROMPTS, model(FakePipeline()), stopped, 2.0, takes=3))


def test_what_is_too_loud_is_turned_down_not_clipped(tmp_path: Path) -> None:
    list(generate(PROMPTS, model(FakePipeline(scale=3.0)), tmp_path / "clips", 1.0))
    for path in (tmp_path / "clips").glob("*.flac"):
        samples, _ = soundfile.read(path, dtype="int16")
        assert np.count_nonzero(np.abs(samples.astype(int)) >= 32767) == 1


@pytest.mark.parametrize(
    ("scale", "said"),
    [(0.0, "the model made silence"), (float("nan"), "samples that are not finite")],
)
def test_what_is_no_sound_is_named_and_not_listed(tmp_path: Path, scale: float, said: str) -> None:
    steps = list(generate(PROMPTS, model(FakePipeline(scale)), tmp_path / "clips", 1.0))
    assert all(said in str(step.reason) for step in steps)
    assert str(steps[0].reason).startswith("'a dog barks', take 0: ")
    assert (tmp_path / "clips" / "labels.csv").read_text() == "file,label,caption,category,id\n"


@pytest.mark.parametrize("error", [torch.OutOfMemoryError("CUDA out of memory"), MemoryError()])
def test_memory_that_does_not_do_costs_the_clip_alone(tmp_path: Path, error: Exception) -> None:
    """And the same command asks for it again."""

    class Greedy(FakePipeline):
        def generate(self, prompt: str, *settings: float, **named: float) -> torch.Tensor:
            if prompt == "a dog barks":
                raise error
            return super().generate(prompt, *settings, **named)  # type: ignore[arg-type]

    steps = list(generate(PROMPTS, model(Greedy()), tmp_path / "clips", 0.1))
    assert [step.reason for step in steps] == [
        "'a dog barks', take 0: the memory does not do for the model and a clip of this length",
        None,
    ]
    again = FakePipeline()
    assert [step.reason for step in generate(PROMPTS, model(again), tmp_path / "clips", 0.1)] == [
        None
    ] * 2
    assert [asked[0] for asked in again.asked] == ["a dog barks"]


def test_a_model_that_does_not_fit_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def inference(name: str) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.")

    package = SimpleNamespace(TangoFluxInference=inference)
    monkeypatch.setitem(sys.modules, "tangoflux", package)
    with pytest.raises(UserError, match=r"TangoFlux cannot be loaded \(CUDA out of memory"):
        TangoFlux()


def test_generated_clips_become_a_set(tmp_path: Path) -> None:
    scenes = [Prompt(words, words, None) for words in ("a street", "a forest")]
    list(generate(PROMPTS, model(FakePipeline()), tmp_path / "events", 6.0, takes=2))
    list(generate(scenes, model(FakePipeline()), tmp_path / "scenes", 10.0))
    built = build(
        tmp_path / "events" / "labels.csv",
        tmp_path / "set",
        Settings(rate_hz=RATE_HZ),
        tmp_path / "scenes" / "labels.csv",
        "virtual",
    )
    assert built.pairs == 6 * 20
    assert not built.left_out


def test_a_list_of_any_words_can_be_read_again(tmp_path: Path) -> None:
    prompts = [Prompt("dog", words, None) for words in ("a\rb", 'a\r\nb, "c"', "a\n\u2028b", "'a'")]
    list(generate(prompts, model(FakePipeline()), tmp_path / "clips", 0.1))
    clips = read_clips(tmp_path / "clips" / "labels.csv")
    assert [clip.caption for clip in clips] == [prompt.caption for prompt in prompts]


def test_prompts_of_a_list(tmp_path: Path) -> None:
    path = tmp_path / "audiocaps.csv"
    path.write_text("audiocap_id,youtube_id,start_time,caption\n1,x,30,A dog barks\n")
    assert read_prompts(path) == [Prompt("a dog barks", "A dog barks", None)]
    path.write_text("words\nrain\n")
    with pytest.raises(UserError, match=r"audiocaps\.csv:1: expected the columns label or caption"):
        read_prompts(path)


def test_without_its_package_the_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    import fake_tangoflux  # noqa: F401  # as other tests do before this one, which must see nothing

    monkeypatch.setitem(sys.modules, "tangoflux", None)
    with pytest.raises(
        UserError, match=r"the package tangoflux cannot be imported .*--no-deps tangoflux"
    ):
        TangoFlux()
    assert text_to_audio.TangoFlux(FakePipeline()).name.endswith("50 steps, guidance scale 4.5")
