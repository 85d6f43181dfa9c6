"""Made samples of SpeechEditBench: read strictly, balanced, as loud and lively as their anchors."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import every_file
from scipy import signal

from auditeval.audio import Waveform, files
from auditeval.audio.waveform import quantised
from auditeval.benchmarks.speecheditbench.make import KINDS, make
from auditeval.benchmarks.speecheditbench.make_items import (
    NOISY_SNR_DB,
    RT60_RANGES,
    SCENES,
    TRANSFER_SNR_DB,
    Settings,
)
from auditeval.benchmarks.speecheditbench.samples import read
from auditeval.benchmarks.speecheditbench.templates import INSTRUCTIONS, content_words
from auditeval.data.rooms import speech_band
from auditeval.metrics.reverberation import impulse_response, rt60
from auditeval.types import UserError

pytest.importorskip("pyroomacoustics")

RATE_HZ = 16000
SETTINGS = Settings(samples=4, seed=3, rooms=2)
ENGLISH = (
    "The pride of that dim image brought back his dignity.",
    "Then lowering the dangerous muzzle he stretched forward.",
    "Evening had fallen when he woke upon the sand.",
    "She kept the yellow lamps beside the window.",
)
CHINESE = (
    "目前市场上搭载芯片的手机",
    "有专家预测冬奥会的产值",
    "头发的颜色来自天然色素",
    "采购只是辅助手段",
)
STRESSED = ("芯片", "专家 预测", "颜色", "采购")
COMMON = {
    *("sample_id", "task", "audio_path", "instruction", "transcript", "anchor", "duration_tag"),
    *("source_duration_sec", "language", "source_dataset", "benchmark_version"),
    *("derived_from_sample_id", "revision_reason"),
}


def spoken(seed: int) -> np.ndarray:
    """3.2 s of noise in syllables: broad, so that what was done to it can be deconvolved, and
    quiet at its end, where a room goes on ringing."""
    rng = np.random.default_rng(seed)
    length = int(3.2 * RATE_HZ)
    envelope = 0.05 + np.square(np.sin(np.pi * 3 * np.arange(length) / RATE_HZ))
    clip = envelope * rng.standard_normal(length)
    clip[-RATE_HZ:] = 0
    return 0.7 * clip / np.abs(clip).max()


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Eight sentences of each language by two speakers; noise of the three scenes and another."""
    folder = tmp_path_factory.mktemp("inputs")
    rows = []
    for number in range(16):
        language, texts = (("en", ENGLISH), ("zh", CHINESE))[number % 2]
        place = number // 2 % 4
        stress = STRESSED[place] if language == "zh" else ""
        files.write(folder / f"{number}.wav", quantised(spoken(number)), RATE_HZ)
        rows.append(f"{number}.wav,{texts[place]},s{number // 8},{language},read,{stress}")
    table = folder / "speech.csv"
    table.write_text("path,text,speaker,language,dataset,stress\n" + "\n".join(rows) + "\n")
    for place, name in enumerate((*SCENES, "hum")):
        rng = np.random.default_rng(place)
        sound = 0.1 * signal.lfilter([1], [1, -0.3 * place], rng.standard_normal(2 * RATE_HZ))
        files.write(folder / "noise" / name / "a.wav", quantised(sound), RATE_HZ)
    return {"speech": table, "noise": folder / "noise"}


@pytest.fixture(scope="module")
def made(inputs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("made") / "set", **inputs, settings=SETTINGS)


def rows_of(made: Path, task: str, name: str = "samples") -> list[dict[str, Any]]:
    path = made / "data" / f"{task}_editing" / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def clip(made: Path, path: str) -> np.ndarray:
    return files.read(made / path).samples.astype(np.float64)


