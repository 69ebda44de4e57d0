"""What memory comes to while traces come without end: `soak.py [SECONDS] [sqlite|postgresql]`.

A server with two workers takes a steady load, ten traces at a time, and does what the rules say.
Twelve times the resident memory of all three is looked at. It is flat if the second half of the
time adds less than a tenth to what the first half came to.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path

from loop import (
    Process,
    Receiver,
    config,
    database,
    ended,
    folder_of_our_own,
    free_port,
    memory,
    posted,
    trace,
    until_up,
)

from trajgrade.stores import open_store

BATCH = 10
RATE = 100  # traces a second
LOOKS = 12
FLAT = 0.1


def sent(port: int, n: int) -> bool:
    """Send ten traces; return whether they were taken."""
    traces = [trace(f"t-{k}", failed=k % 300 == 0, hooked=k % 50 == 0) for k in range(n, n + BATCH)]
    status, _ = posted(port, "/api/traces", json.dumps(traces).encode())
    return status == 200


def watched(folder: Path, kind: str, seconds: float) -> list[dict[str, float]]:
    """Send traces for a while; return the memory of each process, in MiB, at each look."""
    receiver, port = Receiver(), free_port()
    rules = str(config(folder, receiver.url))
    found: list[dict[str, float]] = []
    with database(kind, folder) as url:
        one = ("--config", rules, "--store", url)
        processes = {
            "server": Process(folder, "serve", *one, "--port", str(port), "--workers", "0"),
            "worker 1": Process(folder, "work", *one),
            "worker 2": Process(folder, "work", *one),
        }
        with open_store(url) as store, ended(processes.values(), threading.Event()):
            until_up(port, folder)
            began = time.monotonic()
            n = refused = 0
            while (now := time.monotonic() - began) < seconds:
                if now >= seconds * (len(found) + 1) / LOOKS:
                    pids = {name: one.running.pid for name, one in processes.items()}
                    found.append({name: memory(pid) for name, pid in pids.items()})
                    told = "  ".join(f"{name} {mib:6.1f}" for name, mib in found[-1].items())
                    left = store.inbox.backlog()
                    print(
                        f"{now:6.0f} s  {n:7} traces  {left:6} jobs wait  MiB: {told}", flush=True
                    )
                if sent(port, n):
                    n += BATCH
                else:
                    refused += 1
                time.sleep(max(0.0, began + n / RATE - time.monotonic()))
            print(f"refused for a while: {refused} requests")
    receiver.close()
    return found


def main() -> None:
    """Run it, and say whether memory is flat."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600.0
    kind = sys.argv[2] if len(sys.argv) > 2 else "sqlite"
    with folder_of_our_own() as folder:
        found = watched(folder, kind, seconds)
    half, last = found[len(found) // 2 - 1], found[-1]
    growth = {name: last[name] / half[name] - 1.0 for name in last}
    told = ", ".join(f"{name} {more:+.1%}" for name, more in growth.items())
    print(f"the second half of the time added: {told}")
    sys.exit(any(more > FLAT for more in growth.values()))


if __name__ == "__main__":
    main()
