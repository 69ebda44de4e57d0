"""RegexMatch: a regular expression matches the response (SEMANTICS A10).

The expression is searched for anywhere, or must match the whole response (`fullmatch`). Its syntax
is that of the package `regex`, which reads what the standard library's `re` reads, and more, and
can be stopped: an expression that takes too long is an error, never a score. A response that is a
structure is searched as its JSON text, keys sorted.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import or_

import regex

from trajgrade.errors import ConfigError, shorten, unknown
from trajgrade.evaluators.answering import AnswerEvaluator, check_flags
from trajgrade.evaluators.reading import Answer
from trajgrade.matching.values import is_number
from trajgrade.result import EvaluationResult

# The two packages give the same flag different numbers. LOCALE is for bytes only; UNICODE is the
# default for text; DEBUG prints.
_FLAGS = {
    "IGNORECASE": regex.IGNORECASE,
    "MULTILINE": regex.MULTILINE,
    "DOTALL": regex.DOTALL,
    "UNICODE": regex.UNICODE,
    "VERBOSE": regex.VERBOSE,
    "ASCII": regex.ASCII,
}


@dataclass(frozen=True)
class RegexMatch(AnswerEvaluator):
    """1 if the expression matches the response, else 0; `value` is the same as a bool.

    Attributes:
        pattern: The expression, or one compiled by `re`, which brings its flags with it.
        flags: The flags of `re`, as a number or as names: `"IGNORECASE | DOTALL"`.
        key: The metric's name.
        fullmatch: Whether it must match the whole response.
        timeout: The longest time that one response may take, in seconds.
    """

    pattern: str | re.Pattern[str]
    flags: int | str = 0
    key: str = "regex_match"
    fullmatch: bool = field(default=False, kw_only=True)
    timeout: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        """Check the options, and compile the expression.

        Raises:
            ConfigError: The expression is invalid, or an option has a value that it does not take.
        """
        given = self.pattern
        if isinstance(given, re.Pattern) and isinstance(given.pattern, str):
            object.__setattr__(self, "pattern", given.pattern)
            object.__setattr__(self, "flags", given.flags | _numbered(self.flags))
        check_flags(fullmatch=self.fullmatch)
        if not (is_number(self.timeout) and math.isfinite(self.timeout) and self.timeout > 0):
            raise ConfigError(f"timeout: seconds above 0 are needed, got {self.timeout!r}")
        _ = self._compiled

    @cached_property
    def _compiled(self) -> regex.Pattern[str]:
        if not isinstance(self.pattern, str):
            raise ConfigError(f"pattern: a text is needed, got {self.pattern!r}")
        flags = _translated(_numbered(self.flags))
        try:
            return regex.compile(self.pattern, flags)
        except (regex.error, ValueError, OverflowError, RecursionError) as wrong:
            raise ConfigError(
                f"pattern: {shorten(self.pattern)} is no regular expression: {wrong}"
            ) from wrong

    def grade(self, answer: Answer) -> EvaluationResult:
        """Search the response, or match it in full.

        Raises:
            TimeoutError: It took longer than `timeout`.
        """
        text = answer.text
        match = self._compiled.fullmatch if self.fullmatch else self._compiled.search
        try:
            found = match(text, timeout=self.timeout)
        except TimeoutError:
            raise TimeoutError(
                f"the pattern {shorten(self.pattern)} did not finish within {self.timeout} s on a "
                f"text of {len(text)} characters; simplify it, or raise timeout="
            ) from None
        if found is None:
            where = "the whole of" if self.fullmatch else "anywhere in"
            return self.verdict(False, f"no match {where} {shorten(text)}")
        start, end = found.span()
        comment = f"matches {shorten(found[0])} at character {start + 1}"
        return self.verdict(True, comment, {"match": found[0], "start": start, "end": end})


def _numbered(flags: object) -> int:
    """Return the flags as `re` numbers them."""
    if isinstance(flags, str):
        names = [name.strip().upper().removeprefix("RE.") for name in flags.split("|")]
        wrong = [name for name in names if name not in _FLAGS]
        if wrong:
            raise ConfigError(f"flags: {unknown('flag', wrong[0], list(_FLAGS))}")
        return reduce(or_, (int(re.RegexFlag[name]) for name in names))
    if not isinstance(flags, int) or isinstance(flags, bool):
        raise ConfigError(f"flags: a number or names of flags are needed, got {flags!r}")
    return int(flags)


def _translated(flags: int) -> int:
    """Return the flags as `regex` numbers them."""
    known = {name: int(re.RegexFlag[name]) for name in _FLAGS}
    beyond = flags & ~reduce(or_, known.values())
    if beyond:
        raise ConfigError(
            f"flags: {re.RegexFlag(beyond)!r} cannot be used here. Known: {', '.join(_FLAGS)}"
        )
    return reduce(or_, (int(_FLAGS[name]) for name, bit in known.items() if flags & bit), 0)
