"""CSV text in and out: formulas made harmless and restored, structures in cells, broken files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.dataset import Dataset
from trajgrade.dataset.csvtext import escape, scalar, structure, unescape
from trajgrade.errors import DatasetError

texts = st.text(st.sampled_from("'=+-@\t\r\n \u200b\ufeffa1"), max_size=8) | st.text(max_size=8)


def save(path: Path, *rows: list[str], delimiter: str = ",") -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, delimiter=delimiter).writerows(rows)
    return path


# ------------------------------------------------------------------------------ formulas


@given(texts)
def test_a_text_comes_back_as_it_was(text: str):
    assert unescape(escape(text)) == text


@given(texts)
def test_no_text_begins_with_a_formula_once_it_is_written(text: str):
    assert escape(text).lstrip(" \n\u200b\ufeff")[:1] not in set("=+-@\t\r")


@pytest.mark.parametrize(
    "text", ["=1+2", "+cmd", "-2", "@x", "\t=1", "\u200b=1", "=h", "'=1", "''=1", " =1"]
)
def test_a_formula_is_quoted(text: str):
    assert escape(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a=1", "'tis", "''", "2-1", "[1]"])
def test_other_text_is_left_alone(text: str):
    assert escape(text) == unescape(text) == text


def test_the_loader_takes_off_the_quote_of_an_exported_formula(tmp_path: Path):
    path = save(tmp_path / "a.csv", ["id", "'=h", "response"], ["x", "1", "'=1+2"])
    dataset = Dataset.load(path)
    assert dataset.columns == ("id", "=h", "response")
    assert [example.response for example in dataset] == ["=1+2"]


# ------------------------------------------------------------------------------ cells


def test_a_cell_with_json_is_a_structure():
    assert structure('[{"name": "w", "args": {"c": "Oslo; NO"}}]') == [
        {"name": "w", "args": {"c": "Oslo; NO"}}
    ]
    assert structure(' {"a": 1} ') == {"a": 1}


def test_a_cell_with_what_python_prints_is_a_structure():
    assert structure("[{'a': None, 'b': (1, 2), 3: True}]") == [{"a": None, "b": [1, 2], "3": True}]


@pytest.mark.parametrize(
    "cell",
    [
        "[__import__('os').getpid()]",
        "[Note] the lights are off",
        '{"a": ',
        "[open('x')]",
        "{" * 5000,
        "[" * 100_000,
        "[1] and more",
        "plain",
        "",
        "17",
    ],
)
def test_any_other_cell_is_text_and_nothing_in_it_is_run(cell: str):
    assert structure(cell) == cell


@pytest.mark.parametrize(
    ("cell", "value"),
    [("1", 1), ("-0.5", -0.5), ("1e3", 1000.0), ("True", True), ("false", False), ("007", "007"),
     ("1_000", "1_000"), ("nan", "nan"), ("pass", "pass"), ("1e999", "1e999")],
)  # fmt: skip
def test_a_stored_cell_is_a_number_or_flag_where_it_reads_as_one(cell: str, value: object):
    assert scalar(cell) == value
    assert type(scalar(cell)) is type(value)


def test_a_csv_with_tool_calls_that_was_written_comes_back(tmp_path: Path):
    calls = [{"name": "w", "args": {"c": 'Oslo; NO, "x"\nnext line'}}]
    path = save(tmp_path / "a.csv", ["id", "outputs"], ["1", json.dumps(calls)])
    assert [example.outputs for example in Dataset.load(path)] == [calls]


# ------------------------------------------------------------------------------ files


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_the_header_s_own(tmp_path: Path, delimiter: str):
    rows = ["id", "prompt", "response"], ["1", "a,b;c\td", "x"]
    path = save(tmp_path / "a.csv", *rows, delimiter=delimiter)
    (example,) = Dataset.load(path)
    assert (example.id, example.inputs, example.response) == ("1", "a,b;c\td", "x")


def test_an_empty_cell_is_missing_and_the_unnamed_index_column_no_field(tmp_path: Path):
    path = save(tmp_path / "a.csv", ["", "prompt", "reference"], ["0", "hello", ""])
    dataset = Dataset.load(path)
    (example,) = dataset
    assert dataset.columns == ("prompt", "reference")
    assert (example.id, example.inputs, example.reference) == ("#0", "hello", None)


def test_a_cell_longer_than_python_s_limit_is_read(tmp_path: Path):
    path = save(tmp_path / "a.csv", ["id", "response"], ["1", "x" * 300_000])
    assert [len(example.response) for example in Dataset.load(path)] == [300_000]


def test_rows_are_placed_by_the_line_they_begin_on(tmp_path: Path):
    path = save(tmp_path / "a.csv", ["id", "response"], ["1", "two\nlines"], ["2", "x"])
    assert [e.source.rpartition(" line ")[2] for e in Dataset.load(path)] == ["2", "4"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty: a CSV begins with"),
        ("id,response\n1,a,b\n", r"line 2 has 3 cells, the header 2 \(id, response\)"),
        ("id,response\n1\n", "line 2 has 1 cells"),
        ("id,id\n1,2\n", "names 'id' twice"),
        ('id,response\n1,"torn', "line 2 is not CSV"),
        ('id,response\n1,"a"b\n', "line 2 is not CSV"),
        ("id,response\n", "holds no rows"),
    ],
)
def test_a_broken_csv_is_an_error_that_names_the_line(tmp_path: Path, text: str, message: str):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(DatasetError, match=message):
        list(Dataset.load(tmp_path / "a.csv"))


def test_a_csv_in_another_encoding_is_an_error(tmp_path: Path):
    (tmp_path / "a.csv").write_bytes("id,response\n1,caf\xe9\n".encode("latin-1"))
    with pytest.raises(DatasetError, match=r"a\.csv line .* is not CSV in UTF-8"):
        list(Dataset.load(tmp_path / "a.csv"))
