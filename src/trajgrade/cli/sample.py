"""`trajgrade sample NAME`: a bundled dataset, to begin with."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from trajgrade.errors import ConfigError


@click.command
@click.argument("name")
@click.option("-o", "--output", metavar="FILE", default="-", help="Where to; - prints it.")
def sample(name: str, output: str) -> None:
    """Write the bundled dataset NAME as JSON; `trajgrade list samples` names them."""
    from trajgrade.dataset.samples import sample_path

    text = sample_path(name).read_text(encoding="utf-8")
    if output == "-":
        sys.stdout.write(text)
        return
    path = Path(output)
    if path.suffix.lower() != ".json":
        raise ConfigError(f"-o {output}: a sample is JSON; name the file {path.stem}.json")
    if path.exists() and (path.is_dir() or path.read_text(encoding="utf-8") != text):
        raise ConfigError(f"-o {output}: is there already, and is something else; choose another")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    click.echo(f"saved {output}", err=True)
