"""`trajgrade rules check|test`: what is wrong with automation rules, and what they would do."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from trajgrade.cli.streams import closed_quietly, say

if TYPE_CHECKING:
    from trajgrade.automation.loading import Automation
    from trajgrade.automation.rules import Decision, Rule, Rules
    from trajgrade.automation.trying import Tried

_WORDS = {
    "fires": "fires", "disabled": "is switched off", "does_not_fit": "does not fit",
    "sampled_out": "is sampled out",
}  # fmt: skip


@click.group
def rules() -> None:
    """Check the rules of a config file, and try them on traces."""


_store = click.option("--store", metavar="URL", help="Where datasets are; the file's if not said.")


@rules.command
@click.argument("config")
@_store
def check(config: str, store: str | None) -> None:
    """Say all that is wrong with the rules of CONFIG, or list them.

    Their actions are made, too: datasets of references must be there, and secrets set.
    """
    from trajgrade.report.plain import count, printable

    found = _loaded(config, store)
    click.echo(f"{config}: no faults, {count(len(found.rules), 'rule')}")
    for rule in found.rules:
        click.echo(printable(f"  {rule.name}: {told(rule)}"))


@rules.command
@click.argument("config")
@click.option(
    "--on", "traces", required=True, metavar="PATH",
    help="Traces of any format: a file, a pattern, a folder.",
)  # fmt: skip
@click.option("--run", is_flag=True, help="Grade as rules say, so that others see the scores.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each decision.")
@_store
def test(config: str, traces: str, store: str | None, *, run: bool, as_json: bool) -> int:
    """Say which rules of CONFIG would fire for each trace, and why the others would not.

    Nothing is done, kept or sent. Without --run there are no scores that a rule could look at;
    with it, evaluators that ask a judge ask it. A trace that cannot be read is told of, and the
    exit code is 2.
    """
    from trajgrade.automation.recorded import recorded
    from trajgrade.automation.trying import Trying
    from trajgrade.errors import DatasetError, TraceError

    found = _loaded(config, store)
    trying = Trying(found, store=store, grades=run)
    faults = n_tried = 0
    with closed_quietly(), closing(trying):
        try:
            for name, trace, fault in recorded(traces):
                if fault:
                    faults += 1
                    say(fault)
                    continue
                tried = trying.on(name, trace)
                n_tried += 1
                _tell(tried, as_json=as_json)
                if tried.unreadable:
                    faults += 1
                    say(f"{name}: {tried.unreadable}", "warning: ")
        except (DatasetError, TraceError) as broken:
            faults += 1
            say(str(broken))
        if n_tried and not as_json:
            _sum_up(found.rules)
    for name, paths in found.rules.never_seen().items():
        scores = [path for path in paths if path.startswith("scores.")]
        absent = [path for path in paths if run or path not in scores]
        if absent:
            say(f"{name}: no trace has {', '.join(absent)}", "warning: ")
    return 2 if faults else 0


def _loaded(path: str, store: str | None) -> Automation:
    from trajgrade.automation.loading import load_automation

    return load_automation(path, required=True, makes=True, store=store)


def told(rule: Rule) -> str:
    """Return what a rule does, in a line."""
    actions = ", ".join(action["type"] for action in rule.actions)
    share = "" if rule.sample_rate == 1 else f", for {rule.sample_rate:.4g} of those that fit"
    return f"{actions}{share}{'' if rule.enabled else ' (switched off)'}"


def _tell(tried: Tried, *, as_json: bool) -> None:
    if as_json:
        from trajgrade.jsontext import dumps

        for decision in tried.decisions:
            line = {"id": tried.id, **decision._asdict(), "scores": tried.scores}
            sys.stdout.write(f"{dumps(line).decode()}\n")
        return
    from trajgrade.report.plain import printable

    click.echo(printable(tried.id))
    for decision in tried.decisions:
        click.echo(printable(f"  {_line(decision)}"))
    for said in tried.said:
        click.echo(printable(f"  {said}"))


def _line(decision: Decision) -> str:
    return f"{decision.rule} {_WORDS[decision.decided]}: {decision.because}"


def _sum_up(found: Rules) -> None:
    from trajgrade.report.plain import printable

    click.echo("")
    for rule in found:
        counts = found.counts[rule.name]
        parts = [f"{_WORDS[word]} {n}" for word, n in counts.items()]
        click.echo(printable(f"{rule.name}: {', '.join(parts) or 'was not asked'}"))


def sums(counts: dict[str, Any]) -> str:
    """Return counters of a rule in a line."""
    return ", ".join(f"{word.replace('_', ' ')} {n}" for word, n in counts.items())
