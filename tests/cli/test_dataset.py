"""`trajgrade dataset`, `list runs`, `run --resume`, `score run:ID`: what is kept, and kept again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import trajgrade

GO = [{"tool_name": "go"}]
ROWS = [
    {
        "id": "a",
        "prompt": "x",
        "predicted_trajectory": GO,
        "reference_trajectory": GO,
        "split": "test",
    },
    {"id": "b", "prompt": "y", "predicted_trajectory": [], "reference_trajectory": GO},
]


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRAJGRADE_STORE", raising=False)
    write("d.jsonl", ROWS)


def write(name, rows):
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def config(dataset="d.jsonl"):
    Path("eval.yaml").write_text(f"dataset: {dataset}\nevaluators: [trajectory_recall]\n")
    return "eval.yaml"


def test_a_dataset_is_kept_tagged_changed_and_graded_as_it_was(command):
    assert command("dataset", "add", "refunds", "d.jsonl").err == "refunds v1: 2 rows\n"
    assert command("dataset", "tag", "refunds", "prod").code == 0
    write("d.jsonl", [ROWS[0], {**ROWS[1], "predicted_trajectory": GO}])
    assert "refunds v2" in command("dataset", "add", "refunds", "d.jsonl").err
    assert "nothing is new" in command("dataset", "add", "refunds", "d.jsonl").err
    assert command("dataset", "diff", "refunds", "prod").out == "0 added\n0 removed\n1 changed: b\n"
    means = []
    for address in ("store:refunds@prod", "store:refunds", "store:refunds@prod/test"):
        done = command("run", config(address), "--json")
        means.append(json.loads(done.out)["metrics"]["trajectory_recall"]["mean"])
    assert means == [0.5, 1.0, 1.0]
    listed = json.loads(command("dataset", "list", "--json").out)
    assert [(one["name"], one["version"], one["splits"]) for one in listed] == [
        ("refunds", 2, {"test": 1})
    ]
    shown = command("dataset", "show", "refunds").out.splitlines()
    assert [line.split()[1] for line in shown] == ["v2", "v1"]
    assert "[prod]" in shown[1]


def test_rows_of_a_run_that_fit_are_kept(command):
    command("run", config(), "-q")
    done = command(
        "dataset", "add", "hard", "d.jsonl", "--from", "latest", "--where", "trajectory_recall < 1"
    )
    assert done.err == "hard v1: 1 rows\n"
    exported = command("dataset", "export", "hard", "-o", "-").out
    assert json.loads(exported) == ROWS[1]
    none = command(
        "dataset", "add", "hard", "d.jsonl", "--from", "latest", "--where", "failure = 1"
    )
    assert (none.code, "no row fits 'failure = 1'" in none.err) == (2, True)


def test_rows_of_a_run_over_a_dataset_of_the_store_are_found_there(command):
    command("dataset", "add", "all", "d.jsonl")
    command("run", config("store:all"), "-q")
    changed = json.dumps({**ROWS[1], "prompt": "changed since"})
    Path("later.jsonl").write_text(changed)
    command("dataset", "add", "all", "later.jsonl")
    done = command("dataset", "add", "hard", "--from", "latest", "--where", "trajectory_recall < 1")
    assert done.err == "hard v1: 1 rows\n"
    kept = json.loads(command("dataset", "export", "hard", "-o", "-").out)
    assert kept == ROWS[1]  # as it was when it was graded


def test_answers_of_a_run_are_kept_without_its_files_and_graded_again(command):
    def agent(prompt):
        if prompt == "y":
            raise ValueError("expired")
        return {"response": "went", "predicted_trajectory": GO}

    asked = [{key: row[key] for key in ("id", "prompt", "reference_trajectory")} for row in ROWS]
    trajgrade.evaluate(asked, ["trajectory_recall"], agent=agent, store="trajgrade.db")
    again = command("score", "run:latest", "-e", "trajectory_precision", "--json")
    found = json.loads(again.out)
    assert found["metrics"]["trajectory_precision"]["mean"] == 0.5
    assert found["agent"]["failure"]["mean"] == 0.5
    kept = command("dataset", "add", "failed", "--from", "latest", "--where", "failure = 1")
    assert kept.err == "failed v1: 1 rows\n"
    row = json.loads(command("dataset", "export", "failed", "-o", "-").out)
    assert (row["id"], row["inputs"], row["reference_outputs"]) == ("b", "y", GO)


def test_runs_are_listed_the_newest_first(command):
    assert command("list", "runs").err == "no runs are kept here\n"
    command("run", config(), "-q", "--experiment", "prompts")
    command("run", config(), "-q", "--limit", 1)
    command("run", config(), "-q", "--no-store")
    lines = command("list", "runs").out.splitlines()
    assert [line.split()[1:3] for line in lines] == [["finished", "d.jsonl"]] * 2
    assert "1 rows" in lines[0]
    assert "prompts  trajectory_recall 0.500" in lines[1]
    (found,) = json.loads(command("list", "runs", "--json", "--experiment", "prompts").out)
    assert found["made_with"]["trajgrade"] == trajgrade.__version__
    assert len(found["dataset_hash"]) == 64


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("dataset", "show", "refunds"), "no dataset 'refunds'"),
        (("dataset", "add", "refunds"), "name files, or a run by --from"),
        (("dataset", "add", "r", "d.jsonl", "--where", "x < 1"), "--where is said of a run"),
        (("dataset", "add", "../r", "d.jsonl"), "is no name of a dataset"),
        (("run", "eval.yaml", "--no-store", "--resume"), "--no-store keeps nothing"),
        (("run", "eval.yaml", "--dataset", "store:refunds@"), "is no address"),
        (("score", "run:latest", "-e", "exact_match"), "unknown run 'latest'"),
        (("score", "run:latest"), "name what grades its answers"),
        (("list", "formats", "--store", "x.db"), "are for runs"),
    ],
)
def test_what_cannot_be_done_is_said_with_what_can(command, arguments, said):
    config()
    done = command(*arguments)
    assert done.code == 2
    assert said in done.err


def test_without_what_is_unfinished_resume_begins_anew_and_ends_at_once_otherwise(command):
    for _ in range(2):
        assert command("run", config(), "-q", "--resume").code == 0
    assert len(command("list", "runs").out.splitlines()) == 2


def test_peoples_labels_become_references_by_majority(command):
    command("dataset", "add", "refunds", "d.jsonl")
    Path("labels.csv").write_text(
        "id,who,label\na,ann,good\na,bob,good\na,cyd,bad\nb,ann,good\nb,bob,bad\nz,ann,good\n"
    )
    done = command("dataset", "annotate", "refunds", "labels.csv", "--field", "reference")
    assert "no majority: b" in done.err
    assert "no such row: z" in done.err
    rows = [json.loads(line) for line in
            command("dataset", "export", "refunds", "-o", "-").out.splitlines()]  # fmt: skip
    assert (rows[0]["reference"], rows[0]["n_labels"]) == ("good", 3)
    assert rows[0]["agreement"] == pytest.approx(2 / 3)
    assert "reference" not in rows[1]
    wrong = command("dataset", "annotate", "refunds", "labels.csv", "--label", "labl")
    assert "Did you mean 'label'?" in wrong.err
