"""What a bundled sample is: enough different rows, tools and faults to learn from."""

import json
import re
from collections import Counter
from importlib.resources import files
from itertools import combinations

import pytest
from rapidfuzz import fuzz

SAMPLES = ["on-device", "customer-support", "content-creation"]
FIELDS = [
    "id",
    "prompt",
    "reference_trajectory",
    "predicted_trajectory",
    "reference",
    "response",
    "fault",
]
FAULTS = {
    "none",  # the calls are right; the words of the answer may differ
    "wrong_answer",  # the calls are right, what is said about them is not
    "refusal",  # nothing was called, although something had to be
    "missing",
    "extra",
    "duplicate",
    "order",
    "wrong_tool",
    "wrong_value",
    "wrong_key",
    "missing_argument",
    "extra_argument",
    "malformed_arguments",  # text that is no JSON
    "type",  # "21" for 21, 1 for true
    "precision_loss",  # a whole number beyond 2**53, read as a float
    "unicode_form",  # NFD for NFC
    "list_order",  # the same items in another order, inside one argument
}


def load(sample):
    return json.loads((files("trajgrade") / "samples" / f"{sample}.json").read_text("utf-8"))


def faults(row):
    return [row["fault"]] if isinstance(row["fault"], str) else row["fault"]


def calls(row):
    return row["reference_trajectory"] + row["predicted_trajectory"]


def counted(trajectory):
    return Counter(json.dumps(call, sort_keys=True) for call in trajectory)


@pytest.fixture(params=SAMPLES)
def rows(request):
    return load(request.param)


EVERY_ROW = [
    pytest.param(row, id=f"{sample}-{row['id']}") for sample in SAMPLES for row in load(sample)
]


def test_a_sample_has_at_least_thirty_rows(rows):
    assert len(rows) >= 30


def test_a_sample_has_at_least_eight_tools(rows):
    assert len({call["tool_name"] for row in rows for call in row["reference_trajectory"]}) >= 8


def test_a_sample_shows_at_least_eight_kinds_of_fault(rows):
    shown = {fault for row in rows for fault in faults(row)} - {"none"}
    assert len(shown) >= 8
    assert {"wrong_value", "missing", "extra", "duplicate", "order"} <= shown
    assert {"type", "wrong_tool", "refusal"} <= shown


def test_about_a_third_of_a_sample_is_free_of_faults(rows):
    free = sum(faults(row) == ["none"] for row in rows)
    assert 0.25 <= free / len(rows) <= 0.42


def test_a_sample_has_rows_where_calling_nothing_is_right_and_both_outcomes(rows):
    outcomes = {
        bool(row["predicted_trajectory"]) for row in rows if not row["reference_trajectory"]
    }
    assert outcomes == {True, False}


def test_a_sample_has_equal_arguments_that_are_written_differently(rows):
    """Such as 1 and 1.0: a comparison of text would call these rows wrong."""
    assert any(
        faults(row) == ["none"]
        and counted(row["reference_trajectory"]) != counted(row["predicted_trajectory"])
        and ".0" in json.dumps(row["predicted_trajectory"])
        for row in rows
    )


def test_a_sample_has_right_rows_with_repeated_equal_calls(rows):
    assert any(
        faults(row) == ["none"]
        and max(counted(row["reference_trajectory"]).values(), default=0) > 1
        for row in rows
    )


def test_a_sample_has_a_long_row(rows):
    assert max(len(row["reference_trajectory"]) for row in rows) >= 5


def test_a_sample_has_one_call_without_any_tool_input(rows):
    assert sum("tool_input" not in call for row in rows for call in calls(row)) == 1


def test_arguments_hold_every_kind_of_json_value_and_more_than_ascii(rows):
    text = json.dumps([calls(row) for row in rows])
    kinds = [r": true\b", r": null\b", r": -?\d", r": \[", r': \{"[^}]*: \{', r"\\u"]
    assert [kind for kind in kinds if not re.search(kind, text)] == []


def test_no_two_prompts_of_any_samples_are_alike():
    prompts = [row["prompt"] for sample in SAMPLES for row in load(sample)]
    alike = [(a, b) for a, b in combinations(prompts, 2) if fuzz.ratio(a, b) >= 80]
    assert alike == []


def test_ids_are_short_unique_slugs():
    ids = [row["id"] for sample in SAMPLES for row in load(sample)]
    assert len(set(ids)) == len(ids)
    assert [i for i in ids if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", i) or len(i) > 30] == []


@pytest.mark.parametrize("row", EVERY_ROW)
def test_a_row_has_the_fields_of_vertex_and_a_known_fault(row):
    assert list(row) == FIELDS
    assert all(isinstance(row[f], str) and row[f] for f in ["prompt", "reference", "response"])
    assert set(faults(row)) <= FAULTS
    for call in calls(row):
        assert isinstance(call["tool_name"], str)
        assert set(call) <= {"tool_name", "tool_input"}
        assert isinstance(call.get("tool_input", {}), dict | str)


@pytest.mark.parametrize("row", EVERY_ROW)
def test_a_fault_means_what_its_label_says(row):
    wanted, made = counted(row["reference_trajectory"]), counted(row["predicted_trajectory"])
    labels = set(faults(row))
    names = Counter(call["tool_name"] for call in row["reference_trajectory"])
    names_made = Counter(call["tool_name"] for call in row["predicted_trajectory"])
    assert (labels == {"refusal"}) == bool(wanted and not made)
    assert ("duplicate" in labels) == any(made[c] > wanted[c] > 0 for c in made)
    if labels == {"missing"}:
        assert made < wanted
    if labels <= {"extra", "duplicate"}:
        assert wanted < made
    if labels == {"order"}:
        assert made == wanted
        assert row["predicted_trajectory"] != row["reference_trajectory"]
    if "wrong_tool" in labels:
        assert names_made - names
    if labels & {"type", "wrong_key", "missing_argument", "extra_argument", "list_order"}:
        assert names_made == names
        assert made != wanted
