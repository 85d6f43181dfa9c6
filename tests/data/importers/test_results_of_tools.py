"""Results as webMUSHRA and the P.808 toolkit write them: votes by rater, on the project's scale."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from commands import noise, sound

from auditeval import manifest
from auditeval.data.importers import import_p808, import_webmushra
from auditeval.types import UserError

CONFIG = """
testname: An example
testId: Default Example
pages:
    - type: generic
      id: first_page
      content: Welcome!
    - type: mushra
      id: trial1
      reference: configs/audio/ref.wav
      createAnchor35: true
      stimuli:
          C1: configs/audio/c1.wav
          C2: configs/audio/c2.wav
    -
          - random
          - type: mushra
            id: trial2
            reference: configs/audio/ref.wav
            stimuli:
                C1: configs/audio/c2.wav
"""
# As its service/write.php writes them.
HEAD = "session_test_id,email,age,session_uuid,trial_id,rating_stimulus,rating_score,rating_time,"
RATED = [
    '"Default Example",a@b,30,u-1,trial1,reference,100,12,',
    '"Default Example",a@b,30,u-1,trial1,C1,80,12,"a bit, dull"',
    '"Default Example",a@b,30,u-1,trial1,C2,20,12,',
    '"Default Example",a@b,30,u-1,trial1,anchor35,5,12,',
    '"Default Example",c@d,40,u-2,trial1,C1,60,9,',
    '"Default Example",c@d,40,u-2,trial2,C1,0,9,',
]


def webmushra(folder: Path, rated: list[str], head: str = f"{HEAD}rating_comment") -> Path:
    (folder / "results" / "default-example").mkdir(parents=True)
    (folder / "configs" / "audio").mkdir(parents=True)
    for name in ("ref", "c1", "c2"):
        sound(folder / "configs" / "audio" / f"{name}.wav", noise(8000))
    (folder / "configs" / "example.yaml").write_text(CONFIG)
    table = folder / "results" / "default-example" / "mushra.csv"
    table.write_text("\n".join([head, *rated]) + "\n")
    return folder


def test_webmushra(cli: Any, tmp_path: Path) -> None:
    folder = webmushra(tmp_path / "webMUSHRA", RATED)
    ended = cli("import", "webmushra", folder, "-o", tmp_path / "rated.jsonl")
    assert ended.status == 0, ended.err
    first, second, third = manifest.read(tmp_path / "rated.jsonl")
    assert first.id == "Default Example-trial1-C1"
    assert first.raters["quality"] == {"u-1": 1 + 80 / 25, "u-2": 1 + 60 / 25}
    assert first.raters["quality"] == first.raters["faithfulness"]
    assert "relevance" not in first.raters
    assert (first.system, first.listening_test) == ("C1", "Default Example")
    # Of another test's trial1 the reference is another recording.
    assert (first.source, third.source) == ("Default Example-trial1", "Default Example-trial2")
    assert first.original.samefile(folder / "configs" / "audio" / "ref.wav")
    assert second.ratings["quality"] == 1.8
    assert third.raters["quality"] == {"u-2": 1.0}
    assert third.edited.samefile(folder / "configs" / "audio" / "c2.wav")


def test_an_old_webmushra_tells_raters_by_what_they_said(tmp_path: Path) -> None:
    head = f"{HEAD}rating_comment".replace("session_uuid,", "")
    rated = [line.replace(",u-1", "").replace(",u-2", "") for line in RATED]
    first, *_ = import_webmushra(webmushra(tmp_path / "old", rated, head))
    assert set(first.raters["quality"]) == {"a@b/30", "c@d/40"}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('"Default Example",a@b,30,u-3,trial1,C1,101,9,', "rating_score is 101"),
        ('"Default Example",a@b,30,u-3,trial9,C1,10,9,', "'trial9' is no mushra page"),
        ('"Default Example",a@b,30,u-3,trial1,C9,10,9,', "no stimulus 'C9' in trial 'trial1'"),
        (
            '"Default Example",a@b,30,u-1,trial1,C1,10,9,',
            "rater 'u-1' rated 'C1' of 'trial1' before",
        ),
        ('"Default Example",a@b,30,u-3,trial1,C1,loud,9,', "could not convert"),
    ],
)
def test_a_line_that_cannot_be_is_named(tmp_path: Path, line: str, says: str) -> None:
    folder = webmushra(tmp_path / "x", [*RATED, line])
    with pytest.raises(UserError, match=says) as raised:
        import_webmushra(folder)
    assert "mushra.csv:8" in str(raised.value)


def test_a_page_without_stimuli_has_none(tmp_path: Path) -> None:
    folder = webmushra(tmp_path / "x", RATED)
    config = folder / "configs" / "example.yaml"
    lines = [x for x in CONFIG.splitlines() if "configs/audio/c" not in x]
    config.write_text("\n".join(lines))
    with pytest.raises(UserError, match=r"example\.yaml has no stimulus 'C1' in trial 'trial1'"):
        import_webmushra(folder)


@pytest.mark.parametrize(
    ("of", "made", "says"),
    [
        ("      reference: configs/audio/ref.wav\n", "", "reference: expected the path of a clip"),
        ("          C1: configs/audio/c1.wav\n", "          C1:\n", "stimuli: expected paths of"),
        (
            "      stimuli:\n          C1: configs/audio/c1.wav\n          C2: c",
            "      stimuli: [C1, C2]\n      also: c",
            "stimuli: expected paths of clips by name",
        ),
    ],
)
def test_a_page_that_names_no_clips_is_named(tmp_path: Path, of: str, made: str, says: str) -> None:
    folder = webmushra(tmp_path / "x", RATED)
    assert of in CONFIG
    (folder / "configs" / "example.yaml").write_text(CONFIG.replace(of, made, 1))
    with pytest.raises(UserError, match=rf"example\.yaml: page trial1: {says}"):
        import_webmushra(folder)


def test_results_without_their_configuration(tmp_path: Path) -> None:
    folder = webmushra(tmp_path / "x", RATED)
    (folder / "configs" / "example.yaml").unlink()
    with pytest.raises(UserError, match="testId default-example"):
        import_webmushra(folder)
    with pytest.raises(UserError, match=r"expected webMUSHRA's results/TEST/mushra\.csv"):
        import_webmushra(tmp_path)


def test_one_test_id_of_two_configurations(tmp_path: Path) -> None:
    folder = webmushra(tmp_path / "x", RATED)
    copy = folder / "configs" / "pilot.yaml"
    copy.write_text(CONFIG.replace("An example", "A pilot"))
    assert len(import_webmushra(folder)) == 3
    copy.write_text(CONFIG.replace("C1: configs/audio/c1.wav", "C1: configs/audio/c2.wav"))
    with pytest.raises(UserError, match=r"example\.yaml and .*pilot\.yaml have its testId"):
        import_webmushra(folder)


@pytest.mark.parametrize("name", ["anchor", "1"])
def test_any_name_of_a_stimulus(tmp_path: Path, name: str) -> None:
    """An anchor that the experimenter made has a clip, and YAML may take a name for a number."""
    folder = webmushra(tmp_path / "x", [line.replace(",C1,", f",{name},") for line in RATED])
    config = folder / "configs" / "example.yaml"
    config.write_text(CONFIG.replace("C1: ", f"{name}: "))
    found = import_webmushra(folder)
    assert [pair.system for pair in found] == [name, "C2", name]
    assert found[0].edited.name == "c1.wav"


WORKERS = (
    "HITId,workerid,assignment_id,assignmentstatus,file,short_file_name,vote,question_type,model\n"
)


def p808(folder: Path, kind: str, votes: list[tuple[str, str, int]], suffix: str = "_") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "clips").mkdir(exist_ok=True)
    for name in ("d1.wav", "d2.wav", "ref.wav"):
        sound(folder / "clips" / name, noise(8000))
    web = "https://blob.example/sup23"
    (folder / "rating_clips.csv").write_text(
        f"rating_clips,references\n{web}/d1.wav,{web}/ref.wav\n{web}/d2.wav,{web}/ref.wav\n"
    )
    lines = [
        f"H1,{worker},A{worker},Approved,{web}/{clip},{clip},{vote},{kind},m-{clip[1]}"
        for worker, clip, vote in votes
    ]
    table = folder / f"Batch_1_batch_results_votes_per_worker{suffix}.csv"
    table.write_text(WORKERS + "\n".join(lines) + "\n")
    return folder


def test_p808(cli: Any, tmp_path: Path) -> None:
    votes = [("W1", "d1.wav", 4), ("W2", "d1.wav", 2), ("W1", "d2.wav", 5), ("W1", "d2.wav", 1)]
    folder = p808(tmp_path / "acr", "MOS", votes)
    ended = cli("import", "p808", folder, "-o", tmp_path / "rated.jsonl")
    assert ended.status == 0, ended.err
    first, second = manifest.read(tmp_path / "rated.jsonl")
    assert first.raters == {"quality": {"W1": 4.0, "W2": 2.0}}
    assert (first.id, first.system, first.source) == ("d1", "m-1", "ref.wav")
    assert second.raters == {"quality": {"W1": 5.0}}  # the first of two


def test_p835_of_the_toolkit_is_quality_and_faithfulness(tmp_path: Path) -> None:
    for kind, suffix, vote in (("SIG", "__sig", 3), ("BAK", "__bak", 1), ("OVRL", "__ovrl", 2)):
        folder = p808(tmp_path / "p835", f"MOS_{kind}", [("W1", "d1.wav", vote)], suffix)
    (pair,) = import_p808(folder)
    assert pair.ratings == {"quality": 2.0, "faithfulness": 3.0}


def test_a_row_that_was_cut_off_is_named(tmp_path: Path) -> None:
    folder = p808(tmp_path / "x", "acr", [("w1", "noisy_a.wav", 4)])
    table = folder / "rating_clips.csv"
    table.write_text(table.read_text() + "more.wav\n")
    with pytest.raises(UserError, match=r"rating_clips\.csv:\d+: expected 2 cells"):
        import_p808(folder)


@pytest.mark.parametrize(
    ("rater", "vote", "says"),
    [("W2", 6, "vote is 6, expected 1 to 5"), ("", 3, "workerid is empty")],
)
def test_a_vote_that_cannot_be_is_named(tmp_path: Path, rater: str, vote: int, says: str) -> None:
    """By its own line, not by that of its clip's first vote."""
    folder = p808(tmp_path / "acr", "MOS", [("W1", "d1.wav", 3), (rater, "d1.wav", vote)])
    with pytest.raises(UserError, match=rf"\.csv:3: {says}"):
        import_p808(folder)


