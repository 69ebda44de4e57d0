"""Pictures of results: which metrics are shown, and their means with intervals."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from trajgrade.errors import ConfigError, unknown
from trajgrade.report.charts import Chart, Mean, bars, radar

Titled = Sequence[tuple[str, Any]]
_MEAN = "/mean"
_KINDS = ("bar", "radar")


def drawn(
    kind: str,
    results: Titled,
    metrics: Sequence[str] | None = None,
    save: str | Path | None = None,
    bounds: tuple[float, float] | None = None,
) -> Chart:
    """Return a picture of results, and write it to a file if one is named.

    Args:
        kind: `bar` or `radar`.
        results: The results, each with its title.
        metrics: The metrics' names, or parts of them; None is all, without what is measured of the
            agent, which is on another scale.
        save: A file: .png, .svg or .html.
        bounds: The values at the centre and at the rim of a radar.

    Raises:
        ConfigError: There is no such kind or metric.
        MissingExtraError: altair or vl-convert-python is not installed.
    """
    if kind not in _KINDS:
        raise ConfigError(unknown("kind of picture", kind, _KINDS))
    series = [(title, _means(result, metrics)) for title, result in results]
    chart = bars(series) if kind == "bar" else radar(series, bounds)
    if save is not None:
        chart.save(save)
    return chart


def _means(result: Any, metrics: Sequence[str] | None) -> list[Mean]:
    run = getattr(result, "run", None)
    if run is not None:
        known = {key: Mean.of(m) for key, m in {**run.summary, **run.agent}.items()}
        shown = list(run.summary) or list(known)
    else:
        known = {
            name.removesuffix(_MEAN): Mean(name.removesuffix(_MEAN), value)
            for name, value in result.summary_metrics.items()
            if name.endswith(_MEAN)
        }
        shown = list(known)
    if metrics is not None:
        shown = list(dict.fromkeys(key for name in metrics for key in matching(name, known)))
    return [known[key] for key in shown]


def matching(name: str, known: Collection[str]) -> list[str]:
    """Return the metrics that a name means: the one that has it, or all that contain it.

    Raises:
        ConfigError: There is none.
    """
    bare = name.removesuffix(_MEAN)
    if bare in known:
        return [bare]
    found = [key for key in known if bare in key]
    if not found:
        raise ConfigError(f"metrics: {unknown('metric', name, list(known))}")
    return found
