"""Three independent regression heads over frozen embeddings [arXiv:2508.11966, 4.1, Figure 2].

Two of them: `ConcatRegressor` is the paper's, `PairwiseRegressor` is told what to compare. Each
axis has everything that it trains to itself, so training three axes in one pass is the same as
training each alone.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from auditeval.features.extractor import Texts
from auditeval.features.pair import Inputs, PairFeatures
from auditeval.features.store import Failure, FeatureStore
from auditeval.models.mlp import Linear, UniformDropout, mlp
from auditeval.models.model import Model
from auditeval.models.standardise import Standardise
from auditeval.types import AXES, Axis, EditPair


class Regressor(Model):
    """Pairs to ratings :: PairFeatures of B -> (B, 3), axes in AXES order, on the 1 to 5 scale.

    `given` says what the features are. Inputs and targets are standardised with statistics of the
    training part, which `fit_scales` takes before training and the state dict keeps. Each axis
    averages `members` heads that start from different weights; `heads[axis]` is all that the axis
    trains, so that each axis can have an optimiser and a schedule of its own.
    """

    uses_changed_words = True
    """Whether `added_text` and `removed_text` are looked at; if not, they need not be encoded."""

    by_gradient = True
    """Whether all of it is trained by gradient."""

    target_mean: Tensor
    target_spread: Tensor

    def __init__(self, inputs: Inputs | dict[str, Any], members: int, **arguments: Any) -> None:
        super().__init__()
        self.given = Inputs.of(inputs)
        described = self.given.model_dump(mode="json")
        self.arguments = {"inputs": described, "members": members, **arguments}
        self.register_buffer("target_mean", torch.full((len(AXES),), 3.0))
        self.register_buffer("target_spread", torch.ones(len(AXES)))
        self.register_buffer("trained", torch.zeros(len(AXES), dtype=torch.bool))
        self.heads = nn.ModuleDict(
            {axis: nn.ModuleList(self.make_head(axis) for _ in range(members)) for axis in AXES}
        )

    @abstractmethod
    def make_head(self, axis: Axis) -> nn.Module:
        """A new head for one axis :: what `inputs` returns -> (B, 1)."""

    @abstractmethod
    def inputs(self, batch: PairFeatures) -> Any:
        """What every head takes of a batch."""

    @abstractmethod
    def scaled(self, batch: PairFeatures) -> Iterable[tuple[Standardise, Tensor]]:
        """Its scales, each with the training features whose statistics it is to have."""

    def fit_scales(self, batch: PairFeatures, ratings: Tensor) -> None:
        """Take means and spreads from training features and ratings (N, 3), NaN where unrated."""
        for scale, features in self.scaled(batch):
            scale.fit(features)
        for index in range(len(AXES)):
            rated = ratings[:, index][~ratings[:, index].isnan()]
            self.trained[index] = len(rated) > 1
            if len(rated) > 1:
                self.target_mean[index] = rated.mean()
                self.target_spread[index] = rated.std(correction=0).clamp_min(1e-3)

    def look(
        self, store: FeatureStore, pairs: Sequence[EditPair]
    ) -> Sequence[PairFeatures | Failure]:
        pick = store.encoder.inputs.pick(self.given)
        rows = store.pairs(pairs, self.uses_changed_words, self.spared)
        return [row if isinstance(row, Failure) else pick(row) for row in rows]

    def spared(self, texts: Mapping[str, Texts]) -> frozenset[str]:
        """Extractors that it does not look at for a pair of these texts, by extractor: none."""
        return frozenset()

    @torch.inference_mode()
    def predict(self, rows: Sequence[PairFeatures]) -> Tensor:
        return self(PairFeatures.stack(rows).to(self.trained.device)).cpu()

    @torch.inference_mode()
    def predict_with_intervals(self, rows: Sequence[PairFeatures]) -> tuple[Tensor, Tensor | None]:
        ratings, found = self.with_intervals(PairFeatures.stack(rows).to(self.trained.device))
        return ratings.cpu(), None if found is None else found.cpu()

    def forward_axis(self, inputs: Any, axis: Axis) -> Tensor:
        """What `inputs` made of B pairs -> (members, B): the ratings of each member alone."""
        heads = cast(nn.ModuleList, self.heads[axis])
        return self._rated([head(inputs) for head in heads], axis)

    def _rated(self, scores: Sequence[Tensor], axis: Axis) -> Tensor:
        """Standardised scores of each member :: (B, 1) each -> (members, B), ratings."""
        index = AXES.index(axis)
        return (
            torch.cat(list(scores), dim=1).T * self.target_spread[index] + self.target_mean[index]
        )

    def forward_members(self, batch: PairFeatures) -> Tensor:
        """PairFeatures of B -> (members, B, 3)."""
        inputs = self.inputs(batch)
        return torch.stack([self.forward_axis(inputs, axis) for axis in AXES], dim=2)

    def forward(self, batch: PairFeatures) -> Tensor:
        return self.forward_members(batch).mean(dim=0)

    def intervals(self, batch: PairFeatures) -> Tensor | None:
        """Where the ratings lie :: (B, 3, 2), low and high; None of a model without calibration."""
        return self.with_intervals(batch)[1]

    def with_intervals(self, batch: PairFeatures) -> tuple[Tensor, Tensor | None]:
        """`forward` and `intervals` in one pass."""
        return self(batch), None

    def learn(self, inputs: Any, axis: Axis, ratings: Tensor) -> tuple[Tensor, Tensor | None]:
        """`forward_axis`, and what training adds to the squared error, if anything; ratings ::
        (B, 3)."""
        return self.forward_axis(inputs, axis), None


class ConcatRegressor(Regressor):
    """The paper's: LayerNorm on each of the four embeddings, joined, three MLPs.

    The default `hidden` and `dropout` are those of the authors' code, which neither standardises
    its inputs (unit embeddings of CLAP) nor its targets: `standardise=False`.
    """

    uses_changed_words = False

    def __init__(
        self,
        inputs: Inputs | dict[str, Any],
        hidden: Sequence[int] = (4096, 2048, 512, 128, 32),
        dropout: float = 0.1,
        standardise: bool = True,
        members: int = 1,
    ) -> None:
        super().__init__(
            inputs, members, hidden=list(hidden), dropout=dropout, standardise=standardise
        )
        if standardise:
            self.scale_audio = Standardise(self.given.audio)
            self.scale_text = Standardise(self.given.text)

    def make_head(self, axis: Axis) -> nn.Module:
        sizes = [size for size in (self.given.audio, self.given.text) * 2 if size]
        return _ConcatHead(sizes, self.arguments["hidden"], self.arguments["dropout"])

    def scaled(self, batch: PairFeatures) -> Iterable[tuple[Standardise, Tensor]]:
        if self.arguments["standardise"]:
            yield self.scale_audio, torch.cat([batch.original_audio, batch.edited_audio])
            yield self.scale_text, torch.cat([batch.original_text, batch.target_text])

    def fit_scales(self, batch: PairFeatures, ratings: Tensor) -> None:
        super().fit_scales(batch, ratings)
        if not self.arguments["standardise"]:
            self.target_mean.zero_()
            self.target_spread.fill_(1)

    def inputs(self, batch: PairFeatures) -> list[Tensor]:
        parts = list(batch[:4])
        if self.arguments["standardise"]:
            scales = (self.scale_audio, self.scale_text) * 2
            parts = [scale(part) for scale, part in zip(scales, parts, strict=True)]
        return [part for part in parts if part.shape[1]]


class _ConcatHead(nn.Module):
    def __init__(self, sizes: Sequence[int], hidden: Sequence[int], dropout: float) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(size) for size in sizes)
        self.mlp = mlp(sum(sizes), hidden, dropout)

    def forward(self, embeddings: list[Tensor]) -> Tensor:
        normed = [norm(x) for norm, x in zip(self.norms, embeddings, strict=True)]
        return self.mlp(torch.cat(normed, dim=1))


class Told(NamedTuple):
    """What a pairwise head is told :: (B, ...) each; with rank 0 the summary alone."""

    summary: Tensor  # alignment of the frames and similarities of the embeddings
    audio_change: Tensor
    text_change: Tensor


class PairwiseRegressor(Regressor):
    """Told what to compare: alignment of frames, similarities, differences and their products.

    Quality and faithfulness are matters of sound: their heads see the alignment of the frames and
    the similarities of the embeddings. Relevance is one of sound and words: with `rank` > 0 its
    head also projects what changed in either to unit vectors of that size, and sees their product.
    It learns the projections by *matching* as well: each change of sound that was rated a good
    match has to find its own change of words in the batch (InfoNCE; van den Oord et al. 2018),
    with weight `matching`. With rank 0 all heads see the comparison alone: the choice for a
    hundred rated pairs.
    """

    WELL_MATCHED = 4.0  # "Good Match" on the paper's scale

    def __init__(
        self,
        inputs: Inputs | dict[str, Any],
        rank: int = 64,
        hidden: Sequence[int] = (128, 32),
        dropout: float = 0.5,
        matching: float = 1.0,
        members: int = 1,
    ) -> None:
        if rank and not Inputs.of(inputs).text:
            raise ValueError(
                "rank > 0 compares sound with words, and the encoder has no words: add an "
                "extractor of words, or set the rank to 0"
            )
        super().__init__(
            inputs, members, rank=rank, hidden=list(hidden), dropout=dropout, matching=matching
        )
        self.scale_alignment = Standardise(len(self.given.alignment))
        self.scale_similarity = Standardise(self._similarities)
        if rank:
            self.scale_audio = Standardise(self.given.audio)
            self.scale_words = Standardise(self.given.text)

    @property
    def _similarities(self) -> int:
        return 1 + bool(self.given.text) + 5 * len(self.given.joint)

    def make_head(self, axis: Axis) -> nn.Module:
        arguments = self.arguments
        summary = len(self.given.alignment) + self._similarities
        if not arguments["rank"] or axis != "relevance":
            return _SummaryHead(summary, arguments["hidden"], arguments["dropout"])
        return _ProductHead(
            summary,
            self.given.audio,
            self.given.text,
            arguments["rank"],
            arguments["hidden"],
            arguments["dropout"],
        )

    def scaled(self, batch: PairFeatures) -> Iterable[tuple[Standardise, Tensor]]:
        yield self.scale_alignment, batch.alignment
        yield self.scale_similarity, self.similarities(batch)
        if self.arguments["rank"]:
            yield self.scale_audio, torch.cat([batch.original_audio, batch.edited_audio])
            yield self.scale_words, torch.cat([batch.added_text, batch.removed_text])

    def learn(self, inputs: Any, axis: Axis, ratings: Tensor) -> tuple[Tensor, Tensor | None]:
        weight = self.arguments["matching"]
        matched = ratings[:, AXES.index("relevance")] >= self.WELL_MATCHED
        if axis != "relevance" or not (self.arguments["rank"] and weight and matched.any()):
            return super().learn(inputs, axis, ratings)
        scores, losses = [], []
        for head in cast(Iterable[_ProductHead], self.heads[axis]):
            changes = head.changes(inputs)  # once for both: to drop inputs takes most of the time
            scores.append(head.judge(inputs, *changes))
            losses.append(head.matching_loss(*changes, matched))
        return self._rated(scores, axis), weight * torch.stack(losses).mean()

    def similarities(self, raw: PairFeatures) -> Tensor:
        """Cosines within sound and within words; in the joint space, sound with words :: (B, S)."""
        cosine = nn.functional.cosine_similarity
        columns = [cosine(raw.original_audio, raw.edited_audio)]
        if raw.original_text.shape[1]:
            columns.append(cosine(raw.original_text, raw.target_text))
        for space in self.given.spaces():
            before, words_before, after, words_after = (part[:, space] for part in raw[:4])
            change = (raw.added_text - raw.removed_text)[:, space]
            columns += [
                ((after - before) * change).sum(dim=1),
                (before * words_before).sum(dim=1),
                (before * words_after).sum(dim=1),
                (after * words_before).sum(dim=1),
                (after * words_after).sum(dim=1),
            ]
        return torch.stack(columns, dim=1)

    def inputs(self, batch: PairFeatures) -> Told:
        similarity = self.scale_similarity(self.similarities(batch))
        summary = torch.cat([self.scale_alignment(batch.alignment), similarity], dim=1)
        if not self.arguments["rank"]:
            nothing = summary[:, :0]
            return Told(summary, nothing, nothing)
        sound, words = self.scale_audio, self.scale_words
        return Told(
            summary,
            sound(batch.edited_audio) - sound(batch.original_audio),
            words(batch.added_text) - words(batch.removed_text),
        )


class _SummaryHead(nn.Module):
    def __init__(self, summary: int, hidden: Sequence[int], dropout: float) -> None:
        super().__init__()
        self.mlp = mlp(summary, hidden, dropout)

    def forward(self, inputs: Told) -> Tensor:
        return self.mlp(inputs.summary)


class _ProductHead(nn.Module):
    def __init__(
        self,
        summary: int,
        dim: int,
        text_dim: int,
        rank: int,
        hidden: Sequence[int],
        dropout: float,
    ) -> None:
        super().__init__()
        self.drop = UniformDropout(dropout)
        self.audio_change = Linear(dim, rank)
        self.text_change = Linear(text_dim, rank)
        self.audio_distance = Linear(dim, rank // 4)
        self.log_sharpness = nn.Parameter(torch.tensor(10.0).log())
        self.mlp = mlp(summary + rank + 1 + rank // 4, hidden, dropout)

    def forward(self, inputs: Told) -> Tensor:
        return self.judge(inputs, *self.changes(inputs))

    def judge(self, inputs: Told, sound: Tensor, words: Tensor) -> Tensor:
        """Standardised scores :: (B, 1), given the `changes`."""
        product = sound * words
        parts = [
            inputs.summary,
            product * product.shape[1] ** 0.5,
            product.sum(dim=1, keepdim=True) * 3,
            self.audio_distance(self.drop(inputs.audio_change.abs())),
        ]
        return self.mlp(torch.cat(parts, dim=1))

    def matching_loss(self, sound: Tensor, words: Tensor, matched: Tensor) -> Tensor:
        """Cross-entropy of finding one's own words, and one's own sound, among the batch's."""
        logits = self.log_sharpness.exp() * sound @ words.T
        own = torch.arange(len(logits), device=logits.device)
        cross_entropy = nn.functional.cross_entropy
        both = cross_entropy(logits, own, reduction="none") + cross_entropy(
            logits.T, own, reduction="none"
        )
        return both[matched].mean() / 2

    def changes(self, inputs: Told) -> tuple[Tensor, Tensor]:
        """What changed in the sound and in the words, as unit vectors :: 2 x (B, rank)."""
        sound = self.audio_change(self.drop(inputs.audio_change))
        words = self.text_change(self.drop(inputs.text_change))
        return nn.functional.normalize(sound, dim=1), nn.functional.normalize(words, dim=1)
