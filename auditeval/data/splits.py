"""Who trains and who tests: splits by original clip, talker or system, never by row."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

import numpy as np

from auditeval.seed import SEED
from auditeval.types import EditPair, UserError, whole

log = logging.getLogger(__name__)
SplitBy = Literal["original", "talker", "system"]
_LONGEST = 200  # bytes of a folder's name, of which file systems take 255
Contents = Mapping[Path, object]
"""`contents.digests` of the originals; one without a digest is known by its file alone."""


class Fold(NamedTuple):
    """Row numbers of one training run; unless a publisher drew it, no group and no original stands
    in two of the lists."""

    name: str
    train: list[int]
    validation: list[int]
    test: list[int]


def groups(
    pairs: Sequence[EditPair], contents: Contents = MappingProxyType({}), by: SplitBy = "original"
) -> list[str]:
    """The group of each row.

    By "original": rows of one clip, however they name it, that is of one file, one declared
    `source` or the same decoded samples, and rows that edit what another row made of it: a second
    turn, or the way back. A group goes by its source, else by its file.
    """
    if by not in get_args(SplitBy):
        raise UserError(f"split by {by!r}: expected one of {', '.join(get_args(SplitBy))}")
    if by == "original":
        return _originals(pairs, contents)
    named = [getattr(pair, by) for pair in pairs]
    for pair, group in zip(pairs, named, strict=True):
        if group is None:
            raise UserError(f"pair {pair.id!r} has no {by}, and the split is by {by}")
    return named


def _originals(pairs: Sequence[EditPair], contents: Contents) -> list[str]:
    from scipy.cluster.hierarchy import DisjointSet

    alike = DisjointSet()
    rows = []
    # One file may be written in two ways (a.wav, x/../a.wav).
    files = [os.path.normpath(pair.original) for pair in pairs]
    known = set(files)
    for pair, file in zip(pairs, files, strict=True):
        keys = [("file", file)]
        edited = os.path.normpath(pair.edited)
        keys += [("file", edited)] if edited in known else []
        keys += [("source", pair.source)] if pair.source else []
        digest = contents.get(pair.original)
        keys += [("content", digest)] if isinstance(digest, str) else []
        for key in keys:
            alike.add(key)
            alike.merge(keys[0], key)
        rows.append(keys[0])
    names: dict[tuple[str, str], str] = {}
    for kind in ("source", "file"):
        for key in sorted(key for key in alike if key[0] == kind):
            names.setdefault(alike[key], key[1])
    return [names[alike[key]] for key in rows]


def leaking(fold: Fold, pairs: Sequence[EditPair], contents: Contents) -> list[int]:
    """Rows of the test part whose original the training or validation part has as well.

    None of a fold that was drawn here; some of a published split that is used as it is.
    """
    originals = groups(pairs, contents)
    seen = {originals[row] for row in (*fold.train, *fold.validation)}
    return [row for row in fold.test if originals[row] in seen]


def holdout(
    pairs: Sequence[EditPair],
    contents: Contents = MappingProxyType({}),
    by: SplitBy = "original",
    test_share: float = 0.1,
    validation_share: float = 0.1,
    seed: int = SEED,
) -> list[Fold]:
    """One fold: the paper's 9:1 for testing, and a validation part of what remains for training.

    Where the manifest states a `split`, that one is used as it is, and only a missing validation
    part is drawn from its training part: figures on it can be compared with published ones, and
    `leaking` tells what leaks in it. With `validation_share` 0 there is none: the schedule goes by
    the training loss, and the heads stay as their last epoch leaves them. A test part there always
    is. Groups without a rating test nothing, so none is drawn.
    """
    _check_share("test_share", test_share)
    if not test_share:
        raise UserError("data.split.test_share 0: expected more; a run reports on its test part")
    _check_share("validation_share", validation_share)
    labels = groups(pairs, contents, by)
    names = np.array(_rated(labels, pairs))
    np.random.default_rng(seed).shuffle(names)
    if any(pair.split for pair in pairs):
        originals = groups(pairs, contents)
        return [_as_published(pairs, labels, originals, names, validation_share)]
    if len(names) < 2 + (validation_share > 0):
        parts = "a train, a validation and a test part need 3"
        raise UserError(
            f"the pairs have {len(names)} different {by} group(s) with ratings; "
            f"{parts if validation_share else 'a train and a test part need 2'}"
        )
    test = max(1, round(test_share * len(names)))
    validation = _validation_size(validation_share, len(names))
    return [
        _fold(
            "holdout",
            labels,
            groups(pairs, contents),
            set(names[:test]),
            set(names[test : test + validation]),
        )
    ]


def beside_people(
    pairs: Sequence[EditPair],
    contents: Contents = MappingProxyType({}),
    by: SplitBy = "original",
    test_share: float = 0.15,
    validation_share: float = 0.15,
    times: int = 4,
    seed: int = SEED,
) -> list[Fold]:
    """`holdout` of the rows that are of no listening test; those that are train.

    Being few, each of these stands `times` in the training part; those whose original is held out
    are left out.
    """
    whole("data.split.times", times)
    people = [row for row, pair in enumerate(pairs) if pair.listening_test is not None]
    others = [row for row, pair in enumerate(pairs) if pair.listening_test is None]
    (fold,) = holdout(
        [pairs[row] for row in others], contents, by, test_share, validation_share, seed
    )
    train, validation, test = ([others[row] for row in part] for part in fold[1:])
    originals = groups(pairs, contents)
    held_out = {originals[row] for row in (*validation, *test)}
    kept = [row for row in people if originals[row] not in held_out]
    _warn_of_left_out(fold.name, len(people) - len(kept))
    return [Fold(fold.name, [*train, *kept * times], validation, test)]


def leave_one_out(
    pairs: Sequence[EditPair],
    contents: Contents = MappingProxyType({}),
    by: SplitBy = "talker",
    validation_share: float = 0.0,
    seed: int = SEED,
) -> list[Fold]:
    """One fold per group, which is its test part; every row of it is tested exactly once.

    Groups without a rating test nothing, so none is left out. A fold is called as its group is, or
    by its number where one of these is no name of a folder.
    `validation_share` of the other groups (at least one, if above 0) choose the best epoch; with 0
    the fixed schedule ends the training.
    """
    _check_share("validation_share", validation_share)
    labels = groups(pairs, contents, by)
    names = _rated(labels, pairs)
    if len(names) < 2 + (validation_share > 0):
        raise UserError(f"leaving one {by} out needs more than {len(names)} of them with ratings")
    folds, originals = [], groups(pairs, contents)
    for index, (name, called) in enumerate(zip(names, _folders(names), strict=True)):
        others = np.array([other for other in names if other != name])
        np.random.default_rng([seed, index]).shuffle(others)
        count = _validation_size(validation_share, len(others))
        folds.append(_fold(called, labels, originals, {name}, set(others[:count])))
    return folds


def adaptation(
    pairs: Sequence[EditPair],
    contents: Contents = MappingProxyType({}),
    by: SplitBy = "talker",
    times: int = 8,
    folds: int | None = None,
    validation_share: float = 0.1,
    seed: int = SEED,
) -> list[Fold]:
    """Leave groups out of a listening test that is learned beside rows which always train.

    Rows with a stated `split` (`train`, as `combine` marks them) are never tested; a share of their
    sources chooses epochs and calibrates. Of the others each group is the test part of one fold
    and, being few, stands `times` in the training of the rest. `folds` deals the groups into so
    many folds instead of one each.
    """
    _check_share("validation_share", validation_share)
    whole("data.split.times", times)
    if folds is not None:
        whole("data.split.folds", folds, 2)
    always = [row for row, pair in enumerate(pairs) if pair.split is not None]
    rated = [row for row, pair in enumerate(pairs) if pair.split is None]
    sources = groups([pairs[row] for row in always], contents)
    labels = dict(zip(always, [f"always {source}" for source in sources], strict=True))
    labels.update(zip(rated, groups([pairs[row] for row in rated], contents, by), strict=True))
    names = sorted({labels[row] for row in rated})
    count = len(names) if folds is None else folds
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
    made, originals = [], groups(pairs, contents)
    called = _folders(names) if count == len(names) else _numbered(count)
    for index, name in enumerate(called):
        left_out = set(names[index::count])
        of_rows = [labels[row] for row in range(len(pairs))]
        fold = _fold(name, of_rows, originals, left_out, validation)
        repeated = [
            row for row in fold.train for _ in range(times if pairs[row].split is None else 1)
        ]
        made.append(fold._replace(train=repeated))
    return made


def _rated(labels: Sequence[str], pairs: Sequence[EditPair]) -> list[str]:
    """The groups that have a rating, or all where there is none, in order."""
    rated = {label for label, pair in zip(labels, pairs, strict=True) if pair.ratings}
    return sorted(rated or set(labels))


def _folders(names: Sequence[str]) -> Sequence[str]:
    """The names if all can be folders of a run; a path of an original would lead out of it."""
    return names if all(map(is_folder_name, names)) else _numbered(len(names))


def is_folder_name(name: object) -> bool:
    """Whether it is a text that names a folder within another."""
    return (
        isinstance(name, str)
        and Path(name).name == name
        and name not in ("", "..")
        and name.isprintable()
        and len(name.encode()) <= _LONGEST
    )


def _numbered(count: int) -> list[str]:
    return [f"fold{number + 1}" for number in range(count)]


def _check_share(name: str, share: float) -> None:
    if not (isinstance(share, (int, float)) and 0 <= share < 1):
        raise UserError(f"data.split.{name} {share!r}: expected a number from 0 to below 1")


def _validation_size(share: float, groups: int) -> int:
    """At least one group, unless no validation part is wanted."""
    return max(1, round(share * groups)) if share > 0 else 0


def _fold(
    name: str, labels: list[str], originals: list[str], test: set[str], validation: set[str]
) -> Fold:
    """Rows by group; rows whose original stands on a later side as well are left out.

    That happens only where groups share originals: systems that edited the same clips.
    """
    parts: tuple[list[int], list[int], list[int]] = ([], [], [])
    for row, label in enumerate(labels):
        parts[2 if label in test else 1 if label in validation else 0].append(row)
    seen: set[str] = set()
    for part in reversed(parts):
        kept = [row for row in part if originals[row] not in seen]
        seen.update(originals[row] for row in part)
        _warn_of_left_out(name, len(part) - len(kept))
        part[:] = kept
    _check_left(parts[0])
    return Fold(name, *parts)


def _check_left(train: Sequence[int]) -> None:
    if not train:
        raise UserError(
            "no pair is left to train on: every original stands in the test or validation part"
        )


def _warn_of_left_out(name: str, rows: int) -> None:
    if rows:
        said = "%s: %d rows share an original with a held-out part and are left out"
        log.warning(said, name, rows)


def _as_published(
    pairs: Sequence[EditPair],
    labels: list[str],
    originals: list[str],
    names: np.ndarray,
    validation_share: float,
) -> Fold:
    """The publisher's parts; where there is no validation part, one is drawn of the training part,
    and shares no original with what is left of it."""
    parts: dict[str | None, list[int]] = {"train": [], "validation": [], "test": []}
    for row, pair in enumerate(pairs):
        if pair.split is None:
            raise UserError(f"pair {pair.id!r} has no split, but others of its manifest have one")
        parts[pair.split].append(row)
    train, validation, test = parts.values()
    for part, found in (("train", train), ("test", test)):
        if not found:
            raise UserError(f"the manifest states a split, but none of its pairs is in `{part}`")
    if not validation:
        trained = {labels[row] for row in train}
        there = [name for name in names if name in trained]
        drawn = set(there[: _validation_size(validation_share, len(there))])
        validation = [row for row in train if labels[row] in drawn]
        held = {originals[row] for row in validation}
        others = [row for row in train if labels[row] not in drawn]
        train = [row for row in others if originals[row] not in held]
        _warn_of_left_out("published", len(others) - len(train))
        _check_left(train)
    return Fold("published", train, validation, test)
