"""Made samples: what changes at the splice and what does not, levels, sameness, small groups."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import every_file
from scipy import signal

from auditeval.audio import files
from auditeval.audio.waveform import quantised
from auditeval.benchmarks.salmon.benchmark import Salmon
from auditeval.benchmarks.salmon.make import SNR_RANGES_DB, Settings, make
from auditeval.benchmarks.salmon.samples import CONSISTENCY, read_pairs
from auditeval.benchmarks.salmon.scorers import ConstantScorer
from auditeval.data.degrading import CEILING, FADE_SECONDS
from auditeval.data.rooms import random_rooms
from auditeval.types import UserError

pytest.importorskip("pyroomacoustics")

RATE_HZ = 16000
SAMPLES = 12
SETTINGS = Settings(samples=SAMPLES, seed=5, rooms=2)
SPOKEN = tuple(CONSISTENCY)[:3]
STEP = 1 / 32768


def spoken(seed: int, pitch_hz: float) -> np.ndarray:
    """Four syllables of a buzz, with pauses; as long and as loud as the seed wants."""
    rng = np.random.default_rng(seed)
    syllables = []
    for _ in range(4):
        time = np.arange(int(rng.uniform(0.15, 0.25) * RATE_HZ)) / RATE_HZ
        buzz = signal.sawtooth(2 * np.pi * pitch_hz * time) * np.hanning(len(time))
        syllables += [buzz, np.zeros(int(0.05 * RATE_HZ))]
    clip = np.concatenate(syllables)
    return rng.uniform(0.1, 0.9) * clip / np.abs(clip).max()


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Four speakers say two texts in two emotions; four classes of noise, three takes each."""
    folder = tmp_path_factory.mktemp("inputs")
    lines = ["path,text,speaker,gender,emotion"]
    seed = 0
    for speaker, (gender, pitch) in enumerate((("f", 220), ("f", 190), ("m", 120), ("m", 95))):
        for text in ("one", "two"):
            for emotion, factor in (("calm", 1.0), ("angry", 1.4)):
                name, seed = f"{speaker}_{text}_{emotion}.wav", seed + 1
                files.write(folder / name, quantised(spoken(seed, factor * pitch)), RATE_HZ)
                lines.append(f"{name},{text},s{speaker},{gender},{emotion}")
    (folder / "speech.csv").write_text("\n".join(lines) + "\n")
    for place, name in enumerate(("hiss", "hum", "crackle", "rumble")):
        for take in range(3):
            rng = np.random.default_rng([place, take])
            sound = signal.lfilter([1], [1, -0.2 * place], rng.standard_normal(9000))
            sound = np.concatenate([0.1 * sound / np.abs(sound).max(), np.zeros(2000)])
            files.write(folder / "noise" / name / f"{take}.wav", quantised(sound), RATE_HZ)
    return {"speech": folder / "speech.csv", "noise": folder / "noise"}


@pytest.fixture(scope="module")
def made(inputs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("made") / "set", **inputs, settings=SETTINGS)


def samples(made: Path, part: str) -> list[tuple[dict[str, Any], np.ndarray, np.ndarray]]:
    """How each sample of a part was made, its positive and its negative."""
    found = []
    for pair in read_pairs(made, [part]):
        how = json.loads(pair.positive.with_name(pair.positive.stem[:-2] + ".json").read_text())
        found.append((how, *(files.read(path).samples for path in pair[2:])))
    assert len(found) == SAMPLES
    return found


@pytest.mark.parametrize("part", CONSISTENCY)
def test_a_negative_is_its_positive_up_to_the_splice_and_not_after(made: Path, part: str) -> None:
    for how, positive, negative in samples(made, part):
        at = how["splice"]
        assert np.array_equal(positive[:at], negative[:at])
        rest = min(len(positive), len(negative))
        assert not np.allclose(positive[at:rest], negative[at:rest], atol=10 * STEP)
        assert max(np.abs(positive).max(), np.abs(negative).max()) <= CEILING + STEP
        assert 0.3 < at / len(positive) < 0.7


