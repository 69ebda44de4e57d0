"""Rules: which fire, in which order, and which are refused (known faults B185, B188, B192, B193)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.automation.items import SEEN, id_of, item_of
from trajgrade.automation.rules import read_rules, sample
from trajgrade.errors import ConfigError

QUEUE = {"type": "add_to_queue", "priority": 1}


def rule(**changes: Any) -> dict[str, Any]:
    return {"name": "r", "when": {"field": "x", "equals": 1}, "actions": [QUEUE], **changes}


def rules(*written: Any, **block: Any):
    return read_rules({"rules": [*written], **block}, {"add_to_queue": {}, "run_evaluator": {}})


def test_a_rule_fires_for_what_fits():
    (fits,), (not_,) = (rules(rule()).decide("1", {"x": x}) for x in (1, 2))
    assert (fits.fires, not_.fires) == (True, False)
    assert not_.because == "x: equals 1, found 2"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"enabled": "false"}, "rules[0].enabled: true or false is needed, got 'false'"),
        ({"enabled": 0}, "rules[0].enabled: true or false is needed, got 0"),
        ({"sample_rate": 5}, "rules[0].sample_rate: a number of 0 to 1 is needed, got 5"),
        ({"sample_rate": True}, "rules[0].sample_rate: a number of 0 to 1"),
        ({"sample_rate": float("nan")}, "rules[0].sample_rate: a number of 0 to 1"),
        ({"smaple_rate": 1}, "Did you mean 'sample_rate'?"),
        ({"when": {"field": "x", "neq": 1}}, "rules[0].when: unknown operator 'neq'"),
        ({"when": {}}, "for every item"),
        ({"actions": []}, "rules[0].actions: a list"),
        ({"actions": [{"type": "add_to_que"}]}, "Did you mean 'add_to_queue'?"),
        ({"actions": ["add_to_queue"]}, "rules[0].actions[0]: {type: …} is needed"),
        ({"actions": [{"type": "run_evaluator"}]}, "actions[0].evaluator: is missing"),
        ({"actions": [{"type": "run_evaluator", "evaluator": "exct_match"}]}, "Did you mean"),
        ({"after": "later"}, "rules[0].after: trace_complete is needed"),
        ({"after": "item"}, "rules[0].after: trace_complete is needed, got 'item'"),
        ({"name": ""}, "rules[0].name: a text is needed"),
    ],
)
def test_what_is_no_rule_is_refused_when_it_is_read(changes, said):
    """B185: text 'false', a misspelt operator, an empty `when`."""
    with pytest.raises(ConfigError) as caught:
        rules(rule(**changes))
    assert said in str(caught.value)


def test_a_rule_without_when_says_how_to_ask_for_every_item():
    written = rule()
    del written["when"]
    with pytest.raises(ConfigError, match="write `when: always`"):
        rules(written)
    assert rules(rule(when="always")).decide("1", {})[0].fires


def test_two_rules_of_one_name_are_refused():
    with pytest.raises(ConfigError, match="the name 'r' is given twice"):
        rules(rule(), rule())


def test_a_block_that_is_switched_off_has_no_rules():
    assert len(rules(rule(), enabled=False)) == 0
    with pytest.raises(ConfigError, match=r"automation\.enabled"):
        rules(rule(), enabled="false")


@given(st.text(max_size=20), st.text(max_size=20))
def test_the_same_item_and_rule_always_draw_the_same(item, name):
    assert sample(item, name) == sample(item, name)
    assert 0 <= sample(item, name) < 1


def test_the_boundary_between_item_and_rule_counts():
    assert sample("a|b", "c") != sample("a", "b|c")


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 1.0])
def test_a_sample_rate_is_the_share_of_items(rate):
    asked = rules(rule(when="always", sample_rate=rate))
    fired = sum(asked.decide(str(n), {})[0].fires for n in range(4000))
    assert fired / 4000 == pytest.approx(rate, abs=0.03)  # 3.8 standard deviations at 0.5
    assert asked.counts["r"]["fires"] == fired
    assert asked.counts["r"]["sampled_out"] == 4000 - fired


def test_a_rule_that_looks_at_a_score_comes_after_the_rule_that_gives_it():
    """B192: in whatever order they are written."""
    alert = rule(name="alert", when={"field": "scores.trajectory_recall", "lt": 0.5})
    score = rule(
        name="score",
        when="always",
        actions=[{"type": "run_evaluator", "evaluator": "trajectory_recall"}],
    )
    for written in ([alert, score], [score, alert]):
        assert [one.name for one in rules(*written)] == ["score", "alert"]


def test_the_key_of_a_score_may_be_given():
    alert = rule(name="alert", when={"field": "scores.mine", "lt": 0.5})
    action = {"type": "run_evaluator", "evaluator": "trajectory_recall", "key": "mine"}
    score = rule(name="score", when="always", actions=[action])
    assert [one.name for one in rules(alert, score)] == ["score", "alert"]


def test_rules_that_wait_for_each_other_are_refused():
    def waiting(name: str, reads: str, gives: str):
        action = {"type": "run_evaluator", "evaluator": "trajectory_recall", "key": gives}
        return rule(name=name, when={"field": f"scores.{reads}", "lt": 1}, actions=[action])

    with pytest.raises(ConfigError, match="a → b → a"):
        rules(waiting("a", "two", "one"), waiting("b", "one", "two"))


def test_a_field_that_no_item_ever_had_is_told():
    """B193: a rule that never fires says why."""
    asked = rules(rule(when={"any": [{"field": "x", "gt": 5}, {"field": "typo", "exists": True}]}))
    assert asked.never_seen() == {}
    asked.decide("1", {"x": 1})
    assert asked.never_seen() == {"r": ["typo"]}
    asked.decide("2", {"x": 1, "typo": None})
    assert asked.never_seen() == {}


def test_an_item_shows_the_trace_and_what_is_read_from_it_whatever_its_format():
    trace = {"id": "t1", "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "find", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "nothing"},
        {"role": "assistant", "content": "Sorry."},
    ]}  # fmt: skip
    item = item_of(trace, {"recall": 0.5})
    assert item["id"] == "t1"
    assert item["scores"] == {"recall": 0.5}
    assert item["trajectory"]["tools"] == ["find"]
    assert item["trajectory"]["n_calls"] == 1
    assert item["trajectory"]["final_response"] == "Sorry."
    assert item["trace"] is trace
    assert id_of(trace, "#0") == "t1"


def test_a_trace_that_cannot_be_read_has_no_trajectory_and_says_why():
    item = item_of({"id": "x", "what": "ever"})
    assert "trajectory" not in item
    assert "format" in item["unreadable"]
    assert id_of([], "#3") == "#3"


def test_two_evaluators_of_one_score_are_refused():
    f1 = {"type": "run_evaluator", "evaluator": "trajectory_f1"}
    written: list[dict[str, Any]] = [
        {"name": "one", "when": "always", "actions": [f1]},
        {"name": "two", "when": "always", "actions": [f1]},
    ]
    with pytest.raises(ConfigError) as caught:
        read_rules({"rules": written})
    (fault,) = caught.value.faults
    assert "the score 'trajectory_f1' is given by one and by two" in fault
    written[1]["actions"] = [{**f1, "key": "f1_again"}]
    assert len(read_rules({"rules": written})) == 2
    written[1] |= {"actions": [f1], "enabled": False}
    assert len(read_rules({"rules": written})) == 2
    written = [{"name": "one", "when": "always", "actions": [f1, f1]}]
    with pytest.raises(ConfigError, match="is given twice by one; give each a `key`"):
        read_rules({"rules": written})


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("scores.trajectory_f2", "looks at scores.trajectory_f2: unknown score 'trajectory_f2'. Did you mean 'trajectory_f1'?"),
        ("trajectory.tool", "looks at trajectory.tool: unknown field of a trajectory 'tool'. Did you mean 'tools'?"),
        ("trajectory.calls[0].name", "unknown field of a trajectory 'calls'"),
    ],
)  # fmt: skip
def test_a_score_that_no_rule_gives_and_a_field_that_no_trajectory_has_are_refused(path, said):
    f1 = {"type": "run_evaluator", "evaluator": "trajectory_f1"}
    look = rule(name="look", when={"any": [{"field": "x", "equals": 1}, {"field": path, "gt": 0}]})
    with pytest.raises(ConfigError) as caught:
        rules(rule(name="grade", actions=[f1]), look)
    (fault,) = caught.value.faults
    assert said in fault


def test_a_score_may_come_from_an_evaluator_or_an_action_whose_keys_are_not_known():
    look = {"name": "look", "when": {"field": "scores.mine", "lt": 1}, "actions": [QUEUE]}
    with pytest.raises(ConfigError, match="no rule has a `run_evaluator`"):
        read_rules({"rules": [look]})
    own = {"name": "own", "when": "always", "actions": [{"type": "grade_by_hand"}]}
    assert len(read_rules({"rules": [look, own]})) == 2
    misspelt = {
        "name": "own",
        "when": "always",
        "actions": [{"type": "run_evaluator", "evaluator": "mine"}],
    }
    with pytest.raises(ConfigError) as caught:
        read_rules({"rules": [look, misspelt]})
    (fault,) = caught.value.faults
    assert "unknown evaluator 'mine'" in fault


def test_a_name_is_given_twice_even_where_a_rule_has_other_faults():
    with pytest.raises(ConfigError) as caught:
        rules(rule(), rule(sample_rate=7), rule(after="later"))
    assert len(caught.value.faults) == 3
    assert "automation.rules: the name 'r' is given twice" in caught.value.faults


def test_what_can_be_asked_of_a_trajectory_is_what_an_item_shows():
    assert tuple(item_of([{"role": "user", "content": "x"}])["trajectory"]) == SEEN
