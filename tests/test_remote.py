"""Agents behind a URL: a server on loopback."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from trajgrade.agent import Agent
from trajgrade.dataset import Dataset, Example
from trajgrade.errors import ConfigError
from trajgrade.remote import Remote

CALLS = [{"tool_name": "echo"}]


class Server(ThreadingHTTPServer):
    """Answers as it is told, and keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Asked)
        self.asked: list[tuple[str, dict[str, str], Any]] = []
        self.answer: Callable[[Asked, Any], None] = lambda asked, row: asked.say(row["inputs"])
        self.stopping = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/agent"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves early is no error."""


class Asked(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        row = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, dict(self.headers), row))
        self.server.answer(self, row)

    def say(self, body: Any, status: int = 200, **headers: str) -> None:
        text = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(text)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.stopping.set()
        running.shutdown()
        thread.join()


def asked(server, n=1, *, headers=None, most_bytes=None, **options):
    more = {"most_bytes": most_bytes} if most_bytes else {}
    remote = Remote(server.url, headers=headers, timeout=options.get("timeout"), **more)
    rows = Dataset.load([{"id": f"r{i}", "prompt": f"p{i}"} for i in range(n)])
    return list(Agent(remote, **options).over(rows))


def error_of(found):
    return found[0][1].error


def test_it_is_sent_the_row_and_sends_its_answer(server):
    server.answer = lambda asked, row: asked.say({"response": "x", "predicted_trajectory": CALLS})
    example = Example(id="a", inputs={"q": "ß"}, trial=1, reference="secret")
    ((answered, outcome),) = Agent(Remote(server.url), seed=7).over([example])
    assert (answered.response, answered.outputs, outcome.error) == ("x", CALLS, None)
    ((path, headers, row),) = server.asked
    assert path == "/agent"
    assert headers["Content-Type"] == "application/json"
    assert row == {"id": "a", "inputs": {"q": "ß"}, "trial": 1, "seed": 8}


def test_many_are_asked_at_once_and_each_gets_its_own_answer(server):
    together = threading.Barrier(4)

    def answer(asked, row):
        together.wait(30)
        asked.say(row["inputs"].upper())

    server.answer = answer
    found = asked(server, 8, max_concurrency=4)
    assert [example.response for example, _ in found] == [f"P{i}" for i in range(8)]


@pytest.mark.parametrize("status", [400, 404, 429, 500, 503])
def test_a_status_that_is_no_success_is_a_failure(server, status):
    server.answer = lambda asked, row: asked.say("out of credit", status)
    error = error_of(asked(server))
    assert error.type == "AgentCallError"
    assert error.message.startswith(f"{server.url} answered {status} ")
    assert error.message.endswith(": out of credit")


def test_redirects_are_not_followed(server):
    server.answer = lambda asked, row: asked.say("", 307, Location=server.url)
    error = error_of(asked(server))
    assert "answered 307 Temporary Redirect; redirects are not followed" in error.message
    assert len(server.asked) == 1


def test_headers_come_from_the_environment_and_are_never_shown(server, monkeypatch):
    monkeypatch.setenv("AGENT_KEY", "s3cr3t-value")
    headers = {"Authorization": "Bearer ${AGENT_KEY}", "X-Plain": "plain-$5"}
    server.answer = lambda asked, row: asked.say(f"no: {asked.headers['Authorization']}", 401)
    found = asked(server, headers=headers)
    _, sent, _ = server.asked[0]
    assert (sent["Authorization"], sent["X-Plain"]) == ("Bearer s3cr3t-value", "plain-$5")
    assert "answered 401 Unauthorized: no: ***" in error_of(found).message
    shown = repr(found) + repr(Remote(server.url + "?key=s3cr3t-value", headers=headers))
    assert "s3cr3t" not in shown


def test_what_is_named_is_tried_again_as_late_as_the_server_says(server):
    times: list[float] = []

    def answer(asked, row):
        times.append(time.monotonic())
        if len(times) < 3:
            asked.say("later", 429, Retry_After="0.1")
        else:
            asked.say("now")

    server.answer = answer
    ((answered, outcome),) = asked(server, retries=5, retry_on=[429], backoff=500)
    assert (answered.response, outcome.attempts) == ("now", 3)
    assert times[1] - times[0] >= 0.09


