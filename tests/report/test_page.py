"""A run as one HTML page and as JUnit: read in a real browser, and harmless whatever a trace holds."""

from __future__ import annotations

import shutil
import xml.etree.ElementTree as ET

import pytest

import trajgrade
from trajgrade.report.page import page
from trajgrade.result import EvaluationResult

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
    asked: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(
            color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=False
        )
        shown = context.new_page()
        shown.on("console", lambda message: said.append(message.text))
        shown.on("pageerror", lambda error: said.append(str(error)))
        shown.on("request", lambda request: asked.append(request.url))
        shown.goto(path.as_uri())
        assert said == []
        rows = shown.locator("#rows > details")
        assert rows.count() == 10
        assert shown.evaluate("window.hurt") is None
        assert asked == [path.as_uri()]
        rows.first.locator("summary").first.focus()
        shown.keyboard.press("Enter")
        assert rows.first.get_attribute("open") is not None
        shown.fill("#find", "row 2")
        shown.get_by_text("1 of 10 rows").wait_for()
        shown.fill("#find", "")
        shown.get_by_text("10 of 10 rows").wait_for()
        shown.select_option("#only", "short")
        assert shown.locator("#shown").inner_text() == "8 of 10 rows"
        shown.select_option("#only", "all")
        shown.select_option("#metric", label="exact_match, best first")
        rows.first.get_by_text("row 0").first.wait_for()
        shown.select_option("#metric", label="exact_match, worst first")
        titles = rows.locator("> summary").all_inner_texts()
        assert "row 0" in titles[-2]
        assert "example none" in titles[-1]
        browser.close()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        checked = browser.new_context(color_scheme=scheme, bypass_csp=True).new_page()
        checked.goto(path.as_uri())
        found = Axe().run(checked)
        browser.close()
    assert [one["id"] for one in found.response["violations"]] == []


