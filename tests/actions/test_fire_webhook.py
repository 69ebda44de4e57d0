"""Webhooks: signed, repeatable, and told apart by whether trying again may help."""

from __future__ import annotations

import hashlib
import hmac
import json
import socket

import pytest

from trajgrade.actions.fire_webhook import FireWebhook
from trajgrade.errors import ConfigError
from trajgrade.event import Event, TryAgainError

EVENT = Event(
    id="e1", rule="errors", item_id="t1", because="status: error", trace=[], scores={"f1": 0.5}
)
SECRET = "correct horse"  # noqa: S105 made up


@pytest.fixture
def webhook(hook, monkeypatch):
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    return FireWebhook(hook.url, "HOOK_SECRET", {"X-Team": "agents"}, allow_hosts=("127.0.0.1",))


def test_the_event_is_sent_signed_with_a_key_that_every_attempt_has(webhook, hook):
    assert webhook.act(EVENT) == "HTTP 200"
    webhook.act(EVENT)
    (_, headers, body), (_, again, _) = hook.came
    assert json.loads(body) == {
        "id": "e1", "rule": "errors", "item_id": "t1", "because": "status: error", "trace": [],
        "scores": {"f1": 0.5}, "results": {},
    }  # fmt: skip
    assert headers["Idempotency-Key"] == again["Idempotency-Key"] == "e1"
    message = f"{headers['X-Trajgrade-Timestamp']}.".encode() + body
    right = hmac.new(SECRET.encode(), message, hashlib.sha256).hexdigest()
    assert headers["X-Trajgrade-Signature"] == f"sha256={right}"
    assert headers["X-Team"] == "agents"


@pytest.mark.parametrize("status", [408, 425, 429, 500, 503])
def test_what_may_succeed_later_says_so(webhook, hook, status):
    hook.answer = (status, {"Retry-After": "7"})
    with pytest.raises(TryAgainError, match=f"HTTP {status}") as caught:
        webhook.act(EVENT)
    assert caught.value.after == 7


@pytest.mark.parametrize("status", [301, 302, 400, 401, 404, 410])
def test_what_never_will_is_final(webhook, hook, status):
    hook.answer = (status, {"Location": "http://127.0.0.1/"})
    with pytest.raises(OSError, match=f"HTTP {status}"):
        webhook.act(EVENT)


def test_a_target_that_nobody_listens_at_may_be_tried_again():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(TryAgainError, match="ConnectionRefusedError"):
        FireWebhook(url, allow_hosts=("127.0.0.1",)).act(EVENT)


def test_a_private_target_is_refused_for_good_and_gets_nothing(hook):
    with pytest.raises(OSError, match="no public address"):
        FireWebhook(hook.url).act(EVENT)
    assert hook.came == []


def test_a_secret_that_is_not_set_and_a_url_that_is_none_are_refused_at_once():
    with pytest.raises(ConfigError, match="NOT_THERE is not set"):
        FireWebhook("https://example.com", "NOT_THERE")
    with pytest.raises(ConfigError, match="http or https"):
        FireWebhook("example.com")


def test_the_secret_is_not_in_what_it_shows(webhook):
    assert SECRET not in repr(webhook)
