"""What a session must meet: repeated tests, baselines, files; each in a pytest session of its own."""

from __future__ import annotations

import json

import pytest

pytest_plugins = "pytester"

LOADED = ("-p", "trajgrade.pytest_plugin", "-p", "xdist.plugin")
WORKERS = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])


@pytest.fixture
def run(pytester, monkeypatch):
    monkeypatch.delenv("TRAJGRADE_EXPERIMENT", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # others' plugins take seconds

    def called(suite, *arguments):
        pytester.makepyfile(test_one=f"import pytest\n\n{suite}")
        return pytester.runpytest_subprocess(*LOADED, *arguments)

    return called


def repeated(body, *, trials=5, least=3, arguments="trajgrade"):
    return (
        f"@pytest.mark.trajgrade(trials={trials}, min_pass={least})\n"
        f"def test_it({arguments}):\n    {body}\n"
    )


# ------------------------------------------------------------------------------ trials


@WORKERS
@pytest.mark.parametrize(("least", "code"), [(3, 0), (4, 1)])
def test_of_several_trials_a_number_must_pass(run, workers, least, code):
    """B199: outcomes 1, 0, 1, 1, 0."""
    done = run(repeated("assert trajgrade.trial in (0, 2, 3)", least=least), *workers)
    assert done.ret == code
    done.stdout.fnmatch_lines(
        [f"*test_it: trials passed >= {least}: *(3 of 5 trials passed, {least} must)"]
    )


def test_trials_that_can_no_longer_be_enough_are_not_run(run):
    """B199: outcomes 0, 0, and three are not run."""
    suite = repeated(
        "trajgrade.log_feedback('q', trajgrade.trial > 1); assert trajgrade.trial > 1", least=4
    )
    done = run(suite, "--trajgrade-threshold", "q=0", "--trajgrade-output", "out.jsonl")
    assert done.ret == 1
    done.assert_outcomes(xfailed=2, skipped=3)
    done.stdout.fnmatch_lines(["*(0 of 2 trials passed, 4 must; 3 more were not run)"])
    done.stdout.fnmatch_lines(["q *0.000*2/5 tests*not_run 3*"])


@WORKERS
def test_a_trial_whose_sub_test_fails_has_not_passed(run, workers):
    body = "with subtests.test(n=1): assert trajgrade.trial == 0"
    suite = repeated(body, trials=3, least=2, arguments="trajgrade, subtests")
    done = run(suite, *workers)
    assert done.ret == 1
    done.stdout.fnmatch_lines(
        ["*FAILED *trials passed >= 2: failed (1 of 3 trials passed, 2 must)"]
    )
    assert run(suite.replace("min_pass=2", "min_pass=1"), *workers).ret == 0


def test_a_sub_test_that_fails_fails_a_test_that_is_not_repeated(run):
    suite = """def test_it(trajgrade, subtests):
    trajgrade.log_feedback("q", 1)
    with subtests.test(n=1):
        assert False
"""
    done = run(suite, "--junitxml", "junit.xml", "--trajgrade-threshold", "q=1")
    assert done.ret == 1


def test_a_property_is_written_once_however_many_sub_tests_there_are(run, pytester):
    suite = """def test_it(trajgrade, subtests):
    for n in range(3):
        with subtests.test(n=n):
            trajgrade.log_feedback("q", 1)
"""
    assert run(suite, "--junitxml", "junit.xml").ret == 0
    text = (pytester.path / "junit.xml").read_text()
    assert text.count('<property name="trajgrade.q" value="1.0"') == 1


@WORKERS
def test_one_trial_that_is_chosen_by_its_id_is_not_held_to_all(run, workers):
    suite = repeated("assert trajgrade.trial != 1")
    one = run(suite, "test_one.py::test_it[trial2]", *workers)
    assert one.ret == 0
    one.stdout.fnmatch_lines(["*1 of its 5 trials was chosen, so that 3 must pass says nothing"])
    broken = run(suite, "test_one.py::test_it[trial1]", *workers)
    assert broken.ret == 1
    broken.assert_outcomes(failed=1)


@WORKERS
def test_a_trial_that_breaks_before_it_logs_counts_as_the_agents_failure(run, workers):
    """SEMANTICS A5: the worst score where one is known."""
    body = "assert trajgrade.trial; trajgrade.log_feedback('q', True)"
    suite = repeated(body, trials=4, least=3)
    for threshold, code in (("q=0.75", 0), ("q=0.8", 1), ("q/coverage=1", 0)):
        done = run(suite, "--trajgrade-threshold", threshold, *workers)
        assert done.ret == code, threshold
    done.stdout.fnmatch_lines(["q *0.750*4/4 tests*"])


def test_where_no_worst_score_is_known_it_is_not_evaluated_and_the_gate_undecided(run):
    body = "assert trajgrade.trial; trajgrade.log_feedback('q', 1.0)"
    done = run(repeated(body, trials=4, least=3), "--trajgrade-threshold", "q=0.5")
    assert done.ret == 1
    done.stdout.fnmatch_lines(["q *1.000*3/4 tests*not_run 1*", "FAILED q >= 0.5: undecided*"])


def test_an_evaluator_that_breaks_is_no_failure_of_the_agent(run):
    suite = """
class Quality:
    key = "q"
    range = (0.0, 1.0)
    direction = "higher"

    def evaluate(self, *, outputs, **_):
        if outputs == "x1":
            raise RuntimeError("quota")
        return 1.0

@pytest.mark.trajgrade(trials=4, min_pass=3)
def test_it(trajgrade):
    trajgrade.log_outputs(f"x{trajgrade.trial}")
    trajgrade.evaluate(Quality())
"""
    done = run(suite, "--trajgrade-threshold", "q=0.8", "--trajgrade-threshold", "q/min=0")
    assert done.ret == 1
    done.stdout.fnmatch_lines(["q *1.000*3/4 tests*(evaluator 1)", "q >= 0.8: undecided*"])


def test_a_case_that_breaks_counts_with_the_other_cases_of_its_function_only(run, pytester):
    suite = """
@pytest.mark.parametrize("n", [0, 1, 2])
def test_it(trajgrade, n):
    assert n
    trajgrade.log_feedback("q", True)

def test_other(trajgrade):
    trajgrade.log_feedback("other", True)
"""
    assert run(suite, "--trajgrade-output", "out.json").ret == 1
    found = json.loads((pytester.path / "out.json").read_text())["metrics"]
    assert found["q"]["mean"] == pytest.approx(2 / 3)
    assert (found["q"]["n_scored"], found["other"]["n_scored"]) == (3, 1)


# ------------------------------------------------------------------------------ markers


@pytest.mark.parametrize(
    ("suite", "told"),
    [
        ("@pytest.mark.trajgrade(dataset='d.jsonl')\ndef test_it(trajgrade): pass", "add the argument `example`"),
        ("@pytest.mark.trajgrade(dataset='d.jsonl')\ndef test_it(): pass", "add the argument `example`"),
        ("@pytest.mark.trajgrade(trials=3)\ndef test_it(): pass", "add the argument `trajgrade`"),
        ("@pytest.mark.trajgrade(datset='d')\ndef test_it(trajgrade): pass", "Did you mean 'dataset'?"),
        ("@pytest.mark.trajgrade('d')\ndef test_it(trajgrade): pass", "trajgrade takes no 'd'"),
        ("@pytest.mark.trajgrade(trials=0)\ndef test_it(trajgrade): pass", "trials is a whole number from 1 on, got 0"),
        ("@pytest.mark.trajgrade(trials=2, min_pass=3)\ndef test_it(trajgrade): pass", "min_pass=3 of 2 trials"),
        ("@pytest.mark.trajgrade(min_pass=1.5)\ndef test_it(trajgrade): pass", "whole number from 1 on, got 1.5"),
        ("@pytest.mark.trajgrade(dataset='none.jsonl')\ndef test_it(trajgrade, example): pass", "none.jsonl"),
        ("@pytest.mark.trajgrade(dataset='empty.jsonl')\ndef test_it(trajgrade, example): pass", "empty.jsonl"),
        (
            "@pytest.mark.trajgrade(dataset='d.jsonl')\nclass TestIt:\n    def test_a(self, trajgrade): pass",
            "add the argument `example`",
        ),
    ],
)  # fmt: skip
def test_a_marker_that_would_be_ignored_is_an_error_that_says_what_to_do(
    run, pytester, suite, told
):
    (pytester.path / "d.jsonl").write_text('{"id": "a", "prompt": 1}\n')
    (pytester.path / "empty.jsonl").write_text("")
    done = run(suite)
    assert done.ret == pytest.ExitCode.INTERRUPTED
    done.stdout.fnmatch_lines([f"*{told.replace('[', '[[]')}*"])
    assert "Traceback" not in done.stdout.str()
    assert "pytest_plugin.py" not in done.stdout.str()


def test_a_class_may_be_marked_and_hold_tests_that_grade_nothing(run, pytester):
    (pytester.path / "d.jsonl").write_text('{"id": "a", "prompt": 1}\n{"id": "b", "prompt": 2}\n')
    suite = """
@pytest.mark.trajgrade(dataset="d.jsonl", trials=2)
class TestAgent:
    @pytest.fixture(scope="class")
    def agent(self):
        return str

    def test_answers(self, trajgrade, agent, example):
        trajgrade.log_feedback("q", agent(example.inputs) == "1")

    def test_of_something_else(self):
        pass
"""
    done = run(suite)
    assert done.ret == 0
    done.assert_outcomes(passed=5)
    done.stdout.fnmatch_lines(["q *0.500*4/4 tests*"])


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_async_tests_log_as_well(run, workers):
    suite = """
@pytest.mark.anyio
@pytest.mark.trajgrade(trials=2, min_pass=1)
async def test_it(trajgrade):
    trajgrade.log_outputs("x")
    assert trajgrade.evaluate("exact_match", reference_outputs="x").score == 1
    assert trajgrade.trial

@pytest.fixture
def anyio_backend():
    return "asyncio"
"""
    done = run(suite, "-p", "anyio", *workers)
    assert done.ret == 0
    done.stdout.fnmatch_lines(["exact_match *1.000*2/2 tests*", "*(1 of 2 trials passed, 1 must)"])


# ------------------------------------------------------------------------------ baselines

FLAGS = """
@pytest.mark.parametrize("n", range(12))
def test_it(trajgrade, n):
    trajgrade.log_feedback("q", n >= {})
"""


@pytest.mark.parametrize(
    ("suite", "code", "told"),
    [
        (FLAGS.format(0), 0, "q no worse than old.json: passed (1.000 → 1.000 over 12 tests*"),
        (FLAGS.format(8), 1, "FAILED q no worse than old.json: failed (1.000 → 0.333 over 12 tests: worse)"),
        (FLAGS.replace("test_it", "test_else").format(0), 1,
         "FAILED no metric worse than old.json: undecided (the runs have no test in common, by id*"),
        (FLAGS.replace('"q"', '"quality"').format(0), 1,
         "FAILED no metric worse than old.json: *(no metric has scores in both runs; there: q; here: quality)"),
        (FLAGS.format(0).replace("n >= 0", "float(n) if n > 1 else None"), 0, "q no worse than old.json: passed*"),
    ],
    ids=["equal", "worse", "no example", "no metric", "better"],
)  # fmt: skip
def test_a_baseline_that_shares_nothing_is_no_pass(run, suite, code, told):
    assert run(FLAGS.format(0), "--trajgrade-output", "old.json").ret == 0
    done = run(suite, "--trajgrade-baseline", "old.json")
    assert done.ret == code
    told = told.replace("[", "[[]")
    done.stdout.fnmatch_lines([told])
    assert done.stdout.str().count("FAILED ") == code


def test_a_metric_that_only_the_baseline_has_is_no_pass(run):
    both = FLAGS.format(0) + '    trajgrade.log_feedback("other", True)\n'
    assert run(both, "--trajgrade-output", "old.json").ret == 0
    done = run(FLAGS.format(0), "--trajgrade-baseline", "old.json")
    assert done.ret == 1
    done.stdout.fnmatch_lines(
        ["FAILED other no worse than old.json: undecided (no test logged 'other'*"]
    )


@pytest.mark.parametrize(
    ("more", "verdict"), [("", "undecided"), (', direction="higher"', "failed")]
)
def test_a_number_is_worse_only_where_it_is_said_which_is_better(run, more, verdict):
    suite = FLAGS.replace("n >= {}", "float({}0 + n % 3)" + more)
    assert run(suite.format(1), "--trajgrade-output", "old.json").ret == 0
    done = run(suite.format(0), "--trajgrade-baseline", "old.json")
    assert done.ret == 1
    done.stdout.fnmatch_lines([f"FAILED q no worse than old.json: {verdict} *"])


@pytest.mark.parametrize(
    ("suite", "gate", "code", "verdict"),
    [
        (FLAGS.format(0), "q:0.4", 0, "passed"), (FLAGS.format(0), "q:0.05", 1, "undecided"),
        (FLAGS.format(0), "q", 1, "undecided"), (FLAGS.format(8), "q:0.05", 1, "failed"),
        (FLAGS.format(1), "q:0.05", 1, "undecided"),
    ],
)  # fmt: skip
def test_a_gate_asks_that_it_is_shown_not_to_be_worse(run, suite, gate, code, verdict):
    """Twelve tests that all pass leave room for a quarter of failures (Wilson, Newcombe)."""
    assert run(FLAGS.format(0), "--trajgrade-output", "old.json").ret == 0
    done = run(suite, "--trajgrade-baseline", "old.json", "--trajgrade-no-regression", gate)
    assert done.ret == code
    done.stdout.fnmatch_lines([f"no regression of q by *: {verdict} *"])
    assert "no worse than" not in done.stdout.str()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--trajgrade-no-regression", "q"),
        ("--trajgrade-baseline", "x.json", "--trajgrade-no-regression", "q:-1"),
        ("--trajgrade-baseline", "x.json", *("--trajgrade-no-regression", "q") * 2),
    ],
)
def test_a_malformed_gate_is_a_usage_error(run, arguments):
    assert run(FLAGS.format(0), *arguments).ret == pytest.ExitCode.USAGE_ERROR


