"""OmniRegressor: ratings read off the last token of a Qwen2.5-Omni [arXiv:2508.11966, 4.2]."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, cast

import torch
from torch import Tensor, nn

from auditeval.features.encoder import Clip
from auditeval.features.extractors.qwen_omni import tokens_of
from auditeval.features.store import Failure
from auditeval.models.mlp import mlp
from auditeval.models.model import Arguments, Foreign, Model
from auditeval.models.omni import swift
from auditeval.models.omni.inputs import Batch, InputBuilder, Order, PairRow, check_order
from auditeval.models.standardise import Standardise
from auditeval.pretrained.accelerators import Passes, memory_of
from auditeval.pretrained.qwen_omni import DTYPES, Base, open_base
from auditeval.types import AXES, EditPair, UserError

# "all-linear" would also train vocabulary head and towers, where those are loaded.
LORA_TARGETS = r"layers\.\d+\.(self_attn\.(q|k|v|o)_proj|mlp\.(gate|up|down)_proj)"
HEADS = ("linear", "mlp")
_TOKENS_A_PASS = 16384  # fifteen pairs of 10 s


class Clips(Protocol):
    """Where audio tokens come from: a FeatureStore, or what keeps them in memory."""

    def files(self, paths: Iterable[Path]) -> dict[Path, Clip | Failure]: ...


class OmniRegressor(Model):
    """Pairs to ratings :: Batch of B -> (B, 3), axes in AXES order, on the 1 to 5 scale.

    The language model of `base` (a folder or hub id of Qwen2.5-Omni, at `base_revision`) is frozen;
    LoRA of this rank on all its linear layers is trained (20.2M parameters at 7B), and the heads.
    `head` is "linear", one map to three numbers without bias as the authors ran it, or "mlp", three
    post-regression heads with `hidden` layers as the paper's text says, of a state on one scale
    (see `fit_scales`). Audio enters as tokens of `features.omni.extractor.OmniExtractor` of the
    same base: neither tower is part of this module.

    The base computes in `dtype`, LoRA and heads in float32; with `load_in_4bit` the base is kept in
    4 bits (NF4, package bitsandbytes, an accelerator). With rank 0 there is no LoRA.

    The state dict holds what is trained and no more. `arguments` (JSON values only) rebuilds the
    module; `fingerprint` in it is that of the base (see `Base.fingerprint`), and a base of another
    one raises UserError.
    """

    software = ("transformers", "peft")

    def __init__(
        self,
        base: str,
        base_revision: str | None = None,
        fingerprint: str | None = None,
        head: Literal["linear", "mlp"] = "linear",
        hidden: Sequence[int] = (512,),
        rank: int = 8,
        alpha: float = 32,
        dropout: float = 0.05,
        order: Order = "audio_first",
        max_tokens: int = 4096,
        dtype: str = "bfloat16",
        load_in_4bit: bool = False,
    ) -> None:
        super().__init__()
        _check(dtype, head, hidden, rank, alpha, dropout, order, max_tokens, load_in_4bit)
        opened = open_base(base, base_revision)
        found = opened.fingerprint()
        if fingerprint not in (None, found):
            raise UserError(
                f"was trained on a base with fingerprint {fingerprint}, {base} has {found}: it is "
                "another base, or the same one trained further"
            )
        self.arguments = {
            "base": opened.name,
            "base_revision": opened.revision,
            "fingerprint": found,
            "head": head,
            "hidden": list(hidden),
            "rank": rank,
            "alpha": alpha,
            "dropout": dropout,
            "order": order,
            "max_tokens": max_tokens,
            "dtype": dtype,
            "load_in_4bit": load_in_4bit,
        }
        audio_token = opened.config.audio_token_index
        self.inputs = InputBuilder(opened.tokenizer(), audio_token, order, max_tokens)
        self._audio_token = audio_token
        options = _four_bits(DTYPES[dtype]) if load_in_4bit else {}
        self.language_model = opened.language_model(DTYPES[dtype], **options)
        if rank:
            _add_lora(self.language_model, rank, alpha, dropout)
        size = opened.config.text_config.hidden_size
        self.heads = nn.ModuleDict(
            {"scores": nn.Linear(size, len(AXES), bias=False)}
            if head == "linear"
            else {"scale": Standardise(size)} | {axis: mlp(size, hidden, dropout) for axis in AXES}
        )
        self.register_buffer("trained", torch.zeros(len(AXES), dtype=torch.bool))
        self._passes = Passes(most=_TOKENS_A_PASS)
        self._merged = False
        self._prefix: Any = None
        self.register_state_dict_post_hook(_leave_out_frozen)
        self.register_load_state_dict_post_hook(_expect_no_frozen)

    def prepare(self, ratings: Tensor) -> None:
        """Note which axes of the training ratings (N, 3) are there; MLP heads start at the mean."""
        rated = ~ratings.isnan()
        self.trained.copy_(rated.sum(dim=0) > 1)
        for index, axis in enumerate(AXES):
            if axis in self.heads and rated[:, index].any():
                last = cast(nn.Linear, cast(nn.Sequential, self.heads[axis])[-1])
                nn.init.constant_(last.bias, ratings[rated[:, index], index].mean().item())

    @torch.no_grad()
    def fit_scales(self, rows: Sequence[PairRow]) -> None:
        """Let MLP heads see the last token's state on one scale, that of these training pairs.

        What differs between pairs is little of a state, nearly all of which is the prompt's. To be
        called before the first step, when LoRA changes nothing yet.
        """
        if "scale" in self.heads:
            device = self.trained.device
            made = self._by_length(rows, lambda few: self._state(Batch.stack(few).to(device), None))
            states = [states for _, states in made]
            cast(Standardise, self.heads["scale"]).fit(torch.cat(states))

    def look(self, store: Clips, pairs: Sequence[EditPair]) -> list[PairRow | Failure]:
        clips = store.files([path for pair in pairs for path in (pair.original, pair.edited)])

        def read(pair: EditPair) -> PairRow | Failure:
            original, edited = clips[pair.original], clips[pair.edited]
            if isinstance(original, Failure):
                return original
            if isinstance(edited, Failure):
                return edited
            try:
                return self.inputs.row(pair, tokens_of(original), tokens_of(edited))
            except UserError as error:
                return Failure(str(error))

        return [read(pair) for pair in pairs]

    def forward(self, batch: Batch) -> Tensor:
        return self._score(self._state(batch, None))

    @torch.inference_mode()
    def predict(self, rows: Sequence[PairRow]) -> Tensor:
        """Ratings :: (N, 3), in the order of `rows`; pairs of like length share a pass.

        In text-first order keys and values of the common prefix are computed once.
        """
        if self._prefix is None and len(self.inputs.prefix):
            self._prefix = self._read_prefix()
        scores = torch.empty(len(rows), len(AXES))
        device = self.trained.device

        def score(few: Sequence[PairRow]) -> Tensor:
            return self._score(self._state(Batch.stack(few).to(device), self._prefix)).cpu()

        for chosen, made in self._by_length(rows, score):
            scores[chosen] = made
        return scores

    def merge(self) -> None:
        """Add LoRA to the weights of the base, for good: a little faster, and no more trained.

        Scores stay the same to 1e-5 in float32; in less, the sums are rounded to `dtype`. Raises
        UserError for a base in 4 bits, and where a sum is not finite.
        """
        from peft.tuners.tuners_utils import BaseTunerLayer

        if self.arguments["load_in_4bit"]:
            raise UserError("a base in 4 bits cannot be merged; give a dtype, such as bfloat16")
        if not self.arguments["rank"]:
            raise UserError("there is no LoRA to merge: the checkpoint is a merged one")
        try:
            for module in self.language_model.modules():
                if isinstance(module, BaseTunerLayer):
                    module.merge(safe_merge=True)
        except ValueError as error:
            raise UserError(f"LoRA cannot be merged: {error}") from None
        self._merged = True
        self._prefix = None

    def computed_in(self) -> dict[str, Any]:
        return {
            "dtype": "4bit" if self.arguments["load_in_4bit"] else self.arguments["dtype"],
            "merged": self._merged,
        }

    @classmethod
    def stand_in(
        cls,
        arguments: Arguments,
        features: Mapping[str, Arguments],
        base: str | None,
        dtype: str | None,
    ) -> None:
        """Another folder or hub id for the base; a `dtype` also takes the place of 4 bits."""
        if base:
            arguments |= {"base": base, "base_revision": None}
            features["qwen_omni"].update(model=base, model_revision=None)
        if dtype:
            arguments |= {"dtype": dtype, "load_in_4bit": False}

    @classmethod
    def read(cls, folder: Path, base: str | None, dtype: str | None) -> Foreign | None:
        """What ms-swift made of a Qwen2.5-Omni."""
        if not swift.is_swift(folder):
            return None
        found = swift.read(folder, base)
        if dtype:
            found.arguments["dtype"] = dtype
        model = cls(**found.arguments)
        swift.fill(model, folder, found)
        made = model.arguments
        heard = {"model": made["base"], "model_revision": made["base_revision"]}
        return Foreign(model, {"qwen_omni": {**heard, "dtype": made["dtype"]}}, found.training)

    def train(self, mode: bool = True) -> OmniRegressor:
        self._prefix = None
        return super().train(mode)

    def _apply(self, *arguments: Any, **options: Any) -> OmniRegressor:
        self._prefix = None
        return super()._apply(*arguments, **options)

    def _by_length(
        self, rows: Sequence[PairRow], run: Callable[[Sequence[PairRow]], Tensor]
    ) -> Iterator[tuple[list[int], Tensor]]:
        """Row numbers and what `run` makes of them, pairs of like length in a pass, which once
        filled up has a bounded size. Raises UserError for a pair that the memory cannot hold."""
        order = sorted(range(len(rows)), key=lambda row: len(rows[row].ids))

        def numbered(chosen: Sequence[int]) -> tuple[list[int], Tensor]:
            return list(chosen), run([rows[row] for row in chosen])

        def tokens(row: int) -> int:
            return len(self.inputs.prefix) + len(rows[row].ids)

        with memory_of(self.trained.device, UserError, "a pair", "a smaller dtype may do"):
            yield from self._passes(order, numbered, tokens)

    def _state(self, batch: Batch, prefix: Any) -> Tensor:
        """What the last layer says at the last token :: (B, hidden), float32."""
        ids, mask = batch.ids, batch.mask
        skipped = len(self.inputs.prefix)
        if skipped and prefix is None:
            before = torch.from_numpy(self.inputs.prefix).to(ids.device).expand(len(ids), -1)
            ids, skipped = torch.cat([before, ids], dim=1), 0
            mask = torch.cat([torch.ones_like(before), mask], dim=1)
        positions = skipped + (mask.cumsum(dim=1) - 1).clamp(min=0)
        options: dict[str, Any] = {"use_cache": False}
        whole = mask
        if prefix is not None:
            options = {"past_key_values": _repeat(prefix, len(ids)), "use_cache": True}
            whole = torch.cat([mask.new_ones(len(mask), skipped), mask], dim=1)
        embedded = self._embed(ids, batch.audio)
        states = self.language_model(
            inputs_embeds=embedded, attention_mask=whole, position_ids=positions, **options
        ).last_hidden_state
        last = mask.shape[1] - 1 - mask.flip(1).argmax(dim=1)
        return states[torch.arange(len(ids), device=ids.device), last].float()

    def _embed(self, ids: Tensor, audio: Tensor) -> Tensor:
        embedded = self.language_model.get_input_embeddings()(ids)  # type: ignore[operator]
        is_audio = ids == self._audio_token
        if (found := int(is_audio.sum())) != len(audio):
            raise ValueError(f"{found} audio placeholders for {len(audio)} audio tokens")
        return embedded.masked_scatter(is_audio.unsqueeze(2), audio.to(embedded.dtype))

    def _score(self, state: Tensor) -> Tensor:
        if "scores" in self.heads:
            return self.heads["scores"](state)
        state = self.heads["scale"](state)
        return torch.cat([self.heads[axis](state) for axis in AXES], dim=1)

    def _read_prefix(self) -> Any:
        ids = torch.from_numpy(self.inputs.prefix)[None].to(self.trained.device)
        positions = torch.arange(ids.shape[1], device=ids.device)[None]
        return self.language_model(
            input_ids=ids, position_ids=positions, use_cache=True
        ).past_key_values


def open_base_of(arguments: Mapping[str, Any]) -> Base:
    """The base of an OmniRegressor that would be made with these arguments; reads no weights.

    Raises TypeError for arguments it does not have, UserError for values that none can be made with
    and for a package that is missing.
    """
    given = inspect.signature(OmniRegressor).bind(**arguments)
    given.apply_defaults()
    _check(**{name: given.arguments[name] for name in inspect.signature(_check).parameters})
    return open_base(given.arguments["base"], given.arguments["base_revision"])


def _check(
    dtype: str,
    head: str,
    hidden: Sequence[int],
    rank: int,
    alpha: float,
    dropout: float,
    order: str,
    max_tokens: int,
    load_in_4bit: bool,
) -> None:
    check_order(order)
    if dtype not in list(DTYPES):
        raise UserError(f"dtype {dtype!r} is none of {', '.join(DTYPES)}")
    if head not in HEADS:
        raise UserError(f"head {head!r} is none of {', '.join(HEADS)}")
    if not all(isinstance(size, int) and size > 0 for size in hidden):
        raise UserError(f"hidden {list(hidden)!r}: expected whole numbers above 0")
    if not (isinstance(rank, int) and rank >= 0):
        raise UserError(f"rank {rank!r}: expected a whole number, 0 for no LoRA")
    if not (isinstance(alpha, (int, float)) and alpha > 0):
        raise UserError(f"alpha {alpha!r}: expected a number above 0")
    if not (isinstance(dropout, (int, float)) and 0 <= dropout < 1):
        raise UserError(f"dropout {dropout!r}: expected a number from 0 to below 1")
    if not (isinstance(max_tokens, int) and max_tokens > 0):
        raise UserError(f"max_tokens {max_tokens!r}: expected a whole number above 0")
    if load_in_4bit and importlib.util.find_spec("bitsandbytes") is None:
        raise UserError(
            "load_in_4bit needs the package bitsandbytes: "
            "pip install -c constraints.txt '.[bitsandbytes]'"
        )


def _add_lora(language_model: nn.Module, rank: int, alpha: float, dropout: float) -> None:
    from peft import LoraConfig, inject_adapter_in_model

    config = LoraConfig(
        r=rank,
        lora_alpha=alpha,  # type: ignore[arg-type]
        lora_dropout=dropout,
        target_modules=LORA_TARGETS,
        bias="none",
    )
    inject_adapter_in_model(config, language_model)
    for parameter in language_model.parameters():
        if parameter.requires_grad:
            # peft gives it the dtype of the base, in which a small step rounds to none.
            parameter.data = parameter.data.float()


def _four_bits(dtype: torch.dtype) -> dict[str, Any]:
    from transformers import BitsAndBytesConfig

    config = BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_compute_dtype=dtype,
        bnb_4bit_use_double_quant=True,
    )
    return {"quantization_config": config}


def _repeat(prefix: Any, count: int) -> Any:
    """Keys and values of one prefix for each of `count` pairs, in a cache of their own."""
    import copy

    repeated = copy.deepcopy(prefix)
    repeated.batch_repeat_interleave(count)
    return repeated


def _leave_out_frozen(
    module: nn.Module, state: dict[str, Any], prefix: str, metadata: dict[str, Any]
) -> None:
    for key in [key for key in state if _is_frozen(key.removeprefix(prefix))]:
        del state[key]


def _expect_no_frozen(module: OmniRegressor, incompatible: Any) -> None:
    module._prefix = None
    incompatible.missing_keys[:] = [k for k in incompatible.missing_keys if not _is_frozen(k)]


def _is_frozen(key: str) -> bool:
    return "language_model." in key and ".lora_" not in key
