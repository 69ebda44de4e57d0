"""What every report for people says of a run, before it is laid out.

Which rows are shown: with `worst`, a few: those in error first, then those that are among the
lowest of most metrics; with `all`, every row that some metric does not give its best score. What
was not evaluated for want of a reference is counted, and not shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from trajgrade.errors import shorten
from trajgrade.intervals import LEVEL
from trajgrade.report.plain import count, number, printable
from trajgrade.result import ERRORS, EvaluationResult
from trajgrade.run import Explain, Row, Run
from trajgrade.scores import IN_POPULATION, Column
from trajgrade.summary import MetricSummary

SHOWN_ROWS = 5
_MOST_RATES = 6


def heading(run: Run) -> str:
    """Return what was graded, in a line."""
    rows = count(len(run.rows), "row")
    if run.n_examples != len(run.rows):
        rows += f" of {count(run.n_examples, 'example')}"
    title = f"{run.name}: " if run.name else ""
    ending = "; interrupted, the figures are of these rows only" if run.interrupted else ""
    return printable(f"{title}{rows} from {run.dataset} in {run.seconds:.1f} s{ending}")


def metrics_of(run: Run) -> dict[str, MetricSummary]:
    """Return the metrics, and what latency and failure of the agent come to."""
    return {**run.summary, **run.agent}


INTERVAL = f"{LEVEL:.0%} interval"


def interval_of(metric: MetricSummary) -> str:
    """Return between which values the mean lies, at 95 % confidence; a dash if that is unknown."""
    interval = metric.interval()
    return "-" if interval is None else f"{number(interval.low)} to {number(interval.high)}"


def notes_of(metric: MetricSummary) -> list[str]:
    """Return what must be known beside a metric's mean."""
    notes = [
        count(rows, f"{kind} error") if kind in ERRORS else f"{rows:,} {kind}"
        for kind, rows in metric.kinds.items()
    ]
    if metric.mean_bounds is not None:
        low, high = map(number, metric.mean_bounds)
        notes.append(f"with them {low} to {high}")
    if metric.corpus is not None:
        notes.append(f"corpus {number(metric.corpus)}")
    if metric.n_vacuous:
        notes.append(f"{metric.n_vacuous} vacuous, {number(metric.mean_without_vacuous)} without")
    if metric.n_undefined:
        without = number(metric.mean_without_undefined)
        notes.append(f"{metric.n_undefined} undefined, {without} without")
    return notes


class Rates(NamedTuple):
    """pass^k and pass@k of one metric for some k."""

    metric: str
    all_of: list[float | None]
    any_of: list[float | None]


def rates(run: Run) -> tuple[list[int], list[Rates], list[str]]:
    """Return the numbers k, the rates of each metric that passes or fails, and what is left out."""
    metrics = [m for m in run.summary.values() if m.groups.repeated and m.has_verdicts]
    most = max((metric.most_trials for metric in metrics), default=0)
    ks = list(range(1, most + 1))
    if most > _MOST_RATES:
        ks = sorted({*(2**n for n in range(most.bit_length()) if 2**n <= most), most})
    found = [
        Rates(m.key, [m.pass_hat_k(k) for k in ks], [m.pass_at_k(k) for k in ks]) for m in metrics
    ]
    left_out = {k: max((metric.left_out(k) for metric in metrics), default=0) for k in ks}
    notes = [
        f"k={k} leaves out {count(examples, 'example')} with fewer trials"
        for k, examples in left_out.items()
        if examples
    ]
    return ks, found, notes


class Finding(NamedTuple):
    """What metrics say of a row that is shown: those of one score and one alignment say it once."""

    metrics: list[str]
    score: float | None
    comment: str


class Shown(NamedTuple):
    """One row that is shown, and why."""

    title: str
    findings: list[Finding]
    alignments: list[list[str]]


def shown_rows(run: Run, explain: Explain) -> Iterator[Shown]:
    """Yield the rows that are shown, read from disk one by one."""
    if explain == "none":
        return
    if explain == "all":
        columns = {key: metric.column for key, metric in run.summary.items()}
        for row in run.rows:
            keys = [key for key, result in row.results.items() if is_short_of(result, columns[key])]
            if keys:
                yield _shown(row, keys)
        return
    for index, keys in _worst(run)[:SHOWN_ROWS]:
        yield _shown(run.rows[index], keys)


def n_hidden(run: Run) -> int:
    """Return how many of the rows that scored low `worst` does not show."""
    return max(0, len(_worst(run)) - SHOWN_ROWS)


