"""Trajectory match (A3, A5, A6): modes, empty sides, messages, and which calls count."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests import oracle
from tests.matching.strategies import PLAIN, examples, letters, run
from trajgrade.errors import ConfigError, TraceError
from trajgrade.evaluators import (
    Step,
    ToolCall,
    TrajectoryAnyOrderMatch,
    TrajectoryExactMatch,
    TrajectoryF1,
    TrajectoryInOrderMatch,
    TrajectoryMatchEvaluator,
    TrajectoryPrecision,
    TrajectoryRecall,
)
from trajgrade.result import EvaluationResult
from trajgrade.trajectory import Trajectory


def match(
    mode: Any, outputs: Any, reference: Any, *params: Any, **options: Any
) -> EvaluationResult:
    evaluator = TrajectoryMatchEvaluator(mode, *params, **options)
    return evaluator.evaluate(outputs=outputs, reference_outputs=reference)


def one(name: str, args: Any = None, **more: Any) -> dict[str, Any]:
    return {"name": name, "args": args or {}, **more}


# ------------------------------------------------------------------------------ worked examples

CASES = ("/", "/a", "a/", "aa/a", "a/aa", "aa/aa", "ba/ab", "axb/ab", "ab/abc", "cab/abc")
BATTERY = {
    "strict":    "T F F F F T F F F F",
    "in_order":  "T F T T F T F T F F",
    "superset":  "T F T T F T T T F T",
    "unordered": "T F F F F T T F F T",
    "subset":    "T T F F T T T F T T",
}  # fmt: skip


@pytest.mark.parametrize("mode", BATTERY)
@pytest.mark.parametrize("case", CASES)
def test_calls_written_as_letters_match_as_in_the_table(mode, case):
    agent, _, reference = case.partition("/")
    wanted = BATTERY[mode].split()[CASES.index(case)] == "T"
    result = match(mode, letters(agent), letters(reference))
    assert result.value is wanted
    assert result.score == float(wanted)


@pytest.mark.parametrize(
    ("evaluator", "mode"),
    [
        (TrajectoryMatchEvaluator(), "strict"),
        (TrajectoryMatchEvaluator("exact"), "strict"),
        (TrajectoryMatchEvaluator("any_order"), "superset"),
        (TrajectoryExactMatch(), "strict"),
        (TrajectoryInOrderMatch(), "in_order"),
        (TrajectoryAnyOrderMatch(), "superset"),
    ],
)
@pytest.mark.parametrize("case", CASES)
def test_vertex_names_and_aliases_mean_the_same_modes(evaluator, mode, case):
    agent, _, reference = case.partition("/")
    named = evaluator.evaluate(outputs=letters(agent), reference_outputs=letters(reference))
    plain = match(mode, letters(agent), letters(reference))
    assert (named.score, named.value) == (plain.score, plain.value)
    assert named.metadata.get("vacuous") == plain.metadata.get("vacuous")


@pytest.mark.parametrize("mode", [*oracle.MATCH_MODES, "exact", "any_order"])
@pytest.mark.parametrize("empty", [[], Trajectory(), "no call, but an answer"])
def test_an_empty_run_is_not_a_missing_one(mode, empty):
    both = match(mode, empty, [])
    assert both.score == 1.0
    assert "vacuous" not in both.metadata
    silent = match(mode, empty, [one("search")])
    assert silent.score == float(mode == "subset")
    assert silent.metadata.get("vacuous", False) is (mode == "subset")
    missing = match(mode, None, [one("search")])
    assert missing.score is None
    assert missing.error is not None
    assert missing.error.kind == "no_output"


@pytest.mark.parametrize("mode", [*oracle.MATCH_MODES, "exact", "any_order"])
@pytest.mark.parametrize("outputs", [None, [], [one("drop_table", {"name": "users"})]])
def test_without_a_reference_nothing_is_evaluated(mode, outputs):
    result = match(mode, outputs, None)
    assert result.score is None
    assert result.error is not None
    assert result.error.kind == "no_reference"
    assert "no reference" in result.comment


@pytest.mark.parametrize("outputs", [[{"what": "is this"}], 17, {"x": [1]}, [1, 2]])
def test_outputs_that_cannot_be_read_are_a_trace_error_and_never_an_empty_run(outputs):
    with pytest.raises(TraceError):
        match("subset", outputs, [one("f")])


# ------------------------------------------------------------------------------ known faults


@pytest.mark.parametrize("mode", ["superset", "unordered", "subset"])
@pytest.mark.parametrize("order", [1, -1])
def test_a_call_gives_up_its_first_partner_where_that_lets_all_be_paired(mode, order):
    reference = [one("f", {"a": 1}), one("f", {"a": 1, "b": 2})]
    agent = [one("f", {"a": 1, "b": 2}), one("f", {"a": 1})][::order]
    assert match(mode, agent, reference, "superset").value is True


@pytest.mark.parametrize("mode", oracle.MATCH_MODES)
def test_argument_modes_are_read_from_the_agents_side_in_every_mode(mode):
    small, large = [one("f", {"a": 1})], [one("f", {"a": 1, "b": 2})]
    assert match(mode, large, small, "superset").value is True
    assert match(mode, small, large, "superset").value is False
    assert match(mode, small, large, "subset").value is True
    assert match(mode, large, small, "subset").value is False


def test_a_harmless_retry_fails_only_the_modes_that_forbid_extras():
    pay = one("pay", {"id": 7})
    passed = {mode: match(mode, [pay, pay], [pay]).value for mode in oracle.MATCH_MODES}
    assert passed == {
        "strict": False, "unordered": False, "subset": False, "superset": True, "in_order": True,
    }  # fmt: skip
    given_: dict[str, Any] = {"outputs": [pay, pay], "reference_outputs": [pay]}
    assert TrajectoryRecall().evaluate(**given_).score == 1.0
    assert TrajectoryPrecision().evaluate(**given_).score == 0.5
    assert TrajectoryF1().evaluate(**given_).score == pytest.approx(2 / 3)


def test_a_call_never_made_fails_the_ordered_modes_and_is_named():
    reference = [one(name) for name in "klmk"]
    agent = [one(name) for name in "kqmk"]
    strict = match("strict", agent, reference)
    assert strict.value is False
    assert "call 1: expected l(), got q()" in strict.comment
    in_order = match("in_order", agent, reference)
    assert in_order.value is False
    assert "reference call 1" in in_order.comment
    assert "l()" in in_order.comment


def test_a_repeated_tool_out_of_place_is_named():
    expected = [one(name) for name in ("open", "read", "open")]
    agent = [one(name) for name in ("open", "open", "read")]
    for mode in ("strict", "in_order"):
        result = match(mode, agent, expected)
        assert result.value is False
        assert "call 1: expected read(), got open()" in result.comment
    assert match("unordered", agent, expected).value is True


def test_a_second_equal_call_has_a_partner_of_its_own():
    assert match("strict", letters("pp"), letters("pp")).value is True
    assert match("unordered", letters("p"), letters("pp")).value is False


def test_a_tools_name_must_be_the_same_unless_an_alias_is_given():
    agent, reference = [one("Web_Search")], [one("Web Search")]
    plain = match("strict", agent, reference)
    assert plain.value is False
    assert "near name" in plain.comment
    for alias in ({"Web_Search": "Web Search"}, {"Web Search": "Web_Search"}):
        for mode in oracle.MATCH_MODES:
            assert match(mode, agent, reference, name_aliases=alias).value is True


def test_ids_never_decide_and_never_merge_calls():
    agent = [one("f", id="1"), one("f", id="1"), one("g", id="1")]
    reference = [one("f", id="7"), one("f", id="8"), one("g", id="7")]
    assert match("strict", agent, reference).value is True


@pytest.mark.parametrize(
    ("got", "expected", "agree"),
    [
        ({"confirm": True}, {"confirm": 1}, False),
        ({"n": False}, {"n": 0}, False),
        ({"n": [{"deep": False}]}, {"n": [{"deep": 0}]}, False),
        ({"xs": [12, 15]}, {"xs": [12.0, 15.0]}, True),
        ({"n": 1}, {"n": "1"}, False),
        ({"id": 1152921504606846976}, {"id": 1152921504606846977}, False),
        ({"id": 1.152921504606846976e18}, {"id": 1152921504606846977}, False),
        ({"x": 1}, {"x": 1.0}, True),
        ({"kw": ["b", "a"]}, {"kw": ["a", "b"]}, False),
        ({"kw": ["a", 1]}, {"kw": ["a", "b"]}, False),
        (None, {}, True),
        ("", {}, True),
        ("[1]", "[1.0]", True),
        ("5", 5, True),
        ('{"a": 1}', {"a": 1}, True),
    ],
)
@pytest.mark.parametrize("mode", oracle.MATCH_MODES)
def test_one_equality_of_arguments_serves_every_mode(mode, got, expected, agree):
    def calls(args: Any) -> list[dict[str, Any]]:
        return [{"name": "f", "args": args}]

    assert match(mode, calls(got), calls(expected)).value is agree
    shares = (TrajectoryPrecision(), TrajectoryRecall(), TrajectoryF1())
    for evaluator in shares:
        result = evaluator.evaluate(outputs=calls(got), reference_outputs=calls(expected))
        assert result.score == float(agree)


def test_numbers_of_two_types_are_named_by_type():
    result = match("strict", [one("f", {"n": 1})], [one("f", {"n": "1"})])
    assert "f.n: expected '1', got 1" in result.comment
    assert "str" in result.comment
    assert "int" in result.comment
    parsed = {"f": {"n": "json"}}
    assert match("strict", [one("f", {"n": 1})], [one("f", {"n": "1"})], "exact", parsed).value


def test_lists_whose_order_means_nothing_compare_as_multisets_when_asked():
    reference, overrides = [one("f", {"kw": ["a", "b"]})], {"f": {"kw": "unordered"}}
    for kw, agree in [(["b", "a"], True), (["a", 1], False), (["a", "a", "b"], False)]:
        agent = [one("f", {"kw": kw})]
        assert match("strict", agent, reference, "exact", overrides).value is agree


def test_arguments_cut_off_by_a_token_limit_differ_and_are_noted():
    broken = [{"role": "assistant", "content": None, "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1'}}]}]  # fmt: skip
    result = match("strict", broken, [one("f", {"a": 1})])
    assert result.value is False
    assert "not JSON" in result.comment
    assert match("strict", broken, broken).value is True
    assert match("strict", broken, [one("f", {"a": 1})], "ignore").value is True


@pytest.mark.parametrize("written", ["", "{}", "null", None, {}])
def test_a_call_without_arguments_may_be_written_in_any_way(written):
    def now(arguments: Any) -> list[dict[str, Any]]:
        function = {"name": "now", "arguments": arguments}
        return [{"role": "assistant", "content": None, "tool_calls": [
            {"id": "1", "type": "function", "function": function}]}]  # fmt: skip

    assert match("strict", now(written), now("{}")).value is True
    assert match("strict", now(written), [{"name": "now"}]).value is True


def test_arguments_that_are_json_but_no_object_are_a_value():
    def listed(arguments: str) -> list[dict[str, Any]]:
        return [{"role": "assistant", "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "f", "arguments": arguments}}]}]  # fmt: skip

    for args in ("exact", "subset", "superset"):
        assert match("strict", listed("[1, 2]"), listed("[1.0,2]"), args).value is True
        assert match("strict", listed("[1]"), listed("[1, 2]"), args).value is False
        assert match("strict", listed("5"), listed("5.0"), args).value is True


def test_only_some_arguments_are_compared_when_asked():
    agent = [one("search", {"q": "x", "ts": 2})]
    reference = [one("search", {"q": "x", "ts": 1})]
    assert match("strict", agent, reference).value is False
    assert match("strict", agent, reference, "ignore").value is True
    assert match("strict", agent, reference, ignore_keys=["ts"]).value is True
    listed = match("strict", agent, reference, "exact", {"search": ["q", "opt.lang"]})
    assert listed.value is True
    assert listed.metadata["overrides"] == {
        "seen": ["search", "search: q"], "absent": ["search: opt.lang"],
    }  # fmt: skip


def test_a_key_path_that_no_call_has_is_told_by_the_result():
    agent, reference = [one("search", {"query": "b"})], [one("search", {"query": "a"})]
    result = match("strict", agent, reference, "exact", {"search": ["qurey"]})
    assert result.value is True  # the run, which knows all rows, says that it is vacuous
    assert result.metadata["overrides"]["absent"] == ["search: qurey"]


def test_a_function_that_raises_is_not_a_verdict():
    def broken(got: Any, expected: Any) -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        match("strict", [one("f", {"a": 1})], [one("f", {"a": 1})], "exact", {"f": broken})


# ------------------------------------------------------------------------------ A3: messages


@st.composite
def messages(draw: Any) -> tuple[list[list[ToolCall]], list[list[ToolCall]]]:
    call = st.builds(ToolCall, st.sampled_from("ffg"), st.sampled_from(PLAIN[:5]))
    side = st.lists(st.lists(call, max_size=3), max_size=3)
    agent = draw(side)
    if draw(st.booleans()):
        return agent, [list(draw(st.permutations(message))) for message in agent]
    return agent, draw(side)


def spoken(groups: list[list[ToolCall]]) -> Trajectory:
    return Trajectory([Step("assistant", "so", calls) for calls in groups])


@examples(100)
@given(messages(), st.sampled_from(["exact", "subset", "superset"]))
def test_calls_of_one_message_stand_in_any_order_when_asked(case, args):
    agent, reference = ([m for m in side if m] for side in case)
    n, m = sum(map(len, agent)), sum(map(len, reference))
    assume(n <= 4 and m <= 4)
    edges = oracle.edges_of(
        [call for group in agent for call in group],
        [call for group in reference for call in group],
        oracle.Rules(args),
    )
    ours = [list(range(at, at + len(g))) for at, g in zip(starts(agent), agent, strict=True)]
    theirs = [
        list(range(at, at + len(g))) for at, g in zip(starts(reference), reference, strict=True)
    ]
    given_ = spoken(case[0]), spoken(case[1])
    strict = match("strict", *given_, args, parallel="unordered")
    assert strict.value is oracle.strict_parallel(edges, ours, theirs)
    in_order = match("in_order", *given_, args, parallel="unordered")
    assert in_order.value is oracle.in_order_parallel(edges, ours, theirs)
    # The evaluator that does not look at messages is not confused by the one that does.
    assert match("strict", *given_, args).value is oracle.match("strict", edges, n, m)


def starts(groups: list[list[ToolCall]]) -> list[int]:
    return [sum(map(len, groups[:at])) for at in range(len(groups))]


def test_by_message_the_split_into_messages_counts():
    f, g = ToolCall("f", {"a": 1}), ToolCall("g")
    together, apart = spoken([[f, g]]), spoken([[f], [], [g]])
    assert match("strict", together, apart).value is True
    assert match("strict", together, apart, parallel="unordered").value is True
    for first, second in [(together, apart), (apart, together)]:
        result = match("strict", first, second, granularity="message")
        assert result.value is False
        assert "message" in result.comment
        assert match("unordered", first, second).value is True
    assert match("strict", apart, spoken([[], [f], [g]]), granularity="message").value is True
    assert match("in_order", spoken([[f], [f, g]]), together, granularity="message").value is True
    assert match("in_order", spoken([[f], [g]]), together, granularity="message").value is False


def test_two_calls_in_one_turn_then_that_one():
    orders, stock, reply = (ToolCall(name) for name in ("orders", "stock", "reply"))
    reference = spoken([[orders, stock], [reply]])
    options: dict[str, Any] = {"granularity": "message", "parallel": "unordered"}
    assert match("strict", spoken([[stock, orders], [reply]]), reference, **options).value is True
    split = spoken([[orders], [stock], [reply]])
    assert match("strict", split, reference, **options).value is False
    assert match("unordered", split, reference).value is True


def test_a_call_without_a_known_message_stands_alone():
    f, g = ToolCall("f"), ToolCall("g")
    loose = Trajectory(tool_calls=[f, g])
    assert match("strict", loose, spoken([[f], [g]]), granularity="message").value is True
    assert match("strict", loose, spoken([[f, g]]), granularity="message").value is False
    assert match("strict", loose, spoken([[g], [f]]), parallel="unordered").value is False
    plain = [one("f"), one("g")]
    assert match("strict", plain, spoken([[f], [g]]), granularity="message").value is True


@pytest.mark.parametrize("options", [{"granularity": "message"}, {"parallel": "unordered"}])
@pytest.mark.parametrize("mode", ["unordered", "subset", "superset", "any_order"])
def test_messages_concern_the_ordered_modes_only(mode, options):
    with pytest.raises(ConfigError, match="order"):
        TrajectoryMatchEvaluator(mode, **options)


# ------------------------------------------------------------------------------ A6: which calls


def test_failed_calls_count_unless_excluded_on_the_agents_side():
    down = one("pay", {"id": 1}, status="error")
    done = one("pay", {"id": 1}, status="ok")
    unsaid = one("pay", {"id": 1})
    agent, reference = [down, done], [unsaid]
    assert match("strict", agent, reference).value is False
    assert match("superset", agent, reference).value is True
    for failed, value in [("count", False), ("exclude", True)]:
        result = match("strict", agent, reference, failed=failed)
        assert result.value is value
        assert result.metadata["failed_calls"] == 1
        assert "1 call failed" in result.comment
    never = [one("pay", {"id": 1}, status="not_run"), unsaid]
    assert match("strict", never, reference, failed="exclude").value is True
    assert match("strict", [unsaid], [down], failed="exclude").value is True
    assert match("strict", [done], [done]).metadata["failed_calls"] == 0


def test_hosted_calls_are_apart_unless_counted():
    hosted = ToolCall("web_search", {"q": 1}, hosted=True)
    f, g = ToolCall("f"), ToolCall("g")
    agent = spoken([[f, hosted], [g]])
    assert match("strict", agent, spoken([[f], [g]])).value is True
    assert match("strict", agent, spoken([[f], [g]]), hosted="count").value is False
    assert match("strict", agent, agent, hosted="count").value is True
    inside = spoken([[f], [ToolCall("web_search", {"q": 1})], [g]])
    assert match("strict", agent, inside, hosted="count").value is True
    outside = Trajectory([Step("assistant", "", [f])], hosted_calls=[hosted])
    for mode in ("unordered", "superset"):
        assert match(mode, outside, inside, hosted="count").value is False
        assert match(mode, outside, spoken([[hosted, f]]), hosted="count").value is True


def test_of_nested_calls_the_outer_the_inner_or_all_count():
    inner = ToolCall("search", {"q": 1}), ToolCall("read")
    outer = ToolCall("researcher", {"task": "x"}, children=inner)
    deeper = ToolCall("boss", children=(outer,))
    agent = spoken([[deeper, ToolCall("end")]])
    found = {
        depth: match("strict", agent, agent, depth=depth).metadata["agent_tools"]
        for depth in ("top", "leaves", "all")
    }
    assert found == {
        "top": ["boss", "end"],
        "leaves": ["search", "read", "end"],
        "all": ["boss", "researcher", "search", "read", "end"],
    }
    flat = spoken([[*inner], [ToolCall("end")]])
    assert match("strict", agent, flat, depth="leaves").value is True
    assert match("strict", agent, flat).value is False
    partly = ToolCall("boss", children=(msgspec_failed(inner[0]), inner[1]))
    left = match(
        "strict", spoken([[partly]]), spoken([[inner[1]]]), depth="leaves", failed="exclude"
    )
    assert left.value is True
    assert left.metadata["failed_calls"] == 1


def msgspec_failed(call: ToolCall) -> ToolCall:
    return ToolCall(call.name, call.args, status="error")


def test_calls_that_stand_in_no_step_are_selected_all_the_same():
    f = ToolCall("f")
    loose = Trajectory(tool_calls=[ToolCall("f", status="error"), f])
    assert match("strict", loose, [one("f")], failed="exclude").value is True
    nested = Trajectory(tool_calls=[ToolCall("boss", children=(f,))])
    assert match("strict", nested, [one("f")], depth="leaves").value is True


# ------------------------------------------------------------------------------ sharing


def test_evaluators_of_one_row_do_not_confuse_their_options():
    agent, reference = run([ToolCall("f", {"a": 1})]), run([ToolCall("f", {"a": True})])
    boolean = TrajectoryMatchEvaluator("strict", "exact", {"f": {"a": {"one_of": [True]}}})
    number = TrajectoryMatchEvaluator("strict", "exact", {"f": {"a": {"one_of": [1]}}})
    assert boolean.evaluate(outputs=agent, reference_outputs=reference).value is False
    assert number.evaluate(outputs=agent, reference_outputs=reference).value is True


def test_a_reference_that_its_owner_changes_is_read_anew():
    agent, reference = run([ToolCall("f")]), [one("f")]
    evaluator = TrajectoryMatchEvaluator()
    assert evaluator.evaluate(outputs=agent, reference_outputs=reference).value is True
    reference.append(one("g"))
    assert evaluator.evaluate(outputs=agent, reference_outputs=reference).value is False


def test_what_is_graded_is_never_changed():
    import copy

    agent, reference = [one("f", {"a": [1]})], [one("f", {"a": [2]})]
    before = copy.deepcopy((agent, reference))
    for mode in oracle.MATCH_MODES:
        match(mode, agent, reference, "superset", {"f": {"a[0]": "ignore"}}, ignore_keys=["b"])
    assert (agent, reference) == before


# ------------------------------------------------------------------------------ construction


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"mode": "strikt"}, "strict"),
        ({"mode": "any-order"}, "any_order"),
        ({"tool_args_match_mode": "exat"}, "exact"),
        ({"tool_args_match_overrides": {"f": "exat"}}, "exact"),
        ({"tool_args_match_overrides": {"f": {"a": "numbr"}}}, "number"),
        ({"tool_args_match_overrides": {"f": ["a..b"]}}, "a..b"),
        ({"granularity": "messages"}, "message"),
        ({"parallel": "unorderd"}, "unordered"),
        ({"failed": "excluded"}, "exclude"),
        ({"hosted": "counted"}, "count"),
        ({"depth": "leafs"}, "leaves"),
        ({"empty": "non"}, "none"),
        ({"unicode": "nfc"}, "NFC"),
    ],
)
def test_a_choice_that_does_not_exist_is_refused_with_the_nearest(params, said):
    with pytest.raises(ConfigError) as caught:
        TrajectoryMatchEvaluator(**params)
    assert said in str(caught.value)
    assert "Did you mean" in str(caught.value) or "no path" in str(caught.value)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"deep": "no"}, "deep"),
        ({"turns": 1}, "turns"),
        ({"ignore_keys": "ts"}, "ignore_keys"),
        ({"ignore_keys": [3]}, "ignore_keys"),
        ({"tool_args_match_overrides": ["f"]}, "tool_args_match_overrides"),
        ({"tool_args_match_overrides": {3: "exact"}}, "tool_args_match_overrides"),
        ({"tool_args_match_overrides": {"f": None}}, "tool_args_match_overrides"),
        ({"name_aliases": ["x"]}, "name_aliases"),
        ({"name_aliases": {"x": 3}}, "name_aliases"),
    ],
)
def test_a_value_of_another_type_is_refused_and_not_misread(params, said):
    for kind in (TrajectoryMatchEvaluator, TrajectoryRecall):
        with pytest.raises(ConfigError, match=said):
            kind(**params)
