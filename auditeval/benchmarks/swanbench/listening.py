"""SwanBench-Speech's questions to judges, in the words of the paper's Figures 12 to 14."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from auditeval.audio import Waveform, adjoining_windows
from auditeval.judges.judge import Judge, Question
from auditeval.judges.replies import Number
from auditeval.types import Undefined

PROSODY_RUNS = 10
PROSODY_TEMPERATURE = 1.0
"""Ten runs of greedy decoding would be one; the paper names no temperature."""

CHUNK_SECONDS = 10.0

_PROMPTS = {
    path.stem: path.read_text(encoding="utf-8").rstrip("\n")
    for path in sorted(Path(__file__).with_name("prompts").glob("*.txt"))
}


def _in_halves(score: float) -> float:
    if score * 2 != round(score * 2):
        raise ValueError("expected steps of 0.5")
    return score


Score = Annotated[Number, Field(ge=1, le=5, allow_inf_nan=False), AfterValidator(_in_halves)]


class _Reply(BaseModel):
    model_config = ConfigDict(extra="forbid")

    @property
    @abstractmethod
    def score(self) -> float:
        """1 to 5, in steps of a half."""


class ProsodyAnalysis(BaseModel):
    model_config = ConfigDict(extra="forbid")
    Coherence_and_Flow: str
    Hierarchy_and_Layering: str
    Naturalness: str


class Prosody(_Reply):
    """Figure 12."""

    Overall_Impression: str
    Detailed_Analysis: ProsodyAnalysis
    Score: Score

    @property
    def score(self) -> float:
        return self.Score


class HierarchyAnalysis(BaseModel):
    model_config = ConfigDict(extra="forbid")
    Emotional_Arc: str
    Dynamics_and_Rhythm: str
    Scene_Fit: str


class Hierarchy(_Reply):
    """Figure 13."""

    Overall_Impression: str
    Hierarchy_Analysis: HierarchyAnalysis
    Score: Score
    Final_Recommendation: str

    @property
    def score(self) -> float:
        return self.Score


class Richness(_Reply):
    """Figure 14."""

    Overall_Impression: str
    Expressiveness: str
    Expressiveness_Score: Score
    Final_Recommendation: str

    @property
    def score(self) -> float:
        return self.Expressiveness_Score


class Opinion(NamedTuple):
    """One answer: its score, 1 to 5 in halves, or None; what was written, or why nothing fits."""

    score: float | None
    said: Any


def prosody(judge: Judge, clip: Waveform, script: str) -> list[Opinion]:
    """Ten independent opinions of the whole clip against its text (C.5)."""
    prompt = f"{_PROMPTS['prosody']}\n\nTarget Text:\n{script}"
    return [
        _opinion(
            judge,
            Question(
                prompt, (("Output A", clip),), Prosody, temperature=PROSODY_TEMPERATURE, run=run
            ),
        )
        for run in range(PROSODY_RUNS)
    ]


def richness(judge: Judge, clip: Waveform) -> list[Opinion]:
    """One of each chunk of 10 s, the last of which may be shorter (C.6)."""
    size = round(CHUNK_SECONDS * clip.rate_hz)
    chunks = adjoining_windows(len(clip.samples), size, clip.rate_hz)
    parts = [Waveform(clip.samples[c.start : c.stop], clip.rate_hz) for c in chunks]
    prompt = _PROMPTS["richness"]
    return [_opinion(judge, Question(prompt, (("Output", part),), Richness)) for part in parts]


def hierarchy(judge: Judge, clip: Waveform) -> list[Opinion]:
    """One of the whole clip (C.7)."""
    return [_opinion(judge, Question(_PROMPTS["hierarchy"], (("Output", clip),), Hierarchy))]


def mean_score(opinions: Sequence[Opinion]) -> float | Undefined:
    """Over the opinions that there are; undefined where less than half of them are (our choice)."""
    scores = [opinion.score for opinion in opinions if opinion.score is not None]
    if not scores or len(scores) < len(opinions) / 2:
        said = next((opinion.said for opinion in opinions if opinion.score is None), "no question")
        return Undefined(f"{len(scores)} of {len(opinions)} answers: {said}")
    return sum(scores) / len(scores)


def _opinion(judge: Judge, question: Question[Any]) -> Opinion:
    answer = judge.ask(question)
    if answer.value is None:
        return Opinion(None, answer.reason)
    return Opinion(answer.value.score, answer.value.model_dump(mode="json"))
