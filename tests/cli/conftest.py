"""The command, called in this process, or in one of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest


class Done(NamedTuple):
    """What came of a command."""

    code: int
    out: str
    err: str


Command = Callable[..., Done]


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "120")


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Call the command in this process."""
    from trajgrade.cli import main

    def call(*args: object) -> Done:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main([str(arg) for arg in args])
        assert isinstance(stopped.value.code, int)
        return Done(stopped.value.code, *capsys.readouterr())

    return call


@pytest.fixture
def process() -> Command:
    """Call the command in a process of its own; `pipe` is what follows in the shell, `env` adds variables."""

    def call(*args: object, pipe: str = "", script: str = "", **env: str) -> Done:
        start = [sys.executable, *(["-c", script] if script else ["-m", "trajgrade"])]
        line = [*start, *map(str, args)]
        if pipe:
            line = ["bash", "-o", "pipefail", "-c", f'"$@" {pipe}', "bash", *line]
        done = subprocess.run(
            line,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return call


def call(name: str, **args: object) -> dict[str, object]:
    return {"name": name, "args": args}


ROWS = [
    {"id": "right", "outputs": [call("find", city="Oslo")], "reference_outputs": [call("find", city="Oslo")]},
    {"id": "wrong", "outputs": [call("find", city="Rome")], "reference_outputs": [call("find", city="Oslo")]},
    {"id": "extra", "outputs": [call("find", city="Oslo"), call("book")], "reference_outputs": [call("find", city="Oslo")]},
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with rows.json and eval.yaml."""
    (tmp_path / "rows.json").write_text(json.dumps(ROWS))
    (tmp_path / "eval.yaml").write_text(
        "dataset: rows.json\nevaluators: [trajectory_precision, trajectory_recall]\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path
