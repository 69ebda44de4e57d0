"""`trajgrade report RUN -o FILE`: a saved or kept run, laid out anew."""

from __future__ import annotations

from pathlib import Path

import click


@click.command
@click.argument("run")
@click.option(
    "-o", "--output", "saves", multiple=True, required=True, metavar="FILE",
    help="The suffix names the format: .html, .md, .xml, .json, .jsonl, .csv. Repeatable.",
)  # fmt: skip
@click.option("--store", metavar="URL", help="Where run:ID is kept; trajgrade.db if not said.")
def report(run: str, saves: tuple[str, ...], store: str | None) -> None:
    """Lay out RUN, a saved .json or .jsonl file or run:ID, as a page or in another form."""
    from trajgrade.run import Run

    loaded = Run.load(run, store=store)
    for path in saves:
        loaded.save(path)
        click.echo(f"saved {Path(path)}", err=True)
