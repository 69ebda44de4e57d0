"""The pages of the server, in a real browser, over real sockets."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

import trajgrade
from tests.server.conftest import Served, running
from trajgrade.automation.rules import read_rules
from trajgrade.event import Effect, Queued, Scored
from trajgrade.inbox import Change, Finished, Label, NewJob, Outcome, Piece

CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium; make services has it"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # of the browser's driver
]

HOSTILE = (
    "<script>window.hurt = 1</script></script><img src='http://192.0.2.1/x' onerror='window.hurt = 1'>"
    "{{ 7 * 7 }}\"><a href='javascript:window.hurt=1'>x</a>\u202eevil\x1b[31m"
)
AT = 1_764_565_200.0
RULES = {
    "rules": [
        {
            "name": "failed",
            "when": {"field": "status", "equals": "failed"},
            "actions": [{"type": "add_to_queue", "queue": "refunds", "priority": 5}],
        },
        {
            "name": "never there",
            "when": {"field": "no.such", "equals": 1},
            "actions": [{"type": "fire_webhook", "url": "https://example.com/SECRETPATH"}],
        },
    ]
}


def agent(better: bool) -> Any:
    def answer(inputs: str) -> Any:
        if "row 3" in inputs and not better:
            raise RuntimeError(f"no answer {HOSTILE}")
        city = "Oslo" if better or "row 1" not in inputs else "Rome"
        call = {"name": "find", "arguments": json.dumps({"city": city, "asked": inputs})}
        calls = [{"id": "c", "type": "function", "function": call}]
        return {
            "messages": [
                {"role": "user", "content": inputs},
                {"role": "assistant", "content": "", "tool_calls": calls},
                {"role": "tool", "tool_call_id": "c", "content": HOSTILE},
                {"role": "assistant", "content": HOSTILE + "long" * 20_000},
            ]
        }

    return answer


def rows(count: int = 60) -> list[dict[str, Any]]:
    found = []
    for n in range(count):
        asked = f"row {n}" if n else HOSTILE
        call = {"name": "find", "args": {"city": "Oslo", "asked": asked}}
        found.append({"id": asked[:80], "inputs": asked, "reference_outputs": [call]})
    return found


def trace(name: str, *, failed: bool) -> Piece:
    call = {"name": "refund", "arguments": json.dumps({"order": name})}
    messages = [
        {"role": "user", "content": f"Refund {name}"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c", "type": "function", "function": call}],
        },
        {"role": "assistant", "content": HOSTILE},
    ]
    body = {"id": name, "status": "failed" if failed else "ok", "messages": messages}
    return Piece(trace_id=name, key="k", body=json.dumps(body).encode(), at=AT)


def spans() -> Piece:
    def span(name: str, number: str, parent: str, start: int, end: int) -> dict[str, Any]:
        return {
            "traceId": "ab" * 16, "spanId": number * 16, "parentSpanId": parent * 16, "name": name,
            "startTimeUnixNano": str(start * 10**9), "endTimeUnixNano": str(end * 10**9),
        }  # fmt: skip

    inner = {**span(f"refund {HOSTILE}", "2", "1", 11, 12), "status": {"code": 2, "message": "no"}}
    scopes = [{"scope": {}, "spans": [span("support", "1", "", 10, 14), inner]}]
    body = {"resourceSpans": [{"resource": {}, "scopeSpans": scopes}]}
    return Piece(trace_id="ab" * 16, key="s", body=json.dumps(body).encode(), is_spans=True, at=AT)


def fill(served: Served) -> None:
    """Two runs, two versions of a dataset, traces that were graded, queued and set aside."""
    store = served.store
    for better in (False, True):
        trajgrade.evaluate(
            rows(), ["trajectory_match", "trajectory_alignment"], agent=agent(better), store=store,
            name=f"agent {'new' if better else 'old'}", experiment="flights",
            thresholds={"trajectory_match": 0.5},
        )  # fmt: skip
    store.datasets.put("flights", rows(12))
    changed = rows(13)
    changed[2]["reference_outputs"] = HOSTILE
    store.datasets.put("flights", [{**row, "split": "test"} for row in changed], note=HOSTILE)
    store.datasets.tag("flights", "prod", 1)
    names = ["order-1", "order-2", "order-3", HOSTILE]
    pieces = [trace(name, failed=name != "order-3") for name in names]
    store.inbox.accept([*pieces, spans()])
    while jobs := store.inbox.claim(now=AT + 10, until=AT + 70, limit=100):
        store.inbox.finish([ended(job) for job in jobs])


def ended(job: Any) -> Finished:
    if job.kind != "decide":
        return Finished(job=job, error=f"the webhook answers 500 {HOSTILE}", at=AT)
    failed = job.trace_id not in {"order-3", "ab" * 16}
    priority = {"order-1": 6.5, "order-2": 6.0}.get(job.trace_id, 1.0)
    result = {"key": "quality", "score": 0.0, "value": False, "comment": HOSTILE, "metadata": {}}
    effects: list[Effect] = [
        Scored(results={"quality": {**result, "error": None}}, scores={"quality": 0.0}),
        *([Queued(queue="refunds", priority=priority, reason=HOSTILE)] if failed else []),
    ]
    done = Outcome(
        trace_id=job.trace_id, rule="failed", place=0, action="add_to_queue", state="done",
        says=f"in the queue {HOSTILE}", at=AT,
    )  # fmt: skip
    follow = NewJob(kind="act", trace_id=job.trace_id, rule="failed", place=1)
    return Finished(
        job=job,
        at=AT,
        changes=tuple(Change(rule="failed", effect=effect) for effect in effects),
        outcomes=(done,) if failed else (),
        decided={"failed": "fires" if failed else "does_not_fit"},
        follow=(follow,) if job.trace_id == "order-1" else (),
    )


@pytest.fixture(scope="module")
def served(tmp_path_factory) -> Iterator[Served]:
    with running(
        tmp_path_factory.mktemp("pages"), rules=read_rules(RULES), pages=True
    ) as found:  # fmt: skip
        fill(found)
        yield found


@pytest.fixture
def fresh(tmp_path) -> Iterator[Served]:
    """A server of one test's own, for what changes its store."""
    with running(tmp_path, rules=read_rules(RULES), pages=True) as found:
        fill(found)
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


