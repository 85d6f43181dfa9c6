"""Lists of clips: what they may hold, and one sentence for what they may not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from auditeval.audio import AudioError
from auditeval.data.pseudo_parallel.clips import Clip, profile, read_clips
from auditeval.types import UserError


def listed(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "clips.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_label_and_caption_are_prompt_and_wording(tmp_path: Path) -> None:
    path = listed(
        tmp_path,
        "file,label,caption,category,id,extra\n"
        'a.wav,dog,"A dog barks, twice.",Animals,7,x\n'
        "sub/b.wav,dog,,,,\n",
    )
    assert read_clips(path) == [
        Clip(tmp_path / "a.wav", "dog", "A dog barks, twice.", "Animals", "7"),
        Clip(tmp_path / "sub" / "b.wav", "dog", "dog", None, "sub/b.wav"),
    ]
    only = listed(tmp_path, "\ufefffile,caption,take\na.wav,A dog barks.,9\n")
    assert read_clips(only, "take") == [
        Clip(tmp_path / "a.wav", "a dog barks", "A dog barks.", None, "9")
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", r"clips\.csv:1: expected the columns file, label or caption, found none"),
        ("name,label\n", r"clips\.csv:1: expected the columns .* found name, label"),
        ("file,words\n", r"clips\.csv:1: expected the columns"),
        ("file,label\n", r"clips\.csv: has a header and no rows"),
        ("file,label\na.wav,dog\nb.wav,\n", r"clips\.csv:3: label or caption is empty"),
        ("file,label\n ,dog\n", r"clips\.csv:2: file is empty"),
        ("file,label\na.wav\n", r"clips\.csv:2: expected 2 cells"),
        ("file,label\na.wav,dog,cat\n", r"clips\.csv:2: expected 2 cells"),
        ("file,label,label\n", r"clips\.csv:1: a column stands twice in file, label, label"),
        ("file,label\na.wav,...\n", r"clips\.csv:2: label or caption is empty"),
    ],
)
def test_a_bad_list_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read_clips(listed(tmp_path, text))


def test_lists_that_are_no_text_or_not_there(tmp_path: Path) -> None:
    (tmp_path / "noise.csv").write_bytes(b"file,label\n\xff\xfe,\x80\n")
    with pytest.raises(UserError, match=r"noise\.csv:2: is not CSV"):
        read_clips(tmp_path / "noise.csv")
    with pytest.raises(UserError, match=r"none\.csv: cannot be read \(No such file"):
        read_clips(tmp_path / "none.csv")
    with pytest.raises(UserError, match=r"cannot be read \(Is a directory"):
        read_clips(tmp_path)
    with pytest.raises(
        UserError, match=r"clips\.csv:1: expected the columns file, speaker, label or caption"
    ):
        read_clips(listed(tmp_path, "file,label\na.wav,dog\n"), "speaker")


def test_a_profile_is_energy_and_peak_of_each_tenth_of_a_second(tmp_path: Path) -> None:
    wave = np.random.default_rng(0).uniform(-0.5, 0.5, 2550).astype(np.float32)
    soundfile.write(tmp_path / "a.wav", wave, 1000, subtype="FLOAT")
    clip = Clip(tmp_path / "a.wav", "a", "a", None, "a")
    found = profile(clip, 1000, None)
    assert len(found.energy) == len(found.peak) == 25
    for block in range(25):
        part = wave[100 * block : 100 * block + 100].astype(float)
        assert found.energy[block] == pytest.approx((part**2).sum(), rel=1e-12)
        assert found.peak[block] == np.abs(part).max()
    assert len(profile(clip, 1000, 1.2).energy) == 12


def test_a_clip_without_sound_where_it_is_used_is_refused(tmp_path: Path) -> None:
    wave = np.zeros(3000, np.float32)
    wave[2000:] = 0.5
    soundfile.write(tmp_path / "late.wav", wave, 1000)
    clip = Clip(tmp_path / "late.wav", "a", "a", None, "a")
    assert len(profile(clip, 1000, None).peak) == 30
    with pytest.raises(AudioError, match=r"late\.wav: the part of it that would be used is silent"):
        profile(clip, 1000, 2.0)
    soundfile.write(tmp_path / "blip.wav", np.full(80, 0.5), 1000)
    with pytest.raises(AudioError, match=r"blip\.wav: lasts 0\.08 s, 0\.1 s are needed"):
        profile(Clip(tmp_path / "blip.wav", "a", "a", None, "a"), 1000, None)
