"""Who trains and who tests: splits by original clip, talker or system, never by row."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from auditeval.types import EditPair, UserError

log = logging.getLogger(__name__)
SplitBy = Literal["original", "talker", "system"]


class Fold(NamedTuple):
    """Row numbers of one training run; no group and no original stands in two of the lists."""

    name: str
    train: list[int]
    validation: list[int]
    test: list[int]


def groups(pairs: Sequence[EditPair], by: SplitBy) -> list[str]:
    """The group of each row. "original": the declared `source`, else the original clip's file."""
    if by not in get_args(SplitBy):
        raise UserError(f"split by {by!r}: expected one of {', '.join(get_args(SplitBy))}")
    if by == "original":
        # One file may be written in two ways (a.wav, x/../a.wav) or name its source once only.
        files = [os.path.normpath(pair.original) for pair in pairs]
        rows = zip(files, pairs, strict=True)
        sources = {file: pair.source for file, pair in rows if pair.source}
        return [
            pair.source or sources.get(file, file) for file, pair in zip(files, pairs, strict=True)
        ]
    named = [getattr(pair, by) for pair in pairs]
    for pair, group in zip(pairs, named, strict=True):
        if group is None:
            raise UserError(f"pair {pair.id!r} has no {by}, and the split is by {by}")
    return named


def holdout(
    pairs: Sequence[EditPair],
    by: SplitBy = "original",
    test_share: float = 0.1,
    validation_share: float = 0.1,
    seed: int = 1984,
    published_as_it_is: bool = False,
) -> list[Fold]:
    """One fold: the paper's 9:1 for testing, and a validation part of what remains for training.

    Where the manifest states a `split`, that one is used and only a missing validation part is
    drawn. With `validation_share` 0 there is none: the schedule goes by the training loss, and the
    heads stay as their last epoch leaves them.

    A stated split in which a group stands on two sides is refused. With `published_as_it_is` it is
    used all the same, with a warning: figures that are to be compared with published ones need it.
    """
    labels = groups(pairs, by)
    names = np.array(sorted(set(labels)))
    np.random.default_rng(seed).shuffle(names)
    if any(pair.split for pair in pairs):
        strict = not published_as_it_is
        return [_as_published(pairs, labels, names, validation_share, strict)]
    if len(names) < 3:
        raise UserError(
            f"the pairs have {len(names)} different {by} group(s); a train, a validation and a "
            "test part need 3"
        )
    test = max(1, round(test_share * len(names)))
    validation = _validation_size(validation_share, len(names))
    return [
        _fold("holdout", pairs, labels, set(names[:test]), set(names[test : test + validation]))
    ]


def leave_one_out(
    pairs: Sequence[EditPair],
    by: SplitBy = "talker",
    validation_share: float = 0.0,
    seed: int = 1984,
) -> list[Fold]:
    """One fold per group, which is its test part; every row is tested exactly once.

    `validation_share` of the other groups (at least one, if above 0) choose the best epoch; with 0
    the fixed schedule ends the training.
    """
    labels = groups(pairs, by)
    names = sorted(set(labels))
    if len(names) < 2 + (validation_share > 0):
        raise UserError(f"leaving one {by} out needs more than {len(names)} of them")
    folds = []
    for index, name in enumerate(names):
        others = np.array([other for other in names if other != name])
        np.random.default_rng([seed, index]).shuffle(others)
        count = _validation_size(validation_share, len(others))
        folds.append(_fold(name, pairs, labels, {name}, set(others[:count])))
    return folds


