"""`laion_clap`: LAION's CLAP as its own package runs it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from auditeval.features.clap import SUPPORTED
from auditeval.features.clap.packages import CODE, COMPUTED, PackageExtractor, row
from auditeval.pretrained.packages import first_line, imported, reaching_a_hub, revision
from auditeval.pretrained.torch_files import read
from auditeval.pretrained.weights import fill
from auditeval.types import UserError


class LaionClapPackage(PackageExtractor):
    """laion_clap's CLAP_Module, fed tensors (its path for arrays rounds samples to 16 bits).

    `checkpoint` is a file as LAION publishes it; `amodel` (HTSAT-tiny, HTSAT-base) and
    `enable_fusion` must be those it was trained with, as in the package. Raises UserError.
    """

    name = "laion_clap"
    family = "LAION CLAP"

    def __init__(
        self, checkpoint: str, enable_fusion: bool = False, amodel: str = "HTSAT-tiny"
    ) -> None:
        path = Path(checkpoint).expanduser().resolve()
        self.arguments = {
            "checkpoint": str(path),
            "enable_fusion": enable_fusion,
            "amodel": amodel,
        }
        state = read(path, SUPPORTED)
        # Older transformers kept this buffer; the package takes it out as well.
        state.pop("text_branch.embeddings.position_ids", None)
        package = imported("laion_clap", "laion-clap", clashes=True)
        try:
            with reaching_a_hub("laion_clap"):
                self._module = package.CLAP_Module(enable_fusion, device="cpu", amodel=amodel)
        except RuntimeError as error:
            raise UserError(f"laion_clap cannot build {amodel!r} ({first_line(error)})") from None
        what = f"laion_clap's {amodel}, fusion {enable_fusion}"
        fill(path, self._module.model, state, what, COMPUTED)
        self._module.eval().requires_grad_(False)
        self.modules = (self._module,)
        self.revision = revision(CODE, "laion_clap", path)
        settings = self._module.model_cfg["audio_cfg"]
        self.rate_hz, self._window = settings["sample_rate"], settings["clip_samples"]
        self.dim = self.text_dim = self.joint_dim = self._module.model.joint_embed_shape

    def _encode_window(self, window: np.ndarray) -> np.ndarray:
        samples = torch.from_numpy(np.ascontiguousarray(window))
        return row(self._module.get_audio_embedding_from_data([samples], use_tensor=True))

    def _encode_caption(self, caption: str) -> np.ndarray:
        return row(self._module.get_text_embedding([caption], use_tensor=True))
