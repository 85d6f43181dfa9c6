"""What the language model reads: two clips and the prompt [arXiv:2508.11966, Appendix H]."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import torch
from torch import Tensor

from auditeval.features.asked import asked
from auditeval.types import EditPair, UserError

Order = Literal["audio_first", "text_first"]
PROMPT = Path(__file__).with_name("prompt.txt").read_text(encoding="utf-8")
"""Figures 6 and 7, with the line breaks of the authors' data; CC BY 4.0, Jia et al."""

_AUDIO = "<|audio_bos|>{original}<|audio_eos|><|audio_bos|>{edited}<|audio_eos|>"


def check_order(order: str) -> None:
    """Raises UserError for what is none."""
    if order not in get_args(Order):
        raise UserError(f"order {order!r} is none of {', '.join(get_args(Order))}")


class PairRow(NamedTuple):
    """One pair, ready to be read.

    `ids` :: int64 (L,), with one placeholder for each audio token; `original`, `edited` :: float
    (T, hidden), their tokens. In text-first order `ids` begin behind the common prefix.
    """

    ids: np.ndarray
    original: np.ndarray
    edited: np.ndarray


class Batch(NamedTuple):
    """B pairs, filled up to the longest one of them.

    `ids` :: (B, L); `mask` :: (B, L), 1 where there is a token; `audio` :: (sum of T, hidden), the
    audio tokens of all clips in the order of their placeholders. Either side may be filled.
    """

    ids: Tensor
    mask: Tensor
    audio: Tensor

    @classmethod
    def stack(cls, rows: Sequence[PairRow]) -> Batch:
        length = max(len(row.ids) for row in rows)
        ids = torch.zeros(len(rows), length, dtype=torch.long)
        mask = torch.zeros(len(rows), length, dtype=torch.long)
        for index, row in enumerate(rows):
            ids[index, : len(row.ids)] = torch.from_numpy(row.ids)
            mask[index, : len(row.ids)] = 1
        clips = [torch.from_numpy(clip) for row in rows for clip in (row.original, row.edited)]
        return cls(ids, mask, torch.cat(clips))

    def to(self, device: torch.device) -> Batch:
        return Batch(*(part.to(device) for part in self))


class InputBuilder:
    """Turns captions and audio tokens into `PairRow`s.

    `audio_first` is what the authors trained: original, edited, then the prompt with both captions
    and a newline, at which the scores are read; no chat template, no end token. `text_first` puts
    the prompt in front and the newline behind the clips: all that stands before the first caption
    is then the same for every pair (`prefix`), but it is another model.

    `max_tokens` bounds a pair, prefix included; one that is longer is refused, never cut.
    """

    def __init__(self, tokenizer: Any, audio_token: int, order: Order, max_tokens: int) -> None:
        check_order(order)
        self._tokenizer, self._audio_token = tokenizer, audio_token
        self._special = sorted(tokenizer.get_added_vocab())
        self._order, self._max_tokens = order, max_tokens
        start, self._rest = PROMPT.split("{original_caption}")
        self._rest = "{original_caption}" + self._rest
        self.prefix = self._ids(start) if order == "text_first" else self._ids("")

    def row(self, pair: EditPair, original: np.ndarray, edited: np.ndarray) -> PairRow:
        """A pair with the tokens of its clips; raises what `ids` raises."""
        return PairRow(self.ids(pair, len(original), len(edited)), original, edited)

    def ids(self, pair: EditPair, original: int, edited: int) -> np.ndarray:
        """Token ids for clips of that many audio tokens; see PairRow.

        Raises UserError for an empty caption, and for more than `max_tokens`.
        """
        ids = self._ids(self._text(pair, original, edited))
        total = len(self.prefix) + len(ids)
        if total > self._max_tokens:
            raise UserError(
                f"the pair is {total} tokens long, {original + edited} of them audio (25 a "
                f"second), and {self._max_tokens} are allowed: shorten the clips or raise "
                "max_tokens"
            )
        # One too few is no error in transformers, but shifts every token behind it.
        assert int((ids == self._audio_token).sum()) == original + edited
        return ids

    def _text(self, pair: EditPair, original: int, edited: int) -> str:
        captions: list[str] = []
        read = asked(pair.original_caption, pair.target_caption, pair.instruction or "")
        for side in ("original_caption", "target_caption"):
            if not (caption := getattr(read, side).strip()):
                raise UserError(f"{side} is empty, and there is no instruction")
            if found := [token for token in self._special if token in caption]:
                raise UserError(f"{side} holds {found[0]}, which is no word to the model")
            captions.append(caption)
        audio = _AUDIO.format(original="<|AUDIO|>" * original, edited="<|AUDIO|>" * edited)
        template = PROMPT if self._order == "audio_first" else self._rest
        before, between = template.split("{original_caption}")
        between, after = between.split("{target_caption}")
        prompt = f"{before}{captions[0]}{between}{captions[1]}{after}"
        return audio + prompt if self._order == "audio_first" else f"{prompt}{audio}\n"

    def _ids(self, text: str) -> np.ndarray:
        ids = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return np.array(ids, dtype=np.int64)
