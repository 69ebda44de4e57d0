"""EvaluationResult: what one evaluator says of one example.

A result has a score, or it has an `error` of a kind, never both: what could not be evaluated is
kept apart from what was evaluated and found bad. SEMANTICS A12 lists the kinds.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import msgspec

from trajgrade.jsontext import dumps, read_back

NotEvaluatedKind = Literal[
    "no_reference", "no_output", "undefined", "not_run", "agent_failed", "unreadable_verdict"
]
ErrorKind = Literal["trace", "judge", "evaluator"]
NOT_EVALUATED: frozenset[str] = frozenset(get_args(NotEvaluatedKind))
ERRORS: frozenset[str] = frozenset(get_args(ErrorKind))


class ResultError(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a result has no score."""

    kind: NotEvaluatedKind | ErrorKind
    message: str
    traceback: str = ""

    @property
    def not_evaluated(self) -> bool:
        """Whether nothing went wrong: there was just nothing that could be scored."""
        return self.kind in NOT_EVALUATED


class AgentError(msgspec.Struct, frozen=True, omit_defaults=True):
    """How the agent failed on a row."""

    type: str
    message: str
    traceback: str = ""

    def __str__(self) -> str:
        """Return type and message."""
        return f"{self.type}: {self.message}"


class EvaluationResult(msgspec.Struct, frozen=True):
    """What one evaluator says of one example.

    Attributes:
        key: The metric's name.
        score: In [0, 1] for built-in evaluators, higher is better; any finite number for others;
            None where there is none, then `error` says why.
        value: The raw verdict: a bool, a label, a number.
        comment: Why, in a line.
        metadata: The evidence.
        error: None, or the kind and message of what kept it from being scored.
    """

    key: str
    score: float | None = None
    value: Any = None
    comment: str = ""
    metadata: dict[str, Any] = msgspec.field(default_factory=dict)
    error: ResultError | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain objects, `error` being None or a dict."""
        plain: dict[str, Any] = msgspec.to_builtins(self, builtin_types=(float, int), enc_hook=repr)
        return plain

    def to_json(self) -> bytes:
        """Return JSON text that `from_json` reads back as an equal result."""
        return dumps(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> EvaluationResult:
        """Read what `to_json` wrote."""
        return msgspec.convert(read_back(text), cls)


def not_evaluated(
    key: str, kind: NotEvaluatedKind, message: str, metadata: dict[str, Any] | None = None
) -> EvaluationResult:
    """Return a result without score because there was nothing that could be scored."""
    return EvaluationResult(
        key, comment=message, metadata=metadata or {}, error=ResultError(kind, message)
    )
