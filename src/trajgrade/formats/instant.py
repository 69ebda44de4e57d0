"""A moment as a trace writes it → an aware datetime in UTC; None where it is none.

ISO 8601 text (without a zone: UTC), or a number since 1970: seconds, milliseconds, microseconds or
nanoseconds, told apart by its size.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST = 40
_YEAR_5138 = 1e11  # in seconds; in milliseconds it is 1973
_NANOSECONDS = 19
"""The number of digits of a time in nanoseconds, from 2001 on."""
_UNITS = (1.0, 1e3, 1e6, 1e9)


def instant(value: Any) -> datetime | None:
    """Return the moment."""
    try:
        if isinstance(value, str):
            if not value or len(value) > _LONGEST:
                return None
            if value.isascii() and value.isdigit():
                if len(value) == _NANOSECONDS:
                    return _EPOCH + timedelta(microseconds=int(value) // 1000)
                return instant(int(value))
            moment = datetime.fromisoformat(value)
            zone = moment.tzinfo
            if zone is UTC:
                return moment
            return moment.astimezone(UTC) if zone else moment.replace(tzinfo=UTC)
        if isinstance(value, datetime):
            return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
            return None
        if value < _YEAR_5138:
            return _EPOCH + timedelta(seconds=value)
        unit = next((unit for unit in _UNITS if value / unit < _YEAR_5138), None)
        if unit is None:
            return None
        if isinstance(value, int):
            return _EPOCH + timedelta(microseconds=value * 1_000_000 // int(unit))
        return _EPOCH + timedelta(seconds=value / unit)
    except (ValueError, OverflowError):
        return None
