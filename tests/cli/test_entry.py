"""The command as a whole: help, exit codes, errors, warnings, and how lightly it starts."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from trajgrade import __version__
from trajgrade.cli import VERBS
from trajgrade.errors import DatasetError

HEAVY = {"numpy", "pandas", "rich", "yaml", "msgspec", "trajgrade.runner", "trajgrade.evaluators"}


def test_help_lists_every_verb(command: Command):
    done = command("--help")
    assert (done.code, done.err) == (0, "")
    for name, entry in VERBS.items():
        assert re.search(rf"^  {name} +{entry.description}$", done.out, re.MULTILINE), name


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_has_help(verb: str, command: Command):
    done = command(verb, "-h")
    assert (done.code, done.err) == (0, "")
    assert f"Usage: trajgrade {verb}" in done.out


def test_the_version_is_told(process: Command):
    assert process("--version") == (0, f"trajgrade {__version__}\n", "")


def test_without_a_verb_help_is_shown_as_a_usage_error(command: Command):
    done = command()
    assert done.code == 2
    assert "Verbs:" in done.err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["rnu"], "no such verb 'rnu'. Did you mean 'run'? Verbs: run, score"),
        (["xyzzy"], "no such verb 'xyzzy'. Verbs: run, score"),
        (["run"], "Missing argument 'CONFIG'"),
        (["run", "eval.yaml", "--explan", "all"], "'--explain'?"),
        (["run", "eval.yaml", "--explain", "some"], "'some' is not one of 'all', 'worst', 'none'"),
        (["run", "eval.yaml", "--limit", "0"], "0 is not in the range x>=1"),
        (["run", "eval.yaml", "--fail-on", "some"], "'some' is not one of 'any', 'none'"),
        (["score"], "Missing argument 'FILE...'"),
        (["validate"], "name a config file, or give --schema"),
    ],
)  # fmt: skip
def test_a_usage_error_says_what_is_meant(
    args: list[str], said: str, command: Command, folder: Path
):
    done = command(*args)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_a_fault_is_an_error_line_without_a_traceback(process: Command, folder: Path):
    done = process("run", "evil.yaml")
    assert (done.code, done.out) == (2, "")
    assert done.err == "error: no such file or directory: 'evil.yaml'. Did you mean 'eval.yaml'?\n"


def test_hostile_text_in_an_error_is_written_out(command: Command, folder: Path):
    done = command("run", "a\x1b[31mb\n.yaml")
    assert done.code == 2
    assert "\x1b" not in done.err


def test_a_crash_has_a_traceback_and_the_code_of_what_cannot_be_said(
    command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("trajgrade.cli.grading.evaluate", lambda **_: 1 / 0)
    done = command("run", "eval.yaml")
    assert done.code == 3
    assert "ZeroDivisionError" in done.err


def test_an_unreadable_file_is_bad_input(
    command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "rows.json")

    monkeypatch.setattr("trajgrade.cli.grading.evaluate", refuse)
    done = command("run", "eval.yaml")
    assert (done.code, done.err) == (2, "error: rows.json: Permission denied\n")


def test_several_faults_of_a_dataset_are_told_one_by_one(
    command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*_: object, **__: object) -> None:
        raise DatasetError("one\ntwo")

    monkeypatch.setattr("trajgrade.cli.grading.evaluate", refuse)
    assert command("run", "eval.yaml").err == "error: 2 faults\n  - one\n  - two\n"


def test_a_warning_is_a_line_on_standard_error(command: Command, folder: Path):
    done = command("score", "rows.json", "-e", "tool_use:expected_tool=find,expected_args={},args_match_mode=subset", "-q")  # fmt: skip
    assert re.fullmatch(r"(warning: [^\n]+\n)?", done.err), done.err
    assert done.out == ""


def test_it_starts_without_loading_what_it_does_not_need(process: Command):
    script = (
        "import sys, atexit; from trajgrade.cli import main; "
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr)); main(sys.argv[1:])"
    )
    done = process("--help", script=script)
    assert done.code == 0
    assert HEAVY & set(done.err.split()) == set()
    listing = process("list", "formats", script=script)
    assert {"numpy", "pandas", "yaml", "trajgrade.runner"} & set(listing.err.split()) == set()


def test_the_script_and_the_module_are_one(folder: Path, process: Command):
    script = Path(sys.executable).with_name("trajgrade")
    done = process(pipe=f"--version; {script} --version")
    assert len(set(done.out.splitlines())) == 1


def test_an_encoding_without_our_letters_is_no_reason_to_fail(folder: Path, process: Command):
    rows = [{"id": "zoë 日本", "outputs": "é", "reference": "è"}]
    (folder / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    done = process("score", "rows.json", "-e", "exact_match", PYTHONIOENCODING="ascii")
    assert done.code == 0
    assert r"example zo\xeb \u65e5\u672c" in done.out


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_streams_that_are_closed_from_the_start_are_no_reason_to_fail(
    closed: str, folder: Path, process: Command
):
    assert process("run", "eval.yaml", pipe=closed).code == 0
    assert process("run", "no.yaml", pipe=closed).code == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_an_error_line(folder: Path, process: Command):
    done = process("list", "evaluators", pipe="> /dev/full")
    assert (done.code, done.err) == (2, "error: No space left on device\n")
