"""Written: what a config says of its judge: who it is, and what was measured of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trajgrade.aligned import read_alignments
from trajgrade.errors import ConfigError, shorten, unknown
from trajgrade.judging.settings import judge_settings

_JUDGES = ("judge", "ai_support", "judge_alignment")
_ALIGNMENT = ("report", "ai_support")


def take_judge(found: dict[str, Any], placed: Callable[[str], Any], *, look: bool) -> list[str]:
    """Put a judge's settings, and the path of its report, in place of what is written.

    Args:
        found: The config, of which the keys that name a judge are replaced.
        placed: Makes a path that is relative to the config's file one from here.
        look: Whether the report is read.

    Returns:
        What is wrong.
    """
    given = {key: found.pop(key) for key in _JUDGES if key in found}
    block = given.pop("judge_alignment", None) or {}
    faults = [
        f"judge_alignment.{key}: {unknown('key', key, _ALIGNMENT)}"
        for key in block
        if key not in _ALIGNMENT
    ]
    if "report" in block:
        faults += _take_report(found, block["report"], placed, look=look)
    if "ai_support" in block:
        given["judge_alignment"] = {"ai_support": block["ai_support"]}
    if "judge" in given and len(given) > 1:
        faults.append("judge: give this or ai_support, not both")
    elif given:
        try:
            found["judge"] = judge_settings(given, "")
        except ConfigError as wrong:
            faults += wrong.faults
    return faults


def _take_report(
    found: dict[str, Any], report: Any, placed: Callable[[str], Any], *, look: bool
) -> list[str]:
    if not isinstance(report, str):
        return [f"judge_alignment.report: a path is needed, got {shorten(report)}"]
    found["judge_alignment"] = {"report": str(placed(report))}
    if not look:
        return []
    try:
        read_alignments(found["judge_alignment"]["report"])
    except ConfigError as wrong:
        return list(wrong.faults)
    return []
