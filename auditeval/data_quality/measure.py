"""Data-quality metrics of manifests or lists of pairs: one encoder after the other, streaming."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from auditeval import manifest, manifest_blocks, storage
from auditeval.blocks import Block, Engine, Local, cut
from auditeval.data_quality.catalogue import (
    ENCODER_ROLES,
    METRICS,
    Accumulation,
    DataMetric,
    Heard,
    Measured,
)
from auditeval.data_quality.groups import Deal, unit
from auditeval.features import make_extractor
from auditeval.features.encoder import Encoder
from auditeval.features.extractor import Extractor
from auditeval.features.store import Failure, FeatureStore
from auditeval.manifest_blocks import ManifestBlock
from auditeval.pretrained.threads import one_thread
from auditeval.seed import SEED
from auditeval.types import EditPair, UserError, whole

_BLOCK_ROWS = 2048  # a block's sums may take 300 MB, so they are of many pairs

NO_TEXT = np.zeros(0, np.float32)
Pairs = Sequence[EditPair] | str | os.PathLike[str]
"""A manifest's path, or its pairs."""

Extractors = Mapping[str, Extractor | Mapping[str, Any]]
"""For each of `ENCODER_ROLES` an extractor, or the arguments of `make_extractor` for it."""


class Row(NamedTuple):
    """The metrics of one set; `left_out` says of each pair without features why."""

    name: str
    pairs: int
    values: dict[str, Measured]
    left_out: dict[str, str]


class DataQuality(NamedTuple):
    """Rows in the order given, metrics in that of the catalogue.

    `encoders` :: role -> revision; `families` :: role -> whose model it is, where
    the role is of a family and the encoder says its own.
    """

    metrics: list[DataMetric]
    rows: list[Row]
    encoders: dict[str, str]
    seed: int
    families: Mapping[str, str] = MappingProxyType({})


@one_thread()  # of BLAS as well: the decompositions of a Frechet distance are most of the time
def measure(
    sets: Mapping[str, Pairs],
    encoders: Extractors,
    only: Sequence[str] = (),
    *,
    batch_size: int = 32,
    cache_dir: str | os.PathLike[str] | None = None,
    cache_size: str | None = None,
    workers: int = 2,
    device: str = "cpu",
    seed: int = SEED,
    watch: Callable[[str, int, int], None] = lambda what, done, total: None,
    engine: Engine | None = None,
) -> DataQuality:
    """The metrics of each set that these encoders feed, or `only` those named.

    Each encoder passes over all sets before the next one is made, so one model is in memory at a
    time, and nothing there grows with the number of pairs but 17 bytes a pair. Features go through
    the cache. A pair that an encoder cannot use is left out of all metrics, as if the set were
    without it. `watch(what, done, total)` is told how far a pass has come, in pairs.

    Sets are summed up in blocks of pairs, by this process or the workers of an `engine` (for which
    extractors are given by their arguments), and the sums are added in the order of the set: the
    numbers are the same to the last bit.

    Raises UserError for a metric that is unknown or whose encoder was not given or is of another
    family than its name says, and for what is wrong with a manifest.
    """
    whole("batch_size", batch_size)
    chosen = choose(encoders, only)
    totals = {name: _check(pairs) for name, pairs in sets.items()}
    left_out: dict[str, dict[str, str]] = {name: {} for name in sets}
    while True:
        run = _Run(sets, totals, left_out, batch_size, seed, watch, engine or Local())
        made: dict[str, dict[str, Measured]] = {name: {} for name in sets}
        revisions, families = {}, {}
        for role, metrics in chosen.items():
            here = "cpu" if engine else device  # the workers' devices are theirs
            extractor = loaded(role, encoders[role], here)
            revisions[role] = f"{extractor.name}@{extractor.revision}"
            if ENCODER_ROLES[role].family and (family := getattr(extractor, "family", "")):
                families[role] = family
            fitting = at_rate(metrics, extractor.rate_hz, bool(only))
            store = FeatureStore(Encoder([extractor]), cache_dir, workers, cache_size=cache_size)
            make: Callable[[], FeatureStore] = partial(_itself, store)
            if engine:
                make = partial(_store, role, encoders[role], engine.device, cache_dir, cache_size)
            for name in sets:
                made[name].update(run.values(make, role, fitting, name))
            if run.found:
                break
        else:
            names = [name for name in METRICS if name in next(iter(made.values()), {})]
            rows = [
                Row(name, totals[name], {n: made[name][n] for n in names}, left_out[name])
                for name in sets
            ]
            return DataQuality([METRICS[name] for name in names], rows, revisions, seed, families)
        # Once more without them: the groups are to be of the pairs that all encoders can use.
        for name, failures in run.found.items():
            left_out[name].update(failures)


