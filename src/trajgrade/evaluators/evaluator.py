"""Evaluator: the convenient parent of evaluators, with the call, the event loop and the fields.

A subclass writes `evaluate`, or `aevaluate` where it waits for something, and gets the other from
here. trajgrade's own evaluators are frozen dataclasses, so that their parameters are their repr,
their equality and their YAML form.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

from trajgrade.contracts import Reads
from trajgrade.errors import ConfigError, shorten, unknown
from trajgrade.result import EvaluationResult, NotEvaluatedKind, not_evaluated


class Evaluator:
    """Outputs and reference → EvaluationResult.

    Attributes:
        key: The metric's name.
        reads: What `outputs` should be: a `Trajectory`, the final `response`, or what the dataset
            holds, `raw`.
        range: The lowest and highest score, None where there is none.
        direction: Whether `higher` or `lower` scores are better; None where neither is.
        needs_reference: Whether a row without a reference is not evaluated.
        reads_row: Whether it is given all fields of the row, as `row`.
    """

    key: str = "evaluator"
    reads: ClassVar[Reads] = "raw"
    range: ClassVar[tuple[float, float] | None] = None
    direction: ClassVar[Literal["higher", "lower"] | None] = None
    needs_reference: ClassVar[bool] = False
    reads_row: ClassVar[bool] = False

    def evaluate(
        self,
        *,
        outputs: Any = None,
        reference_outputs: Any = None,
        inputs: Any = None,
        **extra: Any,
    ) -> EvaluationResult:
        """Grade one example.

        Args:
            outputs: What the agent produced: a trace in any shape, a text, a structure.
            reference_outputs: What was expected.
            inputs: What the agent was asked.
            extra: What else the example holds, by name.

        Raises:
            TraceError: The outputs or the reference should be a trace and cannot be read.
        """
        if type(self).aevaluate is Evaluator.aevaluate:
            raise TypeError(f"{type(self).__name__} must define evaluate() or aevaluate()")
        import asyncio

        waiting = self.aevaluate(
            outputs=outputs, reference_outputs=reference_outputs, inputs=inputs, **extra
        )
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(waiting)
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, waiting).result()

    async def aevaluate(
        self,
        *,
        outputs: Any = None,
        reference_outputs: Any = None,
        inputs: Any = None,
        **extra: Any,
    ) -> EvaluationResult:
        """Grade one example, in an event loop; see `evaluate`."""
        return self.evaluate(
            outputs=outputs, reference_outputs=reference_outputs, inputs=inputs, **extra
        )

    def prepare(self) -> None:
        """Import or load what it needs; a run does so before its first row.

        Raises:
            MissingExtraError: A package that it needs is not installed.
        """

    def __call__(self, **example: Any) -> EvaluationResult:
        """Grade one example; see `evaluate`."""
        return self.evaluate(**example)

    def __getstate__(self) -> Any:
        """Leave out what is cached: a loaded model or compiled schema cannot be pickled."""
        state = super().__getstate__()
        if not isinstance(state, dict):
            return state
        kind = type(self)
        return {
            name: value
            for name, value in state.items()
            if not isinstance(getattr(kind, name, None), cached_property)
        }

    def unscored(
        self, kind: NotEvaluatedKind, message: str, metadata: dict[str, Any] | None = None
    ) -> EvaluationResult:
        """Return a result that says why there is nothing to score."""
        return not_evaluated(self.key, kind, message, metadata)


def check_choice(name: str, value: object, choices: Any) -> None:
    """Refuse a value that is no member of a `Literal`.

    Raises:
        ConfigError: It is none; the message names the nearest.
    """
    allowed = get_args(choices)
    if value not in allowed:
        raise ConfigError(f"{name}: {unknown('choice', value, [str(c) for c in allowed])}")


def described(evaluator: Any) -> str:
    """Write an evaluator with those of its parameters that are not the default."""
    if not is_dataclass(evaluator):
        shows = getattr(type(evaluator), "__repr__", None) is not object.__repr__
        return repr(evaluator) if shows else _unshown(evaluator)
    given = []
    for parameter in fields(evaluator):
        value = getattr(evaluator, parameter.name)
        if parameter.init and value != parameter.default and parameter.name != "key":
            given.append(f"{parameter.name}={shorten(value, 200)}")
    return f"{type(evaluator).__name__}({', '.join(given)})"


def _unshown(evaluator: Any) -> str:
    """Write one that shows only its address, the same in every process: its class.

    Behind it, what tells it from others of its class: a mark of its parameters, which may be
    secrets, where they are plain.
    """
    name = f"{type(evaluator).__module__}.{type(evaluator).__qualname__}"
    try:
        plain = json.dumps(vars(evaluator), sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return name
    return f"{name}#{hashlib.sha256(plain.encode(errors='replace')).hexdigest()[:8]}"


def takes(function: Any) -> frozenset[str]:
    """Return the names of the parameters of a function; `**` stands for any."""
    return frozenset(
        "**" if parameter.kind is parameter.VAR_KEYWORD else name
        for name, parameter in inspect.signature(function).parameters.items()
    )
