"""Tool calls that a response writes as JSON, against the reference's: Vertex AI's four metrics.

    {"content": "", "tool_calls": [{"name": "book", "arguments": {"film": "Alien", "seats": 2}}]}

The i-th call is compared with the reference's i-th, and what one side has more counts as 0: the
score is the mean over the larger number of calls. (Vertex AI looks at the first call only.)

    tool_call_valid            1 if there is a call, and each has a name and an object of arguments
    tool_name_match            the names are equal
    tool_parameter_key_match   of the arguments of both, the share that both have
    tool_parameter_kv_match    … and with an equal value (SEMANTICS A2)

Arguments are compared between calls of one name only. Two sides without calls score 1, one 0. A
response that writes no calls this way scores 0, unless the run's trace has them; a reference that
does not is an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from trajgrade.contracts import Reads
from trajgrade.errors import MalformedTraceError, TraceError, shorten
from trajgrade.evaluators.evaluator import Evaluator
from trajgrade.evaluators.wording import count, plain, shown
from trajgrade.jsontext import loads
from trajgrade.matching.values import MISSING, same
from trajgrade.result import EvaluationResult
from trajgrade.trajectory import Trajectory


class Call(NamedTuple):
    """One call as it is written."""

    name: str
    arguments: Mapping[str, Any]


class _WrittenCalls(Evaluator):
    """What the four share."""

    reads: ClassVar[Reads] = "raw"
    range: ClassVar[tuple[float, float] | None] = (0.0, 1.0)
    direction: ClassVar[Literal["higher", "lower"] | None] = "higher"

    def result(
        self, score: float, comment: str, calls: Sequence[Call] = (), expected: Sequence[Call] = ()
    ) -> EvaluationResult:
        """Return a result with the evidence that all four have."""
        metadata = {"calls": len(calls), "reference_calls": len(expected)}
        return EvaluationResult(self.key, score, score == 1, comment, metadata)


@dataclass(frozen=True)
class ToolCallValid(_WrittenCalls):
    """1 if the response writes at least one call, and all of them well, else 0."""

    key: str = "tool_call_valid"

    def evaluate(
        self,
        *,
        outputs: Any = None,
        reference_outputs: Any = None,
        inputs: Any = None,
        response: Any = None,
        **extra: Any,
    ) -> EvaluationResult:
        """Read the calls.

        Args:
            outputs: The response as JSON text or object, or a trace.
            reference_outputs: Not read.
            inputs: Not read.
            response: The response, where the outputs are a trace.
            extra: Not read.
        """
        if outputs is None and response is None:
            return self.unscored("no_output", "there are no outputs")
        try:
            calls = calls_of(response, outputs)
        except TraceError as broken:
            return self.result(0.0, str(broken))
        if not calls:
            return self.result(0.0, "the response calls no tool")
        return self.result(1.0, f"{count(len(calls), 'call')}, well written", calls)


class _Compared(_WrittenCalls):
    """Compares call by call. A subclass says how, in `share`."""

    needs_reference: ClassVar[bool] = True
    compares_values: ClassVar[bool] = False

    def evaluate(
        self,
        *,
        outputs: Any = None,
        reference_outputs: Any = None,
        inputs: Any = None,
        response: Any = None,
        reference: Any = None,
        **extra: Any,
    ) -> EvaluationResult:
        """Compare the calls.

        Args:
            outputs: The response as JSON text or object, or a trace.
            reference_outputs: The same of what was expected.
            inputs: Not read.
            response: The response, where the outputs are a trace.
            reference: The expected response, where the reference outputs are a trace.
            extra: Not read.

        Raises:
            TraceError: The reference writes no calls.
        """
        if reference_outputs is None and reference is None:
            return self.unscored("no_reference", "there is no reference")
        if outputs is None and response is None:
            return self.unscored("no_output", "there are no outputs")
        expected = calls_of(reference, reference_outputs)
        try:
            calls = calls_of(response, outputs)
        except TraceError as broken:
            return self.result(0.0, str(broken), (), expected)
        most = max(len(calls), len(expected))
        if not most:
            return self.result(1.0, "neither side calls a tool")
        pairs = list(zip(calls, expected, strict=False))
        shares = [self.share(*pair) for pair in pairs]
        comment = f"{count(len(calls), 'call')} against {len(expected)}"
        for at, (share, (got, want)) in enumerate(zip(shares, pairs, strict=True)):
            if share < 1:
                comment += f"; call {at}: {self.difference(got, want)}"
                break
        return self.result(sum(shares) / most, comment, calls, expected)

    def share(self, got: Call, want: Call) -> float:
        """Return how much of one call agrees."""
        raise NotImplementedError(type(self).__name__)

    def difference(self, got: Call, want: Call) -> str:
        """Say what does not."""
        if got.name != want.name:
            return f"expected {plain(want.name)}, got {plain(got.name)}"
        for key in (*want.arguments, *got.arguments):
            ours, theirs = got.arguments.get(key, MISSING), want.arguments.get(key, MISSING)
            if ours is MISSING or theirs is MISSING:
                side = "is missing" if ours is MISSING else "was not expected"
                return f"{plain(f'{want.name}.{key}')} {side}"
            if self.compares_values and not same(ours, theirs):
                place = plain(f"{want.name}.{key}")
                return f"{place}: expected {shown(theirs)}, got {shown(ours)}"
        return "no difference"


@dataclass(frozen=True)
class ToolNameMatch(_Compared):
    """The share of calls whose names are equal, one by one."""

    key: str = "tool_name_match"

    def share(self, got: Call, want: Call) -> float:
        """Return 1 for equal names."""
        return float(got.name == want.name)


@dataclass(frozen=True)
class ToolParameterKeyMatch(_Compared):
    """The share of arguments that both have, whatever their values."""

    key: str = "tool_parameter_key_match"

    def share(self, got: Call, want: Call) -> float:
        """Return the share of names that both have."""
        if got.name != want.name:
            return 0.0
        every = got.arguments.keys() | want.arguments.keys()
        both = got.arguments.keys() & want.arguments.keys()
        return len(both) / len(every) if every else 1.0


@dataclass(frozen=True)
class ToolParameterKVMatch(_Compared):
    """The share of arguments that both have, with equal values."""

    compares_values: ClassVar[bool] = True

    key: str = "tool_parameter_kv_match"

    def share(self, got: Call, want: Call) -> float:
        """Return the share of arguments that agree."""
        if got.name != want.name:
            return 0.0
        every = got.arguments.keys() | want.arguments.keys()
        ours, theirs = got.arguments, want.arguments
        agree = [k for k in every if k in ours and k in theirs and same(ours[k], theirs[k])]
        return len(agree) / len(every) if every else 1.0


def calls_of(response: Any, outputs: Any) -> list[Call]:
    """Return the calls that a response writes, or else those of the trace.

    Raises:
        TraceError: The response writes none, and there is no trace.
    """
    if response is None:
        response, outputs = outputs, None
    written = _written(response)
    if written is not None:
        return [_call(raw, at) for at, raw in enumerate(written)]
    trace = response if outputs is None else outputs
    if isinstance(trace, str):
        raise MalformedTraceError(f"no calls in JSON, {_SHAPE}: {shorten(trace)}")
    made = Trajectory.from_any(trace).tool_calls
    return [Call(c.name, c.args if isinstance(c.args, dict) else {"": c.args}) for c in made]


_SHAPE = 'as {"tool_calls": [{"name": …, "arguments": {…}}]}'


def _written(response: Any) -> Sequence[Any] | None:
    """Return the list under `tool_calls`; None where the response is no object that has one."""
    if isinstance(response, str):
        try:
            response = loads(response)
        except ValueError:
            return None
    if not isinstance(response, Mapping) or "tool_calls" not in response or "role" in response:
        return None
    calls = response["tool_calls"]
    if not isinstance(calls, (list, tuple)):
        raise MalformedTraceError(f"tool_calls is no list: {shorten(calls)}")
    return calls


def _call(raw: Any, at: int) -> Call:
    if not isinstance(raw, Mapping):
        raise MalformedTraceError(f"tool_calls[{at}] is no object: {shorten(raw)}")
    name, arguments = raw.get("name"), raw.get("arguments")
    if not isinstance(name, str) or not name:
        raise MalformedTraceError(f"tool_calls[{at}] has no name: {shorten(dict(raw))}")
    if isinstance(arguments, str):
        try:
            arguments = loads(arguments)
        except ValueError:
            raise MalformedTraceError(
                f"tool_calls[{at}], {name}: the arguments are not JSON: {shorten(arguments)}"
            ) from None
    if not isinstance(arguments, Mapping):
        found = "none" if arguments is None else shorten(arguments)
        raise MalformedTraceError(f"tool_calls[{at}], {name}: no object of arguments: {found}")
    return Call(name, arguments)
