"""What every test gets: a fixed source of examples, no network, and ../shared where it lies there.

A test that reads ../shared says so, and is skipped without it:

    from tests.conftest import SHARED, needs_shared

    @needs_shared
    def test_every_trace_is_read(shared): ...          # the folder, as a fixture

    @pytest.mark.parametrize("trace", shared_files("traces/*/*.json"))
    def test_a_trace(trace): ...                       # one skipped test, where there are none
"""

from __future__ import annotations

import gc
import ipaddress
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests import postgres

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
WITHOUT_SHARED = "needs the folder shared/ beside the project"

needs_shared = pytest.mark.needs_shared

hypothesis.settings.register_profile(
    "ci",
    derandomize=True,  # the same examples on every machine, so that a red build can be repeated
    database=None,
    deadline=None,
    max_examples=100,
    print_blob=True,
)
hypothesis.settings.register_profile(
    "explore", derandomize=False, database=None, deadline=None, max_examples=2000, print_blob=True
)
hypothesis.settings.load_profile("ci")  # overridden by --hypothesis-profile=explore


def has_shared() -> bool:
    """Whether ../shared is there to be read."""
    return (SHARED / "SEMANTICS.md").is_file()


def shared_files(pattern: str) -> list[Any]:
    """Parametrize values for the files of ../shared that match, each named by its relative path."""
    paths = sorted(SHARED.glob(pattern)) if has_shared() else []
    found = [
        pytest.param(path, id=path.relative_to(SHARED).as_posix(), marks=needs_shared)
        for path in paths
    ]
    return found or [pytest.param(None, id=pattern, marks=needs_shared)]


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes by their size: a packer's clock or hash in them would differ between workers."""
    return f"{argname}-{len(val)}-bytes" if isinstance(val, bytes) else None


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Thirteen thousand tests are no garbage: without them, each look for some takes no time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _runs_kept_apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Runs that the command keeps lie in no folder of the project."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRAJGRADE_STORE", str(tmp_path_factory.mktemp("kept") / "runs.db"))
        yield


@pytest.fixture
def shared() -> Path:
    """The folder ../shared; a test that asks for it is skipped where there is none."""
    if not has_shared():
        pytest.skip(WITHOUT_SHARED)
    return SHARED


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if has_shared():
        return
    for item in items:
        if item.get_closest_marker("needs_shared"):
            item.add_marker(pytest.mark.skip(reason=WITHOUT_SHARED))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = [
        report.nodeid
        for report in terminalreporter.stats.get("skipped", [])
        if WITHOUT_SHARED in str(report.longrepr)
    ]
    if skipped:
        files = ", ".join(sorted({nodeid.partition("::")[0] for nodeid in skipped}))
        terminalreporter.write_line(
            f"{len(skipped)} skipped for want of {SHARED.name}/ beside the project, in {files}"
        )


class NetworkUsedError(AssertionError):
    """A test asked for an address outside this machine."""

    def __init__(self, address: object) -> None:
        super().__init__(f"tests may reach this machine only, and this one asked for {address!r}")


def _refuse_outside(address: Any) -> None:
    if not isinstance(address, tuple):  # a Unix socket's path
        return
    host = address[0]
    if host in (None, "", "localhost"):
        return
    try:
        inside = ipaddress.ip_address(host).is_loopback
    except ValueError:
        inside = False
    if not inside:
        raise NetworkUsedError(address)


@pytest.fixture(scope="session", autouse=True)
def _no_network() -> Iterator[None]:
    """Refuse every connection, datagram and name look-up that leaves this machine."""
    connect, connect_ex, sendto = (
        socket.socket.connect,
        socket.socket.connect_ex,
        socket.socket.sendto,
    )
    getaddrinfo = socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        _refuse_outside(address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        _refuse_outside(address)
        return connect_ex(self, address)

    def guarded_sendto(self: socket.socket, *args: Any) -> int:
        _refuse_outside(args[-1])
        return sendto(self, *args)

    def guarded_getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        _refuse_outside((host.decode() if isinstance(host, bytes) else host,))
        return getaddrinfo(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded_connect)
        patch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
        patch.setattr(socket.socket, "sendto", guarded_sendto)
        patch.setattr(socket, "getaddrinfo", guarded_getaddrinfo)
        yield


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[str]:
    """The address of a PostgreSQL server, one for all workers."""
    reason = postgres.why_not()
    if reason is not None:
        pytest.skip(reason)
    base = tmp_path_factory.getbasetemp()
    with postgres.server((base if worker_id == "master" else base.parent) / "postgres.json") as url:
        yield url


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """The address of a new, empty PostgreSQL database."""
    return postgres.new_database(postgres_server)
