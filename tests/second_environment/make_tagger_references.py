"""What panns_inference and torchvggish make of seeded weights, kept to hold ours to them.

Runs in the second environment (README.md beside this file). Writes one file a model to
tests/features/references, prints how far our encoders are from each original on the same file, and
exits with status 1 where that is above the bar.

    python tests/second_environment/make_tagger_references.py [name ...]
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from second_environment import tagger_weights, weights

from auditeval.features import make_extractor
from auditeval.features.extractor import Extractor

BAR = 1e-5
"""Of the largest number of an array."""
SHARED_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

Original = Callable[[np.ndarray], dict[str, np.ndarray]]


def cnn14(name: str, folder: Path) -> tuple[torch.nn.Module, Original]:
    """panns_inference's model; the logits are those before its sigmoid."""
    # The package reads the names of the classes at home, and downloads them otherwise.
    (folder / "panns_data").mkdir(exist_ok=True)
    rows = "".join(f"{index},/m/{index},label\n" for index in range(527))
    (folder / "panns_data" / "class_labels_indices.csv").write_text(f"index,mid,name\n{rows}")
    os.environ["HOME"] = str(folder)
    from panns_inference.models import Cnn14

    settings = (
        (32000, 1024, 320, 64, 50, 14000) if "32k" in name else (16000, 512, 160, 64, 50, 8000)
    )
    model = Cnn14(*settings, classes_num=527).eval()

    def run(clip: np.ndarray) -> dict[str, np.ndarray]:
        with torch.no_grad():
            embedding = model(torch.from_numpy(clip)[None])["embedding"]
            logits = model.fc_audioset(embedding)
        return {"embedding": embedding[0].numpy(), "logits": logits.numpy()}

    return model, run


def vggish(name: str, folder: Path) -> tuple[torch.nn.Module, Original]:
    """torchvggish's model and examples, without the last ReLU, as FAD tools take it."""
    from torchvggish.torchvggish import VGG, make_layers
    from torchvggish.vggish_input import waveform_to_examples

    model = VGG(make_layers(), postprocess=False).eval()

    def run(clip: np.ndarray) -> dict[str, np.ndarray]:
        examples = waveform_to_examples(clip.astype(np.float64), 16000).detach()
        made = {"mel": examples[0, 0].numpy()} if len(clip) == 15600 else {}
        without = model.embeddings[:-1]
        last, model.embeddings = model.embeddings, without
        with torch.no_grad():
            made["patch"] = model(examples).numpy()
        model.embeddings = last
        return made

    return model, run


def make(name: str, folder: Path) -> dict[str, float]:
    """One reference file, and the largest difference of ours for each array's name."""
    rate_hz = tagger_weights.RATES_HZ[name]
    model, run = (vggish if name == "vggish" else cnn14)(name, folder)
    blank = model.state_dict()
    layout = {key: tuple(value.shape) for key, value in blank.items()}
    fixed = {k: v.numpy() for k, v in blank.items() if weights.is_constant(k)}
    state = tagger_weights.state(layout, fixed)
    model.load_state_dict(state)
    path = folder / f"{name}.pth"
    tagger_weights.write(path, name, state)

    clips = tagger_weights.clips(rate_hz, SHARED_DATA)
    if name == "vggish":
        clips |= tagger_weights.patch_clips(rate_hz)
    made = {f"{clip}/{k}": v for clip, samples in clips.items() for k, v in run(samples).items()}
    bank = fixed.get(tagger_weights.MEL_BANK)
    tagger_weights.REFERENCES.mkdir(exist_ok=True)
    tagger_weights.Reference(made, layout, bank).save(tagger_weights.REFERENCES / f"{name}.npz")
    return differences(make_extractor(name.partition("-")[0], checkpoint=str(path)), clips, made)


def differences(
    encoder: Extractor, clips: dict[str, np.ndarray], made: dict[str, np.ndarray]
) -> dict[str, float]:
    """Largest difference from the original, as a share of its largest number."""
    from auditeval.features.extractors.vggish import log_mel

    worst: dict[str, float] = {}
    for key, theirs in made.items():
        clip, array = key.split("/")
        features = encoder.encode_audio([clips[clip]])[0]
        ours = {**features.frames, "embedding": features.embedding}
        if array == "mel":
            ours["mel"] = log_mel(clips[clip])
        share = float(np.abs(ours[array] - theirs).max() / np.abs(theirs).max())
        worst[array] = max(worst.get(array, 0.0), share)
    return worst


def main(names: list[str]) -> int:
    torch.set_num_threads(1)
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name in names or tagger_weights.RATES_HZ:
            found = make(name, Path(folder))
            worst = max(worst, *found.values())
            print(name, {key: f"{value:.1e}" for key, value in found.items()}, flush=True)
    print(f"largest {worst:.1e}, bar {BAR:.0e}: {'passed' if worst <= BAR else 'FAILED'}")
    return int(worst > BAR)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
