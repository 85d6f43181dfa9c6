"""Who speaks when: the recogniser's words, with times, held against the script's turns (C.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from auditeval.audio import Waveform
from auditeval.backends.backend import Word
from auditeval.benchmarks.swanbench.samples import Turn
from auditeval.metrics.transcript import (
    Language,
    normalise_swanbench_chinese,
    normalise_swanbench_english,
)
from auditeval.pretrained.packages import imported
from auditeval.types import Undefined

LEAST_RECOGNISED = 0.5
"""Share of the script's words that have to be heard in their places; our choice."""


def tokens(text: str, language: Language) -> list[str]:
    """Normalised words of English, characters of Chinese: what is counted as right or wrong."""
    if language == "en":
        return normalise_swanbench_english(text).split()
    return list("".join(normalise_swanbench_chinese(text).split()))


def speaker_streams(
    clip: Waveform, turns: Sequence[Turn], words: Sequence[Word], language: Language
) -> dict[str, Waveform] | Undefined:
    """What each speaker says, end to end, in place of the paper's forced alignment.

    A turn lasts from the first to the last of its words that are recognised in their place.
    Undefined where fewer than `LEAST_RECOGNISED` of all words are, or none of a speaker's.
    """
    spans = turn_spans(turns, words, language)
    if isinstance(spans, Undefined):
        return spans
    streams: dict[str, list[np.ndarray]] = {turn.speaker: [] for turn in turns}
    for turn, span in zip(turns, spans, strict=True):
        if span is not None:
            first, last = (round(seconds * clip.rate_hz) for seconds in span)
            streams[turn.speaker].append(clip.samples[first:last])
    for speaker, parts in streams.items():
        if not sum(map(len, parts)):
            return Undefined(f"nothing that {speaker} says is recognised")
    return {
        speaker: Waveform(np.concatenate(parts), clip.rate_hz) for speaker, parts in streams.items()
    }


def turn_spans(
    turns: Sequence[Turn], words: Sequence[Word], language: Language
) -> list[tuple[float, float] | None] | Undefined:
    """Start and end in seconds of each turn, None of one that is not heard."""
    jiwer = imported("jiwer", "bench")

    script = [(token, n) for n, turn in enumerate(turns) for token in tokens(turn.text, language)]
    heard = [(token, word) for word in words for token in tokens(word.text, language)]
    if not script or not heard:
        return Undefined("no words to align: " + ("none are recognised" if script else "no script"))
    (chunks,) = jiwer.process_words(
        " ".join(token for token, _ in script), " ".join(token for token, _ in heard)
    ).alignments
    matches: list[list[Word]] = [[] for _ in turns]
    for chunk in chunks:
        if chunk.type == "equal":
            for step in range(chunk.ref_end_idx - chunk.ref_start_idx):
                _, turn = script[chunk.ref_start_idx + step]
                matches[turn].append(heard[chunk.hyp_start_idx + step][1])
    share = sum(map(len, matches)) / len(script)
    if share < LEAST_RECOGNISED:
        return Undefined(f"{100 * share:.0f} % of the script is recognised where it stands")
    return [(found[0].start, found[-1].end) if found else None for found in matches]
