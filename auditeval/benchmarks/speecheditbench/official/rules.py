"""The protocol `official`: what the released evaluation code makes of an output.

daxintan-cuhk/SpeechEditBench at commit 1ac1ab89, written anew; tests hold it to recorded answers of
that code. Where a model stands in, its own threshold of speaker similarity does, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from auditeval.audio import AudioError
from auditeval.backends.backend import PitchTrack
from auditeval.benchmarks.benchmark import Missing
from auditeval.benchmarks.speecheditbench import failures, prosody, scenes
from auditeval.benchmarks.speecheditbench.anchors import (
    AcousticAnchor,
    ContentAnchor,
    EmotionAnchor,
    ParalinguisticAnchor,
    ProsodyAnchor,
    StyleAnchor,
)
from auditeval.benchmarks.speecheditbench.case import (
    Case,
    NoAnswer,
    NoVerdict,
    Preservation,
    Target,
    Verdicts,
    verdict,
)
from auditeval.benchmarks.speecheditbench.official import judging, room, stress, words
from auditeval.benchmarks.speecheditbench.samples import Edit, Sample
from auditeval.metrics.speakers import speaker_similarity
from auditeval.types import Undefined

STYLE_SCORE = 3
ADDED_SCORE, REMOVED_SCORE = 2, 1
_DIGITS = 4
"""To which similarities, ratings and error rates are rounded before they are compared."""

_FAILS_ON_ERROR = ("content", "emotion", "style", "paralinguistic")
"""Tasks in which what cannot be evaluated fails; in all others it has no verdict."""
_STOPS_ON_ERROR = ("emotion", "style", "paralinguistic", "prosody")
_COMPONENTS = ("content", "speaker", "emotion", "prosody", "acoustic")
"""What the released code knows as a component of a compositional edit."""


class Official:
    """Rules of the released code; see `case.Rules`."""

    def target(self, case: Case, edit: Edit) -> Target:
        """Whether the output shows this edit.

        An error (no voiced frame, a clip that a model refuses, a judge that does not answer) is a
        failure in content, emotion, style and paralinguistic editing, and no verdict elsewhere.
        """
        kind, task = edit.anchor.type, case.sample.row.task
        try:
            if task == "compositional" and kind not in _COMPONENTS:
                raise NoVerdict(f"the released code has no component {kind}")
            return _TARGETS[kind](case, edit)
        except NoAnswer as error:
            success = False if task in _FAILS_ON_ERROR else None
            return Target(success, {}, str(error), failures.UNSCORED)
        except NoVerdict as error:
            return Target(None, {}, str(error), failures.UNSCORED)
        except AudioError as error:
            if task in _FAILS_ON_ERROR:
                return Target(False, {}, str(error), failures.TARGET_NOT_APPLIED)
            return Target(None, {}, str(error), failures.UNSCORED)

    def preservation(self, case: Case) -> Preservation:
        """Whether the error rate, rounded to four digits, is at most 0.10. The words of a sample
        with a content edit, and those of one that has none, are not asked for."""
        expected, language = case.sample.expected_transcript, case.sample.row.language
        try:
            heard = case.transcript.text
        except (NoVerdict, AudioError) as error:
            none = Undefined(str(error))
            return Preservation(
                None, {"transcript_expected": expected, "transcript": none}, str(error)
            )
        of_words, of_characters = words.error_rates(language, expected, heard)
        rate = of_characters if language == "zh" else of_words
        found = {
            "transcript_expected": expected,
            "transcript": heard,
            "error_rate": rate,
            "character_error_rate": of_characters,
            "exact_match": words.normalise(expected, language) == words.normalise(heard, language),
        }
        if not _asks_for_words(case.sample):
            return Preservation(None, found)
        return Preservation(rate <= words.GATE, found)

    def verdicts(
        self, sample: Sample, targets: Sequence[Target], preserved: bool | None
    ) -> Verdicts:
        """j where all is known: every edit, and the words where they are asked for. Where an error
        has left no verdict on an atomic edit, nobody asks for the words, but of an acoustic one or
        of a speaker."""
        edits = [found.success for found in targets]
        t = None if None in edits else all(edits)
        if sample.row.task in _STOPS_ON_ERROR and targets[0].failure == failures.UNSCORED:
            return Verdicts(t, None, t)
        if not _asks_for_words(sample):
            return Verdicts(t, None, t)
        return Verdicts(t, preserved, None if t is None or preserved is None else t and preserved)

    def failed(self, sample: Sample, output: Missing) -> Verdicts:
        """What is missing has no verdict: it counts in the coverage alone. What cannot be read is
        an error."""
        fails = output.unreadable and sample.row.task in _FAILS_ON_ERROR
        return Verdicts(False, None, False) if fails else Verdicts(None, None, None)


def _asks_for_words(sample: Sample) -> bool:
    if any(isinstance(edit.anchor, ContentAnchor) for edit in sample.edits):
        return False
    return sample.row.task != "compositional" or bool(sample.row.transcript)


def _content(case: Case, edit: Edit[ContentAnchor]) -> Target:
    anchor, language = edit.anchor, case.sample.row.language
    heard = case.transcript.text
    exact = words.normalise(heard, language) == words.normalise(anchor.transcript_target, language)
    return verdict(
        words.edit_succeeds(anchor, heard, language),
        {"exact_match": exact},
        f"the transcript does not show it as text ({anchor.edit_type})",
        failures.TARGET_NOT_APPLIED,
    )


def _speaker(case: Case, edit: Edit) -> Target:
    assert edit.reference is not None
    clips = (case.output, case.read(edit.reference))
    similarity = round(speaker_similarity(*(case.hear("speaker", clip) for clip in clips)), _DIGITS)
    least = case.backends.model("speaker").same_speaker_cosine
    values = {"reference_similarity": similarity, "least_similarity": least}
    reason = f"similarity to the reference speaker {similarity:.4f}, {least} is needed"
    return verdict(similarity >= least, values, reason, failures.SPEAKER_MISS)


def _emotion(case: Case, edit: Edit[EmotionAnchor]) -> Target:
    anchor, row = edit.anchor, case.sample.row
    labels = judging.taxonomy(row, anchor)
    expected = case.sample.expected_transcript
    reply = case.ask(judging.emotion_question(case.output, expected, labels, row.language))
    wanted, predicted = judging.emotion(anchor.target_emotion), judging.heard_emotion(reply, labels)
    unmoved = predicted in ("neutral", judging.emotion(anchor.source_emotion))
    return verdict(
        predicted == wanted,
        {"predicted_emotion": predicted},
        f"sounds {predicted}, not {wanted}",
        failures.TARGET_NOT_APPLIED if unmoved else failures.WRONG_LABEL,
    )


def _style(case: Case, edit: Edit[StyleAnchor]) -> Target:
    anchor, row = edit.anchor, case.sample.row
    style = anchor.target_style
    reply = case.ask(judging.style_question(case.output, row.transcript, style, row.language))
    score, said = judging.style_score(reply, style), judging.style_said(reply)
    return verdict(
        score >= STYLE_SCORE and said is not False,
        {"target_style_score": score, "target_style_success": said},
        f"{style} scores {score} of 4, {STYLE_SCORE} and the judge's yes are needed",
        failures.TARGET_NOT_APPLIED,
    )


def _paralinguistic(case: Case, edit: Edit[ParalinguisticAnchor]) -> Target:
    anchor = edit.anchor
    reply = case.ask(judging.event_question(case.output))
    score = judging.event_score(reply, anchor.event)
    success = score >= ADDED_SCORE if anchor.operation == "add" else score <= REMOVED_SCORE
    reason = f"{anchor.event} scores {score} of 3, to {anchor.operation}"
    return verdict(success, {"event_score": score}, reason, failures.PARALINGUISTIC_MISS)


def _prosody(case: Case, edit: Edit[ProsodyAnchor]) -> Target:
    anchor = edit.anchor
    if anchor.prosody_type == "stress":
        return _stress(case, anchor)
    if anchor.prosody_type == "speed":
        ratio = prosody.duration_ratio(case.source, case.output)
        faster = anchor.direction == "faster"
        success = ratio <= prosody.FASTER_RATIO if faster else ratio >= prosody.SLOWER_RATIO
        values, found = {"duration_ratio": ratio}, f"lasts {ratio:.4f} times the source"
    else:
        source, output = (case.hear("pitch", clip) for clip in (case.source, case.output))
        shift = prosody.f0_shift_semitones(source, output)
        if isinstance(shift, Undefined):
            raise NoVerdict(shift.reason)
        moved = shift if anchor.direction == "higher" else -shift
        success = moved >= prosody.SHIFT_SEMITONES
        values, found = {"f0_shift_semitones": shift}, f"f0 moved by {shift:.3f} semitones"
    return verdict(success, values, f"{found}, not {anchor.direction}", failures.PROSODY_MISS)


def _stress(case: Case, anchor: ProsodyAnchor) -> Target:
    language = case.sample.row.language
    clips: list[tuple[Any, Any, PitchTrack]] = []
    for clip in (case.source, case.output):
        transcript = case.transcript_of(clip)
        if transcript.text and not transcript.words:
            raise NoVerdict("the recogniser gives no times of words")
        clips.append((clip, transcript.words, case.hear("pitch", clip)))
    gains: dict[str, float | Undefined] = {}
    for wanted in anchor.stress_words:
        windows = [stress.window(heard, wanted, language) for _, heard, _ in clips]
        scores = [
            stress.prominence(clip, pitch, window)
            for (clip, _, pitch), window in zip(clips, windows, strict=True)
            if window is not None
        ]
        gains[wanted] = (
            scores[1] - scores[0] if len(scores) == 2 else Undefined("not heard in both clips")
        )
    weak = [
        f"{word}: {gain.reason}" if isinstance(gain, Undefined) else f"{word}: gain {gain:.3f}"
        for word, gain in gains.items()
        if isinstance(gain, Undefined) or not gain > 0
    ]
    reason = f"not stressed: {'; '.join(weak)}"
    return verdict(not weak, {"prominence_gain": gains}, reason, failures.PROSODY_MISS)


def _acoustic(case: Case, edit: Edit[AcousticAnchor]) -> Target:
    anchor = edit.anchor
    if anchor.subtask == "enhancement":
        before, after = (
            {name: round(value, _DIGITS) for name, value in rated.values.items()}
            for rated in (case.hear("speech_quality", c) for c in (case.source, case.output))
        )
        gains = {name: after[name] - before[name] for name in ("OVRL", "BAK")}
        values = {"dnsmos": after, "source_dnsmos": before, "dnsmos_gain": gains}
        reason = f"gains {gains['OVRL']:.4f} OVRL and {gains['BAK']:.4f} BAK, both must be above 0"
        success = all(gain > 0 for gain in gains.values())
        return verdict(success, values, reason, failures.TARGET_NOT_APPLIED)
    if anchor.env_type == "reverb":
        assert anchor.rt60_target_range is not None
        low, high = anchor.rt60_target_range
        measured = room.rt60(case.source, case.output)
        if isinstance(measured, Undefined):
            raise NoVerdict(measured.reason)
        return verdict(
            low * 0.8 <= measured <= high * 1.2,
            {"rt60": measured, "rt60_target_range": [low, high]},
            f"RT60 is {measured:.3f} s, asked for were {low} to {high} s",
            failures.ENVIRONMENT_MISS,
        )
    tags = (case.hear("tagger", clip) for clip in (case.source, case.output))
    source, output = (scenes.scene_scores(tagged) for tagged in tags)
    score, gain = output[anchor.scene], output[anchor.scene] - source[anchor.scene]
    leads = max(output, key=lambda scene: output[scene]) == anchor.scene  # of equals the first
    return verdict(
        leads and score >= scenes.LEAST_SCORE and gain >= scenes.LEAST_GAIN,
        {"scene_scores": output, "source_scene_scores": source},
        f"{anchor.scene} scores {score:.3f}, {score - gain:.3f} before",
        failures.ENVIRONMENT_MISS,
    )


_TARGETS: Mapping[str, Callable[[Case, Edit], Target]] = {
    "content": _content,
    "speaker": _speaker,
    "emotion": _emotion,
    "style": _style,
    "prosody": _prosody,
    "paralinguistic": _paralinguistic,
    "acoustic": _acoustic,
}
