"""Laws of recordings and tones: dealt into disjoint pools, held-out classes nowhere, trimmed."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from auditeval import manifest
from auditeval.audio import files
from auditeval.audio.waveform import quantised
from auditeval.data.simulation import build, contrasts
from auditeval.data.simulation.material import SPEECH, Material, audible, repeated
from auditeval.data.simulation.scenes import make_scene
from auditeval.data.simulation.signals import RATE_HZ
from auditeval.data.simulation.tones import TONES, tones
from auditeval.data.simulation.vocabulary import known
from auditeval.data.soundbank import PEAK, synthesize
from auditeval.types import UserError

EVENTS = {
    "dog_bark": "dog_bark",
    "clock_tick": "clock_ticking",
    "rain": "rain",
    "rooster": "owl_hoot",
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Collections of the three kinds, of 1 s clips; two files of each Freesound id."""
    root = tmp_path_factory.mktemp("recordings")
    for number, (name, like) in enumerate(EVENTS.items()):
        for take in range(6):
            write(
                root / "esc10" / name / f"1-{100 * number + take // 2}-{'AB'[take % 2]}.wav",
                like,
                take,
            )
    for talker in range(3):
        write(root / "librispeech" / f"{talker}-7-000{talker}.wav", "speech", talker, 16000)
    for talker in ("03", "08", "09"):
        for sentence in range(2):
            seed = 10 * int(talker) + sentence
            write(root / "emodb" / f"{talker}a0{sentence}Na.wav", "speech", seed, 16000)
    return {kind: root / kind for kind in ("esc10", "librispeech", "emodb")}


def write(path: Path, like: str, seed: int, rate_hz: int = 22050) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write(path, quantised(synthesize(like, 50 + seed, 1.0, rate_hz)), rate_hz)


def test_pools_share_no_recording_and_no_origin_and_lose_none(folders: dict[str, Path]) -> None:
    material = Material(folders, pools=4)
    pools = [[clip for clips in pool.values() for clip in clips] for pool in material.clips]
    origins = [{clip.origin for clip in pool} for pool in pools]
    for at, one in enumerate(origins):
        assert not any(one & other for other in origins[:at])
    everything = {clip.recording.path for pool in pools for clip in pool}
    assert everything == {p for folder in folders.values() for p in folder.rglob("*.wav")}
    # Six talkers in four pools: every pool has speech.
    assert all(any("speech" in clip.name for clip in pool) for pool in pools)


def test_classes_of_recordings_are_ours_and_held_out_ones_are_not_there(
    folders: dict[str, Path],
) -> None:
    material = Material(folders, pools=1)
    assert {"clock_ticking", "rooster_crow", "male_speech", "female_speech"} <= set(
        material.clips[0]
    )
    assert {clip.origin for clip in material.clips[0]["male_speech"]} == {"emodb/03"}
    without = Material(folders, ["clock_tick", "dog_bark", "male_speech"], pools=1)
    gone = {"clock_ticking", "dog_bark", "male_speech"}
    assert not gone & {*without.classes(0), *without.backgrounds(0), *without.speech(0)}
    assert gone < set(material.classes(0))


def test_readings_are_other_recordings_of_the_same_sentence_in_the_pool(
    folders: dict[str, Path],
) -> None:
    """Files of EMO-DB tell the sentence; of LibriSpeech no two say the same."""
    material = Material(folders, pools=1)
    names = {clip.recording.name for clips in material.clips[0].values() for clip in clips}
    spoken = {name for name in names if "a00Na" in name}
    assert len(spoken) == 3
    talk = [clips for name, clips in material.clips[0].items() if name in SPEECH]
    speech = {clip.recording.name for clips in talk for clip in clips}
    assert speech > spoken
    assert not material.sayings(0, "")
    for taken in spoken:
        found = material.readings(0, taken)
        assert {clip.recording.name for clip in found} == spoken - {taken}
        assert all(clip.words == "a00" for clip in found)
        others = {clip.recording.name for clip in material.sayings(0, taken)}
        assert others == speech - spoken
        made = material.reading(found[0])
        assert 0.5 * RATE_HZ < len(made) <= RATE_HZ
        assert np.abs(made).max() == pytest.approx(0.9, abs=0.01)
    others = names - {name for name in names if "Na" in name}
    assert others
    assert not any(material.readings(0, taken) for taken in others)
    apart = Material(folders, pools=40)
    for pool, clips in enumerate(apart.clips):
        for clip in (clip for found in clips.values() for clip in found):
            assert {c.origin for c in apart.readings(pool, clip.recording.name)} <= {clip.origin}


