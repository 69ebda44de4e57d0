"""What is lost and what is doubled when processes die: `chaos.py [KILLS] [sqlite|postgresql …]`.

A server takes traces from two clients, ten at a time, and two workers do what the rules say: grade
each, put each third into a review queue and a dataset, call a URL for each fiftieth. At random
moments one of the three processes is killed with SIGKILL and begun anew. A client that gets no
answer sends the same again. Once all is done, each trace that was answered for must be there, with
each action done once; a call of the URL may come twice, with the same key.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import threading
import time
from collections import Counter
from http.client import HTTPException
from pathlib import Path
from typing import Any

from loop import (
    Process,
    Receiver,
    config,
    database,
    ended,
    folder_of_our_own,
    free_port,
    posted,
    trace,
    until_up,
)

from trajgrade.stores import open_store

BATCH = 10
LONGEST = 300.0  # seconds that what is left may take


def is_failed(n: int) -> bool:
    """Whether the rule `failed` fires."""
    return n % 3 == 0


def is_hooked(n: int) -> bool:
    """Whether the rule `hook` fires."""
    return n % 50 == 0


class Client:
    """Sends traces until told to stop; what gets no answer is sent again."""

    def __init__(self, name: str, port: int, stop: threading.Event) -> None:
        self.accepted: set[str] = set()
        self.repeats = self.refused = 0
        self._name, self._port, self._stop = name, port, stop
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        n = 0
        while not self._stop.is_set():
            names = [f"{self._name}-{k}" for k in range(n, n + BATCH)]
            traces = [
                trace(name, failed=is_failed(k), hooked=is_hooked(k))
                for k, name in enumerate(names, n)
            ]
            self._sent(json.dumps(traces).encode(), names)
            n += BATCH
            time.sleep(0.02)

    def _sent(self, body: bytes, names: list[str]) -> None:
        while True:
            try:
                status, answer = posted(self._port, "/api/traces", body)
            except (OSError, HTTPException):  # no answer, or half of one
                time.sleep(0.05)
                continue
            if status == 200:
                self.accepted.update(names)
                self.repeats += json.loads(answer)["repeated"]
                return
            self.refused += 1
            if status not in (429, 503):
                raise SystemExit(f"HTTP {status}: {answer[:500]!r}")
            time.sleep(0.2)


def killed(
    processes: dict[str, Process],
    clients: list[Client],
    kills: int,
    dice: random.Random,
    until: float,
) -> Counter[str]:
    """Kill a process at a random moment, and begin it anew, as many times as said.

    Between two kills some requests are answered, so that there is something to lose.
    """
    told: Counter[str] = Counter()
    for _ in range(kills):
        wanted = sum(len(client.accepted) for client in clients) + BATCH * dice.randint(1, 12)
        while sum(len(client.accepted) for client in clients) < wanted:
            if time.monotonic() > until:
                return told
            time.sleep(0.01)
        time.sleep(dice.uniform(0.0, 0.3))
        name = dice.choice([*processes])
        processes[name].kill()
        processes[name].begin()
        told[name] += 1
    return told


def drained(store: Any) -> float:
    """Wait until nothing is left to be done; return how long that took."""
    began = time.monotonic()
    while store.inbox.backlog():
        if time.monotonic() - began > LONGEST:
            raise SystemExit(f"{store.inbox.backlog()} jobs are left after {LONGEST:.0f} s")
        time.sleep(0.2)
    return time.monotonic() - began


def paged(read: Any, **more: Any) -> list[Any]:
    """Read all of what comes the newest first."""
    found: list[Any] = []
    while page := read(limit=1000, before=found[-1].number if found else None, **more):
        found += page
    return found


def reviews(inbox: Any) -> list[Any]:
    """Read a whole review queue."""
    found: list[Any] = []
    while page := inbox.reviews(limit=1000, after=found[-1].number if found else None):
        found += page
    return found


def count(store: Any, accepted: set[str], hooks: Counter[str]) -> dict[str, int]:
    """Return what is lost and what is doubled."""
    inbox = store.inbox
    there = {one.id for one in paged(inbox.traces)}
    wanted: dict[tuple[str, str, int], int] = {}
    for name in there:
        n = int(name.rpartition("-")[2])
        wanted[name, "grade", 0] = 1
        if is_failed(n):
            wanted[name, "failed", 0] = wanted[name, "failed", 1] = 1
        if is_hooked(n):
            wanted[name, "hook", 0] = 1
    done = Counter((one.trace_id, one.rule, one.place) for one in paged(inbox.outcomes))
    failed = {name for name in there if is_failed(int(name.rpartition("-")[2]))}
    queued = Counter(one.trace_id for one in reviews(inbox))
    is_there = "failures" in store.datasets.names()
    rows = Counter(row["id"] for row in (store.datasets.rows("failures") if is_there else ()))
    graded = inbox.counters().get("grade", {})
    return {
        "accepted traces lost": len(accepted - there),
        "actions lost": sum((Counter(wanted) - done).values()),
        "actions doubled": sum((done - Counter(wanted)).values()),
        "decisions lost or doubled": abs(graded.get("fires", 0) - len(there)),
        "reviews lost": len(failed - queued.keys()),
        "reviews doubled": queued.total() - len(queued),
        "rows lost": len(failed - rows.keys()),
        "rows doubled": rows.total() - len(rows),
        "jobs set aside": len(inbox.set_aside(limit=1000)),
        "webhooks lost": sum(is_hooked(int(n.rpartition("-")[2])) for n in there) - len(hooks),
    }


def tried(kind: str, kills: int, folder: Path, seed: int, seconds: float) -> bool:
    """Run it over one database; return whether nothing was lost or doubled."""
    dice = random.Random(seed)
    receiver, port = Receiver(), free_port()
    rules = str(config(folder, receiver.url))
    stop = threading.Event()
    with database(kind, folder) as url:
        one = ("--config", rules, "--store", url)
        processes = {
            "server": Process(folder, "serve", *one, "--port", str(port), "--workers", "0"),
            "worker 1": Process(folder, "work", *one),
            "worker 2": Process(folder, "work", *one),
        }
        with open_store(url) as store, ended(processes.values(), stop):
            until_up(port, folder)
            began = time.monotonic()
            clients = [Client(name, port, stop) for name in ("a", "b")]
            told = killed(processes, clients, kills, dice, began + seconds)
            stop.set()
            for client in clients:
                client.thread.join()
            took = time.monotonic() - began
            waited = drained(store)
        with open_store(url) as store:
            accepted = {name for client in clients for name in client.accepted}
            found = count(store, accepted, receiver.keys)
    receiver.close()
    repeats = sum(client.repeats for client in clients)
    print(f"{kind}, seed {seed}: {dict(told)} killed in {took:.0f} s")
    print(f"  traces accepted              {len(accepted)}, sent again {repeats}")
    print(f"  done after the last kill     {waited:.0f} s")
    for name, n in found.items():
        print(f"  {name:<28} {n}")
    again = receiver.keys.total() - len(receiver.keys)
    print(f"  webhooks sent again          {again} of {len(receiver.keys)}, with the same key")
    return not any(found.values())


def main() -> None:
    """Run it over each database."""
    asked = argparse.ArgumentParser()
    asked.add_argument("kills", type=int, nargs="?", default=10)
    asked.add_argument("kinds", nargs="*", default=["sqlite", "postgresql"])
    asked.add_argument("--seconds", type=float, default=3600.0, help="after which none is killed")
    asked.add_argument("--seed", type=int, default=7)
    said = asked.parse_args()
    good = True
    for kind in said.kinds:
        with folder_of_our_own() as folder:
            good &= tried(kind, said.kills, folder, said.seed, said.seconds)
    sys.exit(not good)


if __name__ == "__main__":
    main()
