"""Runs to report on: a plain one, one with trials, one with errors, one whose texts are hostile."""

from __future__ import annotations

from typing import Any

import pytest

import trajgrade
from trajgrade.run import Run

HOSTILE = (
    "[red]x[/red] \x1b[31m\x1b]0;title\x07 \r\n\u202e`a`|<b>@all [l](http://x) \u200b=1 \ud800"
)


def calls(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "args": {"city": "Oslo"}} for name in names]


def row(name: str, outputs: Any, reference: Any, **more: Any) -> dict[str, Any]:
    return {"id": name, "outputs": outputs, "reference_outputs": reference, **more}


ROWS = [
    row("right", calls("find", "book"), calls("find", "book")),
    row("swapped", calls("book", "find"), calls("find", "book")),
    row("other", [{"name": "find", "args": {"city": "Rome"}}], calls("find")),
    row("silent", [], calls("find")),
]


@pytest.fixture
def plain() -> Run:
    return trajgrade.evaluate(
        ROWS,
        ["trajectory_match", "trajectory_f1"],
        thresholds={"trajectory_match": 0.25, "trajectory_f1": ">= 0.9"},
        name="plain",
    )


@pytest.fixture
def repeated() -> Run:
    rewards = {"a": [1, 1, 0], "b": [1, 0, 0], "c": [1, 1]}
    rows = [
        {"id": name, "trial": trial, "reward": reward}
        for name, given in rewards.items()
        for trial, reward in enumerate(given)
    ]
    return trajgrade.evaluate(rows, [{"field": {"path": "reward", "pass": 1}}])


@pytest.fixture
def broken() -> Run:
    """One of four rows has a score: B160."""

    rows = [{"id": str(n), "outputs": "fine" if n == 0 else "x"} for n in range(4)]
    return trajgrade.evaluate(rows, [Quality()], thresholds={"quality": 0.5})


class Quality:
    """A judge that runs out of quota."""

    key = "quality"
    range = (0.0, 1.0)
    direction = "higher"

    def evaluate(self, *, outputs: Any = None, **_: Any) -> float:
        if outputs != "fine":
            raise RuntimeError("quota")
        return 1.0


@pytest.fixture
def hostile() -> Run:
    call = [{"name": HOSTILE, "args": {HOSTILE: HOSTILE}}]
    return trajgrade.evaluate(
        [row(HOSTILE, call, [{"name": HOSTILE, "args": {HOSTILE: 1}}]), row("-2", call, call)],
        [{"name": "trajectory_match", "key": HOSTILE}, "trajectory_alignment"],
    )
