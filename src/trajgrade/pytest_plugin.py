"""The pytest plugin: tests that log scores, and a gate over all of them.

    def test_refund(trajgrade):
        trajgrade.log_inputs("Refund order 7")
        trajgrade.log_outputs(agent("Refund order 7"))
        trajgrade.log_reference_outputs([{"tool_name": "refund", "tool_input": {"order": 7}}])
        trajgrade.evaluate("trajectory_match")

    pytest --trajgrade-threshold trajectory_match=0.8

Inert unless a test asks for the fixture: nothing of trajgrade is imported before. What a test
logged goes with its report, so that it is there under xdist, too; the gate is in the process that
was started. A threshold that fails, cannot be decided, or whose key no test logged, fails the
session.
`potato_eval` is another name of the fixture and of the marker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from trajgrade.run import Run
    from trajgrade.suite import Case

_NAMES = ("trajgrade", "potato_eval")
_CASE = pytest.StashKey["Case"]()
_SESSION = pytest.StashKey["Session"]()
_TRIAL = "_trajgrade_trial"
_EXAMPLE = "example"
_LOGGED = "trajgrade"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("trajgrade", "grading agents")
    group.addoption(
        "--trajgrade-threshold",
        action="append",
        default=[],
        metavar="KEY[/STAT]=BOUND",
        help="Fail unless what tests logged under KEY meets the bound: 0.8, '<=2'. Repeatable.",
    )
    group.addoption(
        "--trajgrade-baseline",
        metavar="RUN",
        help="Compare with a saved run (a file, or run:ID), and fail if a metric is worse.",
    )
    group.addoption(
        "--trajgrade-experiment",
        metavar="NAME",
        help="Keep the run in the store, grouped under NAME; also TRAJGRADE_EXPERIMENT.",
    )
    group.addoption(
        "--trajgrade-trials",
        type=int,
        metavar="N",
        help="Run each test that uses the fixture N times.",
    )
    group.addoption("--trajgrade-no-sync", action="store_true", help="Keep the run in no store.")
    group.addoption(
        "--trajgrade-output", metavar="FILE",
        help="Save what was logged; the suffix names the format: .json, .jsonl, .csv, .md.",
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, and check the options."""
    for name in _NAMES:
        config.addinivalue_line(
            "markers",
            f"{name}(dataset=None, trials=None, min_pass=None): grades an agent; `dataset` gives "
            "each row to the fixture `example`, `trials` repeats the test, `min_pass` is how many "
            "repeats must pass",
        )
    config.stash[_SESSION] = Session(config)


