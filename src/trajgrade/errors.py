"""Every error that trajgrade raises on purpose.

    TrajgradeError
    ├── ConfigError (ValueError)          a parameter or a config file is wrong; holds all faults
    │   └── ParameterError (TypeError)    a parameter that does not exist, or one that is missing
    ├── UnknownNameError (KeyError)       no evaluator, format, sample … of that name
    ├── MissingExtraError (ImportError)   an optional package is needed and absent
    ├── TraceError (ValueError)           a trace cannot be read
    │   ├── UnknownTraceError             no format recognises it
    │   ├── AmbiguousTraceError           two formats claim it and read it differently
    │   └── MalformedTraceError           its format is known, a part of it is broken
    ├── DatasetError (ValueError)         a dataset cannot be read; names file, row and field
    ├── AgentCallError (RuntimeError)     an agent's process, or its URL, gave no answer
    ├── JudgeError (RuntimeError)         a judge cannot be asked, or refuses to answer
    │   └── UnreachableJudgeError         for a while: another attempt may succeed
    ├── EngineError (RuntimeError)        the work failed where an engine ran it
    ├── StoreError (RuntimeError)         a store cannot be read or written, or a run is held
    │   └── ChangedError                  what was to be changed is not what the caller saw
    └── TooLargeError (ValueError)        input beyond a limit that keeps time or memory bounded

Each message says what was found, where, what is allowed and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


class TrajgradeError(Exception):
    """The root: `except TrajgradeError` catches whatever trajgrade raises on purpose."""


class ConfigError(TrajgradeError, ValueError):
    """A parameter or a config file is wrong.

    `faults` lists every fault found, each as a sentence that begins with its path; `where` is the
    file that they are in.
    """

    def __init__(self, *faults: str, where: str = "") -> None:
        self.faults: tuple[str, ...] = faults
        self.where = where
        start = f"{where}: " if where else ""
        super().__init__("\n".join(f"{start}{fault}" for fault in faults))


class ParameterError(ConfigError, TypeError):
    """A parameter that does not exist, or a required one that was not given."""


class UnknownNameError(TrajgradeError, KeyError):
    """No thing of that kind has that name; the message lists what exists."""

    def __init__(self, kind: str, name: object, known: Iterable[str], where: str = "") -> None:
        self.kind = kind
        self.name = name
        self.known: tuple[str, ...] = tuple(sorted(known))
        super().__init__(where + unknown(kind, name, self.known))

    def __str__(self) -> str:
        """Return the message itself: KeyError would show its repr."""
        return str(self.args[0])


class MissingExtraError(TrajgradeError, ImportError):
    """An optional package is needed and not installed."""

    def __init__(self, feature: str, package: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs the package {package}: pip install 'trajgrade[{extra}]'", name=package
        )


class TraceError(TrajgradeError, ValueError):
    """A trace cannot be read. It is never taken for an empty one."""


class UnknownTraceError(TraceError):
    """No format recognises the data.

    Args:
        message: What was found, with every format that was tried.
        brief: The same without those, for where many such errors stand together.
    """

    def __init__(self, message: str, brief: str = "") -> None:
        super().__init__(message)
        self.brief = brief or message


class AmbiguousTraceError(TraceError):
    """Several formats claim the data, and they read it differently."""


class MalformedTraceError(TraceError):
    """The format is recognised, but a part of the data breaks its rules."""


class DatasetError(TrajgradeError, ValueError):
    """A dataset cannot be read; the message names file, row and field."""


class AgentCallError(TrajgradeError, RuntimeError):
    """An agent that is a process, or behind a URL, gave no answer.

    `exit_code` is that of the process, `status_code` that of the HTTP response, and `retry_after`
    what that says of when to come back; None where there is none.
    """

    def __init__(
        self,
        message: str,
        *,
        exit_code: int | None = None,
        status_code: int | None = None,
        retry_after: str | None = None,
    ) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.status_code = status_code
        self.retry_after = retry_after


class JudgeError(TrajgradeError, RuntimeError):
    """A judge could not be asked, or refused to answer."""


class UnreachableJudgeError(JudgeError):
    """A judge could not be asked for now: too many requests, no connection, no answer in time.

    `retry_after` is how many seconds its provider wants to be left alone, where it says so.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class EngineError(TrajgradeError, RuntimeError):
    """The work failed where an engine ran it, and not for one row alone."""


class StoreError(TrajgradeError, RuntimeError):
    """A store cannot be opened, read or written, or another process holds the run."""


class ChangedError(StoreError):
    """What was to be changed is not any more what the caller has seen."""


class TooLargeError(TrajgradeError, ValueError):
    """The input is beyond a limit that keeps time or memory bounded."""


def near(name: object, known: Iterable[str], least: float = 60) -> str | None:
    """Return the member of `known` that `name` is most likely meant to be, if any is near.

    Args:
        name: What was written.
        known: What there is.
        least: How alike they must be, from 0 to 100.
    """
    from rapidfuzz import fuzz, process

    best = process.extractOne(
        str(name), list(known), scorer=fuzz.ratio, processor=str.casefold, score_cutoff=least
    )
    return best[0] if best else None


def unknown(kind: str, name: object, known: Sequence[str]) -> str:
    """Say that `name` is no `kind`, which ones there are, and the likely one."""
    guess = near(name, known)
    hint = f" Did you mean {guess!r}?" if guess else ""
    return f"unknown {kind} {name!r}.{hint} Known: {', '.join(known)}"


def shorten(value: Any, limit: int = 80) -> str:
    """Return the repr of an untrusted value, cut to `limit` characters."""
    if isinstance(value, (str, bytes)) and len(value) > limit:
        return f"{value[: limit - 20]!r}… ({len(value)} long)"
    if isinstance(value, (list, tuple, dict)) and len(value) > limit:
        return f"{type(value).__name__} of {len(value)}"
    try:
        text = repr(value)
    except Exception as broken:  # noqa: BLE001 a caller's __repr__ may raise anything; the report must not
        text = f"<{type(value).__name__}, whose repr raises {type(broken).__name__}>"
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
