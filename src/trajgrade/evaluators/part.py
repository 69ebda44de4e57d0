"""Graded is the whole run, or one turn, or one agent: the two parameters of all that grade calls.

`turn` counts the user turns from 0, or from the last, -1; `agent` is a name. With both, what that
agent did in that turn. What is outside the part is not there for the evaluator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from trajgrade.errors import ConfigError, TraceError
from trajgrade.evaluators.evaluator import Evaluator
from trajgrade.trajectory import Trajectory

Item = TypeVar("Item")


@dataclass(frozen=True)
class OfPart(Evaluator):
    """An evaluator of a run, or of one part of it.

    Attributes:
        turn: The user turn that is graded, 0-based, -1 for the last; None for all.
        agent: The agent whose calls are graded; None for all.
    """

    turn: int | None = field(default=None, kw_only=True)
    agent: str | None = field(default=None, kw_only=True)

    def check_part(self) -> None:
        """Check both parameters.

        Raises:
            ConfigError: A turn that is no whole number, an agent that is no name.
        """
        if self.turn is not None and type(self.turn) is not int:
            raise ConfigError(f"turn: a whole number is needed, got {self.turn!r}")
        if self.agent is not None and (not isinstance(self.agent, str) or not self.agent):
            raise ConfigError(f"agent: an agent's name is needed, got {self.agent!r}")

    def part_of(self, outputs: Any) -> Trajectory:
        """Read the trace, and return the part of it that is graded.

        Raises:
            TraceError: The trace cannot be read, has no such turn, or does not tell its agents.
        """
        run = outputs if type(outputs) is Trajectory else Trajectory.from_any(outputs)
        if self.turn is not None:
            run = self.turn_in(run.turns, "the trace")
        return run if self.agent is None else run.of_agent(self.agent)

    def part_expected(
        self, reference: Trajectory | list[Trajectory], *, cut: bool
    ) -> Trajectory | list[Trajectory]:
        """Return what is expected of the part that is graded.

        A reference that is given turn by turn says what is expected of one turn; any other is meant
        for the part as it is, unless it is to be cut. One that names the agents of its calls is
        narrowed to the agent, any other is that agent's already.

        Args:
            reference: The reference, or that of each turn.
            cut: Whether messages are cut into turns.

        Raises:
            TraceError: The reference has no such turn.
        """
        if self.turn is not None and (cut or isinstance(reference, list)):
            turns = reference if isinstance(reference, list) else reference.turns
            reference = self.turn_in(turns, "the reference")
        if isinstance(reference, list):
            return [self._of_agent(turn) for turn in reference]
        return self._of_agent(reference)

    def _of_agent(self, reference: Trajectory) -> Trajectory:
        if self.agent is None or not reference.agents:
            return reference
        return reference.of_agent(self.agent)

    def turn_in(self, turns: Sequence[Item], owner: str) -> Item:
        """Return the turn that is graded.

        Raises:
            TraceError: There is none of that number.
        """
        turn = self.turn or 0
        if not -len(turns) <= turn < len(turns):
            raise TraceError(
                f"turn {turn}: {owner} has {len(turns)} turns, 0 to {len(turns) - 1} or -1 to "
                f"-{len(turns)}"
            )
        return turns[turn]
