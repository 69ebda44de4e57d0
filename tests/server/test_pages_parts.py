"""What pages are made of: addresses to go back to, spans in order, what differs, what is kept."""

from __future__ import annotations

import threading
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.server.pages.asked import local, paged, whole
from trajgrade.server.pages.held import Lately
from trajgrade.server.pages.shown import differences, shown
from trajgrade.server.pages.spans import lines_of
from trajgrade.server.refusal import RefusedError

HERE = "http://127.0.0.1:8000/login"


@given(st.text(alphabet="/\\.:@?#ahtp\t\n e", max_size=12))
def test_nobody_is_sent_to_another_site(path: str):
    went = urlsplit(urljoin(HERE, local(path).replace("\\", "/")))
    assert went.netloc == "127.0.0.1:8000"


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 6), st.integers(0, 9)), max_size=12))
def test_every_span_is_shown_once_whatever_its_parent(told: list[tuple[int, int, int]]):
    spans = [
        {
            "spanId": f"{number}", "parentSpanId": f"{parent}", "name": f"{place}",
            "startTimeUnixNano": str(start), "endTimeUnixNano": str(start + 5),
        }
        for place, (number, parent, start) in enumerate(told)
    ]  # fmt: skip
    lines = lines_of({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
    assert sorted(line.name for line in lines) == sorted(span["name"] for span in spans)
    assert all(0 <= line.x <= 200 and 0 < line.width <= 200 for line in lines)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)
KEYS = ("spanId", "parentSpanId", "name", "startTimeUnixNano", "endTimeUnixNano", "status")


@given(st.lists(st.dictionaries(st.sampled_from(KEYS), JSON), max_size=5))
def test_spans_of_any_content_are_shown(spans: list[dict[str, Any]]):
    lines = lines_of({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
    assert len(lines) == len(spans)


def test_spans_stand_behind_what_they_are_within():
    def span(name: str, parent: str, start: int) -> dict[str, Any]:
        times = {"startTimeUnixNano": str(start), "endTimeUnixNano": str(start + 1)}
        return {"spanId": name, "parentSpanId": parent, "name": name, **times}

    spans = [span("c", "a", 5), span("d", "b", 3), span("b", "a", 2), span("a", "", 1)]
    lines = lines_of({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
    assert [(line.name, line.depth) for line in lines] == [("a", 0), ("b", 1), ("d", 2), ("c", 1)]


@given(*[st.lists(st.sampled_from("abc"), max_size=8).map("\n".join)] * 2)
def test_two_texts_keep_all_their_lines_and_what_both_have_is_the_same(old: str, new: str):
    sides = differences(old, new)
    for text, side in zip((old, new), sides, strict=True):
        assert "".join(line.text for line in side) == f"{text}\n"
    kept = [[line.text for line in side if not line.differs] for side in sides]
    assert kept[0] == kept[1]
    if old == new:
        assert not any(line.differs for side in sides for line in side)


@pytest.mark.parametrize("page", ["0", "1", "3", "999999999"])
def test_a_page_that_there_is_not_is_the_nearest_that_there_is(page: str):
    found = paged(range(120), "/runs", {"page": page, "q": "x y"})
    assert found.items[0] == (found.number - 1) * 50
    assert 1 <= found.number <= 3
    assert not found.following or found.following == f"/runs?q=x+y&page={found.number + 1}"


@pytest.mark.parametrize("text", ["-1", "1e9", "\u0663", "9" * 30, "x"])
def test_what_is_no_number_is_refused(text: str):
    with pytest.raises(RefusedError, match="page: a whole number is needed"):
        whole({"page": text}, "page", 1)


@pytest.mark.parametrize(
    "value", [None, "text", 7, True, [], {}, {"messages": []}, {"x": {"y": "\ud800"}}, [[[1]]]]
)
def test_whatever_stands_in_place_of_a_trace_is_shown(value: Any):
    found = shown(value)
    assert (found is None) == (value is None)


def test_what_two_want_at_once_is_made_once():
    kept: Lately[int] = Lately(2)
    made: list[int] = []
    begun = threading.Barrier(4)

    def make() -> int:
        made.append(1)
        return len(made)

    def want() -> None:
        begun.wait()
        assert kept.get("a", make) == 1

    threads = [threading.Thread(target=want) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]
    assert [kept.get(key, make) for key in "abca"] == [1, 2, 3, 4]
