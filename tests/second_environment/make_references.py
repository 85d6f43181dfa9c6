"""Embeddings of the original CLAP packages, kept to hold the native loader to them.

Runs in the second environment (README.md beside this file). Writes one file a model to
tests/features/clap/references, prints how far `ClapExtractor` is from each original on the same
checkpoint file, and exits with status 1 where that is above the bar.

    python tests/second_environment/make_references.py [name ...]
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import weights

BAR = 1e-5
MEL_SHARE = 5  # with the original's own mel frames the bar is a fifth of that
SHARED_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

_TEXT_LAYERS, _TEXT_WIDTH = 2, 256
_CONFIGS = {
    "roberta-base": {
        "model_type": "roberta",
        "num_hidden_layers": _TEXT_LAYERS,
        "intermediate_size": _TEXT_WIDTH,
        "max_position_embeddings": 514,
        "layer_norm_eps": 1e-5,
        "type_vocab_size": 1,
        "pad_token_id": 1,
    },
    "gpt2": {"model_type": "gpt2", "n_layer": _TEXT_LAYERS, "n_inner": _TEXT_WIDTH},
    "bert-base-uncased": {
        "model_type": "bert",
        "num_hidden_layers": _TEXT_LAYERS,
        "intermediate_size": _TEXT_WIDTH,
    },
}

# Buffers that today's transformers no longer saves; the published files are older.
_OLD_BUFFERS: dict[str, dict[str, tuple[int, ...]]] = {
    "laion": {"text_branch.embeddings.position_ids": (1, 514)},
    "ms-clap-2022": {"caption_encoder.base.embeddings.position_ids": (1, 512)},
    "ms-clap-2023": {
        f"caption_encoder.base.h.{layer}.attn.{name}": shape
        for layer in range(_TEXT_LAYERS)
        for name, shape in (("bias", (1, 1, 1024, 1024)), ("masked_bias", ()))
    },
}


class Original(NamedTuple):
    """One of the packages with its checkpoint loaded: one clip or caption -> (D,)."""

    audio: Callable[[np.ndarray], np.ndarray]
    text: Callable[[str], np.ndarray]
    model: torch.nn.Module


def laion(name: str, path: Path) -> Original:
    """laion_clap's own model; a file that is not there yet leaves it as it was built."""
    from laion_clap import CLAP_Module

    amodel = "HTSAT-base" if "base" in name else "HTSAT-tiny"
    module = CLAP_Module(enable_fusion="fused" in name, device="cpu", amodel=amodel)
    if path.exists():
        module.load_ckpt(str(path), verbose=False)

    # As tensors: the path for arrays rounds the samples to 16 bits first.
    def audio(clip: np.ndarray) -> np.ndarray:
        return module.get_audio_embedding_from_data([torch.from_numpy(clip)], use_tensor=True)

    def text(caption: str) -> np.ndarray:
        return module.get_text_embedding([caption], use_tensor=True)

    return Original(_unit(audio), _unit(text), module.model)


def microsoft(name: str, path: Path) -> Original:
    """msclap's own wrapper; only the decoding of a file is taken from it."""
    from msclap import CLAP

    if not path.exists():
        torch.save({"model": {}}, path)
    wrapper = CLAP(str(path), version=name[-4:], use_cuda=False)

    def audio(clip: np.ndarray) -> np.ndarray:
        rate_hz = wrapper.args.sampling_rate
        wrapper.read_audio = lambda path, resample: (torch.from_numpy(clip)[None], rate_hz)
        return wrapper.get_audio_embeddings(["clip"])

    def text(caption: str) -> np.ndarray:
        return wrapper.get_text_embeddings([caption])

    return Original(_unit(audio), _unit(text), wrapper.clap)


def _unit(embed: Callable[[Any], Any]) -> Callable[[Any], np.ndarray]:
    def run(item: Any) -> np.ndarray:
        with torch.no_grad():
            row = embed(item).numpy()[0].astype(np.float64)
        return (row / np.linalg.norm(row)).astype(np.float32)

    return run


def prepare(folder: Path) -> None:
    """Local stand-ins for what both packages fetch from a hub: tokenizers, shrunken configs."""
    from safetensors.numpy import save_file

    weights.write_tokenizers(folder)
    for name, config in _CONFIGS.items():
        sized = {**config, "vocab_size": weights.vocabulary_size(name)}
        (folder / name / "config.json").write_text(json.dumps(sized))
        # One unused tensor: all others are drawn at random and replaced by ours.
        unused = {"unused": np.zeros(1, np.float32)}
        save_file(unused, folder / name / "model.safetensors", metadata={"format": "pt"})


