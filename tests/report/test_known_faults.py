"""Faults of other tools' summaries and reports, by their numbers in the collection of known faults."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import trajgrade
from trajgrade.report import terminal
from trajgrade.report.page import page
from trajgrade.result import EvaluationResult
from trajgrade.run import Run


class Given:
    """A metric that is what the row's response says: a number, or an error to raise."""

    key = "quality"
    range = (0.0, 1.0)
    direction = "higher"

    def evaluate(self, *, outputs: Any = None, **_: Any) -> EvaluationResult:
        if outputs == "raise":
            raise RuntimeError("the metric broke")
        metadata = {"café": "\ud83d", "thing": float("nan")}
        return EvaluationResult(self.key, float(outputs), metadata=metadata)


def graded(*said: str) -> Run:
    rows = [{"id": str(n), "response": text} for n, text in enumerate(said)]
    return trajgrade.evaluate(rows, [Given()])


def printed(run: Run) -> str:
    stream = io.StringIO()
    terminal.show(run, stream=stream)
    return stream.getvalue()


def test_nan_is_no_score_and_leaves_the_mean_of_the_others():
    """B162."""
    run = graded("0.8", "nan", "0.9", "0.85")
    metric = run.summary["quality"]
    assert metric.mean == pytest.approx(0.85)
    assert (metric.n_scored, metric.n_error, metric.n_total) == (3, 1, 4)
    assert run.rows[1].results["quality"].value is None


def test_two_halves_are_no_success():
    """B168."""
    rows = [{"id": str(n), "reward": reward} for n, reward in enumerate([0.5, 0.5, 0.9])]
    bare = trajgrade.evaluate(rows, [{"field": {"path": "reward"}}]).summary["reward"]
    assert bare.mean == pytest.approx(1.9 / 3)
    assert not bare.has_verdicts
    told = trajgrade.evaluate(rows, [{"field": {"path": "reward", "pass": 1}}]).summary["reward"]
    assert told.pass_hat_k(1) == 0.0
    assert told.mean == pytest.approx(1.9 / 3)


def test_a_text_that_closes_a_script_is_a_text():
    """B208."""
    text = "</script><img src=x onerror=alert(1)>\u2028"
    rows = [{"id": text, "response": text, "reference": "fine"}]
    run = trajgrade.evaluate(rows, ["exact_match"])
    for shown in (page(run), printed(run)):
        assert "\u2028" not in shown
    assert "<img" not in page(run)
    versus = trajgrade.compare(run, run)
    from trajgrade.report.versus.page import page as page_of_both

    assert "<img" not in page_of_both(versus)


def test_a_metric_that_broke_has_no_number_and_no_colour_of_success(tmp_path: Path):
    """B209."""
    run = graded("raise", "raise")
    line = next(line for line in printed(run).splitlines() if line.startswith("quality"))
    assert line.split()[:4] == ["quality", "-", "-", "0/2"]
    assert "the metric broke" in printed(run)
    text = page(run).partition("</style>")[2]
    assert "error" in text
    assert 'class="good"' not in text
    assert "0.000" not in text.partition("<script>")[0].replace("with them 0.000 to 1.000", "")
    run.save(tmp_path / "run.csv")
    assert "0.0" not in (tmp_path / "run.csv").read_text()


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".html", ".md", ".xml", ".csv"])
def test_what_json_has_no_place_for_breaks_no_report(suffix: str, tmp_path: Path):
    """B210."""
    path = tmp_path / f"out{suffix}"
    graded("0.5", "nan").save(path)
    text = path.read_text(encoding="utf-8")
    if suffix == ".json":
        rows = json.loads(text, parse_constant=lambda name: pytest.fail(f"bare {name}"))["rows"]
        assert rows[1]["results"]["quality"]["score"] is None
    if suffix == ".jsonl":
        for line in text.splitlines():
            json.loads(line, parse_constant=lambda name: pytest.fail(f"bare {name}"))


def test_coverage_is_measured_and_nothing_is_said_of_what_was_never_computed(tmp_path: Path):
    """B211."""
    rows = [{"id": str(n), "response": "a"} for n in range(2)]
    with pytest.warns(UserWarning, match="reference"):
        run = trajgrade.evaluate(rows, ["exact_match"])
    metric = run.summary["exact_match"]
    assert (metric.mean, metric.coverage) == (None, 0.0)
    line = next(line for line in printed(run).splitlines() if line.startswith("exact_match"))
    assert line.split()[:4] == ["exact_match", "-", "-", "0/2"]
    run.save(tmp_path / "run.md")
    assert "| `exact_match` | - | - | - | 0/2 |" in (tmp_path / "run.md").read_text()
