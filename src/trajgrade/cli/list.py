"""`trajgrade list KIND`: what there is, by name."""

from __future__ import annotations

import sys

import click

KINDS = ("evaluators", "formats", "samples")


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS))
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list of objects.")
def list_(kind: str, *, as_json: bool) -> None:
    """List evaluators, formats or samples, with what each is in a line."""
    from trajgrade.jsontext import dumps

    found = _found(kind)
    if as_json:
        sys.stdout.write(f"{dumps(found, indent=2).decode()}\n")
        return
    from trajgrade.report.plain import printable

    width = max(len(one["name"]) for one in found)
    for one in found:
        click.echo(f"{printable(one['name']):{width}}  {printable(one['description'])}")


def _found(kind: str) -> list[dict[str, str]]:
    from trajgrade import registry

    if kind == "samples":
        from trajgrade.dataset.samples import list_samples, sample_path

        return [
            {"name": name, "description": f"{_rows(sample_path(name).read_bytes())} rows"}
            for name in list_samples()
        ]
    seam = registry.evaluators if kind == "evaluators" else registry.formats
    return [{"name": name, "description": seam.entries[name].description} for name in seam]


def _rows(text: bytes) -> int:
    from trajgrade.dataset.orientation import rows_of
    from trajgrade.jsontext import loads

    return len(rows_of(loads(text), "the sample"))
