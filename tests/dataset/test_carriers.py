"""The same rows come out of every carrier as the same examples."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trajgrade.dataset import Dataset, Needs
from trajgrade.dataset.csvtext import escape
from trajgrade.errors import DatasetError

# A text that a CSV cell keeps: an empty cell is missing, and one that reads as JSON is a structure.
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).filter(
    lambda text: text.lstrip()[:1] not in ("[", "{")
)
plain = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | texts
structures = st.lists(
    st.fixed_dictionaries({"tool_name": texts, "tool_input": st.dictionaries(texts, plain)}),
    max_size=3,
)
rows = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "prompt": texts,
            "response": texts | st.none(),
            "reference": texts,
            "predicted_trajectory": structures | st.none(),
            "reference_trajectory": structures,
            "outputs": texts | st.none(),
            "output": texts,
            "expected": texts | st.none(),
            "answer": texts,
            "context": texts,
            "trial": st.integers(0, 9),
            "reward": st.floats(-5, 5) | st.booleans() | st.integers(-3, 3),
            "info": st.fixed_dictionaries({"score": st.floats(0, 1)}),
        },
    ),
    min_size=1,
    max_size=5,
)


def carriers(rows: list[dict[str, Any]], folder: Path) -> Iterator[tuple[str, Any]]:
    """Write the rows in every way, and say how to load them."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: [row.get(name) for row in rows] for name in names}
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)

    def save(name: str, text: str) -> Path:
        (folder / name).write_text(text, encoding="utf-8")
        return folder / name

    yield "list of dicts", rows
    yield "dict of columns", columns
    yield "data frame", pd.DataFrame({n: pd.Series(c, dtype=object) for n, c in columns.items()})
    yield "JSON rows", save("rows.json", json.dumps(rows, indent=1))
    yield "JSON rows in an object", save("in.json", json.dumps({"version": 1, "examples": rows}))
    yield "JSON columns", save("columns.json", json.dumps(columns))
    numbered = {n: {str(k): cell for k, cell in enumerate(c)} for n, c in columns.items()}
    yield "JSON columns by number", save("numbered.json", json.dumps(numbered))
    split = {
        "columns": names,
        "index": [*range(len(rows))],
        "data": [[row.get(n) for n in names] for row in rows],
    }
    yield "JSON split", save("split.json", json.dumps(split))
    yield "JSON Lines", save("rows.jsonl", lines)
    yield (
        "JSON Lines without escapes",
        save("raw.ndjson", "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)),
    )
    yield "JSON Lines named JSON", save("lines.json", lines) if len(rows) > 1 else rows
    yield "JSON Lines with byte-order mark", save("bom.jsonl", f"\ufeff{lines}")
    (folder / "rows.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    yield "gzip", folder / "rows.jsonl.gz"
    yield "CSV", save_csv(folder / "rows.csv", names, rows)


def save_csv(path: Path, names: list[str], rows: list[dict[str, Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(names)
        writer.writerows([cell(row.get(name)) for name in names] for row in rows)
    return path


def cell(value: Any) -> str:
    if value is None:
        return ""
    return escape(value) if isinstance(value, str) else json.dumps(value)


def told(dataset: Dataset) -> list[tuple[Any, ...]]:
    needs = Needs(stored=("reward", "info.score"))
    return [
        (e.id, e.trial, e.inputs, e.outputs, e.reference_outputs, e.response, e.reference,
         e.context, e.row, e.stored)
        for e in dataset.examples(needs)
    ]  # fmt: skip


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows)
def test_every_carrier_gives_equal_examples(tmp_path: Path, rows: list[dict[str, Any]]):
    for number, row in enumerate(rows):
        row["id"] = f"row {number}"
    expected = told(Dataset.load(rows))
    assert len(expected) == len(rows)
    for carrier, source in carriers(rows, tmp_path):
        assert told(Dataset.load(source)) == expected, carrier


def test_the_files_of_a_folder_are_read_one_after_another(tmp_path: Path):
    (tmp_path / "a.jsonl").write_text('{"id": 1}\n{"id": 2}\n')
    (tmp_path / "b.json").write_text('[{"id": 3}]')
    (tmp_path / "c.csv").write_text("id\n4\n")
    examples = list(Dataset.load(tmp_path))
    assert [(e.id, e.row) for e in examples] == [("1", 0), ("2", 1), ("3", 2), ("4", 3)]
    assert [Path(e.source).name for e in examples] == [
        "a.jsonl line 1", "a.jsonl line 2", "b.json row 0", "c.csv line 2",
    ]  # fmt: skip


# ------------------------------------------------------------------------------ shapes of JSON


@pytest.mark.parametrize(
    ("document", "ids"),
    [
        ([{"id": 1}, {"id": 2}], ["1", "2"]),
        ({"id": [1, 2]}, ["1", "2"]),
        ({"id": {"0": 1, "1": 2}}, ["1", "2"]),
        ({"meta": {}, "rows": [{"id": 1}]}, ["1"]),
        ({"id": "one", "prompt": "a row"}, ["one"]),
        ({"id": "t", "messages": [{"role": "user", "content": "x"}]}, ["t"]),
        ({"predicted_trajectory": [{"a": 1}, {"a": 2}], "reference_trajectory": [{}]}, ["#0"]),
    ],
)
def test_a_json_text_is_read_in_the_shape_that_it_has(tmp_path: Path, document: Any, ids):
    (tmp_path / "a.json").write_text(json.dumps(document))
    for source in (tmp_path / "a.json", document):
        assert [example.id for example in Dataset.load(source)] == ids


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"id": [1, 2], "prompt": ["x"]}, "columns of different lengths: id 2, prompt 1"),
        ({"inputs": [{}, {}], "outputs": [{}, {}]}, "may be one row .*, or columns of 2 rows"),
        ({"rows": [{"id": 1}], "data": [{"id": 1}]}, "has rows under rows and data"),
    ],
)
def test_a_json_text_that_can_be_taken_in_two_ways_is_an_error(
    tmp_path: Path, document: Any, message: str
):
    (tmp_path / "a.json").write_text(json.dumps(document))
    for source in (tmp_path / "a.json", document):
        with pytest.raises(DatasetError, match=message):
            Dataset.load(source)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ('"text"', "expected rows, got 'text'"),
        ('[{"id": 1},', "is not JSON"),
        ('[{"id": 1}] [2]', "is not JSON.*name its format jsonl"),
        ("[" * 100_000, "is not JSON: nested too deeply"),
    ],
)
def test_a_broken_json_text_is_an_error_that_names_the_file(
    tmp_path: Path, text: str, message: str
):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(DatasetError, match=rf"a\.json.*{message}"):
        Dataset.load(tmp_path / "a.json")


