"""What a run comes to, under Vertex AI's names."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import ExitStack
from typing import Any

from trajgrade.evaluation.columns import Row
from trajgrade.evaluators.rated import BASELINE_WINS, CANDIDATE_WINS, TIE
from trajgrade.matching.values import is_number
from trajgrade.measured import MEASURED
from trajgrade.record import RunRecord
from trajgrade.run import Run
from trajgrade.summary import mean, std


def summary_metrics(run: Run, rows: Sequence[Row], pairs: Collection[str] = ()) -> dict[str, Any]:
    """Return `row_count`, and mean and standard deviation of each metric; None where there is none.

    Of a comparison of pairs, also how often each side won. Latency and failure are the agent's;
    where none was called, what the rows hold under these names.
    """
    found: dict[str, Any] = {"row_count": len(run.rows)}
    for key, metric in run.summary.items():
        found[f"{key}/mean"] = metric.mean
        found[f"{key}/std"] = metric.std
        if key in pairs:
            found |= _win_rates(run, key)
    for key in MEASURED:
        if key in run.agent:
            middle, spread = run.agent[key].mean, run.agent[key].std
        else:
            held = [float(row[key]) for row in rows if is_number(row.get(key))]
            middle, spread = mean(held), std(held)
        found[f"{key}/mean"] = middle
        found[f"{key}/std"] = spread
    return found


def _win_rates(run: Run, key: str) -> dict[str, float]:
    """Return how often each of two models won, of the rows that have a verdict, ties counted."""
    values = [row.results[key].value for row in run.rows if key in row.results]
    verdicts = [value for value in values if value in (CANDIDATE_WINS, BASELINE_WINS, TIE)]
    if not verdicts:
        return {}
    return {
        f"{key}/candidate_model_win_rate": verdicts.count(CANDIDATE_WINS) / len(verdicts),
        f"{key}/baseline_model_win_rate": verdicts.count(BASELINE_WINS) / len(verdicts),
    }


def metadata_of(run: Run, experiment: str | None, prompt_template: Any) -> dict[str, Any]:
    """Return what was run."""
    found: dict[str, Any] = {
        "experiment": experiment,
        "experiment_run": run.name,
        "dataset": run.dataset,
        "started_at": run.started_at.isoformat(),
        "metrics": dict(run.evaluators),
    }
    if prompt_template is not None:
        found["prompt_template"] = str(prompt_template)
    corpus = {key: m.corpus for key, m in run.summary.items() if m.corpus is not None}
    if corpus:
        found["corpus"] = corpus
    if run.warnings:
        found["warnings"] = list(run.warnings)
    return found


def kept_runs(store: Any, experiment: str) -> list[dict[str, Any]]:
    """Return what each run of an experiment came to that a store has, the oldest first.

    Args:
        store: The store, or its address.
        experiment: The experiment.
    """
    from trajgrade.stores import open_store  # SQLAlchemy, for runs of a store only

    with ExitStack() as opened:
        where = store if hasattr(store, "runs") else opened.enter_context(open_store(store))
        records = where.runs(experiment=experiment)
    return [_line_of(record) for record in reversed(records)]


def _line_of(record: RunRecord) -> dict[str, Any]:
    told = record.result or {}
    found: dict[str, Any] = {
        "experiment": record.experiment,
        "experiment_run": record.name,
        "run": record.id,
        "state": record.state,
        "dataset": record.dataset,
        "started_at": record.started_at.isoformat(),
        "row_count": told.get("n_rows"),
    }
    for key, metric in {**told.get("metrics", {}), **told.get("agent", {})}.items():
        found |= {f"{key}/mean": metric.get("mean"), f"{key}/std": metric.get("std")}
    return found


def without_scores(run: Run) -> list[str]:
    """Return which metrics have no score in any row, and why, one sentence each."""
    found = []
    for key, metric in run.summary.items():
        if not metric.n_scored:
            kinds = ", ".join(f"{kind} {rows}" for kind, rows in metric.kinds.items())
            found.append(f"{key}: no row has a score ({kinds})")
    return found
