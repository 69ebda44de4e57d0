r"""Paths into arguments: `a.b[0].c`, with `\.` for a dot inside a key, and globs over them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from trajgrade.errors import ConfigError
from trajgrade.matching.values import MISSING, escape

Segment = str | int
_SEGMENT = re.compile(r"\.((?:\\.|[^.\[\\])+)|\.?\[(-?\d{1,9})\]", re.DOTALL)
_UNESCAPED = re.compile(r"\\(.)", re.DOTALL)


@lru_cache(maxsize=4096)
def parse(path: str) -> tuple[Segment, ...]:
    r"""Split `a.b[0].c` into `("a", "b", 0, "c")`.

    Raises:
        ConfigError: It is not a path.
    """
    segments: list[Segment] = []
    text = f".{path}" if isinstance(path, str) else ""
    position = 0
    while found := _SEGMENT.match(text, position):
        key, index = found.groups()
        segments.append(_UNESCAPED.sub(r"\1", key) if key is not None else int(index))
        position = found.end()
    if not segments or position < len(text):
        raise ConfigError(rf"{path!r} is no path: write a.b[0].c, and \. for a dot inside a key")
    return tuple(segments)


def lookup(value: Any, path: Sequence[Segment]) -> Any:
    """Return what stands at the path, `MISSING` where nothing does."""
    for segment in path:
        if isinstance(segment, str) and isinstance(value, dict):
            value = value.get(segment, MISSING)
        elif isinstance(segment, int) and isinstance(value, (list, tuple)):
            inside = -len(value) <= segment < len(value)
            value = value[segment] if inside else MISSING
        else:
            return MISSING
        if value is MISSING:
            return MISSING
    return value


def without(value: Any, path: Sequence[Segment]) -> Any:
    """Return the value without what stands at the path; the value itself is not changed."""
    if lookup(value, path) is MISSING:
        return value
    head, *rest = path
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    if rest:
        copy[head] = without(value[head], rest)
    elif isinstance(copy, dict):
        del copy[head]
    else:
        copy[head] = None
    return copy


def glob(pattern: str) -> re.Pattern[str]:
    """Compile a glob: `*` is any text, `?` one character, all else itself."""
    collapsed = re.sub(r"\*+", "*", pattern)
    escaped = re.escape(collapsed).replace(r"\*", ".*").replace(r"\?", ".")
    return re.compile(escaped, re.DOTALL)


def has(value: Any, pattern: re.Pattern[str], path: str = "") -> bool:
    """Whether a key stands in the value whose path the pattern matches in full."""
    if isinstance(value, dict):
        for key, item in value.items():
            inner = f"{path}.{escape(key)}" if path else escape(key)
            if pattern.fullmatch(inner) or has(item, pattern, inner):
                return True
        return False
    return isinstance(value, (list, tuple)) and any(
        has(item, pattern, f"{path}[{index}]") for index, item in enumerate(value)
    )


def prune(value: Any, ignored: Sequence[re.Pattern[str]], path: str = "") -> Any:
    """Return the value without the keys whose path a pattern matches in full."""
    if isinstance(value, dict):
        kept = {}
        for key, item in value.items():
            inner = f"{path}.{escape(key)}" if path else escape(key)
            if not any(pattern.fullmatch(inner) for pattern in ignored):
                kept[key] = prune(item, ignored, inner)
        return kept
    if isinstance(value, (list, tuple)):
        return [prune(item, ignored, f"{path}[{index}]") for index, item in enumerate(value)]
    return value