# ------------------------------------------------------------------------------ what is kept


def test_what_cannot_be_written_fails_with_one_line_and_the_summary_stays(
    run, pytester, monkeypatch
):
    (pytester.path / "file").write_text("")
    monkeypatch.setenv("TRAJGRADE_STORE", str(pytester.path / "file" / "runs.db"))
    done = run(
        FLAGS.format(0), "--trajgrade-output", "file/out.json", "--trajgrade-output", "good.md",
        "--trajgrade-experiment", "mine",
    )  # fmt: skip
    assert done.ret == 1
    done.stdout.fnmatch_lines(["q *1.000*12/12 tests*"])
    done.stdout.fnmatch_lines(["saved good.md"])
    done.stdout.fnmatch_lines(["FAILED file/out.json could not be saved: *"])
    done.stdout.fnmatch_lines(["FAILED the run could not be kept: *"])
    assert "Traceback" not in done.stdout.str() + done.stderr.str()


def test_what_the_gates_came_to_is_kept_with_the_run(run, pytester, monkeypatch):
    monkeypatch.setenv("TRAJGRADE_STORE", str(pytester.path / "runs.db"))
    suite = repeated("trajgrade.log_feedback('q', True); assert trajgrade.trial", trials=2, least=1)
    run(suite, "--trajgrade-experiment", "mine")
    done = run(
        suite, "--trajgrade-threshold", "q=0.5", "--trajgrade-baseline", "run:latest",
        "--trajgrade-experiment", "mine", "--trajgrade-output", "out.html",
    )  # fmt: skip
    assert done.ret == 0
    from trajgrade import Run

    kept = {outcome.threshold: outcome.verdict for outcome in Run.load("run:latest").outcomes}
    assert kept == {
        "q >= 0.5": "passed",
        "test_one.py::test_it: trials passed >= 1": "passed",
        "q no worse than run:latest": "passed",
    }
    page = (pytester.path / "out.html").read_text()
    assert "test_one.py::test_it: trials passed &gt;= 1" in page