def choose(encoders: Iterable[str], only: Sequence[str] = ()) -> dict[str, list[DataMetric]]:
    """{role: its metrics}, in the order of the catalogue; see `measure` for what it raises.

    >>> [metric.name for metric in choose(["audiobox"])["audiobox"]]
    ['audiobox_pq', 'audiobox_pc', 'audiobox_ce', 'audiobox_cu']
    """
    given = set(encoders)
    for role in given - set(ENCODER_ROLES):
        raise UserError(
            f"no metric has an encoder in the role {role!r}; known: {', '.join(ENCODER_ROLES)}"
        )
    for name in only:
        if name not in METRICS:
            raise UserError(f"no metric is called {name!r}; known: {', '.join(METRICS)}")
        role = METRICS[name].role
        if role not in given:
            raise UserError(
                f"{name} needs the encoder {role}; give {ENCODER_ROLES[role].option or role}"
            )
    chosen: dict[str, list[DataMetric]] = {}
    for metric in METRICS.values():
        if metric.role in given and (not only or metric.name in only):
            chosen.setdefault(metric.role, []).append(metric)
    return chosen


def loaded(role: str, extractor: Extractor | Mapping[str, Any], device: str = "cpu") -> Extractor:
    """The extractor of a role, made where its arguments were given, on this device.

    Raises UserError for one that says it is of another family than the role's.
    """
    made = make_extractor(**extractor) if isinstance(extractor, Mapping) else extractor
    wanted, family = ENCODER_ROLES[role].family, getattr(made, "family", "")
    if family and not family.startswith(wanted):
        fitting = [f"{kind.option} ({name})" for name, kind in ENCODER_ROLES.items()
                   if kind.family and family.startswith(kind.family)]  # fmt: skip
        raise UserError(
            f"the encoder {role} is to be a {wanted} and is a {family}, which has metrics of its "
            f"own: give it as {' or '.join(fitting)}"
        )
    made.to(device)
    return made


def at_rate(metrics: Sequence[DataMetric], rate_hz: int, named: bool) -> list[DataMetric]:
    """Those whose name says this rate, or none; raises UserError for others that were named."""
    fitting = [metric for metric in metrics if metric.rate_hz in (None, rate_hz)]
    for metric in metrics:
        if named and metric not in fitting:
            raise UserError(
                f"{metric.name} is of clips at {metric.rate_hz} Hz, the encoder {metric.role} that "
                f"was given hears at {rate_hz} Hz"
            )
    return fitting


def hear(
    store: FeatureStore, pairs: Sequence[EditPair], metrics: Iterable[DataMetric]
) -> list[Heard | Failure]:
    """What the store's only extractor makes of pairs, as far as the metrics look at it."""
    (extractor,) = store.encoder.extractors.values()
    original = any(metric.statistic.original for metric in metrics)
    worded = [metric.name for metric in metrics if metric.statistic.text]
    paths = [path for p in pairs for path in ((p.original, p.edited) if original else (p.edited,))]
    clips = store.files(paths)
    captions = [pair.target_caption for pair in pairs] if worded else [""] * len(pairs)
    texts = store.captions(captions) if worded else [{}] * len(pairs)

    def join(pair: EditPair, caption: str, text: Mapping[str, np.ndarray]) -> Heard | Failure:
        sides = [clips[path] for path in (pair.original if original else pair.edited, pair.edited)]
        for side in sides:
            if isinstance(side, Failure):
                return side
        if worded and not caption.strip():
            needed = f"target_caption is empty, which {', '.join(worded)} needs"
            return Failure(f"{needed}; --only of other metrics keeps the pair")
        heard = [side[extractor.name] for side in sides if not isinstance(side, Failure)]
        target_text = text.get(extractor.name, NO_TEXT)
        return Heard(heard[0], heard[1], target_text, extractor.joint_dim)

    return [join(*row) for row in zip(pairs, captions, texts, strict=True)]


def _itself(store: FeatureStore) -> FeatureStore:
    return store


def _store(
    role: str,
    extractor: Extractor | Mapping[str, Any],
    device: str,
    cache_dir: str | os.PathLike[str] | None,
    cache_size: str | None,
) -> FeatureStore:
    """In a process of its own, of one thread; for an accelerator, two more decode."""
    encoder = Encoder([loaded(role, extractor, device)])
    workers = 0 if device == "cpu" else 2
    return FeatureStore(encoder, cache_dir, workers, cache_size=cache_size)


