"""`trajgrade work`: do what the rules of a config say with the traces that a server has taken."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from contextlib import closing
from types import FrameType

import click

_BEHIND = 5


@click.command
@click.option("--config", required=True, metavar="FILE", help="The rules, as of `trajgrade serve`.")
@click.option(
    "--store",
    metavar="URL",
    help="The database: runs.db or postgresql://…; the config's if unsaid.",
)
@click.option("--once", is_flag=True, help="Do what is due now, and end.")
@click.option("--store-of-environment", "from_environment", is_flag=True, hidden=True)
@click.option("--follow-parent", is_flag=True, hidden=True)
def work(
    config: str, store: str | None, *, once: bool, from_environment: bool, follow_parent: bool
) -> None:
    """Do what the rules of a config say, beside a server or on another machine.

    Any number of workers may share one PostgreSQL database; those of an SQLite file are on its
    machine. SIGTERM and Ctrl-C end a worker once it has ended what it has begun.
    """
    from trajgrade.automation.loading import load_automation
    from trajgrade.automation.origin import mark
    from trajgrade.automation.worker import Worker
    from trajgrade.stores import open_store

    mark(os.environ)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    found = load_automation(config, required=True)
    address = None if from_environment else store or found.store
    with (
        open_store(address) as opened,
        closing(Worker(opened.inbox, found.rules, found.actions(opened))) as worker,
    ):
        if once:
            done = 0
            while now := worker.step():
                done += now
            click.echo(f"{done} jobs done")
            return
        stop = threading.Event()
        _stopped_by_signals(stop)
        if follow_parent:
            if hasattr(os, "nice"):
                os.nice(_BEHIND)  # the server, which others wait for, comes first
            threading.Thread(target=_ends_with_parent, args=(stop,), daemon=True).start()
        worker.run(stop)


def _stopped_by_signals(stop: threading.Event) -> None:
    def end(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)


def _ends_with_parent(stop: threading.Event) -> None:
    """End when the process that began this one has ended, which closes its end of our input."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    stop.set()
