"""Which judge, and how it is asked: every way to write it, and every fault at once."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from trajgrade.config import load_config
from trajgrade.errors import ConfigError
from trajgrade.judging.secret import Secret
from trajgrade.judging.settings import Budget, Redact, judge_settings, settings_schema


@pytest.mark.parametrize(
    ("written", "provider", "model"),
    [
        ("openai:gpt-5-mini", "openai", "gpt-5-mini"),
        ("google:gemini-x", "gemini", "gemini-x"),
        ("ollama:qwen3:8b", "ollama", "qwen3:8b"),
        ("openrouter:anthropic/claude-x", "openrouter", "anthropic/claude-x"),
        ({"model": "qwen3:8b", "base_url": "http://x/v1"}, "openai", "qwen3:8b"),
        ({"model": "vllm:a/b", "base_url": "http://x/v1"}, "vllm", "a/b"),
        ({"model": "a:b", "provider": "vllm"}, "vllm", "a:b"),
        ({"ai_support": {"enabled": True, "endpoint_type": "ollama", "ai_config": {"model": "m"}}}, "ollama", "m"),
        ({"endpoint_type": "anthropic", "ai_config": {"model": "m"}}, "anthropic", "m"),
        ({"judge_alignment": {"ai_support": {"endpoint_type": "vllm", "ai_config": {"model": "m"}}},
          "ai_support": {"endpoint_type": "openai", "ai_config": {"model": "n"}}}, "vllm", "m"),
        ({"annotation_task_name": "x", "ai_support": {"endpoint_type": "openai", "ai_config": {
            "model": "m", "include": {"all": True}}}}, "openai", "m"),
        ({"judge": "openai:m"}, "openai", "m"),
    ],
)  # fmt: skip
def test_every_way_to_write_a_judge_has_one_meaning(written: Any, provider: str, model: str):
    settings = judge_settings(written)
    assert settings is not None
    assert (settings.provider, settings.model) == (provider, model)


def test_parameters_are_kept():
    settings = judge_settings({
        "model": "openai:m", "temperature": 0, "max_tokens": 10, "budget": 2, "redact": ["email"],
        "prices": {"input": 1, "output": 2}, "cache": "x.db", "api_key": "abc",
    })  # fmt: skip
    assert settings is not None
    assert (settings.budget, settings.redact) == (Budget(usd=2), Redact(kinds=["email"]))
    assert (settings.temperature, settings.cache) == (0, "x.db")
    assert repr(settings).count("***") == 1


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("gpt-5", "judge.model: 'gpt-5' names no provider: write provider:gpt-5"),
        ("opnai:m", "unknown judge provider 'opnai'. Did you mean 'openai'"),
        ("openai:", "no model after 'openai'"),
        ("", "judge.model: is missing"),
        ({}, "judge.model: is missing"),
        (3, "expected `provider:model` or an object, got 3"),
        ({"model": "openai:m", "temprature": 0}, "judge.temprature: unknown key 'temprature'. Did you mean 'temperature'"),
        ({"model": "openai:m", "temperature": -1}, "judge.temperature: expected"),
        ({"model": "openai:m", "max_tokens": 0}, "judge.max_tokens: expected"),
        ({"model": "openai:m", "retries": "3"}, "judge.retries: expected"),
        ({"model": "openai:m", "budget": {"dollars": 1}}, "judge.budget: "),
        ({"model": "openai:m", "redact": ["emial"]}, "judge.redact"),
        ({"model": "openai:m", "redact": {"patterns": {"x": "("}}}, "judge.redact: x: no regular expression"),
        ({"model": "openai:m", "structured": "yes"}, "judge.structured: invalid enum value 'yes'"),
        ({"ai_support": {"enabeld": True}}, "judge.ai_support.enabeld: unknown key 'enabeld'. Did you mean 'enabled'"),
        ({"ai_support": {"enabled": "yes"}}, "judge.ai_support.enabled: expected true or false"),
        ({"ai_support": {"endpoint_type": "opnai", "ai_config": {"model": "m"}}}, "Did you mean 'openai'"),
        ({"ai_support": 3}, "judge.ai_support: expected an object, got 3"),
    ],
)  # fmt: skip
def test_a_fault_says_where_it_is_and_what_is_allowed(written: Any, said: str):
    with pytest.raises(ConfigError) as refused:
        judge_settings(written)
    assert said in str(refused.value)


def test_all_faults_are_told_at_once_and_none_shows_a_key():
    with pytest.raises(ConfigError) as refused:
        judge_settings({"model": 3, "api_key": 12345, "timeout": 0, "colour": "red"})
    assert len(refused.value.faults) == 4
    assert "12345" not in str(refused.value)


def test_the_schema_takes_what_is_taken_and_refuses_what_is_refused():
    root, parts = settings_schema()
    schema = jsonschema_rs.validator_for({**root, "$defs": parts})
    good = [
        "openai:m", {"model": "m", "budget": 1.5}, {"model": "m", "budget": {"usd": 1, "tokens": 5}},
        {"redact": ["email"]}, {"redact": {"kinds": [], "patterns": {"a": "b"}}}, {"cache": False},
        {"prices": {"input": 1, "output": 2}}, {"script": [1, {"a": 2}]}, {"temperature": None},
    ]  # fmt: skip
    assert [one for one in good if not schema.is_valid(one)] == []
    bad = [3, {"temprature": 1}, {"max_tokens": 0}, {"budget": -1}, {"redact": ["x"]}, {"cache": 3}]
    assert [one for one in bad if schema.is_valid(one)] == []


def test_a_secret_prints_compares_and_serialises_as_stars(monkeypatch: pytest.MonkeyPatch):
    secret = Secret("abc")
    assert f"{secret} {secret!r} {secret:>5} {secret!s}" == "*** ***   *** ***"
    assert secret == Secret("other")
    assert hash(secret) == hash(Secret("other"))
    assert secret != "abc"  # noqa: S105 made up
    assert json.dumps({"key": secret}, default=str) == '{"key": "***"}'
    assert secret.reveal() == "abc"
    monkeypatch.setenv("SOME_KEY", "value")
    assert Secret("a-${SOME_KEY}-b").reveal() == "a-value-b"
    with pytest.raises(ConfigError, match="NO_SUCH_KEY is not set"):
        Secret("${NO_SUCH_KEY}").reveal()


def config(**more: Any) -> Any:
    return {"dataset": "sample:customer-support", "evaluators": ["trajectory_f1"], **more}


def test_a_config_holds_the_judge_in_either_form():
    short = load_config(config(judge="openai:m")).judge
    potato = {"enabled": True, "endpoint_type": "openai", "ai_config": {"model": "m"}}
    assert load_config(config(ai_support=potato)).judge == short
    assert load_config(config(judge_alignment={"ai_support": potato})).judge == short
    assert load_config(config(ai_support={**potato, "enabled": False})).judge is None


def test_the_faults_of_a_configs_judge_are_among_the_others():
    with pytest.raises(ConfigError) as refused:
        load_config(config(judge={"model": "openai:m", "retrys": 1}, limit=0))
    starts = [fault.partition(":")[0] for fault in refused.value.faults]
    assert starts == ["limit", "judge.retrys"]
    with pytest.raises(ConfigError, match="give this or ai_support, not both"):
        load_config(config(judge="openai:m", ai_support={}))
