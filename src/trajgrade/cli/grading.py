"""A config is run, saved and shown."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import msgspec

from trajgrade.cli import shorthand
from trajgrade.cli.options import Flags
from trajgrade.cli.progress import Progress
from trajgrade.cli.saving import check_saves, save_all, sum_up
from trajgrade.cli.streams import closed_quietly, say
from trajgrade.config import Config, DatasetFiles
from trajgrade.dataset import Selected
from trajgrade.dataset.samples import SAMPLE
from trajgrade.errors import ConfigError
from trajgrade.jsontext import dumps
from trajgrade.record import DATASET, RUN
from trajgrade.registry import reports
from trajgrade.run import Explain, InterruptedRunError, Run
from trajgrade.runner import evaluate
from trajgrade.sources import File, find

ON_UNDECIDED = {"pass": 0, "fail": 1, "undecided": 3}
_CACHE = "TRAJGRADE_CACHE"


def grade(config: Config, flags: Flags, inputs: Sequence[Path] = (), *, keep: bool = False) -> int:
    """Grade a dataset, save and show the run, and return its exit code.

    Args:
        config: What is graded, by what.
        flags: Which rows, and what is shown and saved.
        inputs: Files that nothing may be saved over, besides those of the dataset.
        keep: Whether the run is kept in a store, where no flag says otherwise.

    Raises:
        ConfigError: The run could not be saved where it should be, or now it cannot.
    """
    config = msgspec.structs.replace(
        config,
        explain=flags.explain or config.explain,
        fail_on=flags.fail_on or config.fail_on,
        limit=flags.limit or config.limit,
        experiment=flags.experiment or config.experiment,
        engine=flags.engine or config.engine,
        workers=flags.workers or config.workers,
        judge=_judge(flags) or config.judge,
        judge_alignment=(
            {"report": flags.judge_alignment} if flags.judge_alignment else config.judge_alignment
        ),
    )
    baseline = flags.baseline or config.baseline
    read = [*inputs, *_files(config), *([Path(baseline)] if baseline else [])]
    check_saves(flags.saves, read, reports)
    told: list[str] = []
    gates = _gates(config, flags)
    with _caching(wanted=flags.cache):
        kept = _kept_in(config, flags) if keep or config.is_run else {}
        run = _run(config, flags, told, {**kept, **gates})
    unsaved = save_all(run, flags.saves, quiet=flags.quiet)
    _summed_up(run)
    with closed_quietly():
        _show(run, flags, config.explain, told)
    if unsaved:
        raise ConfigError(*unsaved)
    return ON_UNDECIDED[flags.on_undecided] if run.exit_code == 3 else run.exit_code


def _gates(config: Config, flags: Flags) -> dict[str, Any]:
    """Return the gates and the run that they are against, as arguments of `evaluate`."""
    baseline = flags.baseline or config.baseline
    gates = [shorthand.gate(text) for text in flags.gates] or config.no_regression
    if baseline and gates and baseline.startswith(RUN):  # also where this run is kept nowhere
        old = Run.load(baseline, store=flags.store or config.store or None)
        return {"baseline": old, "no_regression": gates}
    return {"baseline": baseline, "no_regression": gates}


def _judge(flags: Flags) -> Any:
    if flags.judge is None:
        return None
    from trajgrade.judging.settings import judge_settings

    return judge_settings(flags.judge, "--judge")


@contextmanager
def _caching(*, wanted: bool) -> Iterator[None]:
    """Keep no reply of a judge, where that is not wanted: of none, however it is named."""
    before = os.environ.get(_CACHE)
    if not wanted:
        os.environ[_CACHE] = "off"
    try:
        yield
    finally:
        if not wanted and before is None:
            os.environ.pop(_CACHE, None)
        elif not wanted and before is not None:
            os.environ[_CACHE] = before


def _kept_in(config: Config, flags: Flags) -> dict[str, Any]:
    """Return where the run is kept and what it goes on with, as arguments of `evaluate`."""
    if flags.store == "" and not config.is_run:
        return {}
    from trajgrade.stores import open_store

    store = open_store(flags.store or config.store or None)
    return {"store": store, "resume": flags.resume, "retry": flags.retry}


def _run(config: Config, flags: Flags, told: list[str], kept: dict[str, Any]) -> Run:
    arguments = config.arguments()
    select = Selected(flags.ids, flags.matching, config.limit)
    wanted = flags.progress and not flags.quiet

    def warn(text: str) -> None:
        told.append(text)
        say(text, "warning: ")

    try:
        with Progress(
            arguments["dataset"],
            wanted=wanted,
            trials=config.trials,
            limit=config.limit,
            counted=not flags.ids and flags.matching is None,
        ) as progress:
            if config.agent is not None:
                kept = {**kept, "on_row": progress.note}
            return evaluate(
                **{**arguments, **kept, "select": select}, on_progress=progress, on_warning=warn
            )
    except InterruptedRunError as stopped:
        more = "; go on with it by --resume" if stopped.run.id else ""
        click.echo(f"{stopped}{more}", err=True)
        return stopped.run


def _show(run: Run, flags: Flags, explain: Explain, told: Sequence[str]) -> None:
    if flags.json:
        sys.stdout.write(f"{dumps(run.to_dict(), indent=2).decode()}\n")
        return
    from trajgrade.report import terminal

    if flags.quiet:
        terminal.show_unmet(run)
    else:
        terminal.show(run, explain=explain, told=told)
        _show_judge(run)


def _show_judge(run: Run) -> None:
    """Say what the verdicts of judges took, if any was asked."""
    from trajgrade.judging.usage import spent

    taken = str(spent(result for row in run.rows for result in row.results.values()))
    if taken:
        click.echo(taken)


def _summed_up(run: Run) -> None:
    from trajgrade.report import markdown

    sum_up(lambda path: markdown.append(run, path))


def _files(config: Config) -> list[File]:
    where = config.dataset
    if isinstance(where, str) and where.startswith((SAMPLE, RUN, DATASET)):
        return []
    paths = where.path if isinstance(where, DatasetFiles) else where
    return [source.path for source in find(paths)]
