"""Models behind an API, against servers on loopback that speak as OpenAI and Anthropic do."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import pytest

from tests.judges.server import Answer, Server, anthropic, chat, failed, said, serving
from trajgrade.contracts import JudgeReply, JudgeRequest, JudgeTurn
from trajgrade.errors import ConfigError, JudgeError
from trajgrade.judging import guarded
from trajgrade.judging.asking import Verdict, asked
from trajgrade.judging.guarded import GuardedJudge
from trajgrade.judging.prompt import Prompt
from trajgrade.judging.settings import judge_settings
from trajgrade.judging.spec import VerdictSpec

SPEC = VerdictSpec.boolean()
PASS = {"reasoning": "it is so", "pass": True}
KEY = "not-a-real-key-0123456789"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch):
    """Waits between attempts are short here; their length is tested with a scripted clock."""
    monkeypatch.setattr(guarded, "FIRST_WAIT", 0.001)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def judge(server: Server, **settings: Any) -> GuardedJudge:
    written = {"model": "openai:a-model", "base_url": server.url, "cache": False, "api_key": KEY}
    made = judge_settings({**written, **settings})
    assert made is not None
    found = made.judge
    assert isinstance(found, GuardedJudge)
    return found


def ask(who: GuardedJudge, spec: VerdictSpec = SPEC) -> Verdict:
    return asyncio.run(asked(who, Prompt("Right? {outputs}", {"outputs": "4"}), spec))


def test_a_verdict_is_asked_for_with_its_schema_and_read():
    with serving(said(PASS)) as server:
        verdict = ask(judge(server, temperature=0, max_tokens=50))
    assert (verdict.value, verdict.score, verdict.reasoning) == (True, 1.0, "it is so")
    assert (verdict.tokens_in, verdict.tokens_out, verdict.model) == (10, 5, "a-model")
    (body,) = server.bodies
    assert body["response_format"]["json_schema"]["schema"] == SPEC.schema
    assert body["response_format"]["json_schema"]["strict"] is True
    assert (body["temperature"], body["max_tokens"], body["model"]) == (0, 50, "a-model")
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}".lower()
    assert verdict.evidence["temperature"] == 0


def test_a_reply_in_many_chunks_is_one_reply():
    with serving(Answer(chat(json.dumps(PASS)), chunked=True)) as server:
        assert ask(judge(server)).value is True


def test_too_many_requests_are_made_again_after_the_time_asked_for():
    with serving(
        failed(429, retry_after="0.01"), failed(429, retry_after="0.01"), said(PASS)
    ) as server:
        found = judge(server)
        assert ask(found).value is True
    assert len(server.seen) == 3
    assert found.usage.retries == 2


def test_after_the_last_retry_the_error_names_the_rate_limit():
    with (
        serving(failed(429, "slow down")) as server,
        pytest.raises(JudgeError, match="rate limit") as told,
    ):
        ask(judge(server, retries=1))
    assert "after 2 attempts" in str(told.value)
    assert len(server.seen) == 2


@pytest.mark.parametrize("status", [500, 502, 503, 529])
def test_a_provider_that_fails_is_asked_again(status: int):
    with serving(failed(status), said(PASS)) as server:
        assert ask(judge(server)).value is True


@pytest.mark.parametrize(
    "broken",
    [
        Answer(drop=True),
        Answer(b"{not json"),
        Answer(b"<html>busy</html>"),
        Answer({"choices": []}),
    ],
)
def test_a_broken_connection_and_a_malformed_answer_are_asked_again(broken: Answer):
    with serving(broken, said(PASS)) as server:
        assert ask(judge(server)).value is True
    with serving(broken) as server, pytest.raises(JudgeError, match="after 2 attempts"):
        ask(judge(server, retries=1))


def test_a_server_that_never_answers_is_given_up_after_the_timeout():
    with serving(Answer(never=True)) as server, pytest.raises(JudgeError) as told:
        ask(judge(server, timeout=1, retries=1))  # less may end amid the connecting
    assert "no answer within 1 s (after 2 attempts" in str(told.value)


def test_nobody_at_the_address_is_an_error_of_the_judge():
    with serving(said(PASS)) as server:
        gone = judge(server, retries=0)
    with pytest.raises(JudgeError, match="openai:a-model"):
        ask(gone)


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "check its API key"),
        (403, "what that may use"),
        (404, "check model and base_url"),
        (400, "HTTP 400"),
    ],
)
def test_what_is_refused_is_not_asked_again_and_says_what_to_do(status: int, advice: str):
    with (
        serving(failed(status, f"bad {KEY} here")) as server,
        pytest.raises(JudgeError, match=advice) as told,
    ):
        ask(judge(server))
    assert len(server.seen) == 1
    assert KEY not in str(told.value)


def test_a_spent_quota_is_not_asked_again():
    body = {
        "error": {"message": "no quota", "type": "insufficient_quota", "code": "insufficient_quota"}
    }
    with serving(Answer(body, 429)) as server, pytest.raises(JudgeError, match="429"):
        ask(judge(server))
    assert len(server.seen) == 1


def test_an_endpoint_without_schemas_is_asked_with_a_tool_then_in_words_and_that_is_remembered():
    def picky(body: Any) -> Answer:
        if "response_format" in body:
            return failed(400, "response_format json_schema is not supported")
        if "tools" in body:
            return failed(422, "unknown field: tools")
        return said(PASS)

    with serving(picky) as server:
        found = judge(server)
        assert ask(found).value is True
        assert ask(found).value is True
    assert ["response_format" in body for body in server.bodies] == [True, False, False, False]
    assert ["tools" in body for body in server.bodies] == [False, True, False, False]


def test_a_server_that_fails_over_the_schema_is_asked_without_one():
    """As llama-cpp-python's does: its validation error comes as HTTP 500."""

    def picky(body: Any) -> Answer:
        if "response_format" in body:
            return failed(500, "1 validation error: {'loc': ('body', 'response_format', 'type')}")
        return said("", call=json.dumps(PASS))

    with serving(picky) as server:
        found = judge(server)
        assert ask(found).value is True
    assert (len(server.seen), found.usage.retries) == (2, 0)