def test_a_clip_has_one_condition(tmp_path: Path) -> None:
    """Which of two tables is read last does not say what its system is."""
    folder = p808(tmp_path / "acr", "MOS", [("W1", "d1.wav", 3), ("W2", "d1.wav", 4)])
    (table,) = folder.glob("*_votes_per_worker*.csv")
    head, first, second = table.read_text().splitlines()
    table.write_text(f"{head},name\n{first},c01\n{second},c02\n")
    with pytest.raises(UserError, match=r"\.csv:3: the condition of .*d1\.wav is .*c02, not .*c01"):
        import_p808(folder)


def test_what_has_no_axis_or_clip_is_named(tmp_path: Path) -> None:
    folder = p808(tmp_path / "ccr", "CMOS", [("W1", "d1.wav", -2)])
    with pytest.raises(UserError, match=r"votes_per_worker_\.csv:2: question_type is CMOS"):
        import_p808(folder)
    folder = p808(tmp_path / "acr", "MOS", [("W1", "d1.wav", 3)])
    (folder / "clips" / "ref.wav").unlink()
    with pytest.raises(UserError, match=r"ref\.wav is nowhere in"):
        import_p808(folder)
    with pytest.raises(UserError, match="votes_per_worker"):
        import_p808(tmp_path)


def two_systems(folder: Path, *files: str) -> Path:
    """Clips of one name by two systems, whose files lie where `files` says."""
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        sound(folder / name, noise(8000))
    web = "https://blob.example/test"
    clips = [f"{web}/{system}/clip1.wav" for system in "ab"]
    listed = "".join(f"{clip},{web}/clean/clip1.wav\n" for clip in clips)
    (folder / "rating_clips.csv").write_text(f"rating_clips,references\n{listed}")
    lines = [
        f"H1,W1,A1,Approved,{clip},clip1.wav,{vote},DMOS,\n"
        for clip, vote in zip(clips, (5, 1), strict=True)
    ]
    (folder / "x_votes_per_worker_.csv").write_text(WORKERS + "".join(lines))
    return folder


