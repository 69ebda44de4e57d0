"""Agents: called for each row, timed, their failures caught (SEMANTICS A5, A12)."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import threading
import time
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest

from trajgrade.agent import Agent
from trajgrade.dataset import Dataset
from trajgrade.errors import ConfigError

CALLS = [{"tool_name": "echo"}]


def rows(n):
    return Dataset.load([{"prompt": f"p{i}", "response": "old"} for i in range(n)])


def answers(target, n=5, **options):
    return list(Agent(target, **options).over(rows(n)))


def reply(prompt):
    return {"response": prompt.upper(), "predicted_trajectory": CALLS}


async def areply(prompt):
    await asyncio.sleep(0)
    return reply(prompt)


class Queryable:
    def query(self, *, input):  # noqa: A002 Vertex AI's name
        return reply(input)


class AsyncQueryable:
    async def query(self, *, input):  # noqa: A002 Vertex AI's name
        return reply(input)


class Callable:
    def __call__(self, prompt):
        return reply(prompt)


class AsyncCallable:
    async def __call__(self, prompt):
        return reply(prompt)


KINDS = {
    "function": reply,
    "coroutine function": areply,
    "queryable": Queryable(),
    "async queryable": AsyncQueryable(),
    "object": Callable(),
    "async object": AsyncCallable(),
    "partial": functools.partial(lambda more, prompt: reply(prompt), 1),
    "async partial": functools.partial(areply),
    "lambda that returns what is awaited": lambda prompt: areply(prompt),  # noqa: PLW0108 the point of it
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_agent_answers_in_order(kind):
    found = answers(KINDS[kind], 30, max_concurrency=3)
    assert [example.response for example, _ in found] == [f"P{i}" for i in range(30)]
    assert all(example.outputs == CALLS for example, _ in found)
    assert all(outcome.failure == 0 and outcome.error is None for _, outcome in found)
    assert [example.id for example, _ in found] == [f"#{i}" for i in range(30)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_works_inside_a_running_loop(kind):
    """Known faults B138, B139: as in a notebook."""

    async def notebook():
        return answers(KINDS[kind], 3)

    asyncio.run(asyncio.sleep(0))
    assert [example.response for example, _ in asyncio.run(notebook())] == ["P0", "P1", "P2"]


def test_rows_keep_their_order_whatever_finishes_first():
    def slow_first(prompt):
        time.sleep(0.05 if prompt == "p0" else 0)
        return prompt

    async def aslow_first(prompt):
        await asyncio.sleep(0.05 if prompt == "p0" else 0)
        return prompt

    for target in (slow_first, aslow_first):
        found = answers(target, 12)
        assert [example.response for example, _ in found] == [f"p{i}" for i in range(12)]


class ExpiredError(Exception):
    pass


def test_what_an_agent_raises_is_its_rows_failure_alone():
    """Known fault B148."""

    def agent(prompt):
        if prompt == "p1":
            raise ExpiredError("token expired")
        if prompt == "p3":
            raise SystemExit(2)
        return reply(prompt)

    async def coroutine(prompt):
        return agent(prompt)

    for target in (agent, coroutine):
        found = answers(target)
        assert [outcome.failure for _, outcome in found] == [0, 1, 0, 1, 0]
        example, outcome = found[1]
        assert (example.response, example.outputs) == (None, None)
        assert (outcome.error.type, outcome.error.message) == ("ExpiredError", "token expired")
        assert str(outcome.error) == "ExpiredError: token expired"
        assert 'raise ExpiredError("token expired")' in outcome.error.traceback
        assert outcome.latency_in_seconds >= 0
        assert found[3][1].error.type == "SystemExit"


@pytest.mark.parametrize("returned", [None, {"response": None}, {"predicted_trajectory": None}])
def test_returning_nothing_is_a_failure(returned):
    ((example, outcome),) = answers(lambda prompt: returned, 1)
    assert (outcome.failure, outcome.error.message) == (1, "the agent returned nothing")
    assert example.response is None


def test_an_empty_answer_is_an_answer():
    ((example, outcome),) = answers(lambda prompt: {"response": "", "predicted_trajectory": []}, 1)
    assert (example.response, example.outputs, outcome.failure) == ("", [], 0)


def test_a_cancelled_task_and_a_timeout_are_failures_of_their_row():
    async def agent(prompt):
        if prompt == "p0":
            raise asyncio.CancelledError
        if prompt == "p1":
            await asyncio.wait_for(asyncio.sleep(9), 0.001)
        return prompt

    found = answers(agent, 3)
    assert [outcome.error and outcome.error.type for _, outcome in found] == [
        "CancelledError", "TimeoutError", None,
    ]  # fmt: skip


class MuteError(Exception):
    def __str__(self):
        raise RuntimeError


class HostileDict(dict):
    def __iter__(self):
        raise RuntimeError("looked at")

    def keys(self):
        raise RuntimeError("looked at")


def test_exceptions_and_replies_that_raise_when_looked_at_are_failures_too():
    def agent(prompt):
        if prompt == "p0":
            raise MuteError
        return HostileDict(a=1) if prompt == "p1" else prompt

    found = answers(agent, 3)
    assert [outcome.failure for _, outcome in found] == [1, 1, 0]
    assert found[0][1].error.message == "(its message raises RuntimeError)"


def test_a_trace_that_cannot_be_read_is_no_failure_of_the_agent():
    broken = {"output": "x", "intermediate_steps": ["thinking"]}
    ((example, outcome),) = answers(lambda prompt: broken, 1)
    assert outcome.failure == 0
    assert example.outputs == broken


@pytest.mark.parametrize("asynchronous", [False, True])
def test_no_more_calls_are_under_way_than_are_allowed(asynchronous):
    """Known fault B141."""
    inside, peaks, lock = [0], [0], threading.Lock()

    def enter(step):
        with lock:
            inside[0] += step
            peaks[0] = max(peaks[0], inside[0])

    def agent(prompt):
        enter(1)
        time.sleep(0.005)
        enter(-1)
        return prompt

    async def coroutine(prompt):
        enter(1)
        await asyncio.sleep(0.005)
        enter(-1)
        return prompt

    assert len(answers(coroutine if asynchronous else agent, 20, max_concurrency=3)) == 20
    assert peaks[0] == 3


def test_rows_are_read_no_further_than_needed():
    taken = []

    def examples():
        for example in rows(100):
            taken.append(example.id)
            yield example

    answered = Agent(lambda prompt: prompt, max_concurrency=2).over(examples())
    next(answered)
    assert len(taken) < 15
    answered.close()


@pytest.mark.parametrize("asynchronous", [False, True])
def test_latency_is_the_time_of_the_call_without_waiting_for_a_place(asynchronous):
    """Known fault B170."""

    async def coroutine(prompt):
        await asyncio.sleep(0.03)
        return prompt

    def agent(prompt):
        time.sleep(0.03)
        return prompt

    found = answers(coroutine if asynchronous else agent, 6, max_concurrency=1)
    assert all(0.029 < outcome.latency_in_seconds < 0.12 for _, outcome in found)


def test_one_event_loop_serves_all_rows():
    loops = []

    async def agent(prompt):
        loops.append(asyncio.get_running_loop())
        return prompt

    answers(agent, 6)
    answers(lambda prompt: agent(prompt), 6)  # noqa: PLW0108 the point of it
    assert len(set(map(id, loops[:6]))) == len(set(map(id, loops[6:]))) == 1
    assert all(loop.is_closed() for loop in loops)


def test_the_callers_context_variables_are_seen():
    tenant = contextvars.ContextVar("tenant", default="nobody")
    tenant.set("acme")

    async def coroutine(prompt):
        return tenant.get()

    for target in (lambda prompt: tenant.get(), coroutine):
        assert [example.response for example, _ in answers(target, 2)] == ["acme", "acme"]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_caller_who_stops_waits_for_no_agent(asynchronous):
    release = threading.Event()

    def agent(prompt):
        if prompt != "p0":
            release.wait(20)
        return prompt

    async def coroutine(prompt):
        if prompt != "p0":
            await asyncio.sleep(20)
        return prompt

    answered = Agent(coroutine if asynchronous else agent, max_concurrency=1).over(rows(50))
    began = time.monotonic()
    assert next(answered)[0].response == "p0"
    answered.close()
    assert time.monotonic() - began < 5
    release.set()


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (42, "42 is no agent"),
        (Queryable, "the class Queryable is no agent"),
        (SimpleNamespace(invoke=reply), "is no agent: an agent is a function of the prompt"),
        (lambda: "x", "cannot be called with a prompt"),
        (lambda a, b: "x", "cannot be called with a prompt"),
        (SimpleNamespace(query=lambda prompt: "x"), "cannot be called with a prompt"),
    ],
)
def test_what_cannot_answer_is_refused_before_any_row(target, message):
    with pytest.raises(ConfigError, match=message):
        Agent(target)


@pytest.mark.parametrize("most", [0, -1, True, 1.5])
def test_a_concurrency_below_1_is_refused(most):
    with pytest.raises(ConfigError, match="max_concurrency"):
        Agent(reply, max_concurrency=most)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_answers_come_as_they_are_ready(asynchronous):
    release = threading.Event()
    ready: SimpleQueue[Any] = SimpleQueue()

    def agent(prompt):
        if prompt == "p0":
            release.wait(20)
        return prompt

    async def coroutine(prompt):
        if prompt == "p0":
            await asyncio.to_thread(release.wait, 20)
        return prompt

    with Agent(coroutine if asynchronous else agent, max_concurrency=2).answering() as answering:
        for example in rows(4):
            answering.submit(example).add_done_callback(ready.put)
        first = [ready.get().result()[0].response for _ in range(3)]
        release.set()
        last = ready.get().result()[0].response
    assert (sorted(first), last) == (["p1", "p2", "p3"], "p0")


@pytest.mark.parametrize("asynchronous", [False, True])
def test_what_is_not_answered_when_the_block_ends_is_cancelled(asynchronous):
    begun, release = threading.Event(), threading.Event()

    def agent(prompt):
        begun.set()
        release.wait(20)

    async def coroutine(prompt):
        begun.set()
        await asyncio.sleep(20)

    with Agent(coroutine if asynchronous else agent, max_concurrency=1).answering() as answering:
        futures = [answering.submit(example) for example in rows(3)]
        assert begun.wait(20)
    assert all(future.cancelled() for future in futures[1:])
    assert futures[0].cancelled() or not asynchronous
    release.set()
