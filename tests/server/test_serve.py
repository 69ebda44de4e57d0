"""`trajgrade serve` as a process: it is told of in a line, does what rules say, ends in order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from trajgrade.cli.entry import command
from trajgrade.stores import open_store

TRACE = {"id": "one", "status": "error", "messages": [{"role": "user", "content": "Hello"}]}
RULES = {
    "automation": {
        "rules": [
            {"name": "errors", "when": {"field": "status", "equals": "error"},
             "actions": [{"type": "add_to_queue", "queue": "errors"}]}
        ]
    }
}  # fmt: skip


@contextmanager
def process(folder: Path, *flags: str) -> Iterator[tuple[Any, str]]:
    """Run the command; give the process and its address."""
    started = subprocess.Popen(
        [sys.executable, "-m", "trajgrade", "serve", "--port", "0", *flags],
        cwd=folder, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TRAJGRADE_STORE": str(folder / "s.db")},
    )  # fmt: skip
    assert started.stderr is not None
    try:
        told = started.stderr.readline()
        assert told.startswith("trajgrade serves http://127.0.0.1:"), told
        yield started, told.split()[2]
    finally:
        started.kill()
        started.wait()
        started.stderr.close()


def invoke(*words: str) -> Any:
    return CliRunner().invoke(command, [*words])


def test_a_server_takes_traces_does_what_rules_say_and_ends_when_told(tmp_path: Path):
    (tmp_path / "rules.yaml").write_text(json.dumps(RULES))
    with process(tmp_path, "--config", "rules.yaml") as (started, url):
        with httpx.Client(base_url=url, timeout=60) as client:
            assert client.post("/api/traces", json=TRACE).json()["accepted"] == 1
            while not client.get("/api/reviews").json()["items"]:
                assert started.poll() is None
            (item,) = client.get("/api/reviews").json()["items"]
            assert (item["trace_id"], item["queue"], item["rule"]) == ("one", "errors", "errors")
            assert client.get("/").headers["content-type"].startswith("text/html")
        started.send_signal(signal.SIGTERM)
        assert started.wait(60) == 0
        assert "Traceback" not in started.stderr.read()
    with open_store(tmp_path / "s.db") as store:
        assert store.inbox.backlog() == 0


def test_a_server_that_others_could_reach_needs_a_key(tmp_path: Path):
    store = str(tmp_path / "s.db")
    refused = invoke("serve", "--host", "10.0.0.5", "--port", "0", "--store", store)
    assert refused.exit_code == 2
    assert "there is no API key" in refused.stderr
    assert "trajgrade serve keys add NAME --scope" in refused.stderr


def test_keys_are_made_listed_and_revoked(tmp_path: Path):
    store = ("--store", str(tmp_path / "s.db"))
    made = invoke("serve", "keys", "add", "agent", "--scope", "ingest", *store)
    assert made.exit_code == 0, made.output
    key = made.stdout.strip()
    assert key.startswith("tgk_")
    assert "shown this once" in made.stderr
    again = invoke("serve", "keys", "add", "agent", "--scope", "read", *store)
    assert again.exit_code == 2
    assert "agent" in again.stderr
    told = invoke("serve", "keys", "list", *store).stdout
    assert told.startswith("agent  ingest  ")
    assert key not in told
    (shown,) = json.loads(invoke("serve", "keys", "list", "--json", *store).stdout)
    assert (shown["name"], shown["scopes"]) == ("agent", ["ingest"])
    assert "digest" not in shown
    assert invoke("serve", "keys", "revoke", "agnet", *store).exit_code == 2
    assert invoke("serve", "keys", "revoke", "agent", *store).exit_code == 0
    assert "revoked" in invoke("serve", "keys", "list", *store).stdout
    assert key.encode() not in (tmp_path / "s.db").read_bytes()


@pytest.mark.parametrize(
    ("server", "fault"),
    [
        ({"prot": 1}, "server.prot: unknown key 'prot'. Did you mean 'port'?"),
        ({"rate": "fast"}, "server.rate: "),
        ({"port": 99999}, "server.port: "),
    ],
)
def test_wrong_settings_are_refused_with_their_place(tmp_path: Path, server: Any, fault: str):
    config = tmp_path / "rules.yaml"
    config.write_text(json.dumps({"server": server}))
    refused = invoke("serve", "--config", str(config), "--store", str(tmp_path / "s.db"))
    assert refused.exit_code == 2
    assert f"rules.yaml: {fault}" in refused.stderr


def test_an_address_that_is_taken_is_one_line(tmp_path: Path):
    with process(tmp_path) as (_, url):
        port = url.rpartition(":")[2]
        refused = invoke("serve", "--port", port, "--store", str(tmp_path / "t.db"))
    assert refused.exit_code == 2
    (line,) = refused.stderr.splitlines()
    assert "in use" in line


def test_a_store_that_is_no_database_is_refused_in_a_line(tmp_path: Path):
    refused = invoke("serve", "--port", "0", "--store", f"{tmp_path}/")
    assert refused.exit_code == 2
    (line,) = refused.stderr.splitlines()
    assert "database" in line


def test_without_its_packages_the_command_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    refused = invoke("serve", "--port", "0", "--store", str(tmp_path / "s.db"))
    assert refused.exit_code == 2
    assert refused.stderr.strip().endswith("pip install 'trajgrade[server]'")


def test_a_server_without_rules_says_what_becomes_of_what_comes(tmp_path: Path):
    with process(tmp_path) as (started, _):
        told = started.stderr.readline()
        assert "no rules: what comes is kept, and waits for a `trajgrade work`" in told
        assert "with 200,000 waiting, no more is taken" in told
