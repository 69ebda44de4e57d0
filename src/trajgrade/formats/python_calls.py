"""Calls written in Python → name and arguments.

trains(to='Oslo', n=1)       keyword arguments, their values literals
sort('report.pdf')           positional ones stand as a list under `__positional__`
[trains(to='Oslo'), now()]   several, as a list or parted by commas
"""

from __future__ import annotations

import ast
import warnings
from contextlib import suppress
from typing import Any

from trajgrade.errors import shorten
from trajgrade.formats.arguments import bounded
from trajgrade.trajectory import ArgsState

POSITIONAL = "__positional__"
_LONGEST = 100_000
_JSON_NAMES = {"true": True, "false": False, "null": None}

Call = tuple[str, Any, ArgsState]


def calls_in(text: str, notes: list[str]) -> list[Call] | None:
    """Return name, arguments and their state of each call; None where the text is no such list.

    Raises:
        MalformedTraceError: Arguments are nested too deeply.
    """
    tree = _tree(text)
    if tree is None:
        return None
    nodes = tree.elts if isinstance(tree, (ast.List, ast.Tuple)) else [tree]
    calls = []
    for node in nodes:
        name = _name(node.func) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or name is None:
            return None
        calls.append((name, *_arguments(node, text, name, notes)))
    return calls


def literal_in(text: str) -> Any:
    """Return the value that a text of Python's literals writes; the text itself where none."""
    tree = _tree(text)
    try:
        return text if tree is None else _literal(tree)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return text


def _tree(text: str) -> ast.expr | None:
    if len(text) > _LONGEST:
        return None
    try:
        with warnings.catch_warnings():  # an invalid escape in a text is the agent's affair
            warnings.simplefilter("ignore")
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _name(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = _name(node.value)
        return None if before is None else f"{before}.{node.attr}"
    return None


def _arguments(node: ast.Call, text: str, name: str, notes: list[str]) -> tuple[Any, ArgsState]:
    names = [keyword.arg for keyword in node.keywords]
    args: dict[str, Any] | None = None
    if None not in names and len(set(names)) == len(names):
        with suppress(ValueError, TypeError, RecursionError, MemoryError):
            args = {str(keyword.arg): _literal(keyword.value) for keyword in node.keywords}
            if node.args:
                args = {POSITIONAL: [_literal(value) for value in node.args], **args}
    if args is None:
        notes.append(f"{name}: its arguments are no literals: {shorten(text)}")
        return text, "unparseable"
    bounded(args, name)
    return args, "ok"


def _literal(node: ast.expr) -> Any:
    return plain(ast.literal_eval(_JsonNames().visit(node)))


def plain(value: Any) -> Any:
    """Return a literal as JSON has it: tuples and sets as lists, keys as texts."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    return str(value)


class _JsonNames(ast.NodeTransformer):
    """Puts Python's constants for JSON's."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return the constant that the name stands for."""
        if node.id in _JSON_NAMES:
            return ast.copy_location(ast.Constant(_JSON_NAMES[node.id]), node)
        return node
