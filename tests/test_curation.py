"""Which rows are kept, and what people's labels come to."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajgrade.curation import Where, consensus
from trajgrade.errors import ConfigError
from trajgrade.result import EvaluationResult, not_evaluated
from trajgrade.run import Row

LOW = Row("low", {"f1": EvaluationResult("f1", 0.4)}, latency_in_seconds=3.0, failure=0)
HIGH = Row("high", {"f1": EvaluationResult("f1", 1.0)}, latency_in_seconds=1.0, failure=0)
NONE = Row("none", {"f1": not_evaluated("f1", "no_reference", "none")}, failure=1)
ROWS = (LOW, HIGH, NONE)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("f1 < 1", ["low"]),
        ("f1<=1", ["low", "high"]),
        ("f1 = 1", ["high"]),
        ("f1 == 1.0", ["high"]),
        ("f1 != 1", ["low"]),
        ("f1 is no_reference", ["none"]),
        ("f1 is not_evaluated", ["none"]),
        ("f1 is error", []),
        ("f1 is scored", ["low", "high"]),
        ("failure = 1", ["none"]),
        ("latency_in_seconds > 2", ["low"]),
        ("f1 < 1 and latency_in_seconds > 2", ["low"]),
        ("f1 < 1 and latency_in_seconds < 2", []),
        ("f1 = 1 or failure = 1", ["high", "none"]),
        ("f1 = 1 and failure = 1 or f1 < 1", ["low"]),
        ("other < 1", []),
    ],
)
def test_what_an_expression_means(text, names):
    assert [row.id for row in ROWS if Where(text)(row)] == names


def test_equality_is_that_of_thresholds():
    row = Row("x", {"f1": EvaluationResult("f1", 0.1 + 0.2)})
    assert Where("f1 = 0.3")(row)
    assert Where("f1 <= 0.3")(row)
    assert not Where("f1 > 0.3")(row)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no comparison"),
        ("f1", "is no comparison"),
        ("f1 < 1 and", "is no comparison"),
        ("f1 < one", "a number is needed, got 'one'"),
        ("f1 < nan", "a number is needed"),
        ("f1 is judg", "Did you mean 'judge'?"),
        ("ff1 < 1", "Did you mean 'f1'?"),
        ("__import__('os')", "is no comparison"),
    ],
)
def test_what_is_no_expression_is_refused(text, said):
    with pytest.raises(ConfigError) as caught:
        Where(text, ["f1"])
    assert said in str(caught.value)


@given(st.lists(st.sampled_from([None, "a", "b", 1, True]), max_size=8))
def test_the_majority_is_the_label_that_most_gave(labels: list[Any]):
    found = consensus(labels)
    said = [repr(label) for label in labels if label is not None]
    counts = Counter(said).most_common()
    assert found.n_labels == len(said)
    if not counts:
        assert found == (None, 0.0, 0)
    elif len(counts) > 1 and counts[0][1] == counts[1][1]:
        assert found.value is None
    else:
        assert repr(found.value) == counts[0][0]
        assert found.agreement == counts[0][1] / len(said)


def test_labels_are_equal_as_arguments_are():
    assert consensus([{"a": 1, "b": [2]}, {"b": [2.0], "a": 1.0}, "x"]).agreement == 2 / 3
