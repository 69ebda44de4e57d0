"""What the benchmarks of production share: a server and workers of their own, traces, and a count.

A webhook receiver counts by the key of each call, as a receiver should; the server, the workers and
the database are processes, as in production.
"""

from __future__ import annotations

import http.client
import http.server
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ("search", "book", "pay", "cancel")

RULES = """\
server: {rate: 1000000}
automation:
  rules:
    - name: grade
      when: always
      actions:
        - {type: run_evaluator, evaluator: {tool_use: {expected_tool: pay, key: paid}}}
    - name: failed
      when: [{field: failed, equals: true}, {field: scores.paid, gte: 1}]
      actions:
        - {type: add_to_queue, queue: failures, priority: 5}
        - {type: add_to_dataset, dataset: failures, expected: actual}
    - name: hook
      when: {field: hooked, equals: true}
      actions:
        - {type: fire_webhook, url: "URL", allow_hosts: ["127.0.0.1"]}
"""


def trace(name: str, *, failed: bool = False, hooked: bool = False) -> dict[str, Any]:
    """Make up a trace of four calls."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"please do {name}"}]
    for n, tool in enumerate(TOOLS):
        call = {"name": tool, "arguments": json.dumps({"for": name, "n": n})}
        asked = {"id": f"c{n}", "type": "function", "function": call}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [asked]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": f"done {n}"},
        ]
    messages.append({"role": "assistant", "content": "all is done"})
    return {"trace_id": name, "failed": failed, "hooked": hooked, "messages": messages}


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Receiver:
    """Takes webhooks, and counts how often each key came."""

    def __init__(self) -> None:
        self.keys: Counter[str] = Counter()
        keys = self.keys

        class Taken(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                keys[self.headers["Idempotency-Key"]] += 1
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Taken)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Take no more."""
        self._server.shutdown()
        self._server.server_close()


class Process:
    """A command of trajgrade that runs, and can be killed and begun anew."""

    def __init__(self, folder: Path, *words: str) -> None:
        self._words = words
        self._log = (folder / f"{words[0]}.log").open("ab")
        self.begin()

    def begin(self) -> None:
        """Begin it."""
        command = [sys.executable, "-m", "trajgrade", *self._words]
        self.running = subprocess.Popen(command, stdout=self._log, stderr=self._log, cwd=ROOT)

    def kill(self) -> None:
        """End it without a word."""
        self.running.send_signal(signal.SIGKILL)
        self.running.wait()

    def end(self) -> None:
        """Have it end what it has begun."""
        self.running.terminate()
        self.running.wait()


@contextmanager
def ended(processes: Iterable[Process], stop: threading.Event) -> Iterator[None]:
    """Leave no process and no client behind, however it ends."""
    try:
        yield
    finally:
        stop.set()
        for process in processes:
            process.end()


def posted(port: int, path: str, body: bytes, timeout: float = 30.0) -> tuple[int, bytes]:
    """Send a body to the server; return the status and the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def is_up(port: int) -> bool:
    """Whether the server answers."""
    try:
        socket.create_connection(("127.0.0.1", port), 0.2).close()
    except OSError:
        return False
    return True


def until_up(port: int, folder: Path, seconds: float = 300.0) -> None:
    """Wait for the server."""
    end = time.monotonic() + seconds
    while not is_up(port):
        if time.monotonic() > end:
            raise SystemExit(f"no server came up: {(folder / 'serve.log').read_text()[-3000:]}")
        time.sleep(0.05)


def memory(pid: int) -> float:
    """Return the resident memory of a process in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


@contextmanager
def database(kind: str, folder: Path) -> Iterator[str]:
    """Give the address of an empty store: an SQLite file, or a PostgreSQL server of our own."""
    if kind == "sqlite":
        yield str(folder / "loop.db")
        return
    sys.path.insert(0, str(ROOT))
    from tests import postgres

    os.environ.setdefault("PYTHONPATH", str(ROOT))
    with postgres.server(folder / "postgres.json") as address:
        yield postgres.new_database(address)


@contextmanager
def folder_of_our_own() -> Iterator[Path]:
    """Give a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="trajgrade-loop-") as folder:
        yield Path(folder)


def config(folder: Path, url: str) -> Path:
    """Write the rules, of which one calls a URL."""
    path = folder / "rules.yaml"
    path.write_text(RULES.replace("URL", url))
    return path