def test_a_tool_call_is_a_reply():
    with serving(said("", call=json.dumps(PASS))) as server:
        assert ask(judge(server, structured="tool")).value is True
    (body,) = server.bodies
    assert body["tools"][0]["function"]["parameters"]["properties"].keys() == {"reasoning", "pass"}
    with serving(said("thinking aloud", call='{"reasoning": "", "pass": "maybe"}')) as server:
        assert "is not true or false" in ask(judge(server, structured="tool")).unread


def test_words_alone_are_asked_for_where_that_is_wanted():
    with serving(said(f"Well: {json.dumps(PASS)}")) as server:
        assert ask(judge(server, structured="prompt")).value is True
    assert not {"response_format", "tools"} & {*server.bodies[0]}


def test_a_wrong_reply_gets_one_turn_to_be_mended():
    with serving(said({"rating": True}), said(PASS)) as server:
        verdict = ask(judge(server))
    assert verdict.value is True
    assert (verdict.tokens_in, verdict.tokens_out) == (20, 10)
    again = server.bodies[1]["messages"]
    assert [message["role"] for message in again] == ["system", "user", "assistant", "user"]
    assert again[2]["content"] == '{"rating": true}'
    assert "the key 'pass' is missing" in again[3]["content"]
    with serving(said({"rating": True})) as server:
        lost = ask(judge(server))
    assert len(server.seen) == 2
    assert lost.score is None
    assert lost.evidence["raw"] == ['{"rating": true}'] * 2
    result = lost.result("k")
    assert result.error is not None
    assert result.error.kind == "unreadable_verdict"


def test_a_reply_that_was_cut_off_is_told_as_such_even_if_it_could_be_read():
    with serving(said(PASS, finish="length")) as server:
        verdict = ask(judge(server, max_tokens=9))
    assert (
        "cut off at the token limit after 5 tokens: raise the judge's max_tokens" in verdict.unread
    )
    assert "Be brief" in server.bodies[1]["messages"][-1]["content"]
    with serving(said('{"reasoning": "it is', finish="length"), said(PASS)) as server:
        assert ask(judge(server)).value is True


def test_a_refusal_is_no_verdict():
    with serving(said("", refusal="I cannot help with that.")) as server:
        verdict = ask(judge(server))
    assert "the judge refused: I cannot help with that." in verdict.unread
    with serving(said("", finish="content_filter")) as server:
        assert "the judge refused" in ask(judge(server)).unread


def test_more_are_never_under_way_than_may_be():
    gate = threading.Event()
    reached = threading.Event()

    def answer(body: Any) -> Answer:
        if len(server.seen) >= 4:
            reached.set()
        return Answer(chat(json.dumps(PASS)), held=gate)

    async def many() -> list[JudgeReply]:
        found = judge(server, max_concurrency=4)
        asking = [
            asyncio.ensure_future(
                found.ask(JudgeRequest(turns=(JudgeTurn("user", str(n)),), identity=str(n)))
            )
            for n in range(12)
        ]
        await asyncio.to_thread(reached.wait, 10)
        gate.set()
        return await asyncio.gather(*asking)

    with serving(answer) as server:
        assert len(asyncio.run(many())) == 12
    assert server.most_at_once == 4


def test_an_unknown_price_is_unknown_and_a_given_one_is_reckoned():
    with serving(said(PASS)) as server:
        assert ask(judge(server)).cost is None
        assert ask(judge(server, prices={"input": 1.0, "output": 2.0})).cost == pytest.approx(
            20 / 1e6
        )
    with serving(said(PASS, usage=None)) as server:
        verdict = ask(judge(server, prices={"input": 1.0, "output": 2.0}))
    assert (verdict.tokens_in, verdict.tokens_out, verdict.cost) == (None, None, None)


