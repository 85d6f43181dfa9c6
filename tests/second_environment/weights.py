"""Checkpoints of the originals without their weights: seeded numbers, small tokenizers, clips.

Needs numpy and torch only, and gives the same numbers in every environment: what is drawn here are
raw bits of PCG64 and exact products, never a library's distribution.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

REFERENCES = Path(__file__).resolve().parents[1] / "features" / "clap" / "references"
SEED = 20240607

CAPTIONS = (
    "a dog barks twice",
    "rain falls on a tin roof while thunder rolls far away",
    "A woman laughs, then speaks calmly.",
    "engine",
    "glass breaks; footsteps on gravel (24 steps)",
    "ein Café, leise Stimmen – und ein Zug",
    # "!" has the id 0 in GPT-2's vocabulary, which msclap pads with.
    'Help ! A man shouts "stop!!" and a siren wails!',
    # Longer than LAION's 77 tokens and Microsoft's 77 and 100.
    "birds sing in the garden, an old train passes behind the house, children are playing and "
    "laughing, somebody hammers on wood, a church bell rings seven times, wind blows in the "
    "microphone, and at the end a car door is closed and an engine starts",
)
"""What the text towers read; the last but one holds the pad token of Microsoft 2023."""

REAL_CLIPS = (
    "esc10/dog_bark/1-100032-A.ogg",
    "esc10/rain/1-17367-A.ogg",
    "esc10/chainsaw/1-116765-A.ogg",
    "librispeech10/1089-134686-0007.flac",
    "librispeech10/1188-133604-0013.flac",
    "emodb_subset/03a02Nc.flac",
    "emodb_subset/08b03Tc.flac",
    "p835/fb/c5_m2.flac",
)
"""Recordings beside the repository: 5 s of sounds, speech of 1.4 s to 9 s."""


class Format(NamedTuple):
    """How one of the originals hears: its rate, its window, and how it fills a short one."""

    rate_hz: int
    window_seconds: int
    fill: str
    tokenizer: str


LAION = Format(48000, 10, "repeat whole, then zeros", "roberta-base")
FORMATS = {
    "laion-htsat-tiny": LAION,
    "laion-htsat-base": LAION,
    "laion-htsat-tiny-fused": LAION,
    "ms-clap-2023": Format(44100, 7, "repeat and cut", "gpt2"),
    "ms-clap-2022": Format(44100, 5, "repeat and cut", "bert-base-uncased"),
}


class Reference(NamedTuple):
    """What an original made of the clips and captions, and what its file is rebuilt from.

    `synthetic`, `real`, `text` :: float32 (2, D), (8, D), (8, D), unit norm; `layout` is upstream
    key -> shape; `mel_bank` :: (513, 64) where the file's own bank is used, else None.
    """

    synthetic: np.ndarray
    real: np.ndarray
    text: np.ndarray
    layout: dict[str, tuple[int, ...]]
    seed: int
    mel_bank: np.ndarray | None

    def save(self, path: Path) -> None:
        """The same bytes for the same numbers."""
        layout = json.dumps({"seed": self.seed, "layout": self.layout}, separators=(",", ":"))
        arrays = {"synthetic": self.synthetic, "real": self.real, "text": self.text}
        if self.mel_bank is not None:
            arrays["mel_bank"] = self.mel_bank
        arrays["layout"] = np.frombuffer(layout.encode(), np.uint8)
        np.savez_compressed(path, **arrays)

    @classmethod
    def load(cls, path: Path) -> Reference:
        with np.load(path, allow_pickle=False) as held:
            about = json.loads(held["layout"].tobytes())
            return cls(
                held["synthetic"],
                held["real"],
                held["text"],
                {key: tuple(shape) for key, shape in about["layout"].items()},
                about["seed"],
                held.get("mel_bank"),
            )

    def state(self) -> dict[str, torch.Tensor]:
        """The upstream state dict; constants of the front end other than `mel_bank` are zeros."""
        fixed = {}
        if self.mel_bank is not None:
            fixed = {key: self.mel_bank for key in self.layout if key.endswith(".melW")}
        return state(self.layout, self.seed, fixed)


def state(
    layout: Mapping[str, tuple[int, ...]], seed: int, fixed: Mapping[str, np.ndarray]
) -> dict[str, torch.Tensor]:
    """Upstream key -> tensor: `fixed` where given, else what the layout implies, else seeded.

    No parameter is a neutral one: a network with two of them swapped gives other numbers.
    """
    made = {}
    for key, shape in layout.items():
        value = np.array(fixed[key]) if key in fixed else _implied(key, shape)
        if value is None:
            value = _drawn(key, shape, seed)
        made[key] = torch.from_numpy(np.asarray(value).reshape(shape))
    return made


def is_constant(key: str) -> bool:
    """Whether the originals compute this tensor of the front end or the attention themselves."""
    return bool(re.search(r"spectrogram_extractor\.|logmel_extractor\.|\.attn_mask$", key))


def _implied(key: str, shape: tuple[int, ...]) -> np.ndarray | None:
    """Values that follow from key and shape; None for a parameter."""
    name = key.rsplit(".", 1)[-1]
    if name == "relative_position_index":
        return _relative_positions(round(shape[0] ** 0.5))
    if name == "position_ids":
        return np.arange(shape[-1])
    if name == "num_batches_tracked":
        return np.array(1000)
    if key.endswith(".attn.bias") and len(shape) == 4:  # GPT-2's causal mask in older files
        return np.tril(np.ones(shape, bool))
    if name == "masked_bias":
        return np.array(-1e4, np.float32)
    return np.zeros(shape, np.float32) if is_constant(key) else None


def _relative_positions(window: int) -> np.ndarray:
    """Row of the bias table for each pair of places in a window :: (window^2, window^2)."""
    row, column = np.divmod(np.arange(window**2), window)
    down = row[:, None] - row[None, :] + window - 1
    right = column[:, None] - column[None, :] + window - 1
    return down * (2 * window - 1) + right


def _drawn(key: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Seeded parameter, of a size that keeps activations near one.

    The weights of one output sum to zero where there are many: without, units that are never
    negative push every clip's embedding to the same place.
    """
    steps = _steps(f"{seed} {key}", int(np.prod(shape, dtype=np.int64)))
    axis, inputs = _inputs(key, shape)
    if inputs >= _MANY_INPUTS:
        steps = steps.reshape((-1, inputs) if axis else (inputs, -1))
        steps -= steps.sum(axis=axis, keepdims=True) // inputs
    middle, spread = _range(key, inputs)
    values = _uniform(steps)  # in place from here on: there are a hundred million of them
    values *= np.float32(spread)
    values += np.float32(middle)
    return values.reshape(shape)


