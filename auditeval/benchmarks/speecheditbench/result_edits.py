"""What a row of the result files has of one edit, with the keys of the released code (commit
1ac1ab89, eval/metrics/*.py).

All keys of its kind, also where an error left some out there. Null is what no record has: PESQ and
STOI of the source, lengths and medians behind a ratio, where stressed words stand, the loudest
tags, what a judge says beside its verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from auditeval.benchmarks.benchmark import Record
from auditeval.benchmarks.speecheditbench import prosody, scenes
from auditeval.benchmarks.speecheditbench.official import words
from auditeval.benchmarks.speecheditbench.official.judging import emotion
from auditeval.benchmarks.speecheditbench.samples import Edit, Sample

_WORDS = ("transcript_predicted", "norm_target", "norm_predicted", "wer", "cer")
_SCALES = ("sig", "bak", "ovrl")
_CLIPS = ("input", "output")
_SIGNS = {"faster": -1, "slower": 1, "higher": 1, "lower": -1}


class Found(NamedTuple):
    """An edit that was asked for, and what was `said` of it; `heard` is what the output says, None
    where nobody could, or had to, listen."""

    sample: Sample
    edit: Edit
    said: Mapping[str, Any]
    heard: str | None
    record: Record

    @property
    def anchor(self) -> Any:
        """Of the type that goes with the edit's."""
        return self.edit.anchor

    @property
    def values(self) -> dict[str, Any]:
        return _OF_TYPE[self.anchor.type](self)


def rounded(value: Any) -> float | None:
    return None if value is None else round(float(value), 4)


def average(values: Iterable[Any]) -> float | None:
    """Of those that are known; of verdicts the share of successes."""
    known = [float(value) for value in values if value is not None]
    return rounded(sum(known) / len(known)) if known else None


def path(sample: Sample, written: str | None) -> str | None:
    return str(sample.path(written)) if written else None


def metric(sample: Sample) -> str:
    """The error rate that says whether words are preserved."""
    return "cer" if sample.row.language == "zh" else "wer"


def texts(sample: Sample, expected: str, heard: str | None) -> dict[str, Any]:
    """Both error rates, whatever the language."""
    if heard is None:
        return {"transcript_target": expected, **dict.fromkeys(_WORDS)}
    language = sample.row.language
    plain = (words.normalise(text, language) for text in (expected, heard))
    values = (heard, *plain, *words.error_rates(language, expected, heard))
    return {"transcript_target": expected, **dict(zip(_WORDS, values, strict=True))}


def _content(found: Found) -> dict[str, Any]:
    sample, anchor, heard, success = found.sample, found.anchor, found.heard, found.said["success"]
    return {
        "edit_type": anchor.edit_type,
        **texts(sample, anchor.transcript_target, heard),
        "exact_match": found.said.get("exact_match", success),
        "edit_success": success,
        "edit_success_reason": None
        if heard is None
        else words.edit_reason(anchor, heard, sample.row.language),
    }


def _speaker(found: Found) -> dict[str, Any]:
    anchor = found.anchor
    return {
        "source_speaker": anchor.source_speaker,
        "target_speaker": anchor.target_speaker or anchor.reference_speaker_id,
        "reference_speaker_id": anchor.reference_speaker_id,
        "reference_wav": path(found.sample, found.edit.reference),
        "speaker_similarity": rounded(found.said.get("reference_similarity")),
    }


def _emotion(found: Found) -> dict[str, Any]:
    anchor, written = found.anchor, found.sample.row.emotion_taxonomy
    return {
        "source_emotion": emotion(anchor.source_emotion or "unknown"),
        "target_emotion": emotion(anchor.target_emotion),
        "predicted_emotion": found.said.get("predicted_emotion"),
        "correct": found.said["success"],
        "emotion_taxonomy": written or anchor.emotion_taxonomy or "unknown",
    }


def _style(found: Found) -> dict[str, Any]:
    return {
        "source_style": found.anchor.source_style or "unknown",
        "target_style": found.anchor.target_style,
        "correct": found.said["success"],
        "target_style_score": found.said.get("target_style_score"),
        # There, too, this is the verdict, and not what the judge wrote under that name.
        "target_style_success": found.said["success"],
        **dict.fromkeys(("predicted_style", "dominant_style", "style_scores")),
        **dict.fromkeys(("judge_confidence", "judge_rationale")),
    }


def _paralinguistic(found: Found) -> dict[str, Any]:
    return {
        "operation": found.anchor.operation,
        "target_event": found.anchor.event,
        "predicted_score": found.said.get("event_score"),
        "correct": found.said["success"],
    }


def _prosody(found: Found) -> dict[str, Any]:
    anchor = found.anchor
    return {
        "prosody_type": anchor.prosody_type,
        "direction": anchor.direction,
        "stress_words": list(anchor.stress_words),
        "passed": found.said["success"],
        **_OF_PROSODY[anchor.prosody_type](found),
    }


def _speed(found: Found) -> dict[str, Any]:
    ratio = found.said.get("duration_ratio")
    change = None if ratio is None else ratio - 1
    return {
        "metric_type": "speed_duration_ratio",
        "direction_correct": _that_way(change, found.anchor.direction),
        "duration_ratio": rounded(ratio),
        "change_ratio": rounded(change),
        "threshold": rounded(1 - prosody.FASTER_RATIO),
        **dict.fromkeys(("input_duration", "output_duration")),
    }


def _pitch(found: Found) -> dict[str, Any]:
    shift = found.said.get("f0_shift_semitones")
    return {
        "metric_type": "pitch_f0_shift",
        "direction_correct": _that_way(shift, found.anchor.direction),
        "shift_semitone": rounded(shift),
        "threshold": prosody.SHIFT_SEMITONES,
        **_nulls("{}_f0_median", "{}_voiced_ratio"),
    }


