"""How long importing takes, and that it loads nothing heavy.

Each import is a process of its own; its time is CPU time above that of a bare interpreter, the best
of several. `tests/test_weight.py` holds the list of what must not be loaded, as a test.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from measure import say, show, table

HEAVY = ("pandas", "numpy", "torch", "pydantic", "sqlalchemy", "click", "rich", "yaml")
PROGRAM = f"""
import sys, time
start = time.process_time()
before = len(sys.modules)
try:
    {{0}}
except SystemExit:
    pass
taken = time.process_time() - start
loaded = sorted(set({HEAVY!r}) & set(sys.modules))
print(taken, len(sys.modules) - before, ",".join(loaded) or "-", file=sys.stderr)
"""
STATEMENTS = {
    "import trajgrade": "import trajgrade",
    "import trajgrade.evaluators": "import trajgrade.evaluators",
    "an evaluator is built": (
        "from trajgrade.evaluators import TrajectoryMatchEvaluator as T; T(mode='unordered')"
    ),
    "trajgrade.evaluate is at hand": "from trajgrade import evaluate",
    "trajgrade --help": "from trajgrade.cli import main; sys.exit(main(['--help']))",
    "(import json, msgspec)": "import json, msgspec",
}


def once(statement: str) -> tuple[float, str, str]:
    """Run the statement in a process of its own; return seconds, modules, and what is heavy."""
    command = [sys.executable, "-c", PROGRAM.format(statement)]
    done = subprocess.run(
        command, check=True, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    seconds, modules, heavy = done.stderr.splitlines()[-1].split()
    return float(seconds), modules, heavy


def main() -> None:
    """Run it all and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10, help="of which the best counts")
    given = parser.parse_args()
    lines = []
    for what, statement in STATEMENTS.items():
        say(what)
        runs = [once(statement) for _ in range(given.rounds)]
        seconds, modules, heavy = min(runs)
        lines.append([what, f"{1000 * seconds:.0f}", modules, heavy])
    say("")
    show(table(["", "ms of CPU time", "modules loaded", "heavy ones"], lines))
    show()
    show(f"heavy: {', '.join(HEAVY)}. trajgrade's own first two must load none of them.")


if __name__ == "__main__":
    main()
