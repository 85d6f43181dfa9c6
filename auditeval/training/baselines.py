"""What an evaluator has to beat: the training mean, and objective measures of the test pairs.

configs/baselines names them. No measure is on the rating scale, so none has a squared error.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np

from auditeval import audio, storage
from auditeval.backends.backend import Backend
from auditeval.backends.load import Backends
from auditeval.data.splits import Fold
from auditeval.features.encoder import Encoder
from auditeval.features.extractor import Extractor
from auditeval.features.pair import PairFeatures
from auditeval.features.store import Failure, FeatureStore
from auditeval.metrics.clap_score import clap_score
from auditeval.metrics.divergence import inception_score
from auditeval.progress import track
from auditeval.report.agreement import Predictions
from auditeval.training.fit import Examples, Seen
from auditeval.types import AXES, Axis, EditPair, Undefined, UserError

log = logging.getLogger(__name__)
RATINGS = "ratings"  # in the cache folder
_NOISE = audio.Waveform(np.random.default_rng(0).normal(0, 0.1, 16000).astype(np.float32), 16000)


class Baseline(Protocol):
    """What an evaluator is compared with, asked about pairs and what is seen of them.

    `features` are None where a way of training sees no embeddings of pairs.
    """

    def __call__(
        self, name: str, pairs: Sequence[EditPair], features: PairFeatures | None, /
    ) -> Predictions: ...


class Tagger(Protocol):
    """A classifier of sounds."""

    def tag(self, waveform: audio.Waveform) -> np.ndarray:
        """Class logits of a clip :: (C,)."""
        ...


def each(pairs: Sequence[EditPair], name: str) -> Iterable[EditPair]:
    """The pairs under a progress bar, of none without."""
    return track(pairs, f"baseline {name}") if pairs else pairs


def ask(baselines: Mapping[str, Baseline], examples: Examples[Seen]) -> list[Predictions]:
    """What each of the baselines says of the examples.

    Those that look at embeddings need the features to be a PairFeatures, as fit=heads makes them.
    """
    seen = examples.features if isinstance(examples.features, PairFeatures) else None
    said = []
    for name, baseline in baselines.items():
        said.append(baseline(name, examples.pairs, seen))
        if not said[-1].values:
            log.warning("baseline %s has no value for any test pair, and no row", name)
    return said


def constant(pairs: Sequence[EditPair], folds: Sequence[Fold]) -> Predictions:
    """The training mean of each axis, as whoever knows nothing of a pair would guess.

    Means of folds differ, and are lowest where what was left out is highest: over several folds
    that would be a correlation below 0, of one who knows nothing.
    """
    values: dict[str, dict[Axis, float]] = {}
    for fold in folds:
        means: dict[Axis, float] = {}
        for axis in AXES:
            rated = [pairs[row].ratings[axis] for row in fold.train if axis in pairs[row].ratings]
            if rated:
                means[axis] = float(np.mean(rated))
        values.update({pairs[row].id: means for row in fold.test})
    return Predictions("constant", values, is_guess=len(folds) > 1)


def of_signals(
    name: str,
    pairs: Sequence[EditPair],
    features: PairFeatures | None,
    measure: Callable[[audio.Waveform, audio.Waveform], float | Undefined],
) -> Predictions:
    """A measure of (original, edited) waveforms, beside every axis that is rated."""
    measure(_NOISE, _NOISE)  # what it lacks, such as a package, it lacks without pairs too
    values: dict[str, dict[Axis, float]] = {}
    for pair in each(pairs, name):
        value = measure(audio.decode(pair.original), audio.decode(pair.edited))
        if isinstance(value, Undefined):
            log.warning("%s of %s is undefined: %s", name, pair.id, value.reason)
        else:
            values[pair.id] = dict.fromkeys(AXES, value)
    return Predictions(name, values, on_rating_scale=())


def of_edited(
    name: str,
    pairs: Sequence[EditPair],
    features: PairFeatures | None,
    rater: Backend,
    rating: str,
    cache_dir: str | None = None,
) -> Predictions:
    """One rating that a `speech_quality` backend gives the edited clip alone, beside every axis.

    It may be on a scale of 1 to 5, but answers another question than the axes ask. What the backend
    said is kept by content.
    """
    backends = Backends(
        {"speech_quality": rater}, storage.path(cache_dir or storage.cache_dir()) / RATINGS
    )
    values: dict[str, dict[Axis, float]] = {}
    for pair in each(pairs, name):
        try:
            found = backends("speech_quality", audio.decode(pair.edited))
        except audio.AudioError as error:
            log.warning("%s of %s is undefined: %s", name, pair.id, error)
        else:
            values[pair.id] = dict.fromkeys(AXES, found.values[rating])
    return Predictions(name, values, on_rating_scale=())


def of_embeddings(
    name: str,
    pairs: Sequence[EditPair],
    features: PairFeatures | None,
    extractor: Extractor,
    cache_dir: str | None = None,
    workers: int = 2,
) -> Predictions:
    """Cosine of an extractor's embeddings of original and edited clip, beside every axis rated."""
    store = FeatureStore(Encoder([extractor]), cache_dir, workers)
    clips = store.files([path for pair in pairs for path in (pair.original, pair.edited)])
    values: dict[str, dict[Axis, float]] = {}
    for pair in pairs:
        sides = [clips[path] for path in (pair.original, pair.edited)]
        failed = [side.reason for side in sides if isinstance(side, Failure)]
        if failed:
            log.warning("%s of %s is undefined: %s", name, pair.id, failed[0])
            continue
        heard = (side[extractor.name] for side in sides if not isinstance(side, Failure))
        x, y = (features.embedding[None] for features in heard)
        values[pair.id] = dict.fromkeys(AXES, float(clap_score(x, y)[0]))
    return Predictions(name, values, on_rating_scale=())


