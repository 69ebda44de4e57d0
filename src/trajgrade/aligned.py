"""Aligned: what was measured of a judge, kept in a file, and shown beside the runs that ask it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from trajgrade.agreement import corrected, share
from trajgrade.aligning import Criterion, verdicts_of
from trajgrade.alignment import Alignment, Cell, judges_in
from trajgrade.errors import ConfigError, shorten, unknown
from trajgrade.intervals import LEVEL
from trajgrade.jsontext import dumps, read_back
from trajgrade.run import Run

Measured = str | os.PathLike[str] | Iterable[Alignment]

_OWN_RATES = ("judged_rate", "corrected_rate")  # of the run that was measured, not of others
_NAMED = 3


class _File(msgspec.Struct, forbid_unknown_fields=True):
    judge_alignment: list[Alignment]


def alignments_of(
    run: Run, criteria: Iterable[Criterion], *, passes: float, level: float = LEVEL
) -> list[Alignment]:
    """Return what was measured in a run, as it is kept.

    Args:
        run: The run that was measured.
        criteria: What `trajgrade.aligning.align` says of it.
        passes: The least score that counted as a pass.
        level: The confidence of the intervals.
    """
    now = datetime.now(UTC).replace(microsecond=0)
    return [
        Alignment(
            metric=one.key,
            judges=_judges(run, one.key),
            measured_at=now,
            passes=passes,
            level=level,
            estimates={k: v for k, v in one.numbers.items() if k not in _OWN_RATES},
            cells=tuple(Cell(*pair, n) for pair, n in one.confusion.items()),
        )
        for one in criteria
    ]


def save(alignments: Iterable[Alignment], path: str | os.PathLike[str]) -> None:
    """Write what was measured to a JSON file, for `evaluate(judge_alignment=path)`."""
    plain = {"judge_alignment": [one.to_dict() for one in alignments]}
    Path(path).write_bytes(dumps(plain, indent=2) + b"\n")


def read_alignments(measured: Measured, known: Sequence[str] | None = None) -> list[Alignment]:
    """Return what was measured of judges.

    Args:
        measured: A file that `save` wrote, or what is in one.
        known: The metrics of the run that it is for; None where they are not known yet.

    Raises:
        ConfigError: The file cannot be read, or tells of no metric of the run.
    """
    if not isinstance(measured, str | os.PathLike):
        found, where = list(measured), "judge_alignment"
    else:
        found, where = _read(Path(measured)), f"judge_alignment: {measured}"
    strangers = [one.metric for one in found if known is not None and one.metric not in known]
    if known is not None and len(strangers) == len(found):
        what = unknown("metric", strangers[0], known) if strangers else "holds no metric"
        raise ConfigError(f"{where}: {what}")
    return found


def _read(path: Path) -> list[Alignment]:
    try:
        return msgspec.convert(read_back(path.read_bytes()), _File).judge_alignment
    except OSError as broken:
        why = broken.strerror or str(broken)
    except (ValueError, msgspec.ValidationError) as broken:
        why = f"{shorten(str(broken))}; `trajgrade judge align … --save FILE` writes one"
    raise ConfigError(f"judge_alignment: {path}: cannot be read: {why}")


def attached(run: Run, alignments: Sequence[Alignment]) -> Run:
    """Return a run with what was measured of its judges beside its metrics.

    The pass rate of each is corrected for what the judge is known to miss. What was measured of a
    judge that is not the run's is attached all the same, and a warning says so.
    """
    found = [_of_run(run, one) for one in alignments if one.metric in run.summary]
    told = [f"{one.metric}: {one.differs}" for one in found if one.differs]
    if not found:
        named = ", ".join(one.metric for one in alignments)
        told.append(f"judge_alignment: tells of {named}, and the run has no such metric")
    return msgspec.structs.replace(
        run,
        judge_alignment=tuple(found),
        warnings=(*run.warnings, *told),
    )


def _of_run(run: Run, measured: Alignment) -> Alignment:
    verdicts, _ = verdicts_of(run, measured.metric, measured.passes)
    firsts = [found[0] for found in verdicts.values()]
    passed = sum(verdict is True for verdict in firsts)
    pairs = [(cell.label, cell.verdict) for cell in measured.cells for _ in range(cell.n)]
    return msgspec.structs.replace(
        measured,
        judged_rate=share(passed, len(firsts), level=measured.level),
        corrected_rate=corrected(passed, len(firsts), pairs, measured.level),
        differs=_difference(measured, _judges(run, measured.metric)),
    )


def _difference(measured: Alignment, asked: Sequence[str]) -> str:
    others = [judge for judge in asked if judge not in measured.judges]
    if not others or not measured.judges:
        return ""
    return (
        f"its alignment was measured of another judge ({_listed(measured.judges)}) than the one "
        f"asked here ({_listed(others)})"
    )


def _listed(judges: Sequence[str]) -> str:
    more = f" and {len(judges) - _NAMED} more" if len(judges) > _NAMED else ""
    return "; ".join(judges[:_NAMED]) + more


def _judges(run: Run, key: str) -> tuple[str, ...]:
    found: dict[str, Any] = {}
    for row in run.rows:
        result = row.results.get(key)
        if result is not None:
            found |= dict.fromkeys(judges_in(result.metadata))
    return tuple(sorted(found))
