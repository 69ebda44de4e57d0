"""Program: an agent that is a process of its own, begun anew for each row.

It reads the row from standard input, one line of JSON, and writes its answer or trace to standard
output, as JSON, JSON Lines or plain text:

    {"id": "a", "inputs": "Is the 09:14 on time?", "trial": 0, "seed": 0}

The seed and the trial are in its environment, too: TRAJGRADE_SEED, TRAJGRADE_TRIAL. No shell is
between. An exit code other than 0 is a failure, with the end of what it wrote to standard error.
It is the first of a process group, which is killed when the process has ended, when its time is
over, and when the run ends; so nothing that it began goes on.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from trajgrade.errors import AgentCallError, ConfigError, TooLargeError, shorten
from trajgrade.jsontext import dumps
from trajgrade.reply import read_written

MOST_BYTES = 64 * 2**20
_TAIL = 4096  # how much is kept of what it writes to standard error
_SHOWN = 500
_GRACE = 1.0  # how long its pipes may stay open once it has ended


class Program:
    """An agent that is a command.

    Args:
        command: The program and its arguments.
        folder: Where it runs; the working directory by default.
        most_bytes: How much it may write to standard output.

    Raises:
        ConfigError: There is no such program.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: str | os.PathLike[str] = "",
        most_bytes: int = MOST_BYTES,
    ) -> None:
        written = isinstance(command, str) or not all(isinstance(part, str) for part in command)
        if written or not command:
            raise ConfigError(
                "command: expected a list, the program and its arguments, such as "
                f"[python, agent.py], got {shorten(command)}"
            )
        self.command = tuple(command)
        self.folder = Path(folder)
        self._most_bytes = most_bytes
        self._check()

    def _check(self) -> None:
        program = self.command[0]
        if not self.folder.is_dir():
            raise ConfigError(f"command: {self.folder} is no folder that it could run in")
        where = program
        if os.path.dirname(program):  # noqa: PTH120 a Path drops `./`
            where = str(self.folder.absolute() / program)
        if shutil.which(where) is None:
            place = "there" if where != program else "on the PATH"
            raise ConfigError(f"command: no program {where!r} is {place}")

    def __repr__(self) -> str:
        """Return the command."""
        return f"Program({list(self.command)})"

    async def query_row(self, row: Mapping[str, Any]) -> Any:
        """Run it once.

        Raises:
            AgentCallError: It cannot be started, or its exit code is not 0.
            TooLargeError: It writes too much.
        """
        loop = asyncio.get_running_loop()
        process = _Process(self._most_bytes)
        try:
            transport, _ = await loop.subprocess_exec(
                lambda: process,
                *self.command,
                cwd=self.folder,
                env=_environment(row),
                start_new_session=True,
            )
        except OSError as broken:
            raise AgentCallError(f"{self.command[0]} cannot be started: {broken}") from None
        try:
            stdin = cast("asyncio.WriteTransport", transport.get_pipe_transport(0))
            stdin.write(dumps(row) + b"\n")
            stdin.close()
            await asyncio.wait({process.has_ended})  # unlike `await`, never cancels it
            _kill(transport)
            await asyncio.wait({process.has_said_all}, timeout=_GRACE)
        finally:
            _kill(transport)
            await _ended(process)
            transport.close()
        if process.writes_too_much:
            raise TooLargeError(
                f"it writes more than {self._most_bytes:,} bytes to standard output"
            )
        code = transport.get_returncode()
        if code:
            raise AgentCallError(self._failed(code, process.stderr), exit_code=code)
        return read_written(bytes(process.stdout))

    def _failed(self, code: int, stderr: bytes) -> str:
        how = f"exited with {code}" if code > 0 else f"was ended by {_signal(-code)}"
        last = stderr.decode("utf-8", errors="replace").strip()[-_SHOWN:]
        return f"{self.command[0]} {how}" + (f": {last}" if last else ", and said nothing of it")


def _environment(row: Mapping[str, Any]) -> dict[str, str]:
    own = {f"TRAJGRADE_{name.upper()}": str(row[name]) for name in ("seed", "trial") if name in row}
    return {**os.environ, **own}


def _kill(transport: asyncio.SubprocessTransport) -> None:
    """Kill the process and all that it began."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(transport.get_pid(), signal.SIGKILL)
        else:
            transport.kill()


async def _ended(process: _Process) -> None:
    """Wait for the end of a process that was killed, also when cancelled once more.

    Else the loop may be closed before it is told of it.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + _GRACE
    while not process.has_ended.done() and (left := until - loop.time()) > 0:
        with suppress(asyncio.CancelledError):
            await asyncio.wait({process.has_ended}, timeout=left)


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class _Process(asyncio.SubprocessProtocol):
    """One process: what it has written, and whether it has ended.

    Attributes:
        has_ended: Done when the process has ended.
        has_said_all: Done when nobody has its standard output open any more.
        writes_too_much: Whether it was killed because it wrote too much.
    """

    def __init__(self, most_bytes: int) -> None:
        loop = asyncio.get_running_loop()
        self.stdout = bytearray()
        self.stderr = b""
        self.has_ended: asyncio.Future[None] = loop.create_future()
        self.has_said_all: asyncio.Future[None] = loop.create_future()
        self.writes_too_much = False
        self._most_bytes = most_bytes

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.stderr = (self.stderr + data)[-_TAIL:]
        elif len(self.stdout) + len(data) <= self._most_bytes:
            self.stdout += data
        elif not self.writes_too_much:
            self.writes_too_much = True
            _kill(self._transport)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1 and not self.has_said_all.done():
            self.has_said_all.set_result(None)

    def process_exited(self) -> None:
        if not self.has_ended.done():
            self.has_ended.set_result(None)
