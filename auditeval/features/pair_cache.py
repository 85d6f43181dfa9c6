"""Features of pairs, kept for those who ask again: to compare two clips takes as long as to encode
them, and trainings on one dataset ask for the same pairs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from safetensors.torch import load, save

from auditeval.features.comparison import REVISION
from auditeval.features.pair import PairFeatures
from auditeval.features.store import Failure, FeatureStore
from auditeval.types import EditPair


class PairCache:
    """What a store makes of pairs, in its cache by what both clips hold and what the words say.

    Entries are of one encoder, its device and one way to compare: another extractor, and another
    revision or other arguments of one, begin anew. Of a pair that has no features none are kept.
    The store has to be one that tells what it `heard`.
    """

    def __init__(self, store: FeatureStore) -> None:
        if store.heard is None:
            raise ValueError("the store was not asked to tell what it heard")
        self._store, self._heard = store, store.heard
        made_by = (extractor.made_by for extractor in store.encoder.extractors.values())
        # What is heard on demand alone, say, is one clip and another pair.
        arguments = json.dumps(store.encoder.arguments, sort_keys=True)
        self._entries = store.cache.beside("pairs", [REVISION, arguments, *made_by])

    def pairs(
        self, pairs: Sequence[EditPair], with_changed_words: bool = True
    ) -> list[PairFeatures | Failure]:
        """`FeatureStore.pairs` of the same, to the last bit.

        All files are decoded for their contents only where the first or the last pair is there: of
        a dataset most pairs are, or none.
        """
        rows: list[PairFeatures | Failure | None] = [None] * len(pairs)
        ends = [*pairs[:1], *pairs[1:][-1:]]
        if any(self._read(ends, with_changed_words)):
            rows = [*self._read(pairs, with_changed_words)]
        missing = [place for place, row in enumerate(rows) if row is None]
        made = self._store.pairs([pairs[place] for place in missing], with_changed_words)
        keys = self._keys([pairs[place] for place in missing], self._heard, with_changed_words)
        for place, key, row in zip(missing, keys, made, strict=True):
            rows[place] = row
            if key is not None and isinstance(row, PairFeatures):
                self._entries.write(key, save(row._asdict()))
        return [row for row in rows if row is not None]

    def _read(self, pairs: Sequence[EditPair], words: bool) -> list[PairFeatures | None]:
        contents = self._store.contents(
            path for pair in pairs for path in (pair.original, pair.edited)
        )
        keys = self._keys(pairs, contents, words)
        found = iter(self._entries.read_all([key for key in keys if key is not None]))
        entries = [None if key is None else next(found) for key in keys]
        return [None if entry is None else PairFeatures(**load(entry)) for entry in entries]

    def _keys(
        self, pairs: Sequence[EditPair], contents: dict[Path, str], words: bool
    ) -> list[str | None]:
        """Names of the entries; none of a pair with a file that could not be read."""
        keys: list[str | None] = []
        for pair in pairs:
            clips = contents.get(pair.original), contents.get(pair.edited)
            said = pair.original_caption, pair.target_caption, pair.instruction or ""
            key = hashlib.sha256(json.dumps([*clips, *said, words]).encode()).hexdigest()
            keys.append(None if None in clips else f"{key[:2]}/{key}")
        return keys
