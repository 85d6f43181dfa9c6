"""An OmniRegressor as a PEFT adapter that `peft` loads without auditeval."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from safetensors.torch import save_file

from auditeval.atomic import new_folder
from auditeval.models.omni.regressor import LORA_TARGETS, OmniRegressor
from auditeval.types import AXES, UserError

HEADS_FILE = "heads.safetensors"
# The towers have layers of the same names, outside of the language model.
_TARGETS = rf"(.*\.)?model\.language_model\.{LORA_TARGETS}"


def export_peft(model: OmniRegressor, folder: Path) -> None:
    """Write adapter_config.json, adapter_model.safetensors and heads.safetensors.

    `PeftModel.from_pretrained(thinker, folder)` puts the adapter on a
    Qwen2_5OmniThinkerForConditionalGeneration of transformers 5.21 or later. The heads are no part
    of that class: they take the last hidden state at the last token, in float32 (heads.json says
    more); MLP heads take it less `scale.mean`, over `scale.spread`, clipped at 5.
    Raises UserError for a model without LoRA.
    """
    from peft import LoraConfig

    arguments: dict[str, Any] = model.arguments
    if not arguments["rank"]:
        raise UserError("there is no LoRA to export: the checkpoint is a merged one")
    state = model.state_dict()
    lora = {
        f"base_model.model.model.{key.replace('.default', '')}": tensor.contiguous()
        for key, tensor in state.items()
        if key.startswith("language_model.")
    }
    heads = {
        key.removeprefix("heads."): tensor.contiguous()
        for key, tensor in state.items()
        if key.startswith("heads.")
    }
    config = LoraConfig(
        r=arguments["rank"],
        lora_alpha=arguments["alpha"],
        lora_dropout=arguments["dropout"],
        target_modules=_TARGETS,
        bias="none",
        base_model_name_or_path=arguments["base"],
        revision=arguments["base_revision"],
        inference_mode=True,
    )
    note = {key: arguments[key] for key in ("head", "hidden", "order", "fingerprint")}
    with new_folder(folder) as temporary:
        config.save_pretrained(str(temporary))
        save_file(lora, temporary / "adapter_model.safetensors", {"format": "pt"})
        save_file(heads, temporary / HEADS_FILE)
        (temporary / "heads.json").write_text(json.dumps({"axes": AXES, **note}, indent=1) + "\n")
