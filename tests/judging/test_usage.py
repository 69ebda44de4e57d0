"""What the verdicts of a run took is told after it; what is not known is said to be unknown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.judges.server import said, serving
from trajgrade.cli.entry import command
from trajgrade.contracts import JudgeReply
from trajgrade.evaluators import LLMTrajectoryJudge
from trajgrade.judges.scripted import ScriptedJudge
from trajgrade.judging.usage import spent

REPLY = '{"reasoning": "so", "pass": true}'


def test_what_is_known_is_added_and_what_is_not_is_counted():
    priced = JudgeReply(text=REPLY, tokens_in=1000, tokens_out=20, cost=0.25)
    silent = JudgeReply(text=REPLY)
    judge = ScriptedJudge([priced, silent, priced, priced])
    single = LLMTrajectoryJudge(judge=judge)
    panel = LLMTrajectoryJudge(judge=judge, samples=2, tie="lowest")
    results = [
        single.evaluate(outputs="a"),
        single.evaluate(outputs="b"),
        panel.evaluate(outputs="c"),
    ]
    taken = spent(results)
    assert (taken.verdicts, taken.replies, taken.cost, taken.unpriced) == (4, 4, 0.75, 1)
    assert str(taken) == (
        "judge: 4 verdicts in 4 replies, 3,000 tokens read and 60 written, tokens of 1 not known, "
        "$0.7500, price of 1 not known"
    )
    assert str(spent([])) == ""


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TRAJGRADE_CACHE", str(tmp_path / "replies.db"))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([{"outputs": "one"}, {"outputs": "two"}]))
    return str(path)


def test_the_command_names_the_judge_says_what_it_took_and_asks_it_once(
    rows: str, monkeypatch: pytest.MonkeyPatch
):
    with serving(said(json.loads(REPLY))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        verb = ["score", rows, "-e", "llm_trajectory_judge", "--judge", "openai:m", "--no-progress"]
        first = CliRunner().invoke(command, verb)
        assert first.exit_code == 0, first.output
        assert "judge: 2 verdicts in 2 replies, 20 tokens read and 10 written" in first.output
        again = CliRunner().invoke(command, verb)
        assert (again.exit_code, len(server.seen)) == (0, 2)
        said_again = "judge: 2 verdicts in 2 replies, 2 of them there already, 0 tokens read"
        assert said_again in again.output
        anew = CliRunner().invoke(command, [*verb, "--no-cache"])
        assert (anew.exit_code, len(server.seen)) == (0, 4)


def test_a_reply_that_was_there_already_took_nothing():
    there = JudgeReply(text=REPLY, tokens_in=1000, tokens_out=20, cost=0.25, cached=True)
    unpriced = JudgeReply(text=REPLY, cached=True)
    asked = JudgeReply(text=REPLY, tokens_in=7, tokens_out=3, cost=0.5)
    single = LLMTrajectoryJudge(judge=ScriptedJudge([there, unpriced, asked]))
    taken = spent([single.evaluate(outputs=text) for text in "abc"])
    assert str(taken) == (
        "judge: 3 verdicts in 3 replies, 2 of them there already, 7 tokens read and 3 written, "
        "$0.5000"
    )


def test_a_judge_that_is_none_is_told_of_its_flag(rows: str):
    done = CliRunner().invoke(
        command, ["score", rows, "-e", "llm_trajectory_judge", "--judge", "opnai:m"]
    )
    assert done.exit_code == 2
    assert "--judge.model: unknown judge provider 'opnai'. Did you mean 'openai'" in done.output
