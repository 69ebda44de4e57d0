"""Paths in, bytes out: files by path, pattern and folder, packed or not, and what is refused."""

from __future__ import annotations

import gzip
import os
import sys
from pathlib import Path

import pytest

from trajgrade import sources
from trajgrade.errors import ConfigError, DatasetError, MissingExtraError
from trajgrade.sources import content, find, lines


def names(found):
    return [source.path.name for source in found]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "runs" / "deep").mkdir(parents=True)
    (tmp_path / "runs" / ".hidden").mkdir()
    for name in ("b.jsonl", "a.json", "deep/c.csv", "deep/d.jsonl.gz", "notes.md", ".x.json"):
        (tmp_path / "runs" / name).write_text('{"id": 1}\n')
    (tmp_path / "runs" / ".hidden" / "e.json").write_text("[]")
    return tmp_path / "runs"


# ------------------------------------------------------------------------------ places


def test_a_path_is_found_as_text_and_as_path(folder: Path):
    assert names(find(str(folder / "a.json"))) == ["a.json"]
    assert names(find(folder / "a.json")) == ["a.json"]


def test_a_folder_gives_its_files_at_any_depth_without_hidden_and_unknown_ones(folder: Path):
    assert names(find(folder)) == ["a.json", "b.jsonl", "c.csv", "d.jsonl.gz"]


def test_a_pattern_gives_its_matches_in_order(folder: Path):
    assert names(find(str(folder / "*.json*"))) == ["a.json", "b.jsonl"]
    assert names(find(str(folder / "**" / "*.jsonl*"))) == ["b.jsonl", "d.jsonl.gz"]


def test_a_name_with_the_marks_of_a_pattern_is_that_file(tmp_path: Path):
    (tmp_path / "run[1].json").write_text("[]")
    (tmp_path / "run1.json").write_text("[]")
    assert names(find(tmp_path / "run[1].json")) == ["run[1].json"]


def test_a_list_gives_all_of_its_places(folder: Path):
    assert names(find([folder / "b.jsonl", str(folder / "a*")])) == ["b.jsonl", "a.json"]


def test_one_file_named_twice_is_refused(folder: Path):
    with pytest.raises(DatasetError, match="given twice"):
        find([folder / "a.json", folder])


# ------------------------------------------------------------------------------ nothing there


def test_a_mistyped_path_is_an_error_with_the_nearest_name(folder: Path):
    with pytest.raises(DatasetError, match=r"no such file.*a\.jsn.*Did you mean '.*a\.json'"):
        find(folder / "a.jsn")


def test_a_mistyped_folder_is_an_error_with_the_nearest_name(folder: Path):
    with pytest.raises(DatasetError, match=r"Did you mean '.*runs'"):
        find(folder.parent / "rums" / "a.json")


def test_a_pattern_without_match_is_an_error_that_names_it(folder: Path):
    with pytest.raises(DatasetError, match=r"no file matches '.*\*\.parquet'"):
        find(str(folder / "*.parquet"))


def test_a_relative_path_that_is_nowhere_is_an_error(folder: Path, monkeypatch):
    monkeypatch.chdir(folder)
    with pytest.raises(DatasetError, match=r"no such file.*Did you mean 'a\.json'"):
        find("a.jso")


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("", "no such file"),
        ([], "list of paths is empty"),
        ([3], "expected a path, got int 3"),
        ("gs://bucket/a.jsonl", "no local path"),
        ("a\0b", "no such file|no path that can be read"),
        ("x" * 5000, "no such file|no path that can be read"),
    ],
)
def test_what_is_no_place_is_an_error(place, message: str, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DatasetError, match=message):
        find(place)


def test_a_folder_without_known_files_is_an_error(tmp_path: Path):
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(DatasetError, match=r"holds no file of \.json"):
        find(tmp_path)


# ------------------------------------------------------------------------------ kinds


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.json", "[]", "json"),
        ("a.JSON", "[]", "json"),
        ("a.ndjson", "", "jsonl"),
        ("a.tsv", "a\tb\n", "csv"),
        ("a.json", '{"a": 1}\n{"a": 2}\n', "jsonl"),
        ("a.json", '{"a": 1}\n\n{"a": NaN}\n', "jsonl"),
        ("a.json", '{"a": 1}\n', "json"),
        ("a.json", '[\n{"a": [1]\n},\n{}]', "json"),
        ("a.json", "", "json"),
        ("a", "[1]", "json"),
        ("a.txt", '\ufeff[{"a": 1}]', "json"),
        ("a.log", "[1]\n[2]", "jsonl"),
        ("a.dat", "id,prompt\n1,x\n", "csv"),
    ],
)
def test_the_kind_follows_from_name_and_content(tmp_path: Path, name: str, text: str, kind: str):
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert find(tmp_path / name)[0].kind == kind


