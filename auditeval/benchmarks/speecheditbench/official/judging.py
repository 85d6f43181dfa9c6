"""What the released code asks its judge, and how it reads the answers.

The texts in `prompts` ask for the same, in both languages, with the same definitions, scales and
fields, in our words and those of the paper (Appendix E.4): the released ones are not ours to ship.
Other words may get other answers, so tables of judged tasks say so (`IN_OUR_WORDS`). Placeholders
are `$name`.

A judge gets the text, then the output, at temperature 0, and is to write JSON of any form. The
released code tries three times, and takes a second form only: an object in a Markdown fence.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from string import Template

from auditeval.audio import Waveform
from auditeval.benchmarks.speecheditbench.anchors import EMOTIONS, EmotionAnchor, Style, Taxonomy
from auditeval.benchmarks.speecheditbench.samples import Row
from auditeval.judges.judge import AnyObject, Question
from auditeval.metrics.transcript import Language

_FOLDER = Path(__file__).with_name("prompts")
_PROMPTS = {
    path.stem: path.read_text(encoding="utf-8").rstrip("\n")
    for path in sorted(_FOLDER.glob("*.txt"))
}
_STYLES: dict[Style, dict[Language, str]] = json.loads(
    (_FOLDER / "styles.json").read_text(encoding="utf-8")
)
_NO_TRANSCRIPT = "(Not available. Judge based on audio delivery alone.)"

_ALIASES = {
    "fear": "fearful",
    "surprised": "surprise",
    "playful": "playfulness",
    "frustration": "frustrated",
}
_DATASETS: dict[str, Taxonomy] = {
    "iemocap": "iemocap_en",
    "libritts_test_clean": "iemocap_en",
    "csemotions": "csemotions_zh",
    "aishell3_test": "csemotions_zh",
}
IN_OUR_WORDS = "prompts: what the released code asks, in our words"
_YES = ("true", "yes", "y", "1", "success", "successful")


def emotion(label: str) -> str:
    """A label as the taxonomies spell it; fewer other words are known than by our rules.

    >>> emotion(" Fear"), emotion("anger")
    ('fearful', 'anger')
    """
    spelt = re.sub(r"[\s_]+", "-", label.strip().lower())
    return _ALIASES.get(spelt, spelt)


def taxonomy(row: Row, anchor: EmotionAnchor) -> Taxonomy:
    """Of which labels an emotion is: what is written there, or goes with the dataset, or with the
    language."""
    by_language: Taxonomy = "csemotions_zh" if row.language == "zh" else "iemocap_en"
    by_dataset = _DATASETS.get(row.source_dataset, by_language)
    return row.emotion_taxonomy or anchor.emotion_taxonomy or by_dataset


def emotion_question(
    output: Waveform, transcript: str, labels: Taxonomy, language: Language
) -> Question[AnyObject]:
    """Which emotion is heard; `transcript` is what the output should say, not what it says."""
    text = Template(_PROMPTS[f"emotion_{language}"])
    return _question(
        text.substitute(transcript=transcript, labels=", ".join(EMOTIONS[labels])), output
    )


def style_question(
    output: Waveform, transcript: str, style: Style, language: Language
) -> Question[AnyObject]:
    """How much of a style, which is defined in a sentence, is heard; `transcript` as above."""
    text = Template(_PROMPTS[f"style_{language}"])
    return _question(
        text.substitute(
            style=style,
            definition=_STYLES[style][language],
            transcript=transcript.strip() or _NO_TRANSCRIPT,
        ),
        output,
    )


def event_question(output: Waveform) -> Question[AnyObject]:
    """How prominent breath, laugh, cough and sigh are; in English for both languages."""
    return _question(_PROMPTS["events"], output)


def heard_emotion(reply: AnyObject, labels: Taxonomy) -> str:
    """The label of the taxonomy that is named, or "unknown"."""
    named = emotion(str(reply.root.get("predicted_emotion", "")))
    return named if named in EMOTIONS[labels] else "unknown"


def style_score(reply: AnyObject, style: Style) -> int:
    """0 to 4: what the judge gives the target, else what it gives it among all styles."""
    scores = reply.root.get("style_scores")
    among_all = scores.get(style) if isinstance(scores, dict) else None
    return _score(reply.root.get("target_style_score", _score(among_all, 4)), 4)


def style_said(reply: AnyObject) -> bool | None:
    """Whether the judge says that the style is there; None where it does not say."""
    said = reply.root.get("target_style_success")
    if isinstance(said, str):
        return said.strip().lower() in _YES
    if said is None or (isinstance(said, float) and not math.isfinite(said)):
        return None  # NaN and infinity are null once an answer is recorded
    return isinstance(said, int | float) and bool(said)


def event_score(reply: AnyObject, event: str) -> int:
    """0 to 3; an event without a score has 0."""
    scores = reply.root.get("event_scores")
    return _score(scores.get(event) if isinstance(scores, dict) else None, 3)


def _score(value: object, most: int) -> int:
    """The nearest whole number on the scale; 0 for what is no number.

    >>> [_score(value, 3) for value in (2.5, "3.0", True, None, 9, -1)]
    [2, 3, 1, 0, 3, 0]
    """
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return 0
    return max(0, min(most, round(number))) if math.isfinite(number) else 0


def _question(prompt: str, output: Waveform) -> Question[AnyObject]:
    return Question(prompt, (("output", output),), AnyObject, prompt_first=True)