class Opened:
    """A page in a browser, and what went wrong in it."""

    def __init__(self, browser: Any, served: Served, **how: Any) -> None:
        self.context = browser.new_context(base_url=served.url, **how)
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.page.on("console", lambda message: self.wrong.append(message.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", self._asked)
        self._url = served.url

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self._url, "data:")):
            self.wrong.append(f"asked for {request.url}")


@pytest.fixture
def opened(browser, served) -> Iterator[Opened]:
    found = Opened(browser, served)
    yield found
    assert found.wrong == []
    found.context.close()


def places(served: Served) -> list[str]:
    new, old = (record.id for record in served.store.runs())
    first = served.store.inbox.reviews()[0].number
    return [
        "/", "/runs", f"/runs/{new}", f"/runs/{old}?kind=error", f"/runs/{old}/rows/0-0",
        f"/runs/{old}/rows/3-0", f"/compare?base={old}&new={new}&gate=trajectory_match", "/compare",
        "/datasets", "/datasets/flights", "/datasets/flights/changes",
        "/datasets/flights/rows?id=row+2", "/traces", "/traces/order-1", f"/traces/{'ab' * 16}",
        "/queue", f"/queue/{first}", "/rules", "/outcomes", "/outcomes/aside", "/login", "/keys",
    ]  # fmt: skip


def violations(page: Any, *rules: str) -> Iterator[tuple[str, list[str]]]:
    """What keeps people out of a page: the rule, and a few places where it is broken."""
    from axe_playwright_python.sync_playwright import Axe

    options = {"resultTypes": ["violations"], **({"runOnly": [*rules]} if rules else {})}
    found = Axe().run(page, options=options)
    for one in found.response["violations"]:
        yield one["id"], [node["html"][:200] for node in one["nodes"][:3]]


def test_every_page_opens_without_an_error_and_keeps_nobody_out(opened, served):
    old = served.store.runs()[1].id
    alike = {"/compare", "/traces", "/outcomes", "/datasets", "/keys", f"/runs/{old}/rows/3-0"}
    dark = {"/", "/queue", "/rules", "/outcomes/aside", f"/runs/{old}/rows/0-0"}
    page = opened.page
    wrong = []
    for place in places(served):
        page.goto(place)
        assert page.evaluate("window.hurt") is None, place
        wide = page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        wrong += [(place, "too wide", wide)] if wide > 0 else []
        if place in alike:  # to others, which axe sees
            continue
        wrong += [(place, *one) for one in violations(page)]
        if place in dark:
            page.emulate_media(color_scheme="dark")
            wrong += [(place, *one) for one in violations(page, "color-contrast")]
            page.emulate_media(color_scheme="light")
    assert wrong == []


