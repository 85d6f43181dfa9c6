"""What an audio file says of its own length, by its bytes.

libsndfile takes what is there of a cut file for the whole, and notes it, if at all, in a log of
2 kB that many chunks or a long comment fill. So what can stand behind those is read here.
"""

from __future__ import annotations

import io
import os
import re
import struct
from typing import BinaryIO, NamedTuple


class _Chunked(NamedTuple):
    """A file of chunks: where the first begins, name and size, and which holds the samples.

    A size from `unknown` on is that of a writer to a pipe, who cannot know it. It is of the content
    or, if `of_all`, of the header as well; the next chunk begins at a multiple of `aligned`.
    """

    start: int
    header: struct.Struct
    samples: bytes
    unknown: int = 0x7FFF_0000
    of_all: bool = False
    aligned: int = 2


_BIG, _LITTLE = struct.Struct(">4sI"), struct.Struct("<4sI")
_CHUNKED = {
    b"RIFF": _Chunked(12, _LITTLE, b"data"),
    b"RIFX": _Chunked(12, _BIG, b"data"),
    b"RF64": _Chunked(12, _LITTLE, b"data", unknown=1 << 62),
    b"riff": _Chunked(40, struct.Struct("<4s12xQ"), b"data", 1 << 62, of_all=True, aligned=8),
    b"AIFF": _Chunked(12, _BIG, b"SSND"),
    b"AIFC": _Chunked(12, _BIG, b"SSND"),
    b"8SVX": _Chunked(12, _BIG, b"BODY"),
    b"16SV": _Chunked(12, _BIG, b"BODY"),
    b"caff": _Chunked(8, struct.Struct(">4sQ"), b"data", 1 << 62, aligned=1),
}
_MOST_CHUNKS = 10_000
_IN_DS64 = 0xFFFF_FFFF  # as size of the samples in RF64: it stands in an earlier chunk

# The headers of these are short. PAF, PVF, IRCAM and XI state no length: what is there is all.
_LOGGED = {
    "AU": r"Data Size +: (?P<declared>\d+) \(should be (?P<held>\d+)\)",
    "AVR": r"Frames +: (?P<declared>\d+)",
    "MAT4": r"truncated\. (?P<held>\d+) <--> (?P<declared>\d+)",
    "MAT5": r"Cols : (?P<declared>\d+)\s+Type : \w+ +Size : \d+\s+Name : wavedata",
    "MPC2K": r"Frames +: (?P<declared>\d+)",
    "VOC": r"(?P<held>truncated) file",
    "WVE": r"Data length (?P<declared>\d+) should be (?P<held>\d+)",
}
_AU_UNKNOWN = 0xFFFF_FFFF

_TAG = struct.Struct(">3s3x4B")
_OGG_PAGE = struct.Struct("<4sxB20xB")
_MOST_OGG_PAGE = _OGG_PAGE.size + 255 + 255 * 255
_MP3_HEADER = 4
_MOST_TAG = 1 << 24  # behind an MP3
_LARGEST_TO_LEAST_FRAME = 64  # 1441 bytes to 24
FRAME_SAMPLES = 1152
"""Of an MP3; half as many at low rates."""
_MP3_SIDE = {(True, False): 32, (True, True): 17, (False, False): 17, (False, True): 9}
"""Bytes before the length in the first frame of an MP3, by whether it is MPEG 1, and mono."""


def fault(file: BinaryIO) -> str | None:
    """Why an unbuffered file does not hold all that its header declares, as a clause.

    None for a whole file, and for a container that is not WAV, RF64, Wave 64, AIFF, SVX, CAF, NIST
    or Ogg. Moves the position in the file.
    """
    start = _behind_tags(file)
    head = _read(file, start, 12)
    kind = head[8:] if head[:4] == b"FORM" else head[:4]
    if kind == b"OggS":
        return _ogg_fault(file)
    if kind == b"NIST":
        return shortage(*_nist_bytes(file), "bytes of samples")
    if kind not in _CHUNKED:
        return None
    sizes = _chunk_bytes(file, start, _CHUNKED[kind])
    if sizes is None:
        return f"its first {_MOST_CHUNKS} chunks hold no samples"
    return shortage(*sizes, "bytes of samples")


def logged_fault(container: str, log: str, frames: int) -> str | None:
    """The same for other containers, by the log of libsndfile, which has found so many frames."""
    found = re.search(_LOGGED[container], log) if container in _LOGGED else None
    if found is None:
        return None
    declared, held = (found.groupdict().get(name) for name in ("declared", "held"))
    if declared is None:
        return f"truncated, its last block ends behind the {frames} samples that are there"
    if held is None:
        return shortage(int(declared), frames)
    return shortage(int(declared) % _AU_UNKNOWN, int(held), "bytes of samples")


