"""Roles, ids, trials and errors: what a dataset makes of its rows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd
import pytest

import trajgrade
from tests.conftest import needs_shared
from trajgrade.dataset import NAMES, Dataset, Example, Needs, list_samples, load_sample
from trajgrade.errors import ConfigError, DatasetError, UnknownNameError
from trajgrade.trajectory import CanonicalTrace, Step, Trajectory

MESSAGES = [
    {"role": "user", "content": "hello"},
    {
        "role": "assistant",
        "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}],
    },
]
CALLS = [{"tool_name": "f", "tool_input": {}}]


def write(path: Path, *rows: Any) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def only(source: Any, **options: Any) -> Example:
    (example,) = Dataset.load(source, **options)
    return example


# ------------------------------------------------------------------------------ known names


def test_vertex_s_columns_are_known():
    row = {
        "prompt": "p", "response": "r", "reference": "f", "context": "c",
        "predicted_trajectory": CALLS, "reference_trajectory": [],
    }  # fmt: skip
    example = only([row])
    assert (example.inputs, example.response, example.reference) == ("p", "r", "f")
    assert (example.outputs, example.reference_outputs, example.context) == (CALLS, [], "c")


def test_potato_s_fields_are_known():
    row = {"id": "a", "inputs": {"q": 1}, "outputs": MESSAGES, "reference_outputs": CALLS}
    example = only([row])
    assert (example.id, example.inputs) == ("a", {"q": 1})
    assert (example.outputs, example.reference_outputs) == (MESSAGES, CALLS)


@pytest.mark.parametrize(("role", "name"), [(r, n) for r, names in NAMES.items() for n in names])
def test_every_known_name_gives_its_role(role: str, name: str):
    value: Any = 3 if role == "trial" else "x"
    assert getattr(only([{name: value}]), role) == value


def test_of_two_names_of_one_role_the_first_that_is_a_column_counts_for_all_rows():
    rows = [
        {"outputs": "b"},
        {"outputs": "b", "predicted_trajectory": CALLS},
        {"outputs": "b", "predicted_trajectory": None},
        {"outputs": None, "output": "c"},
    ]
    assert [example.outputs for example in Dataset.load(rows)] == [None, CALLS, None, None]
    assert [example.outputs for example in Dataset.load(rows[:1])] == ["b"]


def test_names_that_no_early_row_has_are_read_in_later_ones():
    rows = [*({"id": n} for n in range(30)), {"id": 30, "output": "x"}]
    assert [example.outputs for example in Dataset.load(rows)][-2:] == [None, "x"]


def test_the_column_of_the_output_is_never_the_reference(tmp_path: Path):
    """An empty `expected` is no reference; 1 of the other 2 answers is right."""
    (tmp_path / "a.csv").write_text(
        "question,answer,expected\nQ1,Paris,\nQ2,Rome,Rome\nQ3,Oslo,Bergen\n"
    )
    rows = [
        {"question": "Q1", "answer": "Paris"},
        {"question": "Q2", "answer": "Rome", "expected": "Rome"},
        {"question": "Q3", "answer": "Oslo", "expected": "Bergen"},
    ]
    lines = write(tmp_path / "a.jsonl", *rows)
    for source in (tmp_path / "a.csv", lines, rows):
        run = trajgrade.evaluate(source, ["exact_match"], fields={"outputs": "answer"})
        summary = run.summary["exact_match"]
        assert (summary.mean, summary.n_scored, summary.kinds) == (0.5, 2, {"no_reference": 1})
    only_answers = Dataset.load([{"answer": "Paris"}], {"outputs": "answer"})
    assert next(iter(only_answers)).reference_outputs is None


def test_what_lies_in_a_column_that_holds_the_output_too_is_no_reference_by_its_name():
    example = only([{"answer": {"trace": CALLS, "n": 1}}], fields={"outputs": "answer.trace"})
    assert (example.outputs, example.reference_outputs) == (CALLS, None)
    fields = {"reference_outputs": "inputs.gold"}
    example = only([{"inputs": {"q": 1, "gold": CALLS}}], fields=fields)
    assert (example.inputs, example.reference_outputs) == ({"q": 1, "gold": CALLS}, CALLS)


@pytest.mark.parametrize("name", ["outputs", "output"])
def test_an_empty_cell_is_not_filled_from_another_column_of_its_role(tmp_path: Path, name: str):
    calls = json.dumps(CALLS).replace('"', '""')
    (tmp_path / "a.csv").write_text(
        f'id,predicted_trajectory,{name},expected_output,answer\n1,"{calls}",x,"{calls}",said\n'
        "2,,text,,said\n"
    )
    _, second = Dataset.load(tmp_path / "a.csv")
    assert (second.outputs, second.reference_outputs) == (None, None)


def test_a_prompt_in_messages_is_not_the_trace_of_a_row_without_output():
    rows = [{"messages": MESSAGES, "outputs": "x"}, {"messages": MESSAGES, "outputs": None}]
    assert [example.outputs for example in Dataset.load(rows)] == ["x", None]
    example = only([{"messages": MESSAGES}], fields={"inputs": "messages"})
    assert (example.inputs, example.outputs) == (MESSAGES, None)


def test_missing_null_and_nan_are_none_and_an_empty_list_is_not():
    rows = [{"inputs": "x"}, {"outputs": None}, {"outputs": float("nan")}, {"outputs": []}]
    assert [example.outputs for example in Dataset.load(rows)] == [None, None, None, []]


# ------------------------------------------------------------------------------ declared fields


def test_a_dotted_path_reaches_into_objects_and_lists():
    row = {"info": {"task": [{"actions": CALLS}]}, "a.b": "dot", "outputs": "x"}
    fields = {"reference_outputs": "info.task[0].actions", "context": "a.b", "inputs": r"a\.b"}
    example = only([row], fields=fields)
    assert (example.reference_outputs, example.context, example.inputs) == (CALLS, "dot", "dot")
    assert example.outputs == "x"  # the other roles keep their known names


def test_a_declared_field_comes_instead_of_the_known_names():
    rows = [{"outputs": "known", "mine": "own"}, {"outputs": "known"}]
    found = [example.outputs for example in Dataset.load(rows, {"outputs": "mine"})]
    assert found == ["own", None]


def test_a_path_into_json_in_a_csv_cell_is_followed(tmp_path: Path):
    (tmp_path / "a.csv").write_text('id,info\n1,"{""task"": {""actions"": [1]}}"\n2,\n')
    dataset = Dataset.load(tmp_path / "a.csv", {"reference_outputs": "info.task.actions"})
    assert [example.reference_outputs for example in dataset] == [[1], None]


def test_a_declared_field_that_is_in_no_row_is_an_error_with_the_nearest(tmp_path: Path):
    path = write(tmp_path / "a.jsonl", {"id": 1, "info": {"task": {"actions": []}}, "traj": []})
    wrong = {"outputs": "trag", "reference_outputs": "info.task.action"}
    with pytest.raises(DatasetError) as caught:
        Dataset.load(path, wrong)
    first, second = str(caught.value).splitlines()
    assert "a.jsonl: fields: outputs: no row has the field 'trag'. Did you mean 'traj'?" in first
    assert "Fields found: id, info, traj" in first
    assert "Did you mean 'info.task.actions'?" in second


def test_a_declared_field_that_only_a_late_row_has_is_found(tmp_path: Path):
    rows = [{"id": n} for n in range(200)] + [{"id": 200, "late": {"x": 1}}]
    dataset = Dataset.load(write(tmp_path / "a.jsonl", *rows), {"outputs": "late.x"})
    assert [example.outputs for example in dataset][-2:] == [None, 1]


@pytest.mark.parametrize(
    ("fields", "message", "kind"),
    [
        ({"output": "a"}, "unknown role 'output'. Did you mean 'outputs'", DatasetError),
        ({"outputs": 3}, "expected a dotted path, got 3", DatasetError),
        ({"outputs": "a..b"}, "is no path", ConfigError),
    ],
)
def test_a_wrong_mapping_is_an_error(fields, message: str, kind: type[Exception]):
    with pytest.raises(kind, match=message):
        Dataset.load([{"a": 1}], fields)


# ------------------------------------------------------------------------------ ids and trials


def test_rows_without_id_get_stable_distinct_ids(tmp_path: Path):
    (tmp_path / "a.csv").write_text("prompt,response\na,b\na,b\na,b\n")
    ids = [example.id for example in Dataset.load(tmp_path / "a.csv")]
    assert ids == ["#0", "#1", "#2"]
    assert ids == [example.id for example in Dataset.load(tmp_path / "a.csv")]


def test_rows_without_id_of_several_files_bear_the_file_s_name(tmp_path: Path):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "a.jsonl", {"response": "r"}, {"response": "r"})
    ids = [example.id for example in Dataset.load(tmp_path)]
    assert ids == ["x/a.jsonl#0", "x/a.jsonl#1", "y/a.jsonl#0", "y/a.jsonl#1"]


def test_ids_are_text():
    rows = [{"id": 7}, {"id": 8.0}, {"id": "x"}, {"id": 1.5}, {"id": 10**30}, {"id": None}]
    ids = [example.id for example in Dataset.load(rows)]
    assert ids == ["7", "8", "x", "1.5", str(10**30), "#5"]


def test_rows_that_share_an_id_and_differ_in_trial_are_trials():
    rows = [{"task_id": 1, "trial": 0}, {"task_id": 1, "trial": "1"}, {"task_id": 1, "trial": 2.0}]
    assert [(e.id, e.trial) for e in Dataset.load(rows)] == [("1", 0), ("1", 1), ("1", 2)]


@pytest.mark.parametrize(
    ("trials", "words"), [(({}, {}), "no trial"), (({"trial": 3}, {"trial": 3}), "trial 3")]
)
def test_two_rows_of_one_id_and_trial_are_an_error_that_names_both(
    tmp_path: Path, trials, words: str
):
    first, second = trials
    path = write(tmp_path / "a.jsonl", {"id": "a", **first}, {"id": "b"}, {"id": "a", **second})
    dataset = Dataset.load(path)
    with pytest.raises(DatasetError) as caught:
        list(dataset.examples())
    assert f"a.jsonl line 3 has the id 'a' and {words}, as has " in str(caught.value)
    assert "a.jsonl line 1. Repeats of one example need a trial each" in str(caught.value)


def test_an_id_can_be_left_out_to_number_the_rows():
    rows = [{"id": "a"}, {"id": "a"}]
    assert [e.id for e in Dataset.load(rows, {"id": None})] == ["#0", "#1"]


def test_a_row_without_a_declared_id_is_an_error(tmp_path: Path):
    path = write(tmp_path / "a.jsonl", {"key": "x"}, {"kez": "y"})
    with pytest.raises(DatasetError, match=r"a\.jsonl line 2, field 'key': the row has no id"):
        list(Dataset.load(path, {"id": "key"}))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": ["x"]}, r"row 0: the id must be a text or a number, not \['x'\]"),
        ({"id": True}, "the id must be a text or a number, not True"),
        ({"trial": "first"}, "row 0: the trial must be a whole number, not 'first'"),
        ({"trial": 1.5}, "the trial must be a whole number, not 1.5"),
        ({"trial": True}, "the trial must be a whole number, not True"),
    ],
)
def test_an_id_or_trial_of_another_type_is_an_error(row, message: str):
    with pytest.raises(DatasetError, match=message):
        list(Dataset.load([row]))


# ------------------------------------------------------------------------------ traces as rows


@pytest.mark.parametrize(
    "row", [{"messages": MESSAGES}, {"id": "a", "conversation": [{"speaker": "User", "text": "x"}]}]
)
def test_a_row_that_is_a_trace_is_the_outputs(tmp_path: Path, row):
    assert only([row]).outputs == row
    assert only(write(tmp_path / "a.jsonl", row)).outputs == row


def test_a_row_that_is_a_list_of_messages_is_the_outputs(tmp_path: Path):
    assert only([MESSAGES]).outputs == MESSAGES
    assert only(write(tmp_path / "a.jsonl", MESSAGES)).outputs == MESSAGES


def test_a_trace_that_says_what_was_asked_is_the_outputs():
    row = {
        "question": "What is 6 × 7?",
        "ground_truth": "42",
        "is_correct": False,
        "history": [
            {"content": "What is 6 × 7?", "role": "user", "name": "Boss_Expert"},
            {"content": "41", "role": "assistant", "name": "Maths_Expert"},
        ],
    }
    assert Trajectory.from_any(only([row]).outputs).final_response == "41"
    assert only([row]).inputs == "What is 6 × 7?"
    assert only([{"question": "What is 6 × 7?", "note": "x"}]).outputs is None


def test_a_trace_in_a_row_with_outputs_or_a_declared_field_is_no_outputs():
    assert only([{"messages": MESSAGES, "outputs": "x"}]).outputs == "x"
    fields = {"inputs": "messages", "outputs": "answer"}
    assert only([{"messages": MESSAGES, "answer": "x"}], fields=fields).outputs == "x"


def test_traces_of_the_program_are_rows():
    trajectory = Trajectory([Step("assistant", "hi")], id="t")
    trace = CanonicalTrace(id="c", conversation=[{"speaker": "Agent", "text": "hi"}])
    (first,), (second,) = Dataset.load([trajectory]), Dataset.load([trace])
    assert (first.id, first.outputs) == ("t", trajectory)
    assert (second.id, second.outputs) == ("c", trace.to_dict())


def test_the_messages_of_one_trace_are_no_rows():
    with pytest.raises(DatasetError, match=r"the rows \(role, content.*are the parts of one trace"):
        Dataset.load(MESSAGES)


# ------------------------------------------------------------------------------ sources in memory


def test_rows_may_be_any_mapping_an_example_a_generator_or_a_dataset():
    rows = [{"id": "a", "outputs": "x"}]
    sources: list[Any] = [
        rows, iter(rows), (row for row in rows), {"id": ["a"], "outputs": ["x"]},
        [MappingProxyType(rows[0])], [Example(id="a", outputs="x")], Dataset.load(rows),
        pd.DataFrame(rows), {"examples": rows}, tuple(rows),
    ]  # fmt: skip
    for source in sources:
        dataset = Dataset.load(source)
        for _ in range(2):  # each walk begins anew
            assert [(e.id, e.outputs, e.row) for e in dataset] == [("a", "x", 0)]


def test_a_dataset_can_be_loaded_with_other_fields():
    dataset = Dataset.load([{"id": "a", "mine": "x", "yours": "y"}], {"outputs": "mine"})
    other = Dataset.load(dataset, {"reference_outputs": "yours"})
    assert [(e.outputs, e.reference_outputs) for e in other] == [("x", "y")]
    assert [(e.outputs, e.reference_outputs) for e in dataset] == [("x", None)]


def test_rows_without_any_known_field_come_out_too(tmp_path: Path):
    (tmp_path / "a.csv").write_text("id,topic\n1,\n2,x\n")
    examples = list(Dataset.load(tmp_path / "a.csv"))
    assert [(e.id, e.inputs, e.outputs) for e in examples] == [("1", None, None), ("2", None, None)]


def test_an_example_has_the_stored_values_that_are_asked_for():
    rows = [Example(id="a", stored={"score": 1}), Example(id="b")]
    found = [e.stored for e in Dataset.load(rows).examples(Needs(stored=("score",)))]
    assert found == [{"score": 1}, {"score": None}]


@pytest.mark.parametrize("source", [None, 3, b"a.json", object(), {1, 2}])
def test_what_is_no_dataset_is_an_error(source: Any):
    with pytest.raises(DatasetError, match="expected"):
        list(Dataset.load(source))


@pytest.mark.parametrize("row", ["text", 3, None, [1], [["x"]], ["a", {}]])
def test_a_row_that_is_no_object_is_an_error_that_names_it(row, tmp_path: Path):
    with pytest.raises(DatasetError, match="row 1: expected an object with fields"):
        Dataset.load([{"id": 1}, row])
    path = write(tmp_path / "a.jsonl", *({"id": n} for n in range(50)), row)
    dataset = Dataset.load(path)
    with pytest.raises(DatasetError, match=r"a\.jsonl line 51: expected an object"):
        list(dataset)


def test_a_dataset_without_rows_is_an_error_unless_allowed(tmp_path: Path):
    (tmp_path / "a.jsonl").write_text("\n\n")
    sources: list[Any] = [[], tmp_path / "a.jsonl", pd.DataFrame({"id": []})]
    for source in sources:
        with pytest.raises(DatasetError, match="holds no rows"):
            Dataset.load(source)
        assert list(Dataset.load(source, allow_empty=True)) == []


def test_a_format_is_for_files():
    with pytest.raises(ConfigError, match="the dataset is no file"):
        Dataset.load([{"id": 1}], format="csv")


# ------------------------------------------------------------------------------ frames


def test_a_frame_s_gaps_are_missing_and_its_numbers_plain():
    frame = pd.DataFrame(
        {
            "id": [1, 2],
            "expected": ["x", None],
            "reward": [0.5, float("nan")],
            "trial": pd.array([1, None], dtype="Int64"),
            "when": [pd.NaT, pd.Timestamp(0)],
        }
    )
    first, second = Dataset.load(frame, {"context": "when"}).examples(Needs(stored=("reward",)))
    assert (first.id, first.trial, first.reference_outputs, first.context) == ("1", 1, "x", None)
    assert (second.id, second.trial, second.reference_outputs) == ("2", None, None)
    assert (first.stored, second.stored) == ({"reward": 0.5}, {"reward": None})
    assert type(first.stored["reward"]) is float


def test_rows_made_from_a_frame_have_its_gaps_taken_out():
    frame = pd.DataFrame({"id": ["a", "b"], "expected": ["x", None], "score": [1.0, None]})
    rows = frame.to_dict("records")
    dataset = Dataset.load(rows, {"context": "score"})
    assert [(e.reference_outputs, e.context) for e in dataset] == [("x", 1.0), (None, None)]


def test_a_frame_s_named_index_is_a_column_and_its_arrays_are_lists():
    calls = pd.Series([CALLS], dtype=object)
    frame = pd.DataFrame({"id": ["a"], "outputs": calls}).set_index("id")
    frame["outputs"] = frame["outputs"].map(lambda cell: __import__("numpy").array(cell))
    assert [(e.id, e.outputs) for e in Dataset.load(frame)] == [("a", CALLS)]


def test_a_frame_with_two_columns_of_one_name_is_an_error():
    with pytest.raises(DatasetError, match="two columns 'id'"):
        Dataset.load(pd.DataFrame([[1, 2]], columns=["id", "id"]))


def test_json_text_in_a_frame_s_trajectory_is_a_structure():
    frame = pd.DataFrame({"predicted_trajectory": [json.dumps(CALLS), str(CALLS), CALLS]})
    assert [e.outputs for e in Dataset.load(frame)] == [CALLS] * 3


def test_pandas_is_loaded_for_a_frame_only():
    code = (
        "import sys; from trajgrade.dataset import load_sample; list(load_sample('on-device')); "
        "print(sorted({'pandas', 'numpy', 'rich', 'click', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# ------------------------------------------------------------------------------ missing columns


def test_a_missing_reference_is_said_with_the_columns_and_the_nearest():
    dataset = Dataset.load([{"prompt": "p", "predicted_trajectory": CALLS}], name="mine")
    needs = Needs(frozenset({"outputs", "reference_outputs"}))
    message = dataset.missing_columns(needs)
    assert message is not None
    assert message.startswith("mine: no row has reference_outputs (looked for reference_trajectory")
    assert "Fields found: prompt, predicted_trajectory" in message
    assert "The nearest name is 'predicted_trajectory'" in message


def test_nothing_is_said_of_what_some_row_has(tmp_path: Path):
    rows = [{"id": n} for n in range(100)] + [{"id": 100, "outputs": "x", "score": 1}]
    dataset = Dataset.load(write(tmp_path / "a.jsonl", *rows))
    assert dataset.missing_columns(Needs(frozenset({"outputs"}), stored=("score",))) is None
    assert "no row has context" in str(dataset.missing_columns(Needs(frozenset({"context"}))))


def test_either_of_a_text_evaluator_s_two_roles_will_do():
    text = Needs(frozenset({"response", "outputs", "reference", "reference_outputs"}))
    assert Dataset.load([{"output": "x", "reference": "y"}]).missing_columns(text) is None
    message = Dataset.load([{"output": "x", "input": "y"}]).missing_columns(text)
    assert "no row has reference or reference_outputs" in str(message)


def test_a_missing_stored_field_is_said():
    dataset = Dataset.load([{"id": 1, "info": {"reward": 1.0}}])
    message = dataset.missing_columns(Needs(frozenset(), stored=("info.rewards",)))
    assert "no row has the field 'info.rewards'. Did you mean 'info.reward'?" in str(message)


def test_needs_add_up():
    trajectory = Needs(frozenset({"outputs", "inputs"}), frozenset({"outputs"}), ("a",))
    both = trajectory | Needs(frozenset({"outputs"}), frozenset({"outputs"}), ("b", "a"))
    assert both.trajectories == frozenset({"outputs"})
    assert both.stored == ("a", "b")
    assert (both | Needs(frozenset({"outputs"}))).trajectories == frozenset()


# ------------------------------------------------------------------------------ samples, hash


@pytest.mark.parametrize("name", list_samples())
def test_a_sample_is_loaded_by_name(name: str):
    dataset = load_sample(name)
    examples = list(dataset)
    assert len(examples) == dataset.count() >= 30
    assert dataset.name == f"sample:{name}"
    assert examples[2].source == f"sample:{name} row 2"
    assert [e.id for e in Dataset.load(f"sample:{name}")] == [e.id for e in examples]
    assert all(e.inputs and e.outputs is not None for e in examples)


def test_an_unknown_sample_is_an_error_with_the_nearest():
    with pytest.raises(
        UnknownNameError, match=r"unknown sample 'on_device'\. Did you mean 'on-device'"
    ):
        load_sample("on_device")
    with pytest.raises(UnknownNameError):
        Dataset.load("sample:../samples/on-device")


def test_the_hash_is_of_the_rows_not_of_the_packing(tmp_path: Path):
    import gzip

    path = write(tmp_path / "a.jsonl", {"id": 1}, {"id": 2})
    packed = tmp_path / "b.jsonl"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    other = write(tmp_path / "c.jsonl", {"id": 1}, {"id": 3})
    assert Dataset.load(path).hash() == Dataset.load(packed).hash() != Dataset.load(other).hash()
    rows: list[Any] = [{"id": 1, "outputs": Trajectory([Step("assistant", "x")])}]
    same: list[Any] = [{"id": 1, "outputs": Trajectory([Step("assistant", "x")])}]
    differs: list[Any] = [{"id": 1, "outputs": Trajectory([Step("assistant", "y")])}]
    assert Dataset.load(rows).hash() == Dataset.load(same).hash() != Dataset.load(differs).hash()


@needs_shared
def test_the_tau_runs_are_fifty_tasks_of_four_trials(shared: Path):
    fields = {"outputs": "traj", "reference_outputs": "info.task.actions"}
    dataset = Dataset.load(shared / "data" / "tau_airline_gpt4o.json", fields)
    needs = Needs(frozenset({"outputs", "reference_outputs"}), stored=("reward",))
    examples = list(dataset.examples(needs))
    assert len(examples) == 200
    assert len({e.id for e in examples}) == 50
    assert {e.trial for e in examples} == {0, 1, 2, 3}
    assert sum(e.stored["reward"] for e in examples) == 84


def test_records_are_rows_as_they_stand_whatever_role_their_fields_play(tmp_path):
    rows = [{"prompt": "a", "x": {"y": [1]}}, {"prompt": "b"}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "a.csv").write_text(
        'prompt,n,calls,flag\n"{""a"": 1}",007,"[{""tool_name"": ""f""}]",true\n1,2,,x\n'
    )
    assert list(Dataset.load(tmp_path / "a.jsonl").records()) == rows
    assert list(Dataset.load(rows).records()) == rows
    assert list(Dataset.load(tmp_path / "a.csv").records(["prompt"])) == [
        {"prompt": '{"a": 1}', "n": "007", "calls": [{"tool_name": "f"}], "flag": True},
        {"prompt": "1", "n": 2, "calls": None, "flag": "x"},
    ]
    assert list(Dataset.load([[{"role": "user", "content": "a"}]]).records()) == [
        {"outputs": [{"role": "user", "content": "a"}]}
    ]


def test_all_fields_of_a_row_come_where_they_are_asked_for(tmp_path):
    rows = [{"prompt": "a", "x": {"y": [1]}}, {"prompt": "b"}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for source in (rows, tmp_path / "a.jsonl"):
        dataset = Dataset.load(source)
        assert [e.fields for e in dataset.examples(Needs(frozenset(), row=True))] == rows
        assert [e.fields for e in dataset.examples()] == [{}, {}]
    assert (Needs(row=True) | Needs()).row
