"""A row decoded by plan is the row decoded generically; what is not needed is not read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.dataset import NAMES, Dataset, Example, Needs, Role
from trajgrade.dataset.reader import RowReader
from trajgrade.dataset.rows import Memory
from trajgrade.registry import formats
from trajgrade.trajectory import Trajectory

MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "hello"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "1", "content": "done"},
]
FIELDS = {"context": "info.task.actions", "inputs": "info.task"}
ALL_NAMES = [name for names in NAMES.values() for name in names]
TRAJECTORIES: frozenset[Role] = frozenset({"outputs", "reference_outputs"})

traces = st.sampled_from(
    [
        MESSAGES, MESSAGES[:1], [], None, "text", [{"role": "user", "content": "x", "extra": 1}],
        [{"tool_name": "f", "tool_input": {}}], [{"role": "robot"}], {"messages": MESSAGES},
        [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{"}}]}],
        [{"role": "user", "content": "\ud800"}], 7, float("nan"),
    ]
)  # fmt: skip
others = st.sampled_from([None, 1, 2.0, "x", True, [1], {"a": None}, float("nan"), 10**400])
inner = st.dictionaries(st.sampled_from(["actions", "other"]), others | traces, max_size=2)
infos = others | st.dictionaries(st.sampled_from(["task", "x"]), inner | others, max_size=2)
objects = st.fixed_dictionaries(
    {},
    optional={
        **{name: traces if name in (*NAMES["outputs"], *NAMES["reference_outputs"]) else others
           for name in ALL_NAMES if name not in (*NAMES["id"], "trial")},
        "id": st.integers() | st.text(max_size=3) | st.none(),
        "trial": st.integers(0, 5) | st.none(),
        "messages": traces,
        "info": infos,
        "reward": others,
    },
)  # fmt: skip
lines = st.lists(objects | traces.filter(lambda row: isinstance(row, list)), min_size=1, max_size=4)
needs_of = st.builds(
    Needs,
    st.frozensets(st.sampled_from([*NAMES])),
    st.sampled_from([frozenset(), TRAJECTORIES]),
    st.sampled_from([(), ("reward",), ("info.task.actions", "info", "reward"), ("info.x[0]",)]),
)


def both(rows: list[Any], needs: Needs, fields: dict[str, str]) -> list[tuple[Example, Example]]:
    """Read each row's text by plan, and generically."""
    dataset = Dataset.load([{"id": "x"}])
    declared = Dataset.load([*rows, {"info": {"task": {"actions": []}}}], fields)._fields
    planned = RowReader(declared, needs, rows, traces=False)
    generic = RowReader(declared, needs, rows, traces=False)
    generic._plans = []
    (of,) = dataset._rows
    texts = [json.dumps(row).encode() for row in rows]
    return [
        (planned.example(text, "row", 0, 0, of), generic.example(text, "row", 0, 0, of))
        for text in texts
    ]


def comparable(example: Example) -> Any:
    """Return the example without notes, its trajectories as what they hold."""
    plain = msgspec.structs.asdict(example)
    for role in TRAJECTORIES:
        plain[role] = opened(plain[role])
    del plain["notes"]
    return repr(plain)


def opened(value: Any) -> Any:
    if isinstance(value, list):
        try:
            value = Trajectory.from_any(value)
        except ValueError:
            return value
    return value.to_dict() if isinstance(value, Trajectory) else value


@given(lines, needs_of, st.sampled_from([{}, FIELDS]))
def test_a_plan_reads_a_row_as_the_generic_reading_does(rows, needs: Needs, fields):
    for planned, generic in both(rows, needs, fields):
        assert comparable(planned) == comparable(generic)


def test_what_is_needed_as_a_trajectory_comes_as_one(tmp_path: Path):
    row = {"id": "a", "outputs": MESSAGES, "reference_outputs": MESSAGES[1:]}
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    (tmp_path / "a.json").write_text(json.dumps([row]))
    for name in ("a.jsonl", "a.json"):
        (example,) = Dataset.load(tmp_path / name).examples(Needs(TRAJECTORIES, TRAJECTORIES))
        assert isinstance(example.outputs, Trajectory)
        assert example.outputs == Trajectory.from_any(MESSAGES)
        assert [call.name for call in example.reference_outputs.tool_calls] == ["f"]
        (example,) = Dataset.load(tmp_path / name).examples(Needs(TRAJECTORIES))
        assert (example.outputs, example.reference_outputs) == (MESSAGES, MESSAGES[1:])


def test_a_row_of_another_shape_than_the_first_ones_is_read_all_the_same(tmp_path: Path):
    odd = [{"role": "user", "content": "x", "custom": 1}]
    rows = [
        {"id": "a", "outputs": MESSAGES},
        {"id": "b", "outputs": odd},
        {"id": "c", "outputs": MESSAGES},
        {"id": "d", "outputs": "text"},
        {"id": "e", "outputs": None, "output": "text"},
        {"id": "f"},
    ]
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    needs = Needs(frozenset({"outputs"}), frozenset({"outputs"}))
    a, b, c, d, e, f = Dataset.load(tmp_path / "a.jsonl").examples(needs)
    assert isinstance(a.outputs, Trajectory)
    assert isinstance(c.outputs, Trajectory)
    assert (b.outputs, d.outputs) == (odd, "text")
    assert (e.outputs, f.outputs) == (None, None)


def test_a_role_read_both_ways_is_not_made_a_trajectory(tmp_path: Path):
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "a", "trace": MESSAGES}))
    fields = {"outputs": "trace", "inputs": "trace"}
    needs = Needs(frozenset({"outputs", "inputs"}), frozenset({"outputs"}))
    (example,) = Dataset.load(tmp_path / "a.jsonl", fields).examples(needs)
    assert (example.outputs, example.inputs) == (MESSAGES, MESSAGES)


def test_fields_that_are_not_needed_are_stepped_over(tmp_path: Path):
    """What a plan skips is not even checked: a number out of range, text that is no UTF-8."""
    path = tmp_path / "a.jsonl"
    fine = b"".join(b'{"id": %d, "response": "x"}\n' % number for number in range(30))
    path.write_bytes(fine + b'{"id": "odd", "outputs": [1e999, "\xff"]}\n')
    *_, last = Dataset.load(path).examples(Needs(frozenset({"response"})))
    assert (last.id, last.response, last.notes) == ("odd", None, ())


@pytest.mark.parametrize("name", ["openai_chat"])
def test_a_format_that_offers_a_strict_type_reads_it_as_it_reads_the_data(name: str):
    reader = formats.find(name)
    strict = msgspec.json.decode(json.dumps(MESSAGES), type=reader.wire)
    assert reader.read_wire(strict) == Trajectory.from_any(MESSAGES, name)


def test_rows_in_memory_are_not_changed():
    rows = [{"id": 1, "outputs": MESSAGES}]
    before = json.dumps(rows)
    list(Dataset.load(rows).examples(Needs(TRAJECTORIES, TRAJECTORIES)))
    assert json.dumps(rows) == before
    assert [row for _, row in Memory(rows)] == rows
