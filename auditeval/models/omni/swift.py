"""Evaluators that ms-swift trained, adapter or merged, as an OmniRegressor.

The authors of AuditEval trained with it: a sequence classification of three numbers, one linear map
without bias at the last token. Only safetensors and JSON are read; other files that lie beside them
are not opened.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from auditeval.models.model import Model
from auditeval.pretrained.qwen_omni import DTYPES, open_weights
from auditeval.reading import json_file
from auditeval.types import AXES, UserError

ADAPTER = "adapter_config.json"
_WEIGHTS = "adapter_model.safetensors"
_LORA = re.compile(
    r"base_model\.model\.(thinker\.)?model\.(language_model\.)?"
    r"(?P<module>layers\.\d+\.\w+\.\w+)\.lora_(?P<side>A|B)(\.default)?\.weight"
)
_SCORE = re.compile(
    r"(base_model\.model\.)?(thinker\.)?score(\.modules_to_save(\.default)?)?\.weight"
)
# Kinds of LoRA that compute something else from the same tensors.
_OTHER_KINDS = (
    *("use_dora", "use_rslora", "alpha_pattern", "rank_pattern", "use_bdlora", "use_qalora"),
    *("alora_invocation_tokens", "layer_replication", "lora_bias"),
)


class Swift(NamedTuple):
    """What a folder holds: arguments of an OmniRegressor, its tensors by our names, a note."""

    arguments: dict[str, Any]
    state: dict[str, Tensor]
    training: dict[str, Any]


def is_swift(folder: Path) -> bool:
    """Whether this is an adapter, or a whole Qwen2.5-Omni with a head for scores."""
    if (folder / ADAPTER).is_file():
        return True
    try:
        kind = str(_read(folder / "config.json").get("model_type"))
    except UserError:
        return False
    return kind.startswith("qwen2_5_omni") and bool(_score_file(folder))


def read(folder: Path, base: str | None) -> Swift:
    """Read an adapter or a merged checkpoint; `base` stands in for the one that an adapter names.

    Raises UserError for missing or damaged files, an adapter of another kind than plain LoRA,
    another number of scores, training with a chat template.
    """
    settings = _read(folder / "args.json") if (folder / "args.json").is_file() else {}
    if settings.get("use_chat_template"):
        raise UserError(
            f"{folder / 'args.json'}: was trained with a chat template; expected "
            "use_chat_template false, as in AuditEval"
        )
    dtype = str(settings.get("torch_dtype"))
    arguments: dict[str, Any] = {
        "head": "linear",
        "dtype": dtype if dtype in DTYPES else "bfloat16",
        "max_tokens": settings.get("max_length") or 4096,
    }
    adapter = folder / ADAPTER
    if not adapter.is_file():
        if base is not None:
            raise UserError(f"{folder}: is a merged checkpoint and has its base in it: no --base")
        arguments |= {"base": str(folder), "rank": 0}
        state = _merged_head(folder)
    else:
        arguments |= _lora(adapter, base, settings)
        state = _adapter_tensors(folder / _WEIGHTS)
    shape = state["heads.scores.weight"].shape
    if len(shape) != 2 or shape[0] != len(AXES):
        raise UserError(
            f"{folder}: has a score head of shape {tuple(shape)}; expected {len(AXES)} scores"
        )
    version = settings.get("swift_version") or "unknown"
    return Swift(arguments, state, {"trained_by": "ms-swift", "swift_version": version})


def fill(model: Model, folder: Path, found: Swift) -> None:
    """The tensors of `found` into a model of its arguments; UserError where they do not fit."""
    own = model.state_dict()
    for key, tensor in found.state.items():
        if key not in own:
            raise UserError(f"{folder}: holds {key}, which {found.arguments['base']} has not")
        if own[key].shape != tensor.shape:
            raise UserError(
                f"{folder}: is an adapter of another base: {key} is {tuple(tensor.shape)}, with "
                f"{found.arguments['base']} it would be {tuple(own[key].shape)}"
            )
    _check_is_whole(folder, found.state, layers=len(model.language_model.layers))  # type: ignore[union-attr,arg-type]
    # Kinds of maps that were not trained are absent; a fresh LoRA (B is 0) changes nothing.
    model.load_state_dict(found.state, strict=False)
    model.trained.fill_(True)
    model.eval()


def _check_is_whole(folder: Path, state: dict[str, Tensor], layers: int) -> None:
    """Each map that was trained has both of its halves, in every layer."""
    halves = Counter(key.partition(".lora_")[0] for key in state if ".lora_" in key)
    for name, count in halves.items():
        if count != 2:
            raise UserError(f"{folder}: is not whole: {name} has one half of its LoRA, not both")
    maps = Counter(name.partition(".layers.")[2].partition(".")[2] for name in halves)
    for name, count in maps.items():
        if count != layers:
            raise UserError(
                f"{folder}: is not whole: {name} has LoRA in {count} of the base's {layers} layers"
            )


def _lora(path: Path, base: str | None, settings: dict[str, Any]) -> dict[str, Any]:
    config = _read(path)
    if config.get("peft_type") != "LORA":
        raise UserError(f"{path}: is an adapter of kind {config.get('peft_type')}; expected LORA")
    if other := [kind for kind in _OTHER_KINDS if config.get(kind)]:
        raise UserError(f"{path}: has {other[0]}; expected plain LoRA")
    if config.get("bias", "none") != "none":
        raise UserError(f"{path}: trains biases as well; expected plain LoRA")
    named = base or config.get("base_model_name_or_path")
    if not isinstance(named, str) or not named:
        raise UserError(f"{path}: names no base; say where it lies with --base")
    if base is None and not Path(named).is_dir():
        named = _hub_id(settings) or named
    if base is None and Path(named).is_absolute() and not Path(named).is_dir():
        raise UserError(
            f"{path}: its base lay at {named}, which is not here; say where it lies with --base "
            "(a folder, or a hub id such as Qwen/Qwen2.5-Omni-7B)"
        )
    try:
        rank, alpha = int(config["r"]), config["lora_alpha"]
    except (KeyError, TypeError, ValueError):
        raise UserError(f"{path}: expected numbers r and lora_alpha") from None
    dropout = config.get("lora_dropout", 0.0)
    return {"base": named, "rank": rank, "alpha": alpha, "dropout": dropout}


def _hub_id(settings: dict[str, Any]) -> str | None:
    """What the training was told to take, where that was an id such as Qwen/Qwen2.5-Omni-7B."""
    named = settings.get("model")
    is_id = isinstance(named, str) and re.fullmatch(r"[\w-]+/[\w.-]+", named)
    return named if is_id else None


def _adapter_tensors(path: Path) -> dict[str, Tensor]:
    if not path.is_file():
        raise UserError(f"{path}: is missing; an adapter is {ADAPTER} and {_WEIGHTS}")
    state = {}
    for key, tensor in _tensors(path, ".*").items():
        if match := _LORA.fullmatch(key):
            name = f"language_model.{match['module']}.lora_{match['side']}.default.weight"
        elif _SCORE.fullmatch(key):
            name = "heads.scores.weight"
        else:
            raise UserError(
                f"{path}: holds {key}, which is neither LoRA of the language model nor score head"
            )
        state[name] = tensor.float()
    if (path.parent / "heads.safetensors").is_file():
        raise UserError(f"{path.parent}: is an export for peft; score the checkpoint it came from")
    if "heads.scores.weight" not in state:
        raise UserError(f"{path}: holds no score head; it is no adapter of an evaluator")
    return state


def _merged_head(folder: Path) -> dict[str, Tensor]:
    path = _score_file(folder)
    assert path is not None  # or it would not be a merged checkpoint
    (tensor,) = _tensors(path, _SCORE.pattern).values()
    return {"heads.scores.weight": tensor.float()}


def _score_file(folder: Path) -> Path | None:
    for path in sorted(folder.glob("model*.safetensors")):
        with open_weights(path) as file:
            if any(_SCORE.fullmatch(key) for key in file.keys()):  # noqa: SIM118 (no mapping)
                return path
    return None


def _tensors(path: Path, wanted: str) -> dict[str, Tensor]:
    with open_weights(path) as file:
        names = [key for key in file.keys() if re.fullmatch(wanted, key)]  # noqa: SIM118
        return {key: file.get_tensor(key) for key in names}


def _read(path: Path) -> dict[str, Any]:
    config = json_file(path)
    if not isinstance(config, dict):
        raise UserError(f"{path}: expected a JSON object")
    return config
