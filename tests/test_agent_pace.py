"""Agents that take too long, fail for a while, or may be asked only so often."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import Counter

import pytest

from trajgrade import calling
from trajgrade.agent import Agent
from trajgrade.dataset import Dataset, Example


def rows(n):
    return Dataset.load([{"prompt": f"p{i}"} for i in range(n)])


def answers(target, n=5, **options):
    return list(Agent(target, **options).over(rows(n)))


def said(found):
    return [
        outcome.error.message if outcome.error else example.response for example, outcome in found
    ]


KINDS = ["function", "coroutine", "function that returns what is awaited"]


def of_kind(kind, function, coroutine):
    """The agent as one of the kinds: what it does, as a function and as a coroutine function."""
    if kind == "function":
        return function
    return coroutine if kind == "coroutine" else lambda prompt: coroutine(prompt)  # noqa: PLW0108 the point of it


@pytest.mark.parametrize("kind", KINDS)
def test_a_call_that_takes_too_long_is_its_rows_failure(kind):
    """Known fault B143: the run neither waits for it nor starves, and says that its thread is left."""
    release, cancelled = threading.Event(), []

    def function(prompt):
        if prompt in {"p0", "p1", "p2"}:
            release.wait(60)
        return prompt

    async def coroutine(prompt):
        if prompt in {"p0", "p1", "p2"}:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cancelled.append(prompt)
                raise
        return prompt

    agent = of_kind(kind, function, coroutine)
    began = time.monotonic()
    found = answers(agent, 6, max_concurrency=2, timeout=0.1)
    assert time.monotonic() - began < 30
    release.set()
    goes_on = "; its thread is left to itself" if kind != "coroutine" else ""
    assert said(found) == [f"no answer within 0.1 s{goes_on}"] * 3 + ["p3", "p4", "p5"]
    assert [outcome.error.type for _, outcome in found[:3]] == ["TimeoutError"] * 3
    assert all(outcome.latency_in_seconds >= 0.09 for _, outcome in found[:3])
    if kind == "coroutine":
        assert sorted(cancelled) == ["p0", "p1", "p2"]


def test_a_coroutine_that_ignores_its_cancellation_holds_nobody_up(monkeypatch):
    monkeypatch.setattr(calling, "_GRACE", 0.05)
    monkeypatch.setattr(calling, "_PATIENCE", 0.05)
    release = threading.Event()

    async def stubborn(prompt):
        while prompt == "p0" and not release.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.to_thread(release.wait, 0.05)
        return prompt

    found = answers(stubborn, 3, max_concurrency=1, timeout=0.05)
    release.set()
    assert said(found)[1:] == ["p1", "p2"]
    assert said(found)[0] == "no answer within 0.05 s; it was cancelled and goes on all the same"


def test_too_many_threads_that_go_on_are_not_added_to(monkeypatch):
    monkeypatch.setattr(calling, "MOST_ABANDONED", 2)
    release = threading.Event()
    found = answers(lambda prompt: release.wait(60), 4, max_concurrency=1, timeout=0.02)
    release.set()
    told = [outcome.error.message.partition(";")[0] for _, outcome in found]
    assert told[:2] == ["no answer within 0.02 s"] * 2
    assert told[2:] == ["not called: 2 earlier calls still go on after their timeout"] * 2


@pytest.mark.parametrize("kind", KINDS)
def test_an_exit_in_an_agent_is_a_failure_also_with_a_timeout(kind):
    def function(prompt):
        if prompt == "p1":
            raise SystemExit(3)
        return prompt

    async def coroutine(prompt):
        return function(prompt)

    found = answers(of_kind(kind, function, coroutine), 3, timeout=30)
    assert [outcome.error and outcome.error.type for _, outcome in found] == [
        None, "SystemExit", None,
    ]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_transient_is_tried_again_and_nothing_else(kind):
    calls: Counter[str] = Counter()
    lock = threading.Lock()

    def function(prompt):
        with lock:
            calls[prompt] += 1
            number = calls[prompt]
        if prompt == "p0" and number < 3:
            raise ConnectionResetError("reset")
        if prompt == "p1":
            raise ConnectionRefusedError(f"refused {number}")
        if prompt == "p2":
            raise ValueError("wrong")
        return prompt

    async def coroutine(prompt):
        return function(prompt)

    agent = of_kind(kind, function, coroutine)
    found = answers(agent, 4, retries=2, retry_on=["ConnectionError"], backoff=0.001)
    assert said(found) == ["p0", "refused 3", "wrong", "p3"]
    assert [outcome.attempts for _, outcome in found] == [3, 3, 1, 1]
    assert found[0][0].notes == ("the agent was called 3 times",)
    assert found[3][0].notes == ()
    assert calls == {"p0": 3, "p1": 3, "p2": 1, "p3": 1}


@pytest.mark.parametrize("kind", KINDS)
def test_a_call_that_took_too_long_may_be_tried_again(kind):
    release = threading.Event()
    calls: Counter[str] = Counter()

    def function(prompt):
        calls[prompt] += 1
        if prompt == "p0" and calls[prompt] == 1:
            release.wait(60)
        return prompt

    async def coroutine(prompt):
        calls[prompt] += 1
        if prompt == "p0" and calls[prompt] == 1:
            await asyncio.sleep(60)
        return prompt

    agent = of_kind(kind, function, coroutine)
    options = {"retries": 1, "retry_on": ["TimeoutError"], "backoff": 0}
    found = answers(agent, 3, max_concurrency=1, timeout=0.1, **options)
    release.set()
    assert said(found) == ["p0", "p1", "p2"]
    assert [outcome.attempts for _, outcome in found] == [2, 1, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_latency_is_that_of_the_call_without_the_waits(kind):
    calls: Counter[str] = Counter()

    def function(prompt):
        calls[prompt] += 1
        if calls[prompt] == 1:
            raise ConnectionError
        return prompt

    async def coroutine(prompt):
        return function(prompt)

    agent = of_kind(kind, function, coroutine)
    options = {"retries": 1, "retry_on": ["ConnectionError"], "backoff": 0.2}
    found = answers(agent, 2, rate_limit="10/second", **options)
    assert all(outcome.latency_in_seconds < 0.1 for _, outcome in found)


@pytest.mark.parametrize("kind", KINDS)
def test_calls_keep_to_the_rate(kind):
    begun = []

    def function(prompt):
        begun.append(time.monotonic())
        return prompt

    async def coroutine(prompt):
        return function(prompt)

    before = time.monotonic()
    answers(of_kind(kind, function, coroutine), 8, rate_limit="100/second")
    assert begun[-1] - before >= 0.069


@pytest.mark.parametrize("kind", KINDS)
def test_a_caller_who_stops_waits_for_no_wait(kind):
    failed = threading.Event()

    def function(prompt):
        failed.set()
        raise ConnectionError

    async def coroutine(prompt):
        function(prompt)

    agent = Agent(
        of_kind(kind, function, coroutine), retries=1, retry_on=["ConnectionError"], backoff=500
    )
    began = time.monotonic()
    with agent.answering() as answering:
        answered = answering.submit(Example(id="a"))
        assert failed.wait(30)
    assert time.monotonic() - began < 60
    assert answered.cancelled()


def test_many_short_calls_leave_no_turn_behind():
    agent = Agent(lambda prompt: prompt, timeout=60, max_concurrency=4)
    assert len(list(agent.over(rows(300)))) == 300
    kept = [thread for thread in threading.enumerate() if thread.name == "trajgrade-expiry"]
    for thread in kept:
        thread.join(10)
    assert not any(thread.is_alive() for thread in kept)


class Seeded:
    def query(self, *, input, seed):  # noqa: A002 Vertex AI's name
        return f"{input} {seed}"


def ask(prompt, *, seed):
    return f"{prompt} {seed}"


async def aask(prompt, seed=None):
    return f"{prompt} {seed}"


@pytest.mark.parametrize("target", [Seeded(), ask, aask])
def test_an_agent_that_asks_for_the_seed_gets_one_for_each_trial(target):
    examples = [Example(id="a", inputs="p", trial=trial) for trial in (None, 0, 1, 2)]
    found = list(Agent(target, seed=40).over(examples))
    assert [example.response for example, _ in found] == ["p 40", "p 40", "p 41", "p 42"]


def test_a_prompt_named_seed_is_a_prompt():
    assert answers(lambda seed: seed, 1)[0][0].response == "p0"


class Whole:
    def __init__(self):
        self.rows = []

    def query_row(self, row):
        self.rows.append(row)
        return "x"


def test_an_agent_that_takes_rows_is_told_nothing_of_what_is_expected():
    target = Whole()
    example = Example(
        id="a", inputs="p", context="c", trial=2, outputs="o", response="r",
        reference_outputs="secret", reference="secret", fields={"reference": "secret"},
    )  # fmt: skip
    agent = Agent(target, seed=1)
    assert [outcome.failure for _, outcome in agent.over([example])] == [0]
    assert target.rows == [{"id": "a", "inputs": "p", "context": "c", "trial": 2, "seed": 3}]
    assert agent.reads == {"inputs", "context"}
    assert Agent(ask).reads == {"inputs"}
