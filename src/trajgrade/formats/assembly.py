"""Assembly: a trajectory put together from messages, calls and results as they come.

A result belongs to a call by id and position: to the first call of that id before it that has none
yet. Agents reuse ids, so an id never merges calls. Where results have no id they are paired in
order, by name where they have one.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import force_setattr

from trajgrade.formats.arguments import parsed
from trajgrade.formats.content import shown
from trajgrade.telemetry import Source, Telemetry
from trajgrade.trajectory import ArgsState, CallStatus, Step, ToolCall, Trajectory

HELD = 200
"""So many steps wait for the results of their calls, where little memory is to be taken."""

_STATUSES: dict[str, CallStatus] = {
    "ok": "ok", "success": "ok", "succeeded": "ok", "completed": "ok", "complete": "ok",
    "error": "error", "failed": "error", "failure": "error", "incomplete": "error",
    "not_run": "not_run", "cancelled": "not_run", "skipped": "not_run", "rejected": "not_run",
}  # fmt: skip


def status_of(word: Any) -> CallStatus:
    """Return the status that a trace's own word means; `unknown` where it means none."""
    return _STATUSES.get(word, "unknown") if isinstance(word, str) else "unknown"


class Waiting:
    """The calls that have no result yet, in order."""

    def __init__(self, calls: Iterable[ToolCall] = ()) -> None:
        self._open: OrderedDict[int, ToolCall] = OrderedDict()
        self._by_id: dict[str | None, deque[int]] = {}
        self._count = 0
        for call in calls:
            self.add(call)

    def __len__(self) -> int:
        return len(self._open)

    def add(self, call: ToolCall) -> None:
        """Let a call wait."""
        self._open[self._count] = call
        self._by_id.setdefault(call.id, deque()).append(self._count)
        self._count += 1

    def take(self, key: str | None, name: str | None = None) -> ToolCall | None:
        """Return the call that a result belongs to, which waits no longer; None where none waits.

        Args:
            key: The id that the result gives.
            name: The tool that the result names.
        """
        queue = None if key is None else self._by_id.get(key)
        if queue:
            number = queue.popleft()
            if not queue:
                del self._by_id[key]
            return self._open.pop(number)
        found = next(self._candidates(key, name), None)
        return None if found is None else self._taken(found)

    def take_oldest(self) -> None:
        """Let the call that has waited longest wait no longer."""
        self._taken(next(iter(self._open)))

    def _taken(self, number: int) -> ToolCall:
        call = self._open.pop(number)
        queue = self._by_id[call.id]
        queue.remove(number)
        if not queue:
            del self._by_id[call.id]
        return call

    @property
    def oldest(self) -> ToolCall | None:
        """The call that has waited longest; None where none waits."""
        return next(iter(self._open.values()), None)

    def _candidates(self, key: str | None, name: str | None) -> Iterator[int]:
        # Either side may lack the ids that the other has.
        without = self._by_id.get(None)
        pool: Iterable[int] = without or () if key is not None or without else self._open
        for number in pool:
            if name is None or self._open[number].name == name:
                yield number


def stray(key: str | None, name: str | None) -> str:
    """Say that a result belongs to no call."""
    which = f"of id {key!r}" if key else f"of the tool {name!r}" if name else "without id"
    return f"a result {which} belongs to no call before it"


