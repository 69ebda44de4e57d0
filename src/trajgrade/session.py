"""Session: what all tests of a session logged → whether it may pass.

Three things are judged, and each is an outcome of the run, kept and shown with it: the thresholds;
of tests that are repeated, how many of the trials passed; and that nothing is worse than in a
baseline. What cannot be decided does not pass. Nothing here knows pytest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from trajgrade.comparison.gates import gates_of
from trajgrade.errors import ConfigError, TrajgradeError
from trajgrade.measured import MEASURED
from trajgrade.registry import reports
from trajgrade.report.plain import count, number, printable
from trajgrade.run import Run
from trajgrade.suite import run_of
from trajgrade.thresholds import Outcome, Verdict, parse_thresholds

if TYPE_CHECKING:
    from trajgrade.comparison.compared import Comparison


class Wanted(NamedTuple):
    """What is asked of a session.

    Attributes:
        thresholds: What must hold, as `KEY[/STAT]=BOUND`.
        baseline: The run that nothing may be worse than, as `Run.load` takes it.
        gates: What must be shown to be no worse than there, as `KEY[:MARGIN]`.
        output: The files that the run is saved to.
        experiment: The label under which it is kept; in no store where it is empty.
    """

    thresholds: tuple[str, ...] = ()
    baseline: str = ""
    gates: tuple[str, ...] = ()
    output: tuple[str, ...] = ()
    experiment: str = ""

    def check(self) -> None:
        """Refuse what is malformed.

        Raises:
            ConfigError: A threshold, a gate or a file is.
        """
        bounds_of(self.thresholds)
        margins_of(self.gates)
        if self.gates and not self.baseline:
            raise ConfigError(f"{self.gates[0]}: name the baseline, --trajgrade-baseline RUN")
        for path in self.output:
            try:
                reports.find(Path(path).suffix.lower())
            except TrajgradeError as wrong:
                raise ConfigError(f"{path}: {wrong}") from None


class Ending(NamedTuple):
    """What a session came to.

    Attributes:
        run: The run.
        lines: What is to be told of it.
        faults: Why it may not pass; empty where it may.
    """

    run: Run
    lines: list[str]
    faults: list[str]


def bounds_of(written: Sequence[str]) -> dict[str, str]:
    """Read thresholds as an option spells them: `KEY=0.8`, `KEY/p90=<=2`, also `KEY>=0.8`.

    Raises:
        ConfigError: One is malformed.
    """
    found: dict[str, str] = {}
    for text in written:
        key, equals, bound = text.partition("=")
        if key.endswith((">", "<")):  # KEY>=0.8 is meant as it looks
            key, bound = key[:-1], f"{key[-1]}={bound}"
        key, bound = key.strip(), bound.strip()
        if not equals or not key or not bound:
            raise ConfigError(f"{text}: write KEY=0.8")
        if key in found:
            raise ConfigError(f"{text}: {key} is given twice")
        found[key] = bound
    parse_thresholds(found)
    return found


def margins_of(written: Sequence[str]) -> dict[str, float]:
    """Read gates as an option spells them: `KEY`, `KEY:0.02`.

    Raises:
        ConfigError: A margin is no number from 0 on, or a metric is named twice.
    """
    found: dict[str, float] = {}
    for text in written:
        key, colon, margin = text.rpartition(":")
        if not colon or not _is_number(margin):
            key, margin = text, "0"
        if key in found:
            raise ConfigError(f"{text}: {key} is given twice")
        found[key] = float(margin)
    gates_of(found)
    return found


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def ended(cases: Sequence[Mapping[str, Any]], wanted: Wanted) -> Ending:
    """Judge a session, save its run, and keep it.

    Args:
        cases: What each test logged: `Case.to_dict`, with `test`, and where it is repeated `least`,
            how many trials must pass, `planned`, how many there are, and `chosen`, how many of
            those this session was to run.
        wanted: What is asked of it.
    """
    run = run_of(cases, bounds_of(wanted.thresholds))
    lines = [printable(text) for text in run.warnings]
    outcomes = [*run.outcomes, *_trials(cases, lines)]
    if wanted.baseline:
        outcomes += _compared(run, wanted, lines)
    run = msgspec.structs.replace(run, outcomes=tuple(outcomes))
    faults = []
    for outcome in outcomes:
        told = f"{outcome.threshold}: {outcome.verdict}"
        told = printable(f"{told} ({outcome.reason})" if outcome.reason else told)
        lines.append(told)
        if outcome.verdict != "passed":
            faults.append(told)
    faults += _written(run, wanted, lines)
    return Ending(run, lines, faults)


def _trials(cases: Sequence[Mapping[str, Any]], lines: list[str]) -> Iterator[Outcome]:
    """Yield whether enough trials of each repeated test passed; tell which cannot be judged."""
    repeated: dict[str, list[Mapping[str, Any]]] = {}
    for case in cases:
        if case.get("least") is not None:
            repeated.setdefault(case["test"], []).append(case)
    for test, trials in repeated.items():
        least, planned, chosen = (trials[0][name] for name in ("least", "planned", "chosen"))
        if chosen < planned:
            some = f"{chosen} of its {count(planned, 'trial')} {'was' if chosen == 1 else 'were'}"
            lines.append(
                printable(f"{test}: {some} chosen, so that {least} must pass says nothing")
            )
            continue
        passed = sum(trial["outcome"] == "passed" for trial in trials)
        ran = sum(trial["outcome"] != "not_run" for trial in trials)
        told = f"{passed} of {count(ran, 'trial')} passed, {least} must"
        told += f"; {planned - ran} more were not run" if ran < planned else ""
        verdict: Verdict = "passed" if passed >= least else "failed"
        yield Outcome(f"{test}: trials passed >= {least}", verdict, passed, told, least)


def _compared(run: Run, wanted: Wanted, lines: list[str]) -> list[Outcome]:
    from trajgrade.comparison.comparing import compare

    baseline, margins = wanted.baseline, margins_of(wanted.gates)
    try:
        found = compare(baseline, run, no_regression=margins)
    except TrajgradeError as wrong:
        return [Outcome(f"no metric worse than {baseline}", "undecided", None, str(wrong))]
    lines += [printable(f"against {baseline}: {warning}") for warning in found.warnings]
    there = [key for key in found.pairs.base.metrics if key not in MEASURED]
    why = ""
    if not found.pairs.names:
        why = "the runs have no test in common, by id: nothing could be compared"
    elif not any(metric.n_pairs for metric in found.metrics.values()):
        logged = ", ".join(run.summary) or "nothing"
        why = f"no metric has scores in both runs; there: {', '.join(there)}; here: {logged}"
    if why:
        return [Outcome(f"no metric worse than {baseline}", "undecided", None, why)]
    return [
        *found.outcomes,
        *(_against(key, found, baseline) for key in there if key not in margins),
    ]


def _against(key: str, found: Comparison, baseline: str) -> Outcome:
    """Return whether one metric is no worse than it was."""
    name = f"{key} no worse than {baseline}"
    metric = found.metrics.get(key)
    if metric is None:
        return Outcome(name, "undecided", None, f"no test logged {key!r}, which the baseline has")
    if not metric.n_pairs:
        return Outcome(name, "undecided", None, "no test has a score in both runs")
    told = f"{number(metric.base)} → {number(metric.new)} over {metric.n_pairs} tests"
    if metric.finding == "different":
        told += "; which scores are better is not said: log_feedback(…, direction='higher')"
        return Outcome(name, "undecided", metric.difference, told)
    verdict: Verdict = "failed" if metric.finding == "worse" else "passed"
    return Outcome(name, verdict, metric.difference, f"{told}: {metric.finding}")


def _written(run: Run, wanted: Wanted, lines: list[str]) -> Iterator[str]:
    """Save and keep the run; yield what could not be written, and why."""
    for path in wanted.output:
        try:
            run.save(path)
        except (OSError, TrajgradeError) as wrong:
            yield printable(f"{path} could not be saved: {wrong}")
        else:
            lines.append(f"saved {path}")
    if not wanted.experiment:
        return
    from trajgrade.recording import keep_whole
    from trajgrade.stores import open_store

    try:
        store = open_store()
        kept = keep_whole(store, run, experiment=wanted.experiment)
    except (OSError, TrajgradeError) as wrong:
        yield printable(f"the run could not be kept: {wrong}")
    else:
        lines.append(f"kept as run:{kept} in {store.url}")


def summary_lines(run: Run) -> Iterator[str]:
    """Yield a line for each metric: its mean with its interval, and over how many tests it is."""
    width = max((len(key) for key in run.summary), default=0)
    for key, metric in run.summary.items():
        scored = f"{metric.n_scored}/{metric.n_total} tests"
        interval = metric.interval()
        bounds = f"  [{number(interval.low)}, {number(interval.high)}]" if interval else ""
        kinds = ", ".join(f"{kind} {rows}" for kind, rows in metric.kinds.items())
        told = f"  ({kinds})" if {*metric.kinds} - {"undefined"} else ""
        yield printable(f"{key:{width}}  {number(metric.mean)}{bounds}  {scored}{told}")
    if not run.summary:
        yield f"nothing was logged by {count(len(run.rows), 'test')}"
