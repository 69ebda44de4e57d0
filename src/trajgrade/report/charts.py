"""Charts: the means of metrics as pictures, each with its interval.

Drawn by altair and turned into PNG or SVG by vl-convert, without a browser and without the network;
an HTML file holds the drawing itself and its numbers, and no script.
"""

from __future__ import annotations

import html
import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from trajgrade.errors import ConfigError, MissingExtraError, unknown
from trajgrade.summary import MetricSummary

_RINGS = 4
_OUTSIDE = 1.12  # where the names stand, as a multiple of the radius
_SIZE = 340
_STEP = 30
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body{{font:14px sans-serif;margin:2em}}td,th{{padding:.2em .8em;text-align:left}}</style>
</head><body>
{drawing}
<table><tr><th>run</th><th>metric</th><th>mean</th><th>interval</th></tr>
{rows}
</table></body></html>
"""


class Mean(NamedTuple):
    """The mean of one metric.

    Attributes:
        metric: Its name.
        value: The mean, None where no row has a score.
        low: The lower end of its interval, None where there is none.
        high: The upper end.
        bounds: The lowest and highest score possible, where there are any.
    """

    metric: str
    value: float | None
    low: float | None = None
    high: float | None = None
    bounds: tuple[float, float] | None = None

    @classmethod
    def of(cls, summary: MetricSummary) -> Mean:
        """Return the mean of a metric with its interval."""
        interval = summary.interval()
        low, high = (interval.low, interval.high) if interval is not None else (None, None)
        return cls(summary.key, summary.mean, low, high, summary.column.bounds)


Series = Sequence[tuple[str, Sequence[Mean]]]


class Chart:
    """A picture. It shows itself in a notebook.

    Attributes:
        drawing: The altair chart, to be changed at will.
    """

    def __init__(self, drawing: Any, series: Series) -> None:
        self.drawing = drawing
        self._series = series

    def to_svg(self) -> str:
        """Return the picture as SVG."""
        stream = io.StringIO()
        self.drawing.save(stream, format="svg")
        return stream.getvalue()

    def to_png(self) -> bytes:
        """Return the picture as PNG."""
        stream = io.BytesIO()
        self.drawing.save(stream, format="png", scale_factor=2)
        return stream.getvalue()

    def to_html(self) -> str:
        """Return the picture and its numbers as a page that needs nothing else."""
        rows = [
            f"<tr><td>{html.escape(title)}</td><td>{html.escape(mean.metric)}</td>"
            f"<td>{_shown(mean.value)}</td><td>{_shown(mean.low)} … {_shown(mean.high)}</td></tr>"
            for title, means in self._series
            for mean in means
        ]
        names = ", ".join(dict.fromkeys(m.metric for _, means in self._series for m in means))
        return _PAGE.format(title=html.escape(names), drawing=self.to_svg(), rows="\n".join(rows))

    def save(self, path: str | Path) -> Path:
        """Write the picture to a file: .png, .svg or .html.

        Raises:
            ConfigError: It has another suffix.
        """
        target = Path(path)
        suffix = target.suffix.lower()
        if suffix not in _FORMS:
            raise ConfigError(f"{path}: {unknown('suffix of a picture', suffix, sorted(_FORMS))}")
        made = _FORMS[suffix](self)
        target.write_bytes(made.encode() if isinstance(made, str) else made)
        return target

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"image/svg+xml": self.to_svg(), "text/plain": repr(self)}

    def __repr__(self) -> str:
        """Return what it shows."""
        metrics = dict.fromkeys(mean.metric for _, means in self._series for mean in means)
        return f"<Chart of {', '.join(metrics)}>"


_FORMS: dict[str, Callable[[Chart], str | bytes]] = {
    ".svg": Chart.to_svg, ".png": Chart.to_png, ".html": Chart.to_html,
}  # fmt: skip


def bars(series: Series, title: str = "") -> Chart:
    """Draw the means as bars, each with its interval, side by side for each run.

    Raises:
        MissingExtraError: altair or vl-convert-python is not installed.
    """
    alt = _altair()
    metrics = list(dict.fromkeys(mean.metric for _, means in series for mean in means))
    runs = [name for name, _ in series]
    values = [
        {"run": run, "metric": m.metric, "mean": m.value, "low": m.low, "high": m.high}
        for run, means in series
        for m in means
    ]
    low, high = _span(series)
    scale = alt.Scale(domain=[low, high], nice=(low, high) != (0.0, 1.0))
    x = alt.X("metric:N", sort=metrics, title=None, axis=alt.Axis(labelAngle=-30, labelLimit=300))
    place = (x, alt.XOffset("run:N", sort=runs))
    chart = alt.Chart(alt.Data(values=values))
    columns = chart.mark_bar().encode(
        *place, alt.Y("mean:Q", scale=scale, title="mean"), _colour(alt, runs)
    )
    whiskers = chart.mark_rule(strokeWidth=1.5).encode(*place, alt.Y("low:Q"), alt.Y2("high:Q"))
    ends = [
        chart.mark_tick(thickness=1.5, size=8, color="black").encode(*place, alt.Y(f"{end}:Q"))
        for end in ("low", "high")
    ]
    empty = [{"run": v["run"], "metric": v["metric"]} for v in values if v["mean"] is None]
    gaps = alt.Chart(alt.Data(values=empty)).mark_text(text="no score", angle=270, align="left")
    step = alt.Step(_STEP, **{"for": "position"}) if len(runs) == 1 else alt.Step(_STEP)
    drawing = alt.layer(columns, whiskers, *ends, gaps.encode(*place, y=alt.datum(low)))
    size = {"width": step, "height": _SIZE * 2 // 3}
    return Chart(drawing.properties(**size, title=title), series)


def radar(series: Series, bounds: tuple[float, float] | None = None, title: str = "") -> Chart:
    """Draw the means of each run as a shape around a centre, each with its interval.

    Args:
        series: The runs.
        bounds: The values at the centre and at the rim; by default what all metrics fit in.
        title: What stands above.

    Raises:
        MissingExtraError: altair or vl-convert-python is not installed.
    """
    alt = _altair()
    span = bounds or _span(series)
    metrics = list(dict.fromkeys(mean.metric for _, means in series for mean in means))
    angles = {metric: math.tau * at / len(metrics) for at, metric in enumerate(metrics)}
    runs = [name for name, _ in series]
    layers = list(_grid(alt, angles, span))
    points = list(_points(series, angles, span))
    order = {"order": alt.Order("at:Q")}
    spoken = alt.Chart(alt.Data(values=points))
    x, y = _x(alt), _y(alt)
    layers += [
        spoken.mark_line(interpolate="linear-closed", fillOpacity=0.12, strokeWidth=2).encode(
            x, y, _colour(alt, runs), alt.Fill("run:N", sort=runs, legend=None), **order
        ),
        spoken.mark_rule(strokeWidth=3, opacity=0.5).encode(
            _x(alt, "x_low"), _y(alt, "y_low"), alt.X2("x_high:Q"), alt.Y2("y_high:Q"),
            _colour(alt, runs),
        ),
        spoken.mark_point(filled=True, size=45, opacity=1).encode(x, y, _colour(alt, runs)),
    ]  # fmt: skip
    drawing = alt.layer(*layers).properties(width=_SIZE, height=_SIZE, title=title)
    return Chart(drawing.configure_view(stroke=None), series)


def _grid(alt: Any, angles: Mapping[str, float], span: tuple[float, float]) -> Iterator[Any]:
    circle = [math.tau * step / 72 for step in range(73)]
    rings = [
        {"ring": ring, "at": at, "x": ring / _RINGS * math.sin(a), "y": ring / _RINGS * math.cos(a)}
        for ring in range(1, _RINGS + 1)
        for at, a in enumerate(circle)
    ]
    spokes = [
        {"x": 0, "y": 0, "x2": math.sin(angle), "y2": math.cos(angle)} for angle in angles.values()
    ]
    low, high = span
    levels = [
        {"x": 0.02, "y": ring / _RINGS, "text": f"{low + (high - low) * ring / _RINGS:.3g}"}
        for ring in range(_RINGS + 1)
    ]
    x, y = _x(alt), _y(alt)
    yield (
        alt.Chart(alt.Data(values=rings))
        .mark_line(color="#ddd", strokeWidth=1)
        .encode(x, y, alt.Detail("ring:N"), alt.Order("at:Q"))
    )
    yield (
        alt.Chart(alt.Data(values=spokes))
        .mark_rule(color="#ddd")
        .encode(x, y, alt.X2("x2:Q"), alt.Y2("y2:Q"))
    )
    yield (
        alt.Chart(alt.Data(values=levels))
        .mark_text(align="left", baseline="bottom", color="#888", fontSize=9)
        .encode(x, y, alt.Text("text:N"))
    )
    for side, align in ((-1, "right"), (0, "center"), (1, "left")):
        names = [
            {"x": _OUTSIDE * math.sin(a), "y": _OUTSIDE * math.cos(a), "text": metric}
            for metric, a in angles.items()
            if _side(math.sin(a)) == side
        ]
        yield (
            alt.Chart(alt.Data(values=names))
            .mark_text(align=align)
            .encode(x, y, alt.Text("text:N"))
        )


def _points(
    series: Series, angles: Mapping[str, float], span: tuple[float, float]
) -> Iterator[dict[str, Any]]:
    """Yield where each mean lies, and the ends of its interval; none where there is no mean."""
    for run, means in series:
        for mean in means:
            if mean.value is None:
                continue
            angle = angles[mean.metric]
            ends = (mean.value, mean.low, mean.high)
            value, low, high = (_radius(mean.value if end is None else end, span) for end in ends)
            yield {
                "run": run, "at": angle,
                "x": value * math.sin(angle), "y": value * math.cos(angle),
                "x_low": low * math.sin(angle), "y_low": low * math.cos(angle),
                "x_high": high * math.sin(angle), "y_high": high * math.cos(angle),
            }  # fmt: skip


def _radius(value: float, span: tuple[float, float]) -> float:
    low, high = span
    return min(1.0, max(0.0, (value - low) / (high - low)))


def _span(series: Series) -> tuple[float, float]:
    """Return between which values all means and intervals lie; 0 to 1 where all metrics do."""
    every = [mean for _, means in series for mean in means]
    if all(mean.bounds == (0.0, 1.0) for mean in every):
        return 0.0, 1.0
    ends = [end for mean in every for end in (mean.value, mean.low, mean.high) if end is not None]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    return (low, high) if low < high else (0.0, 1.0)


def _side(value: float) -> int:
    return 0 if abs(value) < 1e-6 else int(math.copysign(1, value))


def _x(alt: Any, field: str = "x") -> Any:
    return alt.X(f"{field}:Q", axis=None, scale=alt.Scale(domain=[-1.2, 1.2]))


def _y(alt: Any, field: str = "y") -> Any:
    return alt.Y(f"{field}:Q", axis=None, scale=alt.Scale(domain=[-1.2, 1.2]))


def _colour(alt: Any, runs: Sequence[str]) -> Any:
    legend = alt.Legend(title=None) if len(runs) > 1 else None
    return alt.Color("run:N", sort=list(runs), legend=legend)


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _altair() -> Any:
    try:
        import altair as alt
        import vl_convert  # noqa: F401 what altair draws with
    except ImportError as missing:
        package = "vl-convert-python" if missing.name == "vl_convert" else "altair"
        raise MissingExtraError("A picture", package, "report") from None
    return alt
