"""Features of clips, captions and pairs, each computed once and kept on disk by content.

Each extractor has a folder of its own, named by its revision and by the device that it is on when
the store is made: another one beside it, or another revision of it, costs the others nothing. The
key of a clip is the hash of its decoded samples, so a renamed file costs nothing and one changed
sample recomputes that clip alone. An entry is one of `auditeval.entries`, in the form of
safetensors: several processes may share one cache.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from safetensors.numpy import load, save

from auditeval import audio, storage
from auditeval.entries import Entries, bounded
from auditeval.features.asked import asked, told
from auditeval.features.batches import Batched, Caller
from auditeval.features.encoder import Clip, EncodedPair, Encoder
from auditeval.features.extractor import AudioFeatures, Extractor, Texts
from auditeval.features.pair import PairFeatures
from auditeval.features.reworded import Alike
from auditeval.pretrained.accelerators import memory_of
from auditeval.pretrained.threads import one_thread
from auditeval.types import EditPair, UserError, whole

Result = TypeVar("Result")
Arrays = dict[str, np.ndarray]
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
    `encoder_seconds` and `misses` say what the encoders cost so far. A cache on a full disk, or on
    one that cannot be written or read, costs a warning; raises UserError where it is no folder.
    It may be a URL, and is kept to `cache_size` (default `$AUDITEVAL_CACHE_SIZE`, or no bound), see
    `entries.bounded`. A store that does not answer raises StorageError, also for clips.
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
        self._heard_of = heard
        self._lock = threading.Condition()
        self._claimed: set[str] = set()
        self._said: dict[str, dict[str, np.ndarray]] = {}
        self._one_large = threading.Lock()
        folder = storage.path(cache_dir or storage.cache_dir())
        most = storage.bytes_of(cache_size or os.environ.get("AUDITEVAL_CACHE_SIZE"))
        bound = None if most is None else bounded(folder, most)
        self._entries = {
            name: Entries(folder / extractor.made_by, extractor.made_by, bound=bound)
            for name, extractor in encoder.extractors.items()
        }
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise UserError(
                f"{folder}: the feature cache cannot be made ({error.strerror}); set "
                "AUDITEVAL_CACHE to a folder you can write to"
            ) from None
        except OSError:
            pass  # the first entry says so

    @property
    def damaged(self) -> int:
        """Entries of the cache so far that were not what had been written; they were made again."""
        return sum(entries.damaged for entries in self._entries.values())

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
            storage.ahead(by)
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

    def clips(self, waveforms: Sequence[audio.Waveform]) -> list[Clip]:
        """Features of decoded clips."""
        keys = [audio.content_hash(waveform) for waveform in waveforms]
        return self._encode(list(waveforms), keys, [self._always] * len(waveforms))

    def _encode(
        self, waveforms: list[audio.Waveform], keys: list[str], by: Sequence[frozenset[str]]
    ) -> list[Clip]:
        """Features of decoded clips of these hashes, by these extractors each.

        The clips are taken from the list: long ones fill the memory.
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

        found = self._cached("audio", keys, by, encode)
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
        found = self._cached("text", keys, [frozenset(readers)] * len(keys), encode)
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
        sizes = [audio.state(file.path)[0] for file in files]
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
        storage.ahead(path for path, _ in files)
        for path, _ in files:
            try:
                waveforms.append(audio.decode(path, self.max_seconds))
                keys.append(audio.content_hash(waveforms[-1]))
                if self._heard_of is not None:
                    self._heard_of[path] = keys[-1]
            except audio.AudioError as error:
                failures[path] = Failure(str(error))
        try:
            by = [names for path, names in files if path not in failures]
            found = iter(self._encode(waveforms, keys, by))
        except audio.AudioError as error:
            return [Failure(f"{files[0].path}: {error}")] if len(files) == 1 else []
        return [failures[path] if path in failures else next(found) for path, _ in files]

    @contextmanager
    def _pool(self) -> Iterator[Executor]:
        """For as long as nothing fails: what has not begun by then is not begun any more."""
        pool = ThreadPoolExecutor(self.workers) if self.workers else Caller()
        with one_thread():
            try:
                yield pool
            finally:
                pool.shutdown(cancel_futures=True)

    def _cached(
        self,
        kind: str,
        keys: Sequence[str],
        by: Sequence[frozenset[str]],
        compute: Callable[[Mapping[str, list[int]]], Iterable[list[Arrays]]],
    ) -> list[dict[str, Arrays]]:
        """The entries of these keys, by extractor: of those that `by` names for each.

        `compute` is told of which rows each extractor has none, and makes them in this order.
        """
        names = [f"{kind}/{key[:2]}/{key}" for key in keys]
        rows = {name: row for row, name in enumerate(names)}
        with self._claim(set(names)):
            entries: dict[str, dict[str, Arrays]] = {name: {} for name in rows}
            missing: dict[str, list[int]] = {}
            wanted = {name: frozenset[str]() for name in rows}
            for name, extractors in zip(names, by, strict=True):
                wanted[name] |= extractors
            for extractor in self.encoder.extractors:
                asked = [name for name in rows if extractor in wanted[name]]
                for name, data in zip(asked, self._entries[extractor].read_all(asked), strict=True):
                    if data is None:
                        missing.setdefault(extractor, []).append(rows[name])
                    else:
                        entries[name][extractor] = load(data)
            for of, computed in zip(missing, compute(missing) if missing else (), strict=True):
                made = {names[row]: one for row, one in zip(missing[of], computed, strict=True)}
                self._entries[of].write_all((name, _saved(one)) for name, one in made.items())
                for name, one in made.items():
                    entries[name][of] = one
        return [
            {of: entries[name][of] for of in self.encoder.extractors if of in wanted[name]}
            for name in names
        ]

    @contextmanager
    def _timed(self, by: Extractor, items: int, failure: type[ValueError]) -> Iterator[None]:
        """Adds what an extractor takes inside; raises `failure` where its device is too small."""
        start = time.perf_counter()
        with memory_of(by.device, failure, f"{by.name}: an item", "another process may be on it"):
            yield
        with self._lock:
            self.encoder_seconds += time.perf_counter() - start
            self.misses += items

    @contextmanager
    def _claim(self, names: set[str]) -> Iterator[None]:
        """Waits while another thread has any of these: files of equal content are encoded once."""
        with self._lock:
            self._lock.wait_for(lambda: self._claimed.isdisjoint(names))
            self._claimed |= names
        try:
            yield
        finally:
            with self._lock:
                self._claimed -= names
                self._lock.notify_all()


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


def _saved(entry: Arrays) -> bytes:
    return save({key: np.ascontiguousarray(value) for key, value in entry.items()})


def _features(entry: Arrays) -> AudioFeatures:
    frames = {k.removeprefix("frames."): v for k, v in entry.items() if k != "embedding"}
    return AudioFeatures(entry["embedding"], frames)
