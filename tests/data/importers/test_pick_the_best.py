"""Choices of the best version of a song: they become votes, the mixture a file, mistakes a line."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from auditeval import audio, manifest
from auditeval.audio import files
from auditeval.audio.waveform import quantised
from auditeval.data.importers import import_to_manifest
from auditeval.types import UserError

COLUMNS = ("sound", "url", "value", "page", "is_replicate", "submission_id")
SONGS, SYSTEMS, RATE_HZ = ("One - Song", "Another - I_m Fine"), ("AA1", "BB2", "CC3"), 8000
Cells = list[str]


def picked(listener: str, song: str, best: str | None, replicate: str = "False") -> list[Cells]:
    """The rows of one page: what a listener picked of a song."""
    return [
        [s, f"sounds/{song}/{s}_vocals.flac", str(s == best), "Set 1", replicate, listener]
        for s in SYSTEMS
    ]


def choices() -> list[Cells]:
    """Of the first song AA1 has two votes and BB2 one; l3 cannot tell, and l1 says it twice."""
    return [
        *picked("l1", SONGS[0], "AA1"),
        *picked("l1", SONGS[0], "CC3", replicate="True"),
        *picked("l2", SONGS[0], "BB2"),
        *picked("l3", SONGS[0], None),
        *picked("l4", SONGS[0], "AA1"),
        *picked("l1", SONGS[1], "CC3"),
    ]


def tone(hz: float, seconds: float = 0.5) -> np.ndarray:
    time = np.arange(int(seconds * RATE_HZ)) / RATE_HZ
    return quantised((0.3 * np.sin(2 * np.pi * hz * time)).astype(np.float32))


def laid_out(
    folder: Path, rows: Sequence[Cells] | None = None, columns: Sequence[str] = COLUMNS
) -> Path:
    for song in SONGS:
        for place, name in enumerate(("ref_accompaniment", "ref_vocals", *SYSTEMS)):
            stem = name if name.startswith("ref") else f"{name}_vocals"
            path = folder / "site" / "sounds" / song / f"{stem}.flac"
            files.write(path, tone(200.0 * (place + 1)), RATE_HZ)
    (folder / "results").mkdir()
    with (folder / "results" / "dataset.csv").open("w", newline="") as file:
        csv.writer(file).writerows([columns, *(choices() if rows is None else rows)])
    return folder


def test_choices_become_votes_of_each_listener(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = laid_out(tmp_path / "test")
    path = import_to_manifest("pick-the-best", str(folder), str(tmp_path / "out" / "pairs.jsonl"))
    pairs = {pair.id: pair for pair in manifest.read(path)}
    assert len(pairs) == 6
    first = pairs["One - Song_AA1"]
    assert first.raters == {"quality": {"l1": 5, "l2": 1, "l4": 5}}
    shares = {"AA1": 2 / 3, "BB2": 1 / 3, "CC3": 0}
    for system, share in shares.items():
        pair = pairs[f"One - Song_{system}"]
        assert pair.ratings == {"quality": pytest.approx(1 + 4 * share)}
        assert (pair.source, pair.system) == ("One - Song", system)
        assert pair.edited.samefile(
            folder / "site" / "sounds" / "One - Song" / f"{system}_vocals.flac"
        )
    assert pairs[f"{SONGS[1]}_CC3"].raters == {"quality": {"l1": 5}}
    assert (first.operation, first.instruction) == ("delete", "Remove the music.")
    assert (first.original_caption, first.target_caption) == (
        "A person singing with music.",
        "A person singing.",
    )
    assert "1 times a listener picked no version" in caplog.text


def test_the_mixture_is_the_sum_of_voice_and_accompaniment(tmp_path: Path) -> None:
    folder = laid_out(tmp_path / "test")
    out = tmp_path / "out" / "pairs.jsonl"
    import_to_manifest("pick-the-best", str(folder), str(out))
    assert sorted(path.name for path in out.parent.rglob("*.wav")) == sorted(
        f"{song}.wav" for song in SONGS
    )
    for pair in manifest.read(out):
        assert pair.original.parent.samefile(out.parent / "mixtures")
        summed = (tone(200).astype(float) + tone(400)) / 32768
        np.testing.assert_array_equal(audio.decode(pair.original).samples, summed)
    before = {path: path.stat().st_mtime_ns for path in out.parent.rglob("*.wav")}
    import_to_manifest("pick-the-best", str(folder), str(out))
    assert {path: path.stat().st_mtime_ns for path in before} == before
    taken = out.parent / "mixtures" / f"{SONGS[1]}.wav"
    taken.write_bytes(b"somebody's")
    with pytest.raises(UserError, match=r"I_m Fine\.wav: exists already and is another clip"):
        import_to_manifest("pick-the-best", str(folder), str(out))
    assert taken.read_bytes() == b"somebody's"


def test_beside_the_true_voice_nothing_is_asked_and_nothing_made(tmp_path: Path) -> None:
    folder = laid_out(tmp_path / "test")
    out = tmp_path / "out" / "pairs.jsonl"
    mixed = manifest.read(import_to_manifest("pick-the-best", str(folder), str(out)))
    voice = manifest.read(
        import_to_manifest("pick-the-best-voice", str(folder), str(tmp_path / "voice.jsonl"))
    )
    assert [pair.raters for pair in voice] == [pair.raters for pair in mixed]
    for pair in voice:
        assert pair.original.samefile(
            folder / "site" / "sounds" / str(pair.source) / "ref_vocals.flac"
        )
        assert (pair.operation, pair.instruction) == ("process", None)
        assert pair.original_caption == pair.target_caption == "A person singing."
    assert not (tmp_path / "mixtures").exists()


PAGE = picked("l1", SONGS[0], "AA1")
MISTAKES: dict[str, tuple[list[Cells], str]] = {
    "no truth": (
        [[*PAGE[0][:2], "yes", *PAGE[0][3:]]],
        "dataset.csv:2: value: expected True or False, found 'yes'",
    ),
    "another truth": (
        [*PAGE, [*PAGE[0][:4], "0", "l2"]],
        "dataset.csv:5: is_replicate: expected True or False, found '0'",
    ),
    "another file": (
        [["AA1", "sounds/One - Song/BB2_vocals.flac", *PAGE[0][2:]]],
        "dataset.csv:2: url: expected sounds/SONG/AA1_vocals.flac of the sound 'AA1', found",
    ),
    "a folder above": ([["AA1", "sounds/../AA1_vocals.flac", *PAGE[0][2:]]], "dataset.csv:2: url"),
    "nobody": ([[*PAGE[0][:5], ""]], "dataset.csv:2: submission_id is empty"),
    "an id that cannot be kept": (picked("a=b", SONGS[0], "AA1"), "dataset.csv:2: raters.quality"),
    "a short row": ([*PAGE, PAGE[0][:4]], "dataset.csv:5: expected 6 cells"),
    "two picked": (
        [*PAGE[:2], [*PAGE[2][:2], "True", *PAGE[2][3:]]],
        "dataset.csv:4: listener l1 picked AA1 and CC3 of 'One - Song', expected one",
    ),
    "twice": ([*PAGE, *PAGE], "dataset.csv:5: listener l1 heard AA1 of 'One - Song' twice"),
    "not all": (
        [*PAGE, *picked("l2", SONGS[0], "AA1")[:2]],
        "dataset.csv:5: listener l2 was not shown CC3 of 'One - Song'",
    ),
    "no audio": ([*PAGE, *picked("l1", "Gone", "AA1")], "dataset.csv:5: the audio "),
    "a name that no file has": (picked("l1", 999 * "x", "AA1"), "dataset.csv:2: the audio "),
}


@pytest.mark.parametrize(("rows", "said"), MISTAKES.values(), ids=list(MISTAKES))
@pytest.mark.parametrize("layout", ["pick-the-best", "pick-the-best-voice"])
def test_mistakes_are_named_with_their_line(
    tmp_path: Path, layout: str, rows: list[Cells], said: str
) -> None:
    folder = laid_out(tmp_path / "test", rows)
    with pytest.raises(UserError) as caught:
        import_to_manifest(layout, str(folder), str(tmp_path / "pairs.jsonl"))
    assert said in str(caught.value)
    assert not (tmp_path / "pairs.jsonl").exists()


@pytest.mark.parametrize("column", [name for name in COLUMNS if name != "page"])
def test_a_column_that_lacks_is_named(tmp_path: Path, column: str) -> None:
    place = COLUMNS.index(column)
    rows, columns = (
        [[cell for n, cell in enumerate(row) if n != place] for row in table]
        for table in (PAGE, [list(COLUMNS)])
    )
    folder = laid_out(tmp_path / "test", rows, columns[0])
    with pytest.raises(UserError, match=rf"dataset\.csv:2: expected the column '{column}'"):
        import_to_manifest("pick-the-best-voice", str(folder), str(tmp_path / "pairs.jsonl"))


@pytest.mark.parametrize(
    ("samples", "said"),
    [
        (tone(200, 0.4), "differ in length"),
        (np.full(4000, 32767, np.int16), "make a peak of 1."),
        (np.zeros(4000, np.int16), "ref_accompaniment.flac: "),
    ],
    ids=["shorter", "too loud", "silent"],
)
def test_what_makes_no_mixture_is_named(tmp_path: Path, samples: np.ndarray, said: str) -> None:
    folder = laid_out(tmp_path / "test")
    files.write(folder / "site" / "sounds" / SONGS[0] / "ref_accompaniment.flac", samples, RATE_HZ)
    with pytest.raises(UserError) as caught:
        import_to_manifest("pick-the-best", str(folder), str(tmp_path / "pairs.jsonl"))
    assert str(folder / "site" / "sounds" / SONGS[0]) in str(caught.value)
    assert said in str(caught.value)


def test_nothing_is_made_for_an_output_that_is_no_manifest(tmp_path: Path) -> None:
    folder = laid_out(tmp_path / "test")
    with pytest.raises(UserError, match=r"pairs\.txt: a manifest ends in"):
        import_to_manifest("pick-the-best", str(folder), str(tmp_path / "pairs.txt"))
    assert not (tmp_path / "mixtures").exists()
