"""A judge is asked within limits, again where it failed for a while, and once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.contracts import JudgeReply, JudgeRequest, JudgeTurn
from trajgrade.errors import JudgeError, UnreachableJudgeError
from trajgrade.judges.scripted import ScriptedJudge
from trajgrade.judging.asking import asked
from trajgrade.judging.cache import Cache, cache_path
from trajgrade.judging.clock import Clock
from trajgrade.judging.guarded import GuardedJudge, Waits
from trajgrade.judging.limits import MINUTE, Window
from trajgrade.judging.prompt import Prompt
from trajgrade.judging.settings import judge_settings
from trajgrade.judging.spec import VerdictSpec


class Scripted(Clock):
    """A clock that goes on only where somebody waits, by as much as they wait."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)


def guarded(script: Any, clock: Clock | None = None, **settings: Any) -> GuardedJudge:
    made = judge_settings({"script": "unused", "cache": False, **settings})
    assert made is not None
    inner = script if hasattr(script, "ask") else ScriptedJudge(script)
    return GuardedJudge(inner, made, Waits(clock or Scripted(), lambda: 0.5))


def question(text: str = "?", sample: int = 0) -> JudgeRequest:
    return JudgeRequest(turns=(JudgeTurn("user", text),), identity=text, sample=sample)


BUSY = UnreachableJudgeError("rate limit (HTTP 429)")


def test_what_fails_for_a_while_is_asked_again_after_ever_longer_waits():
    clock = Scripted()
    judge = guarded([BUSY, BUSY, BUSY, "yes"], clock)
    assert asyncio.run(judge.ask(question())).text == "yes"
    assert clock.slept == [0.5, 1.0, 2.0]
    assert (judge.usage.requests, judge.usage.retries) == (1, 3)


def test_retry_after_is_kept_to_and_holds_back_every_request():
    clock = Scripted()
    busy = UnreachableJudgeError("rate limit", retry_after=2.0)
    judge = guarded([busy, busy, "yes", "also"], clock)
    asyncio.run(judge.ask(question()))
    assert clock.time >= 1004.0
    assert clock.slept == [2.25, 2.25]


def test_after_the_last_retry_it_is_an_error_that_names_the_cause():
    judge = guarded(BUSY, retries=2)
    with pytest.raises(JudgeError, match=r"rate limit \(HTTP 429\) \(after 3 attempts") as broken:
        asyncio.run(judge.ask(question()))
    assert not isinstance(broken.value, UnreachableJudgeError)
    with pytest.raises(JudgeError, match="wants to be left alone for 9000 s"):
        asyncio.run(guarded(UnreachableJudgeError("busy", 9000.0)).ask(question()))


def test_what_is_refused_is_not_asked_again():
    inner = ScriptedJudge([JudgeError("no such model"), "yes"])
    with pytest.raises(JudgeError, match="no such model"):
        asyncio.run(guarded(inner).ask(question()))
    assert len(inner.asked) == 1


class Slow:
    """Answers when it is told to, and counts how many wait."""

    name = "slow"

    def __init__(self) -> None:
        self.now = self.most = self.asked = 0
        self.go: asyncio.Event | None = None

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        self.go = self.go or asyncio.Event()
        self.asked += 1
        self.now += 1
        self.most = max(self.most, self.now)
        if self.now == 3:
            self.go.set()
        await self.go.wait()
        self.now -= 1
        return JudgeReply(text=request.identity)


def test_no_more_are_under_way_at_once_than_may_be_and_all_are_answered():
    inner = Slow()

    async def all_of_them() -> list[JudgeReply]:
        judge = guarded(inner, max_concurrency=3)
        return await asyncio.gather(*(judge.ask(question(str(n))) for n in range(20)))

    assert [reply.text for reply in asyncio.run(all_of_them())] == [str(n) for n in range(20)]
    assert inner.most == 3


def test_two_equal_requests_at_once_are_one():
    inner = Slow()

    async def twice() -> list[JudgeReply]:
        judge = guarded(inner)
        asked = [question("a"), question("a"), question("a", sample=1), question("b")]
        return await asyncio.gather(*map(judge.ask, asked))

    replies = asyncio.run(twice())
    assert [reply.text for reply in replies] == ["a", "a", "a", "b"]
    assert [reply.cached for reply in replies] == [False, True, False, False]
    assert inner.asked == 3


def test_what_a_judge_makes_before_its_first_request_is_not_the_time_of_that_request():
    class SlowToStart:
        name = "slow to start"
        is_ready = False

        async def ready(self) -> None:
            await asyncio.sleep(0.2)
            self.is_ready = True

        async def ask(self, request: JudgeRequest) -> JudgeReply:
            return JudgeReply(text="yes" if self.is_ready else "no")

    reply = asyncio.run(guarded(SlowToStart(), timeout=0.1, retries=0).ask(question()))
    assert reply.text == "yes"