@pytest.mark.parametrize("part", SPOKEN)
def test_the_positive_is_the_recording_and_the_rest_of_the_negative_another(
    made: Path, inputs: dict[str, Path], part: str
) -> None:
    fade = round(FADE_SECONDS * RATE_HZ)
    for how, positive, negative in samples(made, part):
        first, second = (
            files.read(inputs["speech"].parent / r["path"]).samples for r in how["recordings"]
        )
        assert np.abs(positive - how["gain"] * first).max() <= STEP
        rest = how["gain"] * how["second_gain"] * second[how["second_from"] + fade :]
        assert np.abs(negative[how["splice"] + fade :] - rest).max() <= STEP
        # As loud as the first: the level is not what gives it away.
        assert how["second_gain"] * np.std(second) == pytest.approx(np.std(first), rel=1e-3)


def test_only_what_a_task_is_about_differs(made: Path, inputs: dict[str, Path]) -> None:
    rows = [line.split(",") for line in inputs["speech"].read_text().splitlines()[1:]]
    labels = {
        name: dict(zip(("text", "speaker", "gender", "emotion"), row, strict=True))
        for name, *row in rows
    }
    differing = {
        "sentiment_consistency": "emotion",
        "speaker_consistency": "speaker",
        "gender_consistency": "gender",
    }
    for part, label in differing.items():
        for how, *_ in samples(made, part):
            a, b = (labels[r["path"]] for r in how["recordings"])
            assert a[label] != b[label] == how["recordings"][1][label]
            assert a["text"] == b["text"]
            if part == "sentiment_consistency":
                assert a["speaker"] == b["speaker"]
            else:
                assert a["emotion"] == b["emotion"]


def test_no_pair_of_recordings_is_used_twice_and_all_are_used_first(made: Path) -> None:
    for part in SPOKEN:
        used = [tuple(r["path"] for r in how["recordings"]) for how, *_ in samples(made, part)]
        assert len(set(used)) == SAMPLES
        assert len({first for first, _ in used}) == SAMPLES


@pytest.mark.parametrize("part", ["bg_domain_consistency", "bg_all_consistency"])
def test_noise_is_at_the_drawn_level_before_and_after_the_splice(
    made: Path, inputs: dict[str, Path], part: str
) -> None:
    ranges = set()
    for how, positive, negative in samples(made, part):
        low, high = how["snr_range_db"]
        ranges.add((low, high))
        assert low <= how["snr_db"] <= high
        speech = how["gain"] * files.read(inputs["speech"].parent / how["speech"]["path"]).samples
        at = how["splice"]
        fade = round(FADE_SECONDS * RATE_HZ)
        for noise in (positive - speech, (negative - speech)[at + fade :]):
            found = 10 * np.log10(np.mean(speech**2) / np.mean(noise**2))
            assert found == pytest.approx(how["snr_db"], abs=0.1)
        after = negative[at + fade :] - speech[at + fade :]
        other = files.read(inputs["noise"] / how["noises"][1]["path"]).samples[:9000]
        expected = np.resize(other, len(speech) - at)[fade:]
        assert np.corrcoef(after, expected)[0, 1] > 0.999
        first, second = (noise["class"] for noise in how["noises"])
        assert (first == second) == (part == "bg_domain_consistency")
        assert how["noises"][0]["sha256"] != how["noises"][1]["sha256"]
    assert ranges <= set(SNR_RANGES_DB)
    assert len(ranges) > 1


def test_before_the_splice_is_one_room_and_after_it_another(
    made: Path, inputs: dict[str, Path]
) -> None:
    rooms = random_rooms(SETTINGS.rooms, SETTINGS.seed, RATE_HZ)
    fade = round(FADE_SECONDS * RATE_HZ)
    for how, positive, negative in samples(made, "rir_consistency"):
        speech = files.read(inputs["speech"].parent / how["speech"]["path"]).samples
        heard = []
        for origin in how["rooms"]:
            (room,) = (room for room in rooms if room.origin == origin)
            wet = signal.oaconvolve(speech.astype(float), room.response)[: len(speech)]
            mixed = 0.2 * wet + 0.8 * speech
            heard.append(how["gain"] * mixed * np.std(speech) / np.std(mixed))
        assert positive == pytest.approx(heard[0], abs=2 * STEP)
        rest = slice(how["splice"] + fade, None)
        assert negative[rest] == pytest.approx(heard[1][rest], abs=2 * STEP)


