"""Trajectory › Step › ToolCall: the one shape that every trace is read into.

A *step* is one message or turn. A *tool call* is a call that the agent asked for, whether or not it
ran. What the provider ran by itself (`hosted`) is kept apart. Reading never changes what it is
given, and never makes an empty trajectory of something that it does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec

from trajgrade.detection import read
from trajgrade.errors import TraceError, shorten
from trajgrade.parts import agents_of, by_agent, by_turn
from trajgrade.telemetry import NOTHING, Source, Telemetry, Usage
from trajgrade.unwrapping import unwrapped

ArgsState = Literal["ok", "text", "unparseable", "unknown"]
CallStatus = Literal["ok", "error", "unknown", "not_run"]
Role = Literal["system", "user", "assistant", "tool"]


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """One call of a tool, as the agent asked for it.

    Attributes:
        name: The tool's name.
        args: An object nearly always; a text or list where the tool takes one.
        args_state: `ok`: as recorded; `text`: a text that is not meant as JSON; `unparseable`: a
            text that should have been JSON and is not; `unknown`: not recorded.
        id: The id that the trace gives the call. Not unique: agents reuse ids.
        result: What the tool returned, where recorded.
        status: Whether it succeeded, where recorded.
        hosted: Whether the provider ran it by itself (web search, code interpreter, …).
        agent: The agent that made the call, where several are told apart.
        turn: 0-based index of the user turn that it follows; None where that is not known.
        children: The calls made inside this one (an agent run as a tool).
        started_at: When it began, where recorded.
        ended_at: When it ended, where recorded.
    """

    name: str
    args: Any = msgspec.field(default_factory=dict)
    args_state: ArgsState = "ok"
    id: str | None = None
    result: Any = None
    status: CallStatus = "unknown"
    hosted: bool = False
    agent: str | None = None
    turn: int | None = None
    children: tuple[ToolCall, ...] = ()
    started_at: datetime | None = None
    ended_at: datetime | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the call as plain objects; what is not known is left out, `args` never."""
        plain: dict[str, Any] = msgspec.to_builtins(self, enc_hook=_stand_in)
        return {"name": self.name, "args": {}, **plain}

    @property
    def failed(self) -> bool:
        """Whether the trace says that it failed or was never run."""
        return self.status in ("error", "not_run")


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message or turn.

    Attributes:
        role: `system`, `user`, `assistant` or `tool`.
        content: Its text; `""` where it has none.
        tool_calls: The calls that it asks for, in order.
    """

    role: str
    content: str = ""
    tool_calls: list[ToolCall] = []


class Trajectory:
    """One run of an agent: its steps, its tool calls, its final response.

    Args:
        steps: The steps in order, or a function that makes them when they are first asked for.
        tool_calls: The calls in order; by default those of the steps that are not hosted.
        final_response: The text of the answer; by default that of the last assistant step that has
            text; None where there is none.
        id: The trace's own id.
        format: The format that it was read from.
        notes: What was unusual in the trace, one sentence each.
        actions: The actions that are text and no structured calls (shell commands), in order.
        telemetry: The models, tokens and times of the run, or a function that reads them.
    """

    __slots__ = (
        "_calls", "_final", "_steps", "actions", "format", "hosted_calls", "id", "notes",
        "pairing_memo", "telemetry_source",
    )  # fmt: skip

    def __init__(
        self,
        steps: Sequence[Step] | Callable[[], Sequence[Step]] = (),
        *,
        tool_calls: Iterable[ToolCall] | None = None,
        final_response: str | msgspec.UnsetType | None = msgspec.UNSET,
        hosted_calls: Iterable[ToolCall] = (),
        id: str | None = None,  # noqa: A002 the field's word for it
        format: str = "trajgrade",  # noqa: A002 the field's word for it
        notes: Iterable[str] = (),
        actions: Iterable[str] = (),
        telemetry: Telemetry | Source | None = None,
    ) -> None:
        self._steps: Any = steps if callable(steps) else tuple(steps)
        self._final = final_response
        self.hosted_calls = tuple(hosted_calls)
        self.id = id
        self.format = format
        self.notes = tuple(notes)
        self.actions = tuple(actions)
        self.pairing_memo: Any = None
        self.telemetry_source: Telemetry | Source | None = telemetry
        if tool_calls is None:
            every = [call for step in self.steps for call in step.tool_calls]
            self.hosted_calls += tuple(call for call in every if call.hosted)
            tool_calls = (call for call in every if not call.hosted)
        self._calls = tuple(tool_calls)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The messages or turns, in order."""
        if callable(self._steps):
            self._steps = tuple(self._steps())
        steps: tuple[Step, ...] = self._steps
        return steps

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls that the agent asked for, in order; hosted ones are in `hosted_calls`."""
        return self._calls

    @property
    def final_response(self) -> str | None:
        """The text of the answer, None where the run has none."""
        if self._final is msgspec.UNSET:
            self._final = next(
                (s.content for s in reversed(self.steps) if s.role == "assistant" and s.content),
                None,
            )
        final: str | None = self._final
        return final

    @property
    def telemetry(self) -> Telemetry:
        """The models, tokens, costs and times that the trace records."""
        source = self.telemetry_source
        if source is None:
            return NOTHING
        if not isinstance(source, Telemetry):
            source = self.telemetry_source = source()
        return source

    @property
    def model(self) -> str | None:
        """The model that answered first; all of them are `telemetry.models`."""
        return next(iter(self.telemetry.models), None)

    @property
    def usage(self) -> Usage | None:
        """Tokens and costs over all requests; None where none are recorded."""
        return self.telemetry.usage

    @property
    def started_at(self) -> datetime | None:
        """When the run began, where recorded."""
        return self.telemetry.started_at

    @property
    def ended_at(self) -> datetime | None:
        """When the run ended, where recorded."""
        return self.telemetry.ended_at

    @property
    def latency_in_seconds(self) -> float | None:
        """How long the run took, where recorded."""
        return self.telemetry.latency_in_seconds

    @property
    def turns(self) -> list[Trajectory]:
        """What followed each user turn, each a trajectory; user messages in a row are one turn.

        Raises:
            TraceError: The trace cannot be cut: it has no user turn, or a call before the first.
        """
        return by_turn(self)

    @property
    def agents(self) -> list[str]:
        """The agents that made calls, sub-agents included; empty where they are not told apart."""
        return agents_of(self)

    def of_agent(self, name: str) -> Trajectory:
        """Return the part of one agent: the outermost of its calls, and all that was said.

        Raises:
            TraceError: The trace has calls and does not say of any which agent made it.
        """
        return by_agent(self, name)

    @classmethod
    def from_any(
        cls,
        data: Any,
        format: str | None = None,  # noqa: A002 the field's word for it
        *,
        unwrap: bool = False,
    ) -> Trajectory:
        """Read one trajectory from any shape that trajgrade knows.

        Args:
            data: Messages, calls, a dict, a trace object, a text, or a Trajectory.
            format: The name of the format, where it should not be detected.
            unwrap: Whether a call that holds several is replaced by those (`unwrapping`).

        Raises:
            TraceError: No format recognises the data, or several do and disagree, or it is broken,
                or it holds several trajectories.
        """
        if isinstance(data, cls):
            return unwrapped(data) if unwrap else data

        found = read(data, format)
        if len(found) != 1:
            raise TraceError(
                f"the data holds {len(found)} trajectories ({found[0].format}); "
                "one was expected: read them with trajgrade.read_traces(data)"
            )
        return unwrapped(found[0]) if unwrap else found[0]

    def to_dict(self) -> dict[str, Any]:
        """Return the trajectory in trajgrade's own shape, which `from_any` reads back equal."""
        shape = {
            "trajgrade": 1,
            "id": self.id,
            "format": self.format,
            "notes": list(self.notes),
            "final_response": self.final_response,
            "steps": [msgspec.to_builtins(step, enc_hook=_stand_in) for step in self.steps],
        }
        if self.tool_calls != _of_steps(self.steps):
            shape["tool_calls"] = [call.to_dict() for call in self.tool_calls]
        if self.hosted_calls:
            shape["hosted_calls"] = [call.to_dict() for call in self.hosted_calls]
        if self.actions:
            shape["actions"] = list(self.actions)
        return {**shape, **msgspec.to_builtins(self.telemetry)}

    def __eq__(self, other: object) -> bool:
        """Whether both tell the same run; where it was read from does not matter."""
        if not isinstance(other, Trajectory):
            return NotImplemented
        return (
            self.tool_calls == other.tool_calls
            and self.hosted_calls == other.hosted_calls
            and self.actions == other.actions
            and self.steps == other.steps
            and self.final_response == other.final_response
        )

    __hash__ = None  # type: ignore[assignment]  # equal by value, and its calls may hold lists

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        """Leave out the last pairing: its rule may hold a function that cannot be pickled."""
        _ = self.steps, self.telemetry
        state = {name: getattr(self, name) for name in self.__slots__}
        return None, {**state, "pairing_memo": None}

    def __repr__(self) -> str:
        """Return its format and sizes."""
        return (
            f"<Trajectory {self.id or ''} {self.format}: {len(self.steps)} steps, "
            f"{len(self.tool_calls)} calls>"
        )


