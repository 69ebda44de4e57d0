"""A run as one HTML file, which needs no network and no server, and may be sent to anyone.

What came from traces is an agent's or a stranger's text: it is escaped, what cannot be seen in it
is written out, and long texts are cut. The page's own policy lets nothing run or load but its one
style and one script, by their hashes. Without the script everything can still be read; with it rows
are filtered, sorted and leafed through. Of runs of more than 5,000 rows those to look at first are
shown, and of rows after the first two million letters no more than scores and comments.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trajgrade.jsontext import dumps
from trajgrade.measured import LATENCY
from trajgrade.report import beside, digest, judged, verdicts
from trajgrade.report.document import cut, document
from trajgrade.report.plain import number, printable, printable_lines
from trajgrade.report.saving import whole_file
from trajgrade.result import EvaluationResult
from trajgrade.run import Row, Run
from trajgrade.scores import SCORED
from trajgrade.summary import MetricSummary
from trajgrade.thresholds import statistic

MOST_ROWS = 5000
MOST_OF_ALL = 2_000_000
_PLACE = 300  # letters that one call beside another takes
_TIMES = {"median": "median", "p90": "p90", "p95": "p95", "longest": "max"}
_BARS = 10
_HEIGHT = 24


def write(run: Run, path: Path) -> None:
    """Write the run.

    Raises:
        MissingExtraError: jinja2 is not installed.
    """
    text = page(run)
    with whole_file(path) as file:
        file.write(text)


def page(run: Run) -> str:
    """Return the run as a page.

    Raises:
        MissingExtraError: jinja2 is not installed.
    """
    shown = _shown(run)
    return document(
        "run.html",
        ("run.css",),
        ("run.js",),
        **figures(run),
        **measured(run),
        signs=beside.SIGNS,
        rows=shown,
        hidden=len(run.rows) - len(shown),
        bare=sum(row["bare"] for row in shown),
    )


def figures(run: Run) -> dict[str, Any]:
    """Return what a page says of a run beside its rows, as its template is given it."""
    return {
        "title": printable(run.name or run.dataset),
        "heading": digest.heading(run),
        "started": f"{run.started_at:%Y-%m-%d %H:%M} UTC",
        "id": run.id,
        "warnings": [printable(warning) for warning in run.warnings],
        "outcomes": [
            {
                "threshold": printable(one.threshold), "verdict": one.verdict,
                "value": number(one.value, one.bound), "reason": printable(one.reason),
            }
            for one in run.outcomes
        ],
        "judges": [[*map(printable, cells)] for cells in judged.rows(run)],
        "judge_headings": judged.HEADINGS,
        "judge_remarks": [printable(text) for text in judged.remarks(run)],
        "metrics": [_metric(metric) for metric in digest.metrics_of(run).values()],
    }  # fmt: skip


def measured(run: Run) -> dict[str, Any]:
    """Return what judges said, and how long the agent took."""
    said = verdicts.Verdicts()
    for row in run.rows:
        for result in row.results.values():
            said.add(result)
    latency = run.agent.get(LATENCY)
    times: list[tuple[str, str]] = []
    if latency is not None and latency.n_scored:
        times = [(name, f"{statistic(latency, stat) or 0:,.3f} s") for name, stat in _TIMES.items()]
    return {
        "verdicts": [*said.rows()],
        "verdict_headings": verdicts.HEADINGS,
        "verdict_total": said.total,
        "times": times,
    }


def _shown(run: Run) -> list[dict[str, Any]]:
    """Return the rows that are shown, those after the first so many letters without their calls."""
    metrics = {key: place for place, key in enumerate(digest.metrics_of(run))}
    found: list[dict[str, Any]] = []
    left = MOST_OF_ALL
    for row in _rows(run):
        told = _row(row, metrics, run, bare=left <= 0)
        left -= told["letters"]
        found.append(told)
    return found


def _rows(run: Run) -> Iterator[Row]:
    """Yield the rows to look at first: in error, then short of the best, then the others."""
    if len(run.rows) <= MOST_ROWS:
        yield from sorted(run.rows, key=lambda row: _ORDER[kind_of(row, run)])
        return
    left: dict[str, list[int]] = {"error": [], "short": [], "best": []}
    for place, row in enumerate(run.rows):
        left[kind_of(row, run)].append(place)
    for place in [*left["error"], *left["short"], *left["best"]][:MOST_ROWS]:
        yield run.rows[place]


_ORDER = {"error": 0, "short": 1, "best": 2}


def kind_of(row: Row, run: Run) -> str:
    """Return whether a row is in `error`, `short` of the best by some metric, or at its `best`."""
    results = row.results.items()
    if any(result.error is not None and not result.error.not_evaluated for _, result in results):
        return "error"
    short = any(digest.is_short_of(result, run.summary[key].column) for key, result in results)
    return "short" if short else "best"


def _metric(metric: MetricSummary) -> dict[str, Any]:
    interval = metric.interval()
    bars, described = _distribution(metric)
    return {
        "key": printable(metric.key),
        "direction": metric.column.direction,
        "mean": number(metric.mean),
        "interval": f"{number(interval.low)} to {number(interval.high)}" if interval else "-",
        "std": number(metric.std),
        "scored": f"{metric.n_scored:,}/{metric.n_total:,}",
        "notes": printable("; ".join(digest.notes_of(metric))),
        "bars": bars,
        "described": described,
    }


def _distribution(metric: MetricSummary) -> tuple[list[int], str]:
    """Return the heights of the bars of a histogram, and the same in words."""
    column = metric.column
    rows = zip(column.scores, column.codes, strict=True)
    scores = [score for score, code in rows if code == SCORED]
    if not scores:
        return [0] * _BARS, "no scores"
    low, high = column.bounds or (min(scores), max(scores))
    width = (high - low) or 1.0
    counts = [0] * _BARS
    for score in scores:
        counts[min(_BARS - 1, max(0, int((score - low) / width * _BARS)))] += 1
    most = max(counts)
    heights = [max(1, round(count / most * _HEIGHT)) if count else 0 for count in counts]
    return heights, f"from {low:g} to {high:g}: {', '.join(map(str, counts))} rows"


def _row(row: Row, metrics: dict[str, int], run: Run, *, bare: bool) -> dict[str, Any]:
    results = [told_of(result) for result in row.results.values()]
    turns = [] if bare else beside.turns_of(row)
    evidence = "" if bare else evidence_of(row)
    said = [] if bare else [*said_of(row)]
    of_agent = {LATENCY: row.latency_in_seconds, "failure": row.failure}
    scores = {**{key: r.score for key, r in row.results.items()}, **of_agent}
    return {
        "title": cut(digest.title_of(row)),
        "kind": kind_of(row, run),
        "scores": [
            (metrics[key], score)
            for key, score in scores.items()
            if key in metrics and score is not None
        ],
        "results": results,
        "turns": turns,
        "said": said,
        "failed": "" if row.agent_error is None else cut(printable(str(row.agent_error))),
        "took": "" if row.latency_in_seconds is None else f"{row.latency_in_seconds:,.3f} s",
        "evidence": evidence,
        "bare": bare,
        "letters": len(evidence)
        + sum(len(one["comment"]) for one in results)
        + sum(_PLACE * len(turn.places) for turn in turns),
    }


def said_of(row: Row) -> Iterator[tuple[str, str]]:
    """Yield what judges said of a row in more than a line, by metric."""
    for key, result in row.results.items():
        asked = result.metadata.get("judge")
        reasoning = asked.get("reasoning") if isinstance(asked, dict) else None
        if isinstance(reasoning, str) and " ".join(reasoning.split()) != result.comment:
            yield printable(key), "\n".join(printable_lines(cut(reasoning)))


def told_of(result: EvaluationResult) -> dict[str, Any]:
    """Return what a page says of one result."""
    broken = result.error is not None and not result.error.not_evaluated
    missing = "error" if broken else "not scored"
    return {
        "key": printable(result.key),
        "score": number(result.score) if result.score is not None else missing,
        "tone": "bad" if broken or result.score == 0 else "good" if result.score else "dim",
        "comment": cut(digest.comment_of(result)),
    }


def evidence_of(row: Row) -> str:
    """Return what is behind the row's results, as JSON, cut; without the calls' alignment."""
    told = {
        key: {name: value for name, value in r.metadata.items() if name != "alignment"}
        for key, r in row.results.items()
    }
    found: dict[str, Any] = {key: metadata for key, metadata in told.items() if metadata}
    if row.agent_error is not None:
        found["agent_error"] = str(row.agent_error)
    if not found:
        return ""
    return "\n".join(printable_lines(cut(dumps(found, indent=2).decode("utf-8", "replace"))))