def _worst(run: Run) -> list[tuple[int, list[str]]]:
    """Return rows by number with the metrics that show them, the ones to look at first in front."""
    metrics: dict[int, list[str]] = defaultdict(list)
    broken: set[int] = set()
    for worst in run.worst:
        if worst.score is None:
            error = run.rows[worst.row].results[worst.metric].error
            if error is None or error.kind not in IN_POPULATION:
                continue
            broken.add(worst.row)
        metrics[worst.row].append(worst.metric)
    return sorted(metrics.items(), key=lambda item: (item[0] not in broken, -len(item[1]), item[0]))


def is_short_of(result: EvaluationResult, column: Column) -> bool:
    """Whether a result could have been better, or is in error."""
    if result.error is not None:
        return result.error.kind in IN_POPULATION
    if result.value is False:
        return True
    if column.bounds is None or column.direction is None or result.score is None:
        return False
    low, high = column.bounds
    return result.score < high if column.direction == "higher" else result.score > low


def title_of(row: Row) -> str:
    """Return the row's id, with its trial where there are several."""
    trial = "" if row.trial is None else f" (trial {row.trial})"
    return f"example {printable(row.id)}{trial}"


def _shown(row: Row, keys: Iterable[str]) -> Shown:
    findings: list[Finding] = []
    like: dict[tuple[Any, ...], Finding] = {}
    aligned: list[list[str]] = []
    for result in (row.results[key] for key in keys):
        lines = list(alignment_lines(result.metadata))
        aligned += [turn for turn in lines if turn not in aligned]
        comment = comment_of(result)
        alike = (result.score, tuple(map(tuple, lines)) or comment)
        if alike in like:
            like[alike].metrics.append(printable(result.key))
        else:
            like[alike] = Finding([printable(result.key)], result.score, comment)
            findings.append(like[alike])
    return Shown(title_of(row), findings, aligned)


def comment_of(result: EvaluationResult) -> str:
    """Return why a result is as it is, made safe to show."""
    kind = f"{result.error.kind}: " if result.error is not None else ""
    return printable(f"{kind}{result.comment}")


def alignment_lines(metadata: dict[str, Any]) -> Iterator[list[str]]:
    """Yield, for each turn aligned, its counts and then a line for each kind of difference."""
    stored = metadata.get("alignment")
    turns = stored if isinstance(stored, list) else [stored] if stored else []
    ours, theirs = _Names(metadata.get("agent_tools")), _Names(metadata.get("reference_tools"))
    for at, one in enumerate(turns):
        turn = f"turn {at}: " if len(turns) > 1 else ""
        yield _lines(one, ours, theirs, turn)
        ours.skip(len(one["matched"]) + len(one["extra"]))
        theirs.skip(len(one["matched"]) + len(one["missing"]))


class _Names:
    """The tools that were called, by index within the turn that is aligned."""

    def __init__(self, tools: Any) -> None:
        self._tools: Sequence[Any] = tools if isinstance(tools, list) else []
        self._start = 0

    def skip(self, calls: int) -> None:
        self._start += calls

    def __call__(self, index: int) -> str:
        place = self._start + index
        name = self._tools[place] if place < len(self._tools) else "?"
        return printable(str(name))

    def several(self, indices: Sequence[int]) -> str:
        """Return calls by number and name, neighbours of one name together."""
        found: list[tuple[int, int, str]] = []
        for index in indices:
            name = self(index)
            if found and found[-1][1:] == (index - 1, name):
                found[-1] = (found[-1][0], index, name)
            else:
                found.append((index, index, name))
        return ", ".join(
            f"{first if first == last else f'{first}-{last}'}:{name}" for first, last, name in found
        )


def _lines(one: dict[str, Any], ours: _Names, theirs: _Names, turn: str) -> list[str]:
    differing = [pair for pair in one["matched"] if pair["similarity"] < 1]
    counts = {
        "agree": len(one["matched"]) - len(differing),
        "differ": len(differing),
        "missing": len(one["missing"]),
        "extra": len(one["extra"]),
        "misordered": len(one["misordered"]),
    }
    said = ", ".join(f"{calls} {what}" for what, calls in counts.items() if calls)
    lines = [f"{turn}calls: {said or 'none on either side'}"]
    for pair in differing:
        where = f"{pair['got']}:{ours(pair['got'])}"
        lines += [f"differs {where} {_difference(place)}" for place in pair["differences"]]
    for what, names in (("missing", theirs), ("extra", ours), ("misordered", ours)):
        if one[what]:
            lines.append(f"{what} {names.several(one[what])}")
    return lines


def _difference(place: dict[str, Any]) -> str:
    sides = [
        f"{side} {shorten(place[side])}" if side in place else f"{side} nothing"
        for side in ("expected", "got")
    ]
    return printable(f"{place['path']}: {', '.join(sides)}" if place["path"] else ", ".join(sides))