def test_what_a_trace_holds_is_text_and_long_texts_are_one_click_away(opened, served):
    page = opened.page
    old = served.store.runs()[1].id
    page.goto(f"/runs/{old}/rows/0-0")
    text = page.content()
    assert len(text) < 60_000
    assert "49" not in page.locator("h1").inner_text()
    assert "\u202e" not in text
    assert "\\u202eevil\\x1b[31m" in page.locator("main").inner_text()
    link = page.get_by_role("link", name="All of it, uncut").last
    whole = served.client.get(link.get_attribute("href"))
    assert whole.headers["content-type"] == "text/plain; charset=utf-8"
    assert whole.headers["x-content-type-options"] == "nosniff"
    assert "long" * 20_000 in whole.text


def test_rows_are_filtered_sorted_and_paged_by_the_server_without_a_script(browser, served):
    old = served.store.runs()[1].id
    shown = Opened(browser, served, java_script_enabled=False)
    page = shown.page
    page.goto(f"/runs/{old}")
    lines = page.locator("#rows tbody tr")
    assert lines.count() == 50
    assert "row 1" in lines.first.inner_text()
    page.get_by_role("link", name="next →").click()
    assert "page 2, 60 in all" in page.locator("#rows").inner_text()
    page.goto(f"/runs/{old}")
    page.fill("input[name=q]", "row ")
    page.select_option("select[name=sort]", "trajectory_match")
    page.select_option("select[name=order]", "falling")
    page.get_by_role("button", name="Show", exact=True).click()
    titles = page.locator("#rows tbody th").all_inner_texts()
    assert len(titles) == 50
    scores = [
        float(text) for text in page.locator("#rows tbody tr td:nth-child(2)").all_inner_texts()
    ]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 2
    page.locator("#rows tbody a").first.click()
    page.get_by_role("link", name="next row →").click()
    assert page.locator("h1").inner_text() == titles[1]
    page.get_by_role("link", name="agent old").click()
    assert page.locator("#rows tbody tr").count() == 50
    shown.context.close()


def test_what_changed_in_a_row_is_marked_line_by_line(opened):
    opened.page.goto("/datasets/flights/changes?old=v1&new=v2")
    assert "1 row added, 0 removed, 12 changed." in opened.page.locator("main").inner_text()
    old, new = opened.page.locator("details", has_text="row 2").locator(".diff").first.locator(
        "pre"
    ).all()  # fmt: skip
    assert old.inner_text().splitlines()[:3] == ["[", "  {", '    "name": "find",']
    assert old.locator("mark").count() > 3
    assert new.locator("mark").first.inner_text().startswith("<script>window.hurt")


def test_a_comparison_says_what_the_command_says(opened, served):
    from trajgrade.comparison.comparing import compare
    from trajgrade.report.versus import told

    new, old = (record.id for record in served.store.runs())
    found = compare(f"run:{old}", f"run:{new}", store=served.store)
    page = opened.page
    page.goto("/runs")
    page.get_by_role("button", name="Compare the two that are marked").click()
    assert page.locator(".lead").first.inner_text() == told.verdict(found)
    text = page.locator("main").inner_text()
    for metric in found.metrics.values():
        assert told.figures(metric).change in text
    assert told.sentence(found.metrics["trajectory_match"]) in text
    assert "Rome" in "".join(page.locator(".both").all_text_contents())