class Session:
    """What the tests of a session logged, in the process that was started.

    Args:
        config: pytest's.

    Raises:
        UsageError: An option is malformed.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self.cases: dict[str, dict[str, Any]] = {}
        self.trials: dict[str, Counter[str]] = {}
        self.least: dict[str, int] = {}
        self.run: Run | None = None
        self.faults: list[str] = []
        self.lines: list[str] = []
        self.is_worker = hasattr(config, "workerinput")
        self.thresholds = self._thresholds()
        trials = config.getoption("--trajgrade-trials")
        if trials is not None and trials < 1:
            raise pytest.UsageError(f"--trajgrade-trials: at least 1 is needed, got {trials}")
        output = config.getoption("--trajgrade-output")
        if output is not None:
            self._check_output(output)

    def _thresholds(self) -> dict[str, str]:
        given: list[str] = self._config.getoption("--trajgrade-threshold")
        if not given:
            return {}
        from trajgrade.errors import TrajgradeError
        from trajgrade.thresholds import parse_thresholds

        found: dict[str, str] = {}
        for text in given:
            key, equals, bound = text.partition("=")
            if key.endswith((">", "<")):  # KEY>=0.8 is meant as it looks
                key, bound = key[:-1], f"{key[-1]}={bound}"
            if not equals or not key.strip() or not bound.strip():
                raise pytest.UsageError(f"--trajgrade-threshold {text}: write KEY=0.8")
            if key in found:
                raise pytest.UsageError(f"--trajgrade-threshold {text}: {key} is given twice")
            found[key.strip()] = bound.strip()
        try:
            parse_thresholds(found)
        except TrajgradeError as wrong:
            raise pytest.UsageError(f"--trajgrade-threshold: {wrong}") from None
        return found

    def _check_output(self, output: str) -> None:
        from trajgrade.errors import TrajgradeError
        from trajgrade.registry import reports

        try:
            reports.find(Path(output).suffix.lower())
        except TrajgradeError as wrong:
            raise pytest.UsageError(f"--trajgrade-output {output}: {wrong}") from None

    @property
    def is_asked(self) -> bool:
        """Whether anything is to be done at the end."""
        options = ("--trajgrade-baseline", "--trajgrade-output", "--trajgrade-experiment")
        asked = bool(self.thresholds) or any(self._config.getoption(name) for name in options)
        return asked or bool(self.cases) or bool(self.least)

    def add(self, report: pytest.TestReport) -> None:
        """Keep what a test logged."""
        case = getattr(report, _LOGGED, None)
        if case is not None:
            self.cases[report.nodeid] = case
            if case.get("least") is not None:
                self.least[case["test"]] = case["least"]
                self.trials.setdefault(case["test"], Counter())[case["outcome"]] += 1

    # ------------------------------------------------------------------ the end

    def finish(self) -> bool:
        """Judge the session; return whether it may pass."""
        from trajgrade.suite import run_of

        self.run = run_of([*self.cases.values()], self.thresholds)
        for outcome in self.run.outcomes:
            told = f"{outcome.threshold}: {outcome.verdict}"
            told += f" ({outcome.reason})" if outcome.reason else ""
            self.lines.append(told)
            if outcome.verdict != "passed":
                self.faults.append(told)
        for test, least in self.least.items():
            passed, of = self.trials[test]["passed"], sum(self.trials[test].values())
            told = f"{test}: {passed} of {of} trials passed, {least} must"
            self.lines.append(told)
            if passed < least:
                self.faults.append(told)
        self._compare(self.run)
        self._keep(self.run)
        return not self.faults

    def _compare(self, run: Run) -> None:
        baseline = self._config.getoption("--trajgrade-baseline")
        if baseline is None:
            return
        from trajgrade.comparison.comparing import compare
        from trajgrade.errors import TrajgradeError

        try:
            found = compare(baseline, run)
        except TrajgradeError as wrong:
            self.faults.append(f"--trajgrade-baseline {baseline}: {wrong}")
            return
        self.lines.append(f"against {baseline}: {found!r}")
        self.lines += [f"against {baseline}: {warning}" for warning in found.warnings]
        if found.exit_code == 1:
            self.faults.append(f"against {baseline}: a metric is worse")

    def _keep(self, run: Run) -> None:
        import os

        output = self._config.getoption("--trajgrade-output")
        if output is not None:
            run.save(output)
            self.lines.append(f"saved {output}")
        experiment = self._config.getoption("--trajgrade-experiment")
        experiment = experiment or os.environ.get("TRAJGRADE_EXPERIMENT")
        if not experiment or self._config.getoption("--trajgrade-no-sync"):
            return
        from trajgrade.recording import keep_whole
        from trajgrade.stores import open_store

        store = open_store()
        kept = keep_whole(store, run, experiment=experiment)
        self.lines.append(f"kept as run:{kept} in {store.url}")


# ------------------------------------------------------------------------------ tests


@pytest.fixture
def _trajgrade_trial(request: pytest.FixtureRequest) -> Any:
    """Which repeat of the test this is."""
    return getattr(request, "param", None)


@pytest.fixture
def trajgrade(request: pytest.FixtureRequest, _trajgrade_trial: int | None) -> Case:
    """What the test logs: `log_inputs`, `log_outputs`, `log_feedback`, `evaluate`, `expect`."""
    from trajgrade.suite import Case

    callspec = getattr(request.node, "callspec", None)
    given = callspec.params.get(_EXAMPLE) if callspec is not None else None
    example = given if type(given).__module__ == "trajgrade.dataset.example" else None
    case = Case(_test_of(request.node), _trajgrade_trial, example)
    request.node.stash[_CASE] = case
    return case


@pytest.fixture
def potato_eval(trajgrade: Case) -> Case:
    """`trajgrade`, under the name that Potato's plugin has for it."""
    return trajgrade


