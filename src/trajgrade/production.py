"""The seams of production: what an action of a rule, and the inbox of a store must be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from trajgrade.event import Event, Told
from trajgrade.inbox import (
    Finished,
    Job,
    JobKind,
    KeyRecord,
    Label,
    Outcome,
    OutcomeState,
    Piece,
    Review,
    ReviewState,
    TraceRecord,
)


class Action(Protocol):
    """What a rule does with an item that fits.

    Its parameters are checked when it is made, so that a mistake in a file of rules is found when
    the file is read.

    Attributes:
        fast: Whether it is done with the decision, in the same transaction; then it speaks to
            nobody. Else it is a job of its own, which may be done more than once, each time with
            the same `event.id`, but whose effects are written once.
    """

    fast: bool

    def act(self, event: Event) -> str | Told:
        """Do it; return what was done, in a line, and what is to be changed in the store.

        Raises:
            TryAgainError: It may succeed later.
            OSError: It never will.
            TrajgradeError: It never will.
        """
        ...


class Inbox(Protocol):
    """What production sends, what is to be done with it, and what was done, in a store.

    Any number of processes may use it at once, on several machines where the database allows.
    Times are seconds since 1970, and given, so that nothing here looks at a clock. Every method
    raises `StoreError` where it cannot do what it says, and then has changed nothing.
    """

    def accept(self, pieces: Sequence[Piece]) -> list[bool]:
        """Keep what came, durably, in one transaction; what is complete waits to be decided.

        Returns:
            For each, whether it is new; a repeat changes nothing.
        """
        ...

    def settle(self, quiet_since: float, limit: int = 1000) -> int:
        """Complete traces of which nothing came since then; return how many."""
        ...

    def backlog(self) -> int:
        """Return how many jobs wait or are taken."""
        ...

    def claim(
        self, *, now: float, until: float, limit: int, kind: JobKind | None = None
    ) -> list[Job]:
        """Take jobs that are due, and one at most of those taken for a time that has passed."""
        ...

    def loaded(self, trace_ids: Sequence[str]) -> dict[str, tuple[TraceRecord, list[Piece]]]:
        """Return records and pieces of several traces, by id; those that there are."""
        ...

    def renew(self, jobs: Sequence[Job], until: float) -> None:
        """Keep jobs for longer, unless they were taken by another since."""
        ...

    def finish(self, ended: Sequence[Finished]) -> list[bool]:
        """Write how jobs ended, each wholly or not, in one transaction.

        Returns:
            For each, whether it was written: not if another has taken it since.
        """
        ...

    def revive(self, numbers: Sequence[int], now: float) -> int:
        """Have jobs that were set aside tried again; return how many."""
        ...

    def pending(self, trace_id: str, revision: int, rules: Sequence[str]) -> int:
        """Return how much is still to be done of some rules with a trace, by them or for them."""
        ...

    def publish(self) -> int:
        """Make new versions of the datasets that rows were added to; return how many rows.

        Rows are added by the effects of actions, and kept at once; a version of each would make
        thousands. A row whose id a dataset has is left out: people may have corrected that one.
        """
        ...

    def set_aside(self, *, before: int | None = None, limit: int = 100) -> list[Job]:
        """Return jobs that were set aside, the newest first, below a number."""
        ...

    def trace(self, trace_id: str) -> TraceRecord | None:
        """Return one trace's record; None where there is none."""
        ...

    def pieces(self, trace_id: str) -> list[Piece]:
        """Return what came of a trace, in the order in which it came."""
        ...

    def traces(self, *, before: int | None = None, limit: int = 100) -> list[TraceRecord]:
        """Return the records of traces, the newest first, below a number."""
        ...

    def outcomes(
        self,
        *,
        trace_id: str | None = None,
        rule: str | None = None,
        state: OutcomeState | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> list[Outcome]:
        """Return what was done, the newest first, below a number."""
        ...

    def counters(self) -> dict[str, dict[str, int]]:
        """Return by rule how often each was decided, and how often its actions ended how."""
        ...

    def reviews(
        self,
        *,
        queue: str | None = None,
        trace_id: str | None = None,
        state: ReviewState | None = "open",
        after: int | None = None,
        limit: int = 100,
    ) -> list[Review]:
        """Return what people are to look at: by priority, then the oldest first; behind an item."""
        ...

    def review(self, number: int) -> Review | None:
        """Return one item of a review queue; None where there is none."""
        ...

    def label(self, number: int, label: Label, at: float) -> Review:
        """Keep what a person says; a later word replaces an earlier one.

        Raises:
            ChangedError: It is said of another revision of the trace than is there.
            StoreError: There is no such item.
        """
        ...

    def keys(self) -> list[KeyRecord]:
        """Return all API keys, revoked ones too."""
        ...

    def add_key(self, record: KeyRecord) -> None:
        """Keep an API key's hash; a name is given once."""
        ...

    def revoke_key(self, name: str, at: float) -> None:
        """Make a key good for nothing."""
        ...
