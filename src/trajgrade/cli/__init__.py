"""The command: one file per verb, loaded when it is named.

entry         the command itself; the one place that prints errors and gives exit codes
options       the flags that several verbs share
grading       a config is run, saved and shown
reading       traces of files, one after the other
progress      how far a run is, on standard error
shorthand     what a flag holds: `-e KEY=NAME:param=value`, `--threshold 'metric>=0.8'`
streams       standard output that may be closed, or of another encoding
"""

from typing import TYPE_CHECKING, Any

from trajgrade.registry import Entry

if TYPE_CHECKING:
    from trajgrade.cli.entry import main

VERBS: dict[str, Entry] = {
    "run": Entry("trajgrade.cli.run:run", "Grade a dataset as a config file says"),
    "score": Entry("trajgrade.cli.score:score", "Grade files without a config file"),
    "compare": Entry("trajgrade.cli.compare:compare", "Say whether a run is better than another"),
    "power": Entry("trajgrade.cli.power:power", "Say how many examples a difference needs"),
    "judge": Entry("trajgrade.cli.judge:judge", "Say how far a judge agrees with people"),
    "validate": Entry(
        "trajgrade.cli.validate:validate", "Say all that is wrong with a config file"
    ),
    "show": Entry("trajgrade.cli.show:show", "Print a trace as trajgrade reads it"),
    "convert": Entry("trajgrade.cli.convert:convert", "Write traces of any format in one shape"),
    "dataset": Entry("trajgrade.cli.dataset:dataset", "Keep datasets, version by version"),
    "list": Entry("trajgrade.cli.list:list_", "List evaluators, formats or samples"),
    "report": Entry("trajgrade.cli.report:report", "Lay out a run as a page, JUnit, Markdown"),
    "serve": Entry("trajgrade.cli.serve:serve", "Take traces by HTTP, and do what rules say"),
    "work": Entry("trajgrade.cli.work:work", "Do what rules say with traces that were taken"),
    "rules": Entry("trajgrade.cli.rules:rules", "Check rules of automation, and try them"),
    "sample": Entry("trajgrade.cli.sample:sample", "Write a bundled dataset to a file"),
}

__all__ = ["VERBS", "main"]


def __getattr__(name: str) -> Any:
    if name != "main":
        raise AttributeError(f"module 'trajgrade.cli' has no attribute {name!r}")
    from trajgrade.cli import entry

    return entry.main
