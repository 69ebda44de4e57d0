"""How fast traces are taken and graded: `ingest.py [--seconds N] [--stores sqlite] [--workers 0]`.

`trajgrade serve` runs as a process of its own, with rules on: one grades each trace, one puts those
that fail into a review queue. A second process, this one, sends OTLP as protobuf over loopback, 10
traces a request, 5 spans a trace, from 8 connections. Said are: traces a second that were accepted,
each answered after it was in the store; milliseconds until the answer; traces a second from the
first that came to the last that was graded; the same at a steady 750 traces a second; and, for
scale, what it takes to decode the same traces as JSON and to insert each request as one row, with
nothing else.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as service

from trajgrade.formats.otlp_message import object_of

TRACES, SPANS, CONNECTIONS = 10, 5, 8
STEADY = 75  # requests a second: half of 1,500 traces
ROOT = Path(__file__).resolve().parent.parent
RULES = """
automation:
  rules:
    - name: grade
      when: always
      after: trace_complete
      actions:
        - type: run_evaluator
          evaluator: tool_use
          params: {expected_tool: trains}
    - name: failures
      when: {field: "scores.tool_use:trains", lt: 1}
      after: trace_complete
      actions:
        - {type: add_to_queue, queue: failures}
server: {rate: 1000000, backlog: 10000000}
"""
TOOLS = ("trains", "hotels", "weather", "seats")


def request(number: int) -> bytes:
    """Return an export of traces that no other request has."""
    message = service.ExportTraceServiceRequest()
    resource = message.resource_spans.add()
    resource.resource.attributes.add(key="service.name").value.string_value = "guide"
    scope = resource.scope_spans.add()
    scope.scope.name = "benchmark"
    for trace in range(TRACES):
        name = (number * TRACES + trace + 1).to_bytes(16, "big")
        for at in range(SPANS):
            span = scope.spans.add(trace_id=name, span_id=bytes([at + 1]) * 8)
            span.start_time_unix_nano = 10**18 + at * 10**6
            span.end_time_unix_nano = 10**18 + at * 10**6 + 5 * 10**5
            if at == 0:
                span.name = "invoke_agent guide"
                told = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "guide"}
            else:
                span.parent_span_id = b"\x01" * 8
                tool = TOOLS[(trace + at) % len(TOOLS) if trace % 10 else 1]
                span.name = f"execute_tool {tool}"
                told = {
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": tool,
                    "gen_ai.tool.call.id": f"call_{at}",
                    "gen_ai.tool.call.arguments": '{"to": "Oslo", "day": "2026-12-01"}',
                    "gen_ai.tool.call.result": "09:14, 10:44, 12:14",
                }
            for key, value in told.items():
                span.attributes.add(key=key).value.string_value = value
    body: bytes = message.SerializeToString()
    return body


# ------------------------------------------------------------------------------ the load


class Connection:
    """One connection, which is kept: as little work as can be, so that the server is measured."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._reader: Any = None
        self._writer: Any = None

    async def post(self, body: bytes) -> int:
        """Send an export; return the status of the answer."""
        if self._reader is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._writer.write(
            b"POST /v1/traces HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-protobuf"
            b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        )
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        if length is not None:
            await self._reader.readexactly(int(length[1]))
        return int(head.split(b" ", 2)[1])


class Load:
    """What was sent, and how long each answer took."""

    def __init__(self, port: int, first: int, bodies: int) -> None:
        self.bodies = [request(first + at) for at in range(bodies)]
        self.sent = 0
        self.late: list[float] = []
        self.refused = 0
        self._connections = [Connection(port) for _ in range(CONNECTIONS)]

    async def flat_out(self, seconds: float) -> float:
        """Send as fast as answers come; return for how long."""
        began = time.perf_counter()

        async def one(connection: Connection) -> None:
            while time.perf_counter() - began < seconds and self.sent < len(self.bodies):
                await self._send(connection)

        await asyncio.gather(*map(one, self._connections))
        return time.perf_counter() - began

    async def steadily(self, seconds: float, rate: float) -> float:
        """Send so many requests a second, whether answers come or not; return for how long."""
        began = time.perf_counter()
        free: asyncio.Queue[Connection] = asyncio.Queue()
        for connection in self._connections:
            free.put_nowait(connection)

        async def one(due: float) -> None:
            connection = await free.get()
            await self._send(connection, due)
            free.put_nowait(connection)

        tasks = []
        for at in range(int(seconds * rate)):
            due = began + at / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            tasks.append(asyncio.create_task(one(due)))
        await asyncio.gather(*tasks)
        return time.perf_counter() - began

    async def _send(self, connection: Connection, due: float | None = None) -> None:
        body = self.bodies[self.sent]
        self.sent += 1
        began = due if due is not None else time.perf_counter()
        status = await connection.post(body)
        self.late.append(time.perf_counter() - began)
        self.refused += status != 200

    def told(self) -> str:
        """Say how long answers took."""
        late = sorted(self.late)
        shown = [
            late[min(len(late) - 1, int(len(late) * part))] * 1000 for part in (0.5, 0.95, 0.99)
        ]
        return "p50 {:.1f}  p95 {:.1f}  p99 {:.1f} ms".format(*shown)


# ------------------------------------------------------------------------------ the server


