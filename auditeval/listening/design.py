"""Which trials a rater gets, in which order: blocks, balance, hidden repeats, attention items."""

from __future__ import annotations

import json
import secrets
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from auditeval.listening import selection
from auditeval.listening.settings import Settings
from auditeval.listening.votes_database import Rater, Trial, VotesDatabase
from auditeval.player.captions import words
from auditeval.types import AXES, Axis, EditPair

FORMS: dict[str, dict[Axis, float]] = {
    "pair": {},
    "identity": {"quality": 5, "relevance": 5, "faithfulness": 5},
    "noise": {"quality": 1, "relevance": 1, "faithfulness": 1},
    "wrong": {"relevance": 1},
    "ignored": {"quality": 5, "relevance": 1, "faithfulness": 5},
}
"""What is played as the edit of a pair, and the grades that are known of it.

The pair's own edit; the original itself, with nothing asked; noise of the original's level; the
pair's edit beside what was asked of another; the original itself, with the edit asked.
"""
TRAINING = ("identity", "noise", "ignored")
ATTENTION = ("identity", "noise", "wrong")
_LOOKED_AT = 50  # pairs whose words are compared to find one that asks for something else


class Planned(NamedTuple):
    """A trial before it has a place and names."""

    kind: str
    form: str
    pair: int
    other: int | None = None


def williams(items: int) -> list[list[int]]:
    """Orders of `items` in which each has each place, and each neighbour before it, equally often.

    `items` rows where that is even, twice as many where it is odd [Williams 1949, Experimental
    designs balanced for the estimation of residual effects of treatments].

    >>> williams(4)
    [[0, 3, 1, 2], [1, 0, 2, 3], [2, 1, 3, 0], [3, 2, 0, 1]]
    """
    first, low, high = [0], 1, items - 1
    while len(first) < items:
        first.append(high if len(first) % 2 else low)
        low, high = (low, high - 1) if len(first) % 2 == 0 else (low + 1, high)
    rows = [[(item + shift) % items for item in first] for shift in range(items)]
    return rows if items % 2 == 0 else rows + [row[::-1] for row in rows]