class Assembly:
    """Collects one trajectory.

    Attributes:
        turn: The index of the last user turn; None before the first.
        notes: What was unusual.
        actions: The actions that are text.
        agent: The agent that makes the calls that follow.
        now: When what follows happens: calls begin then, results arrive then.
        results: Whether what tools gave back is kept.
    """

    def __init__(self, format: str) -> None:  # noqa: A002 the field's word for it
        self.format = format
        self.turn: int | None = None
        self.notes: list[str] = []
        self.actions: list[str] = []
        self.agent: str | None = None
        self.now: datetime | None = None
        self.results = True
        self._steps: list[Step] = []
        self._waiting = Waiting()
        self._calls = 0

    @property
    def waits(self) -> bool:
        """Whether a call waits for its result."""
        return len(self._waiting) > 0

    def message(self, role: str, text: str = "") -> None:
        """Begin a step; the calls that follow stand in it."""
        if role == "user":
            self.turn = 0 if self.turn is None else self.turn + 1
        self._steps.append(Step(role, text, []))

    def place(self, name: str) -> str:
        """Say which call the next one is."""
        return f"call {self._calls} ({name})"

    def call(
        self,
        name: str,
        raw: Any = None,
        key: str | None = None,
        *,
        state: ArgsState | None = None,
        hosted: bool = False,
        status: CallStatus = "unknown",
        agent: str | None = None,
        waits: bool = True,
    ) -> ToolCall:
        """Add a call to the step.

        Args:
            name: The tool.
            raw: The arguments as the trace holds them; parsed, unless their state is given.
            key: The call's id.
            state: The state of arguments that are not to be parsed.
            hosted: Whether the provider runs it.
            status: Whether it succeeded.
            agent: The agent that makes it.
            waits: Whether its result is still to come.
        """
        args = raw
        if state is None:
            args, state = parsed(raw, self.place(name), self.notes)
        made = ToolCall(
            name, args, state, key, None, status, hosted, agent or self.agent, self.turn, (),
            self.now,
        )  # fmt: skip
        return self.add(made, waits=waits)

    def add(self, call: ToolCall, *, waits: bool = True) -> ToolCall:
        """Add a call that is made already; it waits for its result, unless it does not."""
        if call.turn is None:
            force_setattr(call, "turn", self.turn)
        if not self._steps or self._steps[-1].role != "assistant":
            self.message("assistant")
        self._steps[-1].tool_calls.append(call)
        self._calls += 1
        if waits:
            self._waiting.add(call)
        return call

    def result(
        self,
        value: Any,
        key: str | None = None,
        name: str | None = None,
        *,
        status: CallStatus = "unknown",
        step: bool = True,
    ) -> ToolCall | None:
        """Give the result to the call that it belongs to, and add a step that shows it."""
        call = self._waiting.take(key, name)
        if not self.results:
            value = None
        if call is None:
            self.notes.append(stray(key, name))
        else:
            force_setattr(call, "result", value)
            if status != "unknown":
                force_setattr(call, "status", status)
            if self.now is not None:
                force_setattr(call, "ended_at", self.now)
        if step:
            if type(value) is not str:
                value = shown(value, f"the result of {name or key or 'a call'}")
            self._steps.append(Step("tool", value, []))
        return call

    def taken(self, *, last: bool = False) -> list[Step]:
        """Take out the first steps, as far as they are done: no call in them waits for its result.

        Of more than `HELD` steps the first are done all the same, and their calls wait no longer.

        Args:
            last: Whether nothing comes any more, so that all are done.
        """
        steps = self._steps
        if last:
            ready = len(steps)
        else:
            ready = 0
            while len(steps) - ready > HELD:
                for call in steps[ready].tool_calls:
                    if call is self._waiting.oldest:
                        self._waiting.take_oldest()
                ready += 1
            oldest = self._waiting.oldest
            while ready < len(steps) - 1 and not (
                oldest and any(call is oldest for call in steps[ready].tool_calls)
            ):
                ready += 1
        taken = steps[:ready]
        del steps[:ready]
        return taken

    def trajectory(
        self,
        *,
        final: str | msgspec.UnsetType | None = msgspec.UNSET,
        id: str | None = None,  # noqa: A002 the field's word for it
        notes: Iterable[str] = (),
        telemetry: Telemetry | Source | None = None,
    ) -> Trajectory:
        """Return what was collected."""
        return Trajectory(
            self._steps,
            final_response=final,
            id=id,
            format=self.format,
            notes=[*self.notes, *notes],
            actions=self.actions,
            telemetry=telemetry,
        )