def shortage(declared: int, held: int, what: str = "samples") -> str | None:
    """A clause with both lengths, None where nothing is missing."""
    if held >= declared:
        return None
    return f"truncated, its header declares {declared} {what} and {held} are there"


class Endless(io.FileIO):
    """A file that seems far longer than it is: libsndfile guesses a length that is beyond its end.

    For MP3s that do not say how long they are. The guess is made from the sizes of the file and of
    the first frame, and nothing is read behind it. Shares the position of the file that it is of.
    """

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file.fileno(), "rb", closefd=False)
        self._sync = _read(self, _behind_tags(self), 2)

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        if (offset, whence) == (0, os.SEEK_END):  # further ahead of it stands a tag
            return super().seek(_LARGEST_TO_LEAST_FRAME * _size(self))
        return super().seek(offset, whence)

    def is_read(self) -> bool:
        """Whether no other frame is left: what cannot be decoded then was cut, or is a tag."""
        rest = self.read(_MOST_TAG + 1)
        return len(rest) <= _MOST_TAG and self._sync not in rest


def lacks_length(file: BinaryIO) -> bool:
    """Whether a file is an MP3 that does not say how long it is (Xing, Info)."""
    head = _read(file, _behind_tags(file), 64)
    if len(head) < 64 or head[0] != 0xFF or head[1] & 0b1110_0110 != 0b1110_0010:
        return False
    mpeg_1, unprotected, mono = bool(head[1] & 8), head[1] & 1, head[3] >> 6 == 3
    own = head[_MP3_HEADER + (0 if unprotected else 2) + _MP3_SIDE[mpeg_1, mono] :]
    return own[:4] not in (b"Xing", b"Info") or not own[7] & 1


def _read(file: BinaryIO, at: int, length: int) -> bytes:
    file.seek(at)
    return file.read(length)


def _size(file: BinaryIO) -> int:
    return os.fstat(file.fileno()).st_size


def _behind_tags(file: BinaryIO) -> int:
    """Where the audio begins: ID3v2 tags may stand before any container."""
    at = 0
    while (tag := _read(file, at, _TAG.size))[:3] == b"ID3" and len(tag) == _TAG.size:
        sevens = _TAG.unpack(tag)[1:]
        at += _TAG.size + sum(x << shift for x, shift in zip(sevens, (21, 14, 7, 0), strict=True))
    return at


def _chunk_bytes(file: BinaryIO, start: int, kind: _Chunked) -> tuple[int, int] | None:
    """How many bytes of samples are declared (0: unknown), and how many are there."""
    size, at, in_ds64 = _size(file), start + kind.start, 0
    for _ in range(_MOST_CHUNKS):
        if at + kind.header.size > size:
            return 0, 0  # libsndfile says what it is instead
        name, declared = kind.header.unpack(_read(file, at, kind.header.size))
        at += kind.header.size
        declared = max(declared - kind.header.size, 0) if kind.of_all else declared
        if name == b"ds64":
            in_ds64 = int.from_bytes(_read(file, at + 8, 8), "little")
        if name == kind.samples:
            declared = in_ds64 if in_ds64 and declared == _IN_DS64 else declared
            return (declared if declared < kind.unknown else 0), size - at
        at += declared + -declared % kind.aligned
    return None


def _nist_bytes(file: BinaryIO) -> tuple[int, int]:
    head = _read(file, 0, 1024)
    declared = 1
    for name in (b"sample_count", b"channel_count", b"sample_n_bytes"):
        found = re.search(rb"^%b -\w+ (\d{1,18})$" % name, head, re.MULTILINE)
        declared *= int(found[1]) if found else 0
    start = re.match(rb"NIST_1A\s+(\d{1,18})", head)
    return declared, max(0, _size(file) - (int(start[1]) if start else 0))


def _ogg_fault(file: BinaryIO) -> str | None:
    """An Ogg file ends with a whole page that says it is the last."""
    end = _read(file, max(0, _size(file) - _MOST_OGG_PAGE), _MOST_OGG_PAGE)
    for found in re.finditer(b"OggS", end):
        page = end[found.start() :]
        if len(page) >= _OGG_PAGE.size:
            _, flags, segments = _OGG_PAGE.unpack_from(page)
            header = _OGG_PAGE.size + segments
            if flags & 4 and len(page) == header + sum(page[_OGG_PAGE.size : header]):
                return None
    return "truncated, its last whole Ogg page is not the end of the stream"
