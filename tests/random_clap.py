"""CLAPs of transformers' own class with random weights, as directories."""

from __future__ import annotations

from pathlib import Path

import torch
from second_environment.weights import vocabulary_size, write_tokenizers
from transformers import (
    ClapAudioConfig,
    ClapConfig,
    ClapFeatureExtractor,
    ClapModel,
    ClapTextConfig,
    RobertaTokenizerFast,
)

VOCABULARY = vocabulary_size("roberta-base")


def write_tiny_clap(folder: Path, dim: int = 32, fused: bool = False, seed: int = 3) -> Path:
    """A CLAP of a few ten thousand parameters; 10 s windows at 48 kHz as the real one's."""
    text = ClapTextConfig(
        vocab_size=VOCABULARY,
        hidden_size=64,  # one head of 64: original files do not state the number of heads
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=48,
        max_position_embeddings=130,
        layer_norm_eps=1e-5,
        projection_dim=dim,
    )
    audio = ClapAudioConfig(
        patch_embeds_hidden_size=8,
        hidden_size=64,
        depths=[1, 1, 1, 1],
        num_attention_heads=[1, 2, 2, 4],
        enable_fusion=fused,
        projection_dim=dim,
    )
    return write_clap(folder, text, audio, seed)


def write_full_clap(folder: Path, seed: int = 3) -> Path:
    """HTSAT-tiny and RoBERTa-base in LAION's sizes, but for the vocabulary."""
    text = ClapTextConfig(vocab_size=VOCABULARY, layer_norm_eps=1e-5)
    return write_clap(folder, text, ClapAudioConfig(), seed)


def write_clap(folder: Path, text: ClapTextConfig, audio: ClapAudioConfig, seed: int) -> Path:
    """A directory that `ClapModel.from_pretrained` loads.

    Random weights in the size of trained ones: the default initialisation is so small that all
    clips would be alike.
    """
    write_tokenizers(folder / "tokenizers")
    torch.manual_seed(seed)
    model = ClapModel(
        ClapConfig(
            text_config=text.to_dict(),
            audio_config=audio.to_dict(),
            projection_dim=text.projection_dim,
        )
    )
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.xavier_normal_(parameter, gain=1.4)
    # Log-mel power in dB, as a trained model has met it.
    norm = model.audio_model.audio_encoder.batch_norm
    norm.running_mean.fill_(-30)
    norm.running_var.fill_(300)
    model.save_pretrained(folder)
    kind = "fusion" if audio.enable_fusion else "rand_trunc"
    ClapFeatureExtractor(frequency_min=50, frequency_max=14000, truncation=kind).save_pretrained(
        folder
    )
    tokenizer = RobertaTokenizerFast.from_pretrained(folder / "tokenizers" / "roberta-base")
    tokenizer.save_pretrained(folder)
    return folder
