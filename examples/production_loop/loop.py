"""The loop, closed, in one command and without a key.

    python examples/production_loop/loop.py

A server takes the traces of an agent that OpenTelemetry instruments. A rule grades each; failures
go to a review queue and into a dataset. `trajgrade run` on that dataset shows the regression, and
that the agent's earlier release does not have it. Then the pages are there to look at, until
Ctrl-C; with `--once`, it ends.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

HERE = Path(__file__).parent
TRAJGRADE = [sys.executable, "-m", "trajgrade"]
PATIENCE = 60.0  # seconds


def main() -> int:
    """Go once around the loop."""
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "loop.db")
        with serving(store) as address:
            say(f"> trajgrade serve --config loop.yaml      # {address}")
            say(f"> OTEL_EXPORTER_OTLP_ENDPOINT={address} python agent.py")
            call([sys.executable, "agent.py"], OTEL_EXPORTER_OTLP_ENDPOINT=address)
            failures = rows_of(address, "failures", 3)
            queue = fetched(address, "/api/reviews?queue=failures")["items"]
            say(f"\n{len(queue)} traces are in the review queue; the first: {queue[0]['reason']}")
            say(f"{len(failures)} rows are in the dataset failures")
            for release, told in (("2", "as in production"), ("1", "the release before")):
                say(f"\n> AGENT_RELEASE={release} trajgrade run loop.yaml --dataset store:failures"
                    f"      # {told}")  # fmt: skip
                run = [*TRAJGRADE, "run", "loop.yaml", "--dataset", "store:failures"]
                call([*run, "--store", store], AGENT_RELEASE=release)
            say(f"\nlook at all of it: {address}")
            wait(once="--once" in sys.argv)
    return 0


@contextmanager
def serving(store: str) -> Iterator[str]:
    """Serve while the block lasts; give the server's address."""
    command = [*TRAJGRADE, "serve", "--config", "loop.yaml", "--store", store, "--port", "0"]
    with subprocess.Popen(command, cwd=HERE, stderr=subprocess.PIPE, text=True) as server:
        try:
            told = server.stderr.readline() if server.stderr is not None else ""
            address = next((word for word in told.split() if word.startswith("http")), "")
            if not address:
                sys.exit(told or "the server did not start")
            yield address
        finally:
            server.terminate()
            server.communicate()


def call(command: list[str], **env: str) -> None:
    """Run a command beside the files of this example."""
    subprocess.run(command, cwd=HERE, env={**os.environ, **env}, check=True)


def rows_of(address: str, dataset: str, wanted: int) -> list[Any]:
    """Wait until a dataset has so many rows, and return them."""
    until = time.monotonic() + PATIENCE
    found: list[Any] = []
    while len(found) < wanted:
        if time.monotonic() > until:
            sys.exit(f"the dataset {dataset} has {len(found)} rows, not {wanted}")
        time.sleep(0.2)
        names = [one["name"] for one in fetched(address, "/api/datasets")["items"]]
        path = f"/api/datasets/{dataset}/rows"
        found = fetched(address, path)["items"] if dataset in names else []
    return found


def fetched(address: str, path: str) -> Mapping[str, Any]:
    """Ask the server's API."""
    with urlopen(address + path, timeout=10) as answer:  # noqa: S310 it is our own server
        found: Mapping[str, Any] = json.load(answer)
    return found


def wait(*, once: bool) -> None:
    """Leave the pages there until Ctrl-C."""
    try:
        while not once:
            time.sleep(1)
    except KeyboardInterrupt:
        pass


def say(line: str) -> None:
    """Print a line at once, so that it stands before what the commands print."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