def blocks(pairs: Sequence[EditPair], size: int, seed: int) -> list[int]:
    """The fixed block of each pair: `size` pairs or one fewer, systems spread evenly over them."""
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(len(pairs)).tolist()
    dealt = sorted(shuffled, key=lambda number: pairs[number].system or "")
    count = -(-len(pairs) // size)
    found = [0] * len(pairs)
    for place, number in enumerate(dealt):
        found[number] = place % count
    return found


def next_block(database: VotesDatabase, settings: Settings, rater: Rater) -> list[Trial]:
    """Give a rater the training items, or one more block; empty where nothing is left for them."""
    with database.transaction() as write:
        earlier = database.trials(rater)
        if not earlier and settings.training:
            # Practice is for who has a turn: others may hold all places.
            is_needed = bool(_block(database, settings, rater, earlier, 1))
            planned, block = _training(database, settings, rater) if is_needed else [], 0
        else:
            block = max([trial.block for trial in earlier], default=0) + 1
            planned = _block(database, settings, rater, earlier, block)
        for place, item in enumerate(planned, start=len(earlier)):
            values: dict[str, Any] = {
                "token": secrets.token_urlsafe(12),
                "rater": rater.number,
                "position": place,
                "block": block,
                **item._asdict(),
                "original": secrets.token_urlsafe(12),
                "edited": secrets.token_urlsafe(12),
                "given": time.time(),
            }
            places = ", ".join("?" * len(values))
            query = f"INSERT INTO trials ({', '.join(values)}) VALUES ({places})"
            write.execute(query, list(values.values()))
    return database.trials(rater)[len(earlier) :]


def _training(database: VotesDatabase, settings: Settings, rater: Rater) -> list[Planned]:
    pair = int(np.random.default_rng(settings.seed).integers(len(database.pairs)))
    return [Planned("training", form, pair) for form in TRAINING]


def _block(
    database: VotesDatabase, settings: Settings, rater: Rater, earlier: list[Trial], block: int
) -> list[Planned]:
    rated = [trial.pair for trial in earlier if trial.kind == "rating"]
    left = (settings.most_trials or 10**6) - sum(trial.kind != "training" for trial in earlier)
    extra = settings.attention_share + settings.repeat_share
    room = min(settings.block, max(int(left / (1 + extra)), 0 if rated else 1))
    rng = np.random.default_rng([settings.seed, rater.number, block])
    pick = _fixed if settings.order == "williams" else _selected
    pairs = pick(database, settings, set(rated), rng)[:room] if room > 0 else []
    if not pairs:
        return []
    planned = [Planned("rating", "pair", pair) for pair in pairs]
    repeats, attention = _beside(settings, len(pairs), left - len(pairs), rng)
    for _ in range(repeats):
        again = {item.pair for item in planned if item.kind == "repeat"}
        again |= {trial.pair for trial in earlier if trial.kind == "repeat"}
        heard = [pair for pair in [*rated, *pairs[: len(pairs) // 2]] if pair not in again]
        if heard:
            place = int(rng.integers((3 * len(planned) + 3) // 4, len(planned) + 1))
            planned.insert(place, Planned("repeat", "pair", int(rng.choice(heard))))
    for _ in range(attention):
        form = ATTENTION[int(rng.integers(len(ATTENTION)))]
        pair = int(rng.integers(len(database.pairs)))
        other = _asking_otherwise(database.pairs, pair, rng) if form == "wrong" else None
        if form == "wrong" and other is None:
            form = "noise"
        place = int(rng.integers(1, len(planned) + 1))
        planned.insert(place, Planned("attention", form, pair, other))
    return planned


def _beside(settings: Settings, pairs: int, most: int, rng: np.random.Generator) -> tuple[int, int]:
    """How many repeats and attention items stand beside so many pairs.

    Their shares, rounded up or down so that these are the means; the sum as well, so that a block
    that has room for the shares has room for what they become.
    """
    rounding = rng.random()
    both = int((settings.repeat_share + settings.attention_share) * pairs + rounding)
    repeats = min(int(settings.repeat_share * pairs + rounding), most)
    return repeats, min(both, most) - repeats


def _taken(database: VotesDatabase, settings: Settings) -> Counter[int]:
    """How many votes each pair has, together with the places that are still held for one.

    Who has finished is given no trial again, and holds none.
    """
    query = (
        "SELECT pair FROM trials JOIN raters ON rater = raters.number "
        "LEFT JOIN votes ON trial = trials.number WHERE kind = 'rating' AND cannot IS NULL "
        "AND (at IS NOT NULL OR (given > ? AND finished IS NULL))"
    )
    since = time.time() - 3600 * settings.hours_held
    return Counter(pair for (pair,) in database.rows(query, (since,)))


def is_complete(database: VotesDatabase, settings: Settings) -> bool:
    """Whether each pair has all of its votes."""
    query = (
        "SELECT pair FROM trials JOIN votes ON trial = trials.number "
        "WHERE kind = 'rating' AND cannot IS NULL"
    )
    made = Counter(pair for (pair,) in database.rows(query))
    return all(made[pair] >= settings.raters_per_pair for pair in database.pairs)


def _fixed(
    database: VotesDatabase, settings: Settings, rated: set[int], rng: np.random.Generator
) -> list[int]:
    """The pairs of the fixed block that fewest raters were given, by another row of its square."""
    taken = _taken(database, settings)
    of_block: dict[int, list[int]] = {}
    for number, block in database.rows("SELECT number, block FROM pairs ORDER BY number"):
        of_block.setdefault(block, []).append(number)
    query = (
        "SELECT pairs.block, COUNT(DISTINCT rater) FROM trials JOIN pairs ON pair = pairs.number "
        "WHERE kind = 'rating' GROUP BY pairs.block"
    )
    given = dict(database.rows(query))
    found: list[tuple[float, float, int, list[int]]] = []
    for block, pairs in of_block.items():
        wanted = {p for p in pairs if p not in rated and taken[p] < settings.raters_per_pair}
        if wanted:
            # A manifest goes system by system, and few raters use a part of the rows: a pair's item
            # is drawn and the rows are spread, so that no system has the early places.
            items = np.random.default_rng([settings.seed, block]).permutation(pairs).tolist()
            square = williams(len(items))
            raters = min(settings.raters_per_pair, len(square))
            row = square[given.get(block, 0) * len(square) // raters % len(square)]
            need = sum(taken[p] for p in wanted) / len(wanted)
            found.append((need, rng.random(), block, [items[i] for i in row if items[i] in wanted]))
    return min(found)[3] if found else []


def _selected(
    database: VotesDatabase, settings: Settings, rated: set[int], rng: np.random.Generator
) -> list[int]:
    """The pairs that `selection.order` wants most, in a seeded order."""
    taken, numbers = _taken(database, settings), list(database.pairs)
    known = standing(database, numbers)
    # Of each pair the votes that are wanted, less the places that are held.
    wanted = [
        0 if number in rated else settings.raters_per_pair - taken[number] + len(found.votes)
        for number, found in zip(numbers, known, strict=True)
    ]
    seed = int(rng.integers(2**31))
    best = selection.order(settings.select, settings.goal, known, wanted, seed)
    if settings.select == "balanced":  # over the votes to come as well: raters begin together
        best.sort(key=lambda place: taken[numbers[place]])
    chosen = [numbers[place] for place in best[: settings.block]]
    return [chosen[place] for place in rng.permutation(len(chosen))]


def standing(database: VotesDatabase, numbers: Sequence[int]) -> list[selection.Standing]:
    """What is known of these pairs: their votes so far and an evaluator's intervals."""
    query = (
        f"SELECT pair, name, {', '.join(AXES)} FROM votes JOIN trials ON trial = trials.number "
        "JOIN raters ON rater = raters.number WHERE kind = 'rating' AND cannot IS NULL "
        "ORDER BY trials.number"
    )
    votes: dict[int, list[tuple[float, ...]]] = {}
    raters: dict[int, list[str]] = {}
    for pair, rater, *grades in database.rows(query):
        votes.setdefault(pair, []).append(tuple(grades))
        raters.setdefault(pair, []).append(rater)
    intervals = dict(database.rows("SELECT number, intervals FROM pairs"))
    made = []
    for number in numbers:
        pair, known = database.pairs[number], intervals[number]
        low, high = np.array(json.loads(known)).T if known else (None, None)
        made.append(
            selection.Standing(
                pair.system or "",
                pair.operation or "",
                np.array(votes.get(number, []), float).reshape(-1, len(AXES)),
                low,
                high,
                raters.get(number, []),
            )
        )
    return made


def _asking_otherwise(
    pairs: dict[int, EditPair], number: int, rng: np.random.Generator
) -> int | None:
    """Of some pairs the one whose words have least in common with those of pair `number`."""
    own = {*words(pairs[number].original_caption)}.union(*_asked(pairs[number]))
    least, found = 1.0, None
    for place in rng.permutation(len(pairs))[:_LOOKED_AT].tolist():
        common = max((len(a & own) / len(a) for a in _asked(pairs[place])), default=1.0)
        if common < min(least, 0.5):
            least, found = common, place
    return found


def _asked(pair: EditPair) -> list[set[str]]:
    """The words of each text that says what the edit was to be; a rater reads all of them."""
    texts = (pair.instruction or "", pair.target_caption)
    return [found for text in texts if (found := {*words(text)})]
