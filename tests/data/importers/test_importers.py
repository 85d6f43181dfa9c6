"""Other layouts: what they say arrives in the pairs, and what they get wrong is named."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from auditeval import manifest
from auditeval.data.importers import (
    IMPORTERS,
    import_auditscore,
    import_ms_swift,
    import_mushra_codecs,
    import_p835,
)
from auditeval.types import AXES, UserError

RECORD: dict[str, Any] = {
    "ori_wav": "sys3_add_17_ori.wav",
    "tar_wav": "sys3_add_17_tar.wav",
    "ori_prompt": "Rain.",
    "tar_prompt": "Rain, with a bell.",
    "quality": 4.2,
    "relevance": 3.8,
    "faithfulness": 2,
}
PROMPT = "<audio><audio>\nOriginal Caption:\nRain.\n\nTarget Caption:\nRain,\u2028with a bell.\n"
LINE: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": "You rate."},
        {"role": "user", "content": PROMPT},
        {"role": "assistant", "content": "4 3 2"},
    ],
    "audios": ["original_wavs/1.wav", "target_wavs/1.wav"],
    "label": [4, 3, 2],
}
P835_ROW = {
    "set": "fb",
    "edited": "fb/c1_f1.flac",
    "original": "fb/c0_f1.flac",
    "talker": "f1",
    "condition": "c1",
    "mos_sig": "3.5",
    "mos_ovrl": "2.25",
}


def write_json(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def write_lines(path: Path, rows: list[Any]) -> Path:
    path.write_text("\n".join(json.dumps(r, ensure_ascii=False) for r in rows), encoding="utf-8")
    return path


SHAPES: dict[str, Callable[[Path, list[dict[str, Any]]], Path]] = {
    "a list": write_json,
    "an object by id": lambda p, rows: write_json(p, {r["id"]: r for r in rows}),
    "lines": write_lines,
}


@pytest.mark.parametrize("write", SHAPES.values(), ids=SHAPES)
def test_auditscore_records_arrive(tmp_path: Path, write: Any) -> None:
    rows = [{**RECORD, "id": name} for name in ("x", "y")]
    write(tmp_path / "train_meta.json", rows)
    pairs = import_auditscore(tmp_path)
    assert [pair.id for pair in pairs] == ["x", "y"]
    for pair in pairs:
        assert pair.original == tmp_path / "ori_wavs" / RECORD["ori_wav"]
        assert pair.edited == tmp_path / "tar_wavs" / RECORD["tar_wav"]
        assert (pair.original_caption, pair.target_caption) == ("Rain.", "Rain, with a bell.")
        assert pair.ratings == {"quality": 4.2, "relevance": 3.8, "faithfulness": 2}
        assert (pair.system, pair.operation, pair.split) == ("sys3", "add", None)


@pytest.mark.parametrize(
    ("parts", "splits"),
    [
        (["train", "valid", "test"], ["train", "validation", "test"]),
        (["train", "valid"], ["train", "test"]),
        (["train", "test"], ["train", "test"]),
        (["valid", "test"], ["validation", "test"]),
        (["valid"], [None]),
        (["train"], [None]),
    ],
)
def test_auditscore_files_become_splits(
    tmp_path: Path, parts: list[str], splits: list[str | None]
) -> None:
    for name in parts:
        write_json(tmp_path / f"{name}_meta.json", [RECORD, RECORD])
    pairs = import_auditscore(tmp_path)
    assert [pair.split for pair in pairs] == [split for split in splits for _ in range(2)]
    assert [pair.id for pair in pairs] == [f"{name}-{n:05d}" for name in parts for n in (1, 2)]


@pytest.mark.parametrize("missing", [(), ("quality",), ("relevance", "faithfulness"), AXES])
def test_an_axis_that_is_absent_is_unrated(tmp_path: Path, missing: tuple[str, ...]) -> None:
    record = {key: value for key, value in RECORD.items() if key not in missing}
    write_json(tmp_path / "train_meta.json", [record])
    assert set(import_auditscore(tmp_path)[0].ratings) == set(AXES) - set(missing)


def test_votes_are_averaged(tmp_path: Path) -> None:
    write_json(tmp_path / "train_meta.json", [{**RECORD, "quality": [3, 4, 4]}])
    (pair,) = import_auditscore(tmp_path)
    assert pair.ratings["quality"] == pytest.approx(11 / 3)
    assert pair.raters == {"quality": [3, 4, 4]}


@pytest.mark.parametrize(
    ("name", "system", "operation"),
    [
        ("sys12_del_4.wav", "sys12", "delete"),
        ("sys1_rep_4.wav", "sys1", "replace"),
        ("sys1_replace_4.wav", "sys1", "replace"),
        ("mine_add_4.wav", None, None),
    ],
)
def test_system_and_operation_come_from_the_name(
    tmp_path: Path, name: str, system: str | None, operation: str | None
) -> None:
    write_json(tmp_path / "train_meta.json", [{**RECORD, "tar_wav": f"somewhere/{name}"}])
    (pair,) = import_auditscore(tmp_path)
    assert (pair.system, pair.operation) == (system, operation)
    assert pair.edited == tmp_path / "tar_wavs" / name


@pytest.mark.parametrize("key", ["label", "labels"])
def test_ms_swift_lines_arrive(tmp_path: Path, key: str) -> None:
    line = {k: v for k, v in LINE.items() if k != "label"}
    path = write_lines(tmp_path / "train.jsonl", [line, {**line, key: [4, 3.5, 2]}])
    unrated, rated = import_ms_swift(path)
    assert unrated.ratings == {}
    assert rated.ratings == {"quality": 4, "relevance": 3.5, "faithfulness": 2}
    assert rated.original == tmp_path / "original_wavs" / "1.wav"
    assert rated.edited == tmp_path / "target_wavs" / "1.wav"
    # U+2028 inside a JSON string ends no line of the file.
    assert (rated.original_caption, rated.target_caption) == ("Rain.", "Rain,\u2028with a bell.")
    assert unrated.id != rated.id


def test_labels_of_zero_are_placeholders(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "infer.jsonl", [{**LINE, "label": [0, 0, 0]}])
    assert import_ms_swift(path)[0].ratings == {}


def test_a_folder_of_ms_swift_files_is_read_whole_with_distinct_ids(tmp_path: Path) -> None:
    for name in ("b", "a"):
        write_lines(tmp_path / f"{name}.jsonl", [LINE, LINE])
    ids = [pair.id for pair in import_ms_swift(tmp_path)]
    assert ids == ["a-00001", "a-00002", "b-00001", "b-00002"]


def write_p835(folder: Path, rows: list[dict[str, str]]) -> Path:
    with (folder / "labels.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return folder


def test_p835_rows_arrive(tmp_path: Path) -> None:
    (pair,) = import_p835(write_p835(tmp_path, [P835_ROW]))
    assert pair.ratings == {"quality": 2.25, "faithfulness": 3.5}
    assert (pair.system, pair.talker, pair.source) == ("c1", "f1", "fb-f1")
    assert (pair.original, pair.edited) == (
        tmp_path / "fb" / "c0_f1.flac",
        tmp_path / "fb" / "c1_f1.flac",
    )
    assert pair.original_caption == pair.target_caption


def test_the_real_p835_table_arrives_whole(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "p835"
    pairs = import_p835(folder)
    with (folder / "labels.csv").open(newline="") as file:
        cells = list(csv.DictReader(file))
    assert len(pairs) == len(cells) == 104
    for pair, row in zip(pairs, cells, strict=True):
        assert pair.edited.is_file()
        assert pair.original.is_file()
        assert pair.edited == folder / row["edited"]
        assert pair.ratings["quality"] == float(row["mos_ovrl"])
        assert pair.ratings["faithfulness"] == float(row["mos_sig"])
        assert "relevance" not in pair.ratings
    manifest.write(pairs, tmp_path / "p835.csv")
    assert [p.ratings for p in manifest.read(tmp_path / "p835.csv")] == [p.ratings for p in pairs]


AUDITSCORE_MISTAKES = {
    "a rating out of range": ([{**RECORD, "quality": 9}], "record 1: ratings.quality: "),
    "a rating as text": ([RECORD, {**RECORD, "quality": "4"}], "record 2: ratings.quality: "),
    "no edited clip": (
        [{k: v for k, v in RECORD.items() if k != "tar_wav"}],
        "record 1: expected one of tar_wav, tar_path",
    ),
    "a clip that is a number": ([{**RECORD, "ori_wav": 5}], "record 1: the original clip is 5"),
    "no caption": (
        [RECORD, {**RECORD, "ori_prompt": None}],
        "record 2: original_caption: input should be a valid string",
    ),
    "a list of words": (["a", "b"], "expected records, found str"),
    "a number": (5, "expected records, found int"),
}


@pytest.mark.parametrize(
    ("value", "said"), AUDITSCORE_MISTAKES.values(), ids=list(AUDITSCORE_MISTAKES)
)
def test_auditscore_mistakes_are_named(tmp_path: Path, value: Any, said: str) -> None:
    path = write_json(tmp_path / "train_meta.json", value)
    with pytest.raises(UserError) as caught:
        import_auditscore(tmp_path)
    assert str(caught.value).startswith(str(path))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (json.dumps([RECORD, RECORD], indent=1)[:-40], None),
        ('[\n{"a": 1},\n{"b" 2}\n]', 3),
        (f"{json.dumps(RECORD)}\n\n{json.dumps(RECORD)[:-9]}", 3),
    ],
)
def test_broken_json_is_named_with_its_line(tmp_path: Path, text: str, line: int | None) -> None:
    (tmp_path / "train_meta.json").write_text(text)
    line = text.count("\n") + 1 if line is None else line
    with pytest.raises(UserError, match=rf"train_meta\.json:{line}: is not JSON"):
        import_auditscore(tmp_path)


MS_SWIFT_MISTAKES = {
    "not JSON": "{",
    "a list": [],
    "no messages": {**LINE, "messages": []},
    "messages are a number": {**LINE, "messages": 5},
    "content is a number": {**LINE, "messages": [{"role": "user", "content": 5}]},
    "no captions": {**LINE, "messages": [{"role": "user", "content": "Rate this."}]},
    "one audio": {**LINE, "audios": ["a.wav"]},
    "audios are numbers": {**LINE, "audios": [1, 2]},
    "two labels": {**LINE, "label": [4, 3]},
    "a label that is a number": {**LINE, "label": 4},
    "a label out of range": {**LINE, "label": [4, 3, 7]},
    "labels are words": {**LINE, "label": ["4", "3", "2"]},
}


@pytest.mark.parametrize("line", MS_SWIFT_MISTAKES.values(), ids=list(MS_SWIFT_MISTAKES))
def test_ms_swift_mistakes_are_named_with_their_line(tmp_path: Path, line: Any) -> None:
    text = line if isinstance(line, str) else json.dumps(line)
    path = tmp_path / "train.jsonl"
    path.write_text(f"{json.dumps(LINE)}\n\n{text}\n")
    with pytest.raises(UserError, match=r"train\.jsonl:3: "):
        import_ms_swift(path)


P835_MISTAKES: dict[str, tuple[str, str]] = {
    "no number": ("fb,e.flac,o.flac,f1,c1,3.5,good", "labels.csv:3: could not convert"),
    "an empty cell": ("fb,e.flac,o.flac,f1,c1,3.5,", "labels.csv:3: could not convert"),
    "out of range": ("fb,e.flac,o.flac,f1,c1,3.5,0.5", "labels.csv:3: ratings.quality: "),
    "a short row": ("fb,e.flac,o.flac", "labels.csv:3: expected 7 cells, found 3"),
    "no file": ("fb,,o.flac,f1,c1,3.5,4", "labels.csv:3: "),
}


@pytest.mark.parametrize(("row", "said"), P835_MISTAKES.values(), ids=P835_MISTAKES)
def test_p835_mistakes_are_named_with_their_line(tmp_path: Path, row: str, said: str) -> None:
    write_p835(tmp_path, [P835_ROW])
    with (tmp_path / "labels.csv").open("a") as file:
        file.write(row + "\n")
    with pytest.raises(UserError) as caught:
        import_p835(tmp_path)
    assert said in str(caught.value)


def test_a_p835_table_with_another_header_is_refused(tmp_path: Path) -> None:
    write_p835(tmp_path, [{k: v for k, v in P835_ROW.items() if k != "mos_sig"}])
    with pytest.raises(UserError, match=r"labels\.csv:2: expected the column 'mos_sig'"):
        import_p835(tmp_path)


MUSHRA_HEADER = "signal,condition,ratings,participant_ids,file\n"
MUSHRA_ROW = 'VCTK_p1_2,Lyra 3,"[0.0, 25, 62.5]","[2, 3, 5]",stim_01/lyra_3.wav\n'


def write_mushra(folder: Path, rows: str) -> Path:
    (folder / "ratings_formated_filtered.csv").write_text(MUSHRA_HEADER + rows)
    return folder


def test_mushra_rows_arrive_without_reference_and_anchor(tmp_path: Path) -> None:
    anchor = 'VCTK_p1_2,Anchor,"[10.0]","[2]",\n'
    reference = 'VCTK_p1_2,Reference,"[100.0]","[2]",stim_01/ref.wav\n'
    (pair,) = import_mushra_codecs(write_mushra(tmp_path, anchor + MUSHRA_ROW + reference))
    assert pair.id == "stim_01_lyra_3"
    assert (pair.system, pair.source) == ("Lyra 3", "VCTK_p1_2")
    assert pair.raters == {"quality": [1, 2, 3.5], "faithfulness": [1, 2, 3.5]}
    assert pair.ratings == pytest.approx({"quality": 6.5 / 3, "faithfulness": 6.5 / 3})
    folder = tmp_path / "audio" / "stim_01"
    assert (pair.original, pair.edited) == (folder / "ref.wav", folder / "lyra_3.wav")


MUSHRA_MISTAKES: dict[str, tuple[str, str]] = {
    "no list": ('s,c,5,"[2]",a/b.wav', "expected votes as in [40, 62.5], found 5"),
    "words": ('s,c,"[""good""]","[2]",a/b.wav', 'found ["good"]'),
    "cut off": ('s,c,"[5, ","[2]",a/b.wav', "Expecting value"),
    "no vote": ('s,c,[],"[2]",a/b.wav', "raters.quality"),
    "out of range": ('s,c,"[101]","[2]",a/b.wav', "raters.quality"),
    "no number": ('s,c,"[NaN]","[2]",a/b.wav', "raters.quality"),
    "a short row": ("s,c", "expected 5 cells, found 2"),
}


@pytest.mark.parametrize(("row", "said"), MUSHRA_MISTAKES.values(), ids=MUSHRA_MISTAKES)
def test_mushra_mistakes_are_named_with_their_line(tmp_path: Path, row: str, said: str) -> None:
    write_mushra(tmp_path, f"{MUSHRA_ROW}{row}\n")
    with pytest.raises(UserError) as caught:
        import_mushra_codecs(tmp_path)
    assert "ratings_formated_filtered.csv:3: " in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize("layout", IMPORTERS)
def test_a_folder_that_holds_nothing_is_refused(tmp_path: Path, layout: str) -> None:
    with pytest.raises(UserError) as caught:
        IMPORTERS[layout](tmp_path, tmp_path / "made")
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize(
    ("layout", "name"),
    [
        ("auditscore", "train_meta.json"),
        ("ms-swift", "x.jsonl"),
        ("p835", "labels.csv"),
        ("mushra-codecs", "ratings_formated_filtered.csv"),
        ("pick-the-best", "results/dataset.csv"),
        ("pick-the-best-voice", "results/dataset.csv"),
    ],
)
@pytest.mark.parametrize("kind", ["a directory", "Latin-1"])
def test_a_table_that_cannot_be_read_is_named(
    tmp_path: Path, layout: str, name: str, kind: str
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    if kind == "a directory":
        (tmp_path / name).mkdir()
    else:
        (tmp_path / name).write_bytes("Café".encode("latin-1"))
    with pytest.raises(UserError, match=name.replace(".", r"\.")):
        IMPORTERS[layout](tmp_path, tmp_path / "made")
