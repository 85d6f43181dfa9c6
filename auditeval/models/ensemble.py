"""An average of unlike models of the same comparison, with intervals that say how sure it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn

from auditeval.features.extractor import Texts
from auditeval.features.pair import FURTHER, Inputs, PairFeatures, extractors, lacking
from auditeval.models.conformal import widest_quantile
from auditeval.models.mlp import Linear, mlp
from auditeval.models.standardise import Standardise
from auditeval.models.three_head import Regressor
from auditeval.models.trees import Trees
from auditeval.types import AXES, Axis

_CHANGES = "changes."
_TOLD = f"{_CHANGES}told"
_ANEW = "regeneration.regenerated"
KINDS = ("ridge", "extra_trees", "boosting", "mlp")


class EnsembleRegressor(Regressor):
    """The mean of a linear model, two sums of trees and small MLPs, for each axis.

    They err in different ways: straight lines go on where there was nothing to learn from, trees
    stay at what they have seen, MLPs are smooth between. `kinds` says which of KINDS take part;
    each counts the same, the `members` MLPs together as one. No member leaves the scale of 1
    to 5.

    All see `alignment`, standardised, whether the captions ask for something new or gone, and where
    they ask for nothing `alignment` once more (else 0): there all that came or went is damage, and
    a line for it has slopes of its own. With `by_removal` the first is of pairs where nothing is to
    go (else 0), and a third is of those where something is: there a loss is what was wanted. For
    relevance they see `evidence` too, its further numbers in place of what is called alike (see
    `FURTHER`), and for another axis what `hears` names of it, where something is to come or go: of
    two sounds, which went. No embedding of a clip, so that a stretch of a clip can be rated as a
    clip can.

    With `by_removal`, the numbers of the extractors in `of_removals` count only where something is
    to go. How a sound was taken out of a mixture shows in the samples; an editor that makes a clip
    anew keeps none of them, and that is no fault.

    For quality, the numbers of the extractors in `framewise` fade out as far as a clip was made
    anew (`regeneration.regenerated`): then no frame of it has one of the original's to be held
    against, and how unlike they are says nothing of how the edit sounds.

    What `deaf` names for quality or faithfulness, a number of `alignment` or an extractor, counts
    for the other axes alone: how much softer an edit is says nothing of how it sounds.

    With `by_change`, where words ask for a change of how a sound sounds (`changes.told`), all of
    these fade out, `alignment` comes once more, for slopes of its own, and all axes see what
    `changes` says of it: a voice that was to be higher is not unfaithful for being it. Where words
    then ask for nothing that anything here understands, relevance is the same for all sounds, and
    its interval the whole scale.

    The axes that `together` names see `alignment` once, whatever was asked for, beside whether it
    was something new or gone: how bad a sound is, is no matter of the words. What damage costs is
    then learnt from all pairs, and not for each kind of words from those with such words.

    Only the MLPs are `heads`, trained by gradient; the others are fitted by `training.ensemble` and
    set by `set_member`. `trees` holds their sizes, {kind: {axis: [trees, nodes]}}.
    """

    by_gradient = False

    quantile: Tensor
    spread_floor: Tensor

    def __init__(
        self,
        inputs: Inputs | dict[str, Any],
        kinds: Sequence[str] = KINDS,
        hidden: Sequence[int] = (64, 32),
        dropout: float = 0.2,
        members: int = 4,
        level: float = 0.9,
        by_removal: bool = False,
        by_change: bool = False,
        together: Sequence[Axis] = (),
        of_removals: Sequence[str] = (),
        framewise: Sequence[str] = (),
        hears: Mapping[Axis, Sequence[str]] | None = None,
        deaf: Mapping[Axis, Sequence[str]] | None = None,
        test_bias: float = 0.0,
        trees: Mapping[str, Mapping[Axis, Sequence[int]]] | None = None,
    ) -> None:
        if not kinds or len(set(kinds)) < len(kinds) or not set(kinds) <= set(KINDS):
            raise ValueError(f"kinds {list(kinds)}: expected some of {', '.join(KINDS)}, each once")
        if "mlp" in kinds and members < 1:
            raise ValueError(f"members {members}: expected at least one MLP, or kinds without mlp")
        if not Inputs.of(inputs).alignment:
            raise ValueError("an ensemble compares frames, and the encoder keeps none")
        if not 0 < level < 1:
            raise ValueError(f"level {level}: expected a share between 0 and 1")
        if not 0 <= test_bias <= 4:
            raise ValueError(f"test_bias {test_bias}: expected points of the scale, 0 to 4")
        alignment, made = Inputs.of(inputs).alignment, Inputs.of(inputs).evidence
        evidence = [name for name in made if not name.endswith(FURTHER)]
        self._evidence = [made.index(name) for name in evidence]
        further = [name + FURTHER if name + FURTHER in made else name for name in evidence]
        self._further = [made.index(name) for name in further]
        deaf = {axis: list(names) for axis, names in (deaf or {}).items()}
        known = {*alignment, *extractors(alignment)}
        if unknown := lacking([name for names in deaf.values() for name in names], known):
            raise ValueError(f"deaf: the encoder has no {unknown}")
        hears = {axis: list(names) for axis, names in (hears or {}).items()}
        also = list(dict.fromkeys(name for names in hears.values() for name in names))
        if unknown := lacking(also, evidence):
            raise ValueError(f"hears: the encoder has no {unknown}")
        for given, axes in (("deaf", deaf), ("hears", hears)):
            if others := set(axes) - {"quality", "faithfulness"}:
                raise ValueError(
                    f"{given}: expected quality or faithfulness, not {', '.join(others)}"
                )
        if others := set(together) - set(AXES):
            raise ValueError(f"together: expected some of {', '.join(AXES)}, not {min(others)}")
        if framewise and _ANEW not in alignment:
            raise ValueError(f"framewise: the encoder has no {_ANEW} (features=[...,regeneration])")
        if by_change and _TOLD not in evidence:
            raise ValueError(f"by_change: the encoder has no {_TOLD} (features=[...,changes])")
        self._changes = [
            place for place, name in enumerate(evidence) if name.startswith(_CHANGES) and by_change
        ]
        self._always = [
            place
            for place, name in enumerate(alignment)
            if not by_removal or name.partition(".")[0] not in of_removals
        ]
        self._framewise = [
            place for place, name in enumerate(alignment) if name.partition(".")[0] in framewise
        ]
        self._anew = alignment.index(_ANEW) if framewise else -1
        self._also = [evidence.index(name) for name in also]
        always = [alignment[place] for place in self._always]
        apart = [*always, *always, *(alignment if by_removal else ()), "new", "gone"]
        apart += always if by_change else ()
        of_changes = [evidence[place] for place in self._changes]
        self._sees: dict[Axis, list[str]] = {}
        self._heard: dict[Axis, list[int]] = {}  # but relevance, which hears all
        for axis in AXES:
            self._sees[axis] = [*alignment, "new", "gone"] if axis in together else apart
            parts = [*self._sees[axis], *of_changes]
            self._heard[axis] = [
                place
                for place, name in enumerate([*parts, *also])
                if not {name, name.partition(".")[0]} & set(deaf.get(axis, ()))
                and (place < len(parts) or name in hears.get(axis, ()))
            ]
        super().__init__(
            inputs,
            members if "mlp" in kinds else 0,
            kinds=list(kinds),
            hidden=list(hidden),
            dropout=dropout,
            level=level,
            by_removal=by_removal,
            by_change=by_change,
            together=list(together),
            of_removals=list(of_removals),
            framewise=list(framewise),
            hears=hears,
            deaf=deaf,
            test_bias=test_bias,
            trees={kind: dict(sizes) for kind, sizes in (trees or {}).items()},
        )
        self.scale_alignment = Standardise(len(self.given.alignment))
        self.scale_evidence = Standardise(len(self.given.evidence))
        self.fitted = nn.ModuleDict(
            {
                kind: nn.ModuleDict({axis: self._empty(kind, axis) for axis in AXES})
                for kind in kinds
                if kind != "mlp"
            }
        )
        # Infinite until `calibrate` finds it: the interval is then the whole scale.
        self.register_buffer("quantile", torch.full((len(AXES),), torch.inf))
        self.register_buffer("spread_floor", torch.ones(len(AXES)))

    def size(self, axis: Axis) -> int:
        """How many numbers the members of an axis see."""
        if axis == "relevance":
            return len(self._sees[axis]) + len(self._evidence)
        return len(self._heard[axis])

    def make_head(self, axis: Axis) -> nn.Module:
        return _AxisHead(axis, self.size(axis), self.arguments["hidden"], self.arguments["dropout"])

    def scaled(self, batch: PairFeatures) -> Iterable[tuple[Standardise, Tensor]]:
        yield self.scale_alignment, batch.alignment
        yield self.scale_evidence, batch.evidence

    def inputs(self, batch: PairFeatures) -> dict[Axis, Tensor]:
        asked = new, gone, told = self._asked(batch)
        alignment = self.scale_alignment(batch.alignment)
        scaled = self.scale_evidence(batch.evidence)
        evidence, further = (
            self._faded(scaled[:, x], told) for x in (self._evidence, self._further)
        )
        of_changes, also = evidence[:, self._changes], evidence[:, self._also] * (new | gone)
        inputs: dict[Axis, Tensor] = {}
        for axis in AXES:
            held = alignment
            if axis == "quality" and self._framewise:
                held = alignment.clone()
                held[:, self._framewise] *= 1 - batch.alignment[:, [self._anew]]
            parts = self._parts(axis, held, *asked)
            if axis != "relevance":
                heard = torch.cat([*parts, of_changes, also], dim=1)
                inputs[axis] = heard[:, self._heard[axis]]
                continue
            inputs[axis] = torch.cat([*parts, further], dim=1)
            if self.arguments["by_change"]:
                inputs[axis] = inputs[axis] * (new | gone | (told > 0))
        return inputs

    def _faded(self, evidence: Tensor, told: Tensor) -> Tensor:
        """Of sounds that come and go, where words ask for a change."""
        left = evidence * (1 - told)
        left[:, self._changes] = evidence[:, self._changes]
        return left if self.arguments["by_change"] else evidence

    def _parts(
        self, axis: Axis, alignment: Tensor, new: Tensor, gone: Tensor, told: Tensor
    ) -> list[Tensor]:
        """`alignment`, scaled, by what was asked for, as `_sees` names it."""
        if axis in self.arguments["together"]:
            seen = alignment * gone
            seen[:, self._always] = alignment[:, self._always]
            return [seen, new, gone]
        always = alignment[:, self._always]
        parts = [always, always * ~(new | gone)]
        if self.arguments["by_removal"]:
            parts = [always * ~gone, parts[1], alignment * gone]
        if self.arguments["by_change"]:
            return [*(part * (1 - told) for part in parts), new, gone, always * told]
        return [*parts, new, gone]

    def _asked(self, batch: PairFeatures) -> tuple[Tensor, Tensor, Tensor]:
        """Whether words ask for something new, for something gone; how surely for a change.

        The last is 0 without `by_change` :: 3 x (B, 1).
        """
        new, gone = (x.any(dim=1, keepdim=True) for x in (batch.added_text, batch.removed_text))
        if not self.arguments["by_change"]:
            return new, gone, torch.zeros_like(batch.alignment[:, :1])
        return new, gone, batch.evidence[:, [self.given.evidence.index(_TOLD)]]

    def spared(self, texts: Mapping[str, Texts]) -> frozenset[str]:
        gone = any(text.removed.any() for text in texts.values())
        idle = self.arguments["by_removal"] and not gone
        return frozenset(self.arguments["of_removals"]) if idle else frozenset()

    def _unheard(self, batch: PairFeatures) -> Tensor:
        """Where nothing is known to be asked, of which relevance could be told :: bool (B, 3)."""
        unheard = torch.zeros(len(batch.alignment), len(AXES), dtype=torch.bool)
        if self.arguments["by_change"]:
            new, gone, told = self._asked(batch)
            unheard[:, AXES.index("relevance")] = ~(new | gone | (told > 0)).flatten().cpu()
        return unheard.to(batch.alignment.device)

    def set_member(self, kind: str, axis: Axis, member: nn.Linear | Trees) -> None:
        """Put a fitted model in its place :: (B, size(axis)) -> (B,) or (B, 1), ratings."""
        if isinstance(member, Trees):
            sizes = self.arguments["trees"].setdefault(kind, {})
            sizes[axis] = [len(member.roots), len(member.number)]
        cast(nn.ModuleDict, self.fitted[kind])[axis] = member.requires_grad_(False)

    @torch.no_grad()
    def fitted_mean(self, batch: PairFeatures) -> Tensor:
        """What those of `fitted` say on average :: PairFeatures of B -> (B, 3)."""
        if not self.fitted:  # the mean of what they were to learn
            return self.target_mean.expand(len(batch.alignment), -1)
        inputs = self.inputs(batch)
        columns = [torch.stack(self._fitted(inputs, axis)).clamp(1, 5).mean(dim=0) for axis in AXES]
        return torch.stack(columns, dim=1)

    def _fitted(self, inputs: dict[Axis, Tensor], axis: Axis) -> list[Tensor]:
        of_kinds = (cast(nn.ModuleDict, of_kind)[axis] for of_kind in self.fitted.values())
        return [member(inputs[axis]).flatten() for member in of_kinds]

    def forward_members(self, batch: PairFeatures) -> Tensor:
        """PairFeatures of B -> (members, B, 3): those of `fitted`, then the MLPs."""
        inputs = self.inputs(batch)
        columns = []
        for axis in AXES:
            rows = self._fitted(inputs, axis)
            if "mlp" in self.arguments["kinds"]:
                rows += self.forward_axis(inputs, axis)
            columns.append(torch.stack(rows))
        return torch.stack(columns, dim=2).clamp(1, 5)

    def forward(self, batch: PairFeatures) -> Tensor:
        return self._mean_and_spread(batch)[0]

    @torch.no_grad()
    def calibrate(
        self,
        train: PairFeatures,
        batch: PairFeatures,
        ratings: Tensor,
        originals: Tensor,
        operations: Tensor | None = None,
    ) -> None:
        """Make the intervals of ratings (N, 3), NaN where unrated, of pairs not trained on.

        Split conformal prediction with normalised residuals (Angelopoulos & Bates 2021, 2.3.2): the
        `widest_quantile` of the |rating - score| / (spread + floor) of `batch`, by each of its
        `operations` :: (N,), where pairs with equal numbers in `originals` :: (N,) are edits of one
        clip. The spread is that of the members on a pair; the floor, its mean over the pairs of
        `train`, keeps members that happen to agree from promising certainty.
        """
        self.spread_floor.copy_(self._mean_and_spread(train)[1].mean(dim=0).clamp_min(1e-3))
        kinds = torch.zeros_like(originals) if operations is None else operations
        score, spread = self._mean_and_spread(batch)
        residuals = (ratings - score).abs() / (spread + self.spread_floor)
        residuals = residuals.masked_fill(self._unheard(batch), torch.nan)
        level = self.arguments["level"]
        found = [
            widest_quantile(column[rated], originals[rated], kinds[rated], level)
            for column in residuals.T
            for rated in (~column.isnan(),)
        ]
        self.quantile.copy_(torch.tensor(found, dtype=self.quantile.dtype))

    def intervals(self, batch: PairFeatures) -> Tensor | None:
        """Where the ratings lie, with probability `level` :: (B, 3, 2), low and high, 1 to 5.

        And `test_bias` beyond that on both sides, for what is a matter of a listening test and of
        no pair in it.

        What is covered is the rating as the calibration pairs had it: the mean vote of their
        (simulated) panel, of an edit of a clip that might as well have been one of theirs, over all
        such clips and those of each operation, and not for each kind of edit. For other recordings,
        editors and raters nothing is promised. None where calibration had too few originals for any
        axis: fewer than level / (1 - level).
        """
        return self.with_intervals(batch)[1]

    def with_intervals(self, batch: PairFeatures) -> tuple[Tensor, Tensor | None]:
        score, spread = self._mean_and_spread(batch)
        if self.quantile.isinf().all():
            return score, None
        reach = self.quantile * (spread + self.spread_floor) + self.arguments["test_bias"]
        reach = reach.masked_fill(self._unheard(batch), torch.inf)
        return score, torch.stack([score - reach, score + reach], dim=2).clamp(1, 5)

    def _mean_and_spread(self, batch: PairFeatures) -> tuple[Tensor, Tensor]:
        """Weighted mean and standard deviation of the members :: 2 x (B, 3)."""
        members = self.forward_members(batch).unbind()
        kinds, alone = len(self.arguments["kinds"]), len(self.fitted)
        shares = [
            1 / kinds / (1 if n < alone else len(members) - alone) for n in range(len(members))
        ]
        # One after the other: the order of `Tensor.sum` depends on how many pairs there are.
        weighted = list(zip(shares, members, strict=True))
        mean = sum((share * member for share, member in weighted), torch.zeros_like(members[0]))
        squares = (share * (member - mean).square() for share, member in weighted)
        return mean, sum(squares, torch.zeros_like(mean)).sqrt()

    def _empty(self, kind: str, axis: Axis) -> nn.Module:
        """The place of a fitted model: zeros of its size."""
        if kind == "ridge":
            line = Linear(self.size(axis), 1)
            for parameter in line.parameters():
                nn.init.zeros_(parameter)
            return line.requires_grad_(False)
        return Trees(self.size(axis), *self.arguments["trees"].get(kind, {}).get(axis, (1, 1)))


class _AxisHead(nn.Module):
    """An MLP over what the members of its axis see."""

    def __init__(self, axis: Axis, inputs: int, hidden: Sequence[int], dropout: float) -> None:
        super().__init__()
        self.axis = axis
        self.mlp = mlp(inputs, hidden, dropout)

    def forward(self, inputs: Mapping[Axis, Tensor]) -> Tensor:
        return self.mlp(inputs[self.axis])
