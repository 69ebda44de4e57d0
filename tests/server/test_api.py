"""The API says what is kept and done; and whatever it is asked, it answers as its document says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import schemathesis
from click.testing import CliRunner

import trajgrade
from tests.server.conftest import Served, running
from trajgrade.automation.rules import read_rules
from trajgrade.cli.entry import command
from trajgrade.event import Queued, Scored
from trajgrade.inbox import Change, Finished, Outcome, Piece
from trajgrade.jsontext import dumps

CHAT = [
    {"role": "user", "content": "Any trains to Oslo?"},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "trains", "arguments": '{"to": "Oslo"}'}}
    ]},
    {"role": "assistant", "content": "Yes, at 09:14."},
]  # fmt: skip
ROWS = [
    {"id": f"row {n}", "outputs": CHAT, "split": "test" if n % 2 else "train",
     "reference_outputs": [{"name": "trains", "args": {"to": "Oslo" if n % 3 else "Bergen"}}]}
    for n in range(12)
]  # fmt: skip
RULES = {
    "rules": [
        {"name": "errors", "when": {"field": "status", "equals": "error"},
         "actions": [{"type": "add_to_queue", "queue": "errors"}]},
        {"name": "all", "when": "always", "sample_rate": 0.5, "enabled": False,
         "actions": [{"type": "fire_webhook", "url": "https://hush.example", "secret": "hush"}]},
    ]
}  # fmt: skip


def fill(served: Served) -> None:
    """Give a server's store something of everything."""
    store = served.store
    store.datasets.put("trains", ROWS[:6], note="first")
    store.datasets.add("trains", ROWS[6:])
    for order in ("any", "in_order"):
        evaluator = {"trajectory_alignment": {"order": order}}
        trajgrade.evaluate(ROWS, [evaluator], store=store.url, name=order, experiment="trains")
    inbox = store.inbox
    inbox.accept(
        [
            Piece(trace_id=f"t/{n}", key="k", at=n, body=dumps({"id": f"t/{n}", "messages": CHAT, "status": "error"}))
            for n in range(5)
        ]
    )  # fmt: skip
    jobs = sorted(inbox.claim(now=10, until=20, limit=10), key=lambda job: job.number)
    result = {"key": "exact_match", "score": 0.5}
    said: dict[str, Any] = {"rule": "errors", "place": 0, "action": "add_to_queue", "at": 11.0}
    inbox.finish(
        [
            Finished(
                job=job,
                outcomes=(Outcome(trace_id=job.trace_id, state="done", says="queued", **said),),
                changes=tuple(
                    Change(rule="errors", effect=effect)
                    for effect in (
                        Queued(queue="errors", priority=float(number), reason="it failed"),
                        Scored(results={"exact_match": result}, scores={"exact_match": 0.5}),
                    )
                ),
                decided={"errors": "fires", "gone": "does_not_fit"},
            )
            for number, job in enumerate(jobs[:3])
        ]
        + [Finished(job=jobs[3], error="it was in vain")]
    )


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with something of everything, for tests that take nothing away."""
    with running(tmp_path_factory.mktemp("api"), rules=read_rules(RULES)) as served:
        fill(served)
        yield served


def got(served: Served, path: str, **query: Any) -> Any:
    answer = served.client.get(f"/api/{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def all_of(served: Served, path: str, turns: str, **query: Any) -> list[Any]:
    """All items of a list, turning its pages."""
    found: list[Any] = []
    at: dict[str, Any] = {}
    while True:
        page = got(served, path, limit=2, **query, **at)
        assert len(page["items"]) <= 2
        found += page["items"]
        if page["next"] is None:
            return found
        at = {turns: page["next"]}


def test_datasets_are_listed_with_their_versions_and_rows(filled: Served):
    (dataset,) = got(filled, "datasets")["items"]
    assert (dataset["name"], dataset["versions"], dataset["latest"]["n_rows"]) == ("trains", 2, 12)
    versions = got(filled, "datasets/trains/versions")["items"]
    assert [version["version"] for version in versions] == [2, 1]
    assert versions[1]["note"] == "first"
    rows = all_of(filled, "datasets/trains/rows", "offset")
    assert [row["row"] for row in rows] == ROWS
    first = all_of(filled, "datasets/trains/rows", "offset", as_of="v1", split="test")
    assert [row["id"] for row in first] == ["row 1", "row 3", "row 5"]
    assert filled.client.get("/api/datasets/trains/rows?as_of=v9").status_code == 404


def test_runs_are_listed_and_read_with_their_rows(filled: Served):
    runs = all_of(filled, "runs", "offset", experiment="trains", state="finished")
    assert [run["name"] for run in runs] == ["in_order", "any"]
    assert got(filled, "runs", experiment="other")["items"] == []
    found = got(filled, "runs/latest")
    assert (found["run"]["id"], found["rows"], found["is_written"]) == (runs[0]["id"], 12, False)
    rows = all_of(filled, f"runs/{runs[0]['id']}/rows", "offset")
    assert [row["id"] for row in rows] == [row["id"] for row in ROWS]
    assert rows[1]["graded"]["results"]["trajectory_alignment"]["score"] == 1.0


def test_two_runs_compare_as_the_command_compares_them(filled: Served):
    new, base = (run["id"] for run in got(filled, "runs")["items"])
    found = got(
        filled, "comparison", base=base, new=new, no_regression="trajectory_alignment:0.1", seed=3
    )
    told = CliRunner().invoke(
        command,
        ["compare", f"run:{base}", f"run:{new}", "--store", filled.store.url, "--json",
         "--no-regression", "trajectory_alignment:0.1", "--seed", "3"],
    )  # fmt: skip
    assert told.exit_code == found["exit_code"] == 3, told.output
    assert found == json.loads(told.stdout)


@pytest.mark.parametrize("name", ["/etc/passwd", "../server.db", "run.json", "run:latest"])
def test_no_file_is_read_by_comparing(filled: Served, name: str):
    answer = filled.client.get("/api/comparison", params={"base": name, "new": "latest"})
    assert answer.status_code in {404, 409}, answer.text


def test_rules_show_their_counters_and_no_secrets(filled: Served):
    found = got(filled, "rules")
    errors, everything = found["items"]
    assert errors["counts"]["fires"] == 3
    assert errors["fields"] == ["status"]
    assert (everything["enabled"], everything["actions"]) == (False, ["fire_webhook"])
    assert found["earlier"] == {"gone": {"does_not_fit": 3}}
    assert "hush" not in filled.client.get("/api/rules").text


def test_outcomes_are_found_by_rule_trace_and_state(filled: Served):
    assert len(all_of(filled, "outcomes", "before", rule="errors", state="done")) == 3
    (one,) = got(filled, "outcomes", trace_id="t/1")["items"]
    assert (one["says"], one["trace_id"]) == ("queued", "t/1")
    assert got(filled, "outcomes", rule="other")["items"] == []


def test_traces_are_listed_and_read_with_trajectory_and_scores(filled: Served):
    ids = [trace["id"] for trace in all_of(filled, "traces", "before")]
    assert ids == [f"t/{n}" for n in (4, 3, 2, 1, 0)]
    found = got(filled, "traces/t/0")
    assert found["trace"]["status"] == "error"
    assert found["record"]["scores"] == {"exact_match": 0.5}
    assert found["trajectory"]["final_response"] == "Yes, at 09:14."
    assert found["unreadable"] is None
    assert [outcome["rule"] for outcome in found["outcomes"]] == ["errors"]


def test_how_it_goes_is_told(filled: Served):
    found = got(filled, "status")
    assert found["backlog"] == 1
    assert found["rules"]["errors"]["fires"] == 3


# ------------------------------------------------------------------------------ what changes


@pytest.fixture
def changing(served: Served) -> Served:
    fill(served)
    return served


def test_what_people_are_to_look_at_is_labelled(changing: Served):
    items = all_of(changing, "reviews", "after")
    assert [item["trace_id"] for item in items] == ["t/2", "t/1", "t/0"]
    said = {"verdict": False, "judged": {"exact_match": 0.0}, "comment": "Wrong.", "by": "me",
            "revision": items[0]["revision"]}  # fmt: skip
    path = f"/api/reviews/{items[0]['number']}"
    answer = changing.client.post(f"{path}/label", json=said)
    assert answer.status_code == 200, answer.text
    assert answer.json()["state"] == "done"
    assert changing.client.get(path).json()["label"] == {**said, "reference": None}
    assert len(got(changing, "reviews", state="open")["items"]) == 2
    assert changing.client.post("/api/reviews/999/label", json=said).status_code == 404


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"verdict": "no"}, "Expected `bool | null`, got `str` - at `$.verdict`"),
        ({}, "nothing is said of the trace"),
        ({"comment": "", "judged": {}, "reference": None}, "nothing is said of the trace"),
        ({"verdikt": True}, "unknown field 'verdikt'. Did you mean 'verdict'?"),
        ({"judged": {"exact_mach": True}}, "Did you mean 'exact_match'?"),
        ({"judged": {"exact_match": "yes"}}, "Expected `bool | float`, got `str`"),
        ({"judged": {"exact_match": 5}}, "exact_match: true, false, or a number from 0 to 1"),
        ({"judged": {"exact_match": -0.5}}, "a number from 0 to 1 is needed, got -0.5"),
        ({"reference": 7}, "reference: no trajectory"),
        ({"reference": {"nothing": "known"}}, "reference: no trajectory"),
        ({"revision": 0, "verdict": True}, "Expected `int` >= 1 - at `$.revision`"),
        ({"revision": None, "verdict": True}, "$.revision"),
    ],
)
def test_what_says_nothing_or_not_what_is_allowed_is_no_label(
    changing: Served, said: dict[str, Any], why: str
):
    (item, *_) = all_of(changing, "reviews", "after")
    path = f"/api/reviews/{item['number']}"
    kept = {"verdict": True, "revision": item["revision"]}
    assert changing.client.post(f"{path}/label", json=kept).status_code == 200
    before = got(changing, path.removeprefix("/api/"))
    answer = changing.client.post(f"{path}/label", json={"revision": item["revision"], **said})
    assert answer.status_code == 422
    assert why in answer.json()["error"]["message"]
    assert got(changing, path.removeprefix("/api/")) == before


def test_a_label_is_of_the_revision_that_was_looked_at(changing: Served):
    (item, *_) = all_of(changing, "reviews", "after")
    path = f"/api/reviews/{item['number']}/label"
    assert changing.client.post(path, json={"verdict": True}).status_code == 422
    later = {"id": item["trace_id"], "messages": [*CHAT, {"role": "user", "content": "and?"}]}
    assert changing.client.post("/api/traces", json=later).json()["accepted"] == 1
    answer = changing.client.post(path, json={"verdict": True, "revision": item["revision"]})
    assert answer.status_code == 409
    assert "Look at it again" in answer.json()["error"]["message"]
    answer = changing.client.post(path, json={"verdict": True, "revision": item["revision"] + 1})
    assert answer.status_code == 200


def test_a_job_that_was_set_aside_is_tried_again(changing: Served):
    (job,) = got(changing, "jobs")["items"]
    assert (job["trace_id"], job["error"]) == ("t/3", "it was in vain")
    answer = changing.client.post("/api/jobs/revive", json={"numbers": [job["number"], 10**9]})
    assert answer.json() == {"revived": 1}
    assert got(changing, "jobs")["items"] == []


def test_a_run_is_deleted_by_its_whole_id_alone(changing: Served):
    name = got(changing, "runs/latest")["run"]["id"]
    assert changing.client.delete("/api/runs/latest").status_code == 404
    assert changing.client.delete(f"/api/runs/{name[:-1]}").status_code == 404
    assert changing.client.delete(f"/api/runs/{name}").json() == {"deleted": name}
    assert changing.client.delete(f"/api/runs/{name}").status_code == 404


# ------------------------------------------------------------------------------ the document


def test_the_document_names_no_schema_that_is_not_there(filled: Served):
    text = filled.client.get("/api/openapi.json").text
    document = json.loads(text)
    named = {part.split('"')[0] for part in text.split('"#/components/schemas/')[1:]}
    assert named == set(document["components"]["schemas"])
    assert all(
        told["summary"] and told["responses"]["200"]["content"]
        for path in document["paths"].values()
        for told in path.values()
    )


@pytest.mark.parametrize("right", [True, False])
def test_whatever_the_api_is_asked_it_answers_as_its_document_says(tmp_path: Path, right: bool):
    """Schemathesis makes up requests for every route: right ones, and wrong ones."""
    mode = schemathesis.GenerationMode.POSITIVE if right else schemathesis.GenerationMode.NEGATIVE
    with running(tmp_path, rules=read_rules(RULES)) as served:
        fill(served)
        schema = schemathesis.openapi.from_url(f"{served.url}/api/openapi.json")
        operations: list[Any] = [found.ok() for found in schema.get_all_operations()]  # type: ignore[union-attr]
        assert len(operations) >= 18
        for operation in operations:
            takes_all = operation.path in {"/api/traces", "/api/traces/webhook"}
            if right or operation.query or (operation.body and not takes_all):
                ask(operation, mode, served.url)


CHECKS = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.status_code_conformance,
    schemathesis.checks.content_type_conformance,
    schemathesis.checks.response_schema_conformance,
]


def ask(operation: Any, mode: schemathesis.GenerationMode, url: str) -> None:
    @hypothesis.settings(max_examples=6, suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(operation.as_strategy(generation_mode=mode))
    def once(case: Any) -> None:
        case.call_and_validate(base_url=url, checks=CHECKS)

    once()