def test_what_was_made_reads_strictly_and_is_balanced(made: Path) -> None:
    samples = read(made)
    anchors = [sample.row.anchor for sample in samples]
    cells = Counter(
        (sample.row.language, anchor.type, anchor.edit, getattr(anchor, "env_subtype", None))
        for sample, anchor in zip(samples, anchors, strict=True)
        if anchor
    )
    for language in INSTRUCTIONS:
        for direction in ("faster", "slower", "higher", "lower"):
            assert cells[language, "prosody", direction, None] == 4
        assert cells[language, "prosody", "stress", None] == 8
        assert cells[language, "acoustic", "enhancement", None] == 8
        assert {cells[language, "acoustic", "reverb", room] for room in RT60_RANGES} == {2}
        assert {cells[language, "acoustic", "noise", scene] for scene in SCENES} == {2}
        assert cells[language, "speaker", "speaker", None] == 4
    assert sum(cells.values()) == len(samples) == 2 * (16 + 8 + 8 + 6 + 6 + 4)


def test_rows_have_the_keys_of_the_release(made: Path) -> None:
    added = {"prosody": set(), "acoustic": {"reference_duration_sec"}}
    added["speaker"] = {"reference_audio_path", "reference_duration_sec"}
    anchors = {
        "speed": {"type", "prosody_type", "direction"},
        "stress": {"type", "prosody_type", "stress_words", "transcript"},
        "enhancement": {
            *("type", "subtask", "degradation_type", "source_condition", "target_condition"),
            "target_reference_path",
        },
        "noise": {
            *("type", "subtask", "env_type", "env_subtype", "source_condition"),
            *("target_condition", "snr_db", "target_reference_path"),
        },
        "speaker": {
            *("type", "source_wav", "reference_wav", "source_speaker", "target_speaker"),
            "reference_speaker_id",
        },
    }
    anchors["pitch"] = anchors["speed"]
    anchors["reverb"] = anchors["noise"] | {"rt60_target_range", "rt60_reference"}
    for task, more in added.items():
        for row in rows_of(made, task):
            assert set(row) == COMMON | more
            anchor = row["anchor"]
            kind = anchor.get("prosody_type") or anchor.get("env_type") or anchor.get("subtask")
            assert set(anchor) == anchors[kind or "speaker"]
            assert row["benchmark_version"] == "v1.1"
            assert row["duration_tag"] == "short"
            assert row["source_duration_sec"] == 3.2


def test_directions_of_one_kind_take_other_recordings(made: Path) -> None:
    sources = {row["sample_id"]: row["speech"] for row in rows_of(made, "prosody", "sources")}
    for language in INSTRUCTIONS:
        used = {"faster": set(), "slower": set()}
        for row in rows_of(made, "prosody"):
            if row["language"] == language and row["anchor"].get("direction") in used:
                used[row["anchor"]["direction"]].add(sources[row["sample_id"]])
        assert [len(found) for found in used.values()] == [4, 4]
        assert not used["faster"] & used["slower"]


def test_a_word_to_stress_is_one_of_the_sentence_and_of_the_instruction(made: Path) -> None:
    stress = [r for r in rows_of(made, "prosody") if r["anchor"]["prosody_type"] == "stress"]
    for row in stress:
        (word,) = row["anchor"]["stress_words"]
        assert word in row["transcript"] == row["anchor"]["transcript"]
        assert word in row["instruction"]
        if row["language"] == "en":
            assert word in content_words(row["transcript"])
    assert len({row["anchor"]["stress_words"][0] for row in stress}) > 8


def test_clean_clips_are_the_recording(made: Path, inputs: dict[str, Path]) -> None:
    for task in ("prosody", "acoustic", "speaker"):
        sources = rows_of(made, task, "sources")
        for row, source in zip(rows_of(made, task), sources, strict=True):
            enhancement = row["anchor"].get("subtask") == "enhancement"
            path = row["anchor"]["target_reference_path"] if enhancement else row["audio_path"]
            original = files.read(inputs["speech"].parent / source["speech"]).samples
            found = clip(made, path)
            gain = found @ original / (original @ original)
            assert 0.05 < gain <= 1.001
            assert np.abs(found - gain * original).max() < 2 / 32768


