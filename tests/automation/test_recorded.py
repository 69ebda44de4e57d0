"""Traces of files as they stand, whatever the format and however many a file holds."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from trajgrade.automation.recorded import recorded
from trajgrade.errors import DatasetError

CHAT = {"id": "c1", "messages": [{"role": "user", "content": "hi"}]}
SESSION = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello."}]


def span(trace: str, number: int) -> dict[str, Any]:
    return {"traceId": trace * 32, "spanId": f"{number:016x}", "name": f"s{number}"}


def export(*spans: dict[str, Any]) -> dict[str, Any]:
    scope = {"scope": {"name": "s"}, "spans": [*spans]}
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [scope]}]}


def written(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def pairs(path: str) -> list[tuple[str, Any]]:
    """The traces of a file in which nothing is broken, each with its name."""
    found = [*recorded(path)]
    assert not any(one.fault for one in found)
    return [(one.id, one.trace) for one in found]


def test_each_line_is_a_trace_named_by_itself_or_its_place(tmp_path: Path):
    lines = "\n".join(json.dumps(one) for one in (CHAT, SESSION, {"x": 1}))
    found = pairs(written(tmp_path / "a.jsonl", lines))
    assert found == [("c1", CHAT), ("#1", SESSION), ("#2", {"x": 1})]


def test_lines_of_one_session_are_one_trace(tmp_path: Path):
    many = SESSION * 60
    found = pairs(written(tmp_path / "a.jsonl", "\n".join(map(json.dumps, many))))
    assert found == [("#0", many)]


def test_a_document_is_one_trace_or_a_list_of_such(tmp_path: Path):
    assert pairs(written(tmp_path / "a.json", json.dumps(SESSION))) == [("#0", SESSION)]
    text = json.dumps([CHAT, {"messages": SESSION}], indent=1)
    found = pairs(written(tmp_path / "b.json", text))
    assert [name for name, _ in found] == ["c1", "#1"]


def test_a_document_on_several_lines_in_a_file_of_lines_is_read(tmp_path: Path):
    assert pairs(written(tmp_path / "a.jsonl", json.dumps(CHAT, indent=1))) == [("c1", CHAT)]


def test_spans_are_gathered_by_their_trace_wherever_they_stand(tmp_path: Path):
    exports = [export(span("a", 1), span("b", 2)), export(span("a", 3))]
    found = dict(pairs(written(tmp_path / "a.jsonl", "\n".join(map(json.dumps, exports)))))
    assert [*found] == ["a" * 32, "b" * 32]
    names = [
        one["name"]
        for resource in found["a" * 32]["resourceSpans"]
        for scope in resource["scopeSpans"]
        for one in scope["spans"]
    ]
    assert names == ["s1", "s3"]


def test_a_folder_is_walked_and_packed_files_are_unpacked(tmp_path: Path):
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(json.dumps({"messages": SESSION}).encode()))
    written(tmp_path / "a.json", json.dumps(CHAT))
    assert [one.id for one in recorded(str(tmp_path))] == ["c1", "b.json.gz#0"]


def test_a_broken_line_names_file_and_line_and_the_others_are_read(tmp_path: Path):
    lines = [json.dumps(CHAT), "{", json.dumps({**CHAT, "id": "c2"})]
    first, broken, last = recorded(written(tmp_path / "a.jsonl", "\n".join(lines)))
    assert (first.id, first.fault, last.id, last.fault) == ("c1", "", "c2", "")
    assert (broken.id, broken.trace) == ("#1", None)
    assert "a.jsonl line 2 is not JSON" in broken.fault


def test_a_broken_line_of_one_session_is_an_error(tmp_path: Path):
    lines = [*map(json.dumps, SESSION), "{"]
    with pytest.raises(DatasetError, match=rf"a\.jsonl line {len(lines)}"):
        [*recorded(written(tmp_path / "a.jsonl", "\n".join(lines)))]
