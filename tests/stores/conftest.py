from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import postgres


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
