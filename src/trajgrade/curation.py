"""Curation: which rows of a run are kept for a dataset, and what people's labels come to.

    trajectory_match < 1
    trajectory_match < 1 and latency_in_seconds > 2
    correctness is judge or failure = 1

A comparison names a metric, `latency_in_seconds` or `failure`, and a number; one with `is` names
what kept a row from being scored: a kind (`judge`, `no_reference`, …), `error`, `not_evaluated`, or
`scored`. `and` binds before `or`. A row without a score fits no comparison with a number, so that
`trajectory_match < 1` does not collect what could not be graded.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from trajgrade.errors import ConfigError, unknown
from trajgrade.matching.values import canonical
from trajgrade.result import ERRORS, NOT_EVALUATED
from trajgrade.run import Row

_PART = re.compile(
    r"\s*(?P<key>[^\s<>=!]{1,200})\s*"
    r"(?:(?P<op><=|>=|==|=|!=|<|>)\s*(?P<number>[^\s]{1,40})|is\s+(?P<kind>\w{1,40}))\s*"
)
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "=": operator.eq, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_MEASURED = ("latency_in_seconds", "failure")
_GROUPS = {
    "error": ERRORS,
    "not_evaluated": NOT_EVALUATED,
    **{kind: frozenset({kind}) for kind in ERRORS | NOT_EVALUATED},
}
KINDS = ("scored", *sorted(_GROUPS))
TOLERANCE = 1e-9


class Comparison(NamedTuple):
    """One comparison."""

    key: str
    op: str
    number: float
    kind: str

    def holds(self, row: Row) -> bool:
        """Whether a row fits."""
        if self.key in _MEASURED:
            value = getattr(row, self.key)
            return value is not None and self._compared(float(value))
        result = row.results.get(self.key)
        if result is None:
            return False
        if self.kind:
            if self.kind == "scored":
                return result.score is not None
            return result.error is not None and result.error.kind in _GROUPS[self.kind]
        return result.score is not None and self._compared(result.score)

    def _compared(self, value: float) -> bool:
        near = abs(value - self.number) <= TOLERANCE
        if near:
            return self.op in ("=", "==", "<=", ">=")
        return _OPERATORS[self.op](value, self.number)


class Where:
    """Which rows of a run are meant.

    Args:
        text: The expression.
        keys: The metrics that there are; None checks no name.

    Raises:
        ConfigError: It is no such expression, or names a metric that there is not.
    """

    def __init__(self, text: str, keys: Collection[str] | None = None) -> None:
        self._any = [
            [_test(part, keys) for part in re.split(r"\s+and\s+", group)]
            for group in re.split(r"\s+or\s+", text.strip())
        ]

    def __call__(self, row: Row) -> bool:
        """Whether a row is meant."""
        return any(all(test.holds(row) for test in group) for group in self._any)


def _test(text: str, keys: Collection[str] | None) -> Comparison:
    found = _PART.fullmatch(text)
    if found is None:
        raise ConfigError(
            f"where: {text.strip()!r} is no comparison: write `metric < 0.5`, or "
            "`metric is error`, several joined by `and`, `or`"
        )
    key, op, number, kind = found["key"], found["op"] or "", found["number"], found["kind"] or ""
    if keys is not None and key not in keys and key not in _MEASURED:
        raise ConfigError(f"where: {unknown('metric', key, [*keys, *_MEASURED])}")
    if kind and kind not in KINDS:
        raise ConfigError(f"where: {key} is {kind}: {unknown('kind', kind, KINDS)}")
    try:
        value = float(number) if number is not None else 0.0
    except ValueError:
        raise ConfigError(f"where: {key} {op}: a number is needed, got {number!r}") from None
    if value != value:  # noqa: PLR0124 a NaN is the number that is not
        raise ConfigError(f"where: {key} {op}: a number is needed, got {number!r}")
    return Comparison(key, op, value, kind)


# ------------------------------------------------------------------------------ people's labels


class Consensus(NamedTuple):
    """What several people's labels of one example come to.

    Attributes:
        value: The label that more of them gave than any other; None where two tie, or there is
            none.
        agreement: The share of the labels that are this one; 0 where there is none.
        n_labels: How many labels there are.
    """

    value: Any
    agreement: float
    n_labels: int


def consensus(labels: Sequence[Any]) -> Consensus:
    """Return the majority of several labels.

    Labels are equal as arguments are (SEMANTICS A2); a label that is None is none. A tie has no
    majority: nobody's label is taken at random.
    """
    given = [label for label in labels if label is not None]
    counts: Counter[Hashable] = Counter(canonical(label) for label in given)
    if not counts:
        return Consensus(None, 0.0, 0)
    (first, most), *others = counts.most_common(2)
    share = most / len(given)
    if others and others[0][1] == most:
        return Consensus(None, share, len(given))
    won = next(label for label in given if canonical(label) == first)
    return Consensus(won, share, len(given))


class Annotated(NamedTuple):
    """Rows with people's labels in them.

    Attributes:
        rows: The rows that got a label: it stands in the field, with `agreement` and `n_labels`.
        tied: The ids whose labels have no majority.
        unknown: The ids of labels that no row has.
    """

    rows: list[dict[str, Any]]
    tied: list[str]
    unknown: list[str]


def annotated(
    rows: Iterable[Mapping[str, Any]], labels: Iterable[tuple[str, Any]], field: str
) -> Annotated:
    """Put the majority of people's labels into rows.

    Args:
        rows: The rows, each with an id.
        labels: An id and a label, one for each person and row.
        field: Where the label goes, for example `reference_outputs`.
    """
    by_id: dict[str, list[Any]] = {}
    for name, label in labels:
        by_id.setdefault(name, []).append(label)
    found: list[dict[str, Any]] = []
    tied: list[str] = []
    for row in rows:
        name = str(row.get("id"))
        if name not in by_id:
            continue
        agreed = consensus(by_id.pop(name))
        if agreed.value is None:
            tied.append(name)
            continue
        told = {"agreement": agreed.agreement, "n_labels": agreed.n_labels}
        found.append({**row, field: agreed.value, **told})
    return Annotated(found, tied, [*by_id])
