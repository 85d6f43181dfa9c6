"""The protocol `ours`: whether an output shows what was asked for, by attribute (Table 12)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from auditeval.audio import AudioError
from auditeval.benchmarks.benchmark import Missing
from auditeval.benchmarks.speecheditbench import enhancement, failures, prosody, scenes
from auditeval.benchmarks.speecheditbench.anchors import (
    AcousticAnchor,
    ContentAnchor,
    EmotionAnchor,
    ParalinguisticAnchor,
    ProsodyAnchor,
    StyleAnchor,
    emotion,
)
from auditeval.benchmarks.speecheditbench.case import (
    Case,
    NoVerdict,
    Preservation,
    Target,
    Verdicts,
    verdict,
)
from auditeval.benchmarks.speecheditbench.content_edit import (
    ContentEdit,
    edit_succeeds,
    spans,
    tokens,
)
from auditeval.benchmarks.speecheditbench.judging import (
    emotion_question,
    event_question,
    style_question,
)
from auditeval.benchmarks.speecheditbench.samples import Edit, Sample, taxonomy
from auditeval.metrics import reverberation
from auditeval.metrics.speakers import speaker_similarity
from auditeval.metrics.transcript import (
    character_error_rate,
    error_rate,
    normalise_chinese,
    normalise_english,
    preserved,
)
from auditeval.types import Undefined

STYLE_SCORE = 3
ADDED_SCORE, REMOVED_SCORE = 2, 1


class Ours:
    """Rules of Table 12 as this package reads them; see `case.Rules`."""

    def target(self, case: Case, edit: Edit) -> Target:
        """Whether the output shows this edit.

        Beside the rules of Table 12: an output of which nothing is recognised, where there is a
        recogniser, shows none. It would be faster, rid of every cough, and for DNSMOS better than
        speech in noise.
        """
        try:
            found = _TARGETS[edit.anchor.type](case, edit)
        except NoVerdict as error:
            return Target(None, {}, str(error), failures.UNSCORED)
        except AudioError as error:
            return Target(False, {}, str(error), failures.TARGET_NOT_APPLIED)
        language = case.sample.row.language
        recogniser = f"transcriber_{language}" in case.backends
        if found.success and recogniser and not tokens(case.transcript.text, language):
            reason = "nothing is recognised in the output"
            return Target(False, found.values, reason, failures.TARGET_NOT_APPLIED)
        return found

    def preservation(self, case: Case) -> Preservation:
        """Whether the error rate, as it is, is at most 0.10 (Appendix E.2)."""
        expected, language = case.sample.expected_transcript, case.sample.row.language
        try:
            heard = case.transcript.text
        except (NoVerdict, AudioError) as error:
            none = Undefined(str(error))
            values = {"transcript_expected": expected, "transcript": none}
            return Preservation(None, values, str(error))
        rate = error_rate(language, expected, heard)
        normalise = normalise_chinese if language == "zh" else normalise_english
        found = {
            "transcript_expected": expected,
            "transcript": heard,
            "error_rate": rate,
            "character_error_rate": character_error_rate(normalise(expected), normalise(heard)),
            "exact_match": normalise(expected) == normalise(heard),
        }
        if isinstance(rate, Undefined):
            return Preservation(None, found, rate.reason)
        return Preservation(preserved(rate), found)

    def verdicts(
        self, sample: Sample, targets: Sequence[Target], preserved: bool | None
    ) -> Verdicts:
        """Of content editing there is no p, and j is t (E.1)."""
        t = _all(found.success for found in targets)
        if sample.row.task == "content":
            return Verdicts(t, None, t)
        return Verdicts(t, preserved, _all((t, preserved)))

    def failed(self, sample: Sample, output: Missing) -> Verdicts:
        """It failed."""
        return Verdicts(False, None if sample.row.task == "content" else False, False)


def _all(verdicts: Iterable[bool | None]) -> bool | None:
    """One failure is a failure, whatever else is not known."""
    verdicts = list(verdicts)
    if False in verdicts:
        return False
    return None if None in verdicts else True


def _content(case: Case, edit: Edit[ContentAnchor]) -> Target:
    anchor, row = edit.anchor, case.sample.row
    asked = ContentEdit(
        anchor.edit_type,
        row.transcript,
        anchor.transcript_target,
        anchor.edit_original or "",
        anchor.edit_target or "",
        anchor.insert_after or "",
    )
    heard = case.transcript.text
    success, reason = edit_succeeds(asked, heard, row.language)
    exact = tokens(heard, row.language) == tokens(anchor.transcript_target, row.language)
    return verdict(success, {"exact_match": exact}, reason, failures.TARGET_NOT_APPLIED)


def _speaker(case: Case, edit: Edit) -> Target:
    assert edit.reference is not None
    clips = (case.output, case.read(edit.reference))
    similarity = speaker_similarity(*(case.hear("speaker", clip) for clip in clips))
    least = case.backends.model("speaker").same_speaker_cosine
    values = {"reference_similarity": similarity, "least_similarity": least}
    reason = f"similarity to the reference speaker {similarity:.3f}, {least} is needed"
    return verdict(similarity >= least, values, reason, failures.SPEAKER_MISS)


def _emotion(case: Case, edit: Edit[EmotionAnchor]) -> Target:
    anchor, row = edit.anchor, case.sample.row
    labels = taxonomy(row, anchor)
    reply = case.ask(emotion_question(case.output, case.transcript.text, labels))
    wanted, source = emotion(anchor.target_emotion), emotion(anchor.source_emotion)
    predicted = emotion(reply.predicted_emotion)
    if not predicted:
        raise NoVerdict("the judge names no emotion")
    values = {"predicted_emotion": predicted, **_of_judge(reply)}
    failure = failures.WRONG_LABEL
    if predicted in ("neutral", source):
        failure = failures.TARGET_NOT_APPLIED
    return verdict(predicted == wanted, values, f"sounds {predicted}, not {wanted}", failure)


def _style(case: Case, edit: Edit[StyleAnchor]) -> Target:
    anchor = edit.anchor
    reply = case.ask(style_question(case.output, anchor.target_style))
    score, said = reply.target_style_score, reply.target_style_success
    scores = reply.style_scores
    values = {
        "target_style_score": score,
        "target_style_success": said,
        "dominant_style": reply.dominant_style,
        "style_scores": scores and scores.model_dump(by_alias=True),
        **_of_judge(reply),
    }
    other = reply.dominant_style not in (None, "", "uncertain", anchor.target_style)
    return verdict(
        score >= STYLE_SCORE and said is not False,
        values,
        f"{anchor.target_style} scores {score} of 4, {STYLE_SCORE} and the judge's yes are needed",
        failures.WRONG_LABEL if other else failures.TARGET_NOT_APPLIED,
    )


def _paralinguistic(case: Case, edit: Edit[ParalinguisticAnchor]) -> Target:
    anchor = edit.anchor
    reply = case.ask(event_question(case.output))
    scores = reply.event_scores.model_dump()
    score = scores[anchor.event]
    success = score >= ADDED_SCORE if anchor.operation == "add" else score <= REMOVED_SCORE
    reason = f"{anchor.event} scores {score} of 3, to {anchor.operation}"
    values = {"event_scores": scores, **_of_judge(reply)}
    return verdict(success, values, reason, failures.PARALINGUISTIC_MISS)


def _of_judge(reply: Any) -> dict[str, Any]:
    return {"confidence": reply.confidence, "rationale": reply.rationale}


def _prosody(case: Case, edit: Edit[ProsodyAnchor]) -> Target:
    anchor = edit.anchor
    if anchor.prosody_type == "stress":
        return _stress(case, anchor)
    if anchor.prosody_type == "speed":
        ratio = prosody.duration_ratio(case.source, case.output)
        success = prosody.speed_succeeds(ratio, anchor.direction)  # type: ignore[arg-type]
        values, found = {"duration_ratio": ratio}, f"lasts {ratio:.3f} times the source"
    else:
        tracks = [case.hear("pitch", clip) for clip in (case.source, case.output)]
        if all(f0 is None for f0 in tracks[0].f0_hz):
            raise NoVerdict("the source has no voiced frame")
        shift = prosody.f0_shift_semitones(*tracks)
        success = prosody.pitch_succeeds(shift, anchor.direction)  # type: ignore[arg-type]
        values = {"f0_shift_semitones": shift}  # type: ignore[dict-item]
        unheard = isinstance(shift, Undefined)
        found = shift.reason if unheard else f"f0 moved by {shift:.3f} semitones"  # type: ignore
    return verdict(success, values, f"{found}, not {anchor.direction}", failures.PROSODY_MISS)


def _stress(case: Case, anchor: ProsodyAnchor) -> Target:
    language = case.sample.row.language
    found = []
    for clip in (case.source, case.output):
        words = case.transcript_of(clip).words
        if case.transcript_of(clip).text and not words:
            raise NoVerdict("the recogniser gives no times of words")
        prominences = prosody.prominences(clip, words, case.hear("pitch", clip))
        texts = [word.text for word in words]
        found.append(
            [
                [prominences[place] for place in spans(texts, word, language)]
                for word in anchor.stress_words
            ]
        )
    gains = [prosody.prominence_gain(*pair) for pair in zip(*found, strict=True)]
    named = dict(zip(anchor.stress_words, gains, strict=True))
    weak = [
        f"{word}: {gain.reason}" if isinstance(gain, Undefined) else f"{word}: gain {gain:.3f}"
        for word, gain in named.items()
        if not prosody.stress_succeeds([gain])
    ]
    reason = f"not stressed: {'; '.join(weak)}"
    values = {"prominence_gain": named}
    return verdict(prosody.stress_succeeds(gains), values, reason, failures.PROSODY_MISS)


def _acoustic(case: Case, edit: Edit[AcousticAnchor]) -> Target:
    anchor = edit.anchor
    if anchor.subtask == "enhancement":
        before, after = (case.hear("speech_quality", clip) for clip in (case.source, case.output))
        gains = {name: after.values[name] - before.values[name] for name in ("OVRL", "BAK")}
        values = {"dnsmos": after.values, "source_dnsmos": before.values, "dnsmos_gain": gains}
        reason = f"gains {gains['OVRL']:.3f} OVRL and {gains['BAK']:.3f} BAK, both must be above 0"
        success = enhancement.enhancement_succeeds(before, after)
        return verdict(success, values, reason, failures.TARGET_NOT_APPLIED)
    if anchor.env_type == "reverb":
        assert anchor.rt60_target_range is not None
        low, high = anchor.rt60_target_range
        response = reverberation.impulse_response(case.source, case.output)
        measured = response if isinstance(response, Undefined) else reverberation.rt60(response)
        found = measured.reason if isinstance(measured, Undefined) else f"is {measured:.3f} s"
        return verdict(
            reverberation.rt60_succeeds(measured, low, high),
            {
                "rt60": measured,
                "rt60_blind": reverberation.rt60_blind(case.output),
                "rt60_target_range": [low, high],
            },
            f"RT60 {found}, asked for were {low} to {high} s",
            failures.ENVIRONMENT_MISS,
        )
    tags = (case.hear("tagger", clip) for clip in (case.source, case.output))
    before, after = (scenes.scene_scores(tagged) for tagged in tags)
    return verdict(
        scenes.scene_succeeds(before, after, anchor.scene),
        {"scene_scores": after, "source_scene_scores": before},
        f"{anchor.scene} scores {after[anchor.scene]:.3f}, {before[anchor.scene]:.3f} before",
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
