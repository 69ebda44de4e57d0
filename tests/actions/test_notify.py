"""A line in the log, on one line whatever the agent wrote."""

from __future__ import annotations

import pytest

from trajgrade.actions.add_to_queue import AddToQueue
from trajgrade.actions.notify import Notify
from trajgrade.errors import ConfigError
from trajgrade.event import Event


def test_the_message_is_filled_in_and_logged(caplog):
    event = Event(id="e", rule="errors", item_id="t1\nFAKE", because="status: {rule}")
    assert Notify("{item_id} → {rule}").act(event) == "t1 FAKE → errors"
    assert caplog.messages == ["t1 FAKE → errors"]


def test_an_empty_message_is_refused():
    with pytest.raises(ConfigError, match="a text is needed"):
        Notify(" ")


def test_scores_are_filled_in_and_nothing_that_an_agent_wrote_is():
    event = Event(id="e", rule="{rule}", item_id="{because}", scores={"f1": 2 / 3, "none": None})
    told = Notify("{item_id} {rule} {scores.f1} {scores.none} {scores.other} {}").act(event)
    assert told == "{because} {rule} 0.667 – – {}"


@pytest.mark.parametrize("action", [Notify, lambda text: AddToQueue(reason=text)])
def test_a_place_that_nothing_is_known_for_is_refused(action):
    with pytest.raises(ConfigError, match=r"unknown place 'becuase'\. Did you mean 'because'"):
        action("{rule}: {becuase}")
