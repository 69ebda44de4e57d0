r"""What came from a trace, made safe to show; and numbers, rounded so that they say nothing false.

Ids, comments and names of tools are an agent's or a stranger's text. Control characters, escape
sequences, line ends, direction marks and whatever else cannot be seen are written out (`\x1b`);
letters of any script, and the joiners that scripts and emoji need, stay.
"""

from __future__ import annotations

import math

_JOINERS = frozenset("\u200c\u200d")
_TOLERANCE = 1e-9


def printable(text: str) -> str:
    """Return the text with everything written out that a terminal would obey or not show."""
    if text.isprintable():
        return text
    return "".join(map(_seen, text))


def _seen(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    if character.isspace() and character not in "\t\n\r\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029":
        return " "
    return character.encode("unicode_escape").decode("ascii")


def printable_lines(text: str) -> list[str]:
    """Return the lines of a text, each printable; tabs become blanks."""
    lines = text.replace("\r\n", "\n").split("\n")
    return [printable(line.expandtabs(4)) for line in lines]


def number(value: float | None, bound: float | None = None) -> str:
    """Return a number to three decimals, or to as many as the truth needs.

    What is not 0, 1 or the bound is never shown as it, and stays on its side of the bound.

    Args:
        value: The number; None is shown as a dash.
        bound: What it is compared with.
    """
    if value is None:
        return "-"
    if not math.isfinite(value):
        return str(value)
    marks = (0.0, 1.0) if bound is None else (0.0, 1.0, bound)
    far = [mark for mark in marks if abs(value - mark) > _TOLERANCE]
    for digits in range(3, 10):
        text = f"{value:.{digits}f}"
        if all(_side(float(text), mark) == _side(value, mark) for mark in far):
            return text if abs(value) < 1e9 else f"{value:.6g}"
    return f"{value:.6g}"


def _side(value: float, mark: float) -> int:
    return (value > mark) - (value < mark)


def count(number: int, noun: str) -> str:
    """Return a number with its noun, the noun in the plural where it must be."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
