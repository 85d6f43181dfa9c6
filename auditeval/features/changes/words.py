"""Which change of how a sound sounds words ask for, and by how much."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from scipy import special

from auditeval.data.change_words.vocabulary import CHANGES, EVENT, OPPOSITES
from auditeval.digests import sha256
from auditeval.features.changes.amounts import MEASURED, Amount, find_amount
from auditeval.features.changes.orders import in_full, orders
from auditeval.features.changes.plain import in_plain_words, of_a_part, told_outright
from auditeval.features.changes.polarity import direction, said_apart, terms
from auditeval.features.minilm import DIM, shared
from auditeval.features.named import qualities
from auditeval.features.wishes import wishes_event
from auditeval.types import UserError

WEIGHTS = Path(__file__).with_name("words.safetensors")
"""What recipes/change_words fitted."""

_FAR_OFF = re.compile(r" in the (?:distance|background)\b", re.I)
"""Of a sound that is to come: where, and not what is to become of others."""
_FACTS = "words"
_SURE = 1.6  # times the logits, which a penalty shrinks: log loss on held-out wordings is least
_EVENT, _LIKELY = CHANGES.index(EVENT), 0.5  # of a change: less does not stand against a wish
_CLEAR, _CLEAR_LEVEL = 0.9, 0.8  # of an order among several; of the levels of two sounds
_LEVELS = {"louder", "softer"}
_TERM = 0.7  # beside an embedding of length 1: what did best on wordings that are held out no more


class ChangeWords:
    """A multinomial logistic regression on a sentence, on what it says, and on which way.

    Its inputs :: MiniLM's embedding of the text (384); the same, times the text's direction, since
    antonyms are near each other ("less muffled"); which of the `terms` that it knows occur. English
    only. `minilm` is a folder that stands in for the package's; `weights` for the file that ships.
    """

    def __init__(self, minilm: str | None = None, weights: Path = WEIGHTS) -> None:
        self._minilm = shared(minilm)
        try:
            with safe_open(weights, "numpy") as file:
                facts = json.loads((file.metadata() or {})[_FACTS])
                classes, known = facts["changes"], facts["terms"]
                self._weight = file.get_tensor("weight").astype(np.float64)
                self._bias = file.get_tensor("bias").astype(np.float64)
            self.revision = f"{sha256(weights)[:12]}-{self._minilm.revision}"
        except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
            raise UserError(f"{weights}: are no weights of changes in words ({error})") from None
        if tuple(classes) != CHANGES:
            raise UserError(
                f"{weights}: was fitted for other changes than {', '.join(CHANGES)}; "
                "fit it anew with recipes/change_words"
            )
        if self._weight.shape != (len(CHANGES), 2 * DIM + len(known)):
            raise UserError(f"{weights}: its weights are not those of its terms")
        self._places = {term: place for place, term in enumerate(known)}

    def probabilities(self, text: str) -> np.ndarray:
        """How likely the text asks for each of CHANGES :: float32 (K,), of sum 1.

        All 0 where there is no word. A text that asks for two changes shares them out: its orders,
        where each surely asks for something and none for the opposite of another.
        """
        text = said_apart(text)
        listed = orders(text)
        in_parts = (
            (qualities(text), _LIKELY),
            ([one for part in listed for one in in_full(part)], _CLEAR),
            (listed, _CLEAR),
        )
        for parts, least in in_parts:
            if len(parts) > 1 and (shared := self._shared(parts, least)) is not None:
                return shared
        return self._of_one(text)

    def _shared(self, parts: Sequence[str], least: float) -> np.ndarray | None:
        """What parts ask for together, None where one asks for nothing, or two for opposites; but
        for louder and softer, which of one sound nobody asks."""
        rows = {int((row := self._of_one(part)).argmax()): row for part in parts}
        asked = {CHANGES[place] for place in rows}
        if asked >= _LEVELS:
            asked, least = asked - _LEVELS, _CLEAR_LEVEL
        unlike = asked.isdisjoint(OPPOSITES.get(change) for change in asked)
        if not unlike or any(row.max() <= least for row in rows.values()):
            return None
        return np.stack([*rows.values()]).mean(axis=0, dtype=np.float32)

    def _of_one(self, text: str) -> np.ndarray:
        text = in_plain_words(text)
        if (near := _FAR_OFF.sub("", text)) != text and wishes_event(near):
            text = near
        if not re.search(r"\w", text):
            return np.zeros(len(CHANGES), np.float32)
        in_part = of_a_part(text)
        if not in_part and (sure := told_outright(text)) is not None:
            return (np.array(CHANGES) == sure).astype(np.float32)
        row = inputs(text, self._minilm.sentence(text), self._places)
        found = special.softmax(_SURE * (self._weight @ row + self._bias)).astype(np.float32)
        elsewhere = in_part and CHANGES[int(found.argmax())] != "said"
        if elsewhere or (np.delete(found, _EVENT).max() < _LIKELY and wishes_event(text)):
            return (np.arange(len(CHANGES)) == _EVENT).astype(np.float32)
        return found

    def amounts(self, text: str) -> list[Amount]:
        """By how much, where the text says so, in each unit; see `find_amount`.

        Of several orders the amount of each, as far as it is one of what that asks for.
        """
        listed = [one for part in orders(said_apart(text)) for one in in_full(part)]
        parts = {part: amount for part in listed if (amount := find_amount(part))}
        if len(listed) < 2 or not parts:
            return [amount] if (amount := find_amount(text)) else []
        found: dict[str, Amount] = {}
        for part, amount in parts.items():
            if CHANGES[int(self._of_one(part).argmax())] in MEASURED[amount.unit]:
                found.setdefault(amount.unit, amount)
        return [*found.values()]


def inputs(text: str, sentence: np.ndarray, places: dict[str, int]) -> np.ndarray:
    """What the regression is given :: float64 (2 x 384 + terms,).

    `text` is as `said_apart` left it, `sentence` :: (384,) its embedding, `places` where a term is.
    """
    row = np.zeros(2 * DIM + len(places))
    row[:DIM] = sentence
    row[DIM : 2 * DIM] = direction(text) * sentence
    row[[2 * DIM + places[term] for term in terms(text) if term in places]] = _TERM
    return row


def metadata(known: Sequence[str]) -> dict[str, str]:
    """What the file of weights says of itself; one entry, for those of several have no order."""
    return {_FACTS: json.dumps({"changes": CHANGES, "terms": list(known)})}
