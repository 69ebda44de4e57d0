"""Origin: traces of trajgrade's own work, which rules are not asked of.

A judge whose calls are traced by OpenTelemetry, and exported to the server that the worker works
for, would be judged itself, and that judgement once more, without end. A worker marks what it
exports by the resource attribute `trajgrade.origin`; a rule is asked of a trace that has it only
where its `when` looks at `trajgrade.origin`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from trajgrade.automation.rules import Rule

ATTRIBUTE = "trajgrade.origin"
AUTOMATION = "automation"

_RESOURCES = "OTEL_RESOURCE_ATTRIBUTES"  # the variable that every OpenTelemetry SDK reads


def mark(environ: MutableMapping[str, str]) -> None:
    """Have what this process exports be known as trajgrade's own.

    Args:
        environ: The environment of the process.
    """
    given = [
        part
        for part in environ.get(_RESOURCES, "").split(",")
        if part.strip() and part.partition("=")[0].strip() != ATTRIBUTE
    ]
    environ[_RESOURCES] = ",".join([*given, f"{ATTRIBUTE}={AUTOMATION}"])


def origin_of(trace: Any) -> str | None:
    """Return what made a trace, where that was trajgrade itself; None where it was not.

    Args:
        trace: The trace; of OTLP, every resource must have the attribute.
    """
    if not isinstance(trace, Mapping):
        return None
    own = trace.get(ATTRIBUTE)
    if isinstance(own, str):
        return own
    resources = trace.get("resourceSpans", trace.get("resource_spans"))
    if not isinstance(resources, list) or not resources:
        return None
    found = [dict(_attributes(resource)).get(ATTRIBUTE) for resource in resources]
    return found[0] if all(isinstance(one, str) for one in found) else None


def _attributes(resource: Any) -> Iterator[tuple[Any, Any]]:
    held = resource.get("resource") if isinstance(resource, Mapping) else None
    listed = held.get("attributes") if isinstance(held, Mapping) else None
    for one in listed if isinstance(listed, list) else ():
        value = one.get("value") if isinstance(one, Mapping) else None
        if isinstance(value, Mapping) and isinstance(one.get("key"), str):
            yield one["key"], value.get("stringValue", value.get("string_value"))


def asks_for_own(rule: Rule) -> bool:
    """Whether a rule looks at what made a trace, and so is asked of trajgrade's own."""
    return any(path == ATTRIBUTE for path in rule.when.fields)
