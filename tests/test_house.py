"""The rules of the house that no linter knows: sizes, names, `__init__` files, seams, secrets."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

SRC = ROOT / "src" / "trajgrade"
MODULES = sorted(SRC.rglob("*.py"))
SEAMS = ("formats", "evaluators", "judges", "engines", "stores", "actions")
FORBIDDEN = {
    "abstract", "base", "common", "core", "data", "handler", "helper", "helpers", "impl", "info",
    "manager", "misc", "util", "utils",
}  # fmt: skip
# Vertex AI's names, which its users import, and what asyncio calls.
VERTEX = {"notebook_utils", "prompt_data", "pipe_data_received"}
OTHERS = {
    "data_received",  # asyncio calls a protocol's method so
    "get_route_handler",  # FastAPI calls a route's method so
    "only_in_old",  # as in `trajgrade compare BASE NEW`
}
MAX_LINES = 400

# Written so that this file does not find itself.
LEAKS = {
    "a package registry's host": r"py[p]i\.org|pythonhosted\.or[g]|npmjs\.(or[g]|com)|proxy\.golang\.or[g]",
    "an absolute home path": r"/roo[t]/|/hom[e]/(?!(user|you|me|agent|ubuntu|runner)\b)\w+|/User[s]/(?!(you|me)\b)\w+",
    "a path of this machine": r"/wor[k]/(main|shared|steering)\b|/opt/wheel[s]",
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KE[Y]-----",
    "a secret": r"\b(sk-[A-Za-z0-9_-]{20,}|AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{30,}"
    r"|xox[abp]-[A-Za-z0-9-]{10,}|AIza[0-9A-Za-z_-]{30,}|hf_[A-Za-z0-9]{30,})",
}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def words(name: str) -> set[str]:
    """The words of a snake_case or CamelCase name, in lower case."""
    return set(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_"))


def test_no_module_is_long():
    sizes = {name_of(path): len(path.read_text("utf-8").splitlines()) for path in MODULES}
    assert {name: size for name, size in sizes.items() if size > MAX_LINES} == {}


def test_no_name_is_a_word_that_says_nothing():
    said = [(place, name) for place, name in names() if name not in VERTEX | OTHERS]
    assert [f"{place}: {name}" for place, name in said if words(name) & FORBIDDEN] == []


def names() -> Iterator[tuple[str, str]]:
    """Every module, class and function of the package, with its place."""
    for path in MODULES:
        yield name_of(path), path.parent.name if path.stem == "__init__" else path.stem
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{name_of(path)}:{node.lineno}", node.name


def test_no_file_of_a_seam_repeats_its_folder():
    """`formats/otel.py`, not `otel_format.py`; a file for the thing itself has its bare name."""
    found = [
        name_of(path)
        for seam in SEAMS
        for path in (SRC / seam).glob("*.py")
        if words(path.stem) & {seam, seam.removesuffix("s")} and path.stem != seam.removesuffix("s")
    ]
    assert found == []


# ------------------------------------------------------------------------------ __init__ files


@pytest.mark.parametrize(
    "path", [pytest.param(p, id=name_of(p)) for p in MODULES if p.name == "__init__.py"]
)
def test_an_init_file_holds_no_logic(path: Path):
    logic = [node for node in parsed(path).body if not is_caption(node)]
    assert [f"{name_of(path)}:{node.lineno}: {ast.unparse(node)[:80]}" for node in logic] == []


def is_caption(node: ast.stmt) -> bool:
    """Docstring, imports, names with a plain value, and the two functions of lazy loading."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            return is_plain(value)
        case ast.FunctionDef(name="__getattr__" | "__dir__"):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING"), body=body, orelse=[]):
            return all(is_caption(inner) for inner in body)
        case _:
            return False


def is_plain(value: ast.expr) -> bool:
    """Literals, collections of them, and rows of a registry's table; at most a name in between."""
    allowed = (
        ast.Constant | ast.Name | ast.expr_context | ast.Dict | ast.List | ast.Tuple | ast.Set
        | ast.Starred | ast.Attribute | ast.keyword | ast.operator | ast.BinOp
    )  # fmt: skip
    return all(
        isinstance(node, allowed)
        or (isinstance(node, ast.Call) and ast.unparse(node.func) in {"Entry", "sorted"})
        for node in ast.walk(value)
    )


# ------------------------------------------------------------------------------ seams


@pytest.mark.parametrize("seam", [seam for seam in SEAMS if (SRC / seam).is_dir()])
def test_no_implementation_of_a_seam_imports_its_sibling(seam: str):
    """What two of them share lies in a file that no table names."""
    package = f"trajgrade.{seam}"
    implementations = registered(seam)
    found = [
        f"{name_of(path)} imports {imported}"
        for path in sorted((SRC / seam).rglob("*.py"))
        if path.stem != "__init__"
        for imported in imports(path)
        if imported in implementations and imported != f"{package}.{path.stem}"
    ]
    assert implementations, f"no table of names in {package}"
    assert found == []


def registered(seam: str) -> set[str]:
    """The modules named as `"module:attribute"` in the seam's `__init__`."""
    targets = [
        node.value.partition(":")[0]
        for node in ast.walk(parsed(SRC / seam / "__init__.py"))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"[\w.]+:\w+", node.value)
    ]
    return {t if t.startswith("trajgrade.") else f"trajgrade.{seam}.{t}" for t in targets}


def imports(path: Path) -> Iterator[str]:
    package = ["trajgrade", *path.relative_to(SRC).parent.parts]
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            yield source
            yield from (f"{source}.{alias.name}" for alias in node.names)


# ------------------------------------------------------------------------------ drawings


def test_the_tree_in_contributing_shows_every_part_of_the_package():
    drawing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    parts = {
        f"{path.name}/" if path.is_dir() else path.name
        for path in SRC.iterdir()
        if path.name not in {"__init__.py", "__pycache__", "py.typed"}
    }
    assert {part for part in parts if f" {part}" not in drawing} == set()


def test_every_make_target_says_what_it_does():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (phony,) = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert set(phony.split()) == set(re.findall(r"^([a-z-]+):.*## \S", makefile, re.MULTILINE))


# ------------------------------------------------------------------------------ leaks


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no git repository here")
@pytest.mark.parametrize("kind", LEAKS)
def test_nothing_tracked_gives_away(kind: str):
    pattern = re.compile(LEAKS[kind])
    found = [
        f"{name}:{number}: {line.strip()[:120]}"
        for name, text in tracked_texts()
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]
    assert found == []


def tracked_texts() -> Iterator[tuple[str, str]]:
    listing = ["git", "ls-files", "-z"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        path = ROOT / name
        if path.is_file():
            yield name, path.read_text(encoding="utf-8", errors="replace")
