"""Compare trials 0 and 1 of tau-bench's airline runs with trials 2 and 3: the same agent twice.

python examples/tau_airline/halves.py path/to/gpt-4o-airline.json [report.html]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import trajgrade
from trajgrade.config import load_config
from trajgrade.report.versus import screen

HERE = Path(__file__).parent


def main(path: Path, report: Path | None = None) -> None:
    """Grade both halves as the config beside this file says, compare them, and save a report."""
    rows = json.loads(path.read_text())
    config = load_config(HERE / "eval.yaml")
    halves = [
        trajgrade.evaluate(
            [row for row in rows if row["trial"] in trials],
            config.evaluators,
            fields=config.fields,
            name=f"trials {trials[0]} and {trials[1]}",
        )
        for trials in ((0, 1), (2, 3))
    ]
    comparison = trajgrade.compare(*halves)
    screen.show(comparison)
    if report is not None:
        comparison.save(report)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(str(__doc__))
    main(*map(Path, sys.argv[1:]))
