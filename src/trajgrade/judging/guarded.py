"""GuardedJudge: a judge that is asked within limits, again where it failed for a while, and once.

Around any judge: the cache first, then the budget, then a place within the limits, then the request
with its timeout. What fails for a while is tried again after the time that the provider asks for,
else after a random time of up to twice as long as before; no place is held meanwhile. Two equal
requests at once are one.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import msgspec

from trajgrade.contracts import Judge, JudgeReply, JudgeRequest
from trajgrade.errors import JudgeError, UnreachableJudgeError
from trajgrade.judging.cache import Cache, cache_path
from trajgrade.judging.clock import Clock
from trajgrade.judging.limits import Limits
from trajgrade.judging.prompt import hashed
from trajgrade.judging.settings import Budget, JudgeSettings

FIRST_WAIT = 0.5
LONGEST_WAIT = 30.0
LONGEST_ASKED_WAIT = 300.0
_CHARACTERS_PER_TOKEN = 4
_EPSILON = 1e-9
_EXPECTED_REPLY = 300

_Under = dict[tuple[str, int], "asyncio.Task[JudgeReply]"]


@dataclass
class Usage:
    """What a judge was asked, and what it took; replies from the cache took nothing.

    Attributes:
        requests: How often the provider replied.
        cached: How many replies came from the cache, or of an equal request at the same time.
        retries: How many attempts failed and were made again.
        tokens_in: Tokens read, as far as they are known.
        tokens_out: Tokens written, as far as they are known.
        cost: US dollars, as far as prices are known.
        unpriced: How many replies have no known price.
    """

    requests: int = 0
    cached: int = 0
    retries: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    unpriced: int = 0

    def add(self, reply: JudgeReply) -> None:
        """Count a reply of the provider's."""
        self.requests += 1
        self.tokens_in += reply.tokens_in or 0
        self.tokens_out += reply.tokens_out or 0
        self.cost += reply.cost or 0.0
        self.unpriced += reply.cost is None


class Waits(NamedTuple):
    """What time is measured and spent by."""

    clock: Clock
    chance: Callable[[], float]


