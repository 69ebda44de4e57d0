"""`trajgrade power`: how small a difference so many examples can show, and how many it takes."""

from __future__ import annotations

import math
import sys
from typing import Any

import click

from trajgrade.errors import ConfigError
from trajgrade.jsontext import dumps

_ROWS = (20, 50, 100, 200, 500, 1000, 2000, 5000)


@click.command
@click.argument("runs", nargs=-1, metavar="[BASE NEW]")
@click.option("--metric", help="Which metric of the runs.")
@click.option(
    "--sd", type=click.FloatRange(min=0, min_open=True),
    help="The standard deviation of the examples' differences between two runs.",
)  # fmt: skip
@click.option(
    "--differing", type=click.FloatRange(0, 1, min_open=True),
    help="Of pass or fail: the share of examples that pass in one run only.",
)  # fmt: skip
@click.option("--examples", type=click.IntRange(min=2), help="How many examples there are.")
@click.option(
    "--difference", type=click.FloatRange(min=0, min_open=True),
    help="The difference that is to be shown.",
)  # fmt: skip
@click.option(
    "--power", "wanted", type=click.FloatRange(0.5, 0.999), default=0.8, show_default=True,
    help="How often a difference that is there is to be shown.",
)  # fmt: skip
@click.option("--level", type=click.FloatRange(0.5, 0.9999), default=0.95, show_default=True)
@click.option("--store", metavar="ADDRESS", help="Where run:ID is looked up.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, nothing else.")
def power(runs: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Say how small a difference can be shown, and how many examples show one.

    How much examples differ by chance is told by --sd or --differing, or learnt from two runs.
    """
    from trajgrade.power import detectable, needed

    deviation, examples, source = _deviation(runs, given)
    wanted, level, difference = given["wanted"], given["level"], given["difference"]
    counts = [examples] if examples else list(_ROWS)
    table = {n: detectable(deviation, n, wanted, level) for n in counts}
    enough = None if difference is None else needed(difference, deviation, wanted, level)
    if as_json:
        plain = {
            "sd": deviation, "power": wanted, "level": level,
            "detectable": [{"examples": n, "difference": d} for n, d in table.items()],
            **({"difference": difference, "needed": enough} if difference is not None else {}),
        }  # fmt: skip
        sys.stdout.write(f"{dumps(plain, indent=2).decode()}\n")
        return
    click.echo(f"Differences of examples have a standard deviation of {deviation:.3g}{source}.")
    click.echo(f"At {level:.0%} confidence, a true difference is shown {wanted:.0%} of the time by")
    for n, smallest in table.items():
        click.echo(f"{n:>8,} examples, if it is {smallest:.3g} or more")
    if difference is not None:
        much = "more than 10^9" if enough is None else f"{enough:,}"
        click.echo(f"A difference of {difference:g} needs {much} examples.")


def _deviation(runs: tuple[str, ...], given: dict[str, Any]) -> tuple[float, int | None, str]:
    """Return the standard deviation, the number of examples if it is known, and whence."""
    told = [name for name in ("sd", "differing") if given[name] is not None]
    if len(told) + bool(runs) != 1 or len(runs) not in (0, 2):
        raise ConfigError("give one of: --sd, --differing, or the two runs BASE and NEW")
    if given["sd"] is not None:
        return given["sd"], given["examples"], ""
    if given["differing"] is not None:
        shift = given["difference"] or 0.0
        if shift > given["differing"]:
            raise ConfigError(
                f"--difference {shift:g}: pass rates differ by no more than --differing "
                f"{given['differing']:g}"
            )
        return math.sqrt(given["differing"] - shift**2), given["examples"], ""
    return _learnt(runs, given)


def _learnt(runs: tuple[str, ...], given: dict[str, Any]) -> tuple[float, int | None, str]:
    import numpy as np

    from trajgrade.comparison.comparing import compare
    from trajgrade.errors import unknown

    found = compare(*runs, resamples=100, store=given["store"])
    metric = str(given["metric"] or next(iter(found.metrics), ""))
    if metric not in found.metrics:
        raise ConfigError(f"--metric: {unknown('metric', metric, [*found.metrics])}")
    differences = found.paired(metric).differences
    deviation = float(np.std(differences, ddof=1)) if len(differences) > 1 else 0.0
    if not deviation:
        raise ConfigError(f"{metric}: the runs' examples do not differ, so that no spread is known")
    return deviation, given["examples"] or len(differences), f" in {metric} between the runs"