def test_clips_of_one_name_are_told_by_their_addresses(tmp_path: Path) -> None:
    folder = two_systems(tmp_path, *(f"x/{name}/clip1.wav" for name in ("a", "b", "clean")))
    first, second = import_p808(folder)
    assert (first.id, first.raters["quality"]) == ("a/clip1", {"W1": 5.0})
    assert (second.id, second.raters["quality"]) == ("b/clip1", {"W1": 1.0})
    assert first.source == second.source == "clean/clip1.wav"
    for pair, system in ((first, "a"), (second, "b")):
        assert pair.edited == folder / "x" / system / "clip1.wav"
        assert pair.original == folder / "x" / "clean" / "clip1.wav"


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (["1/clip1.wav", "2/clip1.wav"], "a/clip1.wav may be .*/1/clip1.wav or .*/2/clip1.wav"),
        (["clean/clip1.wav", "b/clip1.wav"], "a/clip1.wav may be .*b/clip1.wav or .*clean/clip1"),
        (["clip1.wav"], "clip1.wav would be .*/a/clip1.wav and .*/clean/clip1.wav"),
    ],
)
def test_a_file_that_may_be_another_clip_is_not_guessed(
    tmp_path: Path, files: list[str], says: str
) -> None:
    with pytest.raises(UserError, match=rf"_\.csv:2: .*{says}"):
        import_p808(two_systems(tmp_path, *files))
