"""Calls and trajectories for hypothesis, of so few names, keys and values that collisions abound."""

from __future__ import annotations

import math
from typing import Any

import hypothesis
from hypothesis import strategies as st

from trajgrade.trajectory import Step, ToolCall, Trajectory

LEAVES: tuple[Any, ...] = (
    True, False, 1, 1.0, 0, 0.0, -0.0, "1", "", "true", None, math.nan, math.inf, -math.inf,
    2**53, 2**53 + 1, float(2**53), 2**60 + 1, float(2**60), 0.1, 10**400,
    "é", "e\u0301", "\ud800", "\U0001f600",
)  # fmt: skip

values = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=6,
)

# Arguments that differ from each other in one thing each.
ARGS: tuple[Any, ...] = (
    {}, None, "", [], "no JSON", "{", [1], [1.0],
    {"a": 1}, {"a": 1.0}, {"a": True}, {"a": "1"}, {"a": None}, {"b": None}, {"a": 2},
    {"a": 1, "b": 1}, {"b": 1.0, "a": 1}, {"a": 1, "b": 2}, {"a": 2, "b": 1}, {"b": 1},
    {"a": 1, "b": 1, "c": 1}, {"a": 1, "c": 1}, {"b": 1, "c": 1},
    {"a": math.nan}, {"a": 2**53}, {"a": float(2**53)}, {"a": 2**53 + 1},
    {"a": {"x": 1}}, {"a": {"x": 1, "y": 2}}, {"a": {"x": True}}, {"a": {}},
    {"a": [1, 2]}, {"a": [2, 1]}, {"a": [1, 2, 2]}, {"a": [{"x": 1}]}, {"a": [{"x": 1, "y": 2}]},
)  # fmt: skip

PLAIN: tuple[Any, ...] = (
    {}, {"a": 1}, {"a": 2}, {"b": 1}, {"a": 1, "b": 1}, {"a": 2, "b": 1}, {"a": 1, "b": 1, "c": 1},
)  # fmt: skip
"""Arguments that many are part of others of, for the matching to have something to choose."""


@st.composite
def sides(
    draw: Any,
    *,
    most: int = 5,
    args: tuple[Any, ...] = ARGS,
    unknown: bool = False,
    names: tuple[str, ...] = ("f", "f", "f", "g"),
) -> tuple[list[ToolCall], list[ToolCall]]:
    """Draw the agent's and the reference's calls from one small pool of arguments."""
    pool = draw(st.lists(st.sampled_from(args) | st.sampled_from(PLAIN), min_size=1, max_size=4))
    states = ("ok", "ok", "unknown") if unknown else ("ok",)
    call = st.builds(
        lambda name, args, state: ToolCall(name, None if state == "unknown" else args, state),
        st.sampled_from(names),
        st.sampled_from(pool),
        st.sampled_from(states),
    )
    calls = st.lists(call, max_size=most)
    if draw(st.booleans()):
        agent = draw(calls)
        changed = draw(st.permutations(agent))[: draw(st.integers(0, most))]
        return agent, changed + draw(st.lists(call, max_size=most - len(changed)))
    return draw(calls), draw(calls)


def run(calls: list[ToolCall]) -> Trajectory:
    """One call a message."""
    return Trajectory([Step("assistant", "", [call]) for call in calls])


def calls_of(*args: Any, name: str = "f") -> list[ToolCall]:
    return [ToolCall(name, one) for one in args]


def letters(text: str) -> Trajectory:
    """Each letter a call of the tool of that name, without arguments."""
    return run([ToolCall(letter) for letter in text])


def examples(number: int) -> hypothesis.settings:
    """That many examples under the profile `ci`, and as many times more as another one has."""
    return hypothesis.settings(max_examples=number * hypothesis.settings().max_examples // 100)