def test_a_taken_sound_is_of_its_length_and_another_take_is_another(
    folders: dict[str, Path],
) -> None:
    material = Material(folders, pools=1, real_share=1.0)
    rng = np.random.default_rng(0)
    for name in ("rain", "melody", "siren"):
        assert len(material.take(name, 0, 2.5, rng, whole=True)[0]) == round(2.5 * RATE_HZ)
    _, first = material.take("dog_bark", 0, 0.5, rng)
    assert all(material.take("dog_bark", 0, 0.5, rng, but=first)[1] != first for _ in range(20))
    assert len(material.take("dog_bark", 0, 0.5, rng)[0]) <= round(0.5 * RATE_HZ)
    assert material.has_another("dog_bark", 0, first)
    assert material.has_another("melody", 0, "")  # synthesised
    only = material.clips[0]["rain"][0]
    material.clips[0]["chainsaw"] = [only]  # which nothing synthesises
    assert "chainsaw" not in material.synthetic
    assert material.take("chainsaw", 0, 0.5, rng, but=only.recording.name)[1] == only.recording.name
    assert not material.has_another("chainsaw", 0, only.recording.name)
    spoken, _ = material.take("female_speech", 0, 9.0, rng, whole=True)
    assert len(spoken) <= RATE_HZ  # a talker's clip is not repeated


