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
session. `potato_eval` is another name of the fixture and of the marker.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from trajgrade.session import Ending
    from trajgrade.suite import Case

_NAMES = ("trajgrade", "potato_eval")
_CASE = pytest.StashKey["Case"]()
_GATE = pytest.StashKey["Gate"]()
_CHOSEN = pytest.StashKey[Counter[str]]()
_LOST = pytest.StashKey[Counter[str]]()
_PARTS = pytest.StashKey[list[str]]()
_TRIAL = "_trajgrade_trial"
_EXAMPLE = "example"
_LOGGED = "trajgrade"
_TAKEN = ("dataset", "trials", "min_pass")


_MANY: dict[str, Any] = {"action": "append", "default": []}
_OPTIONS: dict[str, dict[str, Any]] = {
    "threshold": {
        **_MANY, "metavar": "KEY[/STAT]=BOUND",
        "help": "Fail unless what tests logged under KEY meets the bound: 0.8, '<=2'. Repeatable.",
    },
    "baseline": {
        "metavar": "RUN",
        "help": "Compare with a saved run (a file, or run:ID), and fail if a metric is worse.",
    },
    "no-regression": {
        **_MANY, "metavar": "KEY[:MARGIN]",
        "help": "Fail unless KEY is shown to be no worse than in the baseline by MARGIN or more. "
        "Repeatable.",
    },
    "experiment": {
        "metavar": "NAME",
        "help": "Keep the run in the store, grouped under NAME; also TRAJGRADE_EXPERIMENT.",
    },
    "trials": {
        "type": int, "metavar": "N", "help": "Run each test that uses the fixture N times.",
    },
    "no-sync": {"action": "store_true", "help": "Keep the run in no store."},
    "output": {
        **_MANY, "metavar": "FILE",
        "help": "Save what was logged; the suffix names the format: .html, .md, .xml, .json, "
        ".jsonl, .csv, .parquet. Repeatable.",
    },
}  # fmt: skip
_CHECKED = {"threshold": "thresholds", "no-regression": "gates", "output": "output"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("trajgrade", "grading agents")
    for name, asked in _OPTIONS.items():
        group.addoption(f"--trajgrade-{name}", **asked)


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, and check the options."""
    for name in _NAMES:
        config.addinivalue_line(
            "markers",
            f"{name}(dataset=None, trials=None, min_pass=None): grades an agent; `dataset` gives "
            "each row to the fixture `example`, `trials` repeats the test, `min_pass` is how many "
            "repeats must pass",
        )
    config.stash[_GATE] = Gate(config)
    config.stash[_CHOSEN], config.stash[_LOST] = Counter(), Counter()


class Gate:
    """What the tests of a session logged, and whether it may pass.

    Args:
        config: pytest's.

    Raises:
        UsageError: An option is malformed.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.cases: dict[str, dict[str, Any]] = {}
        self.ending: Ending | None = None
        self.is_worker = hasattr(config, "workerinput")
        self._config = config
        trials = config.getoption("--trajgrade-trials")
        if trials is not None and trials < 1:
            raise pytest.UsageError(f"--trajgrade-trials: at least 1 is needed, got {trials}")
        baseline = config.getoption("--trajgrade-baseline") or ""
        for option, field in _CHECKED.items():
            if given := tuple(config.getoption(f"--trajgrade-{option}")):
                self._check(f"--trajgrade-{option}", {field: given, "baseline": baseline})

    def _check(self, option: str, given: dict[str, Any]) -> None:
        from trajgrade.errors import TrajgradeError
        from trajgrade.session import Wanted

        try:
            Wanted(**given).check()
        except TrajgradeError as wrong:
            raise pytest.UsageError(f"{option} {wrong}") from None

    @property
    def is_asked(self) -> bool:
        """Whether anything is to be done at the end."""
        named = ("threshold", "baseline", "output", "experiment")
        asked = (self._config.getoption(f"--trajgrade-{name}") for name in named)
        return bool(self.cases) or any(asked)

    def finish(self) -> bool:
        """Judge the session; return whether it may pass."""
        from trajgrade.session import Wanted, ended

        option = self._config.getoption
        experiment = option("--trajgrade-experiment") or os.environ.get("TRAJGRADE_EXPERIMENT")
        wanted = Wanted(
            thresholds=tuple(option("--trajgrade-threshold")),
            baseline=option("--trajgrade-baseline") or "",
            gates=tuple(option("--trajgrade-no-regression")),
            output=tuple(option("--trajgrade-output")),
            experiment="" if option("--trajgrade-no-sync") else experiment or "",
        )
        self.ending = ended([*self.cases.values()], wanted)
        return not self.ending.faults

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a test logged, wherever it ran."""
        case = getattr(report, _LOGGED, None)
        if case is not None:
            self.cases[report.nodeid] = case


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
    marked = Marked.of(request.node)
    lost = request.config.stash[_LOST][case.name]
    if marked.min_pass is not None and lost > marked.planned - marked.min_pass:
        case.outcome = "not_run"
        pytest.skip(f"{lost} of {marked.planned} trials failed, and {marked.min_pass} must pass")
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
    name, _, ids = node.nodeid.partition("[")
    parts = ids.removesuffix("]").split("-")
    del parts[len(parts) - 1 - parts[::-1].index(mark)]
    return f"{name}[{'-'.join(parts)}]" if parts else str(name)


class Marked(NamedTuple):
    """What the markers of a test say, the nearest first.

    Attributes:
        dataset: Where the rows are that the test runs for, None where it runs by itself.
        trials: How often it is repeated, None where the marker does not say.
        min_pass: How many of the trials must pass, None where each must.
        planned: How often it is repeated, the command's option being asked too.
    """

    dataset: Any = None
    trials: int | None = None
    min_pass: int | None = None
    planned: int = 1

    @classmethod
    def of(cls, node: Any) -> Marked:
        """Read the markers of a test.

        Raises:
            CollectError: One is malformed.
        """
        found: dict[str, Any] = {}
        for name in _NAMES:
            for mark in node.iter_markers(name):
                _checked(node, name, mark)
                found = {**mark.kwargs, **found}
        trials, least = found.get("trials"), found.get("min_pass")
        planned = trials or node.config.getoption("--trajgrade-trials") or 1
        if least is not None and least > planned:
            raise _fault(node, f"min_pass={least} of {planned} trials: name as many trials=…")
        return cls(found.get("dataset"), trials, least, planned)


def _checked(node: Any, name: str, mark: pytest.Mark) -> None:
    if mark.args:
        raise _fault(node, f"{name} takes no {mark.args[0]!r}: name it, dataset=… or trials=…")
    for key, value in mark.kwargs.items():
        if key not in _TAKEN:
            from trajgrade.errors import unknown

            raise _fault(node, f"{name}: {unknown('argument', key, _TAKEN)}")
        whole = type(value) is int and value >= 1
        if key != "dataset" and value is not None and not whole:
            raise _fault(node, f"{name}: {key} is a whole number from 1 on, got {value!r}")


def _fault(node: Any, told: str) -> Exception:
    return pytest.Collector.CollectError(f"{node.nodeid}: {told}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Repeat tests, and give each the rows of its dataset.

    Raises:
        CollectError: A marker asks for what the test cannot have.
    """
    node, names = metafunc.definition, metafunc.fixturenames
    marked, logs = Marked.of(node), bool({*_NAMES} & {*names})
    own = any(mark.name in _NAMES for mark in node.own_markers)
    if not logs and not own:  # a test that grades nothing, in a class that is marked
        return
    if not logs and (marked.trials or marked.min_pass):
        raise _fault(node, "trials and min_pass need the fixture: add the argument `trajgrade`")
    if marked.dataset is not None and _EXAMPLE not in names:
        told = f"dataset={marked.dataset!r} gives its rows to no one: add the argument `example`"
        raise _fault(node, told)
    if marked.dataset is not None:
        _give_rows(metafunc, marked.dataset)
    if logs and marked.planned > 1:
        ids = [f"trial{n}" for n in range(marked.planned)]
        metafunc.parametrize(_TRIAL, range(marked.planned), ids=ids, indirect=True)


def _give_rows(metafunc: pytest.Metafunc, place: Any) -> None:
    from trajgrade.dataset import Dataset
    from trajgrade.errors import TrajgradeError

    beside = Path(metafunc.definition.path).parent / str(place)
    named = isinstance(place, str | os.PathLike) and beside.exists()
    try:
        found = [*Dataset.load(str(beside) if named else place).examples()]
    except TrajgradeError as wrong:
        raise _fault(metafunc.definition, str(wrong)) from None
    if not found:
        raise _fault(metafunc.definition, f"dataset={place!r} has no rows")
    metafunc.parametrize(_EXAMPLE, found, ids=[one.id for one in found])


def pytest_collection_finish(session: pytest.Session) -> None:
    """Count how many trials of each test were chosen."""
    trials = (one for one in session.items if _TRIAL in getattr(one, "fixturenames", ()))
    session.config.stash[_CHOSEN].update(map(_test_of, trials))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Note that reports come from sub-tests until the test is over."""
    parts: list[str] = []
    item.stash[_PARTS] = parts
    try:
        return (yield)
    finally:
        del item.stash[_PARTS]
        case = item.stash.get(_CASE, None)
        if case is not None and "failed" in parts:
            case.outcome = "part_failed"


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
        _note_call(item, report, case)
    if report.when == "teardown":
        told = {"test": case.name, "function": _function_of(item), **_trials_of(item, case.name)}
        vars(report)[_LOGGED] = {**case.to_dict(), **told}  # xdist sends what a report has
    return report


def _note_call(item: pytest.Item, report: pytest.TestReport, case: Case) -> None:
    """Note how a test ended; one of several trials that need not all pass has not failed by it."""
    outcome = "failed" if hasattr(report, "wasxfail") else report.outcome
    part = item.stash.get(_PARTS, None)
    if part is not None:
        part.append(outcome)
    else:
        case.outcome = "failed" if case.outcome == "part_failed" else outcome
        item.config.stash[_LOST][case.name] += case.outcome == "failed"
        item.user_properties += [
            (f"trajgrade.{key}", "" if r.score is None else r.score)
            for key, r in case.results.items()
        ]
        outcome = case.outcome
    trials = _trials_of(item, case.name) if outcome == "failed" else {}
    if trials and trials["chosen"] == trials["planned"]:
        report.outcome = "skipped"
        report.wasxfail = f"{trials['least']} of its trials must pass"


def _function_of(item: Any) -> str:
    """Return what names a test's function, whatever its parameters."""
    named = getattr(item, "originalname", None) or item.name
    return f"{item.parent.nodeid}::{named}"


def _trials_of(item: Any, test: str) -> Mapping[str, int]:
    """Return how many trials there are, were chosen, and must pass; nothing where each must."""
    marked = Marked.of(item)
    if marked.min_pass is None:
        return {}
    chosen = item.config.stash[_CHOSEN][test] if marked.planned > 1 else 1
    return {"least": marked.min_pass, "planned": marked.planned, "chosen": chosen}


# ------------------------------------------------------------------------------ the end


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Listen to reports, in the process that was started."""
    gate = session.config.stash[_GATE]
    if not gate.is_worker:
        session.config.pluginmanager.register(gate, "trajgrade-gate")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail the session where what was logged does not meet what must hold."""
    gate = session.config.stash[_GATE]
    over = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    dry = any(session.config.getoption(name, False) for name in ("collectonly", "setuponly"))
    if gate.is_worker or dry or not over or not gate.is_asked:
        return
    if not gate.finish() and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print what was logged, and whether it is enough."""
    ending = config.stash[_GATE].ending
    if ending is None:
        return
    from trajgrade.session import summary_lines

    terminalreporter.section("trajgrade")
    for line in (*summary_lines(ending.run), *ending.lines):
        terminalreporter.write_line(line)
    for fault in ending.faults:
        terminalreporter.write_line(f"FAILED {fault}", red=True)
