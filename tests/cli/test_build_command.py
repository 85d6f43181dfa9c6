"""`auditeval build` and `generate`: what they print, and one sentence for a mistake."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import soundfile
from commands import content, noise

from auditeval import manifest

SMALL = ("--backgrounds-per-pair", 2, "--background-seconds", 2, "--event-seconds", 0.5, 1)


def test_it_builds_a_manifest_that_can_be_read(cli: Any, clip_list: Path, tmp_path: Path) -> None:
    ended = cli("build", "--clips", clip_list, *SMALL, "--rate", 8000, "-o", tmp_path / "set")
    assert ended.status == 0
    path = tmp_path / "set" / "manifest.jsonl"
    assert ended.out == (
        f"{path}: 72 pairs; events of the mixes: 4 before, 4 during, 4 after the middle\n"
    )
    assert len(manifest.read(tmp_path / "set" / "manifest.jsonl")) == 72
    assert "writing audio" in ended.err


def test_a_clip_that_cannot_be_read_is_left_out_and_the_status_says_so(
    cli: Any, clip_list: Path, tmp_path: Path
) -> None:
    listed = tmp_path / "labels.csv"
    lines = [line for line in clip_list.read_text().splitlines() if line]
    rows = [f"{clip_list.parent}/{line}" for line in lines[1:]]
    listed.write_text("\n".join([lines[0], *rows, "none.wav,cat,,"]) + "\n")
    ended = cli("build", "--clips", listed, *SMALL, "--audio", "virtual", "-o", tmp_path / "set")
    assert ended.status == 1
    assert "72 pairs" in ended.out
    assert "1 clip was left out (left_out.csv), the first: " in ended.out
    assert "none.wav: no such file" in ended.out


def silent(folder: Path) -> Path:
    soundfile.write(folder / "silent.wav", 0 * noise(), 32000)
    return content(folder / "clips.csv", b"file,label\nsilent.wav,dog\n")


BAD: dict[str, tuple[Callable[[Path, Path], list[object]], str]] = {
    "no list": (lambda d, c: ["--clips", d / "x.csv"], r"x\.csv: cannot be read"),
    "a list without labels": (
        lambda d, c: ["--clips", content(d / "x.csv", b"file\na.wav\n")],
        r"x\.csv:1: expected the columns file, label or caption, found file",
    ),
    "another column to group by": (
        lambda d, c: ["--clips", c, "--group-by", "talker"],
        r"expected the columns file, talker, label or caption",
    ),
    "no clip can be used": (
        lambda d, c: ["--clips", silent(d)],
        r"clips\.csv: none of its events can be used \(.*silent\.wav: is digital silence",
    ),
    "backgrounds too short": (
        lambda d, c: ["--clips", c, "--background-seconds", 30],
        r"none of its backgrounds can be used \(.* 27 s at least, nine .* --background-seconds\)",
    ),
    "events too long": (
        lambda d, c: ["--clips", c, "--event-seconds", 3, 20],
        r"events of 3 to 20 s do not fit into backgrounds of 10 s",
    ),
    "an odd rate": (lambda d, c: ["--clips", c, "--rate", 44101], r"44101 Hz: expected"),
    "one prompt": (
        lambda d, c: [
            "--clips", content(d / "x.csv", f"file,label\n{c.parent}/rain_2.wav,rain\n".encode()),
            "--background-seconds", 4, "--event-seconds", 1, 2,
        ],
        r"events of two prompts are needed, all are 'rain'",
    ),
    "one recording under two labels": (
        lambda d, c: [
            "--clips",
            content(
                d / "x.csv",
                f"file,label\n{c.parent}/rain_2.wav,rain\n{c.parent}/rain_2.wav,storm\n"
                f"{c.parent}/siren_2.wav,siren\nnone.wav,cat\n".encode(),
            ),
            "--background-seconds", 4, "--event-seconds", 1, 2,
        ],
        r"no background is left for the events 'rain' and 'storm'.*1 clip was left out, the "
        r"first: .*none\.wav: no such file",
    ),
    "a level upside down": (
        lambda d, c: ["--clips", c, "--level", 3, -3],
        r"the level of events goes from 3 to -3 dB",
    ),
    "events too short for LUFS": (
        lambda d, c: ["--clips", c, "--match", "lufs", "--background-seconds", 2,
                      "--event-seconds", 0.1, 0.2],
        r"events of 0\.1 s have no loudness in LUFS",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_a_mistake_is_one_sentence(cli: Any, clip_list: Path, tmp_path: Path, kind: str) -> None:
    make, said = BAD[kind]
    ended = cli("build", *make(tmp_path, clip_list), "-o", tmp_path / "set")
    assert ended.status == 2
    assert re.search(said, ended.sentence)
    # Nothing stands in the way of the mended command.
    ended = cli("build", "--clips", clip_list, *SMALL, "--rate", 8000, "-o", tmp_path / "set")
    assert ended.status == 0


def test_an_option_that_is_none_is_refused(cli: Any, clip_list: Path, tmp_path: Path) -> None:
    for option in (["--match", "loudness"], ["--audio", "mp3"], ["--workers", "0"]):
        ended = cli("build", "--clips", clip_list, "-o", tmp_path / "set", *option)
        assert ended.status == 2
        assert option[0] in ended.err


def test_generate_without_its_package(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tangoflux", None)
    prompts = content(tmp_path / "prompts.csv", b"caption\nrain\n")
    ended = cli("generate", prompts, "-o", tmp_path / "clips")
    assert ended.status == 2
    assert ended.sentence.startswith("the package tangoflux cannot be imported")
    assert not (tmp_path / "clips").exists()


@pytest.mark.parametrize("seconds", ["inf", "60"])
def test_no_clip_is_longer_than_the_model_makes(cli: Any, tmp_path: Path, seconds: str) -> None:
    prompts = content(tmp_path / "prompts.csv", b"caption\nrain\n")
    ended = cli("generate", prompts, "--seconds", seconds, "-o", tmp_path / "clips")
    assert ended.status == 2
    assert "--seconds" in ended.err