def test_a_server_that_says_nothing_is_waited_for_no_longer_than_told(server):
    server.answer = lambda asked, row: asked.server.stopping.wait(60)
    error = error_of(asked(server, timeout=0.2))
    assert error.type == "TimeoutError"
    assert "within 0.2 s" in error.message


def test_one_that_says_a_little_now_and_then_is_neither(server):
    def drip(asked, row):
        asked.send_response(200)
        asked.end_headers()
        while not asked.server.stopping.wait(0.02):
            asked.wfile.write(b"x")
            asked.wfile.flush()

    server.answer = drip
    error = error_of(asked(server, timeout=0.3))
    assert error.type == "TimeoutError"
    with pytest.raises(TimeoutError, match=r"no whole answer within 0\.3 s"):
        Remote(server.url, timeout=0.3).query_row({"id": "a"})


def test_an_endless_answer_is_given_up(server):
    def flood(asked, row):
        asked.send_response(200)
        asked.end_headers()
        while not asked.server.stopping.is_set():
            asked.wfile.write(b"x" * 10_000)

    server.answer = flood
    error = error_of(asked(server, most_bytes=100_000))
    assert (error.type, error.message) == (
        "TooLargeError", "the answer is longer than 100,000 bytes",
    )  # fmt: skip


def test_an_answer_that_is_cut_off_is_none(server):
    def cut(asked, row):
        asked.send_response(200)
        asked.send_header("Content-Length", "100")
        asked.end_headers()
        asked.wfile.write(b"half of ")

    def cut_chunk(asked, row):
        asked.send_response(200)
        asked.send_header("Transfer-Encoding", "chunked")
        asked.end_headers()
        asked.wfile.write(b"64\r\nhalf of ")

    for answer in (cut, cut_chunk):
        server.answer = answer
        error = error_of(asked(server))
        assert error.type == "ConnectionError"
        assert "the answer was cut off" in error.message


def test_what_speaks_no_http_is_a_failure(server):
    server.answer = lambda asked, row: asked.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")
    error = error_of(asked(server))
    assert error.type == "AgentCallError"
    assert "BadStatusLine" in error.message


def test_an_address_where_nobody_listens_is_a_failure_that_may_be_tried_again():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/"
        agent = Agent(Remote(url), retries=2, retry_on=["ConnectionError"], backoff=0.001)
        ((_, outcome),) = agent.over([Example(id="a")])
    assert outcome.error is not None
    assert (outcome.error.type, outcome.attempts) == ("ConnectionRefusedError", 3)


def test_an_answer_of_nothing_is_a_failure(server):
    server.answer = lambda asked, row: asked.say("", 204)
    assert error_of(asked(server)).message == "the agent returned nothing"


@pytest.mark.parametrize(
    ("url", "headers", "fault"),
    [
        ("localhost:8000", {}, "url: expected an address such as"),
        ("file:///etc/passwd", {}, "url: expected an address such as"),
        ("ftp://host/x", {}, "url: expected an address such as"),
        ("http://", {}, "url: expected an address such as"),
        ("http://[::1/", {}, "url: "),
        ("http://me:pw@host/", {}, "url: holds a name or password"),
        ("http://host/", {"A B": "x"}, "headers: 'A B' is no name of a header"),
        ("http://host/", {"A": "x\r\nB: y"}, "headers.A: holds a character"),
        ("http://host/", {"A": "${NO_SUCH_KEY}"}, "headers.A: the environment has no NO_SUCH_KEY"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_any_row(url, headers, fault):
    with pytest.raises(ConfigError, match=fault):
        Remote(url, headers=headers)


def test_a_value_from_the_environment_cannot_add_a_header(monkeypatch):
    monkeypatch.setenv("EVIL", "x\r\nX-Admin: 1")
    with pytest.raises(ConfigError, match=r"headers\.A: holds a character"):
        Remote("http://host/", headers={"A": "${EVIL}"})
