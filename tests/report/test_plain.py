"""Untrusted text made safe, and numbers that are rounded without saying something false."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.report.plain import count, number, printable, printable_lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain [red] text", "plain [red] text"),
        ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
        ("a\r\nb\tc", r"a\r\nb\tc"),
        ("\x9b31m", r"\x9b31m"),
        ("\u202eevil\u2066", r"\u202eevil\u2066"),
        ("a\u200bb\ufeff", r"a\u200bb\ufeff"),
        ("\ud800", r"\ud800"),
        ("a\xa0b", "a b"),
        (
            "日本 नमस्ते 👨\u200d👩\u200d👧 می\u200cخواهم",
            "日本 नमस्ते 👨\u200d👩\u200d👧 می\u200cخواهم",
        ),
    ],
)
def test_what_a_terminal_would_obey_or_hide_is_written_out(text: str, shown: str):
    assert printable(text) == shown


@given(st.text(st.characters()))
def test_nothing_that_is_shown_can_move_the_cursor(text: str):
    shown = printable(text)
    assert all(c.isprintable() or c in "\u200c\u200d" for c in shown)
    assert printable(shown) == shown


def test_lines_stay_lines():
    assert printable_lines("a\r\nb\tc\n\x1b") == ["a", "b   c", r"\x1b"]


@pytest.mark.parametrize(
    ("value", "bound", "shown"),
    [
        (None, None, "-"),
        (0.42, None, "0.420"),
        (1, None, "1.000"),
        (1 / 3, None, "0.333"),
        (0.99996, None, "0.99996"),
        (0.00004, None, "0.00004"),
        (1e-12, None, "0.000"),
        (0.7999999, 0.8, "0.7999999"),
        (0.8, 0.8, "0.800"),
        (0.8 + 1e-12, 0.8, "0.800"),
        (123456.789, None, "123456.789"),
        (1e12, None, "1e+12"),
        (float("inf"), None, "inf"),
    ],
)
def test_a_number_has_as_many_digits_as_the_truth_needs(
    value: float | None, bound: float | None, shown: str
):
    assert number(value, bound) == shown


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_number_is_shown_on_its_own_side_of_the_bound(value: float, bound: float):
    shown = float(number(value, bound))
    if abs(value - bound) > 1e-9:
        assert (shown > bound) == (value > bound)
        assert (shown < bound) == (value < bound)


def test_nouns_are_counted():
    assert [count(n, "row") for n in (0, 1, 1200)] == ["0 rows", "1 row", "1,200 rows"]
