"""README.md and docs/ are run: what they show is what happens.

Each file gets a copy of the project to work in, so that its examples may write files.

A ```python block runs; the blocks of one file share their names, from top to bottom. Written as a
session (`>>> 1 + 1`), it is also compared with what it shows.

A ```console block is one shell session at the root of the project. Lines that begin with `$ ` are
commands (a trailing backslash continues one, and so does a here-document `<<'END'` up to `END`); the
lines below a command, if any, must be what it prints, standard error included:
    - trailing blanks do not count;
    - a line that is only `…` or `...` stands for any number of lines;
    - `…` inside a line stands for any text in that line: `2 examples in … s`;
    - a command must exit with 0, and the last one of a block ```console exit=1 with 1.
Commands that install (make, pip install, git clone, …) are not run; their targets and extras must
exist.

A block whose first line ends in `no-run: <reason>` is only read by people.
"""

from __future__ import annotations

import difflib
import doctest
import os
import re
import shutil
import subprocess
import sys
import tomllib
import types
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from markdown_it import MarkdownIt

from tests.conftest import ROOT

FILES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NO_RUN_LIMIT = 6
TIMEOUT = 120
END = "\x1e"
INSTALLS = re.compile(
    r"make\b|(python3? -m )?pip install\b|git clone\b|python3? -m venv\b|(source|\.) \.venv/"
    r"|(sudo )?apt(-get)? |cd trajgrade\b|uv\b|conda\b|export \w+_API_KEY="
)


class Block(NamedTuple):
    """One fenced block of a documentation file."""

    path: Path
    line: int
    info: str
    text: str

    @property
    def language(self) -> str:
        return self.info.partition(" ")[0]

    @property
    def runs(self) -> bool:
        return "no-run" not in self.info

    @property
    def where(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}"

    @property
    def exit_code(self) -> int:
        found = re.search(r"\bexit=(\d+)", self.info)
        return int(found[1]) if found else 0


class Command(NamedTuple):
    """One command of a console block, and the output shown for it."""

    line: int
    text: str
    shown: list[str]


def blocks_of(path: Path) -> list[Block]:
    text = path.read_text(encoding="utf-8")
    return [
        Block(path, token.map[0] + 1, token.info.strip(), token.content)
        for token in MarkdownIt("commonmark").parse(text)
        if token.type == "fence" and token.map
    ]


ALL = [block for path in FILES if path.is_file() for block in blocks_of(path)]


def files_with(language: str) -> list[object]:
    paths = dict.fromkeys(block.path for block in ALL if block.language == language and block.runs)
    return [pytest.param(path, id=str(path.relative_to(ROOT))) for path in paths]


def chosen(path: Path, language: str) -> list[Block]:
    return [b for b in ALL if b.path == path and b.language == language and b.runs]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the project's own files, to be written to at will."""
    copy = tmp_path / "trajgrade"
    for name in project_files():
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    return copy


def project_files() -> list[str]:
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [name for name in names.split("\0") if name and (ROOT / name).is_file()]


# ------------------------------------------------------------------------------ Python


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch, project: Path) -> types.ModuleType:
    """A module for the blocks of one file, so that annotations in them can be resolved."""
    made = types.ModuleType("documentation")
    monkeypatch.setitem(sys.modules, made.__name__, made)
    monkeypatch.chdir(project)
    return made


@pytest.mark.parametrize("path", files_with("python"))
def test_python_in_the_documentation_runs(path: Path, module: types.ModuleType):
    for block in chosen(path, "python"):
        if block.text.lstrip().startswith(">>>"):
            run_session(block, module)
        else:
            # Blank lines in front make the line numbers of a traceback those of the file.
            source = "\n" * block.line + block.text
            exec(compile(source, str(block.path), "exec"), module.__dict__)  # noqa: S102


def run_session(block: Block, module: types.ModuleType) -> None:
    test = doctest.DocTestParser().get_doctest(
        block.text, module.__dict__, block.where, str(block.path), block.line
    )
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    report: list[str] = []
    results = doctest.DocTestRunner(optionflags=flags).run(
        test, out=report.append, clear_globs=False
    )
    module.__dict__.update(test.globs)
    if results.failed:
        pytest.fail("".join(report), pytrace=False)


# ------------------------------------------------------------------------------ console


@pytest.mark.parametrize("path", files_with("console"))
def test_console_sessions_in_the_documentation_print_what_they_show(path: Path, project: Path):
    faults = [fault for block in chosen(path, "console") for fault in run_console(block, project)]
    if faults:
        pytest.fail("\n\n".join(faults), pytrace=False)


def commands_of(block: Block) -> Iterator[Command]:
    lines = block.text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    assert starts[:1] == [0], f"{block.where}: a console block begins with `$ `"
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        stop = start + 1
        while lines[stop - 1].endswith("\\") and stop < end:
            stop += 1
        here = re.search(r"<<'(\w+)'", "\n".join(lines[start:stop]))
        if here is not None and here[1] in lines[stop:end]:
            stop = lines.index(here[1], stop, end) + 1
        text = "\n".join(lines[start:stop])[2:]
        yield Command(block.line + 1 + start, text, stripped(lines[stop:end]))


def stripped(lines: list[str]) -> list[str]:
    return "\n".join(line.rstrip() for line in lines).strip("\n").splitlines()


