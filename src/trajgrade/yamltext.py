"""YAML text in: plain objects, or every place that YAML would read otherwise than it was meant.

Read are text, numbers, `true`, `false`, `null`, lists and objects, anchors and `<<` included. A key
is the text that stands there. Numbers are JSON's (`1e-9` is one), dates are text. What one YAML
reader takes for a flag or number and the next for text (`yes`, `on`, `010`, `12:30`) is a fault,
as is a key given twice, and any other tag. Size, depth and what aliases expand to are bounded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import yaml

from trajgrade.errors import ConfigError, shorten

MAX_BYTES = 1_000_000
MAX_VALUES = 100_000

_TAG = "tag:yaml.org,2002:"
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_ZEROS = re.compile(r"[-+]?0\d")
_INTEGER = re.compile(r"[-+]?\d{1,300}")
_SPECIAL = {".inf": math.inf, "+.inf": math.inf, "-.inf": -math.inf, ".nan": math.nan}


def loads(text: bytes, faults: list[str]) -> Any:
    """Parse one YAML document.

    Args:
        text: The whole text, in UTF-8 (or UTF-16 with its mark).
        faults: Gets a sentence, which begins with the path, for each value that is not read.

    Raises:
        ConfigError: It is no YAML, or beyond a limit; the message names line and column.
    """
    if len(text) > MAX_BYTES:
        raise ConfigError(f"the file has {len(text):,} bytes; at most {MAX_BYTES:,} are read")
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        return _Reading(faults).value(root, "") if root is not None else None
    except yaml.YAMLError as broken:
        raise ConfigError(_syntax(broken)) from None
    except RecursionError:
        raise ConfigError("the file is nested too deeply to be read") from None


def _syntax(broken: yaml.YAMLError) -> str:
    mark = getattr(broken, "problem_mark", None)
    if mark is None:
        return f"this is not YAML in UTF-8: {' '.join(str(broken).split())}"
    said = " ".join(filter(None, (getattr(broken, "context", None), broken.problem)))  # type: ignore[attr-defined]  # a marked error has one
    hint = ""
    if "'\\t'" in said:
        hint = "; YAML is indented with spaces, not tabs"
    elif "mapping values are not allowed" in said:
        hint = "; is a text with `: ` in it to be quoted, or a line indented too far?"
    return f"line {mark.line + 1}, column {mark.column + 1}: this is not YAML: {said}{hint}"


class _Reading:
    """One document on its way from nodes to objects."""

    def __init__(self, faults: list[str]) -> None:
        self._faults = faults
        self._left = MAX_VALUES
        self._open: set[int] = set()

    def value(self, node: yaml.Node, path: str) -> Any:
        """Return what a node holds."""
        self._left -= 1
        if self._left < 0:
            raise ConfigError(f"the file holds more than {MAX_VALUES:,} values, aliases expanded")
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, path)
        if id(node) in self._open:
            raise ConfigError(f"{path}: an alias refers to what it stands in{_line(node)}")
        self._open.add(id(node))
        try:
            if isinstance(node, yaml.SequenceNode) and node.tag == f"{_TAG}seq":
                return [self.value(item, f"{path}[{n}]") for n, item in enumerate(node.value)]
            if isinstance(node, yaml.MappingNode) and node.tag == f"{_TAG}map":
                return self._mapping(node, path)
        finally:
            self._open.discard(id(node))
        return self._refuse(node, path)

    def _mapping(self, node: yaml.MappingNode, path: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        given: dict[str, yaml.Node] = {}
        merged: list[yaml.Node] = []
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._faults.append(f"{_start(path)}a key must be text{_line(key)}")
                continue
            if key.tag == f"{_TAG}merge":
                merged.append(value)
                continue
            name = key.value
            place = f"{path}.{name}" if path else name
            if name in given:
                first, second = given[name].start_mark.line + 1, key.start_mark.line + 1
                self._faults.append(f"{place}: is given twice, in lines {first} and {second}")
                continue
            given[name] = key
            found[name] = self.value(value, place)
        for name, value in self._merged(merged, path):
            found.setdefault(name, value)
        return found

    def _merged(self, nodes: list[yaml.Node], path: str) -> Iterator[tuple[str, Any]]:
        """Yield what `<<` takes over, the first of several first."""
        for node in nodes:
            several = node.value if isinstance(node, yaml.SequenceNode) else [node]
            for one in several:
                value = self.value(one, path)
                if isinstance(value, dict):
                    yield from value.items()
                else:
                    self._faults.append(f"{_start(path)}`<<` takes an object{_line(one)}")

    def _scalar(self, node: yaml.ScalarNode, path: str) -> Any:
        text: str = node.value
        kind = node.tag.removeprefix(_TAG)
        if kind == "null":
            return None
        plain = node.style is None and kind in ("str", "int", "float")
        if plain and _NUMBER.fullmatch(text) and not _ZEROS.match(text):
            return self._number(node, path)
        if kind in ("str", "timestamp", "value"):
            return text
        if kind == "bool":
            return self._flag(node, path)
        if kind == "float" and text.lower() in _SPECIAL:
            return _SPECIAL[text.lower()]
        if kind in ("int", "float"):
            self._faults.append(
                f"{_start(path)}{shorten(text)}{_line(node)} is one number to some YAML readers, "
                "another or text to others: write it in quotes, or as a plain decimal number"
            )
            return text
        return self._refuse(node, path)

    def _number(self, node: yaml.ScalarNode, path: str) -> Any:
        text: str = node.value
        if _INTEGER.fullmatch(text):
            return int(text)
        number = float(text)
        if not math.isfinite(number):
            self._faults.append(f"{_start(path)}{shorten(text)}{_line(node)} is too large a number")
        return number

    def _flag(self, node: yaml.ScalarNode, path: str) -> Any:
        text: str = node.value
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        flag = "true" if text.lower() in ("yes", "on") else "false"
        self._faults.append(
            f"{_start(path)}{text}{_line(node)} is {flag} to some YAML readers and text to others: "
            f"write {flag}, or '{text}' in quotes"
        )
        return text

    def _refuse(self, node: yaml.Node, path: str) -> None:
        tag = node.tag.replace(_TAG, "!!")
        self._faults.append(f"{_start(path)}the tag {shorten(tag)}{_line(node)} is not read")


def _start(path: str) -> str:
    return f"{path}: " if path else ""


def _line(node: yaml.Node) -> str:
    return f" (line {node.start_mark.line + 1})"
