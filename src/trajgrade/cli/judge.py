"""`trajgrade judge align RUN`: is the judge any good?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trajgrade.cli.streams import closed_quietly

if TYPE_CHECKING:
    from trajgrade.aligning import Criterion, Label
    from trajgrade.run import Run

_SHOWN = 10
_NAMES = {
    "accuracy": "accuracy", "kappa": "Cohen's kappa", "sensitivity": "sensitivity",
    "specificity": "specificity", "consistency": "consistency of repeats",
    "length_bias": "length bias", "position_bias": "position bias",
    "judged_rate": "pass rate, as judged", "corrected_rate": "pass rate, corrected",
}  # fmt: skip


@click.group("judge")
def judge() -> None:
    """Measure a judge."""


@judge.command()
@click.argument("run")
@click.option(
    "--labels", metavar="FILE",
    help="What people said: a CSV file with the columns id and label, maybe criterion, response; "
    "or queue:NAME, a review queue.",
)  # fmt: skip
@click.option("--metric", "metrics", multiple=True, help="A metric of the judge. Repeatable.")
@click.option("--swapped", metavar="RUN", help="The same pairs judged in the other order.")
@click.option(
    "--apply-to", metavar="RUN", help="The run whose pass rate is corrected; RUN if not said."
)
@click.option(
    "--pass", "passes", type=float, default=0.5, show_default=True,
    help="The least score that is a pass.",
)  # fmt: skip
@click.option("--store", metavar="ADDRESS", help="Where run:ID is looked up.")
@click.option(
    "--save", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Keep the report, for the --judge-alignment of runs that ask this judge.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list, nothing else.")
def align(run: str, labels: str | None, *, as_json: bool, **given: Any) -> None:
    """Compare the verdicts of the saved run RUN with people's labels.

    RUN may be queue:NAME, too: what evaluators said of the traces that people have looked at in a
    review queue; then its labels are people's, if no other are named.
    """
    from trajgrade import aligned as kept
    from trajgrade.aligning import align as aligned
    from trajgrade.automation.reviewed import is_queue
    from trajgrade.jsontext import dumps
    from trajgrade.run import Run

    store = given["store"]
    if labels is None and not is_queue(run):
        raise click.UsageError("name what people said: --labels FILE, or --labels queue:NAME")
    said = _labels(labels or run, store)
    judged = _run(run, store)
    found = aligned(
        judged,
        said,
        metrics=given["metrics"],
        swapped=Run.load(given["swapped"], store=store) if given["swapped"] else None,
        apply_to=Run.load(given["apply_to"], store=store) if given["apply_to"] else None,
        passes=given["passes"],
    )
    if given["save"] is not None:
        kept.save(kept.alignments_of(judged, found, passes=given["passes"]), given["save"])
    with closed_quietly():
        if as_json:
            plain = [criterion.to_dict() for criterion in found]
            sys.stdout.write(f"{dumps(plain, indent=2).decode()}\n")
            return
        for criterion in found:
            _show(criterion)


def _labels(source: str, store: str | None) -> list[Label]:
    from trajgrade.automation.reviewed import is_queue, labels_in

    if is_queue(source):
        from trajgrade.stores import open_store

        with open_store(store) as opened:
            return labels_in(opened, source)
    from trajgrade.aligning import read_labels

    return read_labels(source)


def _run(source: str, store: str | None) -> Run:
    from trajgrade.automation.reviewed import is_queue, run_in
    from trajgrade.run import Run

    if not is_queue(source):
        return Run.load(source, store=store)
    from trajgrade.stores import open_store

    with open_store(store) as opened:
        return run_in(opened, source)


def _show(criterion: Criterion) -> None:
    from trajgrade.report.plain import number, printable

    click.echo(printable(criterion.key))
    for name, estimate in criterion.numbers.items():
        if estimate.value is None:
            click.echo(f"  {_NAMES[name]:<24} not estimated: {estimate.why}")
            continue
        ends = ""
        if estimate.low is not None and estimate.high is not None:
            ends = f"  {number(estimate.low)} to {number(estimate.high)}"
        click.echo(f"  {_NAMES[name]:<24} {number(estimate.value):>6}{ends}  of {estimate.n}")
    click.echo("  people, judge:")
    for (label, verdict), n in criterion.confusion.items():
        click.echo(f"    {_word(label)}, {_word(verdict)}: {n}")
    for n, what in ((criterion.unlabelled, "without a verdict"), (criterion.tied, "tied")):
        if n:
            click.echo(f"  {n} labelled examples are {what}, and left out")
    for one in criterion.disagreements[:_SHOWN]:
        comment = f": {printable(one.comment)}" if one.comment else ""
        click.echo(
            f"  {printable(one.id)}: people {_word(one.label)}, judge {_word(one.verdict)}{comment}"
        )
    more = len(criterion.disagreements) - _SHOWN
    if more > 0:
        click.echo(f"  and {more} more disagreements; --json has all")
    click.echo()


def _word(value: Any) -> str:
    from trajgrade.report.plain import printable

    return (
        {True: "pass", False: "fail"}[value] if isinstance(value, bool) else printable(str(value))
    )