def test_a_judge_that_does_not_answer_in_time_is_asked_again():
    class Stuck:
        name = "stuck"
        calls = 0

        async def ask(self, request: JudgeRequest) -> JudgeReply:
            self.calls += 1
            if self.calls < 3:
                await asyncio.Event().wait()
            return JudgeReply(text="yes")

    stuck = Stuck()
    assert asyncio.run(guarded(stuck, timeout=0.01).ask(question())).text == "yes"
    with pytest.raises(JudgeError, match=r"no answer within 0.01 s \(after 1 attempt"):
        asyncio.run(guarded(Stuck(), timeout=0.01, retries=0).ask(question()))


def test_requests_begin_no_faster_than_the_limit():
    clock = Scripted()
    judge = guarded("yes", clock, requests_per_minute=10)
    began = []

    async def one(number: int) -> None:
        await judge.ask(question(str(number)))
        began.append(clock.time)

    async def all_of_them() -> None:
        for number in range(35):
            await one(number)

    asyncio.run(all_of_them())
    for start in began:
        assert sum(start <= other < start + MINUTE for other in began) <= 10
    assert began[-1] - began[0] == pytest.approx(3 * MINUTE)


@given(st.lists(st.tuples(st.floats(0, 30), st.integers(1, 60)), min_size=1, max_size=30))
def test_in_no_minute_is_more_used_than_may_be(uses: list[tuple[float, int]]):
    """Against every minute that begins with a use; one larger than the limit goes alone."""
    clock = Scripted()
    window = Window(100, clock)
    done: list[tuple[float, float]] = []
    for pause, amount in uses:
        clock.time += pause
        while (seconds := window.wait(amount)) > 0:
            clock.time += seconds + 1e-9
        window.use(amount)
        done.append((clock.time, amount))
    for start, _ in done:
        assert sum(used for at, used in done if start <= at < start + MINUTE) <= 100


def test_tokens_that_were_used_count_and_not_those_that_were_expected():
    clock = Scripted()
    reply = JudgeReply(text="yes", tokens_in=900, tokens_out=50)
    judge = guarded(lambda request: reply, clock, tokens_per_minute=1000)

    async def twice() -> None:
        await judge.ask(question("a"))
        await judge.ask(question("b"))

    asyncio.run(twice())
    assert clock.time == 1000.0 + MINUTE


# ------------------------------------------------------------------------------ budget


def priced(cost: float | None) -> Callable[[JudgeRequest], JudgeReply]:
    return lambda request: JudgeReply(text="yes", tokens_in=10, tokens_out=10, cost=cost)


def spend(judge: GuardedJudge, count: int) -> int:
    """Ask so often, and return how often it was answered."""
    answered = 0
    for number in range(count):
        try:
            asyncio.run(judge.ask(question(str(number))))
        except JudgeError as refused:
            assert "budget" in str(refused)  # noqa: PT017 counted, not expected
        else:
            answered += 1
    return answered


@pytest.mark.parametrize(
    ("budget", "answered"), [(1.0, 4), ({"usd": 0.5}, 2), ({"tokens": 60}, 3), ({"requests": 5}, 5)]
)
def test_a_budget_is_never_overspent(budget: Any, answered: int):
    judge = guarded(priced(0.25), budget=budget)
    assert spend(judge, 10) == answered
    assert judge.usage.cost == answered * 0.25


@pytest.mark.parametrize("budget", [{"usd": 1.0}, {"requests": 10}, {"tokens": 200}])
def test_a_budget_holds_for_requests_that_wait_at_once(budget: dict[str, Any]):
    async def busy(request: JudgeRequest) -> JudgeReply:
        await asyncio.sleep(0)
        return JudgeReply(text="yes", tokens_in=10, tokens_out=10, cost=0.1)

    class Busy:
        name = "busy"
        ask = staticmethod(busy)

    async def many() -> list[Any]:
        judge = guarded(Busy(), max_concurrency=2, budget=budget)
        asking = (judge.ask(question(str(n))) for n in range(60))
        return await asyncio.gather(*asking, return_exceptions=True)

    found = asyncio.run(many())
    answered = [one for one in found if isinstance(one, JudgeReply)]
    assert len(answered) == 10
    assert all("budget" in str(one) for one in found if not isinstance(one, JudgeReply))


def test_an_unknown_price_is_unknown_and_a_budget_of_dollars_says_so():
    judge = guarded(priced(None), budget=1.0)
    asyncio.run(judge.ask(question("a")))
    assert judge.usage.unpriced == 1
    with pytest.raises(JudgeError, match="price is not known"):
        asyncio.run(judge.ask(question("b")))
    assert spend(guarded(priced(None)), 5) == 5


# ------------------------------------------------------------------------------ cache


