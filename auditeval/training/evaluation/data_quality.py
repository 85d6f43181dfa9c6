"""Data-quality metrics while training: of what an editor makes, of what an evaluator would keep."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytorch_lightning as lightning

from auditeval import audio
from auditeval.data_quality.catalogue import METRICS, DataMetric, Heard, summarise, trimmed
from auditeval.data_quality.groups import Unit, Value, unit
from auditeval.data_quality.measure import NO_TEXT, Extractors, at_rate, choose, hear, loaded
from auditeval.features.encoder import Encoder
from auditeval.features.store import Failure, FeatureStore
from auditeval.filtering.recipe import share_of
from auditeval.training.evaluation.callback import Rows
from auditeval.training.evaluation.editors import EditorMetric
from auditeval.training.evaluation.evaluators import Ratings, ValidationMetric
from auditeval.training.fit import Plan
from auditeval.types import EditPair, UserError

HeardByRole = dict[str, Heard]
_LOWER = frozenset(name for name, metric in METRICS.items() if not metric.higher_is_better)


class Ear(NamedTuple):
    """An extractor of one role behind its cache, and the metrics that it feeds."""

    store: FeatureStore
    metrics: list[DataMetric]


@dataclass(frozen=True)
class Ears:
    """`encoders` and `only` as in `data_quality.measure.measure`; configs/data_quality has some."""

    encoders: Extractors
    only: Sequence[str]
    cache_dir: str | os.PathLike[str] | None
    workers: int

    def __post_init__(self) -> None:
        choose(self.encoders, self.only)  # what is amiss is said before anything is loaded

    def open(self, device: str) -> dict[str, Ear]:
        """By role, each extractor loaded anew."""
        ears = {}
        for role, metrics in choose(self.encoders, self.only).items():
            extractor = loaded(role, self.encoders[role], device)
            store = FeatureStore(Encoder([extractor]), self.cache_dir, self.workers)
            ears[role] = Ear(store, at_rate(metrics, extractor.rate_hz, bool(self.only)))
        return ears


def _values(
    metrics: Mapping[str, Sequence[DataMetric]],
    heard: Mapping[str, HeardByRole],
    units: Mapping[str, Unit] | None = None,
) -> dict[str, Value]:
    """The metrics (by role) of pairs by id; `units` as in `summarise`."""
    values: dict[str, Value] = {}
    for role, of_role in metrics.items():
        by_id = {id: by_role[role] for id, by_role in heard.items()}
        measured = summarise(of_role, by_id, intervals=False, units=units)
        values |= {name: one.value for name, one in measured.items()}
    return values


class DataQuality(EditorMetric):
    """The data-quality metrics of an editor's validation outputs, as one set.

    Beside what an `EditorMetric` needs, `validation_step` returns `original`, as `edited`, and
    `target_caption` :: B strings. Clips that no encoder can use (NaN, silence, too short) are left
    out of all metrics and counted in `left_out`. Features of an epoch stay in memory until its end.
    Those of originals and captions go through the cache, those of edited clips do not: they are new
    in every epoch.
    """

    needs = ("id", "original", "edited", "rate_hz", "target_caption")
    lower_is_better = _LOWER | {"left_out"}
    distances = _LOWER

    def __init__(
        self,
        encoders: Extractors,
        only: Sequence[str] = (),
        cache_dir: str | os.PathLike[str] | None = None,
        workers: int = 0,
    ) -> None:
        self._ears = Ears(encoders, only, cache_dir, workers)
        self._open: dict[str, Ear] = {}

    def batch(self, module: Any, outputs: Any) -> Rows:
        self._open = self._open or self._ears.open(str(module.device))
        ids = self.ids(outputs)
        sides = [self.clips(outputs, side) for side in ("original", "edited")]
        captions = list(outputs["target_caption"])
        if len(captions) != len(ids) or any(x.samples.ndim != 1 for side in sides for x in side):
            raise UserError(
                "validation_step returned waveforms that are not (B, T) on both sides with B "
                "captions"
            )
        usable = [
            (id, original, edited, caption)
            for id, original, edited, caption in zip(ids, *sides, captions, strict=True)
            if not any(map(audio.fault, (original, edited))) and caption.strip()
        ]
        heard: dict[str, HeardByRole] = {id: {} for id, *_ in usable}
        for role, ear in self._open.items():
            for (id, *_), one in zip(usable, _hear(ear, usable) if usable else [], strict=True):
                if one is not None:
                    heard[id][role] = one
        whole = {id: by_role for id, by_role in heard.items() if len(by_role) == len(self._open)}
        return dict.fromkeys(ids) | whole

    def values(self, rows: Rows) -> Mapping[str, Value]:
        heard = {id: by_role for id, by_role in rows.items() if by_role is not None}
        metrics = {role: ear.metrics for role, ear in self._open.items()}
        return {**_values(metrics, heard), "left_out": float(len(rows) - len(heard))}


class Rated(NamedTuple):
    """A pair of the validation part: its mean rating, None where it cannot be rated, what it is
    dealt by, as encoders have it."""

    score: float | None
    unit: Unit
    heard: HeardByRole


class KeptShare(ValidationMetric):
    """What a filter by the evaluator in training would keep of the validation part.

    The data-quality metrics of the `keep_share` of the pairs with the best mean predicted rating,
    and beside each `all/<metric>` of all of them. Fewer pairs bias distances upwards
    (`fad_inf_...` less so). The encoders run once, before training, and are let go.
    """

    lower_is_better = distances = _LOWER

    def __init__(
        self,
        encoders: Extractors,
        keep_share: float,
        features: Mapping[str, Any],
        only: Sequence[str] = (),
        cache_dir: str | os.PathLike[str] | None = None,
        workers: int = 0,
    ) -> None:
        if not (isinstance(keep_share, (int, float)) and 0 < keep_share <= 1):
            raise UserError(f"keep_share {keep_share!r}: expected a number above 0, 1 at most")
        super().__init__(features, cache_dir, workers)
        self._ears = Ears(encoders, only, cache_dir, workers)
        self._keep_share = keep_share
        self._metrics: dict[str, list[DataMetric]] = {}
        self._heard: dict[str, HeardByRole] = {}
        self._all: dict[str, Value] = {}

    def check(self, plan: Plan[Any, Any]) -> None:
        """Raises UserError where an encoder cannot be loaded; lets them go."""
        self._ears.open("cpu")

    def start(self, trainer: lightning.Trainer, module: Any) -> None:
        super().start(trainer, module)
        self._heard, self._all = {pair.id: {} for pair in self.share}, {}
        for role, (store, metrics) in self._ears.open("cpu").items():
            self._metrics[role] = metrics
            for pair, heard in zip(self.share, hear(store, self.share, metrics), strict=True):
                if isinstance(heard, Failure):
                    raise UserError(f"KeptShare: {pair.id}: {heard.reason}")
                self._heard[pair.id][role] = trimmed(heard, metrics)

    def row(self, pair: EditPair, ratings: Ratings | None) -> Rated:
        score = sum(ratings.values()) / len(ratings) if ratings else None
        return Rated(score, unit(pair), self._heard[pair.id])

    def values(self, rows: Rows) -> Mapping[str, Value]:
        units = {id: row.unit for id, row in rows.items()}
        heard = {id: row.heard for id, row in rows.items()}
        # The same in every epoch.
        self._all = self._all or {
            f"all/{name}": value for name, value in _values(self._metrics, heard, units).items()
        }
        scores = {id: row.score for id, row in rows.items() if row.score is not None}
        best = best_share(scores, self._keep_share)
        kept = {id: by_role for id, by_role in heard.items() if id in best}
        return {**self._all, **_values(self._metrics, kept, units)}


def best_share(scores: Mapping[str, float], share: float) -> set[str]:
    """Ids of this share of the items, at least one, with the highest scores; of equal ones the
    first."""
    by_score = sorted(scores, key=lambda id: -scores[id])
    return set(by_score[: max(1, share_of(share, len(scores)))])


def _hear(
    ear: Ear, batch: Sequence[tuple[str, audio.Waveform, audio.Waveform, str]]
) -> list[Heard | None]:
    """What an extractor makes of (id, original, edited, caption), all at once; where one of them
    has no features one by one, None for those without."""
    store, metrics = ear
    ((name, extractor),) = store.encoder.extractors.items()
    _, originals, clips, captions = zip(*batch, strict=True)
    try:
        edited = extractor.encode_audio([audio.resample(clip, extractor.rate_hz) for clip in clips])
        original = edited
        if any(metric.statistic.original for metric in metrics):
            original = [clip[name] for clip in store.clips(originals)]
    except audio.AudioError:
        if len(batch) == 1:
            return [None]
        return [heard for item in batch for heard in _hear(ear, [item])]
    texts = [text.get(name, NO_TEXT) for text in store.captions(captions)]
    rows = zip(original, edited, texts, strict=True)
    return [trimmed(Heard(*row, extractor.joint_dim), metrics) for row in rows]
