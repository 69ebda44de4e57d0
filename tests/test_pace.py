"""How often something is called, and how often again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.errors import ConfigError
from trajgrade.pace import (
    RateLimit,
    codes_of,
    interval_of,
    is_transient,
    pace_of,
    seconds_of,
    told_wait,
)


class CodedError(Exception):
    def __init__(self, **carried):
        super().__init__("coded")
        self.__dict__.update(carried)


class HostileError(Exception):
    @property
    def response(self):
        raise RuntimeError("looked at")


@pytest.mark.parametrize(
    ("rate", "interval"),
    [
        ("60/minute", 1), ("5/s", 0.2), ("5 / seconds", 0.2), ("10 per min", 6), ("7200/h", 0.5),
        ("0.5/second", 2), ("1/day", 86400),
    ],
)  # fmt: skip
def test_a_rate_is_so_many_calls_in_a_time(rate, interval):
    assert interval_of(rate) == pytest.approx(interval)


@pytest.mark.parametrize(
    ("rate", "message"),
    [("60", "such as 60/minute"), ("0/s", "such as 60/minute"), ("5/fortnight", "unknown unit"),
     ("3/minit", "Did you mean 'minute'"), ("-1/s", "such as 60/minute")],
)  # fmt: skip
def test_what_is_no_rate_is_refused(rate, message):
    with pytest.raises(ConfigError, match=message):
        interval_of(rate)


@given(st.lists(st.floats(0, 3), min_size=1, max_size=40), st.integers(1, 20))
def test_no_window_of_a_second_holds_more_calls_than_the_rate_allows(pauses, calls):
    now = [100.0]
    limit = RateLimit(1 / calls, clock=lambda: now[0])
    begun = []
    for pause in pauses:
        now[0] += pause
        begun.append(now[0] + limit.reserve())
    assert begun == sorted(begun)
    for at, first in enumerate(begun):
        assert sum(first <= other < first + 1 - 1e-9 for other in begun[at:]) <= calls


def test_who_keeps_to_the_rate_never_waits():
    now = [0.0]
    limit = RateLimit(0.5, clock=lambda: now[0])
    for _ in range(5):
        assert limit.reserve() == 0
        now[0] += 0.5


@pytest.mark.parametrize(
    ("named", "raised", "transient"),
    [
        (("ConnectionError",), ConnectionResetError(), True),
        (("builtins.TimeoutError",), TimeoutError(), True),
        (("OSError",), TimeoutError(), True),
        (("ConnectionError",), ValueError(), False),
        ((429,), CodedError(status_code=429), True),
        ((429,), CodedError(response=SimpleNamespace(status_code=429)), True),
        ((75,), SystemExit(75), True),
        ((75,), SystemExit("75"), False),
        ((1,), CodedError(code=True), False),
        ((503, "ValueError"), CodedError(status=503), True),
        ((503,), HostileError(), False),
        ((), ConnectionError(), False),
    ],
)
def test_only_what_is_named_is_transient(named, raised, transient):
    assert is_transient(raised, named) is transient


def test_the_codes_of_an_exception_are_found_by_their_usual_names():
    assert codes_of(CodedError(status_code=429, exit_code=2, code="no")) == {429, 2}


def test_waits_grow_and_are_drawn_at_random():
    pace = pace_of(retries=9, retry_on=["ValueError"], backoff=1)
    for attempt, longest in ((2, 1), (3, 2), (4, 4), (9, 60), (10, 60)):
        waits = {pace.wait_before(attempt, ValueError()) or 0 for _ in range(50)}
        assert len(waits) > 10
        assert all(longest / 2 <= wait <= longest for wait in waits)
    assert pace.wait_before(11, ValueError()) is None
    assert pace.wait_before(2, KeyError()) is None
    assert pace.wait_before(2, None) is None


def test_what_the_other_side_says_to_wait_counts():
    pace = pace_of(retries=3, retry_on=[429], backoff=0)
    assert pace.wait_before(2, CodedError(status=429, retry_after="7")) == 7
    headers = SimpleNamespace(headers={"retry-after": "2.5"}, status_code=429)
    assert pace.wait_before(2, CodedError(response=headers)) == 2.5
    assert pace.wait_before(2, CodedError(status=429, retry_after=86400)) is None
    assert pace.wait_before(2, CodedError(status=429, retry_after="soon")) == 0


def test_a_time_to_come_back_may_be_a_date():
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=100))
    assert 90 < (seconds_of(later) or 0) <= 100
    assert seconds_of("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    odd = ["", "nan", -1, None, True, object()]
    assert [seconds_of(told) for told in odd] == [None] * 6
    assert told_wait(HostileError()) is None


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"timeout": 0}, "timeout: expected a number of seconds above 0, got 0"),
        ({"timeout": "soon"}, "timeout: expected a number of seconds above 0, got 'soon'"),
        ({"retries": -1}, "retries: expected a whole number from 0 to 100, got -1"),
        ({"retries": 2}, "retries: nothing is named that is worth another call"),
        ({"retry_on": ["rate limit"]}, "retry_on: expected the name of an exception"),
        ({"retry_on": 429}, "retry_on: expected a list"),
        ({"backoff": -1}, "backoff: expected a number of seconds"),
        ({"rate_limit": 5}, "rate_limit: expected calls per time"),
        ({"rate_limit": "often"}, "rate_limit: expected calls per time"),
    ],
)
def test_what_is_wrong_with_an_option_is_said(options, fault):
    with pytest.raises(ConfigError, match=fault):
        pace_of(**options)


def test_all_that_is_wrong_is_said_at_once():
    with pytest.raises(ConfigError) as wrong:
        pace_of(timeout=-1, retries=1, rate_limit="x")
    assert [fault.partition(":")[0] for fault in wrong.value.faults] == [
        "timeout", "retries", "rate_limit",
    ]  # fmt: skip