def test_a_second_run_is_answered_from_the_file_and_costs_nothing(tmp_path: Path):
    path = tmp_path / "deep" / "replies.db"
    first = guarded(priced(0.5), cache=str(path))
    said = asyncio.run(first.ask(question()))
    inner = ScriptedJudge("other")
    second = guarded(inner, cache=str(path))
    again = asyncio.run(second.ask(question()))
    assert (again.text, again.cost, again.cached) == (said.text, 0.5, True)
    assert inner.asked == []
    assert (second.usage.requests, second.usage.cached, second.usage.cost) == (0, 1, 0.0)
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "other",
    [{"temperature": 0.5}, {"max_tokens": 7}, {"base_url": "http://x"}, {"model": "m"},
     {"extra_body": {"seed": 1}}, {"structured": "tool"}],
)  # fmt: skip
def test_another_parameter_is_another_reply(tmp_path: Path, other: dict[str, Any]):
    path = str(tmp_path / "replies.db")
    asyncio.run(guarded("one", cache=path).ask(question()))
    changed: dict[str, Any] = {"provider": "scripted", **other}
    assert asyncio.run(guarded("two", cache=path, **changed).ask(question())).text == "two"
    assert asyncio.run(guarded("three", cache=path).ask(question(sample=1))).text == "three"
    assert asyncio.run(guarded("four", cache=path).ask(question("else"))).text == "four"
    assert asyncio.run(guarded("five", cache=path).ask(question())).text == "one"


def test_a_reply_that_was_cut_off_refused_or_unreadable_is_not_kept(tmp_path: Path):
    path = str(tmp_path / "replies.db")
    for bad in (
        JudgeReply(text="{", truncated=True),
        JudgeReply(text="", refused="no"),
        "gibberish",
    ):
        prompt = Prompt("{a}", {"a": "b"})
        verdict = asyncio.run(asked(guarded(bad, cache=path), prompt, VerdictSpec.boolean()))
        assert verdict.unread
    good = guarded('{"reasoning": "", "pass": true}', cache=path)
    assert asyncio.run(asked(good, prompt, VerdictSpec.boolean())).value is True
    kept = guarded("gibberish", cache=path)
    assert asyncio.run(asked(kept, prompt, VerdictSpec.boolean())).value is True


def test_foreign_bytes_in_the_file_are_no_reply(tmp_path: Path):
    cache = Cache(tmp_path / "replies.db")
    cache.put("k", JudgeReply(text="yes"))
    pickle = b"\x80\x04\x95\x1e\x00\x00\x00\x8c\x05posix\x8c\x06system\x93\x8c\x04true\x85R."
    for foreign in (
        pickle,
        b"",
        b"[]",
        b'{"text": 3}',
        b"\xff",
        json.dumps({"model": "x"}).encode(),
    ):
        cache._db().execute("UPDATE replies_1 SET reply = ?", (foreign,))
        assert cache.get("k") is None
    cache.close()


def test_a_file_that_cannot_be_used_is_told_once_and_the_judge_is_asked(tmp_path: Path):
    path = tmp_path / "replies.db"
    path.write_bytes(b"this is no database, but some other file of the user's" * 50)
    before = path.read_bytes()
    judge = guarded("yes", cache=str(path))
    with pytest.warns(UserWarning, match="cannot be used"):
        asyncio.run(judge.ask(question("a")))
    assert asyncio.run(judge.ask(question("b"))).text == "yes"  # a second warning would be an error
    assert path.read_bytes() == before


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    monkeypatch.delenv("TRAJGRADE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path  # type: ignore[return-value]


def test_where_replies_are_kept(bare: Path, monkeypatch: pytest.MonkeyPatch):
    assert cache_path(True) == bare / "trajgrade" / "judge.db"
    assert cache_path("mine.db") == Path("mine.db")
    assert cache_path(False) is None
    monkeypatch.setenv("TRAJGRADE_CACHE", str(bare / "x.db"))
    assert cache_path(True) == bare / "x.db"
    monkeypatch.setenv("TRAJGRADE_CACHE", str(bare))
    assert cache_path(True) == bare / "judge.db"
    for off in ("off", "0", "No"):
        monkeypatch.setenv("TRAJGRADE_CACHE", off)
        assert cache_path(True) is None
        assert cache_path("mine.db") is None


def test_many_threads_share_one_file(tmp_path: Path):
    from concurrent.futures import ThreadPoolExecutor

    path = str(tmp_path / "replies.db")

    def work(number: int) -> str:
        judge = guarded(f"reply {number % 5}", cache=path)
        return asyncio.run(judge.ask(question(str(number % 5)))).text

    with ThreadPoolExecutor(8) as threads:
        assert [*threads.map(work, range(40))] == [f"reply {n % 5}" for n in range(40)]
