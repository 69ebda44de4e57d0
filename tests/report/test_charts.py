"""Charts: pictures of means with their intervals, without a browser and without the network."""

from __future__ import annotations

import re
import sys

import pytest

import trajgrade
from trajgrade.errors import ConfigError, MissingExtraError
from trajgrade.report.charts import Mean, bars, radar

UNIT = (0.0, 1.0)
FIRST = [
    Mean("recall", 0.8, 0.7, 0.9, UNIT), Mean("exact", 0.4, 0.2, 0.6, UNIT),
    Mean("none", None, None, None, UNIT), Mean("certain", 1.0, None, None, UNIT),
]  # fmt: skip
SECOND = [Mean(m.metric, 0.5, 0.4, 0.6, UNIT) for m in FIRST]
HOSTILE = "</script><script>alert(1)</script>&{}"
BOTH = pytest.mark.parametrize("draw", [bars, radar])
PNG = b"\x89PNG\r\n"


def texts(svg):
    return re.findall(r">([^<]+)</text>", svg)


def marks(drawing, kind):
    found = [layer for layer in drawing.to_dict()["layer"] if layer["mark"]["type"] == kind]
    assert found
    return found


def values_of(drawing, layer):
    spec = drawing.to_dict()
    named = spec.get("datasets", {})
    data = layer.get("data") or spec["data"]
    return data["values"] if "values" in data else named[data["name"]]


@BOTH
def test_every_metric_and_every_run_is_named(draw):
    svg = draw([("first", FIRST), ("second", SECOND)], title="Shoes").to_svg()
    assert {"recall", "exact", "none", "certain", "first", "second", "Shoes"} <= set(texts(svg))


@BOTH
def test_it_is_saved_in_every_form(draw, tmp_path):
    chart = draw([("first", FIRST)])
    assert chart.save(tmp_path / "c.png").read_bytes().startswith(PNG)
    svg = chart.save(str(tmp_path / "c.SVG")).read_text()
    assert svg.startswith("<svg")
    page = chart.save(tmp_path / "c.html").read_text()
    assert svg in page
    assert "<td>recall</td><td>0.800</td><td>0.700 … 0.900</td>" in page
    assert "<td>none</td><td>–</td><td>– … –</td>" in page
    with pytest.raises(
        ConfigError, match=r"unknown suffix of a picture '\.pdf'.*Known: \.html, \.png, \.svg"
    ):
        chart.save(tmp_path / "c.pdf")


@BOTH
def test_a_page_needs_nothing_else_and_runs_nothing(draw):
    page = draw([(HOSTILE, [Mean(HOSTILE, 0.5, 0.4, 0.6, UNIT)]), ("b", FIRST)]).to_html()
    assert set(re.findall(r"https?://[^\"'<>\s]+", page)) == {
        "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink",
    }  # fmt: skip
    assert "<script" not in page
    assert not re.search(r"\b(src|href)=", page)


def test_bars_have_their_intervals():
    drawing = bars([("first", FIRST)]).drawing
    (whisker,) = marks(drawing, "rule")
    assert (whisker["encoding"]["y"]["field"], whisker["encoding"]["y2"]["field"]) == (
        "low",
        "high",
    )
    (bar,) = marks(drawing, "bar")
    rows = values_of(drawing, bar)
    assert [(row["mean"], row["low"], row["high"]) for row in rows] == [m[1:4] for m in FIRST]
    assert bar["encoding"]["y"]["scale"]["domain"] == [0.0, 1.0]
    (gap,) = marks(drawing, "text")
    assert [row["metric"] for row in values_of(drawing, gap)] == ["none"]


def test_a_radar_has_its_intervals_along_the_spokes():
    drawing = radar([("first", FIRST)]).drawing
    (points,) = marks(drawing, "point")
    rows = {round(row["at"], 6): row for row in values_of(drawing, points)}
    assert len(rows) == 3  # a metric without a score has no point
    recall = rows[0.0]
    assert (recall["x"], recall["y"]) == pytest.approx((0, 0.8))
    assert (recall["y_low"], recall["y_high"]) == pytest.approx((0.7, 0.9))


def test_the_rim_may_be_set():
    drawing = radar([("a", [Mean("m", 3.0, 2.0, 9.0)])], bounds=(0, 5)).drawing
    (points,) = marks(drawing, "point")
    (row,) = values_of(drawing, points)
    assert row["y"] == pytest.approx(0.6)
    assert row["y_high"] == 1  # what lies beyond ends at the rim


@BOTH
@pytest.mark.parametrize(
    "means",
    [
        [], [Mean("m", None)], [Mean("m", -2.0, -3.0, -1.0), Mean("n", 1e9), Mean("o", 0.0)],
    ],
)  # fmt: skip
def test_whatever_there_is_to_draw_is_drawn(draw, means):
    assert draw([("only", means)]).to_svg().startswith("<svg")


def test_it_shows_itself_in_a_notebook():
    chart = bars([("first", FIRST)])
    shown = chart._repr_mimebundle_()
    assert shown["image/svg+xml"].startswith("<svg")
    assert shown["text/plain"] == repr(chart) == "<Chart of recall, exact, none, certain>"


def test_a_mean_comes_from_a_summary():
    rows = [{"response": r, "reference": "a"} for r in "aab"]
    mean = Mean.of(trajgrade.evaluate(rows, ["exact_match"]).summary["exact_match"])
    assert (mean.metric, mean.bounds) == ("exact_match", UNIT)
    assert (mean.value, mean.low, mean.high) == pytest.approx((2 / 3, 0.2077, 0.9385), abs=1e-4)


@BOTH
@pytest.mark.parametrize(
    ("module", "package"), [("altair", "altair"), ("vl_convert", "vl-convert-python")]
)
def test_without_the_extra_it_is_named(draw, module, package, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"{package}: pip install 'trajgrade\[report\]'"):
        draw([("first", FIRST)])