@contextmanager
def serving(
    store: str, workers: int, folder: Path, profile: str | None
) -> Iterator[tuple[int, int]]:
    """Run a server; give its port, and the number of its process."""
    config = folder / "rules.yaml"
    config.write_text(RULES)
    command = [sys.executable, "-m", "trajgrade", "serve", "--config", str(config), "--port", "0"]
    if profile is not None:
        command[1:1] = ["-m", "cProfile", "-o", profile]
    command += ["--workers", str(workers), "--store", store]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        told = ""
        while "serves" not in told:
            told = process.stderr.readline() if process.stderr else ""
            if not told:
                raise SystemExit(f"the server ended with {process.wait()}")
            if "serves" not in told:
                print(told, end="", file=sys.stderr)
        yield int(told.split(":")[-1].split()[0]), process.pid
    finally:
        process.send_signal(signal.SIGINT if profile else signal.SIGTERM)
        process.wait(60)


def processor(pid: int) -> float:
    """Return the seconds of a processor that a process has taken, its workers left out."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def of_workers(pid: int) -> float:
    """Return the seconds of a processor that a server's workers have taken."""
    found = 0.0
    for one in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(one.read_text().rpartition(")")[2].split()[1])
            found += processor(int(one.parent.name)) if parent == pid else 0.0
        except OSError:  # it has ended
            continue
    return found


def status(port: int) -> dict[str, Any]:
    """Ask the server how it goes."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/status", timeout=60) as answer:
        found: dict[str, Any] = msgspec.json.decode(answer.read())
        return found


def drained(port: int, workers: int) -> float:
    """Wait until all that came is graded; return for how long."""
    began = time.perf_counter()
    while workers and status(port)["backlog"]:
        time.sleep(0.05)
    return time.perf_counter() - began


# ------------------------------------------------------------------------------ what is said


def bare(folder: Path, bodies: int = 500) -> tuple[float, float]:
    """Decode traces as JSON and insert them, a row for each request; return traces/s and s."""
    texts = []
    for number in range(bodies):
        message = service.ExportTraceServiceRequest()
        message.ParseFromString(request(number))
        texts.append(msgspec.json.encode(object_of(message)))
    with sqlite3.connect(folder / "bare.db", isolation_level=None) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("CREATE TABLE traces (id TEXT PRIMARY KEY, body BLOB)")
        began, before = time.perf_counter(), time.process_time()
        for text in texts:
            spans = msgspec.json.decode(text)["resourceSpans"][0]["scopeSpans"][0]["spans"]
            database.execute("INSERT INTO traces VALUES (?, ?)", (spans[0]["traceId"], text))
        took, busy = time.perf_counter() - began, time.process_time() - before
    each = busy / (bodies * TRACES)
    return bodies * TRACES / took, each


def measured(
    kind: str, store: str, workers: int, folder: Path, seconds: float, profile: str | None
) -> None:
    """Measure one server, and say what was found."""
    with serving(store, workers, folder, profile) as (port, pid):
        asyncio.run(Load(port, 10**7, 5).flat_out(5))  # it has loaded all that it needs
        drained(port, workers)
        fast = Load(port, 0, int(400 * seconds))
        before, worked = processor(pid), of_workers(pid)
        took = asyncio.run(fast.flat_out(seconds))
        each = (processor(pid) - before) / (fast.sent * TRACES)
        behind = drained(port, workers)
        traces = fast.sent * TRACES
        worked = (of_workers(pid) - worked) / traces
        graded = f"{traces / (took + behind):7,.0f} graded/s" if workers else "      – graded  "
        print(
            f"{kind:10} {workers} workers  flat out  {traces / took:7,.0f} accepted/s  {graded}  "
            f"{fast.told()}  refused {fast.refused}  processor {each * 1000:.3f} ms a "
            f"trace, of workers {worked * 1000:.3f}",
            flush=True,
        )
        slow = Load(port, 10**6, int(STEADY * seconds) + 1)
        took = asyncio.run(slow.steadily(seconds, STEADY))
        behind = drained(port, workers)
        print(
            f"{kind:10} {workers} workers  steady    {slow.sent * TRACES / took:7,.0f} accepted/s  "
            f"{behind:7.2f} s behind   {slow.told()}  refused {slow.refused}",
            flush=True,
        )


def main() -> None:
    """Measure."""
    reading = argparse.ArgumentParser(description=__doc__)
    reading.add_argument("--seconds", type=float, default=10.0)
    reading.add_argument("--workers", type=int, nargs="*", default=[0, 1, 2])
    reading.add_argument("--stores", nargs="*", default=["sqlite", "postgresql"])
    reading.add_argument("--profile", metavar="FILE", help="write the server's profile")
    given = reading.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rate, each = bare(folder)
        print(f"bare decode and insert  {rate:,.0f} traces/s  {each * 1000:.3f} ms", flush=True)
        for workers in given.workers if "sqlite" in given.stores else ():
            store = str(folder / f"{workers}.db")
            measured("SQLite", store, workers, folder, given.seconds, given.profile)
        if "postgresql" in given.stores:
            sys.path.insert(0, str(ROOT))
            from tests import postgres

            with postgres.server(folder / "postgres.json") as address:
                for workers in given.workers:
                    store = postgres.new_database(address)
                    measured("PostgreSQL", store, workers, folder, given.seconds, None)


if __name__ == "__main__":
    main()