def test_words_where_their_times_are_known_decide_where_to_cut(
    inputs: dict[str, Path], tmp_path: Path
) -> None:
    header, *rows = inputs["speech"].read_text().splitlines()
    times = [f"0.0-0.1 0.1{i % 10}-0.3 0.36-0.5 0.5-0.6" for i in range(len(rows))]
    folder = inputs["speech"].parent
    table = tmp_path / "speech.csv"
    lines = [f"{header},words", *(f"{folder}/{r},{t}" for r, t in zip(rows, times, strict=True))]
    table.write_text("\n".join(lines) + "\n")
    part = "speaker_consistency"
    out = make(tmp_path / "set", table, parts=[part], settings=SETTINGS)
    for how, *_ in samples(out, part):
        # Of four words: between the second, int(3 * .5), and the third.
        assert how["splice"] == how["second_from"] == round(0.33 * RATE_HZ)


@pytest.mark.parametrize(
    "word",
    ["nan-nan", "inf-inf", "0.1-inf", "0.1-nan", "0.5-0.1", "0.2-0.2", "0.5-9", "a-b", "0.1", "-"],
)
def test_a_word_that_is_nowhere_in_its_recording_is_one_sentence(
    inputs: dict[str, Path], tmp_path: Path, word: str
) -> None:
    header, *rows = inputs["speech"].read_text().splitlines()
    lines = [f"{inputs['speech'].parent}/{row},0.0-0.1 {word}" for row in rows]
    table = tmp_path / "speech.csv"
    table.write_text("\n".join([f"{header},words", *lines]) + "\n")
    with pytest.raises(UserError, match=rf"\.wav: words is '{word}'; expected the start and"):
        make(tmp_path / "set", table, parts=["speaker_consistency"], settings=SETTINGS)


def test_words_may_last_to_the_end(inputs: dict[str, Path], tmp_path: Path) -> None:
    header, *rows = inputs["speech"].read_text().splitlines()
    lines = []
    for row in rows:
        clip = files.read(inputs["speech"].parent / row.split(",")[0])
        lines.append(f"{inputs['speech'].parent}/{row},0-0.4 0.4-{clip.seconds!r}")
    table = tmp_path / "speech.csv"
    table.write_text("\n".join([f"{header},words", *lines]) + "\n")
    part = "speaker_consistency"
    out = make(tmp_path / "set", table, parts=[part], settings=SETTINGS)
    assert {how["splice"] for how, *_ in samples(out, part)} == {round(0.4 * RATE_HZ)}


def test_the_same_settings_give_the_same_bytes_wherever_a_run_was_stopped(
    made: Path, inputs: dict[str, Path], tmp_path: Path
) -> None:
    class Stopped(Exception):
        pass

    def stop(part: str, done: int, total: int) -> None:
        if part == "bg_all_consistency" and done == 5:
            raise Stopped

    with pytest.raises(Stopped):
        make(tmp_path / "set", **inputs, settings=SETTINGS, report=stop)
    (tmp_path / "set/bg_all_consistency/.sample_5_0.wav.1-1.partial").write_bytes(b"torn")
    (tmp_path / "set/bg_all_consistency/sample_5_0.wav").write_bytes(
        b"of a sample without its record"
    )
    assert every_file(make(tmp_path / "set", **inputs, settings=SETTINGS)) == every_file(made)


def test_another_seed_gives_other_clips_and_asks_for_another_folder(
    made: Path, inputs: dict[str, Path], tmp_path: Path
) -> None:
    other = Settings(samples=4, seed=6, rooms=2)
    out = make(tmp_path / "set", **inputs, settings=other)
    for part in CONSISTENCY:
        changed = [
            (out / part / f"sample_{i}_1.wav").read_bytes()
            != (made / part / f"sample_{i}_1.wav").read_bytes()
            for i in range(4)
        ]
        assert sum(changed) >= 3
    with pytest.raises(UserError, match="other settings"):
        make(out, **inputs, settings=SETTINGS)


