"""Paired: the agent's calls and the reference's, paired once for all metrics of one example."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from trajgrade.evaluators.wording import overrides_met, plain, turn_of
from trajgrade.lazy import lazy
from trajgrade.matching.pairing import Pairing
from trajgrade.trajectory import ToolCall, Trajectory

BARE_TEXT = "text"
"""The format of a text that is no trace: one message, and no record of calls."""


class Paired:
    """The pairings of one example: one, or one for each turn.

    Args:
        ours: The agent's trace.
        pairings: The pairings, at least one.
        considered: The agent's calls that count, those among them that failed included.
        expected: The notes of the reference.

    Attributes:
        n: The number of the agent's calls.
        m: The number of the reference's calls.
    """

    def __init__(
        self,
        ours: Trajectory,
        pairings: Sequence[Pairing],
        considered: Sequence[ToolCall],
        expected: Sequence[str] = (),
    ) -> None:
        self.trajectory = ours
        self.pairings = pairings
        self.considered = considered
        self.expected = expected
        if len(pairings) == 1:
            self.n, self.m = len(pairings[0].ours), len(pairings[0].theirs)
        else:
            self.n = sum(len(pairing.ours) for pairing in pairings)
            self.m = sum(len(pairing.theirs) for pairing in pairings)

    @lazy
    def nu(self) -> int:
        """The size of a maximum matching, over all turns."""
        return sum([pairing.size for pairing in self.pairings])

    @lazy
    def strict(self) -> bool:
        """Whether both sides agree call by call, in every turn."""
        return False not in [pairing.strict for pairing in self.pairings]

    @lazy
    def in_order(self) -> bool:
        """Whether the reference embeds in the agent's calls in order, in every turn."""
        return all(pairing.unembedded is None for pairing in self.pairings)

    @lazy
    def vouched(self) -> tuple[int, int]:
        """How many calls of either side agree with some call of the other, over all turns."""
        both = [pairing.vouched for pairing in self.pairings]
        return sum(ours for ours, _ in both), sum(theirs for _, theirs in both)

    @lazy
    def uncertain(self) -> bool:
        """Whether the arguments of some call were not recorded."""
        return True in [pairing.uncertain for pairing in self.pairings]

    @lazy
    def generous(self) -> Paired:
        """The same with every argument that was not recorded agreeing."""
        pairings = [pairing.generous for pairing in self.pairings]
        return Paired(self.trajectory, pairings, self.considered, self.expected)

    def passes(self, test: Callable[[Pairing], bool]) -> bool:
        """Whether every pairing passes."""
        return False not in [test(pairing) for pairing in self.pairings]

    def first(self, fault: Callable[[Pairing], Any], why: Callable[[Pairing], str]) -> str:
        """Say why of the first pairing that has the fault; nothing where none has."""
        for at, pairing in enumerate(self.pairings):
            if fault(pairing):
                return turn_of(self.pairings, at) + why(pairing)
        return ""

    @lazy
    def evidence(self) -> dict[str, Any]:
        """The metadata that every metric of the example has; shared, so not to be changed."""
        failed = 0
        notes: list[str] = []
        if self.trajectory.format == BARE_TEXT:
            notes.append("the outputs are a bare text, which records no calls")
        for index, call in enumerate(self.considered):
            if call.status != "unknown" and call.failed:
                failed += 1
            if call.args_state == "unparseable":
                notes.append(f"the arguments of call {index} ({plain(call.name)}) are not JSON")
        found: dict[str, Any] = {
            "agent_tools": [call.name for p in self.pairings for call in p.ours],
            "reference_tools": [call.name for p in self.pairings for call in p.theirs],
            "failed_calls": failed,
        }
        if notes or self.trajectory.notes or self.expected:
            told = [f"reference: {note}" for note in self.expected]
            found["notes"] = [*notes, *self.trajectory.notes, *told]
        if self.pairings[0].rule.spots:
            found["overrides"] = overrides_met(self.pairings)
        return found

    @lazy
    def remarks(self) -> str:
        """What every comment ends with: calls that failed, and what is odd about the trace."""
        failed, notes = self.evidence["failed_calls"], self.evidence.get("notes")
        text = f"; {failed} call{'s' * (failed > 1)} failed or never ran" if failed else ""
        if not notes:
            return text
        # The first of either side: what is odd about one must not hide what is about the other.
        theirs = f"; {plain(notes[-len(self.expected)], 120)}" if self.expected else ""
        ours = f"; {plain(notes[0], 120)}" if len(notes) > len(self.expected) else ""
        return text + ours + theirs
