"""What is selected of a benchmark, what it is called then, and what is no selection."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from speechedit_rows import lay_out, row, tone

from auditeval.audio import files
from auditeval.audio.waveform import quantised
from auditeval.backends.load import Backends
from auditeval.benchmarks.salmon.benchmark import Salmon
from auditeval.benchmarks.salmon.scorers import read_likelihoods
from auditeval.benchmarks.selection import WHOLE, Selection
from auditeval.benchmarks.speecheditbench.benchmark import SpeechEditBench
from auditeval.types import UserError


class Clip(NamedTuple):
    name: str
    tasks: tuple[str, ...]
    seconds: float


CLIPS = [
    Clip("a", ("single", "sound"), 5.0),
    Clip("b", ("single", "music"), 20.0),
    Clip("c", ("multi", "sound"), 10.0),
    Clip("d", ("single", "sound"), 1.0),
    Clip("e", ("multi", "music"), 3.0),
]
KNOWN = ("single", "multi", "sound", "music")


@pytest.mark.parametrize(
    ("selection", "names"),
    [
        (WHOLE, "abcde"),
        (Selection(limit=1), "ac"),  # of each first task
        (Selection(limit=2), "abce"),
        (Selection(("sound",)), "acd"),
        (Selection(("sound",), limit=2), "ac"),
        (Selection(("sound", "music"), limit=1), "ab"),
        (Selection(("single", "music"), limit=2), "abe"),  # d: two of single are there
        (Selection(max_seconds=10), "acde"),
        (Selection(("single",), limit=2, max_seconds=10), "ad"),  # the first two of those
    ],
)
def test_the_first_of_each_task_in_their_order(selection: Selection, names: str) -> None:
    chosen = selection.of(CLIPS, KNOWN, lambda clip: clip.tasks, lambda clip: clip.seconds)
    assert "".join(clip.name for clip in chosen) == names
    assert bool(selection.settings) == bool(selection.sentences) == (selection != WHOLE)


def test_without_a_duration_nobody_is_asked_how_long_a_clip_is() -> None:
    def never(_: Clip) -> float:
        raise AssertionError

    assert Selection(limit=9).of(CLIPS, KNOWN, lambda clip: clip.tasks, never) == CLIPS


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"limit": 0}, "limit: expected 1 or more samples of each task, found 0"),
        ({"max_seconds": 0.0}, "max_seconds: expected seconds above 0, found 0"),
        ({"max_seconds": float("nan")}, "max_seconds: expected seconds above 0, found nan"),
        ({"tasks": ("noise",)}, "there is no task 'noise' (known: single, multi, sound, music)"),
        ({"max_seconds": 0.5}, "no sample is left of a subset (sources of at most 0.5 s)"),
    ],
)
def test_what_is_no_selection_is_one_sentence(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(UserError) as caught:
        Selection(**arguments).of(  # type: ignore[arg-type]
            CLIPS, KNOWN, lambda clip: clip.tasks, lambda clip: clip.seconds
        )
    assert str(caught.value) == said


def test_a_subset_has_settings_of_its_own_and_never_the_papers_title(tmp_path: Path) -> None:
    rows = [row("style", sample_id=f"s{n}") for n in range(3)]
    lay_out(tmp_path, *rows, row("content"))
    whole = SpeechEditBench(tmp_path, Backends({}))
    some = SpeechEditBench(tmp_path, Backends({}), Selection(("style_editing",), 2))
    assert [sample.id for sample in some.samples] == ["s0", "s1"]
    assert some.settings["selection"]["tasks"] == ("style",)
    assert "selection" not in whole.settings
    table = some.tables({})[0]
    assert "not comparable with the paper's Table 2" in table.title
    assert "samples: a subset (style; the first 2 of each task)" in table.notes


def test_the_source_says_how_long_a_sample_lasts(tmp_path: Path) -> None:
    lay_out(tmp_path, *(row("style", sample_id=id) for id in ("a", "b")))
    home = tmp_path / "data/style_editing"
    lines = (home / "samples.jsonl").read_text().splitlines()
    lines[1] = lines[1].replace("audio/s.wav", "audio/long.wav")
    (home / "samples.jsonl").write_text("\n".join(lines))
    files.write(home / "audio/long.wav", quantised(tone(220, 3.0).samples), 16000)
    short = SpeechEditBench(tmp_path, Backends({}), Selection(max_seconds=2.5))
    assert [sample.id for sample in short.samples] == ["a"]
    (home / "audio/s.wav").write_bytes(b"no audio")
    with pytest.raises(UserError, match=r"sample a: .*s\.wav: cannot be decoded"):
        SpeechEditBench(tmp_path, Backends({}), Selection(max_seconds=2.5))


def test_likelihoods_of_clips_that_are_not_selected_are_passed_over(tmp_path: Path) -> None:
    names = [f"rir_consistency/sample_{n}_{i}.wav" for n in range(2) for i in range(2)]
    for name in names:
        files.write(tmp_path / name, quantised(tone(220).samples), 16000)
    table = tmp_path / "lm.csv"
    table.write_text("file,score\n" + "".join(f"{name},0.5\n" for name in names))
    first = Salmon(tmp_path, Selection(limit=1))
    read_likelihoods(table, first.samples)
    table.write_text(f"file,score\n{names[0]},1\nrir_consistency/sample_9_0.wav,1\n")
    with pytest.raises(UserError, match=r"sample_9_0\.wav is no clip of the benchmark"):
        read_likelihoods(table, first.samples)
