"""Importing trajgrade, and asking it for help, loads nothing heavy: in processes of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"pandas", "numpy", "torch", "pydantic", "sqlalchemy", "click", "rich", "yaml"}


def loaded(statement: str) -> set[str]:
    """Run the statement in a fresh interpreter; return the heavy modules that it loads."""
    program = f"import sys\n{statement}\nprint(*sys.modules, file=sys.stderr)"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return HEAVY & set(done.stderr.split())


@pytest.mark.parametrize(
    "statement",
    [
        "import trajgrade",
        "import trajgrade.evaluators",
        "from trajgrade import *",
        "from trajgrade.evaluators import *",
        "import trajgrade.evaluators as e; e.ExactMatch().evaluate(outputs='', reference_outputs='')",
        "import trajgrade.evaluators as e; e.TrajectoryMatchEvaluator()",
    ],
)
def test_importing_loads_nothing_heavy(statement: str):
    assert loaded(statement) == set()


def test_help_loads_no_numbers_and_no_frames():
    statement = (
        "from trajgrade.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass"
    )
    assert loaded(statement) <= {"click", "rich", "yaml"}


def test_what_is_heavy_is_told_by_name():
    assert loaded("import yaml, click") == {"yaml", "click"}