class GuardedJudge:
    """Asks a judge within limits.

    Args:
        judge: The judge.
        settings: The limits.
        waits: What time is measured and spent by.

    Attributes:
        usage: What it took so far.
    """

    def __init__(self, judge: Judge, settings: JudgeSettings, waits: Waits | None = None) -> None:
        self.name = judge.name
        self.usage = Usage()
        self._judge = judge
        self._settings = settings
        self._clock, self._chance = waits or Waits(Clock(), random.random)
        self._limits = Limits(
            settings.max_concurrency,
            settings.requests_per_minute,
            settings.tokens_per_minute,
            self._clock,
        )
        path = cache_path(settings.cache)
        self._cache = Cache(path) if path is not None else None
        self._under: WeakKeyDictionary[asyncio.AbstractEventLoop, _Under] = WeakKeyDictionary()
        self._reserved = 0
        self._dearest = 0.0
        self._longest = 1
        self._parameters = [
            settings.name, settings.base_url, settings.temperature, settings.max_tokens,
            settings.structured, dict(settings.extra_body),
        ]  # fmt: skip

    @property
    def redact(self) -> Callable[[str], str] | None:
        """What is done to every text before it is sent."""
        return self._settings.redaction

    @property
    def temperature(self) -> float | None:
        """The temperature that is asked for; None for the provider's own."""
        return self._settings.temperature

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """Ask once, or as often as it takes.

        Raises:
            JudgeError: The provider refuses, stays out of reach, or the budget is spent.
        """
        kept = self._cache.get(self._key(request)) if self._cache else None
        if kept is not None:
            self.usage.cached += 1
            return kept
        under = self._under.setdefault(asyncio.get_running_loop(), {})
        place = (request.identity, request.sample)
        task = under.get(place)
        if task is not None and request.identity:
            self.usage.cached += 1
            return msgspec.structs.replace(await asyncio.shield(task), cached=True)
        task = asyncio.ensure_future(self._asked(request))
        under[place] = task
        task.add_done_callback(lambda done: _left(under, place, done))
        return await asyncio.shield(task)

    def forget(self, request: JudgeRequest) -> None:
        """Keep no reply to a request: it could not be read."""
        if self._cache is not None:
            self._cache.forget(self._key(request))

    async def _asked(self, request: JudgeRequest) -> JudgeReply:
        spend = _Spending(self._settings.budget, self.usage)
        expected = sum(len(turn.text) for turn in request.turns) // _CHARACTERS_PER_TOKEN
        wait, attempt = FIRST_WAIT, 0
        while True:
            attempt += 1
            try:
                async with self._limits.place(expected + _EXPECTED_REPLY) as used:
                    spend.check(self._reserved, self._dearest, self._longest)
                    reply = await self._reserving(request)
                    told = (reply.tokens_in or 0) + (reply.tokens_out or 0)
                    used[1] = float(told or used[1])
                break
            except UnreachableJudgeError as broken:
                pause, wait = self._next_wait(broken, wait, attempt), min(2 * wait, LONGEST_WAIT)
            self.usage.retries += 1
            await self._clock.sleep(pause)
        if self._cache is not None and not reply.truncated and not reply.refused:
            self._cache.put(self._key(request), reply)
        return reply

    async def _reserving(self, request: JudgeRequest) -> JudgeReply:
        """Ask, what it may cost being reserved until what it does cost is known."""
        self._reserved += 1
        try:
            reply = await self._timed(request)
            self.usage.add(reply)
            self._dearest = max(self._dearest, reply.cost or 0.0)
            told = (reply.tokens_in or 0) + (reply.tokens_out or 0)
            self._longest = max(self._longest, told)
        finally:
            self._reserved -= 1
        return reply

    async def _timed(self, request: JudgeRequest) -> JudgeReply:
        ready = getattr(self._judge, "ready", None)
        if ready is not None:  # what is made once is not the time of a request
            await ready()
        began = self._clock.now()
        try:
            async with asyncio.timeout(self._settings.timeout):
                reply = await self._judge.ask(request)
        except TimeoutError:
            raise UnreachableJudgeError(
                f"{self.name} gave no answer within {self._settings.timeout:g} s"
            ) from None
        return msgspec.structs.replace(reply, seconds=reply.seconds or self._clock.now() - began)

    def _next_wait(self, broken: UnreachableJudgeError, wait: float, attempt: int) -> float:
        """Return the seconds until the next attempt.

        Raises:
            JudgeError: There is none.
        """
        if attempt > self._settings.retries:
            times = f"{attempt} attempts" if attempt > 1 else "1 attempt"
            raise JudgeError(f"{broken} (after {times}; `retries` allows more)") from broken
        asked = broken.retry_after
        if asked is None:
            return wait * (0.5 + self._chance())
        if asked > LONGEST_ASKED_WAIT:
            raise JudgeError(f"{broken} (it wants to be left alone for {asked:g} s)") from broken
        self._limits.pause(asked)
        return asked + self._chance() * FIRST_WAIT

    def _key(self, request: JudgeRequest) -> str:
        return hashed([self._parameters, request.identity, request.sample], 64)


def _left(under: _Under, place: tuple[str, int], task: asyncio.Task[JudgeReply]) -> None:
    if under.get(place) is task:
        del under[place]
    if not task.cancelled():
        task.exception()  # it was told to whoever waits, if anybody still does


class _Spending:
    """Whether a budget allows one more request."""

    def __init__(self, budget: Budget, usage: Usage) -> None:
        self._budget = budget
        self._usage = usage

    def check(self, reserved: int, dearest: float, longest: int) -> None:
        """Refuse a request that the budget does not allow.

        Args:
            reserved: How many requests are under way.
            dearest: What the dearest reply so far cost, which each of those may cost.
            longest: How many tokens the longest one so far took.

        Raises:
            JudgeError: The budget is spent, or what is spent is not known.
        """
        usage, budget = self._usage, self._budget
        spent = usage.tokens_in + usage.tokens_out
        needs: dict[str, tuple[Any, Any]] = {
            "requests": (usage.requests + reserved + 1, budget.requests),
            "tokens": (spent + (reserved + 1) * longest, budget.tokens),
            "usd": (usage.cost + (reserved + 1) * dearest, budget.usd),
        }
        for name, (needed, cap) in needs.items():
            if cap is not None and needed > cap + _EPSILON:
                raise JudgeError(
                    f"the judge's budget of {cap:g} {name} is spent; raise `budget.{name}`, then "
                    "grade again what is in error"
                )
        if budget.usd is not None and usage.unpriced:
            raise JudgeError(
                "the judge's budget in US dollars cannot be kept, as the model's price is not "
                "known: give `prices: {input: …, output: …}`, or a budget of tokens"
            )
