"""How fast each format is read, and in how much memory a long log.

    python benchmarks/formats.py [NAME…]           MB/s, and the ratio to msgspec.json.decode
    python benchmarks/formats.py --log [GB]        peak memory and speed of long files

Read are the bytes of a trace: decoded, detected and made a trajectory, steps included. The traces
are those of ../shared where they lie there, else the tests' samples. The ratio is the time that
`msgspec.json.decode` takes for the same bytes (line by line for JSON Lines), divided by the time
that reading takes. It is told for the traces as they are, most of them a few kB, where detection
costs more than reading, and for one made long: its list of messages, events or spans repeated up to
200 kB, with ids of their own.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.measure import peak_bytes, say, show, table  # noqa: E402 not installed
from tests.formats.samples import SAMPLES  # noqa: E402 not installed
from trajgrade import TrajgradeError, read_steps, read_traces  # noqa: E402 after the path
from trajgrade.formats import BUILTINS  # noqa: E402 after the path

TRACES = ROOT.parent / "shared" / "traces"
FAST = {"openai_chat", "anthropic_messages", "gemini_contents", "langchain_messages"}
SPANS = {"otlp_tempo", "adk_session", "adk_evalset"}
TEXTS = {"text", "react_text", "hermes_chatml"}
ROUNDS = 5
LEAST = 0.02
MEGA = 1e6
LONG = 200_000
ID = re.compile(r"(^|_)id$|[a-z]I[dD]$")
AT = "2025-08-28T12:57:08.611Z"


class Trace(NamedTuple):
    """The bytes of a trace, whole or line by line."""

    text: bytes
    lines: bool


def traces_of(name: str) -> list[Trace]:
    """Return traces of a format: real ones, or samples."""
    files = sorted(TRACES.glob(f"{name}/*.json*"))
    if files:
        return [Trace(file.read_bytes(), file.suffix == ".jsonl") for file in files]
    samples = [sample.data for sample in SAMPLES if sample.format == name]
    return [Trace(json.dumps(data).encode(), lines=False) for data in samples[:1]]


def lengthened(trace: Trace) -> Trace:
    """Return the trace with its longest list of objects repeated until it is long."""
    if trace.lines:
        lines = trace.text.splitlines(keepends=True)
        return Trace(b"".join(lines * (LONG // len(trace.text) + 1)), lines=True)
    data = msgspec.json.decode(trace.text)
    lists: list[list[Any]] = []
    waiting = [data]
    while waiting:
        one = waiting.pop(0)
        members = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        if isinstance(one, list) and one and all(isinstance(member, dict) for member in one):
            lists.append(one)
        waiting.extend(members)
    if lists:
        longest = max(lists, key=lambda one: (len(one) > 1, len(json.dumps(one))))
        copies = range(1, LONG // len(trace.text) + 1)
        longest += [renamed(one, number) for number in copies for one in list(longest)]
    found = Trace(json.dumps(data).encode(), lines=False)
    try:
        read(found)
    except TrajgradeError:
        return trace  # its lists must be of one length
    return found


def renamed(data: Any, number: int) -> Any:
    """Return a copy with ids of its own: those of spans, calls and messages, not of the trace."""
    if isinstance(data, list):
        return [renamed(one, number) for one in data]
    if not isinstance(data, dict):
        return data
    return {
        key: f"{value}{number}"
        if isinstance(value, str) and value and ID.search(key) and "trace" not in key.lower()
        else renamed(value, number)
        for key, value in data.items()
    }


def read(trace: Trace) -> None:
    """Read a trace, steps included."""
    for run in read_traces(trace.text):
        _ = run.steps


def decode(trace: Trace) -> None:
    """Decode a trace, and nothing else."""
    for line in trace.text.splitlines() if trace.lines else [trace.text]:
        if line:
            msgspec.json.decode(line)


def seconds(run: Any, *given: Any) -> float:
    """Return the best CPU time of one call, over some rounds of many."""
    best = float("inf")
    for _ in range(ROUNDS):
        calls, start = 0, time.process_time()
        while time.process_time() - start < LEAST:
            run(*given)
            calls += 1
        best = min(best, (time.process_time() - start) / calls)
    return best


def speed(names: list[str]) -> None:
    """Print the speed of each format, over all of its traces."""
    rows: list[list[str]] = []
    for name in names:
        say(name)
        traces = traces_of(name)
        size = sum(len(trace.text) for trace in traces)
        ratio, rate = _measured(traces)
        long_ratio, long_rate = _measured([lengthened(max(traces, key=lambda one: len(one.text)))])
        aim = 0.3 if name in FAST else 0.2 if name in SPANS else 0.1
        rows.append([
            name, f"{size / 1000 / len(traces):.1f}", f"{rate:.1f}", f"{ratio:.3f}",
            f"{long_rate:.1f}", f"{long_ratio:.3f}", f"{aim}", "yes" if long_ratio >= aim else "no",
        ])  # fmt: skip
    show(table(["format", "kB", "MB/s", "ratio", "long MB/s", "long ratio", "aim", "met"], rows))
    met = sum(row[-1] == "yes" for row in rows)
    show(f"{met} of {len(rows)} meet their aim when long")


def _measured(traces: list[Trace]) -> tuple[float, float]:
    """Return the ratio to decoding, and MB/s."""
    taken = sum(seconds(read, trace) for trace in traces)
    least = sum(seconds(decode, trace) for trace in traces)
    return least / taken, sum(len(trace.text) for trace in traces) / taken / MEGA


# ------------------------------------------------------------------------------ a long log


READ_AS = {"results": "whole", "bare": "without results", "steps": "step by step"}
OUTPUT = "lorem ipsum dolor sit amet " * 750


def write_codex(path: Path, size: float) -> int:
    """Write a Codex session of that many bytes: calls with outputs of 20 kB; return its calls."""
    calls = written = 0
    with path.open("w", encoding="utf-8") as stream:
        stream.write(_line("session_meta", {"id": "s1", "instructions": None}))
        while written < size:
            call = {"type": "function_call", "name": "shell", "call_id": f"c{calls}",
                    "arguments": json.dumps({"command": ["cat", f"file{calls}.txt"]})}  # fmt: skip
            told = {"type": "function_call_output", "call_id": f"c{calls}",
                    "output": f"{calls} {OUTPUT}"}  # fmt: skip
            written += stream.write(_line("response_item", call) + _line("response_item", told))
            calls += 1
    return calls


def write_claude(path: Path, size: float) -> int:
    """Write a Claude Code session of that many bytes: calls with outputs of 20 kB twice."""
    calls = written = 0
    with path.open("w", encoding="utf-8") as stream:
        while written < size:
            use = {"type": "tool_use", "id": f"t{calls}", "name": "Read",
                   "input": {"file_path": f"file{calls}.txt"}}  # fmt: skip
            answer = {"type": "tool_result", "tool_use_id": f"t{calls}", "content": OUTPUT}
            for role, block, more in (
                ("assistant", use, {}),
                ("user", answer, {"toolUseResult": {"file": {"content": OUTPUT}}}),
            ):
                message = {"role": role, "content": [block], "id": f"m{calls}{role}"}
                line = {"sessionId": "s1", "uuid": f"{role}{calls}", "parentUuid": None,
                        "type": role, "isSidechain": False, "timestamp": AT, "message": message,
                        **more}  # fmt: skip
                written += stream.write(json.dumps(line) + "\n")
            calls += 1
    return calls


def write_gemini(path: Path, size: float) -> int:
    """Write a Gemini CLI session of that many bytes: calls with outputs of 20 kB, written anew."""
    calls = written = 0
    with path.open("w", encoding="utf-8") as stream:
        stream.write(json.dumps({"sessionId": "s1", "projectHash": "9d", "startTime": AT}) + "\n")
        while written < size:
            message = {"id": f"m{calls}", "type": "gemini", "timestamp": AT, "content": "I look."}
            answer = {"functionResponse": {"name": "read", "response": {"output": OUTPUT}}}
            call = {"id": f"t{calls}", "name": "read", "args": {"path": f"file{calls}.txt"},
                    "status": "success", "timestamp": AT, "result": [answer]}  # fmt: skip
            for more in ({}, {"toolCalls": [call]}):
                written += stream.write(json.dumps({**message, **more}) + "\n")
            calls += 1
    return calls


def _line(kind: str, payload: dict[str, Any]) -> str:
    return json.dumps({"timestamp": AT, "type": kind, "payload": payload}) + "\n"


def write_rows(path: Path, size: float) -> int:
    """Write traces of 20 kB, one a line; return their calls."""
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    row = json.dumps({"messages": [
        {"role": "user", "content": OUTPUT}, {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "done"},
    ]}) + "\n"  # fmt: skip
    number = int(size / len(row)) + 1
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(row for _ in range(number))
    return number


def peak(path: str, kept: str) -> None:
    """Read a file in this process, and print its calls and the most memory that it took."""
    before = peak_bytes()
    if kept == "steps":
        calls = sum(len(step.tool_calls) for step in read_steps(Path(path)))
    else:
        runs = read_traces(Path(path), results=kept == "results")
        calls = sum(len(run.tool_calls) for run in runs)
    show(json.dumps({"calls": calls, "bytes": peak_bytes() - before}))


def memory(size: float) -> None:
    """Print the peak memory of reading long files, each in a process of its own."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for what, write, ways in (
            ("traces, one a line", write_rows, ("results",)),
            ("a Codex session", write_codex, ("results", "bare", "steps")),
            ("a Claude Code session", write_claude, ("results", "bare", "steps")),
            ("a Gemini CLI session", write_gemini, ("results", "bare", "steps")),
        ):
            for share in (0.1, 1.0):
                path = Path(folder, f"{write.__name__}.jsonl")
                calls = write(path, size * share)
                for kept in ways:
                    say(f"{what} {share} {kept}")
                    rows.append([what, *_peak(path, calls, kept)])
                path.unlink()
    show(table(["file", "read", "MB", "calls", "peak MB", "MB/s"], rows))


def _peak(path: Path, calls: int, kept: str) -> list[str]:
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, __file__, "--peak", str(path), kept],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    taken = time.perf_counter() - start
    found = json.loads(done.stdout)
    if found["calls"] != calls:
        raise AssertionError(f"{found['calls']} calls of {calls}")
    megabytes = path.stat().st_size / MEGA
    return [
        READ_AS[kept], f"{megabytes:.0f}", str(calls), f"{found['bytes'] / MEGA:.0f}",
        f"{megabytes / taken:.0f}",
    ]  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peak"]:
        peak(*sys.argv[2:4])
    elif sys.argv[1:2] == ["--log"]:
        memory(float(sys.argv[2] if len(sys.argv) > 2 else 1) * 1e9)
    else:
        speed(sys.argv[1:] or [name for name in BUILTINS if name not in TEXTS])
