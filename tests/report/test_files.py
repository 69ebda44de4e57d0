"""What `Run.save` writes: whole, the same for every format, and harmless in a spreadsheet."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import trajgrade
from tests.report.conftest import HOSTILE
from trajgrade.errors import UnknownNameError
from trajgrade.jsontext import read_back
from trajgrade.registry import reports
from trajgrade.run import Run


@pytest.mark.parametrize("suffix", sorted(reports))
@pytest.mark.parametrize("name", ["plain", "repeated", "broken", "hostile"])
def test_every_format_writes_every_run_and_names_each_metric(
    suffix: str, name: str, tmp_path: Path, request: pytest.FixtureRequest
):
    run: Run = request.getfixturevalue(name)
    path = tmp_path / f"out{suffix}"
    run.save(path)
    text = path.read_bytes().decode("utf-8", "replace" if suffix == ".parquet" else "strict")
    for key in run.summary:
        assert (key if key != HOSTILE else "[l]") in text.replace("\\", "")
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_an_unknown_suffix_names_those_that_exist(plain: Run, tmp_path: Path):
    with pytest.raises(
        UnknownNameError,
        match=r"report format '.xlsx'.*\.csv, \.html, \.json, \.jsonl, \.md, \.parquet, \.xml",
    ):
        plain.save(tmp_path / "out.xlsx")


def test_a_report_that_fails_leaves_the_old_file(
    plain: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "out.jsonl"
    path.write_text("old")
    monkeypatch.setattr("trajgrade.report.lines.dumps", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        plain.save(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_folders_are_made(plain: Run, tmp_path: Path):
    plain.save(tmp_path / "a" / "b" / "out.json")
    assert (tmp_path / "a" / "b" / "out.json").is_file()


def test_json_holds_the_run_and_its_rows(hostile: Run, tmp_path: Path):
    hostile.save(tmp_path / "out.json")
    found = read_back((tmp_path / "out.json").read_text())
    rows = found.pop("rows")
    assert found == hostile.to_dict()
    assert [row["row"] for row in rows] == [0, 1]
    assert rows[1]["results"]["trajectory_alignment"]["score"] == 1.0


def test_json_lines_hold_one_row_each(plain: Run, tmp_path: Path):
    plain.save(tmp_path / "out.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert rows == [json.loads(json.dumps(row.to_dict())) for row in plain.rows]


def test_a_column_of_scores_holds_numbers_only_and_the_status_stands_beside(
    broken: Run, tmp_path: Path
):
    """B173: rows without a score must not hold a text such as '(Failed)' among the numbers."""
    broken.save(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["quality/score"] for row in rows] == ["1.0", "", "", ""]
    assert [row["quality/error"] for row in rows] == ["", "evaluator", "evaluator", "evaluator"]


FORMULAS = ["=1+2", "+cmd", "-2", "@x", "\t=1", "\u200b=1", "\r=1", " =1", "'=1", "plain", "-"]


def test_text_that_a_spreadsheet_would_run_is_defused_and_comes_back(tmp_path: Path):
    """B218: a quote in front of text, numbers as they are, headers too, JSON untouched."""
    rows = [{"id": text, "score": -2} for text in FORMULAS]
    run = trajgrade.evaluate(rows, [{"field": {"path": "score", "key": "=h"}}])
    run.save(tmp_path / "out.csv")
    run.save(tmp_path / "out.json")
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        header, *cells = list(csv.reader(file))
    assert header[:2] == ["id", "'=h/score"]
    assert [line[0] for line in cells] == [
        text if text == "plain" else f"'{text}" for text in FORMULAS
    ]
    assert {line[1] for line in cells} == {"-2.0"}
    found = json.loads((tmp_path / "out.json").read_text())
    assert [row["id"] for row in found["rows"]] == FORMULAS
    back = trajgrade.Dataset.load(tmp_path / "out.csv")
    assert [example.id for example in back] == FORMULAS
    assert back.columns[1] == "=h/score"


def test_markdown_shows_hostile_text_as_text(hostile: Run, tmp_path: Path):
    from markdown_it import MarkdownIt

    hostile.save(tmp_path / "out.md")
    text = (tmp_path / "out.md").read_text(encoding="utf-8")
    assert "\x1b" not in text
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    inner = [child.type for token in tokens for child in token.children or ()]
    assert "link_open" not in inner
    html = [t.content for t in tokens if t.type == "html_block"]
    html += [c.content for t in tokens for c in t.children or () if c.type == "html_inline"]
    assert (
        "".join(html).replace("\n", "")
        == "<details><summary>Rows to begin with</summary></details>"
    )
    columns = [t for t in tokens if t.type == "th_open"]
    assert len(columns) == len(["metric", "mean", "95% interval", "std", "scored", "notes"])


def test_markdown_of_a_failed_gate_begins_with_it(plain: Run, tmp_path: Path):
    plain.save(tmp_path / "out.md")
    lines = (tmp_path / "out.md").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("### plain\\: 4 rows from dataset")
    assert "| `trajectory_match >= 0.25` | passed | 0.250 |  |" in lines
    assert "| `trajectory_f1 >= 0.9` | **failed** | 0.500 |  |" in lines


def test_what_the_agent_took_stands_beside_the_scores(tmp_path: Path):
    run = trajgrade.evaluate(
        [{"id": "a", "inputs": "x", "reference": "x"}], ["exact_match"], agent=lambda inputs: inputs
    )
    run.save(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert row["failure"] == "0"
    assert float(row["latency_in_seconds"]) >= 0
    run.save(tmp_path / "out.md")
    assert "| `latency_in_seconds` |" in (tmp_path / "out.md").read_text(encoding="utf-8")
