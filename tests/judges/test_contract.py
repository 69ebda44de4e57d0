"""What every judge is: it answers a request, and its failures are errors of the judge."""

from __future__ import annotations

import asyncio
import json
import pickle
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel, Field
from pydantic_ai import messages
from pydantic_ai.models.function import FunctionModel

from trajgrade.contracts import Judge, JudgeReply, JudgeRequest, JudgeTurn
from trajgrade.errors import ConfigError, JudgeError, MissingExtraError, UnknownNameError
from trajgrade.judges.scripted import ScriptedJudge
from trajgrade.judging.asking import Verdict, asked
from trajgrade.judging.chosen import judges_of
from trajgrade.judging.prompt import Prompt
from trajgrade.judging.settings import judge_settings
from trajgrade.judging.spec import VerdictSpec
from trajgrade.registry import judges

SPEC = VerdictSpec.boolean()
PASS = {"reasoning": "it is so", "pass": True}


class Potato:
    """An endpoint of Potato's: `query(prompt, schema)`."""

    model = "potato-model"

    def __init__(self) -> None:
        self.asked: list[tuple[str, Any]] = []

    def query(self, prompt: str, output_format: Any) -> Any:
        self.asked.append((prompt, output_format))
        return PASS


class PotatoReply(BaseModel):
    reasoning: str
    passes: bool = Field(alias="pass")


class AsyncPotato:
    async def query(self, prompt: str, output_format: Any) -> Any:
        return PotatoReply.model_validate(PASS)


class LangChain:
    """What of a LangChain chat model a judge needs."""

    model_name = "chain"

    async def ainvoke(self, said: list[tuple[str, str]]) -> Any:
        assert [role for role, _ in said][:2] == ["system", "user"]
        return SimpleNamespace(
            content=[{"type": "text", "text": json.dumps(PASS)}],
            usage_metadata={"input_tokens": 3, "output_tokens": 2},
            response_metadata={"model_name": "chain-1", "finish_reason": "stop"},
        )


class Called:
    async def __call__(self, prompt: str) -> str:
        return json.dumps(PASS)


def function(prompt: str) -> str:
    return json.dumps(PASS)


async def function_of_another_loop(prompt: str) -> str:
    await asyncio.sleep(0)
    return json.dumps(PASS)


def of_pydantic(said: list[messages.ModelMessage], options: Any) -> messages.ModelResponse:
    return messages.ModelResponse(parts=[messages.TextPart(json.dumps(PASS))])


ENDPOINTS = [
    Potato(), AsyncPotato(), LangChain(), Called(), function, function_of_another_loop,
    lambda prompt: json.dumps(PASS), FunctionModel(of_pydantic), ScriptedJudge(PASS),
]  # fmt: skip


def ask(judge: Judge) -> Verdict:
    return asyncio.run(asked(judge, Prompt("Right? {outputs}", {"outputs": "4"}), SPEC))


@pytest.mark.parametrize(
    "endpoint", ENDPOINTS, ids=lambda one: getattr(one, "__name__", type(one).__name__)
)
def test_whatever_can_be_asked_is_a_judge(endpoint: Any):
    (judge,) = judges_of(endpoint=endpoint)
    assert isinstance(judge, Judge)
    for _ in range(2):
        verdict = ask(judge)
        assert (verdict.value, verdict.reasoning) == (True, "it is so")
    assert verdict.model


def test_potatos_endpoint_is_given_prompt_and_schema():
    potato = Potato()
    (judge,) = judges_of(endpoint=potato)
    assert ask(judge).model == "potato-model"
    ((prompt, schema),) = potato.asked
    assert "Right?" in prompt
    assert "False" not in prompt
    assert schema == SPEC.schema


def test_tokens_and_model_of_a_chat_model_are_kept():
    (judge,) = judges_of(endpoint=LangChain())
    verdict = ask(judge)
    assert (verdict.model, verdict.tokens_in, verdict.tokens_out, verdict.cost) == (
        "chain-1",
        3,
        2,
        None,
    )


