"""Two runs, compared, as files: read in a real browser, harmless whatever a trace holds, whole."""

from __future__ import annotations

import csv
import json
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import trajgrade
from tests.report.conftest import HOSTILE as CONTROLS
from trajgrade.comparison.compared import Comparison
from trajgrade.errors import UnknownNameError
from trajgrade.registry import comparisons
from trajgrade.report.versus import page as pages
from trajgrade.report.versus.page import page
from trajgrade.run import Run

CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium; make services has it")

HOSTILE = [
    "<script>window.hurt = 1</script>",
    "</script><script>window.hurt = 1</script>",
    "<img src=x onerror='window.hurt = 1'>",
    "<svg onload='window.hurt = 1'><style>*{display:none}</style></svg>",
    "\"><a href='javascript:window.hurt=1'>x</a>",
    "</style><style>body{display:none}</style>",
    "{{ 7 * 7 }}{% raw %}",
    "\u202eevil\u202c\x1b[31m",
    "x" * 200_000,
    CONTROLS,
]


def call(name: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args}


def graded(wrong: int, *, names: list[str], **more: Any) -> Run:
    """Return a run whose first `wrong` examples call another tool than is expected."""
    rows = [
        {
            "id": f"e{at} {name[:300]}",
            "outputs": [call("find"), call(name if at < wrong else "book", city=name)],
            "reference_outputs": [call("find"), call("book", city=name)],
        }
        for at, name in enumerate(names)
    ]
    evaluators = ["trajectory_match", "trajectory_f1", "trajectory_alignment"]
    return trajgrade.evaluate(rows, evaluators, explain="all", **more)


@pytest.fixture
def compared() -> Comparison:
    """40 examples, of which 2 were wrong and 15 are; one more in each run that the other lacks."""
    names = [f"t{n}" for n in range(40)]
    old, new = graded(2, names=[*names, "gone"]), graded(15, names=[*names, "fresh"])
    return trajgrade.compare(old, new, no_regression={"trajectory_f1": 0.05}, resamples=1000)


@pytest.fixture
def hostile() -> Comparison:
    old = graded(0, names=HOSTILE * 2, name="<b>old</b>")
    new = graded(20, names=HOSTILE * 2, name=HOSTILE[1])
    return trajgrade.compare(old, new, resamples=1000)


@pytest.mark.parametrize("suffix", sorted(comparisons))
@pytest.mark.parametrize("which", ["compared", "hostile"])
def test_every_format_writes_every_comparison_whole(
    suffix: str, which: str, tmp_path: Path, request: pytest.FixtureRequest
):
    comparison: Comparison = request.getfixturevalue(which)
    path = tmp_path / "deep" / f"out{suffix}"
    comparison.save(path)
    text = path.read_bytes().decode("utf-8", "replace" if suffix == ".parquet" else "strict")
    for key in comparison.metrics:
        assert key in text.replace("\\", "")
    assert "\u202e" not in text or suffix in (".csv", ".json", ".parquet")
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_an_unknown_suffix_names_those_that_exist(compared: Comparison, tmp_path: Path):
    with pytest.raises(UnknownNameError, match=r"'\.xlsx'.*\.csv, \.html, \.json, \.md"):
        compared.save(tmp_path / "out.xlsx")


def test_the_page_says_what_came_out_and_how_sure_that_is(compared: Comparison):
    text = page(compared)
    assert "The new run is worse: trajectory_match, trajectory_f1, trajectory_alignment." in text
    metric = compared.metrics["trajectory_match"]
    assert metric.interval is not None
    low, high = (f"{end:.3f}" for end in metric.interval[:2])
    assert f"{low} to {high}" in text
    for interval in compared.mean_intervals("trajectory_match"):
        assert interval is not None
        assert interval.method == "wilson"
        assert f"{interval.low:.3f} to {interval.high:.3f}" in text
    assert "no regression of trajectory_f1 by 0.05" in text
    assert "broken: 13 examples" in text
    assert "only in the old run: 1 example" in text
    assert "McNemar&#39;s test, mid-p" in text
    assert text.index("e2 t2") < text.index("e14 t14")
    assert "+ t5" in text


def test_a_page_holds_no_text_of_a_trace_as_markup(hostile: Comparison):
    text = page(hostile)
    body = text.partition("</style>")[2]
    for one in ("<script", "<img", "<svg onload", "<a href", "<b>old", "<style"):
        assert one not in body
    assert "{{ 7 * 7 }}" in body
    assert len(text) < 500_000


def test_of_many_changes_the_worst_are_on_the_page_and_the_others_counted(
    compared: Comparison, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pages, "MOST_EXAMPLES", 3)
    text = page(compared)
    assert "3 of them here." in text
    assert text.count("<summary><strong>") == 3


