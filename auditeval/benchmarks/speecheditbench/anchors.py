"""What a sample asks for, by attribute: the anchors of release v1.1 (formats of Appendix C)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from auditeval.benchmarks.speecheditbench.scenes import Scene

Taxonomy = Literal["iemocap_en", "csemotions_zh"]

EMOTIONS: Mapping[Taxonomy, tuple[str, ...]] = {
    "iemocap_en": (
        "angry",
        "excited",
        "fearful",
        "frustrated",
        "happy",
        "neutral",
        "sad",
        "surprise",
    ),
    "csemotions_zh": ("angry", "fearful", "happy", "neutral", "playfulness", "sad", "surprise"),
}
_ALIASES = {
    "fear": "fearful",
    "afraid": "fearful",
    "surprised": "surprise",
    "anger": "angry",
    "happiness": "happy",
    "sadness": "sad",
    "excitement": "excited",
    "frustration": "frustrated",
    "playful": "playfulness",
}

Style = Literal[
    "public-broadcast", "intimate", "dramatic", "restrained-flat", "storytelling", "conversational"
]
Event = Literal["breath", "laugh", "cough", "sigh"]

Text = Annotated[str, Field(min_length=1)]
Told = Annotated[Any, Field(exclude=True)]
"""What result files repeat as it is written. No verdict needs it, so that it may be anything and is
left out of the digest of the samples."""


def emotion(label: str) -> str:
    """A label as the taxonomies spell it: fear is fearful, surprised is surprise."""
    plain = label.strip().lower()
    return _ALIASES.get(plain, plain)


class Strict(BaseModel):
    """A JSON object of the benchmark; keys that evaluation does not need are passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class ContentAnchor(Strict):
    type: Literal["content"]
    edit_type: Literal["replace", "insert", "delete"]
    transcript_target: Text
    edit_original: str | None = None
    edit_target: str | None = None
    insert_after: str | None = None

    @model_validator(mode="after")
    def _names_what_it_edits(self) -> ContentAnchor:
        if self.edit_type != "insert" and not self.edit_original:
            raise ValueError(f"edit_original is needed to {self.edit_type}")
        if self.edit_type != "delete" and not self.edit_target:
            raise ValueError(f"edit_target is needed to {self.edit_type}")
        return self

    @property
    def edit(self) -> str:
        return self.edit_type


class SpeakerAnchor(Strict):
    type: Literal["speaker"]
    reference_wav: str | None = None
    source_speaker: Told = ""
    target_speaker: Told = ""
    reference_speaker_id: Told = ""
    edit: Literal["speaker"] = "speaker"


class EmotionAnchor(Strict):
    type: Literal["emotion"]
    source_emotion: str = ""
    target_emotion: Text
    emotion_taxonomy: Taxonomy | None = None

    @property
    def edit(self) -> str:
        return emotion(self.target_emotion)


class StyleAnchor(Strict):
    type: Literal["style"]
    source_style: str = ""
    target_style: Style

    @property
    def edit(self) -> str:
        return self.target_style


class ProsodyAnchor(Strict):
    type: Literal["prosody"]
    prosody_type: Literal["speed", "pitch", "stress"]
    direction: Literal["faster", "slower", "higher", "lower"] | None = None
    stress_words: tuple[Text, ...] = ()

    @model_validator(mode="after")
    def _direction_goes_with_type(self) -> ProsodyAnchor:
        known = {"speed": ("faster", "slower"), "pitch": ("higher", "lower"), "stress": (None,)}
        if self.direction not in known[self.prosody_type]:
            raise ValueError(f"{self.prosody_type} has no direction {self.direction}")
        if self.prosody_type == "stress" and not self.stress_words:
            raise ValueError("stress_words are needed for stress")
        return self

    @property
    def edit(self) -> str:
        return self.direction or self.prosody_type


class ParalinguisticAnchor(Strict):
    type: Literal["paralinguistic"]
    operation: Literal["add", "remove"]
    event: Event

    @property
    def edit(self) -> str:
        return self.operation


class AcousticAnchor(Strict):
    type: Literal["acoustic"]
    subtask: Literal["enhancement", "env_transfer"]
    env_type: Literal["reverb", "noise"] | None = None
    env_subtype: str | None = None
    rt60_target_range: tuple[FiniteFloat, FiniteFloat] | None = None
    target_reference_path: str | None = None
    degradation_type: Told = None
    rt60_reference: Told = None

    @model_validator(mode="after")
    def _environment_is_named(self) -> AcousticAnchor:
        if self.subtask == "enhancement":
            return self
        if self.env_type is None:
            raise ValueError("env_type is needed for env_transfer")
        if self.env_type == "noise" and self.env_subtype not in ("outdoor", "crowd", "music"):
            raise ValueError(f"noise has no env_subtype {self.env_subtype}")
        if self.env_type == "reverb":
            low, high = self.rt60_target_range or (0.0, 0.0)
            if not 0 < low <= high:
                raise ValueError("rt60_target_range of two rising seconds is needed for reverb")
        return self

    @property
    def edit(self) -> str:
        return self.env_type or self.subtask

    @property
    def scene(self) -> Scene:
        return self.env_subtype  # type: ignore[return-value]


Anchor: TypeAlias = Annotated[
    ContentAnchor
    | SpeakerAnchor
    | EmotionAnchor
    | StyleAnchor
    | ProsodyAnchor
    | ParalinguisticAnchor
    | AcousticAnchor,
    Field(discriminator="type"),
]
