"""`trajgrade dataset …`: datasets that are kept, version by version."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trajgrade.cli.streams import closed_quietly, say

if TYPE_CHECKING:
    from collections.abc import Callable

    from trajgrade.contracts import Store
    from trajgrade.record import RunRecord
    from trajgrade.versions import DatasetVersion

_SHOWN = 20


def _store_flag(verb: Callable[..., Any]) -> Callable[..., Any]:
    help_ = "Where it is kept; trajgrade.db if not said."
    return click.option("--store", metavar="URL", help=help_)(verb)


_json_flag = click.option("--json", "as_json", is_flag=True, help="Print JSON, nothing else.")


@click.group
def dataset() -> None:
    """Keep datasets: each change is a new version; tags name versions and may be moved."""


@dataset.command("list")
@_store_flag
@_json_flag
def list_(store: str | None, *, as_json: bool) -> None:
    """List the datasets, with their newest version and their tags."""
    kept = _datasets(store)
    found = [kept.versions(name) for name in kept.names()]
    if as_json:
        _print([_plain(versions[0]) for versions in found])
        return
    for versions in found:
        tags = sorted((tag, v.version) for v in versions for tag in v.tags)
        told = ", ".join(f"{tag} = v{version}" for tag, version in tags)
        click.echo(f"{_line(versions[0])}{f'  ({told})' if told else ''}")


@dataset.command
@click.argument("name")
@_store_flag
@_json_flag
def show(name: str, store: str | None, *, as_json: bool) -> None:
    """List the versions of the dataset NAME, the newest first."""
    kept = _datasets(store)
    kept.version(name)
    versions = kept.versions(name)
    if as_json:
        _print([_plain(version) for version in versions])
        return
    for version in versions:
        tags = f"  [{', '.join(version.tags)}]" if version.tags else ""
        note = f"  {version.note}" if version.note else ""
        click.echo(f"{_line(version)}{tags}{note}")


@dataset.command
@click.argument("name")
@click.argument("files", nargs=-1)
@click.option(
    "--from", "run", metavar="RUN",
    help="Only rows that are in this kept run; or queue:NAME, what people reviewed.",
)  # fmt: skip
@click.option(
    "--where", metavar="EXPR", help="Of the run: 'trajectory_match < 1', 'm is error', ..."
)
@click.option("--replace", is_flag=True, help="Keep these rows alone, not beside those there are.")
@click.option("--note", default="", metavar="TEXT", help="Why.")
@_store_flag
def add(
    name: str,
    files: tuple[str, ...],
    run: str | None,
    where: str | None,
    note: str,
    store: str | None,
    *,
    replace: bool,
) -> None:
    """Keep the rows of FILES as a new version of the dataset NAME.

    A row replaces the one of its id. Where nothing changes, no version is made. With --from, only
    rows of that run are kept; if an agent answered in it, FILES may be left out. Of queue:NAME,
    traces that people have accepted or corrected become rows, with a reference.
    """
    from trajgrade.automation.reviewed import is_queue
    from trajgrade.dataset import Dataset

    if where is not None and run is None:
        raise click.UsageError("--where is said of a run: name it by --from")
    if run is None and not files:
        raise click.UsageError("name files, or a run by --from")
    if is_queue(run) and (files or where is not None):
        raise click.UsageError("--from queue:NAME takes neither FILES nor --where")
    rows = list(Dataset.load(list(files)).records()) if files else []
    if run is not None and is_queue(run):
        rows = _of_queue(run, name, store)
    elif run is not None:
        rows = _of_run(run, where, store, rows if files else None)
    kept = _datasets(store)
    before = kept.versions(name)
    put = kept.put if replace else kept.add
    origin = " ".join([*files, *(["run", run] if run else []), *([where] if where else [])])
    version = put(name, rows, note=note or f"from {origin}")
    _told(version, before)


def _of_run(
    run: str, where: str | None, store: str | None, rows: list[dict[str, Any]] | None
) -> list[dict[str, Any]]:
    """Return those rows that are in a run, and fit; those that were answered where none are given.

    Raises:
        ConfigError: There are none.
    """
    from trajgrade.curation import Where
    from trajgrade.errors import ConfigError
    from trajgrade.replay import run_of
    from trajgrade.stores import open_store

    opened = open_store(store)
    record = opened.run(run.removeprefix("run:"))
    found = run_of(opened, record)
    fits = Where(where, list(found.summary)) if where is not None else lambda _row: True
    wanted = {(row.id, row.trial) for row in found.rows if fits(row)}
    if rows is None:
        rows = _graded(opened, record)
    picked = [row for row in rows if (str(row.get("id")), row.get("trial")) in wanted]
    if not picked:
        why = f"no row fits {where!r}" if not wanted else "no row of the files has an id of the run"
        raise ConfigError(f"run {record.id}: {why}")
    return picked


def _graded(store: Store, record: RunRecord) -> list[dict[str, Any]]:
    """Return the rows that a run graded: as they were answered, or as the store's dataset has them.

    Raises:
        StoreError: They are neither with the run nor in the store.
    """
    from trajgrade.record import DATASET
    from trajgrade.replay import Replay
    from trajgrade.stores.kept import kept_dataset

    if "agent" not in record.settings and record.dataset.startswith(DATASET):
        return list(kept_dataset(record.dataset, store=store).records())
    return [_as_row(example) for example in Replay(store, record.id).examples]


def _of_queue(queue: str, name: str, store: str | None) -> list[dict[str, Any]]:
    """Return the traces of a review queue that have a reference now.

    Raises:
        ConfigError: There are none.
    """
    from trajgrade.automation.reviewed import rows_in
    from trajgrade.errors import ConfigError
    from trajgrade.report.plain import count
    from trajgrade.stores import open_store

    with open_store(store) as opened:
        there = opened.datasets.rows(name) if opened.datasets.versions(name) else ()
        found = rows_in(opened, queue, {str(row.get("id")): row for row in there})
    for fault in found.unread:
        say(fault, "warning: ")
    if found.rejected:
        traces = count(found.rejected, "trace")
        say(f"left out: {traces} that people did not accept, and gave no reference for", "")
    if not found.rows:
        raise ConfigError(f"{queue}: no trace there was accepted or corrected")
    return found.rows


def _as_row(example: Any) -> dict[str, Any]:
    """Return what was asked and expected in an example, and what was answered."""
    from trajgrade.earlier import plain_example

    gone = ("row", "source", "notes")
    return {key: value for key, value in plain_example(example).items() if key not in gone}


@dataset.command
@click.argument("name")
@click.argument("labels")
@click.option(
    "--field",
    default="reference_outputs",
    show_default=True,
    metavar="NAME",
    help="Where the label goes.",
)
@click.option(
    "--label",
    default="label",
    show_default=True,
    metavar="NAME",
    help="Which column of LABELS holds the label.",
)
@_store_flag
def annotate(name: str, labels: str, field: str, label: str, store: str | None) -> None:
    """Make people's LABELS the references of the dataset NAME, by majority.

    LABELS has a line for each person and row: the row's `id`, and the label. Rows whose labels tie
    stay as they are, and are named.
    """
    from trajgrade.curation import annotated
    from trajgrade.dataset import Dataset
    from trajgrade.errors import DatasetError, unknown

    lines = list(Dataset.load(labels, {"id": None, "trial": None}).records())
    columns = list(dict.fromkeys(column for line in lines for column in line))
    for column in ("id", label):
        if column not in columns:
            raise DatasetError(f"{labels}: {unknown('column', column, columns)}")
    kept = _datasets(store)
    pairs = [(str(line.get("id")), line.get(label)) for line in lines]
    found = annotated(kept.rows(name), pairs, field)
    before = kept.versions(name)
    for what, ids in (("no majority", found.tied), ("no such row", found.unknown)):
        if ids:
            more = f" … {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
            say(f"{what}: {', '.join(ids[:_SHOWN])}{more}", "warning: ")
    _told(kept.add(name, found.rows, note=f"labels from {labels}"), before)


@dataset.command
@click.argument("name")
@click.argument("tag")
@click.argument("as_of", default="latest")
@_store_flag
def tag(name: str, tag: str, as_of: str, store: str | None) -> None:
    """Have TAG name a version of the dataset NAME: the newest, or AS_OF (v3, another tag)."""
    version = _datasets(store).tag(name, tag, as_of)
    click.echo(f"{name}@{tag} is v{version.version}, {version.n_rows} rows", err=True)


@dataset.command
@click.argument("name")
@click.argument("old")
@click.argument("new", default="latest")
@_store_flag
@_json_flag
def diff(name: str, old: str, new: str, store: str | None, *, as_json: bool) -> None:
    """Say which rows differ between two versions of the dataset NAME."""
    from trajgrade.versions import changes

    kept = _datasets(store)
    found = changes(kept.kept(name, old), kept.kept(name, new))
    if as_json:
        _print(found._asdict())
        return
    for kind, ids in found._asdict().items():
        more = f" … {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
        click.echo(f"{len(ids)} {kind}{': ' if ids else ''}{', '.join(ids[:_SHOWN])}{more}")


@dataset.command
@click.argument("name")
@click.option(
    "--as-of", default="latest", metavar="TAG", help="A tag, or v3; the newest if not said."
)
@click.option("--split", default="", metavar="NAME", help="Only the rows of that split.")
@click.option("-o", "--output", required=True, metavar="FILE", help="A .jsonl file; - prints.")
@_store_flag
def export(name: str, as_of: str, split: str, output: str, store: str | None) -> None:
    """Write the rows of the dataset NAME as JSON Lines."""
    kept = _datasets(store)
    rows = kept.kept(name, as_of, split)
    if output == "-":
        with closed_quietly():
            for row in rows:
                sys.stdout.write(f"{row.text.decode()}\n")
        return
    from trajgrade.report.saving import whole_file

    done = 0
    with whole_file(Path(output)) as stream:
        for row in rows:
            stream.write(f"{row.text.decode()}\n")
            done += 1
    click.echo(f"saved {output}: {done} rows", err=True)


def _datasets(store: str | None) -> Any:
    from trajgrade.stores import open_store

    return open_store(store).datasets


def _line(version: DatasetVersion) -> str:
    from trajgrade.report.plain import count, printable

    splits = ", ".join(f"{name} {rows}" for name, rows in version.splits.items())
    name = printable(version.name)
    rows = count(version.n_rows, "row")
    made = f"{version.created_at:%Y-%m-%d %H:%M}"
    return f"{name} v{version.version}  {rows}{f' ({splits})' if splits else ''}  {made}"


def _told(version: DatasetVersion, before: list[DatasetVersion]) -> None:
    if before and before[0].version == version.version:
        say(f"{version.name}: nothing is new; v{version.version} stays the newest", "")
        return
    click.echo(f"{version.name} v{version.version}: {version.n_rows} rows", err=True)


def _plain(version: DatasetVersion) -> dict[str, Any]:
    import msgspec

    plain: dict[str, Any] = msgspec.to_builtins(version)
    return plain


def _print(value: Any) -> None:
    from trajgrade.jsontext import dumps

    sys.stdout.write(f"{dumps(value, indent=2).decode()}\n")
