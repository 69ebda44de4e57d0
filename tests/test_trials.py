"""Each example several times."""

from __future__ import annotations

import pytest

from trajgrade.dataset import Example
from trajgrade.errors import ConfigError, DatasetError
from trajgrade.trials import check_trials, repeated


def test_each_example_is_repeated_one_trial_after_the_other():
    examples = [Example(id="a", inputs=1, row=0), Example(id="b", inputs=2, row=1)]
    found = [(e.id, e.trial, e.inputs, e.row) for e in repeated(examples, 3)]
    assert found == [
        ("a", 0, 1, 0), ("a", 1, 1, 0), ("a", 2, 1, 0), ("b", 0, 2, 1), ("b", 1, 2, 1),
        ("b", 2, 2, 1),
    ]  # fmt: skip


def test_one_trial_leaves_examples_as_they_are():
    examples = [Example(id="a"), Example(id="b", trial=4)]
    assert [*repeated(examples, 1)] == examples


def test_trials_of_trials_are_refused():
    with pytest.raises(DatasetError, match=r"x\.jsonl line 2 is trial 0 of 'a' already"):
        list(repeated([Example(id="a", trial=0, source="x.jsonl line 2")], 2))


@pytest.mark.parametrize("trials", [0, -1, True, 1.5, "2"])
def test_what_is_no_number_of_trials_is_refused(trials):
    with pytest.raises(ConfigError, match="trials: expected a whole number from 1"):
        check_trials(trials)