def test_noise_is_at_the_level_of_the_anchor(made: Path) -> None:
    sources = {row["sample_id"]: row for row in rows_of(made, "acoustic", "sources")}
    seen = 0
    for row in rows_of(made, "acoustic"):
        anchor, source = row["anchor"], sources[row["sample_id"]]
        if "noise" not in source:
            continue
        seen += 1
        a, b = clip(made, row["audio_path"]), clip(made, anchor["target_reference_path"])
        clean, noisy = (b, a) if anchor["subtask"] == "enhancement" else (a, b)
        found = 10 * np.log10(np.mean(clean**2) / np.mean((noisy - clean) ** 2))
        assert found == pytest.approx(source["snr_db"], abs=0.1)
        low, high = NOISY_SNR_DB if anchor["subtask"] == "enhancement" else TRANSFER_SNR_DB
        assert low <= source["snr_db"] <= high
        if anchor["subtask"] == "env_transfer":
            assert anchor["snr_db"] == source["snr_db"]
            assert source["noise"].split("/")[0] == anchor["env_subtype"]
        else:
            assert source["noise"].startswith("hum")
    assert seen == 2 * (4 + 6)


def test_a_target_rings_as_long_as_its_anchor_says_and_within_its_range(made: Path) -> None:
    reverb = [r for r in rows_of(made, "acoustic") if r["anchor"].get("env_type") == "reverb"]
    assert len(reverb) == 12
    for row in reverb:
        anchor = row["anchor"]
        low, high = anchor["rt60_target_range"]
        assert [low, high] == list(RT60_RANGES[anchor["env_subtype"]])
        assert low <= anchor["rt60_reference"] <= high
        dry, wet = (
            files.read(made / row["audio_path"]),
            files.read(made / anchor["target_reference_path"]),
        )
        if anchor["env_subtype"] != "large_hall":  # in 3 s too little of it can be deconvolved
            heard = speech_band(impulse_response(dry, wet).samples, RATE_HZ)
            measured = rt60(Waveform(heard, RATE_HZ))
            assert measured == pytest.approx(anchor["rt60_reference"], rel=0.15)


def test_a_reference_is_another_speakers_and_long_enough(
    made: Path, inputs: dict[str, Path]
) -> None:
    speakers = {
        line.split(",")[0]: line.split(",")[2:4]
        for line in inputs["speech"].read_text().splitlines()
    }
    sources = rows_of(made, "speaker", "sources")
    for row, source in zip(rows_of(made, "speaker"), sources, strict=True):
        (who, language), (other, theirs) = speakers[source["speech"]], speakers[source["reference"]]
        assert who != other
        assert language == theirs == row["language"]
        assert row["anchor"]["source_speaker"] == f"read_{who}"
        assert row["anchor"]["target_speaker"] == f"read_{other}"
        assert 3 <= row["reference_duration_sec"] <= 8


def test_the_same_settings_give_the_same_bytes_wherever_a_run_was_stopped(
    made: Path, inputs: dict[str, Path], tmp_path: Path
) -> None:
    class Stopped(Exception):
        pass

    def stop(task: str, done: int, total: int) -> None:
        if task == "acoustic_editing" and done == 7:
            raise Stopped

    with pytest.raises(Stopped):
        make(tmp_path / "set", **inputs, settings=SETTINGS, report=stop)
    assert not (tmp_path / "set/data/acoustic_editing/samples.jsonl").exists()
    assert every_file(make(tmp_path / "set", **inputs, settings=SETTINGS)) == every_file(made)


def test_another_seed_gives_other_samples(
    made: Path, inputs: dict[str, Path], tmp_path: Path
) -> None:
    other = Settings(samples=4, seed=4, rooms=2)
    out = make(tmp_path / "set", **inputs, kinds=["stress", "noise", "speaker"], settings=other)
    for task in ("prosody", "acoustic", "speaker"):
        assert not {r["sample_id"] for r in rows_of(out, task)} & {
            r["sample_id"] for r in rows_of(made, task)
        }
    speech = shutil.copytree(inputs["speech"].parent, tmp_path / "in") / "speech.csv"
    few = Settings(samples=1)
    before = make(tmp_path / "few", speech, kinds=["speed"], settings=few)
    path = speech.with_name("3.wav")  # as long as before
    path.write_bytes(path.read_bytes()[:-2] + b"\x11\x11")
    with pytest.raises(UserError, match="other settings, inputs"):
        make(before, speech, kinds=["speed"], settings=few)
    with pytest.raises(UserError, match="other settings"):
        make(out, **inputs, kinds=["stress", "noise", "speaker"], settings=SETTINGS)