def adaptation(
    pairs: Sequence[EditPair],
    by: SplitBy = "talker",
    times: int = 8,
    folds: int | None = None,
    validation_share: float = 0.1,
    seed: int = 1984,
) -> list[Fold]:
    """Leave groups out of a listening test that is learned beside rows which always train.

    Rows with a stated `split` (`train`, as `combine` marks them) are never tested; a share of their
    sources chooses epochs and calibrates. Of the others each group is the test part of one fold
    and, being few, stands `times` in the training of the rest. `folds` deals the groups into so
    many folds instead of one each.
    """
    always = [row for row, pair in enumerate(pairs) if pair.split is not None]
    rated = [row for row, pair in enumerate(pairs) if pair.split is None]
    sources = groups([pairs[row] for row in always], "original")
    labels = dict(zip(always, [f"always {source}" for source in sources], strict=True))
    labels.update(zip(rated, groups([pairs[row] for row in rated], by), strict=True))
    names = sorted({labels[row] for row in rated})
    count = folds or len(names)
    if not always or not 2 <= count <= len(names):
        raise UserError(
            f"{len(names)} {by} group(s) cannot be left out in {count} folds beside {len(always)} "
            "pairs that always train; the first needs 2 of them, the second 1"
        )
    if count < len(names):
        np.random.default_rng(seed).shuffle(names)
    others = np.array(sorted({labels[row] for row in always}))
    np.random.default_rng([seed, 1]).shuffle(others)
    validation = set(others[: _validation_size(validation_share, len(others))])
    made = []
    for index in range(count):
        left_out = set(names[index::count])
        name = names[index] if count == len(names) else f"fold{index + 1}"
        fold = _fold(name, pairs, [labels[r] for r in range(len(pairs))], left_out, validation)
        repeated = [
            row for row in fold.train for _ in range(times if pairs[row].split is None else 1)
        ]
        made.append(fold._replace(train=repeated))
    return made


def _validation_size(share: float, groups: int) -> int:
    """At least one group, unless no validation part is wanted."""
    return max(1, round(share * groups)) if share > 0 else 0


def _fold(
    name: str, pairs: Sequence[EditPair], labels: list[str], test: set[str], validation: set[str]
) -> Fold:
    """Rows by group; rows whose original stands on a later side as well are left out.

    That happens only where groups share originals: systems that edited the same clips.
    """
    parts: tuple[list[int], list[int], list[int]] = ([], [], [])
    for row, label in enumerate(labels):
        parts[2 if label in test else 1 if label in validation else 0].append(row)
    originals = groups(pairs, "original")
    seen: set[str] = set()
    for part in reversed(parts):
        kept = [row for row in part if originals[row] not in seen]
        seen.update(originals[row] for row in part)
        if len(kept) < len(part):
            log.warning("%s: %d rows share an original with a held-out part and are left out", name,
                        len(part) - len(kept))  # fmt: skip
        part[:] = kept
    if not parts[0]:
        raise UserError(
            "no pair is left to train on: every original stands in the test or validation part"
        )
    return Fold(name, *parts)


def _as_published(
    pairs: Sequence[EditPair],
    labels: list[str],
    names: np.ndarray,
    validation_share: float,
    strict: bool,
) -> Fold:
    sides: dict[str, str | None] = {}
    torn: dict[str, None] = {}
    for pair, label in zip(pairs, labels, strict=True):
        if pair.split is None:
            raise UserError(f"pair {pair.id!r} has no split, but others of its manifest have one")
        if sides.setdefault(label, pair.split) != pair.split:
            torn[label] = None
    if torn and strict:
        raise UserError(f"{next(iter(torn))} stands on two sides of the manifest's own split")
    if torn:
        log.warning(
            "the published split is used as it is, though %d of its %d groups stand on two sides: "
            "what was trained on helps in the test",
            len(torn),
            len(sides),
        )
        parts = ("train", "validation", "test")
        rows = [[row for row, pair in enumerate(pairs) if pair.split == part] for part in parts]
        if not rows[1]:
            trained = {labels[row] for row in rows[0]}
            there = [name for name in names if name in trained]
            drawn = set(there[: _validation_size(validation_share, len(there))])
            rows[1] = [row for row in rows[0] if labels[row] in drawn]
            rows[0] = [row for row in rows[0] if labels[row] not in drawn]
        for part, found in zip(("train", "test"), (rows[0], rows[2]), strict=True):
            if not found:
                raise UserError(
                    f"the manifest states a split, but none of its pairs is in `{part}`"
                )
        return Fold("published", *rows)
    test = {name for name, side in sides.items() if side == "test"}
    validation = {name for name, side in sides.items() if side == "validation"}
    if not test:
        raise UserError("the manifest states a split, but none of its pairs is in `test`")
    if not validation:
        train = [name for name in names if name not in test]
        validation = set(train[: _validation_size(validation_share, len(train))])
    return _fold("published", pairs, labels, test, validation)
