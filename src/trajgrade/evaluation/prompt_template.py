"""PromptTemplate: a text with variables in braces, `{instruction}`, filled by replacement.

What stands in a value is never read as a variable, and braces that hold no name, as those of JSON,
stay as they are. `{{name}}` is the text `{name}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

_VARIABLE = re.compile(r"\{\{([\w.-]+)\}\}|\{([\w.-]+)\}")


class _Variable(NamedTuple):
    name: str

    def __str__(self) -> str:
        return f"{{{self.name}}}"


class PromptTemplate:
    """A text with variables in braces.

    Args:
        template: The text.
    """

    def __init__(self, template: str | PromptTemplate) -> None:
        cut = template._parts if isinstance(template, PromptTemplate) else _cut(str(template))  # noqa: SLF001 of this class
        self._parts: tuple[str | _Variable, ...] = tuple(cut)

    @property
    def template(self) -> str:
        """The text, with the variables that are not filled yet."""
        return "".join(map(str, self._parts))

    @property
    def prompt_data(self) -> str:
        """The same as `template`."""
        return self.template

    @property
    def variables(self) -> set[str]:
        """The names of the variables that are not filled yet."""
        return {part.name for part in self._parts if isinstance(part, _Variable)}

    @property
    def placeholders(self) -> set[str]:
        """The same as `variables`."""
        return self.variables

    def assemble(self, **values: Any) -> PromptTemplate:
        """Return the template with these variables filled; the others stay."""
        return self.fill(values)

    def fill(self, values: Mapping[str, Any]) -> PromptTemplate:
        """Return the template with these variables filled; the others stay."""
        filled = PromptTemplate("")
        filled._parts = tuple(
            _text(values[part.name])
            if isinstance(part, _Variable) and part.name in values
            else part
            for part in self._parts
        )
        return filled

    def __str__(self) -> str:
        """Return the text."""
        return self.template

    def __repr__(self) -> str:
        """Return it as it is written."""
        return f"PromptTemplate({self.template!r})"


def _cut(template: str) -> Iterable[str | _Variable]:
    parts: list[str | _Variable] = []
    end = 0
    for found in _VARIABLE.finditer(template):
        parts.append(template[end : found.start()])
        parts.append(f"{{{found[1]}}}" if found[1] else _Variable(found[2]))
        end = found.end()
    return [*parts, template[end:]]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)
