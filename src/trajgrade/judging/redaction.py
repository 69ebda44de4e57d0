"""Redaction: what must not leave the machine is taken out of a text before a judge is asked.

It is done before anything else is done to a text, cutting it included, so that no half of a secret
remains at a cut. What is taken out is replaced by its kind, `[email]`. A pattern of one's own is
bounded in time: where it takes longer, the text is not sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import regex

from trajgrade.errors import ConfigError, JudgeError, shorten, unknown

SECONDS = 2.0

# A key begins as its issuer has it, is a JSON web token, a block of PEM, or follows its own name.
_KEYS = (
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?s:.{0,20000}?)-----END [A-Z ]{0,40}PRIVATE KEY-----",
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?s:.{0,20000})",
    r"\b(?:sk|pk|rk)[-_][\w-]{16,}",
    r"\b(?:AKIA|ASIA)[0-9A-Z]{12,}",
    r"\bgh[pousr]_\w{20,}",
    r"\bgithub_pat_\w{20,}",
    r"\bxox[abeprs]-[\w-]{10,}",
    r"\bAIza[\w-]{20,}",
    r"\bhf_\w{16,}",
    r"\bglpat-[\w-]{16,}",
    r"\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?",
    r"(?<=\b(?:bearer|basic) )[\w.~+/=-]{12,}",
    r"""(?<=\b(?:api[_-]?key|secret|token|passw(?:or)?d)["']?\s{0,3}[:=]\s{0,3}["']?)[^\s"',;]{6,}""",
)
# Seven digits or more: after a plus or an area code in brackets, or in three groups; no date.
_TAIL = r"\d{2,8}(?:[ .-]\d{2,8}){0,4}"
_PHONE = (
    r"(?<![\w.+-])(?!\d{4}-\d\d-\d\d(?!\d))(?=(?:[ .()+-]{0,2}\d){7})"
    rf"(?:\+\d{{1,3}}[ .-]?(?:\(\d{{1,5}}\)[ .-]?)?{_TAIL}|\(\d{{2,5}}\)[ .-]?{_TAIL}"
    r"|\d{2,5}(?:[ .-]\d{2,8}){2,4}|\+\d{8,15})(?![\w-]|\.\d)"
)
PATTERNS: dict[str, str] = {
    "email": r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}\b",
    "phone": _PHONE,
    "key": "|".join(_KEYS),
}


@dataclass(frozen=True)
class Redaction:
    """What is taken out of every text.

    Attributes:
        kinds: Built-in kinds: `email`, `phone`, `key`.
        patterns: Regular expressions of one's own, by what replaces them.
        hooks: Functions from text to text, which run first.
    """

    kinds: Sequence[str] = ()
    patterns: Mapping[str, str] | None = None
    hooks: Sequence[Callable[[str], str]] = ()

    def __post_init__(self) -> None:
        """Compile the patterns.

        Raises:
            ConfigError: A kind that does not exist, or what is no regular expression.
        """
        faults = [
            f"redact: {unknown('kind', kind, sorted(PATTERNS))}"
            for kind in self.kinds
            if kind not in PATTERNS
        ]
        for name, pattern in (self.patterns or {}).items():
            try:
                regex.compile(pattern)
            except (regex.error, TypeError) as wrong:
                faults.append(f"redact: {name}: no regular expression: {wrong}")
        if faults:
            raise ConfigError(*faults)

    @cached_property
    def _compiled(self) -> list[tuple[str, regex.Pattern[str]]]:
        own = (self.patterns or {}).items()
        built_in = ((kind, PATTERNS[kind]) for kind in self.kinds)
        return [
            *((name, regex.compile(pattern)) for name, pattern in own),
            *((kind, regex.compile(pattern, regex.IGNORECASE)) for kind, pattern in built_in),
        ]

    def __call__(self, text: str) -> str:
        """Return the text without what must not leave.

        Raises:
            JudgeError: A pattern takes too long; the text must not be sent then.
        """
        for hook in self.hooks:
            text = hook(text)
            if not isinstance(text, str):
                raise JudgeError(f"redact: a hook must return a text, got {shorten(text)}")
        for name, pattern in self._compiled:
            try:
                text = pattern.sub(f"[{name}]", text, timeout=SECONDS)
            except TimeoutError:
                raise JudgeError(
                    f"redact: {name}: the pattern takes longer than {SECONDS:g} s on a text of "
                    f"{len(text)} characters; nothing was sent"
                ) from None
        return text
