"""What a flag holds that is more than a word.

    -e NAME                             trajectory_f1
    -e NAME:param=value,param=value     trajectory_match:mode=unordered,deep=true
    -e KEY=NAME:…                       strict=trajectory_match:mode=strict
    --threshold METRIC[/STAT]>=BOUND    trajectory_f1/p90>=0.8

A value is JSON if the whole of it is JSON (a number, `true`, `false`, `null`, or what begins with
`[`, `{` or a quote), else text as it stands. A comma begins a new parameter only where `name=`
follows, and not inside JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from trajgrade.errors import ConfigError

_NAMED = re.compile(r"(?:(?P<key>[^=:]+)=)?(?P<name>[^=:]+)(?::(?P<params>.*))?", re.DOTALL)
_PARAMETER = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*=")
_NEXT = re.compile(r",(?=\s*[A-Za-z_]\w*\s*=)")
_THRESHOLD = re.compile(r"(?P<metric>.+?)\s*(?P<bound>(?:>=|<=|>|<|=).*)", re.DOTALL)
_DECODER = json.JSONDecoder()


def evaluator(text: str) -> dict[str, Any]:
    """Return the long spelling of an evaluator.

    Raises:
        ConfigError: The text has not the form of one.
    """
    found = _NAMED.fullmatch(text.strip())
    if found is None:
        raise ConfigError(f"-e {text}: write NAME, NAME:param=value,… or KEY=NAME:param=value,…")
    spelt: dict[str, Any] = {"name": found["name"].strip(), "params": {}}
    if found["key"]:
        spelt["key"] = found["key"].strip()
    for name, value in _parameters(found["params"] or "", text):
        if name in spelt["params"]:
            raise ConfigError(f"-e {text}: {name} is given twice")
        spelt["params"][name] = value
    return spelt


def _parameters(text: str, whole: str) -> Iterator[tuple[str, Any]]:
    place = 0
    while place < len(text):
        head = _PARAMETER.match(text, place)
        if head is None:
            raise ConfigError(f"-e {whole}: expected param=value, got {text[place:]!r}")
        end = _end(text, head.end())
        yield head["name"], value(text[head.end() : end])
        place = end + 1


def _end(text: str, start: int) -> int:
    """Return where the value that starts there ends."""
    begin = len(text) - len(text[start:].lstrip())
    if text[begin : begin + 1] in ("[", "{", '"'):
        try:
            _, end = _DECODER.raw_decode(text, begin)
        except ValueError:
            pass  # a brace in a text is no broken JSON
        else:
            if end == len(text) or _NEXT.match(text, end):
                return end
    comma = _NEXT.search(text, start)
    return comma.start() if comma else len(text)


def value(text: str) -> Any:
    """Return the value that a text means: JSON, if all of it is, else the text."""
    try:
        return msgspec.json.decode(text)
    except ValueError:
        return text


def threshold(text: str) -> tuple[str, Any]:
    """Return the metric, with its statistic, and the bound.

    Raises:
        ConfigError: There is no comparison in the text.
    """
    found = _THRESHOLD.fullmatch(text.strip())
    if found is None:
        raise ConfigError(f"--threshold {text}: write METRIC>=0.8, or METRIC/STAT<=2")
    return found["metric"], found["bound"].removeprefix("=")


def gate(text: str) -> dict[str, Any]:
    """Read `METRIC[:MARGIN]`; a key may hold colons itself."""
    metric, colon, margin = text.rpartition(":")
    if not colon:
        return {"metric": text}
    try:
        return {"metric": metric, "margin": float(margin)}
    except ValueError:
        return {"metric": text}