def _that_way(change: float | None, direction: str) -> bool | None:
    """Whether it went that way, however little."""
    return None if change is None else change * _SIGNS[direction] > 0


def _stress(found: Found) -> dict[str, Any]:
    gains, asked = found.said.get("prominence_gain"), found.anchor.stress_words
    heard = None if gains is None else [_stressed(word, gains[word]) for word in asked]
    passed = None if heard is None else [word["passed"] for word in heard]
    return {
        "metric_type": "stress_timestamp_prominence_gain",
        "rpg": average(passed or ()),
        "stress_words_total": len(asked),
        "stress_words_passed": None if passed is None else sum(passed),
        "target_found_all": None if gains is None else None not in gains.values(),
        **_nulls("{}_timestamp_backend", "{}_timestamp_text", "{}_timestamp_token_count"),
        "word_details": heard,
    }


def _stressed(word: str, gain: float | None) -> dict[str, Any]:
    # A word without a gain was not heard in one clip or in both; records do not say in which.
    heard = None if gain is None else True
    return {
        "word": word,
        "input_found": heard,
        "output_found": heard,
        "passed": gain is not None and gain > 0,
        "error": None if heard else "target_not_found_in_timestamp_asr",
        "prominence_delta": rounded(gain),
        **_nulls("{}_window", "{}_prominence"),
        **_nulls("{}_energy_score", "{}_f0_score", "{}_duration_score"),
    }


def _nulls(*names: str) -> dict[str, Any]:
    return dict.fromkeys(name.format(clip) for name in names for clip in _CLIPS)


def _acoustic(found: Found) -> dict[str, Any]:
    anchor = found.anchor
    kind = anchor.env_type if anchor.subtask == "env_transfer" else anchor.subtask
    return {
        "subtask": anchor.subtask,
        "degradation_type": anchor.degradation_type,
        "env_type": anchor.env_type,
        "env_subtype": anchor.env_subtype,
        "passed": found.said["success"],
        "target_reference_wav": path(found.sample, anchor.target_reference_path),
        **_OF_ACOUSTIC[kind](found),
    }


def _enhancement(found: Found) -> dict[str, Any]:
    record, name = found.record, metric(found.sample)
    after, before = (found.said.get(key) or {} for key in ("dnsmos", "source_dnsmos"))
    values: dict[str, float | None] = {}
    for scale in _SCALES:
        rated = [rating.get(scale.upper()) for rating in (after, before)]
        values[f"dnsmos_{scale}"], values[f"source_dnsmos_{scale}"] = map(rounded, rated)
        values[f"dnsmos_{scale}_gain"] = _gain(*rated)
    # Of the words of the source, whatever other edit goes with this one.
    spoken = texts(found.sample, found.sample.row.transcript, found.heard)
    return {
        "evaluation_protocol": "no_reference_perceptual",
        **values,
        **spoken,
        "content_preservation_metric": name,
        "content_preservation_error": spoken[name],
        **dict.fromkeys(("dnsmos_ovrl_gain_threshold", "dnsmos_bak_gain_threshold"), 0.0),
        "content_preservation_error_threshold": words.GATE,
        "pesq": rounded(record.get("pesq")),
        "stoi": rounded(record.get("stoi")),
        **dict.fromkeys(("source_pesq", "source_stoi", "pesq_gain", "stoi_gain", "utmos")),
        "reference_diagnostic_error": record.get("undefined", {}).get("pesq"),
    }


def _reverb(found: Found) -> dict[str, Any]:
    low, high = found.anchor.rt60_target_range
    return {
        "rt60_measured": rounded(found.said.get("rt60")),
        "rt60_target_min": low,
        "rt60_target_max": high,
        "rt60_tolerated_min": rounded(low * 0.8),
        "rt60_tolerated_max": rounded(high * 1.2),
        "rt60_reference": found.anchor.rt60_reference,
    }


def _noise(found: Found) -> dict[str, Any]:
    after, before = (found.said.get(key) or {} for key in ("scene_scores", "source_scene_scores"))
    target, source = (scores.get(found.anchor.scene) for scores in (after, before))
    return {
        "scene_group_scores": _scores(after),
        "source_scene_group_scores": _scores(before),
        "predicted_env_subtype": max(scenes.SCENES, key=lambda scene: after[scene])
        if after
        else None,
        "target_scene_score": rounded(target),
        "source_target_scene_score": rounded(source),
        "target_scene_gain": _gain(target, source),
        "scene_pass_threshold": scenes.LEAST_SCORE,
        "scene_gain_threshold": scenes.LEAST_GAIN,
        "top_scene_labels": None,
    }


def _scores(scores: Mapping[str, float]) -> dict[str, Any] | None:
    return {scene: rounded(score) for scene, score in sorted(scores.items())} or None


def _gain(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else rounded(after - before)


_OF_TYPE: Mapping[str, Callable[[Found], dict[str, Any]]] = {
    "content": _content,
    "speaker": _speaker,
    "emotion": _emotion,
    "style": _style,
    "prosody": _prosody,
    "paralinguistic": _paralinguistic,
    "acoustic": _acoustic,
}
_OF_PROSODY: Mapping[str, Callable[[Found], dict[str, Any]]] = {
    "speed": _speed,
    "pitch": _pitch,
    "stress": _stress,
}
_OF_ACOUSTIC: Mapping[str, Callable[[Found], dict[str, Any]]] = {
    "enhancement": _enhancement,
    "reverb": _reverb,
    "noise": _noise,
}