def test_what_an_endpoint_raises_or_returns_in_error_is_an_error_of_the_judge():
    def broken(prompt: str) -> str:
        raise OSError("no route")

    for endpoint, said in (
        (broken, "broken: OSError: no route"),
        (lambda prompt: 3, "must reply with"),
    ):
        (judge,) = judges_of(endpoint=endpoint)
        with pytest.raises(JudgeError, match=said):
            ask(judge)


@pytest.mark.parametrize("endpoint", [3, object(), Potato])
def test_what_cannot_be_asked_is_refused(endpoint: Any):
    with pytest.raises(ConfigError, match="endpoint: "):
        judges_of(endpoint=endpoint)


def test_several_judges_are_a_panel():
    assert len(judges_of([ScriptedJudge("a"), "scripted", {"script": "b"}][::2])) == 2
    with pytest.raises(ConfigError, match="the list is empty"):
        judges_of([])
    with pytest.raises(ConfigError, match="not both"):
        judges_of("a", endpoint=function)


def test_the_environment_names_the_judge_where_nothing_else_does(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TRAJGRADE_JUDGE", "openai:gpt-5-mini")
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    assert judges_of()[0].name == "openai:gpt-5-mini"
    assert judges_of(ScriptedJudge("a"))[0].name == "scripted"
    monkeypatch.delenv("TRAJGRADE_JUDGE")
    with pytest.raises(ConfigError, match="none is configured: name one: judge: openai:gpt-5-mini"):
        judges_of()


def test_a_block_that_is_not_enabled_names_none():
    with pytest.raises(ConfigError, match="config does not enable one"):
        judges_of(config={"ai_support": {"enabled": False, "endpoint_type": "openai"}})


def test_a_scripted_judge_says_its_lines_in_turn_and_keeps_what_it_was_asked():
    judge = ScriptedJudge(
        ["one", {"two": 2}, JudgeReply(text="three"), lambda request: request.identity]
    )
    request = JudgeRequest(turns=(JudgeTurn("user", "?"),), identity="four")

    async def all_of_them() -> list[str]:
        return [(await judge.ask(request)).text for _ in range(4)]

    assert asyncio.run(all_of_them()) == ["one", '{"two": 2}', "three", "four"]
    assert len(judge.asked) == 4
    with pytest.raises(JudgeError, match="4 lines, and more was asked"):
        asyncio.run(judge.ask(request))
    again = ScriptedJudge(["a", "b"], repeat=True)
    assert [asyncio.run(again.ask(request)).text for _ in range(3)] == ["a", "b", "a"]
    with pytest.raises(OSError, match="gone"):
        asyncio.run(ScriptedJudge(OSError("gone")).ask(request))


def test_every_judge_of_the_table_can_be_found():
    for name in judges:
        assert callable(judges.find(name))
        assert judges.entries[name].description
    with pytest.raises(UnknownNameError, match="Did you mean 'openai'"):
        judges.find("opnai")


def test_the_command_lists_the_judges_without_importing_a_provider():
    code = (
        "import sys; from trajgrade.cli import main; sys.argv = ['trajgrade', 'list', 'judges']\n"
        "try: main()\nfinally: assert not {'pydantic_ai', 'openai'} & {*sys.modules}"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [line.split()[0] for line in done.stdout.splitlines()] == [*judges]


def test_a_missing_package_is_told_in_a_line(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(sys.modules, "trajgrade.judges.providers", raising=False)
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    monkeypatch.setattr(judges, "_found", {})
    settings = judge_settings({"model": "openai:m", "api_key": "x"})
    assert settings is not None
    with pytest.raises(MissingExtraError, match=r"pip install 'trajgrade\[judge\]'"):
        _ = settings.judge


def test_settings_travel_to_other_processes_without_their_judge():
    settings = judge_settings({"script": PASS, "api_key": "abc", "redact": ["email"]})
    assert settings is not None
    assert settings.judge is settings.judge
    again = pickle.loads(pickle.dumps(settings))  # noqa: S301 our own object
    assert again == settings
    assert again.api_key.reveal() == "abc"
    assert "judge" not in vars(again)
