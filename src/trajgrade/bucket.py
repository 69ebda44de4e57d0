"""Bucket: objects of an S3 bucket, found and read as files are, without a copy on disk.

An address is `s3://bucket/key`; as with files it may end at a folder (a shared beginning of keys)
or be a pattern. Who asks, the region and another server than Amazon's come from the environment, as
for Amazon's own tools: `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`,
`AWS_ENDPOINT_URL`. An address that holds a secret is refused, since addresses are printed and kept.
Nothing is written to a bucket.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, BinaryIO, NamedTuple

from trajgrade.errors import ConfigError, DatasetError, MissingExtraError

S3 = "s3://"

_MAGIC = re.compile(r"[*?\[]")
_BUFFER = 4 * 2**20  # each filling is a request
_SECONDS = 30


class _Facts(NamedTuple):
    kind: str
    size: int


@dataclass(frozen=True)
class BucketFile:
    """An object of a bucket, with as much of a path as reading a file takes.

    Attributes:
        address: The bucket, a slash, and the key.
    """

    address: str

    def __str__(self) -> str:
        """Return its address, as messages show it."""
        return f"{S3}{self.address}"

    @property
    def name(self) -> str:
        """The last part of its key."""
        return self.address.rpartition("/")[2]

    @property
    def parts(self) -> tuple[str, ...]:
        """The bucket and the parts of the key."""
        return (S3, *self.address.split("/"))

    def absolute(self) -> BucketFile:
        """Return itself: there is no folder that it could be relative to."""
        return self

    def resolve(self) -> BucketFile:
        """Return itself: a bucket has no links."""
        return self

    def exists(self) -> bool:
        """Whether there is anything of that address."""
        return self._facts.kind != "NotFound"

    def is_file(self) -> bool:
        """Whether it is an object, and not only what the keys of objects begin with."""
        return self._facts.kind == "File"

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self._facts.size

    @property
    def _facts(self) -> _Facts:
        with _told(str(self)):
            found = _system().get_file_info(self.address)
        return _Facts(found.type.name, found.size or 0)

    def seekable(self) -> Any:
        """Return what pyarrow reads any part of it through."""
        with _told(str(self)):
            return _system().open_input_file(self.address)

    def open(self, mode: str = "rb", buffering: int = -1) -> BinaryIO:
        """Open it for reading."""
        return io.BufferedReader(_Read(self.seekable()), max(buffering, _BUFFER))


class _Read(io.RawIOBase):
    """pyarrow's file as Python's own are."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._file.seek(offset, whence)
        return self.tell()

    def tell(self) -> int:
        return int(self._file.tell())

    def readinto(self, buffer: Any) -> int:
        read = self._file.read(len(buffer))
        buffer[: len(read)] = read
        return len(read)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def find(address: str, is_read: Callable[[str], bool]) -> Sequence[BucketFile]:
    """Return the object of that address, those of that pattern, or those below it, in order.

    What has a hidden name (`.name`, at any depth) is found by its full address only.

    Args:
        address: `s3://bucket/key`, `s3://bucket/folder/`, or a pattern of `*`, `?`, `[…]`, `**`.
        is_read: Whether an object of that name counts, where a folder is named.

    Raises:
        ConfigError: The address holds a key, or no bucket.
        DatasetError: There is nothing, or it cannot be read.
        MissingExtraError: pyarrow is not installed.
    """
    place = _checked(address)
    one = BucketFile(place)
    if not one.address.endswith("/") and "/" in one.address and one.is_file():
        return [one]
    parts = place.rstrip("/").split("/")
    fixed = next((n for n, part in enumerate(parts) if _MAGIC.search(part)), len(parts))
    wanted = parts[fixed:]
    found = [
        file
        for file, inner in _listed("/".join(parts[:fixed]))
        if _fits(inner.split("/"), wanted or ["**", "*"])
        if wanted or is_read(file.name)
    ]
    if not found:
        raise DatasetError(
            f"no object matches {address!r}"
            if wanted
            else f"no such object, and none below it that is read: {address!r}"
        )
    return found


def _checked(address: str) -> str:
    place = address.removeprefix(S3)
    bucket, _, _ = place.partition("/")
    if "@" in bucket or ":" in bucket:
        raise ConfigError(
            "an s3:// address holds no key and no host; set AWS_ACCESS_KEY_ID, "
            "AWS_SECRET_ACCESS_KEY and AWS_ENDPOINT_URL instead"
        )
    if not bucket or _MAGIC.search(bucket):
        raise ConfigError(f"{address!r} names no bucket: write s3://bucket/key")
    return place


def _listed(folder: str) -> Iterator[tuple[BucketFile, str]]:
    """Yield each object below a folder, in order, with its key from there."""
    from pyarrow.fs import FileSelector

    with _told(f"{S3}{folder}"):
        selector = FileSelector(folder, recursive=True, allow_not_found=True)
        paths = sorted(one.path for one in _system().get_file_info(selector) if one.is_file)
    for path in paths:
        yield BucketFile(path), path.removeprefix(f"{folder}/")


def _fits(parts: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether the parts of a key fit the parts of a pattern, as `glob` has it."""
    if not wanted:
        return not parts
    if wanted[0] == "**":
        return _fits(parts, wanted[1:]) or (
            bool(parts) and not parts[0].startswith(".") and _fits(parts[1:], wanted)
        )
    if not parts or (parts[0].startswith(".") and not wanted[0].startswith(".")):
        return False
    return fnmatchcase(parts[0], wanted[0]) and _fits(parts[1:], wanted[1:])


def _system() -> Any:
    """Return what speaks to the server that the environment names.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    return _connected(endpoint or None, region or None)


@lru_cache(maxsize=4)
def _connected(endpoint: str | None, region: str | None) -> Any:
    try:
        from pyarrow.fs import S3FileSystem
    except ImportError:
        raise MissingExtraError("an s3:// address", "pyarrow", "parquet") from None
    return S3FileSystem(
        endpoint_override=endpoint,
        region=region or ("us-east-1" if endpoint else None),
        connect_timeout=_SECONDS,
        request_timeout=_SECONDS,
    )


@contextmanager
def _told(address: str) -> Iterator[None]:
    """Make what the server refuses a `DatasetError`."""
    try:
        yield
    except FileNotFoundError:
        raise DatasetError(f"no such object: {address!r}") from None
    except OSError as broken:
        raise DatasetError(f"{address} cannot be read: {broken}") from None
