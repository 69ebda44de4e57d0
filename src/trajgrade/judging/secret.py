"""Secret: a text that is used and never shown.

It prints, compares and serialises as `***`. `${NAME}` in it stands for a variable of the
environment, which is read when the secret is used and not before.
"""

from __future__ import annotations

import os
import re

from trajgrade.errors import ConfigError

SHOWN = "***"
_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_]\w*)\}")


class Secret:
    """A text that is used and never shown."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text, its variables filled in.

        Raises:
            ConfigError: A variable is not set.
        """
        return expanded(self._text)

    def __repr__(self) -> str:
        return SHOWN

    def __str__(self) -> str:
        return SHOWN

    def __format__(self, spec: str) -> str:
        return format(SHOWN, spec)

    def __eq__(self, other: object) -> bool:
        """Return whether both are secrets: two that differ are not told apart."""
        return isinstance(other, Secret)

    def __hash__(self) -> int:
        return hash(SHOWN)

    def __bool__(self) -> bool:
        return bool(self._text)


def expanded(text: str) -> str:
    """Return the text with each `${NAME}` replaced by the variable of that name.

    Raises:
        ConfigError: A variable is not set.
    """

    def of(found: re.Match[str]) -> str:
        value = os.environ.get(found["name"])
        if value is None:
            raise ConfigError(f"the environment variable {found['name']} is not set")
        return value

    return _VARIABLE.sub(of, text)
