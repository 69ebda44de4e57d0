"""How much memory a large file takes: `memory.py [ROWS] [WORKERS]`.

A JSON Lines file of rows of 1 KB is generated and graded by all workers of `process_pool`, or in
one process where WORKERS is 0, its results being kept in a SQLite store. What counts is the
greatest resident size that each process ever had, as Linux tells it (`VmHWM`).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

METRICS = ["trajectory_exact_match", "trajectory_recall"]
PAD = 700  # makes a row about 1 KB

SCRIPT = """
import sys, time
import trajgrade
if __name__ == "__main__":
    path, store, workers, *metrics = sys.argv[1:]
    engine = "process_pool" if int(workers) else "event_loop"
    began = time.perf_counter()
    run = trajgrade.evaluate(
        path, metrics, engine=engine, workers=int(workers) or None, store=store
    )
    print(f"{len(run.rows):,} rows, {len(run.rows) / (time.perf_counter() - began):,.0f} a second")
"""


def generated(path: Path, rows: int) -> None:
    """Write the rows."""
    calls = [{"tool_name": f"tool_{n}", "tool_input": {"id": n}} for n in range(2)]
    rest = json.dumps(
        {"predicted_trajectory": calls, "reference_trajectory": calls, "pad": "x" * PAD}
    )[1:]
    with path.open("w") as stream:
        for n in range(rows):
            stream.write(f'{{"id": "{n}", {rest}\n')


def peak(pid: int) -> int:
    """Return the greatest size that a process had so far, in KiB; 0 where it has ended."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next((int(ln.split()[1]) for ln in text.splitlines() if ln.startswith("VmHWM")), 0)


def children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    try:
        return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def main(rows: int = 2_000_000, workers: int = 2) -> None:
    """Measure, and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, script = folder / "rows.jsonl", folder / "run.py"
        generated(path, rows)
        script.write_text(SCRIPT)
        print(f"{rows:,} rows, {path.stat().st_size / 1e9:.2f} GB", flush=True)
        process = subprocess.Popen(
            [sys.executable, script, path, folder / "runs.db", str(workers), *METRICS]
        )
        peaks: dict[int, int] = {}
        while process.poll() is None:
            for pid in [process.pid, *children(process.pid)]:
                peaks[pid] = max(peak(pid), peaks.get(pid, 0))
            time.sleep(0.2)
        print(f"first process: {peaks.pop(process.pid) / 1024:.0f} MiB")
        for size in sorted(peaks.values(), reverse=True)[: workers or None]:
            print(f"worker:        {size / 1024:.0f} MiB")
        if process.returncode:
            raise SystemExit(process.returncode)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
