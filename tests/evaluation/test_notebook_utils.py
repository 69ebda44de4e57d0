"""What shows results: in a notebook, and at a terminal."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import IPython.display
import pandas as pd
import pytest

from trajgrade.errors import ConfigError
from trajgrade.evaluation import EvalResult, EvalTask, notebook_utils
from trajgrade.report.charts import Chart

DATA = {
    "prompt": ["<b>a</b>", "b"], "response": ["a", "c"], "reference": ["a", "d"],
    "predicted_trajectory": [[], []], "reference_trajectory": [[], [{"tool_name": "go"}]],
}  # fmt: skip


@pytest.fixture(scope="module")
def result() -> EvalResult:
    return EvalTask(
        dataset=DATA, metrics=["exact_match", "rouge_1", "trajectory_recall"]
    ).evaluate()


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is displayed, as in a running notebook."""
    found: list[Any] = []
    monkeypatch.setattr(IPython, "get_ipython", SimpleNamespace, raising=False)
    monkeypatch.setattr(IPython.display, "display", found.append)
    return found


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)


def pages(shown):
    return "".join(each.data for each in shown)


def test_a_notebook_shows_means_with_coverage_and_interval_and_the_rows(result, shown):
    notebook_utils.display_eval_result(result, title="Shoes & boots")
    page = pages(shown)
    assert "<h2>Shoes &amp; boots</h2>" in page
    assert (
        "<td>exact_match</td><td>0.500</td><td>0.707</td><td>0.095 – 0.905</td><td>2 of 2</td>"
        in page
    )
    assert "&lt;b&gt;a&lt;/b&gt;" in page
    assert "<b>a</b>" not in page
    assert "exact_match/score" in page


def test_metrics_are_chosen_by_parts_of_their_names(result, shown):
    notebook_utils.display_eval_result(result, metrics=["rouge"])
    page = pages(shown)
    assert "rouge_1/score" in page
    assert "exact_match" not in page
    assert "prompt" in page


def test_explanations_begin_with_the_worst_rows(result, shown):
    notebook_utils.display_explanations(result, num=1, metrics=["exact_match"])
    page = pages(shown)
    assert "differs at character 1" in page
    assert "<h4>prompt</h4>b<" in page
    assert "rouge" not in page
    with pytest.raises(ConfigError, match="at least 1"):
        notebook_utils.display_explanations(result, num=0)


def test_pictures_are_displayed_and_saved(result, shown, tmp_path):
    notebook_utils.display_radar_plot([("one", result), ("two", result)], save=tmp_path / "r.svg")
    notebook_utils.display_bar_plot([("one", result)], metrics=["rouge_1/mean"])
    assert all(isinstance(chart, Chart) for chart in shown)
    assert repr(shown[0]) == "<Chart of exact_match, rouge_1, trajectory_recall>"
    assert repr(shown[1]) == "<Chart of rouge_1>"
    assert (tmp_path / "r.svg").read_text().startswith("<svg")


def test_without_a_notebook_tables_are_printed(result, terminal, capsys):
    notebook_utils.display_eval_result(result, title="[bold]Shoes")
    printed = capsys.readouterr().out
    assert "[bold]Shoes" in printed
    assert "exact_match" in printed
    assert "2 of 2" in printed
    assert "trajectory_recall/score: 0.000" in printed
    notebook_utils.display_explanations(result, num=9)
    assert capsys.readouterr().out.count("prompt: ") == 2


def test_without_a_notebook_a_picture_must_be_saved_to_be_seen(result, terminal, tmp_path, recwarn):
    notebook_utils.display_bar_plot([("one", result)], save=tmp_path / "b.png")
    assert not recwarn.list
    with pytest.warns(UserWarning, match="give save='picture.png'"):
        notebook_utils.display_radar_plot([("one", result)])


def test_a_result_draws_itself(result, tmp_path):
    assert repr(result.plot()) == "<Chart of exact_match, rouge_1, trajectory_recall>"
    chart = result.plot("radar", metrics=["trajectory", "exact_match"], save=tmp_path / "p.html")
    assert repr(chart) == "<Chart of trajectory_recall, exact_match>"
    assert "trajectory_recall" in (tmp_path / "p.html").read_text()
    with pytest.raises(ConfigError, match="Did you mean 'rouge_1'"):
        result.plot(metrics=["rogue_1"])
    with pytest.raises(ConfigError, match="unknown kind of picture 'pie'"):
        result.plot("pie")


def test_results_that_come_from_elsewhere_are_shown_too(shown, tmp_path):
    other = EvalResult(
        {"row_count": 1, "m/mean": 4.0, "m/std": 0.5}, pd.DataFrame({"m/score": [4]})
    )
    notebook_utils.display_eval_result(other)
    notebook_utils.display_explanations(other)
    notebook_utils.display_bar_plot([("other", other)], ["m"])
    assert "<td>m</td><td>4.000</td><td>0.500</td>" in pages(shown[:1])
    theirs = SimpleNamespace(summary_metrics={"m/mean": 1.0})
    notebook_utils.display_radar_plot([("theirs", theirs)], ["m"], (0, 5), tmp_path / "t.svg")


def test_is_ipython_available_tells_a_notebook(shown):
    assert notebook_utils.is_ipython_available()


def test_at_a_terminal_there_is_none(terminal):
    assert not notebook_utils.is_ipython_available()
