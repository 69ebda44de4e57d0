"""A trajectory as a judge reads it: all of it, or what was left out is said."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from trajgrade.judging.rendering import rendered
from trajgrade.trajectory import Step, ToolCall, Trajectory

FLIGHT = Trajectory(
    [
        Step("user", "Find me a flight."),
        Step(
            "assistant",
            "I will look.",
            [
                ToolCall("search", {"to": "LIS"}, result="3 flights"),
                ToolCall("book", {"id": 3}, result="no such flight", status="error"),
                ToolCall("pay", None, "unknown", agent="cashier", status="not_run"),
            ],
        ),
    ]
)


def test_a_short_trajectory_is_shown_whole():
    assert rendered(FLIGHT) == (
        (
            "[1] user: Find me a flight.\n"
            "[2] assistant: I will look.\n"
            '    call 1: search({"to":"LIS"})\n'
            "    result: 3 flights\n"
            '    call 2: book({"id":3})\n'
            "    failed: no such flight\n"
            "    call 3 by cashier: pay(not recorded)\n"
            "    was not run"
        ),
        {},
    )


TRAJECTORIES = st.lists(st.integers(0, 4000), min_size=1, max_size=60).map(
    lambda sizes: Trajectory([Step("assistant", f"{n}" + "x" * s) for n, s in enumerate(sizes)])
)


@given(TRAJECTORIES, st.integers(300, 4000))
def test_it_keeps_to_the_budget_and_says_what_is_left_out(trajectory, budget):
    found = rendered(trajectory, budget=budget)
    assert len(found.text) <= budget * 4 + 200
    whole = len(rendered(trajectory, budget=10**9).text)
    assert bool(found.left_out) == (whole > budget * 4) or whole <= budget * 4
    shown = set(map(int, re.findall(r"^\[(\d+)\]", found.text, re.MULTILINE)))
    gaps = re.findall(r"\[… steps (\d+) to (\d+) left out …\]", found.text)
    hidden = {n for first, last in gaps for n in range(int(first), int(last) + 1)}
    assert shown | hidden == set(range(1, len(trajectory.steps) + 1))
    assert not shown & hidden
    assert found.left_out.get("steps", 0) == len(hidden)


def test_the_longest_texts_are_cut_first_and_keep_both_ends():
    trajectory = Trajectory(
        [
            Step("user", "short"),
            Step("tool", "BEGIN" + "x" * 9000 + "END"),
            Step("assistant", "bye"),
        ]
    )
    found = rendered(trajectory, budget=500)
    assert "[1] user: short" in found.text
    assert "BEGIN" in found.text
    assert "END" in found.text
    assert re.search(r"… [\d,]+ characters left out …", found.text)
    assert found.left_out["steps"] == 0


def test_beginning_and_end_stay_where_steps_are_left_out():
    trajectory = Trajectory([Step("assistant", f"step {n} " + "x" * 150) for n in range(500)])
    text = rendered(trajectory, budget=1000).text
    assert "step 0 " in text
    assert "step 499 " in text
    assert re.search(r"\[… steps \d+ to \d+ left out …\]", text)


def test_secrets_are_taken_out_before_anything_is_cut():
    secret = "sk-" + "a1" * 400
    trajectory = Trajectory([Step("tool", "x" * 700 + secret + "y" * 9000)])
    found = rendered(trajectory, budget=300, redact=lambda text: text.replace(secret, "[key]"))
    assert "a1a1" not in found.text
