"""What is exported is a PEFT adapter: `peft` puts it on the published class without our code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from auditeval.models.omni.export import HEADS_FILE, export_peft
from auditeval.models.omni.regressor import OmniRegressor
from auditeval.types import UserError


def test_peft_loads_it_onto_the_published_class(tiny_omni: Path, tmp_path: Path) -> None:
    pytest.importorskip("transformers", minversion="5.21")  # before, its parts had other names
    from peft import PeftModel
    from transformers import Qwen2_5OmniThinkerForConditionalGeneration

    torch.manual_seed(5)
    model = OmniRegressor(str(tiny_omni), dtype="float32").eval()
    for name, parameter in model.named_parameters():
        if ".lora_B." in name:
            nn.init.normal_(parameter, std=0.1)
    export_peft(model, tmp_path / "adapter")

    thinker = Qwen2_5OmniThinkerForConditionalGeneration.from_pretrained(
        tiny_omni, dtype=torch.float32
    )
    adapted: Any = PeftModel.from_pretrained(thinker, str(tmp_path / "adapter")).eval()
    carrying = {name for name, _ in adapted.named_parameters() if "lora_" in name}
    assert len(carrying) == 2 * 7 * 2  # none on the audio tower, whose layers have like names
    assert all("language_model" in name for name in carrying)
    ids = torch.arange(40)[None]
    heads = load_file(tmp_path / "adapter" / HEADS_FILE)
    with torch.inference_mode():
        theirs = adapted.model.model(input_ids=ids).last_hidden_state[:, -1]
        plain = model.language_model(input_ids=ids).last_hidden_state[:, -1]
        assert (theirs - plain).abs().max() <= 1e-6
        scores = theirs @ heads["scores.weight"].T
        assert (scores - model.heads["scores"](plain)).abs().max() <= 1e-5
    note = json.loads((tmp_path / "adapter" / "heads.json").read_text())
    assert note["axes"] == ["quality", "relevance", "faithfulness"]
    assert note["order"] == "audio_first"
    config = json.loads((tmp_path / "adapter" / "adapter_config.json").read_text())
    assert (config["r"], config["lora_alpha"], config["lora_dropout"]) == (8, 32, 0.05)
    assert config["base_model_name_or_path"] == str(tiny_omni)


def test_without_lora_there_is_nothing_to_export(tiny_omni: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no LoRA to export"):
        export_peft(OmniRegressor(str(tiny_omni), dtype="float32", rank=0), tmp_path / "adapter")
    assert not (tmp_path / "adapter").exists()
