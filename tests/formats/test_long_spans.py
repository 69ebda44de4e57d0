"""Long runs of spans: the time to read one grows with its length, not with its square."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from trajgrade.formats import span_runs
from trajgrade.trajectory import Trajectory


def attribute(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value}}


def export(calls: int, *, ids: bool = True) -> dict[str, Any]:
    """A model call and a tool span for each call, all of one tool."""
    spans = []
    for at in range(calls):
        key = f"call_{at}"
        asked = [
            attribute("gen_ai.operation.name", "chat"),
            attribute("gen_ai.completion.0.role", "assistant"),
            attribute("gen_ai.completion.0.tool_calls.0.name", "f"),
            attribute("gen_ai.completion.0.tool_calls.0.arguments", f'{{"n": {at}}}'),
        ]
        ran = [
            attribute("gen_ai.operation.name", "execute_tool"),
            attribute("gen_ai.tool.name", "f"),
            attribute("gen_ai.tool.call.arguments", f'{{"n": {at}}}'),
            attribute("gen_ai.tool.call.result", f"r{at}"),
        ]
        if ids:
            asked.append(attribute("gen_ai.completion.0.tool_calls.0.id", key))
            ran.append(attribute("gen_ai.tool.call.id", key))
        for number, attributes in enumerate((asked, ran)):
            spans.append({
                "traceId": "t", "spanId": f"{at}.{number}", "name": "span",
                "startTimeUnixNano": str(10**18 + at * 1000 + number), "attributes": attributes,
            })  # fmt: skip
    return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


def test_each_call_of_a_long_run_has_its_own_result():
    for ids in (True, False):
        run = Trajectory.from_any(export(300, ids=ids))
        assert [(call.args, call.result) for call in run.tool_calls] == [
            ({"n": at}, f"r{at}") for at in range(300)
        ]


@pytest.mark.parametrize("ids", [True, False])
def test_finding_the_spans_of_calls_takes_steps_in_proportion(
    ids: bool, monkeypatch: pytest.MonkeyPatch
):
    looks: Counter[str] = Counter()

    def counted(name: str) -> Any:
        real = getattr(span_runs, name)

        def call(*given: Any) -> Any:
            looks[name] += 1
            return real(*given)

        return call

    monkeypatch.setattr(span_runs, "before", counted("before"))
    for number in (100, 1000):
        looks.clear()
        Trajectory.from_any(export(number, ids=ids))
        assert looks["before"] < 10 * number
