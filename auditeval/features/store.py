"""Features of clips, captions and pairs, each computed once and kept on disk by content.

The key of a clip is the hash of its decoded samples, so a renamed file costs nothing and one
changed sample recomputes that clip alone.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from copy import copy
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from auditeval import audio, storage
from auditeval.features.asked import asked, told
from auditeval.features.batches import Batched, Caller
from auditeval.features.cache import Arrays, FeatureCache
from auditeval.features.encoder import Clip, EncodedPair, Encoder
from auditeval.features.extractor import AudioFeatures, Extractor, Texts
from auditeval.features.pair import PairFeatures
from auditeval.features.reworded import Alike
from auditeval.pretrained.accelerators import memory_of
from auditeval.pretrained.threads import one_thread
from auditeval.types import EditPair, UserError, whole

Result = TypeVar("Result")
Spared = Callable[[Mapping[str, Texts]], frozenset[str]]
"""Which extractors, by name, a model does not look at for a pair of these texts, by extractor."""

_CAPTIONS, _FILES = 64, 8  # given to the encoder at a time: captions it sorts by length
_TURNS = 4  # that each worker has at least, or less is given at a time
_REMEMBERED = 4096  # captions and words, which come again and again; 4 kB each
_DAY_SECONDS = 86400
# A file of more may last an hour: such are decoded and encoded one by one, and smaller ones so many
# at a time as are no larger together, or as suit the encoder.
_LARGE_BYTES = 8 << 20


class Failure(NamedTuple):
    """Why a pair has no features."""

    reason: str


class _Heard(NamedTuple):
    """A file, and the names of the extractors that hear it."""

    path: Path
    names: frozenset[str]


class _Read(NamedTuple):
    """What is read of a pair: the words given, and five texts to encode, as those of `Texts`."""

    said: tuple[str, str, str]
    texts: tuple[str, str, str, str, str]

    @classmethod
    def of(cls, pair: EditPair, with_changed_words: bool, alike: Alike) -> _Read:
        instruction = pair.instruction or ""
        said = *told(pair.original_caption, pair.target_caption, instruction), instruction
        original, target, added, removed = asked(*said, alike)
        if not with_changed_words:
            return cls(said, (original, target, "", "", ""))
        return cls(said, (original, target, added, removed, instruction))


class FeatureStore:
    """Encodes what is not in the cache, in `workers` threads (0: in the caller's).

    Decoding, resampling and the encoders release the interpreter lock, so threads use all cores.
    A clip that lasts longer than `max_seconds` has no features (see `audio.files.read`).
    `heard`, where given, is told of each file that is read its `audio.content_hash`.
    `encoder_seconds` and `misses` say what the encoders cost so far. Of the cache see
    `FeatureCache`; a store that does not answer raises StorageError, also for clips.
    """

    def __init__(
        self,
        encoder: Encoder,
        cache_dir: str | os.PathLike[str] | None = None,
        workers: int = 2,
        max_seconds: float = audio.MAX_SECONDS,
        cache_size: str | None = None,
        heard: dict[Path, str] | None = None,
    ) -> None:
        if not 0 < max_seconds <= _DAY_SECONDS:
            raise UserError(
                f"clips of at most {max_seconds:g} s: expected seconds above 0, up to a day "
                f"({_DAY_SECONDS})"
            )
        whole("workers", workers, 0)
        self.encoder = encoder
        self._always = frozenset(extractor.name for extractor in encoder.always)
        self._on_demand = any(extractor.on_demand for extractor in encoder.hearing)
        self.workers = workers
        self.max_seconds = max_seconds
        self.encoder_seconds = 0.0
        self.misses = 0
        self.heard = heard
        self._held: Mapping[Path, audio.Waveform] = {}
        self._lock = threading.Lock()
        self._said: dict[str, dict[str, np.ndarray]] = {}
        self._one_large = threading.Lock()
        self.cache = FeatureCache(encoder.extractors, cache_dir, cache_size)

    def holding(self, held: Mapping[Path, audio.Waveform]) -> FeatureStore:
        """This store, with clips in memory by the paths that stand for them: no file is read there,
        and their features are not kept. What is encoded by it, it counts itself."""
        beside = copy(self)
        beside._held = held
        return beside

    @property
    def damaged(self) -> int:
        """Entries of the cache so far that were not what had been written; they were made again."""
        return self.cache.damaged

    def pairs(
        self,
        pairs: Sequence[EditPair],
        with_changed_words: bool = True,
        spared: Spared | None = None,
    ) -> list[PairFeatures | Failure]:
        """Features in the order of `pairs`, each clip read once; a pair without says why.

        `with_changed_words=False` spares the words added and removed, and the instruction: 0, for
        models that do not look at them. So are the numbers of those extractors that a model says
        are `spared` for a pair of these texts: nothing is computed for them.
        """
        return self._join(pairs, with_changed_words, self.encoder.pair, spared)

    def encoded(self, pairs: Sequence[EditPair]) -> list[EncodedPair | Failure]:
        """As `pairs`, before the sides of a pair are compared."""
        return self._join(pairs, True, lambda encoded: encoded, None)

    def _join(
        self,
        pairs: Sequence[EditPair],
        with_changed_words: bool,
        make: Callable[[EncodedPair], Result],
        spared: Spared | None,
    ) -> list[Result | Failure]:
        def read_of(pair: EditPair) -> _Read:
            return _Read.of(pair, with_changed_words, self.encoder.alike)

        def worded(read: _Read) -> dict[str, Texts]:
            rows = [texts[x] for x in read.texts]
            return {
                name: Texts._make([*(row[name] for row in rows), read.said]) for name in rows[0]
            }

        def join(pair: EditPair, read: _Read) -> Result | Failure:
            for side, caption in zip(("original", "target"), read.said, strict=False):
                if not caption.strip():
                    return Failure(f"{side}_caption is empty, and there is no instruction")
            original, edited = (clips[heard[path]] for path in (pair.original, pair.edited))
            if isinstance(original, Failure):
                return original
            if isinstance(edited, Failure):
                return edited
            return make(EncodedPair(original, edited, worded(read)))

        with self._pool() as pool:
            reads = list(pool.map(read_of, pairs))
            words = dict.fromkeys(text for read in reads for text in read.texts)
            texts = Batched(pool, self.captions, words, self._at_once(len(words), _CAPTIONS))
            texts.start()
            by: dict[Path, frozenset[str]] = {}
            for pair, read in zip(pairs, reads, strict=True):
                needed = self._always
                if with_changed_words and (self._on_demand or spared):
                    said = worded(read)
                    needed = self.encoder.needed(said) - (spared(said) if spared else frozenset())
                for path in (pair.original, pair.edited):
                    by[path] = by.get(path, frozenset()) | needed
            storage.ahead(path for path in by if path not in self._held)
            heard = {path: _Heard(path, names) for path, names in by.items()}
            clips = Batched(pool, self._read, heard.values(), self._at_once(len(heard), _FILES))
            joined = []
            for pair, read in zip(pairs, reads, strict=True):
                # Clips of the pairs to come are encoded beside: to compare takes the interpreter.
                both = heard[pair.original], heard[pair.edited]
                clips.start(until=both, ahead=2 * self.workers)
                joined.append(pool.submit(join, pair, read))
            return [future.result() for future in joined]

    def files(self, paths: Iterable[Path]) -> dict[Path, Clip | Failure]:
        """Features of audio files, each read once; one without says why."""
        once = [_Heard(path, self._always) for path in dict.fromkeys(paths)]
        with self._pool() as pool:
            clips = Batched(pool, self._read, once, self._at_once(len(once), _FILES))
            clips.start()
            return {heard.path: clips[heard] for heard in once}

    def contents(self, paths: Iterable[Path]) -> dict[Path, str]:
        """`audio.content_hash` of audio files, each read once; one that cannot be has none."""

        def content(path: Path) -> str | None:
            try:
                large = audio.state(path)[0] > _LARGE_BYTES
                with self._one_large if large else nullcontext():
                    return audio.content_hash(self._decoded(path))
            except audio.AudioError:
                return None

        once = list(dict.fromkeys(paths))
        with self._pool() as pool:
            hashed = zip(once, pool.map(content, once), strict=True)
            found = {path: key for path, key in hashed if key is not None}
        if self.heard is not None:
            self.heard.update(found)
        return found

    def clips(self, waveforms: Sequence[audio.Waveform]) -> list[Clip]:
        """Features of decoded clips."""
        keys = [audio.content_hash(waveform) for waveform in waveforms]
        return self._encode(list(waveforms), keys, [self._always] * len(waveforms))

    def _encode(
        self,
        waveforms: list[audio.Waveform],
        keys: list[str],
        by: Sequence[frozenset[str]],
        passing: Collection[str] = (),
    ) -> list[Clip]:
        """Features of decoded clips of these hashes, by these extractors each.

        The clips are taken from the list: long ones fill the memory. Those of the hashes `passing`
        are not kept in the cache.
        """

        def encode(missing: Mapping[str, list[int]]) -> Iterator[list[Arrays]]:
            extractors = {name: self.encoder.extractors[name] for name in missing}
            wanted = {(x.rate_hz, row) for name, x in extractors.items() for row in missing[name]}
            at_rate = {(hz, row): audio.resample(waveforms[row], hz) for hz, row in wanted}
            waveforms.clear()
            for name, extractor in extractors.items():
                samples = [at_rate[extractor.rate_hz, row] for row in missing[name]]
                with self._timed(extractor, len(samples), audio.AudioError):
                    made = extractor.encode_audio(samples)
                yield [_entry(extractor, features) for features in made]

        found = self.cache.entries("audio", keys, by, encode, passing)
        return [{name: _features(entry) for name, entry in entries.items()} for entries in found]

    def captions(self, captions: Sequence[str]) -> list[Arrays]:
        """Embeddings of captions :: (text_dim,) by extractor, 0 for one without words.

        What was asked for lately is remembered: not even the cache is read for it.
        """
        readers = {x.name: x for x in self.encoder.reading}
        nothing = {name: np.zeros(x.text_dim, np.float32) for name, x in readers.items()}

        def encode(missing: Mapping[str, list[int]]) -> Iterator[list[Arrays]]:
            for name, rows in missing.items():
                with self._timed(readers[name], len(rows), UserError):
                    made = readers[name].encode_text([worded[row] for row in rows])
                yield [{"embedding": row} for row in made]

        known = {x: said for x in captions if (said := self._said.get(x)) is not None}
        worded = [caption for caption in captions if caption.strip() and caption not in known]
        keys = [hashlib.sha256(caption.encode()).hexdigest() for caption in worded]
        found = self.cache.entries("text", keys, [frozenset(readers)] * len(keys), encode)
        for caption, entries in zip(worded, found, strict=True):
            known[caption] = {name: entry["embedding"] for name, entry in entries.items()}
        with self._lock:
            self._said.update(known)
            for oldest in list(self._said)[:-_REMEMBERED]:
                del self._said[oldest]
        return [known.get(caption, nothing) for caption in captions]

    def _at_once(self, items: int, most: int) -> int:
        """How many at a time: each model has its weights at hand, and no worker waits for long."""
        share = items // (_TURNS * max(self.workers, 1))
        return max(self.encoder.batch_size, min(share, most))

    def _read(self, files: Sequence[_Heard]) -> list[Clip | Failure]:
        sizes = [
            held.samples.nbytes if (held := self._held.get(path)) else audio.state(path)[0]
            for path, _ in files
        ]
        if len(files) > self.encoder.batch_size and sum(sizes) > _LARGE_BYTES:
            half = len(files) // 2
            return self._read(files[:half]) + self._read(files[half:])
        with self._one_large if max(sizes) > _LARGE_BYTES else nullcontext():
            found = self._read_and_encode(files)
        # One clip of the batch has no features: the others must not suffer for it.
        return found or [result for file in files for result in self._read([file])]

    def _read_and_encode(self, files: Sequence[_Heard]) -> list[Clip | Failure]:
        """Nothing where the encoder refuses one of several clips."""
        failures: dict[Path, Failure] = {}
        waveforms: list[audio.Waveform] = []
        keys: list[str] = []
        storage.ahead(path for path, _ in files if path not in self._held)
        for path, _ in files:
            try:
                waveforms.append(self._decoded(path))
                keys.append(audio.content_hash(waveforms[-1]))
                if self.heard is not None:
                    self.heard[path] = keys[-1]
            except audio.AudioError as error:
                failures[path] = Failure(str(error))
        try:
            read = [file for file in files if file.path not in failures]
            by = [names for _, names in read]
            # An edit that changed nothing is its original too, which is kept.
            filed = {k for k, file in zip(keys, read, strict=True) if file.path not in self._held}
            passing = {*keys} - filed
            found = iter(self._encode(waveforms, keys, by, passing))
        except audio.AudioError as error:
            return [Failure(f"{files[0].path}: {error}")] if len(files) == 1 else []
        return [failures[path] if path in failures else next(found) for path, _ in files]

    def _decoded(self, path: Path) -> audio.Waveform:
        if path not in self._held:
            return audio.decode(path, self.max_seconds)
        clip = self._held[path]
        if clip.seconds > self.max_seconds:
            raise audio.AudioError(f"{path}: lasts longer than {self.max_seconds:g} s")
        if reason := audio.fault(clip):
            raise audio.AudioError(f"{path}: {reason}")
        return clip

    @contextmanager
    def _pool(self) -> Iterator[Executor]:
        """For as long as nothing fails: what has not begun by then is not begun any more."""
        pool = ThreadPoolExecutor(self.workers) if self.workers else Caller()
        with one_thread():
            try:
                yield pool
            finally:
                pool.shutdown(cancel_futures=True)

    @contextmanager
    def _timed(self, by: Extractor, items: int, failure: type[ValueError]) -> Iterator[None]:
        """Adds what an extractor takes inside; raises `failure` where its device is too small."""
        start = time.perf_counter()
        with memory_of(by.device, failure, f"{by.name}: an item", "another process may be on it"):
            yield
        with self._lock:
            self.encoder_seconds += time.perf_counter() - start
            self.misses += items


def _entry(extractor: Extractor, features: AudioFeatures) -> Arrays:
    embedding, frames = features
    if embedding.shape != (extractor.dim,):
        raise ValueError(
            f"{extractor.name}: an embedding of shape {embedding.shape}, and its dim is "
            f"{extractor.dim}"
        )
    if not np.isfinite(embedding).all():
        raise audio.AudioError(f"{extractor.name} makes numbers of it that are not finite")
    return {"embedding": embedding, **{f"frames.{k}": v for k, v in frames.items()}}


def _features(entry: Arrays) -> AudioFeatures:
    frames = {k.removeprefix("frames."): v for k, v in entry.items() if k != "embedding"}
    return AudioFeatures(entry["embedding"], frames)
