"""Nobody gets in who may not: names, origins, keys, scopes, forms, cookies, headers, the log."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import httpx
import pytest
from fastapi import Depends, Request
from starlette.responses import PlainTextResponse, Response

from tests.server.conftest import Served, running
from trajgrade.errors import ConfigError
from trajgrade.inbox import KeyRecord
from trajgrade.server.guard import checked_form, csrf_token, enter, leave, needs
from trajgrade.server.keys import SESSION, Keyring, digest_of, new_key
from trajgrade.server.limits import Rates
from trajgrade.server.refusal import RefusedError

TRACE = {"id": "one", "messages": [{"role": "user", "content": "Hello"}]}


# ------------------------------------------------------------------------------ names and origins


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8000", "localhost", "LOCALHOST.:80", "[::1]:8000", "10.0.0.5"]
)
def test_the_server_is_called_by_an_address_or_as_localhost(lasting: Served, host: str):
    assert lasting.client.get("/api/status", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "a@localhost", "", "local host"],
)
def test_a_name_that_points_here_by_someone_elses_dns_is_refused(lasting: Served, host: str):
    answer = lasting.client.get("/api/status", headers={"host": host})
    assert answer.status_code == 403
    assert answer.json()["error"]["kind"] == "not_allowed"


def test_a_name_that_the_settings_allow_is_one(tmp_path: Path):
    with running(tmp_path, hosts=("Grades.example",)) as served:
        answer = served.client.get("/healthz", headers={"host": "grades.example:443"})
        assert answer.status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": "file://"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_page_of_another_site_changes_nothing(lasting: Served, headers: dict[str, str]):
    for path in ("/api/traces", "/api/traces/webhook", "/v1/traces", "/api/jobs/revive"):
        assert lasting.client.post(path, json=TRACE, headers=headers).status_code == 403
    assert lasting.store.inbox.traces() == []


def test_a_page_of_ours_and_a_program_may(served: Served):
    for headers in ({"origin": served.url}, {"sec-fetch-site": "same-origin"}, {}):
        assert served.client.post("/api/traces", json=TRACE, headers=headers).status_code == 200


# ------------------------------------------------------------------------------ keys


def test_without_a_key_this_machine_may_do_everything(served: Served):
    assert served.client.get("/api/runs").status_code == 200
    assert served.client.post("/api/traces", json=TRACE).status_code == 200


ASKED = {
    "ingest": ("POST", "/api/traces", TRACE),
    "read": ("GET", "/api/traces", None),
    "admin": ("POST", "/api/jobs/revive", {"numbers": [1]}),
}


@pytest.mark.parametrize(
    ("scopes", "may"),
    [
        (("ingest",), {"ingest"}),
        (("read",), {"read"}),
        (("ingest", "read"), {"ingest", "read"}),
        (("admin",), {"ingest", "read", "admin"}),
    ],
)
def test_a_key_is_good_for_its_scopes(served: Served, scopes: Any, may: set[str]):
    key = served.key("someone", *scopes)
    for headers in ({"authorization": f"Bearer {key}"}, {"x-api-key": key}):
        for scope, (method, path, body) in ASKED.items():
            answer = served.client.request(method, path, json=body, headers=headers)
            assert (answer.status_code == 200) == (scope in may), (scope, answer.text)
            assert answer.status_code in {200, 403}


@pytest.mark.parametrize(
    "shown",
    [
        {},
        {"x-api-key": "tgk_wrong"},
        {"authorization": "Bearer"},
        {"authorization": "Basic eDp5"},
        {"x-api-key": "k" * 5000},
    ],
)
def test_once_there_is_a_key_it_is_needed(served: Served, shown: dict[str, str]):
    served.key("someone", "admin")
    for method, path, body in ASKED.values():
        answer = served.client.request(method, path, json=body, headers=shown)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
    for path in ("/healthz", "/api/openapi.json"):  # the same for everybody
        assert served.client.get(path).status_code == 200


def test_a_revoked_key_is_good_for_nothing_and_opens_nothing(served: Served):
    key = served.key("someone", "admin")
    headers = {"x-api-key": key}
    assert served.client.get("/api/runs", headers=headers).status_code == 200
    served.store.inbox.revoke_key("someone", 1.0)
    served.app.state.keys._read_at = None
    assert served.client.get("/api/runs", headers=headers).status_code == 401
    assert served.client.get("/api/runs").status_code == 401


class Inbox:
    """Where keys are kept, for a keyring alone."""

    def __init__(self, *records: KeyRecord) -> None:
        self.records = list(records)
        self.asked = 0

    def keys(self) -> list[KeyRecord]:
        self.asked += 1
        return self.records


def test_keys_are_read_again_after_two_seconds():
    now = [100.0]
    key, record = new_key("k", ["read"], 0.0)
    inbox: Any = Inbox(record)
    ring = Keyring(inbox, clock=lambda: now[0])
    assert ring.who(key)
    inbox.records.clear()
    now[0] += 1.9
    assert ring.who(key)
    assert inbox.asked == 1
    now[0] += 0.2
    assert not ring.who("other") or ring.is_open


def test_a_server_that_others_reach_is_open_to_nobody_without_a_key():
    inbox: Any = Inbox()
    assert Keyring(inbox, is_local=True).who(None) is not None
    assert Keyring(inbox, is_local=False).who(None) is None


def test_a_session_ends_after_its_time_with_its_key_and_by_leaving():
    now = [100.0]
    key, record = new_key("k", ["read"], 0.0)
    inbox: Any = Inbox(record)
    ring = Keyring(inbox, clock=lambda: now[0])
    first, second, third = (ring.log_in(key) for _ in range(3))
    assert len({first, second, third}) == 3
    assert ring.log_in("wrong") is None
    assert ring.who(None, first)
    ring.log_out(first or "")
    assert ring.who(None, first) is None
    assert ring.who(None, second)
    now[0] += SESSION
    assert ring.who(None, second) is None
    fourth = ring.log_in(key)
    inbox.records[0] = KeyRecord(
        name="k", digest=record.digest, scopes=("read",), made_at=0, revoked_at=5
    )
    now[0] += 3
    assert ring.who(None, fourth) is None


def test_of_a_key_only_a_hash_is_kept():
    key, record = new_key("k", ["read", "ingest", "read"], 7.0)
    assert key not in repr(record)
    assert record.digest == digest_of(key)
    assert record.scopes == ("ingest", "read")
    assert len(key) > 40
    assert new_key("k", ["read"], 7.0)[0] != key


@pytest.mark.parametrize(
    ("name", "scopes"),
    [("", ["read"]), ("a b", ["read"]), ("x", []), ("x", ["reed"]), ("x" * 101, ["read"])],
)
def test_a_key_without_a_proper_name_or_scope_is_not_made(name: str, scopes: list[str]):
    with pytest.raises(ConfigError):
        new_key(name, scopes, 0.0)


# ------------------------------------------------------------------------------ forms and cookies


@pytest.fixture
def forms(tmp_path: Path) -> Iterator[Served]:
    """A server with a page that has a form."""
    with running(tmp_path) as served:

        @served.app.get("/t/form")
        def page(request: Request) -> Response:
            return PlainTextResponse(csrf_token(request))

        @served.app.post("/t/form")
        def sent(form: Annotated[dict[str, str], Depends(checked_form)]) -> Response:
            return PlainTextResponse(repr(form))

        @served.app.post("/t/enter")
        def entered(
            request: Request, form: Annotated[dict[str, str], Depends(checked_form)]
        ) -> Response:
            response = PlainTextResponse("in")
            response.status_code = 200 if enter(request, response, form["key"]) else 401
            return response

        @served.app.post("/t/leave")
        def left(request: Request) -> Response:
            response = PlainTextResponse("out")
            leave(request, response)
            return response

        @served.app.get("/t/secret", dependencies=[needs("read")])
        def secret() -> Response:
            return PlainTextResponse("secret")

        yield served


def test_a_form_of_our_page_is_taken_without_its_token(forms: Served):
    token = forms.client.get("/t/form").text
    answer = forms.client.post("/t/form", data={"csrf_token": token, "word": "ä & b", "empty": ""})
    assert answer.text == repr({"word": "ä & b", "empty": ""})


@pytest.mark.parametrize("token", ["", "0" * 64, "ä"])
def test_a_form_without_the_pages_token_is_refused(forms: Served, token: str):
    forms.client.get("/t/form")
    answer = forms.client.post("/t/form", data={"csrf_token": token, "word": "x"})
    assert answer.status_code == 403


def test_a_token_is_good_for_its_own_visitor_alone(forms: Served):
    token = forms.client.get("/t/form").text
    with httpx.Client(base_url=forms.url) as other:
        assert other.get("/t/form").text != token
        assert other.post("/t/form", data={"csrf_token": token}).status_code == 403
    with httpx.Client(base_url=forms.url) as none:
        assert none.post("/t/form", data={"csrf_token": token}).status_code == 403


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"{}", "application/json", 415),
        (b"x=" + b"y" * 2_100_000, "application/x-www-form-urlencoded", 413),
        (b"\xff=%ff", "application/x-www-form-urlencoded", 400),
        (b"&".join(b"a=b" for _ in range(300)), "application/x-www-form-urlencoded", 400),
    ],
)
def test_what_is_no_form_is_refused(forms: Served, content: bytes, kind: str, status: int):
    answer = forms.client.post("/t/form", content=content, headers={"content-type": kind})
    assert answer.status_code == status


def test_cookies_are_for_no_script_and_no_other_site(forms: Served):
    (cookie,) = forms.client.get("/t/form").headers.get_list("set-cookie")
    assert re.fullmatch(r"trajgrade_visitor=[\w-]+; Path=/; HttpOnly; SameSite=Strict", cookie)
    assert not forms.client.get("/t/form").headers.get_list("set-cookie")
    with httpx.Client(base_url=forms.url) as other:
        (cookie,) = other.get("/t/form", headers={"host": "10.0.0.5"}).headers.get_list(
            "set-cookie"
        )
        assert cookie.endswith("; Secure")


def test_people_log_in_with_a_key_and_out_again(forms: Served):
    key = forms.key("someone", "read")
    assert forms.client.get("/t/secret").status_code == 401
    token = forms.client.get("/t/form").text
    wrong = forms.client.post("/t/enter", data={"csrf_token": token, "key": "tgk_no"})
    assert (wrong.status_code, forms.client.get("/t/secret").status_code) == (401, 401)
    forms.client.post("/t/enter", data={"csrf_token": token, "key": key})
    assert forms.client.get("/t/secret").text == "secret"
    assert forms.client.post("/api/jobs/revive", json={"numbers": [1]}).status_code == 403
    assert key not in str(forms.client.cookies)
    forms.client.post("/t/leave")
    assert forms.client.get("/t/secret").status_code == 401


# ------------------------------------------------------------------------------ answers, log, rates


@pytest.mark.parametrize(
    "path", ["/healthz", "/api/status", "/api/openapi.json", "/nowhere", "/api/runs/none"]
)
def test_every_answer_bears_what_protects_its_reader(lasting: Served, path: str):
    headers = lasting.client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert "server" not in headers


@pytest.mark.parametrize(
    ("method", "path", "status", "kind"),
    [
        ("GET", "/api/nowhere", 404, "not_found"),
        ("PUT", "/api/runs", 405, "wrong_method"),
        ("GET", "/api/runs?limit=many", 422, "invalid"),
        ("GET", "/api/runs/none", 404, "not_found"),
        ("GET", "/api/traces/none", 404, "not_found"),
        ("GET", "/api/datasets/none/rows", 404, "not_found"),
        ("GET", "/api/reviews/7", 404, "not_found"),
    ],
)
def test_every_refusal_has_one_shape(
    lasting: Served, method: str, path: str, status: int, kind: str
):
    answer = lasting.client.request(method, path)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert set(error) == {"kind", "message", "allowed"}
    assert error["kind"] == kind
    assert error["message"]


def test_the_log_has_neither_query_nor_key(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.INFO, "trajgrade.access"), running(tmp_path) as served:
        key = served.key("someone", "read")
        served.client.get("/api/runs?token=hush", headers={"x-api-key": key})
        served.client.get("/api/x%0aforged%20line")
    first, second = caplog.messages
    assert re.fullmatch(r"127\.0\.0\.1 GET '/api/runs' 200 [\d.]+ ms someone", first)
    assert "\n" not in second
    assert "hush" not in caplog.text
    assert key not in caplog.text


def test_who_asks_evenly_is_never_refused_and_a_burst_is_cut():
    now = [0.0]
    rates = Rates(10.0, clock=lambda: now[0])
    for _ in range(100):
        now[0] += 0.1
        rates.take("steady")
    for _ in range(10):
        rates.take("burst")
    with pytest.raises(RefusedError) as refused:
        rates.take("burst")
    assert refused.value.retry_after == 1
    rates.take("someone else")
    now[0] += 0.5
    for _ in range(5):
        rates.take("burst")


def test_a_fault_of_ours_tells_nothing_of_its_inside(served: Served):
    def breaks() -> None:
        raise ZeroDivisionError("hush")

    served.app.add_api_route("/api/breaks", breaks)
    answer = served.client.get("/api/breaks")
    assert answer.status_code == 500
    assert answer.json()["error"]["kind"] == "broken"
    assert "hush" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
