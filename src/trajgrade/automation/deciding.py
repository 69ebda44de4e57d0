"""Deciding: a job of the queue → how it ended: which rules fire, what their actions did.

The actions of a rule are done in the order in which they are written: fast ones at once, each slow
one as a job, behind which the next follows. An action that fails for good is set aside, and those
behind it are done. A rule that looks at a score is asked once the rules that give it are through.
Of a trace that has grown since, only the newest revision is decided.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec

from trajgrade.automation.items import item_of
from trajgrade.automation.making import Place
from trajgrade.automation.origin import asks_for_own, origin_of
from trajgrade.automation.pieces import trace_of
from trajgrade.automation.rules import Rule, Rules
from trajgrade.errors import TrajgradeError, shorten
from trajgrade.event import Added, Event, Scored, Told, TryAgainError
from trajgrade.inbox import Change, Finished, Job, NewJob, Outcome, Piece, TraceRecord
from trajgrade.production import Action
from trajgrade.versions import kept

TRIES = 8
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 300.0  # seconds
_LOOK_AGAIN = 0.5  # seconds after which a rule looks again whether its score is there
_LONGEST = 2000  # characters of what an action says

Loaded = tuple[TraceRecord, list[Piece]]


@dataclass
class _Item:
    """A trace on its way through the rules."""

    job: Job
    now: float
    trace: Any
    scores: dict[str, float | None]
    results: dict[str, Any]
    outcomes: list[Outcome] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    follow: list[NewJob] = field(default_factory=list)
    decided: dict[str, str] = field(default_factory=dict)

    base: dict[str, Any] | None = None

    @cached_property
    def origin(self) -> str | None:
        return origin_of(self.trace)

    def seen(self) -> dict[str, Any]:
        if self.base is None:
            self.base = item_of(self.trace)
            if self.origin is not None:
                self.base["trajgrade"] = {"origin": self.origin}
        return {**self.base, "scores": self.scores}

    def finished(self, **more: Any) -> Finished:
        return Finished(
            job=self.job, outcomes=tuple(self.outcomes), changes=tuple(self.changes),
            follow=tuple(self.follow), decided=self.decided, at=self.now, **more,
        )  # fmt: skip


class Decider:
    """Says how jobs end.

    Args:
        rules: The rules.
        actions: Their actions.
    """

    def __init__(self, rules: Rules, actions: Mapping[Place, Action]) -> None:
        self.rules = rules
        self._actions = actions
        self._by_name = {rule.name: rule for rule in rules}
        given = {rule.name: frozenset(rule.gives) for rule in rules}
        self._givers = {
            rule.name: [
                other
                for other, keys in given.items()
                if keys & rule.scores_read and other != rule.name
            ]
            for rule in rules
        }

    def decide(self, job: Job, loaded: Loaded, now: float, *, pending: int = 0) -> Finished:
        """Return which rules fire for a trace, and what their fast actions did.

        Args:
            job: The job: all rules, or the one that has waited for its scores.
            loaded: The trace.
            now: The time.
            pending: How many actions of the rules that the job waits for are still to be done.
        """
        record, pieces = loaded
        if job.revision < record.revision:
            return Finished(job=job, at=now)
        if pending:
            untried = msgspec.structs.replace(job, tries=job.tries - 1)
            return Finished(job=untried, again_at=now + _LOOK_AGAIN, at=now)
        item = _item(job, record, pieces, now)
        waiting: set[str] = set()
        for rule in [self._by_name[job.rule]] if job.rule in self._by_name else self.rules:
            if job.rule not in ("", rule.name):
                continue
            if waiting.intersection(self._givers[rule.name]):
                waiting.add(rule.name)
                item.follow.append(
                    NewJob(
                        kind="decide", trace_id=job.trace_id, revision=job.revision,
                        rule=rule.name, due_at=now + _LOOK_AGAIN,
                    )
                )  # fmt: skip
                continue
            if item.origin is not None and not asks_for_own(rule):
                item.decided[rule.name] = "own_trace"
                continue
            decision = self.rules.decided(rule, job.trace_id, item.seen())
            item.decided[rule.name] = decision.decided
            if decision.fires and self._done(item, rule, 0, decision.because):
                waiting.add(rule.name)
        return item.finished()

    def waits_for(self, job: Job) -> Sequence[str]:
        """Return the rules whose actions must be through before a job is decided."""
        return self._waited(job.rule) if job.kind == "decide" and job.rule else ()

    def _waited(self, name: str) -> list[str]:
        found: list[str] = []
        for giver in self._givers.get(name, ()):
            found += [giver, *self._waited(giver)]
        return found

    def act(self, job: Job, loaded: Loaded, now: float) -> Finished:
        """Return what a slow action did, and the fast ones behind it."""
        record, pieces = loaded
        rule = self._by_name.get(job.rule)
        if rule is None or (job.rule, job.place) not in self._actions:
            return Finished(
                job=job, error=f"no rule named {job.rule!r} has an action {job.place} now", at=now
            )
        item = _item(job, record, pieces, now)
        try:
            if job.tries > TRIES:
                said = f"it ended its worker; tried {TRIES} times"
                item.outcomes.append(_outcome(item, rule, job.place, said))
            else:
                self._carry_out(item, rule, job.place, job.because)
        except TryAgainError as failed:
            error = f"{type(failed).__name__}: {failed}" if not str(failed) else str(failed)
            if job.tries < TRIES:
                wait = max(failed.after or 0.0, _wait(job.tries))
                return Finished(job=job, again_at=now + wait, error=error, at=now)
            item.outcomes.append(_outcome(item, rule, job.place, f"{error}; tried {TRIES} times"))
        if job.kind == "act":
            self._done(item, rule, job.place + 1, job.because)
        aside = next(
            (o.says for o in item.outcomes if o.state == "set_aside" and o.place == job.place), ""
        )
        return item.finished(error=aside)

    def _done(self, item: _Item, rule: Rule, start: int, because: str) -> bool:
        """Do the fast actions of a rule from a place on; say whether a slow one follows."""
        for place in range(start, len(rule.actions)):
            if not self._actions[rule.name, place].fast:
                item.follow.append(
                    NewJob(
                        kind="act", trace_id=item.job.trace_id, revision=item.job.revision,
                        rule=rule.name, place=place, because=because, due_at=item.now,
                    )
                )  # fmt: skip
                return True
            try:
                self._carry_out(item, rule, place, because)
            except TryAgainError as failed:
                item.outcomes.append(_outcome(item, rule, place, str(failed)))
        return False

    def _carry_out(self, item: _Item, rule: Rule, place: int, because: str) -> None:
        """Do an action, and note what it did, or why it never will.

        Raises:
            TryAgainError: It may succeed later.
        """
        event = Event(
            id=event_id(rule.name, place, item.job.trace_id, item.job.revision), rule=rule.name,
            item_id=item.job.trace_id, because=because, trace=item.trace, scores=item.scores,
            results=item.results,
        )  # fmt: skip
        try:
            answered = self._actions[rule.name, place].act(event)
            told = answered if isinstance(answered, Told) else Told(str(answered))
            _check(told)
        except TryAgainError:
            raise
        except (TrajgradeError, OSError) as failed:
            item.outcomes.append(_outcome(item, rule, place, str(failed)))
            return
        except Exception as broken:  # noqa: BLE001 whatever an action of a plugin raises
            said = f"{type(broken).__name__}: {broken}"
            item.outcomes.append(_outcome(item, rule, place, said))
            return
        for effect in told.effects:
            item.changes.append(Change(rule=rule.name, effect=effect))
            if isinstance(effect, Scored):
                item.scores = {**item.scores, **effect.scores}
                item.results = {**item.results, **effect.results}
        item.outcomes.append(_outcome(item, rule, place, told.says, is_done=True))


def event_id(rule: str, place: int, trace_id: str, revision: int) -> str:
    """Return what names one firing of one action, the same for every attempt at it."""
    parts = [rule, str(place), trace_id, str(revision)]
    framed = b"".join(
        len(part).to_bytes(8, "big") + part
        for part in (text.encode("utf-8", "surrogatepass") for text in parts)
    )
    return hashlib.sha256(framed).hexdigest()[:32]


def _item(job: Job, record: TraceRecord, pieces: Sequence[Piece], now: float) -> _Item:
    is_graded = record.graded == job.revision
    return _Item(
        job, now, trace_of(pieces), dict(record.scores) if is_graded else {},
        dict(record.results) if is_graded else {},
    )  # fmt: skip


def _check(told: Told) -> None:
    """Refuse what could not be kept, before the transaction that would keep it."""
    for effect in told.effects:
        if isinstance(effect, Added):
            kept([effect.row], effect.dataset)


def _outcome(item: _Item, rule: Rule, place: int, says: str, *, is_done: bool = False) -> Outcome:
    return Outcome(
        trace_id=item.job.trace_id, revision=item.job.revision, rule=rule.name, place=place,
        action=rule.actions[place]["type"], state="done" if is_done else "set_aside",
        says=shorten(says, _LONGEST) if len(says) > _LONGEST else says,
        tries=item.job.tries, at=item.now,
    )  # fmt: skip


def _wait(tries: int) -> float:
    """Return how long to wait after a failed try: at random up to twice the last bound."""
    return random.uniform(0.0, min(_LONGEST_WAIT, _FIRST_WAIT * 2.0**tries))  # noqa: S311 no secret
