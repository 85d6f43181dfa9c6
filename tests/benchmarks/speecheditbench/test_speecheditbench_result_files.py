"""Result files that are written, against the keys and the values of the released code's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from speechedit_rows import ANCHORS, Judges, Says, lay_out, of_hz, row, tone

from auditeval.audio import AudioError, Waveform
from auditeval.backends.backend import PitchTrack, Ratings, SpeakerEmbedding, Tags, Transcript, Word
from auditeval.backends.load import Backends
from auditeval.benchmarks.benchmark import Missing, Output
from auditeval.benchmarks.speecheditbench.anchors import ContentAnchor
from auditeval.benchmarks.speecheditbench.benchmark import SpeechEditBench
from auditeval.benchmarks.speecheditbench.official import words


def keys(*names: str) -> set[str]:
    return {name for some in names for name in some.split()}


# What eval/tasks/*.py and eval/metrics/*.py write at commit 1ac1ab89, of rows with and without an
# error together.
WORDS = "transcript_target transcript_predicted norm_target norm_predicted wer cer"
GATE = " ".join(f"content_preservation_{name}" for name in ("metric", "error", "threshold", "pass"))
SIMILARITY = "source_output_speaker_similarity"
BASE = "sample_id language source_dataset utmos joint_success error"
ATOMIC = f"{BASE} target_success {WORDS} {GATE}"
CONTENT = "edit_type exact_match edit_success edit_success_reason"
EMOTION = "source_emotion target_emotion predicted_emotion correct emotion_taxonomy"
PROSODY = "prosody_type direction passed metric_type"
SPEED = "direction_correct input_duration output_duration duration_ratio change_ratio threshold"
PITCH = (
    "direction_correct input_f0_median output_f0_median shift_semitone input_voiced_ratio "
    "output_voiced_ratio threshold"
)
STRESS = (
    "rpg stress_words_total stress_words_passed target_found_all word_details "
    "input_timestamp_backend output_timestamp_backend input_timestamp_text output_timestamp_text "
    "input_timestamp_token_count output_timestamp_token_count"
)
STRESSED = (
    "word input_found output_found passed error input_window output_window prominence_delta "
    "input_prominence output_prominence input_energy_score output_energy_score input_f0_score "
    "output_f0_score input_duration_score output_duration_score"
)
ACOUSTIC = "subtask degradation_type env_type env_subtype passed"
ENHANCEMENT = (
    "evaluation_protocol dnsmos_sig dnsmos_bak dnsmos_ovrl source_dnsmos_sig source_dnsmos_bak "
    "source_dnsmos_ovrl dnsmos_sig_gain dnsmos_bak_gain dnsmos_ovrl_gain "
    "dnsmos_ovrl_gain_threshold dnsmos_bak_gain_threshold content_preservation_error_threshold "
    "content_preservation_metric content_preservation_error pesq stoi source_pesq source_stoi "
    "pesq_gain stoi_gain utmos"
)
REVERB = (
    "rt60_measured rt60_target_min rt60_target_max rt60_tolerated_min rt60_tolerated_max "
    "rt60_reference"
)
NOISE = (
    "scene_group_scores source_scene_group_scores predicted_env_subtype target_scene_score "
    "source_target_scene_score target_scene_gain scene_pass_threshold scene_gain_threshold "
    "top_scene_labels"
)
OF_PROSODY = f"{ATOMIC} {SIMILARITY} {PROSODY} stress_words source_wav output_wav"
OF_ACOUSTIC = f"{ATOMIC} {SIMILARITY} {ACOUSTIC} source_wav output_wav target_reference_wav"
ROWS = {
    "content": keys(ATOMIC, SIMILARITY, CONTENT),
    "speaker": keys(
        ATOMIC,
        "source_speaker target_speaker reference_speaker_id output_wav reference_wav",
        "speaker_similarity",
    ),
    "emotion": keys(ATOMIC, SIMILARITY, EMOTION, "subset"),
    "style": keys(
        ATOMIC,
        SIMILARITY,
        "subset source_style target_style predicted_style correct target_style_score",
        "target_style_success dominant_style style_scores judge_confidence judge_rationale",
    ),
    "speed": keys(OF_PROSODY, SPEED),
    "pitch": keys(OF_PROSODY, PITCH),
    "stress": keys(OF_PROSODY, STRESS),
    "paralinguistic": keys(ATOMIC, SIMILARITY, "operation target_event predicted_score correct"),
    "enhancement": keys(OF_ACOUSTIC, ENHANCEMENT, "reference_diagnostic_error"),
    "reverb": keys(OF_ACOUSTIC, REVERB),
    "noise": keys(OF_ACOUSTIC, NOISE),
    "compositional": keys(
        BASE,
        SIMILARITY,
        "difficulty combo_type base_component base_sample_id output_wav component_results",
        "preservation_results component_success_rate preservation_success",
        "component_error_count preservation_error_count",
    ),
}
ERROR = "component_type success target_success error"
OF_COMPONENT = f"{ERROR} success_metric"
OF_ROOM = f"{OF_COMPONENT} {ACOUSTIC} sample_id language source_dataset source_wav"
COMPONENTS = {
    "content": keys(OF_COMPONENT, CONTENT, WORDS, "sample_id language source_dataset"),
    "speaker": keys(OF_COMPONENT, "target_speaker reference_wav speaker_similarity threshold"),
    "emotion": keys(OF_COMPONENT, EMOTION, "sample_id source_dataset subset"),
    "style": keys(ERROR),
    "speed": keys(OF_COMPONENT, PROSODY, SPEED, "source_wav"),
    "pitch": keys(OF_COMPONENT, PROSODY, PITCH, "source_wav"),
    "stress": keys(OF_COMPONENT, PROSODY, STRESS, "source_wav"),
    "enhancement": keys(OF_ROOM, ENHANCEMENT, WORDS),
    "reverb": keys(OF_ROOM, REVERB),
    "noise": keys(OF_ROOM, NOISE),
}
CHECK = keys(
    WORDS,
    "preservation_type language content_preservation_metric primary_error threshold",
    "success error",
)
STATS = (
    "total target_success_rate content_preservation_pass_rate joint_success_rate avg_utmos "
    "avg_content_preservation_error"
)
JUDGED = keys(STATS, f"avg_{SIMILARITY} accuracy correct")
SUMMARIES = {  # by_*, and what each group has
    "content": (
        keys("by_edit_type by_dataset by_language"),
        keys(STATS, f"avg_{SIMILARITY} exact_match_rate edit_success_rate avg_wer avg_cer")
        | keys("exact_match_count edit_success_count"),
    ),
    "speaker": (
        keys("by_language by_dataset by_target_speaker"),
        keys(STATS, "avg_speaker_similarity avg_en_wer avg_zh_cer"),
    ),
    "emotion": (
        keys("by_dataset by_subset by_target_emotion by_source_emotion by_language")
        | keys("by_emotion_taxonomy"),
        JUDGED,
    ),
    "style": (
        keys("by_dataset by_subset by_target_style by_source_style by_language"),
        JUDGED,
    ),
    "prosody": (
        keys("by_prosody_type by_language by_dataset"),
        keys(STATS, f"avg_{SIMILARITY} evaluated pass_rate direction_accuracy error_count")
        | keys("avg_duration_ratio avg_f0_semitone_shift avg_rpg"),
    ),
    "paralinguistic": (
        keys("by_operation by_event by_operation_event by_dataset by_language"),
        JUDGED,
    ),
    "acoustic": (
        keys("by_subtask by_degradation_type by_env_type by_env_subtype by_language by_dataset"),
        keys(STATS, f"avg_{SIMILARITY} evaluated pass_rate error_count avg_rt60")
        | keys("avg_dnsmos_sig avg_dnsmos_bak avg_dnsmos_ovrl avg_target_scene_score")
        | keys("avg_dnsmos_sig_gain avg_dnsmos_bak_gain avg_dnsmos_ovrl_gain")
        | keys("avg_pesq avg_stoi avg_pesq_gain avg_stoi_gain"),
    ),
    "compositional": (
        keys("by_difficulty by_combo_type by_language by_combo_language"),
        keys("total evaluated joint_success_rate component_success_rate avg_utmos error_count")
        | keys(f"preservation_success_rate avg_sample_component_success_rate avg_{SIMILARITY}"),
    ),
}
OVERALL = keys("total outputs_evaluated missing_outputs coverage error_count")
METADATA = "dataset_version evaluator_version model_name task_id eval_set samples_file"
LIST_MISSING = ("speaker", "prosody", "acoustic", "compositional")

SPEAKER = {**ANCHORS["speaker"], "source_speaker": "p1", "reference_speaker_id": "p318"}
EDITS: dict[str, dict[str, Any]] = {
    **{kind: ANCHORS[kind] for kind in ("content", "emotion", "style", "paralinguistic")},
    "speaker": SPEAKER,
    "speed": ANCHORS["prosody"],
    "pitch": {"type": "prosody", "prosody_type": "pitch", "direction": "lower"},
    "stress": {"type": "prosody", "prosody_type": "stress", "stress_words": ["yellow", "blue"]},
    "enhancement": {"type": "acoustic", "subtask": "enhancement", "degradation_type": "noisy"},
    "reverb": {
        **{"type": "acoustic", "subtask": "env_transfer", "env_type": "reverb"},
        **{"env_subtype": "hall", "rt60_target_range": [0.2, 0.4], "rt60_reference": 0.3},
    },
    "noise": ANCHORS["acoustic"],
}
ROWS_OF_DATA = [
    *(row(anchor["type"], anchor, sample_id=kind) for kind, anchor in EDITS.items()),
    row("compositional", [EDITS[kind] for kind in COMPONENTS], sample_id="compositional"),
    row("compositional", [SPEAKER, EDITS["speed"]], sample_id="kept", language="zh"),
]
GOOD = tone(440, seconds=0.8)


def says(clip: Waveform) -> Transcript:
    """The yellow lamps; the second word is longer in the output, and no word is blue."""
    start, end = (0.1, 0.7) if of_hz(clip) == 440 else (0.3, 0.5)
    words = Word("the", 0.0, start), Word("yellow", start, end), Word("lamps", end, 0.8)
    return Transcript("the yellow lamps", words)


NODES: dict[str, Any] = {
    "transcriber_en": Says(says),
    "transcriber_zh": Says(lambda clip: Transcript("今天天气真好。", ())),
    "speaker": Says(lambda clip: SpeakerEmbedding((0.6, 0.8))),
    "pitch": Says(lambda clip: PitchTrack(0.016, (float(of_hz(clip)),) * 63)),
    "tagger": Says(lambda clip: Tags({"Music": 0.9 if of_hz(clip) == 440 else 0.1})),
    "speech_quality": Says(lambda c: Ratings({"SIG": 3, "BAK": of_hz(c) / 100, "OVRL": 2.5})),
    "judge": Judges(
        {
            **{"predicted_emotion": "fear", "target_style_score": 3},
            "event_scores": {"breath": 0, "laugh": 1, "cough": 0, "sigh": 0},
        }
    ),
}


def written(
    folder: Path, nodes: dict[str, Any], rows: list[dict[str, Any]], output: Output = GOOD
) -> dict[str, Any]:
    """latest.json by task, as it is read."""
    bench = SpeechEditBench(lay_out(folder, *rows), Backends(nodes))
    records = [{"id": s.id, **bench.evaluate(s, output)} for s in bench.samples]
    files = bench.result_files("mine", records).items()
    return {
        path.split("/")[1].removesuffix("_editing"): json.loads(json.dumps(file, allow_nan=False))
        for path, file in files
        if path.endswith("latest.json")
    }


UNREADABLE = Missing("is no audio file", unreadable=True)


@pytest.mark.parametrize(
    ("nodes", "output"),
    [(NODES, GOOD), ({}, GOOD), (NODES, UNREADABLE)],
    ids=["all", "no models", "unreadable"],
)
def test_keys_are_those_of_the_released_code(
    nodes: dict[str, Any], output: Output, tmp_path: Path
) -> None:
    """Whether all was measured, nothing could be, or there was nothing to measure."""
    files = written(tmp_path, nodes, ROWS_OF_DATA, output)
    assert set(files) == set(SUMMARIES)
    for task, file in files.items():
        lists = ["missing_outputs"] if task in LIST_MISSING else []
        assert set(file) == {"summary", "details", "metadata", *lists}
        assert set(file["metadata"]) == keys(METADATA)
        sections, stats = SUMMARIES[task]
        assert set(file["summary"]) == {"overall", *sections}
        also = {"evaluated"} if task == "speaker" else set()
        assert set(file["summary"]["overall"]) == stats | OVERALL | also
        for section in sections:
            for group in file["summary"][section].values():
                assert set(group) == stats
        for found in file["details"]:
            kind = "compositional" if task == "compositional" else found["sample_id"]
            assert set(found) == ROWS[kind], kind
    both, kept = files["compositional"]["details"]
    for kind, part in zip(COMPONENTS, both["component_results"], strict=True):
        assert set(part) == COMPONENTS[kind], kind
    assert both["preservation_results"] == []
    assert [set(check) for check in kept["preservation_results"]] == [CHECK]


def test_what_records_hold_is_there(tmp_path: Path) -> None:
    files = written(tmp_path, NODES, ROWS_OF_DATA)
    rows = {found["sample_id"]: found for file in files.values() for found in file["details"]}
    reason = "replace_target_present=False;original_absent=False"
    assert rows["content"]["edit_success_reason"] == reason
    assert rows["speaker"]["reference_wav"] == str(tmp_path / "data" / "ref.wav")
    assert rows["emotion"]["target_emotion"] == rows["emotion"]["predicted_emotion"] == "fearful"
    assert rows["style"]["target_style_success"] is True  # where the judge names no verdict
    assert rows["speed"]["change_ratio"] == -0.2
    assert (rows["pitch"]["shift_semitone"], rows["pitch"]["direction_correct"]) == (12.0, False)
    stress = rows["stress"]
    assert (stress["rpg"], stress["stress_words_passed"]) == (0.5, 1)
    assert stress["target_found_all"] is False
    assert [word["passed"] for word in stress["word_details"]] == [True, False]
    assert rows["enhancement"]["dnsmos_bak_gain"] == 2.2
    assert [rows["reverb"][f"rt60_tolerated_{end}"] for end in ("min", "max")] == [0.16, 0.48]
    assert rows["noise"]["predicted_env_subtype"] == "music"
    assert rows["noise"]["target_scene_gain"] == 0.8
    assert rows["compositional"]["component_error_count"] == 1
    assert rows["compositional"]["error"] == "the released code has no component style"

    def groups(task: str, section: str) -> list[str]:
        return [*files[task]["summary"][section]]

    assert groups("speaker", "by_target_speaker") == ["p318"]
    assert groups("paralinguistic", "by_operation_event") == ["add/laugh"]
    assert groups("acoustic", "by_degradation_type") == ["noisy"]
    assert "speaker+prosody::zh" in groups("compositional", "by_combo_language")
    prosody = files["prosody"]["summary"]["overall"]
    # Of speed and pitch one went that way far enough; stress has another rate.
    assert (prosody["direction_accuracy"], prosody["avg_rpg"]) == (0.5, 0.5)
    assert prosody["pass_rate"] == pytest.approx(1 / 3, abs=1e-4)


def test_both_error_rates_are_of_both_languages(tmp_path: Path) -> None:
    """Of normalised words between spaces, of which Chinese has none: one word, right or wrong."""
    target = {**ANCHORS["content"], "edit_original": "很", "edit_target": "真"}

    def chinese(task: str, id: str, said: str) -> dict[str, Any]:
        anchor = {**target, "transcript_target": said} if task == "content" else SPEAKER
        return row(task, anchor, sample_id=id, language="zh", transcript=said)

    rows = [
        row("content", sample_id="english"),
        chinese("content", "wrong", "今天天气很好"),
        chinese("content", "right", "今天，天气真好！"),
        row("speaker", SPEAKER, sample_id="english speaker"),
        chinese("speaker", "speaker", "今天天气很好"),
    ]
    files = written(tmp_path, NODES, rows)
    english, wrong, right = files["content"]["details"]
    # "the red lamps" and "the yellow lamps": one word of three; of 13 characters two are others,
    # and three come to them.
    assert (english["wer"], english["cer"]) == (0.3333, 0.3846)
    assert (wrong["norm_target"], wrong["norm_predicted"]) == ("今天天气很好", "今天天气真好")
    assert (wrong["wer"], wrong["cer"]) == (1.0, 0.1667)  # one word of one, one character of six
    assert (right["wer"], right["cer"], right["exact_match"]) == (0.0, 0.0, True)
    content = files["content"]["summary"]
    assert content["overall"]["avg_wer"] == 0.4444  # (1/3 + 1 + 0) / 3, each of four digits
    assert content["by_language"]["zh"]["avg_wer"] == 0.5
    assert content["by_language"]["zh"]["avg_cer"] == 0.0833  # half of 0.1667
    speaker = files["speaker"]["summary"]["overall"]
    assert (speaker["avg_en_wer"], speaker["avg_zh_cer"]) == (0.0, 0.1667)
    assert speaker["avg_content_preservation_error"] == 0.0833


def test_what_an_error_stopped_is_null(tmp_path: Path) -> None:
    """The released code does not listen to an output that it could not judge."""

    def deaf(clip: Waveform) -> Transcript:
        raise AudioError("too short")

    nodes = {**NODES, "transcriber_en": Says(deaf), "judge": Judges(None)}
    rows = [row("content"), row("emotion", language="zh")]
    files = written(tmp_path, nodes, rows)
    (content,), (emotion,) = (files[task]["details"] for task in ("content", "emotion"))
    assert (content["error"], content["edit_success"], content["wer"]) == ("too short", False, None)
    assert "the judge wrote nothing" in emotion["error"]
    assert (emotion["target_success"], emotion["joint_success"]) == (False, False)
    assert {emotion[name] for name in f"{WORDS} {GATE}".split()[1:]} == {None}
    assert files["content"]["summary"]["overall"]["error_count"] == 1
    assert files["content"]["summary"]["overall"]["exact_match_rate"] == 0.0


@pytest.mark.parametrize(
    ("edit", "heard", "reason"),
    [
        ("replace on off", "it is off", "replace_target_present_original_absent"),
        ("replace on off", "on", "replace_target_present=False;original_absent=False"),
        ("replace on ...", "off", "replace_missing_edit_target"),
        ("insert - off", "off", "insert_target_present"),
        ("insert - off", "on", "insert_target_absent"),
        ("insert - off is", "is off", "insert_target_present_after_anchor"),
        ("insert - off is", "off is", "insert_target_present=True;after_before_target=False"),
        ("insert - off is", "on", "insert_target_present=False;after_before_target=False"),
        ("delete on", "off", "delete_original_absent"),
        ("delete on", "gone", "delete_original_present"),
        ("delete ...", "gone", "delete_missing_edit_original"),
    ],
)
def test_why_an_edit_of_words_succeeds_is_said_as_there(edit: str, heard: str, reason: str) -> None:
    names = ("edit_type", "edit_original", "edit_target", "insert_after")
    named = dict(zip(names, edit.split(), strict=False))
    anchor = ContentAnchor.model_validate({"type": "content", "transcript_target": "x", **named})
    assert words.edit_reason(anchor, heard, "en") == reason