def test_content_words_are_said_once_and_carry_meaning() -> None:
    found = content_words("He said they would bring Dowie's golden lamp, a Lamp that shone.")
    assert found == ["said", "bring", "golden", "shone"]
    assert content_words("It is what it is.") == []


def test_rooms_of_a_folder_are_told_apart_by_their_reverberation(
    inputs: dict[str, Path], tmp_path: Path
) -> None:
    for name, seconds in (("bath", 0.12), ("hall", 1.1)):
        time = np.arange(int(1.5 * seconds * RATE_HZ)) / RATE_HZ
        decay = np.random.default_rng(1).standard_normal(len(time)) * 10 ** (-3 * time / seconds)
        files.write(tmp_path / f"rooms/{name}.wav", quantised(0.2 * decay), RATE_HZ)
    with pytest.raises(UserError, match="small_room: no impulse response"):
        make(
            tmp_path / "a", **inputs, rooms=tmp_path / "rooms", kinds=["reverb"], settings=SETTINGS
        )
    time = np.arange(RATE_HZ // 2) / RATE_HZ
    decay = np.random.default_rng(2).standard_normal(len(time)) * 10 ** (-3 * time / 0.3)
    files.write(tmp_path / "rooms/small.wav", quantised(0.2 * decay), RATE_HZ)
    out = make(
        tmp_path / "b", **inputs, rooms=tmp_path / "rooms", kinds=["reverb"], settings=SETTINGS
    )
    used = {
        (row["anchor"]["env_subtype"], source["room"]["path"])
        for row, source in zip(
            rows_of(out, "acoustic"), rows_of(out, "acoustic", "sources"), strict=True
        )
    }
    assert used == {
        ("bathroom", "bath.wav"),
        ("small_room", "small.wav"),
        ("large_hall", "hall.wav"),
    }


@pytest.mark.parametrize(
    ("kinds", "change", "named"),
    [
        (["speed"], ("4.wav", "4.wav"), "faster: needs 9 recordings in en and has 8"),
        (["stress"], (",芯片", ","), "stress: needs 18 recordings in en and has 8 with a word"),
        (["speaker"], (",s1,", ",s0,"), "no recording of another speaker than s0"),
        (["pitch"], (",zh,", ",de,"), "language is 'de'; expected en or zh"),
        (["stress"], ("颜色\n", "红色\n"), "stress names 红色, which its text lacks"),
        (["tempo"], ("4.wav", "4.wav"), "no kind .tempo. that can be made"),
    ],
)
def test_speech_that_does_not_do_is_one_sentence(
    inputs: dict[str, Path], tmp_path: Path, kinds: list[str], change: tuple[str, str], named: str
) -> None:
    header, *rows = inputs["speech"].read_text("utf-8").splitlines(keepends=True)
    folder = inputs["speech"].parent
    table = tmp_path / "speech.csv"
    table.write_text(header + "".join(f"{folder}/{row}".replace(*change) for row in rows), "utf-8")
    samples = 9 if "needs" in named else 1
    with pytest.raises(UserError, match=named):
        make(tmp_path / "set", table, kinds=kinds, settings=Settings(samples=samples))


def test_noise_that_does_not_do_is_one_sentence(inputs: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="noise and enhancement need recordings of noise"):
        make(tmp_path / "a", inputs["speech"], settings=SETTINGS)
    with pytest.raises(UserError, match="no recording is of the class outdoor"):
        make(tmp_path / "b", inputs["speech"], inputs["noise"] / "hum", kinds=["noise"])


def test_every_kind_has_an_instruction_in_each_language() -> None:
    assert set(INSTRUCTIONS["en"]) == set(INSTRUCTIONS["zh"])
    assert len(set(INSTRUCTIONS["en"].values())) == len(INSTRUCTIONS["en"]) == 14
    assert len(KINDS) == 7
