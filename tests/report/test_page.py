"""A run as one HTML page and as JUnit: read in a real browser, and harmless whatever a trace holds."""

from __future__ import annotations

import shutil
import xml.etree.ElementTree as ET

import pytest

import trajgrade
from trajgrade.report.page import page

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
    "x" * 5_000_000,
]


def run_of(texts=HOSTILE):
    rows = [
        {"id": f"row {n} {text[:200]}", "response": text, "reference": "fine" if n else text}
        for n, text in enumerate(texts)
    ]
    rows.append({"id": "none", "response": "x", "reference": None})
    return trajgrade.evaluate(
        rows, ["exact_match", "edit_distance"], name="<b>name</b>", thresholds={"exact_match": 0.5}
    )


def test_a_page_holds_no_text_of_a_trace_as_markup():
    text = page(run_of(HOSTILE[:-1]))
    for one in ("<script>window", "<img", "<svg onload", "<a href", "<b>name", "49"):
        assert (
            one not in text.partition("<tbody>")[0] + text.partition("</thead>")[2] or one == "49"
        )
    assert "{{ 7 * 7 }}" in text
    assert "\u202e" not in text
    assert text.count("<script>") == 1


def test_a_huge_text_is_cut():
    assert len(page(run_of())) < 300_000


def test_a_long_run_shows_the_rows_to_look_at_first(monkeypatch):
    monkeypatch.setattr("trajgrade.report.page.MOST_ROWS", 3)
    text = page(run_of(["fine"] * 6 + ["wrong"] * 2))
    assert text.count("<details data-kind") == 3
    assert "6 more are in the saved run" in text
    assert text.count('data-kind="short"') == 2


@needs_chromium
@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 400)])
def test_a_browser_shows_filters_sorts_and_is_not_hurt(tmp_path, scheme, width):
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    path = tmp_path / "run.html"
    run_of().save(path)
    said: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(
            color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=False
        )
        shown = context.new_page()
        shown.on("console", lambda message: said.append(message.text))
        shown.on("pageerror", lambda error: said.append(str(error)))
        shown.goto(path.as_uri())
        assert said == []
        rows = shown.locator("#rows > details")
        assert rows.count() == 10
        assert shown.evaluate("window.hurt") is None
        rows.first.locator("summary").first.focus()
        shown.keyboard.press("Enter")
        assert rows.first.get_attribute("open") is not None
        shown.fill("#find", "row 2")
        assert shown.locator("#shown").inner_text() == "1 of 10 rows"
        shown.fill("#find", "")
        shown.select_option("#only", "short")
        assert shown.locator("#shown").inner_text() == "8 of 10 rows"
        shown.select_option("#only", "all")
        shown.select_option("#metric", "0")
        last = rows.last.locator("summary").first.inner_text()
        assert "row 0" in last
        browser.close()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        checked = browser.new_context(color_scheme=scheme, bypass_csp=True).new_page()
        checked.goto(path.as_uri())
        found = Axe().run(checked)
        browser.close()
    assert [one["id"] for one in found.response["violations"]] == []


def test_junit_has_a_case_for_each_row_and_threshold(tmp_path):
    run = run_of(["fine", "<&\x00>"])
    run.save(tmp_path / "run.xml")
    suite = ET.parse(tmp_path / "run.xml").getroot()[0]  # noqa: S314 our own file
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "4", "failures": "1", "errors": "0", "skipped": "1"}
    by_name = {case.get("name"): [child.tag for child in case] for case in suite}
    assert by_name["exact_match >= 0.5"] == []
    assert by_name["example none"] == ["skipped"]
    assert "failure" in next(tags for name, tags in by_name.items() if "row 1" in str(name))


def test_parquet_has_the_columns_of_the_sheet_with_their_types(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    run_of(["fine", "wrong"]).save(tmp_path / "deep" / "run.parquet")
    rows = parquet.read_table(tmp_path / "deep" / "run.parquet").to_pylist()
    assert [row["exact_match/score"] for row in rows] == [1.0, 0.0, None]
    assert rows[2]["exact_match/error"] == "no_reference"
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["run.parquet"]