_MANY_INPUTS = 64


def _steps(name: str, count: int) -> np.ndarray:
    """Whole numbers of [-2^23, 2^23) that follow from the name :: int64 (count,)."""
    source = int.from_bytes(hashlib.sha256(name.encode()).digest()[:16], "big")
    bits = np.random.PCG64(source).random_raw(count)
    bits >>= np.uint64(40)
    steps = bits.view(np.int64)
    steps -= 2**23
    return steps


def _uniform(steps: np.ndarray) -> np.ndarray:
    values = steps.astype(np.float32)
    values *= np.float32(2.0**-23)
    return values


def _inputs(key: str, shape: tuple[int, ...]) -> tuple[int, int]:
    """Axis and count of the inputs that a matrix sums over; a count of 0 for all others."""
    if len(shape) < 2 or re.search(r"embeddings\.weight$|bias_table$|\bw[tp]e\.", key):
        return 1, 0
    # GPT-2 keeps its matrices transposed: inputs first.
    if re.search(r"\.c_(attn|proj|fc)\.weight$", key):
        return 0, shape[0]
    return 1, int(np.prod(shape[1:]))


def _range(key: str, inputs: int) -> tuple[float, float]:
    """Middle and half width of a parameter's values."""
    name = key.rsplit(".", 1)[-1]
    if inputs:
        return 0, float(np.sqrt(3 / inputs))
    if ".bn0.running" in key:  # log-mel power in dB
        return (-20, 10) if name == "running_mean" else (250, 100)
    if name == "running_mean":
        return 0, 0.3
    if name == "running_var":
        return 0.55, 0.25
    if name.startswith("logit_scale"):
        return 2.66, 0.3
    if name == "relative_position_bias_table":
        return 0, 3
    if re.search(r"embeddings\.weight$|\bw[tp]e\.", key):
        return 0, 1.5
    return (1, 0.2) if name == "weight" else (0, 0.2)