@pytest.fixture
def opened(tmp_path):
    """Return what opens a run's page in Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])

        def open_page(run, **options):
            run.save(tmp_path / "run.html")
            shown = browser.new_context(**options).new_page()
            shown.goto((tmp_path / "run.html").as_uri())
            return shown

        yield open_page
        browser.close()


def called(name, **args):
    return {"name": name, "args": args}


WANTED = [called("find", city="Oslo", nights=2), called("book", room=7), called("mail")]


def graded(outputs, evaluators=("trajectory_match",), **options):
    rows = [
        {"id": f"r{n}", "outputs": one, "reference_outputs": WANTED}
        for n, one in enumerate(outputs)
    ]
    return trajgrade.evaluate(rows, [*evaluators], explain="all", **options)


@needs_chromium
def test_calls_stand_beside_what_was_expected_with_their_arguments(opened):
    made = [called("find", city="Rome", nights=2), WANTED[1], called("drop", table="<b>x</b>")]
    shown = opened(graded([made, WANTED]))
    shown.locator("#rows > details > summary").first.click()
    lines = shown.locator("table.calls").first.locator("tbody tr")
    cells = [line.locator("td").all_inner_texts() for line in lines.all()]
    assert [[" ".join(text.split()) for text in line] for line in cells] == [
        [
            "~ differs city: expected 'Oslo', got 'Rome'",
            'find city: "Oslo" nights: 2',
            'find city: "Rome" nights: 2',
        ],
        ["= as expected", "book room: 7", "book room: 7"],
        ["+ called besides", "", 'drop table: "<b>x</b>"'],
        ["- not called", "mail", ""],
    ]
    right = shown.locator("table.calls").nth(1).locator("tbody tr")
    assert [line.get_attribute("class") for line in right.all()] == ["same"] * 3


@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_open_rows_with_hostile_calls_are_harmless_and_accessible(opened, scheme):
    from axe_playwright_python.sync_playwright import Axe

    made = [called(text[:300], **{text[:300]: text[:300]}) for text in HOSTILE]
    wanted = [called(made[0]["name"], **{made[0]["name"]: "other"}), *WANTED]
    judged = {"judge": "j", "model": HOSTILE[0], "asked": 1, "reasoning": "\n".join(HOSTILE[:-1])}

    class Judged:
        key = HOSTILE[2]

        def evaluate(self, **_):
            return EvaluationResult(self.key, 0.5, HOSTILE[3], HOSTILE[4], {"judge": judged})

    rows = [
        {"id": "hostile", "outputs": made, "reference_outputs": wanted},
        {"id": "fine", "outputs": WANTED, "reference_outputs": WANTED},
    ]
    run = trajgrade.evaluate(
        rows,
        ["trajectory_match", Judged()],
        thresholds={"trajectory_match/low": 0.9},
        explain="all",
    )
    shown = opened(run, color_scheme=scheme, bypass_csp=True)  # axe is a script of its own
    for summary in shown.locator("summary").all():
        if summary.is_visible():
            summary.click()
    assert shown.locator("table.calls tbody tr").count() == len(HOSTILE) + len(WANTED) * 2
    assert shown.evaluate("window.hurt") is None
    assert shown.locator("main img, main a, main script").count() == 0
    assert [one["id"] for one in Axe().run(shown).response["violations"]] == []


@needs_chromium
def test_rows_that_are_closed_are_printed(opened):
    shown = opened(graded([[called("find", city="Bergen")]] * 120))
    comment = shown.locator("#rows > details dd").last
    assert not comment.is_visible()
    shown.click("#theme")
    shown.click("#theme")
    assert shown.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 20, 25)"
    shown.emulate_media(media="print")
    assert comment.is_visible()
    assert shown.locator("#rows > details pre").last.is_visible()
    assert not shown.locator("#find").is_visible()
    assert shown.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


@needs_chromium
def test_the_reader_chooses_the_colours(opened):
    paper = "getComputedStyle(document.body).backgroundColor"
    shown = opened(graded([WANTED]), color_scheme="dark")
    button = shown.locator("#theme")
    found = []
    for _ in range(4):
        found.append((button.inner_text(), shown.evaluate(paper)))
        button.focus()
        shown.keyboard.press("Enter")
    dark, light = "rgb(15, 20, 25)", "rgb(255, 255, 255)"
    assert found == [
        ("Colours: system", dark), ("Colours: light", light), ("Colours: dark", dark),
        ("Colours: system", dark),
    ]  # fmt: skip
    shown.reload()
    assert shown.locator("#theme").inner_text() == "Colours: light"


@needs_chromium
def test_a_long_run_is_leafed_through(opened):
    outputs = [WANTED[: n % 4] for n in range(1000)]
    shown = opened(graded(outputs, [words, "trajectory_match"]))
    rows = shown.locator("#rows > details:visible")
    assert rows.count() == 100
    assert shown.locator("#page").inner_text() == "page 1 of 10"
    assert shown.locator("#before").is_disabled()
    shown.click("#after")
    assert shown.locator("#page").inner_text() == "page 2 of 10"
    shown.select_option("#metric", label="words, highest first")
    assert "page 1 of 10" in shown.locator("#page").inner_text()
    assert rows.first.get_attribute("data-m0") == "3.0"
    shown.select_option("#only", "best")
    assert shown.locator("#shown").inner_text() == "250 of 1000 rows"
    assert shown.locator("#page").inner_text() == "page 1 of 3"


def words(outputs):
    return len(outputs)


@needs_chromium
def test_without_the_script_every_row_is_there(opened):
    shown = opened(graded([WANTED] * 300), java_script_enabled=False)
    assert shown.locator("#rows > details:visible").count() == 300
    assert not shown.locator("#theme").is_visible()


def test_of_a_run_of_many_letters_the_last_rows_have_no_evidence(monkeypatch):
    monkeypatch.setattr("trajgrade.report.page.MOST_OF_ALL", 2000)
    text = page(graded([WANTED[:1]] * 20))
    assert text.count("<details data-kind") == 20
    assert 0 < text.count("Evidence") < 20
    assert "calls and evidence are in the saved run only" in text


def test_a_metric_of_which_less_is_better_has_its_worst_first():
    class Steps:
        key = "steps"
        range = (0.0, 9.0)
        direction = "lower"

        def evaluate(self, *, outputs, **_):
            return float(len(outputs))

    text = page(graded([WANTED, WANTED[:1]], [Steps(), words]))
    assert '<option value="0 down">steps, worst first</option>' in text
    assert '<option value="1 up">words, lowest first</option>' in text


def test_what_judges_said_is_summed_up_with_its_cost():
    class Kind:
        key = "kind"

        def evaluate(self, *, outputs, **_):
            good = len(outputs) == 3
            asked = {"judge": "j", "model": "m-1", "asked": 2, "tokens_in": 100, "tokens_out": 7,
                     "cost": 0.25, "reasoning": "first\nthen <b>"}  # fmt: skip
            return EvaluationResult("kind", float(good), good, "first", {"judge": asked})

    text = page(graded([WANTED, WANTED, WANTED[:1]], [Kind()]))
    cells = text.partition("Verdicts of judges</h2>")[2].partition("</tbody>")[0]
    for cell in ("m-1 × 3", "yes × 2, no × 1", ">6<", ">300<", ">21<", ">$0.7500<"):
        assert cell in cells
    assert "6 replies cost $0.7500." in text
    assert "first\nthen &lt;b&gt;</pre>" in text
    assert "Verdicts of judges" not in page(graded([WANTED]))


def test_how_long_the_agent_took_is_shown_for_the_run_and_each_row():
    def agent(prompt):
        if prompt == 1:
            raise RuntimeError("<lost>")
        return "x"

    rows = [{"id": str(n), "prompt": n, "reference": "x"} for n in range(3)]
    text = page(trajgrade.evaluate(rows, ["exact_match"], agent=agent))
    assert "How long the agent took" in text
    assert text.count(" s</span></summary>") == 3
    assert "The agent failed: RuntimeError: &lt;lost&gt;" in text


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
