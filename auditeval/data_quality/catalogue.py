"""The data-quality metrics of edited clips against originals [arXiv:2508.11966, Table 3].

`METRICS` is the catalogue. Frozen encoders make what the metrics look at; each has a role, and a
metric names the role that feeds it. Features of pairs go into `Accumulation`, values come out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial, reduce
from typing import Any, NamedTuple

import numpy as np

from auditeval.data_quality.groups import (
    GROUPS,
    Chosen,
    Deal,
    Place,
    Unit,
    Value,
    at_infinity,
    jackknife,
)
from auditeval.features.extractor import AudioFeatures
from auditeval.metrics.clap_score import clap_score
from auditeval.metrics.divergence import MIN_A_SPLIT, ClassStatistics, kl_divergence, lowest_kl
from auditeval.metrics.frechet import Gaussian, frechet_distance
from auditeval.seed import SEED
from auditeval.text import counted
from auditeval.types import Undefined


class Heard(NamedTuple):
    """A pair as one extractor has it; `joint_dim` as in `features.extractor.Extractor`.

    `target_text` :: the target caption's embedding, (0,) where no metric looks at words. `original`
    may be the edited clip where none looks at originals.
    """

    original: AudioFeatures
    edited: AudioFeatures
    target_text: np.ndarray
    joint_dim: int


class EncoderRole(NamedTuple):
    """What feeds metrics: an `extractor` by name, and the command's option for its weights.

    `argument` is the extractor's own name for them; a role without an option needs none. Metrics
    may be of one `family` of models alone: that of the extractor begins with it.
    """

    extractor: str
    option: str = ""
    argument: str = ""
    family: str = ""


ENCODER_ROLES = {
    # The paper's CLAP score cites Elizalde et al. at ICASSP 2023: Microsoft's, of 2022.
    "clap": EncoderRole("clap", "--clap FOLDER", "model", "Microsoft CLAP"),
    "laion_clap": EncoderRole("clap", "--laion-clap FOLDER", "model", "LAION CLAP"),
    "vggish": EncoderRole("vggish", "--vggish FILE", "checkpoint"),
    "cnn14": EncoderRole("cnn14", "--cnn14 FILE", "checkpoint"),
    "human_clap": EncoderRole("clap", "--human-clap FOLDER", "model"),
    "audiobox": EncoderRole("audiobox", "--audiobox FILE", "checkpoint"),
    "events": EncoderRole("events"),
    "yamnet": EncoderRole("yamnet"),
}


class Mean:
    """A mean that streams."""

    def __init__(self) -> None:
        self.count, self.total = 0, 0.0

    def update(self, value: float) -> None:
        self.count, self.total = self.count + 1, self.total + value

    def merge(self, other: Mean) -> Mean:
        made = Mean()
        made.count, made.total = self.count + other.count, self.total + other.total
        return made

    def value(self) -> Value:
        return self.total / self.count if self.count else Undefined("no pairs")


class Gaussians:
    """The original and the edited clips of a set, each as a Gaussian."""

    def __init__(self, original: Gaussian | None = None, edited: Gaussian | None = None) -> None:
        self.original, self.edited = original or Gaussian(), edited or Gaussian()

    def merge(self, other: Gaussians) -> Gaussians:
        return Gaussians(self.original.merge(other.original), self.edited.merge(other.edited))

    def value(self) -> Value:
        return frechet_distance(self.original, self.edited)


class Splits:
    """The classes heard in each split of a set, whose inception scores are averaged."""

    def __init__(self, parts: Sequence[ClassStatistics] = ()) -> None:
        self._parts = list(parts) or [ClassStatistics() for _ in range(GROUPS)]

    def update(self, logits: np.ndarray, split: int) -> None:
        self._parts[split].update(logits)

    def merge(self, other: Splits) -> Splits:
        both = zip(self._parts, other._parts, strict=True)
        return Splits([one.merge(another) for one, another in both])

    def value(self) -> Value:
        of_parts = [part.inception_score() for part in self._parts]
        scores = [score for score in of_parts if not isinstance(score, Undefined)]
        return float(np.mean(scores)) if scores else Undefined("no pairs")


class Statistic(NamedTuple):
    """How a set is summed up: an empty state, a pair of some split into it, its value.

    A pair's edited clip is always looked at, its `original` and target `text` where it says so, and
    the `frames` of that name. Metrics that need one statistic share it.
    """

    start: Callable[[], Any]
    update: Callable[[Any, Heard, int], None]
    value: Callable[[Any], Value]
    original: bool = False
    text: bool = False
    frames: str = ""


class DataMetric(NamedTuple):
    """A metric of the catalogue.

    `low` and `high` bound its values (None: nothing does), `rate_hz` is what the encoder of its
    `role` must hear at (None: any). Below `min_pairs` it is undefined. `at_infinity`: what its
    statistic tends to for ever more pairs, in place of what it is.
    """

    name: str
    role: str
    higher_is_better: bool
    low: float | None
    high: float | None
    statistic: Statistic
    rate_hz: int | None = None
    min_pairs: int = 0
    at_infinity: bool = False


class Measured(NamedTuple):
    """A value over `pairs` pairs with its 95 % interval; either may be undefined."""

    value: Value
    interval: tuple[float, float] | Undefined
    pairs: int


def _mean_of(function: Callable[[Heard], float], **looks_at: Any) -> Statistic:
    def update(state: Mean, heard: Heard, _: int) -> None:
        state.update(function(heard))

    return Statistic(Mean, update, Mean.value, **looks_at)


def _joint(embedding: np.ndarray, heard: Heard) -> np.ndarray:
    """The part in the joint space :: (1, D)."""
    return embedding[None, -heard.joint_dim :].astype(np.float64)


def _text_cosine(heard: Heard) -> float:
    text, edited = _joint(heard.target_text, heard), _joint(heard.edited.embedding, heard)
    return 100 * float(clap_score(text, edited)[0])


def _audio_cosine(heard: Heard) -> float:
    clips = (heard.original.embedding, heard.edited.embedding)
    return 100 * float(clap_score(*(_joint(clip, heard) for clip in clips))[0])


def _text_product(heard: Heard) -> float:
    text, edited = _joint(heard.target_text, heard), _joint(heard.edited.embedding, heard)
    return float((text * edited).sum())


def _logits(features: AudioFeatures) -> np.ndarray:
    """Of the whole clip :: (1, C), the mean over its frames."""
    return features.frames["logits"].mean(axis=0, keepdims=True, dtype=np.float64)


def _divergence(heard: Heard) -> float:
    return float(kl_divergence(_logits(heard.original), _logits(heard.edited))[0])


def _aesthetic(place: int, heard: Heard) -> float:
    return float(heard.edited.embedding[place])


def _add_frames(state: Gaussians, heard: Heard, _: int) -> None:
    state.original.update(heard.original.frames["patch"])
    state.edited.update(heard.edited.frames["patch"])


def _add_clips(state: Gaussians, heard: Heard, _: int) -> None:
    state.original.update(heard.original.embedding[None])
    state.edited.update(heard.edited.embedding[None])


def _add_classes(state: Splits, heard: Heard, split: int) -> None:
    state.update(_logits(heard.edited), split)


_FRAMES = Statistic(Gaussians, _add_frames, Gaussians.value, original=True, frames="patch")
_CLIPS = Statistic(Gaussians, _add_clips, Gaussians.value, original=True)
_CLASSES = Statistic(Splits, _add_classes, Splits.value, frames="logits")
_LOWEST_KL = lowest_kl(527)  # Cnn14's classes; YAMNet has 6 less, which cannot be seen
_DIVERGENCE = _mean_of(_divergence, original=True, frames="logits")


def _percent(name: str, role: str, statistic: Statistic) -> DataMetric:
    return DataMetric(name, role, True, -100.0, 100.0, statistic)


def _of_frames(role: str, rate_hz: int) -> list[DataMetric]:
    tail = f"{role}_{rate_hz // 1000}k"
    return [
        DataMetric(f"fad_{tail}", role, False, 0.0, None, _FRAMES, rate_hz),
        # A line through distances may end below 0.
        DataMetric(f"fad_inf_{tail}", role, False, None, None, _FRAMES, rate_hz, at_infinity=True),
    ]


def _of_tagger(role: str, rate_hz: int) -> list[DataMetric]:
    tail = f"{role}_{rate_hz // 1000}k"
    inception, divergence = f"is_{tail}_splits{GROUPS}", f"kl_softmax_ref_gen_{tail}"
    return [
        DataMetric(inception, role, True, 1.0, None, _CLASSES, rate_hz, MIN_A_SPLIT * GROUPS),
        DataMetric(f"fd_{tail}", role, False, 0.0, None, _CLIPS, rate_hz),
        # The field's convention lets equal clips fall a little below 0: see kl_divergence.
        DataMetric(divergence, role, False, _LOWEST_KL, None, _DIVERGENCE, rate_hz),
    ]


def _of_sets(frames: str, tagger: str, *rates_hz: int) -> Iterable[DataMetric]:
    """IS, FAD, FD and KL, in the order of the paper's table."""
    of_tagger = [_of_tagger(tagger, rate_hz) for rate_hz in rates_hz]
    yield from (metric for made in of_tagger for metric in made[:1])
    yield from _of_frames(frames, 16000)
    yield from (metric for made in of_tagger for metric in made[1:])


