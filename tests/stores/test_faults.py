"""What goes wrong with disks, files and addresses: one clear error, and never a broken store."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.stores.test_contract import record, row
from trajgrade.errors import ConfigError, MissingExtraError, StoreError, UnknownNameError
from trajgrade.record import Key
from trajgrade.stores import open_store

FILES = ("runs.db", "runs/")
is_root = os.geteuid() == 0


@pytest.fixture(params=FILES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"{tmp_path}/{request.param}"


# ------------------------------------------------------------------------------ disks

FILL = """
import resource, sys
from tests.stores.test_contract import record, row
from trajgrade.errors import StoreError
from trajgrade.packing import pack
from trajgrade.stores import open_store

url, limit = sys.argv[1], int(sys.argv[2])
run = record()
with open_store(url) as store, store.create(run) as writer:
    writer.append([row(0)])
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    n = 1
    try:
        while n < 20_000:
            writer.append([row(n, example=pack({"outputs": "x" * 3000})), row(n + 1)])
            n += 2
    except StoreError as full:
        print(n, full)
"""


def filled(url: str, limit: int) -> tuple[int, str]:
    """Write until no more goes; return how many rows were told to be there, and the error."""
    done = subprocess.run(
        [sys.executable, "-c", FILL, url, str(limit)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    count, _, told = done.stdout.strip().partition(" ")
    assert done.stderr == ""
    return int(count), told


def is_whole(url: str, told: int) -> None:
    """A store of which the disk was full goes on as if nothing had been."""
    with open_store(url) as store:
        run = store.run("latest")
        keys = list(store.done(run.id))
        assert keys == [Key(n) for n in range(told)]
        with store.reopen(run.id) as writer:
            writer.append([row(n) for n in range(told, told + 50)])
            writer.finish(msgspec.structs.replace(run, state="finished"))
        assert store.count(run.id) == told + 50
    if url.endswith(".db"):
        with closing(sqlite3.connect(url)) as raw:
            assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte; only root can have one."""
    where = tmp_path / "disk"
    where.mkdir()
    mounted = (
        is_root
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", where],
            check=False,
            capture_output=True,
        ).returncode
    )
    if not mounted:
        pytest.skip("a small disk can be mounted by root only")
    yield where
    subprocess.run(["umount", where], check=True)


@pytest.mark.parametrize("name", FILES)
def test_a_full_disk_is_said_and_harms_nothing(small_disk: Path, name: str):
    url = f"{small_disk}/{name}"
    told, error = filled(url, 0)
    assert told > 50
    assert "the disk" in error
    assert "what was written before is unharmed" in error
    subprocess.run(["mount", "-o", "remount,size=16m", small_disk], check=True)
    is_whole(url, told)


def test_a_file_that_may_not_grow_is_said_and_harms_nothing(url: str):
    told, error = filled(url, 500_000)
    assert told > 50
    assert "what was written before is unharmed" in error
    is_whole(url, told)


