"""Moments as traces write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.formats.instant import instant

NOON = datetime(2025, 6, 14, 12, tzinfo=UTC)
SECONDS = 1_749_902_400


@pytest.mark.parametrize(
    "value",
    [
        "2025-06-14T12:00:00Z",
        "2025-06-14T12:00:00",
        "2025-06-14T14:00:00+02:00",
        "2025-06-14T12:00:00.000000",
        SECONDS,
        float(SECONDS),
        SECONDS * 1000,
        SECONDS * 10**6,
        SECONDS * 10**9,
        str(SECONDS * 10**9),
        NOON,
        NOON.replace(tzinfo=None),
        NOON.astimezone(timezone(timedelta(hours=2))),
    ],
)
def test_one_moment_in_many_writings(value: Any):
    assert instant(value) == NOON


@pytest.mark.parametrize(
    "value",
    [None, "", "soon", "2025-13-01", 0, -1, True, [], {}, 1e300, float("nan"), 10**40, "9" * 39,
     "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "²"],
)  # fmt: skip
def test_what_is_no_moment(value: Any):
    assert instant(value) is None


@given(st.integers() | st.floats() | st.text() | st.datetimes() | st.none())
def test_never_an_exception(value: Any):
    found = instant(value)
    assert found is None or found.tzinfo is UTC


@pytest.mark.parametrize(
    "digits", ["1767355201000000999", "9999999999999999999", "1000000000000000000"]
)
def test_nanoseconds_as_text_are_those_as_a_number(digits: str):
    assert instant(digits) == instant(int(digits))
