"""Where rows and traces lie: paths in, bytes out.

A place is a file, a glob pattern, a directory (every `.json`, `.jsonl`, `.ndjson`, `.csv`, `.tsv`,
`.parquet` in it, also with `.gz` or `.zst`, at any depth, hidden ones left out), or a list of
those; also in a bucket, `s3://bucket/key` (`trajgrade.bucket`). Gzip, zstd and Parquet are seen by
their first bytes, whatever the name. The kind of a file follows from its suffix, else from its
content; a `.json` file that holds one JSON text per line is JSON Lines all the same. Text is UTF-8,
with or without a byte-order mark.

Lines are read one at a time in constant memory. One line, or one document, may have `MAX_BYTES`
after unpacking. A place that holds nothing is an error, never an empty list.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from glob import glob
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, cast, get_args

from trajgrade import bucket
from trajgrade.bucket import S3, BucketFile
from trajgrade.errors import ConfigError, DatasetError, MissingExtraError, near, shorten, unknown

Kind = Literal["json", "jsonl", "csv", "parquet"]
Place = str | os.PathLike[str] | Iterable["Place"]
File = Path | BucketFile

MAX_BYTES = 1 << 30

_SUFFIXES: dict[str, Kind] = {
    ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "csv",
    ".parquet": "parquet",
}  # fmt: skip
_FOREIGN = {
    b"PK\x03\x04": "a zip archive (or an Excel sheet)",
    b"SQLite format 3": "an SQLite database",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_PARQUET = b"PAR1"
_FED = 1024  # bytes of zstd at a time; they unpack to at most 32 MiB
_WINDOW = 1 << 27  # bytes that a zstd file may ask to be kept while it is unpacked
_BOM = b"\xef\xbb\xbf"
_MAGIC = re.compile(r"[*?\[]")
_HEAD = 1 << 20
_BUFFER = 1 << 18  # Python's own, 8 KiB, is less than a row and makes lines four times slower
_LISTED = 10_000


class Source(NamedTuple):
    """One file, and how it is read."""

    path: File
    kind: Kind

    def __str__(self) -> str:
        """Return the path, as messages show it."""
        return str(self.path)


def find(place: Place, kind: str | None = None) -> list[Source]:
    """Return the files at a place, at least one, in a stable order.

    Args:
        place: A path, a glob pattern, a directory, or a list of those.
        kind: `json`, `jsonl` or `csv`, where the files' names and contents should not decide.

    Raises:
        ConfigError: There is no such kind.
        DatasetError: The place holds no file, or one that cannot be read.
    """
    if kind is not None and kind not in get_args(Kind):
        raise ConfigError(unknown("file format", kind, get_args(Kind)))
    places = [place] if isinstance(place, (str, os.PathLike)) else list(place)
    sources: dict[File, Source] = {}
    for one in places:
        if not isinstance(one, (str, os.PathLike)):
            raise DatasetError(f"expected a path, got {type(one).__name__} {shorten(one)}")
        for path in _paths(os.fspath(one)):
            if path in sources:
                raise DatasetError(f"{path} is given twice; name it once")
            sources[path] = Source(path, cast("Kind", kind) if kind else kind_of(path))
    if not sources:
        raise DatasetError("no path given: the list of paths is empty")
    return list(sources.values())


def _paths(text: str) -> Iterable[File]:
    if text.startswith(S3):
        return bucket.find(text, lambda name: _suffix(name) in _SUFFIXES)
    if "://" in text:
        raise DatasetError(f"{text!r} is no local path; download it and give the path of the file")
    path = Path(text).expanduser()
    try:
        if text and path.is_dir():
            return _inside(path)
        if text and path.exists():
            return [path]
        matches = (
            glob(str(path), recursive=True)  # noqa: PTH207 Path.glob takes no absolute pattern
            if _MAGIC.search(text)
            else []
        )
    except (OSError, ValueError) as broken:
        raise DatasetError(f"{text!r} is no path that can be read: {broken}") from None
    found = sorted(match for match in map(Path, matches) if match.is_file())
    if not found:
        raise DatasetError(absent(text))
    return found


def _inside(directory: Path) -> list[Path]:
    found = []
    for parent, folders, names in os.walk(directory):
        folders[:] = sorted(folder for folder in folders if not folder.startswith("."))
        found += [
            Path(parent, name)
            for name in sorted(names)
            if not name.startswith(".") and _suffix(name) in _SUFFIXES
        ]
    if not found:
        raise DatasetError(f"the directory {directory} holds no file of {', '.join(_SUFFIXES)}")
    return found


def _suffix(name: str) -> str:
    return Path(name.lower().removesuffix(".gz").removesuffix(".zst")).suffix


def absent(text: str) -> str:
    """Say that nothing is at a path or matches a pattern, and name the nearest that is there."""
    path = Path(text).expanduser()
    what = "no file matches" if _MAGIC.search(text) else "no such file or directory:"
    parent = next((up for up in path.parents if up.is_dir()), None)
    if parent is None:
        return f"{what} {text!r}"
    wanted = path.relative_to(parent).parts[0] if path != parent else path.name
    with os.scandir(parent) as entries:
        guess = near(wanted, (entry.name for entry in islice(entries, _LISTED)))
    hint = (
        f". Did you mean {str(parent / guess)!r}?" if guess else f" (looked in {parent.absolute()})"
    )
    return f"{what} {text!r}{hint}"


def kind_of(path: File) -> Kind:
    """Return how a file is read, by its suffix or else its content.

    Raises:
        DatasetError: It cannot be read, or is of a kind that is not read.
    """
    with opened(path) as stream:
        head = stream.read(_HEAD)
    if head.startswith(_PARQUET):
        return "parquet"
    for mark, name in _FOREIGN.items():
        if head.startswith(mark):
            raise DatasetError(
                f"{path} is {name}, which is not read; save it as JSON Lines or CSV in UTF-8"
            )
    named = _SUFFIXES.get(_suffix(path.name))
    if named in ("jsonl", "csv"):
        return named
    head = head.removeprefix(_BOM).lstrip()
    if head[:1] not in (b"{", b"["):
        return named or "csv"
    first, _, rest = head.partition(b"\n")
    ends, begins = first.rstrip()[-1:], rest.lstrip()[:1]
    # Within one JSON text a comma stands between what ends and what begins.
    return "jsonl" if ends in (b"}", b"]") and begins in (b"{", b"[") else "json"


@contextmanager
def opened(path: File) -> Iterator[BinaryIO]:
    """Open a file, unpacked; what goes wrong while it is read becomes a `DatasetError`."""
    if path.exists() and not path.is_file():
        raise DatasetError(f"{path} is a pipe or device; save its content in a file first")
    try:
        with path.open("rb", buffering=_BUFFER) as raw:
            mark = raw.read(4)
            raw.seek(0)
            if mark.startswith(_GZIP):
                with io.BufferedReader(gzip.GzipFile(fileobj=raw), _BUFFER) as unpacked:
                    yield unpacked
            elif mark == _ZSTD:
                with _unzstd(path, raw) as unpacked:
                    yield unpacked
            else:
                yield raw
    except (EOFError, gzip.BadGzipFile, zlib.error) as broken:
        raise DatasetError(f"{path}: its gzip is torn or broken ({broken})") from None
    except OSError as broken:
        raise DatasetError(f"{path} cannot be read: {broken.strerror or broken}") from None


@contextmanager
def _unzstd(path: File, raw: BinaryIO) -> Iterator[BinaryIO]:
    """Unpack a zstd file as it is read.

    Raises:
        MissingExtraError: The package that does so is not installed.
    """
    try:
        import zstandard
    except ImportError:
        raise MissingExtraError(f"{path.name}, which is zstd,", "zstandard", "zstd") from None
    unpacker = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
    try:
        with io.BufferedReader(_Unzstd(raw, unpacker), _BUFFER) as unpacked:
            yield unpacked
    except (EOFError, zstandard.ZstdError) as broken:
        raise DatasetError(f"{path}: its zstd is torn or broken ({broken})") from None


class _Unzstd(io.RawIOBase):
    """A zstd file unpacked, frame after frame; that it ends within a frame is an error.

    It is fed so little at a time that what comes of it is bounded, however well it was packed.
    """

    def __init__(self, raw: BinaryIO, unpacker: Any) -> None:
        self._raw = raw
        self._unpacker = unpacker
        self._frame: Any = None
        self._ready = b""

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer; return how many bytes came, 0 at the end."""
        while not self._ready:
            within = self._frame is not None and not self._frame.eof
            rest = b"" if within or self._frame is None else self._frame.unused_data
            packed = rest or self._raw.read(_FED)
            if not packed:
                if within:
                    raise EOFError("it ends within a frame")
                return 0
            if not within:
                self._frame = self._unpacker.decompressobj()
            self._ready = self._frame.decompress(packed)
        taken = min(len(buffer), len(self._ready))
        buffer[:taken], self._ready = self._ready[:taken], self._ready[taken:]
        return taken


