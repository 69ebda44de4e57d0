"""A line in the log, on one line whatever the agent wrote."""

from __future__ import annotations

import pytest

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