@needs_chromium
@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 400)])
@pytest.mark.parametrize("which", ["compared", "hostile"])
def test_a_browser_shows_the_page_and_is_not_hurt(
    tmp_path: Path, scheme: Any, width: int, which: str, request: pytest.FixtureRequest
):
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    path = tmp_path / "versus.html"
    request.getfixturevalue(which).save(path)
    said: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
        shown = context.new_page()
        shown.on("console", lambda message: said.append(message.text))
        shown.on("pageerror", lambda error: said.append(str(error)))
        shown.goto(path.as_uri())
        assert said == []
        assert shown.evaluate("window.hurt") is None
        assert shown.locator("h1").is_visible()
        assert shown.evaluate("document.body.scrollWidth <= document.documentElement.clientWidth")
        first = shown.locator("details").first
        assert first.get_attribute("open") is not None
        assert first.locator("table").is_visible()
        first.locator("summary").focus()
        shown.keyboard.press("Enter")
        assert not first.locator("table").is_visible()
        plots = shown.locator("svg.plot")
        assert plots.count() == 3
        assert "interval" in str(plots.first.get_attribute("aria-label"))
        browser.close()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        checked = browser.new_context(color_scheme=scheme, bypass_csp=True).new_page()
        checked.goto(path.as_uri())
        found = Axe().run(checked)
        browser.close()
    assert [(one["id"], one["nodes"][0]["html"]) for one in found.response["violations"]] == []


def test_junit_fails_where_a_gate_fails_or_a_metric_without_one_is_worse(
    compared: Comparison, tmp_path: Path
):
    compared.save(tmp_path / "out.xml")
    suite = ET.parse(tmp_path / "out.xml").getroot()[0]  # noqa: S314 our own file
    tags = {case.get("name"): [child.tag for child in case] for case in suite.iter("testcase")}
    assert tags == {
        "no regression of trajectory_f1 by 0.05": ["failure"],
        "trajectory_match": ["failure", "system-out"],
        "trajectory_f1": ["system-out"],  # its gate speaks for it
        "trajectory_alignment": ["failure", "system-out"],
    }
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "4", "failures": "3", "errors": "0", "skipped": "0"}
    assert "e2 t2 1.000 → 0.000" in "".join(suite.itertext())


def test_junit_of_runs_without_a_common_example_skips(tmp_path: Path):
    found = trajgrade.compare(graded(0, names=["a"]), graded(0, names=["b"]))
    found.save(tmp_path / "out.xml")
    suite = ET.parse(tmp_path / "out.xml").getroot()[0]  # noqa: S314 our own file
    assert (suite.get("skipped"), suite.get("failures")) == ("3", "0")
    found.save(tmp_path / "out.html")
    assert "Nothing can be compared." in (tmp_path / "out.html").read_text()


def test_sheets_have_a_line_for_each_example_of_either_run(compared: Comparison, tmp_path: Path):
    compared.save(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        lines = {line["id"]: line for line in csv.DictReader(file)}
    assert len(lines) == 42
    worse = lines["e2 t2"]
    assert worse["in"] == "both"
    assert [worse[f"trajectory_match/{part}"] for part in ("old", "new", "change")] == [
        "1.0", "0.0", "-1.0",
    ]  # fmt: skip
    gone, fresh = lines["e40 gone"], lines["e40 fresh"]
    assert (gone["in"], gone["trajectory_match/old"], gone["trajectory_match/new"]) == (
        "old", "1.0", "",
    )  # fmt: skip
    assert (fresh["in"], fresh["trajectory_match/old"], fresh["trajectory_match/change"]) == (
        "new", "", "",
    )  # fmt: skip


def test_parquet_has_the_sheet_with_its_types(compared: Comparison, tmp_path: Path):
    parquet = pytest.importorskip("pyarrow.parquet")
    compared.save(tmp_path / "out.parquet")
    rows = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert len(rows) == 42
    assert sum(row["trajectory_match/change"] or 0 for row in rows) == -13


def test_markdown_has_the_verdict_and_a_sentence_for_each_metric(
    compared: Comparison, tmp_path: Path
):
    compared.save(tmp_path / "out.md")
    text = (tmp_path / "out.md").read_text().replace("\\", "")
    assert text.startswith("### The new run is worse: trajectory_match")
    assert "trajectory_match went from 0.950 to 0.625, a change of -0.325 (95% interval" in text
    assert "That is worse, and more than chance (p <0.001" in text


def test_json_is_what_the_command_prints(compared: Comparison, tmp_path: Path):
    compared.save(tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text())["warnings"] == [*compared.warnings]
