"""What the language model reads: the authors' order, every placeholder counted, nothing cut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auditeval.models.omni.inputs import PROMPT, Batch, InputBuilder
from auditeval.pretrained.qwen_omni import Base, open_base
from auditeval.types import EditPair, UserError


@pytest.fixture(scope="module")
def base(tiny_omni: Path) -> Base:
    return open_base(str(tiny_omni))


def builder(base: Base, order: Any = "audio_first", max_tokens: int = 4096) -> InputBuilder:
    return InputBuilder(base.tokenizer(), base.config.audio_token_index, order, max_tokens)


def pair(before: str = "Rain falls.", after: str = "Rain falls, a dog barks.") -> EditPair:
    return EditPair(
        id="1",
        original=Path("a.wav"),
        edited=Path("b.wav"),
        original_caption=before,
        target_caption=after,
    )


def tokens(count: int, value: float = 0.0) -> np.ndarray:
    return np.full((count, 32), value, np.float32)


def test_the_authors_order(base: Base) -> None:
    row = builder(base).row(pair(), tokens(3), tokens(2))
    expected = (
        "<|audio_bos|><|AUDIO|><|AUDIO|><|AUDIO|><|audio_eos|>"
        "<|audio_bos|><|AUDIO|><|AUDIO|><|audio_eos|>"
        "You are a professional audio editing quality evaluator.\n\nYou will be given:\n"
    )
    text = base.tokenizer().decode(row.ids)
    assert text.startswith(expected)
    assert text.endswith(
        "heavily altered or missing.\n\nOriginal Caption:\nRain falls.\n\n"
        "Target Caption:\nRain falls, a dog barks.\n"
    )
    assert base.tokenizer().decode(row.ids[-1:]) == "\n"  # where the scores are read
    assert len(builder(base).prefix) == 0


def test_the_text_first_order_has_the_same_words(base: Base) -> None:
    made = builder(base, "text_first")
    row = made.row(pair(), tokens(3), tokens(2))
    before, after = (base.tokenizer().decode(ids) for ids in (made.prefix, row.ids))
    assert before == PROMPT.split("{original_caption}")[0]
    assert after == (
        "Rain falls.\n\nTarget Caption:\nRain falls, a dog barks.\n"
        "<|audio_bos|><|AUDIO|><|AUDIO|><|AUDIO|><|audio_eos|>"
        "<|audio_bos|><|AUDIO|><|AUDIO|><|audio_eos|>\n"
    )
    # Cut behind a line break, the prompt has the tokens that it has as a whole.
    whole = base.tokenizer()(before + after)["input_ids"]
    assert [*made.prefix, *row.ids] == whole


def test_the_prompt_is_that_of_the_paper() -> None:
    assert PROMPT.count("{original_caption}") == PROMPT.count("{target_caption}") == 1
    for words in (
        "1. Quality (1–5):",
        "2. Relevance (1–5):",
        "3. Faithfulness (1–5):",
        "- 5: As good as or better than the original, with clear, fluent, and natural audio.",
        "- 1: Unedited content is heavily altered or missing.",
    ):
        assert words in PROMPT
    assert [PROMPT.count(f"- {score}: ") for score in (5, 4, 3, 2, 1)] == [3] * 5


def test_a_caption_does_not_begin_or_end_in_space(base: Base) -> None:
    plain = builder(base).row(pair(), tokens(1), tokens(1))
    spaced = builder(base).row(
        pair(" Rain falls.\n", "Rain falls, a dog barks. \n"), tokens(1), tokens(1)
    )
    assert spaced.ids.tolist() == plain.ids.tolist()


def test_braces_in_a_caption_are_words(base: Base) -> None:
    row = builder(base).row(
        pair("A {target_caption} {x} {", "B {original_caption}"), tokens(1), tokens(1)
    )
    text = base.tokenizer().decode(row.ids)
    assert text.endswith(
        "Original Caption:\nA {target_caption} {x} {\n\nTarget Caption:\nB {original_caption}\n"
    )


@pytest.mark.parametrize("order", ["audio_first", "text_first"])
def test_an_over_long_pair_is_refused_at_the_token(base: Base, order: str) -> None:
    long = builder(base, order)
    total = len(long.prefix) + len(long.row(pair(), tokens(60), tokens(50)).ids)
    assert builder(base, order, total).row(pair(), tokens(60), tokens(50))
    with pytest.raises(UserError) as caught:
        builder(base, order, total - 1).row(pair(), tokens(60), tokens(50))
    assert str(caught.value) == (
        f"the pair is {total} tokens long, 110 of them audio (25 a second), and {total - 1} are "
        "allowed: shorten the clips or raise max_tokens"
    )


@pytest.mark.parametrize(
    ("captions", "sentence"),
    [
        (("", "x"), "original_caption is empty"),
        (("x", "  "), "target_caption is empty"),
        (("a <|AUDIO|> b <|AUDIO|>", "x"), "original_caption holds <|AUDIO|>, which is no word"),
        (("x", "a<|endoftext|>"), "target_caption holds <|endoftext|>, which is no word"),
    ],
)
def test_captions_that_cannot_be_read(base: Base, captions: tuple[str, str], sentence: str) -> None:
    with pytest.raises(UserError, match="^" + sentence.replace("|", r"\|")):
        builder(base).row(pair(*captions), tokens(1), tokens(1))


def test_an_instruction_is_read_as_captions_that_tell_the_same(base: Base) -> None:
    told = pair("Rain and a dog", "").model_copy(update={"instruction": "Remove the dog."})
    said = pair("Rain and a dog", "Rain")
    rows = [builder(base).row(x, tokens(2), tokens(1)).ids.tolist() for x in (told, said)]
    assert rows[0] == rows[1]


def test_another_order_is_refused(base: Base) -> None:
    with pytest.raises(UserError, match="order 'random' is none of audio_first, text_first"):
        builder(base, "random")


def test_a_batch_is_filled_to_its_longest_pair_and_keeps_the_audio_in_order(base: Base) -> None:
    made = builder(base)
    rows = [
        made.row(pair(), tokens(3, 1), tokens(2, 2)),
        made.row(pair(), tokens(7, 3), tokens(1, 4)),
    ]
    batch = Batch.stack(rows)
    assert batch.ids.shape == batch.mask.shape == (2, len(rows[1].ids))
    assert batch.mask.sum(dim=1).tolist() == [len(row.ids) for row in rows]
    assert batch.audio[:, 0].tolist() == [1.0] * 3 + [2.0] * 2 + [3.0] * 7 + [4.0]
    assert int((batch.ids == base.config.audio_token_index).sum()) == len(batch.audio)
