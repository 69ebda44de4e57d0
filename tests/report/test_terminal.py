"""The run on the screen: what is said, at any width, in any terminal, of any text."""

from __future__ import annotations

import io
from typing import Literal

import pytest

import trajgrade
from tests.report.conftest import HOSTILE, ROWS, calls, row
from trajgrade.report import terminal
from trajgrade.run import Explain, Run

Variable = Literal["NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS"]


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


def shown(run: Run, explain: Explain = "worst") -> str:
    stream = io.StringIO()
    terminal.show(run, explain=explain, stream=stream)
    return stream.getvalue()


def line_with(text: str, start: str) -> list[str]:
    (found,) = [line for line in text.splitlines() if line.startswith(start)]
    return found.split()


def test_metrics_are_shown_with_mean_deviation_and_coverage(plain: Run):
    text = shown(plain)
    assert text.startswith("plain: 4 rows from dataset in ")
    assert line_with(text, "metric") == ["metric", "mean", "95%", "interval", "scored", "notes"]
    assert " ".join(line_with(text, "trajectory_match  ")) == (
        "trajectory_match 0.250 0.046 to 0.699 4/4"  # Wilson's, of 1 in 4
    )


def test_a_wide_screen_shows_the_standard_deviation_too(
    plain: Run, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "120")
    found = " ".join(line_with(shown(plain), "trajectory_match  "))
    assert found == "trajectory_match 0.250 0.046 to 0.699 0.500 4/4"


def test_a_mean_over_few_rows_says_so_and_what_the_others_could_make_of_it(broken: Run):
    """B160: 1.00 over one of four is not 1.00 over four."""
    summary = broken.to_dict()["metrics"]["quality"]
    assert (summary["mean"], summary["n_scored"], summary["n_error"], summary["n_total"]) == (
        1,
        1,
        3,
        4,
    )
    assert summary["mean_if_missing"] == {"worst": 0.25, "best": 1.0}
    text = shown(broken)
    found = " ".join(line_with(text, "quality  "))
    assert found.startswith("quality 1.000 0.207 to 1.000 1/4 3 evaluator errors; with them")
    assert line_with(text, "quality >= 0.5")[3] == "undecided"
    assert "evaluator: RuntimeError: quota" in text


def test_each_check_has_its_own_rate_and_its_own_threshold():
    """B172: one overall rate would hide which check fell."""
    rows = [{"id": str(n), "a": True, "b": n == 0} for n in range(4)]
    run = trajgrade.evaluate(
        rows, [{"field": {"path": "a"}}, {"field": {"path": "b"}}], thresholds={"a": 1, "b": 0.5}
    )
    assert [m.mean for m in run.summary.values()] == [1.0, 0.25]
    assert [outcome.verdict for outcome in run.outcomes] == ["passed", "failed"]


def test_text_among_numbers_is_an_error_and_no_part_of_the_mean():
    """B173: [1.0, 5.0, '(Failed)'] has the mean 3 over 2 of 3."""
    rows = [{"id": str(n), "rating": r} for n, r in enumerate([1.0, 5.0, "(Failed)"])]
    summary = trajgrade.evaluate(rows, [{"field": {"path": "rating"}}]).summary["rating"]
    assert (summary.mean, summary.n_scored, summary.n_error, summary.n_total) == (3.0, 2, 1, 3)


def test_vacuous_rows_are_said_with_the_mean_without_them():
    run = trajgrade.evaluate(
        [*ROWS, row("free", calls("find"), [])], ["trajectory_any_order_match"]
    )
    found = " ".join(line_with(shown(run), "trajectory_any_order_match  "))
    assert found == "trajectory_any_order_match 0.600 0.231 to 0.882 5/5 1 vacuous, 0.500"


def test_rows_without_reference_are_counted_and_not_shown_as_bad():
    run = trajgrade.evaluate([ROWS[0], row("none", calls("find"), None)], ["trajectory_match"])
    text = shown(run)
    assert (
        " ".join(line_with(text, "trajectory_match  "))
        == "trajectory_match 1.000 0.207 to 1.000 1/2 1 no_reference"
    )
    assert "example none" not in text


def test_repeats_have_a_table_of_pass_rates(repeated: Run):
    text = shown(repeated)
    assert text.startswith("8 rows of 3 examples from dataset")
    assert line_with(text, "trials") == ["trials", "k=1", "k=2", "k=3"]
    assert line_with(text, "reward  pass^k") == ["reward", "pass^k", "0.667", "0.444", "0.000"]
    assert "k=3 leaves out 1 example with fewer trials" in text


def test_many_repeats_show_some_k_only():
    rows = [{"id": "a", "trial": n, "ok": n % 2 == 0} for n in range(20)]
    text = shown(trajgrade.evaluate(rows, [{"field": {"path": "ok"}}]))
    assert line_with(text, "trials") == ["trials", "k=1", "k=2", "k=4", "k=8", "k=16", "k=20"]


