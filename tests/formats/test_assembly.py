"""Results belong to calls by id and position; ids never merge calls (SEMANTICS A6)."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.formats.assembly import Assembly, status_of
from trajgrade.formats.chat_wire import WIRE, read_wire

ids = st.sampled_from(["a", "b", None])
names = st.sampled_from(["f", "g"])
events = st.lists(
    st.tuples(st.just("call"), ids, names) | st.tuples(st.just("result"), ids, names | st.none()),
    max_size=12,
)


def expected(happened: list[tuple[str, Any, Any]]) -> list[int | None]:
    """For each call, the number of the event that is its result: the rule, read slowly."""
    open_calls: list[tuple[int, Any, str]] = []
    found: list[int | None] = []
    for at, (kind, key, name) in enumerate(happened):
        if kind == "call":
            open_calls.append((len(found), key, name))
            found.append(None)
            continue
        same = [call for call in open_calls if call[1] == key]
        if key is None or not same:
            bare = [call for call in open_calls if call[1] is None]
            same = [call for call in bare if name is None or call[2] == name]
            if key is None and not bare:
                same = [call for call in open_calls if name is None or call[2] == name]
        if same:
            open_calls.remove(same[0])
            found[same[0][0]] = at
    return found


@given(events)
def test_a_result_belongs_to_the_first_open_call_of_its_id(happened: Any):
    assembly = Assembly("chat")
    for at, (kind, key, name) in enumerate(happened):
        if kind == "call":
            assembly.call(name, None, key)
        else:
            assembly.result(at, key, name)
    assert [call.result for call in assembly.trajectory().tool_calls] == expected(happened)


@given(events)
def test_chat_messages_pair_results_by_the_same_rule(happened: Any):
    messages = [
        {"role": "assistant", "tool_calls": [{"id": key, "function": {"name": name}}]}
        if kind == "call"
        else {"role": "tool", "tool_call_id": key, "name": name, "content": str(at)}
        for at, (kind, key, name) in enumerate(happened)
    ]
    calls = read_wire(msgspec.convert(messages, WIRE)).tool_calls
    wanted = [None if at is None else str(at) for at in expected(happened)]
    assert [call.result for call in calls] == wanted


def test_many_results_take_linear_time():
    assembly = Assembly("chat")
    for number in range(20_000):
        assembly.call("f", None, f"id{number}")
    for number in range(20_000):
        assembly.result(number)
    assert [call.result for call in assembly.trajectory().tool_calls] == list(range(20_000))


def test_a_result_without_a_call_is_noted():
    assembly = Assembly("chat")
    assembly.result("x", "a")
    assert assembly.trajectory().notes == ("a result of id 'a' belongs to no call before it",)


def test_the_words_that_traces_have_for_success_and_failure():
    words = ["success", "completed", "error", "failed", "cancelled", "whatever", None, 5]
    assert [status_of(word) for word in words] == [
        "ok", "ok", "error", "error", "not_run", "unknown", "unknown", "unknown",
    ]  # fmt: skip
