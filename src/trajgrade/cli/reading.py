"""Traces of files, patterns and folders, one after the other; what cannot be read is told of."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from trajgrade.cli.streams import say
from trajgrade.errors import DatasetError, TraceError

if TYPE_CHECKING:
    from trajgrade.sources import Source
    from trajgrade.trajectory import Trajectory


class Traces:
    """The traces of some files, in order.

    Args:
        sources: The files.
        format: The name of their format, where it should not be detected.
        unwrap: Whether a call that holds several is replaced by those.

    Attributes:
        faults: How many could not be read, or were told of by others.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        format: str | None = None,  # noqa: A002 the field's word for it
        *,
        unwrap: bool = False,
    ) -> None:
        self._sources = sources
        self._format = format
        self._unwrap = unwrap
        self.faults = 0

    def tell(self, broken: Exception) -> None:
        """Print an error, and count it."""
        self.faults += 1
        sys.stdout.flush()
        say(str(broken))

    def __iter__(self) -> Iterator[tuple[Source, int, Trajectory]]:
        """Yield file, number and trajectory of each that can be read."""
        from trajgrade.traces import read_traces

        for source in self._sources:
            runs = read_traces(source.path, self._format, on_error=self.tell, unwrap=self._unwrap)
            try:
                for number, run in enumerate(runs):
                    yield source, number, run
            except (DatasetError, TraceError) as broken:
                self.tell(broken)
