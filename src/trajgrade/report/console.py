"""The screen: how wide it is, and whether it takes colours.

Colours appear on a terminal, or where FORCE_COLOR is set; never under NO_COLOR or TERM=dumb, and
then no other escape sequence either. What is no terminal is COLUMNS wide, or 80. Markup, emoji
codes and highlighting are off: what is printed is what was meant, whoever wrote it.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from typing import TextIO

from rich.console import Console, RenderableType
from rich.text import Text

_WIDTH = 80


class Screen:
    """Where blocks of text are printed, an empty line after each.

    Args:
        stream: Standard output by default.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stdout if stream is None else stream
        coloured = takes_colour(self._stream)
        self._console = Console(
            file=self._stream,
            force_terminal=coloured,
            color_system="auto" if coloured else None,
            no_color=not coloured,
            width=width_of(self._stream),
            height=100,
            markup=False,
            emoji=False,
            highlight=False,
            legacy_windows=False,
        )

    @property
    def width(self) -> int:
        """The number of columns."""
        return self._console.width

    def block(self, *parts: RenderableType) -> None:
        """Print parts below each other, without blanks at the ends of lines."""
        with self._console.capture() as capture:
            for part in parts:
                self._console.print(part)
        self._write(capture.get())

    def lines(self, lines: Iterable[Text]) -> None:
        """Print lines that are wrapped already: faster than a block."""
        with self._console.capture() as capture:
            text = Text("\n").join(lines)
            self._console.print(text, no_wrap=True, overflow="ignore", crop=False)
        self._write(capture.get())

    def hanging(self, head: str, body: Text) -> Iterator[Text]:
        """Yield a text wrapped to the width, its later lines standing below its first."""
        room = max(self._console.width - len(head), 20)
        for number, line in enumerate(body.wrap(self._console, room, overflow="fold")):
            yield Text(" " * len(head) if number else head) + line

    def _write(self, text: str) -> None:
        lines = (line.rstrip() for line in text.splitlines())
        self._stream.write("".join(f"{line}\n" for line in lines) + "\n")


def takes_colour(stream: TextIO) -> bool:
    """Whether colours may be printed."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") in ("dumb", "unknown"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def width_of(stream: TextIO) -> int:
    """Return the number of columns."""
    wish = os.environ.get("COLUMNS", "")
    if wish.isdecimal() and int(wish) > 0:
        return int(wish)
    return shutil.get_terminal_size((_WIDTH, 24)).columns if stream.isatty() else _WIDTH
