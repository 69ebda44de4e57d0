"""`trajgrade convert FILE… --to SHAPE`: traces of any format, in one shape, one on each line."""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import click

from trajgrade.cli.reading import Traces
from trajgrade.cli.streams import say
from trajgrade.errors import ConfigError, TraceError
from trajgrade.sources import Source, find

SHAPES = ("own", "openai", "potato")
_SUFFIXES = (".jsonl", ".ndjson")


@click.command
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--to",
    type=click.Choice(SHAPES),
    default="own",
    show_default=True,
    help="trajgrade's own shape, OpenAI's messages, or Potato's conversation.",
)
@click.option("-o", "--output", metavar="FILE", default="-", help="A .jsonl file; - prints.")
@click.option("--format", "name", metavar="NAME", help="The format, where it is not detected.")
@click.option("--unwrap", is_flag=True, help="Replace a call that holds several by those.")
def convert(files: Sequence[str], to: str, output: str, name: str | None, *, unwrap: bool) -> int:
    """Convert the traces in FILES (files, patterns, folders) to one shape, one on each line.

    One that cannot be read or converted is told of, and the exit code is 2; the others are
    converted. No call is lost: where the shape cannot hold the calls as they are, that is an error.
    """  # fmt: skip
    from trajgrade.conversion import convert as converted
    from trajgrade.jsontext import dumps

    sources = find(files)
    _check(output, sources)
    traces = Traces(sources, name, unwrap=unwrap)
    lost: Counter[str] = Counter()
    done = 0
    with _opened(output) as stream:
        for source, number, run in traces:
            try:
                record, left_out = converted(run, to)
            except TraceError as refused:
                traces.tell(TraceError(f"{source}, trace {number}: {refused}"))
                continue
            lost.update(left_out)
            done += 1
            stream.write(f"{dumps(record).decode()}\n")
    if lost:
        listed = ", ".join(f"{what} ({number})" for what, number in lost.items())
        say(f"{to} has no place for {listed}", "warning: ")
    if output != "-":
        click.echo(f"saved {output}: {done} {'trace' if done == 1 else 'traces'}", err=True)
    return 2 if traces.faults else 0


def _check(output: str, sources: Sequence[Source]) -> None:
    """Refuse an output that is no file of lines, or one of the inputs.

    Raises:
        ConfigError: It is.
    """
    if output == "-":
        return
    path = Path(output)
    if path.suffix.lower() not in _SUFFIXES or path.is_dir():
        raise ConfigError(f"-o {output}: a trace on each line is JSON Lines; name a .jsonl file")
    if path.resolve() in {source.path.resolve() for source in sources}:
        raise ConfigError(f"-o {output}: would be written over what is read")


@contextmanager
def _opened(output: str) -> Iterator[IO[str]]:
    """Open the output; a file is there when all is written, and not before."""
    if output == "-":
        yield sys.stdout
        return
    path = Path(output)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as stream:
        whole = Path(stream.name)
        try:
            yield stream
        except BaseException:
            whole.unlink()
            raise
    umask = os.umask(0)
    os.umask(umask)
    whole.chmod(0o666 & ~umask)
    whole.replace(path)
