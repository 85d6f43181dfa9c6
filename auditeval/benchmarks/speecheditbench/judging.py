"""What the judge is asked of emotion, style and paralinguistic edits (Appendix E.4)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from auditeval.audio import Waveform
from auditeval.benchmarks.speecheditbench.anchors import EMOTIONS, Style, Taxonomy
from auditeval.judges.judge import Question
from auditeval.judges.replies import WholeNumber


def _or_none(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    try:
        return check(value)
    except ValidationError:
        return None


# What is only told (E.5) and voids no verdict when a judge writes it otherwise.
Lenient = WrapValidator(_or_none)
Confidence = Annotated[Annotated[float, Field(ge=0, le=1)] | None, Lenient]
Words = Annotated[str | None, Lenient]
StyleScore = Annotated[WholeNumber, Field(ge=0, le=4)]
EventScore = Annotated[WholeNumber, Field(ge=0, le=3)]


class EmotionReply(BaseModel):
    predicted_emotion: str
    confidence: Confidence = None
    rationale: Words = None


class StyleScores(BaseModel):
    model_config = ConfigDict(populate_by_name=True)  # recorded answers have the names below

    public_broadcast: StyleScore = Field(alias="public-broadcast")
    intimate: StyleScore
    dramatic: StyleScore
    restrained_flat: StyleScore = Field(alias="restrained-flat")
    storytelling: StyleScore
    conversational: StyleScore


class StyleReply(BaseModel):
    target_style_score: StyleScore
    target_style_success: bool | None = None
    dominant_style: Words = None
    style_scores: Annotated[StyleScores | None, Lenient] = None
    confidence: Confidence = None
    rationale: Words = None


class EventScores(BaseModel):
    breath: EventScore
    laugh: EventScore
    cough: EventScore
    sigh: EventScore


class EventReply(BaseModel):
    event_scores: EventScores
    confidence: Confidence = None
    rationale: Words = None


def emotion_question(
    output: Waveform, transcript: str, taxonomy: Taxonomy
) -> Question[EmotionReply]:
    """Which emotion is heard, among the labels of the taxonomy; `transcript` is of the output."""
    prompt = (
        "You are an expert speech-emotion evaluator. Judge dominant emotion from audio delivery "
        "only. Do not infer from text semantics alone.\n"
        f"Transcript: {transcript}\n"
        f"Allowed labels: {', '.join(EMOTIONS[taxonomy])}\n"
        "Return JSON only with predicted_emotion, confidence (0 to 1) and rationale."
    )
    return Question(prompt, (("output", output),), EmotionReply)


def style_question(output: Waveform, target: Style) -> Question[StyleReply]:
    """How much of the target style is heard, 0 to 4."""
    prompt = (
        "Listen to the edited speech and decide whether the target speaking style is clearly "
        "present. Evaluate only vocal delivery: projection, prosody shape, rhythm, pacing, and "
        "speaking manner. Do not judge from the text content, topic, or word meanings. Do not "
        "annotate emotion categories. Even if the transcript sounds like a story, news, or "
        "dialogue, base the judgment on audio delivery. Storytelling is not public-broadcast "
        "delivery, conversational is not performed delivery, and intimate is not mere low volume."
        f"\nTarget style: {target}\n"
        "Return JSON only with target_style_score (0 absent to 4 very strong), "
        "target_style_success (true only where the target style is clearly present, which takes a "
        "score of 3), dominant_style (one of the six), style_scores (0 to 4 for each of "
        "public-broadcast, intimate, dramatic, restrained-flat, storytelling, conversational), "
        "confidence (0 to 1) and rationale."
    )
    return Question(prompt, (("output", output),), StyleReply)


def event_question(output: Waveform) -> Question[EventReply]:
    """How prominent breath, laugh, cough and sigh are, 0 to 3; the same for add and remove."""
    prompt = (
        "Listen for speaker-produced non-verbal vocal events: breath, laugh, cough and sigh. Score "
        "only what the speaker produces, not background noise or microphone artifacts. Score each "
        "event by itself: 0 absent, 1 faint, 2 noticeable, 3 prominent.\n"
        "Return JSON only with event_scores (breath, laugh, cough, sigh), confidence (0 to 1) and "
        "rationale."
    )
    return Question(prompt, (("output", output),), EventReply)