def test_sources_of_other_bytes_do_not_keep_the_clips_of_before(
    inputs: dict[str, Path], tmp_path: Path
) -> None:
    """Same names, same sizes: speech, noise and rooms are each seen to be others."""
    shutil.copytree(inputs["speech"].parent, tmp_path / "in")
    speech, noise, rooms = (tmp_path / "in" / name for name in ("speech.csv", "noise", "rooms"))
    for delay in (100, 400):
        response = np.zeros(1600)
        response[[0, delay]] = 0.9, 0.5
        files.write(rooms / f"{delay}.wav", quantised(response), RATE_HZ)
    few = Settings(samples=1)
    parts = {"0_one_calm.wav": "speaker_consistency", "noise/hum/0.wav": "bg_all_consistency"}
    for name, part in {**parts, "rooms/100.wav": "rir_consistency"}.items():
        before = make(tmp_path / part, speech, noise, rooms, [part], few)
        path = tmp_path / "in" / name
        content = path.read_bytes()
        path.write_bytes(content[:-100] + content[-100:][::-1])
        path.write_bytes(content[:-2] + b"\x11\x11")
        with pytest.raises(UserError, match="other settings, inputs"):
            make(before, speech, noise, rooms, [part], few)


def test_a_made_set_is_a_benchmark_that_is_not_taken_for_the_published_one(made: Path) -> None:
    benchmark = Salmon(made)
    records = [benchmark.evaluate(p, ConstantScorer().output(p)) for p in benchmark.samples]
    table, counts = benchmark.tables({"constant": records})
    assert "not comparable" in table.title
    assert {counts.row(f"constant, {part}")["Pairs"] for part in CONSISTENCY} == {SAMPLES}


@pytest.mark.parametrize(
    ("part", "keep", "named"),
    [
        ("sentiment_consistency", "calm", "sentiment_consistency: the speech gives 0 of 12"),
        ("gender_consistency", ",f,", "gender_consistency: the speech gives 0 of 12"),
        ("speaker_consistency", "s0", "speaker_consistency: the speech gives 0 of 12"),
        ("speaker_consistency", "_one_calm", None),
    ],
)
def test_a_group_that_is_too_small_is_one_sentence(
    inputs: dict[str, Path], tmp_path: Path, part: str, keep: str, named: str | None
) -> None:
    header, *rows = inputs["speech"].read_text().splitlines()
    folder = inputs["speech"].parent
    table = tmp_path / "speech.csv"
    table.write_text(
        "\n".join([header, *(f"{folder}/{row}" for row in rows if keep in row)]) + "\n"
    )
    if named is None:  # four speakers of one text: 12 ordered pairs, and no more
        make(tmp_path / "set", table, parts=[part], settings=SETTINGS)
        named = "gives 12 of 13"
        more = Settings(samples=13)
        with pytest.raises(UserError, match=named):
            make(tmp_path / "more", table, parts=[part], settings=more)
        return
    with pytest.raises(UserError, match=named):
        make(tmp_path / "set", table, parts=[part], settings=SETTINGS)


def test_inputs_that_do_not_do_are_one_sentence(inputs: dict[str, Path], tmp_path: Path) -> None:
    folder, out = inputs["speech"].parent, tmp_path / "set"
    with pytest.raises(UserError, match="a folder does not tell speaker, text"):
        make(out, folder, parts=["speaker_consistency"])
    with pytest.raises(UserError, match="backgrounds need recordings of noise"):
        make(out, folder, parts=["bg_all_consistency"])
    with pytest.raises(UserError, match="the noise has one class, hum"):
        make(out, folder, folder / "noise/hum", parts=["bg_all_consistency"])
    with pytest.raises(UserError, match="no part 'bg_alignment' that can be made"):
        make(out, folder, parts=["bg_alignment"])
    with pytest.raises(UserError, match="two rooms are needed"):
        make(out, folder / "noise", rooms=single_room(tmp_path), parts=["rir_consistency"])
    table = tmp_path / "speech.csv"
    table.write_text("path,text,speaker\nabsent.wav,one,\n")
    with pytest.raises(UserError, match=r"speech.csv:2: speaker is empty"):
        make(out, table, parts=["speaker_consistency"])
    table.write_text("path,text,speaker\nabsent.wav,one,a\nabsent2.wav,one,b\n")
    with pytest.raises(UserError, match=r"absent.wav: No such file"):
        make(out, table, parts=["speaker_consistency"])


def single_room(folder: Path) -> Path:
    response = np.zeros(1600)
    response[0] = 0.9
    files.write(folder / "rooms/one.wav", quantised(response), RATE_HZ)
    return folder / "rooms"
