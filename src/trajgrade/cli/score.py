"""`trajgrade score FILE…`: grade files without a config file.

The flags become a config, and what is wrong with it is said of the flags. Without `-e`, rows whose
outputs or reference hold tool calls get every trajectory metric, and rows of text a comparison of
the texts.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from trajgrade.cli import shorthand
from trajgrade.cli.options import flags_of, grading_flags
from trajgrade.errors import ConfigError, TraceError

if TYPE_CHECKING:
    from trajgrade.config import Config
    from trajgrade.dataset import Dataset

ON_CALLS = (
    "trajectory_exact_match", "trajectory_in_order_match", "trajectory_any_order_match",
    "trajectory_precision", "trajectory_recall", "trajectory_f1", "trajectory_alignment",
)  # fmt: skip
ON_TEXT = ("exact_match", "edit_distance")
_SHOWN = 20
_FIELD_FLAGS = ("outputs", "reference", "id", "trial")


@click.command
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "-e", "--evaluator", "specs", multiple=True, metavar="[KEY=]NAME[:PARAM=VALUE,...]",
    help="An evaluator; `trajgrade list evaluators` names them. Repeatable.",
)  # fmt: skip
@click.option("--outputs", metavar="PATH", help="Where in a row the trace or response is: a.b[0].c")
@click.option("--reference", metavar="PATH", help="Where in a row the reference is.")
@click.option("--id", metavar="PATH", help="Where in a row its id is.")
@click.option("--trial", metavar="PATH", help="Where in a row the number of the repeat is.")
@click.option(
    "--field", "fields", multiple=True, metavar="ROLE=PATH",
    help="Where in a row another role is: inputs, response, context, ... Repeatable.",
)  # fmt: skip
@click.option(
    "--format",
    "kind",
    type=click.Choice(["json", "jsonl", "csv", "parquet"]),
    help="How the files are read, whatever their names.",
)
@click.option(
    "--threshold", "thresholds", multiple=True, metavar="METRIC[/STAT]>=BOUND",
    help="What must hold, or the exit code is 1. Repeatable.",
)  # fmt: skip
@grading_flags
@click.pass_context
def score(context: click.Context, /, **given: Any) -> None:
    """Grade the rows of FILE...: paths, glob patterns, folders, sample:NAME or run:ID."""
    from trajgrade.cli.grading import grade

    context.exit(grade(config_of(given), flags_of(given)))


def config_of(given: dict[str, Any]) -> Config:
    """Return the config that the flags stand for.

    Raises:
        ConfigError: Anything is wrong with it; the faults name the flags.
    """
    from trajgrade.config import load_config

    specs, thresholds, faults = _written(given)
    files = list(given["files"])
    dataset = files[0] if len(files) == 1 else files
    document: dict[str, Any] = {
        "dataset": {"path": dataset, "format": given["kind"]} if given["kind"] else dataset,
        "fields": _fields(given, faults),
        "thresholds": thresholds,
        "evaluators": specs or ["trajectory_f1"],
    }
    try:
        config = load_config(document, look=True)
    except ConfigError as wrong:
        raise ConfigError(*faults, *(_of_flags(fault, given) for fault in wrong.faults)) from None
    if faults:
        raise ConfigError(*faults)
    if specs:
        return config
    if config.is_run:
        raise ConfigError(f"{config.dataset}: name what grades its answers: -e NAME")
    document["evaluators"] = list(_fitting(config.open()))
    click.echo(f"no -e given; grading with {', '.join(document['evaluators'])}", err=True)
    return load_config(document)


def _written(given: dict[str, Any]) -> tuple[list[Any], dict[str, Any], list[str]]:
    """Return the evaluators, the thresholds, and what is wrong in how they are written."""
    specs: list[Any] = []
    thresholds: dict[str, Any] = {}
    faults: list[str] = []
    for text in given["specs"]:
        try:
            specs.append(shorthand.evaluator(text))
        except ConfigError as wrong:
            faults += wrong.faults
    for text in given["thresholds"]:
        try:
            metric, bound = shorthand.threshold(text)
        except ConfigError as wrong:
            faults += wrong.faults
            continue
        if metric in thresholds:
            faults.append(f"--threshold {text}: {metric} is given twice")
        thresholds[metric] = bound
    return specs, thresholds, faults


def _fields(given: dict[str, Any], faults: list[str]) -> dict[str, str]:
    named = {
        "reference_outputs" if flag == "reference" else flag: given[flag] for flag in _FIELD_FLAGS
    }
    fields = {role: path for role, path in named.items() if path is not None}
    for text in given["fields"]:
        role, equals, path = text.partition("=")
        if not equals or not path:
            faults.append(f"--field {text}: write ROLE=PATH")
        elif role in fields:
            faults.append(f"--field {text}: {role} is given twice")
        else:
            fields[role] = path
    return fields


def _of_flags(fault: str, given: dict[str, Any]) -> str:
    """Return a fault of the config as one of the flags that stand for it."""
    for number, text in enumerate(given["specs"]):
        for start in (f"evaluators[{number}].params.", f"evaluators[{number}]"):
            if fault.startswith(start):
                return f"-e {text}: {fault.removeprefix(start).lstrip('.: ')}"
    for role in ("outputs", "id", "trial"):
        fault = fault.replace(f"fields.{role}: ", f"--{role}: ", 1)
    return (
        fault.replace("fields.reference_outputs: ", "--reference: ", 1)
        .replace("thresholds.", "--threshold ", 1)
        .removeprefix("dataset: ")
    )


def _fitting(dataset: Dataset) -> tuple[str, ...]:
    """Return the evaluators that fit what the first rows hold.

    Raises:
        ConfigError: There is nothing to compare with.
    """
    pairs = [
        (example.outputs, example.reference_outputs, example.reference)
        for example in islice(dataset.examples(), _SHOWN)
    ]
    if any(_has_calls(outputs) or _has_calls(wanted) for outputs, wanted, _ in pairs):
        if any(wanted is not None for _, wanted, _ in pairs):
            return ON_CALLS
    elif any(wanted is not None or text is not None for _, wanted, text in pairs):
        return ON_TEXT
    raise ConfigError(
        f"no -e given, and the first rows of {dataset.name} have no reference to compare with; "
        f"name where it is with --reference PATH (fields: {', '.join(dataset.columns)}), or an "
        "evaluator that needs none, such as -e json_valid"
    )


def _has_calls(data: Any) -> bool:
    from trajgrade.trajectory import Trajectory

    if isinstance(data, dict) and ("any_of" in data or "turns" in data):
        return True
    try:
        return data is not None and bool(Trajectory.from_any(data).tool_calls)
    except TraceError:
        return False
