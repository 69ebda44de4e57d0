"""Pattern: the form of a verdict outside JSON, as a line with a hole or a regular expression."""

from __future__ import annotations

import regex

from trajgrade.errors import ConfigError


def compiled(pattern: str) -> regex.Pattern[str]:
    """Return the declared form of a verdict as a regular expression with one group.

    Raises:
        ConfigError: It is none, or has no group.
    """
    if "{}" in pattern:
        head, _, tail = pattern.partition("{}")
        written = rf"^\s*{regex.escape(head)}(.*?){regex.escape(tail)}[^\S\n]*$"
    else:
        written = pattern
    try:
        made = regex.compile(written, regex.MULTILINE)
    except regex.error as wrong:
        raise ConfigError(f"pattern: {pattern!r} is no regular expression: {wrong}") from None
    if made.groups != 1:
        raise ConfigError(f"pattern: one group is needed, {pattern!r} has {made.groups}")
    return made