def test_thresholds_have_a_verdict_and_a_value_that_does_not_belie_it():
    rows = [{"id": str(n), "ok": n != 0} for n in range(10_001)]
    run = trajgrade.evaluate(rows, [{"field": {"path": "ok"}}], thresholds={"ok": 1, "ok/min": 0})
    text = shown(run)
    assert line_with(text, "ok >= 1") == ["ok", ">=", "1", "failed", "0.9999"]
    assert line_with(text, "ok/min >= 0") == ["ok/min", ">=", "0", "passed", "0.000"]


def test_the_worst_rows_say_why_and_align_their_calls(plain: Run):
    text = shown(plain)
    block = text[text.index("example other") :].split("\n\n")[0]
    assert "0.000  trajectory_match, trajectory_f1" in block
    assert "expected 'Oslo', got 'Rome'" in block
    assert "calls: 1 differ" in block
    assert "differs 0:find city: expected 'Oslo', got 'Rome'" in block
    silent = text[text.index("example silent") :].split("\n\n")[0]
    assert "missing 0:find" in silent
    swapped = text[text.index("example swapped") :].split("\n\n")[0]
    assert "calls: 2 agree, 1 misordered" in swapped
    assert "example right" not in text


def test_explain_all_shows_every_row_that_is_not_perfect_and_none_shows_none():
    rows = [row(f"r{n}", [], calls("find")) for n in range(12)]
    few = shown(trajgrade.evaluate(rows, ["trajectory_match"]))
    assert few.count("example r") == 5
    every = shown(trajgrade.evaluate(rows, ["trajectory_match"], explain="all"), "all")
    assert every.count("example r") == 12
    assert every.count("missing 0:find") == 12
    assert "example" not in shown(
        trajgrade.evaluate(rows, ["trajectory_match"], explain="none"), "none"
    )


def test_rows_in_error_come_before_low_ones():
    rows = [row(f"low{n}", [], calls("find")) for n in range(6)]
    rows.append(row("bad", 12, calls("find")))
    text = shown(trajgrade.evaluate(rows, ["trajectory_match", "trajectory_f1"]))
    assert text.index("example bad") < text.index("example low0")
    assert "trace: " in text


def test_neighbours_of_one_name_are_told_together():
    run = trajgrade.evaluate([row("a", calls("x", "x", "x", "y", "x"), [])], ["trajectory_f1"])
    assert "extra 0-2:x, 3:y, 4:x" in shown(run)


def test_turns_are_aligned_each_on_its_own():
    messages = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "tool_calls": [{"function": {"name": "one", "arguments": "{}"}}]},
        {"role": "user", "content": "b"},
        {"role": "assistant", "tool_calls": [{"function": {"name": "two", "arguments": "{}"}}]},
    ]
    reference = {"turns": [calls("other"), [{"name": "two", "args": {}}, *calls("three")]]}
    run = trajgrade.evaluate([row("a", messages, reference)], ["trajectory_f1"])
    text = shown(run)
    assert "turn 0: calls: 1 missing, 1 extra" in text
    assert "missing 0:other" in text
    assert "turn 1: calls: 1 agree, 1 missing" in text
    assert "missing 1:three" in text


def test_a_warning_is_shown():
    said: list[str] = []
    rows = [row("a", calls("x"), None)]
    run = trajgrade.evaluate(rows, ["trajectory_match"], on_warning=said.append)
    assert "warning trajectory_match: dataset: no row has reference_outputs" in shown(run)
    stream = io.StringIO()
    terminal.show(run, told=said, stream=stream)
    assert "warning" not in stream.getvalue()


@pytest.mark.parametrize("columns", ["1", "20", "40", "80", "300", "0", "wide", ""])
def test_any_width_will_do(columns: str, hostile: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", columns)
    text = shown(hostile, "all")
    assert "\x1b" not in text
    width = int(columns) if columns.isdecimal() and int(columns) else 80
    if width >= 80:
        assert max(map(len, text.splitlines())) <= width


def test_hostile_text_is_written_out(hostile: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "1000")
    text = shown(hostile, "all")
    assert r"[red]x[/red] \x1b[31m\x1b]0;title\x07 \r\n\u202e`a`|<b>@all" in text
    assert not set("\x1b\x07\r\u202e\u200b\ud800") & set(text)
    assert HOSTILE not in text


def test_colours_come_when_forced_and_never_where_they_are_refused(
    plain: Run, monkeypatch: pytest.MonkeyPatch
):
    assert "\x1b" not in shown(plain)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in shown(plain)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in shown(plain)
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in shown(plain)


def test_no_line_ends_in_blanks(plain: Run, hostile: Run):
    for run in (plain, hostile):
        assert [line for line in shown(run, "all").splitlines() if line != line.rstrip()] == []


def test_quiet_shows_only_what_does_not_hold(plain: Run, repeated: Run):
    stream = io.StringIO()
    terminal.show_unmet(plain, stream)
    assert "trajectory_f1 >= 0.9" in stream.getvalue()
    assert "trajectory_match" not in stream.getvalue()
    silent = io.StringIO()
    terminal.show_unmet(repeated, silent)
    assert silent.getvalue() == ""