def joint_space(
    name: str, pairs: Sequence[EditPair], features: PairFeatures | None, dim: int
) -> Predictions:
    """Dot product of edited clip and target caption in a joint space, for relevance.

    The space is the last `dim` numbers of both embeddings (the label bridge of features=offline:
    521).
    """
    sides = () if features is None else (features.edited_audio, features.target_text)
    sizes = [side.shape[1] for side in sides]
    # Where both sizes are the same, as with CLAP, the space is all of it.
    if not sizes or min(sizes) < dim or (len(set(sizes)) == 1 and dim not in sizes):
        raise UserError(f"baseline {name!r} needs a joint space of {dim} numbers: features=offline")
    heard, worded = (side[:, -dim:].double().numpy() for side in sides)
    return _of_axis(name, pairs, "relevance", (heard * worded).sum(axis=1))


def text_audio_clap(
    name: str, pairs: Sequence[EditPair], features: PairFeatures | None
) -> Predictions:
    """CLAP score of the edited clip with the target caption, for relevance [Table 2]."""
    clap = _of_clap(name, features)
    scores = clap_score(clap.edited_audio.numpy(), clap.target_text.numpy())
    return _of_axis(name, pairs, "relevance", scores)


def audio_audio_clap(
    name: str, pairs: Sequence[EditPair], features: PairFeatures | None
) -> Predictions:
    """CLAP similarity of the edited clip with the original, for faithfulness [Table 2]."""
    clap = _of_clap(name, features)
    scores = clap_score(clap.edited_audio.numpy(), clap.original_audio.numpy())
    return _of_axis(name, pairs, "faithfulness", scores)


def inception(
    name: str,
    pairs: Sequence[EditPair],
    features: PairFeatures | None,
    tagger: Tagger,
    splits: int = 1,
) -> Predictions:
    """Inception score of the edited clips of each system, for quality [Table 2].

    Pairs without a system have none. A system has too few test pairs for the usual ten splits.
    """
    logits: dict[str, list[np.ndarray]] = {}
    for pair in each(pairs, name):
        if pair.system is not None:
            logits.setdefault(pair.system, []).append(tagger.tag(audio.decode(pair.edited)))
    scores = {system: inception_score(np.stack(rows), splits) for system, rows in logits.items()}
    for system, score in scores.items():
        if isinstance(score, Undefined):
            log.warning("%s of %s is undefined: %s", name, system, score.reason)
    values: dict[str, dict[Axis, float]] = {
        pair.id: {"quality": score}
        for pair in pairs
        if pair.system and isinstance(score := scores[pair.system], float)
    }
    return Predictions(name, values, on_rating_scale=(), of_systems=True)


def _of_clap(name: str, features: PairFeatures | None) -> PairFeatures:
    if features is None or features.edited_audio.shape[1] != features.target_text.shape[1]:
        raise UserError(f"baseline {name!r} needs one space of sound and words: features=clap")
    return features


def _of_axis(name: str, pairs: Sequence[EditPair], axis: Axis, scores: np.ndarray) -> Predictions:
    values: dict[str, dict[Axis, float]] = {
        pair.id: {axis: float(score)} for pair, score in zip(pairs, scores, strict=True)
    }
    return Predictions(name, values, on_rating_scale=())