def _test_of(node: Any) -> str:
    """Return the id of a test without its repeat."""
    callspec = getattr(node, "callspec", None)
    if callspec is None or _TRIAL not in callspec.params:
        return str(node.nodeid)
    mark = f"trial{callspec.params[_TRIAL]}"
    name, _, ids = node.nodeid.rpartition("[")
    left = [part for part in ids.removesuffix("]").split("-") if part != mark]
    return f"{name}[{'-'.join(left)}]" if left else name


def _marked(node: Any) -> Mapping[str, Any]:
    """Return what the markers of a test say, the nearest first."""
    found: dict[str, Any] = {}
    for name in _NAMES:
        for mark in node.iter_markers(name):
            found = {**mark.kwargs, **found}
    return found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Repeat tests, and give each the rows of its dataset."""
    if not {*_NAMES} & {*metafunc.fixturenames}:
        return
    marked = _marked(metafunc.definition)
    if marked.get("dataset") is not None and _EXAMPLE in metafunc.fixturenames:
        from trajgrade.dataset import Dataset

        place = marked["dataset"]
        beside = Path(metafunc.definition.path).parent / str(place)
        found = [*Dataset.load(str(beside) if beside.exists() else place).examples()]
        metafunc.parametrize(_EXAMPLE, found, ids=[one.id for one in found])
    trials = marked.get("trials") or metafunc.config.getoption("--trajgrade-trials")
    if trials is not None and trials > 1:
        ids = [f"trial{n}" for n in range(trials)]
        metafunc.parametrize(_TRIAL, range(trials), ids=ids, indirect=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Have what a test logged go with its report, and with its JUnit properties."""
    report = yield
    case = item.stash.get(_CASE, None)
    if case is None:
        return report
    if report.when == "call":
        case.outcome = report.outcome
        least = _marked(item).get("min_pass")
        if least is not None and report.failed:
            report.outcome = "skipped"
            report.wasxfail = f"{least} of its trials must pass"
        item.user_properties += [
            (f"trajgrade.{key}", "" if r.score is None else r.score)
            for key, r in case.results.items()
        ]
    if report.when == "teardown":
        least = _marked(item).get("min_pass")
        told = {"test": case.name, "outcome": case.outcome, "least": least}
        vars(report)[_LOGGED] = {**case.to_dict(), **told}  # xdist sends what a report has
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Listen to reports, in the process that was started."""
    found = session.config.stash[_SESSION]
    if not found.is_worker:
        session.config.pluginmanager.register(Listener(found), "trajgrade-listener")


class Listener:
    """Hears every report, those of other processes too."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a test logged."""
        self._session.add(report)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail the session where what was logged does not meet what must hold."""
    found = session.config.stash[_SESSION]
    over = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    if found.is_worker or not over or session.config.option.collectonly or not found.is_asked:
        return
    if not found.finish() and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print what was logged, and whether it is enough."""
    found = config.stash[_SESSION]
    if found.run is None:
        return
    terminalreporter.section("trajgrade")
    for line in _summary(found.run):
        terminalreporter.write_line(line)
    for line in found.lines:
        terminalreporter.write_line(line)
    for fault in found.faults:
        terminalreporter.write_line(f"FAILED {fault}", red=True)


def _summary(run: Run) -> Iterator[str]:
    from trajgrade.report.plain import count, number, printable

    width = max((len(key) for key in run.summary), default=0)
    for key, metric in run.summary.items():
        scored = f"{metric.n_scored}/{metric.n_total} tests"
        interval = metric.interval()
        bounds = f"  [{number(interval.low)}, {number(interval.high)}]" if interval else ""
        kinds = ", ".join(f"{kind} {rows}" for kind, rows in metric.kinds.items())
        told = f"  ({kinds})" if metric.n_error else ""
        yield printable(f"{key:{width}}  {number(metric.mean)}{bounds}  {scored}{told}")
    if not run.summary:
        yield f"nothing was logged by {count(len(run.rows), 'test')}"
