"""Datasets in a bucket are read as files are: a real S3 server on this machine."""

from __future__ import annotations

import gzip
import io
import json
import socket
import sys
import threading
from contextlib import contextmanager, suppress

import pytest

import trajgrade
from tests import bucket
from tests.test_spread import written
from trajgrade.bucket import BucketFile
from trajgrade.dataset import Dataset
from trajgrade.errors import ConfigError, DatasetError, MissingExtraError
from trajgrade.sources import content, find, lines

NAMES = ["trajectory_exact_match", "trajectory_recall"]


@pytest.fixture(scope="module")
def _served():
    with bucket.served() as served:
        yield served


@pytest.fixture(autouse=True)
def store(_served, monkeypatch):
    """Writes an object."""
    writer, env = _served
    for name, value in env.items():
        monkeypatch.setenv(name, value)

    def put(key: str, text: bytes) -> str:
        with writer.open_output_stream(f"{bucket.NAME}/{key}") as stream:
            stream.write(text)
        return f"s3://{bucket.NAME}/{key}"

    return put


def parquet(path, **options):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as files

    rows = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    made = io.BytesIO()
    files.write_table(pyarrow.Table.from_pylist(rows), made, **options)
    return made.getvalue()


def test_an_object_is_found_by_its_address_its_folder_and_a_pattern(store):
    for key in ("f/a.jsonl", "f/b/c.csv", "f/b/.hidden.csv", "f/b/d.txt", "f/.h/e.csv"):
        store(key, b"id\n1\n")
    root = f"s3://{bucket.NAME}"

    def found(place):
        return [str(source.path).removeprefix(f"{root}/f/") for source in find(place)]

    assert found(f"{root}/f/a.jsonl") == ["a.jsonl"]
    assert found(f"{root}/f/b/.hidden.csv") == ["b/.hidden.csv"]
    assert found(f"{root}/f/") == found(f"{root}/f") == ["a.jsonl", "b/c.csv"]
    assert found(f"{root}/f/*.jsonl") == ["a.jsonl"]
    assert found(f"{root}/f/*/*") == ["b/c.csv", "b/d.txt"]
    assert found(f"{root}/f/**/?.csv") == ["b/c.csv"]
    assert found([f"{root}/f/b/c.csv", f"{root}/f/a.jsonl"]) == ["b/c.csv", "a.jsonl"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, "zstd"])
def test_lines_and_content_are_those_of_the_bytes(store, pack):
    if pack == "zstd":
        pack = pytest.importorskip("zstandard").ZstdCompressor().compress
    text = b"\xef\xbb\xbf" + b'{"a": 1}\n\n' * 1000
    (source,) = find(store("lines.jsonl", pack(text)))
    assert [number for number, _ in lines(source.path)] == list(range(1, 2001, 2))
    assert content(source.path) == text.removeprefix(b"\xef\xbb\xbf")


def test_any_part_of_an_object_is_read(store):
    text = bytes(range(256)) * 100
    store("bytes", text)
    with BucketFile(f"{bucket.NAME}/bytes").open() as stream:
        assert stream.read(10) == text[:10]
        stream.seek(-7, io.SEEK_END)
        assert stream.read() == text[-7:]
        stream.seek(300)
        assert stream.tell() == 300
        assert stream.read(5) == text[300:305]


@pytest.mark.parametrize("engine", ["event_loop", "process_pool"])
@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_rows_are_those_of_the_same_file_on_disk(store, tmp_path, engine, kind):
    path = written(tmp_path / "d.jsonl", 60, blank=kind == "jsonl")
    text = path.read_bytes() if kind == "jsonl" else parquet(path, row_group_size=20)
    path = tmp_path / f"d.{kind}"
    path.write_bytes(text)
    address = store(f"{engine}.{kind}", text)
    there = trajgrade.evaluate(address, NAMES, engine=engine, workers=2)
    here = trajgrade.evaluate(str(path), NAMES)
    told = [[row.to_dict() for row in run.rows] for run in (here, there)]
    assert all(str(row.pop("source")).startswith(str(path)) for row in told[0])
    assert all(str(row.pop("source")).startswith(address) for row in told[1])
    assert told[0] == told[1]
    assert here.to_dict()["metrics"] == there.to_dict()["metrics"]
    assert Dataset.load(address).hash() == Dataset.load(path).hash()


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("nothing.jsonl", "no such object"),
        ("nothing/", "no such object"),
        ("nothing/*.jsonl", "no object matches"),
    ],
)
def test_what_is_not_there_is_told_by_its_address(place, message):
    with pytest.raises(DatasetError, match=message) as told:
        find(f"s3://{bucket.NAME}/{place}")
    assert f"s3://{bucket.NAME}/{place}" in str(told.value)


@contextmanager
def answering(reply: bytes):
    """A server that gives one reply to all, and ends the connection."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            with suppress(OSError):
                while True:
                    asked, _ = listening.accept()
                    with asked:
                        asked.recv(65536)
                        asked.sendall(reply)
                        asked.shutdown(socket.SHUT_WR)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)


def test_a_key_that_is_refused_is_told_and_not_repeated(monkeypatch):
    with answering(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n") as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        with pytest.raises(
            DatasetError, match=r"s3://graded/a.jsonl cannot be read: .*DENIED"
        ) as told:
            Dataset.load("s3://graded/a.jsonl")
    assert "hidden-from-all" not in str(told.value)


def test_a_connection_that_breaks_is_told(monkeypatch, store):
    where = store("torn/a.jsonl", b'{"id": "a", "response": "b", "reference": "b"}\n' * 100)
    cut = b'HTTP/1.1 200 OK\r\nContent-Length: 5000\r\nETag: "x"\r\n\r\n{'
    with answering(cut) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        with pytest.raises(
            DatasetError, match=r"s3://graded/torn/a.jsonl cannot be read: .*CONNECTION"
        ):
            Dataset.load(where)


def test_a_bucket_that_is_not_there_is_told_and_no_secret_is():
    with pytest.raises(DatasetError, match="no-such-bucket") as told:
        find("s3://no-such-bucket/a/")
    assert "hidden-from-all" not in str(told.value)


@pytest.mark.parametrize("place", ["s3://key:secret@host/a", "s3://host:9000/a"])
def test_an_address_that_holds_a_secret_is_refused_and_not_repeated(place):
    with pytest.raises(ConfigError, match="AWS_SECRET_ACCESS_KEY") as told:
        find(place)
    assert "secret@" not in str(told.value)


@pytest.mark.parametrize("place", ["s3://", "s3:///a.jsonl", "s3://*/a.jsonl"])
def test_an_address_without_a_bucket_is_refused(place):
    with pytest.raises(ConfigError, match="names no bucket"):
        find(place)


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setenv("AWS_REGION", "eu-nowhere-1")  # so that no earlier connection is taken
    monkeypatch.setitem(sys.modules, "pyarrow.fs", None)
    with pytest.raises(MissingExtraError, match=r"trajgrade\[parquet\]"):
        find(f"s3://{bucket.NAME}/a.jsonl")
