"""Processes: workers beside a server, each a process of its own, which ends when the server does.

A worker that dies is begun anew, after a wait that grows while it goes on dying.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_log = logging.getLogger("trajgrade.automation")

_STORE = "TRAJGRADE_STORE"
_LAST = 30.0  # seconds that a worker may take to end what it has begun
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
_LOOK = 0.2


@contextmanager
def workers(count: int, config: str, store: str | None) -> Iterator[None]:
    """Have workers do what a config says, while the context lasts.

    Args:
        count: How many.
        config: The config file.
        store: The address of the store, None for the config's own.
    """
    stop = threading.Event()
    keepers = [
        threading.Thread(target=_kept_running, args=(config, store, stop), name="trajgrade-worker")
        for _ in range(count)
    ]
    for keeper in keepers:
        keeper.start()
    try:
        yield
    finally:
        stop.set()
        for keeper in keepers:
            keeper.join()


def _kept_running(config: str, store: str | None, stop: threading.Event) -> None:
    wait = _FIRST_WAIT
    while not stop.is_set():
        began = time.monotonic()
        worker = _begun(config, store)
        while worker.poll() is None and not stop.wait(_LOOK):
            pass
        if worker.poll() is None:
            _ended(worker)
            return
        if time.monotonic() - began > _LONGEST_WAIT:
            wait = _FIRST_WAIT
        _log.warning("a worker ended with %s; another begins in %.1f s", worker.returncode, wait)
        stop.wait(wait)
        wait = min(_LONGEST_WAIT, wait * 2)


def _begun(config: str, store: str | None) -> subprocess.Popen[bytes]:
    env = {
        **os.environ,
        **({} if store is None else {_STORE: store}),
    }  # no argument: `ps` shows them
    own = [] if store is None else ["--store-of-environment"]
    command = [
        sys.executable,
        "-m",
        "trajgrade",
        "work",
        "--config",
        config,
        *own,
        "--follow-parent",
    ]
    return subprocess.Popen(command, env=env, stdin=subprocess.PIPE)  # noqa: S603 this program


def _ended(worker: subprocess.Popen[bytes]) -> None:
    """Have a worker end what it has begun."""
    worker.terminate()
    try:
        worker.wait(_LAST)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()