def test_a_key_that_one_test_logs_several_times_is_its_mean_and_that_is_said(run, pytester):
    suite = """def test_it(trajgrade):
    trajgrade.log_feedback("q", False)
    trajgrade.log_feedback("q", True)
    trajgrade.log_feedback("lacks", None)
    trajgrade.log_feedback("lacks", 1.0)
"""
    done = run(suite, "--trajgrade-threshold", "q=0.9", "--trajgrade-output", "out.jsonl")
    assert done.ret == 1
    done.stdout.fnmatch_lines(["q was logged more than once by one test*test_one.py::test_it"])
    (row,) = [json.loads(line) for line in (pytester.path / "out.jsonl").read_text().splitlines()]
    assert row["results"]["q"]["score"] == 0.5
    assert row["results"]["q"]["value"] is False
    assert row["results"]["lacks"]["score"] is None


def test_a_suite_of_potatos_plugin_runs_with_another_import(run):
    suite = """
from trajgrade.expecting import expect

ANSWERS = {"2+2": "4", "sky": "blue"}

@pytest.mark.potato_eval
@pytest.mark.parametrize("question", ANSWERS)
def test_answers(question, potato_eval):
    out = ANSWERS[question]
    potato_eval.log_inputs({"question": question})
    potato_eval.log_outputs(out)
    potato_eval.log_reference_outputs(ANSWERS[question])
    potato_eval.log_feedback("correct", 1.0)
    potato_eval.log_feedback("similarity", 1.0 - expect.edit_distance(out, "4").value)
    expect(out).to_contain("")
    expect(len(out)).to_be_between(1, 4)
    expect(0.9).to_be_greater_than(0.8)
    with pytest.raises(AssertionError, match="less than 0.1"):
        expect.edit_distance("abc", "xyz").to_be_less_than(0.1)
    near = expect.embedding_distance("a", "b", embed_fn={"a": [1.0, 0.0], "b": [1.0, 0.0]}.get)
    near.to_be_less_than(0.01)
    expect(out).exact_match(out)
"""
    done = run(suite, "--trajgrade-threshold", "correct=0.8")
    assert done.ret == 0
    done.stdout.fnmatch_lines(["correct *1.000*2/2 tests*"])
    done.stdout.fnmatch_lines(["similarity *0.500*2/2 tests*"])
    assert "exact_match" not in done.stdout.str()
