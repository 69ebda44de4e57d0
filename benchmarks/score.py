"""Rows per second from a file to scores, beside what reading it costs and beside other libraries.

One run measures all of it on one generated file (`workload`), because only ratios inside one run
count: the speed of a shared machine swings. Six metrics are scored together: strict, unordered,
subset, superset, precision, recall. Other libraries run in an environment of their own, made by
`make bench-peers`, over the same rows (`peers`); those that are not installed are left out.

Memory is the peak of a process of its own that does nothing but `trajgrade.evaluate`, at two sizes;
the difference, divided by rows and metrics, is what one more row costs.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from measure import Contestant, peak_bytes, rates, say, show, table
from workload import write

import trajgrade
from trajgrade.evaluators import build_evaluator
from trajgrade.trajectory import Trajectory

HERE = Path(__file__).parent
PEERS_PYTHON = HERE.parent / ".venv-peers" / "bin" / "python"
METRICS = {
    "strict": ("trajectory_match", {"mode": "strict"}),
    "unordered": ("trajectory_match", {"mode": "unordered"}),
    "subset": ("trajectory_match", {"mode": "subset"}),
    "superset": ("trajectory_match", {"mode": "superset"}),
    "precision": ("trajectory_precision", {}),
    "recall": ("trajectory_recall", {}),
}
BUFFER = 1 << 18  # with Python's own, which is less than a row, lines take four times as long
TYPED = "msgspec typed decode, arguments"
WHOLE = "trajgrade.evaluate, six metrics"
PARSED = "trajgrade on parsed objects: "


def evaluators(count: int = len(METRICS)) -> list[Any]:
    """Return the first evaluators of `METRICS`, each under its own key."""
    chosen = list(METRICS.items())[:count]
    return [build_evaluator(name, {**params, "key": key}) for key, (name, params) in chosen]


# ------------------------------------------------------------------------------ reading alone


class Function(msgspec.Struct, gc=False):
    """What a scorer needs of a call."""

    name: str
    arguments: str


class Call(msgspec.Struct, gc=False):
    """A member of `tool_calls`."""

    function: Function


class Message(msgspec.Struct, gc=False):
    """What a scorer needs of a message: all other fields are skipped."""

    tool_calls: list[Call] | None = None


class Line(msgspec.Struct, gc=False):
    """What a scorer needs of a row."""

    id: str
    outputs: list[Message]
    reference_outputs: list[Message]


def read_typed(path: Path) -> None:
    """Decode the file with msgspec, no field more than a scorer needs."""
    decode, arguments = msgspec.json.Decoder(Line).decode, msgspec.json.Decoder().decode
    with path.open("rb", buffering=BUFFER) as file:
        for line in file:
            row = decode(line)
            for messages in (row.outputs, row.reference_outputs):
                for message in messages:
                    for call in message.tool_calls or ():
                        arguments(call.function.arguments)


def read_json(path: Path) -> None:
    """Decode the file with the standard library."""
    with path.open("rb", buffering=BUFFER) as file:
        for line in file:
            row = json.loads(line)
            for messages in (row["outputs"], row["reference_outputs"]):
                for message in messages:
                    for call in message.get("tool_calls") or ():
                        json.loads(call["function"]["arguments"])


# ------------------------------------------------------------------------------ trajgrade


def parsed(rows: list[Any]) -> list[tuple[Trajectory, Trajectory]]:
    """Return fresh trajectories: one that was scored remembers how its calls were paired."""
    read = Trajectory.from_any
    return [(read(row["outputs"]), read(row["reference_outputs"])) for row in rows]


def scoring(evaluator: Any) -> Callable[[list[tuple[Any, Any]]], None]:
    """Return what grades every pair with one evaluator."""

    def run(pairs: list[tuple[Any, Any]]) -> None:
        evaluate = evaluator.evaluate
        for outputs, reference in pairs:
            evaluate(outputs=outputs, reference_outputs=reference)

    return run


def contestants(path: Path, rows: list[Any]) -> dict[str, Contestant]:
    """Return all that runs in this process."""
    count = len(rows)
    first, every = evaluators(1), evaluators()
    found = {
        "json, arguments": Contestant(lambda _: read_json(path), count),
        TYPED: Contestant(lambda _: read_typed(path), count),
        WHOLE: Contestant(lambda _: trajgrade.evaluate(path, every), count),
        "trajgrade.evaluate, strict": Contestant(lambda _: trajgrade.evaluate(path, first), count),
    }
    for evaluator in every:
        found[f"{PARSED}{evaluator.key}"] = Contestant(
            scoring(evaluator), count, lambda: parsed(rows)
        )
    plain = [(row["outputs"], row["reference_outputs"]) for row in rows]
    found["trajgrade on parsed messages: strict"] = Contestant(
        scoring(first[0]), count, lambda: plain
    )
    return found


# ------------------------------------------------------------------------------ other libraries


class Peers:
    """The other libraries, in a process of their own that times what it is told to."""

    def __init__(self, path: Path, rows: int) -> None:
        command = [str(PEERS_PYTHON), str(HERE / "peers.py"), str(path), str(rows)]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            stderr=subprocess.DEVNULL,
        )
        self.found: dict[str, Any] = self._answer()

    def _answer(self) -> Any:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise SystemExit(
                f"benchmarks/peers.py stopped; try: {PEERS_PYTHON} benchmarks/peers.py"
            )
        return json.loads(line)

    def seconds(self, name: str) -> float:
        """Run one contestant once; return the CPU time."""
        if self._process.stdin is None:
            raise AssertionError
        self._process.stdin.write(name + "\n")
        self._process.stdin.flush()
        return float(self._answer())

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


class Peer(Contestant):
    """One contestant of `Peers`."""

    def __init__(self, peers: Peers, name: str, units: int) -> None:
        super().__init__(lambda _: None, units)
        self._peers = peers
        self._name = name

    def seconds(self) -> float:
        """Let the other process run it once; return its CPU time."""
        return self._peers.seconds(self._name)


# ------------------------------------------------------------------------------ memory


def memory(rows: int, metrics: int, folder: Path) -> int:
    """Return the peak memory of a process that grades a file of so many rows."""
    path = folder / f"{rows}.jsonl"
    if not path.exists():
        say(f"writing {rows} rows")
        write(path, rows, distinct=200)
    say(f"grading {rows} rows with {metrics} metrics")
    command = [sys.executable, __file__, "--peak", str(path), "--metrics", str(metrics)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stdout)


def memory_table(small: int, large: int, folder: Path) -> str:
    """Return the peak at both sizes, with one metric and with six."""
    lines = []
    for metrics in (1, len(METRICS)):
        peaks = [memory(rows, metrics, folder) for rows in (small, large)]
        each = (peaks[1] - peaks[0]) / (large - small) / metrics
        aim = f"{each:.0f} (aim: at most 100)"
        lines.append([str(metrics), *(f"{peak / 2**20:.1f} MiB" for peak in peaks), aim])
    header = ["metrics", f"{small:,} rows", f"{large:,} rows", "bytes per row and metric"]
    return table(header, lines)


# ------------------------------------------------------------------------------ the run


def aims(rate: dict[str, float]) -> list[list[str]]:
    """Return each aim, what was measured, and whether it was met."""
    slowest = min(rate[name] for name in rate if name.startswith(PARSED))
    potato, agentevals = "potato, from the file", "agentevals, from the file"
    parsed_potato = "potato on parsed messages"
    asked = [
        ("end to end ÷ typed decode with arguments", WHOLE, TYPED, rate[WHOLE], 0.5),
        ("end to end ÷ Potato's strict match alone", WHOLE, potato, rate[WHOLE], 3),
        ("end to end ÷ agentevals' match alone", WHOLE, agentevals, rate[WHOLE], 15),
        ("slowest evaluator on parsed objects ÷ Potato's", PARSED, parsed_potato, slowest, 8),
    ]
    lines = []
    for what, _, other, ours, aim in asked:
        if other not in rate:
            lines.append([what, "not installed", f"≥ {aim:g}", "?"])
            continue
        ratio = ours / rate[other]
        lines.append([what, f"{ratio:.2f}", f"≥ {aim:g}", "met" if ratio >= aim else "missed"])
    return lines


@contextmanager
def folder_of(chosen: Path | None) -> Iterator[Path]:
    """Give a folder for the generated files, and empty it afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="trajgrade-bench-", dir=chosen))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def main() -> None:
    """Run it all and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2000, help="rows of the timed file")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--small", type=int, default=2000, help="rows of the first memory file")
    parser.add_argument("--large", type=int, default=200_000, help="rows of the second; 0: none")
    parser.add_argument("--folder", type=Path, help="where the generated files are put for a while")
    parser.add_argument("--peak", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--metrics", type=int, default=len(METRICS), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.peak:
        trajgrade.evaluate(given.peak, evaluators(given.metrics))
        show(str(peak_bytes()))
        return
    with folder_of(given.folder) as folder:
        path = folder / "rows.jsonl"
        size = write(path, given.rows)
        show(
            f"{given.rows:,} rows of {size / given.rows / 1000:.1f} KB; Python "
            f"{platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores; "
            f"CPU time, best of {given.rounds} interleaved rounds"
        )
        show()
        speed(path, given.rounds)
        if given.large:
            free = shutil.disk_usage(folder).free
            if free < 2 * given.large * size / given.rows:
                raise SystemExit(f"{free / 1e9:.0f} GB free: too few for --large {given.large}")
            show()
            show(memory_table(given.small, given.large, folder))


def speed(path: Path, rounds: int) -> None:
    """Measure and print all rates."""
    with path.open("rb") as file:
        rows = [json.loads(line) for line in file]
    racing = contestants(path, rows)
    peers = Peers(path, len(rows)) if PEERS_PYTHON.exists() else None
    if peers:
        racing |= {name: Peer(peers, name, units) for name, units in peers.found.items()}
    rate = rates(racing, rounds)
    if peers:
        peers.close()
    say("")
    show(
        table(
            ["", "rows/s", "÷ typed decode"],
            [[name, f"{found:,.0f}", f"{found / rate[TYPED]:.2f}"] for name, found in rate.items()],
        )
    )
    show()
    show(table(["aim", "measured", "aimed at", ""], aims(rate)))


if __name__ == "__main__":
    main()
