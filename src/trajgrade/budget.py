"""Budget: what a run may take before it begins no more rows.

Before each row it is asked whether the budget is spent. What is under way then ends, so that a run
takes as much more as the rows take that are being answered at that moment; only the number of rows
is exact. Rows of an earlier run that is gone on with take nothing.

What an answer took is what the agent returns with it (`trajgrade.reply`), else what its trace
records. Where neither says anything, that is unknown, never 0: such answers are counted and told
of.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import msgspec

from trajgrade.agent import Outcome
from trajgrade.errors import ConfigError, TraceError, shorten, unknown
from trajgrade.trajectory import Trajectory

_Above = Annotated[float, msgspec.Meta(gt=0)]


class Budget(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a run may take; null is without limit.

    Attributes:
        rows: How many rows are begun.
        seconds: How long rows are begun for.
        tokens: How many tokens the answers take.
        money: What the answers cost, in the unit in which the agent says it.
    """

    rows: Annotated[int, msgspec.Meta(ge=1)] | None = None
    seconds: _Above | None = None
    tokens: _Above | None = None
    money: _Above | None = None

    @classmethod
    def of(cls, given: Any) -> Budget:
        """Return the budget that a mapping, or a budget, is.

        Raises:
            ConfigError: It is none; holds all faults.
        """
        if isinstance(given, cls):
            return given
        if not isinstance(given, Mapping):
            raise ConfigError(
                f"budget: expected an object with any of {', '.join(_LIMITS)}, got {shorten(given)}"
            )
        known = [*_LIMITS]
        faults = [
            f"budget.{key}: {unknown('key', key, known)}" for key in given if key not in known
        ]
        for key, hint in _LIMITS.items():
            if not _fits(given.get(key), hint):
                wanted = "a whole number from 1" if key == "rows" else "a number above 0"
                faults.append(f"budget.{key}: expected {wanted}, got {shorten(given[key])}")
        if faults:
            raise ConfigError(*faults)
        return msgspec.convert(dict(given), cls)


_LIMITS = {field.name: field.type for field in msgspec.structs.fields(Budget)}


def _fits(value: Any, hint: Any) -> bool:
    try:
        msgspec.convert(value, hint)
    except msgspec.ValidationError:
        return False
    return True


def _recorded(outputs: Any) -> dict[str, float | None]:
    """Return what a trace records of the tokens and the money that it took."""
    try:
        usage = None if outputs is None else Trajectory.from_any(outputs).usage
    except TraceError:
        usage = None
    if usage is None:
        return {"tokens": None, "money": None}
    return {"tokens": usage.total_tokens, "money": usage.cost}


class Spending:
    """What a run has taken of its budget so far.

    Args:
        budget: The budget.
        clock: What tells the time.
    """

    def __init__(self, budget: Budget, clock: Callable[[], float] = time.monotonic) -> None:
        self.budget = budget
        self._clock = clock
        self._began = clock()
        self.rows = 0
        self.tokens = 0
        self.money = 0.0
        self._unknown = {"tokens": 0, "money": 0}
        self.reason: str | None = None
        self.left_out = 0

    def check(self, *, answered: bool) -> None:
        """Refuse limits of what nothing takes.

        Args:
            answered: Whether an agent answers.

        Raises:
            ConfigError: Tokens or money are limited, and no agent answers.
        """
        limits = {"tokens": self.budget.tokens, "money": self.budget.money}
        named = [name for name, limit in limits.items() if limit is not None]
        if named and not answered:
            raise ConfigError(
                *(f"budget.{name}: counts what the agent says, and none is there" for name in named)
            )

    @property
    def is_bounded(self) -> bool:
        """Whether what rows take decides how many there are."""
        return (self.budget.seconds, self.budget.tokens, self.budget.money) != (None, None, None)

    def allows(self) -> bool:
        """Whether one more row may begin; if not now, then never again."""
        if self.reason is None:
            self.reason = self._exhausted()
        if self.reason is None:
            self.rows += 1
            return True
        self.left_out += 1
        return False

    def _exhausted(self) -> str | None:
        budget = self.budget
        seconds = self._clock() - self._began
        limits = {
            "rows": (budget.rows, self.rows), "seconds": (budget.seconds, seconds),
            "tokens": (budget.tokens, self.tokens), "money": (budget.money, self.money),
        }  # fmt: skip
        for name, (limit, spent) in limits.items():
            if limit is not None and spent >= limit:
                return f"the budget of {limit:g} {name} is spent"
        return None

    def spent(self, outcome: Outcome, outputs: Any = None) -> None:
        """Count what an answer took.

        Args:
            outcome: What the agent said of it.
            outputs: Its trace, which is read only where the agent did not say what is limited.
        """
        took: dict[str, float | None] = {"tokens": outcome.tokens, "money": outcome.cost}
        limits = {"tokens": self.budget.tokens, "money": self.budget.money}
        if any(took[name] is None and limit is not None for name, limit in limits.items()):
            recorded = _recorded(outputs)
            took = {name: recorded[name] if took[name] is None else took[name] for name in took}
        for name, amount in took.items():
            if amount is None:
                self._unknown[name] += 1
        self.tokens += int(took["tokens"] or 0)
        self.money += took["money"] or 0.0

    def warnings(self) -> list[str]:
        """Say that the run was stopped, and what is not known of what it took."""
        found = []
        if self.reason is not None and self.left_out:
            rows = "1 row was" if self.left_out == 1 else f"{self.left_out:,} rows were"
            found.append(f"stopped: {self.reason}; {rows} not run")
        for name, count in self._unknown.items():
            if count and getattr(self.budget, name) is not None:
                rows = "1 answer" if count == 1 else f"{count:,} answers"
                key = "usage" if name == "tokens" else "cost"
                found.append(
                    f"budget.{name}: {rows} did not say what they took ({key}), so more was spent "
                    "than was counted"
                )
        return found