def _stand_in(value: Any) -> str:
    """Return what is written for an object that JSON has no place for."""
    return shorten(value, 200)


def _of_steps(steps: Iterable[Step]) -> tuple[ToolCall, ...]:
    return tuple(call for step in steps for call in step.tool_calls if not call.hosted)


class CanonicalTrace(msgspec.Struct, kw_only=True):
    """Potato's canonical trace: a conversation of turns, each a `speaker` and a `text`."""

    id: str
    task_description: str = ""
    conversation: list[dict[str, Any]] = []
    agent_name: str = ""
    metadata_table: list[dict[str, Any]] = []
    screenshots: list[Any] = []
    extra_fields: dict[str, Any] = {}

    def to_dict(self) -> dict[str, Any]:
        """Return the trace as plain objects, the extra fields beside the others."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return {**plain.pop("extra_fields"), **plain}


def normalize_trajectory(data: Any) -> list[Step]:
    """Return the steps of any trajectory; None gives an empty list.

    Raises:
        TraceError: The data is none of the shapes that trajgrade knows.
    """
    return [] if data is None else list(Trajectory.from_any(data).steps)


def extract_tool_calls(data: Any) -> list[ToolCall]:
    """Return the tool calls of any trajectory, in order; None gives an empty list.

    Raises:
        TraceError: The data is none of the shapes that trajgrade knows.
    """
    return [] if data is None else list(Trajectory.from_any(data).tool_calls)


__all__ = [
    "CanonicalTrace",
    "Step",
    "Telemetry",
    "ToolCall",
    "Trajectory",
    "Usage",
    "extract_tool_calls",
    "normalize_trajectory",
]
