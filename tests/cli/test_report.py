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
