"""Hostile samples and outputs for every benchmark: nothing outside of their folders is read, and
no sentence of a stranger's file ends in a stack of calls.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import Run, write_rows
from outcomes import kept, refused
from small_benchmarks import (
    clip,
    ended_well,
    entry,
    fifo,
    link,
    mmae,
    rubric,
    salmon,
    script,
    secret,
)
from speechedit_rows import ANCHORS, lay_out, row

INPUTS: dict[str, tuple[Callable[[Path], str], str]] = {
    "a link out": (
        lambda d: link(d / "mmae/wav/b.wav", secret(d)) and "wav/b.wav",
        r"b\.wav: leads out of mmae",
    ),
    "a relative link out": (
        lambda d: link(d / "mmae/wav/b.wav", "../../private/secret.wav") and "wav/b.wav",
        r"b\.wav: leads out of mmae",
    ),
    "a link to a link": (
        lambda d: link(d / "mmae/b.wav", link(d / "mmae/c.wav", secret(d))) and "b.wav",
        r"b\.wav: leads out of mmae",
    ),
    "a folder that is a link": (
        lambda d: link(d / "mmae/there", secret(d).parent) and "there/secret.wav",
        r"secret\.wav: leads out of mmae",
    ),
    "dots": (lambda d: "../private/secret.wav", r"secret\.wav: leads out of mmae"),
    "dots behind a folder": (lambda d: "wav/../../private/secret.wav", r"leads out of mmae"),
    "a whole path": (lambda d: str(secret(d)), r"leads out of mmae"),
    "the system's": (lambda d: "/etc/hostname", r"leads out of mmae"),
    "a pipe": (lambda d: fifo(d / "mmae/wav/p.wav") and "wav/p.wav", r"p\.wav: no such file"),
    "a folder": (lambda d: "wav", r"wav: no such file"),
    "a circle": (lambda d: link(d / "mmae/c.wav", "c.wav") and "c.wav", r"c\.wav"),
    "a NUL": (lambda d: "wav/a\0.wav", r"no such file"),
    "a name without end": (lambda d: "x" * 100_000, r"no such file"),
    "an address": (lambda d: "http://127.0.0.1:9/a.wav", r"no such file"),
    "a home": (lambda d: "~/a.wav", r"no such file"),
    "a device": (lambda d: "/dev/zero", r"leads out of mmae"),
    "blanks": (lambda d: " ", r"no such file"),
}


@pytest.mark.parametrize(("place", "said"), INPUTS.values(), ids=INPUTS)
def test_an_input_of_mmae_lies_in_its_folder(
    place: Callable[[Path], str], said: str, tmp_path: Path, bench: Run
) -> None:
    secret(tmp_path)
    path = mmae(tmp_path)
    path.write_text(json.dumps([entry(place(tmp_path))]))
    refused(bench("mmae", path.relative_to(tmp_path), "-s", "x=outputs"), said)


OUTPUTS: dict[str, tuple[Callable[[Path], str], str]] = {
    name: INPUTS[name]
    for name in ("a link out", "dots", "a whole path", "the system's", "a device", "a circle")
}
FILES: dict[str, Callable[[str], tuple[str, Any]]] = {
    "predictions.json": lambda url: (
        "predictions.json",
        [
            {
                "id": "a",
                "messages": [
                    {"role": "assistant", "content": [{"type": "audio", "audio_url": url}]}
                ],
            }
        ],
    ),
    "submission.jsonl": lambda url: ("submission.jsonl", {"id": "a", "audio_path": url}),
}


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("kind", OUTPUTS)
def test_an_output_lies_in_its_folder(file: str, kind: str, tmp_path: Path, bench: Run) -> None:
    """A submission comes from somebody else, and what it names is sent to a judge."""
    secret(tmp_path)
    path = mmae(tmp_path)
    url = OUTPUTS[kind][0](tmp_path).replace("wav/b.wav", "../mmae/wav/b.wav")
    name, content = FILES[file](url)
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / name).write_text(json.dumps(content))
    ended = bench("mmae", path, "-s", "x=theirs")
    refused(ended, r"leads out of theirs|names no file that is there")


@pytest.mark.parametrize("name", ["mmae", "swanbench", "speecheditbench"])
@pytest.mark.parametrize("kind", ["a link", "a link to a folder", "a pipe", "a folder"])
def test_an_output_by_its_name_is_a_file_there(
    name: str, kind: str, tmp_path: Path, bench: Run
) -> None:
    room = tmp_path / "theirs"
    output = {"mmae": "a", "swanbench": "1", "speecheditbench": "s__prosody"}[name]
    made: dict[str, Callable[[], Any]] = {
        "a link": lambda: link(room / f"{output}.wav", secret(tmp_path)),
        "a link to a folder": lambda: link(
            room / "audio", clip(tmp_path / "private" / f"{output}.wav").parent
        ),
        "a pipe": lambda: fifo(room / f"{output}.wav"),
        "a folder": lambda: (room / f"{output}.wav").mkdir(parents=True),
    }
    made[kind]()
    samples = {
        "mmae": lambda: mmae(tmp_path),
        "swanbench": lambda: write_rows(tmp_path / "scripts.jsonl", [script()]),
        "speecheditbench": lambda: lay_out(tmp_path / "set", row("prosody")),
    }[name]()
    ended = bench(name, samples, "-s", "x=theirs")
    if "link" in kind:
        refused(ended, r"is a link that leads out of theirs")
    else:
        kept(ended.status, 1, "the status of a run without its output")
        record = json.loads((tmp_path / "report/x/records.jsonl").read_text().splitlines()[0])
        kept(record["status"], "failed", "what became of it")


ENTRIES: dict[str, Any] = {
    "an id with a path": entry(id="../../a"),
    "an id of dots": entry(id=".."),
    "an id with a NUL": entry(id="a\0b"),
    "an id with lines": entry(id="a\nb"),
    "an id without end": entry(id="a" * 100_000),
    "half a surrogate pair": entry(id="\ud800"),
    "a reference to nothing": entry(rubrics=[rubric(question="<audio input0>?")]),
    "a reference to input 5000 digits": entry(
        rubrics=[rubric(question=f"<audio input{'9' * 5000}>?")]
    ),
    "seconds without end": entry(rubrics=[rubric(question=f"<audio output[{'9' * 400}s:]>?")]),
    "seconds before the beginning": entry(
        rubrics=[rubric(question=f"<audio output[-{'9' * 400}s:-{'9' * 309}s]>?")]
    ),
    "a reference that does not end": entry(rubrics=[rubric(question="<audio " * 20_000)]),
    "digits that do not end": entry(
        rubrics=[rubric(question="<audio output[" + "1" * 100_000 + ":")]
    ),
    "a choice that is a blank": entry(rubrics=[rubric(wrong_choices=[" "])]),
    "equal choices": entry(rubrics=[rubric(wrong_choices=["yes "])]),
    "a thousand choices": entry(rubrics=[rubric(wrong_choices=[str(n) for n in range(1000)])]),
    "no choices": entry(rubrics=[rubric(wrong_choices=[])]),
    "a category that is a list": entry(rubrics=[rubric(category=["IF"])]),
    "an operation that is words": entry(operations=["remove"]),
    "a granularity of numbers": entry(granularity=[1]),
    "messages of messages": entry(messages=[[[]]]),
    "content that is a number": entry(messages=[{"role": "user", "content": 1}]),
    "no inputs": entry(messages=[]),
    "an entry that is a list": [[]],
}


@pytest.mark.parametrize("made", ENTRIES.values(), ids=ENTRIES)
def test_an_entry_of_mmae_is_a_result_or_a_sentence(made: Any, tmp_path: Path, bench: Run) -> None:
    path = mmae(tmp_path, made)
    (tmp_path / "answers.jsonl").write_text("")
    ended_well(bench("mmae", path, "--baselines", "--judge", "answers.jsonl"))
    assert not (tmp_path.parent / "a").exists()


SCRIPTS: dict[str, tuple[Any, str]] = {
    "no content": (script(content=[]), r":1: content: "),
    "content of words": (script(content=["One."]), r":1: content\.0"),
    "a speaker without a name": (script(content=[{"speaker": "", "text": "x"}]), r"content\.0\.sp"),
    "a language of its own": (script(language="tlh"), r":1: language: expected chinese or english"),
    "a language that is a list": (script(language=["en"]), r":1: language: expected chinese"),
    "a number for an id": (script(id=1), r":1: id: "),
    "an empty id": (script(id=""), r":1: id: "),
    "a null for an id": (script(id=None), r":1: id: "),
    "half a surrogate pair": (script(scene="\udfff"), r":1: holds half of a surrogate pair"),
    "a list": ([script()], r":1: expected an object, found list"),
    "nothing": ({}, r":1: content: is missing"),
    "a scene that is an object": (script(scene={}), r":1: scene: "),
    "a line without end": ("x" * (17 << 20), r"has a line of more than 16 MiB"),
}


@pytest.mark.parametrize(("made", "said"), SCRIPTS.values(), ids=SCRIPTS)
def test_a_script_that_is_none_is_one_sentence(
    made: Any, said: str, tmp_path: Path, bench: Run
) -> None:
    path = write_rows(tmp_path / "scripts.jsonl", [made])
    refused(bench("swanbench", path, "--baselines"), said)


IDS = (
    "../../../outside",
    "..",
    "/etc/passwd",
    "a\0b",
    "a\nb",
    "$x$ [red]|",
    "x" * 5000,
    "con",
    "~",
)


@pytest.mark.parametrize("id", IDS)
def test_an_id_names_no_file_elsewhere(id: str, tmp_path: Path, bench: Run) -> None:
    path = write_rows(tmp_path / "scripts.jsonl", [script(id=id), script(id="whole")])
    clip(tmp_path / "outputs" / "whole.wav")
    clip(tmp_path.parent / "outside.wav")
    ended_well(bench("swanbench", path, "-s", "x=outputs"))
    records = (tmp_path / "report/x/records.jsonl").read_text().splitlines()
    kept([json.loads(line)["status"] for line in records], ["failed", "unscored"], "the records")


TIMINGS = ("-1", "0", "1e999", "NaN", '"3"', "true", "null", "[1]", "9" * 5000, "{}")


@pytest.mark.parametrize("seconds", TIMINGS, ids=lambda text: text[:9])
def test_a_timing_that_cannot_be_is_one_sentence(seconds: str, tmp_path: Path, bench: Run) -> None:
    path = write_rows(tmp_path / "scripts.jsonl", [script()])
    clip(tmp_path / "outputs" / "1.wav")
    line = f'{{"id": "1", "inference_seconds": {seconds}}}'
    (tmp_path / "outputs" / "timings.jsonl").write_text(line)
    ended = bench("swanbench", path, "-s", "x=outputs")
    if seconds in ('"3"', "true"):  # read as the numbers that they stand for
        return ended_well(ended)
    refused(ended, r"timings\.jsonl:1: ")
    return None


ROWS: dict[str, tuple[dict[str, Any], str]] = {
    "a path out": (row("style", audio_path="../../outside.wav"), "leads out of set"),
    "a whole path": (row("style", audio_path="/etc/hostname"), "leads out of set"),
    "a link out": (row("style", audio_path="data/out.wav"), "leads out of set"),
    "a folder that is a link": (row("style", audio_path="data/there/secret.wav"), "leads out of"),
    "a reference out": (
        row("speaker", {**ANCHORS["speaker"], "reference_wav": "data/out.wav"}),
        "reference_wav: data/out.wav leads out of set",
    ),
    "a clean reference out": (
        row("acoustic", {**ANCHORS["acoustic"], "target_reference_path": "data/out.wav"}),
        "target_reference_path: data/out.wav leads out of set",
    ),
    "a pipe": (row("style", audio_path="data/pipe.wav"), "no such audio file"),
    "a folder": (row("style", audio_path="data"), "no such audio file"),
    "an id with a path": (row("style", sample_id="../a"), "sample_id: expected what can name"),
    "an id of a folder": (row("style", sample_id="a/"), "sample_id: expected what can name"),
    "an empty id": (row("style", sample_id=""), "sample_id: "),
    "a number for an id": (row("style", sample_id=7), "sample_id: "),
    "another task": (row("style") | {"task": "speaker_editing"}, "anchor: is one of style"),
    "no anchor": (row("style") | {"anchor": None}, "anchor: "),
    "a reverberation of NaN": (
        row("acoustic", {**ANCHORS["acoustic"], "env_type": "reverb",
                         "rt60_target_range": [float("nan"), 1]}),
        "",
    ),
    "an endless reverberation": (
        row("acoustic", {**ANCHORS["acoustic"], "env_type": "reverb",
                         "rt60_target_range": [1, float("inf")]}),
        "",
    ),
    "no components": (row("compositional") | {"components": []}, "components: two or more"),
    "a transcript that is a list": (row("style", transcript=[]), "transcript: "),
}  # fmt: skip


@pytest.mark.parametrize(("made", "said"), ROWS.values(), ids=ROWS)
def test_a_row_that_is_none_is_one_sentence(
    made: dict[str, Any], said: str, tmp_path: Path, bench: Run
) -> None:
    secret(tmp_path)
    home = ROWS_HOMES.get(str(made["task"]), str(made["task"]))
    lay_out(tmp_path / "set", made, folder=home)
    link(tmp_path / "set/data/out.wav", tmp_path / "private/secret.wav")
    link(tmp_path / "set/data/there", tmp_path / "private")
    fifo(tmp_path / "set/data/pipe.wav")
    clip(tmp_path / "outside.wav")
    refused(bench("speecheditbench", "set", "--baselines"), rf"samples\.jsonl:1: .*{said}")


ROWS_HOMES = {"speaker_editing": "speaker_editing"}


CLIPS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a link out": (
        lambda d: link(d / "sample_1_0.wav", secret(d.parents[1])),
        r"sample_1_0\.wav: is a link that leads out of ",
    ),
    "a name of another kind": (lambda d: clip(d / "sample_x_0.wav"), r"expected a name like"),
    "digits of another script": (
        lambda d: clip(d / "sample_\u0660_0.wav"),
        r"is the same clip as|expected a name like",
    ),
    "zeros in front": (lambda d: clip(d / "sample_00_0.wav"), r"is the same clip as"),
    "a number of 200 digits": (lambda d: clip(d / f"sample_{'9' * 200}_0.wav"), r"has no negative"),
    "no positive": (lambda d: clip(d / "sample_7_1.wav"), r"has no positive"),
}


@pytest.mark.parametrize(("make", "said"), CLIPS.values(), ids=CLIPS)
def test_a_clip_of_salmon_in_its_place(
    make: Callable[[Path], Any], said: str, tmp_path: Path, bench: Run
) -> None:
    make(salmon(tmp_path) / "speaker_consistency")
    refused(bench("salmon", "salmon", "--baselines"), said)


@pytest.mark.parametrize("make", [fifo, Path.mkdir], ids=["a pipe", "a folder"])
def test_a_clip_of_salmon_that_is_no_file(
    make: Callable[[Path], Any], tmp_path: Path, bench: Run, spectrum_checkpoint: Path
) -> None:
    path = salmon(tmp_path) / "speaker_consistency" / "sample_0_1.wav"
    path.unlink()
    make(path)
    ended_well(bench("salmon", "salmon", "-c", spectrum_checkpoint, "--device", "cpu"))


SCORES: dict[str, str] = {
    "another part": "file,part,score\nsample_0_0.wav,../speaker_consistency,1\n",
    "words": "file,part,score\nsample_0_0.wav,speaker_consistency,much\n",
    "an underscore": "file,part,score\nsample_0_0.wav,speaker_consistency,1_0\n",
    "hexadecimal": "file,part,score\nsample_0_0.wav,speaker_consistency,0x10\n",
    "digits of another script": "file,part,score\nsample_0_0.wav,speaker_consistency,\u0661x\n",
    "a clip twice": "file,part,score\n" + "sample_0_0.wav,speaker_consistency,1\n" * 2,
    "no columns": "a,b\n1,2\n",
    "a quote without end": 'file,part,score\n"' + "x" * 200_000,
    "a NUL": "file,part,score\nsample_0_0.wav\0,speaker_consistency,1\n",
    "no UTF-8": "file,part,score\n\udcff,speaker_consistency,1\n",
    "nothing": "",
}


@pytest.mark.parametrize("text", SCORES.values(), ids=SCORES)
def test_likelihoods_that_are_none_are_one_sentence(text: str, tmp_path: Path, bench: Run) -> None:
    salmon(tmp_path)
    (tmp_path / "l.csv").write_text(text, encoding="utf-8", errors="surrogateescape")
    refused(bench("salmon", "salmon", "--scores", "x=l.csv"), r"^auditeval: l\.csv:?")


LIKELIHOODS = ("1e999", "-1e999", "NaN", "null", '""', "9" * 400, "1" + "0" * 4500, "true", "[]")


@pytest.mark.parametrize("score", LIKELIHOODS, ids=lambda text: text[:9])
def test_a_likelihood_without_bounds_is_no_number(score: str, tmp_path: Path, bench: Run) -> None:
    salmon(tmp_path)
    lines = [
        f'{{"file": "speaker_consistency/sample_0_{n}.wav", "score": {s}}}\n'
        for n, s in enumerate((score, "1"))
    ]
    (tmp_path / "l.jsonl").write_text("".join(lines))
    ended = bench("salmon", "salmon", "--scores", "x=l.jsonl")
    ended_well(ended)
    if score != "-1e999":  # the logarithm of nothing, which loses
        assert ended.status