def write_original(path: Path, name: str, tensors: Mapping[str, torch.Tensor]) -> None:
    """A checkpoint file in the format in which the authors publish theirs."""
    content: dict[str, Any] = {"model": dict(tensors)}
    if name.startswith("laion"):
        group = {"lr": np.float64(1e-4), "params": [0]}
        content = {
            "epoch": 45,
            "name": name,
            "optimizer": {"state": {0: {"step": 1}}, "param_groups": [group]},
            "state_dict": {f"module.{key}": value for key, value in tensors.items()},
        }
    torch.save(content, path)


def first_window(samples: np.ndarray, form: Format) -> np.ndarray:
    return samples[: form.rate_hz * form.window_seconds]


def filled(samples: np.ndarray, form: Format) -> np.ndarray:
    """One whole window of a shorter clip, filled as the original fills it."""
    length = form.rate_hz * form.window_seconds
    if form.fill == "repeat and cut":
        return np.resize(samples, length)
    whole = np.tile(samples, length // len(samples))
    return np.pad(whole, (0, length - len(whole)))


def synthetic_clips(rate_hz: int) -> list[np.ndarray]:
    """Noise bursts of 2.3 s and 4.7 s, mono float32 at any rate."""
    clips = []
    for index, seconds in enumerate((2.3, 4.7)):
        length = round(seconds * rate_hz)
        noise = _uniform(_steps(f"clip {index}", length)).astype(np.float64)
        # A moving sum of the noise is lower and softer; bursts of both alternate and fade out.
        low = np.convolve(noise, np.full(16, 0.25), mode="same")
        burst, place = np.divmod(np.arange(length), rate_hz // (3 + index))
        fading = np.maximum(0, 1 - place / (0.2 * rate_hz))
        clips.append((0.2 * np.where(burst % 2 == 0, noise, low) * fading).astype(np.float32))
    return clips


def real_clips(folder: Path, form: Format) -> list[np.ndarray]:
    """First windows of `REAL_CLIPS` under `folder`, at the original's rate."""
    from auditeval import audio

    return [
        first_window(audio.resample(audio.decode(folder / name), form.rate_hz), form)
        for name in REAL_CLIPS
    ]


def write_tokenizers(folder: Path) -> None:
    """Small local tokenizers: `roberta-base`, `facebook/bart-base`, `gpt2`, `bert-base-uncased`.

    Byte-level ones hold every byte and a few merges, one of which takes in the "!".
    """
    pieces = [*_byte_letters(), *("".join(pair) for pair in _MERGES)]
    merges = "\n".join(["#version: 0.2", *(" ".join(pair) for pair in _MERGES), ""])
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    byte_level = {
        "roberta-base": [*special, *pieces, "<mask>"],
        "facebook/bart-base": [*special, *pieces, "<mask>"],
        "gpt2": [*pieces, "<|endoftext|>"],
    }
    for name, words in byte_level.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        numbered = json.dumps({word: index for index, word in enumerate(words)})
        (folder / name / "vocab.json").write_text(numbered, encoding="utf-8")
        (folder / name / "merges.txt").write_text(merges, encoding="utf-8")
    (folder / "bert-base-uncased").mkdir(exist_ok=True)
    words = "\n".join([*_bert_words(), ""])
    (folder / "bert-base-uncased" / "vocab.txt").write_text(words, encoding="utf-8")


_MERGES = [
    *(("Ġ", letter) for letter in "ast!"),
    *(("i", "n"), ("e", "r"), ("!", "!"), ("o", "n"), ("r", "e")),
    *(("Ġa", "n"), ("in", "g"), ("Ġt", "h"), ("Ġan", "d")),
]


def vocabulary_size(tokenizer: str) -> int:
    """Tokens of one of the small tokenizers."""
    if tokenizer == "bert-base-uncased":
        return len(list(_bert_words()))
    return 256 + len(_MERGES) + (1 if tokenizer == "gpt2" else 5)


def _byte_letters() -> list[str]:
    """A printable letter for each byte, in GPT-2's order: printable Latin-1 first ("!" is 0)."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = sorted(set(range(256)) - set(plain))
    return [*map(chr, plain), *(chr(256 + index) for index in range(len(others)))]


def _bert_words() -> Iterator[str]:
    yield from ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    yield from "!\"'(),-.:;?"
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    yield from letters
    yield from (f"##{letter}" for letter in letters)
    yield from ("the", "and", "dog", "bark", "rain", "engine", "##s", "##ing", "##er")
