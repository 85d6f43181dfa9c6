"""python editor.py WORK: an editor of yours, a small denoiser, with a benchmark as its validation.

All that the benchmark asks of a LightningModule is what `validation_step` returns.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hydra
import pytorch_lightning as lightning
import torch
import typer
from omegaconf import OmegaConf
from torch import Tensor, nn
from torch.utils.data import DataLoader

from auditeval import audio
from auditeval.benchmarks.speecheditbench.samples import Sample, read

RATE_HZ, CROP = 16000, 32000
WINDOW, HOP = 512, 128


def wave(path: Path) -> Tensor:
    return torch.from_numpy(audio.resample(audio.decode(path), RATE_HZ).copy())


def crops(samples: list[Sample]) -> list[tuple[Tensor, Tensor]]:
    """(source, clean) :: (CROP,) each, of the enhancement samples."""
    made = []
    for sample in samples:
        anchor: Any = sample.row.anchor
        pair = wave(sample.files[0]), wave(sample.path(anchor.target_reference_path))
        for start in range(0, len(pair[0]) - CROP + 1, CROP // 2):
            made.append((pair[0][start : start + CROP], pair[1][start : start + CROP]))
    return made


class Denoiser(lightning.LightningModule):
    """A gain between 0 and 1 for each bin of a spectrogram, by convolutions over time."""

    def __init__(self) -> None:
        super().__init__()
        bins = WINDOW // 2 + 1
        self.gains = nn.Sequential(
            nn.Conv1d(bins, 128, 5, padding=2), nn.ReLU(), nn.Conv1d(128, bins, 5, padding=2)
        )
        self.register_buffer("window", torch.hann_window(WINDOW))

    def forward(self, clip: Tensor) -> Tensor:
        """:: (B, T) -> (B, T)."""
        window: Any = self.window
        spectrum = torch.stft(clip, WINDOW, HOP, window=window, return_complex=True)
        gains = torch.sigmoid(self.gains((spectrum.abs() + 1e-4).log()) + 2)
        return torch.istft(gains * spectrum, WINDOW, HOP, window=window, length=clip.shape[-1])

    def training_step(self, batch: tuple[Tensor, Tensor], batch_index: int) -> Tensor:
        source, clean = batch
        loss = nn.functional.l1_loss(self(source), clean)
        self.log("train/loss", loss, on_epoch=True, on_step=False)
        return loss

    def validation_step(self, batch: tuple[str, Tensor], batch_index: int) -> dict[str, Any]:
        id, source = batch
        return {"id": [id], "edited": self(source[None]), "rate_hz": RATE_HZ}

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def main(work: Path) -> None:
    lightning.seed_everything(1984)
    config = OmegaConf.load(Path(__file__).with_name("editor.yaml"))
    config.work = str(work)
    callback = hydra.utils.instantiate(config.callback)
    samples = callback.metrics["speech"].samples  # those of its selection
    validation = [(id, wave(sample.files[0])) for id, sample in samples.items()]
    trainer = lightning.Trainer(
        accelerator="cpu",
        max_epochs=20,
        callbacks=[callback],
        logger=False,
        enable_checkpointing=False,
        num_sanity_val_steps=0,
    )
    trainer.fit(
        Denoiser(),
        DataLoader(crops(read(work / "train")), batch_size=8, shuffle=True),
        DataLoader(validation, batch_size=None),  # type: ignore[arg-type]
    )


if __name__ == "__main__":
    typer.run(main)