def test_what_is_silent_at_the_ends_is_cut_off_and_repeats_join_without_a_gap() -> None:
    bark = synthesize("dog_bark", 1, 0.5, RATE_HZ)
    padded = np.concatenate([np.zeros(9000), bark, 1e-5 * np.ones(20000)]).astype(np.float32)
    cut = audible(padded)
    assert len(bark) - 2000 < len(cut) <= len(bark) + 1300
    long = repeated(synthesize("rain", 1, 1.0, RATE_HZ), 3 * RATE_HZ)
    power = np.square(long[: 3 * RATE_HZ].reshape(-1, RATE_HZ // 20)).mean(axis=1)
    assert power.min() > 0.1 * np.median(power)
    assert len(repeated(bark[:999], RATE_HZ)) >= RATE_HZ  # also what is shorter than two joins


@pytest.mark.parametrize("name", TONES)
def test_tones_are_harmonic_repeatable_and_at_their_peak(name: str) -> None:
    made = [tones(name, np.random.default_rng(seed), 1.0, RATE_HZ) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(made[0], made[1])
    assert not np.array_equal(made[0], made[2])
    assert np.abs(made[0]).max() == pytest.approx(PEAK)
    power = np.sort(np.square(np.abs(np.fft.rfft(made[0]))))[::-1]
    assert power[:600].sum() > 0.98 * power.sum()  # few lines: noise would need nearly all bins


def test_a_folder_of_other_names_or_classes_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "esc" / "unicorn" / "1-1-A.wav", "rain", 0)
    unknown = "esc: there is no class of sound 'unicorn', which unicorn/1-1-A.wav is of; there are"
    with pytest.raises(UserError, match=unknown):
        Material({"esc10": tmp_path / "esc"})
    write(tmp_path / "plain" / "rain" / "clip.wav", "rain", 0)
    for kind in ("esc10", "librispeech", "emodb"):  # no name tells the talker
        with pytest.raises(UserError, match=rf"plain/rain/clip.wav: is not named as .* {kind} \("):
            Material({kind: tmp_path / "plain"})
    (tmp_path / "list.csv").write_text("path\nplain/rain/clip.wav\n")
    with pytest.raises(UserError, match=r"list\.csv:1: expected the columns path, class"):
        Material({"esc10": tmp_path / "list.csv"})
    with pytest.raises(UserError, match="nowhere: cannot be read"):
        Material({"emodb": tmp_path / "nowhere"})
    with pytest.raises(UserError, match="'vctk' is none of esc10, librispeech, emodb"):
        Material({"vctk": tmp_path})


def test_recordings_that_cannot_be_used_are_all_named_before_anything_is_made(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    shutil.copytree(folders["esc10"] / "rain", tmp_path / "mine" / "rain")
    for number in range(7):
        (tmp_path / "mine" / "rain" / f"9-9-{number}.wav").write_bytes(bytes(number))
    said = r"7 of 13 recordings cannot be used: .*/9-9-0.wav: is empty .*9-9-4.wav: .* and 2 more$"
    with pytest.raises(UserError, match=said):
        build.build(tmp_path / "sets", 1, 1.0, recordings={"esc10": tmp_path / "mine"})
    assert not [*tmp_path.rglob("audio")]
    (tmp_path / "mine" / "rain" / "9-9-6.wav").unlink()
    (tmp_path / "mine" / "rain" / "9-9-6.wav").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UserError, match=r"9-9-6.wav: cannot be read \(No such file"):
        Material({"esc10": tmp_path / "mine"})


def test_a_copy_under_another_name_is_no_further_recording(
    folders: dict[str, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    alone = Material({"esc10": folders["esc10"] / "rain"}, pools=3)
    shutil.copytree(folders["esc10"] / "rain", tmp_path / "rain")
    shutil.copy(tmp_path / "rain" / "1-200-A.wav", tmp_path / "rain" / "2-7-A.wav")
    copied = Material({"esc10": tmp_path}, pools=3)
    names = [
        [clip.recording.path.name for clip in pool["rain"]]
        for pool in (*alone.clips, *copied.clips)
    ]
    assert names[:3] == names[3:]
    copied.check()
    assert f"hold the bytes of others: {tmp_path / 'rain' / '2-7-A.wav'}" in caplog.text


def test_names_that_are_no_utf_8_are_names(folders: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "rain").mkdir()
    odd = os.fsencode(tmp_path / "rain") + b"/1-\xff-A.wav"
    try:
        shutil.copy(folders["esc10"] / "rain" / "1-200-A.wav", odd)
    except OSError:
        pytest.skip("the file system takes UTF-8 alone")
    assert len(Material({"esc10": tmp_path}, pools=1).identity()) == 64


def test_a_set_with_recordings_has_pools_for_sources_and_never_what_is_held_out(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    held_out = ["rain", "clock tick", "dog_bark"]
    path = build.build(tmp_path, 16, [1.2, 2.0], held_out=held_out, pools=4, recordings=folders)
    pairs = manifest.read(path)
    assert {pair.source for pair in pairs} == {f"pool0{pool}" for pool in range(4)}
    sources = {pair.original.name[:10]: pair.source for pair in pairs}
    assert all(pair.source == sources[pair.original.name[:10]] for pair in pairs)
    rows = [json.loads(line) for line in (path.parent / "edits.jsonl").read_text().splitlines()]
    assert not {name for row in rows for name in row["sounds"]} & {*known(held_out)}
    for pair in pairs:
        for text in (pair.original_caption, pair.target_caption):
            assert not re.search(r"(?i)\b(dogs?|bark|rain|rainfall|raindrops|tick\w*)\b", text)


def test_material_goes_to_another_process_as_it_is(folders: dict[str, Path]) -> None:
    held_out = ["rain"]
    here = Material({"esc10": folders["esc10"]}, held_out, pools=3, real_share=1.0)
    there = pickle.loads(pickle.dumps(here))
    assert there is pickle.loads(pickle.dumps(here))  # read once
    assert there.identity() == here.identity()
    assert there.clips == here.clips
    for pool in range(3):
        assert there.classes(pool) == here.classes(pool)
        for name in here.clips[pool]:
            for seed in range(6):  # or every draw might choose a recording whatever their share
                one, two = (
                    x.take(name, pool, 1.0, np.random.default_rng(seed)) for x in (here, there)
                )
                assert one[1] == two[1]
                assert (one[0] == two[0]).all()


def test_the_same_recordings_make_the_same_bytes_and_others_another_folder(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "_WORTH_A_PROCESS", 1)
    esc10 = {"esc10": folders["esc10"]}
    one, two = (build.build(tmp_path / str(w), 3, 1.2, workers=w, recordings=esc10) for w in (1, 2))
    assert one.parent.name == two.parent.name
    for path in sorted(one.parent.rglob("*.*")):
        assert path.read_bytes() == (two.parent / path.relative_to(one.parent)).read_bytes()
    none = build.build(tmp_path / "1", 3, 1.2)
    more = build.build(tmp_path / "1", 3, 1.2, recordings={**folders, "librispeech": None})
    assert len({one, none, more}) == 3


def test_contrasts_have_every_variant_of_a_trial_and_events_of_the_classes_alone(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    classes = ["dog_bark", "clock_tick"]
    recordings = {"esc10": folders["esc10"]}
    path = contrasts.build(tmp_path, classes, trials=6, seconds=1.5, recordings=recordings)
    rows = {
        row["id"]: row
        for row in map(json.loads, (path.parent / "edits.jsonl").read_text().splitlines())
    }
    trials: dict[str, dict[str, manifest.EditPair]] = {}
    for pair in manifest.read(path):
        trials.setdefault(str(pair.source), {})[str(pair.system)] = pair
        rated = {"right": 5.0, "halfway": 3.0}.get(str(pair.system), 1.0)
        assert pair.ratings == {"relevance": rated}
        assert set(rows[pair.id]["events"]) <= set(known(classes)) or pair.operation == "replace"
    assert len(trials) == 6
    for variants in trials.values():
        operation = variants["right"].operation
        lacking = "opposite" if operation == "replace" else "halfway"
        assert set(variants) == set(contrasts.VARIANTS) - {lacking}
        read = {name: pair.edited.read_bytes() for name, pair in variants.items()}
        assert read["right"] == read["swapped"]
        assert read["untouched"] == variants["right"].original.read_bytes()
        assert len(set(read.values())) == len(read) - 1
        said = {n: (p.original_caption, p.target_caption) for n, p in variants.items()}
        assert said.pop("swapped") != said["right"]
        assert len(set(said.values())) == 1


def test_recordings_of_one_class_alone_stand_over_other_backgrounds(
    folders: dict[str, Path],
) -> None:
    material = Material({"esc10": folders["esc10"] / "dog_bark"}, pools=1, real_share=1.0)
    for seed in range(6):
        scene = make_scene(material, 0, (0.3, 0.3), np.random.default_rng(seed), ["dog_bark"])
        assert scene.events["B"].name == "dog_bark" != scene.name


def test_contrasts_of_a_class_without_a_sound_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no sound of sneeze: name its recordings"):
        contrasts.build(tmp_path, ["person sneeze"])
