"""The pytest plugin, in pytest sessions of its own (known faults B196, B197, B199, B201)."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

pytest_plugins = "pytester"

LOADED = ("-p", "trajgrade.pytest_plugin", "-p", "xdist.plugin")
SUITE = """
    import pytest

    GO = [{"tool_name": "go", "tool_input": {"to": "LIS"}}]

    def test_match(trajgrade):
        trajgrade.log_inputs("go to Lisbon")
        trajgrade.log_outputs(GO)
        trajgrade.log_reference_outputs(GO)
        assert trajgrade.evaluate("trajectory_match").score == 1
        trajgrade.log_feedback("correct", True)

    @pytest.mark.potato_eval
    def test_under_potatos_name(potato_eval):
        potato_eval.log_feedback("correct", 0.0)

    def test_of_something_else():
        pass
"""


@pytest.fixture
def run(pytester, monkeypatch):
    monkeypatch.delenv("TRAJGRADE_EXPERIMENT", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # others' plugins take seconds

    def called(*arguments, **files):
        pytester.makepyfile(**(files or {"test_suite": SUITE}))
        return pytester.runpytest_subprocess(*LOADED, *arguments)

    return called


def test_what_was_logged_is_summed_up(run):
    done = run()
    assert done.ret == 0
    done.stdout.fnmatch_lines(
        ["*== trajgrade ==*", "trajectory_match *1.000*1/2 tests*", "correct *0.500*2/2 tests*"]
    )


def test_a_session_that_logs_nothing_says_nothing(run):
    done = run(test_other="def test_nothing():\n    pass\n")
    assert done.ret == 0
    assert "trajgrade ==" not in done.stdout.str()


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
@pytest.mark.parametrize(
    ("threshold", "code"),
    [("correct=0.5", 0), ("correct=0.8", 1), ("correct=<=0.5", 0), ("correct/max=1", 0),
     ("trajectory_match=1", 0)],
)  # fmt: skip
def test_the_gate_is_over_all_tests_wherever_they_ran(run, workers, threshold, code):
    """B196: under xdist the gate was not applied."""
    done = run("--trajgrade-threshold", threshold, *workers)
    assert done.ret == code
    if code:
        done.stdout.fnmatch_lines(["FAILED correct >= 0.8: failed*"])


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
@pytest.mark.parametrize(
    ("body", "threshold", "said"),
    [
        ("trajgrade.log_feedback('q', float('nan'))", "q=0.8", "q >= 0.8: undecided*"),
        ("trajgrade.log_feedback('q', None)", "q=0.8", "q >= 0.8: undecided*"),
        ("trajgrade.log_feedback('q', 1.0)", "typo=0.8", "typo >= 0.8: failed (no test logged 'typo'; logged: q)"),
        ("pass", "q=0.8", "q >= 0.8: failed (no test logged 'q'; logged: nothing)"),
    ],
    ids=["nan", "none", "never logged", "nothing logged"],
)  # fmt: skip
def test_no_data_is_never_a_pass(run, workers, body, threshold, said):
    """B197."""
    suite = f"def test_one(trajgrade):\n    {body}\n"
    done = run("--trajgrade-threshold", threshold, *workers, test_one=suite)
    assert done.ret == 1
    done.stdout.fnmatch_lines([f"FAILED {said}"])


def test_a_gate_without_any_test_that_logs_fails(run):
    done = run("--trajgrade-threshold", "q=1", test_other="def test_nothing():\n    pass\n")
    assert done.ret == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("--trajgrade-threshold", "correct"),
        ("--trajgrade-threshold", "correct=high"),
        ("--trajgrade-threshold", "=0.8"),
        ("--trajgrade-threshold", "a=1", "--trajgrade-threshold", "a=0"),
        ("--trajgrade-threshold", "a/meen=1"),
        ("--trajgrade-trials", "0"),
        ("--trajgrade-output", "out.xyz"),
    ],
)
def test_a_malformed_option_is_a_usage_error(run, arguments):
    assert run(*arguments).ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--collect-only",), 0),
        (("--setup-only",), 0),
        (("-p", "no:cacheprovider"), 1),
        (("--lf",), 1),
        (("-k", "nothing_is_called_so"), 5),
    ],
)
def test_other_ways_to_call_pytest(run, arguments, code):
    assert run("--trajgrade-threshold", "correct=0.8", *arguments).ret == code


def test_a_test_that_fails_fails_the_session_whatever_the_gate(run):
    suite = "def test_one(trajgrade):\n    trajgrade.log_feedback('q', 1)\n    assert False\n"
    assert run("--trajgrade-threshold", "q=1", test_one=suite).ret == 1


def test_what_is_expected_fails_with_the_difference(run):
    suite = """
    def test_one(trajgrade):
        got = [{"tool_name": "go", "tool_input": {"to": "OPO"}}]
        wanted = [{"tool_name": "go", "tool_input": {"to": "LIS"}}]
        trajgrade.expect(got).trajectory_match(wanted, tool_args_match_mode="ignore")
        trajgrade.expect("a banana").contains(substring="banana")
        trajgrade.expect(0.5).to_be_at_least(0.5)
        trajgrade.expect([1, 2]).to_contain(2.0)
        trajgrade.expect(got).trajectory_match(wanted)
    """
    done = run(test_one=suite)
    assert done.ret == 1
    done.stdout.fnmatch_lines(
        [
            "E *AssertionError: trajectory_match: 0: no strict match*",
            "E *calls: 1 differ",
            "E *expected 'LIS', got 'OPO'*",
        ]
    )
    done.stdout.fnmatch_lines(
        [
            "trajectory_match *0.500*",
            "contains *1.000*",
            "trajectory_match was logged more than once by one test, *: test_one.py::test_one",
        ]
    )
    assert "expecting.py" not in done.stdout.str()


def test_an_expectation_that_there_is_not_says_what_there_is(run):
    done = run(test_one="def test_one(trajgrade):\n    trajgrade.expect([]).trajectry_match([])\n")
    done.stdout.fnmatch_lines(["*Did you mean 'trajectory_match'?*"])


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_a_test_may_be_repeated_and_its_trials_are_one_example(run, pytester, workers):
    done = run(
        "--trajgrade-trials", "3", "--trajgrade-output", "out.json", *workers,
        test_one="def test_one(trajgrade):\n    trajgrade.log_feedback('q', trajgrade.trial > 0)\n",
    )  # fmt: skip
    assert done.ret == 0
    found = json.loads((pytester.path / "out.json").read_text())
    assert (found["n_rows"], found["n_examples"]) == (3, 1)
    assert found["metrics"]["q"]["pass^1"] == pytest.approx(2 / 3)
    assert found["metrics"]["q"]["pass@3"] == 1


def test_a_dataset_gives_each_row_to_a_test(run, pytester):
    rows = [{"id": f"r{n}", "prompt": n, "reference": str(n % 2)} for n in range(4)]
    (pytester.path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
    suite = """
    import pytest

    @pytest.mark.trajgrade(dataset="d.jsonl")
    def test_rows(trajgrade, example):
        trajgrade.log_outputs(str(example.inputs))
        trajgrade.evaluate("exact_match")
    """
    done = run("-v", test_rows=suite)
    assert done.ret == 0
    done.stdout.fnmatch_lines(["*test_rows[[]r0[]] PASSED*", "exact_match *0.500*4/4 tests*"])


def test_classes_async_code_and_sub_tests_log_as_well(run):
    suite = """
    import asyncio

    class TestAgent:
        def test_waits(self, trajgrade):
            async def inside():
                trajgrade.log_outputs("x")
                return trajgrade.evaluate("exact_match", reference_outputs="x")
            assert asyncio.run(inside()).score == 1

        def test_parts(self, trajgrade, subtests):
            for n in range(2):
                with subtests.test(n=n):
                    trajgrade.log_feedback(f"part {n}", n)
    """
    done = run(test_all=suite)
    assert done.ret == 0
    for line in ("exact_match *1.000*", "part 0 *0.000*", "part 1 *1.000*"):
        done.stdout.fnmatch_lines([line])


def test_scores_are_properties_for_junit(run, pytester):
    run("--junitxml", "junit.xml")
    text = (pytester.path / "junit.xml").read_text()
    assert '<property name="trajgrade.correct" value="0.0"' in text
    assert '<property name="trajgrade.trajectory_match" value="1.0"' in text


def test_a_run_is_kept_by_its_experiment_and_compared_with(run, pytester, monkeypatch):
    monkeypatch.setenv("TRAJGRADE_STORE", str(pytester.path / "runs.db"))
    assert "kept as run:" in run("--trajgrade-experiment", "mine").stdout.str()
    quiet = run("--trajgrade-experiment", "mine", "--trajgrade-no-sync")
    assert "kept as run:" not in quiet.stdout.str()
    again = run("--trajgrade-baseline", "run:latest")
    assert again.ret == 0
    again.stdout.fnmatch_lines(["correct no worse than run:latest: passed *"])
    lost = run("--trajgrade-baseline", "run:nothing")
    assert lost.ret == 1
    lost.stdout.fnmatch_lines(["FAILED no metric worse than run:nothing: undecided *"])


def test_results_are_saved_where_pytest_was_called_and_nothing_else_is_left(run, pytester):
    """B201."""
    run("--trajgrade-output", "deep/out.jsonl")
    assert (pytester.path / "deep" / "out.jsonl").is_file()
    left = {path.name for path in pytester.path.iterdir()}
    assert not {name for name in left if "trajgrade" in name}


def test_pytest_finds_the_plugin_by_itself():
    points = [point.value for point in entry_points(group="pytest11") if point.name == "trajgrade"]
    if not points:
        pytest.skip("trajgrade was installed before it had a plugin; make test installs it anew")
    assert points == ["trajgrade.pytest_plugin"]


def test_the_plugin_loads_nothing_until_it_is_used():
    script = (
        "import sys, pytest, trajgrade.pytest_plugin\n"
        "print([m for m in sys.modules if m.startswith('trajgrade.') and m != 'trajgrade.pytest_plugin'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