def run_console(block: Block, cwd: Path) -> Iterator[str]:
    """Run the block as one shell session and yield what is wrong with it."""
    commands = [command for command in commands_of(block) if not INSTALLS.match(command.text)]
    script = "".join(f"{command.text}\nprintf '\\n{END}%s{END}' $?\n" for command in commands)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=cwd,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=TIMEOUT,
        check=False,
    )
    pieces = done.stdout.decode("utf-8", errors="replace").split(END)
    results = list(zip(pieces[0:-1:2], pieces[1::2], strict=True))
    if len(results) != len(commands):
        yield f"{block.where}: the session broke off; after its last command it printed\n{pieces[-1]}"
    for number, (command, (output, code)) in enumerate(zip(commands, results, strict=False), 1):
        expected = block.exit_code if number == len(commands) else 0
        yield from compare(block, command, stripped(output.splitlines()), int(code), expected)


def environment() -> dict[str, str]:
    return {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }


def compare(
    block: Block, command: Command, printed: list[str], code: int, expected_code: int
) -> Iterator[str]:
    where = f"{block.path.relative_to(ROOT)}:{command.line}: $ {command.text}"
    if code != expected_code:
        output = "\n".join(printed)
        yield f"{where}\nexits with {code}, not {expected_code}, and prints\n{output}"
    elif command.shown and not matches(command.shown, printed):
        diff = difflib.unified_diff(command.shown, printed, "shown", "printed", lineterm="", n=1000)
        yield "\n".join([where, "prints something else than is shown", *diff])


def matches(shown: list[str], printed: list[str]) -> bool:
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() in {"…", "..."} else any_text(line) + r"\n" for line in shown
    )
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)) is not None


def any_text(line: str) -> str:
    return ".*?".join(re.escape(part) for part in line.split("…"))


# ------------------------------------------------------------------------------ what is not run


def test_few_blocks_are_not_run_and_each_says_why():
    silent = [block for block in ALL if not block.runs]
    without_reason = [b.where for b in silent if not re.search(r"\bno-run: \S+", b.info)]
    assert not without_reason
    assert len(silent) <= NO_RUN_LIMIT, [block.where for block in silent]


def test_every_block_names_its_language():
    assert not [block.where for block in ALL if not block.language]


def test_shell_examples_are_sessions_that_are_run():
    """A ```bash block would be run by nobody."""
    languages = {"bash", "shell", "sh", "zsh", "py", "python3", "pycon"}
    assert not [block.where for block in ALL if block.runs and block.language in languages]


def test_make_targets_in_the_documentation_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(mentioned(r"\bmake ([a-z-]+)")) <= targets


def test_extras_in_the_documentation_exist():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = mentioned(r"(?:trajgrade|\.)\[([\w,-]+)\]")
    assert {extra for text in named for extra in text.split(",")} <= {
        *project["optional-dependencies"]
    }


def mentioned(pattern: str) -> list[str]:
    """What the pattern finds in the documentation's console blocks and inline code."""
    code = [block.text for block in ALL if block.language == "console"]
    for path in FILES:
        if path.is_file():
            code += re.findall(r"(?<!`)`([^`\n]+)`(?!`)", path.read_text(encoding="utf-8"))
    return [found for text in code for found in re.findall(pattern, text)]


# ------------------------------------------------------------------------------ this file


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        (["a", "…", "d"], ["a", "b", "c", "d"], True),
        (["a", "...", "d"], ["a", "d"], True),
        (["a", "…"], ["b"], False),
        (["2 rows in … s"], ["2 rows in 0.3 s"], True),
        (["2 rows in … s"], ["3 rows in 0.3 s"], False),
        (["a.c"], ["abc"], False),
        (["a"], ["a", "b"], False),
    ],
)
def test_output_is_compared_with_gaps(shown: list[str], printed: list[str], same: bool):
    assert matches(shown, printed) is same


def console(text: str, tmp_path: Path, info: str = "console") -> list[str]:
    return list(run_console(Block(ROOT / "README.md", 1, info, text), tmp_path))


def test_a_session_keeps_its_state_and_skips_installing(tmp_path: Path):
    text = "$ make demo\nlong ago\n$ cd /\n$ pwd\n/\n$ printf '%s' \\\n  a\\ b\na b\n$ false || echo no\nno\n"
    assert console(text, tmp_path) == []


def test_a_here_document_is_part_of_its_command(tmp_path: Path):
    assert console("$ cat <<'END'\none\ntwo\nEND\none\ntwo\n$ echo three\nthree\n", tmp_path) == []


def test_a_difference_is_shown_as_a_diff(tmp_path: Path):
    (fault,) = console("$ echo two\none\n", tmp_path)
    assert fault.splitlines()[0] == "README.md:2: $ echo two"
    assert fault.splitlines()[-2:] == ["-one", "+two"]


def test_an_unexpected_exit_code_is_a_fault(tmp_path: Path):
    (fault,) = console("$ true\n$ echo why >&2; false\n", tmp_path)
    assert "exits with 1, not 0" in fault
    assert "why" in fault
    assert console("$ true\n$ false\n", tmp_path, "console exit=1") == []


def test_a_session_that_ends_early_is_a_fault(tmp_path: Path):
    assert any("broke off" in fault for fault in console("$ exit 3\n$ echo x\n", tmp_path))
