"""What a raw trace looks like from outside, and the objects in it."""

from __future__ import annotations

import copy
from collections import OrderedDict
from dataclasses import dataclass
from types import MappingProxyType, SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest

from trajgrade.errors import TraceError
from trajgrade.glimpse import Glimpse, plain
from trajgrade.trajectory import CanonicalTrace, Step, Trajectory


class Model:
    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self) -> dict[str, Any]:
        return self.fields


@dataclass
class Record:
    name: str
    args: Any


class Frozen(msgspec.Struct):
    a: int


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (Model(a=1), {"a": 1}),
        (Record("f", {}), {"name": "f", "args": {}}),
        (Frozen(1), {"a": 1}),
        (SimpleNamespace(name="f", args={}, other=5), {"name": "f", "args": {}}),
        (np.array([1, 2]), [1, 2]),
        ((1, 2), [1, 2]),
        (OrderedDict(a=Model(b=1)), {"a": {"b": 1}}),
        (MappingProxyType({"a": 1}), {"a": 1}),
        (Model(content=[Model(a=1)]), {"content": [{"a": 1}]}),
        ({"content": [Model(a=1)]}, {"content": [{"a": 1}]}),
        ([{"content": [{"parts": [Model(a=1)]}]}], [{"content": [{"parts": [{"a": 1}]}]}]),
        (np.array([{"a": 1}], dtype=object), [{"a": 1}]),
    ],
)
def test_an_object_is_replaced_by_what_it_says_it_holds(item: Any, said: Any):
    assert plain(item) == said


@pytest.mark.parametrize("data", [None, "x", 5, [], {}, [{"a": [1]}], {"a": {"b": [{}]}}])
def test_data_without_such_objects_is_returned_as_it_is(data: Any):
    assert plain(data) is data


def test_the_data_is_not_changed():
    data = [{"role": "user", "content": [Model(a=1)]}]
    before = copy.copy(data[0])
    plain(data)
    assert data[0] == before


def test_every_object_says_its_own():
    steps = [Step("user", str(number)) for number in range(100)]
    assert [item["content"] for item in plain(steps)] == [str(number) for number in range(100)]


def test_a_circle_ends():
    circle: list[Any] = [Model(a=1)]
    circle.extend([circle] * 1000)
    assert len(plain(circle)) == 1001


def test_an_object_that_raises_is_a_trace_error():
    class Broken:
        name = "f"

        @property
        def args(self) -> Any:
            raise ZeroDivisionError("no args")

    with pytest.raises(TraceError, match="Broken cannot say what it holds: ZeroDivisionError"):
        plain(Broken())


def test_a_canonical_trace_is_read_as_object_and_as_dict():
    turns = [{"speaker": "User", "text": "q"}, {"speaker": "Agent (Action)", "text": "f(a=1)"}]
    trace = CanonicalTrace(id="t1", conversation=turns, extra_fields={"x": 1})
    for shape in (trace, trace.to_dict(), SimpleNamespace(id="t1", conversation=turns)):
        trajectory = Trajectory.from_any(shape)
        assert trajectory.id == "t1"
        assert [(call.name, call.args) for call in trajectory.tool_calls] == [("f", {"a": 1})]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"b": 1, "a": 2}, "an object with the keys ['a', 'b']"),
        ([], "an empty list"),
        (
            [{"role": "x", "type": "y"}],
            "a list of 1 objects with the keys ['role', 'type'], roles 'x'",
        ),
        ([1, "a"], "a list of 2 items of type int, str"),
        (5, "int 5"),
    ],
)
def test_a_message_says_what_was_seen(data: Any, said: str):
    assert str(Glimpse(data)).startswith(said)


def test_what_was_seen_is_said_briefly():
    assert len(str(Glimpse([{"k" * 10_000: 1, "role": "r" * 10_000}] * 1000))) < 500