def test_a_kind_that_is_named_decides(tmp_path: Path):
    (tmp_path / "a.json").write_text("id,prompt\n")
    assert find(tmp_path / "a.json", "csv")[0].kind == "csv"
    with pytest.raises(ConfigError, match="Did you mean 'jsonl'"):
        find(tmp_path / "a.json", "jsonlines")


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"PK\x03\x04", "zip"),
        (b"\xff\xfe", "UTF-16"),
    ],
)
def test_a_file_of_a_kind_that_is_not_read_is_named(tmp_path: Path, head: bytes, kind: str):
    (tmp_path / "a.json").write_bytes(head + b"....")
    with pytest.raises(DatasetError, match=f"{kind}.*is not read; save it as"):
        find(tmp_path / "a.json")


# ------------------------------------------------------------------------------ bytes


def test_zstd_is_seen_by_its_first_bytes_and_unpacked_as_it_is_read(tmp_path: Path):
    zstandard = pytest.importorskip("zstandard")
    pack = zstandard.ZstdCompressor().compress
    (tmp_path / "a.jsonl.zst").write_bytes(pack(b'{"a": 1}\n') + pack(b'{"a": 2}\n'))
    (source,) = find(tmp_path)
    assert source.kind == "jsonl"
    assert content(source.path) == b'{"a": 1}\n{"a": 2}\n'
    path = tmp_path / "a.jsonl.zst"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 4])
    with pytest.raises(DatasetError, match="zstd is torn or broken"):
        content(source.path)


def test_without_the_package_a_zstd_file_says_what_to_install(tmp_path: Path, monkeypatch):
    (tmp_path / "a.jsonl").write_bytes(b"\x28\xb5\x2f\xfd....")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match=r"trajgrade\[zstd\]"):
        find(tmp_path / "a.jsonl")


def test_gzip_is_seen_by_its_first_bytes_whatever_the_name(tmp_path: Path):
    (tmp_path / "a.json").write_bytes(gzip.compress(b"\xef\xbb\xbf[1]"))
    (tmp_path / "b.json.gz").write_bytes(b"[2]")
    assert content(tmp_path / "a.json") == b"[1]"
    assert content(tmp_path / "b.json.gz") == b"[2]"


def test_lines_are_numbered_and_blank_ones_left_out(tmp_path: Path):
    (tmp_path / "a.jsonl").write_bytes(b'\xef\xbb\xbf\n{"a":1}\r\n  \n\n{"a":2}')
    assert list(lines(tmp_path / "a.jsonl")) == [(2, b'{"a":1}\r\n'), (5, b'{"a":2}')]


@pytest.mark.parametrize("packed", [False, True])
def test_many_lines_come_out_as_they_are(tmp_path: Path, packed: bool):
    rows = [b"%d %s\n" % (n, b"x" * (n * 97 % 3000)) for n in range(2000)]
    text = b"".join(rows)
    (tmp_path / "a.jsonl").write_bytes(gzip.compress(text) if packed else text)
    assert list(lines(tmp_path / "a.jsonl")) == list(enumerate(rows, 1))


def test_a_torn_gzip_is_an_error(tmp_path: Path):
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(os.urandom(1000))[:-20])
    with pytest.raises(DatasetError, match="gzip is torn"):
        list(lines(tmp_path / "a.jsonl.gz"))


@pytest.mark.parametrize("packed", [False, True])
def test_a_line_or_document_that_is_too_long_is_an_error(tmp_path: Path, monkeypatch, packed: bool):
    monkeypatch.setattr(sources, "MAX_BYTES", 1000)
    text = b'{"a":1}\n' + b"0" * 100_000
    (tmp_path / "a.jsonl").write_bytes(gzip.compress(text) if packed else text)
    with pytest.raises(DatasetError, match="line 2 has more than 1,000 bytes"):
        list(lines(tmp_path / "a.jsonl"))
    with pytest.raises(DatasetError, match=r"more than 1,000 bytes.*JSON Lines"):
        content(tmp_path / "a.jsonl")


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DatasetError, match="pipe or device"):
        find(tmp_path / "pipe")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_a_file_that_may_not_be_read_is_an_error(tmp_path: Path):
    (tmp_path / "a.json").write_text("[]")
    (tmp_path / "a.json").chmod(0)
    with pytest.raises(DatasetError, match="Permission denied"):
        find(tmp_path / "a.json")
