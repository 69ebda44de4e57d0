"""Gates as they are written: which metric may not become worse, and by how much it may."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from trajgrade.errors import ConfigError, shorten, unknown

_KEYS = ("metric", "margin")


class Gate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A metric that may not become worse.

    Attributes:
        metric: Its key.
        margin: By how much its mean may be worse, in units of its scores.
    """

    metric: str
    margin: float = 0.0

    def __str__(self) -> str:
        """Return it as it is read."""
        return f"no regression of {self.metric} by {self.margin:.12g}"


def gates_of(written: Any) -> list[Gate]:
    """Read gates: `{metric: margin}`, one `{metric: …, margin: …}`, a list of those, or `Gate`s.

    Raises:
        ConfigError: One is not written so; holds all faults.
    """
    faults: list[str] = []
    found: list[Gate] = []
    for name, margin in _written(written, faults):
        number = isinstance(margin, (int, float)) and not isinstance(margin, bool)
        if not isinstance(name, str) or not name:
            faults.append(f"no_regression: a metric is a name, got {shorten(name)}")
        elif not number or not 0 <= margin < float("inf"):
            faults.append(
                f"no_regression.{name}: a margin is a number from 0 on, got {shorten(margin)}"
            )
        else:
            found.append(Gate(name, float(margin)))
    if faults:
        raise ConfigError(*faults)
    return found


def _written(written: Any, faults: list[str]) -> Iterable[tuple[Any, Any]]:
    if isinstance(written, Mapping):
        if "metric" not in written:
            yield from written.items()
            return
        faults += [
            f"no_regression: {unknown('key', key, _KEYS)}" for key in written if key not in _KEYS
        ]
        yield written["metric"], written.get("margin", 0.0)
    elif isinstance(written, Gate):
        yield written.metric, written.margin
    elif isinstance(written, list | tuple):
        for one in written:
            yield from _written(one, faults)
    else:
        faults.append(
            "no_regression: write {metric: …, margin: …}, a list of those, or metric: margin, got "
            f"{shorten(written)}"
        )


def gate_faults(written: Any) -> list[str]:
    """Return what is wrong in how gates are written."""
    try:
        gates_of(written)
    except ConfigError as wrong:
        return list(wrong.faults)
    return []