def make(name: str, folder: Path) -> dict[str, float]:
    """One reference file, and the largest differences of the native loader from the original."""
    from auditeval.features.extractors.clap import ClapExtractor

    build, form = laion if name.startswith("laion") else microsoft, weights.FORMATS[name]
    path = folder / f"{name}.pt"
    with _quiet():
        blank = build(name, path).model.state_dict()
    layout = {key: tuple(value.shape) for key, value in blank.items()}
    for family, buffers in _OLD_BUFFERS.items():
        layout |= buffers if name.startswith(family) else {}
    fixed = {key: value.numpy() for key, value in blank.items() if weights.is_constant(key)}
    for key, value in blank.items():
        if not value.is_floating_point() and not key.endswith("num_batches_tracked"):
            implied = weights.state({key: layout[key]}, 0, {})[key]
            assert torch.equal(implied, value), f"{name}: {key} is not what is taken for granted"
    weights.write_original(path, name, weights.state(layout, weights.SEED, fixed))
    with _quiet():
        original = build(name, path)
        native = ClapExtractor(
            str(path), str(folder / form.tokenizer), upstream_compat=compat(name)
        )

    synthetic = weights.synthetic_clips(form.rate_hz)
    clips = [*synthetic, *weights.real_clips(SHARED_DATA, form)]
    with _mels_of(original.model) as mels:
        heard = np.stack([original.audio(clip) for clip in clips])
    whole = np.stack([original.audio(weights.filled(clip, form)) for clip in clips])
    read = np.stack([original.text(caption) for caption in weights.CAPTIONS])
    banks = [value for key, value in fixed.items() if key.endswith(".melW")]
    weights.Reference(
        synthetic=heard[: len(synthetic)],
        real=heard[len(synthetic) :],
        text=read,
        layout=layout,
        seed=weights.SEED,
        mel_bank=banks[0] if name.startswith("ms") else None,
    ).save(weights.REFERENCES / f"{name}.npz")

    ours = np.stack([features.embedding for features in native.encode_audio(clips)])
    from_mels = np.stack([_unit(native._clap.embed_audio)(mel) for mel in mels])
    size = path.stat().st_size
    path.unlink()
    return {
        "megabytes": size / 1e6,
        "audio": _largest(ours, heard),
        "window": _largest(ours, whole),
        "mel": _largest(from_mels, heard),
        "text": _largest(native.encode_text(weights.CAPTIONS), read),
        "clips": _most_alike(heard),
        "captions": _most_alike(read),
    }


@contextlib.contextmanager
def _mels_of(model: torch.nn.Module) -> Iterator[list[torch.Tensor]]:
    """The log-mel frames that the original's audio tower normalises, clip by clip."""
    mels: list[torch.Tensor] = []
    norm = next(module for name, module in model.named_modules() if name.endswith("bn0"))
    handle = norm.register_forward_pre_hook(
        lambda module, inputs: mels.append(inputs[0].transpose(1, 3).clone())
    )
    yield mels
    handle.remove()


def compat(name: str) -> bool:
    """Whether the comparison needs the original's pooling of captions that hold '!'."""
    return name == "ms-clap-2023"


def _largest(ours: np.ndarray, theirs: np.ndarray) -> float:
    return float(np.abs(ours - theirs).max())


def _most_alike(rows: np.ndarray) -> float:
    """Largest cosine of two different rows: near one, the network would not hear its input."""
    return float((rows @ rows.T - 2 * np.eye(len(rows))).max())


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def main(names: list[str]) -> int:
    os.environ["HF_HUB_OFFLINE"] = "1"  # before transformers is imported
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"  # it reports the missing weights of `prepare`
    torch.set_num_threads(1)
    weights.REFERENCES.mkdir(parents=True, exist_ok=True)
    columns = "".join(f"{name:>12}" for name in ("audio", "one window", "same mel", "text"))
    print(f"{'':22}    file {'largest difference from the original':^48}  largest cosine of")
    print(f"{'':22}      MB {columns}   clips  captions")
    worst, started = 0.0, Path.cwd()
    with tempfile.TemporaryDirectory() as temporary:
        prepare(Path(temporary))
        os.chdir(temporary)
        for name in names or weights.FORMATS:
            row = make(name, Path(temporary))
            worst = max(worst, row["audio"], row["window"], row["text"], row["mel"] * MEL_SHARE)
            found = "".join(f"{row[key]:12.1e}" for key in ("audio", "window", "mel", "text"))
            alike = f"{row['clips']:8.3f}{row['captions']:10.3f}"
            print(f"{name:22} {row['megabytes']:7.0f} {found}{alike}", flush=True)
        os.chdir(started)
    print(f"largest {worst:.1e}, bar {BAR:.0e}: {'passed' if worst <= BAR else 'FAILED'}")
    return int(worst > BAR)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
