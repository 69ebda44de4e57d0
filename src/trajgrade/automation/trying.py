"""Trying: what rules would do with a trace, with nothing done but grading, if that is asked for."""

from __future__ import annotations

from typing import Any, NamedTuple

from trajgrade.automation.items import item_of
from trajgrade.automation.loading import Automation
from trajgrade.automation.making import close
from trajgrade.automation.rules import Decision, Rule
from trajgrade.event import Event, Scored, Told, TryAgainError

GRADES = "run_evaluator"


class Tried(NamedTuple):
    """What rules would do with one trace.

    Attributes:
        id: What names the trace.
        decisions: What each rule decides, those that give a score before those that look at it.
        scores: What evaluators said of it; empty where it was not graded.
        said: What the actions that grade say they did.
        unreadable: Why the trace cannot be read; empty where it can.
    """

    id: str
    decisions: list[Decision]
    scores: dict[str, float | None]
    said: list[str]
    unreadable: str


class Trying:
    """Rules that are tried.

    Args:
        automation: The rules, which count what they decide.
        store: Where datasets are, in place of the file's own.
        grades: Whether evaluators are run.
    """

    def __init__(self, automation: Automation, *, store: Any = None, grades: bool = False) -> None:
        self._rules = automation.rules
        self._actions = automation.actions(store) if grades else {}
        self._grades = grades

    def close(self) -> None:
        """Let go of what the actions hold, such as connections to judges."""
        close(self._actions.values())

    def on(self, name: str, trace: Any) -> Tried:
        """Return what the rules would do with a trace."""
        item = item_of(trace)
        scores: dict[str, float | None] = item["scores"]
        decisions: list[Decision] = []
        said: list[str] = []
        for rule in self._rules:
            decision = self._rules.decided(rule, name, item)
            missing = sorted(rule.scores_read - scores.keys())
            if missing and not decision.fires:
                why = f"{decision.because}; there is no score yet of {', '.join(missing)}"
                decision = decision._replace(because=why)
            decisions.append(decision)
            if decision.fires and self._grades:
                said += self._graded(rule, decision, name, trace, scores)
        return Tried(name, decisions, scores, said, item.get("unreadable", ""))

    def _graded(
        self, rule: Rule, decision: Decision, name: str, trace: Any, scores: dict[str, float | None]
    ) -> list[str]:
        said = []
        for place, action in enumerate(rule.actions):
            if action["type"] != GRADES:
                continue
            event = Event(
                id=f"{rule.name}/{name}/{place}", rule=rule.name, item_id=name,
                because=decision.because, trace=trace, scores=dict(scores),
            )  # fmt: skip
            try:
                did = self._actions[rule.name, place].act(event)
            except TryAgainError as failed:
                said.append(f"{rule.name}: not graded: {failed}")
                continue
            if isinstance(did, Told):
                said.append(f"{rule.name}: {did.says}")
                for effect in did.effects:
                    if isinstance(effect, Scored):
                        scores |= effect.scores
        return said
