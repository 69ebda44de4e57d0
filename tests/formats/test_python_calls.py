"""Calls written in Python."""

from __future__ import annotations

from typing import Any

import pytest

from trajgrade.formats.python_calls import calls_in, literal_in


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("f(a=1, b='x')", [("f", {"a": 1, "b": "x"})]),
        ("f()", [("f", {})]),
        ("f('x', 2, c=[1, (2, 3)])", [("f", {"__positional__": ["x", 2], "c": [1, [2, 3]]})]),
        ("[f(a=true), g.h(b=null)]", [("f", {"a": True}), ("g.h", {"b": None})]),
        ("f(), g()", [("f", {}), ("g", {})]),
        ("f(a={'k': {1}})", [("f", {"a": {"k": [1]}})]),
    ],
)
def test_calls_with_literals(text: str, calls: list[Any]):
    notes: list[str] = []
    assert [call[:2] for call in calls_in(text, notes) or ()] == calls
    assert notes == []


@pytest.mark.parametrize(
    "text", ["a sentence", "f(", "1 + 1", "f", "[f(), 1]", "f()()", "", "x" * 200_000]
)
def test_what_is_no_call(text: str):
    assert calls_in(text, []) is None


@pytest.mark.parametrize("text", ["f(a=g(1))", "f(**{})", "f(a=x)"])
def test_arguments_that_are_no_literals_stay_text_and_are_noted(text: str):
    notes: list[str] = []
    assert calls_in(text, notes) == [("f", text, "unparseable")]
    assert "no literals" in notes[0]


def test_a_literal_or_the_text_itself():
    assert literal_in("{'a': (1, None)}") == {"a": [1, None]}
    assert literal_in("{'a': f()}") == "{'a': f()}"
