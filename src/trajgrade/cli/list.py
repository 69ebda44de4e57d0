"""`trajgrade list KIND`: what there is, by name."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from trajgrade.contracts import Store
    from trajgrade.record import RunRecord

KINDS = ("evaluators", "formats", "judges", "actions", "samples", "runs", "datasets", "rules")
_KEPT = ("runs", "datasets", "rules")


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS))
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list of objects.")
@click.option("--store", metavar="URL", help="Where runs are kept; trajgrade.db if not said.")
@click.option("--experiment", metavar="NAME", help="Only the runs of that experiment.")
@click.option("--config", metavar="FILE", help="The rules' file; without, those that were asked.")
def list_(kind: str, store: str | None, *, as_json: bool, **given: str | None) -> None:
    """List what there is, by name, with what each is in a line.

    Evaluators, formats, judges, actions and samples are part of trajgrade; runs and datasets are
    kept in a store; rules are in a config file, and their counters in the store.
    """
    from trajgrade.jsontext import dumps

    experiment, config = given["experiment"], given["config"]
    if store and kind not in _KEPT:
        raise click.UsageError("--store and --experiment are for runs; --store for datasets, too")
    if experiment and kind != "runs":
        raise click.UsageError("--store and --experiment are for runs")
    if config and kind != "rules":
        raise click.UsageError("--config is for rules")
    if kind == "runs":
        found = _runs(store, experiment, plain=as_json)
    elif kind == "datasets":
        found = _datasets(store, plain=as_json)
    elif kind == "rules":
        found = _rules(store, config, plain=as_json)
    else:
        found = _found(kind)
    if not found and not as_json:
        click.echo(f"no {kind} are kept here", err=True)
        return
    if as_json:
        sys.stdout.write(f"{dumps(found, indent=2).decode()}\n")
        return
    from trajgrade.report.plain import printable

    width = max(len(one["name"]) for one in found)
    for one in found:
        click.echo(f"{printable(one['name']):{width}}  {printable(one['description'])}")


def _runs(store: str | None, experiment: str | None, *, plain: bool) -> list[dict[str, Any]]:
    """Return the kept runs, the newest first."""
    import msgspec

    from trajgrade.stores import open_store

    with open_store(store) as opened:
        records = opened.runs(experiment=experiment)
        if plain:
            return [msgspec.to_builtins(record) for record in records]
        return [{"name": one.id, "description": _told(one, _state(one, opened))} for one in records]


def _datasets(store: str | None, *, plain: bool) -> list[dict[str, Any]]:
    """Return the newest version of each kept dataset."""
    import msgspec

    from trajgrade.report.plain import count
    from trajgrade.stores import open_store

    with open_store(store) as opened:
        kept = opened.datasets
        found = [kept.version(name) for name in kept.names()]
    if plain:
        return [msgspec.to_builtins(version) for version in found]
    return [
        {"name": one.name, "description": f"v{one.version}  {count(one.n_rows, 'row')}"}
        for one in found
    ]


def _rules(store: str | None, config: str | None, *, plain: bool) -> list[dict[str, Any]]:
    """Return the rules of a file, and those that are counted in the store, with their counters."""
    from trajgrade.automation.loading import Automation, load_automation
    from trajgrade.automation.rules import Rules
    from trajgrade.cli.rules import sums, told
    from trajgrade.errors import StoreError
    from trajgrade.stores import open_store

    file = load_automation(config, required=True) if config else Automation(Rules(()))
    with open_store(store or file.store) as opened:
        try:
            counters = opened.inbox.counters()
        except StoreError:
            if config is None:
                raise
            counters = {}  # a store that is no database counts nothing
    rules = {rule.name: rule for rule in file.rules}
    found = []
    for name in dict.fromkeys([*rules, *counters]):
        rule, counts = rules.get(name), counters.get(name, {})
        what = told(rule) if rule is not None else "" if config is None else "not in the file"
        if plain:
            more = {"enabled": rule.enabled, "sample_rate": rule.sample_rate} if rule else {}
            found.append({"name": name, "description": what, **more, "counters": counts})
        else:
            parts = [what, sums(counts) or "not asked yet"]
            found.append({"name": name, "description": "  ".join(filter(None, parts))})
    return found


def _state(record: RunRecord, store: Store) -> str:
    """Return how a run is: one whose process has died did not say so itself."""
    if record.state != "running":
        return record.state
    return "running" if store.holder(record.id) is not None else "cut off"


def _told(record: RunRecord, state: str) -> str:
    """Return a run in a line."""
    metrics = (record.result or {}).get("metrics", {})
    means = [
        f"{key} {metric['mean']:.3f}" if metric.get("mean") is not None else f"{key} –"
        for key, metric in metrics.items()
    ]
    named = [part for part in (record.experiment, record.name) if part]
    rows = (record.result or {}).get("n_rows")
    counted = f"{rows} rows" if rows is not None else ""
    parts = [state, record.dataset, counted, *named, ", ".join(means), _judged(record)]
    return "  ".join(filter(None, parts))


def _judged(record: RunRecord) -> str:
    """Return what thresholds and gates came to, if there are any."""
    verdicts = [one["verdict"] for one in (record.result or {}).get("thresholds", ())]
    unmet = [
        f"{verdicts.count(verdict)} of {len(verdicts)} thresholds {verdict}"
        for verdict in ("failed", "undecided")
        if verdict in verdicts
    ]
    if verdicts and not unmet:
        return f"{len(verdicts)} of {len(verdicts)} thresholds passed"
    return ", ".join(unmet)


def _found(kind: str) -> list[dict[str, str]]:
    from trajgrade import registry

    if kind == "samples":
        from trajgrade.dataset.samples import list_samples, sample_path

        return [
            {"name": name, "description": f"{_rows(sample_path(name).read_bytes())} rows"}
            for name in list_samples()
        ]
    seams = {
        "evaluators": registry.evaluators, "formats": registry.formats, "judges": registry.judges,
        "actions": registry.actions,
    }  # fmt: skip
    seam = seams[kind]
    return [{"name": name, "description": seam.entries[name].description} for name in seam]


def _rows(text: bytes) -> int:
    from trajgrade.dataset.orientation import rows_of
    from trajgrade.jsontext import loads

    return len(rows_of(loads(text), "the sample"))