def test_a_providers_own_price_is_known_by_its_model():
    with serving(
        anthropic([{"type": "text", "text": json.dumps(PASS)}], model="claude-sonnet-4-6")
    ) as server:
        verdict = ask(judge(server, model="anthropic:claude-sonnet-4-6"))
    assert verdict.cost == pytest.approx((7 * 3 + 3 * 15) / 1e6)


def test_a_temperature_is_not_sent_unless_it_is_given():
    with serving(said(PASS)) as server:
        ask(judge(server, extra_body={"seed": 7, "max_tokens": 3}))
    (body,) = server.bodies
    assert "temperature" not in body
    assert (body["seed"], body["max_tokens"]) == (7, 3)


def test_every_compatible_provider_speaks_to_the_address_it_is_given():
    with serving(said(PASS)) as server:
        for provider in ("openai", "vllm", "ollama", "openrouter", "huggingface", "lmstudio"):
            found = judge(server, model=f"{provider}:some/model:8b")
            assert ask(found).value is True
            assert found.name == f"{provider}:some/model:8b"
    assert {body["model"] for body in server.bodies} == {"some/model:8b"}


def test_anthropic_is_spoken_to_in_its_own_way():
    text = anthropic([{"type": "text", "text": json.dumps(PASS)}])
    with serving(text) as server:
        verdict = ask(judge(server, model="anthropic:claude-x", structured="prompt"))
    assert (verdict.value, verdict.tokens_in, verdict.tokens_out) == (True, 7, 3)
    (seen,) = server.seen
    assert seen.path.startswith("/v1/messages")
    assert any(KEY in value for value in seen.headers.values())
    assert seen.body["max_tokens"] == 4096
    assert "random" in json.dumps(seen.body["system"])
    call = anthropic(
        [{"type": "tool_use", "id": "t", "name": "verdict", "input": PASS}], stop="tool_use"
    )
    with serving(call) as server:
        assert ask(judge(server, model="anthropic:claude-x", structured="tool")).value is True
    assert server.bodies[0]["tools"][0]["name"] == "verdict"


def test_anthropics_errors_limits_and_refusals_are_told_apart():
    busy = Answer({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}, 529)
    good = anthropic([{"type": "text", "text": json.dumps(PASS)}])
    settings = {"model": "anthropic:claude-x", "structured": "prompt"}
    with serving(busy, good) as server:
        assert ask(judge(server, **settings)).value is True
    with serving(anthropic([{"type": "text", "text": '{"reason'}], stop="max_tokens")) as server:
        assert "cut off" in ask(judge(server, **settings)).unread
    with serving(anthropic([], stop="refusal")) as server:
        assert "refused" in ask(judge(server, **settings)).unread


def test_gemini_is_spoken_to_in_its_own_way():
    body = {
        "candidates": [{"content": {"role": "model", "parts": [{"text": json.dumps(PASS)}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 4, "candidatesTokenCount": 2, "totalTokenCount": 6},
        "modelVersion": "gemini-x",
    }  # fmt: skip
    with serving(Answer(body)) as server:
        verdict = ask(judge(server, model="gemini:gemini-x"))
    assert (verdict.value, verdict.tokens_in, verdict.tokens_out) == (True, 4, 2)
    assert "gemini-x:generateContent" in server.seen[0].path


def test_the_answers_of_two_event_loops_do_not_meet():
    with serving(said(PASS)) as server:
        found = judge(server)
        for _ in range(3):
            assert ask(found).value is True


def test_a_key_comes_from_the_environment_and_is_shown_nowhere(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_KEY", KEY)
    with serving(said(PASS)) as server:
        settings = judge_settings(
            {"model": "openai:m", "base_url": server.url, "api_key": "${MY_KEY}", "cache": False}
        )
        assert settings is not None
        verdict = asyncio.run(asked(settings.judge, Prompt("?"), SPEC))
    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}".lower()
    assert KEY not in f"{settings!r} {settings.judge!r} {verdict!r}"
    monkeypatch.delenv("MY_KEY")
    again = judge_settings({"model": "openai:m", "api_key": "${MY_KEY}"})
    assert again is not None
    with pytest.raises(ConfigError, match="environment variable MY_KEY is not set"):
        _ = again.judge


@pytest.mark.parametrize(
    ("model", "variable"), [("openai:m", "OPENAI_API_KEY"), ("anthropic:m", "ANTHROPIC_API_KEY"),
                            ("openrouter:m", "OPENROUTER_API_KEY"), ("huggingface:m", "HF_TOKEN")],
)  # fmt: skip
def test_a_missing_key_is_told_before_anything_is_asked(
    model: str, variable: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv(variable, raising=False)
    settings = judge_settings(model)
    assert settings is not None
    with pytest.raises(ConfigError, match=f"set {variable}"):
        _ = settings.judge
