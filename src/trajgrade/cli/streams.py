"""Standard output that may be closed before all is printed, or be of another encoding."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click


def make_lenient() -> None:
    r"""Write out (`\xe9`) what the encoding of the streams has no place for, instead of failing."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed before the start
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115 as long as the process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def closed_quietly() -> Iterator[None]:
    """Print in the block; if the reader has closed standard output, what is left goes nowhere."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more at its end, and would complain then.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def say(message: str, start: str = "error: ") -> None:
    """Print a message on standard error, what it quotes made safe to show."""
    from trajgrade.report.plain import printable

    for number, line in enumerate(message.splitlines()):
        click.echo(f"{start if number == 0 else '    '}{printable(line)}", err=True)