# ------------------------------------------------------------------------------ what may not be written


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A folder that a test fills, and then `read_only.chmod(0o555)`, also for root."""
    where = tmp_path / "still"
    where.mkdir()
    yield where
    if is_root:
        subprocess.run(["umount", where], check=False, capture_output=True)
    else:
        where.chmod(0o755)


def forbid(folder: Path) -> None:
    """Have nobody write into a folder, root included."""
    if not is_root:
        folder.chmod(0o555)
        return
    steps: tuple[list[Any], ...] = (["--bind", folder, folder], ["-o", "remount,bind,ro", folder])
    for options in steps:
        if subprocess.run(["mount", *options], check=False, capture_output=True).returncode:
            pytest.skip("no folder can be made read-only here")


@pytest.mark.parametrize("name", FILES)
def test_a_folder_that_may_not_be_written_is_said_before_anything_is_graded(read_only, name):
    forbid(read_only)
    with (
        open_store(f"{read_only}/{name}") as store,
        pytest.raises(StoreError, match=r"(?i)still.*(written|read)"),
    ):
        store.create(record())


@pytest.mark.parametrize("name", FILES)
def test_a_store_that_may_not_be_written_can_be_read(read_only, name):
    url, run = f"{read_only}/{name}", record()
    with open_store(url) as store, store.create(run) as writer:
        writer.append([row(0)])
    forbid(read_only)
    with open_store(url) as store:
        assert store.run("latest") == run
        assert store.count(run.id) == 1
        with pytest.raises(StoreError):
            store.reopen(run.id)


def test_a_lost_connection_ends_the_hold_and_the_run_is_gone_on_with(postgres_url):
    import psycopg

    run = record()
    with open_store(postgres_url) as store:
        with store.create(run) as writer:
            writer.append([row(0)])
            with psycopg.connect(postgres_url, autocommit=True) as other:
                other.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE application_name = 'trajgrade'"
                )
            with pytest.raises(StoreError, match="connection"):
                writer.append([row(1)])
            with open_store(postgres_url) as later, later.reopen(run.id) as second:
                second.append([row(2)])
                with pytest.raises(StoreError, match="was let go when the connection was lost"):
                    writer.append([row(3)])
                with pytest.raises(StoreError, match="being written by process"):
                    store.reopen(run.id)
        assert list(store.done(run.id)) == [Key(0), Key(2)]


# ------------------------------------------------------------------------------ what is no store


def test_a_file_that_is_no_database_is_said_and_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("These are my notes.\n" * 200)
    before = path.read_bytes()
    with open_store(path) as store:
        for attempt in (lambda: store.runs(), lambda: store.create(record())):  # noqa: PLW0108
            with pytest.raises(StoreError, match=r"notes\.txt: the file is no SQLite database"):
                attempt()
    assert path.read_bytes() == before


def test_a_database_that_is_locked_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("trajgrade.stores.sqlite.PATIENCE", 0.05)
    with open_store(tmp_path / "runs.db") as store, store.create(record()) as writer:
        with sqlite3.connect(tmp_path / "runs.db") as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match="another program has locked the database"):
                writer.append([row(0)])
        other.close()
        writer.append([row(0)])


def test_a_damaged_database_is_said(tmp_path):
    url = tmp_path / "runs.db"
    with open_store(url) as store, store.create(record()) as writer:
        writer.append([row(n) for n in range(2000)])
    with url.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(b"\xff" * 4096 * 20)
    with open_store(url) as store, pytest.raises(StoreError, match=r"runs\.db: "):
        list(store.rows(store.run("latest").id))


def test_a_folder_that_does_not_exist_is_said(tmp_path):
    with (
        open_store(tmp_path / "nowhere" / "runs.db") as store,
        pytest.raises(StoreError, match=r"runs\.db: No such file"),
    ):
        store.create(record())


def test_a_folder_in_place_of_a_database_is_said(tmp_path):
    with (
        open_store(f"sqlite:///{tmp_path}") as store,
        pytest.raises(StoreError, match=r"must be a file|directory"),
    ):
        store.create(record())


def test_a_line_cut_short_by_the_end_of_its_process_is_left_out_and_written_anew(tmp_path):
    run = record()
    with open_store(f"{tmp_path}/runs/") as store:
        with store.create(run) as writer:
            writer.append([row(0), row(1)])
        path = tmp_path / "runs" / f"{run.id}.jsonl"
        whole = path.read_bytes()
        for cut in range(1, len(whole.splitlines(keepends=True)[1])):
            path.write_bytes(whole[:-cut])
            assert list(store.done(run.id)) == [Key(0)]
            with store.reopen(run.id) as writer:
                writer.append([row(0), row(1)])
            assert path.read_bytes() == whole


def test_a_line_that_cannot_be_read_is_named(tmp_path):
    run = record()
    with open_store(f"{tmp_path}/runs/") as store:
        with store.create(run) as writer:
            writer.append([row(0), row(1)])
        path = tmp_path / "runs" / f"{run.id}.jsonl"
        whole = path.read_bytes()
        for wrong in (b'{"row": 0, "tri\n', b'{"row": -1, "trial": 0}\n', b"[]\n", b"\n"):
            path.write_bytes(whole + wrong)
            with pytest.raises(StoreError, match=rf"{run.id}\.jsonl line 3: "):
                list(store.rows(run.id))
        path.write_bytes(whole + b'{"row": 2, "trial": 0, "graded": 3}\n')
        with pytest.raises(StoreError, match=r"line 3: it is no row of a run"):
            list(store.rows(run.id))


def test_a_record_that_cannot_be_read_is_named(tmp_path):
    run = record()
    with open_store(f"{tmp_path}/runs/") as store:
        store.create(run).close()
        (tmp_path / "runs" / "package.json").write_text("{}")  # someone else's
        assert len(store.runs()) == 1
        (tmp_path / "runs" / f"{run.id}.json").write_text('{"id": 3}')
        with pytest.raises(StoreError, match=rf"{run.id}\.json: it is no record of a run"):
            store.runs()


# ------------------------------------------------------------------------------ addresses


def test_addresses_say_what_kind_of_store_they_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRAJGRADE_STORE", raising=False)
    (tmp_path / "there").mkdir()
    kinds = {
        None: ("SqliteStore", "trajgrade.db"),
        "x.db": ("SqliteStore", "x.db"),
        "sqlite:///x.db": ("SqliteStore", "x.db"),
        "sqlite:////srv/x.db": ("SqliteStore", "/srv/x.db"),
        "runs/": ("JsonLinesStore", "runs/"),
        "there": ("JsonLinesStore", "there/"),
        "jsonl:runs": ("JsonLinesStore", "runs/"),
        "jsonl:///srv/runs": ("JsonLinesStore", "/srv/runs/"),
        "postgresql://me@db/x": ("PostgresqlStore", "postgresql://me@db/x"),
        "postgres://me@db/x": ("PostgresqlStore", "postgresql://me@db/x"),
        "postgresql+psycopg://me@db/x": ("PostgresqlStore", "postgresql://me@db/x"),
    }
    for address, found in kinds.items():
        with open_store(address) as store:
            assert (type(store).__name__, store.url) == found, address
    monkeypatch.setenv("TRAJGRADE_STORE", "jsonl:elsewhere")
    assert open_store().url == "elsewhere/"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["there"]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("", "no address"),
        ("runs.jsonl", "for JSON Lines a folder, with / at its end"),
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
        ("jsonl:", "names no folder"),
        ("postgresql+asyncpg://me@db/x", "psycopg is the only driver"),
    ],
)
def test_what_is_no_address_is_refused(address, said):
    with pytest.raises(ConfigError, match=said):
        open_store(address)


def test_an_unknown_kind_of_store_gets_the_likely_one(monkeypatch):
    with pytest.raises(UnknownNameError, match="Did you mean 'postgresql'"):
        open_store("postgresq://me@db/x")
    monkeypatch.setenv("TRAJGRADE_STORE", "mysql://me:geheim@db/x")
    with pytest.raises(UnknownNameError, match="TRAJGRADE_STORE: unknown store 'mysql'") as wrong:
        open_store()
    assert "geheim" not in str(wrong.value)


def test_passwords_are_never_shown():
    closed = "postgresql://me:ge%40heim@127.0.0.1:1/x?sslpassword=geheim2"
    with open_store(closed) as store:
        assert "heim" not in store.url
        with pytest.raises(StoreError) as wrong:
            store.runs()
    assert "heim" not in f"{wrong.value}{wrong.value.__cause__}{store!r}"
    assert "127.0.0.1" in str(wrong.value)


def test_a_missing_driver_is_said_in_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'trajgrade\[postgres\]'"):
        open_store("postgresql://me@db/x")


# ------------------------------------------------------------------------------ versions

OLD = Path(__file__).with_name("version_1.sql")


def old_database(path: Path) -> Path:
    """A database as the first version of the tables had it."""
    made = sqlite3.connect(path)
    made.executescript(OLD.read_text("utf-8"))
    made.close()
    return path


def test_a_database_of_the_first_version_is_brought_to_the_present_one(tmp_path):
    with open_store(old_database(tmp_path / "old.db")) as store:
        (run,) = store.runs()
        assert (run.name, run.state, run.experiment) == ("first", "running", "old")
        assert list(store.done(run.id)) == [Key(0), Key(1), Key(2, 1)]
        with store.reopen(run.id) as writer:
            writer.append([row(3)])
        assert store.count(run.id) == 4
        assert store.datasets.names() == []


def test_a_newer_database_is_refused_and_left_alone(tmp_path):
    path = old_database(tmp_path / "new.db")
    made = sqlite3.connect(path)
    made.execute("INSERT INTO trajgrade_schema VALUES (999, '0999_later', '2030-01-01')")
    made.commit()
    made.close()
    before = path.read_bytes()
    with open_store(path) as store:
        for attempt in (lambda: store.runs(), lambda: store.create(record())):  # noqa: PLW0108
            with pytest.raises(StoreError, match=r"version 999.*update trajgrade"):
                attempt()
    assert path.read_bytes() == before


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_the_steps_make_the_tables_that_the_queries_are_of(kind, tmp_path, request):
    from sqlalchemy import inspect

    from trajgrade.stores import dataset_tables, tables

    assert dataset_tables.VERSIONS.metadata is tables.METADATA
    url = tmp_path / "x.db" if kind == "sqlite" else request.getfixturevalue("postgres_url")
    opened: Any = open_store(url)
    with opened as store:
        store.create(record()).close()
        made = inspect(store.engine)
        found = {name: columns(made.get_columns(name)) for name in made.get_table_names()}
        indexes = {
            name: {tuple(i["column_names"]) for i in made.get_indexes(name)} for name in found
        }
        for table in tables.METADATA.tables.values():
            assert found[table.name] == {(c.name, c.nullable) for c in table.columns}
            wanted = {tuple(c.name for c in index.columns) for index in table.indexes}
            assert wanted <= indexes[table.name], table.name
        assert set(found) == set(tables.METADATA.tables)


def columns(found: list[Any]) -> set[tuple[str, bool]]:
    return {(column["name"], column["nullable"]) for column in found}


def test_the_old_database_in_the_tests_is_what_the_first_step_made(tmp_path):
    made = sqlite3.connect(old_database(tmp_path / "old.db"))
    assert made.execute("SELECT version, name FROM trajgrade_schema").fetchall() == [
        (1, "0001_runs")
    ]
    made.close()


def test_a_database_is_its_owners_alone_and_one_that_is_there_keeps_its_rights(tmp_path: Path):
    def rights(name: str) -> dict[str, int]:
        with open_store(tmp_path / name) as store:
            store.datasets.put("d", [{"id": "a"}])
        with closing(sqlite3.connect(tmp_path / name)) as raw:
            raw.execute("SELECT count(*) FROM sqlite_master").fetchone()
            found = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.glob(f"{name}*")}
        assert {f"{name}-wal", f"{name}-shm"} <= found.keys()
        return found

    before = os.umask(0)
    try:
        assert set(rights("new.db").values()) == {0o600}
        (tmp_path / "there.db").touch(mode=0o664)
        assert set(rights("there.db").values()) == {0o664}
    finally:
        os.umask(before)