def size(path: File) -> int:
    """Return how many bytes a file has, packed as it is."""
    return path.size if isinstance(path, BucketFile) else path.stat().st_size


def content(path: File) -> bytes:
    """Return the whole of a file, unpacked, without byte-order mark.

    Raises:
        DatasetError: It cannot be read, or has more than `MAX_BYTES`.
    """
    with opened(path) as stream:
        whole = stream.read(MAX_BYTES + 1)
    if len(whole) > MAX_BYTES:
        raise DatasetError(
            f"{path} has more than {MAX_BYTES:,} bytes, too many for one document; "
            "save it as JSON Lines, which is read row by row"
        )
    return whole.removeprefix(_BOM)


def lines(path: File) -> Iterator[tuple[int, bytes]]:
    """Yield the number (from 1) and the bytes of each line that is not blank, one at a time.

    Raises:
        DatasetError: The file cannot be read, or a line has more than `MAX_BYTES`.
    """
    with opened(path) as stream:
        for number, line in enumerate(iter(partial(stream.readline, MAX_BYTES + 1), b""), 1):
            if len(line) > MAX_BYTES:
                raise DatasetError(f"{path} line {number} has more than {MAX_BYTES:,} bytes")
            text = line.removeprefix(_BOM) if number == 1 else line
            if text and not text.isspace():
                yield number, text


def broken_line(place: str, line: bytes, why: object) -> DatasetError:
    """Return the error that says where a line is not JSON, and why that may be.

    Args:
        place: Where it stands: `eval.jsonl line 17`.
        line: Its bytes, with the line's end where it has one.
        why: What the parser said.
    """
    cause = "" if line.endswith(b"\n") else "; the file ends in it: was its writer stopped?"
    if line.strip() in (b"[", b"{"):
        cause = "; the file seems to be one JSON text: name its format json"
    return DatasetError(f"{place} is not JSON: {why}{cause}; found {shorten(line)}")
