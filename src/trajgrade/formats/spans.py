"""A span as far as it tells of an agent, and which spans are parts, copies and runs of others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Literal

import msgspec

from trajgrade.formats.arguments import parsed
from trajgrade.formats.message_pieces import Asked
from trajgrade.formats.utterances import Said
from trajgrade.telemetry import Usage
from trajgrade.trajectory import CallStatus

MERGED = "(merged tools)"
"""What ADK calls the span that stands for the results of parallel calls together: no call."""

Kind = Literal["model", "tool", "agent", "other"]


Count = tuple[str | None, Usage | None]


class Span(msgspec.Struct, gc=False):
    """One span, as far as it tells of an agent.

    Attributes:
        id: Its id.
        parent: The id of the span that it is part of.
        name: Its name, for messages only.
        kind: What it is.
        began: When it began.
        ended: When it ended.
        told: What the model was told.
        said: What the model, or the agent, said.
        tool: The tool's name.
        raw: The arguments that the tool got; UNSET where they are not recorded.
        key: The id of the call.
        result: What the tool gave back.
        status: Whether the tool succeeded.
        agent: The agent, where the span names one.
        outputs: Names of tools by which the model gives its output.
        counted: A function, and what it reads the model's name and the tokens from, where the
            span may tell them: they are read when they are asked for.
    """

    id: str
    parent: str | None = None
    name: str = ""
    kind: Kind = "other"
    began: datetime | None = None
    ended: datetime | None = None
    told: list[Said] = []
    said: list[Said] = []
    tool: str = ""
    raw: Any = msgspec.UNSET
    key: str | None = None
    result: Any = None
    status: CallStatus = "unknown"
    agent: str | None = None
    outputs: frozenset[str] = frozenset()
    counted: tuple[Callable[[Any], Count], Any] | None = None


class Tree:
    """The spans by their parents, in the order of time.

    A span that stands there twice, as exporters send it again that had no answer, counts once. Of
    others with one id the first is the parent of what is inside.

    Attributes:
        roots: Those that are inside no other.
        copies: How many were left out.
    """

    def __init__(self, spans: Iterable[Span]) -> None:
        # `sorted` is stable: spans that began together stay as they were.
        ordered = sorted(spans, key=time_of)
        self._known: dict[str, Span] = {}
        self.copies = 0
        apart: list[Span] = []
        for span in ordered:
            first = self._known.setdefault(span.id, span)
            if first is not span and first == span:
                self.copies += 1
            else:
                apart.append(span)
        self._inner: dict[str, list[Span]] = {}
        self.roots: list[Span] = []
        circular: dict[str, bool] = {}
        for span in apart:
            if span.parent in self._known and not self._is_circular(span, circular):
                self._inner.setdefault(str(span.parent), []).append(span)
            else:
                self.roots.append(span)

    def inner(self, span: Span) -> list[Span]:
        """Return the spans directly inside one."""
        found = self._inner.get(span.id)
        return found if found and self._known[span.id] is span else []

    def _is_circular(self, span: Span, told: dict[str, bool]) -> bool:
        """Whether one comes back to a span that was passed, going up from parent to parent."""
        met: dict[str, None] = {}
        above: str | None = span.id
        while above in self._known and above not in told:
            if above in met:
                break
            met[str(above)] = None
            above = self._known[str(above)].parent
        found = above in met or told.get(str(above), False)
        told.update(dict.fromkeys(met, found))
        return found


def time_of(span: Span) -> float:
    """Return when it began, to be sorted by."""
    return span.began.timestamp() if span.began else 0.0


def before(span: Span, other: Span) -> bool:
    """Whether it is known to have begun before the other."""
    return span.began is not None and other.began is not None and span.began < other.began


def is_wrapped(part: Span, span: Span) -> bool:
    """Whether the tool span inside another is the same call."""
    unknown = part.raw is msgspec.UNSET or span.raw is msgspec.UNSET
    return part.tool == span.tool and (unknown or _value(span.raw) == _value(part.raw))


def fill(inner: list[Span], outer: Span) -> None:
    """Give the inner model calls what only the outer one recorded."""
    inner[0].told = inner[0].told or outer.told
    known = [call for said in outer.said for call in said.calls]
    found = [call for span in inner for said in span.said for call in said.calls]
    if [call.name for call in known] != [call.name for call in found]:
        return
    better = iter(known)
    for span in inner:
        span.said = [
            said._replace(calls=tuple(_richer(call, next(better)) for call in said.calls))
            for said in span.said
        ]


def _richer(call: Asked, other: Asked) -> Asked:
    raw = other.raw if call.raw is msgspec.UNSET else call.raw
    return call._replace(raw=raw, key=call.key or other.key)


def _value(raw: Any) -> Any:
    if isinstance(raw, str):
        return parsed(raw, "", [])[0]
    return raw if raw is not None else {}


def _same_id(call: Asked, span: Span) -> bool:
    return call.key is not None and call.key == span.key


def _same_arguments(call: Asked, span: Span) -> bool:
    return _same_name(call, span) and _value(call.raw) == _value(span.raw)


def _same_name(call: Asked, span: Span) -> bool:
    return call.name == span.tool and (call.key is None or span.key is None)


def _same_value(call: Asked, span: Span) -> bool:
    """Whether a recorder gave the call an id of its own."""
    known = call.raw is not msgspec.UNSET and span.raw is not msgspec.UNSET
    return known and call.name == span.tool and _value(call.raw) == _value(span.raw)


RULES = (_same_id, _same_arguments, _same_name, _same_value)


class Free:
    """The tool spans that no call is known to have been run by, in order, found by id and by name.

    Args:
        spans: All of them, in order.
    """

    def __init__(self, spans: Iterable[Span]) -> None:
        self._by_key: dict[str | None, dict[int, Span]] = {}
        self._by_tool: dict[str, dict[int, Span]] = {}
        for span in spans:
            self._by_key.setdefault(span.key, {})[id(span)] = span
            self._by_tool.setdefault(span.tool, {})[id(span)] = span

    def of(self, call: Asked, rule: Any) -> Iterable[Span]:
        """Return those that may fit a call by a rule: of its id, else of its name."""
        if rule is _same_id:
            return () if call.key is None else self._by_key.get(call.key, {}).values()
        return self._by_tool.get(call.name, {}).values()

    def take(self, span: Span) -> None:
        """Leave out one that a call was found for."""
        del self._by_key[span.key][id(span)]
        del self._by_tool[span.tool][id(span)]
