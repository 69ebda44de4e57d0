"""What a run loses that is killed again and again: `resume.py [KILLS] [ROWS]`.

A run of an agent is begun, killed with SIGKILL at a random moment, and gone on with, as many times
as said, for SQLite and for JSON Lines. A row counts as lost if the program had told of it and the
store does not have it; as doubled if it is there twice, or if the agent is asked for it although
the store had it. The run that is left must be the run that was never killed, byte for byte, its
times left out.
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from trajgrade import evaluate
from trajgrade.jsontext import dumps
from trajgrade.run import Run
from trajgrade.stores import open_store

METRICS = ["trajectory_match", "trajectory_f1"]
TOOLS = ("search", "book", "pay", "cancel")


def calls(seed: int) -> list[dict[str, Any]]:
    """Make up some calls."""
    dice = random.Random(seed)
    names = dice.choices(TOOLS, k=dice.randint(1, 5))
    return [{"tool_name": name, "tool_input": {"n": dice.randint(0, 3)}} for name in names]


def dataset(rows: int) -> list[dict[str, Any]]:
    """Make up questions with what is expected."""
    return [
        {"id": f"row-{n}", "prompt": str(n), "reference_trajectory": calls(n // 2)}
        for n in range(rows)
    ]


async def answer(prompt: str) -> dict[str, Any]:
    """Answer a question in two milliseconds."""
    await asyncio.sleep(0.002)
    return {"response": prompt, "predicted_trajectory": calls(int(prompt))}


def told(run: Run) -> bytes:
    """Return all that a run says, without its times."""
    plain = run.to_dict()
    for name in ("id", "started_at", "seconds", "dataset_hash"):
        plain.pop(name, None)
    plain.get("agent", {}).pop("latency_in_seconds", None)
    rows = [{**row.to_dict(), "latency_in_seconds": None} for row in run.rows]
    return dumps({**plain, "rows": rows})


def work(url: str, log: str, out: str, rows: int) -> None:
    """Run, telling of every question and of every row that is kept."""
    lines = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def logged(prompt: str) -> dict[str, Any]:
        os.write(lines, f"asked {prompt}\n".encode())
        return await answer(prompt)

    def kept(_: Any, row: Any) -> None:
        os.write(lines, f"kept {row.row}\n".encode())

    run = evaluate(dataset(rows), METRICS, agent=logged, store=url, resume=True, on_row=kept)
    Path(out).write_bytes(told(run))


def words(log: Path, kind: str) -> Counter[int]:
    """Count the rows that a log tells of."""
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    return Counter(int(line.split()[1]) for line in lines if line.startswith(kind))


def there(url: str) -> Counter[int]:
    """Count the rows that a store has."""
    with open_store(url) as store:
        return Counter(key.row for run in store.runs() for key in store.done(run.id))


def measured(url: str, folder: Path, kills: int, rows: int) -> dict[str, Any]:
    """Kill a run again and again, and let it end."""
    log, out = folder / "log", folder / "out"
    dice = random.Random(kills)
    lost = doubled = done = 0
    before: Counter[int] = Counter()
    each = rows / (kills + 1)
    while True:
        asked = words(log, "asked")
        process = subprocess.Popen([sys.executable, __file__, "work", url, log, out, str(rows)])
        until = sum(words(log, "kept").values()) + dice.uniform(0, 2 * each)
        while process.poll() is None and done < kills:
            if sum(words(log, "kept").values()) >= until:
                time.sleep(dice.uniform(0, 0.01))
                process.kill()
                done += 1
                break
            time.sleep(0.005)
        code = process.wait()
        now = there(url)
        lost += len(set(words(log, "kept")) - set(now)) + len(set(before) - set(now))
        doubled += sum(count - 1 for count in now.values())
        doubled += sum((words(log, "asked") - asked)[row] for row in before)
        before = now
        if code == 0:
            uncut = evaluate(dataset(rows), METRICS, agent=answer)
            same = out.read_bytes() == told(uncut) and len(now) == rows
            return {"kills": done, "lost": lost, "doubled": doubled, "same": same}


def main() -> None:
    """Measure both stores."""
    given = [int(one) for one in sys.argv[1:]]
    kills, rows = [*given, *(50, 5000)[len(given) :]]
    for name in ("runs.db", "runs/"):
        with tempfile.TemporaryDirectory() as where:
            began = time.perf_counter()
            found = measured(f"{where}/{name}", Path(where), kills, rows)
            print(
                f"{name}: {found['kills']} kills of a run of {rows:,} rows: {found['lost']} lost, "
                f"{found['doubled']} doubled; "
                f"{'the same as' if found['same'] else 'OTHER THAN'} the run never killed; "
                f"{time.perf_counter() - began:.0f} s"
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["work"]:
        work(*sys.argv[2:5], int(sys.argv[5]))
    else:
        main()