class _Part(NamedTuple):
    """A batch of `done` pairs, of which those `found` are unusable; behind the last one of a block
    the `states` and `sizes` of an `Accumulation` of its pairs."""

    done: int
    found: dict[str, str]
    states: Sequence[Sequence[Any]] = ()
    sizes: Sequence[int] = ()


class _Summation:
    """Sums up blocks of a set: what a worker does, see `blocks.Worker`."""

    def __init__(
        self,
        make: Callable[[], FeatureStore],
        names: Sequence[str],
        pairs: Pairs,
        left_out: Collection[str],
        deal: Deal,
        batch_size: int,
    ) -> None:
        self._store, self._metrics = make(), [METRICS[name] for name in names]
        self._pairs, self._left_out = pairs, left_out
        self._deal, self._batch_size = deal, batch_size

    def __call__(self, block: Block, failed: Mapping[int, str]) -> Iterator[_Part]:
        accumulation = Accumulation(self._metrics)
        numbered = zip(block.numbers(), _pairs_of(self._pairs, block), strict=True)
        rows = iter([row for row in numbered if row[1].id not in self._left_out])
        with one_thread():
            while batch := list(islice(rows, self._batch_size)):
                found = {pair.id: failed[row] for row, pair in batch if row in failed}
                usable = [pair for row, pair in batch if row not in failed]
                for pair, heard in zip(
                    usable, hear(self._store, usable, self._metrics), strict=True
                ):
                    if isinstance(heard, Failure):
                        found[pair.id] = heard.reason
                    else:
                        accumulation.update(self._deal(unit(pair)), heard)
                yield _Part(len(batch), found)
        yield _Part(0, {}, accumulation.states, accumulation.sizes)


class _Run:
    """Passes over the sets without the pairs known to be unusable; `found` are further ones."""

    def __init__(
        self,
        sets: Mapping[str, Pairs],
        totals: Mapping[str, int],
        left_out: Mapping[str, Mapping[str, str]],
        batch_size: int,
        seed: int,
        watch: Callable[[str, int, int], None],
        engine: Engine,
    ) -> None:
        self.found: dict[str, dict[str, str]] = {}
        self._sets, self._totals, self._left_out = sets, totals, left_out
        self._batch_size, self._watch, self._engine = batch_size, watch, engine
        self._deals = {name: Deal(map(unit, self._usable(name)), seed) for name in sets}

    def values(
        self,
        make: Callable[[], FeatureStore],
        role: str,
        metrics: Sequence[DataMetric],
        name: str,
    ) -> dict[str, Measured]:
        accumulation, deal = Accumulation(metrics), self._deals[name]
        pairs, left_out = self._sets[name], self._left_out[name]
        start = partial(
            _Summation,
            make,
            [metric.name for metric in metrics],
            pairs,
            frozenset(left_out),
            deal,
            self._batch_size,
        )
        done = 0
        blocks = _blocks(pairs, self._totals[name])
        for _, part in self._engine.run(start, blocks, in_order=True):
            if part.found:
                self.found.setdefault(name, {}).update(part.found)
            if part.sizes and not self.found:
                accumulation.merge(part.states, part.sizes)
            done += part.done
            self._watch(f"{name}: {role}", done, self._totals[name] - len(left_out))
        if self.found:
            return {}
        self._watch(f"{name}: values of {role}", 0, 1)  # large distances take their time
        values = accumulation.values(units=len(deal))
        self._watch(f"{name}: values of {role}", 1, 1)
        return values

    def _usable(self, name: str) -> Iterator[EditPair]:
        pairs = self._sets[name]
        rows = manifest.iterate(pairs) if isinstance(pairs, (str, os.PathLike)) else pairs
        return (pair for pair in rows if pair.id not in self._left_out[name])


def _blocks(pairs: Pairs, total: int) -> Iterator[Block]:
    """Of one length for whatever does them, since sums of other blocks differ by rounding."""
    if isinstance(pairs, (str, os.PathLike)):
        return manifest_blocks.cut(storage.path(pairs), total, _BLOCK_ROWS)
    return cut(total, _BLOCK_ROWS)


def _pairs_of(pairs: Pairs, block: Block) -> Iterator[EditPair]:
    if isinstance(pairs, (str, os.PathLike)):
        assert isinstance(block, ManifestBlock)
        return manifest_blocks.read(storage.path(pairs), block)
    return islice(pairs, block.first, block.first + block.rows)


def _check(pairs: Pairs) -> int:
    """Their number; raises UserError where two have one id, or a row is wrong."""
    if isinstance(pairs, (str, os.PathLike)):
        return manifest.check(pairs)
    ids = {pair.id for pair in pairs}
    if len(ids) < len(pairs):
        raise UserError(f"{len(pairs)} pairs have {len(ids)} ids; ids must be unique")
    return len(pairs)
