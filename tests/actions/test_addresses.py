"""Where a webhook may go: nothing but public addresses, whatever the name server says twice."""

from __future__ import annotations

import socket

import pytest

from trajgrade.actions.addresses import (
    ForbiddenAddressError,
    address_of,
    is_public,
    post,
    target_of,
)
from trajgrade.errors import ConfigError


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.9.1", "0.0.0.0",  # noqa: S104 not bound to
        "10.0.0.1", "172.16.0.1", "192.168.1.1",
        "169.254.169.254", "100.64.0.1", "224.0.0.1", "255.255.255.255", "192.0.2.1", "::1", "::",
        "fe80::1", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
        "2002:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    ],
)  # fmt: skip
def test_special_addresses_are_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "8.8.8.8", "2606:4700:4700::1111"])
def test_addresses_of_the_open_internet_are(address):
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com", "file:///etc/passwd", "example.com", "http://", "http:///x", "", None,
        3, "http://exa mple.com", "http://example.com/\r\nX: y", "http://example.com:99999",
        "http://example.com:port",
    ],
)  # fmt: skip
def test_what_is_no_url_is_refused(url):
    with pytest.raises(ConfigError, match="an http or https URL is needed"):
        target_of(url)


def test_credentials_in_a_url_are_refused_and_not_repeated():
    with pytest.raises(ConfigError) as caught:
        target_of("https://me:hunter2@example.com")
    assert "hunter2" not in str(caught.value)


def test_a_url_is_taken_apart():
    assert target_of("https://example.com/a/b?c=d#e") == ("https", "example.com", 443, "/a/b?c=d")
    assert target_of("http://[::1]:8080").authority == "[::1]:8080"
    assert target_of("http://example.com").authority == "example.com"


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1", "http://localhost", "http://[::1]",
    ],
)  # fmt: skip
def test_this_machine_is_not_reached(url):
    with pytest.raises(ForbiddenAddressError):
        address_of(target_of(url))


@pytest.mark.parametrize("host", ["0", "2130706433", "0x7f.1", "017700000001", "127.1"])
def test_other_spellings_of_this_machine_are_looked_at_as_they_resolve(host, monkeypatch):
    address = socket.inet_ntoa(socket.inet_aton(host))
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 80))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_a, **_k: found)
    with pytest.raises(ForbiddenAddressError):
        address_of(target_of(f"http://{host}"))


def test_a_host_that_is_allowed_by_name_is_sent_to(hook):
    answered = post(target_of(hook.url), b"{}", {"X-A": "b"}, allowed=["127.0.0.1"])
    assert (answered.status, answered.body) == (200, b"answer")
    ((path, headers, body),) = hook.came
    assert (path, body, headers["X-A"]) == ("/in?x=1", b"{}", "b")
    assert headers["Host"] == target_of(hook.url).authority


def test_a_redirect_is_answered_and_not_followed(hook):
    hook.answer = (302, {"Location": hook.url})
    assert post(target_of(hook.url), b"", {}, allowed=["127.0.0.1"]).status == 302
    assert len(hook.came) == 1


def test_a_second_answer_of_the_name_server_changes_nothing(hook, monkeypatch):
    """DNS rebinding: a name that is public when looked at, and loopback when connected to."""
    target = target_of(hook.url)
    answers = iter([[("8.8.8.8", 80)], [("127.0.0.1", target.port)]])
    connected = []

    def resolve(*_args, **_more):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", place) for place in next(answers)]

    def connect(place, _timeout):
        connected.append(place[0])
        raise OSError("out of reach")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(OSError, match="out of reach"):
        post(target._replace(host="rebinding.example"), b"", {})
    assert connected == ["8.8.8.8"]
    assert hook.came == []


def test_a_name_with_one_private_address_among_public_ones_is_refused(monkeypatch):
    places = [("8.8.8.8", 80), ("10.0.0.1", 80)]
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", place) for place in places]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_a, **_k: found)
    with pytest.raises(ForbiddenAddressError, match=r"mixed\.example is 10\.0\.0\.1"):
        address_of(target_of("http://mixed.example"))
