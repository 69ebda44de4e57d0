"""Files that are whole or not there: written beside their place, and moved into it when done."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """Open a text file in UTF-8 that appears when the block ends, and not if it fails.

    What UTF-8 has no place for (lone surrogates) is written out.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    waiting = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with waiting.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            yield file
        waiting.replace(path)
    finally:
        waiting.unlink(missing_ok=True)
