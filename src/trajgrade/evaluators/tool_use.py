"""Tool use (SEMANTICS A7): was a certain tool called, at all or with certain arguments?

No reference is read; order and other calls do not count.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

from trajgrade.contracts import Reads
from trajgrade.errors import ConfigError, near
from trajgrade.evaluators.comparison import Depth, Failed, nested
from trajgrade.evaluators.evaluator import check_choice
from trajgrade.evaluators.part import OfPart
from trajgrade.evaluators.wording import clip, contrast, count, shown
from trajgrade.matching.arguments import ArgsMode, ArgumentRule, CompiledRule
from trajgrade.matching.pairing import Pairing
from trajgrade.result import EvaluationResult
from trajgrade.trajectory import ToolCall


@dataclass(frozen=True)
class ToolUseEvaluator(OfPart):
    """1 if the tool was called, with the expected arguments where some are given, else 0.

    Args:
        expected_tool: The tool's name.
        expected_args: None does not look at arguments; `{}` expects none, whatever the mode;
            otherwise compared by the mode.
        args_match_mode: Read from the agent's side; the default means that every expected key and
            value is in the call. (Potato's default is spelt `subset` and means this.)
        key: The metric's name; `tool_use:<tool>` by default.
        min_calls: How many calls are needed.
        max_calls: How many are allowed; None is any number, and 0 with `min_calls=0` forbids the
            tool.
        failed: Whether calls that failed or never ran `count`, or are left out (`exclude`).
        depth: Of calls that contain others, the `top` ones count, the `leaves`, or `all`.
    """

    reads: ClassVar[Reads] = "trajectory"
    range: ClassVar[tuple[float, float] | None] = (0.0, 1.0)
    direction: ClassVar[Literal["higher", "lower"] | None] = "higher"

    expected_tool: str
    expected_args: Mapping[str, Any] | None = None
    args_match_mode: ArgsMode = "superset"
    key: str = ""
    min_calls: int = field(default=1, kw_only=True)
    max_calls: int | None = field(default=None, kw_only=True)
    failed: Failed = field(default="count", kw_only=True)
    depth: Depth = field(default="top", kw_only=True)

    def __post_init__(self) -> None:
        """Check every choice.

        Raises:
            ConfigError: No tool, or a choice that does not exist, or bounds that nothing meets.
        """
        if not isinstance(self.expected_tool, str) or not self.expected_tool:
            raise ConfigError(f"expected_tool: a tool's name is needed, got {self.expected_tool!r}")
        check_choice("args_match_mode", self.args_match_mode, ArgsMode)
        check_choice("failed", self.failed, Failed)
        check_choice("depth", self.depth, Depth)
        self.check_part()
        if self.expected_args is not None and not isinstance(self.expected_args, Mapping):
            raise ConfigError(f"expected_args: an object is needed, got {self.expected_args!r}")
        most = self.min_calls if self.max_calls is None else self.max_calls
        if not (type(self.min_calls) is type(most) is int and 0 <= self.min_calls <= most):
            raise ConfigError(
                f"min_calls={self.min_calls}, max_calls={self.max_calls}: needed are "
                "0 <= min_calls <= max_calls"
            )
        if not self.key:
            object.__setattr__(self, "key", f"tool_use:{self.expected_tool}")
        if self.args_match_mode == "subset" and self.expected_args:
            warnings.warn(
                "args_match_mode='subset' means that the call's arguments are a part of the "
                "expected ones (SEMANTICS A1); Potato's 'subset' is 'superset' here",
                stacklevel=3,
            )

    @cached_property
    def _rule(self) -> CompiledRule:
        mode: ArgsMode = "exact" if self.expected_args == {} else self.args_match_mode
        if self.expected_args is None:
            mode = "ignore"
        return CompiledRule(ArgumentRule(mode=mode))

    @cached_property
    def _pairing(self) -> Pairing:
        return Pairing((), (), self._rule)

    @property
    def _expected(self) -> ToolCall:
        return ToolCall(self.expected_tool, dict(self.expected_args or {}))

    def evaluate(
        self,
        *,
        outputs: Any = None,
        reference_outputs: Any = None,
        inputs: Any = None,
        **extra: Any,
    ) -> EvaluationResult:
        """Look for the call.

        Args:
            outputs: The agent's trace, in any shape.
            reference_outputs: Not read.
            inputs: Not read.
            extra: Not read.

        Raises:
            TraceError: The outputs cannot be read.
        """
        if outputs is None:
            return self.unscored("no_output", "there are no outputs")
        calls = self.part_of(outputs).tool_calls
        if self.depth != "top":
            calls = tuple(inner for call in calls for inner in nested(call, self.depth))
        counted = [call for call in calls if not (self.failed == "exclude" and call.failed)]
        named = [call for call in counted if call.name == self.expected_tool]
        agreeing = [self._pairing.agree(call, self._expected) for call in named]
        sure = sum(agreeing)
        unknown = sum(
            call.args_state == "unknown" and not agrees
            for call, agrees in zip(named, agreeing, strict=True)
        )
        failed = sum(call.failed for call in calls)
        called = [call.name for call in calls]
        metadata = {"called_tools": called, "calls": sure, "failed_calls": failed}
        possible = sure + unknown
        if self._within(sure) != self._within(possible) or (
            not self._within(sure) and any(map(self._within, range(sure, possible + 1)))
        ):
            return self.unscored(
                "undefined",
                f"the arguments of {count(unknown, 'call')} of {shown(self.expected_tool)} were "
                "not recorded, and the outcome hangs on them",
                metadata,
            )
        passed = self._within(sure)
        comment = clip(self._comment(named, sure, calls) + _failed(failed))
        return EvaluationResult(self.key, float(passed), passed, comment, metadata)

    def _within(self, times: int) -> bool:
        return times >= self.min_calls and (self.max_calls is None or times <= self.max_calls)

    def _comment(self, named: list[ToolCall], times: int, calls: tuple[ToolCall, ...]) -> str:
        with_args = "" if self.expected_args is None else " with the expected arguments"
        text = f"tool {shown(self.expected_tool)} called {count(times, 'time')}{with_args}"
        if self._within(times):
            return text
        if times >= self.min_calls:
            return f"{text}, at most {self.max_calls} allowed"
        if self.min_calls > 1:
            text += f", at least {self.min_calls} needed"
        for call in named:
            if not self._pairing.agree(call, self._expected):
                index = next(i for i, other in enumerate(calls) if other is call)
                return f"{text}; call {index}: {contrast(self._rule, self._expected, call)}"
        guess = None if named else near(self.expected_tool, {call.name for call in calls})
        return text + (f"; a near name was called: {shown(guess)}" if guess else "")


def _failed(number: int) -> str:
    return f"; {count(number, 'call')} failed or never ran" if number else ""


@dataclass(frozen=True)
class TrajectorySingleToolUse(OfPart):
    """1 if the tool was called at least once, whatever the arguments, order and count (Vertex AI).

    Args:
        tool_name: The tool's name.
        key: The metric's name; several in one run are told apart as
            `trajectory_single_tool_use:<tool>`.
        depth: Of calls that contain others, the `top` ones count, the `leaves`, or `all`.
    """

    reads: ClassVar[Reads] = "trajectory"
    range: ClassVar[tuple[float, float] | None] = (0.0, 1.0)
    direction: ClassVar[Literal["higher", "lower"] | None] = "higher"

    tool_name: str
    key: str = "trajectory_single_tool_use"
    depth: Depth = field(default="top", kw_only=True)

    def __post_init__(self) -> None:
        """Check the name.

        Raises:
            ConfigError: There is none.
        """
        _ = self._tool_use

    @property
    def distinct_key(self) -> str:
        """The key that tells several in one run apart."""
        return f"trajectory_single_tool_use:{self.tool_name}"

    @cached_property
    def _tool_use(self) -> ToolUseEvaluator:
        return ToolUseEvaluator(
            self.tool_name, key=self.key, turn=self.turn, agent=self.agent, depth=self.depth
        )

    def evaluate(
        self,
        *,
        outputs: Any = None,
        reference_outputs: Any = None,
        inputs: Any = None,
        **extra: Any,
    ) -> EvaluationResult:
        """Look for the call.

        Args:
            outputs: The agent's trace, in any shape.
            reference_outputs: Not read.
            inputs: Not read.
            extra: Not read.

        Raises:
            TraceError: The outputs cannot be read.
        """
        return self._tool_use.evaluate(outputs=outputs)
