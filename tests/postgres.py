"""A PostgreSQL server of the tests' own, started once for all workers and stopped by the last one.

It lies in a temporary folder and listens on a free port of this machine. `initdb` refuses to run as
root: there the server runs as the user `postgres`, which Debian's package makes.
"""

from __future__ import annotations

import fcntl
import json
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

WITHOUT = "no PostgreSQL server here: as root, `make services` installs it"


def binaries() -> Path | None:
    """The folder with `initdb`, of the newest version that is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: p.parts[-3])
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


def other_user() -> str | None:
    """As whom the server runs; None for oneself."""
    return "postgres" if os.geteuid() == 0 else None


def why_not() -> str | None:
    """Why there can be no server; None where there can."""
    if binaries() is None:
        return WITHOUT
    user = other_user()
    try:
        if user is not None:
            pwd.getpwnam(user)
    except KeyError:
        return f"{WITHOUT}, and its user"
    return None


def run(*command: object) -> None:
    done = subprocess.run(
        [str(part) for part in command],
        user=other_user(),
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start() -> dict[str, object]:
    found = binaries()
    assert found is not None
    folder = Path(tempfile.mkdtemp(prefix="trajgrade-pg-"))
    user = other_user()
    if user is not None:
        shutil.chown(folder, user)
    where, port = folder / "cluster", free_port()
    run(found / "initdb", "-D", where, "-U", "trajgrade", "-A", "trust", "-E", "UTF8", "--no-sync")
    options = f"-p {port} -h 127.0.0.1 -k {folder} -F"
    run(found / "pg_ctl", "-D", where, "-w", "-l", folder / "log", "-o", options, "start")
    return {"folder": str(folder), "port": port, "users": 0}


def stop(state: dict[str, object]) -> None:
    found = binaries()
    assert found is not None
    folder = Path(str(state["folder"]))
    run(found / "pg_ctl", "-D", folder / "cluster", "-m", "immediate", "-w", "stop")
    shutil.rmtree(folder)


@contextmanager
def shared_state(file: Path) -> Iterator[dict[str, object]]:
    """What all workers know of the server, while no other looks at it."""
    with file.open("a+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        held.seek(0)
        state = json.loads(held.read() or "{}")
        yield state
        held.seek(0)
        held.truncate()
        held.write(json.dumps(state))


@contextmanager
def server(file: Path) -> Iterator[str]:
    """The server's address, without a database."""
    with shared_state(file) as state:
        if not state:
            state.update(start())
        state["users"] = int(str(state["users"])) + 1
        port = state["port"]
    try:
        yield f"postgresql://trajgrade@127.0.0.1:{port}"
    finally:
        with shared_state(file) as state:
            state["users"] = int(str(state["users"])) - 1
            if not state["users"]:
                stop(state)
                state.clear()


def new_database(address: str) -> str:
    """Make an empty database; return its address."""
    import psycopg

    name = f"t{uuid4().hex}"
    with psycopg.connect(f"{address}/postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return f"{address}/{name}"
