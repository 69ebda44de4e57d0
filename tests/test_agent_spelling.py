"""Agents as config files and flags spell them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from trajgrade.agent_spelling import AgentConfig, agent_config, imported
from trajgrade.config import load_config
from trajgrade.dataset import Example
from trajgrade.errors import ConfigError

MODULE = """
class Travel:
    def query(self, *, input, seed):
        return f"{input} {seed}"

travel = Travel()

def echo(prompt):
    return prompt
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module in it that no other test imports, and a clean path."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "travel_agent", raising=False)
    (tmp_path / "travel_agent.py").write_text(MODULE)
    return tmp_path


def faults_of(given):
    with pytest.raises(ConfigError) as wrong:
        agent_config(given, Path())
    return list(wrong.value.faults)


def test_a_text_is_a_function_or_an_address():
    assert agent_config("a.b:c.d", Path()).function == "a.b:c.d"
    assert agent_config("https://host/agent", Path()).url == "https://host/agent"


def test_options_are_those_of_the_agent_that_is_built(folder):
    spelt = {
        "function": "travel_agent:travel", "max_concurrency": 3, "timeout": 2.5, "retries": 2,
        "retry_on": ["TimeoutError", 429], "backoff": 0.5, "rate_limit": "60/minute",
    }  # fmt: skip
    agent = agent_config(spelt, folder).build(seed=5)
    assert agent.max_concurrency == 3
    assert (agent.pace.timeout, agent.pace.retries) == (2.5, 2)
    assert agent.pace.retry_on == ("TimeoutError", 429)
    assert (agent.pace.backoff, agent.pace.rate_limit) == (0.5, "60/minute")
    ((answered, _),) = agent.over([Example(id="a", inputs="hi", trial=2)])
    assert answered.response == "hi 7"


def test_a_module_lies_beside_the_config(folder, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert imported("travel_agent:echo", folder)("x") == "x"
    assert imported("travel_agent:travel.query", folder)(input="x", seed=1) == "x 1"


@pytest.mark.parametrize(
    ("spelt", "said"),
    [
        ("no_such_agent:f", "no module 'no_such_agent' is in"),
        ("travel_agent:eco", "unknown name 'eco'. Did you mean 'echo'?"),
        ("travel_agent:Travel", "the class Travel is no agent"),
        ("broken_agent:f", "broken_agent cannot be imported: ZeroDivisionError"),
        ("lacking_agent:f", "lacking_agent cannot be imported: No module named 'no_such_thing'"),
    ],
)
def test_what_cannot_be_imported_is_said(spelt, said, folder):
    (folder / "broken_agent.py").write_text("1 / 0\n")
    (folder / "lacking_agent.py").write_text("import no_such_thing\n")
    with pytest.raises(ConfigError) as wrong:
        agent_config(spelt, folder).build()
    assert said in str(wrong.value)
    assert str(wrong.value).startswith("agent.")


@pytest.mark.parametrize(
    ("given", "faults"),
    [
        (5, ["agent: expected module:function, an address, or an object, got 5"]),
        ("my agent", ["agent.function: expected module:function, got 'my agent'"]),
        ({}, ["agent: one of function, command and url is needed; none is given"]),
        ({"function": "a:b", "url": "http://h/"},
         ["agent: one of function, command and url is needed; function and url are given"]),
        ({"function": "a:b", "headers": {"A": "x"}},
         ["agent.headers: only an agent behind a url is sent headers"]),
        ({"command": "python agent.py"}, ["agent.command: expected a list, the program and its"]),
        ({"url": "http://h/", "headers": {"A": 5}}, ["agent.headers: expected an object of texts"]),
        ({"function": "a:b", "timeuot": 5}, ["agent.timeuot: unknown key 'timeuot'. Did you mean"]),
        ({"function": "a:b", "timeout": 0, "retries": 1},
         ["agent.timeout: expected a number of seconds", "agent.retries: nothing is named"]),
    ],
)  # fmt: skip
def test_all_that_is_wrong_is_said(given, faults):
    found = faults_of(given)
    assert len(found) == len(faults)
    for one, wanted in zip(found, faults, strict=True):
        assert one.startswith(wanted)


def test_what_headers_hold_is_never_shown():
    given = {"url": "http://host/", "headers": {"Authorization": "Bearer s3cr3t"}, "timeout": 1}
    assert "s3cr3t" not in repr(agent_config(given, Path()))
    wrong = {**given, "headers": {"Authorization": ["s3cr3t"]}}
    assert "s3cr3t" not in "".join(faults_of(wrong))


def config(**more):
    rows = "sample:on-device"
    return load_config({"dataset": rows, "evaluators": ["trajectory_f1"], **more})


def test_a_config_has_its_agent_trials_seed_and_budget():
    found = config(
        agent={"command": [sys.executable, "-c", "print('x')"]}, trials=3, seed=7,
        budget={"rows": 5, "money": 1}, on_failure="exclude", thresholds={"failure": "<= 0.1"},
    )  # fmt: skip
    assert isinstance(found.agent, AgentConfig)
    arguments = found.arguments()
    assert (arguments["trials"], arguments["agent"].seed) == (3, 7)
    assert (arguments["budget"].rows, arguments["on_failure"]) == (5, "exclude")


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"trials": 0}, "trials: expected"),
        ({"trials": "two"}, "trials: expected a whole number"),
        ({"seed": 1.5}, "seed: expected a whole number"),
        ({"budget": {"row": 1}}, "budget.row: unknown key 'row'. Did you mean 'rows'?"),
        ({"agent": {"comand": ["x"]}}, "agent.comand: unknown key 'comand'"),
        ({"on_failure": "skip"}, "on_failure: unknown choice 'skip'"),
        ({"thresholds": {"failure": "<= 0"}}, "thresholds.failure: unknown metric 'failure'"),
    ],
)
def test_what_is_wrong_in_a_config_is_said(given, fault):
    with pytest.raises(ConfigError) as wrong:
        config(**given)
    assert wrong.value.faults[0].startswith(fault)


def test_an_agent_in_a_process_is_told_where_the_config_lies(tmp_path):
    (tmp_path / "answer.py").write_text("import os; print(os.getcwd())\n")
    (tmp_path / "rows.jsonl").write_text(json.dumps({"prompt": "p", "reference": "r"}))
    (tmp_path / "c.yaml").write_text(
        "dataset: rows.jsonl\nevaluators: [exact_match]\n"
        f"agent: {{command: [{sys.executable}, answer.py]}}\n"
    )
    agent = load_config(tmp_path / "c.yaml").arguments()["agent"]
    ((answered, outcome),) = agent.over([Example(id="a")])
    assert (outcome.error, answered.response) == (None, str(tmp_path.resolve()))


def test_no_agent_is_imported_when_a_config_is_only_checked(folder):
    (folder / "loud_agent.py").write_text("raise SystemExit('imported')\n")
    assert config(agent="loud_agent:f").agent.function == "loud_agent:f"


def test_what_speaks_http_is_imported_only_where_an_agent_does():
    source = "import trajgrade.config, sys; print('urllib.request' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", source], check=True, capture_output=True)
    assert said.stdout.strip() == b"False"