def _catalogue() -> Iterable[DataMetric]:
    text = _mean_of(_text_cosine, text=True)
    clips = _mean_of(_audio_cosine, original=True)
    for role in ("clap", "laion_clap"):
        yield _percent(f"{role}_score", role, text)
        yield _percent(f"{role}_audio_audio", role, clips)
    yield from _of_sets("vggish", "cnn14", 32000, 16000)
    yield _percent("human_clap_score", "human_clap", text)
    for place, axis in enumerate(("pq", "pc", "ce", "cu")):
        rating = _mean_of(partial(_aesthetic, place))
        yield DataMetric(f"audiobox_{axis}", "audiobox", True, 1.0, 10.0, rating)
    # Stand-ins that need no weights. The label bridge is no CLAP: see features.events.
    bridge = _mean_of(_text_product, text=True)
    yield DataMetric("label_bridge_score", "events", True, 0.0, None, bridge)
    yield from _of_sets("yamnet", "yamnet", 16000)


METRICS = {metric.name: metric for metric in _catalogue()}
"""By name, in the order of the paper's table."""


class Accumulation:
    """What metrics of one role need to know of a set: for each statistic, a state a group.

    `states` and `sizes`, the pairs of each group, are all there is to know, and can be sent to
    another process.
    """

    def __init__(self, metrics: Iterable[DataMetric]) -> None:
        self._metrics = list(metrics)
        self._statistics = list(dict.fromkeys(metric.statistic for metric in self._metrics))
        self.states = [[made.start() for _ in range(GROUPS)] for made in self._statistics]
        self.sizes = [0] * GROUPS

    def update(self, place: Place, heard: Heard) -> None:
        """Take in a pair that belongs there (`groups.Deal`)."""
        for statistic, states in zip(self._statistics, self.states, strict=True):
            statistic.update(states[place.group], heard, place.split)
        self.sizes[place.group] += 1

    def merge(self, states: Sequence[Sequence[Any]], sizes: Sequence[int]) -> None:
        """Take in what another process has of the same set."""
        self.states = [
            [one.merge(other) for one, other in zip(*both, strict=True)]
            for both in zip(self.states, states, strict=True)
        ]
        self.sizes = [one + other for one, other in zip(self.sizes, sizes, strict=True)]

    def values(self, intervals: bool = True, units: int | None = None) -> dict[str, Measured]:
        """Of every metric, by name. Without `intervals` large distances are ten times as quick.

        `units` is what the groups were dealt by, as many as pairs where it is None.
        """
        units = sum(self.sizes) if units is None else units
        merged = {
            statistic: self._merged(statistic, states)
            for statistic, states in zip(self._statistics, self.states, strict=True)
        }
        return {
            metric.name: self._measured(metric, merged[metric.statistic], intervals, units)
            for metric in self._metrics
        }

    def _merged(self, statistic: Statistic, states: Sequence[Any]) -> Callable[[Chosen], Value]:
        """The value of some groups together, computed once for all metrics that ask."""

        @cache
        def value(chosen: Chosen) -> Value:
            return statistic.value(
                reduce(lambda a, b: a.merge(b), (states[group] for group in chosen))
            )

        return value

    def _measured(
        self, metric: DataMetric, value: Callable[[Chosen], Value], with_interval: bool, units: int
    ) -> Measured:
        pairs = sum(self.sizes)
        one, more = ("pair", "pairs") if units == pairs else ("source", "sources")
        few = None
        if pairs < metric.min_pairs:
            there = counted(pairs, "pair is", "pairs are")
            few = Undefined(f"{there} too few, {metric.min_pairs} are needed")
        elif metric.at_infinity and units < GROUPS:
            there = counted(units, f"{one} is", f"{more} are")
            few = Undefined(f"{there} too few, {GROUPS} are needed")
        if few:
            return Measured(few, few, pairs)
        over = value
        if metric.at_infinity:
            over = partial(at_infinity, value, lambda groups: sum(self.sizes[n] for n in groups))
        interval: tuple[float, float] | Undefined
        if not with_interval:
            interval = Undefined("not asked for")
        elif units < GROUPS:
            interval = Undefined(f"{counted(units, one, more)}; an interval needs {GROUPS}")
        else:
            interval = jackknife(over)
        if not isinstance(interval, Undefined):
            lowest = -np.inf if metric.low is None else metric.low
            highest = np.inf if metric.high is None else metric.high
            interval = max(interval[0], lowest), min(interval[1], highest)
        return Measured(over(tuple(range(GROUPS))), interval, pairs)


def trimmed(heard: Heard, metrics: Iterable[DataMetric]) -> Heard:
    """Without the frames that none of the metrics looks at, to be kept in memory."""
    names = {metric.statistic.frames for metric in metrics}

    def trim(clip: AudioFeatures) -> AudioFeatures:
        return clip._replace(frames={k: x for k, x in clip.frames.items() if k in names})

    return heard._replace(original=trim(heard.original), edited=trim(heard.edited))


def summarise(
    metrics: Iterable[DataMetric],
    heard: Mapping[str, Heard],
    seed: int = SEED,
    intervals: bool = True,
    units: Mapping[str, Unit] | None = None,
) -> dict[str, Measured]:
    """Metrics of one role over the pairs {id: as its encoder has them}.

    `units` says of each id what it is dealt by (`groups.unit`); by itself, if None.
    """
    units = {id: Unit(id, id, id) for id in heard} if units is None else units
    accumulation, deal = Accumulation(metrics), Deal((units[id] for id in heard), seed)
    for id, pair in heard.items():
        accumulation.update(deal(units[id]), pair)
    return accumulation.values(intervals, len(deal))
