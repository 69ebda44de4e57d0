"""The config file: what it may hold, and that every fault in it is said at once, with its path."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

import trajgrade
from trajgrade.config import Config, DatasetFiles, config_schema, load_config
from trajgrade.errors import ConfigError
from trajgrade.registry import evaluators

GOOD: dict[str, Any] = {"dataset": "sample:on-device", "evaluators": ["trajectory_f1"]}


def faults_of(document: dict[str, Any], **options: Any) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        load_config(document, **options)
    return caught.value.faults


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [
        {"id": "a", "messages": [], "wanted": [], "reward": 1},
        {"id": "b", "messages": [], "wanted": [], "reward": 0},
    ]
    (tmp_path / "runs.json").write_text(json.dumps(rows))
    return tmp_path


def written(folder: Path, text: str) -> Path:
    path = folder / "eval.yaml"
    path.write_text(text, encoding="utf-8")
    return path


# ------------------------------------------------------------------------------ what is read


def test_a_config_has_all_that_a_run_needs(folder: Path):
    path = written(
        folder,
        """
        name: mine
        dataset: runs.json
        fields: {outputs: messages, reference_outputs: wanted}
        evaluators:
          - trajectory_f1
          - trajectory_match: {mode: unordered}
          - {name: trajectory_match, params: {mode: in_order}, key: ordered}
          - {name: trajectory_precision, pass: 0.8}
          - field: {path: reward, pass: 1.0}
        thresholds:
          trajectory_f1: 0.5
          reward/mean: ">= 0.5"
        limit: 1
        explain: none
        fail_on: any
        """,
    )
    config = load_config(path)
    run = trajgrade.evaluate(**config.arguments())
    assert config.dataset == str(folder / "runs.json")
    assert run.name == "mine"
    assert list(run.summary) == [
        "trajectory_f1", "trajectory_match", "ordered", "trajectory_precision", "reward",
    ]  # fmt: skip
    assert len(run.rows) == 1
    assert run.fail_on_error
    assert [outcome.verdict for outcome in run.outcomes] == ["passed", "passed"]
    assert run.summary["trajectory_precision"].pass_at == 0.8


def test_paths_are_relative_to_the_config_file_and_an_override_to_the_working_directory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    path = written(folder, "dataset: [runs.json]\nevaluators: [trajectory_f1]")
    assert load_config(path).dataset == [str(folder / "runs.json")]
    (folder / "other").mkdir()
    (folder / "other" / "mine.json").write_text("[]")
    monkeypatch.chdir(folder / "other")
    assert load_config("../eval.yaml", dataset="mine.json").dataset == "mine.json"
    assert load_config("../eval.yaml").dataset == ["../runs.json"]


def test_an_override_makes_up_for_a_dataset_that_is_not_there(folder: Path):
    path = written(folder, "dataset: gone.json\nevaluators: [trajectory_f1]")
    assert load_config(path, dataset=str(folder / "runs.json")).dataset == str(folder / "runs.json")


def test_files_whose_names_say_nothing_are_read_as_they_should_be(folder: Path):
    (folder / "runs.log").write_text('{"id": "a"}\n{"id": "b"}\n')
    path = written(folder, "dataset: {path: runs.log, format: jsonl}\nevaluators: [trajectory_f1]")
    config = load_config(path)
    assert config.dataset == DatasetFiles(str(folder / "runs.log"), "jsonl")
    assert config.open().count() == 2


def test_a_key_without_a_value_is_as_good_as_absent():
    assert load_config({**GOOD, "thresholds": None, "fields": None}) == load_config(GOOD)


def test_null_for_a_role_leaves_it_out(folder: Path):
    path = written(folder, "dataset: runs.json\nfields: {id: null}\nevaluators: [trajectory_f1]")
    assert [example.id for example in load_config(path).open()] == ["#0", "#1"]


# ------------------------------------------------------------------------------ what is refused


def test_all_faults_are_said_at_once_each_with_its_path(folder: Path):
    path = written(
        folder,
        """
        datset: runs.json
        fields: {outptus: messages}
        evaluators:
          - trajectory_match: {mode: strct}
          - trajectry_f1
          - {name: trajectory_match, params: {mod: strict}}
          - trajectory_recall
          - trajectory_recall
        thresholds:
          trajectory_precision: 0.5
          trajectory_recall/mena: 0.5
          trajectory_recall: most
        limit: 0
        explain: bad
        """,
    )
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert caught.value.where == str(path)
    faults = caught.value.faults
    starts = [fault.partition(": ")[0] for fault in faults]
    assert starts == [
        "datset",
        "fields.outptus",
        "limit",
        "explain",
        "dataset",
        "evaluators[0].trajectory_match.mode",
        "evaluators[1]",
        "evaluators[2].params.mod",
        "evaluators",
        "thresholds.trajectory_precision",
        "thresholds.trajectory_recall/mena",
        "thresholds.trajectory_recall",
    ]
    for said in ("'dataset'?", "'outputs'?", "'strict'?", "'trajectory_f1'?", "'mode'?", "'mean'?"):
        assert any(f"Did you mean {said}" in fault for fault in faults), said


@pytest.mark.parametrize("key", ["alerts", "rules"])
def test_a_key_of_another_feature_is_not_passed_over(key: str):
    (fault,) = faults_of({**GOOD, key: {}})
    assert fault.startswith(f"{key}: unknown key '{key}'")


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("evaluators", [], "evaluators: expected a list of length >= 1"),
        ("evaluators", {"trajectory_f1": {}}, "evaluators: expected a list, each evaluator beginning"),
        ("evaluators", "trajectory_f1", "evaluators: expected a list, each evaluator beginning"),
        ("evaluators", [None], r"evaluators\[0\]: None is no evaluator"),
        ("evaluators", [{"a": {}, "b": {}}], r"evaluators\[0\]: .* is no evaluator: write a name"),
        ("evaluators", [{"contains": {"substring": ""}}], r"evaluators\[0\].contains.substring: each"),
        ("evaluators", [{"contains": {"case_sensitive": "yes"}}], "case_sensitive: expected true or"),
        ("evaluators", [{"regex_match": {"pattern": "("}}], "regex_match.pattern: '.'.* no regular"),
        ("evaluators", [{"tool_use": None}], "the parameter 'expected_tool' is required"),
        ("evaluators", [{"embedding_similarity": {"embed_fn": "f"}}], "embed_fn: takes a function"),
        ("evaluators", [{"name": "trajectory_f1", "pass": "most"}], r"\.pass: expected a number"),
        ("evaluators", [{"name": "trajectory_f1", "key": 3}], r"evaluators\[0\]\.key: expected text"),
        ("evaluators", [{"name": "trajectory_f1", "parms": {}}], r"\[0\]\.parms: .*mean 'params'"),
        ("evaluators", [{"name": "trajectory_f1", "params": [1]}], r"\.params: expected an object"),
        ("fields", ["outputs"], "fields: expected an object, got a list"),
        ("fields", {"outputs": 5}, "fields.outputs: expected a dotted path, got 5"),
        ("thresholds", 0.5, "thresholds: expected an object, got a number 0.5"),
        ("thresholds", {"trajectory_f1": True}, "thresholds.trajectory_f1: a bound is a number"),
        ("thresholds", {"trajectory_f1": float("nan")}, "thresholds.trajectory_f1: a bound is a num"),
        ("thresholds", {"n_error": 0}, "thresholds.n_error: name the metric"),
        ("limit", "ten", "limit: expected a whole number or nothing, got text 'ten'"),
        ("fail_on", True, "fail_on: unknown choice True. Known: any, none"),
        ("name", 5, "name: expected text, got a whole number 5"),
        ("dataset", 5, "dataset: expected"),
        ("dataset", {"path": "x", "formt": "json"}, "dataset.formt: .*Did you mean 'format'"),
        ("dataset", {"path": "x", "format": "xml"}, "dataset.format: unknown choice 'xml'. Known: json"),
        ("dataset", {"format": "json"}, "dataset.path: is missing"),
        ("dataset", "sample:on-devise", "dataset: unknown sample 'on-devise'. Did you mean 'on-devi"),
        ("dataset", "no-such-dir", "dataset: no such file or directory: 'no-such-dir'"),
        ("dataset", "https://x.org/a.json", "dataset: 'https://x.org/a.json' is no local path"),
        ("dataset", "", "dataset: "),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(key: str, value: Any, said: str):
    (fault,) = faults_of({**GOOD, key: value})
    assert re.search(said, fault), fault


def test_what_is_missing_is_said():
    assert faults_of({}) == ("dataset: is missing", "evaluators: is missing")


@pytest.mark.parametrize("content", ["", "- a\n", "just text", "5"])
def test_a_file_that_holds_no_object_is_refused(folder: Path, content: str):
    with pytest.raises(ConfigError, match="expected an object with the keys name, dataset"):
        load_config(written(folder, content))


def test_a_config_that_is_not_there_names_the_nearest(folder: Path):
    written(folder, "")
    with pytest.raises(ConfigError, match=r"no such file .*evl.yaml'. Did you mean .*eval.yaml'"):
        load_config(folder / "evl.yaml")


def test_a_syntax_error_names_file_line_and_column(folder: Path):
    with pytest.raises(ConfigError, match=r"eval\.yaml: line 2, column 1: this is not YAML"):
        load_config(written(folder, "a:\n\t- b"))


def test_an_ambiguous_word_is_said_once_and_beside_other_faults(folder: Path):
    path = written(
        folder,
        "dataset: runs.json\nevaluators:\n- contains: {substring: a, case_sensitive: yes}\nx: 1",
    )
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    first, second = caught.value.faults
    assert first.startswith("evaluators[0].contains.case_sensitive: yes (line 3) is true to some")
    assert second.startswith("x: unknown key")


def test_with_look_the_fields_are_looked_for_in_the_dataset(folder: Path):
    document = {**GOOD, "dataset": str(folder / "runs.json"), "fields": {"outputs": "mesages"}}
    load_config(document)
    (fault,) = faults_of(document, look=True)
    assert fault.startswith(
        "fields.outputs: runs.json: no row has the field 'mesages'. Did you mean"
    )


def test_a_threshold_on_the_metric_of_a_faulty_evaluator_is_not_accused():
    faults = faults_of(
        {
            **GOOD,
            "evaluators": [
                {"field": {"path": "reward", "pass": "one"}},
                {"tool_use": {"expected_tool": "search", "min_calls": -1}},
                "trajectry_f1",
            ],
            "thresholds": {"reward": 1, "tool_use:search": 1, "trajectory_f1": 1, "latency": 1},
        }
    )
    assert [f.partition(": ")[0] for f in faults if f.startswith("thresholds")] == [
        "thresholds.latency"
    ]


def test_metrics_that_an_evaluator_names_itself_may_have_thresholds(
    monkeypatch: pytest.MonkeyPatch,
):
    def made() -> Any:
        return lambda outputs: [{"key": "length", "score": len(outputs)}]

    monkeypatch.setitem(
        evaluators.entries, "mine", evaluators.entries["json_valid"]._replace(target=made)
    )
    monkeypatch.delitem(evaluators._found, "mine", raising=False)
    config = load_config({**GOOD, "evaluators": ["mine"], "thresholds": {"length": 1}})
    monkeypatch.delitem(evaluators._found, "mine")
    assert config.thresholds == {"length": 1}


# ------------------------------------------------------------------------------ the schema


@pytest.fixture(scope="module")
def schema() -> Any:
    return jsonschema_rs.validator_for(config_schema())


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"evaluators": [{"tool_use": {"expected_tool": "x"}}]},
        {"evaluators": [{"name": "trajectory_match", "params": {"mode": "in_order"}, "pass": 1}]},
        {"evaluators": [{"field": {"path": "reward", "pass": 1.0}}, {"trajectory_f1": None}]},
        {"evaluators": [{"trajectory_match": {"tool_args_match_overrides": {"a": {"b": "date"}}}}]},
        {"dataset": {"path": ["a", "b"], "format": "csv"}, "fields": {"id": None}, "limit": 3},
        {"thresholds": {"trajectory_f1/p90": ">= 0.5", "trajectory_f1": 0.5}},
    ],
)
def test_the_schema_allows_what_is_allowed(change: dict[str, Any], schema: Any):
    schema.validate({**GOOD, **change})


@pytest.mark.parametrize(
    "change",
    [
        {"agent": {}},
        {"agent": {"function": "a:b", "url": "http://localhost/"}},
        {"agent": {"function": "a:b", "timeuot": 5}},
        {"budget": {"row": 5}},
        {"trials": 0},
        {"evaluators": []},
        {"evaluators": ["tool_use"]},
        {"evaluators": [{"name": "tool_use"}]},
        {"evaluators": ["trajectry_f1"]},
        {"evaluators": [{"trajectory_match": {"mode": "strct"}}]},
        {"evaluators": [{"name": "trajectory_match", "params": {"mod": "strict"}}]},
        {"fields": {"outptus": "x"}},
        {"explain": "some"},
        {"thresholds": {"trajectory_f1": True}},
    ],
)
def test_the_schema_forbids_what_is_refused(change: dict[str, Any], schema: Any):
    assert not schema.is_valid({**GOOD, **change})
    assert faults_of({**GOOD, **change})


def test_every_key_and_parameter_of_the_schema_is_described():
    schema = config_schema()
    assert [key for key, one in schema["properties"].items() if not one.get("description")] == []
    assert set(schema["properties"]) == set(Config.__struct_fields__)
    assert schema["$defs"]["trajectory_match"]["properties"]["mode"]["default"] == "strict"


@pytest.mark.parametrize(
    ("block", "fault"),
    [
        ({"reprot": "x.json"}, "judge_alignment.reprot: unknown key 'reprot'. Did you mean"),
        ({"report": 5}, "judge_alignment.report: a path is needed, got 5"),
        ({"report": "x", "ai_support": {"endpoint": "ollama"}}, "judge_alignment.ai_support"),
    ],
)
def test_what_a_config_says_of_a_judges_report_is_checked(block: Any, fault: str):
    found = faults_of(GOOD | {"judge_alignment": block})
    assert [one for one in found if fault in one]


def test_a_judges_report_and_potatos_judge_stand_in_one_block(folder: Path):
    text = (
        "dataset: runs.json\nevaluators: [trajectory_f1]\njudge_alignment:\n"
        "  report: good.json\n  ai_support: {endpoint_type: ollama, ai_config: {model: x}}\n"
    )
    found = load_config(written(folder, text))
    assert found.judge_alignment == {"report": str(folder / "good.json")}
    assert found.judge.model == "x"