def test_the_keyboard_goes_everywhere(opened, served):
    page = opened.page
    page.goto("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_url("**/runs")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "q"
    page.keyboard.type("jk old")
    assert page.input_value("input[name=q]") == "jk old"
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.textContent") == "agent old"
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/2*")
    page.keyboard.press("?")
    assert page.locator("dialog").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("dialog").is_visible()


def test_colours_are_chosen_and_stay(browser, served):
    shown = Opened(browser, served, color_scheme="light")
    page = shown.page
    page.goto("/runs?state=finished")

    def paper() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    assert paper() == "rgb(255, 255, 255)"
    for _ in range(2):
        page.get_by_role("button", name="Colours").click()
        page.wait_for_url("**/runs?state=finished")
    assert paper() == "rgb(15, 20, 25)"
    page.goto("/queue")
    assert paper() == "rgb(15, 20, 25)"
    assert shown.wrong == []
    shown.context.close()


def test_a_review_queue_is_worked_through_by_keys(opened, served):
    page = opened.page
    inbox = served.store.inbox
    items = inbox.reviews()
    assert [one.trace_id for one in items][:2] == ["order-1", "order-2"]
    page.goto("/queue")
    page.keyboard.press("1")
    page.wait_for_url(f"**/queue/{items[0].number}")
    page.get_by_label("should fail").check()
    page.get_by_text("Correct the reference, or keep").click()
    page.get_by_role("button", name="Begin with what the agent did").click()
    assert json.loads(page.input_value("#reference")) == [
        {"name": "refund", "args": {"order": "order-1"}}
    ]
    served.store.datasets.put("corrected", [{"id": "order-1", "split": "test"}])
    page.fill("#reference", "{nothing")
    page.fill("input[name=dataset]", "corrected")
    page.get_by_role("button", name="Reject").click()
    assert "reference: no JSON" in page.get_by_role("alert").inner_text()
    opened.wrong.clear()  # Chromium notes the answer 422
    assert inbox.review(items[0].number).state == "open"
    right = [{"name": "ask", "args": {"who": "manager"}}]
    page.fill("#reference", json.dumps(right))
    page.get_by_role("button", name="Reject").click()
    page.wait_for_url(f"**/queue/{items[1].number}")
    said = inbox.review(items[0].number)
    assert said.label == Label(
        verdict=False, reference=right, judged={"quality": False}, revision=said.revision
    )
    kept = [*served.store.datasets.rows("corrected")]
    assert [(row["id"], row["reference_outputs"]) for row in kept] == [("order-1", right)]
    assert kept[0]["split"] == "test"
    page.locator("body").press("1")
    page.wait_for_url(f"**/queue/{items[2].number}")
    assert inbox.review(items[1].number).label.verdict is True
    page.locator("body").press("2")
    page.wait_for_url("**/queue?queue=refunds*")
    assert inbox.reviews() == []
    assert "Nothing waits to be looked at" in page.locator("main").inner_text()


def test_labels_of_verdicts_are_what_judge_align_reads(served, tmp_path):
    from trajgrade.aligning import Label as Said
    from trajgrade.aligning import read_labels

    inbox = served.store.inbox
    some = inbox.reviews(state=None)
    inbox.label(some[1].number, Label(judged={"quality": True}), AT)
    path = tmp_path / "labels.csv"
    path.write_bytes(served.client.get("/queue/labels.csv").content)
    found = {one.id: one for one in read_labels(str(path))}
    assert found[some[1].trace_id] == Said(some[1].trace_id, "pass", "quality")


def test_labels_of_hostile_ids_are_no_formulas_and_come_back_as_they_were(fresh, tmp_path):
    from trajgrade.aligning import read_labels

    inbox = fresh.store.inbox
    names = ["=HYPERLINK(1)", "+1", "-1", "@x", "'=x", "a\rb", "a\nb", '"', "\t=1"]
    inbox.accept([Piece(trace_id=name, key="k", body=b'{"messages": []}', at=AT) for name in names])
    jobs = [job for job in inbox.claim(now=AT, until=AT + 9, limit=99) if job.trace_id in names]
    queued = Change(rule="r", effect=Queued(queue="hostile", priority=1.0, reason="x"))
    inbox.finish([Finished(job=job, changes=(queued,)) for job in jobs])
    for item in inbox.reviews(queue="hostile"):
        inbox.label(item.number, Label(judged={"=1+1": True}), AT)
    answer = fresh.client.get("/queue/labels.csv?queue=hostile")
    path = tmp_path / "labels.csv"
    path.write_bytes(answer.content)
    found = read_labels(str(path))
    assert sorted(one.id for one in found) == sorted(names)
    assert {one.criterion for one in found} == {"=1+1"}
    assert not re.search(r'(?m)^"?[=+@-]', answer.text)
    missing = fresh.client.get("/queue/labels.csv?queue=hostle")
    assert missing.status_code == 404
    assert "Did you mean &#39;hostile&#39;?" in missing.text


def test_agreement_asks_for_a_queue_where_none_is_named(fresh):
    answer = fresh.client.get("/queue/agreement")
    assert answer.status_code == 422
    assert "the name of a review queue is needed: refunds" in answer.text


def test_a_page_of_a_trace_that_has_changed_since_keeps_what_was_written(browser, fresh):
    opened = Opened(browser, fresh)
    page = opened.page
    inbox = fresh.store.inbox
    (item, *_) = inbox.reviews()
    page.goto(f"/queue/{item.number}")
    page.fill("input[name=comment]", "Well done.")
    later = b'{"messages": [{"role": "assistant", "content": "I deleted everything."}]}'
    inbox.accept([Piece(trace_id=item.trace_id, key="later", body=later, at=AT)])
    page.get_by_role("button", name="Accept").click()
    assert "Look at it again" in page.get_by_role("alert").inner_text()
    opened.wrong.clear()  # Chromium notes the answer 409
    assert "I deleted everything." in page.locator("main").inner_text()
    assert "They said it of an earlier revision" in page.locator("form.decide").inner_text()
    assert page.input_value("input[name=comment]") == "Well done."
    assert inbox.review(item.number).label is None
    page.get_by_role("button", name="Accept").click()
    page.wait_for_url(re.compile("/queue"))
    label = inbox.review(item.number).label
    assert (label.verdict, label.revision) == (True, item.revision + 1)
    assert opened.wrong == []
    opened.context.close()


def test_a_form_with_fields_missing_is_refused_with_what_is_needed(browser, fresh):
    opened = Opened(browser, fresh)
    page = opened.page
    (item, *_) = fresh.store.inbox.reviews()
    page.goto(f"/queue/{item.number}")
    token = page.locator("input[name=csrf_token]").first.input_value()
    jar = {one["name"]: one["value"] for one in opened.page.context.cookies()}
    sent = {"cookie": "; ".join(f"{name}={value}" for name, value in jar.items())}
    form = {"csrf_token": token, "verdict": "perhaps"}
    answer = fresh.client.post(f"/queue/{item.number}", data=form, headers=sent)
    assert answer.status_code == 422
    assert "accept or reject is needed" in answer.text
    assert "revision: that of the trace that was shown is needed" in answer.text
    assert fresh.store.inbox.review(item.number).label is None
    opened.context.close()


def test_people_and_evaluators_are_compared_where_they_differ(opened, served):
    item = served.store.inbox.reviews(trace_id="order-2", state=None)[0]
    served.store.inbox.label(item.number, Label(judged={"quality": True}), AT)
    opened.page.goto("/queue?state=done")
    opened.page.get_by_role("link", name="refunds", exact=True).last.click()
    assert "accuracy" in opened.page.get_by_role("region", name="quality", exact=True).inner_text()
    told = opened.page.get_by_role("region", name="Where quality and people differ")
    assert told.locator("tbody tr", has_text="order-2").count() == 1


def test_what_was_set_aside_is_tried_again(opened, served):
    page = opened.page
    page.goto("/outcomes/aside")
    assert page.locator("main tbody tr").count() == 1
    page.get_by_role("button", name="Try job").click()
    assert "1 job will be tried again" in page.locator("main").inner_text()
    assert served.store.inbox.set_aside() == []
    jobs = served.store.inbox.claim(now=2e9, until=2e9 + 60, limit=9)
    assert [job.trace_id for job in jobs] == ["order-1"]
    served.store.inbox.finish([ended(job) for job in jobs])


def test_rules_show_their_counters_and_fields_never_seen_and_no_secret(opened, served):
    page = opened.page
    page.goto("/rules")
    text = page.locator("main").inner_text()
    assert "SECRETPATH" not in page.content()
    fired = page.locator("main tbody tr").first.locator("td").all_inner_texts()
    assert fired[4:6] == ["3", "2"]
    assert "none of the newest 5 traces has no.such" in text
    page.goto("/traces/order-3")
    told = page.get_by_role("region", name="Rules").inner_text()
    assert "does not fit" in told
    assert "status" in told
    assert "never there" in text


def test_a_page_that_is_not_there_says_what_was_meant(served):
    html = {"accept": "text/html"}
    for path, said in {
        "/run": "Did you mean &#39;/runs&#39;?",
        "/datasets/flihgts": "Did you mean &#39;flights&#39;?",
        "/runs/nope": "nope",
        "/traces/nope": "there is no trace",
        "/queue/999999999999999999999": "no item",
        "/queue/x": "integer",
        "/runs/latest?sort=trajectory_mach": "Did you mean &#39;trajectory_match&#39;?",
        "/runs/latest/rows/1-7": "no row",
        "/static/x.css": "no file",
    }.items():
        answer = served.client.get(path, headers=html)
        assert (answer.status_code, answer.headers["content-type"]) == (
            404,
            "text/html; charset=utf-8",
        )
        assert said in answer.text, (path, answer.text[-700:])
    assert served.client.get("/api/nothing").headers["content-type"] == "application/json"


def test_nothing_is_changed_by_a_form_that_is_not_ours(served):
    number = served.store.inbox.reviews(state=None)[0].number
    before = served.store.inbox.review(number)
    for path in (f"/queue/{number}", "/outcomes/aside", "/theme", "/login"):
        for fields in ({"job": "all"}, {"csrf_token": "0" * 64, "verdict": "accept", "job": "all"}):
            assert served.client.post(path, data=fields).status_code == 403
    assert served.store.inbox.review(number) == before


def test_a_run_that_grows_is_shown_as_it_grows(opened, served):
    from trajgrade.record import new_id

    store = served.store
    finished = store.runs()[0]
    kept = [*store.rows(finished.id)]
    import msgspec

    record = msgspec.structs.replace(
        finished,
        id=new_id(),
        state="running",
        result=None,
        finished_at=None,
        name="growing",
        expected=60,
    )
    with store.create(record) as writer:
        writer.append(kept[:15])
        opened.page.goto(f"/runs/{record.id}")
        assert "15 of 60 rows" in opened.page.locator("#progress").inner_text()
        writer.append(kept[15:45])
        opened.page.locator("#progress", has_text="45 of 60 rows").wait_for()
        writer.append(kept[45:])
        writer.finish(msgspec.structs.replace(finished, id=record.id, name="growing"))
        opened.page.locator("#progress", has_text="finished").wait_for()
    assert opened.page.locator("main").get_attribute("data-live") is None
    store.delete(record.id)


def test_pages_ask_who_is_there_once_there_are_keys(browser, tmp_path):
    with running(tmp_path, pages=True) as locked:
        reader = locked.key("reader", "read")
        admin = locked.key("owner", "admin")
        locked.store.inbox.accept([trace("order-1", failed=True)])
        (job,) = locked.store.inbox.claim(now=AT, until=AT + 9, limit=9)
        locked.store.inbox.finish([ended(job)])
        (item,) = locked.store.inbox.reviews()
        shown = Opened(browser, locked)
        page = shown.page
        page.goto("/queue")
        assert page.url.endswith("/login?back=%2Fqueue")
        page.fill("input[name=key]", "tgk_wrong")
        page.get_by_role("button", name="Log in").click()
        assert "not known here" in page.get_by_role("alert").inner_text()
        page.fill("input[name=key]", reader)
        page.get_by_role("button", name="Log in").click()
        page.wait_for_url("**/queue")
        page.goto(f"/queue/{item.number}")
        assert page.get_by_role("button", name="Accept").is_disabled()
        token = page.locator("input[name=csrf_token]").first.input_value()
        cookies = {one["name"]: one for one in shown.context.cookies()}
        assert all(one["httpOnly"] and one["sameSite"] == "Strict" for one in cookies.values())
        jar = {name: one["value"] for name, one in cookies.items()}
        form = {"csrf_token": token, "verdict": "accept"}
        sent = {"cookie": "; ".join(f"{name}={value}" for name, value in jar.items())}
        refused = locked.client.post(f"/queue/{item.number}", data=form, headers=sent)
        assert refused.status_code == 403
        page.get_by_role("button", name="Log out reader").click()
        page.wait_for_url("**/login")
        page.goto("/login?back=//192.0.2.1/")
        page.fill("input[name=key]", admin)
        page.get_by_role("button", name="Log in").click()
        page.wait_for_url(f"{locked.url}/")
        page.goto(f"/queue/{item.number}")
        page.get_by_role("button", name="Accept").click()
        page.wait_for_url("**/queue?queue=refunds*")
        labelled = locked.store.inbox.review(item.number)
        assert labelled is not None
        assert labelled.label == Label(verdict=True, by="owner", revision=labelled.revision)
        shown.context.close()


def test_a_fault_of_ours_is_a_page_for_people_that_tells_nothing_of_its_inside(fresh, monkeypatch):
    def breaks(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("hush")

    monkeypatch.setattr(fresh.app.state.store, "runs", breaks)
    answer = fresh.client.get("/runs", headers={"accept": "text/html"})
    assert answer.status_code == 500
    assert answer.headers["content-type"].startswith("text/html")
    assert "a fault in trajgrade" in answer.text
    assert "hush" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
