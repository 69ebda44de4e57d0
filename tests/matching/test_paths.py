"""Paths into arguments, and globs over them (A1)."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.errors import ConfigError
from trajgrade.matching.paths import glob, lookup, parse, prune, without
from trajgrade.matching.values import MISSING, escape

keys = st.text(min_size=1, max_size=6) | st.text("a.[]\\0 *", min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        ("a", ("a",)),
        ("a.b[0].c", ("a", "b", 0, "c")),
        ("a[0][1]", ("a", 0, 1)),
        (r"a\.b", ("a.b",)),
        (r"a\.b.c", ("a.b", "c")),
        (r"a\[0]", ("a[0]",)),
        ("größe.ß", ("größe", "ß")),
        ("[1]", (1,)),
        ("a b", ("a b",)),
        ("0", ("0",)),
        (r"a\\", ("a\\",)),
    ],
)
def test_a_path_is_split_at_dots_and_brackets(text, segments):
    assert parse(text) == segments


@pytest.mark.parametrize("text", ["", ".", "a.", "a..b", ".a", "a[", "a[x]", "a[1", "a\\", r"a\\."])
def test_what_is_no_path_is_refused_with_the_way_to_write_one(text):
    with pytest.raises(ConfigError, match=r"a\.b\[0\]\.c"):
        parse(text)


@given(st.lists(keys | st.integers(0, 12), min_size=1, max_size=4))
def test_a_path_that_is_written_is_read_back(segments):
    text = ""
    for segment in segments:
        step = f"[{segment}]" if isinstance(segment, int) else f".{escape(segment)}"
        text += step
    assert parse(text.removeprefix(".")) == tuple(segments)


def test_a_path_leads_to_what_stands_there_or_to_nothing():
    args = {"a": {"b": [{"c": 1}, None]}, "a.b": 2}
    assert lookup(args, parse("a.b[0].c")) == 1
    assert lookup(args, parse(r"a\.b")) == 2
    assert lookup(args, parse("a.b[1]")) is None
    for absent in ["x", "a.x", "a.b[2]", "a.b[0].x", "a.b[1].c", "a[0]", "a.b.c"]:
        assert lookup(args, parse(absent)) is MISSING


def test_leaving_out_what_stands_at_a_path_changes_a_copy_only():
    args = {"a": {"b": [{"c": 1, "d": 2}, 3]}, "e": 4}
    before = copy.deepcopy(args)
    assert without(args, parse("a.b[0].c")) == {"a": {"b": [{"d": 2}, 3]}, "e": 4}
    assert without(args, parse("a")) == {"e": 4}
    assert without(args, parse("a.x")) == args
    assert args == before


@pytest.mark.parametrize(
    ("pattern", "args", "kept"),
    [
        ("ts", {"ts": 1, "tss": 2, "a": {"ts": 3}}, {"tss": 2, "a": {"ts": 3}}),
        ("*ts", {"ts": 1, "a": {"ts": 3, "b": 1}}, {"a": {"b": 1}}),
        ("*.ts", {"ts": 1, "a": {"ts": 3, "b": 1}}, {"ts": 1, "a": {"b": 1}}),
        ("_*", {"_id": 1, "id": 2}, {"id": 2}),
        ("a.?", {"a": {"b": 1, "cc": 2}}, {"a": {"cc": 2}}),
        ("a[*].t", {"a": [{"t": 1, "u": 2}, {"t": 3}]}, {"a": [{"u": 2}, {}]}),
        (r"a\.b", {"a.b": 1, "a": {"b": 2}}, {"a": {"b": 2}}),
        ("TS", {"ts": 1}, {"ts": 1}),
        ("*", {"a": 1, "b": [1]}, {}),
        ("(a|b)+", {"a": 1, "(a|b)+": 2}, {"a": 1}),
    ],
)
def test_a_glob_leaves_out_the_keys_whose_path_it_is(pattern, args, kept):
    before = copy.deepcopy(args)
    assert prune(args, [glob(pattern)]) == kept
    assert args == before