# ------------------------------------------------------------------------------ broken lines


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": 1}\n{"id": 2', "line 2 is not JSON.*the file ends in it: was its writer stopped"),
        ('{"id": 1}\n{"id" 2}\n{"id": 3}\n', r"line 2 is not JSON.*found b'\{\"id\" 2\}"),
        ('[\n{"id": 1}\n]\n', "line 1 is not JSON.*name its format json"),
        ('{"id": 1}\n' + "[" * 100_000 + "\n", "line 2 is not JSON: nested too deeply"),
        ('{"id": 1}\n{"id": 1' + "0" * 5000 + "}\n", "line 2 is not JSON: an integer of 5001"),
    ],
)
def test_a_broken_line_is_an_error_that_names_it(tmp_path: Path, text: str, message: str):
    (tmp_path / "a.jsonl").write_text(text)
    with pytest.raises(DatasetError, match=rf"a\.jsonl {message}"):
        list(Dataset.load(tmp_path / "a.jsonl"))


def test_a_line_that_is_not_strict_json_is_read_and_noted(tmp_path: Path):
    strange = [
        '{"id": "nan", "outputs": [{"x": NaN}]}',
        '{"id": "big", "outputs": [{"x": 1e400}]}',
        '{"id": "half", "outputs": [{"x": "\\ud800"}]}',
        '\ufeff{"id": "bom", "outputs": [{"x": 1}]}',
    ]
    (tmp_path / "a.jsonl").write_text('{"id": "fine"}\n' + "\n".join(strange), encoding="utf-8")
    fine, nan, big, half, bom = Dataset.load(tmp_path / "a.jsonl")
    assert fine.notes == ()
    assert nan.outputs[0]["x"] != nan.outputs[0]["x"]
    assert (big.outputs, half.outputs) == ([{"x": 10**400}], [{"x": "\ud800"}])
    assert bom.outputs == [{"x": 1}]
    assert all("not strict JSON" in example.notes[0] for example in (nan, big, half, bom))


def test_a_document_that_is_not_strict_json_is_read_all_the_same(tmp_path: Path):
    (tmp_path / "a.json").write_text('[{"id": 1, "score": NaN}, {"id": 2, "score": 1.0}]')
    examples = list(Dataset.load(tmp_path / "a.json").examples(Needs(stored=("score",))))
    assert all("not strict JSON" in example.notes[0] for example in examples)
    stored = [example.stored["score"] for example in examples]
    assert stored == [None, 1.0]  # what is not there has a mark of its own, and never is a number
