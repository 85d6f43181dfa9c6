"""Features of clips, captions and pairs, each computed once and kept on disk by content.

The key of a clip is the hash of its decoded samples, so a renamed file costs nothing and one
changed sample recomputes that clip alone. An entry is a safetensors file that is written under a
temporary name and renamed: several processes may share one cache.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import platformdirs
from safetensors import SafetensorError
from safetensors.numpy import load, save

from auditeval import audio
from auditeval.atomic import replacing
from auditeval.features.comparison import changed_words, compare
from auditeval.features.encoder import AudioFeatures, Encoder
from auditeval.types import EditPair, UserError

Item = TypeVar("Item")
Result = TypeVar("Result")


class PairFeatures(NamedTuple):
    """What a model sees of a pair: the four of the paper's Figure 2 and what changed.

    `original_audio`, `edited_audio` :: (encoder.dim,), `*_text` :: (encoder.text_dim,), of the two
    captions and of the words added and removed between them (0 for no words), `alignment` :: as
    `comparison.compare` makes it, (0,) where the encoder keeps no frames.
    """

    original_audio: np.ndarray
    original_text: np.ndarray
    edited_audio: np.ndarray
    target_text: np.ndarray
    added_text: np.ndarray
    removed_text: np.ndarray
    alignment: np.ndarray


class Failure(NamedTuple):
    """Why a pair has no features."""

    reason: str


def default_cache_dir() -> Path:
    """`$AUDITEVAL_CACHE`, or the user's cache folder."""
    return Path(os.environ.get("AUDITEVAL_CACHE") or platformdirs.user_cache_dir("auditeval"))


class FeatureStore:
    """Encodes what is not in the cache, in `workers` threads (0: in the caller's).

    Decoding, resampling and the encoders release the interpreter lock, so threads use all cores.
    `encoder_seconds` and `misses` say what the encoders cost so far.
    """

    def __init__(
        self, encoder: Encoder, cache_dir: str | os.PathLike[str] | None = None, workers: int = 2
    ) -> None:
        self.encoder = encoder
        self.workers = workers
        self.encoder_seconds = 0.0
        self.misses = 0
        self._lock = threading.Lock()
        folder = Path(cache_dir or default_cache_dir())
        self._folder = folder / f"{encoder.name}@{encoder.revision}"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(
                f"{self._folder}: the feature cache cannot be made ({error.strerror}); set "
                "AUDITEVAL_CACHE to a folder you can write to"
            ) from None

    def pairs(
        self, pairs: Sequence[EditPair], on_clip: Callable[[], object] = lambda: None
    ) -> list[PairFeatures | Failure]:
        """Features in the order of `pairs`; a pair that has none says why. Each clip is read once.

        `on_clip` is called as each distinct clip is done, from any thread.
        """
        paths = list(dict.fromkeys(p for pair in pairs for p in (pair.original, pair.edited)))
        changes = [changed_words(pair.original_caption, pair.target_caption) for pair in pairs]
        words = dict.fromkeys(
            text
            for pair, change in zip(pairs, changes, strict=True)
            for text in (pair.original_caption, pair.target_caption, *change)
        )

        def read(path: Path) -> AudioFeatures | Failure:
            try:
                return self.clip(audio.decode(path))
            except audio.AudioError as error:
                return Failure(str(error))
            finally:
                on_clip()

        clips = dict(zip(paths, self._map(read, paths), strict=True))
        texts = dict(zip(words, self._map(self.caption, words), strict=True))

        def join(pair: EditPair, change: tuple[str, str]) -> PairFeatures | Failure:
            for side in ("original_caption", "target_caption"):
                if not getattr(pair, side).strip():
                    return Failure(f"{side} is empty")
            original, edited = clips[pair.original], clips[pair.edited]
            if isinstance(original, Failure):
                return original
            if isinstance(edited, Failure):
                return edited
            return PairFeatures(
                original.embedding,
                texts[pair.original_caption],
                edited.embedding,
                texts[pair.target_caption],
                texts[change[0]],
                texts[change[1]],
                compare(original.frames, edited.frames),
            )

        return self._map(lambda both: join(*both), zip(pairs, changes, strict=True))

    def clip(self, waveform: audio.Waveform) -> AudioFeatures:
        """Features of one decoded clip."""

        def encode() -> dict[str, np.ndarray]:
            samples = audio.resample(waveform, self.encoder.rate_hz)
            with _Timer(self):
                embedding, frames = self.encoder.encode_audio(samples)
            return {"embedding": embedding, **{f"frames.{k}": v for k, v in frames.items()}}

        entry = self._cached("audio", audio.content_hash(waveform), encode)
        embedding = entry.pop("embedding")
        return AudioFeatures(embedding, {k.removeprefix("frames."): v for k, v in entry.items()})

    def caption(self, caption: str) -> np.ndarray:
        """Embedding of one caption :: (encoder.text_dim,), 0 for one without words."""
        if self.encoder.text_dim == 0 or not caption.strip():
            return np.zeros(self.encoder.text_dim, np.float32)

        def encode() -> dict[str, np.ndarray]:
            with _Timer(self):
                return {"embedding": self.encoder.encode_text([caption])[0]}

        key = hashlib.sha256(caption.encode()).hexdigest()
        return self._cached("text", key, encode)["embedding"]

    def _map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        if self.workers == 0:
            return [function(item) for item in items]
        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(function, items))

    def _cached(
        self, kind: str, key: str, compute: Callable[[], dict[str, np.ndarray]]
    ) -> dict[str, np.ndarray]:
        path = self._folder / kind / key[:2] / f"{key}.safetensors"
        try:
            return load(path.read_bytes())
        except FileNotFoundError:
            pass
        except SafetensorError:
            path.unlink(missing_ok=True)  # damaged on disk: compute it again
        except OSError as error:
            raise UserError(
                f"{path}: the feature cache cannot be read ({error.strerror})"
            ) from None
        arrays = compute()
        self._write(path, save({k: np.ascontiguousarray(v) for k, v in arrays.items()}))
        return arrays

    def _write(self, path: Path, data: bytes) -> None:
        try:
            with replacing(path) as temporary:
                temporary.write_bytes(data)
        except OSError as error:
            raise UserError(
                f"{path}: the feature cache cannot be written ({error.strerror}); free some space "
                "or set AUDITEVAL_CACHE to another folder"
            ) from None


class _Timer:
    """Adds the time of one encoder call to its store."""

    def __init__(self, store: FeatureStore) -> None:
        self._store = store

    def __enter__(self) -> None:
        self._start = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        with self._store._lock:
            self._store.encoder_seconds += time.perf_counter() - self._start
            self._store.misses += 1
