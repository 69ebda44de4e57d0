"""The text of an action → the call that it writes.

    trains({"to": "Oslo"})      JSON, any value
    trains(to="Oslo", n=1)      keywords, their values Python's or JSON's literals
    trains()  trains            no arguments

Anything else is no call: a sentence is not the name of a tool.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any

from trajgrade.formats.arguments import parsed
from trajgrade.trajectory import ArgsState

_NAME = r"[A-Za-z_](?:[\w.:/-]*\w)?"
_CALL = re.compile(rf"\s*({_NAME})(?:\((.*)\))?\s*", re.DOTALL)
_LONGEST = 100_000
_JSON_NAMES = {"true": True, "false": False, "null": None}


def call_in(text: str, notes: list[str]) -> tuple[str, Any, ArgsState] | None:
    """Return the name, arguments and their state; None where the text writes no call.

    Raises:
        MalformedTraceError: The arguments are nested too deeply.
    """
    found = _CALL.fullmatch(text)
    if found is None:
        return None
    name, inner = found.group(1), (found.group(2) or "").strip()
    keywords = _keywords(inner) if "=" in inner or inner.startswith("{") else None
    # JSON first: {"a": "b=c"} is an object and has an equals sign too.
    remarks: list[str] = []
    args, state = parsed(inner, name, remarks)
    if state == "unparseable" and keywords is not None:
        return name, keywords, "ok"
    notes.extend(remarks)
    return name, args, state


def _keywords(inner: str) -> dict[str, Any] | None:
    if len(inner) > _LONGEST:
        return None
    try:
        with warnings.catch_warnings():  # an invalid escape in a text is the agent's affair
            warnings.simplefilter("ignore")
            call = ast.parse(f"f({inner})", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return None
        if len(call.args) == 1 and not call.keywords:
            value = _literal(call.args[0])
            return value if isinstance(value, dict) else None
        names = [keyword.arg for keyword in call.keywords]
        if call.args or None in names or len(set(names)) != len(names):
            return None
        return {str(keyword.arg): _literal(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None


def _literal(node: ast.expr) -> Any:
    return ast.literal_eval(_JsonNames().visit(node))


class _JsonNames(ast.NodeTransformer):
    """Puts Python's constants for JSON's."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return the constant that the name stands for."""
        if node.id in _JSON_NAMES:
            return ast.copy_location(ast.Constant(_JSON_NAMES[node.id]), node)
        return node
