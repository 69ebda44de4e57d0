"""Where verbs write: files whose suffix names the form, and the summary of a GitHub job."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import click

from trajgrade.cli.streams import say
from trajgrade.errors import ConfigError, TrajgradeError
from trajgrade.registry import Registry
from trajgrade.sources import File


class Saved(Protocol):
    """What is saved by the suffix of a path."""

    def save(self, path: Path, /) -> None:
        """Write it."""
        ...


def check_saves(saves: Sequence[Path], inputs: Sequence[File], forms: Registry) -> None:
    """Refuse, before anything is done, what could not be saved at its end.

    Raises:
        ConfigError: A format that does not exist, a folder, a path given twice, or an input.
    """
    read = {path.resolve() for path in inputs}
    faults: list[str] = []
    for number, path in enumerate(saves):
        try:
            forms.find(path.suffix.lower())
        except TrajgradeError as wrong:
            faults.append(f"-o {path}: {wrong}")
        if path.is_dir():
            faults.append(f"-o {path}: is a folder; name a file in it")
        if path.resolve() in read:
            faults.append(f"-o {path}: would be written over what is read")
        if path in saves[:number]:
            faults.append(f"-o {path}: is given twice")
    if faults:
        raise ConfigError(*faults)


def save_all(what: Saved, saves: Sequence[Path], *, quiet: bool = False) -> list[str]:
    """Write every file that can be; return what went wrong with the others."""
    faults: list[str] = []
    for path in saves:
        try:
            what.save(path)
        except OSError as broken:
            faults.append(f"-o {path}: cannot be written: {broken.strerror or broken}")
        else:
            if not quiet:
                click.echo(f"saved {path}", err=True)
    return faults


def sum_up(append: Callable[[Path], None]) -> None:
    """Put a report into the summary of the GitHub job that this is, if it is one.

    Args:
        append: Writes the report behind what a file holds.
    """
    place = os.environ.get("GITHUB_STEP_SUMMARY")
    if not place:
        return
    try:
        append(Path(place))
    except OSError as broken:
        say(f"GITHUB_STEP_SUMMARY: {broken.strerror or broken}", "warning: ")
