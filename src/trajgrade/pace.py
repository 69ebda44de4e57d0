"""Pace: how long a call may take, how often it is made again, and how many are made a minute.

A failure is transient only where the caller says so: by the name of an exception's type (or of one
that it derives from), or by a number, which is the HTTP status or the exit code that the exception
carries. The waits between the calls grow, and are drawn at random, so that many callers do not come
back at one moment; where the other side says how long to wait (`Retry-After`), that counts.
"""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Annotated, Any

import msgspec

from trajgrade.errors import ConfigError, shorten, unknown

MAX_CONCURRENCY = 10
LONGEST = 600.0
_GROWS_TO = 60.0
_SECONDS = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0}
_SHORT = {"s": "second", "sec": "second", "m": "minute", "min": "minute", "h": "hour", "d": "day"}
_RATE = re.compile(r"\s*(?P<calls>\d+(?:\.\d+)?)\s*(?:/|per)\s*(?P<unit>[A-Za-z]+)\s*")
_CODES = ("status_code", "exit_code", "status", "returncode", "code")
_NAME = re.compile(r"[A-Za-z_][\w.]*")

Code = Annotated[int, msgspec.Meta(ge=-64, le=599)]
Transient = str | Code


class Pace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How something is called.

    Attributes:
        max_concurrency: How many calls are under way at once, at most.
        timeout: After how many seconds a call counts as failed; null waits for ever.
        retries: How many times a call is made again that failed in a way that is transient.
        retry_on: What is transient: names of exceptions, HTTP statuses, exit codes.
        backoff: How many seconds the first wait before a retry is at most; each next is doubled.
        rate_limit: How many calls begin in a time, at most: `60/minute`, `5/second`.
    """

    max_concurrency: Annotated[int, msgspec.Meta(ge=1)] = MAX_CONCURRENCY
    timeout: Annotated[float, msgspec.Meta(gt=0)] | None = None
    retries: Annotated[int, msgspec.Meta(ge=0, le=100)] = 0
    retry_on: tuple[Transient, ...] = ()
    backoff: Annotated[float, msgspec.Meta(ge=0, le=LONGEST)] = 1.0
    rate_limit: str | None = None

    def faults(self) -> Iterator[str]:
        """Yield what is wrong with it, beyond the types and ranges of its fields."""
        if self.retries and not self.retry_on:
            yield (
                "retries: nothing is named that is worth another call; name it in retry_on, for "
                "example [ConnectionError, TimeoutError, 429, 503]"
            )
        for what in self.retry_on:
            if isinstance(what, str) and not _NAME.fullmatch(what):
                yield f"retry_on: expected the name of an exception or a number, got {what!r}"
        if self.rate_limit is not None:
            try:
                interval_of(self.rate_limit)
            except ConfigError as wrong:
                yield from wrong.faults

    def limit(self) -> RateLimit | None:
        """Return what keeps to the rate limit, from now on."""
        return None if self.rate_limit is None else RateLimit(interval_of(self.rate_limit))

    def wait_before(self, attempt: int, raised: BaseException | None) -> float | None:
        """Return how many seconds to wait before the call is made again.

        Args:
            attempt: Which attempt that is; the first retry is 2.
            raised: What the last one raised; None where it returned.

        Returns:
            None where it is not made again.
        """
        if raised is None or attempt > self.retries + 1:
            return None
        if not is_transient(raised, self.retry_on):
            return None
        told = told_wait(raised)
        if told is not None:
            return told if told <= LONGEST else None
        longest = min(self.backoff * 2.0 ** (attempt - 2), max(self.backoff, _GROWS_TO))
        return random.uniform(longest / 2, longest)  # noqa: S311 spreads the calls; nothing to guess


def pace_of(**options: Any) -> Pace:
    """Return the pace that the options say; one that is None has its default.

    Raises:
        ConfigError: Any is wrong; holds all faults.
    """
    types = {field.name: field.type for field in msgspec.structs.fields(Pace)}
    faults: list[str] = []
    given: dict[str, Any] = {}
    for name, value in options.items():
        if value is None:
            continue
        try:
            given[name] = msgspec.convert(value, types[name])
        except msgspec.ValidationError as wrong:
            faults.append(f"{name}: {_SAID.get(name, wrong)}, got {shorten(value)}")
    pace = Pace(**given)
    faults += pace.faults()
    if faults:
        raise ConfigError(*faults)
    return pace


_SAID = {
    "max_concurrency": "expected a whole number from 1",
    "timeout": "expected a number of seconds above 0",
    "retries": "expected a whole number from 0 to 100",
    "retry_on": "expected a list of exceptions' names, HTTP statuses and exit codes",
    "backoff": f"expected a number of seconds from 0 to {LONGEST:.0f}",
    "rate_limit": "expected calls per time, such as 60/minute",
}


def interval_of(rate: str) -> float:
    """Return how many seconds lie between two calls of a rate such as `60/minute`.

    Raises:
        ConfigError: It is no rate.
    """
    found = _RATE.fullmatch(rate)
    if found is None or not float(found["calls"]):
        raise ConfigError(f"rate_limit: expected calls per time, such as 60/minute, got {rate!r}")
    unit = found["unit"].lower()
    unit = _SHORT.get(unit, unit)
    seconds = _SECONDS.get(unit, _SECONDS.get(unit.removesuffix("s")))
    if seconds is None:
        raise ConfigError(f"rate_limit: {rate!r}: {unknown('unit', unit, tuple(_SECONDS))}")
    return seconds / float(found["calls"])


class RateLimit:
    """Turns, evenly spaced, for calls from any thread.

    Args:
        interval: How many seconds lie between two of them.
        clock: What tells the time.
    """

    def __init__(self, interval: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._interval = interval
        self._clock = clock
        self._lock = threading.Lock()
        self._next = 0.0

    def reserve(self) -> float:
        """Take the next free turn, and return how many seconds there are until then."""
        with self._lock:
            now = self._clock()
            turn = max(now, self._next)
            self._next = turn + self._interval
            return turn - now


def is_transient(raised: BaseException, named: tuple[Transient, ...]) -> bool:
    """Whether an exception is one of those that are named, by type or by the code it carries."""
    types = {name for kind in type(raised).__mro__ for name in _names(kind)}
    return any(
        what in types if isinstance(what, str) else what in codes_of(raised) for what in named
    )


def _names(kind: type) -> tuple[str, str]:
    return kind.__name__, f"{kind.__module__}.{kind.__qualname__}"


def codes_of(raised: BaseException) -> set[int]:
    """Return the HTTP status or exit code that an exception carries, by any of the usual names."""
    holders = (raised, _held(raised, "response"))
    found = [_held(holder, name) for holder in holders for name in _CODES]
    return {code for code in found if isinstance(code, int) and not isinstance(code, bool)}


def told_wait(raised: BaseException) -> float | None:
    """Return how many seconds the other side says to wait; None where it says nothing."""
    told = _held(raised, "retry_after")
    if told is None:
        headers = _held(_held(raised, "response"), "headers")
        told = headers.get("retry-after") if isinstance(headers, Mapping) else None
    return seconds_of(told)


def _held(holder: Any, name: str) -> Any:
    try:
        return getattr(holder, name, None)
    except Exception:  # noqa: BLE001 an exception of an agent may raise when it is looked at
        return None


def seconds_of(told: Any) -> float | None:
    """Return a `Retry-After` as seconds from now; it is a number of them, or a date."""
    if isinstance(told, str):
        try:
            told = float(told)
        except ValueError:
            return _until(told)
    if isinstance(told, bool) or not isinstance(told, (int, float)) or not told >= 0:
        return None
    return float(told)


def _until(date: str) -> float | None:
    try:
        then = parsedate_to_datetime(date)
    except ValueError:
        return None
    aware = then if then.tzinfo is not None else then.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())
