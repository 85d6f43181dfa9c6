"""What counts as an edit, task by task, with backends that say what the test tells them to.

The source is a tone of 220 Hz, the reference speaker one of 330 Hz, the good output one of 440 Hz.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from speechedit_rows import ANCHORS, Judges, Says, lay_out, of_hz, row, tone

from auditeval.audio import AudioError, Waveform
from auditeval.backends.backend import PitchTrack, Ratings, SpeakerEmbedding, Tags, Transcript, Word
from auditeval.backends.load import Backends
from auditeval.benchmarks.benchmark import Missing, Output, Record
from auditeval.benchmarks.speecheditbench import failures, rates
from auditeval.benchmarks.speecheditbench.benchmark import SpeechEditBench
from auditeval.benchmarks.speecheditbench.judging import EventReply, StyleReply
from auditeval.benchmarks.speecheditbench.samples import TASKS
from auditeval.judges.judge import Answer, Question
from auditeval.judges.replies import parsed

SOURCE, GOOD = tone(220), tone(440, seconds=0.8)
JUDGED = ("emotion", "style", "paralinguistic")
ANSWERS: dict[str, Any] = {
    "emotion": {"predicted_emotion": "Fear", "confidence": 1},
    "style": {"target_style_score": 3, "dominant_style": "intimate"},
    "paralinguistic": {"event_scores": {"breath": 0, "laugh": 2, "cough": 0, "sigh": 0}},
}


def spoken(text: str) -> Transcript:
    words = text.split()
    return Transcript(text, tuple(Word(w, i / 5, (i + 1) / 5) for i, w in enumerate(words)))


def nodes(task: str, **changes: Any) -> dict[str, Any]:
    """Backends for which the good output of a task is good."""
    says = "the red lamps" if task in ("content", "compositional") else "the yellow lamps"
    made: dict[str, Any] = {
        "transcriber_en": lambda c: spoken(says if of_hz(c) == 440 else "the yellow lamps"),
        "speaker": lambda c: SpeakerEmbedding((1.0, 0.0) if of_hz(c) > 300 else (0.0, 1.0)),
        "pitch": lambda c: PitchTrack(0.1, (float(of_hz(c)),) * 10),
        "tagger": lambda c: Tags({"Music": 0.9 if of_hz(c) == 440 else 0.0}),
        "speech_quality": lambda c: Ratings({"SIG": 3, "BAK": of_hz(c), "OVRL": of_hz(c)}),
    }
    backends = {role: Says(say) for role, say in (made | changes).items() if role != "judge"}
    return backends | {"judge": changes.get("judge", Judges(ANSWERS.get(task)))}


def evaluated(folder: Path, made: dict[str, Any], output: Output = GOOD, **changes: Any) -> Record:
    task = made["task"].removesuffix("_editing")
    bench = SpeechEditBench(
        lay_out(folder, made), Backends(nodes(task, **changes)), protocol="ours"
    )
    (sample,) = bench.samples
    record = bench.evaluate(sample, output)
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    return record


@pytest.mark.parametrize("task", TASKS)
def test_a_good_output_succeeds(task: str, tmp_path: Path) -> None:
    record = evaluated(tmp_path, row(task))
    assert record["status"] == "ok"
    assert (record["target_success"], record["joint_success"]) == (True, True), record
    assert record["preservation_success"] is (None if task == "content" else True)
    assert (record["reason"], record["failure"]) == ("", None)
    assert all(edit["success"] and not edit["reason"] for edit in record["edits"])


@pytest.mark.parametrize("task", [task for task in TASKS if task not in JUDGED])
def test_the_source_fails_its_target_and_says_why(task: str, tmp_path: Path) -> None:
    record = evaluated(tmp_path, row(task), SOURCE)
    assert (record["status"], record["target_success"]) == ("ok", False)
    assert record["reason"]
    assert record["failure"] in failures.FAILURES


def test_the_speaker_threshold_is_the_backends(tmp_path: Path) -> None:
    def near(clip: Waveform) -> SpeakerEmbedding:
        return SpeakerEmbedding((0.6, 0.8) if of_hz(clip) == 440 else (1.0, 0.0))

    record = evaluated(tmp_path / "a", row("speaker"), speaker=near)
    assert record["target_success"] is True
    assert record["edits"][0]["reference_similarity"] == 0.6
    strict = Says(near)
    strict.same_speaker_cosine = 0.75
    backends = Backends(nodes("speaker") | {"speaker": strict})
    bench = SpeechEditBench(lay_out(tmp_path / "b", row("speaker")), backends, protocol="ours")
    record = bench.evaluate(bench.samples[0], GOOD)
    assert (record["target_success"], record["failure"]) == (False, failures.SPEAKER_MISS)


@pytest.mark.parametrize(
    ("task", "changes", "answer", "success", "failure"),
    [
        ("emotion", {}, {"predicted_emotion": " FEARFUL "}, True, None),
        ("emotion", {}, {"predicted_emotion": "neutral"}, False, failures.TARGET_NOT_APPLIED),
        ("emotion", {}, {"predicted_emotion": "sadness"}, False, failures.TARGET_NOT_APPLIED),
        ("emotion", {}, {"predicted_emotion": "angry"}, False, failures.WRONG_LABEL),
        ("emotion", {}, {"predicted_emotion": "playful"}, False, failures.WRONG_LABEL),
        ("emotion", {}, {"predicted_emotion": ""}, None, failures.UNSCORED),
        ("emotion", {}, None, None, failures.UNSCORED),
        ("style", {}, {"target_style_score": 3, "target_style_success": True}, True, None),
        ("style", {}, {"target_style_score": 4, "target_style_success": False}, False, "target"),
        ("style", {}, {"target_style_score": 2, "target_style_success": True}, False, "target"),
        ("style", {}, {"target_style_score": 1, "dominant_style": "dramatic"}, False, "wrong"),
        ("style", {}, None, None, failures.UNSCORED),
        ("paralinguistic", {"operation": "add"}, 1, False, failures.PARALINGUISTIC_MISS),
        ("paralinguistic", {"operation": "add"}, 2, True, None),
        ("paralinguistic", {"operation": "remove"}, 1, True, None),
        ("paralinguistic", {"operation": "remove"}, 2, False, failures.PARALINGUISTIC_MISS),
        ("paralinguistic", {"operation": "remove"}, None, None, failures.UNSCORED),
    ],
)
def test_answers_of_the_judge(
    task: str,
    changes: dict[str, Any],
    answer: Any,
    success: bool | None,
    failure: str | None,
    tmp_path: Path,
) -> None:
    if isinstance(answer, int):
        answer = {"event_scores": {"breath": 0, "laugh": answer, "cough": 3, "sigh": 0}}
    made = row(task, {**ANCHORS[task], **changes})
    record = evaluated(tmp_path, made, judge=Judges(answer))
    assert record["target_success"] is success
    assert record["joint_success"] is success
    assert (record["failure"] or "").startswith(failure or "")
    assert (record["status"] == "unscored") == (success is None)


@pytest.mark.parametrize("task", JUDGED)
def test_the_judge_hears_the_output_alone_and_reads_what_was_said_in_it(
    task: str, tmp_path: Path
) -> None:
    asked: list[Question[Any]] = []

    class Listens(Judges):
        def ask(self, question: Question[Any]) -> Answer[Any]:
            asked.append(question)
            return super().ask(question)

    evaluated(
        tmp_path,
        row(task),
        judge=Listens(ANSWERS[task]),
        transcriber_en=lambda c: spoken("the amber lamps"),
    )
    ((name, clip),) = asked[0].clips
    assert (name, len(asked)) == ("output", 1)
    assert clip is GOOD
    assert ("the amber lamps" in asked[0].prompt) == (task == "emotion")
    assert "the yellow lamps" not in asked[0].prompt


@pytest.mark.parametrize("laugh", ["true", "1.5", '"one"', "null", "-1", "4"])
def test_a_score_that_is_no_whole_number_of_its_scale_is_none(laugh: str) -> None:
    """As 1, "true" would have removed what the judge hears."""
    events = f'{{"event_scores": {{"breath": 0, "laugh": {laugh}, "cough": 0, "sigh": 0}}}}'
    assert isinstance(parsed(events, EventReply), str)
    score = "5" if laugh == "4" else laugh
    assert isinstance(parsed(f'{{"target_style_score": {score}}}', StyleReply), str)


def pitch(direction: str) -> dict[str, Any]:
    return row("prosody", {"type": "prosody", "prosody_type": "pitch", "direction": direction})


def test_pitch_moves_the_way_it_was_asked_to(tmp_path: Path) -> None:
    record = evaluated(tmp_path / "up", pitch("higher"))
    assert record["target_success"] is True
    assert record["edits"][0]["f0_shift_semitones"] == 12.0
    record = evaluated(tmp_path / "down", pitch("lower"))
    assert (record["target_success"], record["failure"]) == (False, failures.PROSODY_MISS)


@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_an_unvoiced_output_has_no_pitch_and_fails(direction: str, tmp_path: Path) -> None:
    def f0(clip: Waveform) -> PitchTrack:
        return PitchTrack(0.1, (None if of_hz(clip) == 440 else 200.0,) * 10)

    record = evaluated(tmp_path, pitch(direction), pitch=f0)
    assert (record["status"], record["target_success"]) == ("ok", False)
    (edit,) = record["edits"]
    assert edit["f0_shift_semitones"] is None
    assert "no voiced frame" in edit["undefined"]["f0_shift_semitones"]


def test_an_unvoiced_source_is_nobodys_failure(tmp_path: Path) -> None:
    record = evaluated(tmp_path, pitch("higher"), pitch=lambda c: PitchTrack(0.1, (None,) * 10))
    assert (record["status"], record["target_success"]) == ("unscored", None)


def test_every_stressed_word_must_be_heard_and_grow(tmp_path: Path) -> None:
    anchor = {"type": "prosody", "prosody_type": "stress", "stress_words": ["yellow"]}
    louder = GOOD.samples.copy()
    louder[: len(louder) // 4] *= 0.2  # the first word is softer, so the others stand out
    louder[len(louder) // 2 :] *= 0.2
    output = Waveform(louder, 16000)
    assert evaluated(tmp_path / "a", row("prosody", anchor), output)["target_success"] is True
    assert evaluated(tmp_path / "b", row("prosody", anchor), SOURCE)["target_success"] is False
    both = {**anchor, "stress_words": ["yellow", "sun"]}
    record = evaluated(tmp_path / "c", row("prosody", both), output)
    assert record["target_success"] is False
    assert "sun: the word is not heard" in record["reason"]


def test_a_word_can_be_stressed_by_its_pitch_alone(tmp_path: Path) -> None:
    def rises(clip: Waveform) -> PitchTrack:
        """On the first word, in the output."""
        high = 300.0 if of_hz(clip) == 440 else 200.0
        return PitchTrack(0.1, (high, high, *[200.0] * 6))

    anchor = {"type": "prosody", "prosody_type": "stress", "stress_words": ["the"]}
    record = evaluated(tmp_path / "a", row("prosody", anchor), pitch=rises)
    assert record["edits"][0]["prominence_gain"]["the"] > 0
    assert record["target_success"] is True
    anchor = {**anchor, "stress_words": ["lamps"]}
    record = evaluated(tmp_path / "b", row("prosody", anchor), pitch=rises)
    assert record["target_success"] is False


def test_enhancement_is_more_than_the_source_again(tmp_path: Path) -> None:
    made = row("acoustic", {"type": "acoustic", "subtask": "enhancement"})
    assert evaluated(tmp_path / "a", made)["target_success"] is True
    record = evaluated(tmp_path / "b", made, SOURCE)
    assert record["target_success"] is False
    assert record["edits"][0]["dnsmos_gain"] == {"OVRL": 0.0, "BAK": 0.0}
    worse = evaluated(
        tmp_path / "c", made, speech_quality=lambda c: Ratings({"BAK": of_hz(c), "OVRL": 3.0})
    )
    assert worse["target_success"] is False
    # DNSMOS rates a hiss above speech in noise; without a word it is no better speech.
    for text in ("", ".", "..."):  # Whisper writes a full stop for noise
        hiss = evaluated(tmp_path / "d", made, transcriber_en=lambda c, text=text: spoken(text))
        assert hiss["target_success"] is False
        assert hiss["reason"].startswith("nothing is recognised")


def test_a_reverberation_time_in_range_is_the_room_asked_for(tmp_path: Path) -> None:
    room = {"type": "acoustic", "subtask": "env_transfer", "env_type": "reverb"}
    made = row("acoustic", {**room, "rt60_target_range": [0.3, 0.5]})
    assert evaluated(tmp_path, made, SOURCE)["target_success"] is False


def test_words_that_changed_are_not_preserved(tmp_path: Path) -> None:
    def heard(clip: Waveform) -> Transcript:
        return spoken("the yellow lambs")

    record = evaluated(tmp_path, row("acoustic"), transcriber_en=heard)
    assert (record["target_success"], record["preservation_success"]) == (True, False)
    assert record["joint_success"] is False
    assert record["failure"] == failures.ACOUSTIC_WITHOUT_PRESERVATION
    assert record["error_rate"] == 0.333333


def test_a_content_edit_with_drift_succeeds_and_is_told(tmp_path: Path) -> None:
    record = evaluated(
        tmp_path, row("content"), transcriber_en=lambda c: spoken("some red lamps were on")
    )
    assert (record["joint_success"], record["failure"]) == (True, failures.GLOBAL_DRIFT)


def test_a_sample_without_words_has_no_verdict_on_preservation(tmp_path: Path) -> None:
    record = evaluated(tmp_path, row("acoustic", transcript="..."))
    assert (record["status"], record["preservation_success"]) == ("unscored", None)
    assert record["joint_success"] is None


def nothing(clip: Waveform) -> Any:
    raise AudioError("too short to be heard")


BAD: dict[str, tuple[Output, dict[str, Any]]] = {
    "missing": (Missing("there is no output"), {}),
    "unreadable": (Missing("is digital silence", unreadable=True), {}),
    "empty transcript": (tone(100), {"transcriber_en": lambda c: Transcript("", ())}),
    "no backends": (tone(100), {}),
    "backends that cannot": (
        tone(100),
        dict.fromkeys(("transcriber_en", "speaker", "pitch", "tagger", "speech_quality"), nothing),
    ),
    "silence": (
        Waveform(np.zeros(16000, np.float32), 16000),
        {"transcriber_en": lambda c: Transcript("", ()), "speaker": nothing},
    ),
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("operation", ["add", "remove"])
@pytest.mark.parametrize("task", TASKS)
def test_nothing_bad_raises_a_success_rate(
    task: str, operation: str, bad: str, tmp_path: Path
) -> None:
    anchor = {**ANCHORS[task], "operation": operation} if task == "paralinguistic" else None
    output, changes = BAD[bad]
    good = evaluated(tmp_path / "good", row(task))
    made = row(task, anchor)
    if bad == "no backends":
        bench = SpeechEditBench(lay_out(tmp_path / "bad", made), Backends({}), protocol="ours")
        record = bench.evaluate(bench.samples[0], output)
    else:
        record = evaluated(tmp_path / "bad", made, output, judge=Judges(None), **changes)
    assert record["joint_success"] is not True
    assert record["target_success"] is not True
    assert record["preservation_success"] is not True
    assert record["reason"]
    assert record["failure"] in failures.FAILURES
    for verdict in (rates.TARGET, rates.JOINT):
        assert rates.rate([good, record], verdict) == 0.5
    assert rates.component_rate([good, record]) <= 0.5  # type: ignore[operator]
    if isinstance(output, Missing):
        assert record["status"] == "failed"
        assert record["preservation_success"] is (None if task == "content" else False)
        missing = {False: failures.MISSING, True: failures.UNREADABLE}
        assert record["failure"] == missing[output.unreadable]


@pytest.mark.parametrize("text", ["", " ", ".", "..."])
@pytest.mark.parametrize("task", TASKS)
def test_an_output_that_says_nothing_shows_no_edit(task: str, text: str, tmp_path: Path) -> None:
    """All but its words are as they should be: faster, louder, rid of the cough."""
    anchor = {**ANCHORS[task], "operation": "remove"} if task == "paralinguistic" else None
    gone = {"event_scores": dict.fromkeys(("breath", "laugh", "cough", "sigh"), 0)}
    judge = {"judge": Judges(gone)} if task == "paralinguistic" else {}
    said = {"transcriber_en": lambda c: Transcript(text, ())}
    record = evaluated(tmp_path, row(task, anchor), **judge, **said)
    assert (record["status"], record["target_success"]) == ("ok", False)
    assert record["joint_success"] is False


@pytest.mark.parametrize(
    ("task", "role"),
    [("speaker", "speaker"), ("acoustic", "tagger"), ("enhancement", "speech_quality")],
)
def test_what_a_backend_cannot_hear_failed_if_it_is_the_output(
    task: str, role: str, tmp_path: Path
) -> None:
    """And leaves no verdict if it is the source or the reference."""
    made = row("acoustic", {"type": "acoustic", "subtask": "enhancement"})
    made = made if task == "enhancement" else row(task)

    def deaf(to: bool) -> Any:
        say = nodes(task)[role]
        return lambda c: nothing(c) if (of_hz(c) == 440) is to else say(c)

    changes = {"transcriber_en": lambda c: spoken("the yellow lamps")}
    record = evaluated(tmp_path / "a", made, **changes, **{role: deaf(True)})
    assert (record["status"], record["target_success"]) == ("ok", False)
    record = evaluated(tmp_path / "b", made, **changes, **{role: deaf(False)})
    assert (record["status"], record["target_success"]) == ("unscored", None)


def test_what_a_judge_only_tells_voids_no_verdict(tmp_path: Path) -> None:
    told = {"confidence": "high", "rationale": None, "dominant_style": 3, "style_scores": {"a": 1}}
    judge = Judges({"target_style_score": 4, "target_style_success": True, **told})
    record = evaluated(tmp_path, row("style"), judge=judge)
    assert record["target_success"] is True
    assert record["edits"][0]["confidence"] is None


def test_enhancement_needs_no_recogniser(tmp_path: Path) -> None:
    made = row("acoustic", {"type": "acoustic", "subtask": "enhancement"})
    backends = Backends(nodes("acoustic") | {"transcriber_en": None})
    bench = SpeechEditBench(lay_out(tmp_path, made), backends, protocol="ours")
    record = bench.evaluate(bench.samples[0], GOOD)
    assert record["target_success"] is True
    assert (record["preservation_success"], record["joint_success"]) == (None, None)


def test_records_hold_what_verdicts_came_from(tmp_path: Path) -> None:
    record = evaluated(tmp_path, row("acoustic"))
    assert record["transcript"] == record["transcript_expected"] == "the yellow lamps"
    assert record["error_rate"] == 0.0
    assert record["source_similarity"] == 0.0
    (edit,) = record["edits"]
    assert edit["scene_scores"] == {"outdoor": 0.0, "crowd": 0.0, "music": 0.9}
    assert edit["source_scene_scores"]["music"] == 0.0
