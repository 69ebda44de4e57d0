"""`trajgrade report`: a saved or kept run laid out anew; and the summary of a GitHub job."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("d.jsonl").write_text(json.dumps({"response": "a", "reference": "a"}))
    Path("eval.yaml").write_text("dataset: d.jsonl\nevaluators: [exact_match]\n")


def test_a_saved_run_is_laid_out_in_other_forms(command):
    assert command("score", "d.jsonl", "-e", "exact_match", "-o", "run.json", "-q").code == 0
    done = command("report", "run.json", "-o", "run.html", "-o", "run.xml", "-o", "run.md")
    assert done.err == "saved run.html\nsaved run.xml\nsaved run.md\n"
    assert "exact_match" in Path("run.html").read_text()


def test_a_kept_run_is_laid_out(command, monkeypatch):
    monkeypatch.setenv("TRAJGRADE_STORE", "runs.db")
    command("run", "eval.yaml", "-q")
    assert command("report", "run:latest", "-o", "run.html").code == 0
    assert "run:20" in Path("run.html").read_text()


def test_the_summary_of_a_github_job_gets_the_run(command, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    for _ in range(2):
        assert command("run", "eval.yaml", "-q", "--no-store").code == 0
    assert Path("summary.md").read_text().count("exact_match") == 2
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "no/such/folder/summary.md")
    done = command("run", "eval.yaml", "-q", "--no-store")
    assert (done.code, "GITHUB_STEP_SUMMARY" in done.err) == (0, True)


def test_what_is_no_run_and_what_is_no_form_is_refused(command):
    assert command("report", "d.jsonl", "-o", "run.html").code == 2
    command("score", "d.jsonl", "-e", "exact_match", "-o", "run.json", "-q")
    assert command("report", "run.json", "-o", "run.xyz").code == 2


@pytest.fixture
def two(command):
    """old.json and new.json: runs of 12 examples, all right, and all wrong."""
    for name, answer in (("old", "a"), ("new", "b")):
        rows = [{"id": f"e{n}", "response": answer, "reference": "a"} for n in range(12)]
        Path(f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
        assert command("score", f"{name}.jsonl", "-e", "exact_match", "-o", f"{name}.json", "-q")


@pytest.mark.usefixtures("two")
def test_two_runs_are_laid_out_as_their_comparison(command):
    forms = ["html", "md", "xml", "json", "csv", "parquet"]
    saves = [part for form in forms for part in ("-o", f"versus.{form}")]
    done = command("report", "old.json", "new.json", *saves)
    assert (done.code, done.out) == (0, "")
    assert done.err == "".join(f"saved versus.{form}\n" for form in forms)
    assert "The new run is worse: exact_match." in Path("versus.html").read_text()
    assert json.loads(Path("versus.json").read_text())["n_matched"] == 12


@pytest.mark.usefixtures("two")
def test_the_summary_of_a_github_job_gets_the_comparison(command, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    Path("summary.md").write_text("what was there\n\n")
    assert command("compare", "old.json", "new.json").code == 0
    text = Path("summary.md").read_text()
    assert text.startswith("what was there\n\n### The new run is worse")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "no/such/folder/summary.md")
    done = command("compare", "old.json", "new.json")
    assert (done.code, "GITHUB_STEP_SUMMARY" in done.err) == (0, True)


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("old.json", "new.json", "-o", "x.jsonl"), "format of a comparison '.jsonl'"),
        (("old.json", "new.json", "-o", "new.json"), "would be written over what is read"),
        (("old.json", "new.json", "old.json", "-o", "x.md"), "one run is laid out, or two"),
        (("old.json", "new.json", "-o", "old.jsonl/x.md"), "old.jsonl/x.md: cannot be written"),
        (("old.json", "none.json", "-o", "x.md"), "none.json: cannot be read"),
    ],
)
def test_a_comparison_that_cannot_be_laid_out_is_refused(command, arguments, told):
    done = command("report", *arguments)
    assert done.code == 2
    assert told in done.err


@pytest.mark.usefixtures("two")
def test_the_forms_of_a_comparison_are_named_where_one_is_unknown(command):
    done = command("compare", "old.json", "new.json", "-o", "x.pdf")
    assert done.code == 2
    assert ".csv, .html, .json, .md, .parquet, .xml" in done.err
